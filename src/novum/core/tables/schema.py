"""The schema of a table: what each column is, decided once and carried along.

A column is *numeric* (a number), *ordinal* (levels in a declared order) or *nominal* (levels
without order). Levels have integer codes `0 .. k-1` in a stable order: the declared order for
ordinal columns; for nominal ones false before true, numbers by size, text by code point. The order
of nominal levels therefore depends on nothing but the set of levels, and two schemas learned from
two parts of a table unite to the schema of the whole. `True` and 1 are different levels.

Two codes are reserved: `MISSING` for a cell without a value, `UNSEEN` for a level that was not
met in training.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Any

import numpy as np

from novum.core.errors import SchemaError
from novum.numerics import MISSING, UNSEEN, Codes, Positions, cached_property

Level = str | int | float | bool


class Kind(Enum):
    """What the values of a column mean."""

    NUMERIC = "numeric"
    ORDINAL = "ordinal"
    NOMINAL = "nominal"


@dataclass(frozen=True, eq=False)
class Column:
    """One column: its name, its kind and, unless numeric, its levels in the order of their codes.

    Examples
    --------
    >>> Column("size", Kind.ORDINAL, ("small", "large")).n_levels
    2
    """

    name: str
    kind: Kind = Kind.NUMERIC
    levels: tuple[Level, ...] = ()

    def __post_init__(self) -> None:
        # A wide table has many of these.
        if self.kind is Kind.NUMERIC and self.levels == ():
            return
        if self.kind is Kind.NUMERIC and self.levels:
            raise SchemaError(
                f"Numeric column {self.name!r} cannot have levels, got {self.levels!r}. Leave them "
                "out, or make the column nominal or ordinal."
            )
        ordered = sorted_levels(self.levels) if self.kind is Kind.NOMINAL else self.levels
        object.__setattr__(self, "levels", tuple(ordered))
        if self.levels and len(self.positions) != len(self.levels):
            raise SchemaError(
                f"Column {self.name!r} has a level twice: {self.levels!r}. List every level once."
            )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Column):
            return NotImplemented
        return self._identity == other._identity

    def __hash__(self) -> int:
        return self._hash

    # The kind as text in a stored state, because skops knows no enums.

    def __getstate__(self) -> dict[str, object]:
        return {"name": self.name, "kind": self.kind.value, "levels": self.levels}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["name"], Kind(state["kind"]), state["levels"])  # type: ignore[misc]

    @property
    def n_levels(self) -> int:
        return len(self.levels)

    @cached_property
    def positions(self) -> dict[tuple[bool, Level], int]:
        """The code of every level, by `level_key`."""
        return {level_key(level): code for code, level in enumerate(self.levels)}

    @cached_property
    def has_text_levels(self) -> bool:
        """Whether all levels are text; asked for every chunk of a file, so it is remembered."""
        return all(isinstance(level, str) for level in self.levels)

    @cached_property
    def _hash(self) -> int:
        return hash(self._identity)

    @cached_property
    def _identity(self) -> tuple[Any, ...]:
        return (self.name, self.kind, tuple(map(level_key, self.levels)))

    def unite(self, other: Column) -> Column:
        """The column of both tables: same name and kind, all levels of either."""
        if self == other:
            return self
        if (self.name, self.kind) != (other.name, other.kind):
            raise SchemaError(
                f"Column {self.name!r} ({self.kind.value}) does not fit column {other.name!r} "
                f"({other.kind.value}). Give both parts the same columns in the same order, "
                "or pass `schema=` so that both are read alike."
            )
        if self.kind is Kind.ORDINAL:
            return Column(self.name, self.kind, _merged_order(self, other))
        new = [level for level in other.levels if level_key(level) not in self.positions]
        return Column(self.name, self.kind, (*self.levels, *new))


@dataclass(frozen=True)
class Schema:
    """The columns of a table, in order.

    Parameters
    ----------
    columns : tuple of Column
    named : bool
        False when the table came as an array, and the names `x0, x1, ...` are ours.

    Examples
    --------
    >>> schema = Schema((Column("age"), Column("color", Kind.NOMINAL, ("red", "blue"))))
    >>> schema.names, schema.columns[1].levels
    (('age', 'color'), ('blue', 'red'))
    """

    columns: tuple[Column, ...]
    named: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        names = self.names
        if len(set(names)) != len(names):
            twice = sorted({name for name in names if names.count(name) > 1})
            raise SchemaError(
                f"Column names must differ; {twice[0]!r} occurs {names.count(twice[0])} times. "
                "Rename the columns."
            )

    @classmethod
    @lru_cache(maxsize=64)
    def of_array(cls, n_columns: int) -> Schema:
        """All columns numeric, named `x0, x1, ...`."""
        return cls(tuple(Column(f"x{i}") for i in range(n_columns)), named=False)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @property
    def n_columns(self) -> int:
        return len(self.columns)

    @cached_property
    def numeric(self) -> Positions:
        """Positions of the numeric columns."""
        return self._positions(lambda column: column.kind is Kind.NUMERIC)

    @cached_property
    def categorical(self) -> Positions:
        """Positions of the nominal and ordinal columns."""
        return self._positions(lambda column: column.kind is not Kind.NUMERIC)

    @property
    def is_numeric(self) -> bool:
        return self.categorical.size == 0

    @property
    def categorical_columns(self) -> tuple[Column, ...]:
        return tuple(self.columns[i] for i in self.categorical)

    def unite(self, other: Schema) -> Schema:
        """The schema of both tables; raises `SchemaError` when they do not fit together.

        Columns that came as an array have no names of their own and take the other table's.
        """
        if self == other:
            return self
        if self.n_columns != other.n_columns:
            raise SchemaError(
                f"A table of {self.n_columns} columns does not fit one of {other.n_columns}. "
                "Give both parts the same columns."
            )
        names = self.names if self.named or not other.named else other.names
        pairs = zip(self._under(names), other._under(names), strict=True)
        return Schema(tuple(a.unite(b) for a, b in pairs), self.named or other.named)

    def renamed(self, names: Sequence[str]) -> Schema:
        """The same columns under other names."""
        pairs = zip(names, self.columns, strict=True)
        return Schema(tuple(Column(name, c.kind, c.levels) for name, c in pairs))

    def _under(self, names: Sequence[str]) -> tuple[Column, ...]:
        """The columns, under these names where they have none of their own."""
        return self.columns if self.named else self.renamed(names).columns

    def recode(self, codes: Codes, united: Schema) -> Codes:
        """Codes of categorical columns under this schema, translated to those of `united`."""
        translated = np.empty_like(codes)
        for j, (old, new) in enumerate(
            zip(self.categorical_columns, united.categorical_columns, strict=True)
        ):
            # The two reserved codes index the last two entries from behind and stay themselves.
            moved = [new.positions.get(level_key(level), UNSEEN) for level in old.levels]
            table = np.array([*moved, UNSEEN, MISSING], np.int32)
            translated[:, j] = table[codes[:, j]]
        return translated

    def _positions(self, chosen: Callable[[Column], bool]) -> Positions:
        return np.array([i for i, column in enumerate(self.columns) if chosen(column)], np.intp)


# --- Order of levels ------------------------------------------------------------------------------


def sorted_levels(levels: Iterable[Level]) -> tuple[Level, ...]:
    """Levels in the one order that depends on the set alone: booleans, numbers, text."""

    def key(level: Level) -> tuple[int, float | str]:
        if isinstance(level, str):
            return (2, level)
        return (0 if isinstance(level, bool) else 1, level)

    return tuple(sorted(levels, key=key))


def level_key(level: Any) -> tuple[bool, Any]:
    """What tells levels apart: Python holds `True == 1`, a table does not."""
    return (isinstance(level, bool), level)


def _merged_order(a: Column, b: Column) -> tuple[Level, ...]:
    """The one order that contains both; refused when they contradict or leave it open.

    Levels that both have cut the two lists into gaps. Where only one list has levels in a gap they
    belong there; where both have, nothing says whose come first.
    """
    shared = [level for level in a.levels if level_key(level) in b.positions]
    merged: list[Level] = []
    first = second = 0
    for level in (*shared, None):
        key = level_key(level)
        stop_a = a.positions[key] if level is not None else a.n_levels
        stop_b = b.positions[key] if level is not None else b.n_levels
        gap_a, gap_b = a.levels[first:stop_a], b.levels[second:stop_b]
        if stop_b < second or (gap_a and gap_b):
            raise SchemaError(
                f"Ordinal column {a.name!r} has its levels in two orders that do not make one: "
                f"{a.levels!r} and {b.levels!r}. Declare all levels in one order for both parts."
            )
        merged += [*gap_a, *gap_b] if level is None else [*gap_a, *gap_b, level]
        first, second = stop_a + 1, stop_b + 1
    return tuple(merged)
