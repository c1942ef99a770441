"""The finite-sample quantile of conformal prediction, and what happens where there are few rows.

The score of a new row has no reason to be larger than those of `n` calibration rows drawn like it,
so that it is at most

    q = the ceil((n + 1) coverage)-th smallest of the n scores

with probability `coverage` at least, whatever the law and the learner. Rows may count more or less
than once: with weights `w_i`, total `W`, and the weight `v` of the new row,

    q = min {s : sum_i w_i [s_i <= s] >= coverage (W + v)},

which is the same for `w_i = v = 1`. Where not even all rows reach that sum the only honest answer
is infinity.

References
----------
Vovk, Gammerman and Shafer 2005, "Algorithmic Learning in a Random World"; Tibshirani et al. 2019,
"Conformal prediction under covariate shift", NeurIPS, for weights; Barber, Candès, Ramdas and
Tibshirani 2021, Annals of Statistics 49; Vovk and Wang 2020, Biometrika 107, for folds.
"""

from __future__ import annotations

import math
import warnings
from numbers import Real
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.numerics import Floats, Positions

# Sums of weights are compared up to this part of their total: 0.9 * 10 is 9.
_ROUNDING = 1e-9


class FewCalibrationRowsWarning(UserWarning):
    """So few rows calibrate that only infinite intervals, or all classes, keep the promise."""


def check_coverage(coverage: Any) -> float:
    """A coverage between 0 and 1, both excluded.

    Examples
    --------
    >>> check_coverage(0.9)
    0.9
    """
    if isinstance(coverage, bool) or not isinstance(coverage, Real) or not 0 < float(coverage) < 1:
        raise InputError(f"coverage lies between 0 and 1, such as 0.9, got {coverage!r}.")
    return float(coverage)


def reach(weight: Floats, coverage: float, own: float = 1.0) -> float:
    """The weight `coverage (W + v)` that scores up to the quantile must have, less rounding."""
    total = float(weight.sum()) + own
    return coverage * total - _ROUNDING * total


def is_reachable(weight: Floats, coverage: float, own: float = 1.0) -> bool:
    """Whether the quantile of rows with these weights is finite.

    Examples
    --------
    >>> is_reachable(np.ones(9), 0.9), is_reachable(np.ones(8), 0.9)
    (True, False)
    """
    return float(weight.sum()) >= reach(weight, coverage, own)


def proved_coverage(
    method: str, coverage: float, weight: Floats, column: Positions, group: Positions
) -> float:
    """The coverage that is proved for new rows drawn like those of the fit, whatever their group.

    With `a = 1 - coverage` it is `1 - a` where rows that no model has seen calibrate, and of the
    jackknife+ `1 - 2a`. Of K folds of n rows each fold gives a p-value, and twice their mean,
    weighted by `m_k + 1`, is one too (Vovk and Wang 2020), so that

        1 - 2 (a (n + 1) + K - 1) / (n + K),

    or, if it is more and all folds have equally many rows of every group, so that one fold more
    could be any of them, `1 - 2a - (1 - K/n) / (K + 1)` (Barber et al. 2021, theorem 4). Rows are
    compared with those of their group: `n` and `K` are its rows and the folds that have some.

    Parameters
    ----------
    method : str
    coverage : float
    weight : array of shape (n,)
    column : int array of shape (n,)
        The fold of each row.
    group : int array of shape (n,)
        The group of each row.

    Examples
    --------
    >>> folds, one_group = np.repeat(np.arange(10), 100), np.zeros(1000, int)
    >>> round(proved_coverage("cross", 0.9, np.ones(1000), folds, one_group), 4)
    0.784
    """
    if method not in ("cross", "jackknife+"):
        return coverage
    miss = 1 - coverage
    if method == "jackknife+":
        return max(0.0, 1 - 2 * miss)
    sizes = np.zeros((group.max() + 1, column.max() + 1))
    np.add.at(sizes, (group, column), weight)
    n, K = sizes.sum(axis=1), (sizes > 0).sum(axis=1)
    n, K = n[K > 0], K[K > 0]
    bounds = 1 - 2 * (miss * (n + 1) + K - 1) / (n + K)
    if (np.ptp(sizes, axis=1) == 0).all():
        bounds = np.maximum(bounds, 1 - 2 * miss - (1 - K / n) / (K + 1))
    return max(0.0, float(bounds.min()))


def conformal_quantile(scores: Floats, weight: Floats, coverage: float, own: float = 1.0) -> Any:
    """The quantile `q` along the last axis.

    Parameters
    ----------
    scores : array of shape (..., n)
    weight : array of shape (n,)
        Rows of weight zero are absent.
    coverage : float
    own : float
        Weight `v` of the new row.

    Examples
    --------
    >>> float(conformal_quantile(np.arange(1.0, 20.0), np.ones(19), 0.9))
    18.0
    >>> float(conformal_quantile(np.arange(1.0, 9.0), np.ones(8), 0.9))
    inf
    """
    counted = weight > 0
    if not counted.all():
        scores, weight = scores[..., counted], weight[counted]
    least = reach(weight, coverage, own)
    if not is_reachable(weight, coverage, own):
        return np.full(scores.shape[:-1], np.inf)
    if (weight == 1.0).all():
        rank = max(1, math.ceil(least))
        return np.partition(scores, rank - 1, axis=-1)[..., rank - 1]
    order = np.argsort(scores, axis=-1, kind="stable")
    sums = np.cumsum(weight[order], axis=-1)
    # The last sum is the total up to rounding, which is enough.
    rank = np.minimum((sums < least).sum(axis=-1, keepdims=True), len(weight) - 1)
    quantiles = np.take_along_axis(scores, np.take_along_axis(order, rank, axis=-1), axis=-1)
    return quantiles[..., 0]


def rows_needed(coverage: float) -> int:
    """The least number of calibration rows for a finite quantile.

    Examples
    --------
    >>> rows_needed(0.9), rows_needed(0.95), rows_needed(0.5)
    (9, 19, 1)
    """
    return math.ceil(coverage / (1 - coverage) - _ROUNDING / (1 - coverage))


def warn_of_few_rows(coverage: float, n_rows: float, what: str, outcome: str) -> None:
    """Says that a coverage is out of reach, of whom, and what follows.

    Parameters
    ----------
    n_rows : float
        Weight of the calibration rows.
    what : str
        Whose rows they are, such as " of group 'b'"; empty for all.
    outcome : str
    """
    warnings.warn(
        f"A coverage of {coverage:g} needs at least {rows_needed(coverage)} calibration rows, but "
        f"there are {n_rows:g}{what}, so that {outcome}. Pass more rows, or ask for less coverage.",
        FewCalibrationRowsWarning,
        stacklevel=5,
    )
