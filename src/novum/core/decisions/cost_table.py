"""Reading a table of costs with labels on both sides.

    true,ill,well,test
    ill,0,20,2
    well,1,0,2

The first line names the actions, the first word of each further line a true class. The separator is
the comma, semicolon or tabulator that the first line has most of; quotes work as in any CSV. Empty
lines are skipped. Everything else that is odd is an error with its line and column.
"""

from __future__ import annotations

import csv
import math
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from novum.core.errors import FileFormatError
from novum.numerics import Floats


@dataclass(frozen=True, eq=False)
class CostTable:
    """Costs with their labels.

    Attributes
    ----------
    classes : tuple of K str
    actions : tuple of A str
    cost : array of shape (K, A)
    """

    classes: tuple[str, ...]
    actions: tuple[str, ...]
    cost: Floats


def read_cost_table(source: str | os.PathLike[str]) -> CostTable:
    """Read a table from a path, or from text, which is told from a path by its line breaks.

    Raises
    ------
    FileFormatError
        With the line and column of the first fault.

    Examples
    --------
    >>> table = read_cost_table("true,a,b\\na,0,1\\nb,5,0\\n")
    >>> table.actions, table.cost.tolist()
    (('a', 'b'), [[0.0, 1.0], [5.0, 0.0]])
    """
    lines = _lines(source)
    if len(lines) < 2:
        raise FileFormatError(
            "A cost table has a line of actions and a line for each class; this one has "
            f"{len(lines)} lines.",
            line=1,
        )
    head_line, head = lines[0]
    actions = _unique(head[1:], [(head_line, i + 2) for i in range(len(head) - 1)], "action")
    if not actions:
        raise FileFormatError(
            f"Line {head_line} names no actions; it should read like 'true,a,b'.", line=head_line
        )
    classes = _unique([row[0] for _, row in lines[1:]], [(n, 1) for n, _ in lines[1:]], "class")
    cost = np.array([_costs(row, len(actions), number) for number, row in lines[1:]])
    return CostTable(classes, actions, cost)


def _lines(source: str | os.PathLike[str]) -> list[tuple[int, list[str]]]:
    """Cells of each line that is not empty, with its number."""
    is_text = isinstance(source, str) and ("\n" in source or "\r" in source)
    try:
        text = str(source) if is_text else Path(source).read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileFormatError(f"The cost table is not UTF-8 text: {error}.") from None
    rows = text.removeprefix("\ufeff").splitlines()
    head = next((row for row in rows if row.strip()), "")
    separator = max(",;\t", key=head.count)
    reader = csv.reader(rows, delimiter=separator, strict=True)
    lines = []
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                lines.append((reader.line_num, [cell.strip() for cell in row]))
    except csv.Error as error:
        raise FileFormatError(
            f"Line {reader.line_num} of the cost table: {error}.", line=reader.line_num
        ) from None
    return lines


def _unique(names: list[str], places: list[tuple[int, int]], what: str) -> tuple[str, ...]:
    seen: set[str] = set()
    for name, (line, column) in zip(names, places, strict=True):
        if not name or name in seen:
            fault = f"{name!r} is there twice" if name else "the name is empty"
            raise FileFormatError(
                f"Line {line}, column {column} of the cost table should name a new {what}, but "
                f"{fault}.",
                line=line,
                column=column,
            )
        seen.add(name)
    return tuple(names)


def _costs(row: list[str], n_actions: int, line: int) -> list[float]:
    if len(row) != n_actions + 1:
        raise FileFormatError(
            f"Line {line} of the cost table has {len(row) - 1} costs for {n_actions} actions.",
            line=line,
        )
    costs = []
    for column, cell in enumerate(row[1:], 2):
        try:
            cost = float(cell)
        except ValueError:
            cost = math.nan
        if not math.isfinite(cost):
            raise FileFormatError(
                f"Line {line}, column {column} of the cost table is {cell!r}, not a finite number.",
                line=line,
                column=column,
            )
        costs.append(cost)
    return costs
