"""Measures of classes with an order: distances in levels, and the kappa that weighs them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics

from novum.bayes import GaussianNB
from novum.evaluation import ClassificationReport, measure, scorer

LEVELS = ["low", "mid", "high"]


def answers(seed: int = 0, n: int = 80) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y, p = rng.integers(0, 3, (2, n))
    return y, p, rng.integers(0, 3, n).astype(float)


def test_the_mean_level_error_is_the_mean_distance_of_places() -> None:
    y, p, weight = answers()
    names = np.array(LEVELS)
    for w in (None, weight):
        found = measure("mean_level_error", classes=LEVELS)(names[y], names[p], sample_weight=w)
        assert found == pytest.approx(np.average(np.abs(y - p), weights=w))


def test_the_quadratic_kappa_is_scikit_learns() -> None:
    y, p, weight = answers(1)
    names = np.array(LEVELS)
    for w in (None, weight):
        theirs = metrics.cohen_kappa_score(y, p, weights="quadratic", sample_weight=w)
        found = measure("quadratic_kappa", classes=LEVELS)(names[y], names[p], sample_weight=w)
        assert found == pytest.approx(theirs)


def test_a_scorer_keeps_the_order_where_a_model_lacks_a_level() -> None:
    X, y = np.array([[0.0], [0.1], [2.0], [2.1]]), np.array(["low", "low", "high", "high"])
    model = GaussianNB().fit(X, y)
    found = scorer("mean_level_error", classes=LEVELS)(model, [[0.0]], np.array(["mid"]))
    assert found == -1.0


def test_a_report_of_ordered_classes_judges_medians() -> None:
    table = [[0.4, 0.25, 0.35], [0.1, 0.2, 0.7], [0.6, 0.3, 0.1], [0.3, 0.4, 0.3]]
    y = ["mid", "high", "low", "high"]
    report = ClassificationReport(
        5 * y, probabilities=5 * table, classes=LEVELS, ordered=True, n_resamples=50
    )
    assert report["accuracy"].estimate == 0.75
    assert report["mean_level_error"].estimate == 0.25
    assert report["quadratic_kappa"].estimate == pytest.approx(
        metrics.cohen_kappa_score([1, 2, 0, 2], [1, 2, 0, 1], weights="quadratic")
    )
    assert "mean level error" in str(report)
