"""Columns that say something about rows: their weight, their group, their place in time."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novum.apps.job.table.column_cells import Cells
from novum.core.errors import InputError
from novum.core.schema import Kind
from novum.core.text import label_text, printable

Floats = NDArray[np.float64]
Ranks = NDArray[np.int64]

_YEAR_FIRST = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(.*)", re.DOTALL)
_HOUR = re.compile(r"[ T](\d):")


def read_weights(cells: Cells) -> Floats:
    """Finite weights of at least 0, one for each row."""
    shown = repr(printable(cells.name))
    if not cells.is_numeric:
        raise InputError(
            f"The weight column {shown} holds {label_text(cells.column.levels[0])} and is no "
            "column of numbers. Name one with --weight, or correct its cells."
        )
    wrong = np.flatnonzero(~(np.isfinite(cells.values) & (cells.values >= 0)))
    if wrong.size:
        value = cells.values[wrong[0]]
        what = "missing" if np.isnan(value) else f"{value:g}"
        raise InputError(
            f"The weight column {shown} is {what} in data row {wrong[0] + 1}, {wrong.size:,} such "
            "in all. A weight says how often a row counts: give finite numbers of at least 0."
        )
    if not cells.values.any():
        raise InputError(
            f"All weights in {shown} are 0, so there is nothing to learn from. Give at least one "
            "row a positive weight."
        )
    return np.asarray(cells.values)


def read_groups(cells: Cells) -> Ranks:
    """Codes of the groups, one for each row."""
    shown = repr(printable(cells.name))
    _refuse_missing(cells, "group", "rows that belong to none can be groups of their own")
    found, codes = np.unique(cells.values, return_inverse=True)
    if len(found) < 2:
        raise InputError(
            f"The group column {shown} has one group only, so no rows can be set aside. Leave out "
            "--group, or name a column of several groups."
        )
    return codes.astype(np.int64)


def read_order(cells: Cells) -> Ranks:
    """Ranks in time: of numbers, of ordered levels, or of dates with the year first.

    Examples
    --------
    >>> from novum.core.schema import Column
    >>> days = Column("day", Kind.NOMINAL, ("2024-12-01", "2024-2-10"))
    >>> read_order(Cells(days, np.array([0, 1, 0], np.int32))).tolist()
    [1, 0, 1]
    """
    _refuse_missing(cells, "time", "leave out the rows, or fill in when they were taken")
    if cells.is_numeric or cells.column.kind is Kind.ORDINAL:
        return np.unique(cells.values, return_inverse=True)[1].astype(np.int64)
    met = np.flatnonzero(cells.level_counts)
    times = np.array([_time(str(cells.level(int(code))), cells.name) for code in met])
    ranks = np.zeros(cells.column.n_levels, np.int64)
    ranks[met] = np.unique(times, return_inverse=True)[1]
    return ranks[cells.values]


def _refuse_missing(cells: Cells, role: str, remedy: str) -> None:
    if cells.n_missing:
        raise InputError(
            f"The {role} column {printable(cells.name)!r} has no value in data row "
            f"{int((~cells.known).argmax()) + 1}, {cells.n_missing:,} such in all. Give every row "
            f"its {role}; {remedy}."
        )


def _time(text: str, name: str) -> float:
    """Seconds of a date, with a zone or as if in UTC."""
    parts = _YEAR_FIRST.fullmatch(text.strip())
    found: Any = None
    if parts is not None:
        year, month, day, rest = parts.groups()
        clock = _HOUR.sub(r"T0\1:", rest.rstrip()).replace(" ", "T", 1).replace(",", ".")
        try:
            found = datetime.fromisoformat(f"{year}-{month:0>2}-{day:0>2}{clock}")
        except ValueError:
            found = None
    if found is None:
        raise InputError(
            f"The time column {printable(name)!r} holds {label_text(text)}, whose place in time is "
            "not clear. Write dates as 2024-01-31 or 2024-01-31 18:30, or give numbers that rise "
            "with time."
        )
    naive = found.replace(tzinfo=None) - datetime(1970, 1, 1)
    offset = found.utcoffset()
    return float((naive if offset is None else naive - offset).total_seconds())
