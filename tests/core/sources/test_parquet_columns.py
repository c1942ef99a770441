"""Types of Parquet columns: what each means, what is refused, levels of Enum and dictionaries."""

import datetime
import io
from decimal import Decimal

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from novum.core.errors import FileFormatError
from novum.core.sources.parquet_columns import ParquetColumn, clean, parquet_columns, schema_table
from novum.core.tables import Column, Kind, Schema


def columns_of(table: pa.Table, chosen: list[int] | None = None) -> tuple[ParquetColumn, ...]:
    out = io.BytesIO()
    pq.write_table(table, out, row_group_size=2)
    file = pq.ParquetFile(io.BytesIO(out.getvalue()))
    chosen = list(range(table.num_columns)) if chosen is None else chosen
    return parquet_columns(file, chosen, ())


@pytest.mark.parametrize(
    ("values", "name", "kind"),
    [
        (pa.array([1, 2], pa.int8()), "number", Kind.NUMERIC),
        (pa.array([1, 2], pa.uint64()), "number", Kind.NUMERIC),
        (pa.array([1.5, None], pa.float32()), "number", Kind.NUMERIC),
        (pa.array([Decimal("1.5"), None]), "number", Kind.NUMERIC),
        (pa.nulls(2), "number", Kind.NUMERIC),
        (pa.array(["a", None]), "text", Kind.NOMINAL),
        (pa.array(["a", None], pa.large_string()), "text", Kind.NOMINAL),
        (pa.array([True, None]), "bool", Kind.NOMINAL),
        (pa.array([datetime.date(2020, 1, 2), None]), "date", Kind.NOMINAL),
        (pa.array([datetime.time(1, 2), None]), "date", Kind.NOMINAL),
        (pa.array([0, 1], pa.timestamp("s")), "date", Kind.NOMINAL),
        (pa.array([0, 1], pa.timestamp("us", tz="UTC")), "zoned", Kind.NOMINAL),
        (pa.array(["a", "b"]).dictionary_encode(), "text", Kind.NOMINAL),
    ],
)
def test_meaning_of_types(values: pa.Array, name: str, kind: Kind) -> None:
    (column,) = columns_of(pa.table({"c": values}))
    assert (column.type, column.kind) == (name, kind)
    assert bool(column.notes) == (name in ("date", "zoned"))


@pytest.mark.parametrize(
    "values",
    [
        pa.array([[1], [2]]),
        pa.array([{"a": 1}, {"a": 2}]),
        pa.array([b"x", b"y"]),
        pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"x" * 16], pa.binary(16))),
    ],
)
def test_types_that_are_no_cells_are_refused_by_name(values: pa.Array) -> None:
    table = pa.table({"a": pa.array(range(len(values))), "c": values})
    with pytest.raises(FileFormatError, match=r"Column 'c' holds .*Leave the column out") as caught:
        columns_of(table)
    assert caught.value.column == 2
    assert columns_of(table, [0])[0].name == "a"


def test_ordered_dictionaries_keep_their_order_across_row_groups() -> None:
    levels = ["low", "mid", "high"]
    codes = pa.array([2, 0, 2, None, 0], pa.int32())
    values = pa.DictionaryArray.from_arrays(codes, levels, ordered=True)
    (column,) = columns_of(pa.table({"c": values}))
    assert (column.kind, column.order) == (Kind.ORDINAL, ("low", "mid", "high"))


def test_enums_of_polars_keep_levels_that_do_not_occur() -> None:
    frame = pl.DataFrame({"e": pl.Series(["b ä"], dtype=pl.Enum(["z", "b ä", "a;1"]))})
    out = io.BytesIO()
    frame.write_parquet(out)
    file = pq.ParquetFile(io.BytesIO(out.getvalue()))
    (column,) = parquet_columns(file, [0], ())
    assert column.order == ("z", "b ä", "a;1")


def test_clean_makes_nan_and_markers_missing() -> None:
    number = ParquetColumn("n", 0, "number")
    assert clean(number, pa.array([1.0, float("nan"), None])).to_pylist() == [1.0, None, None]
    text = ParquetColumn("s", 0, "text", missing=("?",))
    assert clean(text, pa.array(["?", "x"])).to_pylist() == [None, "x"]
    time = ParquetColumn("t", 0, "date")
    assert clean(time, pa.array([0], pa.timestamp("ns"))).to_pylist() == [
        "1970-01-01 00:00:00.000000"
    ]


def test_tables_get_the_types_of_the_schema() -> None:
    schema = Schema((Column("n"), Column("k", Kind.NOMINAL, (2, 1)), Column("b", Kind.NOMINAL)))
    sources = (
        ParquetColumn("n", 0, "number", whole=True),
        ParquetColumn("k", 1, "number", whole=True),
        ParquetColumn("b", 2, "text"),
    )
    raw = pa.table({"n": [1], "k": [2], "b": pa.array([None], pa.string())})
    table = schema_table(raw, schema, sources)
    assert table.to_pylist() == [{"n": 1.0, "k": 2, "b": None}]
    assert table.schema.field("n").type == pa.float64()
    assert table.schema.field("k").type == pa.int64()
