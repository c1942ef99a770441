"""Error rates at every threshold: the definition, and the least cost for all priors at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import InputError
from novum.evaluation.decisions.error_rates import ErrorRates
from tests.evaluation.decisions.definitions import error_rates

cases = st.lists(
    st.tuples(st.booleans(), st.sampled_from([-np.inf, -1.0, 0.0, 0.5, 2.0, np.inf])), max_size=20
).map(lambda more: [(True, 0.5), (False, 0.0), *more])


@given(cases, st.floats(-3, 3))
def test_rates_are_the_definition(rows: Any, threshold: float) -> None:
    y, scores = zip(*rows, strict=True)
    rates = ErrorRates.of(y, scores)
    for t in (threshold, -np.inf, np.inf, *scores):
        found = tuple(float(rate) for rate in rates.rates_at(t))
        assert found == pytest.approx(error_rates(y, scores, t))


@given(cases, st.lists(st.floats(0.0, 1.0), min_size=1, max_size=5))
def test_least_cost_for_all_priors_is_that_of_each(rows: Any, priors: list[float]) -> None:
    y, scores = zip(*rows, strict=True)
    rates = ErrorRates.of(y, scores)
    found = rates.least_for_priors(np.array(priors))
    each = [rates.least(p, 1 - p)[1] for p in priors]
    np.testing.assert_allclose(found, each, atol=1e-12)


def test_two_classes_only() -> None:
    with pytest.raises(InputError, match="two classes, the positive one last; got 3"):
        ErrorRates.of([0, 1], [0.0, 1.0], (0, 1, 2))
