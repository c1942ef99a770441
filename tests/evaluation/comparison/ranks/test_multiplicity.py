"""Holm's correction: the step-down rule, bounds, bad input."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.evaluation.comparison.ranks.multiplicity import holm_adjusted
from tests.evaluation.comparison.definitions import holm

p_values = st.lists(st.integers(0, 1000).map(lambda k: k / 1000), min_size=1, max_size=12)


@given(p_values, st.sampled_from([0.0123, 0.0501, 0.2003]))
def test_rejections_are_those_of_the_step_down_rule(p: list[float], alpha: float) -> None:
    assert (holm_adjusted(p) <= alpha).tolist() == holm(p, alpha)


@given(p_values)
def test_between_the_plain_and_bonferronis(p: list[float]) -> None:
    found = holm_adjusted(p)
    assert np.all(found >= np.array(p))
    assert np.all(found <= np.minimum(1, len(p) * np.array(p)) + 1e-15)
    order = np.argsort(p, kind="stable")
    assert np.all(np.diff(found[order]) >= 0)


def test_family_wise_error_stays_at_the_size() -> None:
    # Ten true hypotheses, 4000 times: four standard errors of 0.0034.
    p = np.random.default_rng(0).uniform(size=(4000, 10))
    rate = np.mean([(holm_adjusted(row) <= 0.05).any() for row in p])
    assert abs(rate - 0.05) < 4 * 0.0034


def test_no_tests_are_no_p_values() -> None:
    assert holm_adjusted([]).size == 0


@pytest.mark.parametrize("bad", [[0.5, 1.5], [-0.1], [np.nan]])
def test_bad_p_values_are_named(bad: list[float]) -> None:
    with pytest.raises(ValueError, match="numbers from 0 to 1"):
        holm_adjusted(bad)


def test_bad_shape_is_named() -> None:
    with pytest.raises(ValueError, match=r"got shape \(1, 1\)"):
        holm_adjusted([[0.5]])
