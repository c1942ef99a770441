"""Counting the joint states of the columns of a table.

    counts[a, b, ...] = sum_i w_i [x_i = a] [y_i = b] ...

Columns of any frame are read as categories: the levels of a column are its distinct values, in the
schema's order (declared order; else false before true, numbers by size, text by code point).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from novum.core.errors import InputError, MissingValuesError
from novum.core.tables import MISSING, Column, Kind, Level, frame_column, frame_of, is_frame
from novum.distributions.joint_table_states import check_cells, names_of
from novum.numerics import Array, Codes, count_jointly

Counted = tuple[Array, tuple[str, ...], tuple[tuple[Level, ...], ...], tuple[str, ...]]


def counted_columns(
    frame: Any, columns: str | Iterable[str] | None = None, weight: ArrayLike | None = None
) -> Counted:
    """Counts of the joint states, names, states and the names of ordered variables.

    Examples
    --------
    >>> counts, names, states, _ = counted_columns({"wind": ["no", "yes", "no"], "n": [1, 1, 2]})
    >>> names, states, counts.tolist()
    (('wind', 'n'), (('no', 'yes'), (1, 2)), [[1, 1], [1, 0]])
    """
    from novum.core.tables import arrow_column, codes_of, is_ordered, levels_of

    read: list[Column] = []
    coded = []
    for name, values in named_columns(frame, columns).items():
        array = arrow_column(values, name)
        kind = Kind.ORDINAL if is_ordered(array) else Kind.NOMINAL
        column = Column(name, kind, levels_of(array, name))
        codes = codes_of(array, column)
        _check_complete(codes, column)
        read.append(column)
        coded.append(codes)
    check_cells([column.n_levels for column in read])
    _check_lengths(read, coded)
    table = np.column_stack(coded)
    counts = count_jointly(table, [column.n_levels for column in read], weight).counts
    return (
        counts,
        tuple(column.name for column in read),
        tuple(column.levels for column in read),
        tuple(column.name for column in read if column.kind is Kind.ORDINAL),
    )


def named_columns(
    frame: Any, wanted: str | Iterable[str] | None = None, what: str = "A joint table is counted"
) -> dict[str, Any]:
    """The chosen columns by name, in a form that `arrow_column` takes."""
    if isinstance(frame, Mapping):
        columns = {str(name): _sequence(values) for name, values in frame.items()}
    elif is_frame(frame):
        table = frame_of(frame)
        columns = {str(name): frame_column(table, i) for i, name in enumerate(table.columns)}
    else:
        raise InputError(
            f"{what} from a data frame or a mapping of names to columns, got "
            f"{type(frame).__name__}."
        )
    chosen = tuple(columns) if wanted is None else names_of(wanted)
    for name in chosen:
        if name not in columns:
            raise InputError(f"There is no column {name!r}; there are {', '.join(columns)}.")
    if not chosen:
        raise InputError(f"{what} from at least one column; there is none.")
    return {name: columns[name] for name in chosen}


def _sequence(values: Any) -> Any:
    """Lists cell by cell, so that NumPy does not turn `[1, "a"]` into text."""
    if not isinstance(values, (list, tuple, range)):
        return values
    cells = np.empty(len(values), object)
    cells[:] = values
    return cells


# --- Checks ---------------------------------------------------------------------------------------


def _check_complete(codes: Codes, column: Column) -> None:
    missing = np.flatnonzero(codes == MISSING)
    if missing.size:
        raise MissingValuesError(
            f"Column {column.name!r} has {missing.size} missing cells, the first at row "
            f"{missing[0]}; a joint table has no place for their rows. Drop the rows, or give "
            "missing a state of its own."
        )
    if not column.n_levels:
        raise InputError("A joint table cannot be counted from no rows.")


def _check_lengths(columns: list[Column], coded: list[Codes]) -> None:
    for column, codes in zip(columns, coded, strict=True):
        if len(codes) != len(coded[0]):
            raise InputError(
                f"Column {column.name!r} has {len(codes)} rows and {columns[0].name!r} "
                f"{len(coded[0])}. Give all columns one cell for each row."
            )
