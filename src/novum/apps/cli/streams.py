"""Where commands write: results to standard output, progress and remarks to standard error.

So the output of `novum run --json` is one document and nothing else, whatever is said meanwhile.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

# Columns of a table that is written to a file or a pipe.
_FILE_WIDTH = 110


def output() -> Console:
    """For results."""
    return _console(sys.stdout)


def remarks() -> Console:
    """For progress, remarks and errors."""
    return _console(sys.stderr)


def say(console: Console, sentence: str, style: str = "") -> None:
    """Writes a sentence, made safe for a terminal; lines are broken only where someone reads."""
    from rich.text import Text

    from novum.core.text import printable

    console.print(Text(printable(sentence), style=style), soft_wrap=not console.is_terminal)


def table_of(columns: Sequence[tuple[str, str]], rows: Iterable[Sequence[str]]) -> Table:
    """A table of texts, each of them made safe.

    Parameters
    ----------
    columns : sequence of (title, "left" or "right")
    rows : iterable of sequences of str
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from novum.core.text import printable

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, collapse_padding=True)
    for title, side in columns:
        justify: Any = side
        # Words may go on in a second line where the screen is narrow, numbers may not.
        table.add_column(Text(printable(title)), justify=justify, no_wrap=side == "right")
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    return table


def write_json(content: Any) -> None:
    """One JSON document on standard output; numbers that do not exist are null."""
    text = json.dumps(_finite(content), indent=1, ensure_ascii=True, allow_nan=False)
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _finite(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(part) for part in value]
    if isinstance(value, float) and not -float("inf") < value < float("inf"):
        return None
    return value.item() if hasattr(value, "item") else value


def _console(stream: Any) -> Console:
    from rich.console import Console

    console = Console(file=stream, highlight=False, markup=False, emoji=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = _FILE_WIDTH
    return console
