"""Tables: alignment, empty ones, hostile names, heads for readers who listen."""

from __future__ import annotations

from xml.etree import ElementTree

from novum.display import Cell, Column, Table, aligned

SIDES = Table("Coin", ["side", Column("share", True)], [["head", "0.25"], ["t", "10"]], "Two rows.")


def test_numbers_stand_right_and_texts_left() -> None:
    assert SIDES.as_text().splitlines() == [
        "Coin",
        "  side  share",
        "  head   0.25",
        "  t        10",
        "  Two rows.",
    ]


def test_of_numbers_has_numbers_after_the_first_column() -> None:
    table = Table.of_numbers("", ["a", "b"], [("x", "1"), ("yy", "22")])
    assert [column.is_number for column in table.heads] == [False, True]
    assert table.as_text() == "a    b\nx    1\nyy  22"


def test_html_has_caption_and_heads_of_rows_and_columns() -> None:
    root = ElementTree.fromstring(f"<div>{SIDES.as_html()}</div>")
    table = root.find(".//table")
    assert table is not None
    assert table.findtext("caption") == "Coin"
    assert [(h.get("scope"), h.text) for h in table.iter("th")] == [
        ("col", "side"),
        ("col", "share"),
        ("row", "head"),
        ("row", "t"),
    ]
    assert root.findtext("p") == "Two rows."


def test_empty_table_has_its_heads_and_no_rows() -> None:
    empty = Table("Nothing", ["a", "b"], [])
    assert empty.as_text() == "Nothing\n  a  b"
    assert "<tbody></tbody>" in empty.as_html()
    assert Table("", [], []).as_text() == ""
    assert aligned([], []) == []


def test_names_cannot_break_a_line_or_the_page() -> None:
    evil = "<b>\x1b[2J\n"
    table = Table(evil, [evil], [[Cell(evil, evil, evil)], [evil]], evil)
    assert "\x1b" not in table.as_text()
    assert len(table.as_text().splitlines()) == 5
    page = table.as_html()
    assert "<b>" not in page
    assert "\x1b" not in page


def test_long_cells_are_cut_with_a_hint() -> None:
    table = Table("", ["a"], [["x" * 1000]])
    assert len(table.as_text().splitlines()[1]) == 90
    assert '<span title="xxx' in table.as_html()


def test_wide_signs_count_twice() -> None:
    assert aligned([["身", "1"], ["ab", "2"]], [False, True]) == ["身  1", "ab  2"]


def test_marked_rows_and_badges() -> None:
    table = Table("T", ["a"], [[Cell("x", "chosen", "why")]], marked=frozenset({0}))
    page = table.as_html()
    assert '<tr class="marked">' in page
    assert '<span class="badge">chosen</span><small>why</small>' in page
    assert "x (chosen)" in table.as_text()
