"""Where the records of a delimited text begin and end, found without a loop over bytes.

Quotes alternate between opening and closing, so a separator or line end stands inside a quoted
cell exactly when an odd number of quotes precedes it in its record. That rule is sound only if
quotes stand where they should: an opening one at the start of a cell, a closing one at its end,
two together for a quote in the text. Both conditions are checked for every quote, and whoever
breaks them is told the line; so later parsing of whole records cannot disagree with this scan.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from novum.core.errors import FileFormatError

Positions = NDArray[np.int64]

_NEWLINE, _RETURN = 10, 13
_SHORT = 1 << 16


@dataclass(frozen=True)
class Records:
    """Whole records at the start of some bytes.

    Parameters
    ----------
    starts, ends : int64 arrays of shape (n_records,)
        `data[starts[i]:ends[i]]` is record `i` with its line end.
    cells : int64 array of shape (n_records,)
        Number of cells; 1 for a blank line.
    blank : bool array of shape (n_records,)
    longest : int
        Bytes of the longest cell, quotes and line end included, or a bound on it if that is
        below 64 kB; the unfinished rest counts too.
    lines : int
        Line ends in all whole records, those in quotes too.
    """

    starts: Positions
    ends: Positions
    cells: Positions
    blank: NDArray[np.bool_]
    longest: int
    lines: int


def scan_records(data: bytes, separator: str, quote: str, *, final: bool) -> Records:
    """The whole records of `data`, which begins at the start of one.

    Parameters
    ----------
    data : bytes
    separator, quote : str
        One ASCII character each; `quote=""` for none.
    final : bool
        Whether the file ends with `data`, so that the rest without a line end is a record too.

    Raises
    ------
    FileFormatError
        For a quote out of place or never closed; `line` and `column` count within `data` from 1.

    Examples
    --------
    >>> records = scan_records(b'a,b\\n1,"x\\ny"\\n2', ",", '"', final=False)
    >>> records.ends.tolist(), records.cells.tolist(), records.lines
    ([4, 12], [2, 2], 3)
    """
    buffer = np.frombuffer(data, np.uint8)
    newlines = _line_ends(buffer, final)
    separators = np.flatnonzero(buffer == ord(separator))
    all_newlines = newlines
    quotes = np.flatnonzero(buffer == ord(quote)) if quote else np.empty(0, np.int64)
    if quotes.size:
        separators = separators[np.searchsorted(quotes, separators) % 2 == 0]
        newlines = newlines[np.searchsorted(quotes, newlines) % 2 == 0]
    ends = newlines + 1
    if final and data and (ends.size == 0 or ends[-1] < len(data)):
        if quotes.size % 2:
            _refuse_open_quote(data, separator, quote, int(quotes[-1]))
        ends = np.append(ends, len(data))
    if quotes.size:
        _check_quotes(buffer, quotes, separator, quote)
    starts = np.concatenate([np.zeros(min(1, ends.size), np.int64), ends[:-1]])
    cells = np.diff(np.searchsorted(separators, ends), prepend=0) + 1
    stop = int(ends[-1]) if ends.size else 0
    return Records(
        starts,
        ends,
        cells,
        np.isin(buffer[starts], (_NEWLINE, _RETURN)),
        _longest_cell(separators, newlines, len(data)),
        int(np.searchsorted(all_newlines, stop)),
    )


def split_record(record: bytes, separator: str, quote: str) -> list[str]:
    """The cells of one sound record, unquoted."""
    text = record.decode("utf-8", "replace").rstrip("\r\n")
    if not quote or quote not in text:
        return text.split(separator)
    cells: list[str] = []
    part = ""
    # Pieces of a quoted cell that holds separators are joined until its quotes are even.
    for piece in text.split(separator):
        part = f"{part}{separator}{piece}" if part else piece
        if part.count(quote) % 2 == 0:
            cells.append(part)
            part = ""
    if part:
        cells.append(part)
    return [
        cell[1:-1].replace(quote * 2, quote) if cell.startswith(quote) else cell for cell in cells
    ]


def line_of(data: bytes, position: int) -> int:
    """Number of the line of `data` that holds `position`, counted from 1."""
    before = data[:position]
    lone_returns = before.count(b"\r") - before.count(b"\r\n")
    # A return just before `position` that belongs to a pair has not ended its line yet.
    if before.endswith(b"\r") and data[position : position + 1] == b"\n":
        lone_returns -= 1
    return 1 + before.count(b"\n") + lone_returns


# --- Parts of the scan ----------------------------------------------------------------------------


def _line_ends(buffer: NDArray[np.uint8], final: bool) -> Positions:
    """Positions of line feeds and of lone carriage returns."""
    ends = buffer == _NEWLINE
    returns = np.flatnonzero(buffer == _RETURN)
    if returns.size:
        if returns[-1] == buffer.size - 1:
            # Only the next byte would tell whether this return stands alone.
            if final:
                ends[-1] = True
            returns = returns[:-1]
        lone = returns[buffer[returns + 1] != _NEWLINE]
        ends[lone] = True
    return np.flatnonzero(ends)


def _check_quotes(buffer: NDArray[np.uint8], quotes: Positions, separator: str, quote: str) -> None:
    breaks = np.zeros(256, bool)
    breaks[[ord(separator), _NEWLINE, _RETURN]] = True
    opening, closing = quotes[0::2], quotes[1::2]
    adjacent = np.diff(quotes) == 1
    fine = np.ones(opening.size, bool)
    inner = opening[1:] if opening[0] == 0 else opening
    fine[opening.size - inner.size :] = breaks[buffer[inner - 1]]
    fine[1:] |= adjacent[1::2]
    if not fine.all():
        _refuse_quote(buffer, int(opening[~fine][0]), separator, quote)
    if closing.size and closing[-1] == buffer.size - 1:
        closing = closing[:-1]
    fine = breaks[buffer[closing + 1]]
    doubled = adjacent[1::2][: fine.size]
    fine[: doubled.size] |= doubled
    if not fine.all():
        _refuse_quote(buffer, int(closing[~fine][0]), separator, quote)


def _refuse_quote(buffer: NDArray[np.uint8], position: int, separator: str, quote: str) -> None:
    data = buffer.tobytes()
    line, column = _place(data, position, separator, quote)
    raise FileFormatError(
        f"cell {column} has a {quote} that neither begins nor ends it. Quote the whole cell and "
        f'double the {quote} inside, or read without quotes: dialect=Dialect(quote="").',
        line=line,
        column=column,
    )


def _refuse_open_quote(data: bytes, separator: str, quote: str, position: int) -> None:
    line, column = _place(data, position, separator, quote)
    raise FileFormatError(
        f"cell {column} opens a {quote} that is never closed. Close it, or read without quotes: "
        'dialect=Dialect(quote="").',
        line=line,
        column=column,
    )


def _place(data: bytes, position: int, separator: str, quote: str) -> tuple[int, int]:
    """Line of a position and the number of its cell within its record."""
    before = data[:position]
    if before.count(quote.encode()) % 2:
        # A closing quote belongs to the cell that its partner opened.
        before = before[: before.rindex(quote.encode())]
    return line_of(data, position), _cell_number(before, separator, quote)


def _cell_number(before: bytes, separator: str, quote: str) -> int:
    """Number of the cell that follows `before`, counted from 1 within its record."""
    sign, mark = separator.encode(), quote.encode()
    pieces = before.split(mark)
    outside = b"".join(pieces[0::2])
    last = max(outside.rfind(b"\n"), outside.rfind(b"\r"))
    return outside[last + 1 :].count(sign) + 1


def _longest_cell(separators: Positions, newlines: Positions, size: int) -> int:
    longest_record = int(np.diff(newlines, prepend=-1, append=size).max(initial=0))
    if longest_record < _SHORT:
        return longest_record
    marks = np.sort(np.concatenate([separators, newlines]))
    return int(np.diff(marks, prepend=-1, append=size).max(initial=0))
