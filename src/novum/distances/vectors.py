"""Distances of rows of numbers.

Minkowski     (sum_j |x_j - z_j|^p)^(1/p)          Euclidean p = 2, Manhattan p = 1
Chebyshev     max_j |x_j - z_j|
Mahalanobis   sqrt((x - z)' S^-1 (x - z)): Euclidean between L^-1 x and L^-1 z with S = L L'
cosine        1 - x'z / (|x| |z|): half the squared Euclidean one of rows of length 1
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from novum.core.errors import InputError
from novum.core.tables import Sample
from novum.distances.column_rows import (
    ColumnRows,
    ColumnTerms,
    Finish,
    read_rows,
    refuse_levels,
    refuse_overflow,
    refuse_underflow,
)
from novum.distances.missing import ObservedColumn
from novum.distances.protocol import Distance, Missing
from novum.distances.sparse_rows import SparseRows
from novum.numerics import Array, Floats, as_argument, cholesky_factor


class VectorDistance(Distance):
    """Distances between rows of numbers, by sums of powers of differences."""

    missing: Missing
    finish: ClassVar[Finish] = "root"
    takes_sparse: ClassVar[bool] = True

    @property
    @abstractmethod
    def power(self) -> float: ...

    def prepare(self, X: Any, like: Any = None, target: Any = None) -> Any:
        del target
        name = type(self).__name__
        sample = read_rows(X, name, None if like is None else like.terms.schema)
        refuse_levels(sample, name)
        if isinstance(like, SparseRows) or (like is None and sample.is_sparse):
            return self._prepared_sparse(sample, like)
        if sample.is_sparse:
            sample = replace(sample, numeric=sample.numeric.toarray())
        numbers = as_argument(sample.numeric)
        if like is not None:
            numbers = self._moved(numbers, like.terms.factor)
            refuse_overflow(numbers, self.power)
            return ColumnRows(like.terms, numbers, np.empty((len(numbers), 0), np.int32))
        factor = self._factor(numbers)
        numbers = self._moved(numbers, factor)
        refuse_overflow(numbers, self.power)
        refuse_underflow(numbers, self.power)
        terms = ColumnTerms(
            sample.schema,
            self.power,
            self.missing,
            self.finish,
            tables=(),
            weights=np.ones(numbers.shape[1]),
            observed=tuple(ObservedColumn(column, self.power) for column in numbers.T),
            factor=factor,
        )
        return ColumnRows(terms, numbers, np.empty((len(numbers), 0), np.int32))

    def _prepared_sparse(self, sample: Sample, like: Any) -> SparseRows:
        if not sample.is_sparse:
            sample = replace(sample, numeric=sparse.csr_array(sample.numeric))
        settings = sample.schema, self.power, self.missing, self.finish
        terms = like.terms if like is not None else ColumnTerms(*settings, (), np.ones(0), ())
        rows = SparseRows.of(terms, self._moved_sparse(sample.numeric))
        refuse_overflow(rows.cells.data, self.power)
        if like is None:
            refuse_underflow(rows.cells.data, self.power)
        return rows

    def _moved_sparse(self, table: Any) -> Any:
        """The sparse cells between which differences are taken."""
        return table

    def _factor(self, numbers: Floats) -> Floats | None:  # noqa: ARG002
        """A triangular factor that is learned from the training rows."""
        return None

    def _moved(self, numbers: Floats, factor: Floats | None) -> Floats:  # noqa: ARG002
        """The numbers between which differences are taken."""
        return numbers


def checked_missing(missing: Any) -> None:
    """Refuses what is no rule for missing cells."""
    if missing not in ("expected", "partial"):
        raise InputError(f"missing is 'expected' or 'partial', got {missing!r}.")


@dataclass(frozen=True)
class Minkowski(VectorDistance):
    """`(sum_j |x_j - z_j|^p)^(1/p)`.

    Parameters
    ----------
    p : float, default=2.0
        At least 1, below which it would be no metric; infinite is Chebyshev's.
    missing : {"expected", "partial"}, default="expected"
        A missing cell differs from another by what the values of its column differ on average; or
        it does not count, and the sum is scaled up.

    Examples
    --------
    >>> Minkowski(3).pairwise([[0.0, 0.0]], [[1.0, 2.0]]).round(6)
    array([[2.080084]])
    """

    p: float = 2.0
    missing: Missing = "expected"

    def __post_init__(self) -> None:
        if not (isinstance(self.p, Real) and not isinstance(self.p, bool) and self.p >= 1):
            raise InputError(
                f"Minkowski's p is a number of at least 1, got {self.p!r}: below 1 the triangle "
                "inequality fails."
            )
        checked_missing(self.missing)

    @property
    def power(self) -> float:
        return float(self.p)


@dataclass(frozen=True)
class _OfOnePower(VectorDistance):
    missing: Missing = "expected"

    def __post_init__(self) -> None:
        checked_missing(self.missing)


@dataclass(frozen=True)
class Euclidean(_OfOnePower):
    """`sqrt(sum_j (x_j - z_j)^2)`; `missing` as for `Minkowski`.

    Examples
    --------
    >>> Euclidean().pairwise([[0.0, 0.0]], [[3.0, 4.0]])
    array([[5.]])
    """

    @property
    def power(self) -> float:
        return 2.0


@dataclass(frozen=True)
class Manhattan(_OfOnePower):
    """`sum_j |x_j - z_j|`; `missing` as for `Minkowski`.

    Examples
    --------
    >>> Manhattan(missing="partial").pairwise([[0.0, float("nan")]], [[3.0, 4.0]])
    array([[6.]])
    """

    @property
    def power(self) -> float:
        return 1.0


@dataclass(frozen=True)
class Chebyshev(_OfOnePower):
    """`max_j |x_j - z_j|`; `missing` as for `Minkowski`.

    Examples
    --------
    >>> Chebyshev().pairwise([[0.0, 0.0]], [[3.0, 4.0]])
    array([[4.]])
    """

    @property
    def power(self) -> float:
        return float("inf")


class _Complete(VectorDistance):
    """Distances that mix columns, and need all of them."""

    missing: ClassVar[Missing] = "expected"  # type: ignore[misc]

    @property
    def power(self) -> float:
        return 2.0

    def _refuse_missing(self, numbers: Floats) -> None:
        gone = np.argwhere(np.isnan(numbers))
        if len(gone):
            raise InputError(
                f"{type(self).__name__} mixes columns and needs all cells, but row {gone[0, 0]} "
                f"misses column {gone[0, 1]}. Fill missing cells, or use Euclidean()."
            )


@dataclass(frozen=True)
class Cosine(_Complete):
    """`1 - x'z / (|x| |z|)`: the angle alone, whatever the lengths of rows.

    Notes
    -----
    No metric: three vectors can violate the triangle inequality. Rows of zeros have no direction
    and are refused. Missing cells are refused.

    Examples
    --------
    >>> Cosine().pairwise([[1.0, 0.0]], [[0.0, 2.0], [3.0, 0.0]])
    array([[1., 0.]])
    """

    is_metric: ClassVar[bool] = False
    finish: ClassVar[Finish] = "half"

    def _moved(self, numbers: Floats, factor: Floats | None) -> Floats:  # noqa: ARG002
        self._refuse_missing(numbers)
        largest = _directed(np.abs(numbers).max(axis=1, initial=0.0))
        # By the largest cell first, so that squares neither vanish nor overflow.
        numbers = numbers / largest[:, np.newaxis]
        return np.ascontiguousarray(numbers / np.sqrt((numbers**2).sum(axis=1))[:, np.newaxis])

    def _moved_sparse(self, table: Any) -> Any:
        cells = table.tocsr().astype(np.float64)
        largest = _directed(np.asarray(abs(cells).max(axis=1).todense()).ravel())
        cells = sparse.diags_array(1.0 / largest) @ cells
        lengths = np.sqrt(np.asarray(cells.multiply(cells).sum(axis=1)).ravel())
        return sparse.csr_array(sparse.diags_array(1.0 / lengths) @ cells)


@dataclass(frozen=True)
class Haversine(_Complete):
    """The angle between two places on a sphere, given by latitude and longitude in radians.

    Notes
    -----
    Times 6371 it is in kilometers on Earth. Missing cells are refused. Places are points of the
    sphere inside, so that all indexes serve.

    Examples
    --------
    >>> places = np.radians([[48.8566, 2.3522], [51.5074, -0.1278]])
    >>> (6371 * Haversine().pairwise(places)[0, 1]).round()
    np.float64(344.0)
    """

    finish: ClassVar[Finish] = "arc"
    takes_sparse: ClassVar[bool] = False

    def _moved(self, numbers: Floats, factor: Floats | None) -> Floats:  # noqa: ARG002
        self._refuse_missing(numbers)
        if numbers.shape[1] != 2:
            raise InputError(
                "Haversine is between two columns, latitude and longitude in radians, got "
                f"{numbers.shape[1]} columns."
            )
        north, east = numbers.T
        ring = np.cos(north)
        return np.ascontiguousarray(
            np.stack([ring * np.cos(east), ring * np.sin(east), np.sin(north)], axis=1)
        )

    def _moved_sparse(self, table: Any) -> Any:
        del table
        raise InputError("Metric 'haversine' not valid for sparse input. Pass X.toarray().")


def _directed(largest: Floats) -> Floats:
    """The largest cells of rows, of which none is all zeros."""
    if not largest.all():
        raise InputError(
            f"Row {int(np.flatnonzero(largest == 0)[0])} is all zeros, so it has no direction "
            "and no cosine. Leave such rows out, or use Euclidean()."
        )
    return largest


@dataclass(frozen=True, eq=False)
class Mahalanobis(_Complete):
    """`sqrt((x - z)' S^-1 (x - z))`, with the covariance S given or learned.

    Parameters
    ----------
    covariance : array (p, p), optional
        Symmetric and positive definite; by default that of the training rows.

    Notes
    -----
    Does not depend on the units of columns, nor on any other basis they are written in. Missing
    cells are refused.

    Examples
    --------
    >>> Mahalanobis([[4.0, 0.0], [0.0, 1.0]]).pairwise([[0.0, 0.0]], [[2.0, 0.0], [0.0, 1.0]])
    array([[1., 1.]])
    """

    covariance: Any = None
    takes_sparse: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.covariance is not None:
            object.__setattr__(self, "covariance", _square(self.covariance))

    def __repr__(self) -> str:
        shown = "" if self.covariance is None else repr(self.covariance.tolist())
        return f"Mahalanobis({shown})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mahalanobis) and np.array_equal(
            np.asarray(self.covariance), np.asarray(other.covariance)
        )

    def __hash__(self) -> int:
        return hash(("Mahalanobis", None if self.covariance is None else self.covariance.tobytes()))

    def _moved_sparse(self, table: Any) -> Any:
        del table
        raise InputError("Mahalanobis mixes columns and takes dense rows: X.toarray().")

    def _moved(self, numbers: Floats, factor: Floats | None) -> Floats:
        from scipy.linalg import solve_triangular

        self._refuse_missing(numbers)
        return np.ascontiguousarray(solve_triangular(factor, numbers.T, lower=True).T)

    def _factor(self, numbers: Floats) -> Floats:
        self._refuse_missing(numbers)
        if self.covariance is not None and self.covariance.shape[0] != numbers.shape[1]:
            raise InputError(
                f"The covariance of Mahalanobis is of {self.covariance.shape[0]} columns, but rows "
                f"have {numbers.shape[1]}. Give one of as many columns."
            )
        refuse_overflow(numbers)
        S = np.cov(numbers.T, ddof=0).reshape(numbers.shape[1], -1)
        S = S if self.covariance is None else self.covariance
        # As correlations, so that units of columns do not matter.
        sizes = np.sqrt(np.maximum(np.diagonal(S), 0.0))
        correlations = S / np.outer(sizes, sizes) if sizes.all() else S
        least = float(np.linalg.eigvalsh(correlations)[0]) if sizes.all() else 0.0
        if not least > 1e-12:
            whose = "covariance of these rows" if self.covariance is None else "given covariance"
            raise InputError(
                f"Mahalanobis needs a positive definite matrix, but the {whose}, in units of its "
                f"standard deviations, has the eigenvalue {least:.3g}. Leave out columns that are "
                "constant or repeat others, or give a covariance."
            )
        return np.asarray(sizes[:, np.newaxis] * cholesky_factor(correlations))


def _square(covariance: Any) -> Array:
    S = np.array(covariance, np.float64)
    if S.ndim != 2 or S.shape[0] != S.shape[1] or not np.isfinite(S).all():
        raise InputError(f"A covariance is a finite square matrix, got shape {S.shape}.")
    if not np.allclose(S, S.T, rtol=1e-12, atol=0.0):
        raise InputError("A covariance is symmetric, and the one given is not.")
    return (S + S.T) / 2
