"""The ridge system: exact fractions, NumPy's solver, the bounds themselves, singular matrices."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import MemoryLimitError
from novum.core.learners import Verdict
from novum.numerics import Floats
from novum.svm.ridge import solution as kernel_ridge_solution
from novum.svm.ridge.solution import (
    SINGLE_FROM,
    RidgeSystem,
    certify,
    check_matrix_memory,
)


def matrix_of(m: int, rank: int, seed: int) -> Floats:
    """A positive semi-definite matrix of that rank."""
    root = np.random.default_rng(seed).normal(size=(m, rank))
    return root @ root.T


def objective(K: Floats, a: Floats, y: Floats, weight: Floats, alpha: float) -> float:
    """The definition, target by target."""
    total = 0.0
    for t in range(y.shape[1]):
        values = K @ a[:, t]
        total += float(weight @ (y[:, t] - values) ** 2 + alpha * a[:, t] @ values)
    return total


def exact_solution(K: list[list[int]], y: list[int], alpha: Fraction) -> list[Fraction]:
    """`(K + alpha) a = y` by elimination in fractions."""
    n = len(y)
    rows = [[Fraction(K[i][j]) + (alpha if i == j else 0) for j in range(n)] for i in range(n)]
    right = [Fraction(value) for value in y]
    for i in range(n):
        for j in range(i + 1, n):
            factor = rows[j][i] / rows[i][i]
            rows[j] = [a - factor * b for a, b in zip(rows[j], rows[i], strict=True)]
            right[j] -= factor * right[i]
    found = [Fraction(0)] * n
    for i in reversed(range(n)):
        rest = sum((rows[i][j] * found[j] for j in range(i + 1, n)), Fraction(0))
        found[i] = (right[i] - rest) / rows[i][i]
    return found


# --- Right solutions ------------------------------------------------------------------------------


def test_solutions_are_those_of_exact_elimination() -> None:
    root = np.random.default_rng(0).integers(-3, 4, (6, 4))
    K, y = root @ root.T, [1, -2, 3, 0, 5, -1]
    exact = exact_solution(K.tolist(), y, Fraction(1, 2))
    found = RidgeSystem(K.astype(float), np.ones(6)).solve(np.array(y, float)[:, np.newaxis], 0.5)
    np.testing.assert_allclose(found.coefficients[:, 0], [float(a) for a in exact], rtol=1e-13)


@given(st.integers(1, 12), st.integers(1, 3), st.floats(1e-3, 1e3), st.integers(0, 10**6))
def test_weighted_systems_agree_with_numpy(m: int, t: int, alpha: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    K, y = matrix_of(m, m, seed), rng.normal(size=(m, t))
    weight = rng.uniform(0.1, 3.0, m)
    found = RidgeSystem(K.copy(), weight).solve(y, alpha)
    expected = np.linalg.solve(K + alpha * np.diag(1 / weight), y)
    # The condition number is at most some 1e6 here.
    np.testing.assert_allclose(found.coefficients, expected, rtol=1e-8, atol=1e-9)
    assert found.value == pytest.approx(objective(K, found.coefficients, y, weight, alpha))


@given(st.integers(2, 10), st.floats(1e-2, 10.0), st.integers(0, 10**6))
def test_the_bounds_hold_for_any_coefficients(m: int, alpha: float, seed: int) -> None:
    """Whatever `a` is judged, it is no farther from the optimum than its residual says."""
    rng = np.random.default_rng(seed)
    K, y, weight = matrix_of(m, m, seed), rng.normal(size=(m, 1)), rng.uniform(0.5, 2.0, m)
    system = RidgeSystem(K.copy(), weight)
    best = np.linalg.solve(K + alpha * np.diag(1 / weight), y)
    a = best + 0.1 * rng.normal(size=(m, 1))
    root = system.root[:, np.newaxis]
    u, right = a / root, y * root
    judged = system._judged(u, right - system.matrix @ u - alpha * u, 0, right, alpha, m)
    excess = objective(K, a, y, weight, alpha) - objective(K, best, y, weight, alpha)
    distance = float(np.sqrt(((a - best).T @ K @ (a - best)).item()))
    assert excess <= judged.excess * (1 + 1e-9) + 1e-9
    assert judged.distance is not None
    assert distance <= judged.distance * (1 + 1e-9) + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [10.0, 1e-2, 1e-5])
def test_refined_single_precision_is_as_good_as_double(alpha: float) -> None:
    m = SINGLE_FROM + 88
    X = np.random.default_rng(1).normal(size=(m, 3))
    K = np.exp(-((X[:, np.newaxis] - X) ** 2).sum(axis=2))
    y = np.random.default_rng(2).normal(size=(m, 2))
    found = RidgeSystem(K.copy(), np.ones(m)).solve(y, alpha)
    expected = np.linalg.solve(K + alpha * np.eye(m), y)
    # Both are backward stable, so they differ by rounding times the condition, below 1e9.
    scale = float(np.abs(expected).max())
    np.testing.assert_allclose(found.coefficients, expected, atol=1e-5 * scale)
    assert certify([found], m, 0.0).verdict is Verdict.PROVED
    residual = y - K @ found.coefficients - alpha * found.coefficients
    assert float(np.abs(residual).max()) < 1e-12 * m * (1 + scale)


def test_single_precision_is_left_where_it_does_not_converge(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    m = SINGLE_FROM
    x = np.linspace(0, 1, m)[:, np.newaxis]
    K = np.exp(-((x - x.T) ** 2))
    y = np.sin(5 * x)
    called = []
    whole = kernel_ridge_solution._factorized
    monkeypatch.setattr(
        kernel_ridge_solution,
        "_factorized",
        lambda *arguments: called.append(True) or whole(*arguments),
    )
    found = RidgeSystem(K.copy(), np.ones(m)).solve(y, 1e-9)
    assert called
    # What double precision leaves of a condition of 1e11, squared by the objective.
    assert found.excess <= 1e-9 * float((y * y).sum())
    assert float(np.abs(K @ found.coefficients - y).max()) < 1e-3


# --- Without a penalty ----------------------------------------------------------------------------


def test_zero_strength_interpolates() -> None:
    K, y = matrix_of(5, 5, 3), np.arange(5.0)[:, np.newaxis]
    found = RidgeSystem(K.copy(), np.ones(5)).solve(y, 0.0)
    np.testing.assert_allclose(K @ found.coefficients, y, atol=1e-9)
    assert found.distance is None
    assert found.value == pytest.approx(0.0, abs=1e-18)


@given(st.integers(3, 10), st.integers(0, 10**6))
def test_singular_matrices_give_least_squares_of_least_norm(m: int, seed: int) -> None:
    rank = m // 2
    K, y = matrix_of(m, rank, seed), np.random.default_rng(seed + 1).normal(size=(m, 1))
    found = RidgeSystem(K.copy(), np.ones(m)).solve(y, 0.0)
    expected = np.linalg.pinv(K, rcond=1e-10, hermitian=True) @ y
    np.testing.assert_allclose(found.coefficients, expected, rtol=1e-6, atol=1e-8)
    assert found.rank == rank
    certificate = certify([found], m, 0.0)
    assert certificate.verdict is Verdict.WITHIN_TOLERANCE
    assert "singular" in str(certificate.details["solution"])
    # The error left is that of the part of the target no function reaches.
    assert found.value == pytest.approx(float(((y - K @ expected) ** 2).sum()), rel=1e-6)
    assert found.excess <= 1e-9 * found.value


def test_a_matrix_of_zeros_predicts_zero() -> None:
    found = RidgeSystem(np.zeros((3, 3)), np.ones(3)).solve(np.ones((3, 1)), 0.0)
    assert found.coefficients.tolist() == [[0.0]] * 3
    assert found.value == 3.0


def test_all_strengths_from_one_decomposition() -> None:
    K, y = matrix_of(8, 8, 5), np.random.default_rng(6).normal(size=(8, 2))
    weight = np.random.default_rng(7).uniform(0.5, 2, 8)
    system = RidgeSystem(K.copy(), weight)
    spectrum = system.spectrum()
    for alpha in (0.1, 1.0, 30.0):
        one, other = system.solve(y, alpha), system.solve_by(spectrum, y, alpha)
        np.testing.assert_allclose(one.coefficients, other.coefficients, rtol=1e-9, atol=1e-12)
        inverse = np.linalg.inv(system.matrix + alpha * np.eye(8))
        diagonal = system.inverse_diagonal(alpha)
        assert diagonal is not None
        np.testing.assert_allclose(diagonal, np.diagonal(inverse), rtol=1e-10)
        by_values = (spectrum.vectors**2) @ spectrum.inverses(alpha)
        np.testing.assert_allclose(by_values, diagonal, rtol=1e-10)


def test_matrices_beyond_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOVUM_MEMORY_LIMIT", "100MB")
    with pytest.raises(MemoryLimitError, match=r"kernel matrix of 1,000,000 objects.*Nystroem"):
        check_matrix_memory(10**6)
