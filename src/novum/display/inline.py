"""Drawings from elsewhere made safe to stand inside a page.

An SVG inside HTML is part of the page: its ids, styles, scripts and links are the page's own. A
drawing is therefore not copied but rebuilt, element by element, from a list of what is allowed:

- shapes, groups, texts, clip paths and uses of shapes of the same drawing; nothing else;
- geometry and paint attributes, and the classes of the palette; no style, link, or event;
- ids only where something refers to them, renamed so that no two drawings share one;
- coordinates rounded to a hundredth of a point.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from xml.etree import ElementTree

from novum.display.markup import Markup, rounded

Element = ElementTree.Element

_ELEMENTS = {
    *("svg", "g", "defs", "clipPath", "use", "path", "rect", "circle", "ellipse", "line"),
    *("polyline", "polygon", "text", "tspan", "title", "desc"),
}
# What may be used again: shapes, never groups, whose uses of uses grow without bound.
_USABLE = {"path", "rect", "circle", "ellipse", "line", "polyline", "polygon", "clipPath"}
_DEEPEST = 100
_GEOMETRY = {
    *("d", "points", "x", "y", "x1", "y1", "x2", "y2", "dx", "dy", "cx", "cy", "r", "rx", "ry"),
    *("width", "height", "viewBox", "transform"),
}
_PAINT = {
    *("fill", "fill-opacity", "fill-rule", "stroke", "stroke-opacity", "stroke-width", "opacity"),
    *("stroke-dasharray", "stroke-dashoffset", "stroke-linecap", "stroke-linejoin"),
    *("font-size", "font-weight", "font-style", "text-anchor"),
}
_GEOMETRY_VALUE = re.compile(r"[\w\s.,+()\-]*\Z", re.ASCII)
_PAINT_VALUE = re.compile(r"[\w\s.,+#%()\-]*\Z", re.ASCII)
_LOCAL = re.compile(r"(?:url\()?#([\w.\-]+)\)?\Z", re.ASCII)
_PALETTE = re.compile(r"(?:(?:fill|stroke)-series-\d ?)+\Z", re.ASCII)
_DECIMALS = re.compile(r"-?\d+\.\d{3,}(?:e-?\d+)?")
_HREFS = ("href", "{http://www.w3.org/1999/xlink}href")


def inline_svg(
    source: str,
    *,
    key: str,
    title: str,
    description: str = "",
) -> Markup:
    """The drawing as markup for the inside of a page.

    Parameters
    ----------
    source : str
        SVG whose root is `svg`.
    key : str
        Start of all ids; one of its own for every drawing of a page.
    title, description : str
        What a reader hears who cannot see the drawing.

    Raises
    ------
    ValueError
        If the source is no drawing.

    Examples
    --------
    >>> markup = inline_svg('<svg><path d="M0 0" onclick="x()"/></svg>', key="a", title="A <b>")
    >>> print(markup.split(">", 1)[1])
    <title id="a-title">A &lt;b&gt;</title><path d="M0 0" /></svg>
    """
    root = _parsed(source)
    names = {old: f"{key}-{place}" for place, old in enumerate(sorted(_references(root)))}
    labels = [f"{key}-title"] + ([f"{key}-text"] if description else [])
    drawing = ElementTree.Element("svg", {"role": "img", "aria-labelledby": " ".join(labels)})
    drawing.attrib.update({"fill": "currentColor", **_frame(_attributes(root, {}))})
    for place, (tag, words) in enumerate(zip(("title", "desc"), (title, description), strict=True)):
        if words:
            ElementTree.SubElement(drawing, tag, {"id": labels[place]}).text = words
    # The source names itself too; the page has said it better.
    for child in root:
        if _tag(child) not in ("title", "desc"):
            drawing.extend(_rebuilt(child, names))
    return Markup(ElementTree.tostring(drawing, encoding="unicode"))


# --- Parts ----------------------------------------------------------------------------------------


def _parsed(source: str) -> Element:
    # Nothing before the root: no declaration of a document type, so no entities.
    start = source.lstrip()
    if not start.startswith("<svg"):
        raise ValueError("A drawing starts with <svg, without a document type; this one does not.")
    depth = 0
    try:
        events = ElementTree.iterparse(io.StringIO(start), events=("start", "end"))
        for event, _ in events:
            depth += 1 if event == "start" else -1
            if depth > _DEEPEST:
                raise ValueError(f"A drawing has at most {_DEEPEST} levels of groups.")
    except ElementTree.ParseError as error:
        raise ValueError(f"The drawing is not well-formed XML: {error}.") from error
    root = events.root  # type: ignore[attr-defined]
    if _tag(root) != "svg":
        raise ValueError("The root of a drawing is svg; draw it again.")
    return root


def _frame(given: Mapping[str, str]) -> dict[str, str]:
    """Size and class of the root."""
    frame = {name: given[name] for name in ("viewBox", "font-size") if name in given}
    for name in ("width", "height"):
        with suppress(ValueError, KeyError):
            frame[name] = f"{float(given[name]):.0f}"
    return {"class": "plot", **frame}


def _tag(element: Element) -> str:
    return str(element.tag).removeprefix("{http://www.w3.org/2000/svg}")


def _references(root: Element) -> set[str]:
    """Ids that something of the drawing refers to and that exist."""
    existing = {element.get("id") for element in root.iter() if _tag(element) in _USABLE}
    values = (e.get(name, "") for e in root.iter() for name in (*_HREFS, "clip-path"))
    matches = (_LOCAL.match(value) for value in values)
    return {match[1] for match in matches if match and match[1] in existing}


def _rebuilt(element: Element, names: Mapping[str, str]) -> Iterator[Element]:
    tag = _tag(element)
    if tag not in _ELEMENTS:
        return
    made = ElementTree.Element(tag, _attributes(element, names))
    for child in element:
        made.extend(_rebuilt(child, names))
    if tag in ("text", "tspan", "title", "desc"):
        made.text = element.text
        for old, new in zip(element, made, strict=False):
            new.tail = old.tail if tag == "text" else None
    if tag in ("g", "defs") and not len(made):
        return
    # A group that says nothing only adds to the size of the page.
    if tag == "g" and not made.attrib:
        yield from made
    else:
        yield made


def _attributes(element: Element, names: Mapping[str, str]) -> dict[str, str]:
    attributes: dict[str, str] = {}
    for name, value in element.attrib.items():
        is_geometry = name in _GEOMETRY and _GEOMETRY_VALUE.match(value)
        is_paint = name in _PAINT and _PAINT_VALUE.match(value) and "url" not in value
        if is_geometry or is_paint or (name == "class" and _PALETTE.match(value)):
            attributes[name] = _DECIMALS.sub(lambda match: rounded(float(match[0])), value)
    attributes.update(_links(element, names))
    return attributes


def _links(element: Element, names: Mapping[str, str]) -> dict[str, str]:
    links = {}
    if element.get("id", "") in names:
        links["id"] = names[element.get("id", "")]
    for name in (*_HREFS, "clip-path"):
        match = _LOCAL.match(element.get(name, ""))
        if match and match[1] in names:
            here = f"#{names[match[1]]}"
            links["clip-path" if name == "clip-path" else "href"] = (
                f"url({here})" if name == "clip-path" else here
            )
    return links
