"""Rows as trees learn from them: cells, targets and weights.

Weights carry the class weights. Where asked, missing cells are replaced by the most common value of
their column, or of their column among the rows of the same class (for numbers the weighted median
is meant); the replaced cells are counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils import get_tags

from novum.core.errors import InputError
from novum.core.runtime import check_memory
from novum.core.tables import (
    MISSING,
    UNSEEN,
    Kind,
    Sample,
    Schema,
    check_classes,
    check_sample,
    plain_target,
)
from novum.numerics import Array, Floats, as_argument

Labels = tuple[Array, ...]


@dataclass(frozen=True, eq=False)
class CellRows:
    """Checked rows of a tree.

    Attributes
    ----------
    schema : Schema
    cells : float64 array (n, n_columns)
    targets : int64 or float64 array (n, n_targets)
        Codes of classes, or numbers.
    weight : float64 array (n,)
    classes : tuple of label arrays, one for each target, or None for numbers
    """

    schema: Schema
    cells: Floats
    targets: Array
    weight: Floats
    classes: Labels | None

    @property
    def n_rows(self) -> int:
        return len(self.cells)

    @property
    def n_classes(self) -> tuple[int, ...] | None:
        return None if self.classes is None else tuple(map(len, self.classes))

    def rows(self, chosen: Array) -> CellRows:
        """Some of the rows."""
        return replace(
            self,
            cells=self.cells[chosen],
            targets=self.targets[chosen],
            weight=self.weight[chosen],
        )


# --- Reading --------------------------------------------------------------------------------------


def read_numbers(estimator: Any, X: Any, y: Any, sample_weight: Any) -> CellRows:
    """Rows with numeric targets, of shape (n,) or (n, n_targets)."""
    sample = check_sample(estimator, X, y, sample_weight, allow_missing=True, accept_sparse=True)
    return _rows(sample, np.ascontiguousarray(sample.targets), None)


def read_classes(
    estimator: Any, X: Any, y: Any, sample_weight: Any, class_weight: Any = None
) -> CellRows:
    """Rows with labels, of shape (n,) or (n, n_targets)."""
    targets = None if y is None else plain_target(y)
    if targets is None or targets.ndim != 2 or targets.shape[1] < 2:
        # A model of one target warns of a column in place of a list.
        column = targets is not None and targets.ndim == 2
        single = targets.ravel() if column and takes_several(estimator) else y  # type: ignore[union-attr]
        sample = check_sample(
            estimator,
            X,
            single,
            sample_weight,
            target="classes",
            allow_missing=True,
            accept_sparse=True,
        )
        assert sample.classes is not None
        rows = _rows(sample, sample.target[:, np.newaxis], (sample.classes,))
    else:
        rows = _read_label_columns(estimator, X, targets, sample_weight)
    return _with_class_weights(rows, class_weight)


def takes_several(estimator: Any) -> bool:
    """Whether a model can learn several targets at once."""
    return bool(get_tags(estimator).target_tags.multi_output)


def _read_label_columns(estimator: Any, X: Any, targets: Array, sample_weight: Any) -> CellRows:
    """Several targets of labels: their codes go through the check as numbers."""
    name = type(estimator).__name__
    columns = [check_classes(targets[:, t], name) for t in range(targets.shape[1])]
    codes = np.column_stack([column_codes for _, column_codes in columns]).astype(np.float64)
    sample = check_sample(
        estimator, X, codes, sample_weight, allow_missing=True, accept_sparse=True
    )
    kept = sample.target.astype(np.int64)
    classes = []
    for t, (labels, _) in enumerate(columns):
        met, kept[:, t] = np.unique(kept[:, t], return_inverse=True)
        classes.append(labels[met])
    return _rows(sample, kept, tuple(classes))


def _rows(sample: Sample, targets: Array, classes: Labels | None) -> CellRows:
    return CellRows(sample.schema, cells_of(sample), targets, sample.weights, classes)


# --- Class weights --------------------------------------------------------------------------------


def _with_class_weights(rows: CellRows, class_weight: Any) -> CellRows:
    if class_weight is None:
        return rows
    weight = rows.weight * class_factors(rows, class_weight, rows.weight)
    kept = weight > 0
    if not kept.any():
        raise InputError("class_weight gives every row weight 0. Give some class a weight above 0.")
    return replace(rows, weight=weight) if kept.all() else replace(rows, weight=weight).rows(kept)


def class_factors(rows: CellRows, class_weight: Any, weight: Floats) -> Floats:
    """What the weight of every row is multiplied by.

    "balanced" gives every class of a target the same total: W / (K W_k), by the given weights.
    """
    assert rows.classes is not None
    several = isinstance(class_weight, (list, tuple))
    if several and len(class_weight) != len(rows.classes):
        raise InputError(
            "The number of elements in class_weight should match number of outputs: it has "
            f"{len(class_weight)} for {len(rows.classes)} targets. Give one for each, or one for "
            "all."
        )
    factors = np.ones(rows.n_rows)
    for t, labels in enumerate(rows.classes):
        given = class_weight[t] if several else class_weight
        if given == "balanced":
            total = np.bincount(rows.targets[:, t], weight, minlength=len(labels))
            present = total > 0
            each = np.ones(len(labels))
            each[present] = total.sum() / (present.sum() * total[present])
        else:
            each = _given_factors(given, labels)
        factors *= each[rows.targets[:, t]]
    return factors


def _given_factors(given: Any, labels: Array) -> Floats:
    if not isinstance(given, Mapping):
        raise InputError(
            "class_weight of a target is a dict of classes and weights, or 'balanced'; got "
            f"{given!r}."
        )
    known = labels.tolist()
    unknown = [label for label in given if label not in known]
    if unknown:
        raise InputError(
            f"class_weight names the class {unknown[0]!r}, which y does not have; its classes are "
            f"{', '.join(map(repr, known[:10]))}."
        )
    factors = np.array([float(given.get(label, 1.0)) for label in known])
    if not (np.isfinite(factors) & (factors >= 0)).all():
        raise InputError("class_weight holds a value that is no finite number of at least 0.")
    return factors


# --- Replacing missing cells ----------------------------------------------------------------------


def common_values(rows: CellRows) -> Floats:
    """The most common cell of every column; NaN for a column without any."""
    return np.array([_most_common(rows, j, slice(None)) for j in range(rows.schema.n_columns)])


def replaced_cells(
    rows: CellRows, common: Floats, *, by_class: bool
) -> tuple[CellRows, dict[str, int]]:
    """The rows with missing cells replaced, and how many were in each column that had any.

    A column without any known cell keeps its missing cells.
    """
    cells = rows.cells.copy()
    missing = np.isnan(cells) & ~np.isnan(common)
    names = rows.schema.names
    counts = {names[j]: int(missing[:, j].sum()) for j in np.flatnonzero(missing.any(axis=0))}
    for j in np.flatnonzero(missing.any(axis=0)).tolist():
        if not by_class:
            cells[missing[:, j], j] = common[j]
            continue
        for k in np.unique(rows.targets[:, 0]):
            of_class = rows.targets[:, 0] == k
            value = _most_common(rows, j, of_class)
            cells[missing[:, j] & of_class, j] = common[j] if np.isnan(value) else value
    return replace(rows, cells=cells), counts


def _most_common(rows: CellRows, column: int, chosen: Any) -> float:
    """The heaviest level, the first of equals; of numbers and ordered levels the median."""
    x, weight = rows.cells[chosen, column], rows.weight[chosen]
    known = ~np.isnan(x)
    x, weight = x[known], weight[known]
    if x.size == 0:
        return float("nan")
    if rows.schema.columns[column].kind is Kind.NOMINAL:
        return float(np.bincount(x.astype(np.int64), weight).argmax())
    order = np.argsort(x, kind="stable")
    below = np.cumsum(weight[order])
    return float(x[order][np.searchsorted(below, 0.5 * below[-1] * (1 - 1e-12))])


# --- Cells ----------------------------------------------------------------------------------------
#
# A table as one matrix of cells, which trees and their pruning rules read.
#
# Columns stand in the order of the schema: numbers as they are, levels as their codes. A missing
# cell is NaN; the cells that a sparse table leaves out are zeros. A level that training never met
# is `UNSEEN_CELL` in a nominal column; an ordinal column has no place for it in its order, so there
# it is missing.

UNSEEN_CELL = float(UNSEEN)


def cells_of(sample: Sample) -> Floats:
    """The cells of a sample, of shape (n, number of columns), C-contiguous.

    Examples
    --------
    >>> from novum.core.tables import Column, Kind, Schema
    >>> schema = Schema((Column("color", Kind.NOMINAL, ("blue", "red")), Column("age")))
    >>> cells_of(Sample(schema, np.array([[30.0]]), np.array([[1]], np.int32))).tolist()
    [[1.0, 30.0]]
    """
    schema = sample.schema
    if sample.is_sparse:
        check_memory(
            8 * sample.n_rows * schema.n_columns,
            f"A sparse table of {sample.n_rows:,} rows and {schema.n_columns:,} columns, which "
            "trees read cell by cell,",
            "Take fewer columns, for example those that SelectKBest keeps, or rows in chunks.",
        )
        return as_argument(sample.numeric.toarray())
    if schema.is_numeric:
        return as_argument(sample.numeric)
    cells = np.empty((sample.n_rows, schema.n_columns))
    cells[:, schema.numeric] = sample.numeric
    for place, column in enumerate(schema.categorical):
        codes = sample.codes[:, place]
        matrix = codes.astype(np.float64)
        matrix[codes == MISSING] = np.nan
        ordered = schema.columns[column].kind is Kind.ORDINAL
        matrix[codes == UNSEEN] = np.nan if ordered else UNSEEN_CELL
        cells[:, column] = matrix
    return cells


def has_missing(sample: Sample) -> bool:
    """Whether any cell of a sample is missing."""
    numbers = sample.numeric.data if sample.is_sparse else sample.numeric
    return bool(np.isnan(numbers).any() or (sample.codes == MISSING).any())
