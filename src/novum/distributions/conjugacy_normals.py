"""Conjugate pairs for normal observations, from their moments alone.

With weight n, mean x and scatter S of the observations and `d = x - m`:

    known variance v    N(m, u)            ->  variance u v / (v + n u), mean m + n u d / (v + n u)
    known covariance C  N(m, U)            ->  precision U^-1 + n C^-1
    normal-gamma        (m, k, a, b)       ->  k + n, m + n d / (k + n), a + n/2,
                                               b + S/2 + k n d^2 / (2 (k + n))
    normal-Wishart      (m, k, v, T)       ->  k + n, m + n d / (k + n), v + n,
                                               T_n^-1 = T^-1 + S + k n / (k + n) d d'

The predictive of one more observation is normal where the variance is known; else it is a Student t
with `2a` degrees of freedom and squared scale `b (k + 1) / (a k)`, or with `v - D + 1` degrees of
freedom and shape `T^-1 (k + 1) / (k (v - D + 1))` in D dimensions.

References
----------
Murphy, "Conjugate Bayesian analysis of the Gaussian distribution", 2007, sections 2-3 and 8-9.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from novum.core.errors import InputError
from novum.distributions.conjugacy_knowns import KnownCovariance, KnownVariance
from novum.distributions.multivariate.multivariate_normal import MultivariateNormal
from novum.distributions.multivariate.multivariate_student_t import MultivariateStudentT
from novum.distributions.multivariate.normal_gamma import NormalGamma
from novum.distributions.multivariate.normal_wishart import NormalWishart
from novum.distributions.multivariate.positive_definite import definite_root
from novum.distributions.univariate.normal import Normal, mean_after
from novum.distributions.univariate.student_t import StudentT
from novum.numerics import Floats, Moments

LOG_TWO_PI = float(np.log(2 * np.pi))


# --- One number -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class NormalKnownVariance:
    """Unknown mean of normal numbers."""

    prior: Normal
    likelihood: KnownVariance

    sums: ClassVar[type] = Moments

    def statistics(self, data: Any, weight: ArrayLike | None) -> Moments:
        return Normal.statistics(data, weight)

    def update(self, statistics: Moments) -> Normal:
        n, away = _one_column(statistics, self.prior.mean)
        if n == 0:
            return self.prior
        u, v = self.prior.variance, self.likelihood.variance
        # u v / (v + n u), divided through by the larger variance, so that no product overflows.
        if u > v:
            share, variance = n / (n + v / u), v / (n + v / u)
        else:
            share, variance = n * (u / v) / (1 + n * (u / v)), u / (1 + n * (u / v))
        return Normal(self.prior.mean + share * away, variance)

    def predict(self) -> Normal:
        return Normal(self.prior.mean, self.prior.variance + self.likelihood.variance)

    def log_evidence(self, statistics: Moments) -> float:
        n, away = _one_column(statistics, self.prior.mean)
        v, grown = self.likelihood.variance, self.likelihood.variance + n * self.prior.variance
        squares = float(statistics.scatter[0, 0]) / v + n * away * (away / grown)
        return float(-0.5 * (n * (LOG_TWO_PI + np.log(v)) + np.log(grown / v) + squares))

    def law(self, parameter: float) -> Normal:
        return Normal(float(parameter), self.likelihood.variance)


@dataclass(frozen=True)
class NormalGammaNormal:
    """Unknown mean and precision of normal numbers."""

    prior: NormalGamma
    likelihood: type[Normal]

    sums: ClassVar[type] = Moments

    def statistics(self, data: Any, weight: ArrayLike | None) -> Moments:
        return Normal.statistics(data, weight)

    def update(self, statistics: Moments) -> NormalGamma:
        n, away = _one_column(statistics, self.prior.mean)
        strength, mean, between = mean_after(self.prior.mean, self.prior.strength, n, away)
        return NormalGamma(
            mean,
            strength,
            self.prior.shape + 0.5 * n,
            self.prior.rate + 0.5 * (float(statistics.scatter[0, 0]) + between),
        )

    def predict(self) -> StudentT:
        squared = (
            self.prior.rate / self.prior.shape * ((self.prior.strength + 1) / self.prior.strength)
        )
        return StudentT(2 * self.prior.shape, self.prior.mean, float(np.sqrt(squared)))

    def log_evidence(self, statistics: Moments) -> float:
        after = self.update(statistics)
        gain = special.gammaln(after.shape) - special.gammaln(self.prior.shape)
        rates = self.prior.shape * np.log(self.prior.rate) - after.shape * np.log(after.rate)
        strengths = 0.5 * np.log(self.prior.strength / after.strength)
        return float(gain + rates + strengths - 0.5 * statistics.weight * LOG_TWO_PI)

    def law(self, parameter: tuple[float, float]) -> Normal:
        mean, precision = parameter
        return Normal(float(mean), 1 / float(precision))


def _one_column(statistics: Moments, center: float) -> tuple[float, float]:
    """Weight of the observations, and how far their mean is from the prior's."""
    if statistics.n_columns != 1:
        raise InputError(
            f"A prior of one number does not fit moments of {statistics.n_columns} columns. Use "
            "a multivariate prior."
        )
    if statistics.weight == 0:
        return 0.0, 0.0
    assert statistics.mean_low is not None
    return statistics.weight, float((statistics.mean[0] - center) + statistics.mean_low[0])


# --- Vectors --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class NormalKnownCovariance:
    """Unknown mean of normal vectors."""

    prior: MultivariateNormal
    likelihood: KnownCovariance

    sums: ClassVar[type] = Moments

    def statistics(self, data: Any, weight: ArrayLike | None) -> Moments:
        return MultivariateNormal.statistics(data, weight)

    def update(self, statistics: Moments) -> MultivariateNormal:
        n, away = _columns(statistics, self.prior.mean)
        if n == 0:
            return self.prior
        sizes, turn, scores = _against(self.prior, self.likelihood, away)
        half = turn * np.sqrt(sizes / (1 + n * sizes))
        mean = self.prior.mean + turn @ (n * sizes / (1 + n * sizes) * scores)
        return MultivariateNormal(mean, half @ half.T)

    def predict(self) -> MultivariateNormal:
        return MultivariateNormal(
            self.prior.mean, self.prior.covariance + self.likelihood.covariance
        )

    def log_evidence(self, statistics: Moments) -> float:
        n, away = _columns(statistics, self.prior.mean)
        sizes, _, scores = _against(self.prior, self.likelihood, away)
        root = self.likelihood.root
        whole = n * (self.prior.mean.size * LOG_TWO_PI + root.log_determinant)
        within = float(np.trace(root.whitened(root.whitened(statistics.scatter).T)))
        between = float((n * scores**2 / (1 + n * sizes)).sum())
        return float(-0.5 * (whole + np.log1p(n * sizes).sum() + within + between))

    def law(self, parameter: Floats) -> MultivariateNormal:
        return MultivariateNormal(parameter, self.likelihood.covariance)


@dataclass(frozen=True)
class NormalWishartNormal:
    """Unknown mean and precision matrix of normal vectors."""

    prior: NormalWishart
    likelihood: type[MultivariateNormal]

    sums: ClassVar[type] = Moments

    def statistics(self, data: Any, weight: ArrayLike | None) -> Moments:
        return MultivariateNormal.statistics(data, weight)

    def update(self, statistics: Moments) -> NormalWishart:
        center = self.prior.mean
        n, away = _columns(statistics, center)
        if n == 0:
            return self.prior
        strength, mean, _ = mean_after(center, self.prior.strength, n, away)
        between = self.prior.strength * (n / strength) * np.outer(away, away)
        inverse = definite_root(self.prior.scale).inverse + statistics.scatter + between
        return NormalWishart(
            mean,
            strength,
            self.prior.degrees_of_freedom + n,
            definite_root(inverse, "The inverse scale of the posterior").inverse,
        )

    def predict(self) -> MultivariateStudentT:
        freedom = self.prior.degrees_of_freedom - self.prior.mean.size + 1
        inverse = definite_root(self.prior.scale).inverse
        shape = inverse * ((self.prior.strength + 1) / self.prior.strength / freedom)
        return MultivariateStudentT(freedom, self.prior.mean, shape)

    def log_evidence(self, statistics: Moments) -> float:
        after = self.update(statistics)
        d, n = self.prior.mean.size, statistics.weight
        before, later = self.prior.degrees_of_freedom, after.degrees_of_freedom
        gain = special.multigammaln(0.5 * later, d) - special.multigammaln(0.5 * before, d)
        scales = 0.5 * (
            later * definite_root(after.scale).log_determinant
            - before * definite_root(self.prior.scale).log_determinant
        )
        strengths = 0.5 * d * np.log(self.prior.strength / after.strength)
        return float(gain + scales + strengths - 0.5 * n * d * np.log(np.pi))

    def law(self, parameter: tuple[Floats, Floats]) -> MultivariateNormal:
        mean, precision = parameter
        return MultivariateNormal(mean, definite_root(precision).inverse)


def _columns(statistics: Moments, center: Floats) -> tuple[float, Floats]:
    if statistics.n_columns != center.size:
        raise InputError(
            f"A prior of {center.size} coordinates does not fit observations of "
            f"{statistics.n_columns}."
        )
    if statistics.weight == 0:
        return 0.0, np.zeros(center.size)
    assert statistics.mean_low is not None
    return statistics.weight, (statistics.mean - center) + statistics.mean_low


def _against(
    prior: MultivariateNormal, likelihood: KnownCovariance, away: Floats
) -> tuple[Floats, Floats, Floats]:
    """Directions in which both covariances are diagonal: C = T T', U = T diag(sizes) T'.

    In them the posterior is one number at a time, so no difference of matrices is formed. The
    scores are `T^-1 away`.
    """
    if prior.mean.size != len(likelihood.covariance):
        raise InputError(
            f"A prior of {prior.mean.size} coordinates does not fit a known covariance of "
            f"{len(likelihood.covariance)}."
        )
    root = likelihood.root
    white = root.whitened(root.whitened(prior.covariance).T)
    sizes, vectors = np.linalg.eigh(0.5 * (white + white.T))
    return np.maximum(sizes, 0.0), root.colored(vectors.T).T, vectors.T @ root.whitened(away)
