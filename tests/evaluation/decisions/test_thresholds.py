"""Threshold choice: brute force, the step, cost on other cases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core import WorkingPoint
from novum.core.errors import InputError
from novum.evaluation.decisions.detection_cost import choose_threshold
from tests.evaluation.decisions.definitions import normalized_cost

POINT = WorkingPoint.binary(prior=0.3, cost_fn=2, cost_fp=1, classes=("no", "yes"))
cases = st.lists(st.tuples(st.booleans(), st.integers(0, 6)), max_size=20).map(
    lambda more: [(True, 4), (False, 2), *more]
)


@given(cases)
def test_the_choice_is_the_cheapest_and_its_step_decides_alike(rows: Any) -> None:
    positive, scores = (np.array(column) for column in zip(*rows, strict=True))
    y = np.where(positive, "yes", "no")
    choice = choose_threshold(y, scores, POINT)
    costs = [normalized_cost(positive, scores, t, 0.3, 2, 1) for t in np.arange(-0.5, 8)]
    assert choice.cost == pytest.approx(min(costs))
    assert choice.cost <= choice.bayes_cost + 1e-12
    assert choice.cost_on(y, scores) == pytest.approx(choice.cost)
    decided = choice.decide(scores)
    assert decided.tolist() == np.where(scores > choice.threshold, "yes", "no").tolist()
    assert choice.low <= choice.threshold <= choice.high
    if np.isfinite(choice.low):
        assert (scores > choice.low).tolist() == (scores > choice.threshold).tolist()


def test_other_cases_are_dearer_than_those_that_chose() -> None:
    rng = np.random.default_rng(0)
    chosen, judged = [], []
    for _ in range(50):
        y = np.where(np.arange(80) % 2 == 1, "yes", "no")
        scores = rng.normal(size=(2, 80)) + (y == "yes")
        choice = choose_threshold(y, scores[0], POINT)
        chosen.append(choice.cost)
        judged.append(choice.cost_on(y, scores[1]))
    assert np.mean(chosen) < np.mean(judged)


def test_bad_scores_are_named() -> None:
    with pytest.raises(InputError, match="score of row 0 is NaN"):
        choose_threshold(["no", "yes"], [np.nan, 1.0], POINT)
    with pytest.raises(InputError, match="score of row 0 is NaN"):
        choose_threshold(["no", "yes"], [0.0, 1.0], POINT).decide([np.nan])
