"""Validity: closed forms, proofs in rational numbers, submatrices, admission by learners."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import InputError
from novum.kernels import validity
from novum.kernels.callables import FromCallable
from novum.kernels.precomputed import Precomputed
from novum.kernels.projection import ProjectedRows
from novum.kernels.validity import (
    IndefiniteKernelError,
    KernelVerdict,
    admitted,
    check_kernel,
    refuse_indefinite,
)
from novum.kernels.vectors.gaussian import Gaussian
from novum.kernels.vectors.linear import Linear
from novum.kernels.vectors.sigmoid import Sigmoid

X = np.random.default_rng(0).normal(size=(40, 3))
SIGMOID = Sigmoid(constant=-1.0)


def is_proved(found: KernelVerdict, K: Any) -> bool:
    """Whether the witness proves the matrix indefinite, in rational numbers."""
    assert found.witness is not None
    n = range(len(K))
    c = [Fraction(float(value)) for value in found.witness]
    return sum((c[i] * Fraction(float(K[i][j])) * c[j] for i in n for j in n), Fraction(0)) < 0


# --- Verdicts -------------------------------------------------------------------------------------


def test_minus_the_identity_is_no_kernel() -> None:
    found = check_kernel(-np.eye(3))
    assert found.verdict == "invalid"
    assert found.smallest_eigenvalue == -1.0
    assert is_proved(found, -np.eye(3))
    assert "smallest eigenvalue is -1" in found.reason


@given(st.integers(1, 8), st.integers(1, 8), st.integers(0, 10**6))
def test_gram_matrices_are_valid_and_their_negatives_are_not(n: int, d: int, seed: int) -> None:
    A = np.random.default_rng(seed).normal(size=(n, d))
    assert check_kernel(A @ A.T).is_valid
    assert check_kernel((A @ A.T).astype(np.float32)).is_valid
    found = check_kernel(-(A @ A.T))
    assert found.verdict == "invalid"
    assert is_proved(found, -(A @ A.T))


def test_kernels_by_construction_say_so() -> None:
    found = check_kernel(Gaussian(1.0), X)
    assert found.is_valid
    assert found.by_construction
    assert "Gaussian(width=1.0) is positive semi-definite by construction" in found.reason


def test_a_broken_promise_is_found() -> None:
    liar = FromCallable(lambda A, B: -(A @ B.T), psd=True)
    found = check_kernel(liar, X)
    assert found.verdict == "invalid"
    assert "promises to be a kernel, but it is not positive" in found.reason


def test_the_sigmoid_is_indefinite_here() -> None:
    found = check_kernel(SIGMOID, X)
    low = np.linalg.eigvalsh(SIGMOID.gram(X))[0]
    assert found.verdict == "invalid"
    assert found.smallest_eigenvalue == pytest.approx(low, rel=1e-9)
    assert is_proved(found, SIGMOID.gram(X))


def test_asymmetry_is_named_with_its_place() -> None:
    K = np.eye(4)
    K[1, 2] = 0.5
    found = check_kernel(K)
    assert found.verdict == "invalid"
    assert found.asymmetry == 0.5
    assert found.asymmetry_at == (1, 2)
    assert "entries (1, 2) and (2, 1) are 0.5 and 0" in found.reason


def test_rounding_of_a_product_is_no_asymmetry() -> None:
    K = X @ X.T
    K[0, 1] *= 1 + 1e-15
    found = check_kernel(K)
    assert found.is_valid
    assert found.asymmetry > 0


def test_a_function_that_is_not_symmetric_is_invalid() -> None:
    crooked = FromCallable(lambda A, B: np.eye(len(A), len(B)) + np.triu(np.ones((len(A), len(B)))))
    assert check_kernel(crooked, X[:4]).verdict == "invalid"


def test_single_precision_is_credited_with_its_errors() -> None:
    A = np.random.default_rng(1).normal(size=(60, 2)).astype(np.float32)
    single = A @ A.T
    assert np.linalg.eigvalsh(single.astype(float))[0] < -1e-8
    assert check_kernel(single).is_valid
    assert check_kernel(single.astype(float)).is_valid
    assert check_kernel(single.astype(float), accuracy=1e-15).verdict == "invalid"


def test_stated_accuracy_widens_the_tolerance() -> None:
    K = np.array([[1.0, 1.001], [1.001, 1.0]])
    assert check_kernel(K).verdict == "invalid"
    found = check_kernel(K, accuracy=1e-2)
    assert found.is_valid
    assert "entries known to 0.01 of their size" in found.tolerance_reason


def test_large_samples_are_checked_in_part() -> None:
    good = check_kernel(X @ X.T, max_rows=10)
    assert good.verdict == "undecided"
    assert (good.n_checked, good.n_objects) == (10, 40)
    bad = check_kernel(-np.eye(40), max_rows=10)
    assert bad.verdict == "invalid"
    assert bad.witness is not None
    assert bad.witness.shape == (40,)
    assert is_proved(bad, -np.eye(40))
    assert check_kernel(Linear(), X, max_rows=10).is_valid
    first, again = (check_kernel(X @ X.T, max_rows=10, random_state=s) for s in (3, 3))
    assert first.smallest_eigenvalue == again.smallest_eigenvalue


def test_the_text_has_verdict_eigenvalue_and_tolerance() -> None:
    lines = repr(check_kernel([[1, 2], [2, 1]])).splitlines()
    assert lines[0].startswith("invalid: not positive semi-definite")
    assert [line.split("  ")[1] for line in lines[1:]] == [
        "objects",
        "smallest eigenvalue",
        "tolerance",
        "asymmetry",
        "witness",
    ]


# --- Learners -------------------------------------------------------------------------------------


def test_learners_do_not_look_at_kernels_by_construction() -> None:
    assert refuse_indefinite(Linear(), None) is None


@pytest.mark.parametrize("kernel", [SIGMOID, FromCallable(lambda A, B: -(A @ B.T))])
def test_learners_refuse_an_indefinite_kernel(kernel: Any) -> None:
    with pytest.raises(
        IndefiniteKernelError, match=r'smallest eigenvalue is -.*indefinite="project"'
    ):
        admitted(kernel, kernel.prepare(X), "refuse")


def test_learners_take_a_good_matrix() -> None:
    K = X @ X.T
    rows = Precomputed().prepare(K)
    assert admitted(Precomputed(), rows, "refuse") is rows
    assert admitted(Precomputed(), rows, "project") is rows
    found = refuse_indefinite(K)
    assert found is not None
    assert found.is_valid
    assert found.smallest_eigenvalue is None
    assert "not computed" in repr(found)


def test_learners_look_at_a_part_of_many_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validity, "LEARNER_ROWS", 10)
    found = refuse_indefinite(Precomputed(), Precomputed().prepare(X @ X.T))
    assert found is not None
    assert (found.verdict, found.n_checked) == ("undecided", 10)
    with pytest.raises(IndefiniteKernelError, match="in a random principal submatrix of 10"):
        refuse_indefinite(Precomputed(), Precomputed().prepare(-np.eye(40)))
    assert isinstance(
        admitted(Precomputed(), Precomputed().prepare(-np.eye(40)), "project"), ProjectedRows
    )


def test_learners_project_when_asked() -> None:
    rows = admitted(SIGMOID, SIGMOID.prepare(X), "project")
    assert isinstance(rows, ProjectedRows)
    assert np.linalg.eigvalsh(rows.gram())[0] > -1e-12


def test_the_treatment_is_one_of_two() -> None:
    with pytest.raises(InputError, match="got 'clip'"):
        admitted(Linear(), Linear().prepare(X), "clip")


def test_exact_matrices_of_integers_are_decided_exactly() -> None:
    assert check_kernel([[10**9, 0], [0, -1]]).verdict == "invalid"
    with pytest.raises(IndefiniteKernelError):
        refuse_indefinite(np.diag([10**18, -1]))
