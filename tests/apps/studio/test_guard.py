"""Attacks 18 to 30 of the list: the studio obeys only its own page."""

from __future__ import annotations

import contextlib
import re
import socket
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from novum.apps.studio.guard import FILE, KEY_HEADER, MOST_JSON, Gate
from tests.apps.studio.conftest import MOST_BYTES, Served, serving

PATHS = ("/", "/page/studio.js", "/api/studio", "/api/tables/list", "/api/tables/runs/x/report")


def raw(served: Served, head: str, body: bytes = b"") -> bytes:
    """What the server says to bytes that no library would send."""
    with socket.create_connection(("127.0.0.1", served.gate.port), 10) as line:
        found = b""
        # Who is refused in the middle of a sentence may find the line closed.
        with contextlib.suppress(OSError):
            line.sendall(head.replace("\n", "\r\n").encode("latin-1") + b"\r\n\r\n" + body)
            line.shutdown(socket.SHUT_WR)
            while piece := line.recv(65536):
                found += piece
    return found or b"HTTP/1.1 000 closed"


# --- 18: hosts ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host",
    [
        "evil.example:{port}", "evil.example", "127.0.0.1", "localhost", "127.0.0.1:1",
        "2130706433:{port}", "0x7f.0.0.1:{port}", "127.1:{port}", "0177.0.0.1:{port}",
        "localhost.:{port}", "127.0.0.1.:{port}", "[::1]:{port}", "LOCALHOST:{port}",
        "127.0.0.1:{port}@evil.example", "127.0.0.1:{port}.evil.example", "",
    ],
)  # fmt: skip
@pytest.mark.parametrize("path", PATHS)
def test_other_hosts_are_refused(served: Served, host: str, path: str) -> None:
    answer = served.ask("GET", path, headers={"Host": host.format(port=served.gate.port)})
    assert answer.status in (400, 421)


def test_a_request_names_one_host(served: Served) -> None:
    cookie = f"Cookie: {served.cookie}"
    assert b" 400 " in raw(served, f"GET / HTTP/1.1\n{cookie}").splitlines()[0]
    twice = f"GET / HTTP/1.1\nHost: {served.host}\nHost: evil.example\n{cookie}"
    assert b" 400 " in raw(served, twice).splitlines()[0]


def test_numeric_addresses_are_names_only_where_others_are_let_in() -> None:
    gate = Gate(80, ("box",), any_address=True)
    assert gate.is_own_host("192.168.7.7:80")
    assert gate.is_own_host("[fe80::1]:80")
    assert gate.is_own_host("box:80")
    for host in ("evil.example:80", "192.168.007.7:80", "3232237319:80", "192.168.7.7:81", "box"):
        assert not gate.is_own_host(host)


# --- 19, 22: origins, event streams and web sockets -----------------------------------------------


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "http://127.0.0.1:1", "http://localhost:{port}",
     "https://127.0.0.1:{port}", "http://127.0.0.1:{port}.evil.example", ""],
)  # fmt: skip
@pytest.mark.parametrize("accept", ["*/*", "text/event-stream"])
def test_other_origins_are_refused(served: Served, origin: str, accept: str) -> None:
    given = {"Origin": origin.format(port=served.gate.port), "Accept": accept}
    for path in PATHS:
        assert served.ask("GET", path, headers=given).status == 403
    assert served.ask("POST", "/api/tables/runs", {"table": "iris"}, given).status == 403


def test_what_changes_something_needs_an_origin(served: Served) -> None:
    answer = served.ask("POST", "/api/tables/runs", {"table": "iris"}, {"Origin": None})
    assert answer.status == 403
    assert served.get("/api/tables/list")["runs"] == []


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_other_pages_of_the_browser_are_refused(served: Served, site: str) -> None:
    for path in PATHS:
        assert served.ask("GET", path, headers={"Sec-Fetch-Site": site}).status == 403


def test_there_are_no_web_sockets(served: Served) -> None:
    head = (
        f"GET /api/studio HTTP/1.1\nHost: {served.host}\nCookie: {served.cookie}\n"
        "Connection: Upgrade\nUpgrade: websocket\nSec-WebSocket-Version: 13\n"
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="
    )
    assert b" 101 " not in raw(served, head).splitlines()[0]


# --- 20: tokens -----------------------------------------------------------------------------------


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("cookie", [None, "", "novum-studio=x", "novum-studio-{port}=wrong"])
def test_without_the_cookie_nothing_is_answered(
    served: Served, path: str, cookie: str | None
) -> None:
    given = None if cookie is None else cookie.format(port=served.gate.port)
    assert served.ask("GET", path, headers={"Cookie": given}).status == 403
    assert served.ask("POST", path, {}, {"Cookie": given}).status == 403


def test_a_token_works_once_and_leaves_no_trace(served: Served) -> None:
    token = served.gate.token
    answer = served.ask("GET", f"/?token={token}", headers={"Cookie": None, KEY_HEADER: None})
    assert answer.status == 200
    assert served.gate.key in answer.text
    assert answer.headers["referrer-policy"] == "no-referrer"
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    for secret in (token, served.gate.key):
        assert secret not in cookie
    again = served.ask("GET", f"/?token={token}", headers={"Cookie": None})
    assert again.status == 403
    assert "set-cookie" not in again.headers
    # The terminal shows the link of the next browser, which has another token.
    assert token not in served.entries[-1]
    assert served.gate.token in served.entries[-1]


def test_wrong_tokens_are_refused(served: Served) -> None:
    for wrong in ("", "x", served.gate.token[:-1], served.gate.token + "x", "\u00e9"):
        path = f"/?token={wrong.encode('unicode_escape').decode()}"
        assert served.ask("GET", path, headers={"Cookie": None}).status == 403
    # A token buys a cookie at one address alone.
    path = f"/api/studio?token={served.gate.token}"
    assert served.ask("GET", path, headers={"Cookie": None}).status == 403


def test_the_cookie_alone_opens_the_files_of_the_page(served: Served) -> None:
    # Every other port of the host receives it.
    stolen: dict[str, str | None] = {KEY_HEADER: None}
    assert served.ask("GET", "/page/studio.js", headers=stolen).status == 200
    for path in ("/api/studio", "/api/tables/list", "/api/ticket?path=/api/studio"):
        for key in (None, "", served.cookie.partition("=")[2], served.key[:-1]):
            assert served.ask("GET", path, headers={KEY_HEADER: key}).status == 403
            assert served.ask("POST", path, {}, {KEY_HEADER: key}).status == 403
    assert served.key not in served.ask("GET", "/", headers=stolen).text


def test_a_ticket_opens_one_address_for_a_moment(served: Served) -> None:
    path = "/api/tables/list"
    ticket = served.get(f"/api/ticket?path={path}")["ticket"]
    without: dict[str, str | None] = {KEY_HEADER: None}
    assert served.ask("GET", f"{path}?ticket={ticket}", headers=without).status == 200
    until, _, signature = ticket.partition(".")
    later = f"{int(until) + 1}.{signature}"
    past = f"1.{served.gate.ticket(path).partition('.')[2]}"
    for asked in (f"/api/studio?ticket={ticket}", f"{path}?ticket={later}", f"{path}?ticket={past}",
                  f"{path}?ticket=", f"{path}?ticket=nan.{signature}"):  # fmt: skip
        assert served.ask("GET", asked, headers=without).status == 403
    assert served.ask("POST", f"{path}?ticket={ticket}", {}, without).status == 403
    nobody = without | {"Cookie": None}
    assert served.ask("GET", f"{path}?ticket={ticket}", headers=nobody).status == 403


def test_logging_out_ends_all_sessions(tmp_path: Path) -> None:
    for other in serving(tmp_path):
        ticket, link = other.get("/api/ticket?path=/api/studio")["ticket"], other.gate.token
        assert other.ask("GET", "/api/leave").status != 200
        other.post("/api/leave")
        assert other.gate.token in other.entries[-1]
        for path in ("/", "/api/studio", f"/api/studio?ticket={ticket}", f"/?token={link}"):
            assert other.ask("GET", path).status == 403
        other.enter()
        assert other.get("/api/studio")["rooms"]


def test_wrong_tokens_are_counted() -> None:
    counts: list[int] = []
    gate = Gate(80, on_wrong=counts.append)
    for _ in range(120):
        assert gate.enter("guess") is None
    assert counts == [1, 10, 100]
    assert gate.enter(gate.token)


def test_a_link_may_stand_on_any_page_and_nothing_else_may(served: Served) -> None:
    elsewhere = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    read: dict[str, str | None] = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
    path = f"/?token={served.gate.token}"
    assert served.ask("GET", path, headers=read).status == 403
    assert served.ask("GET", path, headers={**elsewhere, "Origin": "null"}).status == 403
    assert served.ask("GET", path, headers={**elsewhere}).status == 200
    assert served.ask("GET", "/", headers={**elsewhere}).status == 403


def test_cookies_of_another_server_are_worthless(served: Served, tmp_path: Path) -> None:
    for other in serving(tmp_path):
        key = other.cookie.partition("=")[2]
        forged = f"novum-studio-{served.gate.port}={key}"
        assert served.ask("GET", "/api/studio", headers={"Cookie": forged}).status == 403


# --- 21: forms of other pages ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind", ["text/plain", "multipart/form-data; boundary=x", "application/x-www-form-urlencoded",
             "", None]
)  # fmt: skip
def test_what_a_form_can_send_is_refused(served: Served, kind: str | None) -> None:
    for origin in (None, f"http://{served.host}"):
        given = {"Content-Type": kind, "Origin": origin}
        answer = served.ask("POST", "/api/tables/runs", {"table": "iris"}, given)
        assert answer.status in (403, 415)
    assert served.get("/api/tables/list")["runs"] == []


# --- 23, 29: paths --------------------------------------------------------------------------------

NAMES = (
    "../secret.csv", "..%2fsecret.csv", "%2e%2e%2fsecret.csv", "%252e%252e%252fsecret.csv",
    "..\\secret.csv", "/etc/passwd", "\\\\host\\share\\x.csv", "secret.csv\0.csv", "link.csv",
    "folder.csv", "CON", "nul.csv", ".hidden.csv", "~/x.csv", "file:///etc/passwd",
)  # fmt: skip


@pytest.fixture(scope="module")
def nested(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A folder with links that lead out of it."""
    root = tmp_path_factory.mktemp("root")
    (root / "secret.csv").write_text("a,b\n1,2\n")
    opened = root / "opened"
    opened.mkdir()
    (opened / "link.csv").symlink_to(root / "secret.csv")
    (opened / "folder.csv").mkdir()
    (opened / ".hidden.csv").write_text("a,b\n1,2\n")
    (opened / "run").symlink_to(root)
    (opened / "linked").mkdir()
    (opened / "linked" / "run.json").write_text("{}")
    (opened / "linked" / "report.html").symlink_to(root / "secret.csv")
    yield from serving(opened)


@pytest.mark.parametrize("name", NAMES)
def test_no_name_leads_out_of_the_folder(nested: Served, name: str) -> None:
    asked = {"table": name}
    assert nested.ask("POST", "/api/tables/profile", asked).status == 400
    assert nested.ask("POST", "/api/tables/runs", asked).status == 400
    tested = {"table": "iris", "test": name}
    assert nested.ask("POST", "/api/tables/runs", tested).status == 400
    for setting in ("cost", "plan", "test", "table"):
        refused = {"table": "iris", "settings": {setting: name}}
        assert nested.ask("POST", "/api/tables/runs", refused).status == 400
    shown = re.sub(r"[^!-~]", "%00", name)
    runs = "/api/tables/runs"
    for path in (
        f"/page/{shown}",
        f"{runs}/{shown}",
        f"{runs}/{shown}/report",
        f"{runs}/x/files/{shown}",
        f"/api/tables/rows?table={shown}",
    ):
        answer = nested.ask("GET", path)
        assert answer.status in (400, 404, 405)
        assert b"1,2" not in answer.body
    assert [run["name"] for run in nested.get("/api/tables/list")["runs"]] == ["linked"]
    assert nested.ask("GET", "/api/tables/runs/linked/report").status == 400


@pytest.mark.parametrize(
    ("name", "kept"),
    [("../../up.csv", "up.csv"), ("a\\b\\back.csv", "back.csv"), ("/abs.csv", "abs.csv"),
     ("nul.csv", "_nul.csv"), ("..csv.csv", "csv.csv"), ("x\0y.csv", "xy.csv")],
)  # fmt: skip
def test_uploads_stay_inside(nested: Served, name: str, kept: str) -> None:
    answer = nested.upload(name, b"a,b\n1,2\n")
    assert answer.status == 200
    assert answer.json["name"] == kept
    path = nested.folder / kept
    assert path.read_bytes() == b"a,b\n1,2\n"
    # 27: nobody else on the machine reads it.
    assert path.stat().st_mode & 0o777 == 0o600
    assert (nested.folder / ".novum-studio").stat().st_mode & 0o777 == 0o700


# --- 24, 25: too much, too slow -------------------------------------------------------------------


def test_uploads_have_a_largest_size(served: Served) -> None:
    answer = served.upload("large.csv", b"x" * (MOST_BYTES + 1))
    assert answer.status == 413
    assert "3,000,000 bytes" in answer.text
    assert not list(served.folder.glob("large*"))


def test_a_size_that_is_not_said_is_counted(served: Served) -> None:
    head = (
        f"POST /api/tables/upload?name=chunks.csv HTTP/1.1\nHost: {served.host}\n"
        f"Origin: http://{served.host}\nCookie: {served.cookie}\nContent-Type: {FILE}\n"
        f"{KEY_HEADER}: {served.key}\n"
        "Transfer-Encoding: chunked\nConnection: close"
    )
    piece = b"100000\r\n" + b"x" * 0x100000 + b"\r\n"
    said = raw(served, head, 4 * piece + b"0\r\n\r\n").splitlines()[0]
    assert b" 413 " in said or b" 000 " in said
    assert not list(served.folder.glob("chunks*"))
    assert not list((served.folder / ".novum-studio").glob("upload*"))


def test_json_is_small(served: Served) -> None:
    answer = served.ask("POST", "/api/tables/profile", b" " * (MOST_JSON + 1))
    assert answer.status == 413


def test_a_slow_upload_ends(served: Served) -> None:
    head = (
        f"POST /api/tables/upload?name=slow.csv HTTP/1.1\r\nHost: {served.host}\r\n"
        f"Origin: http://{served.host}\r\nCookie: {served.cookie}\r\nContent-Type: {FILE}\r\n"
        f"{KEY_HEADER}: {served.key}\r\n"
        "Content-Length: 1000\r\n\r\na,b\n"
    )
    with socket.create_connection(("127.0.0.1", served.gate.port), 10) as line:
        line.sendall(head.encode())
        assert b" 408 " in line.recv(65536).splitlines()[0]
    assert not list(served.folder.glob("slow*"))


def test_lines_that_say_nothing_are_in_nobodys_way(served: Served) -> None:
    lines = [socket.create_connection(("127.0.0.1", served.gate.port), 10) for _ in range(150)]
    for line in lines:
        line.sendall(b"GET / HTTP/1.1\r\nHost: ")
    assert served.get("/api/studio")["rooms"]
    for line in lines:
        line.close()


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nHost: x"])
@pytest.mark.parametrize("is_second", [False, True])
def test_headers_that_do_not_come_end_the_line(
    served: Served, sent: bytes, is_second: bool
) -> None:
    with socket.create_connection(("127.0.0.1", served.gate.port), 10) as line:
        if is_second:
            line.sendall(f"GET / HTTP/1.1\r\nHost: {served.host}\r\n\r\n".encode())
            answer = b""
            while b"works once." not in answer:
                answer += line.recv(65536)
            assert b" 403 " in answer
        line.sendall(sent)
        # The server closes it, within its patience of one second.
        assert line.recv(65536) == b""


def test_many_requests_at_once(served: Served) -> None:
    barrier = threading.Barrier(50)

    def ask(number: int) -> int:
        if number < 50:
            barrier.wait(20)
        return served.ask("GET", "/api/studio").status

    with ThreadPoolExecutor(50) as pool:
        assert set(pool.map(ask, range(500))) == {200}


def test_huge_headers_are_refused(served: Served) -> None:
    head = f"GET / HTTP/1.1\nHost: {served.host}\nCookie: {served.cookie}\nX: {'x' * 200_000}"
    assert b" 200 " not in raw(served, head).splitlines()[0]
    assert served.get("/api/studio")["rooms"]


# --- 26, 30: what a browser may do with the answer ------------------------------------------------


@pytest.mark.parametrize("path", ["/", "/page/studio.js", "/api/studio", "/nowhere"])
def test_answers_are_protected(served: Served, path: str) -> None:
    headers = served.ask("GET", path).headers
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "access-control-allow-origin" not in headers


@pytest.mark.parametrize(
    "path", ["//evil.example/", "/%2f%2fevil.example", "/?next=//evil.example"]
)
def test_nothing_leads_elsewhere(served: Served, path: str) -> None:
    answer = served.ask("GET", path)
    assert "location" not in answer.headers


def test_the_server_connects_to_nobody(served: Served) -> None:
    asked: list[object] = []
    is_heard = True

    def hear(event: str, arguments: tuple[object, ...]) -> None:
        if is_heard and event == "socket.connect":
            asked.append(arguments[1])

    # Hooks of this kind stay for good; this one falls silent.
    sys.addaudithook(hear)
    for path in PATHS:
        served.ask("GET", path)
    served.post("/api/tables/profile", {"table": "iris"})
    is_heard = False
    assert asked
    assert {address[0] for address in asked if isinstance(address, tuple)} == {"127.0.0.1"}


def test_the_page_names_nothing_elsewhere() -> None:
    import novum.apps.studio.server as server

    for path in server.PAGE.rglob("*.*"):
        addresses = re.findall(r"https?://[^\s\"'`]+", path.read_text())
        assert set(addresses) <= {"http://www.w3.org/2000/svg"}, path
        assert "innerHTML" not in path.read_text()
        assert " style=" not in path.read_text()
