"""Where the records of a delimited text begin and end, found without a loop over bytes.

Quotes alternate between opening and closing, so a separator or line end stands inside a quoted
cell exactly when an odd number of quotes precedes it in its record. That rule is sound only if
quotes stand where they should: an opening one at the start of a cell, a closing one at its end,
two together for a quote in the text. Both conditions are checked for every quote, and whoever
breaks them is told the line; so Arrow, which parses the cells of whole records and forgives such
quotes by changing the text, cannot disagree with this scan.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from novum.core.errors import FileFormatError
from novum.core.sources.streams import line_of
from novum.numerics import Bytes, Integers, Mask

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
    """

    starts: Integers
    ends: Integers
    cells: Integers
    blank: Mask
    longest: int

    @property
    def full(self) -> Integers:
        """The records that are not blank."""
        return np.flatnonzero(~self.blank)

    @property
    def stop(self) -> int:
        """Where the last record ends."""
        return int(self.ends[-1]) if self.ends.size else 0


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
    >>> records.ends.tolist(), records.cells.tolist()
    ([4, 12], [2, 2])
    """
    buffer = np.frombuffer(data, np.uint8)
    newlines = _line_ends(buffer, final)
    separators = np.flatnonzero(buffer == ord(separator))
    quotes = np.flatnonzero(buffer == ord(quote)) if quote else np.empty(0, np.int64)
    if quotes.size:
        separators = separators[np.searchsorted(quotes, separators) % 2 == 0]
        newlines = newlines[np.searchsorted(quotes, newlines) % 2 == 0]
    ends = newlines + 1
    unfinished = bool(data) and (ends.size == 0 or ends[-1] < len(data))
    if quotes.size:
        problem = f"has a {quote} that neither begins nor ends it. Quote the whole cell and double"
        problem += f" the {quote} inside"
        wrong = _misplaced(buffer, quotes, separator)
        if final and unfinished and quotes.size % 2:
            problem, wrong = f"opens a {quote} that is never closed. Close it", int(quotes[-1])
        if wrong is not None:
            start = int(ends[ends <= wrong].max(initial=0))
            cell = 1 + int(np.sum((separators >= start) & (separators < wrong)))
            raise FileFormatError(
                f'cell {cell} {problem}, or read without quotes: dialect=Dialect(quote="").',
                line=line_of(data, wrong),
                column=cell,
            )
    if final and unfinished:
        ends = np.append(ends, len(data))
    starts = np.concatenate([np.zeros(min(1, ends.size), np.int64), ends[:-1]])
    cells = np.diff(np.searchsorted(separators, ends), prepend=0) + 1
    blank = np.isin(buffer[starts], (_NEWLINE, _RETURN))
    longest = int(np.diff(newlines, prepend=-1, append=len(data)).max(initial=0))
    if longest >= _SHORT:
        marks = np.sort(np.concatenate([separators, newlines]))
        longest = int(np.diff(marks, prepend=-1, append=len(data)).max(initial=0))
    return Records(starts, ends, cells, blank, longest)


def _line_ends(buffer: Bytes, final: bool) -> Integers:
    """Positions of line feeds and of lone carriage returns."""
    ends = buffer == _NEWLINE
    returns = np.flatnonzero(buffer == _RETURN)
    if returns.size:
        if returns[-1] == buffer.size - 1:
            # Only the next byte would tell whether this return stands alone.
            ends[-1] = final
            returns = returns[:-1]
        ends[returns[buffer[returns + 1] != _NEWLINE]] = True
    return np.flatnonzero(ends)


def _misplaced(buffer: Bytes, quotes: Integers, separator: str) -> int | None:
    """Position of the first quote that opens or closes within a cell."""
    breaks = np.zeros(256, bool)
    breaks[[ord(separator), _NEWLINE, _RETURN]] = True
    opening, closing = quotes[0::2], quotes[1::2]
    # Outside of the buffer everything breaks: it begins with a record, and what follows is unknown.
    opens = breaks[buffer[opening - 1]] | (opening == 0)
    closes = breaks[buffer[(closing + 1) % buffer.size]] | (closing == buffer.size - 1)
    doubled = opening[1:] == closing[: opening.size - 1] + 1
    opens[1:] |= doubled
    closes[: doubled.size] |= doubled
    wrong = np.concatenate([opening[~opens], closing[~closes]])
    return int(wrong.min()) if wrong.size else None


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
