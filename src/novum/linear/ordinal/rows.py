"""The rows of an ordinal regression: what is summed first, and the coordinates of every pass.

A first pass finds the levels of nominal columns, the weight of each class and the triangular factor
of the columns (`statistics`). From the factor come coordinates in which Newton's method has
no trouble with units, offsets or collinear columns:

    z = B'(x - c),        sum_i w_i z_i = 0,        sum_i w_i z_i z_i' = (sum_i w_i) I.

Directions that the columns leave open are not among them, so coefficients `b = B g` are those of
smallest norm. All later passes see rows only as `(z, class, weight)`, from memory, from a stream, a
file or a cluster.

The order of the classes comes from, first found first taken: the parameter `classes`; an ordered
categorical or Enum, by its declared order; the size of numbers, false before true. Text has no
order that means anything: it is taken by the alphabet, and a warning says so. A class without rows
has no threshold of its own: it is left out, and a warning says so.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np

from novum.core.errors import InputError
from novum.core.runtime import check_memory
from novum.core.sums import ChunkPasses, sum_blocks, total
from novum.core.tables import (
    Coding,
    Sample,
    Schema,
    arrow_column,
    check_classes,
    frame_column,
    is_ordered,
    levels_of,
    treatment_blocks,
)
from novum.core.text import label_text, listed
from novum.linear.column_range import check_range
from novum.linear.least_squares.solution import Design
from novum.linear.least_squares.statistics import LeastSquaresStatistics, gram_statistics
from novum.numerics import Array, Floats, Integers, Positions, column_norms

Passes = Callable[[Callable[[Any], Any]], Any]


# --- The first pass -------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class OrdinalSummary:
    """Factor of the columns, and the weight of every label; adds up over parts of a table."""

    columns: LeastSquaresStatistics
    labels: tuple[Any, ...]
    weights: tuple[float, ...]

    @classmethod
    def of(cls, sample: Sample) -> OrdinalSummary:
        assert sample.classes is not None
        # The factor is asked about the columns only; codes keep its target from being constant.
        numbers = replace(sample, target=sample.target.astype(float))
        columns = gram_statistics(numbers) or sum_blocks(LeastSquaresStatistics.of, numbers)
        weights = np.bincount(sample.target, sample.weight, len(sample.classes))
        return cls(columns, tuple(sample.classes.tolist()), tuple(weights.tolist()))

    def __add__(self, other: OrdinalSummary) -> OrdinalSummary:
        counts = dict(zip(self.labels, self.weights, strict=True))
        for label, weight in zip(other.labels, other.weights, strict=True):
            counts[label] = counts.get(label, 0.0) + weight
        try:
            labels = tuple(sorted(counts))
        except TypeError:
            raise InputError(
                f"Labels of several types have no order: {listed(list(counts))}. Convert all "
                "labels of all chunks to one type."
            ) from None
        return OrdinalSummary(
            self.columns + other.columns, labels, tuple(counts[label] for label in labels)
        )

    @property
    def schema(self) -> Schema:
        return self.columns.schema

    @property
    def sorted_labels(self) -> Array:
        """The distinct labels as an array, in the order of their size or alphabet."""
        text = any(isinstance(label, str) for label in self.labels)
        return np.array(self.labels, object) if text else np.array(self.labels)


# --- Coordinates ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Coordinates:
    """From rows to uncorrelated coordinates of unit variance, and back for coefficients.

    Attributes
    ----------
    center : array of shape (p,)
    basis : array of shape (p, rank)
        `B` of the formula above.
    null : array of shape (p, p - rank)
        Orthonormal directions of coefficients that the rows say nothing about.
    loadings : array of shape (p, rank)
        The way back: `x - c = loadings z`.
    order : array
        The classes in their order.
    """

    center: Floats
    basis: Floats
    null: Floats
    loadings: Floats
    order: Array

    @classmethod
    def of(cls, summary: OrdinalSummary, order: Array) -> Coordinates:
        design = Design.of(summary.columns, fit_intercept=True)
        spread = column_norms(design.x) / np.sqrt(summary.columns.weight)
        check_range(design.x_mean, spread, lambda: Coding(summary.schema).names)
        _, singular_values, directions = design.spectrum
        kept = directions[: design.rank].T / singular_values[: design.rank]
        basis = np.sqrt(summary.columns.weight) * design.scale[:, np.newaxis] * kept
        null = design.null_space
        basis = basis - null @ (null.T @ basis)
        # Coordinates of unit variance: the covariance with them is the regression on them.
        loadings = design.x.T @ (design.x @ basis) / summary.columns.weight
        return cls(design.x_mean, basis, null, loadings, order)

    @property
    def rank(self) -> int:
        return self.basis.shape[1]

    @property
    def n_thresholds(self) -> int:
        return len(self.order) - 1

    @property
    def spread(self) -> Floats:
        """Standard deviation of each column."""
        return column_norms(self.loadings.T)

    @property
    def undetermined(self) -> Positions:
        """Places of the coefficients that the rows leave open."""
        return np.flatnonzero(np.linalg.norm(self.null, axis=1) > 1e-8)

    def jacobian(self) -> Floats:
        """Derivative of (coefficients, thresholds) by (thresholds, g) in these coordinates."""
        m, p, rank = self.n_thresholds, len(self.center), self.rank
        jacobian = np.zeros((p + m, m + rank))
        jacobian[:p, m:] = self.basis
        jacobian[p:, :m] = np.eye(m)
        jacobian[p:, m:] = self.center @ self.basis
        return jacobian


class OrdinalRows(NamedTuple):
    """Some rows in these coordinates: z (n, rank), places of their classes, weights."""

    z: Floats
    codes: Integers
    weight: Floats


def ordinal_rows(coordinates: Coordinates, sample: Sample) -> Iterator[OrdinalRows]:
    """The rows of a sample, block by block."""
    assert sample.classes is not None
    codes = ordered_codes(sample.classes, sample.target, coordinates.order)
    weights = sample.weights
    for rows, design in treatment_blocks(sample):
        z = (design - coordinates.center) @ coordinates.basis
        yield OrdinalRows(z, codes[rows], weights[rows])


# --- Passes ---------------------------------------------------------------------------------------


class MemoryPasses:
    """Passes over rows in memory, which are brought to their coordinates once."""

    def __init__(self, sample: Sample, coordinates: Coordinates) -> None:
        check_memory(
            8 * sample.n_rows * (coordinates.rank + 2),
            f"The design of {sample.n_rows} rows",
            "Use fit_stream or fit_file, which hold some rows at a time.",
        )
        self.blocks = list(ordinal_rows(coordinates, sample))

    def __call__(self, step: Callable[[OrdinalRows], Any]) -> Any:
        return total(map(step, self.blocks))


@dataclass(frozen=True, eq=False)
class CoordinatePasses:
    """Passes over chunks, whose rows are brought to their coordinates each time."""

    passes: ChunkPasses
    coordinates: Coordinates

    def __call__(self, step: Callable[[OrdinalRows], Any]) -> Any:
        return self.passes(_InCoordinates(step, self.coordinates))


@dataclass(frozen=True, eq=False)
class _InCoordinates:
    """A step on rows in coordinates, as one on samples."""

    step: Callable[[OrdinalRows], Any]
    coordinates: Coordinates

    def __call__(self, sample: Sample) -> Any:
        return total(map(self.step, ordinal_rows(self.coordinates, sample)))


def check_width(schema: Schema, n_classes: int) -> None:
    """Refuses a matrix of second derivatives that would not fit into memory."""
    width = len(Coding(schema).names) + n_classes
    check_memory(
        4 * 8 * width**2,
        f"The matrix of second derivatives of {width} coefficients",
        "Select columns, or reduce them by PCA.",
    )


class UnorderedTargetWarning(UserWarning):
    """Classes without a declared order were put into that of the alphabet."""


class AbsentClassWarning(UserWarning):
    """A declared class has no rows, and is not part of the model."""


def declared_order(y: Any) -> tuple[Any, ...] | None:
    """The order that the container of a target declares, if it does.

    Examples
    --------
    >>> import pandas as pd
    >>> declared_order(pd.Series(pd.Categorical(["low"], ["low", "high"], ordered=True)))
    ('low', 'high')
    >>> declared_order(["low", "high"]) is None
    True
    """
    values = y
    if type(y).__name__ == "Categorical" and hasattr(y, "categories"):
        return tuple(y.categories.tolist()) if y.ordered else None
    if nw.dependencies.is_into_series(values):
        values = nw.from_native(values, series_only=True).to_frame()
    elif nw.dependencies.is_into_dataframe(values):
        values = nw.from_native(values, eager_only=True)
    else:
        return None
    if values.shape[1] != 1:
        return None
    column = arrow_column(frame_column(values, 0), "y")
    return tuple(levels_of(column, "y")) if is_ordered(column) else None


def order_of(labels: Array, given: Any, declared: tuple[Any, ...] | None, learner: str) -> Array:
    """All classes in their order, for labels that occur.

    Parameters
    ----------
    labels : array
        The distinct labels of the rows, sorted.
    given : array-like or None
        The parameter `classes`.
    declared : tuple or None
        The order of the container.
    """
    if given is not None:
        return _placed(labels, list(given), "classes", learner)
    if declared is not None:
        return _placed(labels, list(declared), "the declared levels", learner)
    if labels.dtype.kind in "OUST":
        taken = " < ".join(label_text(label) for label in labels[:8])
        warnings.warn(
            f"{learner} needs an order of the classes, and y holds text without one; the alphabet "
            f"is taken: {taken}. Pass `classes=` in their order, or y as an ordered categorical.",
            UnorderedTargetWarning,
            stacklevel=5,
        )
    return labels


def _placed(labels: Array, order: list[Any], source: str, learner: str) -> Array:
    """The labels in the order of `order`, as an array of their own type."""
    plain = [label.item() if isinstance(label, np.generic) else label for label in order]
    if len(set(plain)) != len(plain):
        raise InputError(
            f"A class stands twice in {source}: {listed(plain)}. List every class once."
        )
    known = labels.tolist()
    unknown = [label for label in known if label not in plain]
    if unknown:
        raise InputError(
            f"y holds the label {label_text(unknown[0])}, which is not among {source}: "
            f"{listed(plain)}. Add it in its place, or select the rows of the classes that are "
            "listed."
        )
    absent = [label for label in plain if label not in known]
    if absent:
        one = len(absent) == 1
        warnings.warn(
            f"{learner}: the {'class' if one else 'classes'} {listed(absent)} of {source} "
            f"{'has no rows, and gets' if one else 'have no rows, and get'} no probability.",
            AbsentClassWarning,
            stacklevel=6,
        )
    places = [known.index(label) for label in plain if label in known]
    return labels[np.array(places, np.intp)]


def ordered_codes(labels: Array, codes: Integers, order: Array) -> Integers:
    """Codes into sorted `labels`, translated to places in `order`."""
    position = {label: place for place, label in enumerate(order.tolist())}
    unknown = [label for label in labels.tolist() if label not in position]
    if unknown:
        raise InputError(
            f"y holds the label {label_text(unknown[0])}, which is none of the classes "
            f"{listed(order.tolist())}. Select the rows of these classes, or fit again."
        )
    return np.array([position[label] for label in labels.tolist()], np.int64)[codes]


def checked_codes(y: Any, order: Array, learner: str) -> Integers:
    """Places of the labels of `y` in a known order."""
    labels, codes = check_classes(y, learner)
    return ordered_codes(labels, codes, order)
