"""The studio obeys only its own page: who may ask, and what a browser may do with the answer.

Other pages in the same browser, other people on the same machine and names that point at loopback
must get nothing. So every request, whatever it asks for, has to pass, in this order:

1. `Host` is one of the studio's own names with its port, letter by letter. A foreign name that is
   resolved to this machine (DNS rebinding) differs.
2. `Origin`, where there is one, is the studio's own. What changes anything must have one.
3. `Sec-Fetch-Site`, where there is one, says that the page itself or the address bar asks; only a
   link with a token may stand elsewhere.
4. Everything needs the cookie, and what is below `/api` also the key of the session in a header,
   or, where a browser sends no headers (a download, a frame), a ticket that the key has bought for
   this one address.
5. A body is JSON or bytes of a file, which no plain form of another page can send, has at most so
   many bytes, and does not take forever.

A browser sends a cookie to every port of a host, so another server on this machine gets to see it;
it opens nothing but the page's own files, which anybody can read in the sources. The key is stored
by the origin, port included, and leaves the page in requests to the studio alone. A token buys
both once: `/?token=...` answers with the page, the key in its head and the cookie. It is worthless
afterwards, so that history and logs hold nothing. Logging out makes a new key for everybody.

There are no web sockets. The answers carry a content policy under which nothing but the studio's
own files runs, and nothing is sent anywhere else.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import hmac
import ipaddress
import json
import secrets
import time
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote

Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

JSON, FILE = "application/json", "application/octet-stream"
MOST_JSON = 4 * 2**20
# Seconds between two pieces of a body.
MOST_SILENCE = 30.0
SAFE_METHODS = ("GET", "HEAD")
KEY_HEADER = "novum-key"
# Seconds in which a ticket is used.
TICKET_SECONDS = 60.0
INDEX = Path(__file__).with_name("page") / "index.html"
_STRANGER = (
    "This is a studio of Novum, and it does not know this browser. Open the link that the terminal "
    "shows; each link works once."
)

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
# A report runs nothing and asks for nothing; the studio's own page may show it in a frame.
REPORT_POLICY = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'self'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}


class Gate:
    """What opens the studio: its names, the token of the next browser, cookie and key of all.

    Parameters
    ----------
    port : int
    names : iterable of str
        Hosts that the studio is reached by, besides 127.0.0.1 and localhost; the first one stands
        in its address.
    any_address : bool
        Whether every numeric address in its usual form is a name of the studio; a number cannot be
        pointed elsewhere as a name can.
    on_entry : callable, optional
        Told when a token was used and when sessions were ended, with the address for the next
        browser.
    on_wrong : callable, optional
        Told how many wrong tokens have come, at 1, 10, 100 and so on.

    Examples
    --------
    >>> gate = Gate(8750)
    >>> gate.is_own_host("localhost:8750"), gate.is_own_host("evil.example:8750")
    (True, False)
    >>> gate.is_own_host("2130706433:8750"), gate.is_own_host("localhost.:8750")
    (False, False)
    """

    def __init__(
        self,
        port: int,
        names: Iterable[str] = (),
        *,
        any_address: bool = False,
        on_entry: Callable[[str], None] | None = None,
        on_wrong: Callable[[int], None] | None = None,
    ) -> None:
        self.port = port
        self._names = [*names, "127.0.0.1", "localhost"]
        self._hosts = {f"{name}:{port}" for name in self._names}
        self._any_address = any_address
        self._on_entry, self._on_wrong = on_entry, on_wrong
        # Cookies of one host are shared by all its ports.
        self.cookie = f"novum-studio-{port}"
        self.n_wrong = 0
        self._renew()

    def _renew(self) -> None:
        self._page_key = secrets.token_urlsafe(32)
        self.key = secrets.token_urlsafe(32)
        self.token = secrets.token_urlsafe(32)

    @property
    def address(self) -> str:
        """Where the next browser enters."""
        return f"http://{self._names[0]}:{self.port}/?token={self.token}"

    def is_own_host(self, host: str) -> bool:
        if host in self._hosts:
            return True
        name, _, port = host.rpartition(":")
        if not self._any_address or port != str(self.port):
            return False
        bare = name[1:-1] if name.startswith("[") and name.endswith("]") else name
        try:
            return str(ipaddress.ip_address(bare)) == bare
        except ValueError:
            return False

    def enter(self, token: str) -> str | None:
        """The cookie that a token buys; None for a wrong token, and for one that was used."""
        if not _same(token, self.token):
            self.n_wrong += 1
            if self._on_wrong is not None and str(self.n_wrong).strip("0") == "1":
                self._on_wrong(self.n_wrong)
            return None
        self.token = secrets.token_urlsafe(32)
        self._tell()
        return f"{self.cookie}={self._page_key}; HttpOnly; SameSite=Strict; Path=/"

    def end_sessions(self) -> None:
        """Cookie, key, tickets and the link that nobody has used yet are worthless from now on."""
        self._renew()
        self._tell()

    def _tell(self) -> None:
        if self._on_entry is not None:
            self._on_entry(self.address)

    def knows(self, cookies: str) -> bool:
        """Whether the header of cookies holds the studio's."""
        pairs = (one.strip().partition("=") for one in cookies.split(";"))
        return any(name == self.cookie and _same(value, self._page_key) for name, _, value in pairs)

    def has_key(self, key: str) -> bool:
        return _same(key, self.key)

    def ticket(self, path: str) -> str:
        """Opens one address for a moment, for what a browser fetches without headers."""
        until = f"{time.time() + TICKET_SECONDS:.0f}"
        return f"{until}.{self._signature(path, until)}"

    def has_ticket(self, path: str, ticket: str) -> bool:
        until, _, signature = ticket.partition(".")
        is_own = _same(signature, self._signature(path, until))
        return is_own and time.time() < float(until)

    def _signature(self, path: str, until: str) -> str:
        text = f"{until} {path}".encode()
        return hmac.new(self.key.encode(), text, hashlib.sha256).hexdigest()


def _same(given: str, secret: str) -> bool:
    return secrets.compare_digest(given.encode(), secret.encode())


class _BodyError(Exception):
    """A body with more bytes than allowed, or that does not come."""

    def __init__(self, status: int, said: str) -> None:
        super().__init__(said)
        self.status = status


class Guard:
    """Lets the requests of the studio's own page through to an application, and no others.

    Parameters
    ----------
    application : ASGI application
    gate : Gate
    most_bytes : int
        Of a file that is sent.
    silence : float
        Seconds that a sender may wait between two pieces of a body.
    """

    def __init__(
        self, application: Any, gate: Gate, most_bytes: int, silence: float = MOST_SILENCE
    ) -> None:
        self._application, self._gate = application, gate
        self._most_bytes, self._silence = most_bytes, silence

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._application(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        query = parse_qs(scope["query_string"].decode("latin-1"))
        token = query.get("token", [None])[0] if scope["path"] == "/" else None
        refusal = self._refusal(scope, token is not None)
        if refusal is not None:
            await _answer(send, *refusal)
            return
        headers = _headers(scope)
        bought = None if token is None else self._gate.enter(token)
        if bought is not None:
            kind = (b"content-type", b"text/html; charset=utf-8")
            page = INDEX.read_text("utf-8").replace(
                "</head>", f'<meta name="{KEY_HEADER}" content="{self._gate.key}">\n</head>'
            )
            await _answer(send, 200, page, [kind, (b"set-cookie", bought.encode())])
        elif not self._may_pass(scope, headers, query.get("ticket", [""])[0]):
            await _answer(send, 403, _STRANGER)
        elif scope["path"] == "/api/ticket":
            said = json.dumps({"ticket": self._gate.ticket(unquote(query.get("path", [""])[0]))})
            await _answer(send, 200, said, [(b"content-type", JSON.encode())])
        elif scope["path"] == "/api/leave" and scope["method"] == "POST":
            self._gate.end_sessions()
            await _answer(send, 200, "{}", [(b"content-type", JSON.encode())])
        else:
            await self._passed(scope, headers, receive, send)

    def _may_pass(self, scope: Message, headers: dict[str, str], ticket: str) -> bool:
        path, gate = scope["path"], self._gate
        if not gate.knows(headers.get("cookie", "")):
            return False
        if not path.startswith("/api/") or gate.has_key(headers.get(KEY_HEADER, "")):
            return True
        return scope["method"] in SAFE_METHODS and gate.has_ticket(path, ticket)

    def _refusal(self, scope: Message, has_token: bool) -> tuple[int, str] | None:
        """Status and sentence for a request that comes from elsewhere."""
        names = [name for name, _ in scope["headers"]]
        if names.count(b"host") != 1 or names.count(b"origin") > 1:
            return 400, "A request names one host and at most one origin."
        headers = _headers(scope)
        host, origin = headers["host"], headers.get("origin")
        if not self._gate.is_own_host(host):
            return 421, "This host is not the studio's. Open the link that the terminal shows."
        if origin is not None and origin != f"http://{host}":
            return 403, "Another page has asked, which the studio does not answer."
        # A link may stand anywhere, and who has its token has everything.
        is_link = has_token and headers.get("sec-fetch-mode") == "navigate"
        is_own = headers.get("sec-fetch-site", "same-origin") in ("same-origin", "none")
        if not is_own and not is_link:
            return 403, "Another page has asked, which the studio does not answer."
        if scope["method"] in SAFE_METHODS:
            return None
        if origin is None:
            return 403, "What changes something names the page that asks for it."
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind not in (JSON, FILE):
            return 415, f"A body is {JSON} or {FILE}."
        most = MOST_JSON if kind == JSON else self._most_bytes
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length) > most:
            return 413, f"The body is larger than {most:,} bytes, which is the most."
        return None

    async def _passed(
        self, scope: Message, headers: dict[str, str], receive: Receive, send: Send
    ) -> None:
        is_json = headers.get("content-type", "").lower().startswith(JSON)
        most = MOST_JSON if is_json else self._most_bytes
        n_bytes, is_whole, has_begun = 0, False, False
        refusal: _BodyError | None = None

        def refused(status: int, said: str) -> _BodyError:
            nonlocal refusal
            refusal = _BodyError(status, said)
            return refusal

        async def received() -> Message:
            nonlocal n_bytes, is_whole
            if is_whole:
                return await receive()
            try:
                message = await asyncio.wait_for(receive(), self._silence)
            except TimeoutError:
                raise refused(408, "The body did not come in time.") from None
            n_bytes += len(message.get("body", b""))
            is_whole = not message.get("more_body", False)
            if n_bytes > most:
                raise refused(413, f"The body is larger than {most:,} bytes, which is the most.")
            return message

        async def sent(message: Message) -> None:
            nonlocal has_begun
            # What the application makes of the refusal is not what is told.
            if refusal is not None and not has_begun:
                return
            if message["type"] == "http.response.start":
                has_begun = True
                message = {**message, "headers": _guarded(message.get("headers", []))}
            await send(message)

        with contextlib.suppress(_BodyError):
            await self._application(scope, received, sent)
        if refusal is not None and not has_begun:
            await _answer(send, refusal.status, str(refusal), [(b"connection", b"close")])


def _headers(scope: Message) -> dict[str, str]:
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}


def _guarded(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """The headers of an answer, with those that protect it unless it has its own."""
    headers = list(headers)
    given = {name.lower() for name, _ in headers}
    own = ((name.encode(), value.encode()) for name, value in HEADERS.items())
    return [*headers, *((name, value) for name, value in own if name not in given)]


async def _answer(
    send: Send, status: int, said: str, more: Iterable[tuple[bytes, bytes]] = ()
) -> None:
    body = said.encode()
    headers = [(b"content-length", str(len(body)).encode()), *more]
    if b"content-type" not in dict(headers):
        headers.append((b"content-type", b"text/plain; charset=utf-8"))
    await send({"type": "http.response.start", "status": status, "headers": _guarded(headers)})
    await send({"type": "http.response.body", "body": body})
