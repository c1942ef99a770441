"""Low-rank forms: exact at full rank, Nystroem's formula below it, on vectors and on trees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from novum.core.errors import InputError
from novum.core.learners import Verdict
from novum.kernels.callables import FromCallable
from novum.kernels.contracts import check_kernel_contract
from novum.kernels.landmarks.low_rank import LowRank, inverse_root, low_rank
from novum.kernels.precomputed import Precomputed
from novum.kernels.trees.subset_tree import SubsetTreeKernel
from novum.kernels.validity import IndefiniteKernelError
from novum.kernels.vectors.gaussian import Gaussian
from novum.kernels.vectors.linear import Linear
from novum.kernels.vectors.sigmoid import Sigmoid

rng = np.random.default_rng(0)
X, Z = rng.normal(size=(60, 3)), rng.normal(size=(10, 3))
TREES = ["(S (N a) (V b))", "(S (N a) (V c))", "(N a)", "(S (N a) (V b))", "a", "(V (V b) (N a))"]


@pytest.mark.parametrize("rank", [1, 7, 30])
def test_the_form_is_nystroems(rank: int) -> None:
    kernel = Gaussian(1.0)
    form = low_rank(kernel, X, rank=rank)
    marks = X[form.positions]
    inner = np.linalg.pinv(kernel.gram(marks), hermitian=True)
    expected = kernel.cross(X, marks) @ inner @ kernel.cross(marks, X)
    np.testing.assert_allclose(form.kernel.gram(X), expected, atol=1e-8)
    np.testing.assert_allclose(form.factor @ form.factor.T, expected, atol=1e-8)
    expected = kernel.cross(Z, marks) @ inner @ kernel.cross(marks, X)
    np.testing.assert_allclose(form.transform(Z) @ form.factor.T, expected, atol=1e-8)


def test_the_certificate_bounds_the_error() -> None:
    kernel = Gaussian(1.0)
    for rank in (1, 5, 20):
        form = low_rank(kernel, X, rank=rank)
        E = kernel.gram(X) - form.factor @ form.factor.T
        details = form.certificate.details
        assert form.certificate.value == pytest.approx(np.trace(E), rel=1e-9)
        assert details["largest_residual"] <= np.linalg.norm(E, 2) <= details["spectral_bound"]
        assert details["rank"] == rank
        assert details["relative_trace_error"] == pytest.approx(np.trace(E) / 60, rel=1e-9)
        assert form.certificate.verdict is Verdict.LOCAL
        assert form.certificate.trace is not None
        assert len(form.certificate.trace) == rank + 1


def test_full_rank_is_exact_and_proved() -> None:
    form = low_rank(Linear(), X)
    assert form.factor.shape == (60, 3)
    np.testing.assert_allclose(form.kernel.gram(X), X @ X.T, atol=1e-12)
    np.testing.assert_allclose(form.kernel.cross(Z, X), Z @ X.T, atol=1e-12)
    assert form.certificate.verdict is Verdict.PROVED


def test_the_tolerance_is_kept() -> None:
    form = low_rank(Gaussian(3.0), X, tolerance=0.01)
    assert form.certificate.verdict is Verdict.WITHIN_TOLERANCE
    assert "is within the tolerance 0.6" in form.certificate.sentence
    relative = form.certificate.details["relative_trace_error"]
    assert isinstance(relative, float)
    assert relative <= 0.01


def test_trees_become_numbers() -> None:
    kernel = SubsetTreeKernel()
    form = low_rank(kernel, TREES)
    np.testing.assert_allclose(form.kernel.gram(TREES), kernel.gram(TREES), atol=1e-12)
    new = ["(S (N a) (V z))", "(z z)"]
    np.testing.assert_allclose(
        form.transform(new) @ form.factor.T, kernel.cross(new, TREES), atol=1e-12
    )
    assert form.kernel.takes == "objects"


def test_the_form_is_a_kernel_as_any_other() -> None:
    check_kernel_contract(LowRank(SubsetTreeKernel(), TREES[:2]), TREES)
    check_kernel_contract(LowRank(Gaussian(1.0), X[:5]), X[:12])
    check_kernel_contract(LowRank(Linear(), sparse.csr_matrix(X[:2])), X[:12])


def test_equal_landmarks_do_no_harm() -> None:
    once, twice = LowRank(Gaussian(1.0), X[:4]), LowRank(Gaussian(1.0), np.repeat(X[:4], 3, axis=0))
    np.testing.assert_allclose(twice.cross(Z, X), once.cross(Z, X), atol=1e-10)


def test_the_inverse_root_ignores_rounding() -> None:
    A = X[:6, :2]
    root = inverse_root(A @ A.T)
    np.testing.assert_allclose(root @ root, np.linalg.pinv(A @ A.T), atol=1e-9)


def test_what_is_not_promised_is_said() -> None:
    kernel = FromCallable(lambda A, B: A @ B.T)
    assert (
        low_rank(kernel, X, 2).certificate.details["assumes"] == "a positive semi-definite kernel"
    )
    assert "assumes" not in low_rank(Linear(), X, rank=2).certificate.details


def test_objects_without_similarity_have_no_features() -> None:
    form = low_rank(SubsetTreeKernel(), ["a", "b", "c"])
    np.testing.assert_array_equal(form.factor, np.zeros((3, 1)))
    assert form.transform(["(a b)"]).tolist() == [[0.0]]
    assert form.certificate.verdict is Verdict.PROVED


def test_indefinite_landmarks_are_refused() -> None:
    with pytest.raises(IndefiniteKernelError, match="no low-rank form"):
        LowRank(Sigmoid(constant=-1.0), X)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: LowRank("rbf", X), "compares objects, got 'rbf'"),  # type: ignore[arg-type]
        (lambda: LowRank(Precomputed(), X @ X.T), "compares objects, got Precomputed"),
        (lambda: LowRank(SubsetTreeKernel(), []), "at least one landmark"),
        (lambda: low_rank(Linear(), X, rank=0), "whole number of at least 1, got 0"),
        (lambda: low_rank(Linear(), X, tolerance=1.0), r"at least 0 and below 1, got 1\.0"),
        (lambda: low_rank(Linear(), X, tolerance=-0.1), "at least 0 and below 1"),
    ],
)
def test_bad_settings_are_named(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()
