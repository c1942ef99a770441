"""Means under laws by summation and quadrature, with errors that hold."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from scipy import special

from novum.core.errors import InputError, LostDigitsWarning
from novum.distributions.information_integrals import mean_of, mean_under
from novum.distributions.multivariate.dirichlet import Dirichlet
from novum.distributions.univariate.beta import Beta
from novum.distributions.univariate.binomial import Binomial
from novum.distributions.univariate.gamma import Gamma
from novum.distributions.univariate.normal import Normal
from novum.distributions.univariate.student_t import StudentT


@pytest.mark.parametrize(
    ("law", "stated"),
    [
        (Normal(0.0, 1.0), 1e-10),
        # Numbers near 1e8 are a millionth of this law's spread apart.
        (Normal(1e8, 1e-4), 1e-5),
        (Normal(-3.0, 1e20), 1e-8),
        (Beta(2.0, 5.0), 1e-10),
        # Close to 1 numbers are too coarse for a density that is infinite there.
        (Beta(0.3, 0.4), 1e-3),
        (Gamma(0.5, 1e-3), 1e-6),
        (StudentT(5.0, 2.0, 0.1), 1e-9),
        (Binomial(30, 0.2), 1e-12),
    ],
)
def test_entropy_by_integration_is_that_of_the_closed_form(law: Any, stated: float) -> None:
    found = mean_of(law, law.log_density)
    off = abs(-found.value - law.entropy)
    # The second term is the rounding of the closed form and of the sum.
    assert off <= found.error + 1e-12 * (1 + abs(law.entropy))
    assert found.error <= stated


def test_moments_of_a_heavy_tail() -> None:
    law = StudentT(3.0, 0.0, 1.0)
    # The variance of Student's t with 3 degrees of freedom is 3.
    assert mean_of(law, lambda x: np.square(x)).value == pytest.approx(3.0, rel=1e-7)


def test_sums_skip_impossible_points() -> None:
    law = Binomial(3, 1.0)
    with np.errstate(divide="ignore"):
        assert mean_of(law, lambda x: -np.log(x - 2.0)).value == 0.0


def test_log_moment_against_scipy() -> None:
    # E[log X] of a gamma law is digamma(shape) - log(rate).
    law = Gamma(2.5, 4.0)
    assert mean_of(law, np.log).value == pytest.approx(
        special.digamma(2.5) - math.log(4.0), abs=1e-10
    )


@dataclass(frozen=True)
class Rough:
    """A law whose function has a spike that quadrature cannot resolve."""

    discrete: ClassVar[bool] = False
    support: ClassVar[tuple[float, float]] = (-math.inf, math.inf)

    def density(self, x: float) -> float:
        return math.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)

    def quantile(self, level: float) -> float:
        return float(special.ndtri(level))


def test_lost_digits_are_said() -> None:
    with pytest.warns(LostDigitsWarning, match="the test is .* with an error of up to"):
        mean_under(Rough(), lambda x: math.sin(1e6 * x) ** 2, "the test")


def test_infinite_means_are_infinite() -> None:
    law = Binomial(2, 0.5)
    assert mean_of(law, lambda x: np.where(x == 1, -np.inf, 0.0)).value == -math.inf


def test_vectors_are_refused_with_another_way() -> None:
    with pytest.raises(InputError, match="Estimate it from a sample"):
        mean_of(Dirichlet([1.0, 1.0]), np.sum)


def test_endless_sums_are_refused() -> None:
    with pytest.raises(InputError, match="too many terms"):
        mean_of(Binomial(10**9, 0.5), np.log1p)
