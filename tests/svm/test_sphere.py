"""SVDD: spheres by hand, Welzl's circle, distances by definition, prices and shares."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from novum.core.errors import InputError
from novum.kernels.validity import IndefiniteKernelError
from novum.kernels.vectors.gaussian import Gaussian
from novum.svm.novelty import SVDD, OneClassSVM
from novum.svm.solver import problems
from tests.oracles.svm_definitions import interior_point
from tests.svm.machine_tables import blobs


def smallest_circle(X: np.ndarray) -> float:
    """The least radius of a circle through two or three points that holds all of them."""
    best = np.inf
    candidates = [(a + b) / 2 for a, b in combinations(X, 2)]
    for a, b, c in combinations(X, 3):
        system = 2 * np.array([b - a, c - a])
        if abs(np.linalg.det(system)) > 1e-9:
            candidates.append(np.linalg.solve(system, [b @ b - a @ a, c @ c - a @ a]))
    for center in candidates:
        best = min(best, float(np.linalg.norm(X - center, axis=1).max()))
    return best


@settings(max_examples=20)
@given(st.integers(0, 10**6))
def test_the_smallest_circle_around_points_of_the_plane(seed: int) -> None:
    X = np.random.default_rng(seed).normal(size=(9, 2))
    model = SVDD(C=np.inf, kernel="linear", tol=1e-10).fit(X)
    assert model.radius_ == pytest.approx(smallest_circle(X), rel=1e-5)
    assert (np.linalg.norm(X - model.center_, axis=1) <= model.radius_ * (1 + 1e-5)).all()
    assert model.certificate_.primal == pytest.approx(model.radius_**2, rel=1e-6)


def test_distances_are_those_of_the_feature_space() -> None:
    X, _ = blobs(40)
    kernel = Gaussian(1.0)
    model = SVDD(nu=0.5, kernel=kernel, tol=1e-9).fit(X)
    a, support = model.dual_coef_[0], model.support_vectors_
    assert a.sum() == pytest.approx(1.0)
    new = X[:5] + 0.5
    K = kernel.cross(new, support)
    center = a @ kernel.gram(support) @ a
    expected = np.sqrt(1.0 - 2 * K @ a + center)
    np.testing.assert_allclose(model.distance(new), expected, rtol=1e-9)
    assert model.center_norm_ == pytest.approx(np.sqrt(center))
    np.testing.assert_allclose(
        model.decision_function(new), model.radius_**2 - expected**2, atol=1e-9
    )
    on_surface = model.distance(X[model.unbound_])
    np.testing.assert_allclose(on_surface, model.radius_, rtol=1e-4)
    assert (model.distance(X[model.bound_]) >= model.radius_ - 1e-4).all()


def test_a_generic_solver_agrees() -> None:
    X, _ = blobs(30)
    kernel = Gaussian(1.0)
    model = SVDD(nu=0.3, kernel=kernel, tol=1e-9).fit(X)
    price = np.full(30, 1 / (0.3 * 30))
    exact = interior_point(kernel.gram(X), problems.sphere(np.ones(30), price))
    assert model.certificate_.dual == pytest.approx(-2 * exact.value, rel=1e-6)
    slack = np.maximum(model.distance(X) ** 2 - model.radius_**2, 0)
    assert model.certificate_.primal == pytest.approx(model.radius_**2 + price @ slack, rel=1e-6)


def test_prices_and_shares_are_two_words_for_one_thing() -> None:
    X, _ = blobs(40)
    by_share, by_price = SVDD(nu=0.25).fit(X), SVDD(C=1 / (0.25 * 40)).fit(X)
    assert by_price.radius_ == pytest.approx(by_share.radius_)


def test_a_price_below_one_over_n_has_no_sphere() -> None:
    with pytest.raises(InputError, match=r"C=0\.01 is too small.*at least 0\.1\b"):
        SVDD(C=0.01).fit(np.arange(10.0)[:, None])
    assert SVDD(C=0.1).fit(np.arange(10.0)[:, None]).certificate_.converged


def test_equal_rows_have_a_sphere_of_radius_zero() -> None:
    model = SVDD(kernel="linear").fit(np.full((5, 2), 3.0))
    assert model.radius_ == pytest.approx(0.0, abs=1e-6)
    assert model.predict([[3.0, 3.0], [3.0, 4.0]]).tolist() == [1, -1]
    assert model.unbound_.size + model.bound_.size == 5


def test_given_similarities_have_no_distances_of_new_objects() -> None:
    X, _ = blobs(20)
    K = Gaussian(1.0).gram(X)
    model = SVDD(kernel="precomputed", nu=0.3).fit(K)
    assert model.radius_ == pytest.approx(
        SVDD(kernel=Gaussian(1.0), nu=0.3).fit(X).radius_, rel=1e-3
    )
    with pytest.raises(InputError, match="no similarities of new objects among each other"):
        model.distance(K)


def test_an_indefinite_kernel_is_refused_with_advice_that_can_be_followed() -> None:
    with pytest.raises(IndefiniteKernelError, match="use OneClassSVM with") as raised:
        SVDD(kernel="precomputed").fit(-np.eye(3))
    assert 'Set indefinite="project"' not in str(raised.value)
    OneClassSVM(kernel="precomputed", indefinite="project", nu=0.9).fit(np.diag([2.0, 1.0, -0.1]))
