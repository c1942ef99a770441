"""Sufficient statistics of Gaussian classifiers: weight, mean and scatter of every class.

    W_k = sum_i w_i,    m_k = sum_i w_i x_i / W_k,    S_k = sum_i w_i (x_i - m_k)(x_i - m_k)'

over the rows of class k. They are the moments of `novum.numerics`, kept as pairs of doubles, so
merging and taking away cost no digits. Covariances that need only the diagonal of `S_k` keep one
weight, mean and scatter per column instead; each column is then the sample of its present cells,
and missing cells need no further thought.

Large tables are summed in one pass about provisional centers; only a class whose center was far off
is summed again about its mean.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from novum.core.errors import InputError, NotAdditiveError
from novum.core.runtime import check_memory
from novum.core.tables import Sample, Schema
from novum.core.text import label_text
from novum.distributions import pooled_columns
from novum.numerics import (
    Array,
    ColumnMoments,
    Floats,
    Integers,
    Mask,
    Moments,
    Positions,
    as_argument,
    cached_property,
    column_moments_of,
    moments_of,
)
from novum.numerics import double_double as dd

AnyMoments = Moments | ColumnMoments

# From this many cells on rows are dealt by a compiled kernel; the choice looks at the size only.
_DEALT_FROM_CELLS = 2**19

# Numbers in the buffers of all classes: 4 MB.
_BUFFER_CELLS = 2**19

# A center is good enough when squares about it are at most this many times those about the mean.
_EXCESS = 4.0

# A remaining weight below this share of the weight before is the rounding of a sum of weights.
_NOTHING = 1e-12


class MissingCellsError(NotAdditiveError, InputError):
    """Rows with missing cells, whose moments are not sums; fits with EM take them."""


@dataclass(frozen=True, eq=False)
class GaussianStatistics:
    """All that a Gaussian classifier needs to know of a weighted table.

    Attributes
    ----------
    schema : Schema
    classes : array of K labels, sorted
    weight : array (K,)
        Sum of the weights of the rows of each class, rows without any present cell included.
    moments : tuple of K Moments or ColumnMoments
    rows : float
        Number of rows of positive weight.

    Examples
    --------
    >>> from novum.bayes.gaussian import GaussianClassifier
    >>> model = GaussianClassifier()
    >>> a = model.statistics([[1.0], [3.0]], ["x", "x"])
    >>> both = a + model.statistics([[5.0], [7.0]], ["y", "x"])
    >>> both.classes.tolist(), both.weight.tolist(), both.means.ravel().round(3).tolist()
    (['x', 'y'], [3.0, 1.0], [3.667, 5.0])
    """

    schema: Schema
    classes: Array
    weight: Floats
    moments: tuple[AnyMoments, ...]
    rows: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "moments", tuple(self.moments))
        n_classes, n_columns = len(self.classes), self.schema.n_columns
        if not len(self.moments) == len(self.weight) == n_classes or any(
            part.n_columns != n_columns for part in self.moments
        ):
            raise InputError(
                f"Statistics of {n_classes} classes and {n_columns} columns need as many weights "
                "and moments of as many columns."
            )

    @classmethod
    def of(cls, sample: Sample, by_column: bool) -> GaussianStatistics:
        """The statistics of a checked sample; `by_column` keeps no products of columns.

        Raises
        ------
        MissingCellsError
            If products are wanted and a cell is missing.
        """
        assert sample.classes is not None
        n_cells = sample.n_rows * sample.schema.n_columns
        if not by_column:
            check_products(sample.schema.n_columns, len(sample.classes))
        quick = dealt_moments(sample) if n_cells >= _DEALT_FROM_CELLS and not by_column else {}
        parts: list[AnyMoments] = []
        weights, labels = [], []
        counts = np.bincount(sample.target, sample.weight, len(sample.classes))
        for code, rows, weight in class_rows(sample, skip=quick):
            if code in quick:
                parts.append(quick[code])
            else:
                parts.append(_class_moments(sample.numeric, rows, weight, by_column))
            weights.append(float(counts[code]))
            labels.append(code)
        return cls(
            sample.schema,
            sample.classes[labels],
            np.array(weights),
            tuple(parts),
            float(sample.n_rows),
        )

    # Views

    @property
    def by_column(self) -> bool:
        """Whether there are no products of columns."""
        return bool(self.moments) and isinstance(self.moments[0], ColumnMoments)

    @cached_property
    def means(self) -> Floats:
        """Class means (K, d); zeros where a class has no present cell."""
        return np.array([part.mean for part in self.moments])

    @cached_property
    def scatters(self) -> Floats:
        """Scatter of every class: (K, d, d), or (K, d) by column."""
        return np.array([part.scatter for part in self.moments])

    @property
    def cell_weights(self) -> Floats:
        """Weight of the present cells of every class and column (K, d)."""
        shape = (len(self.classes), self.schema.n_columns)
        if self.by_column:
            return np.array([part.weight for part in self.moments]).reshape(shape)
        return np.broadcast_to(self.weight[:, None], shape)

    @cached_property
    def column_moments(self) -> ColumnMoments:
        """Weight, mean and scatter of every column over all classes."""
        return pooled_columns(self.cell_weights, self.means, self.column_scatters)

    @property
    def column_scatters(self) -> Floats:
        """Scatter of every class and column (K, d)."""
        scatters = self.scatters
        return scatters if self.by_column else np.diagonal(scatters, axis1=1, axis2=2)

    def columns_only(self) -> GaussianStatistics:
        """The same rows without products of columns."""
        return replace(self, moments=tuple(map(as_columns, self.moments)))

    # Arithmetic

    def __add__(self, other: GaussianStatistics) -> GaussianStatistics:
        schema, labels = self._united(other)
        a, b = self._on(labels), other._on(labels)
        moments = tuple(x + y for x, y in zip(a.moments, b.moments, strict=True))  # type: ignore[operator]
        return GaussianStatistics(
            schema, labels, a.weight + b.weight, moments, self.rows + other.rows
        )

    def __sub__(self, other: GaussianStatistics) -> GaussianStatistics:
        schema, labels = self._united(other)
        a, b = self._on(labels), other._on(labels)
        left = a.weight - b.weight
        if (left < -_NOTHING * a.weight).any() or len(labels) > len(self.classes):
            worst = int(np.argmin(left))
            raise InputError(
                f"Cannot remove rows that were never added: class {label_text(labels[worst])} has "
                f"weight {a.weight[worst]:g}, and {b.weight[worst]:g} is to be removed."
            )
        left = np.where(left <= _NOTHING * a.weight, 0.0, left)
        moments = tuple(x - y for x, y in zip(a.moments, b.moments, strict=True))  # type: ignore[operator]
        # A class all of whose rows are gone was never there; one that was only declared stays.
        kept = np.flatnonzero((left > 0) | (a.weight == 0))
        rows = max(self.rows - other.rows, float(np.count_nonzero(left)))
        return GaussianStatistics(
            schema, labels[kept], left[kept], tuple(moments[k] for k in kept), rows
        )

    def __mul__(self, factor: float) -> GaussianStatistics:
        moments = tuple(factor * part for part in self.moments)
        rows = self.rows if factor > 0 else 0.0
        return replace(self, weight=factor * self.weight, moments=moments, rows=rows)

    __rmul__ = __mul__

    def zero(self) -> GaussianStatistics:
        return 0.0 * self

    def isclose(self, other: GaussianStatistics, rtol: float = 1e-10) -> bool:
        """Equal within `rtol`, measured in each column's own units; empty classes do not count."""
        _, labels = self._united(other)
        a, b = self._on(labels), other._on(labels)
        close = [x.isclose(y, rtol) for x, y in zip(a.moments, b.moments, strict=True)]  # type: ignore[arg-type]
        return bool(np.allclose(a.weight, b.weight, rtol=rtol, atol=0.0)) and all(close)

    def with_classes(self, classes: Any) -> GaussianStatistics:
        """The same rows with all labels that may occur; those without rows have weight zero."""
        labels = np.unique(np.asarray(classes))
        check_same_kind(labels, self.classes)
        unknown = np.setdiff1d(self.classes, labels)
        if unknown.size:
            raise InputError(
                f"`classes` lists {labels.tolist()}, but the rows have {label_text(unknown[0])} "
                "too. List every label that occurs."
            )
        return self._on(labels)

    def _united(self, other: GaussianStatistics) -> tuple[Schema, Array]:
        if not isinstance(other, GaussianStatistics):
            raise InputError(f"Statistics do not combine with a {type(other).__name__}.")
        if self.by_column != other.by_column and self.moments and other.moments:
            raise InputError(
                "One of these statistics has products of columns and the other has none, because "
                "they come from models of different `covariance`. Sum with the same parameters."
            )
        check_same_kind(self.classes, other.classes)
        return self.schema.unite(other.schema), np.union1d(self.classes, other.classes)

    def _on(self, labels: Array) -> GaussianStatistics:
        """The same statistics for more classes, which have no rows."""
        if np.array_equal(labels, self.classes):
            return self
        places = np.searchsorted(labels, self.classes)
        empty = type(self.moments[0]).zero(self.schema.n_columns)
        moments: list[AnyMoments] = [empty] * len(labels)
        weight = np.zeros(len(labels))
        for place, part, amount in zip(places, self.moments, self.weight, strict=True):
            moments[place], weight[place] = part, amount
        return replace(self, classes=labels, weight=weight, moments=tuple(moments))


# --- From rows ------------------------------------------------------------------------------------


def class_rows(
    sample: Sample, skip: Container[int] = ()
) -> Iterator[tuple[int, Positions, Floats | None]]:
    """Code, positions and weights of the rows of each class that has rows, in order.

    Classes in `skip` come without their rows, which is quicker where all are skipped.
    """
    assert sample.classes is not None
    codes = np.asarray(sample.target)
    counts = np.bincount(codes, minlength=len(sample.classes))
    met = np.flatnonzero(counts)
    if all(code in skip for code in met):
        order = np.empty(0, np.intp)
    else:
        # NumPy sorts 16-bit integers by counting, ten times as fast as wider ones.
        small = codes.astype(np.uint16) if len(sample.classes) <= 2**16 else codes
        order = np.argsort(small, kind="stable")
    ends = np.cumsum(counts)
    for code in met.tolist():
        rows = order[ends[code] - counts[code] : ends[code]]
        yield code, rows, None if sample.weight is None else sample.weight[rows]


def check_products(n_columns: int, n_classes: int) -> None:
    """Refuses products of columns that would not fit into memory, before they are summed."""
    check_memory(
        # Measured: sums, their lower halves, covariances, factors and inverses of every class.
        8 * 8 * n_classes * n_columns**2,
        f"Products of {n_columns} columns in each of {n_classes} classes, with their factors,",
        "Use GaussianNB or covariance='diagonal', select columns, or put PCA before it.",
    )


def check_same_kind(a: Array, b: Array) -> None:
    """Refuses to unite labels of different types, which have no common order."""

    def kind(labels: Array) -> str:
        return "text" if labels.dtype.kind in "UOST" else "numbers"

    if a.size and b.size and kind(a) != kind(b):
        raise InputError(
            f"Labels {a.tolist()[:5]} and {b.tolist()[:5]} are of different types. Convert all "
            "labels to one type, such as text."
        )


def as_columns(moments: AnyMoments) -> ColumnMoments:
    """Moments without their products."""
    if isinstance(moments, ColumnMoments):
        return moments
    assert moments.scatter_low is not None
    d = moments.n_columns
    return ColumnMoments(
        np.full(d, moments.weight),
        moments.mean,
        np.diagonal(moments.scatter).copy(),
        np.full(d, moments.weight_low),
        moments.mean_low,
        np.diagonal(moments.scatter_low).copy(),
    )


def _class_moments(
    X: Floats, rows: Positions, weight: Floats | None, by_column: bool
) -> AnyMoments:
    """Moments of some rows of a table; bits do not depend on the table's layout."""
    try:
        return (column_moments_of if by_column else moments_of)(X[rows], weight)
    except ValueError as error:
        if not by_column and np.isnan(X[rows]).any():
            raise _missing_cells(X) from error
        raise InputError(str(error)) from error


def dealt_moments(sample: Sample) -> dict[int, Moments]:
    """Moments of the classes by one pass in the order of the rows.

    Squares are summed about a provisional center and moved to the mean at the end. A class whose
    center turns out to be far off, or whose squares have no digits, is left out: for it two passes
    are needed.
    """
    assert sample.classes is not None
    codes = as_argument(sample.target, np.int64)
    X = as_argument(sample.numeric)
    centers = _provisional_centers(X, codes, len(sample.classes))
    moments = {}
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        sums = _dealt_squares(X, codes, sample.weight, centers)
        for code, squares in enumerate(sums):
            total = squares[-1, -1]
            shift = squares[-1, :-1] / total if total > 0 else squares[-1, :-1]
            scatter = squares[:-1, :-1] - total * np.outer(shift, shift)
            spread = np.diagonal(scatter)
            safe = (spread > total * 1e-290) & (np.diagonal(squares)[:-1] <= _EXCESS * spread)
            if total > 0 and safe.all() and np.isfinite(squares).all():
                high, low = dd.two_sum(centers[code], shift)
                moments[code] = Moments(float(total), high, scatter, 0.0, low)
    return moments


def _provisional_centers(X: Floats, codes: Integers, n_classes: int) -> Floats:
    """A point amid the rows of each class: the mean of those that stand first."""
    head = min(len(X), max(1024, 64 * n_classes))
    first, counts = X[:head], np.bincount(codes[:head], minlength=n_classes)
    centers = np.zeros((n_classes, X.shape[1]))
    np.add.at(centers, codes[:head], first)
    centers /= np.maximum(counts, 1)[:, None]
    for code in np.flatnonzero(counts == 0):
        place = int((codes == code).argmax())
        centers[code] = X[place]
    return centers


def _dealt_squares(
    X: Floats, codes: Integers, weight: Floats | None, centers: Floats
) -> list[Floats]:
    """Weighted squares of `[x - center, 1]` of each class (d + 1, d + 1)."""
    from scipy.linalg import blas

    from novum.bayes.gaussian_statistics_kernels import deal_rows

    n_classes, d = centers.shape
    height = int(np.clip(_BUFFER_CELLS // (n_classes * (d + 1)), 64, 1024))
    out = np.empty((n_classes, height, d + 1))
    counts = np.zeros(n_classes, np.int64)
    roots = as_argument(np.empty(0) if weight is None else np.sqrt(weight))
    sums = [np.zeros((d + 1, d + 1), order="F") for _ in range(n_classes)]
    row = 0
    while row < len(X):
        row = deal_rows(X, codes, roots, centers, out, counts, row)
        full = range(n_classes) if row == len(X) else [int(codes[row])]
        for code in full:
            rows = out[code, : counts[code]]
            if len(rows):
                sums[code] = blas.dsyrk(1.0, rows.T, beta=1.0, c=sums[code], overwrite_c=1)
            counts[code] = 0
    return [np.triu(square) + np.triu(square, 1).T for square in sums]


def _missing_cells(X: Floats) -> MissingCellsError:
    missing = np.isnan(X)
    column = int(missing.any(axis=0).argmax())
    return MissingCellsError(
        f"{int(missing.sum())} cells are missing, the first in column {column} at row "
        f"{int(missing[:, column].argmax())}; with correlated columns their moments are no sums. "
        "Call fit, fit_file or fit_stream with chunks that can be read again, which use EM, or "
        "choose covariance='diagonal'."
    )


# --- Labels and priors ----------------------------------------------------------------------------
#
# Labels by name and class priors: what a Gaussian classifier is told about its classes.


def code_of(label: Any, classes: Array) -> int:
    """Position of a label among the classes.

    Raises
    ------
    InputError
        If there is no such class.
    """
    positions = np.flatnonzero(classes == label)
    if not positions.size:
        raise InputError(f"{label!r} is not one of the classes {classes.tolist()[:20]}.")
    return int(positions[0])


def checked_class_prior(
    given: ArrayLike | None,
    statistics: GaussianStatistics,
    present: Mask,
    learner: str,
) -> Floats:
    """Class priors: as given, or the proportions of the weights."""
    if given is None:
        total = float(statistics.weight.sum())
        return statistics.weight / total
    prior, classes = np.array(given, float), statistics.classes
    if prior.shape != (len(classes),):
        raise InputError(
            f"{learner} was given priors of shape {prior.shape} for the {len(classes)} classes "
            f"{classes.tolist()[:20]}. Give one for each, in this order."
        )
    if not (prior >= 0).all():
        raise InputError(f"priors must be non-negative, got {prior.tolist()}.")
    if not abs(prior.sum() - 1) <= 1e-9:
        raise InputError(
            f"The priors do not sum to 1 but to {prior.sum():.12g}. Divide them by their sum if "
            "they are meant as proportions."
        )
    unknown = np.flatnonzero((prior > 0) & ~present)
    if unknown.size:
        raise InputError(
            f"Class {label_text(classes[unknown[0]])} has prior {prior[unknown[0]]:g} but no "
            "rows, so its law is unknown. Give it prior 0, or use estimate='predictive'."
        )
    return prior
