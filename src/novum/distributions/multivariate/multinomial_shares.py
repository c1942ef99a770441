"""Law of the counts of d outcomes given their total: multinomial rows of different totals.

    P(k | n) = n! / (k_1! ... k_d!) prod_j p_j^k_j,        n = k_1 + ... + k_d of each row

Texts of different length, baskets of different size: what a row says of the shares p does not
depend on how its total came about. Missing counts are left out together with their outcomes: given
the total n_o of the present ones these are multinomial with the shares `p_j / sum_o p`. That is the
likelihood of Poisson counts with a rate of each row's own, `k_ij ~ Poisson(r_i p_j)`, at the
likeliest rate `r_i = n_o / sum_o p`; a missing count is therefore expected to be `r_i p_j`, and EM
with counts so completed never lowers it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from novum.core.errors import InputError
from novum.core.runtime import RandomSource, stream
from novum.core.sums import Sums
from novum.distributions.multivariate.coordinates import (
    checked_points,
    chosen_and_others,
    log_density_by_pattern,
    rows_by_pattern,
)
from novum.distributions.multivariate.multinomial import checked_counts, factorial_rest
from novum.distributions.multivariate.parameters import ArrayParameters, checked_shares
from novum.distributions.univariate.log_gamma import deviance
from novum.numerics import Floats


@dataclass(frozen=True, eq=False)
class ShareStatistics(Sums, ArrayParameters):
    """What the likelihood needs to know of a weighted sample: rows (weight) and total counts."""

    weight: float
    counts: Floats

    _never_negative: ClassVar[tuple[str, ...]] = ("weight", "counts")


@dataclass(frozen=True, eq=False)
class MultinomialShares(ArrayParameters):
    """Law of the counts of d outcomes given their total.

    Parameters
    ----------
    probabilities : array (d,)
        Of the outcomes in each trial; they sum to 1.

    Examples
    --------
    >>> law = MultinomialShares.fit([[1, 1], [4, 2]])
    >>> law.probabilities.tolist()
    [0.625, 0.375]
    >>> bool(law.density([2, 0]) == 0.625**2), law.sample(2, trials=0).tolist()
    (True, [[0.0, 0.0], [0.0, 0.0]])
    """

    probabilities: Floats

    def __post_init__(self) -> None:
        shares = checked_shares(self.probabilities, "The probabilities of MultinomialShares")
        self._store(probabilities=shares)

    @property
    def n_coordinates(self) -> int:
        return self.probabilities.size

    # Density

    def log_density(self, x: ArrayLike) -> Floats:
        """Log-probability of counts `(..., d)` given their sums; `-inf` for what is no count."""
        points = checked_points(x, self.n_coordinates, "MultinomialShares")
        return _log_density(points, self.probabilities)

    def density(self, x: ArrayLike) -> Floats:
        return np.exp(self.log_density(x))

    def log_density_observed(self, x: ArrayLike) -> Floats:
        """Log-probability of the counts that are present given their sums; NaN is missing."""
        points = checked_points(x, self.n_coordinates, "MultinomialShares")

        def of(present: Any) -> Any:
            shares = self.probabilities[present]
            total = float(shares.sum())
            shares = shares / total if total > 0 else np.full(len(shares), 1.0 / len(shares))
            return lambda part: _log_density(part, shares)

        return log_density_by_pattern(points, of)

    @property
    def mean(self) -> Floats:
        """Of the counts of a single trial."""
        return self.probabilities

    # Sampling

    def sample(
        self, size: int | tuple[int, ...], random_state: RandomSource = None, *, trials: Any = None
    ) -> Floats:
        """Counts of shape `(*size, d)` that sum to `trials`, which the law does not tell."""
        if trials is None:
            raise InputError(
                "MultinomialShares is the law of counts given their total, and draws none without. "
                "Give trials, or fit a Multinomial, whose rows all have one total."
            )
        drawn = stream(random_state).multinomial(trials, self.probabilities, size)
        return drawn.astype(np.float64)

    # Estimation

    @staticmethod
    def statistics(x: ArrayLike, weight: ArrayLike | None = None) -> ShareStatistics:
        """Weight and total counts of the rows of `x`, of shape (n, d)."""
        rows, weights = checked_counts(x, weight, "MultinomialShares")
        return ShareStatistics(float(weights.sum()), weights @ rows)

    @staticmethod
    def completed_statistics(
        x: ArrayLike, weight: ArrayLike | None = None, *, law: MultinomialShares | None = None
    ) -> ShareStatistics:
        """The same of rows with missing counts, which are what the law expects them to be."""
        rows, weights = checked_counts(x, weight, "MultinomialShares", allow_missing=True)
        p = _first_shares(rows, weights) if law is None else law.probabilities
        counts = weights @ np.nan_to_num(rows)
        for chosen, present in rows_by_pattern(np.isnan(rows)):
            if not 0 < present.size < p.size:
                continue
            seen = float(p[present].sum())
            total = float(weights[chosen] @ rows[np.ix_(chosen, present)].sum(axis=1))
            missing = np.setdiff1d(np.arange(p.size), present)
            if seen > 0:
                counts[missing] += total / seen * p[missing]
        return ShareStatistics(float(weights.sum()), counts)

    @classmethod
    def from_statistics(cls, statistics: ShareStatistics) -> MultinomialShares:
        """The probabilities of largest likelihood: the shares of the outcomes in all trials."""
        total = float(statistics.counts.sum())
        if not total > 0:
            raise InputError("MultinomialShares cannot be estimated from rows without a count.")
        return cls(statistics.counts / total)

    @classmethod
    def fit(cls, x: ArrayLike, weight: ArrayLike | None = None) -> MultinomialShares:
        """Maximum likelihood."""
        return cls.from_statistics(cls.statistics(x, weight))

    # Relations

    def marginal(self, indices: ArrayLike) -> MultinomialShares:
        """The law of some counts given their own total, in the order given."""
        chosen, _ = chosen_and_others(indices, self.n_coordinates)
        shares = self.probabilities[chosen]
        if not shares.sum() > 0:
            raise InputError("These outcomes have probability 0, so their shares are not known.")
        return MultinomialShares(shares / shares.sum())


def _first_shares(rows: Floats, weights: Floats) -> Floats:
    """Shares by the mean present count of every outcome."""
    there = ~np.isnan(rows)
    seen = weights @ there
    means = (weights @ np.nan_to_num(rows)) / np.where(seen > 0, seen, 1.0)
    total = float(means.sum())
    return means / total if total > 0 else np.full(means.size, 1.0 / means.size)


def _log_density(points: Floats, p: Floats) -> Floats:
    whole = ((points >= 0) & (points == np.floor(points)) & np.isfinite(points)).all(axis=-1)
    counts = np.where(whole[..., None], points, 0.0)
    n = counts.sum(axis=-1)
    inside = factorial_rest(n) - (factorial_rest(counts) + deviance(counts, n[..., None] * p)).sum(
        axis=-1
    )
    result = np.where(whole, inside, -np.inf)
    return np.where(np.isnan(points).any(axis=-1), np.nan, result)
