"""Distances that come from elsewhere: from a kernel, a function of two rows, or a matrix."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse

from novum.core.errors import InputError
from novum.core.tables import Sample
from novum.distances.column_rows import read_rows, refuse_levels
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
            return np.asarray(cdist(self.cells, other.cells, self.function, **self.parameters))
        pairs = [
            [float(self.function(x, z, **self.parameters)) for z in other.cells] for x in self.cells
        ]
        D = np.array(pairs, np.float64).reshape(len(self), len(other))
        if not (D >= 0).all():
            raise InputError(
                "Distances are numbers of at least 0, but the function given as metric returned "
                f"{D[~(D >= 0)][0]:g}."
            )
        return D

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
    """Rows of a matrix of distances; the training rows know which column is theirs."""

    cells: Floats
    columns: Integers | None

    def __len__(self) -> int:
        return len(self.cells)

    def take(self, rows: Any) -> Self:
        columns = None if self.columns is None else self.columns[rows]
        return type(self)(self.cells[rows], columns)

    def cross_powers(self, other: Self) -> Floats:
        assert other.columns is not None
        return np.array(self.cells[:, other.columns], np.float64, order="C")

    def finish(self, powers: Floats) -> Floats:
        return powers


@dataclass(frozen=True)
class Precomputed(Distance):
    """Rows are distances already: to all training rows, which are the columns.

    Examples
    --------
    >>> rows = Precomputed().prepare([[0.0, 2.0], [2.0, 0.0]])
    >>> Precomputed().prepare([[5.0, 3.0]], rows).cross(rows)
    array([[5., 3.]])
    """

    takes: ClassVar[Takes] = "objects"
    is_metric: ClassVar[bool] = False

    def prepare(
        self, X: Any, like: PrecomputedRows | None = None, target: Any = None
    ) -> PrecomputedRows:
        del target
        table = X.numeric if isinstance(X, Sample) else X
        if sparse.issparse(table):
            raise InputError("A precomputed matrix of distances is dense: X.toarray().")
        try:
            cells = np.asarray(table, np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(
                f"A precomputed matrix of distances holds numbers, and this does not: {error}."
            ) from error
        if like is None:
            _check_square(cells)
            return PrecomputedRows(cells, np.arange(len(cells)))
        if cells.ndim != 2 or cells.shape[1] != like.cells.shape[1]:
            raise InputError(
                f"Distances to {like.cells.shape[1]} training rows are needed, got shape "
                f"{cells.shape}: one row for each new row, one column for each training row."
            )
        _check_distances(cells)
        return PrecomputedRows(cells, None)


def _check_square(cells: Floats) -> None:
    if cells.ndim != 2 or cells.shape[0] != cells.shape[1]:
        raise InputError(
            "A precomputed matrix has the distances of all pairs of training rows, so it is "
            f"square; got shape {cells.shape}."
        )
    _check_distances(cells)
    skew = np.abs(cells - cells.T)
    if (skew > 1e-8 * np.abs(cells).max(initial=0.0)).any():
        i, j = np.unravel_index(np.argmax(skew), skew.shape)
        raise InputError(
            f"A precomputed matrix of distances is symmetric, but rows {i} and {j} are "
            f"{cells[i, j]:g} and {cells[j, i]:g} apart. Take the mean of both, or check it."
        )


def _check_distances(cells: Floats) -> None:
    wrong = np.argwhere(~(cells >= 0))
    if len(wrong):
        i, j = wrong[0]
        raise InputError(
            f"Distances are numbers of at least 0, but the precomputed one of row {i} and column "
            f"{j} is {cells[i, j]:g}."
        )
