"""Dirichlet law: shares of d kinds that sum to one.

    p(x) = Gamma(A) / prod_j Gamma(a_j) prod_j x_j^(a_j - 1),    A = a_1 + ... + a_d

Sums of shares have a Dirichlet law with summed concentrations, a single share a beta law, and the
shares of some kinds among themselves do not depend on how much they are together. A sample enters
the likelihood only through its mean logarithms g. The likelihood is concave; its maximum solves
`digamma(a_j) = digamma(A) + g_j` and is found by Newton's method, whose Hessian is a diagonal plus
a constant (Minka). As in the multinomial law no large logarithms of gamma functions are subtracted.

References
----------
Minka, "Estimating a Dirichlet distribution", 2000, eq. 10-18.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

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
    checked_total,
    checked_vector,
)
from novum.distributions.univariate.log_gamma import (
    deviance,
    log_gamma_divergence,
    log_minus_digamma,
    stirling_error,
)
from novum.numerics import Floats, Mask

if TYPE_CHECKING:
    from novum.distributions.univariate.beta import Beta

LOG_TWO_PI = float(np.log(2 * np.pi))
# Shares that sum to 1 within this are on the simplex; they are divided by their sum.
_SUM_TOLERANCE = 1e-9


# --- Statistics -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class DirichletStatistics(Sums, ArrayParameters):
    """What the likelihood needs to know of a weighted sample.

    Parameters
    ----------
    weight : float
        Number of rows.
    logarithms : array (d,)
        Sums of the logarithms of the shares.
    """

    weight: float
    logarithms: Floats


# --- The law --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Dirichlet(ArrayParameters):
    """Law of d shares.

    Parameters
    ----------
    concentration : array (d,)
        Positive, for at least two kinds. Their proportions are the mean, their sum says how close
        to it the shares are.

    Examples
    --------
    >>> law = Dirichlet([2.0, 1.0, 1.0])
    >>> law.mean.tolist(), law.marginal(0)
    ([0.5, 0.25, 0.25], Beta(a=2.0, b=2.0))
    >>> float(law.density([0.5, 0.25, 0.25]).round(12))
    3.0
    """

    concentration: Floats

    def __post_init__(self) -> None:
        values = checked_vector(self.concentration, "The concentration of a Dirichlet")
        with np.errstate(over="ignore"):
            total = values.sum()
        if np.any(values <= 0) or values.size < 2 or not np.isfinite(total):
            raise InputError(
                "A Dirichlet needs at least two positive concentrations with a finite sum, "
                f"got {np.array2string(values, threshold=8)}."
            )
        self._store(concentration=values)

    @property
    def n_coordinates(self) -> int:
        return self.concentration.size

    @property
    def total(self) -> float:
        """Sum of the concentrations."""
        return float(self.concentration.sum())

    # Density

    def log_density(self, x: ArrayLike) -> Floats:
        """Log-density of shares `(..., d)`, a function of all but the last; `-inf` off the simplex.

        On the border it is `-inf` where a share with concentration above 1 is zero, else `+inf`
        where one with concentration below 1 is.
        """
        points = checked_points(x, self.n_coordinates, "Dirichlet")
        sums = points.sum(axis=-1)
        with np.errstate(invalid="ignore"):
            valid = (points >= 0).all(axis=-1) & (np.abs(sums - 1) <= _SUM_TOLERANCE)
        shares = np.where(valid[..., None], points / np.where(valid, sums, 1.0)[..., None], 0.5)
        inside = self._log_normalizer() + self._log_kernel(shares)
        result = np.where(valid, inside, -np.inf)
        return np.where(np.isnan(points).any(axis=-1), np.nan, result)

    def density(self, x: ArrayLike) -> Floats:
        with np.errstate(over="ignore"):
            return np.exp(self.log_density(x))

    def _log_normalizer(self) -> float:
        """What Stirling's formula leaves of `log Gamma(A) - sum log Gamma(a_j)`."""
        a, total = self.concentration, self.total
        logs = 0.5 * (np.log(a).sum() - np.log(total) + (1 - a.size) * LOG_TWO_PI)
        return float(logs + stirling_error(total) - stirling_error(a).sum())

    def _log_kernel(self, shares: Floats) -> Floats:
        """The rest: `-A sum D(a_j / A, x_j) - sum log x_j`, with its limits on the border."""
        a, total = self.concentration, self.total
        zero = shares == 0
        filled = np.where(zero, 1.0, shares)
        with np.errstate(over="ignore"):
            inside = -total * deviance(a / total, filled).sum(axis=-1) - np.log(filled).sum(axis=-1)
        if not zero.any():
            return inside
        flat = self._on_border(filled, zero)
        high, low = (zero & (a < 1)).any(axis=-1), (zero & (a > 1)).any(axis=-1)
        border = np.where(low, -np.inf, np.where(high, np.inf, flat))
        return np.where(zero.any(axis=-1), border, inside)

    def _on_border(self, filled: Floats, zero: Mask) -> Floats:
        """The kernel where the shares that are zero have concentration 1 and do not count."""
        a, total = self.concentration, self.total
        # D(p, x) = p log(p / x) + x - p: without the term of x = 0 its `-p` must be put back.
        each = np.where(zero, special.xlogy(a, a / total), total * deviance(a / total, filled))
        given_up = np.where(zero, a, 0.0).sum(axis=-1)
        return -(each.sum(axis=-1) - given_up) - np.log(filled).sum(axis=-1)

    # Moments

    @property
    def mean(self) -> Floats:
        """`a / A`."""
        return self.concentration / self.total

    @property
    def variance(self) -> Floats:
        """`m_j (1 - m_j) / (A + 1)` of each share."""
        return self.mean * (1 - self.mean) / (self.total + 1)

    @property
    def covariance(self) -> Floats:
        """`(diag(m) - m m') / (A + 1)`, singular because the shares sum to 1."""
        m = self.mean
        products = np.diag(m * (1 - m)) - np.outer(m, m) * (1 - np.eye(m.size))
        return products / (self.total + 1)

    @property
    def mode(self) -> Floats:
        """`(a - 1) / (A - d)`, where no concentration is below 1 and one is above."""
        excess = self.concentration - 1
        if np.any(excess < 0) or not np.any(excess > 0):
            raise InputError(
                "A Dirichlet has a mode only if no concentration is below 1 and one is above it; "
                "below 1 the density is infinite on the border, with all equal to 1 it is constant."
            )
        return excess / excess.sum()

    @property
    def mean_log(self) -> Floats:
        """`E[log x_j] = digamma(a_j) - digamma(A)`."""
        a, total = self.concentration, self.total
        return np.log(a / total) - log_minus_digamma(a) + log_minus_digamma(total)

    @property
    def entropy(self) -> float:
        """`-E[log p(x)]` in nats, with respect to all shares but the last."""
        a, total = self.concentration, self.total
        # sum a_j (E[log x_j] - log(a_j / A)) is all that is left of the terms of size A.
        bent = total * log_minus_digamma(total) - (a * log_minus_digamma(a)).sum()
        return float(-self._log_normalizer() - bent + self.mean_log.sum())

    # Sampling

    def sample(self, size: int | tuple[int, ...], random_state: RandomSource = None) -> Floats:
        """Shares of shape `(*size, d)`."""
        return stream(random_state).dirichlet(self.concentration, size)

    # Estimation

    @staticmethod
    def statistics(x: ArrayLike, weight: ArrayLike | None = None) -> DirichletStatistics:
        """Weight and sums of logarithms of the rows of `x`, of shape (n, d)."""
        rows, weights = _checked_shares_table(x, weight)
        return DirichletStatistics(float(weights.sum()), weights @ np.log(rows))

    @classmethod
    def from_statistics(cls, statistics: DirichletStatistics) -> Dirichlet:
        """The concentration of largest likelihood, by Newton's method."""
        checked_total(statistics.weight, "Dirichlet")
        return cls(_concentration_of(statistics.logarithms / statistics.weight))

    @classmethod
    def fit(cls, x: ArrayLike, weight: ArrayLike | None = None) -> Dirichlet:
        """Maximum likelihood."""
        return cls.from_statistics(cls.statistics(x, weight))

    @classmethod
    def fit_moments(cls, x: ArrayLike, weight: ArrayLike | None = None) -> Dirichlet:
        """The law with the sample's mean and variances: `A + 1 = sum m_j (1 - m_j) / sum v_j`."""
        from novum.numerics import moments_of

        rows, weights = _checked_shares_table(x, weight)
        sample = moments_of(rows, weights)
        checked_total(sample.weight, "Dirichlet")
        mean = sample.mean / sample.mean.sum()
        spread, largest = float(sample.variance().sum()), float((mean * (1 - mean)).sum())
        if not 0 < spread < largest:
            raise _no_spread()
        return cls(mean * (largest / spread - 1))

    # Relations

    def kl(self, other: Dirichlet) -> float:
        """`E[log p(x) - log p_other(x)]` under this law, in nats."""
        if self.n_coordinates != other.n_coordinates:
            raise InputError(
                f"Laws of {self.n_coordinates} and of {other.n_coordinates} shares do not go "
                "together."
            )
        a, b = self.concentration, other.concentration
        bends = log_gamma_divergence(b, a).sum() - log_gamma_divergence(other.total, self.total)
        apart = other.total * float(deviance(other.mean, self.mean).sum())
        return max(0.0, apart + float(bends))

    def marginal(self, indices: ArrayLike) -> Dirichlet | Beta:
        """The law of some shares, in the order given.

        One share, given as a number, has a `Beta` law. Several have a `Dirichlet` one with the sum
        of all others as its last share, unless there are none.
        """
        chosen, others = chosen_and_others(indices, self.n_coordinates)
        rest = float(self.concentration[others].sum())
        if np.ndim(indices) == 0:
            from novum.distributions.univariate.beta import Beta

            return Beta(float(self.concentration[chosen[0]]), rest)
        kept = self.concentration[chosen]
        return Dirichlet(np.append(kept, rest) if others.size else kept)

    def aggregate(self, groups: Iterable[ArrayLike]) -> Dirichlet:
        """The law of the sums of shares within groups that together are all kinds.

        Examples
        --------
        >>> Dirichlet([2.0, 1.0, 1.0]).aggregate([[0, 2], [1]]).concentration.tolist()
        [3.0, 1.0]
        """
        parts = [chosen_and_others(group, self.n_coordinates)[0] for group in groups]
        if sorted(np.concatenate(parts).tolist()) != list(range(self.n_coordinates)):
            raise InputError(
                f"Groups must hold each of the kinds 0 to {self.n_coordinates - 1} once, "
                f"got {[part.tolist() for part in parts]}."
            )
        return Dirichlet(np.array([self.concentration[part].sum() for part in parts]))

    def condition(self, indices: ArrayLike, values: ArrayLike) -> Dirichlet:
        """The law of the other shares *among themselves*, when those of `indices` are known.

        Given the values v, the others are `(1 - sum v)` times shares with this law, which does not
        depend on v.
        """
        _, free, given = fixed_and_free(indices, values, self.n_coordinates)
        if np.any(given < 0) or given.sum() >= 1 or free.size < 2:
            raise InputError(
                "Shares are conditioned on values of at least 0 with a sum below 1, two or more "
                f"shares are left; got {given.tolist()} for {given.size} of {self.n_coordinates}."
            )
        return Dirichlet(self.concentration[free])


# --- Estimation -----------------------------------------------------------------------------------


def _concentration_of(mean_log: Floats) -> Floats:
    """Solves `digamma(a_j) - digamma(sum a) = g_j` by Newton's method on a concave function."""
    gap = 1 - float(np.exp(mean_log).sum())
    if not gap > 8 * np.finfo(float).eps * max(1.0, float(np.abs(mean_log).max())):
        raise _no_spread()
    a = _inverse_digamma(mean_log + special.digamma((mean_log.size - 1) / (2 * gap)))
    value = _likelihood(a, mean_log)
    for _ in range(200):
        step = _newton_step(a, mean_log)
        # A sample fixes a to a share A eps: that is how the rounding of the slope enters the step.
        rounding = 4 * np.finfo(float).eps * (1 + float(a.sum()))
        if np.all(np.abs(step) <= rounding * a):
            break
        slack = rounding * max(1.0, float(np.abs(mean_log).max()))
        length = min(1.0, 0.9 / float(np.max(-step / a, initial=0.9)))
        while True:
            proposal = a + length * step
            likeliest = _likelihood(proposal, mean_log)
            if likeliest >= value - slack or length < 1e-10:
                break
            length /= 2
        a, value = proposal, likeliest
    return a


def _newton_step(a: Floats, mean_log: Floats) -> Floats:
    """`-H^-1 grad` of the mean likelihood, with `H = c 11' - diag(q)`."""
    total = a.sum()
    slope = np.log(total / a) + mean_log + log_minus_digamma(a) - log_minus_digamma(total)
    q, c = special.polygamma(1, a), float(special.polygamma(1, total))
    shared = (slope / q).sum() / (1 / c - (1 / q).sum())
    return (slope + shared) / q


def _likelihood(a: Floats, mean_log: Floats) -> float:
    """Mean log-likelihood up to a constant, without large terms that cancel."""
    total = a.sum()
    fit = (a * (mean_log - np.log(a / total))).sum()
    rest = 0.5 * (np.log(a).sum() - np.log(total))
    return float(fit + rest + stirling_error(total) - stirling_error(a).sum())


def _inverse_digamma(y: Floats) -> Floats:
    """The x with `digamma(x) = y`, to a few digits: the start of Newton's method."""
    x = np.where(y >= -2.22, np.exp(np.minimum(y, 700.0)) + 0.5, -1 / (y + np.euler_gamma))
    for _ in range(4):
        x = np.maximum(x - (special.digamma(x) - y) / special.polygamma(1, x), 0.1 * x)
    return x


# --- Checks ---------------------------------------------------------------------------------------


def _checked_shares_table(x: ArrayLike, weight: ArrayLike | None) -> tuple[Floats, Floats]:
    rows, weights = checked_table(x, weight, "Dirichlet")
    refuse_cells(
        "Dirichlet",
        "positive shares",
        rows,
        (rows > 0) & np.isfinite(rows),
        "A share of exactly 0 has no logarithm; replace zeros by the smallest share that is known.",
    )
    sums = rows.sum(axis=1)
    off = np.flatnonzero(np.abs(sums - 1) > _SUM_TOLERANCE)
    if off.size:
        raise InputError(
            f"Shares sum to 1 in every row; {off.size} of {len(rows)} rows do not, the first is "
            f"row {off[0]} with sum {sums[off[0]]:.12g}. Divide each row by its sum."
        )
    return rows / sums[:, None], weights


def _no_spread() -> InputError:
    return InputError(
        "The rows are all equal up to rounding, and the likelihood of a Dirichlet grows without "
        "bound as its concentration does. Give rows that differ."
    )
