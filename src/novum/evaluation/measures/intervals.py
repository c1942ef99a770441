"""Confidence intervals, each with the name of its method.

- Proportions: Wilson's interval, the p that a score test at the level does not refuse,

      (p + z^2/2n  +-  z sqrt(p (1 - p)/n + z^2/4n^2)) / (1 + z^2/n),

  inside [0, 1] and sensible for 0 of n; or Clopper and Pearson's, which covers at least as often as
  it says and is wider.
- Means of n rows: Student's t.
- Correlations: Fisher's z, `atanh(r) +- z / sqrt(n - 3)`.
- Functions of a table of counts: its Dirichlet posterior (`confusion.table_intervals`).
- Anything else: the bootstrap, by default bias-corrected and accelerated (`BCa`), widened for few
  rows.

Rows are the sampling units. Weights say how much a row counts, so that a weighted proportion has
the effective size `(sum w)^2 / sum w^2`: doubling all weights narrows no interval.

References: Wilson (1927); Clopper & Pearson (1934); Efron (1987); Brown, Cai & DasGupta (2001).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from novum.core.errors import InputError
from novum.core.runtime import RandomSource, stream
from novum.core.tables import checked_weight
from novum.evaluation.measures.bootstrap import (
    Bootstrap,
    BootstrapMethod,
    group_numbers,
    resampled_positions,
)
from novum.evaluation.measures.interval import Interval
from novum.numerics import Floats, unit_scale

__all__ = [
    "Interval",
    "bootstrap_interval",
    "check_level",
    "correlation_interval",
    "effective_size",
    "logit_interval",
    "mean_interval",
    "proportion_interval",
]


# --- Closed forms ---------------------------------------------------------------------------------


def proportion_interval(
    successes: float,
    trials: float,
    level: float = 0.95,
    *,
    method: Literal["Wilson", "Clopper-Pearson"] = "Wilson",
) -> Interval:
    """Interval of a probability from independent trials.

    Parameters
    ----------
    successes, trials : float
        Fractions are allowed: with weights, `trials` is the effective size.
    level : float
    method : "Wilson" or "Clopper-Pearson"

    Examples
    --------
    >>> proportion_interval(8, 10)
    0.8 [0.5, 0.9]
    >>> proportion_interval(0, 20, method="Clopper-Pearson").high < 0.17
    True
    """
    check_level(level)
    if not (0 <= successes <= trials and math.isfinite(trials)):
        raise InputError(
            f"A proportion has 0 <= successes <= trials, got {successes} of {trials}. Count again."
        )
    if trials == 0:
        return Interval(math.nan, math.nan, math.nan, level, f"{method}: no trials")
    share = successes / trials
    if method == "Clopper-Pearson":
        limits = _clopper_pearson(successes, trials, level)
    elif method == "Wilson":
        limits = _wilson(share, trials, level)
    else:
        raise InputError(f"method is 'Wilson' or 'Clopper-Pearson', got {method!r}.")
    return Interval(share, *limits, level, method)


def mean_interval(
    values: ArrayLike, level: float = 0.95, *, sample_weight: ArrayLike | None = None
) -> Interval:
    """Student's t interval of the mean of independent values.

    Parameters
    ----------
    values : array of shape (n,)
    level : float
    sample_weight : array of shape (n,), optional
        Then the error is that of the ratio `sum w v / sum w` for independent rows.

    Examples
    --------
    >>> mean_interval([1, 2, 3, 4, 5])
    3 [1, 5]
    """
    check_level(level)
    numbers = np.asarray(values, float)
    if numbers.ndim != 1 or numbers.size == 0 or not np.isfinite(numbers).all():
        raise InputError("A mean needs a list of finite numbers. Drop the others or count them.")
    weight = checked_weight(sample_weight, numbers.size)
    weights = np.ones(numbers.size) if weight is None else weight
    n_rows = int((weights > 0).sum())
    # Near one, squares neither overflow nor vanish; a power of two changes no digit.
    unit = float(unit_scale(np.abs(numbers).max()))
    center = float(np.average(unit * numbers, weights=weights))
    mean = center / unit
    if n_rows < 2:
        return Interval(mean, math.nan, math.nan, level, "t: one row has no spread")
    spread = float(np.sum((weights * (unit * numbers - center)) ** 2)) * n_rows / (n_rows - 1)
    error = math.sqrt(spread) / float(weights.sum()) / unit
    reach = float(special.stdtrit(n_rows - 1, (1 + level) / 2)) * error
    return Interval(mean, mean - reach, mean + reach, level, "t")


def correlation_interval(correlation: float, n_rows: float, level: float = 0.95) -> Interval:
    """Fisher's z interval of a correlation of normal pairs.

    Examples
    --------
    >>> correlation_interval(0.5, 50)
    0.5 [0.3, 0.7]
    """
    check_level(level)
    if math.isnan(correlation) or n_rows <= 3:
        return Interval(correlation, math.nan, math.nan, level, "Fisher z: needs more than 3 rows")
    reach = float(special.ndtri((1 + level) / 2)) / math.sqrt(n_rows - 3)
    # A correlation of exactly 1 has an infinite z and the interval [1, 1].
    with np.errstate(divide="ignore"):
        middle = float(np.arctanh(np.clip(correlation, -1, 1)))
    low, high = math.tanh(middle - reach), math.tanh(middle + reach)
    return Interval(float(correlation), low, high, level, "Fisher z")


def logit_interval(share: float, error: float, level: float, method: str) -> Interval:
    """Interval of a share in (0, 1) from its standard error, symmetric on the log-odds scale.

    Examples
    --------
    >>> logit_interval(0.9, 0.02, 0.95, "DeLong")
    0.90 [0.85, 0.93]
    """
    check_level(level)
    if not 0 < share < 1 or not error > 0:
        return Interval(share, math.nan, math.nan, level, f"{method}: no spread")
    reach = float(special.ndtri((1 + level) / 2)) * error / (share * (1 - share))
    middle = float(special.logit(share))
    low, high = special.expit(middle - reach), special.expit(middle + reach)
    return Interval(share, float(low), float(high), level, method)


# --- Bootstrap ------------------------------------------------------------------------------------


def bootstrap_interval(
    function: Callable[..., float],
    arrays: Sequence[Any],
    *,
    level: float = 0.95,
    n_resamples: int = 1000,
    random_state: RandomSource = 0,
    strata: ArrayLike | None = None,
    method: BootstrapMethod = "BCa",
) -> Interval:
    """Bootstrap interval of any function of rows.

    Parameters
    ----------
    function : callable
        Takes the arrays, gives a number.
    arrays : sequence of arrays, each with one entry or row for each observation
        All are resampled by the same rows.
    level : float
    n_resamples : int
    random_state : None, int, Generator, RandomState or SeedSequence
    strata : array of shape (n,), optional
        Rows are drawn within strata, whose sizes stay as they are.
    method : "BCa", "percentile" or "basic"
        BCa corrects bias and skewness by a jackknife over at most 200 groups of rows.

    Examples
    --------
    >>> import numpy as np
    >>> ages = np.random.default_rng(0).exponential(10, 200)
    >>> low, high = bootstrap_interval(np.median, [ages])
    >>> bool(low < np.median(ages) < high)
    True
    """
    check_level(level)
    columns = [np.asarray(array) for array in arrays]
    sizes = {len(column) for column in columns}
    if len(sizes) != 1 or sizes == {0}:
        raise InputError(
            f"The arrays to resample have {sorted(sizes)} rows; pass arrays of one length, above 0."
        )
    n_rows = sizes.pop()
    rng = stream(random_state, "bootstrap")
    draws = resampled_positions(n_rows, n_resamples, rng, strata)
    replicates = [float(function(*(column[rows] for column in columns))) for rows in draws]
    left_out = []
    if method == "BCa":
        groups = group_numbers(n_rows, rng)
        for group in range(int(groups.max()) + 1 if n_rows > 1 else 0):
            left_out.append(float(function(*(column[groups != group] for column in columns))))
    fewest = n_rows if strata is None else int(np.unique_counts(np.asarray(strata)).counts.min())
    bootstrap = Bootstrap(
        np.array([float(function(*columns))]),
        np.array(replicates)[:, None],
        np.array(left_out, float)[:, None],
        fewest,
    )
    return bootstrap.intervals(level, method)[0]


def _wilson(share: float, trials: float, level: float) -> tuple[float, float]:
    z = float(special.ndtri((1 + level) / 2))
    center = share + z * z / (2 * trials)
    reach = z * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials
    # At 0 and at all successes a limit is 0 or 1 exactly, up to rounding.
    low = 0.0 if share == 0 else (center - reach) / scale
    high = 1.0 if share == 1 else (center + reach) / scale
    return max(0.0, low), min(1.0, high)


def _clopper_pearson(successes: float, trials: float, level: float) -> tuple[float, float]:
    tail = (1 - level) / 2
    failures = trials - successes
    low = 0.0 if successes == 0 else special.betaincinv(successes, failures + 1, tail)
    high = 1.0 if failures == 0 else special.betaincinv(successes + 1, failures, 1 - tail)
    return float(low), float(high)


def effective_size(weights: Floats) -> float:
    """The rows that a weighted mean is worth, `(sum w)^2 / sum w^2`.

    Examples
    --------
    >>> import numpy as np
    >>> effective_size(np.array([2.0, 2.0, 0.0]))
    2.0
    """
    return float(weights.sum() ** 2 / (weights @ weights))


def check_level(level: float) -> None:
    """Refuses a confidence level that is none."""
    if not 0 < level < 1:
        raise InputError(f"level is the confidence, between 0 and 1 such as 0.95, got {level!r}.")
