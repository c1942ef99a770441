"""Eigenvalues of a symmetric matrix by power iteration, one after another, with error bounds.

The Rayleigh quotient `x'Ax / x'x` is largest at the first eigenvector. Multiplying by A turns a
vector towards the eigenvector of the largest absolute eigenvalue. Each step takes the best vector
of the plane of `v` and `Av` (Rayleigh-Ritz): that includes the plain power step, and it separates
eigenvalues of equal size and opposite sign, +1 and -1, between which plain iteration swings
forever. Found vectors are projected out of every later step, which works for eigenvalues of any
sign and for zero.

For a unit vector v and any number t there is an eigenvalue with

    |t - lambda| <= |A v - t v|,

so the residual of each pair is a proved bound for its value.

References
----------
Parlett, "The symmetric eigenvalue problem", 1998, theorem 4.5.1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from novum.numerics.definiteness import checked_symmetric
from novum.numerics.linear_algebra import EPSILON, power_of_two
from novum.numerics.types import Floats, Integers, Mask


@dataclass(frozen=True, eq=False)
class EigenPairs:
    """Eigenvalues and vectors in the order found: by falling absolute value.

    Parameters
    ----------
    values : array (k,)
    vectors : array (n, k)
        Orthonormal columns.
    residuals : array (k,)
        `|A v - value v|`: some eigenvalue of A is within this distance of the value, up to the
        rounding of the residual itself, about `n eps |A|`.
    iterations : array (k,) of int
    converged : array (k,) of bool
        Whether the residual fell to `tol` times the size of the matrix.
    """

    values: Floats
    vectors: Floats
    residuals: Floats
    iterations: Integers
    converged: Mask


def rayleigh_quotient(A: ArrayLike, x: ArrayLike) -> float:
    """`x'Ax / x'x`, between the smallest and the largest eigenvalue.

    >>> rayleigh_quotient([[2, 1], [1, 2]], [1, 1])
    3.0
    """
    matrix = checked_symmetric(A)
    vector = np.asarray(x, float)
    if vector.shape != (len(matrix),) or not np.all(np.isfinite(vector)):
        raise ValueError(
            f"A matrix of shape {matrix.shape} needs a vector of {len(matrix)} finite numbers, "
            f"got shape {vector.shape}."
        )
    size = np.abs(vector).max()
    if size == 0:
        raise ValueError("The Rayleigh quotient of the zero vector does not exist.")
    vector = vector / power_of_two(size)
    unit = float(power_of_two(np.abs(matrix).max()))
    return float(vector @ (matrix / unit) @ vector / (vector @ vector)) * unit


def power_iteration(
    A: ArrayLike,
    n_pairs: int | None = None,
    *,
    tol: float = 1e-10,
    max_iter: int = 10_000,
    random_state: int = 0,
) -> EigenPairs:
    """The `n_pairs` eigenvalues of largest absolute value, with vectors and bounds.

    Parameters
    ----------
    A : array (n, n)
        Symmetric.
    n_pairs : int, optional
        All by default.
    tol : float
        A pair has converged when its residual is at most `tol` times the largest absolute row sum;
        not taken below what rounding allows.
    max_iter : int
        Steps for each pair. Pairs that need more are returned with `converged` false and the bound
        they reached.
    random_state : int
        Seed of the starting vectors.

    Notes
    -----
    Each step costs `2 n^2` operations. The error of the vector falls by about
    `|lambda_2 / lambda_1|` in every step, faster when both have the same sign.

    Examples
    --------
    >>> pairs = power_iteration([[0, 1], [1, 0]])
    >>> sorted(pairs.values.round(9).tolist()), pairs.converged.tolist()
    ([-1.0, 1.0], [True, True])
    """
    matrix = checked_symmetric(A)
    n = len(matrix)
    count = _checked_count(n_pairs, n)
    # A power of two: the scaled matrix has the same digits and cannot overflow.
    unit = float(power_of_two(np.abs(matrix).max()))
    scaled = matrix / unit
    goal = max(tol, 8 * n * EPSILON) * float(np.abs(scaled).sum(axis=1).max())
    rng = np.random.default_rng(random_state)
    vectors = np.zeros((n, count))
    values, residuals = np.zeros(count), np.zeros(count)
    iterations = np.zeros(count, np.int64)
    for k in range(count):
        leading = vectors[:, :k]
        start = _unit(_without(rng.standard_normal(n), leading))
        values[k], vectors[:, k], residuals[k], iterations[k] = _dominant_pair(
            scaled, leading, start, goal, max_iter
        )
    return EigenPairs(values * unit, vectors, residuals * unit, iterations, residuals <= goal)


def _dominant_pair(
    A: Floats, basis: Floats, v: Floats, goal: float, max_iter: int
) -> tuple[float, Floats, float, int]:
    """Largest pair of A outside the span of `basis`: value, vector, residual, steps."""
    for step in range(1, max_iter + 1):
        image = A @ v
        value = float(v @ image)
        residual = float(np.linalg.norm(image - value * v))
        if residual <= goal or step == max_iter:
            break
        v = _best_of_plane(A, v, _without(image - value * v, basis), value)
        v = _unit(_without(v, basis))
    return value, v, residual, step


def _best_of_plane(A: Floats, v: Floats, across: Floats, value: float) -> Floats:
    """The vector of largest absolute Rayleigh quotient in the plane of `v` and `across`."""
    length = np.linalg.norm(across)
    if length == 0:
        return v
    u = across / length
    u = u - (u @ v) * v
    u /= np.linalg.norm(u)
    coupling, other = float(u @ (A @ v)), float(u @ (A @ u))
    ritz, rotation = np.linalg.eigh(np.array([[value, coupling], [coupling, other]]))
    best = rotation[:, int(np.abs(ritz[1]) >= np.abs(ritz[0]))]
    return best[0] * v + best[1] * u


def _without(vector: Floats, basis: Floats) -> Floats:
    # Twice is enough (Kahan and Parlett): the second pass removes what the first rounded in.
    for _ in range(2):
        vector = vector - basis @ (basis.T @ vector)
    return vector


def _unit(vector: Floats) -> Floats:
    return vector / np.linalg.norm(vector)


def _checked_count(n_pairs: int | None, n: int) -> int:
    count = n if n_pairs is None else int(n_pairs)
    if not 1 <= count <= n:
        raise ValueError(f"A matrix of size {n} has 1 to {n} eigenpairs, {n_pairs} were asked for.")
    return count
