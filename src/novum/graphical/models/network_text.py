"""Networks as text that people write.

    Burglary: true 0.001, false 0.999
    Earthquake: true 0.002, false 0.998
    Alarm | Burglary, Earthquake
        true, true:   true 0.95, false 0.05
        true, false:  true 0.94, false 0.06
        false, true:  true 0.29, false 0.71
        false, false: true 0.001, false 0.999
    Noise | Alarm, Party = noisy or: true, false
        leak: true 0.01
        Alarm, false: true 0.9
        Party, false: true 0.8
    Both | Alarm, Party = function: true, false
        true, true: true
        ...

A node without parents takes one line. One with parents has a line for each combination of their
states, indented; a noisy or one for its leak and for each parent with its inactive state; both
list their states behind the colon. `Size, ordered: ...` has ordered states. Names and states with
other characters than letters, digits and `_ . < > - + /` stand in double quotes, with backslash
before a quote and `\\n`, `\\u2028` for characters that break lines. Words that are numbers, True or
False are states of that kind; in quotes they are text. `#` begins a comment.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from novum.core.errors import InputError
from novum.core.tables import Level
from novum.core.text import label_text, meant
from novum.distributions import TOLERATED, StateAxis
from novum.graphical.models.compact import Deterministic, NoisyOr
from novum.graphical.models.conditional import (
    Conditional,
    check_node_cells,
    row_text,
    rows_of_states,
)
from novum.graphical.models.network_words import (
    LINES,
    Row,
    Token,
    mark,
    pairs_of,
    parts_of,
    quoted,
    state_text,
    tokens_of,
    value_of,
    wrong,
)
from novum.graphical.models.states import check_told_apart
from novum.numerics import Floats

if TYPE_CHECKING:
    from novum.graphical.models.bayesian_network import BayesianNetwork


def written(network: BayesianNetwork) -> str:
    """A network as text."""
    lines: list[str] = []
    for item in network.conditionals:
        lines += _lines(item)
    return "\n".join(lines) + "\n"


def _lines(item: Conditional) -> list[str]:
    states = item.variable.states
    head = quoted(item.name) + (", ordered" if item.variable.ordered else "")
    if item.parents:
        head += " | " + ", ".join(quoted(parent.name) for parent in item.parents)
    listed = ", ".join(map(state_text, states))
    if isinstance(item, NoisyOr):
        active = state_text(states[item.active_state])
        given = zip(item.inactive.items(), item.strengths, strict=True)
        return [
            f"{head} = noisy or: {listed}",
            f"    leak: {active} {item.leak!r}",
            *(f"    {quoted(p)}, {state_text(s)}: {active} {number!r}" for (p, s), number in given),
        ]
    combinations = [", ".join(map(state_text, given)) for given in rows_of_states(item.parents)]  # type: ignore[arg-type]
    if isinstance(item, Deterministic):
        taken = [state_text(states[code]) for code in item.codes.ravel().tolist()]
        rows = zip(combinations, taken, strict=True)
        return [f"{head} = function: {listed}", *(f"    {given}: {one}" for given, one in rows)]
    if not item.parents:
        return [f"{head}: {_row(states, item.table)}"]
    cells = item.table.reshape(-1, len(states))
    pairs = zip(combinations, cells, strict=True)
    return [head, *(f"    {given}: {_row(states, row)}" for given, row in pairs)]


def _row(states: tuple[Level, ...], row: Any) -> str:
    pairs = zip(states, row.tolist(), strict=True)
    return ", ".join(f"{state_text(state)} {number!r}" for state, number in pairs)


# --- Reading --------------------------------------------------------------------------------------


@dataclass
class _Node:
    """A node as far as it is read.

    Attributes
    ----------
    line : int
        Where it begins.
    parents : list of str
    ordered : bool
    kind : {"table", "noisy or", "function"}
    rows : list of (line, what stands before the colon, what stands behind it)
    listed : list of states
        Of a compact node.
    """

    line: int
    parents: list[str] = field(default_factory=list)
    ordered: bool = False
    kind: str = "table"
    rows: list[tuple[int, tuple[Level, ...], Row]] = field(default_factory=list)
    listed: list[Level] = field(default_factory=list)

    @property
    def states(self) -> list[Level]:
        """As the first row of a table lists them."""
        return [state for state, _ in self.rows[0][2]] if self.kind == "table" else self.listed


def parsed(text: str) -> dict[str, dict[str, Any]]:
    """The nodes as nested dicts, as `BayesianNetwork.from_dict` takes them."""
    if not isinstance(text, str):
        raise InputError(f"A network's text is text, got {label_text(text)}.")
    nodes = _read(text.removeprefix("\ufeff"))
    axes: dict[str, StateAxis] = {}
    for name, node in nodes.items():
        if not node.rows:
            raise wrong(
                node.line,
                f"node {label_text(name)} has parents and no rows; indent a row for each "
                "combination of their states below it",
            )
        try:
            axes[name] = StateAxis(name, tuple(node.states), node.ordered)
            check_told_apart(axes[name])
        except InputError as error:
            line = node.rows[0][0] if node.kind == "table" else node.line
            raise wrong(line, str(error).rstrip(".")) from None
    return {
        name: {
            "states": axes[name].states,
            "parents": node.parents,
            "ordered": node.ordered,
            "table": _MAKERS[node.kind](axes[name], node, _parents(node, axes)),
        }
        for name, node in nodes.items()
    }


def _read(text: str) -> dict[str, _Node]:
    nodes: dict[str, _Node] = {}
    open_node: _Node | None = None
    for number, line in enumerate(LINES.split(text), 1):
        tokens = tokens_of(line, number)
        if not tokens:
            continue
        if line[0].isspace():
            if open_node is None:
                raise wrong(number, "an indented row belongs to no node with parents")
            _add_row(open_node, tokens, number)
            continue
        name, node = _head(tokens, number)
        if name in nodes:
            raise wrong(number, f"node {label_text(name)} occurs twice")
        nodes[name] = node
        open_node = None if node.rows else node
    return nodes


def _parents(node: _Node, axes: dict[str, StateAxis]) -> tuple[StateAxis, ...]:
    parents = []
    for name in node.parents:
        if name not in axes:
            raise wrong(
                node.line, f"{label_text(name)} is no node: {meant(name, [*axes]).rstrip('.')}"
            )
        parents.append(axes[name])
    return tuple(parents)


# --- Tables of nodes ------------------------------------------------------------------------------


def _table(axis: StateAxis, node: _Node, parents: tuple[StateAxis, ...]) -> Any:
    """The cells in the order of the states, every row given once."""
    rows = _rows(axis, node, parents)
    cells = np.empty((len(rows), len(axis.states)))
    for at, (line, row) in enumerate(rows):
        places = [_position(axis, state, line) for state, _ in row]
        if sorted(places) != list(range(len(axis.states))):
            raise wrong(line, f"a row of {label_text(axis.name)} names each of its states once")
        cells[at][places] = [probability for _, probability in row]
    _check_rows(axis, cells, [line for line, _ in rows])
    return cells.reshape([*(len(parent.states) for parent in parents), len(axis.states)])


def _check_rows(axis: StateAxis, cells: Floats, lines: Sequence[int]) -> None:
    """Probabilities in rows that sum to one, up to what building the node mends."""
    name = label_text(axis.name)
    outside = ~((cells >= 0) & (cells <= 1 + TOLERATED)).all(axis=1)
    if outside.any():
        line = lines[int(outside.argmax())]
        raise wrong(line, f"probabilities of {name} lie between 0 and 1")
    sums = cells.sum(axis=1)
    off = np.abs(sums - 1) > TOLERATED
    if off.any():
        first = int(off.argmax())
        raise wrong(
            lines[first],
            f"the probabilities of {name} sum to {sums[first]:g}, not to 1; correct that row, or "
            "divide it by its sum",
        )


def _function(axis: StateAxis, node: _Node, parents: tuple[StateAxis, ...]) -> Conditional:
    codes = []
    for line, row in _rows(axis, node, parents):
        if len(row) != 1 or not np.isnan(row[0][1]):
            raise wrong(line, "a row of a function is 'states of the parents: state'")
        codes.append(_position(axis, row[0][0], line))
    shape = [len(parent.states) for parent in parents]
    return _checked(node, Deterministic.from_codes, axis, parents, np.reshape(codes, shape))


def _noisy_or(axis: StateAxis, node: _Node, parents: tuple[StateAxis, ...]) -> Conditional:
    names = [parent.name for parent in parents]
    strengths: dict[str, float] = {}
    inactive: dict[str, Level] = {}
    active: dict[str, Level] = {}
    for number, (line, given, row) in enumerate(node.rows):
        name = str(given[0]) if given else ""
        is_leak = number == 0 and given == ("leak",)
        if len(row) != 1 or not (is_leak or (number > 0 and len(given) == 2 and name in names)):
            raise wrong(
                line,
                "a noisy or has a row 'leak: state probability' and then one for each parent, "
                "'parent, its inactive state: state probability'",
            )
        state, strength = row[0]
        if is_leak:
            leak, active[axis.name] = strength, state
            continue
        if name in strengths:
            raise wrong(line, f"the row of {label_text(name)} occurs twice")
        if _position(axis, state, line) != _position(axis, active[axis.name], line):
            raise wrong(line, "the state is that of the row of the leak")
        strengths[name], inactive[name] = strength, given[1]
    absent = [name for name in names if name not in strengths]
    if absent:
        raise wrong(node.line, f"node {label_text(axis.name)} has no row for {absent[0]}")
    ordered = [strengths[name] for name in names]
    return _checked(node, NoisyOr, axis, parents, ordered, leak, active, inactive)


_MAKERS: dict[str, Callable[..., Any]] = {
    "table": _table,
    "function": _function,
    "noisy or": _noisy_or,
}


def _rows(axis: StateAxis, node: _Node, parents: tuple[StateAxis, ...]) -> list[tuple[int, Row]]:
    """Line and row of each combination of the parents' states, in their order."""
    by_states: dict[tuple[int, ...], tuple[int, Row]] = {}
    for line, given, row in node.rows:
        if len(given) != len(parents):
            raise wrong(line, f"{len(given)} states for {len(parents)} parents")
        at = tuple(_position(p, s, line) for p, s in zip(parents, given, strict=True))
        if at in by_states:
            raise wrong(line, "the row of these states occurs twice")
        by_states[at] = (line, row)
    _checked(node, check_node_cells, axis, parents, "Make it a noisy or, or leave out parents.")
    ordered = []
    # Ends at the first row that is absent, so it takes no longer than the text has rows.
    for number, at in enumerate(itertools.product(*(range(len(p.states)) for p in parents))):
        if at not in by_states:
            where = row_text(parents, number)
            raise wrong(node.line, f"node {label_text(axis.name)} has no row for {where}")
        ordered.append(by_states[at])
    return ordered


def _position(axis: StateAxis, state: Level, line: int) -> int:
    try:
        return axis.position(state)
    except InputError as error:
        raise wrong(line, str(error).rstrip(".")) from None


def _checked(node: _Node, make: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return make(*arguments)
    except InputError as error:
        raise wrong(node.line, str(error).rstrip(".")) from None


# --- Words ----------------------------------------------------------------------------------------


def _head(tokens: list[Token], number: int) -> tuple[str, _Node]:
    """A node's first line: `name: row`, `name | parents` or `name | parents = kind: states`."""
    kind, name = tokens[0]
    node, rest = _Node(number), tokens[1:]
    if rest[:2] == [mark(","), ("word", "ordered")]:
        node.ordered, rest = True, rest[2:]
    if kind == "mark" or len(rest) < 2 or rest[0] not in (mark(":"), mark("|"), mark("=")):
        raise wrong(number, "a node is 'name: state probability, ...' or 'name | parent, ...'")
    if rest[0] == mark(":"):
        node.rows.append((number, (), pairs_of(rest[1:], number)))
        return name, node
    split = rest.index(mark("=")) if mark("=") in rest else len(rest)
    if split > 0:
        node.parents = [str(item[1]) for item in parts_of(rest[1:split], number)]
    if split < len(rest):
        _read_kind(node, rest[split + 1 :], number)
    return name, node


def _read_kind(node: _Node, tokens: list[Token], number: int) -> None:
    """What stands behind the equals sign of a compact node."""
    split = tokens.index(mark(":")) if mark(":") in tokens else len(tokens)
    node.kind = " ".join(str(text) for _, text in tokens[:split])
    node.listed = [value_of(item) for item in parts_of(tokens[split + 1 :], number)]
    if node.kind not in ("noisy or", "function") or not node.listed:
        raise wrong(number, "a compact node has '= noisy or: states' or '= function: states'")


def _add_row(node: _Node, tokens: list[Token], number: int) -> None:
    if mark(":") not in tokens:
        raise wrong(number, "a row is 'states of the parents: state probability, ...'")
    split = tokens.index(mark(":"))
    given = tuple(value_of(item) for item in parts_of(tokens[:split], number))
    behind = tokens[split + 1 :]
    if node.kind == "table" and len(given) != len(node.parents):
        raise wrong(number, f"{len(given)} states for {len(node.parents)} parents")
    if node.kind == "function":
        row: Row = [(value_of(item), np.nan) for item in parts_of(behind, number)]
    else:
        row = pairs_of(behind, number)
    node.rows.append((number, given, row))
