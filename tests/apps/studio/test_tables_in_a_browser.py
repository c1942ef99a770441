"""The shell and the room of tables in a real browser."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from novum.apps.job.record_json import write_record
from novum.apps.job.request import Request
from tests.apps.studio.checks import overflowing, serious_findings
from tests.apps.studio.conftest import Served, serving
from tests.apps.studio.finished_runs import HOSTILE, make_run, two_classes

pytestmark = pytest.mark.browser

Opened = Callable[..., Any]
SCREENS = [(390, "light"), (390, "dark"), (1280, "light"), (1280, "dark")]
LARGE = 60_000_000


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("tables")
    two_classes(folder / "ward.csv")
    two_classes(folder / f"{HOSTILE.replace('/', '_')}.csv", hostile=True)
    make_run(folder, "ward.csv", "one", target="state")
    make_run(folder, "ward.csv", "other", target="state", models=("tree",))
    yield from serving(folder, most_bytes=LARGE)


@pytest.mark.parametrize(("width", "scheme"), SCREENS)
@pytest.mark.parametrize(
    ("address", "text"),
    [
        ("#/tables", "From a table to a decision"),
        ("#/tables/table/hepatitis", "What its owner should know"),
        ("#/tables/table/ward.csv?target=state", "Columns"),
        ("#/tables/run/one", "Leaderboard"),
        ("#/tables/compare/one/other", "Settings that differ"),
        ("#/tables/report/one", "In a tab of its own"),
    ],
)
def test_every_view_can_be_read(
    browser_page: Opened, served: Served, address: str, text: str, width: int, scheme: str
) -> None:
    page = browser_page(address, width, scheme)
    page.wait_for_selector(f"main >> text={text}")
    assert overflowing(page) == []
    assert serious_findings(page) == []
    assert page.said == []
    assert {url.split("/")[2] for url in page.asked} == {served.host}


def test_the_token_is_not_in_the_address(browser_page: Opened) -> None:
    page = browser_page("#/tables")
    assert "token" not in page.url
    assert page.evaluate("document.cookie") == ""
    assert page.evaluate("history.length") <= 2


def test_the_keyboard_reaches_everything(browser_page: Opened) -> None:
    page = browser_page("#/tables")
    page.wait_for_selector("text=From a table")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.keyboard.press("Alt+Shift+Digit2")
    page.wait_for_selector("#rooms a[data-room=decide][aria-current]")
    page.wait_for_function("() => document.getElementById('live').innerText.startsWith('Decide')")
    page.keyboard.press("Alt+Shift+KeyD")
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    page.keyboard.press("Alt+Shift+KeyD")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.reload()
    page.wait_for_selector("#rooms a[data-room=decide][aria-current]")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 26)"
    page.click("text=Keys")
    page.wait_for_selector("dialog[open]")
    assert serious_findings(page) == []
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")


def test_kinds_and_targets_are_in_the_address(browser_page: Opened) -> None:
    page = browser_page("#/tables/table/ward.csv")
    page.wait_for_selector("text=Start the run")
    page.select_option("label:text-is('Predict') + select", "state")
    page.wait_for_selector("tr.marked >> text=state")
    page.select_option("select[aria-label='Kind of z']", "nominal")
    page.wait_for_selector("select[aria-label='Kind of z'] >> nth=0")
    page.wait_for_function("() => location.hash.includes('nominal')")
    page.reload()
    page.wait_for_selector("tr.marked >> text=state")
    assert page.input_value("select[aria-label='Kind of z']") == "nominal"


def test_names_with_markup_stay_names(browser_page: Opened, served: Served) -> None:
    name = next(path.name for path in served.folder.glob("*onerror*"))
    page = browser_page("#/tables")
    page.click(f"text={name}")
    page.wait_for_selector("text=What its owner should know")
    page.select_option("label:text-is('Predict') + select", "state")
    page.wait_for_selector("tr.marked >> text=state")
    page.click("text=The rows themselves")
    page.wait_for_selector("table.cells >> text=onerror")
    assert page.title() == "Tables · Novum Studio"
    assert page.locator("main img").count() == 0
    assert page.said == []


def test_a_run_is_watched_reloaded_and_finished(browser_page: Opened) -> None:
    page = browser_page("#/tables/table/ward.csv?target=state")
    page.wait_for_selector("text=Start the run")
    page.select_option("label:text-is('Effort') + select", "quick")
    page.click("text=Start the run")
    page.wait_for_selector(".badge >> text=running")
    # Another user sees the same run; a reload loses nothing.
    other = browser_page("#" + page.url.partition("#")[2], 390)
    other.wait_for_selector("main h1")
    page.reload()
    page.wait_for_selector("h1 + .line .badge.good >> text=finished", timeout=200_000)
    # The list beside it says the same.
    assert page.locator("aside .badge").all_inner_texts().count("running") == 0
    other.wait_for_selector("main .badge.good >> text=finished", timeout=20_000)
    page.wait_for_selector("text=is chosen to predict state")
    assert overflowing(other) == []
    page.click("main >> text=Report")
    frame = page.frame_locator("iframe.report")
    frame.locator("h1").wait_for()
    assert page.said == []


def test_groups_are_looked_for_and_not_predicted(browser_page: Opened, served: Served) -> None:
    folder = served.folder / "novum-groups"
    folder.mkdir()
    asked = Request("iris", target="species", task="clusters")
    write_record(asked, folder / "request.json")
    page = browser_page("#/tables/run/novum-groups")
    page.wait_for_selector("h1 >> text=novum-groups")
    said = page.locator("main").inner_text()
    assert said.count("looks for groups, compares them with species") == 2
    assert "predicts species" not in said
    shutil.rmtree(folder)


def test_a_run_is_stopped_and_resumed(browser_page: Opened, served: Served) -> None:
    asked = {"target": "state", "preset": "thorough", "models": ["tree", "forest", "linear"]}
    name = served.post("/api/tables/runs", {"table": "ward.csv", "settings": asked})["name"]
    page = browser_page(f"#/tables/run/{name}")
    page.wait_for_selector("text=Leaderboard so far", timeout=60_000)
    page.click("text=Stop")
    page.wait_for_selector("main .badge >> text=interrupted", timeout=60_000)
    before = page.locator("main tbody tr").count()
    assert before >= 1
    page.click("text=Resume")
    page.wait_for_selector("main .badge >> text=running")
    page.wait_for_selector("text=Leaderboard so far")
    assert page.locator("main tbody tr").count() >= before
    page.click("text=Stop")
    page.wait_for_selector("main .badge >> text=interrupted", timeout=60_000)
    shutil.rmtree(served.folder / name)


def test_a_file_is_dropped(browser_page: Opened, served: Served, tmp_path: Path) -> None:
    page = browser_page("#/tables")
    page.wait_for_selector("text=Choose a file")
    page.set_input_files("#picker", str(two_classes(tmp_path / "dropped.csv", 30)))
    page.wait_for_selector("main h1 >> text=dropped.csv")
    page.wait_for_selector("text=What its owner should know")
    (served.folder / "dropped.csv").unlink()


@pytest.mark.parametrize(("name", "content"), [("zip.xlsx", b"PK\3\4"), ("no.parquet", b"PAR1")])
def test_malformed_files_are_told(
    browser_page: Opened, served: Served, tmp_path: Path, name: str, content: bytes
) -> None:
    (tmp_path / name).write_bytes(content)
    page = browser_page("#/tables")
    page.wait_for_selector("text=Choose a file")
    page.set_input_files("#picker", str(tmp_path / name))
    page.wait_for_selector(".notice.danger")
    assert page.locator(".notice.danger").inner_text().endswith(".")
    (served.folder / name).unlink()


def test_a_table_of_many_rows(browser_page: Opened, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    lines = ["a,b,c,kind,target"]
    numbers = rng.normal(size=(200_000, 3)).round(4).tolist()
    levels = rng.integers(0, 5, 200_000).tolist()
    for (a, b, c), level in zip(numbers, levels, strict=True):
        lines.append(f"{a},{b},{c},k{level},{'yes' if a + b > 0 else 'no'}")
    path = tmp_path / "large.csv"
    path.write_text("\n".join(lines))
    page = browser_page("#/tables")
    page.wait_for_selector("text=Choose a file")
    page.set_input_files("#picker", str(path))
    page.wait_for_selector("dd >> text=200,000", timeout=60_000)
    page.select_option("label:text-is('Predict') + select", "target")
    page.wait_for_selector("tr.marked >> text=target", timeout=60_000)
    page.click("text=The rows themselves")
    page.wait_for_selector("text=First 30 of 200,000 rows", timeout=60_000)
    assert page.said == []


def test_a_studio_that_is_killed_is_missed(chromium: Any, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "novum", "studio", str(tmp_path), "--no-browser", "--port"]
    studio = subprocess.Popen(
        [*command, "0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert studio.stdout is not None
    studio.stdout.readline()
    address = studio.stdout.readline().strip()
    context = chromium.new_context()
    page = context.new_page()
    page.goto(address)
    page.wait_for_selector("text=From a table")
    studio.send_signal(signal.SIGKILL)
    studio.communicate()
    page.click("#rooms a >> text=Decide")
    page.wait_for_selector("#outage >> text=does not answer")
    context.close()
