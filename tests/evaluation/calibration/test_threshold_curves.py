"""Curves of thresholds: by hand, costs by definition, folds that score alike."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, get_scorer, make_scorer

from novum.core import WorkingPoint
from novum.core.errors import InputError
from novum.evaluation.calibration.tuned_threshold import (
    ScoredFold,
    cost_curve,
    mean_curve,
    scorer_positive,
)
from tests.evaluation.decisions.definitions import normalized_cost

LABELS = np.array(["no", "yes"])


def fold(scores: list[float], labels: str, **params: object) -> ScoredFold:
    y = np.where(np.array(list(labels)) == "y", "yes", "no")
    return ScoredFold(np.array(scores), np.zeros((len(y), 1)), y, params)


def test_mean_of_folds_by_hand() -> None:
    folds = [fold([0.0, 1.0], "ny"), fold([0.0, 1.0], "yn")]
    curve = mean_curve(folds, get_scorer("accuracy"), [0.0, 0.5, 1.0], LABELS, 1)
    # At 0 both say yes to all; above, one fold is all right and the other all wrong.
    assert curve.scores.tolist() == [0.5, 0.5, 0.5]
    one = mean_curve(folds[:1], get_scorer("accuracy"), [0.0, 0.5, 1.0], LABELS, 1)
    assert (one.best_threshold, one.best_score) == (0.5, 1.0)


def test_scorers_that_ask_an_estimator() -> None:
    def ask(model: object, X: object, y: object, sample_weight: object = None) -> float:
        return float(accuracy_score(y, model.predict(X), sample_weight=sample_weight))  # type: ignore[attr-defined]

    folds = [fold([0.0, 0.4, 1.0], "nyy", sample_weight=np.array([1.0, 2.0, 1.0]))]
    by_function = mean_curve(folds, ask, 5, LABELS, 1)
    by_scorer = mean_curve(folds, get_scorer("accuracy"), 5, LABELS, 1)
    assert by_function.scores.tolist() == by_scorer.scores.tolist()
    assert scorer_positive(ask) is None
    assert scorer_positive(make_scorer(accuracy_score)) is None


def test_one_fold_may_score_alike_but_not_all() -> None:
    folds = [fold([0.0, 1.0], "ny"), fold([0.5, 0.5], "ny")]
    curve = mean_curve(folds, get_scorer("accuracy"), [0.0, 0.5, 1.0], LABELS, 1)
    assert np.isfinite(curve.scores).all()
    with pytest.raises(InputError, match="constant predictions"):
        mean_curve(folds[1:], get_scorer("accuracy"), 10, LABELS, 1)


def test_costs_of_pooled_folds() -> None:
    point = WorkingPoint.binary(prior=0.3, cost_fn=2, cost_fp=1, classes=("no", "yes"))
    folds = [fold([0.1, 0.7, 0.4], "nyy"), fold([0.5, 0.2], "ny")]
    curve = cost_curve(folds, point)
    scores, positive = np.array([0.1, 0.7, 0.4, 0.5, 0.2]), np.array([0, 1, 1, 0, 1])
    for threshold, score in zip(curve.thresholds, curve.scores, strict=True):
        assert -score == pytest.approx(normalized_cost(positive, scores, threshold, 0.3, 2, 1))
    assert curve.best_score == pytest.approx(curve.scores.max())


def test_evenly_spaced_thresholds_meet_decimal_scores() -> None:
    scores = np.arange(11) / 10
    labels = (scores >= 0.3).astype(int)
    fold = ScoredFold(scores, scores[:, None], labels, {})
    found = mean_curve([fold], make_scorer(accuracy_score), 11, np.array([0, 1]), 1)
    # The third step of the grid is 0.30000000000000004, just above the score 0.3.
    assert found.best_threshold == pytest.approx(0.3)
    assert found.best_score == 1.0
