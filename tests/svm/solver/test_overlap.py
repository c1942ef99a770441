"""Infeasible hard margins are proved only where rounding cannot be the reason."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from novum.core.errors import InputError
from novum.kernels.vectors.linear import Linear
from novum.svm.classifier import SVC
from novum.svm.solver.hard_margin import hull_problem, hulls_overlap
from tests.svm.quadratic_problems import classes

Y = [0, 0, 1, 1]


@pytest.mark.parametrize("gap", [1e-8, 1e-12])
def test_a_tiny_gap_is_never_proved_to_be_none(gap: float) -> None:
    with pytest.warns(ConvergenceWarning, match="stopped early"):
        model = SVC(C=np.inf, kernel="linear").fit([[0.0], [1.0], [1.0 + gap], [2.0]], Y)
    assert model.certificate_.details["stopped_by"] == "precision"
    assert model.certificate_.gap == np.inf


def test_two_columns_with_a_tiny_gap_are_undecided() -> None:
    along = np.linspace(0, 1, 20)
    X = np.r_[np.c_[along, np.zeros(20)], np.c_[along, np.full(20, 1e-9)]]
    with pytest.warns(ConvergenceWarning, match="stopped early"):
        SVC(C=np.inf, kernel="linear").fit(X, np.repeat([0, 1], 20))


@pytest.mark.parametrize("overlap", [0.5, 1e-4])
def test_an_overlap_is_proved(overlap: float) -> None:
    with pytest.raises(InputError, match="convex hulls meet"):
        SVC(C=np.inf, kernel="linear").fit([[0.0], [1.0], [1.0 - overlap], [2.0]], Y)


def test_a_margin_far_from_the_origin_is_found() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = (X[:, 0] > 0).astype(int)
    X[:, 0] += np.where(y, 0.05, -0.05)
    near = SVC(C=np.inf, kernel="linear", tol=1e-6).fit(X, y)
    far = SVC(C=np.inf, kernel="linear", tol=1e-6).fit(X + 1e8, y)
    # Cells have eight digits after the point left.
    assert far.margin_ == pytest.approx(near.margin_, rel=1e-5)


def test_coefficients_prove_only_what_they_solve() -> None:
    hulls = hull_problem(classes(np.array([1.0, 1.0, -1.0, -1.0]), np.inf))
    apart = Linear().prepare(np.array([[0.0], [1.0], [1.5], [3.0]]))
    mixed = Linear().prepare(np.array([[0.0], [2.0], [1.0], [3.0]]))
    b = np.array([0.1, 0.9, -0.9, -0.1])
    assert not hulls_overlap(apart, hulls, b)
    assert hulls_overlap(mixed, hulls, b)
