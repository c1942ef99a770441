"""ARFF files: against SciPy's reader, declared levels, attacks, and thousands of mutations."""

import io
import random
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from scipy.io import arff as scipy_arff

from novum.core.errors import FileFormatError, InputError
from novum.core.sources import ArffSource, Limits
from novum.core.tables import Kind

WEATHER = """% play or not
@RELATION weather
@attribute outlook {sunny, overcast, rainy}
@attribute 'the temperature' real
@attribute windy {TRUE, FALSE}
@DATA
sunny,85,FALSE
% in between
overcast,?,TRUE

rainy,7.05e1,FALSE
"""


def opened(tmp_path: Path, text: str | bytes, **options: object) -> ArffSource:
    path = tmp_path / "t.arff"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return ArffSource(path, **options)  # type: ignore[arg-type]


def whole(source: ArffSource) -> pa.Table:
    return pa.concat_tables(source.chunks())


def test_agrees_with_scipy(tmp_path: Path) -> None:
    data, meta = scipy_arff.loadarff(io.StringIO(WEATHER))
    source = opened(tmp_path, WEATHER)
    table = whole(source)
    assert list(source.schema().names) == meta.names()
    assert table.column("outlook").to_pylist() == [cell.decode() for cell in data["outlook"]]
    np.testing.assert_array_equal(table.column(1).to_numpy(), data["the temperature"].astype(float))


def test_declared_levels_are_kept_even_if_they_do_not_occur(tmp_path: Path) -> None:
    text = "@relation r\n@attribute c {low, mid, high}\n@data\nhigh\nlow\n"
    assert opened(tmp_path, text).schema().columns[0].levels == ("high", "low", "mid")
    ordinal = opened(tmp_path, text, kinds={"c": "ordinal"})
    assert ordinal.schema().columns[0].levels == ("low", "mid", "high")
    assert whole(ordinal).column("c").type.ordered


def test_strings_and_dates_are_text_and_reported(tmp_path: Path) -> None:
    text = '@relation r\n@attribute s string\n@attribute d date "yyyy"\n@data\nabc,"2020"\n'
    source = opened(tmp_path, text)
    assert [column.kind for column in source.schema().columns] == [Kind.NOMINAL, Kind.NOMINAL]
    assert "declared as string" in str(source.report())
    assert "dates as text" in str(source.report())


def test_chunks_partitions_and_columns(tmp_path: Path) -> None:
    head = "@relation r\n@attribute a numeric\n@attribute b {x,'y z'}\n@data\n"
    rows = "".join(f"{i},{'x' if i % 2 else chr(39) + 'y z' + chr(39)}\n" for i in range(50))
    source = opened(tmp_path, head + rows, columns=["b", "a"])
    chunks = list(source.chunks(20))
    assert [chunk.num_rows for chunk in chunks] == [20, 20, 10]
    assert all(a.read().equals(b) for a, b in zip(source.partitions(20), chunks, strict=True))
    table = pa.concat_tables(chunks)
    assert table.column_names == ["b", "a"]
    assert table.column("a").to_pylist() == [float(i) for i in range(50)]
    assert table.column("b").to_pylist()[:2] == ["y z", "x"]


def test_sparse_and_dense_rows_mean_the_same(tmp_path: Path) -> None:
    head = "@relation r\n@attribute a numeric\n@attribute b {x,y}\n@attribute c numeric\n@data\n"
    sparse = whole(opened(tmp_path, head + "{2 3}\n{0 1, 1 y}\n"))
    dense = whole(opened(tmp_path, head + "0,x,3\n1,y,0\n"))
    assert sparse.equals(dense)


def test_cp1252_is_a_reported_fallback(tmp_path: Path) -> None:
    source = opened(tmp_path, "@relation r\n@attribute c {für}\n@data\nfür\n".encode("cp1252"))
    assert source.schema().columns[0].levels == ("für",)
    assert "cp1252" in source.report().notes[0]
    with pytest.raises(FileFormatError, match="neither UTF-8 nor cp1252"):
        opened(tmp_path, b"@relation r\n@attribute c\x81 string\n@data\nx\n").schema()


ONE = "@relation r\n@attribute n numeric\n@attribute c {a,b}\n"
BROKEN = {
    "empty": ("", "no @data", None),
    "no data section": (ONE, "no @data", None),
    "no rows": (ONE + "@data\n% nothing\n", "head but no rows", 5),
    "no attribute": ("@relation r\n@data\n1\n", "declares no attribute", 3),
    "rows before data": (ONE + "1,a\n", "stands where", 4),
    "same names": (ONE + "@attribute n numeric\n@data\n1,a,2\n", "2 columns are called 'n'", 6),
    "word in numeric": (
        ONE + "@data\n1,a\nx,b\n",
        "t.arff, line 6: the file declares column 'n' num",
        6,
    ),
    "overflow": (ONE + "@data\n1e999,a\n", "no number that float64 can hold", 5),
    "undeclared level": (ONE + "@data\n1,z\n", "holds 'z', which is none of the levels", 5),
    "sparse index": (ONE + "@data\n{7 1}\n", "index '7'", 5),
    "ragged": (ONE + "@data\n1\n", "has 1 cell, 2 attributes are declared", 5),
    "zero byte": (ONE + "@data\n1,\0\n", "zero byte", 5),
}


@pytest.mark.parametrize("attack", BROKEN)
def test_broken_files_are_one_error_with_its_line(tmp_path: Path, attack: str) -> None:
    text, message, line = BROKEN[attack]
    with pytest.raises(FileFormatError, match=message) as caught:
        opened(tmp_path, text).schema()
    assert caught.value.line == line


def test_millions_of_levels_are_refused_quickly(tmp_path: Path) -> None:
    text = "@relation r\n@attribute c {" + ",".join(map(str, range(1_100_000))) + "}\n@data\n1\n"
    with pytest.raises(FileFormatError, match="more than 1,000,000 levels"):
        opened(tmp_path, text).schema()
    few = Limits(columns=2)
    three = ONE + "@attribute d numeric\n@data\n1,a,1\n"
    with pytest.raises(FileFormatError, match="more than 2 attributes"):
        opened(tmp_path, three, limits=few).schema()


SEEDS = [WEATHER, ONE + "@data\n{0 1}\n{1 b}\n1,a\n", ONE + "@data\n'1','a'\n?,b\n"]
ODD = ["'", '"', ",", "{", "}", "%", "\n", "\0", "@data\n", "\\", "ä", "?", "@attribute x string\n"]


def test_mutated_files_end_in_a_table_or_in_one_error(tmp_path: Path) -> None:
    rng = random.Random(7)
    read = 0
    for _ in range(1500):
        text = list(rng.choice(SEEDS))
        for _ in range(rng.randint(1, 5)):
            at = rng.randint(0, len(text))
            if rng.random() < 0.5:
                text[at:at] = rng.choice(ODD)
            else:
                del text[at : at + rng.randint(1, 4)]
        try:
            source = opened(tmp_path, "".join(text))
            table = whole(source)
            assert table.num_rows == source.report().rows
            read += 1
        except InputError:
            pass
    assert read > 30
