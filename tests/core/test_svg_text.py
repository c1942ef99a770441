"""SVG source that shows and saves itself."""

from __future__ import annotations

from pathlib import Path

from novum.core.svg_text import SvgText

SOURCE = '<svg xmlns="http://www.w3.org/2000/svg"><text>ß</text></svg>'


def test_notebooks_and_files_get_the_source(tmp_path: Path) -> None:
    picture = SvgText(SOURCE)
    assert picture == SOURCE
    assert picture._repr_svg_() == picture._repr_html_() == SOURCE
    picture.save(tmp_path / "x.svg")
    assert (tmp_path / "x.svg").read_bytes() == SOURCE.encode()
