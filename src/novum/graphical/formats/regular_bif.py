"""BIF files as programs write them, read in a few passes.

A file is *regular* when it has no quotes, its properties and comments stand by themselves and
every table gives all rows, with commas between numbers. Its blocks are found by one regular
expression. In small files the keys of rows are compared as text with those that the parents'
states give, and the numbers of all tables become floats together; in large ones a compiled loop
does both. Either way every number is the float nearest to its text.

Anything unexpected makes a file irregular: then nothing is decided here, and `bif` reads it token
by token and names what is wrong.
"""

from __future__ import annotations

import math
import re
from itertools import accumulate, product

import numpy as np

from novum.core.errors import InputError
from novum.distributions.joint_table_states import StateAxis
from novum.graphical.formats.draft import MAX_PARENTS, Draft, Floats, renamed_axis

# Bytes of a file from which on compiled code is worth loading.
COMPILED_FROM = 200_000

_NAME = r'[^\s{}()\[\]|,;"]+'
_NETWORK = re.compile(rf"\s*network\s+{_NAME}\s*\{{\s*\}}\s*")
_BLOCK = re.compile(
    rf"(?:variable\s+({_NAME})\s*\{{\s*type\s+discrete\s*\[\s*([0-9]{{1,9}})\s*\]\s*"
    rf"\{{([^{{}}()\[\]|;]*)\}}\s*;?\s*\}}"
    rf"|probability\s*\(\s*({_NAME})\s*(?:\|\s*([^{{}}()\[\]|;]*))?\)\s*\{{)\s*"
)
_SPACE = re.compile(r"\s*")
_TABLE = re.compile(r"\s*table\s")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|(?P<open>/\*.*)", re.DOTALL)
# With its end or up to what cannot be part of it, so that no text is looked at twice.
_PROPERTY = re.compile(r"(?<=[{};\s])property\s[^{};]*(?P<end>;?)")


class IrregularError(Exception):
    """The file needs the other reader."""


def regular_draft(text: str, source: str, compiled_from: int = COMPILED_FROM) -> Draft | None:
    """The network of a regular file; None where the file is not regular."""
    if '"' in text or not text.isascii():
        return None
    if "/" in text:
        # A quote, which no regular file has, for a comment without an end.
        text = _COMMENT.sub(lambda found: '"' if found["open"] else " ", text)
    try:
        blocks = _blocks(text)
        read = compiled_cells if len(text) >= compiled_from else plain_cells
        return Draft(source, blocks.axes, blocks.parents, read(blocks))
    except (IrregularError, InputError, ValueError):
        return None


def _blocks(text: str) -> _Blocks:
    try:
        return _Blocks(text)
    except IrregularError:
        # Few files have properties; looking for them costs as much as reading does.
        return _Blocks(_PROPERTY.sub(lambda found: " " if found["end"] else found[0], text))


class _Blocks:
    """The variables of a file, their parents, and where their tables stand.

    Attributes
    ----------
    text : str
    axes : list of StateAxis
    parents : list of list of int
    bodies : list of (start, end)
        Where the rows of each variable's table stand, or its numbers if it has no parents.
    sizes : list of int
        Cells of each table.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.axes: list[StateAxis] = []
        self._numbers: dict[str, int] = {}
        self._alike: dict[str, StateAxis] = {}
        self._tables: dict[int, tuple[list[int], tuple[int, int]]] = {}
        match = _NETWORK.match(text)
        place = match.end() if match else len(text) - len(text.lstrip())
        while place < len(text):
            found = _BLOCK.match(text, place)
            if found is None:
                raise IrregularError
            name, count, states, child, parents = found.groups()
            place = found.end()
            if child is None:
                self._add_variable(name, int(count), states)
                continue
            # Faster than a pattern for long bodies.
            end = text.find("}", place)
            if end < 0:
                raise IrregularError
            self._add_table(child, parents, (place, end))
            place = _SPACE.match(text, end + 1).end()  # type: ignore[union-attr]
        if len(self._tables) != len(self.axes) or not self.axes:
            raise IrregularError
        tables = [self._tables[v] for v in range(len(self.axes))]
        self.parents = [up for up, _ in tables]
        self.bodies = [body for _, body in tables]
        self.cards = cards = [len(axis.states) for axis in self.axes]
        self.sizes = [
            cards[v] * math.prod([cards[p] for p in up]) for v, up in enumerate(self.parents)
        ]
        # A cell takes at least two characters: nothing is allocated that the file does not fill.
        if sum(self.sizes) > len(text):
            raise IrregularError

    def _add_variable(self, name: str, count: int, states: str) -> None:
        alike = self._alike.get(states)
        if alike is None:
            alike = self._alike[states] = StateAxis(name, tuple(split_names(states)))
        if len(alike.states) != count or name in self._numbers:
            raise IrregularError
        self._numbers[name] = len(self.axes)
        self.axes.append(renamed_axis(alike, name))

    def _add_table(self, child: str, parents: str | None, body: tuple[int, int]) -> None:
        variable = self._numbers.get(child)
        if variable is None or variable in self._tables:
            raise IrregularError
        up: list[int] = []
        if parents is None:
            found = _TABLE.match(self.text, *body)
            if found is None:
                raise IrregularError
            body = (found.end(), body[1])
        else:
            up = [self._numbers.get(name, variable) for name in split_names(parents)]
            if variable in up or len(set(up)) < len(up) or len(up) > MAX_PARENTS:
                raise IrregularError
        self._tables[variable] = up, body


def split_names(text: str) -> list[str]:
    """Names between commas; white space inside one means that a comma was left out."""
    names = text.split(",")
    found = text.replace(",", " ").split()
    if len(names) != len(found) or not all(map(str.strip, names)):
        raise IrregularError
    return found


# --- Small files ----------------------------------------------------------------------------------


def plain_cells(blocks: _Blocks) -> Floats:
    """All numbers of the file, variable after variable."""
    rows: list[str] = []
    keys: dict[tuple[tuple[object, ...], ...], list[str]] = {}
    for up, (start, end) in zip(blocks.parents, blocks.bodies, strict=True):
        body = blocks.text[start:end]
        if not up:
            numbers, _, rest = body.partition(";")
            if rest.strip():
                raise IrregularError
            rows.append(numbers)
            continue
        states = tuple([blocks.axes[p].states for p in up])
        if states not in keys:
            keys[states] = [f"({', '.join(key)}" for key in product(*states)]  # type: ignore[arg-type]
        rows += _rows(keys[states], body)
    cards = np.array(blocks.cards)
    widths = np.repeat(cards, np.array(blocks.sizes) // cards)
    return _numbers(";".join(rows), widths)


def _rows(expected: list[str], body: str) -> list[str]:
    """The rows' numbers as text, in the order of the expected keys, `(state, state`."""
    *rows, rest = body.split(";")
    by_key = {key: row for key, _, row in [row.lstrip().partition(")") for row in rows]}
    if rest.strip() or len(by_key) != len(rows) or len(rows) != len(expected):
        raise IrregularError
    try:
        return [by_key[key] for key in expected]
    except KeyError:
        by_key = {_even(key): row for key, row in by_key.items()}
    if by_key.keys() != set(expected):
        raise IrregularError
    return [by_key[key] for key in expected]


def _even(key: str) -> str:
    """A key with the usual white space."""
    if not key.startswith("("):
        raise IrregularError
    return "(" + ", ".join(split_names(key[1:]))


def _numbers(text: str, widths: np.ndarray) -> Floats:
    """Numbers of rows that are joined by semicolons, each row of its width."""
    # Python takes 1_000, nan and infinity for numbers, too.
    if "_" in text or "n" in text or "N" in text:
        raise IrregularError
    characters = np.frombuffer(text.encode(), np.uint8)
    marks = characters[(characters == ord(",")) | (characters == ord(";"))]
    ends = np.cumsum(widths)
    breaks = np.flatnonzero(marks == ord(";"))
    if len(marks) != ends[-1] - 1 or not np.array_equal(breaks, ends[:-1] - 1):
        raise IrregularError
    words = text.replace(";", ",").split(",")
    # The same numbers come again and again.
    different = set(words)
    floats = dict(zip(different, map(float, different), strict=True))
    return np.array(list(map(floats.__getitem__, words)))


# --- Large files ----------------------------------------------------------------------------------


def compiled_cells(blocks: _Blocks) -> Floats:
    """The same by compiled code."""
    from novum.graphical.formats.regular_bif_kernels import read_tables

    labels = ["".join(axis.states) for axis in blocks.axes]  # type: ignore[arg-type]
    lengths = [len(str(state)) for axis in blocks.axes for state in axis.states]
    cells = np.empty(sum(blocks.sizes))
    hard = np.empty((len(cells), 3), np.int64)
    n_hard = read_tables(
        _bytes(blocks.text),
        np.array(blocks.bodies, np.int64),
        np.array(blocks.cards, np.int64),
        _starts([len(up) for up in blocks.parents]),
        np.array([p for up in blocks.parents for p in up], np.int64),
        _starts(blocks.cards),
        _bytes("".join(labels)),
        _starts(lengths),
        _starts(blocks.sizes),
        cells,
        np.zeros(len(cells), np.uint8),
        hard,
    )
    if n_hard < 0:
        raise IrregularError
    for cell, start, end in hard[:n_hard].tolist():
        cells[cell] = float(blocks.text[start:end])
    return cells


def _bytes(text: str) -> np.ndarray:
    # Compiled code takes arrays that may be written to.
    return np.frombuffer(text.encode(), np.uint8).copy()


def _starts(sizes: list[int]) -> np.ndarray:
    return np.array([0, *accumulate(sizes)], np.int64)
