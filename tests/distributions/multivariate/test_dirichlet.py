"""Dirichlet: scipy, quadrature on the triangle, Newton's fit against its equations, the border."""

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from novum.core.errors import InputError
from novum.distributions.contracts import LawCase, law_checks
from novum.distributions.multivariate.dirichlet import Dirichlet
from novum.distributions.univariate.beta import Beta


def triangle_rule(n_points: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Gauss-Legendre on the triangle x + y < 1, by x = u, y = v (1 - u)."""
    nodes, weights = np.polynomial.legendre.leggauss(n_points)
    nodes, weights = 0.5 * (nodes + 1), 0.5 * weights
    u, v = (grid.ravel() for grid in np.meshgrid(nodes, nodes, indexing="ij"))
    area = np.outer(weights, weights).ravel() * (1 - u)
    first, second = u, v * (1 - u)
    return np.column_stack([first, second, 1 - first - second]), area


RULE = triangle_rule()
LAW = Dirichlet([2.0, 3.0, 1.5])
CASES = {
    # The power 0.5 at the border limits the rule to algebraic accuracy.
    "plain": LawCase(LAW, Dirichlet([3.0, 3.0, 3.0]), rule=RULE, tolerance=1e-5),
    "narrow": LawCase(Dirichlet([40.0, 60.0, 50.0]), Dirichlet([41.0, 58.0, 50.0]), rule=RULE),
    "flat": LawCase(Dirichlet([1.0, 1.0, 1.0]), LAW, rule=RULE),
}
positive = st.floats(0.05, 500)


@pytest.mark.parametrize("check", law_checks(), ids=lambda check: check.__name__[6:])
@pytest.mark.parametrize("name", CASES)
def test_contract(name: str, check: Any) -> None:
    check(CASES[name])


# --- Density and moments --------------------------------------------------------------------------


@given(st.lists(positive, min_size=2, max_size=5), st.integers(0, 10**6))
def test_agrees_with_scipy(a: list[float], seed: int) -> None:
    x = np.random.default_rng(seed).dirichlet(np.ones(len(a)), 4)
    law, peer = Dirichlet(a), stats.dirichlet(a)
    np.testing.assert_allclose(law.log_density(x), peer.logpdf(x.T), rtol=1e-10, atol=1e-9)
    assert law.entropy == pytest.approx(peer.entropy(), rel=1e-9, abs=1e-9)
    np.testing.assert_allclose(law.covariance, peer.cov(), rtol=1e-11)
    expected = special.digamma(a) - special.digamma(sum(a))
    np.testing.assert_allclose(law.mean_log, expected, rtol=1e-10, atol=1e-10)


def test_moments_by_quadrature() -> None:
    points, weights = RULE
    law = Dirichlet([4.0, 3.0, 5.0])
    mass = weights * law.density(points)
    np.testing.assert_allclose(mass @ points, law.mean, rtol=1e-12)
    away = points - law.mean
    np.testing.assert_allclose((away * mass[:, None]).T @ away, law.covariance, rtol=1e-11)
    # The logarithm at the border leaves the rule nine digits.
    assert law.entropy == pytest.approx(-mass @ law.log_density(points), rel=1e-8)


def test_huge_concentrations_keep_their_digits() -> None:
    # At the mean the density of two shares is that of a normal law: sqrt(A / (2 pi p q)).
    for a in (1e9, 1e15, 1e300):
        found = float(Dirichlet([a, a]).log_density([0.5, 0.5]))
        expected = 0.5 * np.log(2 * a / (2 * np.pi * 0.25))
        # The next term of the expansion is below 1/a.
        assert found == pytest.approx(expected, abs=2 / a + 1e-12)


def test_tiny_concentrations() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        law = Dirichlet([1e-300, 1e-300])
        # Gamma(2e) / Gamma(e)^2 = e / 2 and x^-1 y^-1 = 4.
        assert float(law.log_density([0.5, 0.5])) == pytest.approx(np.log(2) + np.log(1e-300))
        assert law.variance.tolist() == [0.25, 0.25]


def test_border_and_outside() -> None:
    law = Dirichlet([0.5, 1.0, 2.0])
    points = [
        [0, 0.5, 0.5],
        [0.5, 0.5, 0],
        [0, 1, 0],
        [0.5, 0.6, 0.2],
        [-0.5, 1, 0.5],
        [2e300, 0, 0],
    ]
    assert law.log_density(points).tolist() == [np.inf] + [-np.inf] * 5
    assert np.isnan(law.log_density([np.nan, 0.5, 0.5]))
    # A share of concentration 1 may be zero; the density is continuous there.
    inside = float(law.log_density([0.25, 1e-14, 0.75 - 1e-14]))
    assert float(law.log_density([0.25, 0.0, 0.75])) == pytest.approx(inside, abs=1e-12)
    assert float(Dirichlet([1.0, 1.0]).density([0.0, 1.0])) == pytest.approx(1)


def test_mode() -> None:
    np.testing.assert_allclose(LAW.mode, [1 / 3.5, 2 / 3.5, 0.5 / 3.5])
    assert LAW.log_density(LAW.mode) > LAW.log_density(LAW.mode + np.array([0.01, -0.01, 0.0]))
    for a in ([0.5, 2.0], [1.0, 1.0]):
        with pytest.raises(InputError, match="mode only if no concentration is below 1"):
            _ = Dirichlet(a).mode


# --- Relations ------------------------------------------------------------------------------------


@given(st.lists(positive, min_size=3, max_size=3), st.lists(positive, min_size=3, max_size=3))
def test_divergence_is_the_formula(a: list[float], b: list[float]) -> None:
    p, q = np.array(a), np.array(b)
    expected = (
        special.gammaln(p.sum()) - special.gammaln(p).sum()
        - special.gammaln(q.sum()) + special.gammaln(q).sum()
        + (p - q) @ (special.digamma(p) - special.digamma(p.sum()))
    )  # fmt: skip
    assert Dirichlet(p).kl(Dirichlet(q)) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_marginal_by_quadrature() -> None:
    law = Dirichlet([2.0, 3.0, 4.0])
    assert law.marginal(1) == Beta(3.0, 6.0)
    assert law.marginal([1]) == Dirichlet([3.0, 6.0])
    assert law.marginal([2, 0, 1]) == Dirichlet([4.0, 2.0, 3.0])
    nodes, weights = np.polynomial.legendre.leggauss(30)
    rest = 0.7 * 0.5 * (nodes + 1)
    slice_ = law.density(np.column_stack([rest, np.full(30, 0.3), 0.7 - rest]))
    total = 0.7 * 0.5 * weights @ slice_
    assert float(law.marginal(1).density(0.3)) == pytest.approx(total, rel=1e-12)


def test_conditional_is_the_joint_over_the_marginal() -> None:
    law = Dirichlet([2.0, 3.0, 4.0, 1.5])
    x = np.array([0.1, 0.3, 0.4, 0.2])
    rest = law.condition([1], [0.3])
    # The three others lie on a triangle that is smaller by 0.7 in each of two directions.
    joint = law.log_density(x) - law.marginal(1).log_density(0.3)
    shares = rest.log_density(x[[0, 2, 3]] / 0.7) - 2 * np.log(0.7)
    assert float(joint) == pytest.approx(float(shares), rel=1e-12)


def test_aggregation_by_simulation() -> None:
    law = Dirichlet([2.0, 3.0, 4.0, 1.5])
    sums = law.aggregate([[0, 3], [1], [2]])
    assert sums == Dirichlet([3.5, 3.0, 4.0])
    x = law.sample(20_000, random_state=0)
    first = x[:, 0] + x[:, 3]
    error = first.std() / np.sqrt(len(x))
    assert abs(first.mean() - sums.mean[0]) < 4 * error
    with pytest.raises(InputError, match="each of the kinds 0 to 3 once"):
        law.aggregate([[0], [1]])


# --- Estimation -----------------------------------------------------------------------------------


@given(st.lists(st.floats(0.1, 2000), min_size=2, max_size=5), st.integers(0, 10**6))
def test_the_fit_solves_its_equations(a: list[float], seed: int) -> None:
    x = np.maximum(Dirichlet(a).sample(30, random_state=seed), 1e-12)
    x /= x.sum(axis=1, keepdims=True)
    law = Dirichlet.fit(x)
    np.testing.assert_allclose(
        special.digamma(law.concentration) - special.digamma(law.total),
        np.log(x).mean(axis=0),
        rtol=1e-8,
        atol=1e-8,
    )


@pytest.mark.parametrize("a", [[0.02, 0.05, 3.0], [1.0, 1.0], [1e5, 2e5, 3e4], [1e9, 1e9]])
def test_extreme_fits_recover_their_law(a: list[float]) -> None:
    x = np.maximum(Dirichlet(a).sample(4000, random_state=1), 1e-300)
    fitted = Dirichlet.fit(x / x.sum(axis=1, keepdims=True)).concentration
    # The standard error of log a is below 3 % with 4000 rows.
    np.testing.assert_allclose(np.log(fitted / a), 0, atol=0.12)


def test_moments_are_matched() -> None:
    x = LAW.sample(3000, random_state=2)
    law = Dirichlet.fit_moments(x)
    np.testing.assert_allclose(law.mean, x.mean(axis=0), rtol=1e-12)
    assert law.variance.sum() == pytest.approx(x.var(axis=0).sum(), rel=1e-10)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Dirichlet([1.0]), "at least two positive"),
        (lambda: Dirichlet([1.0, 0.0]), "at least two positive"),
        (lambda: Dirichlet([1e308, 1e308]), "finite sum"),
        (lambda: Dirichlet.fit([[0.5, 0.5], [1.0, 0.0]]), "first is 0 at row 1, column 1"),
        (lambda: Dirichlet.fit([[0.5, 0.4]]), "row 0 with sum 0.9"),
        (lambda: Dirichlet.fit([[0.3, 0.7]] * 5), "rows are all equal"),
        (lambda: Dirichlet.fit_moments([[0.3, 0.7]] * 5), "rows are all equal"),
        (lambda: Dirichlet.fit(np.empty((0, 2))), "total weight is 0"),
        (lambda: LAW.condition([0], [1.0]), "sum below 1"),
        (lambda: LAW.condition([0, 1], [0.2, 0.2]), "two or more shares"),
        (lambda: LAW.kl(Dirichlet([1.0, 1.0])), "3 and of 2 shares"),
    ],
)
def test_bad_input_is_named(call: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()
