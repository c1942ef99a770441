"""Scores of single rows equal what the scorers say of tables with one row."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.metrics import fbeta_score, get_scorer, make_scorer

from novum.bayes import GaussianNB
from novum.evaluation.measures.scorers import resolve_scoring
from novum.evaluation.validation.exact_folds import row_scores
from novum.linear import Ridge

NUMBERS = np.array([1.0, 2.5, -3.0]), np.array([1.5, 2.5, 0.0])
SEVERAL = np.array([[1.0, 2.0], [0.0, 1.0]]), np.array([[1.5, 2.0], [3.0, -1.0]])
LABELS = np.array(["a", "b", "a"]), np.array(["a", "a", "a"])


class Says(BaseEstimator):
    """Predicts what it was told."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def predict(self, X: Any) -> Any:
        del X
        return self.answer


def nothing(model: Any, X: Any, y: Any) -> float:
    del model, X, y
    return 0.0


def one_by_one(scorer: Any, y: np.ndarray, predicted: np.ndarray) -> list[float]:
    rows = [slice(i, i + 1) for i in range(len(y))]
    return [scorer(Says(predicted[row]), [[0.0]], y[row]) for row in rows]


@pytest.mark.parametrize("data", [NUMBERS, SEVERAL])
@pytest.mark.parametrize("name", ["squared_error", "absolute_error"])
def test_numbers(name: str, data: Any) -> None:
    scorer = get_scorer(f"neg_mean_{name}")
    by_row = row_scores(scorer, Ridge())
    assert by_row is not None
    assert by_row(*data).tolist() == pytest.approx(one_by_one(scorer, *data), rel=1e-14)


def test_our_measures_too() -> None:
    for name in ("mse", "mae", "rmse"):
        (scorer,) = resolve_scoring(Ridge(), name).values()
        by_row = row_scores(scorer, Ridge())
        assert by_row is not None
        expected = one_by_one(scorer, *NUMBERS)
        assert by_row(*NUMBERS).tolist() == pytest.approx(expected, rel=1e-14)


def test_hits() -> None:
    by_row = row_scores(get_scorer("accuracy"), GaussianNB())
    assert by_row is not None
    assert by_row(*LABELS).tolist() == [1.0, 0.0, 1.0]
    (own,) = resolve_scoring(GaussianNB(), None).values()
    assert row_scores(own, GaussianNB()) is by_row


@pytest.mark.parametrize(
    "scorer",
    [
        get_scorer("r2"),
        get_scorer("roc_auc"),
        get_scorer("neg_log_loss"),
        make_scorer(fbeta_score, beta=2),
        nothing,
        next(iter(resolve_scoring(Ridge(), None).values())),
    ],
)
def test_other_scorers_are_not_known(scorer: Any) -> None:
    assert row_scores(scorer, Ridge()) is None
