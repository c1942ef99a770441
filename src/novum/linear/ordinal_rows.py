"""The rows of an ordinal regression: what is summed first, and the coordinates of every pass.

A first pass finds the levels of nominal columns, the weight of each class and the triangular factor
of the columns (`linear.statistics`). From the factor come coordinates in which Newton's method has
no trouble with units, offsets or collinear columns:

    z = B'(x - c),        sum_i w_i z_i = 0,        sum_i w_i z_i z_i' = (sum_i w_i) I.

Directions that the columns leave open are not among them, so coefficients `b = B g` are those of
smallest norm. All later passes see rows only as `(z, class, weight)`, from memory, from a stream, a
file or a cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novum.core.chunk_passes import ChunkPasses
from novum.core.coding import Coding, treatment_blocks
from novum.core.engine import sum_blocks, total
from novum.core.errors import InputError
from novum.core.memory import check_memory
from novum.core.schema import Schema
from novum.core.text import listed
from novum.core.validation import Sample
from novum.linear.column_range import check_range
from novum.linear.gram import gram_statistics
from novum.linear.ordinal_target import Labels, ordered_codes
from novum.linear.solution import Design, solve
from novum.linear.statistics import LeastSquaresStatistics
from novum.numerics.linear_algebra import column_norms

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
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
    def sorted_labels(self) -> Labels:
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
    order: Labels

    @classmethod
    def of(cls, summary: OrdinalSummary, order: Labels) -> Coordinates:
        design = Design.of(summary.columns, fit_intercept=True)
        spread = column_norms(design.x) / np.sqrt(summary.columns.weight)
        check_range(design.x_mean, spread, lambda: Coding(summary.schema).names)
        found = solve(design, np.zeros(1))
        kept = found.directions[: found.rank].T / found.singular_values[: found.rank]
        basis = np.sqrt(summary.columns.weight) * found.scale[:, np.newaxis] * kept
        null = found.null_space
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
    def undetermined(self) -> NDArray[np.intp]:
        """Places of the coefficients that the rows leave open."""
        return np.flatnonzero(np.linalg.norm(self.null, axis=1) > 1e-8)

    def jacobian(self) -> Floats:
        """Derivative of (coefficients, thresholds) by (thresholds, g) in these coordinates."""
        m, p, rank = self.n_thresholds, len(self.center), self.rank
        found = np.zeros((p + m, m + rank))
        found[:p, m:] = self.basis
        found[p:, :m] = np.eye(m)
        found[p:, m:] = self.center @ self.basis
        return found


class OrdinalRows(NamedTuple):
    """Some rows in these coordinates: z (n, rank), places of their classes, weights."""

    z: Floats
    codes: Codes
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
