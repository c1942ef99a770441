"""Tables that the tests of the job share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from novum.apps.job.request import Request
from novum.apps.job.table.column_cells import Cells
from novum.apps.job.table.formalizing import formalize
from novum.apps.job.table.reading import LoadedTable, read
from novum.apps.job.table.task import Task
from novum.core.sources import ColumnReport, ReadReport
from novum.core.tables import MISSING, Column, Kind, Schema


def numbers(*values: float | None, name: str = "x") -> Cells:
    return Cells(Column(name), np.array([np.nan if v is None else v for v in values], float))


def words(*values: Any, name: str = "c", kind: Kind = Kind.NOMINAL) -> Cells:
    """Cells of levels in the order of the schema, or of their first row if ordinal."""
    met = tuple(dict.fromkeys(value for value in values if value is not None))
    column = Column(name, kind, met)
    places = {level: code for code, level in enumerate(column.levels)}
    return Cells(column, np.array([places.get(value, MISSING) for value in values], np.int32))


def loaded(target: str, task: Any = None, **columns: Any) -> LoadedTable:
    """A table in memory: numbers are numeric, text and truth values nominal."""
    arrays, described = {}, []
    for name, values in columns.items():
        cells = [None if v is None or v != v else v for v in list(values)]
        known = [cell for cell in cells if cell is not None]
        if known and isinstance(known[0], (str, bool, np.bool_)):
            plain = [None if c is None else c if isinstance(c, str) else bool(c) for c in cells]
            levels = tuple(dict.fromkeys(cell for cell in plain if cell is not None))
            column = Column(name, Kind.NOMINAL, levels)
            array = pa.array(plain)
            if isinstance(known[0], str):
                codes = pa.array([None if c is None else column.levels.index(c) for c in plain],
                                 pa.int32())  # fmt: skip
                array = pa.DictionaryArray.from_arrays(codes, pa.array(list(column.levels)))
        else:
            column = Column(name)
            array = pa.array([None if c is None else float(c) for c in cells], pa.float64())
        arrays[name] = array
        described.append(column)
    table = pa.table(arrays)
    report = ReadReport(
        "t.csv", "CSV", table.num_rows, tuple(ColumnReport(c.name, c.kind) for c in described)
    )
    return LoadedTable("t.csv", table, Schema(tuple(described)), target, "00", report, task)


def task_of(target: str = "y", request: Request | None = None, **columns: Any) -> Task:
    return formalize(loaded(target, **columns), request or Request("t.csv", target))


def csv(folder: Path, text: str, name: str = "t.csv", encoding: str = "utf-8") -> str:
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return str(path)


def read_text(folder: Path, text: str, target: str = "y", **more: Any) -> LoadedTable:
    return read(Request(csv(folder, text), target, **more))
