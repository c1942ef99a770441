"""Numbers with intervals as a table: Arrow, pandas or polars."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from novum.core.errors import InputError
from novum.evaluation.measures.interval import Interval


def frame_of_rows(rows: Iterable[tuple[str, str, Interval]], frame: str = "arrow") -> Any:
    """One row for each number.

    Examples
    --------
    >>> table = frame_of_rows([("all", "accuracy", Interval(0.8, 0.7, 0.9, 0.95, "Wilson"))])
    >>> table.column_names
    ['group', 'measure', 'estimate', 'low', 'high', 'level', 'method']
    """
    listed = list(rows)
    table = pa.table(
        {
            "group": pa.array([group for group, _, _ in listed], pa.string()),
            "measure": pa.array([name for _, name, _ in listed], pa.string()),
            "estimate": pa.array([value.estimate for *_, value in listed], pa.float64()),
            "low": pa.array([value.low for *_, value in listed], pa.float64()),
            "high": pa.array([value.high for *_, value in listed], pa.float64()),
            "level": pa.array([value.level for *_, value in listed], pa.float64()),
            "method": pa.array([value.method for *_, value in listed], pa.string()),
        }
    )
    if frame == "arrow":
        return table
    if frame == "pandas":
        return table.to_pandas()
    if frame == "polars":
        from polars import DataFrame

        return DataFrame(table.to_pydict())
    raise InputError(f"frame is 'arrow', 'pandas' or 'polars', got {frame!r}.")
