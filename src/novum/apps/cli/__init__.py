"""The command `novum`.

Each command is a function in a module of its own and one line in `_application`. Nothing that a
command needs is imported before it runs, so `novum --help` answers at once.

Exit codes: 0 after success, 1 for a problem with the input or the machine (one sentence on standard
error says which), 2 for a wrong use of the command, 130 after Ctrl-C.
"""

from __future__ import annotations

import gc
import signal
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import novum

if TYPE_CHECKING:
    import typer

INTERRUPTED = 130


def main() -> None:
    """Entry of the console script."""
    # A start imports a million objects that stay: looking through them for garbage again and again
    # takes as long as a small run's fits.
    gc.set_threshold(10_000, 20, 100)
    try:
        application = _application()
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        install = "pip install '.[cli]' in a copy of the sources"
        sys.exit(f"The command line needs {error.name}: {install}")
    # A terminal that lacks a character shows its code, and the command goes on.
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        application(prog_name="novum")
    except KeyboardInterrupt:
        sys.exit(_leaving())
    except SystemExit as leaving:
        if leaving.code == INTERRUPTED:
            _leaving()
        raise


def _leaving() -> int:
    """The exit code after Ctrl-C; a second one cannot disturb the way out."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return INTERRUPTED


def _application() -> typer.Typer:
    import typer

    from novum.apps.cli.findings import FindingsCommand
    from novum.apps.cli.learn import learn
    from novum.apps.cli.models import models
    from novum.apps.cli.plan import plan
    from novum.apps.cli.predict import evaluate, predict
    from novum.apps.cli.profile import profile
    from novum.apps.cli.query import query
    from novum.apps.cli.run import report, run
    from novum.apps.cli.studio import studio
    from novum.apps.cli.version import version
    from novum.apps.cli.warmup import warmup

    application = typer.Typer(
        help="Statistical learning from table to decision.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    application.callback()(_options())
    tables = (run, predict, evaluate, report, profile, studio)
    for command in (*tables, learn, models, plan, warmup, version):
        application.command()(command)
    application.command(cls=FindingsCommand)(query)
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
