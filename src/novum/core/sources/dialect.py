"""The dialect of a delimited file: separator, quote, header, decimal sign, encoding.

What the caller leaves open is found from the first megabyte. A separator fits when it cuts every
record of the sample into the same number of cells, two at least; of those that fit, the one with
the most cells wins. Nothing here is silent: the reader's report repeats every decision.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, replace

import numpy as np

from novum.core.errors import FileFormatError, InputError
from novum.core.sources.cells import is_number_text
from novum.core.sources.records import Records, scan_records, split_record

SEPARATORS = (",", ";", "\t", "|")
QUOTES = ('"', "'")


@dataclass(frozen=True)
class Dialect:
    """How a delimited file is written; what is None is found from the file.

    Parameters
    ----------
    separator : str, default=None
        One of `,` `;` tab `|`, or any other single ASCII character.
    quote : str, default=None
        The character around cells that hold separators or line ends; `""` for none.
    header : bool, default=None
        Whether the first record names the columns.
    decimal : str, default=None
        `"."` or `","`.
    encoding : str, default=None
        `utf-8`, `cp1252`, `latin-1`, `utf-16-le`, `utf-16-be`, or another name of one of them.

    Examples
    --------
    >>> sniffed(b"name;height\\nAda;1,65\\nBob;1,8\\n", Dialect())
    Dialect(separator=';', quote='"', header=True, decimal=',', encoding=None)
    """

    separator: str | None = None
    quote: str | None = None
    header: bool | None = None
    decimal: str | None = None
    encoding: str | None = None

    def __post_init__(self) -> None:
        for name, allowed in (("separator", 1), ("quote", 0)):
            value = getattr(self, name)
            if value is not None and not (allowed <= len(value) <= 1 and value.isascii()):
                raise InputError(f"Dialect needs one ASCII character as {name}, got {value!r}.")
        if self.separator in ("\n", "\r", "\0") or (self.quote and self.quote == self.separator):
            raise InputError(
                f"Dialect cannot separate cells by {self.separator!r} and quote them by "
                f"{self.quote!r}."
            )
        if self.decimal not in (None, ".", ","):
            raise InputError(f"Dialect needs '.' or ',' as decimal, got {self.decimal!r}.")
        if self.encoding is not None:
            object.__setattr__(self, "encoding", _usual_name(self.encoding))
        if self.encoding not in (None, *ENCODINGS):
            raise InputError(
                f"Dialect knows the encodings {', '.join(ENCODINGS)}, got {self.encoding!r}. "
                "Save the file as UTF-8."
            )

    @property
    def note(self) -> str:
        quoting = f"quote {self.quote}" if self.quote else "no quotes"
        header = "a header" if self.header else "no header, columns named x0, x1, ..."
        decimal = ", decimal commas" if self.decimal == "," else ""
        return f"separator {self.separator!r}, {quoting}, {header}{decimal}"


ENCODINGS = ("utf-8", "cp1252", "latin-1", "utf-16-le", "utf-16-be")
# What Python calls the same; a byte order mark is skipped with any encoding.
_OTHER_NAMES = {"iso8859-1": "latin-1", "utf-8-sig": "utf-8"}


def _usual_name(encoding: str) -> str:
    """The name in `ENCODINGS` of an encoding written otherwise (`utf8`, `Latin1`)."""
    try:
        name = codecs.lookup(encoding).name
    except LookupError:
        return encoding
    return _OTHER_NAMES.get(name, name)


# --- Sniffing -------------------------------------------------------------------------------------


def sniffed(sample: bytes, given: Dialect, markers: frozenset[str] = frozenset()) -> Dialect:
    """`given`, completed from the first bytes of a file.

    Parameters
    ----------
    sample : bytes
        UTF-8 text; the last record may be cut off.
    given : Dialect
    markers : frozenset of str
        What stands for a missing cell.
    """
    separator, quote = _separator_and_quote(sample, given)
    dialect = replace(given, separator=separator, quote=quote)
    rows = _first_rows(sample, dialect)
    if given.header is None:
        dialect = replace(dialect, header=_has_header(rows, markers))
    if given.decimal is None:
        comma = separator == ";" and _surely_decimal_commas(rows[1:])
        dialect = replace(dialect, decimal="," if comma else ".")
    return dialect


def _separator_and_quote(sample: bytes, given: Dialect) -> tuple[str, str]:
    separators = SEPARATORS if given.separator is None else (given.separator,)
    quotes = _quote_candidates(sample) if given.quote is None else (given.quote,)
    best: tuple[float, int, str, str] | None = None
    for quote in quotes:
        for separator in separators:
            if quote == separator:
                continue
            share, cells = _fit(sample, separator, quote)
            if best is None or (share, cells) > best[:2]:
                best = (share, cells, separator, quote)
        if best is not None and best[0] == 1.0:
            break
    assert best is not None
    return best[2], best[3]


def _quote_candidates(sample: bytes) -> tuple[str, ...]:
    if b'"' in sample:
        return ('"', "")
    # An apostrophe is a quote only if every one of them stands where quotes stand: `_fit` scores
    # all others 0, and the double quote, which does not occur, is then tried.
    return ("'", '"') if b"'" in sample else ('"',)


def _fit(sample: bytes, separator: str, quote: str) -> tuple[float, int]:
    """Share of records with the usual number of cells, and that number; (0, 0) if it is 1."""
    try:
        records = _sample_records(sample, separator, quote)
    except FileFormatError:
        return 0.0, 0
    cells = records.cells[~records.blank]
    if cells.size == 0:
        return 0.0, 0
    usual = int(np.bincount(np.minimum(cells, 1_000_000)).argmax())
    if usual < 2:
        return 0.0, 0
    return float(np.mean(cells == usual)), usual


def _sample_records(sample: bytes, separator: str, quote: str) -> Records:
    records = scan_records(sample, separator, quote, final=False)
    if records.ends.size == 0:
        return scan_records(sample, separator, quote, final=True)
    return records


def _first_rows(sample: bytes, dialect: Dialect) -> list[list[str]]:
    """Cells of the first two hundred records, for the questions on header and decimals."""
    assert dialect.separator is not None
    assert dialect.quote is not None
    try:
        records = _sample_records(sample, dialect.separator, dialect.quote)
    except FileFormatError:
        return []
    starts = records.starts[~records.blank][:200]
    ends = records.ends[~records.blank][:200]
    return [
        split_record(sample[a:b], dialect.separator, dialect.quote)
        for a, b in zip(starts.tolist(), ends.tolist(), strict=True)
    ]


def _has_header(rows: list[list[str]], markers: frozenset[str]) -> bool:
    """A first record without a number and without a missing marker names the columns.

    Empty cells do not count as markers here: tables exported with an index have one in front.
    """
    if not rows:
        return True
    signs = markers - {""}
    cells = [cell.strip() for cell in rows[0]]
    return any(cells) and not any(is_number_text(cell) or cell in signs for cell in cells)


_COMMA_NUMBER = re.compile(r"[+-]?\d+,(\d+)([eE][+-]?\d+)?")
_POINT_NUMBER = re.compile(r"[+-]?\d*\.\d+([eE][+-]?\d+)?")


def _surely_decimal_commas(rows: list[list[str]]) -> bool:
    """Some `3,14`, no `3.14`, and not only `1,234`, which may be twelve hundred."""
    cells = [cell.strip() for row in rows for cell in row]
    if any(_POINT_NUMBER.fullmatch(cell) for cell in cells):
        return False
    matches = [match for cell in cells if (match := _COMMA_NUMBER.fullmatch(cell))]
    return any(len(match.group(1)) != 3 for match in matches)
