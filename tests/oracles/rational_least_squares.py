"""Least squares and its relatives by their definitions: slow, and exact where numbers allow it.

Used by the tests and by anyone who wants to audit a result. A double is a rational number, so the
normal equations of a table of doubles can be solved without any rounding,

    (Z'WZ + alpha P) b = Z'Wy,      Z = [1 X] or X,      P = identity but 0 for the intercept,

which squares the condition number and does not care. Leaving out is refitting, robust covariances
are the textbook's matrices, and non-negative coefficients are found by trying every support.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

from novum.numerics import Floats

Rational = int | float | Fraction
Row = Sequence[Rational]
Exact = list[Fraction]
ExactMatrix = list[Exact]


# --- Exact least squares --------------------------------------------------------------------------


def exact_least_squares(
    X: Sequence[Row],
    y: Row,
    weights: Row | None = None,
    *,
    intercept: bool = True,
    alpha: Rational = 0,
) -> tuple[Fraction, Exact]:
    """Intercept and coefficients without rounding; of smallest norm where they are not unique.

    >>> constant, slopes = exact_least_squares([[0], [1], [2]], [1, 3, 6])
    >>> str(constant), [str(slope) for slope in slopes]
    ('5/6', ['5/2'])
    >>> [str(slope) for slope in exact_least_squares([[0, 0], [1, 1]], [0, 1])[1]]
    ['1/2', '1/2']
    """
    w = _weights(weights, len(y))
    rows, targets = _fractions(X), [Fraction(value) for value in y]
    x_mean, y_mean = [Fraction(0)] * len(rows[0]), Fraction(0)
    if intercept:
        x_mean = [_dot(w, column) / sum(w) for column in zip(*rows, strict=True)]
        y_mean = _dot(w, targets) / sum(w)
    centered = [[cell - m for cell, m in zip(row, x_mean, strict=True)] for row in rows]
    gram = cross_products(centered, centered, w)
    right = [r[0] for r in cross_products(centered, [[t - y_mean] for t in targets], w)]
    if alpha:
        for j in range(len(gram)):
            gram[j][j] += Fraction(alpha)
        coef = solve_consistent(gram, right)
    else:
        # The solution of smallest norm is G z for any z with G G z = X'Wy.
        inner = solve_consistent(multiplied(gram, gram), right)
        coef = [_dot(row, inner) for row in gram]
    return y_mean - _dot(x_mean, coef), coef


def exact_residual_squares(
    X: Sequence[Row],
    y: Row,
    constant: Fraction,
    coef: Exact,
    weights: Row | None = None,
) -> Fraction:
    """`sum w (y - b0 - x'b)^2` without rounding."""
    total = Fraction(0)
    for row, target, w in zip(_fractions(X), y, _weights(weights, len(y)), strict=True):
        total += w * (Fraction(target) - constant - _dot(row, coef)) ** 2
    return total


def exact_standard_errors(
    X: Sequence[Row], y: Row, weights: Row | None = None, *, intercept: bool = True
) -> list[float]:
    """Square roots of the diagonal of `RSS / (sum w - k) (Z'WZ)^-1`, intercept first.

    >>> [round(error, 4) for error in exact_standard_errors([[0], [1], [2], [3]], [1, 2, 2, 3])]
    [0.2646, 0.1414]
    """
    w = _weights(weights, len(y))
    design = [[Fraction(1), *row] if intercept else row for row in _fractions(X)]
    constant, coef = exact_least_squares(X, y, w, intercept=intercept)
    freedom = sum(w) - len(design[0])
    variance = exact_residual_squares(X, y, constant, coef, w) / freedom
    gram = cross_products(design, design, w)
    errors = []
    for j in range(len(gram)):
        unit = [Fraction(int(i == j)) for i in range(len(gram))]
        errors.append(sqrt(variance * solve_consistent(gram, unit)[j]))
    return errors


def exact_non_negative(X: Sequence[Row], y: Row, *, intercept: bool = True) -> Exact:
    """Best coefficients of at least zero: the best feasible one of all supports.

    >>> [str(value) for value in exact_non_negative([[0, 1], [1, 0], [2, 2]], [0, 2, 3])]
    ['3/2', '0']
    """
    p, best, found = len(X[0]), None, [Fraction(0)] * len(X[0])
    for size in range(p + 1):
        for support in combinations(range(p), size):
            coef = [Fraction(0)] * p
            if size:
                part = exact_least_squares(
                    [[r[j] for j in support] for r in X], y, intercept=intercept
                )
                for j, value in zip(support, part[1], strict=True):
                    coef[j] = value
            if min(coef, default=Fraction(0)) < 0:
                continue
            shift = _mean_residual(X, y, coef) if intercept else Fraction(0)
            rss = exact_residual_squares(X, y, shift, coef)
            if best is None or rss < best:
                best, found = rss, coef
    return found


def exact_variance_ratio(groups: Sequence[Row]) -> Fraction:
    """F of a one-way analysis of variance: mean squares between groups over those within.

    >>> str(exact_variance_ratio([[1, 2], [3, 5]]))
    '5'
    """
    n, k = sum(len(group) for group in groups), len(groups)
    exact = [[Fraction(value) for value in group] for group in groups]
    grand = sum((sum(group, Fraction(0)) for group in exact), Fraction(0)) / n
    means = [sum(group, Fraction(0)) / len(group) for group in exact]
    between = sum(
        (len(g) * (m - grand) ** 2 for g, m in zip(exact, means, strict=True)), Fraction(0)
    )
    within = sum(
        ((value - m) ** 2 for g, m in zip(exact, means, strict=True) for value in g), Fraction(0)
    )
    return (between / (k - 1)) / (within / (n - k))


# --- By refitting and by matrices -----------------------------------------------------------------


def predictions_without(
    X: Floats,
    y: Floats,
    folds: Sequence[Sequence[int]],
    weights: Floats | None = None,
    *,
    intercept: bool = True,
    alpha: float = 0.0,
) -> Floats:
    """Exact prediction of every row by the model of the rows outside its fold."""
    found = np.full(len(y), np.nan)
    for fold in folds:
        kept = np.setdiff1d(np.arange(len(y)), np.asarray(fold))
        w = None if weights is None else weights[kept].tolist()
        constant, coef = exact_least_squares(
            X[kept].tolist(), y[kept].tolist(), w, intercept=intercept, alpha=alpha
        )
        for i in fold:
            found[i] = float(constant + _dot([Fraction(cell) for cell in X[i].tolist()], coef))
    return found


def robust_standard_errors(Z: ArrayLike, y: ArrayLike, kind: str) -> Floats:
    """HC0 to HC3 by `(Z'Z)^-1 Z' diag(u) Z (Z'Z)^-1` on the whole design `Z`."""
    design, target = np.asarray(Z, float), np.asarray(y, float)
    n, k = design.shape
    inverse = np.linalg.inv(design.T @ design)
    residual = target - design @ inverse @ design.T @ target
    leverage = np.diag(design @ inverse @ design.T)
    spread: dict[str, Callable[[], Floats]] = {
        "HC0": lambda: residual**2,
        "HC1": lambda: residual**2 * n / (n - k),
        "HC2": lambda: residual**2 / (1 - leverage),
        "HC3": lambda: residual**2 / (1 - leverage) ** 2,
    }
    covariance = inverse @ design.T @ np.diag(spread[kind]()) @ design @ inverse
    return np.sqrt(np.diag(covariance))


# --- Rational matrices ----------------------------------------------------------------------------


def cross_products(A: ExactMatrix, B: ExactMatrix, weights: Exact) -> ExactMatrix:
    """`A' diag(w) B`."""
    return [
        [sum((w * a[i] * b[j] for a, b, w in zip(A, B, weights, strict=True)), Fraction(0))
         for j in range(len(B[0]))]
        for i in range(len(A[0]))
    ]  # fmt: skip


def multiplied(A: ExactMatrix, B: ExactMatrix) -> ExactMatrix:
    columns = list(zip(*B, strict=True))
    return [[_dot(row, column) for column in columns] for row in A]


def solve_consistent(A: ExactMatrix, b: Exact) -> Exact:
    """Some solution of `A x = b` by Gauss-Jordan elimination; free unknowns are zero.

    >>> [str(x) for x in solve_consistent([[Fraction(2), Fraction(2)], [Fraction(0)] * 2],
    ...                                   [Fraction(1), Fraction(0)])]
    ['1/2', '0']
    """
    table = [[*row, right] for row, right in zip(A, b, strict=True)]
    n, pivots = len(A[0]), list[int]()
    for j in range(n):
        i = next((i for i in range(len(pivots), len(table)) if table[i][j]), None)
        if i is None:
            continue
        k = len(pivots)
        table[k], table[i] = table[i], table[k]
        table[k] = [cell / table[k][j] for cell in table[k]]
        for other in range(len(table)):
            if other != k and table[other][j]:
                factor = table[other][j]
                table[other] = [c - factor * d for c, d in zip(table[other], table[k], strict=True)]
        pivots.append(j)
    if any(row[-1] for row in table[len(pivots) :]):
        raise ValueError("These equations contradict each other.")
    solution = [Fraction(0)] * n
    for k, j in enumerate(pivots):
        solution[j] = table[k][-1]
    return solution


def _mean_residual(X: Sequence[Row], y: Row, coef: Exact) -> Fraction:
    rows = _fractions(X)
    total = sum((Fraction(t) - _dot(r, coef) for r, t in zip(rows, y, strict=True)), Fraction(0))
    return total / len(y)


def _weights(weights: Row | None, n: int) -> Exact:
    return [Fraction(1)] * n if weights is None else [Fraction(w) for w in weights]


def _fractions(X: Sequence[Row]) -> ExactMatrix:
    return [[Fraction(cell) for cell in row] for row in X]


def _dot(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))
