"""Cholesky factors: exact pivots, SciPy, rows that join and leave, digits lost."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.linalg import LinAlgError
from scipy.spatial import distance

from novum.numerics import Floats, cholesky_downdate, cholesky_factor, cholesky_update, mahalanobis
from tests.oracles.exact_numerics import pivots, quadratic_form, solve


@st.composite
def definite(draw: st.DrawFn) -> Floats:
    n = draw(st.integers(1, 5))
    B = draw(hnp.arrays(np.float64, (n, n), elements=st.integers(-5, 5).map(float)))
    return B @ B.T + np.eye(n)


rows = st.lists(st.integers(-5, 5).map(float), min_size=5, max_size=5)


@given(definite())
def test_the_factor_is_lower_triangular_with_exact_pivots(A: Floats) -> None:
    L = cholesky_factor(A)
    np.testing.assert_array_equal(L, np.tril(L))
    np.testing.assert_allclose(L @ L.T, A, atol=1e-13 * np.abs(A).max())
    # Pivots lose the digits that the elimination cancels; the matrices have condition below 1e3.
    np.testing.assert_allclose(np.diagonal(L) ** 2, np.array(pivots(A.tolist()), float), rtol=1e-11)


@given(definite(), rows)
def test_a_row_joins(A: Floats, x: list[float]) -> None:
    row = np.array(x[: len(A)])
    expected = cholesky_factor(A + np.outer(row, row))
    np.testing.assert_allclose(cholesky_update(cholesky_factor(A), row), expected, atol=1e-11)


@given(definite(), rows)
def test_a_row_leaves_as_it_came(A: Floats, x: list[float]) -> None:
    row, L = np.array(x[: len(A)]), cholesky_factor(A)
    left = cholesky_downdate(cholesky_update(L, row), row)
    # A >= I, so rho^2 = 1 / (1 + x'A^-1x) is at least 1 / 126: two digits at most.
    np.testing.assert_allclose(left.factor, L, atol=1e-10)
    weight = 1 + sum(
        Fraction(a) * b for a, b in zip(row.tolist(), solve(A.tolist(), row.tolist()), strict=True)
    )
    assert left.digits_lost == pytest.approx(np.log10(float(weight)), abs=1e-9)


@pytest.mark.parametrize("size", [1e2, 1e4, 1e6])
def test_digits_lost_are_the_digits_lost(size: float) -> None:
    # What remains is the identity beside a row of this length.
    row = np.array([size, 0.5 * size, 0.25 * size])
    together = cholesky_update(np.eye(3), row)
    result = cholesky_downdate(together, row)
    error = np.abs(result.factor @ result.factor.T - np.eye(3)).max()
    # At most one digit more than announced is lost, and it is not announced for nothing.
    assert error <= 1e-15 * 10 ** (result.digits_lost + 1)
    assert result.digits_lost == pytest.approx(2 * np.log10(size), abs=0.2)


def test_inputs_are_not_changed() -> None:
    L, row = np.array([[2.0, 0.0], [1.0, 2.0]]), np.array([1.0, 1.0])
    cholesky_downdate(cholesky_update(L, row), row)
    assert L.tolist() == [[2.0, 0.0], [1.0, 2.0]]
    assert row.tolist() == [1.0, 1.0]


def test_the_failing_pivot_is_named() -> None:
    with pytest.raises(LinAlgError, match=r"pivot 0 \(of 0 to 1\) is -1, where the diagonal is -1"):
        cholesky_factor([[-1, 0], [0, 1]])
    # Exactly: 1 - 0.8^2 = 0.36 and 1 - 0.9^2 - (0.1 - 0.72)^2 / 0.36 = -0.8778.
    with pytest.raises(LinAlgError, match=r"pivot 2 \(of 0 to 2\) is -0\.877778"):
        cholesky_factor([[1, 0.8, 0.9], [0.8, 1, 0.1], [0.9, 0.1, 1]])
    with pytest.raises(LinAlgError, match=r"pivot 1 .*which is zero within rounding"):
        cholesky_factor([[1, 1], [1, 1]])


def test_units_do_not_matter() -> None:
    units = np.diag([2.0**-300, 1.0, 2.0**300])
    A = np.array([[4.0, 2.0, 1.0], [2.0, 5.0, 3.0], [1.0, 3.0, 6.0]])
    np.testing.assert_array_equal(cholesky_factor(units @ A @ units), units @ cholesky_factor(A))


def test_a_row_that_was_never_there_cannot_leave() -> None:
    with pytest.raises(LinAlgError, match=r"1 - \|L\^-1 x\|\^2 is -3.*would not be positive"):
        cholesky_downdate(np.eye(2), [2.0, 0.0])
    with pytest.raises(LinAlgError, match="carries a direction alone"):
        cholesky_downdate(np.eye(2), [1.0, 0.0])


@pytest.mark.parametrize(
    ("factor", "row", "message"),
    [
        ([[1, 0], [0, 1]], [1], r"got \(2, 2\) and \(1,\)"),
        ([[1, 0], [0, -1]], [1, 1], "positive diagonal; entry 1 is -1"),
        ([[1, 0], [0, np.inf]], [1, 1], "must be finite"),
        ([[1, 0], [0, 1]], [1, np.nan], "must be finite"),
    ],
)
def test_bad_factors_are_named(factor: list[list[float]], row: list[float], message: str) -> None:
    for change in (cholesky_update, cholesky_downdate):
        with pytest.raises(ValueError, match=message):
            change(factor, row)


# --- Mahalanobis ----------------------------------------------------------------------------------


@given(definite(), rows)
def test_distances_are_the_definition(C: Floats, x: list[float]) -> None:
    point = np.array(x[: len(C)])
    inverse_times = solve(C.tolist(), point.tolist())
    exact = float(sum(Fraction(a) * b for a, b in zip(point, inverse_times, strict=True)))
    assert float(mahalanobis(point, np.zeros(len(C)), C)) == pytest.approx(exact**0.5, abs=1e-9)


def test_distances_agree_with_scipy() -> None:
    rng = np.random.default_rng(0)
    X, mean = rng.normal(size=(20, 3)), np.array([1.0, 2.0, 3.0])
    C = np.cov(rng.normal(size=(3, 50)))
    expected = distance.cdist(X, mean[None, :], "mahalanobis", VI=np.linalg.inv(C))[:, 0]
    np.testing.assert_allclose(mahalanobis(X, mean, C), expected, rtol=1e-12)


def test_distances_refuse_what_does_not_fit() -> None:
    with pytest.raises(ValueError, match=r"mean of shape \(2,\) and points of shape \(n, 2\)"):
        mahalanobis([1.0, 2.0, 3.0], [0.0, 0.0], np.eye(2))
    with pytest.raises(LinAlgError, match="pivot 1"):
        mahalanobis([1.0, 2.0], [0.0, 0.0], [[1.0, 2.0], [2.0, 1.0]])


def test_the_quadratic_form_of_the_factor_is_that_of_the_matrix() -> None:
    A, x = [[4.0, 2.0], [2.0, 5.0]], [3.0, -7.0]
    assert np.sum((cholesky_factor(A).T @ x) ** 2) == float(quadratic_form(A, x))
