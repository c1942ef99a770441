"""Categorical law: one of finitely many named levels.

    P(X = level_k) = p_k,    sum_k p_k = 1

The likelihood `prod_k p_k^(n_k)` depends on a sample through the counts of the levels, and its
maximum is the relative frequency `n_k / n`. Counts carry their levels: `+` unites them by name.

Levels may be any hashable values, such as strings. Their order is the order of the law, by which
`cdf` and `quantile` go; for numbers in ascending order they are the usual ones.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from novum.core.errors import InputError
from novum.core.runtime import RandomSource, stream
from novum.distributions.protocol import Size
from novum.distributions.univariate import arguments
from novum.distributions.univariate.level_codes import (
    MISSING,
    UNSEEN,
    checked_levels,
    codes_of,
    labels,
    sorted_levels,
)
from novum.distributions.univariate.log_gamma import deviance
from novum.numerics import Array, Floats, Integers

# --- Statistics -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class CategoricalStatistics:
    """Counts of levels in a weighted sample.

    Parameters
    ----------
    levels : sequence of K different labels
    counts : array (K,)
        How often each occurred, not negative.

    Examples
    --------
    >>> a = CategoricalStatistics(("red", "blue"), [3, 1])
    >>> b = Categorical.statistics(["blue", "green"])
    >>> (a + b).levels, (a + b).counts.tolist()
    (('red', 'blue', 'green'), [3.0, 2.0, 1.0])
    """

    levels: tuple[Any, ...]
    counts: Floats

    def __post_init__(self) -> None:
        levels = checked_levels(self.levels)
        counts = np.array(arguments.points("Categorical", self.counts))
        if counts.shape != (len(levels),):
            raise InputError(
                f"Counts of {len(levels)} levels have shape ({len(levels)},), got {counts.shape}."
            )
        bad = np.flatnonzero(~((counts >= 0) & (counts < np.inf)))
        if bad.size:
            raise InputError(
                f"Counts are finite and at least 0; that of {levels[bad[0]]!r} is "
                f"{counts[bad[0]]:g}. Remove only what was added."
            )
        counts.setflags(write=False)
        object.__setattr__(self, "levels", levels)
        object.__setattr__(self, "counts", counts)

    @property
    def weight(self) -> float:
        """Total count."""
        return float(self.counts.sum())

    def count(self, level: Hashable) -> float:
        """Count of one level; 0 if it is not known."""
        return self._by_level().get(level, 0.0)

    def with_levels(self, levels: Sequence[Any]) -> CategoricalStatistics:
        """The same counts over these levels, which must include all that occurred."""
        wanted, counts = checked_levels(levels), self._by_level()
        lost = [level for level in counts.keys() - set(wanted) if counts[level] > 0]
        if lost:
            raise InputError(f"Level {lost[0]!r} occurred but is not among the levels given.")
        return CategoricalStatistics(wanted, np.array([counts.get(level, 0.0) for level in wanted]))

    def __add__(self, other: CategoricalStatistics) -> CategoricalStatistics:
        return self._joined(other, 1.0)

    def __sub__(self, other: CategoricalStatistics) -> CategoricalStatistics:
        return self._joined(other, -1.0)

    def __mul__(self, factor: float) -> CategoricalStatistics:
        return CategoricalStatistics(self.levels, factor * self.counts)

    __rmul__ = __mul__

    def zero(self) -> CategoricalStatistics:
        """No counts of the same levels."""
        return CategoricalStatistics(self.levels, np.zeros(len(self.levels)))

    def isclose(self, other: CategoricalStatistics, rtol: float = 1e-10) -> bool:
        """Equal counts level by level, within `rtol` of the weight."""
        size = rtol * max(self.weight, other.weight)
        ours, theirs = self._by_level(), other._by_level()
        gaps = (ours.get(level, 0.0) - theirs.get(level, 0.0) for level in {**ours, **theirs})
        return all(abs(gap) <= size for gap in gaps)

    def _by_level(self) -> dict[Any, float]:
        return dict(zip(self.levels, self.counts.tolist(), strict=True))

    def _joined(self, other: CategoricalStatistics, sign: float) -> CategoricalStatistics:
        position = {level: k for k, level in enumerate(self.levels)}
        for level in other.levels:
            position.setdefault(level, len(position))
        counts = np.zeros(len(position))
        counts[: len(self.levels)] = self.counts
        counts[[position[level] for level in other.levels]] += sign * other.counts
        # Fractional weights leave rounding behind, which must not make a count negative.
        rounding = (counts < 0) & (counts >= -1e-14 * self.weight)
        return CategoricalStatistics(tuple(position), np.where(rounding, 0.0, counts))


# --- The law --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Categorical:
    """Categorical law over named levels.

    Parameters
    ----------
    probabilities : array (K,)
        At least 0, with sum 1 (up to rounding, which is divided out).
    levels : sequence of K different labels, optional
        By default `0, ..., K - 1`.

    Examples
    --------
    >>> coin = Categorical.fit(list("HHTTTHH"))
    >>> coin.levels, coin.probabilities.round(4).tolist()
    (('H', 'T'), [0.5714, 0.4286])
    >>> coin.density(["T", "edge"]).round(4).tolist()
    [0.4286, 0.0]
    >>> coin.mode
    'H'
    """

    probabilities: Floats
    levels: tuple[Any, ...] | None = None
    discrete: ClassVar[bool] = True

    def __post_init__(self) -> None:
        shares = checked_probabilities("Categorical", self.probabilities)
        given = range(shares.size) if self.levels is None else self.levels
        levels = checked_levels(given)
        if len(levels) != shares.size:
            raise InputError(
                f"Categorical needs one level per probability, got {len(levels)} levels and "
                f"{shares.size} probabilities."
            )
        object.__setattr__(self, "probabilities", shares)
        object.__setattr__(self, "levels", levels)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Categorical):
            return NotImplemented
        same = np.array_equal(self.probabilities, other.probabilities)
        return same and self.levels == other.levels

    def __hash__(self) -> int:
        return hash((self.levels, self.probabilities.tobytes()))

    @property
    def _names(self) -> tuple[Any, ...]:
        assert self.levels is not None
        return self.levels

    # Density

    def log_density(self, x: Any) -> Floats:
        """`log p_k` of the level, and `-inf` for what is no level."""
        with np.errstate(divide="ignore"):
            return self._of_level(np.log(self.probabilities), x, -np.inf)

    def density(self, x: Any) -> Floats:
        """Probability of each label; 0 for what is no level, NaN for a missing one."""
        return self._of_level(self.probabilities, x, 0.0)

    def _of_level(self, table: Floats, x: Any, elsewhere: float) -> Floats:
        codes = codes_of(x, self._names)
        values = np.where(codes >= 0, table[np.maximum(codes, 0)], elsewhere)
        return np.where(codes == MISSING, np.nan, values)

    # Distribution function

    def cdf(self, x: Any) -> Floats:
        """Probability of the levels up to and including `x`, in their order."""
        return self._cumulated(self._places(x), 1)

    def quantile(self, level: ArrayLike) -> Array:
        """The first level of positive probability at which the cdf reaches `level`."""
        values = arguments.levels("Categorical", level)
        if np.isnan(values).any():
            raise InputError("A missing probability has no quantile. Drop it.")
        totals = self._totals()
        # The first level that is possible at all, also for 0; the last one for 1.
        possible = np.flatnonzero(self.probabilities)
        codes = np.searchsorted(totals[1:], values, side="left")
        codes = np.where(values >= 1, possible[-1], np.clip(codes, possible[0], possible[-1]))
        return labels(self._names)[codes]

    def probability(self, a: Any, b: Any) -> Floats:
        """Probability of the levels from `a` to `b`, both included, in their order."""
        first, last = self._places(a), self._places(b)
        if np.any((first > last) & (last != MISSING)):
            raise InputError(f"{a!r} comes after {b!r} in the order of the levels. Swap them.")
        return self._cumulated(last, 1) - self._cumulated(first, 0)

    def _totals(self) -> Floats:
        totals = np.concatenate([[0.0], np.cumsum(self.probabilities)])
        totals[-1] = 1.0
        return np.minimum(totals, 1.0)

    def _places(self, x: Any) -> Integers:
        codes = codes_of(x, self._names)
        if np.any(codes == UNSEEN):
            raise InputError(
                f"Only levels have a place in the order; {x!r:.80} holds others. "
                f"The levels are {', '.join(map(repr, self._names[:10]))}."
            )
        return codes

    def _cumulated(self, places: Integers, included: int) -> Floats:
        """Probability before a level (0) or up to it (1)."""
        sums = self._totals()[np.maximum(places, 0) + included]
        return np.where(places == MISSING, np.nan, sums)

    # Moments

    @property
    def mean(self) -> Floats:
        """Mean of the indicators of the levels: their probabilities."""
        return self.probabilities

    @property
    def covariance(self) -> Floats:
        """`diag(p) - p p'`, the covariance of the indicators."""
        p = self.probabilities
        return np.diag(p) - np.outer(p, p)

    @property
    def mode(self) -> Any:
        """The likeliest level; the first of several."""
        return self._names[int(np.argmax(self.probabilities))]

    @property
    def entropy(self) -> float:
        """`-sum_k p_k log p_k` in nats."""
        return float(special.entr(self.probabilities).sum())

    def expectation(self, values: ArrayLike) -> float:
        """`sum_k p_k v_k`: the mean of a number that each level stands for."""
        numbers = arguments.points("Categorical", values)
        if numbers.shape != self.probabilities.shape:
            raise InputError(
                f"An expectation needs one number per level: {self.probabilities.size} levels, "
                f"got shape {numbers.shape}."
            )
        return float(self.probabilities @ numbers)

    # Sampling

    def sample(self, size: Size, random_state: RandomSource = None) -> Array:
        """Labels, as an array of the levels' type."""
        return self.quantile(1.0 - stream(random_state).random(size))

    # Estimation

    @staticmethod
    def statistics(
        x: Any, weight: ArrayLike | None = None, *, levels: Sequence[Any] | None = None
    ) -> CategoricalStatistics:
        """Counts of the levels; by default of those that occur, in sorted order."""
        flat = np.ravel(labels(x))
        weights = (
            np.ones(flat.size)
            if weight is None
            else arguments.checked_weights("Categorical", weight, flat.size)
        )
        kept = weights > 0
        known = sorted_levels(flat[kept]) if levels is None else checked_levels(levels)
        codes = codes_of(flat, known)
        bad = np.flatnonzero(kept & (codes < 0))
        if bad.size:
            raise InputError(
                f"Categorical is estimated from known levels; {bad.size} of {flat.size} values are "
                f"missing or unknown, the first is {flat[bad[0]]!r} at position {bad[0]}. "
                "Add the level, or give missing values weight 0."
            )
        counts = np.bincount(codes[kept], weights[kept], len(known)).astype(float)
        return CategoricalStatistics(known, counts)

    @classmethod
    def from_statistics(cls, statistics: CategoricalStatistics) -> Categorical:
        """The probabilities of largest likelihood: relative frequencies."""
        arguments.refuse_no_data("Categorical", statistics.weight)
        return cls(statistics.counts / statistics.weight, statistics.levels)

    @classmethod
    def fit(
        cls, x: Any, weight: ArrayLike | None = None, *, levels: Sequence[Any] | None = None
    ) -> Categorical:
        """Maximum likelihood."""
        return cls.from_statistics(cls.statistics(x, weight, levels=levels))

    # Relations

    def kl(self, other: Categorical) -> float:
        """`sum_k p_k log(p_k / r_k)`; `inf` if `other` excludes a level that is possible here."""
        theirs = other.density(labels(self._names))
        # The linear parts of the deviances add up to what other gives to further levels.
        extra = other.probabilities.sum() - theirs.sum()
        return float(max(deviance(self.probabilities, theirs).sum() + max(extra, 0.0), 0.0))


# --- Checks ---------------------------------------------------------------------------------------


def checked_probabilities(law: str, probabilities: ArrayLike) -> Floats:
    """Shares that sum to one, read-only; a sum that is off by rounding is divided out."""
    shares = np.array(arguments.points(law, probabilities))
    if shares.ndim != 1 or not shares.size:
        raise InputError(f"{law} needs a list of probabilities, got shape {shares.shape}.")
    bad = np.flatnonzero(~((shares >= 0) & (shares <= 1 + 1e-9)))
    if bad.size:
        raise InputError(
            f"{law} needs probabilities from 0 to 1, got {shares[bad[0]]:g} at position {bad[0]}."
        )
    total = float(shares.sum())
    # Typed with few digits, probabilities are off by more than this; then someone must look.
    if abs(total - 1) > 1e-9:
        raise InputError(
            f"{law} needs probabilities that sum to 1; they sum to {total:.12g}. "
            "Divide them by their sum."
        )
    shares /= total
    shares.setflags(write=False)
    return shares
