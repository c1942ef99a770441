"""Columns as small integers: levels by their codes, numbers by their place between edges.

A numeric column with at most `max_bins` distinct values has one code for each of them; a column
with more is cut at quantiles into bins of nearly equal weight. In both cases

    code(x) = number of edges below x,   so that   x <= edges[b]  <=>  code(x) <= b,

and edges lie halfway between neighboring values of the table. With `max_bins=None` every distinct
value has a code of its own, however many there are.

Quantiles come from all rows, or from a fixed random choice of 20,000 of them in larger tables; a
column with at most as many known cells is read in whole.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from novum.core.errors import InputError
from novum.core.runtime import time_sliced
from novum.core.tables import Kind, Schema
from novum.numerics import (
    Array,
    Bytes,
    Codes,
    Floats,
    Integers,
    Mask,
    Positions,
    as_argument,
    cached_property,
)

MAX_LEVELS = 2**16
NARROW_CODES = 255
NARROW_MISSING = 255
QUANTILE_ROWS = 20_000


@dataclass(frozen=True, eq=False)
class TableCoding:
    """How the cells of a table become codes.

    Attributes
    ----------
    schema : Schema
    edges : tuple of arrays
        Of each column, ascending; empty for nominal columns.
    n_codes : int64 array (n_columns,)
    """

    schema: Schema
    edges: tuple[Floats, ...]
    n_codes: Integers

    @classmethod
    def of(
        cls,
        schema: Schema,
        cells: Floats,
        weight: Floats | None = None,
        max_bins: int | None = NARROW_CODES,
    ) -> TableCoding:
        """The coding of a table.

        Parameters
        ----------
        schema : Schema
        cells : array (n, n_columns), of `cells_of`
        weight : array (n,), optional
            A row of weight 2 counts as two in the quantiles.
        max_bins : int from 2 to 255, or None for a code of every distinct value

        Examples
        --------
        >>> coding = TableCoding.of(Schema.of_array(1), np.array([[1.0], [4.0], [2.0]]))
        >>> coding.edges[0].tolist(), coding.codes(np.array([[1.5], [9.0]])).ravel().tolist()
        ([1.5, 3.0], [0, 2])
        """
        refuse_many_levels(schema)
        chosen = _quantile_rows(len(cells)) if max_bins is not None else None
        edges, n_codes = [], []
        for j, column in enumerate(schema.columns):
            nominal = column.kind is Kind.NOMINAL
            cuts = np.empty(0)
            if not nominal:
                cuts = _column_edges(cells[:, j], weight, max_bins, chosen)
            edges.append(cuts)
            n_codes.append(max(column.n_levels, 1) if nominal else cuts.size + 1)
        return cls(schema, tuple(edges), np.array(n_codes, np.int64))

    @cached_property
    def is_narrow(self) -> bool:
        """Whether codes fit into one byte."""
        return bool((self.n_codes <= NARROW_CODES).all())

    @cached_property
    def missing(self) -> int:
        """The code of a cell that says nothing: missing, or a level that training never met."""
        return NARROW_MISSING if self.is_narrow else int(self.n_codes.max())

    @cached_property
    def nominal(self) -> Mask:
        """Which columns are nominal."""
        return np.array([column.kind is Kind.NOMINAL for column in self.schema.columns], bool)

    def codes(self, cells: Floats) -> Array:
        """Codes of cells, (n, n_columns): bytes where they suffice, else 32-bit integers."""
        return self._narrow(as_argument(cells)) if self.is_narrow else self._wide(cells)

    def ranges(self, codes: Array, cells: Floats) -> tuple[Floats, Floats]:
        """The least and the largest cell of every code, each (n_columns, largest n_codes)."""
        shape = (len(self.edges), int(self.n_codes.max()))
        low, high = np.full(shape, np.inf), np.full(shape, -np.inf)
        if self.is_narrow:
            from novum.trees.growth.coding_kernels import code_ranges

            code_ranges(codes, as_argument(cells), np.uint8(NARROW_MISSING), low, high)
            return low, high
        for j in range(len(self.edges)):
            known = codes[:, j] != self.missing
            np.minimum.at(low[j], codes[known, j], cells[known, j])
            np.maximum.at(high[j], codes[known, j], cells[known, j])
        return low, high

    def _narrow(self, cells: Floats) -> Bytes:
        from novum.trees.growth.coding_kernels import narrow_codes

        padded = np.full((len(self.edges), 256), np.inf)
        for j, edges in enumerate(self.edges):
            padded[j, : edges.size] = edges
        codes = np.empty(cells.shape, np.uint8)
        fixed = (padded, self.nominal, self.n_codes, np.uint8(NARROW_MISSING))
        for start, stop in time_sliced(len(cells), block=4096):
            narrow_codes(cells, *fixed, start, stop, codes)
        return codes

    def _wide(self, cells: Floats) -> Codes:
        codes = np.empty(cells.shape, np.int32)
        for j, edges in enumerate(self.edges):
            x = cells[:, j]
            if self.nominal[j]:
                known = (x >= 0) & (x < self.n_codes[j])
                codes[:, j] = np.where(known, x, self.missing)
            else:
                codes[:, j] = np.searchsorted(edges, x, side="left")
                codes[np.isnan(x), j] = self.missing
        return codes


def refuse_many_levels(schema: Schema) -> None:
    """Raises `InputError` if a column has more levels than a tree takes."""
    for column in schema.columns:
        if column.n_levels > MAX_LEVELS:
            raise InputError(
                f"Column {column.name!r} has {column.n_levels} levels, more than the "
                f"{MAX_LEVELS} that a tree takes. Such a column is an identifier: leave it "
                "out, or group its levels."
            )


def midpoints(low: Floats, high: Floats) -> Floats:
    """A number `t` halfway from `low` to `high > low` with `low <= t < high`, without overflow."""
    middle = low / 2 + high / 2
    return np.where((middle >= low) & (middle < high), middle, low)


# --- Edges ----------------------------------------------------------------------------------------


def _quantile_rows(n_rows: int) -> Positions | None:
    """The rows that quantiles of a large table are read from; None for all."""
    if n_rows <= QUANTILE_ROWS:
        return None
    return np.sort(np.random.default_rng(0).choice(n_rows, QUANTILE_ROWS, replace=False))


def _column_edges(
    x: Floats, weight: Floats | None, max_bins: int | None, chosen: Positions | None
) -> Floats:
    if max_bins is None:
        return _between(np.unique(x[~np.isnan(x)]))
    if chosen is not None:
        few = _few_values(x, max_bins)
        if few is not None:
            return _between(few)
        if np.isnan(x[chosen]).any():
            cells = np.flatnonzero(~np.isnan(x))
            chosen = cells if cells.size <= QUANTILE_ROWS else chosen
        x, weight = x[chosen], None if weight is None else weight[chosen]
    missing = np.isnan(x)
    if missing.any():
        x, weight = x[~missing], None if weight is None else weight[~missing]
    values, above = _weights_up_to(x, weight)
    if values.size <= max_bins:
        return _between(values)
    targets = above[-1] * np.arange(1, max_bins) / max_bins
    # The last value of each bin; the largest value of all closes no bin.
    last = np.unique(np.searchsorted(above, targets * (1 - 1e-12)))
    last = last[last < values.size - 1]
    return midpoints(values[last], values[last + 1])


def _weights_up_to(x: Floats, weight: Floats | None) -> tuple[Floats, Floats]:
    """Distinct values, ascending, and the weight of the rows up to each."""
    order = None if weight is None else np.argsort(x, kind="stable")
    ordered = np.sort(x) if order is None else x[order]
    is_last = np.ones(x.size, bool)
    np.not_equal(ordered[1:], ordered[:-1], out=is_last[:-1])
    last = is_last.nonzero()[0]
    if weight is None:
        return ordered[last], (last + 1).astype(np.float64)
    return ordered[last], np.cumsum(weight[order])[last]


def _few_values(x: Floats, limit: int) -> Floats | None:
    """The distinct values of a long column, if there are at most `limit`."""
    for rows in (x[:4096], x):
        values = np.unique(rows[~np.isnan(rows)])
        if values.size > limit:
            return None
    return values


def _between(values: Floats) -> Floats:
    return midpoints(values[:-1], values[1:])
