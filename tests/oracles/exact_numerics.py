"""The definitions, term by term: slow, exact where possible, and easy to check by eye.

Used by the tests and by anyone who wants to audit a result. Rational numbers are exact; what needs
a logarithm or a root is computed with 60 decimal digits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product

Vector = Sequence[float]
Matrix = Sequence[Sequence[float]]
ExactMatrix = list[list[Fraction]]


def log_sum_exp(logs: Vector, weights: Vector | None = None) -> float:
    """`log sum w exp(a)` with 60 digits.

    >>> log_sum_exp([0.0, 0.0]) == log_sum_exp([0.0], [2.0])
    True
    """
    factors = [1.0] * len(logs) if weights is None else weights
    with localcontext() as context:
        context.prec = 60
        terms = (
            Decimal(w) * Decimal(a).exp()
            for a, w in zip(logs, factors, strict=True)
            if w > 0 and a > float("-inf")
        )
        total = sum(terms, Decimal(0))
        return float(total.ln()) if total else float("-inf")


def exact_moments(
    rows: Matrix, weights: Vector | None = None
) -> tuple[Fraction, list[Fraction], ExactMatrix]:
    """Weight, mean and scatter of rows of binary floating-point numbers, without any rounding.

    >>> weight, mean, scatter = exact_moments([[1.0], [2.0], [6.0]])
    >>> int(weight), int(mean[0]), int(scatter[0][0])
    (3, 3, 14)
    """
    w = [Fraction(1)] * len(rows) if weights is None else [Fraction(value) for value in weights]
    x = [[Fraction(value) for value in row] for row in rows]
    total = sum(w, Fraction(0))
    columns = range(len(x[0]))
    mean = [sum((w[i] * x[i][j] for i in range(len(x))), Fraction(0)) / total for j in columns]
    scatter = [
        [
            sum(
                (w[i] * (x[i][j] - mean[j]) * (x[i][k] - mean[k]) for i in range(len(x))),
                Fraction(0),
            )
            for k in columns
        ]
        for j in columns
    ]
    return total, mean, scatter


def joint_counts(
    rows: Sequence[Sequence[int]], sizes: Sequence[int], weights: Vector | None = None
) -> list[Fraction]:
    """Weight of every combination of levels, in the order of the last column fastest.

    >>> [int(count) for count in joint_counts([[0, 1], [0, 1], [1, -1]], [2, 2])]
    [0, 2, 0, 0]
    """
    w = [1.0] * len(rows) if weights is None else weights
    found: Counter[tuple[int, ...]] = Counter()
    for row, weight in zip(rows, w, strict=True):
        found[tuple(row)] += Fraction(weight)  # type: ignore[assignment]
    return [Fraction(found[cell]) for cell in product(*(range(size) for size in sizes))]


def quadratic_form(A: Matrix, x: Vector) -> Fraction:
    """`x'Ax`, exactly.

    >>> int(quadratic_form([[1, 2], [2, 1]], [1, -1]))
    -2
    """
    return sum(
        (
            Fraction(a) * Fraction(x[i]) * Fraction(x[j])
            for i, row in enumerate(A)
            for j, a in enumerate(row)
        ),
        Fraction(0),
    )


def solve(A: Matrix, b: Vector) -> list[Fraction]:
    """The exact solution of `A x = b` for a regular A, by elimination.

    >>> [str(value) for value in solve([[3, -2], [1, 1]], [1, 2])]
    ['1', '1']
    """
    rows = [[Fraction(value) for value in (*row, right)] for row, right in zip(A, b, strict=True)]
    for k in range(len(rows)):
        pivot = next(i for i in range(k, len(rows)) if rows[i][k] != 0)
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [value / rows[k][k] for value in rows[k]]
        for i in range(len(rows)):
            if i != k:
                factor = rows[i][k]
                rows[i] = [a - factor * p for a, p in zip(rows[i], rows[k], strict=True)]
    return [row[-1] for row in rows]


def pivots(A: Matrix) -> list[Fraction]:
    """Pivots of symmetric elimination; all are positive exactly for a positive definite matrix.

    Stops after the first pivot that is not positive.

    >>> [str(value) for value in pivots([[4, 2], [2, 5]])]
    ['4', '4']
    """
    rows = [[Fraction(value) for value in row] for row in A]
    found: list[Fraction] = []
    for k in range(len(rows)):
        found.append(rows[k][k])
        if rows[k][k] <= 0:
            break
        for i in range(k + 1, len(rows)):
            factor = rows[i][k] / rows[k][k]
            rows[i] = [a - factor * p for a, p in zip(rows[i], rows[k], strict=True)]
    return found
