"""Logistic regression by its definition, in as many digits as wanted.

Used by the tests and by anyone who wants to audit a fit. Exponentials and logarithms are those of
`decimal`, the minimum is found by Newton's method on every class's own coefficients,

    F(W) = sum_i w_i (log sum_l exp(W_l'z_i) - W_y'z_i) + (penalty / 2) |W_x|^2 + |sum_k W_k|^2 / 2,

whose last term removes the redundancy: it is zero at the optimum, where the `W_k` sum to zero. For
two classes the one vector of the difference is penalized, as in scikit-learn.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, localcontext

Row = Sequence[float]
Number = Decimal
Matrix = list[list[Number]]


def exact_logistic(
    X: Sequence[Row],
    codes: Sequence[int],
    weights: Row | None = None,
    *,
    n_classes: int = 2,
    penalty: float = 0.0,
    intercept: bool = True,
    digits: int = 40,
) -> tuple[Matrix, Number]:
    """Coefficients (1 or K rows, the intercept last) and the least objective.

    Examples
    --------
    Two classes and no columns: the intercept is the log-odds.

    >>> W, value = exact_logistic([[], [], []], [0, 1, 1])
    >>> round(float(W[0][0]), 12), round(float(value), 12)
    (0.69314718056, 1.909542504884)
    """
    with localcontext() as context:
        context.prec = digits
        Z = [[Decimal(float(cell)) for cell in row] + [Decimal(1)] * intercept for row in X]
        w = [Decimal(float(v)) for v in (weights if weights is not None else [1.0] * len(Z))]
        m, p = 1 if n_classes == 2 else n_classes, len(Z[0])
        size = [Decimal(penalty)] * (p - intercept) + [Decimal(0)] * intercept
        W = [[Decimal(0)] * p for _ in range(m)]
        value, gradient, hessian = _derivatives(Z, codes, w, W, size)
        for _ in range(100):
            step = _solve(hessian, gradient)
            for halvings in range(60):
                t = Decimal(2) ** -halvings
                moved = [[W[k][j] - t * step[k * p + j] for j in range(p)] for k in range(m)]
                new = _derivatives(Z, codes, w, moved, size)
                if new[0] <= value:
                    break
            W, (value, gradient, hessian) = moved, new
            # Digits double in every step: a step of half of them was the last that mattered.
            units = [max(abs(row[j]) for row in W) or Decimal(1) for j in range(p)]
            small = Decimal(10) ** (-digits // 2)
            if all(abs(s) <= small * units[i % p] for i, s in enumerate(step)):
                break
        return W, value


def _derivatives(
    Z: Matrix, codes: Sequence[int], w: list[Number], W: Matrix, size: list[Number]
) -> tuple[Number, list[Number], Matrix]:
    m, p = len(W), len(size)
    total, gradient = Decimal(0), [Decimal(0)] * (m * p)
    hessian = [[Decimal(0)] * (m * p) for _ in range(m * p)]
    for z, y, weight in zip(Z, codes, w, strict=True):
        scores = [sum((a * b for a, b in zip(v, z, strict=True)), Decimal(0)) for v in W]
        whole = [Decimal(0), *scores] if m == 1 else scores
        powers = [s.exp() for s in whole]
        norm = sum(powers, Decimal(0))
        share = [e / norm for e in powers]
        total += weight * (norm.ln() - whole[y])
        shown = share[1:] if m == 1 else share
        own = [y == 1] if m == 1 else [k == y for k in range(m)]
        for k in range(m):
            for j in range(p):
                gradient[k * p + j] += weight * (shown[k] - own[k]) * z[j]
                for other in range(m):
                    h = weight * shown[k] * ((k == other) - shown[other]) * z[j]
                    for i in range(p):
                        hessian[k * p + j][other * p + i] += h * z[i]
    for j in range(p):
        column = sum((W[k][j] for k in range(m)), Decimal(0)) if m > 1 else Decimal(0)
        total += column**2 / 2
        for k in range(m):
            total += size[j] * W[k][j] ** 2 / 2
            gradient[k * p + j] += size[j] * W[k][j] + column
            hessian[k * p + j][k * p + j] += size[j]
            for other in range(m if m > 1 else 0):
                hessian[k * p + j][other * p + j] += 1
    return total, gradient, hessian


def _solve(A: Matrix, b: list[Number]) -> list[Number]:
    """Gaussian elimination with pivots."""
    n = len(b)
    rows = [[*row, value] for row, value in zip(A, b, strict=True)]
    for i in range(n):
        pivot = max(range(i, n), key=lambda r: abs(rows[r][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for r in range(i + 1, n):
            factor = rows[r][i] / rows[i][i]
            rows[r] = [a - factor * c for a, c in zip(rows[r], rows[i], strict=True)]
    x = [Decimal(0)] * n
    for i in reversed(range(n)):
        known = sum((rows[i][j] * x[j] for j in range(i + 1, n)), Decimal(0))
        x[i] = (rows[i][n] - known) / rows[i][i]
    return x
