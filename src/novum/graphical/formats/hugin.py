"""Hugin's `.net` files.

    node rain { states = ("yes" "no"); position = (10 20); }
    potential ( wet | rain ) { data = ((0.9 0.1) (0.2 0.8)); }

Numbers of a potential come with the parents as first indices and the node itself last; parentheses
around groups of them may be left out. Other attributes are skipped. Nodes that are not discrete
chances, and tables given by formulas, are refused.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from novum.core.errors import InputError
from novum.core.text import label_text
from novum.distributions import StateAxis, shown
from novum.graphical.formats.draft import MAX_PARENTS, Draft, text_states, unknown_name
from novum.graphical.formats.files import file_text
from novum.graphical.formats.scanning import Scanner, numbers_text, quoted, token_pattern
from novum.graphical.models.conditional import Conditional
from novum.numerics import Floats

if TYPE_CHECKING:
    from novum.graphical.models.bayesian_network import BayesianNetwork

_TOKEN = token_pattern(r"{}()|,;=", r"%[^\n]*", "%")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# Words that begin something else than a name.
_KEYWORDS = {"net", "class", "node", "decision", "utility", "discrete", "continuous", "potential"}
_OTHER_NODES = ("decision", "utility", "continuous", "class", "function")


def read(data: bytes, source: str) -> list[Conditional]:
    """The distributions of a Hugin file."""
    return _Reader(file_text(data, source), source).draft().conditionals()


def written(network: BayesianNetwork, source: str) -> str:
    """A network in Hugin's format, which has names of letters, digits and `_` only."""
    for name in network.names:
        if not _IDENTIFIER.fullmatch(name) or name in _KEYWORDS:
            raise InputError(
                f"{source}: Hugin's names are made of letters, digits and _, and "
                f"{label_text(name)} is not. Use network.rename first, or write .bif or .xmlbif."
            )
    states = text_states(network, source)
    lines = ["net", "{", "}"]
    for item in network.conditionals:
        labels = " ".join(map(quoted, states[item.name]))
        lines += [f"node {item.name}", "{", f"  states = ({labels});", "}"]
    for item in network.conditionals:
        parents = "".join(f" {parent.name}" for parent in item.parents)
        head = f"{item.name} |{parents}" if parents else item.name
        lines += [f"potential ({head})", "{", f"  data = {_nested(item)};", "}"]
    return "\n".join(lines) + "\n"


def _nested(item: Conditional) -> str:
    """The cells with parentheses around every axis."""
    shape, numbers = item.shape, numbers_text(item.table)
    k = shape[-1]
    groups = [f"({' '.join(numbers[at : at + k])})" for at in range(0, len(numbers), k)]
    for size in reversed(shape[:-1]):
        groups = [f"({' '.join(groups[at : at + size])})" for at in range(0, len(groups), size)]
    return groups[0]


# --- Reading --------------------------------------------------------------------------------------


@dataclass
class _Node:
    """What was read of a node so far."""

    place: int
    parents: list[int] = field(default_factory=list)
    cells: Floats | None = None
    # Where the rows of the data begin.
    rows: list[int] = field(default_factory=list)


class _Reader:
    """Reads token by token, and says where a file goes wrong."""

    def __init__(self, text: str, source: str) -> None:
        self.tokens = Scanner(text, source, _TOKEN)
        self.axes: list[StateAxis] = []
        self.nodes: dict[str, _Node] = {}
        self.numbers: dict[str, int] = {}

    def draft(self) -> Draft:
        tokens = self.tokens
        while tokens.kind != "end":
            place = tokens.place
            if tokens.at(*_OTHER_NODES):
                tokens.wrong(f"'{tokens.value}' is not read; networks have discrete nodes only")
            elif tokens.skip("net"):
                self._skip_block()
            elif tokens.skip("potential"):
                self._potential()
            elif tokens.at("node", "discrete"):
                tokens.skip("discrete")
                tokens.expect("node")
                self._node(place)
            else:
                tokens.wrong(f"expected 'net', 'node' or 'potential', found {tokens.found()}")
        for name, node in self.nodes.items():
            if node.cells is None:
                tokens.wrong(f"node {label_text(name)} has no potential", node.place)
        nodes = list(self.nodes.values())
        cells = [node.cells for node in nodes if node.cells is not None]
        return Draft(
            tokens.source,
            self.axes,
            [node.parents for node in nodes],
            np.concatenate(cells) if cells else np.empty(0),
            lambda variable, row: tokens.line_at(nodes[variable].rows[row]),
        )

    def _skip_block(self) -> None:
        """`{ name = value; ... }`."""
        tokens = self.tokens
        tokens.expect("{")
        while not tokens.skip("}"):
            tokens.name("an attribute or '}'")
            tokens.expect("=")
            self._skip_value()

    def _skip_value(self) -> None:
        tokens = self.tokens
        while not tokens.skip(";"):
            if tokens.kind == "end" or tokens.at("{", "}"):
                tokens.wrong(f"expected ';' behind an attribute, found {tokens.found()}")
            tokens.advance()

    def _node(self, place: int) -> None:
        tokens = self.tokens
        name = tokens.name("a node's name")
        if name in self.nodes:
            tokens.wrong(f"node {label_text(name)} occurs twice", place)
        tokens.expect("{")
        states: tuple[str, ...] | None = None
        while not tokens.skip("}"):
            attribute = tokens.name("an attribute or '}'")
            tokens.expect("=")
            if attribute == "states" and states is None:
                states = self._states(name)
            else:
                self._skip_value()
        if not states:
            tokens.wrong(f"node {label_text(name)} has no states", place)
        self.numbers[name] = len(self.axes)
        self.axes.append(StateAxis(name, states))
        self.nodes[name] = _Node(place)

    def _states(self, name: str) -> tuple[str, ...]:
        tokens = self.tokens
        tokens.expect("(")
        states: dict[str, None] = {}
        while not tokens.skip(")"):
            place = tokens.place
            state = tokens.name("a state or ')'")
            if state in states:
                tokens.wrong(f"state {shown(state)} of {label_text(name)} occurs twice", place)
            states[state] = None
            tokens.skip(",")
        tokens.expect(";")
        return tuple(states)

    # Potentials

    def _potential(self) -> None:
        tokens = self.tokens
        tokens.expect("(")
        place = tokens.place
        name = self._known()
        node = self.nodes[name]
        if node.cells is not None:
            tokens.wrong(f"the potential of {label_text(name)} occurs twice", place)
        tokens.skip("|")
        while not tokens.skip(")"):
            at = tokens.place
            parent = self.numbers[self._known()]
            if parent in node.parents or parent == self.numbers[name]:
                twice = label_text(self.axes[parent].name)
                tokens.wrong(f"{twice} stands twice in the potential of {label_text(name)}", at)
            node.parents.append(parent)
            tokens.skip(",")
        if len(node.parents) > MAX_PARENTS:
            count = len(node.parents)
            tokens.wrong(f"{label_text(name)} has {count} parents; {MAX_PARENTS} is the limit")
        self._body(name, node)

    def _known(self) -> str:
        tokens, place = self.tokens, self.tokens.place
        name = tokens.name("a node or ')'")
        if name not in self.nodes:
            tokens.wrong(unknown_name("node", name, self.nodes), place)
        return name

    def _body(self, name: str, node: _Node) -> None:
        tokens = self.tokens
        shape = [*(len(self.axes[p].states) for p in node.parents)]
        shape.append(len(self.axes[self.numbers[name]].states))
        start = tokens.place
        tokens.expect("{")
        while not tokens.skip("}"):
            attribute = tokens.name("an attribute or '}'")
            tokens.expect("=")
            if attribute.startswith("model_"):
                tokens.wrong(f"the potential of {label_text(name)} is a formula; give its data")
            if attribute == "data" and node.cells is None:
                node.cells = self._data(name, shape, node.rows)
            else:
                self._skip_value()
        if node.cells is None:
            tokens.wrong(f"the potential of {label_text(name)} has no data", start)

    def _data(self, name: str, shape: list[int], rows: list[int]) -> Floats:
        """Numbers in parentheses; a group closes only after a multiple of an axis's cells."""
        tokens, start = self.tokens, self.tokens.place
        numbers: list[float] = []
        opened: list[int] = []
        sizes = {math.prod(shape[axis:]) for axis in range(len(shape))}
        while not tokens.skip(";"):
            if tokens.skip("("):
                opened.append(len(numbers))
                if len(opened) > len(shape):
                    tokens.wrong(f"parentheses are nested more than {len(shape)} deep")
            elif tokens.at(")"):
                if not opened or len(numbers) - opened.pop() not in sizes:
                    tokens.wrong(f"')' closes a group that is no part of {tuple(shape)} numbers")
                tokens.advance()
            elif not tokens.skip(","):
                if len(numbers) % shape[-1] == 0:
                    rows.append(tokens.place)
                numbers.append(tokens.number())
        if opened or len(numbers) != math.prod(shape):
            tokens.wrong(
                f"{len(numbers)} numbers for {label_text(name)}, {math.prod(shape)} are needed"
                + (" and every '(' a ')'" if opened else ""),
                start,
            )
        return np.array(numbers)
