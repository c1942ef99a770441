"""Conjugacy as a whole: every pair by integration over its parameters, batches, calibration."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

from novum.core.errors import InputError
from novum.distributions.conjugacy import (
    PAIRS,
    log_evidence,
    map_estimate,
    mean_estimate,
    posterior,
    predictive,
)
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
from novum.distributions.univariate.bernoulli import Bernoulli
from novum.distributions.univariate.beta import Beta
from novum.distributions.univariate.binomial import Binomial
from novum.distributions.univariate.categorical import Categorical
from novum.distributions.univariate.normal import Normal

C2 = [[2.0, 0.6], [0.6, 1.0]]
KNOWN = [[1.0, 0.2], [0.2, 0.5]]
PLANE = [[0.5, 1.0], [1.5, -0.5], [2.0, 0.3], [-0.4, 0.9]]

CASES: dict[str, tuple[Any, Any, Any]] = {
    "beta-bernoulli": (Beta(2.0, 3.5), Bernoulli, [1, 0, 1, 1]),
    "beta-binomial": (Beta(2.0, 3.5), KnownTrials(4), [4, 0, 2]),
    "dirichlet-categorical": (Dirichlet([1.0, 2.0, 0.5]), Categorical, [0, 2, 2, 1]),
    "dirichlet-levels": (Dirichlet([1.0, 2.0]), KnownLevels(["no", "yes"]), ["yes", "no", "yes"]),
    "dirichlet-multinomial": (Dirichlet([1.0, 2.0, 0.5]), KnownTrials(3), [[1, 1, 1], [0, 3, 0]]),
    "normal": (Normal(1.0, 2.0), KnownVariance(0.5), [0.3, 1.7, 2.0]),
    "normal-vector": (MultivariateNormal([0.0, 1.0], C2), KnownCovariance(KNOWN), PLANE),
    "normal-gamma": (NormalGamma(1.0, 2.0, 1.5, 0.8), Normal, [0.3, 1.7, 2.0]),
    "normal-wishart": (NormalWishart([0.0, 1.0], 1.5, 3.5, C2), MultivariateNormal, PLANE),
}
EVERY = pytest.mark.parametrize("name", list(CASES))


def parameters_of(law: Any) -> list[Any]:
    return [np.asarray(getattr(law, field)) for field in type(law).__dataclass_fields__]


def assert_same_law(a: Any, b: Any, rtol: float) -> None:
    assert type(a) is type(b)
    for one, other in zip(parameters_of(a), parameters_of(b), strict=True):
        np.testing.assert_allclose(one, other, rtol=rtol, atol=rtol)


def test_every_pair_of_the_table_is_tested() -> None:
    kinds = {
        (type(prior), likelihood if isinstance(likelihood, type) else type(likelihood))
        for prior, likelihood, _ in CASES.values()
    }
    assert kinds == set(PAIRS)


# --- Batches, weights, statistics -----------------------------------------------------------------


@EVERY
def test_two_batches_are_one(name: str) -> None:
    prior, likelihood, data = CASES[name]
    half = posterior(posterior(prior, likelihood, data[:1]), likelihood, data[1:])
    # Counts add up exactly; for normals each step rounds a few times, the matrix inverses most.
    assert_same_law(half, posterior(prior, likelihood, data), 1e-12)


@pytest.mark.parametrize("name", [n for n in CASES if n.startswith(("beta", "dirichlet"))])
def test_counts_add_up_to_the_last_bit(name: str) -> None:
    prior, likelihood, data = CASES[name]
    half = posterior(posterior(prior, likelihood, data[:1]), likelihood, data[1:])
    assert_same_law(half, posterior(prior, likelihood, data), 0.0)


@EVERY
def test_no_data_changes_nothing(name: str) -> None:
    prior, likelihood, data = CASES[name]
    nothing = posterior(prior, likelihood, data, weight=np.zeros(len(data)))
    assert_same_law(nothing, prior, 0.0)
    assert log_evidence(prior, likelihood, data, weight=np.zeros(len(data))) == 0.0


@EVERY
def test_weight_two_is_the_row_twice(name: str) -> None:
    prior, likelihood, data = CASES[name]
    twice = list(data) + list(data)
    weight = np.full(len(data), 2.0)
    assert_same_law(
        posterior(prior, likelihood, data, weight), posterior(prior, likelihood, twice), 1e-12
    )
    assert log_evidence(prior, likelihood, data, weight) == pytest.approx(
        log_evidence(prior, likelihood, twice), rel=1e-11
    )


LAWS: dict[type, Any] = {
    Bernoulli: Bernoulli,
    Categorical: Categorical,
    KnownVariance: Normal,
    Normal: Normal,
    KnownCovariance: MultivariateNormal,
    MultivariateNormal: MultivariateNormal,
}


@EVERY
def test_statistics_serve_in_place_of_data(name: str) -> None:
    prior, likelihood, data = CASES[name]
    kind = likelihood if isinstance(likelihood, type) else type(likelihood)
    if kind is KnownTrials:
        law = Binomial if isinstance(prior, Beta) else Multinomial
        sums = law.statistics(data, trials=likelihood.trials)
        with pytest.raises(InputError, match="Pass the observations"):
            log_evidence(prior, likelihood, sums)
    elif kind is KnownLevels:
        sums = Categorical.statistics(data)
    else:
        sums = LAWS[kind].statistics(data)
    assert_same_law(posterior(prior, likelihood, sums), posterior(prior, likelihood, data), 1e-14)
    if kind is not KnownTrials:
        assert log_evidence(prior, likelihood, sums) == pytest.approx(
            log_evidence(prior, likelihood, data), rel=1e-13
        )


# --- Against integration --------------------------------------------------------------------------


@EVERY
def test_evidence_is_the_product_of_the_predictions(name: str) -> None:
    prior, likelihood, data = CASES[name]
    total, law = 0.0, prior
    for row in data:
        total += float(predictive(law, likelihood).log_density(row))
        law = posterior(law, likelihood, [row])
    assert log_evidence(prior, likelihood, data) == pytest.approx(total, rel=1e-11, abs=1e-11)


def likelihood_at(name: str, parameter: Any, data: Any) -> float:
    """`p(D | t)` by the laws themselves."""
    _, likelihood, _ = CASES[name]
    law = {
        "beta-bernoulli": lambda t: Bernoulli(t),
        "beta-binomial": lambda t: Binomial(likelihood.trials, t),
        "normal": lambda t: Normal(t, likelihood.variance),
        "normal-gamma": lambda t: Normal(t[0], 1 / t[1]),
    }[name](parameter)
    return math.exp(float(np.sum(law.log_density(data))))


@pytest.mark.parametrize("name", ["beta-bernoulli", "beta-binomial"])
def test_evidence_of_trials_by_quadrature(name: str) -> None:
    prior, likelihood, data = CASES[name]
    value, _ = integrate.quad(
        lambda t: float(prior.density(t)) * likelihood_at(name, t, data), 0, 1, epsabs=1e-14
    )
    assert log_evidence(prior, likelihood, data) == pytest.approx(math.log(value), abs=1e-9)


def test_evidence_of_a_mean_by_quadrature() -> None:
    prior, likelihood, data = CASES["normal"]
    value, _ = integrate.quad(
        lambda t: float(prior.density(t)) * likelihood_at("normal", t, data), -15, 17, epsabs=1e-15
    )
    assert log_evidence(prior, likelihood, data) == pytest.approx(math.log(value), abs=1e-8)


def test_evidence_of_mean_and_precision_by_quadrature() -> None:
    prior, likelihood, data = CASES["normal-gamma"]
    # Gauss-Legendre on a box that holds all but 1e-9 of the integrand.
    x, w = np.polynomial.legendre.leggauss(200)
    means, precisions = 1.0 + 7.0 * x, 12.5 + 12.5 * x
    m, t = np.meshgrid(means, precisions)
    dense = np.exp(
        prior.log_density(m, t) + sum(stats.norm.logpdf(value, m, 1 / np.sqrt(t)) for value in data)
    )
    value = 7.0 * 12.5 * float(w @ dense @ w)
    assert log_evidence(prior, likelihood, data) == pytest.approx(math.log(value), abs=1e-6)


@EVERY
def test_predictive_is_the_mean_of_the_laws_under_the_posterior(name: str) -> None:
    prior, likelihood, data = CASES[name]
    after, n = posterior(prior, likelihood, data), 4000
    draws = after.sample(n, random_state=0)
    pair = PAIRS[(type(prior), likelihood if isinstance(likelihood, type) else type(likelihood))]
    rows = list(zip(*draws, strict=True)) if isinstance(draws, tuple) else list(draws)
    dense = [float(pair(after, likelihood).law(parameter).density(data[0])) for parameter in rows]
    wanted = float(predictive(after, likelihood).density(data[0]))
    # Five standard errors of the mean of the simulated densities.
    assert abs(np.mean(dense) - wanted) < 5 * np.std(dense) / math.sqrt(n) + 1e-12


def test_posterior_density_is_bayes_rule() -> None:
    for name in ("beta-bernoulli", "beta-binomial", "normal"):
        prior, likelihood, data = CASES[name]
        after = posterior(prior, likelihood, data)
        for t in (0.2, 0.5, 0.9):
            bayes = float(prior.log_density(t)) + math.log(likelihood_at(name, t, data))
            wanted = bayes - log_evidence(prior, likelihood, data)
            assert float(after.log_density(t)) == pytest.approx(wanted, abs=1e-12)
    prior, likelihood, data = CASES["normal-gamma"]
    after = posterior(prior, likelihood, data)
    for pair in ((0.5, 1.0), (1.5, 3.0)):
        bayes = float(prior.log_density(*pair)) + math.log(
            likelihood_at("normal-gamma", pair, data)
        )
        wanted = bayes - log_evidence(prior, likelihood, data)
        assert float(after.log_density(*pair)) == pytest.approx(wanted, abs=1e-11)


def test_posterior_density_is_bayes_rule_for_vectors() -> None:
    prior, likelihood, data = CASES["normal-wishart"]
    after = posterior(prior, likelihood, data)
    mean, precision = np.array([0.3, 0.8]), np.array([[1.5, -0.3], [-0.3, 0.9]])
    law = MultivariateNormal(mean, np.linalg.inv(precision))
    bayes = float(prior.log_density(mean, precision)) + float(law.log_density(data).sum())
    wanted = bayes - log_evidence(prior, likelihood, data)
    assert float(after.log_density(mean, precision)) == pytest.approx(wanted, abs=1e-10)
    prior, likelihood, data = CASES["normal-vector"]
    after = posterior(prior, likelihood, data)
    law = MultivariateNormal(mean, likelihood.covariance)
    bayes = float(prior.log_density(mean)) + float(law.log_density(data).sum())
    wanted = bayes - log_evidence(prior, likelihood, data)
    assert float(after.log_density(mean)) == pytest.approx(wanted, abs=1e-11)


# --- Calibration ----------------------------------------------------------------------------------


def rank_of(name: str, rng: np.random.Generator) -> float:
    """Where the true parameter lies in its posterior, after data drawn from it."""
    prior, likelihood, _ = CASES[name]
    seed = int(rng.integers(2**31))
    true = prior.sample(1, random_state=seed)
    if name == "beta-bernoulli":
        data = Bernoulli(float(true[0])).sample(12, random_state=rng)
        return float(posterior(prior, likelihood, data).cdf(true[0]))
    if name == "normal":
        data = Normal(float(true[0]), likelihood.variance).sample(5, random_state=rng)
        return float(posterior(prior, likelihood, data).cdf(true[0]))
    if name == "dirichlet-categorical":
        data = Categorical(true[0] / true[0].sum()).sample(12, random_state=rng)
        return float(posterior(prior, likelihood, data).marginal(1).cdf(true[0][1]))
    if name == "normal-gamma":
        mean, precision = float(true[0][0]), float(true[1][0])
        data = Normal(mean, 1 / precision).sample(6, random_state=rng)
        return float(posterior(prior, likelihood, data).marginal("mean").cdf(mean))
    mean, precision = true[0][0], true[1][0]
    law = MultivariateNormal(mean, np.linalg.inv(precision))
    after = posterior(prior, likelihood, law.sample(6, random_state=rng))
    t = after.marginal("mean")
    scale = math.sqrt(t.shape[0, 0])
    return float(stats.t.cdf((mean[0] - t.location[0]) / scale, t.degrees_of_freedom))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["beta-bernoulli", "normal", "dirichlet-categorical", "normal-gamma", "normal-wishart"]
)
def test_true_parameters_are_uniform_in_their_posteriors(name: str) -> None:
    """Simulation-based calibration; Talts et al. 2018.

    Under a right posterior the ranks are uniform. 400 of them in 10 bins: the chi-square statistic
    exceeds 33.7 (9 degrees of freedom) with probability 1e-4; the seed is fixed.
    """
    rng = np.random.default_rng(3)
    ranks = np.array([rank_of(name, rng) for _ in range(400)])
    counts = np.histogram(ranks, bins=10, range=(0, 1))[0]
    assert ((counts - 40) ** 2 / 40).sum() < 33.7


# --- Estimates ------------------------------------------------------------------------------------


def test_the_notes_coins() -> None:
    # HHTTTHH: maximum likelihood 4/7; three heads: add-one smoothing gives 4/5.
    heads = [1, 1, 0, 0, 0, 1, 1]
    assert map_estimate(posterior(Beta(1, 1), Bernoulli, heads)) == pytest.approx(4 / 7, rel=1e-15)
    assert mean_estimate(posterior(Beta(1, 1), Bernoulli, [1, 1, 1])) == 4 / 5


def test_mean_and_mode_of_a_dirichlet_have_their_own_names() -> None:
    prior, data = Dirichlet([2.0, 2.0, 2.0]), [0, 0, 1]
    after = posterior(prior, Categorical, data)
    np.testing.assert_allclose(mean_estimate(after), np.array([4, 3, 2]) / 9)
    np.testing.assert_allclose(map_estimate(after), np.array([3, 2, 1]) / 6)
    assert map_estimate(after, KnownLevels(["a", "b", "c"])).levels == ("a", "b", "c")


@pytest.mark.parametrize("name", [n for n in CASES if n not in ("dirichlet-categorical",)])
def test_no_parameter_is_more_probable_than_the_map(name: str) -> None:
    prior, likelihood, data = CASES[name]
    if isinstance(prior, Dirichlet):
        prior = Dirichlet(prior.concentration + 1)
    after = posterior(prior, likelihood, data)
    best = map_estimate(after)
    pair = isinstance(best, tuple)
    top = float(after.log_density(*best) if pair else after.log_density(best))
    draws = after.sample(500, random_state=1)
    others = after.log_density(*draws) if pair else after.log_density(draws)
    assert np.all(others <= top + 1e-12)


def test_estimates_become_laws_with_a_likelihood() -> None:
    after = NormalWishart([1.0, 2.0], 3.0, 6.0, np.diag([0.25, 0.5]))
    mode = map_estimate(after, MultivariateNormal)
    np.testing.assert_allclose(mode.covariance, np.diag([1.0, 0.5]))
    mean = mean_estimate(after, MultivariateNormal)
    np.testing.assert_allclose(np.linalg.inv(mean.covariance), np.diag([1.5, 3.0]))
    assert mean_estimate(NormalGamma(1.0, 2.0, 3.0, 6.0), Normal) == Normal(1.0, 2.0)
    assert map_estimate(Beta(5.0, 3.0), KnownTrials(7)).trials == 7
    assert map_estimate(Normal(2.0, 1.0), KnownVariance(3.0)) == Normal(2.0, 3.0)
    assert map_estimate(Dirichlet([2.0, 3.0]), KnownTrials(4)).trials == 4


def test_a_flat_posterior_has_no_mode() -> None:
    with pytest.raises(InputError, match="no single mode"):
        map_estimate(Beta(1.0, 1.0))


# --- Nasty input ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: posterior(Beta(1, 1), Normal, [1.0]), "no conjugate pair Beta with Normal"),
        (lambda: posterior(Normal(), KnownVariance, [1.0]), "Known.. are values"),
        (lambda: posterior(Beta(1, 1), Bernoulli(0.5), [1]), "the others are classes"),
        (lambda: posterior(3, Bernoulli, [1]), "no conjugate pair int"),
        (lambda: posterior(Beta(1, 1), Bernoulli, [2]), "first is 2 at position 0"),
        (lambda: posterior(Beta(1, 1), KnownTrials(3), [4]), "from 0 to 3"),
        (lambda: posterior(Normal(), KnownVariance(1.0), [np.nan]), "nan at position 0"),
        (
            lambda: posterior(Beta(1, 1), Bernoulli, Normal.statistics([1.0])),
            "learns from BernoulliStatistics, got Moments",
        ),
        (
            lambda: posterior(Beta(1, 1), Bernoulli, Bernoulli.statistics([1]), weight=[1.0]),
            "hold their weights already",
        ),
    ],
)
def test_what_does_not_fit_is_named(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()
