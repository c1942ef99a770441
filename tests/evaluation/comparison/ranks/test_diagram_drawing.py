"""The diagram drawn: well-formed, accessible, the same bytes, safe for any name."""

from __future__ import annotations

from xml.etree import ElementTree

import matplotlib as mpl
import pytest

from novum.display import Path
from novum.evaluation.comparison.ranks.diagram import CriticalDifferenceDiagram

mpl.use("Agg")

DIAGRAM = CriticalDifferenceDiagram(("forest", "tree", "stump"), (1.2, 1.8, 3.0), 0.9, 20)
LINES = [shape for shape in DIAGRAM.drawing().shapes if isinstance(shape, Path)]
SVG = "{http://www.w3.org/2000/svg}"


def test_svg_is_well_formed_and_tells_its_content() -> None:
    root = ElementTree.fromstring(DIAGRAM.svg())
    assert root.get("role") == "img"
    assert root.get("aria-label") == DIAGRAM.description
    assert root.findtext(f"{SVG}desc") == DIAGRAM.description
    texts = [node.text for node in root.iter(f"{SVG}text")]
    assert "forest (1.20)" in texts
    assert "CD = 0.90" in texts
    assert len(root.findall(f"{SVG}path")) == len(LINES)


def test_svg_refers_to_nothing_and_runs_nothing() -> None:
    text = DIAGRAM.svg()
    for part in ("<script", "<style", "href", "url(", "onload"):
        assert part not in text


def test_the_same_bytes_every_time() -> None:
    again = CriticalDifferenceDiagram(("forest", "tree", "stump"), (1.2, 1.8, 3.0), 0.9, 20)
    assert DIAGRAM.svg().encode() == again.svg().encode()
    assert DIAGRAM._repr_svg_() == DIAGRAM.svg()


@pytest.mark.parametrize(
    "name",
    ["<script>alert(1)</script>", '"><img>', "a & b", "$x^$", "\x1b[2J", "\u202e", "x" * 10**5],
)
def test_any_name_is_safe(name: str) -> None:
    diagram = CriticalDifferenceDiagram((name, "b"), (1.0, 2.0), 0.5, 5)
    root = ElementTree.fromstring(diagram.svg())
    assert not root.findall(f".//{SVG}script")
    assert not root.findall(f".//{SVG}img")
    assert "\x1b" not in diagram.svg()
    ax = diagram.plot()
    ax.figure.canvas.draw()
    mpl.pyplot.close(ax.figure)


def test_matplotlib_draws_the_same_lines() -> None:
    import matplotlib.pyplot as plt

    ax = plt.subplots()[1]
    assert DIAGRAM.plot(ax) is ax
    assert len(ax.lines) == len(LINES)
    assert "tree (1.80)" in [text.get_text() for text in ax.texts]
    plt.close(ax.figure)
