"""Predictive laws of counts: binomial and multinomial trials whose shares are unknown.

    BetaBinomial          P(k) = C(n, k) B(k + a, n - k + b) / B(a, b)
    DirichletMultinomial  P(k) = n! / prod k_j!  B(k + a) / B(a)

They are wider than the binomial and multinomial with the mean shares, because trials that share an
unknown probability are correlated: the variance grows by the factor `(A + n) / (A + 1)`, `A` the
sum of the parameters. The second is a chain of the first: outcome j takes its count out of the
trials that the outcomes before it left, so one formula serves both.

The logarithm is a sum of three binomial terms with real counts, evaluated at the share where the
largest of them has its peak (`log_gamma`): nothing large cancels, and 1e9 trials keep their digits.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from novum.core.errors import InputError
from novum.core.runtime import RandomSource, check_memory, stream
from novum.distributions.multivariate.coordinates import checked_points
from novum.distributions.multivariate.parameters import ArrayParameters, checked_vector
from novum.distributions.protocol import Size
from novum.distributions.univariate import arguments
from novum.distributions.univariate.log_gamma import log_binomial_term
from novum.numerics import Floats, cached_property

# --- Beta-binomial --------------------------------------------------------------------------------


@dataclass(frozen=True)
class BetaBinomial:
    """Law of the successes in `trials` trials whose probability has a `Beta(a, b)` law.

    Parameters
    ----------
    trials : int
    a, b : float
        Above 0.

    Examples
    --------
    >>> BetaBinomial(3, 1.0, 1.0).density([0, 1, 2, 3]).round(12).tolist()
    [0.25, 0.25, 0.25, 0.25]
    """

    trials: int
    a: float
    b: float

    discrete: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "trials", _checked_trials(self.trials, "BetaBinomial"))
        a, b = arguments.positive("BetaBinomial", a=self.a, b=self.b)
        object.__setattr__(self, "a", a)
        object.__setattr__(self, "b", b)

    @property
    def support(self) -> tuple[float, float]:
        """Zero to `trials`."""
        return 0.0, float(self.trials)

    # Density

    def log_density(self, x: ArrayLike) -> Floats:
        """Logarithm of the probability of each point; `-inf` off the support."""
        values = arguments.points("BetaBinomial", x)
        whole = (values >= 0) & (values <= self.trials) & (values == np.floor(values))
        inside = log_beta_binomial(np.where(whole, values, 0.0), self.trials, self.a, self.b)
        return arguments.keep_missing(np.where(whole, inside, -np.inf), values)

    def density(self, x: ArrayLike) -> Floats:
        """Probability of each point."""
        return np.exp(self.log_density(x))

    # Distribution function

    def cdf(self, x: ArrayLike) -> Floats:
        """`P(X <= x)`, by summation."""
        values = arguments.points("BetaBinomial", x)
        place = np.clip(np.floor(np.where(np.isnan(values), 0.0, values)), -1, self.trials)
        sums = np.concatenate([[0.0], self._sums])
        return arguments.keep_missing(sums[place.astype(np.int64) + 1], values)

    def quantile(self, level: ArrayLike) -> Floats:
        """The smallest count at which the cdf reaches `level`."""
        values = arguments.levels("BetaBinomial", level)
        positions = np.searchsorted(
            self._sums, np.where(np.isnan(values), 0.0, values), side="left"
        )
        return arguments.keep_missing(np.minimum(positions, self.trials).astype(float), values)

    @cached_property
    def _sums(self) -> Floats:
        check_memory(
            32 * (self.trials + 1),
            f"The distribution function of {self.trials} trials",
            "Use the density, or a normal approximation.",
        )
        sums = np.cumsum(self.density(np.arange(self.trials + 1.0)))
        sums = np.minimum(sums, 1.0)
        sums[-1] = 1.0
        return sums

    # Moments

    @property
    def mean(self) -> float:
        """`n a / (a + b)`."""
        return self.trials * self.a / (self.a + self.b)

    @property
    def variance(self) -> float:
        """`n p q (a + b + n) / (a + b + 1)` with `p = a / (a + b)`."""
        total = self.a + self.b
        share = self.mean * (self.b / total)
        return float(share * ((total + self.trials) / (total + 1)))

    @property
    def entropy(self) -> float:
        """`-sum_k P(k) log P(k)` in nats."""
        return float(special.entr(self.density(np.arange(self.trials + 1.0))).sum())

    # Sampling

    def sample(self, size: Size, random_state: RandomSource = None) -> Floats:
        """Counts, as floats: a share from the beta law, then trials with it."""
        rng = stream(random_state)
        return rng.binomial(self.trials, rng.beta(self.a, self.b, size), size).astype(float)


# --- Dirichlet-multinomial ------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class DirichletMultinomial(ArrayParameters):
    """Law of the counts of d outcomes in `trials` trials whose shares have a Dirichlet law.

    Parameters
    ----------
    trials : int
    concentration : array (d,)
        Positive, at least two.

    Examples
    --------
    >>> law = DirichletMultinomial(2, [1.0, 1.0, 1.0])
    >>> law.density([[2, 0, 0], [1, 1, 0]]).round(12).tolist()
    [0.166666666667, 0.166666666667]
    """

    trials: int
    concentration: Floats

    def __post_init__(self) -> None:
        trials = _checked_trials(self.trials, "DirichletMultinomial")
        values = checked_vector(self.concentration, "The concentration of a DirichletMultinomial")
        if values.size < 2 or np.any(values <= 0):
            raise InputError(
                "A DirichletMultinomial needs at least two positive concentrations, got "
                f"{np.array2string(values, threshold=8)}."
            )
        self._store(trials=trials, concentration=values)

    @property
    def n_coordinates(self) -> int:
        return self.concentration.size

    # Density

    def log_density(self, x: ArrayLike) -> Floats:
        """Logarithm of the probability of counts `(..., d)`; `-inf` off the support."""
        points = checked_points(x, self.n_coordinates, "DirichletMultinomial")
        whole = ((points >= 0) & (points <= self.trials) & (points == np.floor(points))).all(-1)
        possible = whole & (points.sum(axis=-1) == self.trials)
        counts = np.where(possible[..., None], points, 0.0)
        left = np.full(counts.shape[:-1], float(self.trials))
        later = np.cumsum(self.concentration[::-1])[::-1]
        total = np.zeros(counts.shape[:-1])
        for j in range(self.n_coordinates - 1):
            a, b = float(self.concentration[j]), float(later[j + 1])
            total = total + log_beta_binomial(counts[..., j], left, a, b)
            left = left - counts[..., j]
        result = np.where(possible, total, -np.inf)
        return np.where(np.isnan(points).any(axis=-1), np.nan, result)

    def density(self, x: ArrayLike) -> Floats:
        """Probability of each point."""
        return np.exp(self.log_density(x))

    # Moments

    @property
    def mean(self) -> Floats:
        """`n a / A`."""
        return self.trials * (self.concentration / self.concentration.sum())

    @property
    def covariance(self) -> Floats:
        """`n (diag(p) - p p') (A + n) / (A + 1)` with the mean shares p."""
        total = float(self.concentration.sum())
        p = self.concentration / total
        spread = self.trials * ((total + self.trials) / (total + 1))
        return spread * (np.diag(p * (1 - p)) - np.outer(p, p) * (1 - np.eye(p.size)))

    @property
    def variance(self) -> Floats:
        """Variance of each count."""
        return np.diagonal(self.covariance).copy()

    # Sampling

    def sample(self, size: Size, random_state: RandomSource = None) -> Floats:
        """Counts of shape `(*size, d)`: shares from the Dirichlet law, then trials with them."""
        rng = stream(random_state)
        shares = rng.dirichlet(self.concentration, size)
        return rng.multinomial(self.trials, shares).astype(float)

    # Relations

    def marginal(self, index: int) -> BetaBinomial:
        """The law of one count."""
        a = float(self.concentration[index])
        return BetaBinomial(self.trials, a, float(np.delete(self.concentration, index).sum()))


# --- The common formula ---------------------------------------------------------------------------


def log_beta_binomial(k: ArrayLike, n: ArrayLike, a: float, b: float) -> Floats:
    """`log [C(n, k) B(k + a, n - k + b) / B(a, b)]` for `0 <= k <= n`.

    With `C(x, y)` for real arguments, `B(x, y) = (x + y) / (x y C(x + y, x))`.
    """
    part, trials = np.asarray(k, float), np.asarray(n, float)
    total = trials + a + b
    p, q = (part + a) / total, (trials - part + b) / total
    terms = (
        log_binomial_term(part, trials, p, q)
        + log_binomial_term(a, a + b, p, q)
        - log_binomial_term(part + a, total, p, q)
    )
    ends = np.log1p(part / a) + np.log1p((trials - part) / b) - np.log1p(trials / (a + b))
    return np.asarray(terms - ends)


def _checked_trials(trials: int, law: str) -> int:
    if not isinstance(trials, Integral) or not 0 <= trials <= 2**53:
        raise InputError(f"{law} needs a whole number of trials from 0 to 2^53, got {trials!r}.")
    return int(trials)
