"""Reading whole files: all formats alike, reports, frames, markup, limits."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from novum.core.errors import FileFormatError, MemoryLimitError, MixedColumnWarning
from novum.core.tables import Kind
from novum.data.readers import read

TEXT = "age,size,city\n31,small,Ulm\n?,big,Bonn\n47,small,Ulm\n"
KINDS = {"size": ("small", "big")}


def test_all_formats_give_the_same_table(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(TEXT)
    head = "@relation t\n@attribute age numeric\n@attribute size {small,big}\n"
    rows = TEXT.split("\n", 1)[1]
    (tmp_path / "t.arff").write_text(head + "@attribute city {Ulm,Bonn}\n@data\n" + rows)
    columns = {
        "age": [31, None, 47],
        "size": ["small", "big", "small"],
        "city": ["Ulm", "Bonn", "Ulm"],
    }
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    tables = [read(tmp_path / f"t.{suffix}", kinds=KINDS) for suffix in ("csv", "arff", "parquet")]
    for other in tables[1:]:
        assert other.schema == tables[0].schema
        assert other.table.equals(tables[0].table)
        assert other.report.missing_cells == 1
    assert tables[0].table.to_pydict() == columns


def test_frames_and_report(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(TEXT)
    table = read(tmp_path / "t.csv", kinds=KINDS)
    assert table.schema.columns[1].kind is Kind.ORDINAL
    assert table.frame("pandas")["size"].cat.ordered
    assert table.frame("polars").height == 3
    assert table.frame() is table.table
    assert "3 rows, 3 columns, 1 missing cell" in repr(table)
    assert "ordinal (2 levels)" in repr(table)


@pytest.mark.parametrize("payload", ["<script>x</script>", "<svg onload=x>", "a\x1b[31m", "\u202e"])
def test_nothing_in_a_file_is_live_in_its_repr(tmp_path: Path, payload: str) -> None:
    (tmp_path / "t.csv").write_text(f"{payload},b\nu,{payload}\n")
    table = read(tmp_path / "t.csv")
    html = table._repr_html_()
    assert "<script" not in html
    assert "<svg" not in html
    assert not set(html + repr(table)) & {"\x1b", "\u202e"}


def test_mixed_columns_warn_and_broken_files_raise(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,x\nnone,y\n3,z\n")
    with pytest.warns(MixedColumnWarning, match="'none' in line 3"):
        read(tmp_path / "t.csv")
    (tmp_path / "t.csv").write_text("a,b\n1\n")
    with pytest.raises(FileFormatError, match="line 2"):
        read(tmp_path / "t.csv")


def test_a_table_beyond_the_limit_is_refused_before_it_is_built(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n" + "1,2\n" * 10_000)
    with pytest.raises(MemoryLimitError, match=r"10,000 rows and 2 columns|65,536 rows"):
        read(tmp_path / "t.csv", memory_limit=100_000)
