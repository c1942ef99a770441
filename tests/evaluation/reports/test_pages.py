"""Pages: nothing is loaded, nothing half-written."""

from typing import Any

import pytest
from matplotlib.figure import Figure

from novum.evaluation.reports.pages import html_page, picture, save_page


def test_titles_are_escaped_and_requests_forbidden() -> None:
    page = html_page("</title><script>", "<p>x</p>")
    assert "<script>" not in page
    assert "default-src 'none'" in page


def test_the_picture_is_inside_and_described() -> None:
    tag = picture(Figure(), 'a "b"')
    assert tag.startswith('<img alt="Pictures of: a &quot;b&quot;')
    assert "data:image/png;base64," in tag


def test_a_failed_picture_leaves_the_old_page(tmp_path: Any) -> None:
    target = tmp_path / "page.html"
    target.write_text("old")
    with pytest.raises(AttributeError):
        save_page(target, "t", "", None)
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]
