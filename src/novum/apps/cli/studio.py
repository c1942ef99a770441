"""`novum studio`: tables, decisions and models in the browser, on this machine alone."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Annotated

import typer

from novum.apps.cli.failures import guarded
from novum.apps.cli.options import Debug

LOOPBACK = ("127.0.0.1", "localhost")


@guarded
def studio(
    folder: Annotated[
        Path, typer.Argument(help="Folder with tables and runs. Default: this one.")
    ] = Path(),
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port; the next free one if it is taken.")
    ] = 8750,
    host: Annotated[
        str,
        typer.Option(metavar="ADDRESS", help="0.0.0.0 lets other machines in; see the guide."),
    ] = "127.0.0.1",
    max_upload: Annotated[
        int, typer.Option(metavar="MB", min=1, help="Largest file that can be dropped.")
    ] = 2048,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Only print the link.")] = False,
    debug: Debug = False,
) -> None:
    """Open the studio: a local page to look at tables, run, decide and understand.

    Only this machine is listened to, and only the browser that opens the printed link is answered.
    """
    import socket

    from novum.apps.cli.streams import remarks, say
    from novum.apps.studio.folder import OpenedFolder
    from novum.apps.studio.guard import Gate
    from novum.apps.studio.rooms import Studio
    from novum.apps.studio.server import bound, serve

    opened = OpenedFolder(folder)
    listening = bound(host, port)
    is_open = host not in LOOPBACK
    names: tuple[str, ...] = ()
    if is_open:
        shown = f"[{host}]" if ":" in host else host
        # Everywhere is no place to go to; this machine is.
        first = "127.0.0.1" if shown in ("0.0.0.0", "[::]") else shown
        names = (first, socket.gethostname())

    page = opened.notes() / f"open-{secrets.token_hex(8)}.html"

    def entered(address: str) -> None:
        page.unlink(missing_ok=True)
        say(remarks(), f"The link of the studio was used or taken back. The next one: {address}")

    def refused(count: int) -> None:
        said = "A wrong link was" if count == 1 else f"Wrong links were {count:,} times"
        say(remarks(), f"{said} tried: one that was used before, or somebody looks for a way in.")

    number = listening.getsockname()[1]
    gate = Gate(number, names, any_address=is_open, on_entry=entered, on_wrong=refused)
    if is_open:
        say(
            remarks(),
            f"Warning: the studio listens at {host}, so other machines can reach it, and what is "
            "sent is not encrypted. Whoever has the link, with the name of this machine in it, can "
            "read and write the tables of this folder. Without --host only this machine is "
            "listened to.",
            "yellow",
        )
    typer.echo(f"The studio of {opened.path} is open. Ctrl-C closes it; runs go on by themselves.")
    typer.echo(gate.address)
    try:
        if not no_browser:
            _show(gate.address, page)
        serve(Studio(opened, debug), gate, listening, max_upload * 2**20)
    finally:
        page.unlink(missing_ok=True)


def _show(address: str, page: Path) -> None:
    """Opens the studio in a browser.

    Some browsers run in the terminal until they are closed, so nobody waits for them; the socket
    listens already, and the browser waits until it is answered.
    """
    import threading
    import webbrowser

    write_page(address, page)
    threading.Thread(target=webbrowser.open, args=(page.as_uri(),), daemon=True).start()


def write_page(address: str, path: Path) -> None:
    """A page that leads to an address and that nobody else can read.

    The command line of a browser is seen by everybody on the machine; it names this page.
    """
    from novum.core.files import open_descriptor

    text = (
        '<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer">'
        f'<meta http-equiv="refresh" content="0;url={address}"><title>Novum Studio</title>'
        f'<p><a href="{address}">Open the studio</a></p>\n'
    )
    descriptor = open_descriptor(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
