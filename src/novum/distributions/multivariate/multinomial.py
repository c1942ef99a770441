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
from typing import TYPE_CHECKING, Any, ClassVar

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
    log_density_by_pattern,
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
        inside = factorial_rest(self.trials) - self._terms(counts).sum(axis=-1)
        possible = whole & (counts.sum(axis=-1) == self.trials)
        result = np.where(possible, inside, -np.inf)
        return np.where(np.isnan(points).any(axis=-1), np.nan, result)

    def density(self, x: ArrayLike) -> Floats:
        return np.exp(self.log_density(x))

    def log_density_observed(self, x: ArrayLike) -> Floats:
        """Log-probability of the counts that are present: the others are one outcome together."""
        points = checked_points(x, self.n_coordinates, "Multinomial")

        def of(present: Any) -> Any:
            if present.size == self.n_coordinates:
                return self.log_density
            pooled = self.marginal(present)

            def log_density(part: Floats) -> Floats:
                rest = self.trials - part.sum(axis=1, keepdims=True)
                return np.asarray(pooled.log_density(np.hstack([part, rest])))

            return log_density

        return log_density_by_pattern(points, of)

    def _terms(self, counts: Floats) -> Floats:
        """`f(k_j) + D(k_j, n p_j)` of the formula above."""
        return factorial_rest(counts) + deviance(counts, self.trials * self.probabilities)

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
        return float(sum(parts) - factorial_rest(self.trials))

    def _expected_term(self, j: int) -> float:
        """`E[f(k_j) + D(k_j, n p_j)]` over all counts that matter."""
        n, p = self.trials, float(self.probabilities[j])
        if p in (0.0, 1.0):
            return float(factorial_rest(n * p))
        mean, spread = n * p, np.sqrt(n * p * (1 - p))
        if spread > _MANY:
            return float(factorial_rest(mean)) + 0.5 * (1 - p)
        # Beyond 12 standard deviations and 50 counts the terms are below 1e-20.
        reach = np.ceil(12 * spread + 50)
        first, last = max(np.floor(mean) - reach, 0), min(np.ceil(mean) + reach, n)
        k = np.arange(first, last + 1)
        chance = np.exp(log_binomial_term(k, n, p, 1 - p))
        return float(chance @ (factorial_rest(k) + deviance(k, mean)))

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
        rows, weights = checked_counts(x, weight, "Multinomial")
        sums = rows.sum(axis=1)
        known = (int(sums[0]) if len(sums) else 0) if trials is None else trials
        other = np.flatnonzero(sums != known)
        if other.size:
            raise InputError(
                f"A Multinomial has the same number of trials in every row; it is {known}, but row "
                f"{other[0]} sums to {sums[other[0]]:g}. MultinomialShares is the law of rows of "
                "different totals."
            )
        return MultinomialStatistics(known, float(weights.sum()), weights @ rows)

    @staticmethod
    def completed_statistics(
        x: ArrayLike,
        weight: ArrayLike | None = None,
        *,
        trials: int | None = None,
        law: Multinomial | None = None,
    ) -> MultinomialStatistics:
        """The same of rows with missing counts, which are what the law expects of the rest.

        Parameters
        ----------
        x, weight
            As for `statistics`; NaN is missing.
        trials : int, optional
            Of every row; by default that of a complete one.
        law : Multinomial, optional
            Shares out the trials that the present counts leave; by default the mean counts do.
        """
        rows, weights = checked_counts(x, weight, "Multinomial", allow_missing=True)
        missing = np.isnan(rows)
        incomplete = missing.any(axis=1)
        if trials is None:
            if incomplete.all():
                raise InputError(
                    "Every row lacks a count, so the number of trials is not known. Give trials."
                )
            trials = int(rows[~incomplete][0].sum())
        sums = Multinomial.statistics(rows[~incomplete], weights[~incomplete], trials=trials)
        some, of_some = rows[incomplete], weights[incomplete]
        rest = trials - np.nansum(some, axis=1)
        if (rest < 0).any():
            raise InputError(
                f"Present counts of a row sum to {trials - rest.min():g}, more than its {trials} "
                "trials. Correct them, or take MultinomialShares for rows of different totals."
            )
        means = np.nan_to_num(of_some @ np.nan_to_num(some) + sums.counts)
        p = np.where(means > 0, means, 1.0) if law is None else law.probabilities
        open_shares = np.where(missing[incomplete], p, 0.0)
        total = open_shares.sum(axis=1)
        # Where the law has no probability left, all open outcomes share alike.
        open_shares = np.where((total > 0)[:, None], open_shares, missing[incomplete])
        filled = np.nan_to_num(some)
        filled += rest[:, None] * open_shares / open_shares.sum(axis=1, keepdims=True)
        weight_of_all = sums.weight + float(of_some.sum())
        return MultinomialStatistics(trials, weight_of_all, sums.counts + of_some @ filled)

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


def checked_counts(
    x: ArrayLike, weight: ArrayLike | None, name: str, *, allow_missing: bool = False
) -> tuple[Floats, Floats]:
    """Rows of counts and their weights."""
    rows, weights = checked_table(x, weight, name)
    good = (rows >= 0) & (rows == np.floor(rows)) & np.isfinite(rows)
    good |= np.isnan(rows) if allow_missing else False
    wanted = "counts, whole numbers of at least 0"
    refuse_cells(name, wanted, rows, good, "Drop such rows or give them weight 0.")
    return rows, weights


# Above this standard deviation a count is normal as far as 12 digits can tell.
_MANY = 1e6


def factorial_rest(k: ArrayLike) -> Floats:
    """`f(k) = log k! - k log k + k`, and 0 at 0."""
    counts = np.asarray(k, np.float64)
    positive = np.where(counts > 0, counts, 1.0)
    value = stirling_error(positive) + 0.5 * (np.log(positive) + np.log(2 * np.pi))
    return np.where(counts > 0, value, 0.0)
