"""The studio obeys only its own page: who may ask, and what a browser may do with the answer.

Other pages in the same browser, other people on the same machine and names that point at loopback
must get nothing. So every request, whatever it asks for, has to pass, in this order:

1. `Host` is one of the studio's own names with its port, letter by letter. A foreign name that is
   resolved to this machine (DNS rebinding) differs.
2. `Origin`, where there is one, is the studio's own. What changes anything must have one.
3. `Sec-Fetch-Site`, where there is one, says that the page itself or the address bar asks.
4. The cookie of the session, which a token buys once: `/?token=...` sets it and leads to `/`. The
   token is worthless afterwards, so that history and logs hold nothing.
5. A body is JSON or bytes of a file, which no plain form of another page can send, has at most so
   many bytes, and does not take forever.

There are no web sockets. The answers carry a content policy under which nothing but the studio's
own files runs, and nothing is sent anywhere else.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import secrets
from collections.abc import Awaitable, Callable, Iterable
from typing import Any
from urllib.parse import parse_qs

Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

JSON, FILE = "application/json", "application/octet-stream"
MOST_JSON = 4 * 2**20
# Seconds between two pieces of a body.
MOST_SILENCE = 30.0
SAFE_METHODS = ("GET", "HEAD")

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
    """What opens the studio: its names, the token of the next browser, the key of all sessions.

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
        Told when a token was used, with the address for the next browser.

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
    ) -> None:
        self.port = port
        self._names = [*names, "127.0.0.1", "localhost"]
        self._hosts = {f"{name}:{port}" for name in self._names}
        self._any_address = any_address
        self._on_entry = on_entry
        self._key = secrets.token_urlsafe(32)
        self.token = secrets.token_urlsafe(32)
        # Cookies of one host are shared by all its ports.
        self.cookie = f"novum-studio-{port}"

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
        if not secrets.compare_digest(token.encode(), self.token.encode()):
            return None
        self.token = secrets.token_urlsafe(32)
        if self._on_entry is not None:
            self._on_entry(self.address)
        return f"{self.cookie}={self._key}; HttpOnly; SameSite=Strict; Path=/"

    def knows(self, cookies: str) -> bool:
        """Whether the header of cookies holds the session's key."""
        for part in cookies.split(";"):
            name, _, value = part.strip().partition("=")
            if name == self.cookie and secrets.compare_digest(value.encode(), self._key.encode()):
                return True
        return False


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
        refusal = self._refusal(scope)
        if refusal is not None:
            await _answer(send, *refusal)
            return
        headers = _headers(scope)
        token = parse_qs(scope["query_string"].decode("latin-1")).get("token")
        if token is not None and scope["path"] == "/":
            bought = self._gate.enter(token[0])
            if bought is not None:
                more = [(b"location", b"/"), (b"set-cookie", bought.encode())]
                await _answer(send, 303, "", more)
                return
        if not self._gate.knows(headers.get("cookie", "")):
            said = (
                "This is a studio of Novum, and it does not know this browser. Open the link that "
                "the terminal shows; each link works once."
            )
            await _answer(send, 403, said)
            return
        await self._passed(scope, headers, receive, send)

    def _refusal(self, scope: Message) -> tuple[int, str] | None:
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
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
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
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        *more,
    ]
    await send({"type": "http.response.start", "status": status, "headers": _guarded(headers)})
    await send({"type": "http.response.body", "body": body})
