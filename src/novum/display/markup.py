"""HTML and SVG that cannot be broken by what stands in it.

Names of columns, classes and files are anyone's. Markup is made by `element` only, which escapes
every text that is not markup already; so escaping is not a thing that a caller can forget.
Characters that steer a terminal or the direction of writing are shown by their codes, and those
that XML forbids by a replacement.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable
from typing import TypeAlias

# Control and format characters, lone surrogates, and the two line separators.
_UNSAFE = ("Cc", "Cf", "Cs", "Zl", "Zp")
# U+FFFE and U+FFFF, in every plane, are no characters; XML refuses the first two.
_NO_CHARACTER = re.compile("[\ufffe\uffff]")
_EMPTY = {"path", "rect", "circle"}

Child: TypeAlias = "str | Iterable[Child] | None"


class Markup(str):
    """Text that is HTML or SVG already: made by `element` or `escaped`."""

    __slots__ = ()


def printable(text: str, limit: int | None = None) -> str:
    """`text` on one line, unsafe characters written as their codes, cut to `limit` characters.

    A terminal obeys escape sequences in what it is shown: it can be made to hide lines, to change
    its title or to type for the user.

    Examples
    --------
    >>> printable("income\\x1b[2J")
    'income\\\\x1b[2J'
    >>> printable("a very long name", 10)
    'a very ...'
    """
    shown = text if limit is None else text[: limit + 1]
    if not shown.isprintable():
        shown = "".join(_code(c) for c in shown)
    return shown if limit is None or len(shown) <= limit else shown[: limit - 3] + "..."


def escaped(text: str) -> Markup:
    """`text` for the inside of an element or attribute; line breaks stay.

    Examples
    --------
    >>> escaped("<b> & \\x00")
    '&lt;b&gt; &amp; \\\\x00'
    """
    if isinstance(text, Markup):
        return text
    if not text.isprintable():
        text = "".join(c if c == "\n" else _code(c) for c in text)
        text = _NO_CHARACTER.sub("\ufffd", text)
    return Markup(html.escape(text))


def element(name: str, /, *children: Child, **attributes: str | float | None) -> Markup:
    """An element with escaped attributes and children; `None` among them is left out.

    A trailing underscore of an attribute's name is dropped, others become hyphens. Numbers are
    rounded to hundredths.

    Examples
    --------
    >>> element("th", "a < b", scope="col", class_=None)
    '<th scope="col">a &lt; b</th>'
    >>> element("rect", x=1 / 3, width=2.0, stroke_width=1)
    '<rect x="0.33" width="2" stroke-width="1"/>'
    """
    head = [name]
    for key, value in attributes.items():
        if value is not None:
            shown = escaped(value) if isinstance(value, str) else rounded(value)
            head.append(f'{key.rstrip("_").replace("_", "-")}="{shown}"')
    if name == "meta":  # as HTML has it, which knows no empty elements
        return Markup(f"<{' '.join(head)}>")
    inside = joined(children)
    if not inside and name in _EMPTY:
        return Markup(f"<{' '.join(head)}/>")
    return Markup(f"<{' '.join(head)}>{inside}</{name}>")


def joined(children: Iterable[Child]) -> Markup:
    """Children one after the other, text escaped."""
    return Markup(
        "".join(
            escaped(child) if isinstance(child, str) else joined(child)
            for child in children
            if child is not None
        )
    )


def rounded(value: float) -> str:
    """A coordinate with at most two decimals.

    Examples
    --------
    >>> rounded(1.005), rounded(-0.001), rounded(12)
    ('1', '0', '12')
    """
    shown = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if shown == "-0" else shown


def shortened(text: str, limit: int) -> Markup:
    """A text of a page, cut to `limit` letters with its start as a hint to point at."""
    if len(text) <= limit:
        return escaped(text)
    return element("span", text[:limit] + "…", title=text[:300])


def scrolled(inside: Markup, name: str, look: str = "") -> Markup:
    """Something that may be wider than the page, to be moved by keys as well."""
    classes = f"scroll {look}".rstrip()
    return element("div", inside, class_=classes, tabindex=0, role="group", aria_label=name)


def _code(character: str) -> str:
    is_unsafe = unicodedata.category(character) in _UNSAFE
    return repr(character)[1:-1] if is_unsafe else character
