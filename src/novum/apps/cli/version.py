"""`novum version`: which Novum this is, and on which Python."""

from __future__ import annotations

import platform

import typer

import novum


def version() -> None:
    """Show the version."""
    typer.echo(f"novum {novum.__version__}, Python {platform.python_version()}")
