"""Delimited files: against pandas, every attack on text files, and thousands of mutations."""

import csv
import gzip
import io
import random
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import FileFormatError, InputError, MixedColumnWarning, SchemaError
from novum.core.sources import DelimitedSource, Dialect, Limits, ParquetSource, open_source
from novum.core.sources import delimited as module
from novum.core.tables import Kind
from novum.data import read


def opened(tmp_path: Path, data: bytes | str, **options: object) -> DelimitedSource:
    path = tmp_path / "table.csv"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return DelimitedSource(path, **options)  # type: ignore[arg-type]


def whole(source: DelimitedSource) -> pa.Table:
    return pa.concat_tables(source.chunks())


# --- What is read ---------------------------------------------------------------------------------

words = st.one_of(st.none(), st.text(alphabet='aä,;"\n\t|x', min_size=1, max_size=5))
numbers = st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False))


@given(st.lists(st.tuples(numbers, words), min_size=1, max_size=12), st.sampled_from(",;\t|"))
def test_what_is_written_comes_back(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[tuple[float | None, str | None]],
    separator: str,
) -> None:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=separator, quoting=csv.QUOTE_ALL)
    writer.writerow(["number", "word"])
    writer.writerows(["" if cell is None else cell for cell in row] for row in rows)
    given_dialect = Dialect(separator=separator, header=True, decimal=".")
    source = opened(
        tmp_path_factory.mktemp("t"),
        out.getvalue(),
        dialect=given_dialect,
        kinds={"word": "nominal"},
    )
    table = whole(source)
    assert table.column("number").to_pylist() == [number for number, _ in rows]
    stripped = [None if word is None else word.strip() or None for _, word in rows]
    assert table.column("word").to_pylist() == stripped


def test_agrees_with_pandas_on_a_table_of_all_kinds(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "x": np.where(rng.random(500) < 0.1, np.nan, rng.normal(size=500)),
            "k": rng.integers(-5, 5, 500),
            "s": rng.choice(["red", "blue, dark", 'quo"te', "new\nline"], 500),
            "b": rng.choice(["true", "false"], 500),
        }
    )
    source = opened(tmp_path, frame.to_csv(index=False, na_rep="NA"))
    kinds = [column.kind for column in source.schema().columns]
    assert kinds == [Kind.NUMERIC, Kind.NUMERIC, Kind.NOMINAL, Kind.NOMINAL]
    found = whole(source).to_pandas()
    np.testing.assert_array_equal(found["x"], frame["x"])
    np.testing.assert_array_equal(found["k"], frame["k"])
    assert found["s"].tolist() == frame["s"].tolist()
    assert source.report().columns[0].missing == frame["x"].isna().sum()


def test_chunks_are_fresh_at_every_call_and_cut_by_rows(tmp_path: Path) -> None:
    source = opened(tmp_path, "a\n" + "1\n" * 10)
    for _ in range(2):
        assert [chunk.num_rows for chunk in source.chunks(4)] == [4, 4, 2]
    assert source.schema() is source.schema()


def test_kinds_given_by_the_caller_win(tmp_path: Path) -> None:
    text = "zip,size,grade\n01234,small,3\n00001,big,10\n"
    kinds = {"zip": "nominal", "size": ("small", "mid", "big"), "grade": "ordinal"}
    source = opened(tmp_path, text, kinds=kinds)
    zips, sizes, grades = source.schema().columns
    assert zips.levels == ("00001", "01234")
    assert sizes.levels == ("small", "mid", "big")
    assert (grades.kind, grades.levels) == (Kind.ORDINAL, ("3", "10"))
    assert whole(source).column("size").type.ordered
    with pytest.raises(SchemaError, match="names the column 'zap'"):
        opened(tmp_path, text, kinds={"zap": "nominal"}).schema()


def test_columns_are_chosen_in_the_order_asked_for(tmp_path: Path) -> None:
    source = opened(tmp_path, "a,b,c\n1,2,3\n", columns=["c", "a"])
    assert source.schema().names == ("c", "a")
    assert whole(source).to_pylist() == [{"c": 3.0, "a": 1.0}]
    with pytest.raises(SchemaError, match="`columns` names the column 'z'"):
        opened(tmp_path, "a\n1\n", columns=["z"]).schema()


def test_no_header_gives_names_that_are_ours(tmp_path: Path) -> None:
    source = opened(tmp_path, "5.1,3.5,setosa\n4.9,3.0,virginica\n")
    assert source.schema().names == ("x0", "x1", "x2")
    assert not source.schema().named
    assert whole(source).num_rows == 2


def test_an_index_column_without_name_gets_one_and_a_note(tmp_path: Path) -> None:
    source = opened(tmp_path, ",a\n0,1.5\n1,2.5\n")
    assert source.schema().names == ("column_1", "a")
    assert any("column_1" in note for note in source.report().notes)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-8", "cp1252"])
def test_encodings(tmp_path: Path, encoding: str) -> None:
    source = opened(tmp_path, "größe,art\n1,für\n2,bär\n".encode(encoding))
    assert source.schema().names == ("größe", "art")
    assert whole(source).column("art").to_pylist() == ["für", "bär"]
    note = next(note for note in source.report().notes if "encoding" in note)
    assert ("cp1252" in note) == (encoding == "cp1252")


def test_a_late_byte_turns_the_whole_file_to_cp1252(tmp_path: Path) -> None:
    data = b"a,b\n" + b"plain,1\n" * 200_000 + "caf\xe9,2\n".encode("cp1252")
    source = opened(tmp_path, data)
    assert source.schema().columns[0].levels == ("café", "plain")
    assert "line 200002 is not UTF-8" in source.report().notes[1]


# --- What is reported -----------------------------------------------------------------------------


def test_mixed_columns_are_reported_with_counts_values_and_lines(tmp_path: Path) -> None:
    source = opened(tmp_path, "age,x\n31,1\n29,2\nunknown,3\n44,4\n")
    with pytest.warns(
        MixedColumnWarning, match=r"'age' is mixed: 3 numbers and 1 word \('unknown' in line 4\)"
    ):
        schema = source.schema()
    assert schema.columns[0].levels == ("29", "31", "44", "unknown")
    assert source.report().mixed_columns == ("age",)
    # Told what to do, it is silent.
    quiet = opened(tmp_path, "age,x\n31,1\nunknown,3\n", missing=["unknown"])
    assert quiet.schema().columns[0].kind is Kind.NUMERIC


def test_late_words_get_all_levels_by_a_second_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BLOCK_BYTES", 64)
    monkeypatch.setattr(module, "_MOST_BYTES", 64)
    source = opened(tmp_path, "a,b\n" + "".join(f"{i},{i}\n" for i in range(50)) + "x,1\n")
    with pytest.warns(MixedColumnWarning, match="50 numbers and 1 word"):
        schema = source.schema()
    assert schema.columns[0].n_levels == 51
    assert whole(source).column("a").to_pylist() == [*map(str, range(50)), "x"]


def test_blank_lines_trimmed_cells_constants_and_dates_are_in_the_report(tmp_path: Path) -> None:
    source = opened(tmp_path, "a,b,d\n 1,x,2020-01-01\n\n2, x ,2020-01-02\n\n\n")
    text = str(source.report())
    assert "1 blank line between records skipped" in text
    assert "blanks around 1 cell removed" in text
    assert "dates as text" in text
    assert source.report().constant_columns == ("b",)


def test_truth_values_mean_what_they_mean_in_a_parquet_file(tmp_path: Path) -> None:
    text = "w,n\ntrue,1\nFALSE,2\n?,3\nTrue,4\n"
    source = opened(tmp_path, text)
    frame = pa.table({"w": [True, False, None, True], "n": [1.0, 2.0, 3.0, 4.0]})
    pq.write_table(frame, tmp_path / "t.parquet")
    other = ParquetSource(tmp_path / "t.parquet")
    assert source.schema() == other.schema()
    assert source.schema().columns[0].levels == (False, True)
    assert whole(source).equals(next(other.chunks()))
    assert [part.read().to_pydict() for part in source.partitions(3)] == [
        chunk.to_pydict() for chunk in source.chunks(3)
    ]
    words = opened(tmp_path, text, kinds={"w": "nominal"})
    assert whole(words).column("w").to_pylist() == ["true", "FALSE", None, "True"]


def test_the_warning_points_to_the_line_of_the_caller(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,2\nx,3\n4,4\n")
    for use in (lambda: read(tmp_path / "t.csv"), lambda: open_source(tmp_path / "t.csv").schema()):
        with pytest.warns(MixedColumnWarning) as caught:
            use()
        assert caught[0].filename == __file__


def test_a_table_without_a_separator_is_noted(tmp_path: Path) -> None:
    report = opened(tmp_path, "a b\n1 2\n3 4\n").report()
    assert any("one column: no comma" in note for note in report.notes)
    spaced = opened(tmp_path, "a b\n1 2\n3 4\n", dialect=Dialect(separator=" "))
    assert whole(spaced).to_pydict() == {"a": [1.0, 3.0], "b": [2.0, 4.0]}
    assert len(spaced.report().notes) == 2


def test_columns_without_a_name_are_all_accounted_for(tmp_path: Path) -> None:
    notes = opened(tmp_path, "a" + "," * 7 + "\n" + ",".join("12345678") + "\n").report().notes
    assert "column 2 has no name and is called column_2" in notes
    assert "2 more columns have no name and are called alike" in notes


# --- Attacks --------------------------------------------------------------------------------------

BROKEN = {
    "empty": (b"", "is empty", None),
    "only a mark": (b"\xef\xbb\xbf", "blank", 1),
    "only blank lines": (b"\n\n\n", "nothing but blank lines", 1),
    "only header": (b"a,b\n", "header but no rows", 1),
    "ragged": (b"a,b\n1,2\n3,4,5\n", "has 3 cells", 3),
    "unterminated quote": (b'a,b\n1,"2\n3,4\n', "never closed", 2),
    "no text at all": (bytes(range(256)) * 4, "zero byte", 1),
    "title line": (b"# people\na,b\n1,2\n", "If line 1 is a title or a comment, remove it", 2),
    "separator line": (b"sep=;\na;b\n1;2\n", "tells spreadsheets the separator", 1),
    "zero byte": (b"a,b\n1,2\n3,\0\n", "zero byte", 3),
    "same names": (b"a,b,a\n1,2,3\n", "2 columns are called 'a'", 1),
    "mixed encodings": ("a,b\nä,1\n".encode() + b"\xe9,2\n", "is not utf-8", 3),
    "long cell": (b"a,b\n1," + b"x" * 1_100_000 + b"\n", "longer than 1 MB", 2),
    "many columns": (b"a" + b",a" * 200_000 + b"\n", "200,001 columns", 1),
}


@pytest.mark.parametrize("attack", BROKEN)
def test_broken_files_are_one_error_with_its_line(tmp_path: Path, attack: str) -> None:
    data, message, line = BROKEN[attack]
    with pytest.raises(FileFormatError, match=message) as caught:
        opened(tmp_path, data).schema()
    assert caught.value.line == line


def test_a_gzip_bomb_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(gzip.compress(b"0,0\n" * 1_000_000))
    with pytest.raises(FileFormatError, match="more than 100 times"):
        DelimitedSource(path, limits=Limits(expansion=100, expansion_floor=1 << 20)).schema()


def test_too_many_levels_say_what_to_do(tmp_path: Path) -> None:
    text = "id,x\n" + "".join(f"u{i},1\n" for i in range(20))
    with pytest.raises(
        InputError, match=r"Column 'id' has more than 10 different values.*columns="
    ):
        opened(tmp_path, text, limits=Limits(levels=10)).schema()
    assert opened(tmp_path, text, limits=Limits(levels=10), columns=["x"]).schema().names == ("x",)


SEEDS = [
    b'a,b,c\n1,"x, y",2020-01-01\n2.5,z,?\n,"q""q",NA\n',
    b"n;m\n1,5;a\n2,25;b\n",
    b"x\ty\r\n1\t2\r\n3\t4\r\n",
    "name,wert\nä,1\nö,2\n".encode(),
    "name,wert\nä,1\n".encode("utf-16"),
    b"'a'|'b'\n'1'|'2'\n",
]
ODD = [
    b'"',
    b"'",
    b",",
    b";",
    b"\n",
    b"\r",
    b"\0",
    b"\xff",
    b"\xc3",
    b"1e999",
    b"\xef\xbb\xbf",
    b'""',
]


def mutated(seed: bytes, rng: random.Random) -> bytes:
    data = bytearray(seed)
    for _ in range(rng.randint(1, 6)):
        at = rng.randint(0, len(data))
        action = rng.randrange(4)
        if action == 0:
            data[at:at] = rng.choice(ODD)
        elif action == 1:
            del data[at : at + rng.randint(1, 4)]
        elif action == 2 and at < len(data):
            data[at] = rng.randrange(256)
        else:
            data[at:at] = data[: rng.randint(0, len(data))]
    return bytes(data)


def test_mutated_files_end_in_a_table_or_in_one_error(tmp_path: Path) -> None:
    rng = random.Random(20)
    read = 0
    for _ in range(500):
        data = mutated(rng.choice(SEEDS), rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MixedColumnWarning)
            try:
                source = opened(tmp_path, data)
                table = whole(source)
            except InputError:
                continue
        read += 1
        assert table.num_rows == source.report().rows, data
        assert table.column_names == list(source.schema().names)
        parts = pa.concat_tables(part.read() for part in source.partitions(2))
        assert parts.equals(table.combine_chunks()) or parts.to_pylist() == table.to_pylist()
    assert read > 100


@pytest.mark.parametrize(
    ("text", "is_noted"),
    [
        ("id;rent\n1;1.250\n2;980\n3;12.400\n", True),
        ("id;rent\n1;1.250\n2;9.5\n", False),
        ("id;rent\n1;0.250\n2;1.125\n", False),
        ("id;rent\n1;1250\n2;980\n", False),
        ("id,rent\n1,1.250\n2,980\n", False),
        ("id;rent;size\n1;1.250;2,5\n2;980;3,25\n3;12.400;1\n", True),
    ],
)
def test_a_point_that_may_group_thousands_is_noted(
    tmp_path: Path, text: str, is_noted: bool
) -> None:
    path = tmp_path / "flats.csv"
    path.write_text(text)
    rent = next(one for one in DelimitedSource(path).report().columns if one.name == "rent")
    assert any("groups thousands" in note for note in rent.notes) == is_noted
    if is_noted:
        assert "'1.250' in line 2 is read with a decimal point" in " ".join(rent.notes)
        german = DelimitedSource(path, dialect=Dialect(decimal=","))
        (chunk,) = german.chunks()
        assert chunk.column("rent").to_pylist() == [1250.0, 980.0, 12400.0]
    said = DelimitedSource(path, dialect=Dialect(decimal="."))
    assert not any("thousands" in note for one in said.report().columns for note in one.notes)
