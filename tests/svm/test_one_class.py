"""OneClassSVM: scikit-learn's scale, a generic solver, hyperplanes that do not exist."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import svm

from novum.kernels.vectors.gaussian import Gaussian
from novum.svm.novelty import OneClassSVM
from novum.svm.solver import problems
from novum.svm.solver.vanishing import VanishingMarginWarning
from tests.oracles.svm_definitions import interior_point
from tests.svm.machine_tables import blobs


def test_attributes_are_those_of_libsvm() -> None:
    X, _ = blobs(80)
    ours, theirs = (
        OneClassSVM(nu=0.27, tol=1e-10).fit(X),
        svm.OneClassSVM(nu=0.27, tol=1e-10).fit(X),
    )
    np.testing.assert_array_equal(ours.support_, theirs.support_)
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-4)
    np.testing.assert_allclose(ours.offset_, theirs.offset_, atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)
    np.testing.assert_allclose(ours.score_samples(X), theirs.score_samples(X), atol=1e-4)
    np.testing.assert_allclose(ours.dual_coef_.sum(), 0.27 * 80)


def test_a_generic_solver_agrees() -> None:
    X, _ = blobs(30)
    kernel = Gaussian(1.0)
    model = OneClassSVM(nu=0.3, kernel=kernel, tol=1e-9).fit(X)
    exact = interior_point(kernel.gram(X), problems.one_class(np.ones(30), 0.3))
    assert model.certificate_.dual == pytest.approx(-exact.value, rel=1e-6)


def test_one_point_by_hand() -> None:
    # w = (3, 4): the hyperplane through the point, at its distance 5 from the origin.
    model = OneClassSVM(kernel="linear", nu=1.0).fit([[3.0, 4.0]])
    assert model.margin_ == pytest.approx(5.0)
    assert model.offset_ == pytest.approx(25.0)
    np.testing.assert_allclose(model.coef_, [[3.0, 4.0]])
    assert model.certificate_.primal == pytest.approx(-12.5)


def test_no_hyperplane_before_the_origin() -> None:
    X = np.random.default_rng(0).normal(size=(50, 2))
    with pytest.warns(
        VanishingMarginWarning, match="no hyperplane between the rows and the origin"
    ):
        model = OneClassSVM(kernel="linear", nu=0.2).fit(X)
    assert model.offset_ == pytest.approx(0.0, abs=1e-2)
    assert model.certificate_.details["vanishing_margins"] == 1


def test_weights_count_rows() -> None:
    X = np.array([[0.0], [0.1], [5.0]])
    plain = OneClassSVM(nu=0.5, gamma=0.5).fit(X)
    heavy = OneClassSVM(nu=0.5, gamma=0.5).fit(X, sample_weight=[1.0, 1.0, 20.0])
    assert (plain.predict([[0.05]])[0], heavy.predict([[0.05]])[0]) == (1, -1)
