"""The command `novum`.

Each command is a function in a module of its own and one line in `_application`. Nothing that a
command needs is imported before it runs, so `novum --help` answers at once.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import novum

if TYPE_CHECKING:
    import typer


def main() -> None:
    """Entry of the console script."""
    try:
        application = _application()
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        sys.exit(f"The command line needs {error.name}: pip install 'novum[cli]'")
    application(prog_name="novum")


def _application() -> typer.Typer:
    import typer

    from novum.apps.cli.demo import demo
    from novum.apps.cli.warmup import warmup

    application = typer.Typer(
        help="Statistical learning from table to decision.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    application.callback()(_options())
    application.command()(demo)
    application.command()(warmup)
    return application


def _options() -> Callable[..., None]:
    import typer

    def show_version(wanted: bool) -> None:
        if wanted:
            typer.echo(f"novum {novum.__version__}")
            raise typer.Exit

    def options(
        version: bool = typer.Option(
            False, "--version", callback=show_version, is_eager=True, help="Show the version."
        ),
    ) -> None:
        """Statistical learning from table to decision."""
        del version

    return options
