"""Reports: counts, plain text without control characters, HTML without live markup."""

import pytest

from novum.core.sources import ColumnReport, ReadReport
from novum.core.sources.report import printable
from novum.core.tables import Kind

PAYLOADS = ["<script>alert(1)</script>", '"><img src=x onerror=y>', "\x1b[31mred", "a\u202eb", "\0"]


def report_of(name: str) -> ReadReport:
    columns = (
        ColumnReport(name, Kind.NUMERIC, missing=2, constant=True),
        ColumnReport("b", Kind.NOMINAL, n_levels=1, mixed=True, notes=(name,)),
    )
    return ReadReport(name, "CSV", 1, columns, (name,))


def test_counts() -> None:
    report = report_of("a")
    assert report.missing_cells == 2
    assert report.mixed_columns == ("b",)
    assert report.constant_columns == ("a",)
    assert report.title == "a: CSV, 1 row, 2 columns, 2 missing cells"
    assert "nominal (1 level), a" in str(report)


@pytest.mark.parametrize("payload", PAYLOADS)
def test_nothing_from_a_file_is_live(payload: str) -> None:
    report = report_of(payload)
    html = report._repr_html_()
    assert "<script" not in html
    assert "<img" not in html
    for text in (str(report), html):
        assert not set(text) & {"\x1b", "\u202e", "\0"}


def test_long_tables_are_cut_and_say_so() -> None:
    columns = tuple(ColumnReport(f"c{i}", Kind.NUMERIC) for i in range(100))
    text = str(ReadReport("p", "CSV", 1, columns))
    assert "and 40 more columns" in text


def test_printable_cuts_and_escapes() -> None:
    assert printable("a\nb") == "a\\nb"
    assert printable("x" * 100, 10) == "xxxxxxx..."
    assert printable("x" * 10, 10) == "x" * 10
