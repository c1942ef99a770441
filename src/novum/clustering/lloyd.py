"""Lloyd's algorithm as sums: rows go to their nearest center, centers to the mean of their rows.

    f(c) = sum_i w_i min_k |x_i - c_k|^2

Both steps can only lower f, so it falls until nothing changes. Over missing cells the distance is
partial, `(p / p_i) sum over known j of (x_ij - c_kj)^2` with p_i of p cells known, and the center
that minimizes the sum is the mean of known cells, weighted by p / p_i: the same two steps.

Rows in memory are passed over with Hamerly's bounds (`BoundedRows`), which give the same labels as
all distances would; chunks of streams and files are summed plainly (`LloydProblem.step`), and so
are sparse rows, which stay sparse (`sparse_lloyd`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from novum.clustering.sparse_lloyd import nearest_of_sparse, sums_of_sparse
from novum.core.runtime import Pacer, time_sliced
from novum.core.sums import Additive, SumProblem
from novum.core.tables import Sample
from novum.numerics import Array, Codes, Floats, as_argument


@dataclass(frozen=True, eq=False)
class Centers:
    """Centers of clusters, an array (k, p)."""

    points: Floats


@dataclass(frozen=True, eq=False)
class FarthestRows:
    """The rows farthest from their centers, where a cluster without rows can start again."""

    rows: Floats
    squares: Floats
    most: int

    def __add__(self, other: FarthestRows) -> FarthestRows:
        rows = np.concatenate([self.rows, other.rows])
        return self.of(rows, np.concatenate([self.squares, other.squares]), self.most)

    @classmethod
    def of(cls, rows: Floats, squares: Floats, most: int) -> FarthestRows:
        """The farthest different rows; of equally far ones the smaller by its cells."""
        beyond = min(2 * most, len(squares))
        far = np.argpartition(-squares, beyond - 1)[:beyond] if beyond else np.empty(0, np.intp)
        far = far[squares[far] > 0]
        points, places = np.unique(np.nan_to_num(rows[far]), axis=0, return_index=True)
        far = far[places[np.argsort(-squares[far[places]], kind="stable")]][:most]
        del points
        return cls(rows[far], squares[far], most)


@dataclass(frozen=True, eq=False)
class LloydSums(Additive):
    """What one pass over rows says of some centers.

    Attributes
    ----------
    counts : array (k,)
        Weight of the rows of each cluster.
    cells : array (k, p) or (k, 1)
        Weights of their known cells.
    sums : array (k, p)
        Weighted sums of cells less the origin.
    inertia : float
    farthest : FarthestRows
        Empty where no cluster is.
    """

    counts: Floats
    cells: Floats
    sums: Floats
    inertia: float
    farthest: FarthestRows


class LloydProblem(SumProblem[Centers, LloydSums]):
    """Minimizes the sum of squared distances to k centers.

    Parameters
    ----------
    begin : callable from a random generator to an array (k, p)
        The first centers.
    origin : array (p,)
        Sums are of cells less this, about the mean of the table, so that no digits are lost.
    variance : float
        Mean variance of the columns, the unit of `residual`.
    is_complete : bool
        Whether no cell of any chunk is missing.
    """

    objective_name = "sum of squared distances to the nearest center"
    direction: ClassVar[Any] = "minimize"

    def __init__(
        self,
        begin: Callable[[np.random.Generator], Floats],
        origin: Floats,
        variance: float,
        is_complete: bool,
    ) -> None:
        self.begin, self.origin, self.variance = begin, origin, variance
        self.is_complete = is_complete

    def start(self, rng: np.random.Generator, /) -> Centers:
        return Centers(as_argument(self.begin(rng)))

    def step(self, params: Centers, chunk: Sample, /) -> LloydSums:
        from novum.clustering import lloyd_kernels as kernels

        weights, (k, p) = as_argument(chunk.weights), params.points.shape
        X = chunk.numeric if chunk.is_sparse else as_argument(chunk.numeric)
        labels, squares = nearest_centers(X, params.points, self.is_complete)
        if chunk.is_sparse:
            counts, sums = sums_of_sparse(X, weights, labels, k)
            sums -= np.outer(counts, self.origin)
            far = _far(X, squares, counts)
            return LloydSums(counts, counts[:, np.newaxis], sums, float(weights @ squares), far)
        counts, sums = np.zeros(k), np.zeros((k, p))
        if self.is_complete:
            kernels.add_rows(X, weights, self.origin, labels, counts, sums)
            cells = counts[:, np.newaxis]
        else:
            cells = np.zeros((k, p))
            kernels.add_cells(X, weights, self.origin, labels, counts, cells, sums)
        return LloydSums(counts, cells, sums, float(weights @ squares), _far(X, squares, counts))

    def objective(self, params: Centers, statistics: LloydSums, /) -> float:  # noqa: ARG002
        return max(statistics.inertia, 0.0)

    def scale(self, params: Centers, statistics: LloydSums, /) -> float:  # noqa: ARG002
        """The spread of all rows: sums are rounded in its units."""
        return self.variance * len(self.origin) * float(statistics.counts.sum())

    def update(self, params: Centers, statistics: LloydSums, /) -> Centers:
        cells = np.broadcast_to(statistics.cells, statistics.sums.shape)
        known = cells > 0
        means = self.origin + statistics.sums / np.where(known, cells, 1.0)
        points = np.where(known, means, params.points)
        empty = np.flatnonzero(statistics.counts == 0)
        far = statistics.farthest.rows[: len(empty)]
        # What a far row does not know stays as it is.
        for j, row in zip(empty, far, strict=False):
            points[j] = np.where(np.isnan(row), points[j], row)
        return Centers(np.ascontiguousarray(points))

    def residual(self, params: Centers, statistics: LloydSums, /) -> float:
        """Squared way of all centers to the means of their rows, over the mean variance."""
        if not self.variance > 0:
            return 0.0
        way = self.update(params, statistics).points - params.points
        return float((way**2).sum()) / self.variance


def _far(X: Any, squares: Floats, counts: Floats) -> FarthestRows:
    k = len(counts)
    if counts.all():
        return FarthestRows(np.empty((0, X.shape[1])), squares[:0], k)
    if sparse.issparse(X):
        beyond = np.argsort(-squares, kind="stable")[: 2 * k]
        X, squares = X[beyond].toarray(), squares[beyond]
    return FarthestRows.of(X, squares, k)


def nearest_centers(X: Any, centers: Floats, is_complete: bool = True) -> tuple[Codes, Floats]:
    """The nearest center of every row and the squared distance to it, interruptibly.

    Examples
    --------
    >>> nearest_centers(np.array([[0.0], [4.0], [5.0]]), np.array([[1.0], [5.0]]))
    (array([0, 1, 1], dtype=int32), array([1., 1., 0.]))
    """
    from novum.clustering import lloyd_kernels as kernels

    if sparse.issparse(X):
        return nearest_of_sparse(X, centers)
    labels, squares = np.empty(len(X), np.int32), np.empty(len(X))
    turned = np.ascontiguousarray(centers.T)
    find = kernels.assign if is_complete else kernels.assign_partially
    for start, stop in time_sliced(len(X), block=4096):
        find(X[start:stop], turned, labels[start:stop], squares[start:stop])
    return labels, squares


def unit_of(square: float) -> float:
    """About the root of a mean square, as a power of two, which rounds nothing.

    Examples
    --------
    >>> unit_of(15.0), unit_of(0.0)
    (4.0, 1.0)
    """
    if not 0 < square < np.inf:
        return 1.0
    return float(2.0 ** round(np.log2(square) / 2))


def coarse_rows(X: Floats, origin: Floats, unit: float) -> tuple[Array, Floats]:
    """Moved and scaled rows in single precision, to whole fours of columns, and their lengths.

    Examples
    --------
    >>> coarse_rows(np.array([[3.0, 4.0]]), np.zeros(2), 2.0)
    (array([[1.5, 2. , 0. , 0. ]], dtype=float32), array([2.5]))
    """
    from novum.clustering import lloyd_kernels as kernels

    (n, p), lengths = X.shape, np.empty(len(X))
    coarse = np.zeros((n, p + -p % kernels.FOUR), np.float32)
    for start, stop in time_sliced(n, block=4096):
        kernels.fill_coarse(X[start:stop], origin, unit, coarse[start:stop], lengths[start:stop])
    return coarse, lengths


def coarse_centers(points: Floats, origin: Floats, unit: float) -> tuple[Array, float, float]:
    """Centers for `lloyd_kernels.two_least`, the length of the longest, and the unit.

    Examples
    --------
    >>> coarse_centers(np.array([[0.0], [4.0]]), np.array([2.0]), 1.0)[0]
    array([[-2.,  0.,  0.,  0.,  2.],
           [ 2.,  0.,  0.,  0.,  2.],
           [ 0.,  0.,  0.,  0., inf],
           [ 0.,  0.,  0.,  0., inf]], dtype=float32)
    """
    from novum.clustering.lloyd_kernels import FOUR

    k, p = points.shape
    with np.errstate(over="ignore", invalid="ignore"):
        moved = (points - origin) / unit
        squares = (moved**2).sum(axis=1)
        coarse = np.zeros((k + -k % FOUR, p + -p % FOUR + 1), np.float32)
        coarse[:k, :p], coarse[:k, -1], coarse[k:, -1] = moved, squares / 2, np.inf
    return coarse, float(np.sqrt(squares.max())), unit


class BoundedRows:
    """Complete rows in memory with bounds of their distances: an engine for `LloydProblem`.

    It is called as `total(step)` with the step of a problem, of which it takes the centers.
    """

    def __init__(
        self, X: Floats, weights: Floats, origin: Floats, variance: float, n_clusters: int
    ) -> None:
        n, p = X.shape
        self.X, self.weights, self.origin = X, weights, origin
        self.unit = unit_of(variance * p)
        self.rows = X, *coarse_rows(X, origin, self.unit)
        self.bounds = np.full(n, -1, np.int32), np.zeros(n), np.zeros(n)
        self.counts, self.sums = np.zeros((2, n_clusters)), np.zeros((n_clusters, p))
        self.squares = float(weights @ self.rows[2] ** 2) * self.unit**2
        self.last: Floats | None = None
        self.pacer = Pacer()

    def __call__(self, step: Any) -> LloydSums:
        from novum.clustering import lloyd_kernels as kernels

        points: Floats = step.args[0].points
        moved = np.zeros(len(points))
        if self.last is not None:
            moved = np.sqrt(((points - self.last) ** 2).sum(axis=1)) * (1 + 1e-12)
        self.last = points
        centers = points, np.ascontiguousarray(points.T), moved, half_ways(points)
        coarse = coarse_centers(points, self.origin, self.unit)
        for start, stop in time_sliced(len(self.X), block=4096, pacer=self.pacer):
            kernels.bounded_pass(
                tuple(values[start:stop] for values in self.rows),
                self.weights[start:stop],
                self.origin,
                centers,
                coarse,
                tuple(values[start:stop] for values in self.bounds),
                self.counts,
                self.sums,
            )
        # Fractional weights that come and go leave rounding behind.
        empty = self.counts[1] == 0
        self.counts[0, empty], self.sums[empty] = 0.0, 0.0
        counts = self.counts[0].copy()
        shifted = points - self.origin
        inertia = self.squares - 2.0 * float((shifted * self.sums).sum())
        inertia += float(counts @ (shifted**2).sum(axis=1))
        far = FarthestRows(self.X[:0], np.empty(0), len(points))
        if empty.any():
            far = FarthestRows.of(self.X, self.own_squares(), len(points))
        return LloydSums(counts, counts[:, np.newaxis], self.sums.copy(), inertia, far)

    @property
    def labels(self) -> Codes:
        """The nearest of the last centers, for every row."""
        return self.bounds[0]

    def own_squares(self) -> Floats:
        """Squared distances to the nearest of the last centers."""
        from novum.clustering import lloyd_kernels as kernels

        assert self.last is not None
        squares = np.empty(len(self.X))
        for start, stop in time_sliced(len(self.X), block=4096):
            part = slice(start, stop)
            kernels.own_squares(self.X[part], self.last, self.labels[part], squares[part])
        return squares


def half_ways(points: Floats) -> Floats:
    """Half the distance of every center to the nearest other one.

    Examples
    --------
    >>> half_ways(np.array([[0.0], [4.0], [5.0]]))
    array([2. , 0.5, 0.5])
    """
    if len(points) == 1:
        return np.full(1, np.inf)
    squares = ((points[:, np.newaxis] - points) ** 2).sum(axis=2)
    np.fill_diagonal(squares, np.inf)
    return np.asarray(np.sqrt(squares.min(axis=1)) / 2)
