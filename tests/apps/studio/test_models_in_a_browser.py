"""The rooms Decide and Understand in a real browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.apps.studio.checks import overflowing, serious_findings
from tests.apps.studio.conftest import Served, serving
from tests.apps.studio.finished_runs import make_run, two_classes

pytestmark = pytest.mark.browser

Opened = Callable[..., Any]
HEAT = "document.querySelector('table.heat')?.innerText"
FACTS = "document.querySelector('main .facts')?.innerText"
SCREENS = [(390, "light"), (390, "dark"), (1280, "light"), (1280, "dark")]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("models")
    two_classes(folder / "ward.csv")
    two_classes(folder / "hostile.csv", hostile=True)
    make_run(folder, "ward.csv", "run", target="state", positive="sick", cost_fn=4.0, cost_fp=1.0)
    make_run(folder, "hostile.csv", "hostile", target="state", models=("tree",))
    make_run(folder, "iris", "flowers", models=("gaussian",))
    make_run(folder, "ward.csv", "numbers", target="z", models=("linear",))
    yield from serving(folder)


@pytest.mark.parametrize(("width", "scheme"), SCREENS)
@pytest.mark.parametrize(
    ("address", "selector"),
    [
        ("#/decide", "text=Which model decides?"),
        ("#/decide/run", "table.heat"),
        ("#/decide/flowers", "table.heat"),
        ("#/decide/hostile", "table.heat"),
        ("#/understand/run/tree", "table.cells"),
        ("#/understand/hostile/tree", "table.cells"),
        ("#/understand/run/whatif?row=3", ".terms"),
        ("#/understand/hostile/whatif?row=3", ".terms"),
        ("#/understand/run/columns", "svg.chart"),
        ("#/understand/hostile/columns", "svg.chart"),
        ("#/understand/numbers/columns", "svg.chart"),
        ("#/understand/run/unusual", "text=Most unusual rows"),
        ("#/understand/hostile/unusual", "text=Most unusual rows"),
    ],
)
def test_every_view_can_be_read(
    browser_page: Opened, served: Served, address: str, selector: str, width: int, scheme: str
) -> None:
    page = browser_page(address, width, scheme)
    page.wait_for_selector(selector)
    assert overflowing(page) == []
    assert serious_findings(page) == []
    assert page.said == []
    assert page.locator("main img").count() == 0
    assert "hacked" not in page.title()
    assert {url.split("/")[2] for url in page.asked} == {served.host}


def test_sliders_move_everything(browser_page: Opened, served: Served) -> None:
    page = browser_page("#/decide/run")
    page.wait_for_selector("table.heat")
    before = page.locator("table.heat").inner_text()
    slider = page.get_by_label("Missing a sick costs", exact=True)
    slider.focus()
    for _ in range(60):
        page.keyboard.press("ArrowLeft")
    page.wait_for_function(
        "before => document.querySelector('table.heat').innerText !== before", arg=before
    )
    page.wait_for_selector("text=Rows decided otherwise:")
    assert page.locator("tbody tr").count() > 2
    # What came out is announced when the slider rests.
    page.evaluate("() => (document.getElementById('live').textContent = '')")
    page.keyboard.press("ArrowLeft")
    page.wait_for_function("() => document.getElementById('live').innerText.startsWith('Cost')")
    # The link keeps the point.
    shown = page.locator("table.heat").inner_text()
    page.reload()
    page.wait_for_selector("table.heat")
    assert page.locator("table.heat").inner_text() == shown
    # The threshold follows the costs, and the costs the threshold.
    exact = page.get_by_label("Threshold: call it sick above, exactly")
    exact.fill("0.25")
    page.wait_for_function("() => document.querySelectorAll('input.exact')[0].value === '3'")
    page.get_by_label("Rows may be left to a person").check()
    page.wait_for_selector("text=Left undecided")
    page.click("text=Save to the model")
    page.wait_for_selector("a >> text=model-decided.novum")
    assert (served.folder / "run" / "model-decided.novum").exists()
    page.click("text=Export decisions")
    page.wait_for_selector("a >> text=decisions.csv")
    with page.expect_download() as download:
        page.click("a >> text=decisions.csv")
    assert download.value.suggested_filename == "run-decisions.csv"
    assert page.said == []


def test_a_tree_is_walked_by_keys(browser_page: Opened) -> None:
    page = browser_page("#/understand/run/tree")
    page.wait_for_selector("table.cells")
    page.locator("[role=treeitem]").first.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => location.hash.includes('node=')")
    page.wait_for_selector(".way li")
    assert page.locator("[role=treeitem][aria-selected=true]").count() == 1
    rows = page.locator("table.cells caption").inner_text()
    assert not rows.startswith("120 rows")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    assert page.locator("[role=tree] > li").get_attribute("aria-expanded") == "false"
    page.keyboard.press("ArrowRight")
    page.keyboard.press("End")
    page.wait_for_selector("text=Here the answer is")
    last = page.locator("[role=treeitem]").last
    assert last.get_attribute("aria-selected") == "true"
    page.keyboard.press("Home")
    page.keyboard.press("ArrowDown")
    second = page.locator("[role=treeitem]").nth(1)
    assert second.get_attribute("aria-selected") == "true"


def test_a_row_is_changed(browser_page: Opened) -> None:
    page = browser_page("#/understand/run/whatif?row=3")
    page.wait_for_selector(".terms")
    before = page.locator("main .facts").inner_text()
    page.get_by_label("x", exact=True).fill("3.5")
    page.wait_for_function(
        "before => document.querySelector('main .facts').innerText !== before", arg=before
    )
    now = page.locator("main .facts").inner_text()
    page.reload()
    page.wait_for_function(f"now => {FACTS} === now", arg=now)
    page.get_by_label("z", exact=True).fill("")
    page.wait_for_function("() => location.hash.includes('null')")
    page.click("text=As it was")
    page.wait_for_function(
        "before => document.querySelector('main .facts')?.innerText === before", arg=before
    )
    assert page.said == []
