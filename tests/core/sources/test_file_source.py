"""What all formats share: arguments, the name in messages, a file that changes, one first pass."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from novum.core.errors import FileFormatError, InputError, SchemaError
from novum.core.sources import Source, open_source
from novum.core.sources.source import FileSource, check_names

CSV = "a,b,c\n1,x,3\n2,y,4\n"
ARFF = "@attribute a numeric\n@attribute b {x,y}\n@attribute c numeric\n@data\n1,x,3\n2,y,4\n"


def written(folder: Path, suffix: str) -> Path:
    path = folder / f"t.{suffix}"
    if suffix == "parquet":
        pq.write_table(pa.table({"a": [1, 2], "b": ["x", "y"], "c": [3, 4]}), path)
    else:
        path.write_text(CSV if suffix == "csv" else ARFF)
    return path


@pytest.fixture(params=["csv", "arff", "parquet"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., Source]:
    """Opens the same table in each format."""
    path = written(tmp_path, request.param)
    return lambda **options: open_source(path, **options)


Open = Callable[..., Any]


def test_every_format_keeps_the_protocol(opened: Open) -> None:
    source = opened()
    assert isinstance(source, FileSource)
    assert isinstance(source, Source)
    assert source.schema().names == ("a", "b", "c")
    assert source.report().rows == 2
    assert [part.rows for part in source.partitions(1)] == [1, 1]


def test_columns_come_in_the_order_asked_for(opened: Open) -> None:
    source = opened(columns=["c", "a"])
    assert next(source.chunks()).to_pydict() == {"c": [3.0, 4.0], "a": [1.0, 2.0]}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": []}, "`columns` is empty. Name a column"),
        ({"columns": ["a", "b", "a"]}, "`columns` names 'a' twice"),
        ({"columns": "a"}, r"`columns` is a list of texts, got 'a'. Write \['a'\]"),
        ({"missing": "NA"}, r"`missing` is a list of texts, got 'NA'. Write \['NA'\]"),
        ({"missing": ["?", -999]}, "as the file has them, got -999. Write '-999'"),
    ],
)
def test_arguments_that_would_be_misread_are_refused(
    opened: Open, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        opened(**options)


@pytest.mark.parametrize("argument", ["kinds", "columns"])
def test_unknown_columns_are_named(opened: Open, argument: str) -> None:
    wanted: Any = {"zap": "nominal"} if argument == "kinds" else ["zap"]
    with pytest.raises(SchemaError, match=f"`{argument}` names the column 'zap'.*'a', 'b', 'c'"):
        opened(**{argument: wanted}).schema()


def test_the_first_pass_is_taken_once(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    source = opened()
    schema = source.schema()
    monkeypatch.setattr(type(source), "_first_pass", lambda _: pytest.fail("again"))
    assert source.schema() is schema
    assert source.report().rows == sum(chunk.num_rows for chunk in source.chunks(1))


@pytest.mark.parametrize("rows", [0, -1, 2.0, True])
def test_chunks_need_a_size(opened: Open, rows: Any) -> None:
    for cut in (opened().chunks, opened().partitions):
        with pytest.raises(InputError, match="at least one row"):
            cut(rows)


def test_a_file_that_changes_during_the_first_pass_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, "csv")
    source: Any = open_source(path)
    first_pass = type(source)._first_pass

    def disturbed(self: Any) -> Any:
        found = first_pass(self)
        path.write_text(CSV + "3,x,5\n")
        return found

    monkeypatch.setattr(type(source), "_first_pass", disturbed)
    with pytest.raises(InputError, match=r"t\.csv has changed"):
        source.schema()
    monkeypatch.undo()
    assert source.report().rows == 3


@pytest.mark.parametrize("suffix", ["csv", "arff"])
def test_messages_name_file_and_line(tmp_path: Path, suffix: str) -> None:
    path = written(tmp_path, suffix)
    line = 3 if suffix == "csv" else 6
    with pytest.raises(FileFormatError, match=rf"^t\.{suffix}, line {line}: .*holds 'y'") as caught:
        open_source(path, kinds={"b": ("x", "z")}).schema()
    assert (caught.value.line, caught.value.column) == (line, 2)


def test_names_that_occur_twice() -> None:
    check_names(["a", "A", "b"])
    with pytest.raises(FileFormatError, match=r"^2 columns are called 'b'. Rename them.$"):
        check_names(["a", "b", "b"])
    with pytest.raises(FileFormatError, match=r"^Line 4: 2 .*'b'. Rename them, or so.$") as caught:
        check_names(["b", "a", "b"], 4, ", or so")
    assert (caught.value.line, caught.value.column) == (4, 3)


def test_names_of_a_parquet_file_are_checked(tmp_path: Path) -> None:
    pq.write_table(pa.table([[1], [2]], names=["a", "a"]), tmp_path / "t.parquet")
    with pytest.raises(FileFormatError, match="2 columns are called 'a'"):
        open_source(tmp_path / "t.parquet").schema()
