"""A table as one matrix of cells, which trees and their pruning rules read.

Columns stand in the order of the schema: numbers as they are, levels as their codes. A missing cell
is NaN; the cells that a sparse table leaves out are zeros. A level that training never met is
`UNSEEN_CELL` in a nominal column; an ordinal column has no place for it in its order, so there it
is missing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novum.core.memory import check_memory
from novum.core.schema import MISSING, UNSEEN, Kind
from novum.core.validation import Sample
from novum.numerics import as_argument

Floats = NDArray[np.float64]

UNSEEN_CELL = float(UNSEEN)


def cells_of(sample: Sample) -> Floats:
    """The cells of a sample, of shape (n, number of columns), C-contiguous.

    Examples
    --------
    >>> from novum.core.schema import Column, Kind, Schema
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
        found = codes.astype(np.float64)
        found[codes == MISSING] = np.nan
        ordered = schema.columns[column].kind is Kind.ORDINAL
        found[codes == UNSEEN] = np.nan if ordered else UNSEEN_CELL
        cells[:, column] = found
    return cells


def has_missing(sample: Sample) -> bool:
    """Whether any cell of a sample is missing."""
    numbers = sample.numeric.data if sample.is_sparse else sample.numeric
    return bool(np.isnan(numbers).any() or (sample.codes == MISSING).any())
