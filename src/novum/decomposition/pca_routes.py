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

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from novum.core.engine import sum_blocks
from novum.core.errors import InputError
from novum.core.interrupts import long_call
from novum.core.memory import check_memory
from novum.core.validation import Sample
from novum.decomposition.centered_rows import CenteredRows
from novum.decomposition.component_statistics import ComponentStatistics
from novum.decomposition.krylov import leading_pairs
from novum.decomposition.spectrum import Spectrum, rounding, settled, spectrum_of
from novum.numerics.lapack import eigenpairs

Floats = NDArray[np.float64]

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
    found = Spectrum(
        rows.mean,
        values,
        axes,
        float(np.trace(G)),
        rows.weight,
        float(n),
        residual,
        "gram matrix",
    )
    return settled(found, count, rounding(n))


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

    found = leading_pairs(
        of_columns if d <= n else of_rows,
        min(n, d),
        count,
        rng=np.random.default_rng(iteration.seed),
        extra=iteration.extra,
        tol=iteration.residual,
        max_products=iteration.max_products,
    )
    values = np.maximum(found.values, 0.0)
    if d <= n:
        axes = np.ascontiguousarray(found.vectors.T)
    else:
        values, axes = _axes(rows, values, found.vectors)
    pairs = Spectrum(
        rows.mean,
        values,
        axes,
        rows.total,
        rows.weight,
        float(n),
        float(np.linalg.norm(found.residuals)),
        "randomised Krylov space",
        found.converged,
        found.products,
    )
    # One pair less, because no further one was asked for.
    return settled(pairs, count - 1, rounding(min(n, d)))
