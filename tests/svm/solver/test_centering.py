"""Programs far from the origin: moved to it and back, without a change of the optimum."""

from __future__ import annotations

import numpy as np
import pytest

from novum.kernels.vectors.gaussian import Gaussian
from novum.kernels.vectors.linear import Linear
from novum.svm.classifier import SVC
from novum.svm.solver.centering import centered, linear_rows, middle_of
from novum.svm.solver.problem import Stopping
from novum.svm.solver.solving import solve
from tests.svm.quadratic_problems import GramRows, classes, cloud


def test_the_solution_is_that_of_the_rows_given() -> None:
    X, y, _ = cloud(60, seed=4)
    X = X + 100.0
    moved = solve(Linear().prepare(X), classes(y, 1.0), Stopping(tol=1e-10))
    plain = solve(GramRows(X @ X.T), classes(y, 1.0), Stopping(tol=1e-10))
    assert moved.value == pytest.approx(plain.value, rel=1e-8)
    gradient = X @ (X.T @ moved.coefficients) - y
    np.testing.assert_allclose(moved.gradient, gradient, atol=1e-8)
    np.testing.assert_allclose(moved.multipliers, plain.multipliers, atol=1e-3)


def test_only_linear_kernels_with_a_bias_are_moved() -> None:
    X, y, _ = cloud(20, seed=4)
    problem = classes(y, 1.0)
    assert centered(Linear().prepare(X), problem)[1] is None
    assert centered(Gaussian(1.0).prepare(X + 1e6), problem)[1] is None
    np.testing.assert_array_equal(
        centered(Linear().prepare(X + 1e6), problem)[1], middle_of(X + 1e6)
    )
    assert linear_rows(Gaussian(1.0).prepare(X)) is None


def test_a_classifier_far_from_the_origin_is_that_at_the_origin() -> None:
    rng = np.random.default_rng(3)
    # Multiples of 2^-20 are exact at an offset of 2^26 as well.
    X = np.round(rng.normal(size=(120, 3)) * 2**20) / 2**20
    y = (X[:, 0] + 0.4 * rng.normal(size=120) > 0).astype(int)
    near = SVC(kernel="linear", tol=1e-6).fit(X, y)
    far = SVC(kernel="linear", tol=1e-6).fit(X + 2.0**26, y)
    assert far.certificate_.relative_gap <= 1e-6
    np.testing.assert_allclose(far.coef_, near.coef_, atol=1e-2)
    np.testing.assert_array_equal(far.predict(X + 2.0**26), near.predict(X))
