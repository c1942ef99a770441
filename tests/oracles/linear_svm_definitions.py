"""Linear machines and Pegasos as the definitions have them, term by term.

Nothing here is fast or robust; the library's solvers are tested against these. Rows carry their
constant cell as a column of their own, and `side` is -1 or 1.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from novum.numerics import Floats

# --- Objectives -----------------------------------------------------------------------------------


def hinge_objective(
    Z: Floats, side: Floats, weight: Floats, u: Floats, *, squared: bool = False
) -> float:
    """`|u|^2 / 2 + sum_i c_i max(0, 1 - s_i z_i'u)`, or with the square.

    >>> hinge_objective(np.array([[2.0]]), np.array([1.0]), np.array([3.0]), np.array([0.25]))
    1.53125
    """
    total = 0.0
    for z, s, c in zip(Z, side, weight, strict=True):
        loss = max(0.0, 1.0 - s * float(z @ u))
        total += c * (loss**2 if squared else loss)
    return float(u @ u / 2 + total)


def lasso_objective(Z: Floats, side: Floats, weight: Floats, u: Floats) -> float:
    """`|u|_1 + sum_i c_i max(0, 1 - s_i z_i'u)^2`."""
    losses = hinge_objective(Z, side, weight, u, squared=True) - float(u @ u) / 2
    return float(np.abs(u).sum()) + losses


def tube_objective(
    Z: Floats, y: Floats, weight: Floats, u: Floats, epsilon: float, *, squared: bool = False
) -> float:
    """`|u|^2 / 2 + sum_i c_i max(0, |y_i - z_i'u| - epsilon)`, or with the square."""
    total = 0.0
    for z, target, c in zip(Z, y, weight, strict=True):
        loss = max(0.0, abs(target - float(z @ u)) - epsilon)
        total += c * (loss**2 if squared else loss)
    return float(u @ u / 2 + total)


def multiclass_objective(Z: Floats, codes: Sequence[int], weight: Floats, W: Floats) -> float:
    """`|W|^2 / 2 + sum_i c_i max over m of (1[m != y_i] + z_i'w_m - z_i'w_y)`, W (width, K)."""
    total = 0.0
    for z, y, c in zip(Z, codes, weight, strict=True):
        scores = z @ W
        total += c * max(float(m != y) + float(scores[m] - scores[y]) for m in range(W.shape[1]))
    return float((W**2).sum()) / 2 + total


# --- Solvers --------------------------------------------------------------------------------------


def dual_coordinate_descent(
    Z: Floats, side: Floats, weight: Floats, *, squared: bool = False, passes: int = 1000
) -> Floats:
    """The vector `u = sum_i a_i s_i z_i` after passes over the rows in turn (Hsieh et al. 2008)."""
    n, width = Z.shape
    a, u = np.zeros(n), np.zeros(width)
    for _ in range(passes):
        for i in range(n):
            ridge = 1 / (2 * weight[i]) if squared else 0.0
            most = np.inf if squared else weight[i]
            curvature = float(Z[i] @ Z[i]) + ridge
            if curvature == 0:
                continue
            gradient = side[i] * float(Z[i] @ u) - 1 + ridge * a[i]
            new = min(max(a[i] - gradient / curvature, 0.0), most)
            u += (new - a[i]) * side[i] * Z[i]
            a[i] = new
    return u


def pegasos(Z: Floats, side: Floats, penalty: float, draws: Sequence[int]) -> Floats:
    """Weights after one step for each draw, each over one row, without projection."""
    w = np.zeros(Z.shape[1])
    for t, i in enumerate(draws, start=1):
        wrong = side[i] * float(Z[i] @ w) < 1
        w = (1 - 1 / t) * w
        if wrong:
            w = w + side[i] * Z[i] / (penalty * t)
    return w


def kernel_pegasos(K: Floats, side: Floats, penalty: float, draws: Sequence[int]) -> Floats:
    """Coefficients `shares_i s_i / (lambda t)` after one step for each draw."""
    shares = np.zeros(len(K))
    for t, i in enumerate(draws, start=1):
        # Before the first step the function is zero, and so is its margin.
        value = float((shares * side) @ K[:, i]) / (penalty * (t - 1)) if t > 1 else 0.0
        if side[i] * value < 1:
            shares[i] += 1
    return shares * side / (penalty * len(draws))
