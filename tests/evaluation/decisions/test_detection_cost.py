"""Detection costs: brute force over thresholds, by hand, invariances, bad input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core import WorkingPoint
from novum.core.errors import InputError
from novum.evaluation.decisions.detection_cost import detection_cost, minimum_detection_cost
from novum.evaluation.decisions.risk import risk_of_actions
from tests.evaluation.decisions.definitions import error_rates, normalized_cost

# Few different scores, so that ties are common; both classes occur.
cases = st.lists(
    st.tuples(st.booleans(), st.sampled_from([-np.inf, -2.0, -0.5, 0.0, 0.3, 1.0, 4.0, np.inf])),
    max_size=20,
).map(lambda more: [(True, 0.5), (False, 0.0), *more])
points = st.tuples(st.floats(0.01, 0.99), st.floats(0.1, 50), st.floats(0.1, 50))


def unzip(rows: Any) -> tuple[np.ndarray, np.ndarray]:
    y, scores = zip(*rows, strict=True)
    return np.array(y), np.array(scores, float)


def every_threshold(scores: np.ndarray) -> list[float]:
    return [-np.inf, *scores.tolist(), *(scores + 0.01).tolist(), *(scores - 0.01).tolist(), np.inf]


@given(cases, points)
def test_costs_are_the_definition(rows: Any, numbers: Any) -> None:
    y, scores = unzip(rows)
    prior, cost_fn, cost_fp = numbers
    point = WorkingPoint.binary(prior=prior, cost_fn=cost_fn, cost_fp=cost_fp)
    at = point.threshold
    expected = normalized_cost(y, scores, at, prior, cost_fn, cost_fp)
    assert detection_cost(y, scores, point) == pytest.approx(expected, rel=1e-9, abs=1e-12)
    best = minimum_detection_cost(y, scores, point)
    tried = [
        normalized_cost(y, scores, t, prior, cost_fn, cost_fp) for t in every_threshold(scores)
    ]
    assert best.value == pytest.approx(min(tried), rel=1e-9, abs=1e-12)
    reached = normalized_cost(y, scores, best.threshold, prior, cost_fn, cost_fp)
    assert reached == pytest.approx(best.value, rel=1e-9, abs=1e-12)
    assert (best.false_negative_rate, best.false_positive_rate) == pytest.approx(
        error_rates(y, scores, best.threshold)
    )
    assert best.value <= detection_cost(y, scores, point) + 1e-12


@given(cases, points)
def test_minimum_is_at_most_one_unless_a_score_is_infinite(rows: Any, numbers: Any) -> None:
    y, scores = unzip(rows)
    prior, cost_fn, cost_fp = numbers
    point = WorkingPoint.binary(prior=prior, cost_fn=cost_fn, cost_fp=cost_fp)
    finite = np.clip(scores, -9, 9)
    assert minimum_detection_cost(y, finite, point).value <= 1 + 1e-12


@given(cases, points, st.floats(0.1, 5), st.floats(-3, 3))
def test_monotone_maps_leave_the_minimum(rows: Any, numbers: Any, a: float, b: float) -> None:
    y, scores = unzip(rows)
    prior, cost_fn, cost_fp = numbers
    point = WorkingPoint.binary(prior=prior, cost_fn=cost_fn, cost_fp=cost_fp)
    one = minimum_detection_cost(y, scores, point)
    two = minimum_detection_cost(y, np.arctan(a * scores) + b, point)
    assert two.value <= one.value
    finite = np.clip(scores, -9, 9)
    assert minimum_detection_cost(y, finite, point).value == (
        minimum_detection_cost(y, a * finite**3 + b, point).value
    )


@given(cases, points)
def test_only_the_effective_prior_matters(rows: Any, numbers: Any) -> None:
    y, scores = unzip(rows)
    prior, cost_fn, cost_fp = numbers
    point = WorkingPoint.binary(prior=prior, cost_fn=cost_fn, cost_fp=cost_fp)
    # At a threshold of its own, so that rounding of the Bayes threshold decides no tie.
    same = WorkingPoint.binary(prior=point.effective_prior, cost_fn=1, cost_fp=1)
    for function in (lambda p: detection_cost(y, scores, p, threshold=0.2),
                     lambda p: minimum_detection_cost(y, scores, p).value):  # fmt: skip
        assert function(point) == pytest.approx(function(same), rel=1e-9)


@given(cases, st.lists(st.integers(0, 3), min_size=22, max_size=22))
def test_weight_two_is_the_case_twice(rows: Any, counts: list[int]) -> None:
    y, scores = unzip(rows)
    weight = np.array([1, 1, *counts])[: len(y)]
    point = WorkingPoint.binary(prior=0.2, cost_fn=3, cost_fp=1)
    repeated = np.repeat(y, weight), np.repeat(scores, weight)
    assert detection_cost(y, scores, point, sample_weight=weight) == pytest.approx(
        detection_cost(*repeated, point)
    )
    one = minimum_detection_cost(y, scores, point, sample_weight=weight)
    two = minimum_detection_cost(*repeated, point)
    assert (one.value, one.threshold) == pytest.approx((two.value, two.threshold))


def test_costs_of_right_decisions_are_counted_and_not_normalized() -> None:
    y, scores = [0, 0, 1, 1], [-1.0, 1.0, 0.2, 3.0]
    plain = WorkingPoint([0, 1], [0.6, 0.4], [[0, 1], [5, 0]])
    dear = WorkingPoint([0, 1], [0.6, 0.4], [[2, 3], [6, 1]])
    assert detection_cost(y, scores, dear) == pytest.approx(detection_cost(y, scores, plain))
    decided = [int(score > dear.threshold) for score in scores]
    assert detection_cost(y, scores, dear, normalized=False) == pytest.approx(
        risk_of_actions(y, decided, dear)
    )
    assert detection_cost(y, scores, dear) == pytest.approx(
        risk_of_actions(y, decided, dear, normalized=True)
    )


def test_constant_scores_decide_blindly() -> None:
    point = WorkingPoint.binary(prior=0.2, cost_fn=1, cost_fp=1)
    best = minimum_detection_cost([0, 1, 1], [5.0, 5.0, 5.0], point)
    assert (best.value, best.threshold, float(best)) == (1.0, np.inf, 1.0)
    assert minimum_detection_cost([0, 1], [0.0, 1.0], point, normalized=False).value == 0.0


def test_neighboring_scores_have_a_threshold_between() -> None:
    low, high = 1.0, float(np.nextafter(1.0, 2.0))
    best = minimum_detection_cost([0, 1], [low, high], WorkingPoint.uniform([0, 1]))
    assert (best.value, best.threshold) == (0.0, low)


@pytest.mark.parametrize(
    ("y", "scores", "message"),
    [
        ([0, 1], [0.1, np.nan], "score of row 1 is NaN"),
        ([0, 2], [0.1, 0.2], "label 2 at row 1"),
        ([1, 1], [0.1, 0.2], "No case of class 0 counts"),
        ([0, 1], [0.1], "one score for each case"),
        ([0, 1], [[0.1, 0.2], [0.3, 0.4]], "shape \\(2, 2\\)"),
        ([], [], "no cases to judge"),
        (["no", "yes"], [0.1, 0.2], "label 'no' at row 0"),
        ([0, 1], ["high", "low"], "must be numbers"),
    ],
)
def test_bad_cases_are_named(y: Any, scores: Any, message: str) -> None:
    point = WorkingPoint.binary(prior=0.5, cost_fn=1, cost_fp=1)
    for function in (detection_cost, minimum_detection_cost):
        with pytest.raises(InputError, match=message):
            function(y, scores, point)


def test_bad_points_are_named() -> None:
    y, scores = [0, 1], [0.1, 0.2]
    with pytest.raises(InputError, match="cannot be normalized"):
        detection_cost(y, scores, WorkingPoint.binary(prior=0.0, cost_fn=1, cost_fp=1))
    with pytest.raises(InputError, match="may also reject"):
        detection_cost(y, scores, WorkingPoint([0, 1], [0.5, 0.5], [[0, 1], [1, 0]], 0.1))
    with pytest.raises(InputError, match="two classes"):
        detection_cost(y, scores, WorkingPoint.uniform([0, 1, 2]))
    with pytest.raises(InputError, match="point is a WorkingPoint"):
        detection_cost(y, scores, 0.5)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="No threshold exists"):
        detection_cost(y, scores, WorkingPoint([0, 1], [0.5, 0.5], [[0, -1], [1, 0]]))
    with pytest.raises(InputError, match="threshold is a number"):
        detection_cost(y, scores, WorkingPoint.uniform([0, 1]), threshold=np.nan)
