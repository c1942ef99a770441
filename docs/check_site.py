"""Checks a built site: every link and anchor leads somewhere, nothing is fetched from elsewhere.

    python docs/check_site.py docs/_build/html

It also asks the inventory whether every public name of every door is described.
"""

from __future__ import annotations

import re
import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "_extensions"), str(HERE.parent / "src")]

# Attributes whose address is fetched when a page is opened, not when a reader follows it.
FETCHED = {("script", "src"), ("img", "src"), ("iframe", "src"), ("source", "src"), ("use", "href")}


class Page(HTMLParser):
    """Addresses and anchors of one page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.anchors: set[str] = {""}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value is None:
                continue
            if name == "id" or (tag == "a" and name == "name"):
                self.anchors.add(value)
            elif (tag, name) in FETCHED or (tag == "link" and name == "href"):
                self.fetched.append(value)
            elif tag == "a" and name == "href":
                self.links.append(value)


@cache
def page(path: Path) -> Page:
    return Page(path.read_text(encoding="utf-8"))


def faults_of_page(path: Path) -> list[str]:
    here = page(path)
    faults = []
    for address in here.fetched:
        parts = urlsplit(address)
        if parts.scheme == "data":
            continue
        if parts.scheme or parts.netloc:
            faults.append(f"fetches {address}")
        elif not (path.parent / unquote(parts.path)).exists():
            faults.append(f"fetches {address}, which is not there")
    for address in here.links:
        parts = urlsplit(address)
        if parts.scheme or parts.netloc:
            continue
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        if target.is_dir():
            target /= "index.html"
        if not target.exists():
            faults.append(f"links to {address}, which is not there")
        elif target.suffix == ".html" and unquote(parts.fragment) not in page(target).anchors:
            faults.append(f"links to {address}: no such anchor")
    return faults


def faults_of_styles(site: Path) -> list[str]:
    imports = re.compile(r"url\(\s*['\"]?(https?:)?//|@import\s+['\"]?https?:")
    sheets = [path for path in site.rglob("*.css") if imports.search(path.read_text("utf-8"))]
    return [f"{path.relative_to(site)}: fetches from another host" for path in sheets]


def faults_of_reference(site: Path) -> list[str]:
    from reference_pages import homes
    from sphinx.util.inventory import InventoryFile

    with (site / "objects.inv").open("rb") as file:
        inventory = InventoryFile.load(file, "", lambda _, name: name)
    described = {
        name for kind, names in inventory.items() if kind.startswith("py:") for name in names
    }
    return [
        f"{path} is not described" for path, home in homes().items() if home.path not in described
    ]


def main(folder: str) -> int:
    site = Path(folder).resolve()
    pages = sorted(path for path in site.rglob("*.html") if "_static" not in path.parts)
    faults = [
        f"{path.relative_to(site)}: {fault}" for path in pages for fault in faults_of_page(path)
    ]
    faults += faults_of_styles(site) + faults_of_reference(site)
    print(*faults[:50], sep="\n")
    print(f"{len(pages)} pages, {len(faults)} faults")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
