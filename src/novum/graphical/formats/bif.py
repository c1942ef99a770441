"""BIF, the Bayesian Interchange Format.

    variable Alarm { type discrete [ 2 ] { true, false }; }
    probability ( Alarm | Burglary, Earthquake ) {
        (true, true) 0.95, 0.05;
        default 0.001, 0.999;
    }

Rows come in any order. `table` gives all numbers at once with the variable itself as the slowest
index, as the format's definition says. Commas between numbers may be left out. Properties are
skipped. Files as programs write them take a quick way (`regular_bif`); this module reads the rest
and finds what is wrong.
"""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from novum.core.text import label_text
from novum.distributions import StateAxis, shown
from novum.graphical.formats.draft import (
    MAX_DEFAULT_CELLS,
    MAX_PARENTS,
    Draft,
    text_states,
    unknown_name,
)
from novum.graphical.formats.files import file_text
from novum.graphical.formats.regular_bif import regular_draft
from novum.graphical.formats.scanning import Scanner, numbers_text, quoted, token_pattern
from novum.graphical.models.conditional import Conditional, row_text
from novum.numerics import Floats

if TYPE_CHECKING:
    from novum.graphical.models.bayesian_network import BayesianNetwork

_TOKEN = token_pattern(r"{}()\[\]|,;", r"//[^\n]*|/\*(?s:.*?)\*/", r"//|/\*")
# What other readers accept without quotes.
_PLAIN = re.compile(r"[A-Za-z0-9_.<>=+-]+(?:/[A-Za-z0-9_.<>=+-]+)*")


def read(data: bytes, source: str) -> list[Conditional]:
    """The distributions of a BIF file."""
    text = file_text(data, source)
    draft = regular_draft(text, source)
    if draft is None:
        draft = _Reader(text, source).draft()
    else:
        # Lines are counted only where something is wrong, by reading the file once more.
        draft = replace(draft, line_of=lambda *at: _Reader(text, source).line_of(*at))
    return draft.conditionals()


def written(network: BayesianNetwork, source: str) -> str:
    """A network as BIF."""
    states = text_states(network, source)
    lines = ["network unknown {", "}"]
    for item in network.conditionals:
        labels = [_word(state) for state in states[item.name]]
        lines += [
            f"variable {_word(item.name)} {{",
            f"  type discrete [ {len(labels)} ] {{ {', '.join(labels)} }};",
            "}",
        ]
    for item in network.conditionals:
        lines += _block(item, states)
    return "\n".join(lines) + "\n"


def _block(item: Conditional, states: dict[str, tuple[str, ...]]) -> list[str]:
    numbers, k = numbers_text(item.table), len(item.variable.states)
    rows = [", ".join(numbers[at : at + k]) for at in range(0, len(numbers), k)]
    if not item.parents:
        return [f"probability ( {_word(item.name)} ) {{", f"  table {rows[0]};", "}"]
    names = ", ".join(_word(parent.name) for parent in item.parents)
    labels = [[_word(state) for state in states[parent.name]] for parent in item.parents]
    keys = map(", ".join, itertools.product(*labels))
    return [
        f"probability ( {_word(item.name)} | {names} ) {{",
        *(f"  ({key}) {row};" for key, row in zip(keys, rows, strict=True)),
        "}",
    ]


def _word(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else quoted(name)


# --- Reading --------------------------------------------------------------------------------------


@dataclass
class _Variable:
    """What was read of a variable so far."""

    axis: StateAxis
    place: int
    parents: list[int] = field(default_factory=list)
    table: Floats | None = None
    # Where rows begin, by number; those that have no place of their own stand where -1 says.
    rows: dict[int, int] = field(default_factory=dict)


class _Reader:
    """Reads token by token, and says where a file goes wrong."""

    def __init__(self, text: str, source: str) -> None:
        self.tokens = Scanner(text, source, _TOKEN)
        self.variables: dict[str, _Variable] = {}
        self.numbers: dict[str, int] = {}
        self.axes: list[StateAxis] = []
        self.default_cells = 0

    def draft(self) -> Draft:
        tokens = self.tokens
        while tokens.kind != "end":
            if tokens.skip("network"):
                self._skip_block()
            elif tokens.skip("variable"):
                self._variable()
            elif tokens.skip("probability"):
                self._probability()
            else:
                tokens.wrong(
                    f"expected 'network', 'variable' or 'probability', found {tokens.found()}"
                )
        for name, variable in self.variables.items():
            if variable.table is None:
                reason = f"variable {label_text(name)} has no probability block"
                tokens.wrong(reason, variable.place)
        variables = list(self.variables.values())
        cells = [v.table.ravel() for v in variables if v.table is not None]
        return Draft(
            tokens.source,
            self.axes,
            [v.parents for v in variables],
            np.concatenate(cells) if cells else np.empty(0),
            self.line_of,
        )

    def line_of(self, variable: int, row: int) -> int:
        """The line of a row; reads the file first where that was not done."""
        if not self.variables:
            self.draft()
        places = [*self.variables.values()][variable].rows
        return self.tokens.line_at(places.get(row, places.get(-1, 0)))

    def _skip_block(self) -> None:
        """`network name { properties }`."""
        tokens = self.tokens
        if not tokens.at("{"):
            tokens.name("the network's name or '{'")
        tokens.expect("{")
        while not tokens.skip("}"):
            self._property("'property' or '}'")

    def _property(self, expected: str) -> None:
        """A property, of which anything up to the semicolon may be."""
        tokens = self.tokens
        if not tokens.skip("property"):
            tokens.wrong(f"expected {expected}, found {tokens.found()}")
        while not tokens.skip(";"):
            if tokens.kind == "end":
                tokens.wrong("expected ';' behind a property, found the end of the file")
            tokens.advance()

    def _variable(self) -> None:
        tokens = self.tokens
        place = tokens.place
        name = tokens.name("a variable's name")
        if name in self.variables:
            tokens.wrong(f"variable {label_text(name)} occurs twice", place)
        tokens.expect("{")
        states: tuple[str, ...] | None = None
        while not tokens.skip("}"):
            if tokens.at("type") and states is None:
                tokens.advance()
                states = self._states(name)
            else:
                self._property("'type', 'property' or '}'")
        if states is None:
            tokens.wrong(f"variable {label_text(name)} has no states: give 'type discrete'", place)
        self.numbers[name] = len(self.variables)
        self.axes.append(StateAxis(name, states))
        self.variables[name] = _Variable(self.axes[-1], place)

    def _states(self, name: str) -> tuple[str, ...]:
        """`discrete [ n ] { state, ... };`"""
        tokens = self.tokens
        if not tokens.skip("discrete"):
            tokens.wrong(f"expected 'discrete', found {tokens.found()}; only discrete variables")
        tokens.expect("[")
        at, count = tokens.place, tokens.count("the number of states")
        tokens.expect("]")
        tokens.expect("{")
        states: dict[str, None] = {}
        while not tokens.at("}"):
            place = tokens.place
            state = tokens.name("a state or '}'")
            if state in states:
                tokens.wrong(f"state {shown(state)} of {label_text(name)} occurs twice", place)
            states[state] = None
            tokens.skip(",")
        if len(states) != count or not states:
            reason = f"{label_text(name)} is to have {count} states and lists {len(states)}"
            tokens.wrong(reason, at)
        tokens.advance()
        tokens.skip(";")
        return tuple(states)

    # Tables

    def _probability(self) -> None:
        tokens = self.tokens
        tokens.expect("(")
        place = tokens.place
        variable = self._known(tokens.name("a variable"), place)
        name = variable.axis.name
        if variable.table is not None:
            tokens.wrong(f"the probabilities of {label_text(name)} occur twice", place)
        tokens.skip("|")
        while not tokens.skip(")"):
            self._add_parent(variable)
            tokens.skip(",")
        tokens.expect("{")
        sizes = [len(self.axes[p].states) for p in variable.parents]
        if len(sizes) > MAX_PARENTS:
            tokens.wrong(f"{label_text(name)} has {len(sizes)} parents; {MAX_PARENTS} is the limit")
        variable.table = _Rows(self, variable, sizes).read()

    def _add_parent(self, variable: _Variable) -> None:
        tokens, place = self.tokens, self.tokens.place
        parent = tokens.name("a parent or ')'")
        self._known(parent, place)
        number = self.numbers[parent]
        if number in variable.parents or parent == variable.axis.name:
            tokens.wrong(
                f"{label_text(parent)} stands twice in the block of "
                f"{label_text(variable.axis.name)}",
                place,
            )
        variable.parents.append(number)

    def _known(self, name: str, place: int) -> _Variable:
        variable = self.variables.get(name)
        if variable is None:
            self.tokens.wrong(unknown_name("variable", name, self.variables), place)
        return variable


class _Rows:
    """The body of one probability block."""

    def __init__(self, reader: _Reader, variable: _Variable, sizes: list[int]) -> None:
        self.reader = reader
        self.tokens = reader.tokens
        self.variable = variable
        self.parents = tuple(reader.axes[p] for p in variable.parents)
        self.sizes = sizes
        self.n_states = len(variable.axis.states)
        self.n_rows = math.prod(sizes)
        self.rows: dict[int, list[float]] = {}
        self.default: list[float] | None = None
        self.table: list[float] | None = None

    def read(self) -> Floats:
        tokens = self.tokens
        start = tokens.place
        places = self.variable.rows
        while not tokens.skip("}"):
            place = tokens.place
            if tokens.skip("table"):
                places[-1] = place
                self._once(self.table, "table", place)
                self.table = self._numbers(self.n_rows * self.n_states, place)
            elif tokens.skip("default"):
                places[-1] = place
                self._once(self.default, "default", place)
                self.default = self._numbers(self.n_states, place)
            elif tokens.skip("("):
                row = self._key(place)
                if row in self.rows:
                    tokens.wrong(f"the row {row_text(self.parents, row)} occurs twice", place)
                places[row] = place
                self.rows[row] = self._numbers(self.n_states, place)
            else:
                if not tokens.at("property"):
                    tokens.wrong(
                        "expected 'table', 'default', a row that begins with '(' or '}', found "
                        f"{tokens.found()}"
                    )
                self.reader._property("a property")
        return self._cells(start)

    def _once(self, known: list[float] | None, what: str, place: int) -> None:
        if known is not None:
            name = label_text(self.variable.axis.name)
            self.tokens.wrong(f"'{what}' occurs twice in the block of {name}", place)

    def _numbers(self, expected: int, place: int) -> list[float]:
        tokens = self.tokens
        numbers: list[float] = []
        while not tokens.skip(";"):
            if len(numbers) == expected:
                tokens.wrong(f"expected ';' after {expected} numbers, found {tokens.found()}")
            numbers.append(tokens.number())
            tokens.skip(",")
        if len(numbers) != expected:
            name = label_text(self.variable.axis.name)
            tokens.wrong(f"{len(numbers)} numbers for {name}, {expected} are needed", place)
        return numbers

    def _key(self, place: int) -> int:
        """The number of a row in C order, from the states of the parents."""
        tokens, row, seen = self.tokens, 0, 0
        while not tokens.skip(")"):
            at, state = tokens.place, tokens.name("a parent's state or ')'")
            if seen < len(self.parents):
                row = row * self.sizes[seen] + self._state(self.parents[seen], state, at)
            seen += 1
            tokens.skip(",")
        if seen != len(self.parents):
            name = label_text(self.variable.axis.name)
            tokens.wrong(f"{seen} states for the {len(self.parents)} parents of {name}", place)
        return row

    def _state(self, parent: StateAxis, state: str, place: int) -> int:
        position = parent.positions.get((False, state))
        if position is None:
            states = [str(known) for known in parent.states]
            end = unknown_name(f"state of {label_text(parent.name)},", state, states)
            self.tokens.wrong(end, place)
        return position

    def _cells(self, place: int) -> Floats:
        tokens, name = self.tokens, label_text(self.variable.axis.name)
        if self.table is not None:
            if self.rows or self.default is not None:
                tokens.wrong(f"the block of {name} has a table and rows; keep one", place)
            cells = np.array(self.table).reshape(self.n_states, -1)
            return np.ascontiguousarray(cells.T)
        if self.default is None and len(self.rows) < self.n_rows:
            row = next(row for row in range(self.n_rows) if row not in self.rows)
            where = f"{row_text(self.parents, row)} of {name}" if self.parents else name
            tokens.wrong(f"the row {where} is missing, and there is no 'default'", place)
        if self.default is not None:
            self._count_defaults(place)
        cells = np.empty((self.n_rows, self.n_states))
        if self.default is not None:
            cells[:] = self.default
        for row, numbers in self.rows.items():
            cells[row] = numbers
        return cells

    def _count_defaults(self, place: int) -> None:
        self.reader.default_cells += self.n_rows * self.n_states
        if self.reader.default_cells > MAX_DEFAULT_CELLS:
            self.tokens.wrong(
                f"'default' would fill {self.reader.default_cells} cells; {MAX_DEFAULT_CELLS} are "
                "the limit. Write the rows out",
                place,
            )
