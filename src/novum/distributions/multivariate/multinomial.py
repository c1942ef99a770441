"""Multinomial law: how often each of d outcomes happens in n independent trials.

    P(k) = n! / (k_1! ... k_d!) prod_j p_j^k_j,        k_1 + ... + k_d = n

The factorials are never formed. By Stirling's formula with its remainder e (`log_gamma`),

    log P(k) = f(n) - sum_j [ f(k_j) + D(k_j, n p_j) ],    f(k) = log(2 pi k)/2 + e(k),  f(0) = 0,

where D is the deviance of a count from its expectation: no large terms cancel, and counts of 1e9
keep their digits. A sample enters the likelihood only through its weight and its total counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from novum.core.errors import InputError
from novum.core.runtime import RandomSource, stream
from novum.core.sums import Sums
from novum.distributions.multivariate.coordinates import (
    checked_points,
    checked_table,
    chosen_and_others,
    fixed_and_free,
    refuse_cells,
)
from novum.distributions.multivariate.parameters import (
    ArrayParameters,
    checked_shares,
    checked_total,
)
from novum.distributions.univariate.log_gamma import (
    deviance,
    log_binomial_term,
    stirling_error,
)
from novum.numerics import Floats

if TYPE_CHECKING:
    from novum.distributions.univariate.binomial import Binomial


# --- Statistics -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class MultinomialStatistics(Sums, ArrayParameters):
    """What the likelihood needs to know of a weighted sample.

    Parameters
    ----------
    trials : int
        Of every row.
    weight : float
        Number of rows.
    counts : array (d,)
        Totals over all rows, with sum `weight * trials`.
    """

    trials: int
    weight: float
    counts: Floats

    _fixed: ClassVar[tuple[str, ...]] = ("trials",)
    _never_negative: ClassVar[tuple[str, ...]] = ("weight", "counts")


# --- The law --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Multinomial(ArrayParameters):
    """Law of the counts of d outcomes in `trials` independent trials.

    Parameters
    ----------
    trials : int
        From 0 to 2^53.
    probabilities : array (d,)
        Of the outcomes in each trial; they sum to 1.

    Examples
    --------
    >>> law = Multinomial(4, [0.5, 0.25, 0.25])
    >>> float(law.density([2, 1, 1]).round(12))
    0.1875
    >>> law.condition([0], [3])
    Multinomial(trials=1, probabilities=array([0.5, 0.5]))
    """

    trials: int
    probabilities: Floats

    def __post_init__(self) -> None:
        # Counts are kept as floats, which are exact up to 2^53.
        if not isinstance(self.trials, Integral) or not 0 <= self.trials <= 2**53:
            raise InputError(
                f"Multinomial needs a whole number of trials from 0 to 2^53, got {self.trials!r}."
            )
        shares = checked_shares(self.probabilities, "The probabilities of a Multinomial")
        self._store(trials=int(self.trials), probabilities=shares)

    @property
    def n_coordinates(self) -> int:
        return self.probabilities.size

    # Density

    def log_density(self, x: ArrayLike) -> Floats:
        """Logarithm of the probability of counts `(..., d)`; `-inf` off the support."""
        points = checked_points(x, self.n_coordinates, "Multinomial")
        whole = ((points >= 0) & (points <= self.trials) & (points == np.floor(points))).all(-1)
        counts = np.where(whole[..., None], points, 0.0)
        inside = _factorial_rest(self.trials) - self._terms(counts).sum(axis=-1)
        possible = whole & (counts.sum(axis=-1) == self.trials)
        result = np.where(possible, inside, -np.inf)
        return np.where(np.isnan(points).any(axis=-1), np.nan, result)

    def density(self, x: ArrayLike) -> Floats:
        return np.exp(self.log_density(x))

    def _terms(self, counts: Floats) -> Floats:
        """`f(k_j) + D(k_j, n p_j)` of the formula above."""
        return _factorial_rest(counts) + deviance(counts, self.trials * self.probabilities)

    # Moments

    @property
    def mean(self) -> Floats:
        """`n p`."""
        return self.trials * self.probabilities

    @property
    def variance(self) -> Floats:
        """`n p_j (1 - p_j)` of each count."""
        return self.mean * (1 - self.probabilities)

    @property
    def covariance(self) -> Floats:
        """`n (diag(p) - p p')`, singular because the counts sum to n."""
        p = self.probabilities
        return self.trials * (np.diag(p * (1 - p)) - np.outer(p, p) * (1 - np.eye(p.size)))

    @property
    def mode(self) -> Floats:
        """A likeliest table of counts.

        Its counts are at least `floor(n p_j)` (Finucane 1964); the few trials that are left go one
        by one where `p_j / (k_j + 1)` is largest, the first of equals.
        """
        p = self.probabilities
        counts = np.floor(self.mean)
        # n p may be rounded up across a whole number.
        while counts.sum() > self.trials:
            counts[np.argmax(np.where(counts > 0, counts - self.mean, -np.inf))] -= 1
        for _ in range(int(self.trials - counts.sum())):
            counts[np.argmax(p / (counts + 1))] += 1
        return counts

    @property
    def entropy(self) -> float:
        """`-E[log P(k)]` in nats; the logarithm is a sum over the binomial counts."""
        if self.trials == 0:
            return 0.0
        parts = (self._expected_term(j) for j in range(self.n_coordinates))
        return float(sum(parts) - _factorial_rest(self.trials))

    def _expected_term(self, j: int) -> float:
        """`E[f(k_j) + D(k_j, n p_j)]` over all counts that matter."""
        n, p = self.trials, float(self.probabilities[j])
        if p in (0.0, 1.0):
            return float(_factorial_rest(n * p))
        mean, spread = n * p, np.sqrt(n * p * (1 - p))
        if spread > _MANY:
            return float(_factorial_rest(mean)) + 0.5 * (1 - p)
        # Beyond 12 standard deviations and 50 counts the terms are below 1e-20.
        reach = np.ceil(12 * spread + 50)
        first, last = max(np.floor(mean) - reach, 0), min(np.ceil(mean) + reach, n)
        k = np.arange(first, last + 1)
        chance = np.exp(log_binomial_term(k, n, p, 1 - p))
        return float(chance @ (_factorial_rest(k) + deviance(k, mean)))

    # Sampling

    def sample(self, size: int | tuple[int, ...], random_state: RandomSource = None) -> Floats:
        """Counts of shape `(*size, d)`."""
        drawn = stream(random_state).multinomial(self.trials, self.probabilities, size)
        return drawn.astype(np.float64)

    # Estimation

    @staticmethod
    def statistics(
        x: ArrayLike, weight: ArrayLike | None = None, *, trials: int | None = None
    ) -> MultinomialStatistics:
        """Weight and total counts of the rows of `x`, of shape (n, d).

        Parameters
        ----------
        x : array (n, d)
            Counts; every row has the same sum.
        weight : array (n,), optional
        trials : int, optional
            That sum; needed only where there are no rows to tell it.
        """
        rows, weights = checked_table(x, weight, "Multinomial")
        good = (rows >= 0) & (rows == np.floor(rows)) & np.isfinite(rows)
        wanted = "counts, whole numbers of at least 0"
        refuse_cells("Multinomial", wanted, rows, good, "Drop such rows or give them weight 0.")
        sums = rows.sum(axis=1)
        known = (int(sums[0]) if len(sums) else 0) if trials is None else trials
        other = np.flatnonzero(sums != known)
        if other.size:
            raise InputError(
                f"A Multinomial has the same number of trials in every row; it is {known}, but row "
                f"{other[0]} sums to {sums[other[0]]:g}. For rows of different length fit a "
                "Categorical to the total counts."
            )
        return MultinomialStatistics(known, float(weights.sum()), weights @ rows)

    @classmethod
    def from_statistics(cls, statistics: MultinomialStatistics) -> Multinomial:
        """The probabilities of largest likelihood: the shares of the outcomes in all trials."""
        total = float(statistics.counts.sum())
        checked_total(total, "Multinomial")
        return cls(statistics.trials, statistics.counts / total)

    @classmethod
    def fit(
        cls, x: ArrayLike, weight: ArrayLike | None = None, *, trials: int | None = None
    ) -> Multinomial:
        """Maximum likelihood."""
        return cls.from_statistics(cls.statistics(x, weight, trials=trials))

    @classmethod
    def fit_moments(
        cls, x: ArrayLike, weight: ArrayLike | None = None, *, trials: int | None = None
    ) -> Multinomial:
        """The law with the sample's mean, which is also that of largest likelihood."""
        return cls.fit(x, weight, trials=trials)

    # Relations

    def kl(self, other: Multinomial) -> float:
        """`n sum_j p_j log(p_j / q_j)` for the same n; `inf` if `other` excludes an outcome."""
        if (self.trials, self.n_coordinates) != (other.trials, other.n_coordinates):
            raise InputError(
                "The divergence of multinomial laws has a closed form for equal trials and "
                f"outcomes only, got {self.trials} and {other.trials} trials of "
                f"{self.n_coordinates} and {other.n_coordinates} outcomes."
            )
        single = float(deviance(self.probabilities, other.probabilities).sum())
        return self.trials * single if self.trials else 0.0

    def marginal(self, indices: ArrayLike) -> Multinomial | Binomial:
        """The law of some counts, in the order given.

        One outcome, given as a number, has a `Binomial` law. Several have a `Multinomial` one with
        all others together as its last outcome, unless there are none.

        Examples
        --------
        >>> Multinomial(4, [0.5, 0.25, 0.25]).marginal(0)
        Binomial(trials=4, probability=0.5)
        >>> Multinomial(4, [0.5, 0.25, 0.25]).marginal([0]).probabilities.tolist()
        [0.5, 0.5]
        """
        chosen, others = chosen_and_others(indices, self.n_coordinates)
        if np.ndim(indices) == 0:
            from novum.distributions.univariate.binomial import Binomial

            return Binomial(self.trials, float(self.probabilities[chosen[0]]))
        shares = self.probabilities[chosen]
        if others.size:
            shares = np.append(shares, self.probabilities[others].sum())
        return Multinomial(self.trials, shares)

    def condition(self, indices: ArrayLike, values: ArrayLike) -> Multinomial:
        """The law of the other counts: multinomial in the trials that are left."""
        fixed, free, given = fixed_and_free(indices, values, self.n_coordinates)
        left = self.trials - given.sum()
        rest = self.probabilities[free].sum()
        counts = np.append(given, left)
        shares = np.append(self.probabilities[fixed], rest)
        if not np.isfinite(Multinomial(self.trials, shares).log_density(counts)):
            raise InputError(
                f"The counts {given.tolist()} of outcomes {fixed.tolist()} cannot occur in "
                f"{self.trials} trials of this law."
            )
        if rest == 0:
            raise InputError(
                f"All probability is on the fixed outcomes {fixed.tolist()}, so the shares of the "
                "others are not known. Drop those others."
            )
        return Multinomial(int(left), self.probabilities[free] / rest)


# Above this standard deviation a count is normal as far as 12 digits can tell.
_MANY = 1e6


def _factorial_rest(k: ArrayLike) -> Floats:
    """`f(k) = log k! - k log k + k`, and 0 at 0."""
    counts = np.asarray(k, np.float64)
    positive = np.where(counts > 0, counts, 1.0)
    value = stirling_error(positive) + 0.5 * (np.log(positive) + np.log(2 * np.pi))
    return np.where(counts > 0, value, 0.0)
