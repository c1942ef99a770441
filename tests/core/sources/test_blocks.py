"""Blocks: bytes at their places, partitions equal to chunks, files that change."""

import gzip
import pickle
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from novum.core.errors import InputError
from novum.core.sources import CellReader, DelimitedSource, TableBuilder
from novum.core.sources import delimited as module
from novum.core.sources.cells import coded_column, table_type
from novum.core.tables import Column, Kind, Schema


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BLOCK_BYTES", 64)
    monkeypatch.setattr(module, "_MOST_BYTES", 64)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_partitions_are_the_chunks_after_a_pickle(
    tmp_path: Path, packed: bool, encoding: str
) -> None:
    text = "n,s\n" + "".join(f'{i},"ä\n{i % 3}"\n' for i in range(100))
    path = tmp_path / ("a.csv.gz" if packed else "a.csv")
    data = text.encode(encoding)
    path.write_bytes(gzip.compress(data) if packed else data)
    source = DelimitedSource(path)
    for rows in (1, 7, 33, 100, 1000):
        chunks = list(source.chunks(rows))
        parts = [pickle.loads(pickle.dumps(part)).read() for part in source.partitions(rows)]
        assert [part.num_rows for part in parts] == [chunk.num_rows for chunk in chunks]
        assert all(a.equals(b) for a, b in zip(parts, chunks, strict=True))
        whole = pa.concat_tables(chunks)
        assert whole.column("n").to_pylist() == [float(i) for i in range(100)]
        assert whole.column("s").to_pylist() == [f"ä\n{i % 3}" for i in range(100)]


@pytest.mark.usefixtures("small_blocks")
def test_a_partition_carries_only_its_own_blocks(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("n\n" + "12345\n" * 2000)
    source = DelimitedSource(path)
    assert len(source._findings().blocks) > 100
    assert all(len(part.blocks) <= 3 for part in source.partitions(10))


def test_a_changed_file_is_refused_by_chunks_and_partitions(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a\n1\n")
    source = DelimitedSource(path)
    part = source.partitions()[0]
    path.write_text("a\n1\n2\n")
    with pytest.raises(InputError, match="has changed since"):
        list(source.chunks())
    with pytest.raises(InputError, match="has changed since"):
        part.read()


@settings(max_examples=30)
@given(st.lists(st.sampled_from(["b", "a", "c", None]), min_size=1))
def test_codes_are_the_codes_of_the_schema(cells: list[str | None]) -> None:
    column = Column("s", Kind.ORDINAL, ("c", "a", "b"))
    coded = coded_column(column, pa.array(cells, pa.string()).dictionary_encode())
    assert coded.to_pylist() == cells
    assert coded.type.ordered
    expected = [None if cell is None else column.levels.index(cell) for cell in cells]
    assert coded.indices.to_pylist() == expected


def test_builder_refuses_what_the_first_pass_did_not_see() -> None:
    schema = Schema((Column("n"), Column("s", Kind.NOMINAL, ("x",))))
    builder = TableBuilder(schema, CellReader(frozenset({"?"})))
    good = builder.table([pa.array(["1", "?"]), pa.array(["x", "?"])])
    assert good.schema.equals(table_type(schema))
    assert good.to_pylist() == [{"n": 1.0, "s": "x"}, {"n": None, "s": None}]
    with pytest.raises(InputError, match="Column 'n' holds a value that was not there"):
        builder.table([pa.array(["w"]), pa.array(["x"])])
    with pytest.raises(InputError, match="Column 's' holds a value that was not there"):
        builder.table([pa.array(["1"]), pa.array(["y"])])


def test_truth_values_in_any_case() -> None:
    schema = Schema((Column("t", Kind.NOMINAL, (True, False)),))
    builder = TableBuilder(schema, CellReader(frozenset({"?"})))
    table = builder.table([pa.array(["TRUE", "false", "?", " True"])])
    assert table.schema.field("t").type == pa.bool_()
    assert table.column("t").to_pylist() == [True, False, None, True]
    only_true = TableBuilder(Schema((Column("t", Kind.NOMINAL, (True,)),)), builder.reader)
    with pytest.raises(InputError, match="'t' holds a value that was not there"):
        only_true.table([pa.array(["true", "false"])])
