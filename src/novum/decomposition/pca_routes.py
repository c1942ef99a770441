"""Three routes to the principal axes of a table in memory, and the rule that chooses one.

- *sums*: eigenvectors of the d x d scatter S (or the SVD of its triangular factor). One pass over
  the rows; right where there are more rows than columns.
- *gram*: with `G = A A'` of the centered rows, n x n, and `G v = s v`, the axis is
  `u = A'v / sqrt(s)`: the same eigenvalues at the price of n^2 d operations instead of n d^2.
  Exact; right where there are fewer rows than columns.
- *krylov*: a few leading pairs of a table that is large both ways, by products with the rows only
  (`krylov`), each pair with its residual.

Costs in operations, with `r = min(n, d)` and k components: `n d r + 5 r^3` for an exact route,
`4 n d (k + extra)` for every product of the iteration. The iteration is tried where a dozen of its
products cost less than the exact route, and given up when they have cost as much.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import linalg

from novum.core.errors import InputError
from novum.core.runtime import check_memory, long_call
from novum.core.sums import sum_blocks
from novum.core.tables import Sample
from novum.decomposition.centered_rows import CenteredRows
from novum.decomposition.component_statistics import ComponentStatistics
from novum.decomposition.spectrum import Spectrum, rounding, settled, spectrum_of
from novum.numerics import Floats, eigenpairs

# Up to this many columns sums are cheap enough to be kept beside any fit.
SUMS_WIDTH = 1024

# Rows or columns, whichever are fewer, from which on the iteration may pay.
_LARGE = 2000

# Products of the iteration that an ordinary spectrum takes.
_USUAL_PRODUCTS = 12

# Residual, as a share of the largest value, that an iteration without `tol` goes to.
_TOL = 1e-10

# Products of axes that are closer to 0 and 1 than this are left as they are.
_ORTHOGONAL = 1e-13


@dataclass(frozen=True)
class Iteration:
    """Settings of the iterative route: extra vectors, tolerance and most products."""

    extra: int = 10
    tol: float = 0.0
    max_products: int = 300
    seed: int = 0

    @property
    def residual(self) -> float:
        return max(self.tol, _TOL)


def chosen_route(n: int, d: int, count: int | None, solver: str, is_sparse: bool) -> str:
    """`"sums"`, `"gram"` or `"krylov"`, by size and solver only.

    Parameters
    ----------
    n, d : int
        Rows and columns.
    count : int or None
        Components; None where the whole spectrum is needed.
    solver : str
        scikit-learn's name.
    is_sparse : bool

    Examples
    --------
    >>> chosen_route(200_000, 50, 10, "auto", False), chosen_route(500, 20_000, 20, "auto", False)
    ('sums', 'gram')
    >>> chosen_route(30_000, 30_000, 20, "auto", False)
    'krylov'
    """
    if solver in ("arpack", "randomized"):
        return "krylov"
    if solver in ("full", "covariance_eigh"):
        return "sums"
    smaller = min(n, d)
    if count and smaller >= _LARGE:
        exact = n * d * smaller + 5 * smaller**3
        # Products with a sparse table cost its entries only, so there it pays sooner.
        factor = 0.1 if is_sparse else 1.0
        if factor * _USUAL_PRODUCTS * 4 * n * d * (count + 10) < exact:
            return "krylov"
    # Below a few hundred columns the scatter is as quick, and can be kept.
    return "gram" if n < d and d > 256 else "sums"


def exact_budget(n: int, d: int, width: int) -> int:
    """Products of the iteration that cost as much as the exact route."""
    smaller = min(n, d)
    return max(_USUAL_PRODUCTS, int((n * d * smaller + 5 * smaller**3) / (4 * n * d * width)))


def gram_spectrum(sample: Sample, count: int | None) -> Spectrum:
    """The spectrum by the Gram matrix of the centered rows; `count` pairs and one more, or all."""
    n = sample.n_rows
    check_memory(
        5 * 8 * n * n,
        f"The Gram matrix of {n} rows",
        "Choose svd_solver='covariance_eigh', or fewer components of svd_solver='randomized'.",
    )
    rows = CenteredRows(sample)
    G = rows.gram()
    few = None if count is None or count + 1 >= n // 4 else count + 1
    values, vectors = long_call(
        lambda: np.linalg.eigh(G) if few is None else eigenpairs(G, n - few, n - 1),
        5.0 * n**3,
        f"eigenvalues of {n} rows",
    )
    residual = float(np.linalg.norm(G @ vectors - vectors * values))
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    values, axes = _axes(rows, values, vectors)
    spectrum = Spectrum(
        rows.mean,
        values,
        axes,
        float(np.trace(G)),
        rows.weight,
        float(n),
        residual,
        "gram matrix",
    )
    return settled(spectrum, count, rounding(n))


def _axes(rows: CenteredRows, values: Floats, vectors: Floats) -> tuple[Floats, Floats]:
    """`u = A'v / sqrt(s)` of the vectors of the rows that have spread."""
    floor = rounding(len(vectors)) * max(float(values[0]), 0.0)
    known = min(int(np.count_nonzero(values > floor)), rows.n_columns)
    axes = rows.transposed_times(np.ascontiguousarray(vectors[:, :known])).T
    if known:
        axes = axes / np.sqrt(values[:known])[:, None]
        # Division by a small root enlarges rounding: the weakest axes are made orthogonal again.
        if np.abs(axes @ axes.T - np.eye(known)).max() > _ORTHOGONAL:
            Q, R = linalg.qr(axes.T, mode="economic", check_finite=False)
            axes = (Q * np.sign(np.diagonal(R))).T
    return values[:known], np.ascontiguousarray(axes)


def exact_spectrum(sample: Sample, count: int | None = None) -> Spectrum:
    """The spectrum of rows in memory by the cheaper exact route."""
    n, d = sample.numeric.shape
    if chosen_route(n, d, None, "auto", sample.is_sparse) == "gram":
        return gram_spectrum(sample, count)
    statistics = sum_blocks(partial(ComponentStatistics.of, as_factor=False), sample)
    return spectrum_of(statistics, count)


def krylov_spectrum(sample: Sample, count: int, iteration: Iteration) -> Spectrum:
    """The `count` leading pairs by products with the rows."""
    n, d = sample.numeric.shape
    if not 1 <= count <= min(n, d):
        raise InputError(
            f"n_components={count} must be between 1 and min(n_samples, n_features)={min(n, d)} "
            "for an iterative solver. Choose another number, or svd_solver='full'."
        )
    rows = CenteredRows(sample)

    def of_columns(V: Floats) -> Floats:
        return rows.transposed_times(rows.times(V))

    def of_rows(U: Floats) -> Floats:
        return rows.times(rows.transposed_times(U))

    spectrum = leading_pairs(
        of_columns if d <= n else of_rows,
        min(n, d),
        count,
        rng=np.random.default_rng(iteration.seed),
        extra=iteration.extra,
        tol=iteration.residual,
        max_products=iteration.max_products,
    )
    values = np.maximum(spectrum.values, 0.0)
    if d <= n:
        axes = np.ascontiguousarray(spectrum.vectors.T)
    else:
        values, axes = _axes(rows, values, spectrum.vectors)
    pairs = Spectrum(
        rows.mean,
        values,
        axes,
        rows.total,
        rows.weight,
        float(n),
        float(np.linalg.norm(spectrum.residuals)),
        "randomised Krylov space",
        spectrum.converged,
        spectrum.products,
    )
    # One pair less, because no further one was asked for.
    return settled(pairs, count - 1, rounding(min(n, d)))


# --- Iteration ------------------------------------------------------------------------------------
#
# A few leading pairs of a large symmetric operator by a randomised block Krylov iteration.
#
# From a random block Q the space of Q, B Q, B^2 Q, ... is built, with every block made orthogonal
# to all before it. The best vectors of that space (Rayleigh-Ritz) are the leading eigenvectors of B
# as soon as their residuals vanish,
#
#     |B v - t v| <= tol t_1,
#
# which is checked after every block: a bound on the error of each value, not a number of steps
# taken on trust. When the space grows too wide, it starts again from its best vectors and the last
# block. A random start misses a leading direction with probability zero.
#
# Musco and Musco, "Randomized block Krylov methods for stronger and faster approximate singular
# value decomposition", 2015. Halko, Martinsson and Tropp, "Finding structure with randomness",
# 2011.


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
