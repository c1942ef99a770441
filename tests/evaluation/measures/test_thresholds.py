"""Measures against the threshold: every threshold tried, detection cost, the best, bad input."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.decisions import WorkingPoint
from novum.core.errors import InputError
from novum.evaluation.decisions.detection_cost import minimum_detection_cost
from novum.evaluation.measures.catalog import measure
from novum.evaluation.measures.thresholds import detection_cost_of_counts, threshold_curve

rows = st.lists(
    st.tuples(st.booleans(), st.integers(-4, 4), st.floats(0.1, 3)), min_size=2, max_size=20
).filter(lambda found: 0 < sum(row[0] for row in found) < len(found))
NAMES = ("f1", "accuracy", "balanced_accuracy", "matthews", "error_rate", "precision")


@given(rows, st.sampled_from(NAMES))
def test_values_are_those_of_labels_at_each_threshold(found: Any, name: Any) -> None:
    y, s, w = (np.array(column) for column in zip(*found, strict=True))
    curve = threshold_curve(name, y, s, sample_weight=w, n_resamples=0)
    for threshold, value in zip(curve.thresholds, curve.values, strict=True):
        expected = measure(name)(y, s > threshold, sample_weight=w, classes=[False, True])
        assert value == pytest.approx(expected, abs=1e-9)
    better = np.max if curve.greater_is_better else np.min
    assert curve.best.estimate == pytest.approx(better(curve.values))
    assert curve.at(curve.best_threshold) == curve.best.estimate


@given(rows, st.floats(0.05, 0.95), st.floats(0.5, 9))
def test_costs_are_minimum_detection_costs(found: Any, prior: Any, cost: Any) -> None:
    y, s, w = (np.array(column) for column in zip(*found, strict=True))
    point = WorkingPoint.binary(prior=prior, cost_fn=cost, cost_fp=1, classes=(False, True))
    curve = threshold_curve(point, y, s, sample_weight=w, n_resamples=0)
    theirs = minimum_detection_cost(y, s, point, sample_weight=w)
    assert curve.best.estimate == pytest.approx(theirs.value, abs=1e-9)


def test_the_value_at_any_threshold_is_that_of_its_step() -> None:
    curve = threshold_curve("accuracy", [0, 1], [1.0, 3.0], n_resamples=0)
    assert [curve.at(t) for t in (np.inf, 3.0, 2.9, 1.0, 0.9, -np.inf)] == [
        0.5,
        0.5,
        1.0,
        1.0,
        0.5,
        0.5,
    ]
    assert (curve.best_threshold, curve.best.estimate) == (2.0, 1.0)


def test_the_lowest_of_equals_is_chosen() -> None:
    curve = threshold_curve("accuracy", [0, 1, 0, 1], [1, 2, 3, 4], n_resamples=0)
    assert curve.best.estimate == 0.75
    assert curve.best_threshold == 1.5


def test_a_function_of_matrices_may_be_given() -> None:
    curve = threshold_curve(
        lambda counts: counts[..., 1, 1] - 3 * counts[..., 0, 1], [0, 1, 1], [1, 2, 0]
    )
    assert curve.best.estimate == 1.0


def test_settings_reach_the_measure() -> None:
    y, s = [0, 0, 0, 1, 1], [1, 2, 4, 3, 5]
    low, high = (
        threshold_curve("f_beta", y, s, beta=beta, n_resamples=0).best_threshold
        for beta in (5, 0.2)
    )
    assert low < high
    rare = threshold_curve("rebalanced_accuracy", y, s, priors=[0.99, 0.01], n_resamples=0)
    assert rare.best_threshold > 4


def test_the_best_value_has_an_interval() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    curve = threshold_curve("f1", y, rng.normal(size=300) + y, n_resamples=200)
    assert curve.best.low < curve.best.estimate < curve.best.high
    assert curve.best.method == "Dirichlet"


@pytest.mark.parametrize(
    ("given_measure", "message"),
    [
        ("log_loss", "a measure of probabilities and has no threshold"),
        (3, "A measure is a name, a Measure, a WorkingPoint or a callable"),
        (WorkingPoint.uniform("abc"), "two classes, the point has 3"),
        (WorkingPoint.binary(prior=0.5, cost_fn=0, cost_fp=1), "one decision is always right"),
        (lambda counts: np.full(len(counts), np.nan), "undefined at every threshold"),
    ],
)
def test_bad_measures_are_named(given_measure: Any, message: Any) -> None:
    with pytest.raises(InputError, match=message):
        threshold_curve(given_measure, [0, 1], [1.0, 2.0])


def test_the_cost_of_classes_without_rows_is_unknown() -> None:
    cost = detection_cost_of_counts(WorkingPoint.binary(prior=0.5, cost_fn=1, cost_fp=1))
    assert np.isnan(cost(np.array([[1.0, 1.0], [0.0, 0.0]])))


def test_decimal_scores_and_thresholds_are_equal_but_for_rounding() -> None:
    y, scores = [0, 1, 0, 1], [0.3, 0.1 + 0.2, 0.1, 0.8]
    curve = threshold_curve("accuracy", y, scores, n_resamples=0)
    assert curve.scores.tolist() == [0.8, 0.3, 0.1]
    # Above 0.3, as it is written or computed, lies 0.8 alone.
    assert curve.at(0.3) == curve.at(0.1 + 0.2) == 0.75
