"""Questions to DuckDB: exact answers, a closed session, clear errors when it is absent."""

import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from novum.core.errors import FileFormatError, InputError, MemoryLimitError, SchemaError
from novum.core.sources import LIMITS, Limits
from novum.core.sources.parquet_columns import ParquetColumn
from novum.core.sources.parquet_queries import ParquetQueries, import_duckdb
from novum.core.sources.source import DeclaredKind, declared_kinds
from novum.core.tables import Kind

COLUMNS = (
    ParquetColumn("n", 0, "number"),
    ParquetColumn("k", 1, "number", whole=True),
    ParquetColumn("s", 2, "text", missing=("?",)),
    ParquetColumn("b", 3, "bool"),
)


@pytest.fixture
def queries(tmp_path: Path) -> ParquetQueries:
    path = tmp_path / "t.parquet"
    table = pa.table(
        {
            "n": [1.5, float("nan"), None, 1.5],
            "k": [2**60, 2**60 + 1, 7, None],
            "s": ["x", "?", None, "x"],
            "b": [True, False, None, True],
        }
    )
    pq.write_table(table, path)
    return ParquetQueries(path, COLUMNS, 1 << 27)


def test_first_pass_counts_what_is_there(queries: ParquetQueries) -> None:
    schema, reports = queries.first_pass({}, LIMITS)
    assert [report.missing for report in reports] == [2, 1, 2, 1]
    assert [report.constant for report in reports] == [True, False, True, False]
    assert schema.columns[2].levels == ("x",)
    assert schema.columns[3].levels == (False, True)
    assert "beyond 2^53" in reports[1].notes[0]


def test_whole_numbers_stay_exact_as_levels(queries: ParquetQueries) -> None:
    schema, _ = queries.first_pass(declared_kinds({"k": "nominal"}), LIMITS)
    assert schema.columns[1].levels == (7, 2**60, 2**60 + 1)
    schema, _ = queries.first_pass(declared_kinds({"k": "ordinal"}), LIMITS)
    assert schema.columns[1].kind is Kind.ORDINAL


@pytest.mark.parametrize(
    ("declared", "error", "message"),
    [
        ({"s": DeclaredKind(Kind.NUMERIC)}, SchemaError, "stores it as text"),
        ({"s": DeclaredKind(Kind.ORDINAL)}, SchemaError, "'x' is no number"),
        (
            {"s": DeclaredKind(Kind.ORDINAL, ("a", "b"))},
            FileFormatError,
            "holds 'x', which is none",
        ),
    ],
)
def test_wishes_that_do_not_fit(
    queries: ParquetQueries, declared: dict[str, DeclaredKind], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        queries.first_pass(declared, LIMITS)


def test_too_many_levels_are_refused(queries: ParquetQueries) -> None:
    with pytest.raises(InputError, match="more than 1 different values"):
        queries.first_pass({}, Limits(levels=1))


def test_the_session_opens_no_other_file(queries: ParquetQueries, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text("secret\n1\n")
    for question in (
        f"SELECT * FROM read_csv('{other}')",
        f"COPY (SELECT 1) TO '{tmp_path}/out.csv'",
        "SET enable_external_access = true",
        "INSTALL httpfs",
    ):
        with pytest.raises(FileFormatError), queries._session() as session:
            session.sql(question).fetchall()
    assert not (tmp_path / "out.csv").exists()


def test_a_limit_that_is_too_small_says_so(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    words = pa.array([f"{i:0>200}" for i in range(60_000)])
    pq.write_table(pa.table({"s": words}), path)
    small = ParquetQueries(path, (ParquetColumn("s", 0, "text"),), 3_000_000)
    with pytest.raises(MemoryLimitError, match=r"more than the 2 MB.*memory_limit"):
        small.first_pass({}, LIMITS)


def test_without_duckdb_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(ImportError, match=r"pip install '\.\[scale\]'"):
        import_duckdb()
