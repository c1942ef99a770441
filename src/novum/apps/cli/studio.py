"""`novum studio`: tables, decisions and models in the browser, on this machine alone."""

from __future__ import annotations

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

    def entered(address: str) -> None:
        say(remarks(), f"A browser has opened the studio. For another one: {address}")

    gate = Gate(listening.getsockname()[1], names, any_address=is_open, on_entry=entered)
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
    if not no_browser:
        import webbrowser

        webbrowser.open(gate.address)
    serve(Studio(opened, debug), gate, listening, max_upload * 2**20)
