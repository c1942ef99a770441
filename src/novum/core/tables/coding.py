"""The one coding of categorical columns for linear models and kernels.

A *full* design has one column for every numeric column and one 0/1 column for every level of a
categorical one, in the order of the schema. Statistics are kept on the full design, because a
level met later is then just a column of zeros in the rows before. A *treatment* design leaves out
the first level of every categorical column, the reference: its coefficients say how much a level
differs from the reference. A level never met in training counts as the reference, with a warning.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from novum.core.errors import SchemaError
from novum.core.tables.schema import MISSING, Kind, Schema, level_key
from novum.core.tables.unseen_levels import warn_unseen
from novum.core.tables.validation import Sample
from novum.numerics import Codes, Floats, Positions, cached_property

# Rows of the treatment design made at a time: some hundred kilobytes, which stay in the cache.
BLOCK_ROWS = 2048
_UNSEEN_RULE = "they count as the reference level {first}"


@dataclass(frozen=True)
class Coding:
    """Where the columns of a schema stand in its full and in its treatment design.

    Examples
    --------
    >>> from novum.core.tables import Column
    >>> schema = Schema((Column("age"), Column("color", Kind.NOMINAL, ("blue", "green", "red"))))
    >>> coding = Coding(schema)
    >>> coding.full_width, coding.names
    (4, ('age', 'color=green', 'color=red'))
    """

    schema: Schema

    @cached_property
    def starts(self) -> Positions:
        """First position of every column of the schema in the full design."""
        if self.schema.is_numeric:
            return np.arange(self.schema.n_columns + 1)
        widths = [1 if c.kind is Kind.NUMERIC else c.n_levels for c in self.schema.columns]
        return np.concatenate([[0], np.cumsum(widths)]).astype(np.intp)

    @property
    def full_width(self) -> int:
        return int(self.starts[-1])

    @cached_property
    def treatment(self) -> Positions:
        """Positions in the full design that the treatment design keeps."""
        if self.schema.is_numeric:
            return np.arange(self.full_width)
        references = {
            int(self.starts[i]) for i in self.schema.categorical if self.schema.columns[i].n_levels
        }
        return np.array([i for i in range(self.full_width) if i not in references], np.intp)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the columns of the treatment design."""
        full: list[str] = []
        for column in self.schema.columns:
            if column.kind is Kind.NUMERIC:
                full.append(column.name)
            else:
                full += [f"{column.name}={level}" for level in column.levels]
        return tuple(full[i] for i in self.treatment)

    def fill_full(self, sample: Sample, start: int, stop: int, out: Floats) -> None:
        """Writes rows `start..stop` of the full design."""
        for j, i in enumerate(self.schema.categorical):
            codes, column = sample.codes[start:stop, j], self.schema.columns[i]
            _refuse_missing(codes, column.name, start)
            if (codes < 0).any():
                raise SchemaError(
                    f"Column {column.name!r} has a level that the schema does not list (row "
                    f"{start + int(np.argmax(codes < 0))}); it lists {column.levels!r}. Add the "
                    "level to the schema."
                )
        self._fill(sample, start, stop, out)

    def _fill(self, sample: Sample, start: int, stop: int, out: Floats) -> None:
        """As `fill_full`, with nothing but zeros for a level that is not listed."""
        numeric = sample.numeric[start:stop]
        dense = numeric.toarray() if sample.is_sparse else numeric
        if self.schema.is_numeric:
            out[...] = dense
            return
        out[...] = 0.0
        out[:, self.starts[self.schema.numeric]] = dense
        for j, i in enumerate(self.schema.categorical):
            codes = sample.codes[start:stop, j]
            rows = np.flatnonzero(codes >= 0)
            out[rows, self.starts[i] + codes[rows]] = 1.0

    def scores(self, sample: Sample, coef: Floats) -> Floats:
        """The treatment design times `coef` of shape (width, n_targets), without building it."""
        if self.schema.is_numeric:
            cells = sample.numeric
            if isinstance(cells, np.ndarray) and not cells.flags.forc:
                # NumPy multiplies strided cells without BLAS, and to other last bits.
                cells = np.ascontiguousarray(cells)
            return np.asarray(cells @ coef)
        warn_unseen(sample, _UNSEEN_RULE, stacklevel=4)
        full = np.zeros((self.full_width, coef.shape[1]))
        full[self.treatment] = coef
        scores = np.asarray(sample.numeric @ full[self.starts[self.schema.numeric]])
        for j, i in enumerate(self.schema.categorical):
            _refuse_missing(sample.codes[:, j], self.schema.columns[i].name, 0)
            # The last row of zeros serves the negative code of an unseen level.
            levels = full[self.starts[i] : self.starts[i + 1]]
            effects = np.vstack([levels, np.zeros(coef.shape[1])])
            scores += effects[np.maximum(sample.codes[:, j], -1)]
        return scores

    def moved_from(self, old: Schema) -> Positions:
        """For every full column, its position in the full design of `old`, or -1 if new there."""
        before = Coding(old)
        moved: list[int] = []
        for i, (column, earlier) in enumerate(zip(self.schema.columns, old.columns, strict=True)):
            first = int(before.starts[i])
            if column.kind is Kind.NUMERIC:
                moved.append(first)
            else:
                known = [earlier.positions.get(level_key(level)) for level in column.levels]
                moved += [-1 if code is None else first + code for code in known]
        return np.array(moved, np.intp)


def treatment_rows(sample: Sample, start: int, stop: int) -> Floats:
    """Rows `start..stop` of the treatment design; a view where all columns are numeric.

    A level that the schema does not list counts as the reference, as in `Coding.scores`.
    """
    if sample.schema.is_numeric and not sample.is_sparse:
        return np.asarray(sample.numeric[start:stop])
    coding, rows = Coding(sample.schema), sample.rows(slice(start, stop))
    for j, column in enumerate(sample.schema.categorical_columns):
        _refuse_missing(rows.codes[:, j], column.name, start)
    warn_unseen(rows, _UNSEEN_RULE, stacklevel=4)
    full = np.empty((rows.n_rows, coding.full_width))
    coding._fill(rows, 0, rows.n_rows, full)
    return full[:, coding.treatment]


def treatment_blocks(sample: Sample) -> Iterator[tuple[slice, Floats]]:
    """The treatment design block by block: which rows, and their part of the design."""
    for start in range(0, sample.n_rows, BLOCK_ROWS):
        stop = min(start + BLOCK_ROWS, sample.n_rows)
        yield slice(start, stop), treatment_rows(sample, start, stop)


def _refuse_missing(codes: Codes, name: str, start: int) -> None:
    missing = np.flatnonzero(codes == MISSING)
    if missing.size:
        raise SchemaError(
            f"Column {name!r} has a missing cell at row {start + int(missing[0])}, which has no "
            "code. Fill in missing cells before coding."
        )
