"""Programs of the linear kernel far from the origin, moved to it.

Where all prescribed sums add up to zero, the sum of all coefficients is zero, and the expansion
`w = sum_i b_i x_i` does not change when every row is moved by `-m`. Only the products do, all by
the same amount,

    <x_i - m, w> = <x_i, w> - <m, w>,

which the multipliers take up. With `|m|` large, `<x_i, x_j>` has lost the digits that tell rows
apart; those of the moved rows have them all.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from novum.kernels import Linear, ProductRows
from novum.numerics import Floats
from novum.svm.solver.feasibility import is_ungrouped
from novum.svm.solver.problem import QuadraticProblem, Solution

# Rows are moved where that makes the longest of them shorter by this factor.
_GAIN = 4.0


def linear_rows(prepared: Any) -> Floats | None:
    """The dense rows of a linear kernel, or None."""
    if not isinstance(prepared, ProductRows) or type(prepared.kernel) is not Linear:
        return None
    return prepared.rows if isinstance(prepared.rows, np.ndarray) else None


def middle_of(rows: Floats) -> Floats:
    """The mean row; of a column with one value that value itself, without rounding.

    >>> middle_of(np.array([[0.1, 1.0], [0.1, 2.0], [0.1, 6.0]])).tolist()
    [0.1, 3.0]
    """
    first = rows[0]
    return np.asarray(np.where((rows == first).all(axis=0), first, rows.mean(axis=0)))


def centered(prepared: Any, problem: QuadraticProblem) -> tuple[Any, Floats | None]:
    """The prepared objects moved by `-m`, and `m`; the objects themselves and None if that
    changes the program or gains nothing.

    Examples
    --------
    >>> far = Linear().prepare(np.array([[1e9], [1e9 + 2]]))
    >>> two = QuadraticProblem(np.arange(2), np.array([-1.0, 1.0]), np.array([0.0, -9.0]),
    ...                        np.array([9.0, 0.0]), np.zeros(2, int), np.zeros(1))
    >>> centered(far, two)[0].rows.ravel().tolist()
    [-1.0, 1.0]
    """
    rows = linear_rows(prepared)
    if rows is None or not rows.size or is_ungrouped(problem) or problem.totals.sum() != 0:
        return prepared, None
    middle = middle_of(rows)
    moved = Linear().prepare(rows - middle)
    if moved.diagonal().max() * _GAIN**2 > prepared.diagonal().max():
        return prepared, None
    return moved, middle


def moved_back(solution: Solution, problem: QuadraticProblem, rows: Floats, m: Floats) -> Solution:
    """The solution with the products of the rows that were given; `rows` are the moved ones."""
    w = np.bincount(problem.rows, solution.coefficients, len(rows)) @ rows
    shift = float(m @ w)
    return replace(
        solution, gradient=solution.gradient + shift, multipliers=solution.multipliers + shift
    )
