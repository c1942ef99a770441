"""Excel, JSON and databases: the same table as in CSV, odd files, and questions that fail."""

from __future__ import annotations

import datetime as dt
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import openpyxl
import pyarrow as pa
import pytest

from novum.core.errors import FileFormatError, InputError, SchemaError
from novum.core.sources import open_source
from novum.data import read

HEAD = ["age", "city", "smokes", "seen", "note"]
ROWS: list[list[Any]] = [
    [31, "Ulm", True, dt.date(2024, 1, 31), 'a, "b"\nc'],
    [None, "Bonn", False, dt.date(2024, 2, 1), "?"],
    [47.5, None, None, None, "007"],
    [-3, "Ulm", True, dt.date(2024, 2, 29), "x"],
]


def excel(path: Path, rows: list[list[Any]] | None = None, sheet: str = "people") -> Path:
    book = openpyxl.Workbook()
    book.active.title = sheet
    for row in [HEAD, *ROWS] if rows is None else rows:
        book.active.append(row)
    book.create_sheet("empty")
    book.save(path / "t.xlsx")
    return path / "t.xlsx"


def plain(row: list[Any]) -> dict[str, Any]:
    cells = dict(zip(HEAD, row, strict=True))
    seen = cells["seen"]
    return cells | {"seen": None if seen is None else seen.isoformat()}


def lines(path: Path) -> Path:
    found = path / "t.jsonl"
    found.write_text("\n".join(json.dumps(plain(row)) for row in ROWS))
    return found


def array(path: Path) -> Path:
    found = path / "t.json"
    # A field that is missing may also not be there.
    records = [{k: v for k, v in plain(row).items() if v is not None} for row in ROWS]
    found.write_text(json.dumps(records))
    return found


def duck(path: Path) -> Path:
    found = path / "t.duckdb"
    with duckdb.connect(str(found)) as base:
        base.execute(
            "create table people (age double, city text, smokes bool, seen date, note text)"
        )
        base.executemany("insert into people values (?, ?, ?, ?, ?)", ROWS)
    return found


def lite(path: Path) -> Path:
    found = path / "t.db"
    base = sqlite3.connect(found)
    base.execute("create table people (age, city, smokes, seen, note)")
    words = {True: "true", False: "false", None: None}
    rows = [[row[0], row[1], words[row[2]], plain(row)["seen"], row[4]] for row in ROWS]
    base.executemany("insert into people values (?, ?, ?, ?, ?)", rows)
    base.commit()
    base.close()
    return found


MAKERS: list[Callable[[Path], Path]] = [excel, lines, array, duck, lite]


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_a_table_means_the_same_in_every_format(make: Any, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    cells = ['31,Ulm,true,2024-01-31,"a, ""b""\nc"', ",Bonn,false,2024-02-01,?"]
    cells += ["47.5,,,,007", "-3,Ulm,true,2024-02-29,x"]
    path.write_text("\n".join([",".join(HEAD), *cells]))
    expected, found = read(path), read(make(tmp_path))
    assert set(found.table.column_names) == set(HEAD)
    for name in HEAD:
        assert found.table.column(name).to_pylist() == expected.table.column(name).to_pylist()
    kinds = {column.name: column.kind.value for column in found.schema.columns}
    assert kinds == {column.name: column.kind.value for column in expected.schema.columns}


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_sources_are_restartable_and_take_the_usual_options(make: Any, tmp_path: Path) -> None:
    source = open_source(
        make(tmp_path), kinds={"age": "nominal"}, columns=["city", "age"], missing=["Bonn", ""]
    )
    chunks = list(source.chunks(3))
    assert [chunk.num_rows for chunk in chunks] == [3, 1]
    again = pa.concat_tables(part.read() for part in source.partitions(2))
    assert again.column("city").to_pylist() == ["Ulm", None, None, "Ulm"]
    assert again.equals(pa.concat_tables(source.chunks()))
    assert set(source.schema().columns[1].levels) == {"31", "47.5", "-3"}
    with pytest.raises(SchemaError, match="`columns` names the column 'x'"):
        open_source(source.path, columns=["x"]).schema()


# --- Excel ----------------------------------------------------------------------------------------


def test_sheets_are_named_and_blank_rows_are_no_rows(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.create_sheet("second")
    for row in [[None], ["a", None, "b"], [1, None, "#DIV/0!"], [None], [2, 5, 3]]:
        sheet.append(row)
    sheet.append([dt.datetime(2024, 1, 31, 18, 30), None, None])
    book.save(tmp_path / "t.xlsx")
    found = read(tmp_path / "t.xlsx", sheet="second")
    assert found.table.column_names == ["a", "column_2", "b"]
    assert found.table.column("b").to_pylist() == [None, 3.0, None]
    assert found.table.column("a").to_pylist() == ["1", "2", "2024-01-31 18:30:00"]
    assert found.report.mixed_columns == ("a",)
    assert "line 6" in found.report.columns[0].notes[0]


def test_excel_files_that_have_no_table(tmp_path: Path) -> None:
    path = excel(tmp_path)
    with pytest.raises(InputError, match="no sheet 'pepole'; it has 'people', 'empty'"):
        read(path, sheet="pepole")
    with pytest.raises(FileFormatError, match=r"'empty' of t\.xlsx has no table"):
        read(path, sheet="empty")
    with pytest.raises(FileFormatError, match="has no rows in the sheet 'people'"):
        read(excel(tmp_path, [HEAD]))
    with pytest.raises(FileFormatError, match="2 columns are called 'a'"):
        read(excel(tmp_path, [["a", "a"], [1, 2]]))
    (tmp_path / "no.xlsx").write_text("plain text")
    with pytest.raises(FileFormatError, match=r"cannot be read as Excel .* Save it again"):
        read(tmp_path / "no.xlsx")
    (tmp_path / "old.xls").write_text("x")
    with pytest.raises(InputError, match=r"Save it as \.xlsx"):
        read(tmp_path / "old.xls")
    with pytest.raises(InputError, match="A sheet is part of an Excel file"):
        read(lines(tmp_path), sheet="people")


def test_without_openpyxl_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = excel(tmp_path)
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    with pytest.raises(ImportError, match=r"\.\[excel\]"):
        read(path)


# --- JSON -----------------------------------------------------------------------------------------


def test_fields_of_several_types_are_read_line_by_line(tmp_path: Path) -> None:
    path = tmp_path / "t.ndjson"
    path.write_text('{"a": 1}\n\n{"a": "x", "b": 2}\n')
    found = read(path).table
    assert found.column("a").to_pylist() == ["1", "x"]
    assert found.column("b").to_pylist() == [None, 2.0]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("t.jsonl", "", "is empty"),
        ("t.jsonl", '{"a": 1}\n{"a": \n', "line 2: no JSON"),
        ("t.jsonl", '{"a": 1}\n[1]\n', "record 2 is .1. and no object"),
        ("t.json", "[1, 2]", "record 1 is 1 and no object"),
        ("t.json", "[{]", "is no JSON"),
        ("t.json", '[{"a": {"b": 1}}]', "'a' of t.json holds dict, which is no cell"),
        ("t.jsonl", '{"a": [1, 2]}\n', "'a' of t.jsonl holds list"),
        ("t.json", "[]", "has no rows"),
    ],
)
def test_json_that_is_no_table(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(FileFormatError, match=message):
        read(tmp_path / name)


# --- Databases ------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [duck, lite], ids=lambda make: make.__name__)
def test_questions_and_their_errors(make: Any, tmp_path: Path) -> None:
    path = make(tmp_path)
    before = path.read_bytes()
    found = read(path, sql="select city, count(*) as n from people group by city order by n desc")
    assert found.table.to_pylist()[0] == {"city": "Ulm", "n": 2.0}
    with pytest.raises(InputError, match=r"does not answer the question 'select nix.*Ask with one"):
        read(path, sql="select nix from people")
    with pytest.raises(InputError, match="has no rows as its answer"):
        read(path, sql="select * from people where age > 1000")
    for change in ("drop table people", "delete from people", "create table x (a int)"):
        with pytest.raises(InputError, match="does not answer the question"):
            read(path, sql=change)
    other = tmp_path / "other.db"
    with pytest.raises(InputError, match="does not answer the question"):
        read(path, sql=f"attach '{other}' as other")
    assert not other.exists()
    assert path.read_bytes() == before
    with pytest.raises(FileFormatError, match="2 columns are called 'city'"):
        read(path, sql="select city, age as city from people")


def test_several_tables_need_a_question(tmp_path: Path) -> None:
    path = lite(tmp_path)
    base = sqlite3.connect(path)
    base.execute("create table more (a)")
    base.commit()
    base.close()
    with pytest.raises(InputError, match=r"holds 'more', 'people'.*sql=.select \* from more"):
        read(path)
    (tmp_path / "no.duckdb").write_text("plain text")
    with pytest.raises(FileFormatError, match="cannot be read as a DuckDB or SQLite file"):
        read(tmp_path / "no.duckdb")
    with pytest.raises(InputError, match="A question in SQL is for"):
        read(lines(tmp_path), sql="select 1")
