"""Rows: dense and sparse, fast and careful way alike, and refusals with line and cell."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import FileFormatError
from novum.core.sources.arff import ArffDecoder, Attribute

ATTRIBUTES = (
    Attribute("n", "numeric"),
    Attribute("c", "nominal", ("x", "y")),
    Attribute("s", "string"),
)
DECODER = ArffDecoder(ATTRIBUTES, (0, 1, 2), "utf-8")


def rows_of(text: str) -> list[list[str]]:
    columns, _ = DECODER.parsed(text.encode(), 1)
    return [list(row) for row in zip(*(column.to_pylist() for column in columns), strict=True)]


@pytest.mark.parametrize(
    ("row", "cells"),
    [
        ("1,x,abc", ["1", "x", "abc"]),
        (" 1 , x ,\tabc ", ["1", "x", "abc"]),
        ("1,'x','a, b'", ["1", "x", "a, b"]),
        (r"1,x,'it\'s'", ["1", "x", "it's"]),
        (r"1,x,it\'s", ["1", "x", "it's"]),
        ('1,x,"50%"', ["1", "x", "50%"]),
        ("{0 5, 2 'a b'}", ["5", "x", "a b"]),
        ("{1 y, 2 w}", ["0", "y", "w"]),
        ("{2 w, 0 ?}", ["?", "x", "w"]),
    ],
)
def test_rows(row: str, cells: list[str]) -> None:
    assert rows_of(row) == [cells]


def test_an_empty_sparse_row_is_all_defaults() -> None:
    decoder = ArffDecoder(ATTRIBUTES[:2], (0, 1), "utf-8")
    assert [column.to_pylist() for column in decoder.cells(b"{}\n{ }\n", 1)] == [
        ["0", "0"],
        ["x", "x"],
    ]


def test_comments_and_blank_lines_are_skipped_and_lines_counted() -> None:
    columns, line_of = DECODER.parsed(b"% note\r\n1,x,a\r\n\r\n2,y,b\r\n", 10)
    assert columns[0].to_pylist() == ["1", "2"]
    assert [line_of(row) for row in range(2)] == [11, 13]


@given(st.lists(st.tuples(*[st.text(alphabet="ab1. ", max_size=4)] * 3), min_size=1, max_size=5))
def test_the_fast_way_is_the_careful_way(cells: list[tuple[str, ...]]) -> None:
    text = "\n".join(f"{a},{b},{c}." for a, b, c in cells)
    assert rows_of(text) == rows_of("%'\n" + text)


@pytest.mark.parametrize(
    ("row", "column", "message"),
    [
        ("1,x", 2, "has 2 cells, 3 attributes"),
        ("1,x,a,b", 3, "has 4 cells"),
        ("1 x a", 1, "separated by commas"),
        ("1,x,'a", 5, "never closed"),
        ("1,'x' y,a", 2, "goes on after its closing quote"),
        ("1,x,a,{5}", 4, "weight in braces"),
        ("{0 1, 2 a}, {5}", None, "follows a sparse row"),
        ("{3 1}", None, "index '3'; indices are 0 to 2"),
        ("{-1 1}", None, "index '-1'"),
        ("{99999999999999999999 1}", None, "indices are 0 to 2"),
        ("{0 1, 0 2, 2 a}", 1, "gives attribute 0 twice"),
        ("{0 1", 1, "not closed"),
        ("{0 1}", None, "leaves out string attribute 's'"),
    ],
)
def test_refusals_name_line_and_cell(row: str, column: int | None, message: str) -> None:
    with pytest.raises(FileFormatError, match=message) as caught:
        rows_of(f"% first line\n{row}\n")
    assert caught.value.line == 2
    assert caught.value.column == column
