"""A real server of the studio on a port of its own, and a real browser that has entered it."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

pytest.importorskip("fastapi")
uvicorn = pytest.importorskip("uvicorn")

from novum.apps.studio.folder import OpenedFolder  # noqa: E402
from novum.apps.studio.guard import KEY_HEADER, Gate  # noqa: E402
from novum.apps.studio.rooms import Studio  # noqa: E402
from novum.apps.studio.server import bound, configured  # noqa: E402

MOST_BYTES = 3_000_000


@dataclass
class Answer:
    """What a server said."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def text(self) -> str:
        return self.body.decode()


@dataclass
class Served:
    """A server with cookie and key of a browser that has entered."""

    gate: Gate
    folder: Path
    entries: list[str]
    cookie: str = ""
    key: str = ""

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.gate.port}"

    def ask(
        self, method: str, path: str, body: Any = None, headers: dict[str, str | None] | None = None
    ) -> Answer:
        """One request as the page sends it; `headers` replace, None leaves one out."""
        sent: dict[str, str | None] = {"Host": self.host, "Cookie": self.cookie}
        sent[KEY_HEADER] = self.key
        if method not in ("GET", "HEAD"):
            sent |= {"Origin": f"http://{self.host}", "Content-Type": "application/json"}
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        sent |= headers or {}
        connection = http.client.HTTPConnection("127.0.0.1", self.gate.port, timeout=60)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in sent.items():
                if value is not None:
                    connection.putheader(name, value)
            if method not in ("GET", "HEAD") and "Content-Length" not in sent:
                connection.putheader("Content-Length", str(len(data or b"")))
            connection.endheaders(data)
            found = connection.getresponse()
            return Answer(found.status, {k.lower(): v for k, v in found.getheaders()}, found.read())
        finally:
            connection.close()

    def get(self, path: str, **parameters: Any) -> Any:
        query = "&".join(f"{name}={quote(str(value))}" for name, value in parameters.items())
        answer = self.ask("GET", f"{path}?{query}" if query else path)
        assert answer.status == 200, answer.text
        return answer.json

    def post(self, path: str, body: Any = None) -> Any:
        answer = self.ask("POST", path, {} if body is None else body)
        assert answer.status == 200, answer.text
        return answer.json

    def upload(self, name: str, content: bytes) -> Answer:
        headers: dict[str, str | None] = {"Content-Type": "application/octet-stream"}
        return self.ask("POST", f"/api/tables/upload?name={quote(name)}", content, headers)

    def enter(self) -> None:
        """Buys cookie and key with the present token."""
        nothing = {"Cookie": None, KEY_HEADER: None}
        answer = self.ask("GET", f"/?token={self.gate.token}", headers=nothing)
        assert answer.status == 200, answer.text
        self.cookie = answer.headers["set-cookie"].partition(";")[0]
        self.key = answer.text.partition(f'<meta name="{KEY_HEADER}" content="')[2].partition('"')[
            0
        ]

    def wait(self, name: str, *states: str, seconds: float = 240.0) -> Any:
        """The run as soon as it is in one of these states."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = self.get(f"/api/tables/runs/{quote(name)}")
            if found["state"] in states:
                return found
            time.sleep(0.1)
        raise AssertionError(f"{name} is {found['state']}: {found}")


def serving(folder: Path, most_bytes: int = MOST_BYTES, silence: float = 1.0) -> Iterator[Served]:
    """Serves a folder in a thread until the end of the test."""
    entries: list[str] = []
    listening = bound("127.0.0.1", 0)
    gate = Gate(listening.getsockname()[1], on_entry=entries.append)
    server = uvicorn.Server(configured(Studio(OpenedFolder(folder)), gate, most_bytes, silence))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    served = Served(gate, folder, entries)
    served.enter()
    yield served
    server.should_exit = True
    thread.join(10)
    listening.close()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server for the tests of a module."""
    yield from serving(tmp_path_factory.mktemp("studio"))


@pytest.fixture
def browser_page(chromium: Any, served: Served) -> Iterator[Callable[..., Any]]:
    """`browser_page(address, width=1280, scheme="light")`: a page that has entered.

    What it said on the console is in `page.said`, what it asked for in `page.asked`.
    """
    contexts = []

    def opened(
        address: str = "", width: int = 1280, scheme: str = "light", height: int = 900
    ) -> Any:
        context = chromium.new_context(
            color_scheme=scheme, viewport={"width": width, "height": height}
        )
        contexts.append(context)
        page = context.new_page()
        page.said, page.asked = [], []
        page.on("console", lambda message: page.said.append(message.text))
        page.on("pageerror", lambda error: page.said.append(str(error)))
        page.on("request", lambda request: page.asked.append(request.url))
        page.goto(f"http://{served.host}/?token={served.gate.token}{address}")
        page.wait_for_selector("#rooms a[aria-current]")
        return page

    yield opened
    for context in contexts:
        context.close()
