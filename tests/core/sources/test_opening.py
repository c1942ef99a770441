"""The door: one reader per suffix, clear refusals otherwise."""

import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from novum.core.errors import InputError
from novum.core.sources import Dialect, open_source

CSV = b"a,b\n1,x\n2,y\n"
ARFF = b"@relation r\n@attribute a numeric\n@attribute b {x,y}\n@data\n1,x\n2,y\n"


@pytest.mark.parametrize("name", ["t.csv", "T.CSV", "t.tsv", "t.txt", "t.csv.gz", "t.v2.csv"])
@pytest.mark.parametrize("data", [CSV])
def test_delimited_suffixes(tmp_path: Path, name: str, data: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    assert next(open_source(path).chunks()).to_pydict() == {"a": [1.0, 2.0], "b": ["x", "y"]}


@pytest.mark.parametrize("name", ["t.arff", "t.arff.gz", "t.parquet"])
def test_all_formats_give_the_same_table(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name.endswith("parquet"):
        pq.write_table(pa.table({"a": [1, 2], "b": ["x", "y"]}), path)
    else:
        path.write_bytes(gzip.compress(ARFF) if name.endswith(".gz") else ARFF)
    (tmp_path / "t.csv").write_bytes(CSV)
    expected = open_source(tmp_path / "t.csv")
    source = open_source(path)
    assert source.schema() == expected.schema()
    assert next(source.chunks()).equals(next(expected.chunks()))


@pytest.mark.parametrize("name", ["t.docx", "t", "t.gz", "t.parquet.gz", ".csv"])
def test_unknown_suffixes_say_what_is_readable(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(CSV)
    with pytest.raises(InputError, match=r"Readable are \.csv"):
        open_source(path)


def test_a_dialect_is_for_text(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="`dialect` is for delimited text"):
        open_source(tmp_path / "t.parquet", dialect=Dialect())
    (tmp_path / "t.csv").write_bytes(CSV)
    with pytest.raises(InputError, match=r"`dialect` is a Dialect, .*got {'separator': ';'}"):
        open_source(tmp_path / "t.csv", dialect={"separator": ";"})  # type: ignore[arg-type]


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no file.*none\.csv"):
        open_source(tmp_path / "none.csv")
