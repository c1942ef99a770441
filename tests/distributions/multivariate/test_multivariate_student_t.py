"""Multivariate Student t: scipy, mixtures by quadrature, the normal limit, conditionals."""

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from novum.core.errors import InputError
from novum.distributions.contracts import LawCase, law_checks
from novum.distributions.multivariate.multivariate_normal import MultivariateNormal
from novum.distributions.multivariate.multivariate_student_t import MultivariateStudentT
from novum.distributions.univariate.student_t import StudentT

S = np.array([[2.0, 0.6], [0.6, 1.0]])
LAW = MultivariateStudentT(9.0, [1.0, -1.0], S)


def polar_rule(law: MultivariateStudentT) -> tuple[np.ndarray, np.ndarray]:
    """Circles in whitened coordinates; r = tan brings infinity to a finite end."""
    nodes, weights = np.polynomial.legendre.leggauss(120)
    phi, width = 0.25 * np.pi * (nodes + 1), 0.25 * np.pi * weights
    radius = np.tan(phi) * 3
    angle = np.linspace(0, 2 * np.pi, 16, endpoint=False)
    r, a = (grid.ravel() for grid in np.meshgrid(radius, angle, indexing="ij"))
    ring = np.repeat(width * 3 / np.cos(phi) ** 2 * radius * 2 * np.pi / 16, 16)
    points = law.location + law.root.colored(np.column_stack([r * np.cos(a), r * np.sin(a)]))
    return points, ring * np.exp(0.5 * law.root.log_determinant)


CASES = {
    "plain": LawCase(LAW, rule=polar_rule(LAW), size=4000),
    "normal": LawCase(
        MultivariateStudentT(np.inf, [1.0, -1.0], S),
        rule=polar_rule(MultivariateStudentT(np.inf, [1.0, -1.0], S)),
        size=4000,
    ),
}


@pytest.mark.parametrize("check", law_checks(), ids=lambda check: check.__name__[6:])
@pytest.mark.parametrize("name", CASES)
def test_contract(name: str, check: Any) -> None:
    check(CASES[name])


def random_law(seed: int, size: int, degrees: float) -> MultivariateStudentT:
    rng = np.random.default_rng(seed)
    half = rng.normal(size=(size, size))
    return MultivariateStudentT(degrees, rng.normal(size=size), half @ half.T + 0.2 * np.eye(size))


seeds = st.integers(0, 10**6)


@given(seeds, st.integers(1, 5), st.floats(0.2, 200))
def test_agrees_with_scipy(seed: int, size: int, degrees: float) -> None:
    law = random_law(seed, size, degrees)
    x = 3 * np.random.default_rng(seed).normal(size=(2, 3, size))
    peer = stats.multivariate_t(law.location, law.shape, df=degrees)
    expected = peer.logpdf(x.reshape(-1, size)).reshape(2, 3)
    np.testing.assert_allclose(law.log_density(x), expected, rtol=1e-9, atol=1e-9)
    assert law.entropy == pytest.approx(float(peer.entropy()), rel=1e-9, abs=1e-9)


def test_one_coordinate_is_the_univariate_law() -> None:
    x = np.linspace(-9, 9, 21)
    one = MultivariateStudentT(2.5, [0.5], [[4.0]])
    np.testing.assert_allclose(
        one.log_density(x[:, None]), StudentT(2.5, 0.5, 2.0).log_density(x), rtol=1e-13
    )
    marginal = LAW.marginal(0)
    assert isinstance(marginal, StudentT)
    assert (marginal.degrees_of_freedom, marginal.location) == (9.0, 1.0)
    assert marginal.scale == pytest.approx(2**0.5)


def test_it_is_a_normal_law_of_unknown_precision() -> None:
    x = np.array([2.0, 0.5])

    def mixed(u: float) -> float:
        weight = stats.gamma.pdf(u, 4.5, scale=1 / 4.5)
        return weight * stats.multivariate_normal.pdf(x, LAW.location, S / u)

    total = integrate.quad(mixed, 0, 30, epsabs=1e-13, limit=200)[0]
    assert float(LAW.density(x)) == pytest.approx(total, rel=1e-9)


def test_many_degrees_of_freedom_tend_to_the_normal_law() -> None:
    x = np.random.default_rng(0).normal(size=(5, 2))
    normal = MultivariateNormal(LAW.location, S)
    limit = MultivariateStudentT(np.inf, LAW.location, S)
    np.testing.assert_allclose(limit.log_density(x), normal.log_density(x), rtol=1e-14)
    for degrees in (1e8, 1e15, 1e300):
        near = MultivariateStudentT(degrees, LAW.location, S)
        np.testing.assert_allclose(near.log_density(x), normal.log_density(x), rtol=1e-6)
        assert near.entropy == pytest.approx(normal.entropy, abs=1e-6)
    np.testing.assert_array_equal(limit.covariance, S)
    np.testing.assert_allclose(limit.contour(0.9).half_axes, normal.contour(0.9).half_axes)
    assert limit.condition([0], [2.0]).degrees_of_freedom == np.inf


def test_extreme_arguments() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        law = MultivariateStudentT(3.0, [0.0, 0.0], np.eye(2))
        far = law.log_density([[1e200, 0.0], [1e300, 0.0]])
        # The density falls with the power v + d = 5 of the distance.
        assert far[0] - far[1] == pytest.approx(5 * np.log(1e100), rel=1e-12)
        assert law.log_density([np.inf, 0.0]) == -np.inf
        assert np.isnan(law.log_density([np.nan, 0.0]))
        assert law.log_density([1e-300, 0.0]) == law.log_density([0.0, 0.0])
        tiny = MultivariateStudentT(1e-300, [0.0, 0.0], np.eye(2))
        assert np.isfinite(tiny.log_density([1.0, 2.0]))


@given(seeds, st.permutations(range(4)), st.integers(1, 3), st.floats(0.3, 50))
def test_joint_is_marginal_times_conditional(
    seed: int, order: list[int], k: int, degrees: float
) -> None:
    law, x = random_law(seed, 4, degrees), np.random.default_rng(seed).normal(size=4)
    fixed, free = order[:k], sorted(order[k:])
    rest = law.condition(fixed, x[fixed])
    assert rest.degrees_of_freedom == degrees + k
    total = law.marginal(fixed).log_density(x[fixed]) + rest.log_density(x[free])
    assert float(total) == pytest.approx(float(law.log_density(x)), rel=1e-8, abs=1e-8)


def test_missing_cells_are_integrated_out() -> None:
    law = random_law(5, 3, 4.0)
    x = np.array([[0.3, np.nan, 1.0], [np.nan] * 3, [0.1, 0.2, 0.3], [np.nan, np.nan, 2.0]])
    found = law.log_density_observed(x)
    assert found[1] == 0
    assert found[2] == pytest.approx(float(law.log_density(x[2])))
    assert found[3] == pytest.approx(float(law.marginal(2).log_density(2.0)))
    line = integrate.quad(lambda t: float(law.density([0.3, t, 1.0])), -np.inf, np.inf)[0]
    assert found[0] == pytest.approx(np.log(line), abs=1e-7)


@pytest.mark.parametrize("probability", [0.2, 0.9])
def test_contours_hold_their_probability(probability: float) -> None:
    law = random_law(2, 3, 2.5)
    region, n = law.contour(probability), 20_000
    share = region.contains(law.sample(n, random_state=0)).mean()
    assert abs(share - probability) < 4 * np.sqrt(probability * (1 - probability) / n)
    radius = law.mahalanobis(region.points(5)) ** 2 / 3
    np.testing.assert_allclose(radius, stats.f(3, 2.5).ppf(probability), rtol=1e-9)
    assert law.contour(0.0).half_axes.tolist() == [0.0] * 3


def test_affine_maps() -> None:
    A = np.array([[1.0, 2.0], [0.0, -1.0]])
    image = LAW.affine(A, [1.0, 0.0])
    np.testing.assert_allclose(image.shape, A @ S @ A.T, rtol=1e-14)
    np.testing.assert_allclose(image.location, A @ LAW.location + [1.0, 0.0])
    x = np.array([0.3, 0.7])
    # The map has determinant -1, so densities do not change.
    found = image.log_density(A @ x + [1.0, 0.0])
    assert float(found) == pytest.approx(float(LAW.log_density(x)), rel=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: MultivariateStudentT(0.0, [0.0], [[1.0]]), "must be above 0, got 0.0"),
        (lambda: MultivariateStudentT(np.nan, [0.0], [[1.0]]), "must be above 0, got nan"),
        (lambda: MultivariateStudentT(3.0, [0.0], np.eye(2)), r"shape \(1, 1\), got \(2, 2\)"),
        (lambda: MultivariateStudentT(3.0, [0, 0], np.ones((2, 2))), r"x\[0\] - x\[1\] has no"),
        (lambda: MultivariateStudentT(1.0, [0.0], [[1.0]]).mean, "mean only above 1 degree"),
        (lambda: MultivariateStudentT(2.0, [0.0], [[1.0]]).covariance, "only above 2 degrees"),
        (lambda: LAW.contour(1.0), "below 1"),
        (lambda: LAW.affine(np.ones((2, 2))), "singular"),
        (lambda: LAW.affine(np.ones((1, 3))), r"shape \(k, 2\)"),
    ],
)
def test_bad_input_is_named(call: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()
