"""A page taken apart by Python's own HTML parser, for tests to look at."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

_EMPTY = {"meta"}
_ALLOWED_TAGS = {
    *("html", "head", "meta", "title", "style", "body", "a", "header", "footer", "p", "h1", "h2"),
    *("h3", "div", "nav", "ol", "ul", "li", "main", "section", "span", "strong", "small", "dl"),
    *("dt", "dd", "table", "caption", "thead", "tbody", "tr", "th", "td", "figure", "figcaption"),
    *("details", "summary", "pre", "svg", "g", "defs", "clippath", "use", "path", "rect", "text"),
    *("circle", "desc"),
}
_ALLOWED_ATTRIBUTES = {
    *("lang", "charset", "http-equiv", "content", "name", "class", "href", "id", "tabindex"),
    *(
        "role",
        "aria-label",
        "aria-labelledby",
        "data-label",
        "scope",
        "title",
        "d",
        "x",
        "y",
        "rx",
        "width",
    ),
    *(
        "cx",
        "cy",
        "r",
        "height",
        "viewbox",
        "transform",
        "fill",
        "fill-opacity",
        "stroke",
        "stroke-opacity",
    ),
    *("stroke-width", "stroke-dasharray", "stroke-dashoffset", "stroke-linecap"),
    *("stroke-linejoin", "font-size", "font-weight", "text-anchor", "clip-path", "opacity"),
}


@dataclass
class Part:
    """An element: name, attributes, all text inside, and what is directly inside."""

    tag: str
    attributes: dict[str, str]
    text: str = ""
    children: list[Part] = field(default_factory=list)

    def all(self, *tags: str) -> list[Part]:
        found = [child for child in self.children if child.tag in tags]
        return found + [part for child in self.children for part in child.all(*tags)]


class _Builder(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.stack = [Part("", {})]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        part = Part(tag, {name: value or "" for name, value in attrs})
        self.stack[-1].children.append(part)
        if tag not in _EMPTY:
            self.stack.append(part)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.stack.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.stack[-1].tag == tag, f"</{tag}> closes <{self.stack[-1].tag}>"
        self.stack.pop()

    def handle_data(self, data: str) -> None:
        for part in self.stack:
            part.text += data


def parsed(page: str) -> Part:
    """The document; every element that is opened is closed."""
    builder = _Builder()
    builder.feed(page)
    builder.close()
    assert len(builder.stack) == 1, [part.tag for part in builder.stack]
    return builder.stack[0]


def assert_harmless(page: Part) -> None:
    """Nothing in the page can run, load or leave it."""
    for part in page.all(*_every_tag(page)):
        assert part.tag in _ALLOWED_TAGS, part.tag
        for name, value in part.attributes.items():
            assert name in _ALLOWED_ATTRIBUTES, (part.tag, name)
            if name == "href":
                assert value.startswith("#"), value
            if name == "clip-path":
                assert value.startswith("url(#"), value
            elif name not in ("aria-label", "data-label", "title", "content"):
                assert "url(" not in value, (part.tag, name, value)
    assert len(page.all("style")) == 1
    assert [
        m.attributes["http-equiv"] for m in page.all("meta") if "http-equiv" in m.attributes
    ] == ["Content-Security-Policy"]


def _every_tag(page: Part) -> set[str]:
    found = {child.tag for child in page.children}
    return found.union(*(_every_tag(child) for child in page.children)) if found else found
