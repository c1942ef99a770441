"""The door of the studio in a real browser: its own page, and a server on another port."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from novum.apps.cli.studio import write_page
from novum.apps.studio.guard import KEY_HEADER
from tests.apps.studio.conftest import Served, serving
from tests.apps.studio.finished_runs import make_run, two_classes

pytestmark = pytest.mark.browser

Opened = Callable[..., Any]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("door")
    two_classes(folder / "ward.csv")
    make_run(folder, "ward.csv", "one", target="state", models=("tree",))
    yield from serving(folder)


@pytest.fixture
def other_port() -> Iterator[tuple[str, list[str]]]:
    """A server of somebody else on this machine, and the cookies that it was sent."""
    cookies: list[str] = []

    class Stranger(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            cookies.append(self.headers.get("Cookie", ""))
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<title>other</title>")

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Stranger)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", cookies
    server.shutdown()
    server.server_close()


def test_what_another_port_receives_opens_nothing(
    browser_page: Opened, served: Served, other_port: tuple[str, list[str]]
) -> None:
    page = browser_page("#/tables/run/one")
    page.wait_for_selector("text=Leaderboard")
    address, cookies = other_port
    there = page.context.new_page()
    there.goto(address)
    there.evaluate("fetch('/again')")
    stolen = max(cookies, key=len)
    assert served.gate.cookie in stolen
    # From another process, with everything that it was sent.
    for path in ("/api/tables/list", "/api/tables/runs/one/report", "/api/ticket?path=/api/studio"):
        for key in (None, stolen.partition("=")[2]):
            given = {"Cookie": stolen, KEY_HEADER: key}
            assert served.ask("GET", path, headers=given).status == 403
            assert served.ask("POST", path, {}, given).status == 403
    # From the page itself: its storage is its own, and what it asks for it does not get.
    assert there.evaluate("Object.keys(localStorage)") == []
    base = f"http://{served.host}"
    ask = """async ([base, path, options]) => {
        try { return (await fetch(base + path, options)).status } catch { return 0 }
    }"""
    for options in ({"credentials": "include"}, {"headers": {KEY_HEADER: "x"}}):
        assert there.evaluate(ask, [base, "/api/tables/list", options]) in (0, 403)
    stream = """base => new Promise(done => {
        const source = new EventSource(base + "/api/tables/list", {withCredentials: true});
        source.onopen = () => done("open");
        source.onerror = () => done("refused");
    })"""
    assert there.evaluate(stream, base) == "refused"
    frame = """base => new Promise(done => {
        const script = document.createElement("script");
        script.src = base + "/api/tables/list";
        script.onload = () => done("loaded");
        script.onerror = () => done("refused");
        document.head.append(script);
    })"""
    assert there.evaluate(frame, base) == "refused"
    assert there.goto(f"{base}/api/tables/list").status == 403


def test_the_page_of_the_link_leads_inside_once(
    chromium: Any, served: Served, tmp_path: Path
) -> None:
    path = tmp_path / "open.html"
    write_page(f"http://{served.host}/?token={served.gate.token}", path)
    context = chromium.new_context()
    page = context.new_page()
    page.goto(path.as_uri())
    page.wait_for_selector("#rooms a[aria-current]")
    assert "token" not in page.url
    # Also after it was loaded anew, and in a second window.
    page.reload()
    page.wait_for_selector("text=From a table to a decision")
    second = context.new_page()
    second.goto(f"http://{served.host}/#/networks")
    second.wait_for_selector("text=Networks that answer to a click")
    stranger = chromium.new_context().new_page()
    stranger.goto(path.as_uri())
    stranger.wait_for_selector("text=it does not know this browser")
    stranger.context.close()
    context.close()


def test_files_are_given_to_the_page(browser_page: Opened, served: Served) -> None:
    page = browser_page("#/tables/run/one")
    with page.expect_download() as found:
        page.click("a:text-is('predictions.csv')")
    written = (served.folder / "one" / "predictions.csv").read_bytes()
    assert Path(found.value.path()).read_bytes() == written
    assert found.value.suggested_filename == "one-predictions.csv"
    page.goto(f"http://{served.host}/#/tables/report/one")
    page.frame_locator("iframe.report").locator("h1").first.wait_for()
    with page.context.expect_page() as alone:
        page.click("text=In a tab of its own")
    alone.value.wait_for_selector("h1")
    assert page.said == []


def test_logging_out_ends_every_window(browser_page: Opened) -> None:
    page = browser_page("#/tables")
    second = page.context.new_page()
    second.goto(page.url)
    second.wait_for_selector("text=From a table to a decision")
    page.click("#leave")
    page.wait_for_selector("text=You have logged out")
    second.click("#rooms a[data-room=decide]")
    second.wait_for_selector("text=does not know this window any more")
