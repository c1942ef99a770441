"""Record boundaries: against Python's csv module, against every cut, and the refusals."""

import csv
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import FileFormatError
from novum.core.sources.records import scan_records, split_record
from novum.core.sources.streams import line_of

cells = st.text(alphabet='ab ,;"\n\r', max_size=6)
tables = st.lists(st.lists(cells, min_size=2, max_size=4), min_size=1, max_size=6)


def written(rows: list[list[str]], end: str) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator=end, quoting=csv.QUOTE_ALL).writerows(rows)
    return out.getvalue()


@given(tables, st.sampled_from(["\n", "\r\n", "\r"]))
def test_agrees_with_the_csv_module(rows: list[list[str]], end: str) -> None:
    data = written(rows, end).encode()
    records = scan_records(data, ",", '"', final=True)
    assert records.cells.tolist() == [len(row) for row in rows]
    found = [
        split_record(data[a:b], ",", '"')
        for a, b in zip(records.starts.tolist(), records.ends.tolist(), strict=True)
    ]
    assert found == rows


@given(tables, st.sampled_from(["\n", "\r\n"]), st.data())
def test_a_cut_file_gives_a_prefix_of_the_records(
    rows: list[list[str]], end: str, data: st.DataObject
) -> None:
    text = written(rows, end).encode()
    whole = scan_records(text, ",", '"', final=True)
    cut = data.draw(st.integers(0, len(text)))
    part = scan_records(text[:cut], ",", '"', final=False)
    n = part.ends.size
    np.testing.assert_array_equal(part.ends, whole.ends[:n])
    np.testing.assert_array_equal(part.cells, whole.cells[:n])
    # No whole record is left behind, except one whose last byte may be half a line end.
    assert n >= np.sum(whole.ends < cut)


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ('a,b\n1,x"y"\n', 2, 2, "neither begins nor ends"),
        ('a,b\n1,"x"y\n', 2, 2, "neither begins nor ends"),
        ('a,b\n"1\n2",3\n4,"x\n\n', 4, 2, "never closed"),
        ('"', 1, 1, "never closed"),
    ],
)
def test_quotes_out_of_place_are_named(text: str, line: int, column: int, message: str) -> None:
    with pytest.raises(FileFormatError, match=message) as caught:
        scan_records(text.encode(), ",", '"', final=True)
    assert (caught.value.line, caught.value.column) == (line, column)


def test_without_quotes_they_are_plain_signs() -> None:
    records = scan_records(b'a,x"y\n', ",", "", final=True)
    assert records.cells.tolist() == [2]
    assert split_record(b'a,x"y\n', ",", "") == ["a", 'x"y']


def test_blank_lines_and_line_numbers() -> None:
    data = b"\na,b\r\n\r\n\rc,d"
    records = scan_records(data, ",", '"', final=True)
    assert records.blank.tolist() == [True, False, True, True, False]
    assert [line_of(data, start) for start in records.starts.tolist()] == [1, 2, 3, 4, 5]


def test_nothing_is_no_record() -> None:
    assert scan_records(b"", ",", '"', final=True).ends.size == 0
    assert scan_records(b"abc", ",", '"', final=False).ends.size == 0


def test_the_longest_cell_counts_the_unfinished_rest() -> None:
    long = b"x" * 100_000
    assert scan_records(b"a,b\n" + long, ",", '"', final=False).longest >= 100_000
    assert scan_records(b"a," + long + b",c\n", ",", '"', final=True).longest == 100_001
    # Many short cells are not one long cell.
    assert scan_records(b"ab," * 50_000 + b"\n", ",", '"', final=True).longest < 100
