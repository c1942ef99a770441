"""The server of the studio: files of its page, routes of its rooms, errors as one sentence."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h11
import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from uvicorn.protocols.http.h11_impl import H11Protocol

import novum
from novum.apps.cli.failures import sentence
from novum.apps.studio.guard import MOST_SILENCE, Gate, Guard
from novum.apps.studio.rooms import ROOMS, Studio
from novum.core.errors import InputError

PAGE = Path(__file__).with_name("page")
PORT = 8750
MOST_BYTES = 2 * 2**30
_KINDS = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}


def application(studio: Studio) -> FastAPI:
    """The application without its guard: `/` and its files, `/api/studio`, and all rooms."""
    app = FastAPI(
        openapi_url=None, docs_url=None, redoc_url=None, default_response_class=_PlainResponse
    )
    for path in sorted(PAGE.rglob("*")):
        if path.suffix in _KINDS:
            name = path.relative_to(PAGE).as_posix()
            at = "/" if name == "index.html" else f"/page/{name}"
            app.add_api_route(at, _file(path), methods=["GET", "HEAD"])

    @app.get("/api/studio")
    def about() -> dict[str, Any]:
        rooms = [
            {"name": room.name, "title": room.title, "description": room.description}
            for room in ROOMS
        ]
        return {"version": novum.__version__, "folder": studio.folder.path.name, "rooms": rooms}

    for room in ROOMS:
        app.include_router(room.routes(studio), prefix=f"/api/{room.name}")

    # What nobody thought of is shown in the terminal, too.
    @app.exception_handler(Exception)
    @app.exception_handler(InputError)
    @app.exception_handler(OSError)
    @app.exception_handler(MemoryError)
    @app.exception_handler(ModuleNotFoundError)
    async def failed(_: Request, error: Exception) -> Response:
        if studio.debug:
            traceback.print_exception(error)
        status = 400 if isinstance(error, (InputError, OSError)) else 500
        # Paths on this machine are no business of a page.
        said = sentence(error).replace(f"{studio.folder.path}/", "")
        return _PlainResponse({"error": said}, status)

    @app.exception_handler(RequestValidationError)
    async def malformed(_: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        where = ".".join(str(name) for name in first["loc"][1:]) or "the body"
        said = f"The request is not as it should be at {where}: {first['msg']}."
        return _PlainResponse({"error": said}, 422)

    @app.exception_handler(HTTPException)
    async def refused(_: Request, error: HTTPException) -> Response:
        return _PlainResponse({"error": str(error.detail)}, error.status_code)

    return app


class _PlainResponse(JSONResponse):
    """JSON in ASCII: text of strangers may hold halves of characters, which UTF-8 cannot write."""

    def render(self, content: Any) -> bytes:
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")


def configured(
    studio: Studio, gate: Gate, most_bytes: int = MOST_BYTES, silence: float = MOST_SILENCE
) -> uvicorn.Config:
    """The application behind its guard, and how it is served."""
    return uvicorn.Config(
        Guard(application(studio), gate, most_bytes, silence),
        http=_Impatient,
        # Also of a line on which a request begins and does not go on.
        timeout_keep_alive=silence,  # type: ignore[arg-type]
        # Addresses with tokens must not get into a log.
        access_log=False,
        log_level="info" if studio.debug else "error",
        server_header=False,
        date_header=False,
        lifespan="off",
        ws="none",
        timeout_graceful_shutdown=2,
    )


class _Impatient(H11Protocol):
    """Closes a line whose request has not told all its headers in time."""

    _closing: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._await_headers()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._await_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _await_headers(self) -> None:
        if self.conn.their_state is not h11.IDLE:
            self._stop_waiting()
        elif self._closing is None:
            self._closing = self.loop.call_later(self.timeout_keep_alive, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._closing is not None:
            self._closing.cancel()
            self._closing = None


def bound(host: str, port: int) -> socket.socket:
    """A socket at the port, or at the next free one; port 0 takes any."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    tried = [port] if port == 0 else range(port, port + 20)
    for number in tried:
        server = socket.socket(family, socket.SOCK_STREAM)
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            server.bind((host, number))
            # From now on a browser may come, and waits until it is answered.
            server.listen(512)
        except OSError as error:
            server.close()
            failure = error
        else:
            return server
    raise InputError(
        f"The studio cannot listen at {host}, port {port}: {failure.strerror}. Name another --port."
    )


def serve(
    studio: Studio, gate: Gate, listening: socket.socket, most_bytes: int = MOST_BYTES
) -> None:
    """Serves until Ctrl-C or SIGTERM."""
    uvicorn.Server(configured(studio, gate, most_bytes)).run(sockets=[listening])
    sys.stdout.flush()


def _file(path: Path) -> Callable[[], Response]:
    """A file of the page; read at every request, so that a change shows on reload."""
    kind = f"{_KINDS[path.suffix]}; charset=utf-8"

    def answer() -> Response:
        return Response(path.read_bytes(), media_type=kind)

    return answer
