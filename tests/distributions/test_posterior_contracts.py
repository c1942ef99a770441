"""The contract of conjugate pairs: every pair keeps it, and broken formulas are caught."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from novum.distributions import posterior_contracts
from novum.distributions.conjugacy import PAIRS, posterior
from novum.distributions.conjugacy_knowns import (
    KnownCovariance,
    KnownLevels,
    KnownTrials,
    KnownVariance,
)
from novum.distributions.multivariate.dirichlet import Dirichlet
from novum.distributions.multivariate.multinomial import Multinomial
from novum.distributions.multivariate.multivariate_normal import MultivariateNormal
from novum.distributions.multivariate.normal_gamma import NormalGamma
from novum.distributions.multivariate.normal_wishart import NormalWishart
from novum.distributions.posterior_contracts import (
    ConjugateCase,
    check_batches,
    check_bayes_rule,
    check_chain_of_evidence,
    check_no_data,
    check_predictive,
    check_weights_of_data,
    posterior_checks,
)
from novum.distributions.univariate.bernoulli import Bernoulli
from novum.distributions.univariate.beta import Beta
from novum.distributions.univariate.binomial import Binomial
from novum.distributions.univariate.categorical import Categorical
from novum.distributions.univariate.normal import Normal

MATRIX = np.array([[2.0, 0.5], [0.5, 1.0]])
ROWS = np.array([[1.0, 2.0], [0.5, -1.0], [3.0, 0.0], [2.0, 2.0], [-1.0, 0.25]])
COUNTS = np.array([[2, 1, 0], [0, 3, 0], [1, 1, 1], [0, 0, 3]])
SIDES = np.array(["red", "blue", "red", "green", "red"])

CASES = {
    "coin": ConjugateCase(
        Beta(2.0, 3.0), Bernoulli, Bernoulli, np.array([1, 1, 0]), np.array([0, 1, 1, 1])
    ),
    "successes": ConjugateCase(
        Beta(2.0, 3.0),
        KnownTrials(5),
        lambda p: Binomial(5, p),
        np.array([1, 5, 0]),
        np.array([2, 3]),
    ),
    "codes": ConjugateCase(
        Dirichlet([1.0, 2.0, 0.5]), Categorical, Categorical, np.array([0, 2, 2]), np.array([1, 0])
    ),
    "labels": ConjugateCase(
        Dirichlet([1.0, 2.0, 0.5]),
        KnownLevels(("red", "green", "blue")),
        lambda p: Categorical(p, ("red", "green", "blue")),
        SIDES[:3],
        SIDES[3:],
    ),
    "counts": ConjugateCase(
        Dirichlet([1.0, 2.0, 0.5]),
        KnownTrials(3),
        lambda p: Multinomial(3, p),
        COUNTS[:2],
        COUNTS[2:],
    ),
    "mean": ConjugateCase(
        Normal(1.0, 4.0),
        KnownVariance(2.0),
        lambda m: Normal(m, 2.0),
        np.array([0.5, 3.0]),
        np.array([-1.0, 2.0, 2.5]),
    ),
    "mean vector": ConjugateCase(
        MultivariateNormal([0.0, 1.0], 3 * MATRIX),
        KnownCovariance(MATRIX),
        lambda m: MultivariateNormal(m, MATRIX),
        ROWS[:2],
        ROWS[2:],
    ),
    "mean and precision": ConjugateCase(
        NormalGamma(1.0, 2.0, 3.0, 4.0),
        Normal,
        lambda m, t: Normal(m, 1 / t),
        np.array([0.5, 3.0]),
        np.array([-1.0, 2.0, 2.5]),
    ),
    "vector and matrix": ConjugateCase(
        NormalWishart([0.0, 1.0], 2.0, 5.0, MATRIX),
        MultivariateNormal,
        lambda m, t: MultivariateNormal(m, np.linalg.inv(t)),
        ROWS[:2],
        ROWS[2:],
    ),
}


@pytest.mark.parametrize("check", posterior_checks(), ids=lambda check: check.__name__[6:])
@pytest.mark.parametrize("name", CASES)
def test_every_pair_keeps_the_contract(name: str, check: Any) -> None:
    check(CASES[name])


def test_every_pair_has_a_case() -> None:
    def kind(likelihood: Any) -> type:
        return likelihood if isinstance(likelihood, type) else type(likelihood)

    tested = {(type(case.prior), kind(case.likelihood)) for case in CASES.values()}
    assert tested == set(PAIRS)


def test_wrong_posteriors_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def of_the_first(prior: Any, likelihood: Any, data: Any) -> Any:
        """Counts a batch as one observation."""
        return posterior(prior, likelihood, data[:1])

    monkeypatch.setattr(posterior_contracts, "posterior", of_the_first)
    with pytest.raises(AssertionError, match="Not equal"):
        check_batches(CASES["coin"])
    with pytest.raises(AssertionError, match="Bayes' rule gives"):
        check_bayes_rule(CASES["coin"])


def test_forgotten_weights_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def without_weights(prior: Any, likelihood: Any, data: Any, weight: Any = None) -> Any:
        del weight
        return posterior(prior, likelihood, data)

    monkeypatch.setattr(posterior_contracts, "posterior", without_weights)
    for check in (check_no_data, check_weights_of_data):
        with pytest.raises(AssertionError, match="Not equal"):
            check(CASES["coin"])


def test_wrong_evidence_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(posterior_contracts, "log_evidence", lambda *_: -1.0)
    with pytest.raises(AssertionError, match=r"-1\.0 at once, -2\.0 in two"):
        check_chain_of_evidence(CASES["mean"])
    with pytest.raises(AssertionError, match=r"its evidence -1\.0"):
        check_predictive(CASES["mean"])
