"""Pages: nothing is loaded, nothing half-written."""

from typing import Any

import pytest

from novum.display import Axis, Chart, Line, Summary
from novum.evaluation.reports.pages import html_page, save_page


def test_titles_are_escaped_and_requests_forbidden() -> None:
    page = html_page(Summary("</title><script>"))
    assert "<script>" not in page
    assert "default-src 'none'" in page


def test_charts_are_inside_and_described() -> None:
    chart = Chart(Axis(), Axis(), [Line([0, 1], [0, 1])], 'a "b"')
    page = html_page(Summary("t"), [chart, chart])
    assert '<title id="chart-1-title">a &quot;b&quot;</title>' in page
    assert '<title id="chart-2-title">' in page


def test_a_failed_chart_leaves_the_old_page(tmp_path: Any) -> None:
    target = tmp_path / "page.html"
    target.write_text("old")
    with pytest.raises(AttributeError):
        save_page(target, Summary("t"), [None])  # type: ignore[list-item]
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]
