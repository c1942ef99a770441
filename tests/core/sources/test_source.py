"""Chunks: exact sizes, the right Arrow types, and sizes that are none."""

from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import InputError, MemoryLimitError
from novum.core.sources import Partition, Source, open_source
from novum.core.sources.source import arrow_type, check_chunk, rechunked
from novum.core.tables import Column, Kind, Schema


@given(st.lists(st.integers(0, 7), max_size=8), st.integers(1, 9))
def test_rechunked_keeps_the_rows_and_cuts_them_evenly(sizes: list[int], rows: int) -> None:
    values = iter(range(100))
    tables = [
        pa.table({"x": pa.array([next(values) for _ in range(n)], pa.int64())}) for n in sizes
    ]
    parts = [table.column("x").to_pylist() for table in rechunked(tables, rows)]
    assert [value for part in parts for value in part] == list(range(sum(sizes)))
    assert all(len(part) == rows for part in parts[:-1])
    assert all(0 < len(part) <= rows for part in parts)


def test_arrow_types() -> None:
    assert arrow_type(Column("a")) == pa.float64()
    nominal = arrow_type(Column("a", Kind.NOMINAL, ("x",)))
    assert nominal == pa.dictionary(pa.int32(), pa.string())
    assert arrow_type(Column("a", Kind.ORDINAL, ("x", "y"))).ordered
    assert arrow_type(Column("a", Kind.NOMINAL, (False, True))) == pa.bool_()
    assert arrow_type(Column("a", Kind.NOMINAL, (3, 1))) == pa.int64()
    assert pa.types.is_dictionary(arrow_type(Column("a", Kind.NOMINAL)))


@pytest.mark.parametrize("rows", [0, -1, 2.5, True])
def test_sizes_that_are_none(rows: object) -> None:
    with pytest.raises(InputError, match="at least one row"):
        check_chunk(rows, Schema.of_array(1), None)  # type: ignore[arg-type]


def test_a_chunk_beyond_the_memory_limit_is_refused_with_the_number() -> None:
    check_chunk(10**6, Schema.of_array(10), "1GB")
    with pytest.raises(MemoryLimitError, match=r"1,000,000 rows and 10 columns.*160.*rows="):
        check_chunk(10**6, Schema.of_array(10), "100MB")


def test_sources_and_partitions_keep_the_protocol(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a,b\n1,2\n")
    source = open_source(path)
    assert isinstance(source, Source)
    assert all(isinstance(part, Partition) for part in source.partitions())
