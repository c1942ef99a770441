"""BIF files as programs write them, read in a few passes.

A file is *regular* when it has no quotes, its properties and comments stand by themselves and
every table gives all rows, with commas between numbers. Its blocks are found by one regular
expression, the keys of rows are compared as text with those that the parents' states give, and
rows of equal text are read once.

Anything unexpected makes a file irregular: then nothing is decided here, and `bif` reads it token
by token and names what is wrong.
"""

from __future__ import annotations

import math
import re
from itertools import product

import numpy as np

from novum.core.errors import InputError
from novum.distributions import StateAxis
from novum.graphical.formats.draft import MAX_PARENTS, Draft, renamed_axis
from novum.numerics import Floats

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


def regular_draft(text: str, source: str) -> Draft | None:
    """The network of a regular file; None where the file is not regular."""
    if '"' in text or not text.isascii():
        return None
    if "/" in text:
        # A quote, which no regular file has, for a comment without an end.
        text = _COMMENT.sub(lambda match: '"' if match["open"] else " ", text)
    try:
        blocks = _blocks(text)
        return Draft(source, blocks.axes, blocks.parents, _cells(blocks))
    except (IrregularError, InputError, ValueError):
        return None


def _blocks(text: str) -> _Blocks:
    try:
        return _Blocks(text)
    except IrregularError:
        # Few files have properties; looking for them costs as much as reading does.
        return _Blocks(_PROPERTY.sub(lambda match: " " if match["end"] else match[0], text))


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
            block = _BLOCK.match(text, place)
            if block is None:
                raise IrregularError
            name, count, states, child, parents = block.groups()
            place = block.end()
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
            alike = self._alike[states] = StateAxis(name, tuple(_split_names(states)))
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
            table = _TABLE.match(self.text, *body)
            if table is None:
                raise IrregularError
            body = (table.end(), body[1])
        else:
            up = [self._numbers.get(name, variable) for name in _split_names(parents)]
            if variable in up or len(set(up)) < len(up) or len(up) > MAX_PARENTS:
                raise IrregularError
        self._tables[variable] = up, body


def _split_names(text: str) -> list[str]:
    """Names between commas; white space inside one means that a comma was left out."""
    names = text.replace(",", " ").split()
    between = text.split(",")
    if len(between) != len(names) or not all(map(str.strip, between)):
        raise IrregularError
    return names


def _cells(blocks: _Blocks) -> Floats:
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
    return _numbers(rows, widths)


def _rows(expected: list[str], body: str) -> list[str]:
    """The rows' numbers as text, in the order of the expected keys, `(state, state`."""
    *rows, rest = body.split(";")
    if rest.strip() or len(rows) != len(expected):
        raise IrregularError
    by_key = {key: row for key, _, row in [row.lstrip().partition(")") for row in rows]}
    try:
        return list(map(by_key.__getitem__, expected))
    except KeyError:
        # Other white space in the keys, or something else there.
        by_key = {_even(key): row for key, row in by_key.items()}
    if len(by_key) != len(expected) or by_key.keys() != set(expected):
        raise IrregularError
    return [by_key[key] for key in expected]


def _even(key: str) -> str:
    """A key with the usual white space."""
    if not key.startswith("("):
        raise IrregularError
    return "(" + ", ".join(_split_names(key[1:]))


def _numbers(rows: list[str], widths: np.ndarray) -> Floats:
    """Numbers of rows, each of its width."""
    # The same rows come again and again: each is read once.
    numbered = {row: number for number, row in enumerate(dict.fromkeys(rows))}
    text = ",".join(numbered)
    # Python takes 1_000, nan and infinity for numbers, too.
    if "_" in text or "n" in text or "N" in text:
        raise IrregularError
    floats = np.array(list(map(float, text.split(","))))
    lengths = np.array([row.count(",") + 1 for row in numbered])
    of_row = np.fromiter(map(numbered.__getitem__, rows), np.intp, len(rows))
    if not np.array_equal(lengths[of_row], widths):
        raise IrregularError
    firsts, ends = np.cumsum(lengths) - lengths, np.cumsum(widths)
    return floats[np.repeat(firsts[of_row] - (ends - widths), widths) + np.arange(ends[-1])]
