"""Evidence against matrices: eigenvalues known in closed form, and exact witnesses."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.kernels.indefiniteness import evidence_of, exact_form, is_nearly_psd
from novum.numerics import Floats

ENTRIES = st.integers(-3, 3)


def exact(K: Floats, c: Floats) -> Fraction:
    """`c'Kc` in rational numbers."""
    n = range(len(c))
    x = [Fraction(float(value)) for value in c]
    return sum((x[i] * Fraction(float(K[i, j])) * x[j] for i in n for j in n), Fraction(0))


@given(st.integers(1, 6), st.integers(0, 1000))
def test_the_form_is_rounded_once(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    K = rng.normal(size=(n, n)) * 10.0 ** rng.integers(-12, 12, size=(n, n))
    c = rng.integers(-(2**26), 2**26, n) * 2.0**-10
    assert exact_form(K, c) == float(exact(K, c))


@given(st.lists(st.lists(ENTRIES, min_size=3, max_size=3), min_size=3, max_size=3))
def test_integer_matrices_are_decided_exactly(cells: list[list[int]]) -> None:
    K = np.array(cells, float)
    K = K + K.T
    # Sylvester: positive semi-definite iff no principal minor is negative.
    minors = [
        round(np.linalg.det(K[np.ix_(rows, rows)]))
        for rows in ([0], [1], [2], [0, 1], [0, 2], [1, 2], [0, 1, 2])
    ]
    found = evidence_of(K, 0.0)
    assert (found.witness is not None) == (min(minors) < 0)
    assert not found.is_doubtful
    if found.witness is not None:
        assert exact(K, found.witness) < 0
        assert found.value == pytest.approx(float(exact(K, found.witness)), rel=1e-12)


@pytest.mark.parametrize("scale", [1.0, 1e-300, 1e300])
@pytest.mark.parametrize("n", [2, 30])
def test_known_eigenvalues(n: int, scale: float) -> None:
    # (1 - r) I + r 11' has the eigenvalues 1 - r and 1 + (n - 1) r.
    r = -1.5 / (n - 1)
    K = ((1 - r) * np.eye(n) + r) * scale
    found = evidence_of(K, 1e-15)
    assert found.smallest == pytest.approx(-0.5 * scale, rel=1e-12)
    assert found.largest == pytest.approx((1 - r) * scale, rel=1e-12)
    assert found.value is not None
    assert found.value < 0
    parts = found.solver_error + found.entry_error
    # Beside 1e-300 the tolerance has few bits left.
    assert found.tolerance == pytest.approx(parts, rel=1e-6)


def test_negative_eigenvalues_within_the_accuracy_are_no_evidence() -> None:
    K = np.ones((4, 4)) + np.diag([0.0, 0.0, 0.0, -1e-9])
    assert evidence_of(K, 1e-8).witness is None
    assert evidence_of(K, 1e-12).witness is not None


def test_exact_entries_of_another_size_are_not_hidden() -> None:
    # The eigenvalue -1 is far below the rounding of eigenvalues beside 1e20.
    K = np.diag([1e20, -1.0])
    assert evidence_of(K, 1e-16).witness is None
    found = evidence_of(K, 0.0)
    assert found.value is not None
    assert found.value < 0


def test_the_factor_decides_as_the_eigenvalues_do() -> None:
    rng = np.random.default_rng(0)
    for _ in range(30):
        A = rng.normal(size=(6, 6))
        K = A + A.T + 4.5 * np.eye(6)
        low = float(np.linalg.eigvalsh(K)[0])
        assert is_nearly_psd(K, max(0.0, -low) + 1e-9)
        assert not is_nearly_psd(K, -low - 1e-9)


def test_matrices_of_zeros() -> None:
    found = evidence_of(np.zeros((3, 3)), 0.0)
    assert (found.smallest, found.largest, found.witness) == (0.0, 0.0, None)
