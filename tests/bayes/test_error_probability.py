"""Error probabilities: closed forms, quadrature, simulation, and the bounds that must hold."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike
from scipy import integrate, special, stats

from novum.bayes.error_probability import bayes_error
from novum.bayes.gaussian import GaussianClassifier
from novum.core.errors import InputError
from novum.numerics import Floats
from tests.bayes.normal_classes import normal_classes

Parabola = Callable[[float], tuple[float, float, float]]

quick = settings(max_examples=25, deadline=None)


def test_two_unit_normals_two_apart() -> None:
    found = bayes_error([[0.0, 0.0], [2.0, 0.0]], np.eye(2))
    assert found.value == pytest.approx(stats.norm.cdf(-1.0), rel=1e-14)
    assert found.error == 0
    assert found.method == "closed form"


@quick
@given(st.integers(0, 10**6), st.integers(2, 4))
def test_one_column_is_quadrature_of_the_smaller_densities(seed: int, K: int) -> None:
    rng = np.random.default_rng(seed)
    means, sd = 2 * rng.normal(size=K), rng.uniform(0.3, 2.0, K)
    p = rng.dirichlet(np.ones(K))
    found = bayes_error(means[:, None], (sd**2)[:, None, None], p)
    grid = np.linspace(-25, 25, 200_001)
    densities = p[:, None] * stats.norm(means[:, None], sd[:, None]).pdf(grid)
    expected = integrate.simpson(densities.sum(axis=0) - densities.max(axis=0), x=grid)
    # Kinks at the cuts leave Simpson's rule an error of the square of the step.
    assert found.value == pytest.approx(expected, abs=1e-7)


def test_a_class_inside_another_on_a_line() -> None:
    """p(x|0) wins inside |x| < c only, with c^2 = 2 log 2 / (1 - 1/4)."""
    c = np.sqrt(2 * np.log(2) / 0.75)
    expected = 0.5 * 2 * stats.norm.cdf(-c) + 0.5 * (2 * stats.norm.cdf(c / 2) - 1)
    found = bayes_error([[0.0], [0.0]], [[[1.0]], [[4.0]]])
    assert found.value == pytest.approx(expected, rel=1e-12)
    offset = bayes_error([[1e6], [1e6]], [[[1.0]], [[4.0]]])
    assert offset.value == pytest.approx(expected, rel=1e-9)


def test_spheres_in_many_columns_are_chi_squares() -> None:
    """Equal means, variances 1 and v: the class is decided by |x|^2 alone."""
    d, v = 6, 3.0
    cut = d * np.log(v) / (1 - 1 / v)
    chi = stats.chi2(d)
    expected = 0.5 * chi.sf(cut) + 0.5 * chi.cdf(cut / v)
    found = bayes_error(np.zeros((2, d)), np.array([np.eye(d), v * np.eye(d)]))
    assert found.method == "characteristic function"
    assert found.value == pytest.approx(expected, abs=1e-10)
    assert found.error < 1e-8


@quick
@given(st.integers(0, 10**6), st.floats(0.0, 6.0))
@example(289330, 1.0371467509322174)
def test_two_covariances_in_the_plane_by_quadrature(seed: int, apart: float) -> None:
    rng = np.random.default_rng(seed)
    means = apart * rng.normal(size=(2, 2))
    roots = np.eye(2) + 0.4 * rng.normal(size=(2, 2, 2))
    C = roots @ roots.transpose(0, 2, 1) + 0.2 * np.eye(2)
    p = np.array([0.3, 0.7])
    found = bayes_error(means, C, p)
    assert found.value == pytest.approx(plane_error(means, C, p), rel=1e-8, abs=1e-10)
    assert found.error < 1e-10


def plane_error(means: Floats, C: Floats, p: Floats) -> float:
    """One column by quadrature, the other in closed form between the roots of a parabola."""
    total = 0.0
    for own, other in ((0, 1), (1, 0)):
        parabola = _boundary(means, C, p, own, other)
        # The discriminant is a parabola in z too; at its roots the chance has a kink.
        D = [b * b - 4 * a * c for a, b, c in map(parabola, (-1.0, 0.0, 1.0))]
        kinks = np.roots([(D[0] + D[2]) / 2 - D[1], (D[2] - D[0]) / 2, D[1]])
        inner = sorted(float(z.real) for z in kinks if z.imag == 0 and abs(z.real) < 9)
        edges = [-9.0, *inner, 9.0]
        total += p[own] * sum(_wrong_between(parabola, *ends) for ends in pairwise(edges))
    return total


def _boundary(means: Floats, C: Floats, p: Floats, own: int, other: int) -> Parabola:
    """Coefficients of the boundary in the second whitened column, given the first."""
    A, inverse = np.linalg.cholesky(C[own]), np.linalg.inv(C[other])
    step = A @ [0.0, 1.0]
    constant = np.linalg.slogdet(C[other])[1] - np.linalg.slogdet(C[own])[1]
    constant += 2 * np.log(p[own] / p[other])

    def coefficients(z: float) -> tuple[float, float, float]:
        start = means[own] + A @ [z, 0.0] - means[other]
        a, b = step @ inverse @ step - 1, 2 * step @ inverse @ start
        return float(a), float(b), float(start @ inverse @ start - z * z + constant)

    return coefficients


def _wrong_between(parabola: Parabola, low: float, high: float) -> float:
    """Chance of the wrong side for z in an interval that ends at kinks."""

    def loss(t: float) -> float:
        # Slow at both ends, where the chance grows like a square root.
        z = low + (high - low) * t * t * (3 - 2 * t)
        a, b, c = parabola(z)
        D = b * b - 4 * a * c
        inside = 0.0
        if D > 0:
            ends = sorted(((-b - np.sqrt(D)) / (2 * a), (-b + np.sqrt(D)) / (2 * a)))
            inside = special.ndtr(ends[1]) - special.ndtr(ends[0])
        wrong = inside if a > 0 else 1 - inside
        return float(wrong * np.exp(-z * z / 2) * (high - low) * 6 * t * (1 - t))

    part, _ = integrate.quad(loss, 0, 1, limit=500, epsabs=1e-13, epsrel=1e-12)
    return float(part / np.sqrt(2 * np.pi))


def test_equal_covariances_are_the_limit_of_different_ones() -> None:
    means, C = np.array([[0.0, 0.0], [1.5, 0.5]]), np.array([[1.0, 0.3], [0.3, 2.0]])
    exact = bayes_error(means, C, [0.4, 0.6])
    near = bayes_error(means, np.array([C, C * (1 + 1e-7)]), [0.4, 0.6])
    assert near.method == "characteristic function"
    assert near.value == pytest.approx(exact.value, abs=1e-6)


def test_three_classes_are_simulated_within_the_stated_error() -> None:
    """Three unit normals on a line, embedded in the plane, have a closed form on the line."""
    exact = bayes_error([[0.0], [2.0], [5.0]], [[1.0]])
    found = bayes_error([[0.0, 0.0], [2.0, 0.0], [5.0, 0.0]], np.eye(2), n_points=2**12)
    assert found.method == "simulation"
    assert 0 < found.error < 2e-4
    assert abs(found.value - exact.value) <= found.error
    again = bayes_error([[0.0, 0.0], [2.0, 0.0], [5.0, 0.0]], np.eye(2), n_points=2**12)
    assert again == found


def test_the_fitted_model_errs_as_often_on_its_own_samples() -> None:
    model = GaussianClassifier().fit(*normal_classes(3, 2, 60))
    found = model.error_probability()
    X, y = model.sample(40_000, random_state=0)
    share = 1 - model.score(X, y)
    assert abs(found.value - share) < found.error + 4 * np.sqrt(share * (1 - share) / len(y))
    with pytest.raises(InputError, match="normal laws"):
        GaussianClassifier(estimate="predictive").fit(X[:50], y[:50]).error_probability()


def test_limits() -> None:
    same = bayes_error([[0.0, 0.0], [0.0, 0.0]], np.eye(2), [0.3, 0.7])
    assert same.value == pytest.approx(0.3)
    assert bayes_error([[0.0], [0.0]], [[1.0]], [0.3, 0.7]).value == pytest.approx(0.3)
    assert bayes_error([[0.0], [1.0]], [[1.0]], [1.0, 0.0]).value == 0
    far = bayes_error([[0.0, 0.0], [60.0, 0.0]], np.eye(2)).value
    assert far == pytest.approx(stats.norm.cdf(-30.0), rel=1e-12)
    # Cuts on a line keep the digits of the tails too.
    tail = bayes_error([[0.0], [60.0]], [[1.0]]).value
    assert tail == pytest.approx(stats.norm.cdf(-30.0), rel=1e-10)


@pytest.mark.parametrize(
    ("means", "covariances", "priors", "message"),
    [
        ([0.0, 1.0], [[1.0]], None, r"means have shape \(K, d\)"),
        ([[0.0], [1.0]], np.eye(2), None, "covariances of 2 classes and 1 columns"),
        ([[0.0], [1.0]], [[1.0]], [0.5, 0.4], "2 probabilities that sum to 1"),
        ([[0.0], [np.inf]], [[1.0]], None, "must be finite"),
        (
            [[0.0, 0.0]],
            [[1.0, 2.0], [2.0, 1.0]],
            None,
            "class 0 is not symmetric positive definite",
        ),
        ([[0.0], [1.0]], [[[1.0]], [[0.0]]], None, "class 1 is not symmetric"),
    ],
)
def test_impossible_laws_are_named(
    means: ArrayLike, covariances: ArrayLike, priors: ArrayLike | None, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        bayes_error(means, covariances, priors)
