"""How sure the mean of the folds' scores is.

    Var[S] = 1/(k (k - 1)) sum_i (S_i - S)^2                            scores as if independent
    Var[S] = (1/k + n_test/n_train) / (k - 1) sum_i (S_i - S)^2         corrected

The training parts of different folds overlap, so their scores are correlated and the first formula
is too small. The second one takes the correlation to be `n_test / (n_test + n_train)` (Nadeau and
Bengio, 2003, Machine Learning 52); intervals use it, with Student's t of k - 1 degrees of freedom.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from novum.core.errors import InputError
from novum.evaluation.measures.interval import Interval
from novum.evaluation.measures.intervals import check_level
from novum.numerics import Floats


def variance_of_mean(scores: ArrayLike, test_train_ratio: float | None = None) -> float:
    """The variance of the mean of the folds' scores.

    Parameters
    ----------
    scores : array of shape (k,)
    test_train_ratio : float, optional
        Rows tested over rows trained on; corrects for training parts that overlap. Without it the
        scores are taken as independent, which makes the variance too small.

    Examples
    --------
    >>> variance_of_mean([0.5, 0.7, 0.9])
    0.013333333333333336
    >>> round(variance_of_mean([0.5, 0.7, 0.9], test_train_ratio=0.5), 6)
    0.033333
    """
    values = _checked_scores(scores)
    k = len(values)
    if test_train_ratio is not None and not (
        math.isfinite(test_train_ratio) and test_train_ratio > 0
    ):
        raise InputError(
            f"test_train_ratio is rows tested over rows trained on, a number above 0, got "
            f"{test_train_ratio!r}."
        )
    spread = float(np.var(values, ddof=1))
    return spread * (1 / k + (test_train_ratio or 0.0))


UNLIMITED = (-math.inf, math.inf)


def corrected_interval(
    scores: ArrayLike,
    test_train_ratio: float | None,
    level: float = 0.95,
    limits: tuple[float, float] = UNLIMITED,
) -> Interval:
    """Student's t interval of the mean score with the corrected variance.

    It knows nothing of what scores are possible: what lies outside of `limits` is cut off.

    Examples
    --------
    >>> corrected_interval([0.5, 0.7, 0.9], 0.5, level=0.9)
    0.7 [0.2, 1.2]
    >>> corrected_interval([0.5, 0.7, 0.9], 0.5, level=0.9, limits=(0.0, 1.0)).high
    1.0
    """
    check_level(level)
    values = _checked_scores(scores)
    mean, k = float(values.mean()), len(values)
    reach = float(special.stdtrit(k - 1, (1 + level) / 2)) * math.sqrt(
        variance_of_mean(values, test_train_ratio)
    )
    low, high = max(mean - reach, limits[0]), min(mean + reach, limits[1])
    # What was filled in for a fold that failed may lie outside.
    low, high = min(low, mean), max(high, mean)
    name = "t" if test_train_ratio is None else "corrected t"
    return Interval(mean, low, high, level, name)


def _checked_scores(scores: ArrayLike) -> Floats:
    values = np.asarray(scores, np.float64)
    if values.ndim != 1 or values.size < 2:
        raise InputError(
            f"The variance of a mean needs the scores of at least 2 folds in one row, got an "
            f"array of shape {values.shape}. Use more folds."
        )
    wrong = np.flatnonzero(~np.isfinite(values))
    if wrong.size:
        raise InputError(
            f"The score of fold {wrong[0]} (counted from 0) is {values[wrong[0]]}, {wrong.size} "
            "such in all, so their mean has no variance. Find out why with error_score='raise'."
        )
    return values
