"""Networks as text that people write.

    Burglary: true 0.001, false 0.999
    Earthquake: true 0.002, false 0.998
    Alarm | Burglary, Earthquake
        true, true:   true 0.95, false 0.05
        true, false:  true 0.94, false 0.06
        false, true:  true 0.29, false 0.71
        false, false: true 0.001, false 0.999

A node without parents takes one line. One with parents has a line for each combination of their
states, indented. Names and states with other characters than letters, digits and `_ . < > - + /`
stand in double quotes, with backslash before a quote and `\\n`, `\\u2028` for characters that break
lines. Words that are numbers, True or False are states of that kind; in quotes they are text. `#`
begins a comment.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from novum.core.errors import FileFormatError, InputError
from novum.core.schema import Level
from novum.core.text import label_text, meant, printable
from novum.distributions.joint_table_states import StateAxis
from novum.graphical.models.conditional import row_text, rows_of_states

if TYPE_CHECKING:
    from novum.graphical.models.bayesian_network import BayesianNetwork

_PLAIN = re.compile(r"[^\W\d][\w.<>+/-]*|[<>][\w.<>+/-]*")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_WHOLE = re.compile(r"[+-]?\d+", re.ASCII)
_TOKEN = re.compile(
    r'\s*(?:(?P<comment>#.*)|(?P<quoted>"(?:[^"\\]|\\.)*")|(?P<mark>[:|,])'
    r"|(?P<word>[\w.<>+/-]+)|(?P<rest>\S))",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL)
_WORDS: dict[str, Level] = {"True": True, "False": False}
_LINES = re.compile(r"\r\n|\n|\r")

Token = tuple[str, Any]
Row = list[tuple[Level, float]]


def written(network: BayesianNetwork) -> str:
    """A network as text."""
    lines = []
    for item in network.conditionals:
        states = item.variable.states
        if not item.parents:
            lines.append(f"{_quoted(item.name)}: {_row(states, item.table)}")
            continue
        parents = ", ".join(_quoted(parent.name) for parent in item.parents)
        lines.append(f"{_quoted(item.name)} | {parents}")
        rows = item.table.reshape(-1, len(states))
        for combination, row in zip(rows_of_states(item.parents), rows, strict=True):
            given = ", ".join(_state(state) for state in combination)  # type: ignore[arg-type]
            lines.append(f"    {given}: {_row(states, row)}")
    return "\n".join(lines) + "\n"


def _row(states: tuple[Level, ...], row: Any) -> str:
    pairs = zip(states, row.tolist(), strict=True)
    return ", ".join(f"{_state(state)} {number!r}" for state, number in pairs)


def _quoted(name: str) -> str:
    if _PLAIN.fullmatch(name) and name not in _WORDS:
        return name
    escaped = "".join(f"\\{c}" if c in '"\\' else _escaped(c) for c in name)
    return f'"{escaped}"'


def _escaped(character: str) -> str:
    if character.isprintable():
        return character
    code = ord(character)
    return "\\n" if character == "\n" else f"\\u{code:04x}" if code < 2**16 else f"\\U{code:08x}"


def _state(state: Level) -> str:
    return _quoted(state) if isinstance(state, str) else repr(state)


# --- Reading --------------------------------------------------------------------------------------


@dataclass
class _Node:
    """A node as far as it is read.

    Attributes
    ----------
    line : int
        Where it begins.
    rows : list of (line, states of the parents, probabilities by state)
    """

    line: int
    parents: list[str] | None = None
    rows: list[tuple[int, tuple[Level, ...], Row]] = field(default_factory=list)

    @property
    def states(self) -> list[Level]:
        """As the first row lists them."""
        return [state for state, _ in self.rows[0][2]]


def parsed(text: str) -> dict[str, dict[str, Any]]:
    """The nodes as nested dicts, as `BayesianNetwork.from_dict` takes them."""
    if not isinstance(text, str):
        raise InputError(f"A network's text is text, got {label_text(text)}.")
    nodes = _read(text.removeprefix("\ufeff"))
    axes: dict[str, StateAxis] = {}
    for name, node in nodes.items():
        if not node.rows:
            raise _wrong(
                node.line,
                f"node {label_text(name)} has parents and no rows; indent a row for each "
                "combination of their states below it",
            )
        try:
            axes[name] = StateAxis(name, tuple(node.states))
        except InputError as error:
            raise _wrong(node.rows[0][0], str(error).rstrip(".")) from None
    return {
        name: {
            "states": axes[name].states,
            "parents": node.parents or [],
            "table": _table(axes[name], node, axes),
        }
        for name, node in nodes.items()
    }


def _read(text: str) -> dict[str, _Node]:
    nodes: dict[str, _Node] = {}
    open_node: _Node | None = None
    for number, line in enumerate(_LINES.split(text), 1):
        tokens = _tokens(line, number)
        if not tokens:
            continue
        if line[0].isspace():
            if open_node is None:
                raise _wrong(number, "an indented row belongs to no node with parents")
            _add_row(open_node, tokens, number)
            continue
        name, node = _head(tokens, number)
        if name in nodes:
            raise _wrong(number, f"node {label_text(name)} occurs twice")
        nodes[name] = node
        open_node = node if node.parents is not None else None
    return nodes


def _table(axis: StateAxis, node: _Node, axes: dict[str, StateAxis]) -> Any:
    """The cells in the order of the states, every row given once."""
    parents = []
    for name in node.parents or []:
        if name not in axes:
            raise _wrong(
                node.line, f"{label_text(name)} is no node: {meant(name, [*axes]).rstrip('.')}"
            )
        parents.append(axes[name])
    cells = np.full([*(len(parent.states) for parent in parents), len(axis.states)], np.nan)
    for line, given, row in node.rows:
        try:
            at = tuple(p.position(s) for p, s in zip(parents, given, strict=True))
            places = [axis.position(state) for state, _ in row]
        except InputError as error:
            raise _wrong(line, str(error).rstrip(".")) from None
        if sorted(places) != list(range(len(axis.states))):
            raise _wrong(line, f"a row of {label_text(axis.name)} names each of its states once")
        if not np.isnan(cells[at]).all():
            raise _wrong(line, "the row of these states occurs twice")
        cells[at][places] = [probability for _, probability in row]
    absent = np.flatnonzero(np.isnan(cells).any(axis=-1))
    if absent.size:
        where = row_text(tuple(parents), int(absent[0]))
        raise _wrong(node.line, f"node {label_text(axis.name)} has no row for {where}")
    return cells


def _tokens(line: str, number: int) -> list[Token]:
    found: list[Token] = []
    bare = line.rstrip()
    place = 0
    while place < len(bare):
        match = _TOKEN.match(bare, place)
        if match is None or match["comment"]:
            break
        if match["rest"]:
            unclosed = ": its quote is not closed" if match["rest"] == '"' else "; quote names"
            raise _wrong(number, f"{printable(match['rest'])!r} is not expected{unclosed}")
        if match["mark"]:
            found.append(("mark", match["mark"]))
        elif match["quoted"]:
            found.append(("name", _unquoted(match["quoted"], number)))
        else:
            found.append(("word", match["word"]))
        place = match.end()
    return found


def _unquoted(text: str, number: int) -> str:
    def character(match: re.Match[str]) -> str:
        code = match[1]
        if len(code) == 1:
            return "\n" if code == "n" else code
        if int(code[1:], 16) > 0x10FFFF:
            raise _wrong(number, f"there is no character {code}")
        return chr(int(code[1:], 16))

    return _ESCAPE.sub(character, text[1:-1])


def _head(tokens: list[Token], number: int) -> tuple[str, _Node]:
    """A node's first line: `name: row`, or `name | parents`."""
    kind, name = tokens[0]
    if kind == "mark" or len(tokens) < 3 or tokens[1] not in (("mark", ":"), ("mark", "|")):
        raise _wrong(number, "a node is 'name: state probability, ...' or 'name | parent, ...'")
    if tokens[1] == ("mark", ":"):
        return name, _Node(number, None, [(number, (), _pairs(tokens[2:], number))])
    return name, _Node(number, [str(item[1]) for item in _parts(tokens[2:], number)])


def _add_row(node: _Node, tokens: list[Token], number: int) -> None:
    if ("mark", ":") not in tokens:
        raise _wrong(number, "a row is 'states of the parents: state probability, ...'")
    split = tokens.index(("mark", ":"))
    given = tuple(_value(item) for item in _parts(tokens[:split], number))
    wanted = len(node.parents or ())
    if len(given) != wanted:
        raise _wrong(number, f"{len(given)} states for {wanted} parents")
    node.rows.append((number, given, _pairs(tokens[split + 1 :], number)))


def _pairs(tokens: list[Token], number: int) -> Row:
    row: Row = []
    for place in range(0, len(tokens), 3):
        part = tokens[place : place + 3]
        if len(part) < 2 or part[0][0] == "mark" or (len(part) == 3 and part[2] != ("mark", ",")):
            raise _wrong(number, "probabilities are 'state number, state number, ...'")
        kind, text = part[1]
        if kind != "word" or not _NUMBER.fullmatch(text):
            raise _wrong(number, f"{printable(str(text))!r} is no probability")
        row.append((_value(part[0]), float(text)))
    if not row:
        raise _wrong(number, "probabilities are 'state number, state number, ...'")
    return row


def _parts(tokens: list[Token], number: int) -> list[Token]:
    values, commas = tokens[::2], tokens[1::2]
    if any(kind == "mark" for kind, _ in values) or any(t != ("mark", ",") for t in commas):
        raise _wrong(number, "items are separated by commas")
    return values


def _value(token: Token) -> Level:
    """A state: text in quotes or a word; numbers and True and False as themselves."""
    kind, text = token
    if kind == "name":
        return str(text)
    if text in _WORDS:
        return _WORDS[text]
    if _WHOLE.fullmatch(text):
        return int(text)
    return float(text) if _NUMBER.fullmatch(text) else str(text)


def _wrong(number: int, reason: str) -> FileFormatError:
    return FileFormatError(f"Line {number} of the network's text: {reason}.")
