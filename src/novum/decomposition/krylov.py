"""A few leading pairs of a large symmetric operator by a randomised block Krylov iteration.

From a random block Q the space of Q, B Q, B^2 Q, ... is built, with every block made orthogonal to
all before it. The best vectors of that space (Rayleigh-Ritz) are the leading eigenvectors of B as
soon as their residuals vanish,

    |B v - t v| <= tol t_1,

which is checked after every block: a bound on the error of each value, not a number of steps taken
on trust. When the space grows too wide, it starts again from its best vectors and the last block.
A random start misses a leading direction with probability zero.

References
----------
Musco and Musco, "Randomized block Krylov methods for stronger and faster approximate singular value
decomposition", 2015. Halko, Martinsson and Tropp, "Finding structure with randomness", 2011.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

Floats = NDArray[np.float64]

# Blocks in the space before it starts again from its best vectors.
_BLOCKS = 8

# Directions with less than this share of a block's length outside the space are already in it.
_NOTHING = 1e-10


@dataclass(frozen=True, eq=False)
class LeadingPairs:
    """Eigenvalues (k,), falling, orthonormal vectors (n, k), and what is known of them.

    `residuals` (k,) are `|B v - t v|`; `products` counts applications of the operator to a block.
    """

    values: Floats
    vectors: Floats
    residuals: Floats
    products: int
    converged: bool


def leading_pairs(
    apply: Callable[[Floats], Floats],
    size: int,
    count: int,
    *,
    rng: np.random.Generator,
    extra: int = 10,
    tol: float = 1e-10,
    max_products: int = 300,
) -> LeadingPairs:
    """The `count` largest eigenvalues of a positive semidefinite operator with their vectors.

    Parameters
    ----------
    apply : callable
        `B V` of a matrix (size, b).
    size : int
    count : int
    rng : Generator
        Draws the first block.
    extra : int
        Vectors of a block beyond `count`.
    tol : float
        Largest residual, as a share of the largest value.
    max_products : int
        Blocks multiplied before giving up.

    Examples
    --------
    >>> B = np.diag([5.0, 3.0, 1.0, 0.5])
    >>> found = leading_pairs(lambda V: B @ V, 4, 2, rng=np.random.default_rng(0), extra=1)
    >>> found.values.round(9).tolist(), found.converged
    ([5.0, 3.0], True)
    """
    width = min(size, count + extra)
    block = linalg.qr(rng.standard_normal((size, width)), mode="economic")[0]
    space, images = np.empty((size, 0)), np.empty((size, 0))
    for products in range(1, max_products + 1):
        image = apply(block)
        space, images = np.hstack([space, block]), np.hstack([images, image])
        H = space.T @ images
        values, rotation = linalg.eigh((H + H.T) / 2, check_finite=False)
        values, rotation = values[::-1], rotation[:, ::-1]
        chosen = rotation[:, :count]
        vectors = space @ chosen
        residuals = np.linalg.norm(images @ chosen - vectors * values[:count], axis=0)
        converged = bool(residuals.max(initial=0.0) <= tol * max(float(values[0]), 0.0))
        block = _outside(image, space)
        if converged or not block.shape[1] or products == max_products:
            break
        if space.shape[1] + block.shape[1] > max(_BLOCKS * width, 3 * width):
            kept = rotation[:, :width]
            space, images = space @ kept, images @ kept
    if not block.shape[1]:
        # A space that nothing leads out of holds its eigenvectors, up to what counts as nothing.
        limit = max(tol, 10 * _NOTHING) * max(float(values[0]), 0.0)
        converged = bool(residuals.max(initial=0.0) <= limit)
    return LeadingPairs(values[:count], vectors, residuals, products, converged)


def _outside(image: Floats, space: Floats) -> Floats:
    """An orthonormal basis of what a block has outside a space; without columns if nothing."""
    size = float(np.linalg.norm(image, axis=0).max(initial=0.0))
    rest = image
    for _ in range(2):
        rest = rest - space @ (space.T @ rest)
    room = space.shape[0] - space.shape[1]
    if size == 0 or room <= 0:
        return rest[:, :0]
    Q, R, _ = linalg.qr(rest, mode="economic", pivoting=True, check_finite=False)
    kept = min(int(np.count_nonzero(np.abs(np.diagonal(R)) > _NOTHING * size)), room)
    Q = Q[:, :kept]
    return linalg.qr(Q - space @ (space.T @ Q), mode="economic", check_finite=False)[0]
