"""Numbers with intervals as frames."""

from typing import Any

import pyarrow as pa
import pytest

from novum.core.errors import InputError
from novum.evaluation.measures.interval import Interval
from novum.evaluation.reports.pages import frame_of_rows

ROWS = [("all", "accuracy", Interval(0.5, 0.25, 0.75, 0.9, "Wilson"))]


@pytest.mark.parametrize("frame", ["arrow", "pandas", "polars"])
def test_every_frame_holds_the_numbers(frame: Any) -> None:
    table = pa.table(frame_of_rows(ROWS, frame)) if frame != "arrow" else frame_of_rows(ROWS)
    assert table.select(["estimate", "low", "high", "level"]).to_pylist() == [
        {"estimate": 0.5, "low": 0.25, "high": 0.75, "level": 0.9}
    ]


def test_no_rows_are_an_empty_table_with_columns() -> None:
    assert frame_of_rows([]).num_columns == 7


def test_unknown_frames_are_named() -> None:
    with pytest.raises(InputError, match="got 'csv'"):
        frame_of_rows(ROWS, "csv")
