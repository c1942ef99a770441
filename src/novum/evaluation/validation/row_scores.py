"""Scores of single rows: what leaving one out gives when a score is a function of one prediction.

A fold that tests one row has the score of that row. For the measures below all n folds are scored
at once in place of n calls of a scorer, and to the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

RowScores = Callable[[NDArray[Any], NDArray[Any]], NDArray[np.float64]]


def row_scores(scorer: Any, model: Any) -> RowScores | None:
    """Scores of rows by `(y, predictions)`, or None if the scorer is not known to be such.

    Examples
    --------
    >>> from sklearn.metrics import get_scorer
    >>> by_row = row_scores(get_scorer("neg_mean_squared_error"), None)
    >>> by_row(np.array([1.0, 2.0]), np.array([1.0, 4.0])).tolist()
    [-0.0, -4.0]
    """
    inner = getattr(scorer, "function", scorer)
    if getattr(inner, "measure", None) is not None:
        plain = inner.point is None and not inner.measure.settings
        return _OURS.get(inner.measure.name) if plain else None
    if type(inner).__name__ == "_PassthroughScorer":
        own = getattr(type(model), "score", None)
        return _hits if own is ClassifierMixin.score else None
    function = getattr(inner, "_score_func", None)
    if function is None or getattr(inner, "_kwargs", None):
        return None
    known = _THEIRS.get((getattr(function, "__name__", ""), getattr(inner, "_sign", 0)))
    return known if (getattr(function, "__module__", "") or "").startswith("sklearn.") else None


def _hits(y: NDArray[Any], predicted: NDArray[Any]) -> NDArray[np.float64]:
    return (y == predicted).astype(np.float64)


def _squares(y: NDArray[Any], predicted: NDArray[Any]) -> NDArray[np.float64]:
    return -_mean_over_targets((y.astype(np.float64) - predicted) ** 2)


def _distances(y: NDArray[Any], predicted: NDArray[Any]) -> NDArray[np.float64]:
    return -_mean_over_targets(np.abs(y.astype(np.float64) - predicted))


def _mean_over_targets(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return values if values.ndim == 1 else values.mean(axis=1)


_THEIRS: dict[tuple[str, int], RowScores] = {
    ("accuracy_score", 1): _hits,
    ("mean_squared_error", -1): _squares,
    ("mean_absolute_error", -1): _distances,
    # The root of one square is the distance, target by target.
    ("root_mean_squared_error", -1): _distances,
}

_OURS: dict[str, RowScores] = {
    "accuracy": _hits,
    "mse": _squares,
    "mae": _distances,
    "rmse": _distances,
}
