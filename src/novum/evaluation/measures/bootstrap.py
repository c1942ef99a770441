"""The bootstrap as weights: a resample is how often each row was drawn.

A measure that is a function of row weights is evaluated for a whole block of resamples at once,
without copying or sorting a row again,

    counts ~ Multinomial(n; 1/n, ..., 1/n),      replicate = statistic(weight * counts).

Intervals of level 1 - 2a from replicates t* of an estimate t:

    percentile   q(a), q(1 - a)                                quantiles of t*
    basic        2t - q(1 - a), 2t - q(a)                      for statistics with a bias
    BCa          quantiles at Phi(b + (b + z)/(1 - c (b + z))) with z = Phi^-1(a) or Phi^-1(1 - a)

where b = Phi^-1(share of t* below t) corrects the median and c, the acceleration, is the skewness
of a jackknife that leaves out one group of rows after the other, at most 200 groups.

Replicates of n rows vary too little, by (n - 1)/n, and normal tails do not know that the spread is
an estimate. Both matter for few rows, so that the tails are those beyond `t sqrt(n / (n - 1))` with
Student's quantile of n - 1 degrees of freedom. Of strata n is the size of the smallest.

References: Efron (1987); DiCiccio & Efron (1996); Hesterberg (2015), section 3.3.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from novum.core.errors import InputError
from novum.evaluation.measures.interval import Interval
from novum.numerics import Floats, Integers

BootstrapMethod = Literal["BCa", "percentile", "basic"]
Statistic = Callable[[Floats], Floats]

_MOST_GROUPS = 200
# Numbers in a block of resamples: 2 MB of weights, which stay in the cache of a core.
_BLOCK = 2**18


@dataclass(frozen=True)
class Bootstrap:
    """Replicates of q statistics.

    Parameters
    ----------
    estimates : array of shape (q,)
    replicates : array of shape (n_resamples, q)
        NaN where a resample allows no value.
    left_out : array of shape (n_groups, q)
        The statistics without one group of rows each; empty if there was no jackknife.
    n_rows : int
        Rows that were resampled, of the smallest stratum.
    """

    estimates: Floats
    replicates: Floats
    left_out: Floats
    n_rows: int

    def intervals(
        self, level: float = 0.95, method: BootstrapMethod = "BCa"
    ) -> tuple[Interval, ...]:
        """One interval for each statistic."""
        if method not in ("BCa", "percentile", "basic"):
            raise InputError(f"method is 'BCa', 'percentile' or 'basic', got {method!r}.")
        z = self._z(level)
        return tuple(
            _interval(float(estimate), replicates, left_out, level, method, z)
            for estimate, replicates, left_out in zip(
                self.estimates, self.replicates.T, self.left_out.T, strict=True
            )
        )

    def part(self, columns: slice) -> Bootstrap:
        """Some of the statistics."""
        return Bootstrap(
            self.estimates[columns],
            self.replicates[:, columns],
            self.left_out[:, columns],
            self.n_rows,
        )

    def band(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Percentile limits of all statistics, each of shape (q,)."""
        low, high = np.nanquantile(self.replicates, special.ndtr(self._z(level)), axis=0)
        return low, high

    def _z(self, level: float) -> Floats:
        """Normal quantiles of both tails, widened for few rows."""
        n = self.n_rows
        if n < 2:
            return np.array([-np.inf, np.inf])
        reach = float(special.stdtrit(n - 1, (1 + level) / 2)) * math.sqrt(n / (n - 1))
        return np.array([-reach, reach])


def weight_bootstrap(
    statistic: Statistic,
    n_rows: int,
    *,
    sample_weight: Floats | None = None,
    n_resamples: int = 1000,
    rng: np.random.Generator,
    strata: ArrayLike | None = None,
    jackknife: bool = True,
) -> Bootstrap:
    """Bootstrap of a statistic of row weights.

    Parameters
    ----------
    statistic : callable
        From weights of shape (b, n_rows) to values of shape (b, q).
    n_rows : int
    sample_weight : array of shape (n_rows,), optional
    n_resamples : int
    rng : Generator
    strata : array of shape (n_rows,), optional
        Rows are drawn within strata.
    jackknife : bool
        Whether to prepare for BCa.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(10.0)
    >>> mean = lambda weights: (weights @ x / weights.sum(axis=1))[:, None]
    >>> found = weight_bootstrap(mean, 10, rng=np.random.default_rng(0))
    >>> found.intervals()[0]
    4 [2, 7]
    """
    base = np.ones(n_rows) if sample_weight is None else sample_weight
    # A row of weight 0 is absent: it is never drawn.
    kept = np.flatnonzero(base > 0)
    chosen = None if strata is None else np.asarray(strata)[kept]

    def of_kept(counts: Floats) -> Floats:
        if kept.size == n_rows:
            return statistic(counts * base)
        weights = np.zeros((len(counts), n_rows))
        weights[:, kept] = counts * base[kept]
        return statistic(weights)

    drawn = [of_kept(counts) for counts in resampled_counts(kept.size, n_resamples, rng, chosen)]
    estimates = statistic(base[None])[0]
    left_out = np.empty((0, estimates.size))
    if jackknife and kept.size > 1:
        left_out = np.concatenate([of_kept(counts) for counts in _without_groups(kept.size, rng)])
    fewest = kept.size if chosen is None else int(np.unique_counts(chosen).counts.min())
    return Bootstrap(estimates, np.concatenate(drawn), left_out, fewest)


# --- Drawing --------------------------------------------------------------------------------------


def resampled_counts(
    n_rows: int, n_resamples: int, rng: np.random.Generator, strata: ArrayLike | None = None
) -> Iterator[Floats]:
    """Blocks of shape (b, n_rows): how often each row was drawn in each of b resamples."""
    step = max(1, _BLOCK // n_rows)
    for first in range(0, _checked_count(n_resamples), step):
        size = min(step, n_resamples - first)
        positions = _positions(n_rows, size, rng, strata)
        positions += n_rows * np.arange(size)[:, None]
        counts = np.bincount(positions.ravel(), minlength=size * n_rows)
        yield counts.reshape(size, n_rows).astype(np.float64)


def resampled_positions(
    n_rows: int, n_resamples: int, rng: np.random.Generator, strata: ArrayLike | None = None
) -> Iterator[Integers]:
    """The rows of one resample after the other, each of shape (n_rows,)."""
    step = max(1, _BLOCK // n_rows)
    for first in range(0, _checked_count(n_resamples), step):
        yield from _positions(n_rows, min(step, n_resamples - first), rng, strata)


def _without_groups(n_rows: int, rng: np.random.Generator) -> Iterator[Floats]:
    """Blocks of shape (b, n_rows) in which one group of rows counts 0 and all others 1."""
    groups = group_numbers(n_rows, rng)
    keys = np.arange(groups.max() + 1)
    step = max(1, _BLOCK // n_rows)
    for first in range(0, keys.size, step):
        yield (groups != keys[first : first + step, None]).astype(np.float64)


def group_numbers(n_rows: int, rng: np.random.Generator) -> Integers:
    """A group for each row, of equal sizes and in random order, at most 200 groups."""
    return rng.permutation(n_rows) % min(n_rows, _MOST_GROUPS)


def _positions(
    n_rows: int, size: int, rng: np.random.Generator, strata: ArrayLike | None
) -> Integers:
    if strata is None:
        return rng.integers(0, n_rows, size=(size, n_rows))
    labels = np.asarray(strata)
    if labels.shape != (n_rows,):
        raise InputError(
            f"strata has shape {labels.shape}, but there are {n_rows} rows. Pass one stratum for "
            "each row."
        )
    drawn = np.empty((size, n_rows), np.int64)
    codes = np.unique(labels, return_inverse=True)[1]
    for code in range(codes.max() + 1):
        rows = np.flatnonzero(codes == code)
        drawn[:, rows] = rows[rng.integers(0, rows.size, size=(size, rows.size))]
    return drawn


def _checked_count(n_resamples: int) -> int:
    if n_resamples < 1:
        raise InputError(f"n_resamples is at least 1, such as 1000, got {n_resamples!r}.")
    return n_resamples


# --- Intervals ------------------------------------------------------------------------------------


def _interval(
    estimate: float,
    replicates: Floats,
    left_out: Floats,
    level: float,
    method: BootstrapMethod,
    z: Floats,
) -> Interval:
    defined = replicates[np.isfinite(replicates)]
    if not math.isfinite(estimate) or defined.size < replicates.size / 2:
        return Interval(estimate, math.nan, math.nan, level, f"bootstrap {method}: undefined")
    tails = special.ndtr(z)
    if method == "BCa":
        tails = _accelerated(estimate, defined, left_out, z)
    low, high = np.quantile(defined, tails)
    if method == "basic":
        low, high = 2 * estimate - high, 2 * estimate - low
    return Interval(estimate, float(low), float(high), level, f"bootstrap {method}")


def _accelerated(estimate: float, replicates: Floats, left_out: Floats, z: Floats) -> Floats:
    """The tail areas of BCa; those of the percentile method where there is nothing to correct."""
    # Replicates equal to the estimate count half, as ties do.
    below = float(np.mean(replicates < estimate) + np.mean(replicates == estimate) / 2)
    pulls = left_out[np.isfinite(left_out)]
    if not 0 < below < 1 or pulls.size < 3 or not np.isfinite(z).all():
        return np.asarray(special.ndtr(z))
    pulls = pulls.mean() - pulls
    # Its skewness has no unit.
    pulls = pulls / (float(np.abs(pulls).max()) or 1.0)
    spread = float(np.sum(pulls**2))
    skew = float(np.sum(pulls**3)) / (6 * spread**1.5) if spread > 0 else 0.0
    shift = float(special.ndtri(below))
    divisor = 1 - skew * (shift + z)
    # Beyond this pole the correction would turn the limits round.
    if (divisor <= 0.1).any():
        return np.asarray(special.ndtr(z))
    return np.asarray(special.ndtr(shift + (shift + z) / divisor))
