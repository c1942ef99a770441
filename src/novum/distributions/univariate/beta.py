"""Beta law of a share between 0 and 1.

    p(x) = x^(a - 1) (1 - x)^(b - 1) / B(a, b),    B(a, b) = Gamma(a) Gamma(b) / Gamma(a + b)

Mean `a / (a + b)`, variance `a b / ((a + b)^2 (a + b + 1))`. The likelihood depends on a sample
through the means of `log x` and `log(1 - x)`, and its logarithm is strictly concave in (a, b):

    l(a, b) = a mean(log x) + b mean(log(1 - x)) - log B(a, b).

Newton's method with steps that always climb therefore finds the one maximum, which exists as soon
as two values differ. It starts from the law with the sample's mean and variance.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from novum.core.errors import InputError
from novum.core.runtime import RandomSource, stream
from novum.distributions.protocol import Size
from novum.distributions.univariate import arguments
from novum.distributions.univariate.log_gamma import (
    deviance,
    log_binomial_term,
    log_gamma_divergence,
    log_minus_digamma,
    stirling_error,
)
from novum.numerics import Floats, Mask, Moments, moments_of

# --- The law --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Beta:
    """Beta law with those two shapes.

    Parameters
    ----------
    a, b : float
        Above 0. As a prior, `a - 1` successes and `b - 1` failures seen before; (1, 1) is uniform.

    Examples
    --------
    >>> law = Beta(2.0, 3.0)
    >>> law.mean, round(law.variance, 12), round(law.mode, 4)
    (0.4, 0.04, 0.3333)
    >>> round(float(law.density(0.5)), 12)
    1.5
    >>> Beta.fit_moments([0.25, 0.5, 0.75])
    Beta(a=2.5, b=2.5)
    """

    a: float
    b: float
    discrete: ClassVar[bool] = False

    def __post_init__(self) -> None:
        a, b = arguments.positive("Beta", a=self.a, b=self.b)
        object.__setattr__(self, "a", a)
        object.__setattr__(self, "b", b)

    @property
    def support(self) -> tuple[float, float]:
        """Zero to one."""
        return 0.0, 1.0

    # Density

    def log_density(self, x: ArrayLike) -> Floats:
        """`(a - 1) log x + (b - 1) log(1 - x) - log B(a, b)`, and `-inf` off the support."""
        values = arguments.points("Beta", x)
        inside = (values >= 0) & (values <= 1)
        densities = self._inside(np.where(inside, values, 0.5))
        return arguments.keep_missing(np.where(inside, densities, -np.inf), values)

    def _inside(self, x: Floats) -> Floats:
        """By a binomial term with real counts; a shape below 1 is raised by 1 first."""
        rest = 1.0 - x
        k, j = self.a - (self.a >= 1), self.b - (self.b >= 1)
        term = log_binomial_term(k, k + j, x, rest)
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.a >= 1 and self.b >= 1:
                return term + np.log(k + j + 1)
            if self.a >= 1:
                return _joined(term, np.log(self.b) - np.log(rest), rest == 0)
            if self.b >= 1:
                return _joined(term, np.log(self.a) - np.log(x), x == 0)
            logs = np.log(self.a) + np.log(self.b) - np.log(self.a + self.b)
            return _joined(term, logs - np.log(x) - np.log1p(-x), (x == 0) | (rest == 0))

    def density(self, x: ArrayLike) -> Floats:
        """Density at each point; infinite at an end whose shape is below 1."""
        with np.errstate(over="ignore"):
            return np.exp(self.log_density(x))

    # Distribution function

    def cdf(self, x: ArrayLike) -> Floats:
        """`P(X <= x)`, the regularized incomplete beta function."""
        values = arguments.points("Beta", x)
        return special.betainc(self.a, self.b, np.clip(values, 0.0, 1.0))

    def quantile(self, level: ArrayLike) -> Floats:
        """Inverse of the cdf."""
        return special.betaincinv(self.a, self.b, arguments.levels("Beta", level))

    def probability(self, a: ArrayLike, b: ArrayLike) -> Floats:
        """`P(a <= X <= b)`."""
        low, high = (np.clip(end, 0.0, 1.0) for end in arguments.interval("Beta", a, b))
        lower = special.betainc(self.a, self.b, high) - special.betainc(self.a, self.b, low)
        upper = special.betaincc(self.a, self.b, low) - special.betaincc(self.a, self.b, high)
        # Above the mean the smaller, upper tails are subtracted.
        return np.where(low > self.mean, upper, lower)

    # Moments

    @property
    def mean(self) -> float:
        """`a / (a + b)`."""
        return self.a / (self.a + self.b)

    @property
    def variance(self) -> float:
        """`a b / ((a + b)^2 (a + b + 1))`."""
        total = self.a + self.b
        return (self.a / total) * (self.b / total) / (total + 1)

    @property
    def mode(self) -> float:
        """`(a - 1) / (a + b - 2)`, or the end at which the density is largest.

        Raises
        ------
        InputError
            If there are two (both shapes below 1) or any value is one (both equal to 1).
        """
        a, b = self.a, self.b
        if a == b == 1 or max(a, b) < 1:
            raise InputError(
                f"Beta({a:g}, {b:g}) has no single mode: its density is "
                + ("constant." if a == 1 else "infinite at 0 and at 1.")
            )
        if a < 1 or (a == 1 and b > 1):
            return 0.0
        return 1.0 if b <= 1 else (a - 1) / ((a - 1) + (b - 1))

    @property
    def entropy(self) -> float:
        """`log B - (a-1) digamma(a) - (b-1) digamma(b) + (a+b-2) digamma(a+b)` in nats."""
        # Stirling's large terms are gone: what is left keeps its digits for any shapes.
        a, b, total = self.a, self.b, self.a + self.b
        logs = 0.5 * (np.log(2 * np.pi) + np.log(a) + np.log(b) - 3 * np.log(total))
        errors = stirling_error(a) + stirling_error(b) - stirling_error(total)
        ends = (a - 1) * log_minus_digamma(a) + (b - 1) * log_minus_digamma(b)
        return float(logs + errors + ends - (total - 2) * log_minus_digamma(total))

    # Sampling

    def sample(self, size: Size, random_state: RandomSource = None) -> Floats:
        """Independent values."""
        return stream(random_state).beta(self.a, self.b, size)

    # Estimation

    @staticmethod
    def statistics(x: ArrayLike, weight: ArrayLike | None = None) -> Moments:
        """Moments of the columns `x`, `log x` and `log(1 - x)` of a sample inside (0, 1)."""
        values, weights = arguments.sample("Beta", x, weight)
        arguments.refuse(
            "Beta",
            "numbers above 0 and below 1",
            values,
            (values > 0) & (values < 1),
            "At the ends the likelihood is unbounded: move such values inside, or use fit_moments.",
        )
        columns = np.column_stack([values, np.log(values), np.log1p(-values)])
        try:
            return moments_of(columns, weights)
        except ValueError as error:
            raise InputError(f"Beta cannot be estimated. {error}") from error

    @classmethod
    def from_statistics(cls, statistics: Moments) -> Beta:
        """The shapes of largest likelihood, by Newton's method with steps that always climb."""
        if statistics.n_columns != 3:
            raise InputError(
                "Beta is estimated from moments of the columns x, log x and log(1 - x), got "
                f"{statistics.n_columns} columns. Use Beta.statistics."
            )
        arguments.refuse_no_data("Beta", statistics.weight)
        mean, variance = float(statistics.mean[0]), float(statistics.variance()[0])
        start = _shapes_of_moments(mean, variance)
        return cls(*most_likely(statistics.mean[1:], start))

    @classmethod
    def fit(cls, x: ArrayLike, weight: ArrayLike | None = None) -> Beta:
        """Maximum likelihood."""
        return cls.from_statistics(cls.statistics(x, weight))

    @classmethod
    def fit_moments(cls, x: ArrayLike, weight: ArrayLike | None = None) -> Beta:
        """The law with the sample's mean and variance; zeros and ones are welcome."""
        values, weights = arguments.sample("Beta", x, weight)
        arguments.refuse("Beta", "numbers from 0 to 1", values, (values >= 0) & (values <= 1))
        moments = moments_of(values[:, None], weights)
        arguments.refuse_no_data("Beta", moments.weight)
        return cls(*_shapes_of_moments(float(moments.mean[0]), float(moments.variance()[0])))

    # Relations

    def kl(self, other: Beta) -> float:
        """`E[log p(X) - log p_other(X)]` under this law, for any size of the shapes."""
        total, other_total = self.a + self.b, other.a + other.b
        with np.errstate(over="ignore", under="ignore"):
            # What the means differ by, then what the log gamma functions bend.
            apart = deviance(other.a, other_total * (self.a / total))
            apart = apart + deviance(other.b, other_total * (self.b / total))
        bends = log_gamma_divergence(other.a, self.a) + log_gamma_divergence(other.b, self.b)
        return max(float(apart + bends - log_gamma_divergence(other_total, total)), 0.0)


# --- Estimation -----------------------------------------------------------------------------------


def _shapes_of_moments(mean: float, variance: float) -> tuple[float, float]:
    """`(m t, (1 - m) t)` with `t = m (1 - m) / v - 1`."""
    if not variance > 0:
        raise InputError(
            f"All values equal {mean:g}, and a beta law needs a variance above 0. "
            "Give values that differ."
        )
    total = mean * (1 - mean) / variance - 1
    if not total > 0:
        raise InputError(
            "All values are 0 or 1, which no beta law gives. Choose Bernoulli for such values."
        )
    return mean * total, (1 - mean) * total


def _joined(term: Floats, factor: Floats, at_end: Mask) -> Floats:
    """`term + factor`, which is infinite at an end where both logarithms are."""
    return np.where(at_end, np.inf, term + factor)


# --- Likelihood -----------------------------------------------------------------------------------
#
# The most likely beta law, by Newton's method on a strictly concave function.
#
#     l(a, b) = (a - 1) g + (b - 1) h - log B(a, b),    g = mean(log x),  h = mean(log(1 - x))
#
#     gradient  g - digamma(a) + digamma(a + b),    h - digamma(b) + digamma(a + b)
#     Hessian   -diag(digamma'(a), digamma'(b)) + digamma'(a + b) * ones
#
# Steps are shortened until both shapes stay positive and `l` does not fall, which makes the method
# converge from any start; near the maximum the number of right digits doubles with every step.


_EPS = float(np.finfo(float).eps)
_MAX_STEPS = 200
# Relative steps below this are trusted: they change l by less than its rounding shows.
_NEAR = 1e-3


def most_likely(means: Floats, start: tuple[float, float]) -> tuple[float, float]:
    """Solves `max l(a, b)` subject to `a, b > 0`.

    Given the means of `log x` and `log(1 - x)` and positive shapes to start from. Returns shapes at
    which Newton's next step is lost in the rounding of the means.
    """
    shapes, last = np.asarray(start, float), np.inf
    for _ in range(_MAX_STEPS):
        step = _newton_step(shapes, means)
        size = float(np.abs(step / shapes).max())
        # In the region of quadratic convergence a step that does not shrink is rounding.
        if size <= 4 * _EPS or last <= size < _NEAR:
            return float(shapes[0]), float(shapes[1])
        shapes = shapes + step if size < _NEAR else _climb(shapes, step, means)
        last = size
    # Imported here: it brings scikit-learn, which a law does not need.
    from novum.core.learners import ConvergenceWarning

    warnings.warn(
        f"The shapes of a beta law had not settled after {_MAX_STEPS} steps; they are about "
        f"{shapes[0]:.3g} and {shapes[1]:.3g}. Check for values that crowd at 0 or 1.",
        ConvergenceWarning,
        stacklevel=2,
    )
    return float(shapes[0]), float(shapes[1])


def _climb(shapes: Floats, step: Floats, means: Floats) -> Floats:
    """The longest of the steps `step, step/2, step/4, ...` that does not lower `l`."""
    length, value = 1.0, _log_likelihood(shapes, means)
    if (step < 0).any():
        length = min(1.0, 0.9 / float((-step / shapes).max()))
    while length > _EPS and _log_likelihood(shapes + length * step, means) < value:
        length *= 0.5
    return shapes + length * step


def _newton_step(shapes: Floats, means: Floats) -> Floats:
    total = shapes.sum()
    # log a - log(a + b) is the share's logarithm; the digammas' rests are small.
    shares = np.array([_log_share(shapes[0], shapes[1]), _log_share(shapes[1], shapes[0])])
    gradient = means - shares + log_minus_digamma(shapes) - log_minus_digamma(total)
    curvature = special.polygamma(1, shapes)
    shared = float(special.polygamma(1, total))
    # Sherman and Morrison: a diagonal matrix less a constant one.
    plain = gradient / curvature
    inverse = 1.0 / curvature
    # 1/shared - sum(1/curvature) is positive, and about 1/2 for large shapes.
    slack = 1.0 / shared - inverse.sum()
    return plain + inverse * (plain.sum() / slack)


def _log_share(a: float, b: float) -> float:
    """`log(a / (a + b))`."""
    return float(-np.log1p(b / a))


def _log_likelihood(shapes: Floats, means: Floats) -> float:
    """`l(a, b)` per value, up to a constant, with Stirling's large terms taken away by hand."""
    a, b = shapes
    total = a + b
    errors = stirling_error(a) + stirling_error(b) - stirling_error(total)
    logs = 0.5 * (np.log(a) + np.log(b) - np.log(total))
    fit = a * (means[0] - _log_share(a, b)) + b * (means[1] - _log_share(b, a))
    return float(fit + logs - errors)
