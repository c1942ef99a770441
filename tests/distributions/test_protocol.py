"""The protocol of laws: who has which part, and what is deliberately absent."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from novum.distributions.multivariate.multivariate_normal import MultivariateNormal
from novum.distributions.protocol import EstimableLaw, Law, LawStatistics, RealLaw
from novum.distributions.univariate.bernoulli import Bernoulli
from novum.distributions.univariate.beta import Beta
from novum.distributions.univariate.binomial import Binomial
from novum.distributions.univariate.categorical import Categorical
from novum.distributions.univariate.gamma import Gamma
from novum.distributions.univariate.normal import Normal
from novum.distributions.univariate.student_t import StudentT

OF_NUMBERS = [
    Bernoulli(0.5),
    Binomial(3, 0.5),
    Normal(),
    Beta(1.0, 2.0),
    Gamma(1.0, 2.0),
    StudentT(3.0),
]


@pytest.mark.parametrize("law", OF_NUMBERS, ids=lambda law: type(law).__name__)
def test_laws_of_numbers_have_a_distribution_function(law: Any) -> None:
    assert isinstance(law, Law)
    assert isinstance(law, RealLaw)


def test_labels_have_no_support_among_the_numbers() -> None:
    law = Categorical([0.5, 0.5], ("a", "b"))
    assert isinstance(law, Law)
    assert not isinstance(law, RealLaw)


def test_student_t_is_not_estimated_from_sums() -> None:
    assert not isinstance(StudentT(3.0), EstimableLaw)
    assert hasattr(StudentT, "fit")
    assert not hasattr(StudentT, "kl")


@pytest.mark.parametrize(
    "law", [law for law in OF_NUMBERS if not isinstance(law, StudentT)], ids=lambda law: str(law)
)
def test_statistics_can_be_added_and_removed(law: Any) -> None:
    assert isinstance(law, EstimableLaw)
    known = {"trials": 3} if isinstance(law, Binomial) else {}
    x = [0.25, 0.5] if isinstance(law, Beta) else [1, 1]
    assert isinstance(law.statistics(x, **known), LawStatistics)


@pytest.mark.parametrize("kind", [Normal, Gamma, Beta, StudentT, MultivariateNormal])
def test_moments_are_matched_with_the_weight_as_denominator(kind: Any) -> None:
    x, weight = np.array([0.05, 0.1, 0.15, 0.2, 0.9]), np.array([1, 3, 0, 2, 1])
    mean = (0.05 + 0.3 + 0.4 + 0.9) / 7
    variance = np.average((x - mean) ** 2, weights=weight)
    points = x[:, np.newaxis] if kind is MultivariateNormal else x
    law = kind.fit_moments(points, weight)
    spread = law.covariance[0, 0] if kind is MultivariateNormal else law.variance
    np.testing.assert_allclose([float(np.squeeze(law.mean)), spread], [mean, variance], rtol=1e-12)


def test_what_is_not_a_law_is_told_apart() -> None:
    assert not isinstance(3.0, Law)
    assert not isinstance("a", LawStatistics)


def test_typed_functions_accept_the_laws() -> None:
    """Checked by mypy: the classes fit the protocol, not only their names."""

    def spread(law: RealLaw) -> float:
        return float(law.quantile(0.75) - law.quantile(0.25))

    assert spread(Normal()) == pytest.approx(1.3489795)
    assert spread(Beta(1.0, 1.0)) == 0.5
    assert spread(Bernoulli(0.5)) == 1.0
