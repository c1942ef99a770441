"""The page in a real browser: nothing fails, nothing is requested, everything can be read."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from novum.apps.report.page import write_report
from tests.apps.report import sample_records

playwright = pytest.importorskip("playwright.sync_api")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="Debian's chromium is not installed"),
]

HOSTILE = "<img src=//evil.example onerror=document.title='hacked'><script>hacked()</script>"
RECORDS = {
    "binary": sample_records.binary_record,
    "multiclass": sample_records.multiclass_record,
    "regression": sample_records.regression_record,
    "tiny": sample_records.tiny_record,
    "minimal": sample_records.minimal_record,
    "hostile": lambda: sample_records.hostile_record(HOSTILE),
}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    # Chromium's sandbox needs a user that is not root.
    args = ["--no-sandbox"] if os.geteuid() == 0 else []
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=args)
        yield opened
        opened.close()


@pytest.fixture(scope="module", params=RECORDS)
def address(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    path: Path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(RECORDS[request.param](), path)
    return path.as_uri()


def opened(browser: Any, address: str, scheme: str, width: int) -> tuple[Any, list[str], list[str]]:
    """The page with what it said on the console and what it asked for."""
    said: list[str] = []
    asked: list[str] = []
    page = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": 900})
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: said.append(dialog.message))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(address)
    return page, said, asked


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_page_is_silent_asks_for_nothing_and_fits(
    browser: Any, address: str, scheme: str, width: int
) -> None:
    page, said, asked = opened(browser, address, scheme, width)
    assert said == []
    assert asked == [address]
    assert page.title().startswith("Predicting ") or "<img" in page.title()
    assert page.evaluate("document.scripts.length") == 0
    # Wide tables and figures scroll by themselves; the page does not.
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()


def test_every_drawing_is_painted(browser: Any, address: str) -> None:
    page, _, _ = opened(browser, address, "light", 1280)
    page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
    empty = page.evaluate(
        """[...document.querySelectorAll('svg')].filter(drawing => {
            const box = drawing.getBoundingClientRect();
            const ink = [...drawing.querySelectorAll('path, rect, use')]
                .some(part => part.getBoundingClientRect().width > 0);
            return box.width < 10 || box.height < 5 || !ink;
        }).length"""
    )
    assert empty == 0
    # The palette is painted by the style sheet, which the content policy must have let through.
    colors = page.evaluate(
        "[...document.querySelectorAll('.fill-series-1')].map(p => getComputedStyle(p).fill)"
    )
    assert set(colors) <= {"rgb(10, 108, 171)"}
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(browser: Any, address: str, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page, _, _ = opened(browser, address, scheme, 1280)
    page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
    found = axe.Axe().run(page).response["violations"]
    serious = [
        (violation["id"], violation["nodes"][0]["html"][:200])
        for violation in found
        if violation["impact"] in ("serious", "critical")
    ]
    assert serious == []
    page.close()


def test_prints_on_paper_with_folds_open(browser: Any, address: str) -> None:
    page, _, _ = opened(browser, address, "dark", 680)
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("document.documentElement.scrollWidth") <= 680
    hidden = page.evaluate(
        "[...document.querySelectorAll('details table, details pre')]"
        ".filter(part => part.getBoundingClientRect().height === 0).length"
    )
    assert hidden == 0
    assert page.pdf(format="A4").startswith(b"%PDF")
    page.close()
