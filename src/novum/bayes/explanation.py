"""Why a row was given its class: the log-odds against another class, column by column.

    log P(a | x) / P(b | x) = log P(a) / P(b) + sum_j log p(x_j | a) / p(x_j | b)

Naive Bayes multiplies one factor for each column, so its log-odds are a sum, and every column's
part in a decision is a number that can be read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
import pyarrow as pa

from novum.core.errors import InputError
from novum.core.tables import UNSEEN, Kind, Sample, Schema
from novum.core.text import printable
from novum.numerics import Array, Floats

_SHOWN = 10


@dataclass(frozen=True, eq=False)
class Explanation:
    """The log-odds of one class against another for one row.

    Attributes
    ----------
    label, against : labels
        The two classes.
    columns : tuple of str
    values : tuple
        The cells of the row; None where missing.
    contributions : array of shape (number of columns,)
        Each column's part of the log-odds.
    prior : float
        The part of the class priors.
    """

    label: Any
    against: Any
    columns: tuple[str, ...]
    values: tuple[Any, ...]
    contributions: Floats
    prior: float

    @property
    def log_odds(self) -> float:
        """Of `label` against `against`."""
        return float(self.prior + self.contributions.sum())

    def largest(self, count: int = _SHOWN) -> list[tuple[str, Any, float]]:
        """The columns that weigh most, with their cells and contributions."""
        order = np.argsort(-np.abs(self.contributions), kind="stable")[:count]
        return [(self.columns[j], self.values[j], float(self.contributions[j])) for j in order]

    def __str__(self) -> str:
        label, against = printable(str(self.label), 40), printable(str(self.against), 40)
        head = f"{label} against {against}: log-odds {self.log_odds:+.3f}"
        rows = [("(prior)", "", self.prior)]
        shown = self.largest()
        rows += [(name, _cell(value), part) for name, value, part in shown]
        if len(shown) < len(self.columns):
            rest = self.contributions.sum() - sum(part for _, _, part in shown)
            rows.append((f"({len(self.columns) - len(shown)} others)", "", float(rest)))
        names = [printable(f"{name} = {value}" if value else name, 50) for name, value, _ in rows]
        width = max(len(name) for name in names)
        lines = [
            f"  {n:<{width}}  {part:+.3f}" for n, (_, _, part) in zip(names, rows, strict=True)
        ]
        return "\n".join([head, *lines])


def _cell(value: Any) -> str:
    if value is None:
        return "missing"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


# --- Cells in the user's terms --------------------------------------------------------------------
#
# Cells of a checked sample in the user's terms: for explanations and for drawn rows.
#
# A column of levels is turned from codes back to its levels; a missing cell is None. Tables that
# have names or levels come as Arrow tables, others as arrays of numbers.


def row_cells(sample: Sample) -> tuple[Any, ...]:
    """The cells of the first row, in the order of the table's columns."""
    numbers = sample.numeric[[0]].toarray()[0] if sample.is_sparse else sample.numeric[0]
    cells: list[Any] = [None] * sample.schema.n_columns
    for i, value in zip(sample.schema.numeric, numbers, strict=True):
        cells[i] = None if np.isnan(value) else float(value)
    for i, code in zip(sample.schema.categorical, sample.codes[0], strict=True):
        cells[i] = sample.schema.columns[i].levels[code] if code >= 0 else None
        if code == UNSEEN:
            cells[i] = "(a new level)"
    return tuple(cells)


def checked_row_count(n: Any) -> int:
    """The number of rows to draw."""
    if not isinstance(n, Integral) or isinstance(n, bool) or n < 0:
        raise InputError(f"The number of rows to draw is a whole number of at least 0, got {n!r}.")
    return int(n)


def drawn_table(schema: Schema, cells: Mapping[int, Array]) -> Any:
    """Drawn cells by position of their column, as a table of the schema."""
    if schema.is_numeric and not schema.named:
        return np.column_stack([cells[i] for i in range(schema.n_columns)])
    return pa.table(
        {column.name: _column(column, cells[i]) for i, column in enumerate(schema.columns)}
    )


def _column(column: Any, values: Array) -> pa.Array:
    if column.kind is Kind.NUMERIC:
        return pa.array(values, pa.float64(), from_pandas=True)
    levels = pa.array(list(column.levels))
    codes = pa.array(values.astype(np.int32), mask=values < 0)
    if column.kind is Kind.ORDINAL:
        return pa.DictionaryArray.from_arrays(codes, levels, ordered=True)
    return levels.take(codes)
