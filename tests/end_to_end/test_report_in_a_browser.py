"""The page in a real browser: nothing fails, nothing is requested, everything can be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from novum.apps.report.page import write_report
from tests.apps.report import sample_records

pytestmark = pytest.mark.browser

HOSTILE = "<img src=//evil.example onerror=document.title='hacked'><script>hacked()</script>"
RECORDS = {
    "binary": sample_records.binary_record,
    "multiclass": sample_records.multiclass_record,
    "regression": sample_records.regression_record,
    "tiny": sample_records.tiny_record,
    "minimal": sample_records.minimal_record,
    "hostile": lambda: sample_records.hostile_record(HOSTILE),
}


@pytest.fixture(scope="module", params=RECORDS)
def address(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    path: Path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(RECORDS[request.param](), path)
    return path.as_uri()


def opened(
    chromium: Any, address: str, scheme: str, width: int
) -> tuple[Any, list[str], list[str]]:
    """The page with what it said on the console and what it asked for."""
    said: list[str] = []
    asked: list[str] = []
    page = chromium.new_page(color_scheme=scheme, viewport={"width": width, "height": 900})
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: said.append(dialog.message))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(address)
    return page, said, asked


WIDTHS = (390, 768, 1280)
OPEN = "for (const fold of document.querySelectorAll('details')) fold.open = true"
# Drawings that keep their size are scrolled, and nothing else is.
FAULTS = """() => {
    const faults = [];
    const shown = part => part.textContent.slice(0, 60);
    const page = document.documentElement.clientWidth;
    for (const part of document.querySelectorAll('body *')) {
        if (part.closest('.natural .scroll, .skip')) continue;
        const box = part.getBoundingClientRect();
        if (box.width && (box.right > page + 1 || box.left < -1))
            faults.push(['beyond the page', part.tagName, shown(part)]);
    }
    for (const box of document.querySelectorAll('.scroll'))
        if (!box.closest('.natural') && box.scrollWidth > box.clientWidth + 1)
            faults.push(['cut off', shown(box)]);
    for (const drawing of document.querySelectorAll('figure:not(.natural) svg')) {
        const sheet = drawing.getBoundingClientRect();
        const texts = [...drawing.querySelectorAll('text')].map(part => {
            const { left, right, top, bottom } = part.getBoundingClientRect();
            const turned = (part.getAttribute('transform') || '').startsWith('rotate(-40');
            return { part, left, right, top, bottom, turned };
        });
        for (const one of texts) {
            if (one.left < sheet.left - 2 || one.right > sheet.right + 2
                || one.top < sheet.top - 2 || one.bottom > sheet.bottom + 2)
                faults.push(['beyond the drawing', shown(drawing), shown(one.part)]);
            if (one.part.lastChild.textContent.endsWith('…') && !one.part.querySelector('title'))
                faults.push(['cut without a way to read it', shown(one.part)]);
        }
        // Slanted names lie side by side though the boxes around them overlap.
        const straight = texts.filter(one => !one.turned);
        for (let i = 0; i < straight.length; i++)
            for (let j = 0; j < i; j++) {
                const [a, b] = [straight[i], straight[j]];
                const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
                const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
                if (wide > 1 && high > 3)
                    faults.push(['text over text', shown(a.part), shown(b.part)]);
            }
    }
    for (const cell of document.querySelectorAll('th, td')) {
        const words = cell.firstChild;
        if (!words || words.nodeType !== 3 || !/^[^\\s-]{1,14}$/.test(words.data)) continue;
        const range = document.createRange();
        range.selectNodeContents(words);
        if (range.getClientRects().length > 1) faults.push(['a word is broken', shown(cell)]);
    }
    for (const part of document.querySelectorAll('span'))
        if (part.textContent.endsWith('…') && !part.title)
            faults.push(['cut without a way to read it', shown(part)]);
    return faults.slice(0, 10);
}"""


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_cut_off_and_no_text_lies_over_another(
    chromium: Any, address: str, scheme: str, width: int
) -> None:
    page, _, _ = opened(chromium, address, scheme, width)
    assert page.evaluate(FAULTS) == []
    page.evaluate(OPEN)
    assert page.evaluate(FAULTS) == []
    page.close()


@pytest.mark.parametrize("width", WIDTHS)
def test_words_of_charts_stay_readable(chromium: Any, address: str, width: int) -> None:
    """Charts shrink with the window, but not so far that nobody can read them."""
    page, _, _ = opened(chromium, address, "light", width)
    page.evaluate(OPEN)
    scales = page.evaluate(
        "[...document.querySelectorAll('figure:not(.natural) svg')].map(drawing =>"
        " drawing.getBoundingClientRect().width / drawing.viewBox.baseVal.width)"
    )
    assert min(scales, default=1.0) > 0.8
    assert max(scales, default=1.0) < 1.6
    page.close()


@pytest.mark.parametrize("name", ["binary", "multiclass", "regression", "tiny"])
def test_what_matters_is_above_the_fold(chromium: Any, tmp_path: Path, name: str) -> None:
    write_report(RECORDS[name](), tmp_path / "report.html")
    page, _, _ = opened(chromium, (tmp_path / "report.html").as_uri(), "light", 1280)
    ends = page.evaluate(
        "[...document.querySelectorAll('h1, header svg, header dl')]"
        ".map(part => part.getBoundingClientRect().bottom)"
    )
    assert max(ends) <= 900
    page.close()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_page_is_silent_asks_for_nothing_and_fits(
    chromium: Any, address: str, scheme: str, width: int
) -> None:
    page, said, asked = opened(chromium, address, scheme, width)
    assert said == []
    assert asked == [address]
    assert page.title().startswith("Predicting ") or "<img" in page.title()
    assert page.evaluate("document.scripts.length") == 0
    # Wide tables and figures scroll by themselves; the page does not.
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()


def test_every_drawing_is_painted(chromium: Any, address: str) -> None:
    page, _, _ = opened(chromium, address, "light", 1280)
    page.evaluate(OPEN)
    empty = page.evaluate(
        """[...document.querySelectorAll('svg')].filter(drawing => {
            const box = drawing.getBoundingClientRect();
            const ink = [...drawing.querySelectorAll('path, rect, use, circle')]
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
def test_axe_finds_nothing_serious(chromium: Any, address: str, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page, _, _ = opened(chromium, address, scheme, 1280)
    page.evaluate(OPEN)
    found = axe.Axe().run(page).response["violations"]
    serious = [
        (violation["id"], violation["nodes"][0]["html"][:200])
        for violation in found
        if violation["impact"] in ("serious", "critical")
    ]
    assert serious == []
    page.close()


def test_prints_on_paper_with_folds_open(chromium: Any, address: str) -> None:
    page, _, _ = opened(chromium, address, "dark", 680)
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
