"""Small files that claim much, are nested deeply or are damaged end in one sentence, at once."""

from __future__ import annotations

import gzip
import json
import re
import sqlite3
import zipfile
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import openpyxl
import pyarrow.parquet as pq
import pytest

from novum.core.errors import FileFormatError, InputError, MemoryLimitError
from novum.core.json_text import MAX_DEPTH
from novum.core.sources import LIMITS, Limits
from novum.core.sources.databases import DatabaseSource
from novum.core.sources.held import ExcelSource
from novum.data import read

LITTLE = 40 * 2**20


def duck(path: Path, view: str) -> Path:
    with duckdb.connect(str(path)) as base:
        base.execute(f"create view t as {view}")
    return path


def sqlite(path: Path, view: str) -> Path:
    base = sqlite3.connect(path)
    base.execute(f"create view t as {view}")
    base.commit()
    base.close()
    return path


ENDLESS = "with recursive r(i) as (select 1 union all select i + 1 from r) select i from r"


@pytest.mark.parametrize(
    ("make", "view"),
    [
        (duck, "select range as i, 'ward' || range as ward from range(1000000000000)"),
        (sqlite, ENDLESS),
        (sqlite, f"select i, hex(zeroblob(2000)) as wide from ({ENDLESS})"),
    ],
)
def test_an_answer_without_end_meets_the_memory_limit(
    tmp_path: Path, make: Callable[[Path, str], Path], view: str
) -> None:
    with pytest.raises(MemoryLimitError, match=r"table of t\.db needs .* Ask for fewer rows"):
        read(make(tmp_path / "t.db", view), memory_limit=LITTLE)


@pytest.mark.parametrize(
    ("make", "view"),
    [
        (duck, "select count(*) as n from range(1000000000) a, range(1000000000) b where a <> b"),
        (sqlite, f"select i from ({ENDLESS}) where i < 0"),
    ],
)
def test_an_answer_that_never_comes_is_interrupted(
    tmp_path: Path, make: Callable[[Path, str], Path], view: str
) -> None:
    path = make(tmp_path / "t.db", view)
    with pytest.raises(FileFormatError, match=r"has not answered in 0\.2 seconds"):
        DatabaseSource(path, limits=Limits(answer_seconds=0.2)).schema()


def test_a_cell_of_a_database_has_a_longest_length(tmp_path: Path) -> None:
    path = sqlite(tmp_path / "t.db", "select hex(zeroblob(900000000)) as cell")
    with pytest.raises(FileFormatError, match="too big"):
        read(path)


def test_a_name_that_is_no_text_is_one_sentence(tmp_path: Path) -> None:
    path = sqlite(tmp_path / "t.db", "select 1 as ward")
    path.write_bytes(path.read_bytes().replace(b"ward", b"w\xffrd"))
    with pytest.raises(FileFormatError, match="cannot be read as a DuckDB or SQLite file"):
        read(path)


# --- Excel ----------------------------------------------------------------------------------------


def excel(path: Path, rows: list[list[object]]) -> Path:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(path)
    return path


def changed(
    path: Path, change: Callable[[bytes], bytes], name: str = "xl/worksheets/sheet1.xml"
) -> Path:
    """The same file with one of its parts changed."""
    with zipfile.ZipFile(path) as old:
        parts = {one: old.read(one) for one in old.namelist()}
    parts[name] = change(parts[name])
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for one, content in parts.items():
            new.writestr(one, content)
    return path


ROWS: list[list[object]] = [["age", "city"], [31, "Ulm"], [47, "Bonn"], [62, "Ulm"]]


def test_a_sheet_has_the_cells_that_it_has(tmp_path: Path) -> None:
    path = excel(tmp_path / "t.xlsx", ROWS)
    claim = b'<dimension ref="A1:XFD1048576"/>'
    changed(path, lambda xml: re.sub(rb"<dimension [^>]*/>", claim, xml))
    assert read(path).table.to_pylist() == read(excel(tmp_path / "u.xlsx", ROWS)).table.to_pylist()


def test_cells_that_hold_nothing_are_counted(tmp_path: Path) -> None:
    path = excel(tmp_path / "t.xlsx", ROWS)
    far = b"".join(b'<row r="%d"><c r="XFD%d"><v>1</v></c></row>' % (i, i) for i in range(5, 15))
    changed(path, lambda xml: xml.replace(b"</sheetData>", far + b"</sheetData>"))
    with pytest.raises(FileFormatError, match="claims more than 50,000 cells that hold nothing"):
        ExcelSource(path, limits=Limits(blank_cells=50_000)).schema()
    assert len(ExcelSource(path).schema().names) == 3


def test_a_sheet_that_unpacks_too_far_is_refused(tmp_path: Path) -> None:
    path = excel(tmp_path / "t.xlsx", ROWS)
    changed(path, lambda xml: xml + b" " * (LIMITS.expansion_floor + 1))
    with pytest.raises(FileFormatError, match="unpacks to more than 250 times its size"):
        read(path)


@pytest.mark.parametrize("seed", range(40))
def test_a_damaged_sheet_is_one_sentence(tmp_path: Path, seed: int) -> None:
    path = excel(tmp_path / "t.xlsx", ROWS * 5)
    rng = np.random.default_rng(seed)
    content = bytearray(path.read_bytes())
    if seed % 2:
        for place in rng.integers(0, len(content), 8):
            content[place] = int(rng.integers(0, 256))
    else:
        del content[int(rng.integers(0, len(content))) :]
    path.write_bytes(content)
    try:
        read(path)
    except InputError as error:
        said = str(error)
    else:
        said = ""
    assert len(said) < 400


def test_a_part_that_is_no_longer_xml_is_one_sentence(tmp_path: Path) -> None:
    for name in ("xl/worksheets/sheet1.xml", "xl/workbook.xml", "xl/styles.xml"):
        path = excel(tmp_path / "t.xlsx", ROWS)
        changed(path, lambda xml: xml[: len(xml) // 2], name)
        with pytest.raises(FileFormatError, match=r"cannot be read as Excel .* Save it again"):
            read(path)


# --- JSON -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("opening", ['{"a":', "[", '{"a": [', '\n{"a":\n'])
@pytest.mark.parametrize("ending", [".json", ".jsonl", ".jsonl.gz"])
def test_nesting_has_a_bound(tmp_path: Path, opening: str, ending: str) -> None:
    path = tmp_path / f"t{ending}"
    content = (opening * 100_000).encode()
    path.write_bytes(gzip.compress(content) if ending.endswith("gz") else content)
    with pytest.raises(FileFormatError, match=rf"levels deep; {MAX_DEPTH} are the most"):
        read(path)


def test_packed_blanks_are_not_unpacked_without_end(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl.gz"
    path.write_bytes(gzip.compress(b" " * (LIMITS.expansion_floor + 2**20)))
    with pytest.raises(FileFormatError, match="unpacks to more than 250 times"):
        read(path)
    with pytest.raises(MemoryLimitError):
        read(path, memory_limit=LITTLE)


def test_objects_are_counted_before_they_are_made(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text("[" + "{}," * 500_000 + "{}]")
    with pytest.raises(MemoryLimitError, match=r"needs 1\d\d\.\d MB"):
        read(path, memory_limit=LITTLE)


@pytest.mark.parametrize("cut", [20, 60, -9, -1])
@pytest.mark.parametrize("ending", [".jsonl.gz", ".json.gz", ".csv.gz", ".arff.gz"])
def test_a_torn_packed_file_is_one_sentence(tmp_path: Path, ending: str, cut: int) -> None:
    rng = np.random.default_rng(5)
    records = [{"a": float(x), "b": int(i)} for i, x in enumerate(rng.normal(size=40))]
    path = tmp_path / f"t{ending}"
    path.write_bytes(gzip.compress(json.dumps(records).encode())[:cut])
    with pytest.raises(FileFormatError, match="is not a whole gzip file"):
        read(path)


def test_a_torn_parquet_file_is_one_sentence(tmp_path: Path) -> None:
    pq.write_table(read(excel(tmp_path / "t.xlsx", ROWS)).table, tmp_path / "t.parquet")
    content = (tmp_path / "t.parquet").read_bytes()
    for cut in range(0, len(content), 97):
        (tmp_path / "t.parquet").write_bytes(content[:cut])
        with pytest.raises(InputError):
            read(tmp_path / "t.parquet")
