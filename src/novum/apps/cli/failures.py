"""Errors as one sentence on standard error and an exit code; a traceback only with `--debug`.

| what happened | exit code |
|---|---|
| a problem with the input, the disk or the memory | 1, its own sentence |
| something that nobody thought of | 1, its type and the advice to run again with `--debug` |
| Ctrl-C | 130 |
"""

from __future__ import annotations

import errno
import functools
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import typer

from novum.apps.cli import INTERRUPTED

Command = TypeVar("Command", bound=Callable[..., None])

_LONGEST = 2000
_ADVICE = "Run again with --debug to see where."
# Extras of packages that not every command needs.
_EXTRAS = dict.fromkeys(("fastapi", "starlette", "uvicorn", "pydantic"), "studio") | {
    "torch": "neural"
}
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def guarded(command: Command) -> Command:
    """A command whose errors end in a sentence; its parameter `debug` shows the traceback."""

    @functools.wraps(command)
    def call(*args: Any, **options: Any) -> None:
        with _remarks_of_warnings():
            try:
                command(*args, **options)
            except KeyboardInterrupt:
                raise _ended("Stopped.", INTERRUPTED) from None
            except (typer.Exit, typer.Abort, typer.BadParameter, BrokenPipeError):
                raise
            except Exception as error:
                if options.get("debug"):
                    traceback.print_exc()
                    raise typer.Exit(1) from None
                raise _ended(sentence(error), 1) from None

    return call  # type: ignore[return-value]


def sentence(error: BaseException) -> str:
    """What an error says, on one line: what is wrong, where, what to do.

    Examples
    --------
    >>> sentence(FileNotFoundError(2, "No such file or directory", "table.csv"))
    "There is no 'table.csv'. Check the name and the folder."
    >>> sentence(KeyError("speed"))
    "Something went wrong that should not: KeyError: 'speed'. Run again with --debug to see where."
    """
    from novum.apps.job.table.reader_advice import for_a_run
    from novum.core.errors import InputError
    from novum.core.text import printable

    if isinstance(error, InputError):
        text = for_a_run(str(error))
    elif isinstance(error, OSError):
        text = _of_the_system(error)
    elif isinstance(error, ModuleNotFoundError):
        extra = _EXTRAS.get(str(error.name).partition(".")[0], "cli,plot")
        install = f"pip install '.[{extra}]' in a copy of the sources"
        text = f"This needs the package {error.name}: {install}."
    elif isinstance(error, MemoryError):
        text = str(error) or "The memory is used up. Give the run fewer rows or columns."
    else:
        said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        text = f"Something went wrong that should not: {said.rstrip('.')}. {_ADVICE}"
    notes = getattr(error, "__notes__", [])
    return printable(" ".join(" ".join([text, *notes]).split()), _LONGEST)


def _of_the_system(error: OSError) -> str:
    where = "" if error.filename is None else f" {str(error.filename)!r}"
    if error.errno in _FULL:
        return (
            f"The disk is full, or a limit on files is reached{_at(where)}. Make room; what was "
            "finished before is kept."
        )
    if isinstance(error, FileNotFoundError) and where:
        return f"There is no{where}. Check the name and the folder."
    if isinstance(error, PermissionError) and where:
        return f"Permission is denied for{where}. Allow it, or name another place."
    if isinstance(error, (IsADirectoryError, NotADirectoryError)) and where:
        return f"The path{where} is a folder, or goes through a file. Name a file."
    said = error.strerror or str(error) or type(error).__name__
    return f"The system refused{_at(where)}: {said.rstrip('.')}. Check the path and the disk."


def _at(where: str) -> str:
    return f" at{where}" if where else ""


def _ended(said: str, code: int) -> typer.Exit:
    from novum.apps.cli.streams import remarks, say

    say(remarks(), said, "red" if code == 1 else "")
    return typer.Exit(code)


@contextmanager
def _remarks_of_warnings() -> Iterator[None]:
    """Warnings as remarks, each once, without the line of source that gave them."""
    heard: set[str] = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        from novum.apps.cli.streams import remarks, say

        text = " ".join(str(message).split())
        if text not in heard:
            heard.add(text)
            say(remarks(), f"Note: {text}", "yellow")

    with warnings.catch_warnings():
        warnings.simplefilter("default")
        # Remarks for programmers, about other programs' interfaces.
        for kind in (DeprecationWarning, PendingDeprecationWarning, ResourceWarning):
            warnings.simplefilter("ignore", kind)
        warnings.showwarning = show
        yield
