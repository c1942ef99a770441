"""A table as one matrix of cells, which trees and their pruning rules read.

Columns stand in the order of the schema: numbers as they are, levels as their codes. A missing cell
is NaN. A level that training never met is `UNSEEN_CELL` in a nominal column; an ordinal column has
no place for it in its order, so there it is missing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

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
