"""Mixtures of laws: the contract, definitions, expected sums, recovery, odd input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from novum.core.errors import InputError
from novum.distributions import (
    Bernoulli,
    Beta,
    Binomial,
    Categorical,
    Component,
    Dirichlet,
    Gamma,
    MixtureLaw,
    Multinomial,
    MultivariateBernoulli,
    MultivariateNormal,
    MultivariateStudentT,
    Normal,
    Poisson,
    ProductLaw,
    RealMixtureLaw,
    StudentT,
)
from novum.distributions.contracts import LawCase, law_checks

NORMALS = MixtureLaw.of([0.3, 0.7], [Normal(-2.0, 1.0), Normal(3.0, 4.0)])
CASES = {
    "normals": LawCase(NORMALS, known={"component": Normal, "n_components": 2, "prior_count": 0.0}),
    "poissons": LawCase(
        MixtureLaw.of([0.5, 0.5], [Poisson(1.0), Poisson(12.0)]),
        known={"component": Poisson, "n_components": 2, "prior_count": 0.0},
    ),
    "gammas": LawCase(
        MixtureLaw.of([0.2, 0.8], [Gamma(30.0, 30.0), Gamma(30.0, 5.0)]),
        known={"component": Gamma, "n_components": 2, "prior_count": 0.0},
    ),
    "bernoullis": LawCase(
        MixtureLaw.of(
            [0.4, 0.6], [MultivariateBernoulli([0.9] * 4), MultivariateBernoulli([0.2] * 4)]
        ),
        known={"component": MultivariateBernoulli, "n_components": 2, "prior_count": 0.0},
        rule=(np.array(np.meshgrid(*[[0, 1]] * 4)).reshape(4, -1).T, np.ones(16)),
    ),
}


@pytest.mark.parametrize("check", law_checks(), ids=lambda check: check.__name__[6:])
@pytest.mark.parametrize("name", CASES)
def test_a_mixture_is_a_law(name: str, check: Any) -> None:
    check(CASES[name])


def test_densities_moments_and_quantiles_by_definition() -> None:
    x = np.linspace(-8, 12, 41)
    parts = [0.3 * stats.norm(-2, 1).pdf(x), 0.7 * stats.norm(3, 2).pdf(x)]
    np.testing.assert_allclose(NORMALS.density(x), sum(parts), rtol=1e-13)
    np.testing.assert_allclose(NORMALS.responsibilities(x).T, parts / sum(parts), atol=1e-13)
    assert NORMALS.mean == pytest.approx(1.5)
    assert NORMALS.variance == pytest.approx(0.3 * 1 + 0.7 * 4 + 0.3 * 0.7 * 25)
    assert isinstance(NORMALS, RealMixtureLaw)
    np.testing.assert_allclose(
        NORMALS.cdf(NORMALS.quantile([1e-9, 0.3, 0.999])), [1e-9, 0.3, 0.999]
    )
    assert not hasattr(MixtureLaw.of([1.0], [MultivariateNormal([0.0, 0], np.eye(2))]), "quantile")


def test_labels_of_different_lengths_are_drawn_whole() -> None:
    laws = [Categorical([1.0], ("no",)), Categorical([0.5, 0.5], ("perhaps", "no"))]
    law = MixtureLaw.of([0.5, 0.5], laws)
    values, codes = law.sample_with_components(400, random_state=0)
    assert set(values.tolist()) == {"no", "perhaps"}
    assert not (values[codes == 0] == "perhaps").any()
    np.testing.assert_allclose(law.density(["no", "perhaps", "yes"]), [0.75, 0.25, 0.0])


def test_conditionals_are_ratios_of_densities() -> None:
    laws = [
        MultivariateNormal([0.0, 0], [[1, 0.5], [0.5, 2]]),
        MultivariateNormal([3, 1], np.eye(2)),
    ]
    law = MixtureLaw.of([0.6, 0.4], laws)
    given = law.condition([1], [1.2])
    whole, part = law.log_density([0.4, 1.2]), law.marginal([1]).log_density([1.2])
    assert float(given.log_density([0.4])) == pytest.approx(float(whole - part), rel=1e-12)
    np.testing.assert_allclose(law.log_density_observed([np.nan, 1.2]), part, rtol=1e-12)
    sample = law.sample(40_000, random_state=0)
    np.testing.assert_allclose(law.covariance, np.cov(sample.T), atol=0.1)


# --- Expected sums --------------------------------------------------------------------------------


FAMILIES: dict[str, tuple[Any, Any]] = {
    "normal": (Component(Normal), lambda rng: rng.normal(size=60)),
    "poisson": (Component(Poisson), lambda rng: rng.poisson(3.0, 60).astype(float)),
    "gamma": (Component(Gamma), lambda rng: rng.gamma(2.0, size=60)),
    "beta": (Component(Beta), lambda rng: rng.beta(2, 3, size=60)),
    "bernoulli": (Component(Bernoulli), lambda rng: (rng.random(60) < 0.4).astype(float)),
    "binomial": (Component(Binomial, {"trials": 6}), lambda rng: rng.binomial(6, 0.4, 60) * 1.0),
    "labels": (
        Component(Categorical, {"levels": ("a", "b", "c")}),
        lambda rng: rng.choice(np.array(["a", "b", "c"]), 60),
    ),
    "multinomial": (Component(Multinomial), lambda rng: rng.multinomial(5, [0.2, 0.5, 0.3], 60)),
    "vector normal": (Component(MultivariateNormal), lambda rng: rng.normal(size=(60, 3))),
    "vector t": (Component(MultivariateStudentT), lambda rng: rng.standard_t(3, size=(60, 2))),
    "t of 4": (Component(StudentT, {"degrees_of_freedom": 4.0}), lambda rng: rng.standard_t(4, 60)),
    "columns": (
        Component(ProductLaw, {"laws": (Normal, Poisson)}),
        lambda rng: np.column_stack([rng.normal(size=60), rng.poisson(2.0, 60)]),
    ),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_every_law_climbs_and_its_sums_add(name: str) -> None:
    component, draw = FAMILIES[name]
    x, weight = draw(np.random.default_rng(0)), np.arange(1.0, 61)
    law = MixtureLaw.first(x, weight, component=component, n_components=2, share=1e-3)
    value = -np.inf
    for _ in range(6):
        whole = law.expected_statistics(x, weight, component=component, prior=1e-3 * weight)
        halves = [
            law.expected_statistics(x[s], weight[s], component=component, prior=1e-3 * weight[s])
            for s in (slice(25), slice(25, 60))
        ]
        both = halves[0] + halves[1]
        assert both.weight == pytest.approx(weight.sum())
        merged, direct = law.maximized(both), law.maximized(whole)
        np.testing.assert_allclose(merged.weights, direct.weights, rtol=1e-12)
        np.testing.assert_allclose(
            merged.log_density(x), direct.log_density(x), rtol=1e-9, atol=1e-10
        )
        now = whole.log_likelihood + whole.log_prior
        assert now >= value - 1e-9 * abs(now)
        value, law = now, direct


def test_one_component_is_the_law_itself() -> None:
    x = np.random.default_rng(0).gamma(2.0, size=80)
    law = MixtureLaw.fit(x, component=Gamma, n_components=1)
    assert law.components[0].shape == pytest.approx(Gamma.fit(x).shape, rel=1e-12)
    rows = np.random.default_rng(0).standard_t(3, size=(300, 2))
    options = {"n_components": 1, "tol": 1e-14, "prior_count": 0.0}
    one = MixtureLaw.fit(rows, component=MultivariateStudentT, **options)
    own = MultivariateStudentT.fit(rows)
    assert one.log_density(rows).sum() == pytest.approx(own.log_density(rows).sum(), rel=1e-9)
    assert one.components[0].degrees_of_freedom == pytest.approx(own.degrees_of_freedom, rel=1e-3)


def test_a_step_of_student_t_is_that_of_the_definition() -> None:
    rows, weight = np.random.default_rng(1).normal(size=(9, 2)), np.arange(1.0, 10)
    law = MultivariateStudentT(5.0, [0.1, 0.2], [[1.0, 0.3], [0.3, 2.0]])
    after = law.maximized(law.expected_statistics(rows, weight), degrees_of_freedom=5.0)
    P = np.linalg.inv(law.shape)
    u = np.array([7 / (5 + (r - law.location) @ P @ (r - law.location)) for r in rows])
    location = (weight * u) @ rows / (weight @ u)
    away = rows - location
    np.testing.assert_allclose(after.location, location, rtol=1e-12)
    shape = (away.T * (weight * u)) @ away / weight.sum()
    np.testing.assert_allclose(after.shape, shape, rtol=1e-12)


def test_missing_coordinates_drop_out_of_a_product() -> None:
    law = MixtureLaw.of(
        [0.5, 0.5],
        [
            ProductLaw((Normal(0.0, 1.0), Poisson(2.0))),
            ProductLaw((Normal(4.0, 1.0), Poisson(7.0))),
        ],
    )
    # Summed over the counts the density of the pair is that of the number.
    pairs = np.column_stack([np.full(80, 0.7), np.arange(80)])
    marginal = law.log_density_observed([0.7, np.nan])
    assert np.exp(marginal) == pytest.approx(law.density(pairs).sum(), rel=1e-12)
    x = law.sample(400, random_state=0)
    x[::3, 0] = np.nan
    fitted = MixtureLaw.fit(
        x, component=Component(ProductLaw, {"laws": (Normal, Poisson)}), n_components=2
    )
    means = sorted(part.laws[0].mean for part in fitted.components)
    np.testing.assert_allclose(means, [0.0, 4.0], atol=0.4)


def test_infinite_densities_and_weights_of_zero() -> None:
    arcs = [Beta(0.5, 0.5), Beta(2.0, 3.0)]
    absent = MixtureLaw.of([0.0, 1.0], arcs)
    np.testing.assert_array_equal(absent.log_density([0.0, 0.3]), arcs[1].log_density([0.0, 0.3]))
    assert absent.responsibilities([0.3]).tolist() == [[0.0, 1.0]]
    both = MixtureLaw.of([0.1, 0.9], arcs)
    assert both.responsibilities([0.0, 1.0]).tolist() == [[1.0, 0.0]] * 2
    assert both.log_density(0.0) == np.inf


def test_refusals() -> None:
    with pytest.raises(InputError, match=r"sum to 0\.9"):
        MixtureLaw.of([0.4, 0.5], [Normal(), Normal()])
    with pytest.raises(InputError, match="knows no 'trial'"):
        Component(Binomial, {"trial": 3})
    with pytest.raises(InputError, match="class of laws that are estimated from sums"):
        Component(dict)
    with pytest.raises(InputError, match="5 components of 3 rows"):
        MixtureLaw.fit([1.0, 2, 3], component=Normal, n_components=5)
    with pytest.raises(InputError, match=r"without its trials.*Component\(Binomial, \{'trials'"):
        Component(Binomial)
    law = MixtureLaw.of([1.0], [Dirichlet([2.0, 3.0])])
    with pytest.raises(InputError, match="choose a law of independent columns"):
        law.log_density_observed([[np.nan, 0.5]])
