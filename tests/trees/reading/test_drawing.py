"""SVG: well-formed, complete, inert whatever the names are, and readable on any page."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from novum.core.svg_text import SvgText
from novum.core.tables import Column, Kind, Schema
from novum.trees.reading.drawing import tree_svg
from novum.trees.tree import Tree
from tests.trees.reading.reading_trees import (
    among,
    build,
    iris_tree,
    leaf,
    number_tree,
    weather_tree,
)

SVG = "{http://www.w3.org/2000/svg}"
PAYLOADS = [
    "<script>alert(1)</script>",
    "<svg onload=alert(1)>",
    '"><img src=x onerror=alert(1)>',
    "</title></svg><script>",
    "javascript:alert(1)",
    "]]>&amp;{{}}${}",
    "\x00\u202e\u2028\x1b[2J",
    "x" * 100_000,
]


def parsed(tree: Tree, **options: int) -> ElementTree.Element:
    return ElementTree.fromstring(tree_svg(tree, **options))


def texts(root: ElementTree.Element) -> list[str]:
    return ["".join(node.itertext()) for node in root.iter(f"{SVG}text")]


@pytest.mark.parametrize("tree", [weather_tree(), iris_tree(), number_tree()])
def test_every_node_is_drawn_with_its_title(tree: Tree) -> None:
    root = parsed(tree)
    groups = root.findall(f"{SVG}g")
    assert len(groups) == tree.n_nodes
    assert len(root.findall(f"{SVG}path")) == tree.n_nodes - 1
    for node, group in enumerate(groups):
        title = group.find(f"{SVG}title")
        assert title is not None
        assert (title.text or "").startswith(f"node {node}\n")


def test_questions_answers_and_classes_are_written() -> None:
    said = texts(parsed(weather_tree()))
    assert {"outlook", "windy", "humidity", "yes 9, no 5"} <= set(said)
    assert "outlook = sunny= sunny" in said  # the title of the answer, and the answer


def test_big_trees_say_what_is_not_drawn() -> None:
    root = parsed(iris_tree(), max_depth=1)
    assert len(root.findall(f"{SVG}g")) == 3
    title = root.find(f"{SVG}title")
    assert title is not None
    assert title.text == "Decision tree: 7 nodes, 4 leaves, depth 3; 4 nodes are not drawn"
    assert "... 4 more nodes" in texts(root)


def test_it_reads_on_light_and_dark_pages() -> None:
    source = tree_svg(iris_tree())
    root = ElementTree.fromstring(source)
    assert root.get("fill") == "currentColor"
    # Only bars and swatches have colors of their own; text takes the page's.
    assert all(node.get("fill") is None for node in root.iter(f"{SVG}text"))
    assert "style" not in source
    assert "<style" not in source


@pytest.mark.parametrize("payload", PAYLOADS)
def test_names_levels_and_classes_are_only_text(payload: str) -> None:
    schema = Schema((Column(payload, Kind.NOMINAL, (payload, "other")),))
    tree = build(schema, [[payload + "!", "b"]], among(0, [0, 1], leaf(1, 0), leaf(0, 1)))
    root = parsed(tree)
    allowed = {f"{SVG}{name}" for name in ("svg", "title", "path", "text", "rect", "g")}
    assert {node.tag for node in root.iter()} <= allowed
    names = {name for node in root.iter() for name in node.attrib}
    assert not any(name.startswith("on") or name == "href" for name in names)
    assert len(tree_svg(tree)) < 10_000


def test_notebooks_show_the_picture() -> None:
    source = tree_svg(weather_tree())
    assert isinstance(source, str)
    assert source._repr_html_() == source._repr_svg_() == str(source)


def test_a_picture_saves_itself(tmp_path: Path) -> None:
    picture = tree_svg(weather_tree())
    assert isinstance(picture, SvgText)
    picture.save(tmp_path / "tree.svg")
    assert (tmp_path / "tree.svg").read_text(encoding="utf-8") == picture
