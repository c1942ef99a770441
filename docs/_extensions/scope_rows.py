"""The page of the scope: every row with the examples of the gallery that show it.

An example names its rows in a line `*Scope: T1, P4.*`. On the page `scope` the text `{examples T1}`
becomes links to the examples that name T1.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

GALLERY = Path(__file__).resolve().parents[1] / "gallery"


def examples() -> dict[str, list[tuple[str, str]]]:
    """Rows of the scope, and title and page of every example that shows them."""
    result: dict[str, list[tuple[str, str]]] = {}
    for path in sorted(GALLERY.rglob("plot_*.py")):
        text = path.read_text(encoding="utf-8")
        title = text.strip('r"\n').partition("\n")[0]
        page = f"examples/{path.parent.name}/{path.stem}.rst"
        for row in re.findall(r"[A-Z]\d", re.search(r"\*Scope: (.+?)\.\*", text)[1]):
            result.setdefault(row, []).append((title, page))
    return result


def fill(_app: Any, page: str, source: list[str]) -> None:
    if page != "scope":
        return
    shown = examples()

    def links(match: re.Match[str]) -> str:
        return ", ".join(f"[{title}]({page})" for title, page in shown.get(match[1], ()))

    source[0] = re.sub(r"\{examples (\w\d)\}", links, source[0])


def setup(app: Any) -> dict[str, bool]:
    app.connect("source-read", fill)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
