"""Nominal columns that are independent given the class: the naive Bayes law itself.

    p(x, c) = prior_c prod_j table_j[c, x_j]

The error of the Bayes rule is a finite sum over all configurations of the columns:

    1 - sum_x max_c p(x, c)

A column missing completely at random at rate r is a column with one level more, of probability r in
every class, so the same sum is exact with missing cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from novum.core.errors import InputError
from novum.data.synthetic.sample import Seed, SyntheticSample, check_size, checked_priors
from novum.numerics import Array, Floats, Integers

_MAX_CONFIGURATIONS = 1 << 22


@dataclass(frozen=True, eq=False)
class NominalClasses:
    """Nominal columns, independent within each class.

    Parameters
    ----------
    tables : sequence of arrays of shape (classes, levels_j)
        Row c of table j is the law of column j in class c.
    priors : array of shape (classes,), default=None
        None makes all classes equally likely.

    Examples
    --------
    >>> law = NominalClasses([[[0.9, 0.1], [0.2, 0.8]]])
    >>> sample = law.sample(5, random_state=0)
    >>> sample.X.column_names, round(sample.bayes_error, 4)
    (['x0'], 0.15)
    """

    tables: Any
    priors: Any = None

    def __post_init__(self) -> None:
        tables = tuple(np.asarray(table, float) for table in self.tables)
        if not tables or any(table.ndim != 2 for table in tables):
            raise InputError("`tables` needs one array of shape (classes, levels) per column.")
        classes = len(tables[0])
        for j, table in enumerate(tables):
            if len(table) != classes or (table < 0).any() or not _rows_sum_to_one(table):
                raise InputError(
                    f"Table {j} needs {classes} rows of probabilities that sum to 1, "
                    f"got {table.tolist()!r}."
                )
        normalized = tuple(table / table.sum(axis=1, keepdims=True) for table in tables)
        object.__setattr__(self, "tables", normalized)
        object.__setattr__(self, "priors", checked_priors(self.priors, classes))

    @property
    def levels(self) -> tuple[tuple[str, ...], ...]:
        """Names of the levels of each column: `a, b, ..., z, l26, l27, ...`."""
        return tuple(
            tuple(chr(97 + k) if k < 26 else f"l{k}" for k in range(table.shape[1]))
            for table in self.tables
        )

    def sample(self, n: int, random_state: Seed = None, missing: float = 0.0) -> SyntheticSample:
        """`n` rows as a table of nominal columns; `missing` is the rate of erased cells."""
        check_size(n, missing)
        rng = np.random.default_rng(random_state)
        y = rng.choice(len(self.priors), n, p=self.priors)
        codes = np.column_stack([_drawn(table[y], rng) for table in self.tables])
        codes = np.where(rng.random(codes.shape) < missing, -1, codes)
        return SyntheticSample(self._table(codes), y, self.error(missing), 0.0, self)

    def error(self, missing: float = 0.0) -> float:
        """The exact Bayes error, with cells missing at the given rate."""
        sizes = [table.shape[1] + (missing > 0) for table in self.tables]
        configurations = int(np.prod([int(size) for size in sizes], dtype=object))
        if configurations > _MAX_CONFIGURATIONS:
            raise InputError(
                f"The columns have {configurations:,} configurations, too many to sum over "
                f"(at most {_MAX_CONFIGURATIONS:,}). Use fewer columns or levels."
            )
        joint = self.priors[:, None]
        for table in self.tables:
            cells = table
            if missing > 0:
                cells = np.column_stack([(1 - missing) * table, np.full(len(table), missing)])
            joint = (joint[:, :, None] * cells[:, None, :]).reshape(len(joint), -1)
        # The wrong mass is summed itself: 1 - max would cancel when the error is tiny.
        return float((joint.sum(axis=0) - joint.max(axis=0)).sum())

    def log_joint(self, X: pa.Table) -> Floats:
        """`log p(observed cells of x, c)` of shape (n, classes)."""
        with np.errstate(divide="ignore"):
            total = np.broadcast_to(np.log(self.priors), (X.num_rows, len(self.priors))).copy()
            for j, (table, levels) in enumerate(zip(self.tables, self.levels, strict=True)):
                codes = _codes(X.column(j), levels)
                total += np.where(codes[:, None] < 0, 0.0, np.log(table.T)[codes])
        return total

    def bayes_predict(self, X: pa.Table) -> Array:
        return self.log_joint(X).argmax(axis=1)

    def _table(self, codes: Integers) -> pa.Table:
        columns = {
            f"x{j}": pa.DictionaryArray.from_arrays(
                pa.array(codes[:, j], pa.int32(), mask=codes[:, j] < 0), list(levels)
            )
            for j, levels in enumerate(self.levels)
        }
        return pa.table(columns)


def _rows_sum_to_one(table: Floats) -> bool:
    return bool((np.abs(table.sum(axis=1) - 1) < 1e-9).all())


def _drawn(laws: Floats, rng: np.random.Generator) -> Integers:
    """One level per row, each row by its own law."""
    steps = np.cumsum(laws, axis=1)
    # Rounding may leave the last step below 1; the draw stays inside the last possible level.
    return (rng.random((len(laws), 1)) * steps[:, -1:] >= steps[:, :-1]).sum(axis=1)


def _codes(column: pa.ChunkedArray, levels: Sequence[str]) -> Integers:
    position = {level: code for code, level in enumerate(levels)}
    cells = column.to_pylist()
    strange = [cell for cell in cells if cell is not None and cell not in position]
    if strange:
        raise InputError(f"{strange[0]!r} is no level of the law; its levels are {levels!r}.")
    return np.array([-1 if cell is None else position[cell] for cell in cells], np.int64)
