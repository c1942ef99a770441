"""The contract of laws: every univariate law passes, and broken laws are caught."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike

from novum.distributions.contracts import (
    LawCase,
    check_cdf_and_quantile,
    check_density,
    check_divergence,
    check_entropy,
    check_extreme_arguments,
    check_fit,
    check_immutable,
    check_interval_probability,
    check_moments,
    check_normalization,
    check_sampling,
    check_slope_of_cdf,
    check_sums_of_parts,
    check_support,
    check_weights,
    law_checks,
    same_parameters,
)
from novum.distributions.univariate.bernoulli import Bernoulli, BernoulliStatistics
from novum.distributions.univariate.beta import Beta
from novum.distributions.univariate.binomial import Binomial
from novum.distributions.univariate.categorical import Categorical
from novum.distributions.univariate.gamma import Gamma
from novum.distributions.univariate.normal import Normal
from novum.distributions.univariate.poisson import Poisson
from novum.distributions.univariate.student_t import StudentT
from novum.numerics import Floats

CASES = {
    "bernoulli": LawCase(Bernoulli(0.3), Bernoulli(0.6)),
    "rare": LawCase(Bernoulli(0.01), Bernoulli(0.02)),
    "binomial": LawCase(Binomial(12, 0.3), Binomial(12, 0.5), {"trials": 12}),
    "many trials": LawCase(Binomial(10**6, 0.3), Binomial(10**6, 0.3001), {"trials": 10**6}),
    "codes": LawCase(
        Categorical([0.2, 0.5, 0.3]),
        Categorical([0.3, 0.3, 0.4]),
        rule=(np.arange(3), np.ones(3)),
    ),
    "labels": LawCase(
        Categorical([0.2, 0.5, 0.3], ("red", "green", "blue")),
        Categorical([0.3, 0.3, 0.4], ("red", "green", "blue")),
        {"levels": ("red", "green", "blue")},
        rule=(np.array(["red", "green", "blue"]), np.ones(3)),
    ),
    "standard": LawCase(Normal(), Normal(0.5, 2.0)),
    "far": LawCase(Normal(1e8, 0.01), Normal(1e8 + 0.1, 0.02)),
    "large normal": LawCase(Normal(-3e150, 1e300), Normal(0.0, 2e300)),
    "beta": LawCase(Beta(2.0, 3.0), Beta(3.0, 3.0)),
    "arcsine": LawCase(Beta(0.5, 0.5), Beta(1.0, 1.0)),
    "uniform": LawCase(Beta(1.0, 1.0), Beta(0.5, 2.0)),
    "narrow beta": LawCase(Beta(4e4, 6e4), Beta(4e4, 6.1e4)),
    "falling": LawCase(Beta(0.7, 5.0), Beta(1.0, 4.0)),
    "gamma": LawCase(Gamma(3.0, 2.0), Gamma(2.0, 2.0)),
    "exponential": LawCase(Gamma(1.0, 1e-3), Gamma(1.5, 1e-3)),
    "spike": LawCase(Gamma(0.3, 1.0), Gamma(0.5, 1.0)),
    "narrow gamma": LawCase(Gamma(1e6, 10.0), Gamma(1.01e6, 10.0)),
    "poisson": LawCase(Poisson(2.5), Poisson(4.0)),
    "rare events": LawCase(Poisson(0.02), Poisson(0.01)),
    "many events": LawCase(Poisson(3e6), Poisson(3.001e6)),
    "t": LawCase(StudentT(5.0, 1.0, 2.0)),
    "many degrees": LawCase(StudentT(30.0, -4.0, 0.1)),
    "infinite degrees": LawCase(StudentT(np.inf, 2.0, 3.0)),
}


@pytest.mark.parametrize("check", law_checks(), ids=lambda check: check.__name__[6:])
@pytest.mark.parametrize("name", CASES)
def test_every_univariate_law_keeps_the_contract(name: str, check: Any) -> None:
    check(CASES[name])


# --- Broken laws ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Misnormalized(Normal):
    """The notes' slip: the normalizer without the root."""

    def log_density(self, x: ArrayLike) -> Floats:
        return super().log_density(x) - 0.5 * np.log(2 * np.pi)


@dataclass(frozen=True)
class WrongVariance(Beta):
    """The other slip: the square is missing in the variance of a beta law."""

    @property
    def variance(self) -> float:
        return self.a * self.b / ((self.a + self.b) * (self.a + self.b + 1))

    @property
    def entropy(self) -> float:
        return super().entropy + 0.1

    def kl(self, other: Beta) -> float:
        return super().kl(other) + 0.1


@dataclass(frozen=True)
class Careless(Normal):
    """Squares overflow, missing values vanish, tails cancel, the seed does not matter."""

    def log_density(self, x: ArrayLike) -> Floats:
        values = np.asarray(x, float)
        return np.where(np.isnan(values), -np.inf, -(values**2) / 2 - 0.5 * np.log(2 * np.pi))

    def cdf(self, x: ArrayLike) -> Floats:
        return np.clip(super().cdf(x) * 1.001, 0, 1)

    def probability(self, a: ArrayLike, b: ArrayLike) -> Floats:
        return np.abs(super().cdf(b) - super().cdf(a))

    def sample(self, size: Any, random_state: Any = None) -> Floats:
        return super().sample(size, random_state=0 * (random_state or 0))


@dataclass
class Mutable:
    parameter: float


@dataclass(frozen=True)
class Forgetful(Bernoulli):
    """Weights are ignored, sums are means, and the fit is not the maximum."""

    @staticmethod
    def statistics(x: ArrayLike, weight: ArrayLike | None = None) -> BernoulliStatistics:
        del weight
        return BernoulliStatistics(1.0, float(np.mean(np.asarray(x))))

    @classmethod
    def from_statistics(cls, statistics: BernoulliStatistics) -> Forgetful:
        return cls(0.5 * statistics.successes / statistics.weight)


@dataclass(frozen=True)
class Skewed(Normal):
    """Density and probabilities are not those of its sample."""

    def density(self, x: ArrayLike) -> Floats:
        return 2 * super().density(x)

    @property
    def support(self) -> tuple[float, float]:
        return 0.0, np.inf


@pytest.mark.parametrize(
    ("check", "case", "message"),
    [
        (check_normalization, LawCase(Misnormalized()), "adds up to 0.39"),
        (check_normalization, LawCase(Categorical([1.0])), "needs a rule"),
        (check_moments, LawCase(WrongVariance(2.0, 3.0)), "variance is 0.2"),
        (check_entropy, LawCase(WrongVariance(2.0, 3.0)), "entropy is"),
        (check_divergence, LawCase(WrongVariance(2.0, 3.0), Beta(3.0, 3.0)), "from itself is 0.1"),
        (check_support, LawCase(Careless()), "missing value got a density"),
        (check_cdf_and_quantile, LawCase(Careless()), "differs from their levels"),
        (check_slope_of_cdf, LawCase(Careless()), "Not equal"),
        (check_interval_probability, LawCase(Careless()), "Not equal"),
        (check_sampling, LawCase(Careless()), "two seeds gave the same"),
        (check_immutable, LawCase(Mutable(1.0)), "parameter can be changed"),
        (check_sums_of_parts, LawCase(Forgetful(0.4)), "sum of the parts"),
        (check_weights, LawCase(Forgetful(0.4)), "Not equal"),
        (check_fit, LawCase(Forgetful(0.4)), "the truth is likelier"),
        (check_density, LawCase(Skewed()), "Not equal"),
        (check_support, LawCase(Skewed()), "below the support"),
    ],
)
def test_broken_laws_are_caught(check: Any, case: LawCase, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        check(case)


def test_overflow_is_caught() -> None:
    with pytest.raises(RuntimeWarning, match="overflow"):
        check_extreme_arguments(LawCase(Careless()))


def test_parameters_are_compared_bit_by_bit() -> None:
    assert same_parameters(Normal(1.0, 2.0), Normal(1.0, 2.0))
    assert not same_parameters(Normal(1.0, 2.0), Normal(1.0, np.nextafter(2.0, 3.0)))
    assert not same_parameters(Normal(1.0, 2.0), Gamma(1.0, 2.0))
