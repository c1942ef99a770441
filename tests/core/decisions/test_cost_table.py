"""Cost tables: what is read, and where the first fault is."""

import csv
import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.decisions.cost_table import read_cost_table
from novum.core.errors import FileFormatError

words = st.text("ab, ;\"'é#", min_size=1, max_size=5).filter(lambda w: w == w.strip())
numbers = st.floats(-1e6, 1e6)


@given(st.data())
def test_what_the_csv_module_writes_is_read_back(data: st.DataObject) -> None:
    classes = data.draw(st.lists(words, min_size=1, max_size=4, unique=True))
    actions = data.draw(st.lists(words, min_size=2, max_size=4, unique=True))
    cost = [[data.draw(numbers) for _ in actions] for _ in classes]
    buffer = io.StringIO()
    writer = csv.writer(buffer, quoting=csv.QUOTE_ALL)
    writer.writerow(["true", *actions])
    for label, row in zip(classes, cost, strict=True):
        writer.writerow([label, *map(repr, row)])
    text = buffer.getvalue()
    # The separator is what the first line has most of; a label full of semicolons would win.
    if text.splitlines()[0].count(";") > text.splitlines()[0].count(","):
        return
    table = read_cost_table(text)
    assert table.classes == tuple(classes)
    assert table.actions == tuple(actions)
    np.testing.assert_array_equal(table.cost, cost)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_separators_line_ends_blanks_and_empty_lines(separator: str, line_end: str) -> None:
    rows = ["true, a ,b", "", "a, 0,1", "b,5, -2.5", ""]
    table = read_cost_table(line_end.join(rows).replace(",", separator))
    assert table.actions == ("a", "b")
    assert table.cost.tolist() == [[0, 1], [5, -2.5]]


def test_a_file_with_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "costs.csv"
    path.write_bytes("\ufefftrue,ä\nö,1\n".encode())
    table = read_cost_table(str(path))
    assert (table.classes, table.actions) == (("ö",), ("ä",))


@pytest.mark.parametrize(
    ("text", "message", "line", "column"),
    [
        ("true,a,b\n", "has 1 lines", 1, None),
        ("\n\n", "has 0 lines", 1, None),
        ("true\na\n", "Line 1 names no actions", 1, None),
        ("true,a,b\na,0\n", "Line 2 of the cost table has 1 costs for 2 actions", 2, None),
        ("true,a,b\n\na,0,1,2\n", "Line 3 of the cost table has 3 costs for 2", 3, None),
        ("true,a,a\nx,0,1\n", "Line 1, column 3 .* new action, but 'a' is there twice", 1, 3),
        ("true,a,\nx,0,1\n", "Line 1, column 3 .* the name is empty", 1, 3),
        ("true,a\nx,0\nx,1\n", "Line 3, column 1 .* new class, but 'x' is there twice", 3, 1),
        ("true,a,b\nx,0,one\n", "Line 2, column 3 of the cost table is 'one'", 2, 3),
        ("true,a,b\nx,nan,1\n", "column 2 of the cost table is 'nan', not a finite", 2, 2),
        ("true,a,b\nx,1e999,1\n", "column 2 of the cost table is '1e999'", 2, 2),
        ("true,a,b\nx,,1\n", "column 2 of the cost table is ''", 2, 2),
        ('true,a\nx,"1\n', "Line 2 of the cost table: unexpected end", 2, None),
    ],
)
def test_the_first_fault_is_named_with_its_place(
    text: str, message: str, line: int, column: int | None
) -> None:
    with pytest.raises(FileFormatError, match=message) as caught:
        read_cost_table(text)
    assert (caught.value.line, caught.value.column) == (line, column)


def test_other_encodings_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "costs.csv"
    path.write_bytes(b"true,a\n\xff\xfe,1\n")
    with pytest.raises(FileFormatError, match="not UTF-8"):
        read_cost_table(path)


def test_a_file_that_is_not_there_is_just_that(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_cost_table(tmp_path / "nothing.csv")
