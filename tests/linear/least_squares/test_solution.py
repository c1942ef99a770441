"""The solver: rational solutions, ranks decided in rounding errors, smallest norms, any scale."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import nnls

from novum.core.errors import InputError
from novum.linear import LinearRegression
from novum.linear.least_squares.solution import (
    Design,
    plain_singular_values,
    solve,
    squared_residuals,
)
from novum.numerics import Floats
from tests.linear.tables import integer_tables, normal_table
from tests.oracles.rational_least_squares import exact_least_squares, exact_non_negative


def design_of(
    X: Floats, y: Floats, weight: Floats | None = None, *, intercept: bool = True
) -> Design:
    return Design.of(LinearRegression().statistics(X, y, weight), intercept)


class Solved(NamedTuple):
    coef: Floats
    intercept: Floats
    rank: int
    condition: float
    null_space: Floats


def solved(X: Floats, y: Floats, alpha: float = 0.0, *, intercept: bool = True) -> Solved:
    design = design_of(X, y, intercept=intercept)
    found = solve(design, np.array([alpha]))
    return Solved(found.coef, found.intercept, design.rank, design.condition, design.null_space)


# --- Truth ----------------------------------------------------------------------------------------


@given(integer_tables(), st.booleans(), st.sampled_from([0.0, 0.5, 8.0]))
def test_solution_is_the_rational_one(
    table: tuple[Floats, Floats, Floats], intercept: bool, alpha: float
) -> None:
    """Whatever the rank: the rational solution of smallest norm."""
    X, y, weight = table
    found = solve(design_of(X, y, weight, intercept=intercept), np.array([alpha]))
    constant, coef = exact_least_squares(
        X.tolist(), y.tolist(), weight.tolist(), intercept=intercept, alpha=alpha
    )
    # Integers up to 20 in three columns: the condition number stays below about 1e5.
    size = 1e-10 * (1 + np.abs(np.array(coef, float)).max())
    np.testing.assert_allclose(found.coef[:, 0], np.array(coef, float), atol=size)
    assert found.intercept[0] == pytest.approx(float(constant), abs=20 * size)


@given(integer_tables(max_columns=3, max_rows=7), st.booleans())
def test_non_negative_solution_is_the_best_of_all_supports(
    table: tuple[Floats, Floats, Floats], intercept: bool
) -> None:
    X, y, _ = table
    design = design_of(X, y, intercept=intercept)
    found = solve(design, np.zeros(1), positive=True)
    coef = np.array(exact_non_negative(X.tolist(), y.tolist(), intercept=intercept), float)
    assert (found.coef >= 0).all()
    best = float(squared_residuals(design, coef[:, np.newaxis])[0])
    assert squared_residuals(design, found.coef)[0] == pytest.approx(best, rel=1e-9, abs=1e-9)


def test_non_negative_solution_on_rows_by_another_implementation() -> None:
    X, y = normal_table(60, 5)
    X = X * [1.0, -1.0, 1e6, 1e-6, -1.0]
    found = solve(design_of(X, y, intercept=False), np.zeros(1), positive=True)
    np.testing.assert_allclose(found.coef[:, 0], nnls(X, y)[0], rtol=1e-9)
    assert (found.coef[[1, 4]] == 0).all()


def test_several_targets_with_a_penalty_each() -> None:
    X, y = normal_table(30, 3)
    Y = np.column_stack([y, y**2, -y])
    alphas = np.array([0.0, 3.0, 0.0])
    found = solve(design_of(X, Y), alphas)
    for t, alpha in enumerate(alphas):
        one = solved(X, Y[:, t], alpha)
        np.testing.assert_allclose(found.coef[:, t], one.coef[:, 0], rtol=1e-13)
        assert found.intercept[t] == pytest.approx(one.intercept[0], rel=1e-13)


def test_small_penalties_are_not_lost_in_a_square() -> None:
    """With two equal columns a penalty of 1e-12 already decides: both get one half."""
    X = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]])
    found = solved(X, np.array([0.0, 1.0, 2.0]), 1e-12)
    np.testing.assert_allclose(found.coef[:, 0], [0.5, 0.5], rtol=1e-9)


# --- Rank -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(
    "change",
    [
        lambda X: np.column_stack([X, X[:, 0]]),
        lambda X: np.column_stack([X, X[:, 0] - 3 * X[:, 1]]),
        lambda X: np.column_stack([X, 1e6 * X[:, 0] + X[:, 1]]),
        lambda X: np.column_stack([X, np.zeros(len(X))]),
        lambda X: X[:2],
        lambda X: np.column_stack([X, X @ np.ones((3, 4))]),
        lambda X: 1e-9 * np.column_stack([X, X[:, 0]]),
    ],
    ids=["twice", "collinear", "mixed units", "zeros", "two rows", "many", "small"],
)
def test_without_full_rank_the_norm_is_smallest(change: object, intercept: bool) -> None:
    X, y = normal_table(25, 3)
    X = change(X)  # type: ignore[operator]
    y = y[: len(X)]
    found = solved(X, y, intercept=intercept)
    x, t = (X - X.mean(axis=0), y - y.mean()) if intercept else (X, y)
    # Cut off where the duplicates of `mixed units` differ by rounding: 1e-16 of 1e6.
    expected = np.linalg.pinv(x, rcond=1e-12) @ t
    np.testing.assert_allclose(
        found.coef[:, 0], expected, rtol=1e-8, atol=1e-10 * abs(expected).max()
    )
    assert found.rank == np.linalg.matrix_rank(x, tol=1e-10 * np.linalg.norm(x))
    null = found.null_space
    assert null.shape == (X.shape[1], X.shape[1] - found.rank)
    np.testing.assert_allclose(null.T @ null, np.eye(null.shape[1]), atol=1e-12)
    np.testing.assert_allclose(x @ null, 0, atol=1e-9 * np.abs(x).max())
    np.testing.assert_allclose(null.T @ found.coef, 0, atol=1e-10 * abs(expected).max())


@pytest.mark.parametrize("value", [0.1, 1 / 3, 1e8 / 3, -1e150, 0.0])
def test_constant_columns_count_for_nothing(value: float) -> None:
    X, y = normal_table(23, 2)
    found = solved(np.column_stack([np.full(23, value), X]), y)
    assert found.rank == 2
    assert found.coef[0, 0] == 0.0
    np.testing.assert_allclose(found.coef[1:, 0], solved(X, y).coef[:, 0], rtol=1e-13)


def test_rank_at_the_edge_of_rounding() -> None:
    """A duplicate that differs by more than its rounding errors counts, by less it does not."""
    X, y = normal_table(40, 1)
    other = np.random.default_rng(3).normal(size=40)
    ranks = [
        solved(np.column_stack([X, X[:, 0] + size * other]), y).rank
        for size in (1e-8, 1e-10, 1e-12, 1e-14, 1e-16)
    ]
    assert ranks == [2, 2, 2, 2, 1]
    # With an offset of 1e8 a cell is known only to 1e-8, and the same differences mean nothing.
    shifted = [
        solved(np.column_stack([X, X[:, 0] + size * other]) + 1e8, y).rank
        for size in (1e-4, 1e-6, 1e-8, 1e-9)
    ]
    assert shifted == [2, 2, 1, 1]


def test_nearly_collinear_columns_are_solved_not_truncated() -> None:
    X, y = normal_table(12, 1)
    other = np.random.default_rng(3).normal(size=12)
    X = np.column_stack([X, X[:, 0] + 1e-9 * other])
    coef = np.array(exact_least_squares(X.tolist(), y.tolist())[1], float)
    assert np.abs(coef).max() > 1e7
    found = solved(X, y)
    assert found.condition > 1e9
    # A condition number of 1e9 leaves 7 of 16 digits.
    np.testing.assert_allclose(found.coef[:, 0], coef, rtol=1e-6)


def test_more_columns_than_rows_interpolate() -> None:
    X, y = normal_table(6, 15)
    found = solved(X, y)
    assert found.rank == 5
    np.testing.assert_allclose(X @ found.coef[:, 0] + found.intercept[0], y, rtol=1e-12)


@pytest.mark.parametrize("unit", [1.0, 1e-9, 1e100])
@pytest.mark.parametrize("alpha", [0.0, 1e-6, 3.0])
def test_wide_tables_are_solved_by_their_rows(alpha: float, unit: float) -> None:
    """In rational arithmetic: the dual `X'(XX' + alpha I)^-1 y` of the centered table."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(-9, 9, (5, 12)).astype(float), rng.integers(-9, 9, 5).astype(float)
    X[:, 3] = X[:, 1] - X[:, 0]
    coef = np.array(exact_least_squares(X.tolist(), y.tolist(), alpha=alpha)[1], float)
    found = solved(X * unit, y, alpha * unit**2)
    assert found.rank == 4
    np.testing.assert_allclose(found.coef[:, 0] * unit, coef, rtol=1e-11, atol=1e-13)


def test_wide_tables_of_unequal_units_keep_the_digits_of_every_column() -> None:
    """Columns in units 1e8 apart: the small coefficients of the large columns are right too."""
    rng = np.random.default_rng(1)
    unit = np.ldexp(1.0, rng.integers(-13, 14, 14))
    X, y = rng.integers(-9, 9, (6, 14)) * unit, rng.integers(-9, 9, 6).astype(float)
    exact = np.array(exact_least_squares(X.tolist(), y.tolist())[1], float)
    np.testing.assert_allclose(solved(X, y).coef[:, 0], exact, rtol=1e-9)


def test_one_row_no_columns() -> None:
    one = solved(np.array([[3.0, 4.0]]), np.array([10.0]))
    assert one.coef.tolist() == [[0.0], [0.0]]
    assert one.intercept.tolist() == [10.0]
    assert (one.rank, one.condition) == (0, 1.0)
    through_zero = solved(np.array([[3.0, 4.0]]), np.array([10.0]), intercept=False)
    np.testing.assert_allclose(through_zero.coef[:, 0], [1.2, 1.6], rtol=1e-15)
    single_level = pd.DataFrame({"color": ["red"] * 4})
    design = design_of(single_level, np.array([1.0, 2.0, 3.0, 6.0]))  # type: ignore[arg-type]
    for alpha, positive in ((0.0, False), (1.0, False), (0.0, True)):
        none = solve(design, np.array([alpha]), positive=positive)
        assert none.coef.shape == (0, 1)
        assert none.intercept.tolist() == [3.0]


def test_a_target_of_one_value_has_zero_slopes() -> None:
    X, _ = normal_table(23, 3)
    found = solved(X, np.full(23, 0.1))
    assert not found.coef.any()
    assert found.intercept.tolist() == [pytest.approx(0.1, rel=1e-15)]


# --- Scale ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("exponent", [500, -500, 27, -27])
def test_units_by_powers_of_two_change_nothing_but_the_units(exponent: int) -> None:
    X, y = normal_table(20, 3)
    unit = np.ldexp(1.0, [exponent, 0, -exponent])
    found, plain = solved(X * unit, y), solved(X, y)
    np.testing.assert_allclose(found.coef[:, 0] * unit, plain.coef[:, 0], rtol=1e-13)
    assert found.rank == 3
    assert found.condition == pytest.approx(plain.condition, rel=1e-9)


@pytest.mark.parametrize("size", [1e150, 1e-150, 1e250, 1e-250])
def test_extreme_columns(size: float) -> None:
    X, y = normal_table(20, 3)
    found = solved(X * size, y)
    np.testing.assert_allclose(found.coef[:, 0] * size, solved(X, y).coef[:, 0], rtol=1e-12)
    assert found.rank == 3


@pytest.mark.parametrize("size", [1e150, 1e-150, 1e-250])
def test_extreme_targets(size: float) -> None:
    X, y = normal_table(20, 3)
    found = solved(X, y * size)
    np.testing.assert_allclose(found.coef[:, 0] / size, solved(X, y).coef[:, 0], rtol=1e-12)


def test_targets_whose_squares_overflow_are_refused_with_advice() -> None:
    X, y = normal_table(20, 3)
    with pytest.raises(InputError, match=r"size of .*e\+16\d.* Divide y by a power of ten"):
        solved(X, y * 1e160)


def test_singular_values_are_those_of_the_centered_rows() -> None:
    X, y = normal_table(30, 4)
    expected = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)
    np.testing.assert_allclose(plain_singular_values(design_of(X, y)), expected, rtol=1e-13)
    expected = np.linalg.svd(X, compute_uv=False)
    design = design_of(X, y, intercept=False)
    np.testing.assert_allclose(plain_singular_values(design), expected, rtol=1e-13)
