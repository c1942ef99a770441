"""Refinement from the rows: digits gained where that is safe, nothing done where it is not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from novum.core.tables import Sample, coding
from novum.linear import LinearRegression
from novum.linear.least_squares.solution import Design, Solution, refined, solve
from novum.linear.least_squares.statistics import LeastSquaresStatistics
from novum.numerics import Floats, triangular
from tests.linear.tables import certified_table, normal_table, sample_of
from tests.oracles.rational_least_squares import exact_least_squares


def prepared(sample: Sample, alpha: float = 0.0) -> tuple[Design, Solution]:
    design = Design.of(LeastSquaresStatistics.of(sample), True)
    return design, solve(design, np.array([alpha]))


def disturbed(solution: Solution, relative: float) -> Solution:
    coef = solution.coef * (1 + relative * np.array([[1.0], [-1.0], [0.5]]))
    return replace(solution, coef=coef)


@pytest.mark.parametrize("alpha", [0.0, 2.0])
@pytest.mark.parametrize("small", [True, False], ids=["extended", "double"])
def test_a_disturbed_solution_is_put_right(
    alpha: float, small: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not small:
        monkeypatch.setattr(triangular, "_SMALL_CELLS", 0)
        monkeypatch.setattr(coding, "BLOCK_ROWS", 7)
    X, y = normal_table(40, 3)
    X[:, 2] = X[:, 0] + 0.01 * X[:, 2]
    weight = np.arange(1.0, 41.0)
    sample = sample_of(X, y, weight)
    design, solution = prepared(sample, alpha)
    constant, coef = exact_least_squares(X.tolist(), y.tolist(), weight.tolist(), alpha=alpha)
    found = refined(sample, design, disturbed(solution, 1e-6), True)
    # The error shrinks by about eps kappa^2; in double precision rounding of the gradient remains.
    np.testing.assert_allclose(
        found.coef[:, 0], np.array(coef, float), rtol=1e-14 if small else 1e-13
    )
    assert found.intercept[0] == pytest.approx(float(constant), rel=1e-13)


def digits_of(coef: Floats, exact: Floats) -> float:
    return float(-np.log10(np.abs(coef / exact - 1).max() + 1e-17))


@pytest.mark.parametrize(
    ("name", "gained"), [("Wampler3", 2), ("Wampler4", 0.7), ("Wampler5", 0.3)]
)
def test_certified_digits_are_gained(name: str, gained: float) -> None:
    """The larger the residuals, the less a gradient in extended precision can see."""
    X, y = certified_table(name)
    sample = sample_of(X, y)
    design, solution = prepared(sample)
    before, after = solution.coef[:, 0], refined(sample, design, solution, True).coef[:, 0]
    assert digits_of(after, np.ones(5)) > digits_of(before, np.ones(5)) + gained


def test_ill_conditioned_tables_are_left_alone() -> None:
    X, y = certified_table("Filip")
    sample = sample_of(X, y)
    design, solution = prepared(sample)
    assert design.condition > 1e6
    assert refined(sample, design, solution, True) is solution


def test_without_full_rank_nothing_is_done() -> None:
    X, y = normal_table(20, 2)
    sample = sample_of(np.column_stack([X, X[:, 0]]), y)
    design, solution = prepared(sample)
    assert refined(sample, design, solution, True) is solution
    level = sample_of([["a"], ["a"]], [1.0, 2.0])
    design, solution = prepared(level)
    assert refined(level, design, solution, True) is solution


def test_a_step_too_long_to_be_rounding_is_not_taken() -> None:
    X, y = normal_table(20, 3)
    sample = sample_of(X, y)
    design, solution = prepared(sample)
    far = disturbed(solution, 0.1)
    assert refined(sample, design, far, True) is far


def test_sparse_and_dense_rows_are_refined_alike() -> None:
    from scipy import sparse

    X, y = normal_table(50, 3)
    X[X < 0] = 0.0
    dense, thin = LinearRegression().fit(X, y), LinearRegression().fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(thin.coef_, dense.coef_, rtol=1e-14)
