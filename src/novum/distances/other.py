"""Distances that come from elsewhere: from a kernel, a function of two rows, or a matrix.

Of a matrix it may be that some distances are infinite, or absent where it is sparse: such rows are
never neighbors and never joined.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse

from novum.core.errors import InputError
from novum.core.tables import Sample
from novum.distances.column_rows import read_rows, refuse_levels, refuse_overflow
from novum.distances.protocol import Distance, DistanceRows, Takes
from novum.numerics import EPSILON, Floats, Integers


@dataclass(frozen=True, eq=False)
class KernelRows(DistanceRows):
    """Rows as a kernel prepares them, with their similarity to themselves."""

    prepared: Any
    own: Floats
    is_dear: bool = False

    @property
    def rounding(self) -> float:  # type: ignore[override]
        """Squares are differences of similarities, and lose half of their digits."""
        return float(np.sqrt(64.0 * EPSILON * np.abs(self.own).max(initial=0.0)))

    def __len__(self) -> int:
        return len(self.prepared)

    def take(self, rows: Any) -> Self:
        return type(self)(self.prepared.take(rows), self.own[rows], self.is_dear)

    def cross_powers(self, other: Self) -> Floats:
        K = self.prepared.cross(other.prepared, np.float64)
        total = self.own[:, np.newaxis] + other.own
        powers = total - 2.0 * K
        # What rounding leaves of equal features is no distance.
        powers[powers <= 8.0 * EPSILON * total] = 0.0
        return np.asarray(powers)

    def finish(self, powers: Floats) -> Floats:
        return np.asarray(np.sqrt(powers))


@dataclass(frozen=True)
class FromKernel(Distance):
    """`sqrt(k(x, x) - 2 k(x, z) + k(z, z))`: how far apart a kernel's features are.

    Parameters
    ----------
    kernel : Kernel
        On vectors, tables, strings, graphs, or anything else.

    Notes
    -----
    A metric where the kernel is positive definite. Squares below `8 eps (k(x, x) + k(z, z))` are 0.

    Examples
    --------
    >>> from novum.kernels import Linear
    >>> FromKernel(Linear()).pairwise([[0.0, 0.0]], [[3.0, 4.0]])
    array([[5.]])
    """

    kernel: Any

    @property
    def takes(self) -> Takes:  # type: ignore[override]
        kind: Takes = self.kernel.takes
        return kind

    def prepare(self, X: Any, like: KernelRows | None = None, target: Any = None) -> KernelRows:
        del target
        rows = X.numeric if isinstance(X, Sample) and self.takes == "vectors" else X
        prepared = self.kernel.prepare(rows, None if like is None else like.prepared)
        own = np.asarray(prepared.diagonal(), np.float64)
        return KernelRows(prepared, own, self.takes == "objects")


# --- A function of two rows -----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class MeasuredRows(DistanceRows):
    """Rows of numbers between which a function measures, or one of SciPy's names."""

    cells: Floats
    function: str | Callable[..., float]
    parameters: Mapping[str, Any]

    @property
    def rounding(self) -> float | None:  # type: ignore[override]
        """A function is taken for a metric by those who ask for bounds."""
        return 0.0 if callable(self.function) else None

    def __len__(self) -> int:
        return len(self.cells)

    def take(self, rows: Any) -> Self:
        return type(self)(self.cells[rows], self.function, self.parameters)

    def cross_powers(self, other: Self) -> Floats:
        from scipy.spatial.distance import cdist

        if isinstance(self.function, str):
            refuse_overflow(self.cells)
            with np.errstate(divide="ignore", invalid="ignore"):
                D = cdist(self.cells, other.cells, self.function, **self.parameters)
        else:
            pairs = [
                [float(self.function(x, z, **self.parameters)) for z in other.cells]
                for x in self.cells
            ]
            D = np.array(pairs, np.float64).reshape(len(self), len(other))
        if not (D >= 0).all():
            name = self.function if isinstance(self.function, str) else "the function"
            raise InputError(
                f"Distances are numbers of at least 0, but {name} given as metric returned "
                f"{D[~(D >= 0)][0]:g}."
            )
        return np.asarray(D)

    def finish(self, powers: Floats) -> Floats:
        return powers


@dataclass(frozen=True)
class FromFunction(Distance):
    """What a function of two rows measures.

    Parameters
    ----------
    function : callable, or name
        Of two arrays of shape (p,), to a number of at least 0; or a distance that
        `scipy.spatial.distance.cdist` knows by name, such as "canberra" or "correlation".
    parameters : mapping, optional
        Further arguments of the function.

    Notes
    -----
    Takes complete rows of numbers. A function cannot be written to a model file; a name can.

    Examples
    --------
    >>> FromFunction(lambda x, z: abs(x[0] - z[0])).pairwise([[1.0, 9.0], [4.0, 0.0]])
    array([[0., 3.],
           [3., 0.]])
    """

    function: Any
    parameters: Mapping[str, Any] | None = field(default=None, hash=False)
    is_metric: ClassVar[bool] = False

    def prepare(self, X: Any, like: MeasuredRows | None = None, target: Any = None) -> MeasuredRows:
        del target, like
        sample = read_rows(X, "FromFunction")
        refuse_levels(sample, "A function as metric")
        if sample.is_sparse:
            raise InputError("A function as metric takes dense rows: X.toarray().")
        cells = np.ascontiguousarray(sample.numeric, np.float64)
        gone = np.argwhere(np.isnan(cells))
        if len(gone):
            raise InputError(
                f"A function as metric needs all cells, but row {gone[0, 0]} misses column "
                f"{gone[0, 1]}. Fill missing cells, or use Euclidean() or Gower()."
            )
        return MeasuredRows(cells, self.function, dict(self.parameters or {}))


# --- A matrix -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PrecomputedRows(DistanceRows):
    """Rows of a matrix of distances; the training rows know which column is theirs.

    Attributes
    ----------
    cells : array (n, n_columns), or sparse with the distances of neighbors alone
    columns : int array (n,), or None
    """

    cells: Any
    columns: Integers | None

    def __len__(self) -> int:
        return int(self.cells.shape[0])

    def take(self, rows: Any) -> Self:
        columns = None if self.columns is None else self.columns[rows]
        return type(self)(self.cells[rows], columns)

    def cross_powers(self, other: Self) -> Floats:
        assert other.columns is not None
        cells = self.cells
        if sparse.issparse(cells):
            cells = np.full(cells.shape, np.inf)
            lines = np.repeat(np.arange(len(self)), np.diff(self.cells.indptr))
            cells[lines, self.cells.indices] = self.cells.data
        if np.array_equal(other.columns, np.arange(cells.shape[1])):
            return np.array(cells, np.float64, order="C", copy=cells is self.cells)
        return np.array(cells[:, other.columns], np.float64, order="C")

    def finish(self, powers: Floats) -> Floats:
        return powers

    @property
    def readable(self) -> Any:
        """The matrix as `core.tables` reads it, which takes no infinite cells."""
        if sparse.issparse(self.cells) or not np.isinf(self.cells).any():
            return self.cells
        return np.where(np.isinf(self.cells), 0.0, self.cells)


@dataclass(frozen=True)
class Precomputed(Distance):
    """Rows are distances already: to all training rows, which are the columns.

    Notes
    -----
    An infinite distance says that two rows are never joined. A sparse matrix has the distances of
    neighbors alone: those that it does not hold are infinite, but for that of a row to itself,
    which is 0.

    Examples
    --------
    >>> rows = Precomputed().prepare([[0.0, 2.0], [2.0, 0.0]])
    >>> Precomputed().prepare([[5.0, 3.0]], rows).cross(rows)
    array([[5., 3.]])
    """

    takes: ClassVar[Takes] = "objects"
    is_metric: ClassVar[bool] = False
    takes_sparse: ClassVar[bool] = True

    def prepare(
        self, X: Any, like: PrecomputedRows | None = None, target: Any = None
    ) -> PrecomputedRows:
        del target
        cells = _numbers(X.numeric if isinstance(X, Sample) else X)
        if like is not None:
            if cells.ndim != 2 or cells.shape[1] != like.cells.shape[1]:
                raise InputError(
                    f"Distances to {like.cells.shape[1]} training rows are needed, got shape "
                    f"{cells.shape}: one row for each new row, one column for each training row."
                )
            return PrecomputedRows(_checked(cells), None)
        if cells.ndim != 2 or cells.shape[0] != cells.shape[1]:
            raise InputError(
                "A precomputed matrix has the distances of all pairs of training rows, so it is "
                f"square; got shape {cells.shape}."
            )
        cells = _checked(cells)
        _refuse_skew(cells)
        if sparse.issparse(cells):
            # What is added to a cell that is not held makes it be held.
            n, held = cells.shape[0], cells.tocoo()
            own = np.arange(n)
            lines, columns = np.append(held.row, own), np.append(held.col, own)
            numbers = np.append(held.data, np.zeros(n))
            cells = sparse.csr_array((numbers, (lines, columns)), shape=(n, n))
        return PrecomputedRows(cells, np.arange(cells.shape[0]))


def _numbers(table: Any) -> Any:
    """A matrix as an array, or as sparse rows."""
    try:
        if not sparse.issparse(table):
            return np.asarray(table, np.float64)
        cells = sparse.csr_array(table, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"A precomputed matrix of distances holds numbers, and this does not: {error}."
        ) from error
    cells.sum_duplicates()
    return cells


def _checked(cells: Any) -> Any:
    """Distances that are numbers of at least 0; of a sparse matrix the finite ones alone."""
    is_sparse = sparse.issparse(cells)
    numbers = cells.data if is_sparse else cells
    wrong = np.argwhere(~(numbers >= 0))
    if len(wrong):
        i, j = wrong[0] if not is_sparse else (_line_of(cells, wrong), cells.indices[wrong[0, 0]])
        raise InputError(
            f"Distances are numbers of at least 0, but that of row {i} and column {j} "
            f"is {numbers[tuple(wrong[0])]:g}."
        )
    is_finite = np.isfinite(numbers)
    refuse_overflow(numbers if is_finite.all() else numbers[is_finite])
    if is_sparse and not is_finite.all():
        held = cells.tocoo()
        kept = held.data[is_finite], (held.row[is_finite], held.col[is_finite])
        cells = sparse.csr_array(kept, shape=cells.shape)
    return cells


def _line_of(cells: Any, held: Integers) -> int:
    """The row of the first of some cells that a sparse matrix holds."""
    return int(np.searchsorted(cells.indptr, held[0, 0], "right")) - 1


def _refuse_skew(cells: Any) -> None:
    """Refuses distances that are not the same both ways."""
    if cells.shape[0] == 0:
        return
    numbers = cells.data if sparse.issparse(cells) else cells
    largest = float(numbers.max(initial=0.0, where=np.isfinite(numbers)))
    held, lift = cells, 0.0
    if sparse.issparse(cells):
        # A distance of 0 is held, and differs from one that is not.
        lift = largest or 1.0
        held = sparse.csr_array((numbers + lift, cells.indices, cells.indptr), cells.shape)
    with np.errstate(invalid="ignore"):
        skew = abs(held - held.T)
    if not sparse.issparse(cells):
        # Two infinite distances are the same.
        skew[np.isnan(skew)] = 0.0
    if not skew.max() > 1e-8 * largest:
        return
    i, j = divmod(int(skew.argmax()), cells.shape[0])
    there, back = (
        held[a, b] - lift if held[a, b] or not lift else np.inf for a, b in ((i, j), (j, i))
    )
    raise InputError(
        f"A precomputed matrix of distances is symmetric, but rows {i} and {j} are {there:g} and "
        f"{back:g} apart. Take the mean of both, or check it."
    )
