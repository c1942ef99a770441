"""Reading svmlight files: sparse rows of `column:value`, the exchange format of support vectors.

    <target> [qid:<group>] <column>:<value> <column>:<value> ... [# comment]

Cells that a line does not name are zero, so a file of a million columns is as short as its stored
cells. Columns of a line increase. The format does not say whether its columns are counted from 0
or from 1: a file that names a column 0 counts from 0, and any other is taken to count from 1, as
LIBSVM writes it. Targets are numbers, or several labels with commas between them. `qid` gives the
group within which rows are ranked.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy import sparse

from novum.core.errors import FileFormatError, InputError
from novum.core.runtime import check_memory
from novum.core.sources import (
    LIMITS,
    Limits,
    LineBlock,
    arrow_cells,
    checked_path,
    line_blocks,
    sniffed_encoding,
    to_utf8,
)
from novum.core.text import printable
from novum.numerics import Floats, Integers

LabelSets = tuple[tuple[float, ...], ...]
TargetKind = Literal["auto", "numbers", "label_sets"]

# The largest column number that compressed rows hold in 32 bits.
LAST_COLUMN = 2**31 - 2
# A stored cell takes 8 bytes for its value and 4 for its column, twice while parts are joined.
_CELL_BYTES = 24
_GROUP = b"qid:"


# --- Results --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class SvmlightTable:
    """The rows of an svmlight file; unpacks as `X, y`.

    Attributes
    ----------
    X : CSR matrix of shape (n_rows, n_columns)
    y : float array of shape (n_rows,), or tuple of sorted tuples of labels
    groups : int array of shape (n_rows,), or None
        The `qid` of every row.
    first_column : int
        The number, 0 or 1, that the file gives to its first column.
    note : str
        How that was found out.
    """

    X: Any
    y: Floats | LabelSets
    groups: Integers | None
    first_column: int
    note: str

    def __iter__(self) -> Iterator[Any]:
        return iter((self.X, self.y))

    def __repr__(self) -> str:
        rows, columns = self.X.shape
        groups = "" if self.groups is None else f", {len(np.unique(self.groups)):,} groups"
        return (
            f"{rows:,} rows, {columns:,} columns, {self.X.nnz:,} stored cells{groups}; {self.note}"
        )


@dataclass(frozen=True, eq=False)
class _Part:
    """The rows of one block of lines, columns as the file counts them."""

    targets: list[bytes]
    groups: list[int | None]
    lines: Integers
    counts: Integers
    columns: Integers
    values: Floats


# --- Reading --------------------------------------------------------------------------------------


def read_svmlight(
    path: str | os.PathLike[str],
    *,
    n_features: int | None = None,
    zero_based: bool | Literal["auto"] = "auto",
    targets: TargetKind = "auto",
    memory_limit: int | str | None = None,
    limits: Limits = LIMITS,
) -> SvmlightTable:
    """Read an svmlight (LIBSVM) file into compressed sparse rows.

    Parameters
    ----------
    path : path
        Plain, or packed with the suffix `.gz`.
    n_features : int, optional
        Number of columns, for a file whose last columns may all be zero, such as test rows.
    zero_based : bool or "auto"
        Whether columns are counted from 0. `"auto"` takes 0 if a line names a column 0, else 1.
    targets : {"auto", "numbers", "label_sets"}
        One number a row, or any number of labels with commas between them. `"auto"` takes label
        sets if some target has a comma.
    memory_limit : int or str, optional
        Bytes the table may take, or text such as `"2GB"`; None allows 80 % of what is available.
    limits : Limits
        What is accepted at most.

    Returns
    -------
    SvmlightTable
        Unpacks as `X, y`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "ranks.svmlight"
    >>> _ = path.write_text("2 qid:1 1:0.5 3:1  # best\\n1 qid:1 2:2.5\\n")
    >>> table = read_svmlight(path)
    >>> table.X.toarray().tolist(), table.y.tolist(), table.groups.tolist()
    ([[0.5, 0.0, 1.0], [0.0, 2.5, 0.0]], [2.0, 1.0], [1, 1])
    >>> table
    2 rows, 3 columns, 3 stored cells, 1 groups; columns counted from 1, as no line names a column 0
    """
    file = checked_path(path)
    _check_options(zero_based, targets, n_features)
    parts, cells = [], 0
    encoding, _ = sniffed_encoding(file)
    for block in line_blocks(file, encoding, limits, 0, 1):
        part = _parsed(file, block, encoding)
        cells += len(part.values)
        check_memory(
            _CELL_BYTES * cells,
            f"{printable(file.name)} with {cells:,} stored cells so far",
            "Read a part of the file, or raise memory_limit.",
            memory_limit,
        )
        parts.append(part)
    if not any(part.targets for part in parts):
        raise FileFormatError(
            f"{printable(file.name)} has no rows, only empty lines and comments. Check the file."
        )
    return _joined(file, parts, n_features, zero_based, targets)


def _check_options(zero_based: Any, targets: Any, n_features: Any) -> None:
    if not (zero_based in (True, False) or (isinstance(zero_based, str) and zero_based == "auto")):
        raise InputError(f"zero_based is True, False or 'auto', got {zero_based!r}.")
    if targets not in ("auto", "numbers", "label_sets"):
        raise InputError(f"targets is 'auto', 'numbers' or 'label_sets', got {targets!r}.")
    if n_features is not None and not 1 <= n_features <= LAST_COLUMN + 1:
        raise InputError(
            f"n_features is a number of columns from 1 to {LAST_COLUMN + 1:,}, got {n_features!r}."
        )


def _joined(
    file: Path, parts: Sequence[_Part], n_features: int | None, zero_based: Any, targets: TargetKind
) -> SvmlightTable:
    columns = np.concatenate([part.columns for part in parts])
    values = np.concatenate([part.values for part in parts])
    counts = np.concatenate([part.counts for part in parts])
    lines = np.concatenate([part.lines for part in parts])
    first, note = _first_column(file, columns, counts, lines, zero_based)
    width = int(columns.max(initial=first)) - first + 1
    if n_features is not None and n_features < width:
        line = int(np.repeat(lines, counts)[columns.argmax()])
        raise _broken(
            file,
            line,
            f"it names column {columns.max()}, which is beyond n_features={n_features}",
            f"Pass n_features={width} or more, or leave it out",
        )
    starts = np.concatenate([[0], np.cumsum(counts)])
    narrow = np.int32 if len(values) < 2**31 else np.int64
    shape = (len(counts), n_features or width)
    cells = (values, (columns - first).astype(narrow), starts.astype(narrow))
    texts = [text for part in parts for text in part.targets]
    groups = [group for part in parts for group in part.groups]
    return SvmlightTable(
        sparse.csr_matrix(cells, shape=shape),
        _targets(file, texts, lines, targets),
        _groups(file, groups, lines),
        first,
        note,
    )


def _first_column(
    file: Path, columns: Integers, counts: Integers, lines: Integers, zero_based: Any
) -> tuple[int, str]:
    at_zero = np.flatnonzero(columns == 0)
    if zero_based == "auto":
        if at_zero.size:
            line = int(np.repeat(lines, counts)[at_zero[0]])
            return 0, f"columns counted from 0, as line {line} names a column 0"
        if not columns.size:
            return 0, "no line names a column"
        return 1, "columns counted from 1, as no line names a column 0"
    if at_zero.size and not zero_based:
        raise _broken(
            file,
            int(np.repeat(lines, counts)[at_zero[0]]),
            "it names a column 0, but zero_based=False",
            "Pass zero_based=True, or 'auto'",
        )
    return (
        (0, "columns counted from 0, as said")
        if zero_based
        else (1, "columns counted from 1, as said")
    )


# --- Lines ----------------------------------------------------------------------------------------


def _parsed(file: Path, block: LineBlock, encoding: str) -> _Part:
    """The rows of a block; all its cells are converted at once."""
    targets, groups, lines, counts, pairs = [], [], [], [], []
    for number, line in enumerate(to_utf8(block.data, encoding).splitlines(), block.line):
        words = line.partition(b"#")[0].split()
        if not words:
            continue
        # Only a set of no labels may be left out; `_targets` knows whether sets are meant.
        target = b"" if b":" in words[0] else words.pop(0)
        group = None
        if words and words[0].startswith(_GROUP):
            group = _whole(file, number, words.pop(0)[len(_GROUP) :], "qid")
        targets.append(target)
        groups.append(group)
        lines.append(number)
        counts.append(len(words))
        pairs += words
    rows = np.array(lines, np.int64), np.array(counts, np.int64)
    columns, values = _cells(file, pairs, np.repeat(*rows))
    _check_columns(file, columns, *rows)
    return _Part(targets, groups, *rows, columns, values)


def _cells(file: Path, pairs: list[bytes], lines: Integers) -> tuple[Integers, Floats]:
    """Columns and values of all pairs; one that cannot be read is named by its line."""
    text = b"\n".join(pairs)
    try:
        # Arrow takes 0x10 for a number, which it is not here.
        if not pairs or b"x" in text:
            raise pa.ArrowInvalid
        columns, values = arrow_cells(text, ":", "", 2, (0, 1))
        return pc.cast(columns, pa.int64()).to_numpy(), pc.cast(values, pa.float64()).to_numpy()
    except pa.ArrowException:
        read = [_pair(file, line, pair) for pair, line in zip(pairs, lines.tolist(), strict=True)]
    return np.array([c for c, _ in read], np.int64), np.array([v for _, v in read], np.float64)


def _pair(file: Path, line: int, pair: bytes) -> tuple[int, float]:
    column, colon, value = pair.partition(b":")
    if not colon or b":" in value:
        raise _broken(
            file, line, f"{_shown(pair)} is no cell", "Write <column>:<value>, as in 3:0.5"
        )
    number = _whole(file, line, column, "column number")
    return number, _real(file, line, value, f"the value of column {_shown(column)}")


def _check_columns(file: Path, columns: Integers, lines: Integers, counts: Integers) -> None:
    line_of = np.repeat(lines, counts)
    outside = np.flatnonzero((columns < 0) | (columns > LAST_COLUMN))
    if outside.size:
        raise _broken(
            file,
            int(line_of[outside[0]]),
            f"there is a column {columns[outside[0]]}",
            f"Columns are counted from 0 or 1, up to {LAST_COLUMN:,}",
        )
    row_of = np.repeat(np.arange(len(counts)), counts)
    falling = np.flatnonzero((np.diff(columns) <= 0) & (np.diff(row_of) == 0))
    if falling.size:
        at = int(falling[0])
        raise _broken(
            file,
            int(line_of[at]),
            f"column {columns[at + 1]} stands behind column {columns[at]}",
            "The columns of a line must increase; sort them, and name each once",
        )


# --- Targets and groups ---------------------------------------------------------------------------


def _targets(
    file: Path, texts: list[bytes], lines: Integers, kind: TargetKind
) -> Floats | LabelSets:
    sets = kind == "label_sets" or (kind == "auto" and any(b"," in text for text in texts))
    if sets:
        return tuple(
            tuple(sorted(_real(file, line, w, "the label") for w in text.split(b",") if text))
            for text, line in zip(texts, lines.tolist(), strict=True)
        )
    targets = np.empty(len(texts))
    for row, (text, line) in enumerate(zip(texts, lines.tolist(), strict=True)):
        if not text:
            raise _broken(
                file,
                line,
                "there is no target before the first cell",
                "Write one, 0 if it is unknown, or pass targets='label_sets' for an empty set",
            )
        targets[row] = _real(file, line, text, "the target")
    return targets


def _groups(file: Path, groups: list[int | None], lines: Integers) -> Integers | None:
    present = np.array([group is not None for group in groups])
    if not present.any():
        return None
    if not present.all():
        row = int(np.argmin(present))
        raise _broken(
            file,
            int(lines[row]),
            f"there is no qid, but line {lines[np.argmax(present)]} has one",
            "Give every row its group, or none",
        )
    return np.array(groups, np.int64)


# --- Words ----------------------------------------------------------------------------------------


def _whole(file: Path, line: int, text: bytes, what: str) -> int:
    try:
        if b"_" in text or len(text) > 20:
            raise ValueError
        number = int(text)
        if not -(2**63) <= number < 2**63:
            raise ValueError
    except ValueError:
        raise _broken(
            file, line, f"{_shown(text)} is no {what}", "Write a whole number below 2^63"
        ) from None
    return number


def _real(file: Path, line: int, text: bytes, what: str) -> float:
    try:
        if b"_" in text:
            raise ValueError
        return float(text)
    except ValueError:
        raise _broken(
            file, line, f"{what} is {_shown(text)}, which is no number", "Write a number, as 0.5"
        ) from None


def _shown(text: bytes) -> str:
    return repr(printable(text.decode("utf-8", "replace"), 40))


def _broken(file: Path, line: int, what: str, remedy: str) -> FileFormatError:
    return FileFormatError(f"{printable(file.name)}, line {line}: {what}. {remedy}.", line=line)
