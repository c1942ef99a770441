"""XMLBIF 0.3.

    <VARIABLE TYPE="nature"><NAME>rain</NAME><OUTCOME>yes</OUTCOME><OUTCOME>no</OUTCOME></VARIABLE>
    <DEFINITION><FOR>wet</FOR><GIVEN>rain</GIVEN><TABLE>0.9 0.1 0.2 0.8</TABLE></DEFINITION>

The numbers of a table have the givens as first indices, in their order, and the variable last.
Properties are skipped. The declarations of elements that other programs write in front are
accepted; entities and references to other files are refused, so that a small file cannot grow
without bound or reach outside itself.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn
from xml.parsers import expat
from xml.sax.saxutils import escape

import numpy as np

from novum.core.errors import InputError
from novum.core.text import label_text
from novum.distributions import StateAxis, shown
from novum.graphical.formats.draft import (
    MAX_PARENTS,
    Draft,
    cut,
    file_error,
    text_states,
    unknown_name,
)
from novum.graphical.formats.scanning import numbers_text
from novum.graphical.models.conditional import Conditional
from novum.numerics import Floats

if TYPE_CHECKING:
    from novum.graphical.models.bayesian_network import BayesianNetwork

_MAX_DEPTH = 20
_NUMERIC = re.compile(r"[0-9eE+.\s-]*")
# Characters that XML 1.0 cannot hold, even as references.
_UNHOLDABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# Without declarations of elements, which pyAgrum's reader takes for an error.
_HEADER = """<?xml version="1.0" encoding="UTF-8"?>
<BIF VERSION="0.3">
<NETWORK>
<NAME>unknown</NAME>"""


def read(data: bytes, source: str) -> list[Conditional]:
    """The distributions of an XMLBIF file."""
    return _assembled(_Elements(data, source)).conditionals()


def written(network: BayesianNetwork, source: str) -> str:
    """A network as XMLBIF."""
    states = text_states(network, source)
    lines = [_HEADER]
    for item in network.conditionals:
        lines += ['<VARIABLE TYPE="nature">', f"  {_element('NAME', item.name, source)}"]
        lines += [f"  {_element('OUTCOME', state, source)}" for state in states[item.name]]
        lines.append("</VARIABLE>")
    for item in network.conditionals:
        lines += ["<DEFINITION>", f"  {_element('FOR', item.name, source)}"]
        lines += [f"  {_element('GIVEN', parent.name, source)}" for parent in item.parents]
        numbers, k = numbers_text(item.table), item.shape[-1]
        rows = [" ".join(numbers[at : at + k]) for at in range(0, len(numbers), k)]
        lines += ["  <TABLE>", *(f"    {row}" for row in rows), "  </TABLE>", "</DEFINITION>"]
    return "\n".join([*lines, "</NETWORK>", "</BIF>", ""])


def _element(tag: str, text: str, source: str) -> str:
    if _UNHOLDABLE.search(text):
        raise InputError(
            f"{source}: {label_text(text)} has a character that XML cannot hold. Rename it, or "
            "write .bif."
        )
    if text != text.strip():
        raise InputError(
            f"{source}: {label_text(text)} begins or ends with white space, which XMLBIF does not "
            "keep. Rename it, or write .bif."
        )
    # A bare carriage return would be read as a line end.
    return f"<{tag}>{escape(text, {chr(13): '&#13;'})}</{tag}>"


# --- Elements -------------------------------------------------------------------------------------


@dataclass
class _Part:
    """A VARIABLE or DEFINITION with the texts of its elements, each with its line and column."""

    tag: str
    line: int
    kind: str
    texts: dict[str, list[tuple[str, int, int]]] = field(default_factory=dict)

    def all(self, tag: str) -> list[tuple[str, int, int]]:
        return self.texts.get(tag, [])


class _Elements:
    """The parts of a file, found by expat."""

    def __init__(self, data: bytes, source: str) -> None:
        self.source = source
        self.parts: list[_Part] = []
        self._path: list[str] = []
        self._text: list[str] = []
        self._where = (1, 1)
        self._parser = parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text.append
        parser.StartDoctypeDeclHandler = self._doctype
        parser.EntityDeclHandler = self._entity
        parser.ExternalEntityRefHandler = self._external
        try:
            parser.Parse(data, True)
        except expat.ExpatError as error:
            reason = f"this is not well-formed XML: {expat.ErrorString(error.code)}."
            raise file_error(source, reason, error.lineno, error.offset + 1) from None
        except (LookupError, ValueError, UnicodeError) as error:
            if isinstance(error, InputError):
                raise
            reason = f"the encoding that the file declares cannot be read ({error})."
            raise file_error(source, reason, 1) from None

    def wrong(self, reason: str) -> NoReturn:
        line, column = self._parser.CurrentLineNumber, self._parser.CurrentColumnNumber + 1
        raise file_error(self.source, reason + ".", line, column)

    def _doctype(self, _name: str, system: str | None, public: str | None, _: int) -> None:
        if system is not None or public is not None:
            self.wrong("the file refers to a document type elsewhere, which is not followed")

    def _entity(self, *_: Any) -> None:
        self.wrong("the file declares an entity; networks need none, and hostile files use them")

    def _external(self, *_: Any) -> int:
        self.wrong("the file refers to another one, which is not followed")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        tag = tag.upper()
        if not self._path and tag != "BIF":
            self.wrong(f"expected the element BIF, found {cut(tag)}")
        self._path.append(tag)
        if len(self._path) > _MAX_DEPTH:
            self.wrong(f"elements are nested more than {_MAX_DEPTH} deep")
        self._text.clear()
        line, column = self._parser.CurrentLineNumber, self._parser.CurrentColumnNumber + 1
        self._where = (line, column)
        if self._path[1:] in (["NETWORK", "VARIABLE"], ["NETWORK", "DEFINITION"]):
            self.parts.append(_Part(tag, line, attributes.get("TYPE", "nature").lower()))
        elif len(self._path) == 2 and tag != "NETWORK":
            self.wrong(f"expected the element NETWORK, found {cut(tag)}")

    def _end(self, _: str) -> None:
        path = self._path
        if len(path) == 4 and path[2] in ("VARIABLE", "DEFINITION"):
            text = "".join(self._text).strip()
            self.parts[-1].texts.setdefault(path[3], []).append((text, *self._where))
        self._text.clear()
        path.pop()


# --- Meaning --------------------------------------------------------------------------------------


def _assembled(elements: _Elements) -> Draft:
    source, axes = elements.source, {}
    for part in elements.parts:
        if part.tag == "VARIABLE":
            axis = _axis(part, source)
            if axis.name in axes:
                reason = f"variable {label_text(axis.name)} occurs twice."
                raise file_error(source, reason, part.line)
            axes[axis.name] = axis
    numbers = {name: number for number, name in enumerate(axes)}
    tables: dict[str, tuple[list[int], Floats]] = {}
    lines: dict[str, int] = {}
    for part in elements.parts:
        if part.tag == "DEFINITION":
            name = _one(part, "FOR", source, numbers)
            if name in tables:
                reason = f"the definition of {label_text(name)} occurs twice."
                raise file_error(source, reason, part.line)
            lines[name] = (part.all("TABLE") or [("", part.line, 0)])[0][1]
            tables[name] = _table(part, name, list(axes.values()), numbers, source)
    for part in elements.parts:
        if part.tag == "VARIABLE" and (name := _one(part, "NAME", source, None)) not in tables:
            raise file_error(source, f"variable {label_text(name)} has no DEFINITION.", part.line)
    ordered = [tables[name] for name in axes]
    cells = np.concatenate([table for _, table in ordered]) if ordered else np.empty(0)
    starts = [lines[name] for name in axes]
    parents = [up for up, _ in ordered]
    return Draft(source, list(axes.values()), parents, cells, lambda variable, _: starts[variable])


def _axis(part: _Part, source: str) -> StateAxis:
    if part.kind != "nature":
        reason = f"a variable of type {cut(part.kind)} is not read; networks have 'nature' only."
        raise file_error(source, reason, part.line)
    name = _one(part, "NAME", source, None)
    states: dict[str, None] = {}
    for state, line, column in part.all("OUTCOME"):
        if state in states or not state:
            what = f"outcome {shown(state)} of {label_text(name)} occurs twice"
            reason = f"{what}." if state else f"an outcome of {label_text(name)} is empty."
            raise file_error(source, reason, line, column)
        states[state] = None
    if not states:
        raise file_error(source, f"variable {label_text(name)} has no OUTCOME.", part.line)
    return StateAxis(name, tuple(states))


def _one(part: _Part, tag: str, source: str, known: dict[str, int] | None) -> str:
    """The text of an element that occurs once."""
    texts = part.all(tag)
    if len(texts) != 1 or not texts[0][0]:
        reason = f"{part.tag} needs one {tag}, found {len(texts)}."
        raise file_error(source, reason, part.line)
    name, line, column = texts[0]
    if known is not None and name not in known:
        raise file_error(source, unknown_name("variable", name, known), line, column)
    return name


def _table(
    part: _Part, name: str, axes: list[StateAxis], numbers: dict[str, int], source: str
) -> tuple[list[int], Floats]:
    parents: list[int] = []
    for given, line, column in part.all("GIVEN"):
        if given not in numbers:
            raise file_error(source, unknown_name("variable", given, numbers), line, column)
        if numbers[given] in parents or given == name:
            reason = f"{label_text(given)} stands twice in the definition of {label_text(name)}."
            raise file_error(source, reason, line, column)
        parents.append(numbers[given])
    if len(parents) > MAX_PARENTS:
        reason = f"{label_text(name)} has {len(parents)} givens; {MAX_PARENTS} is the limit."
        raise file_error(source, reason, part.line)
    text = _one(part, "TABLE", source, None)
    _, line, column = part.all("TABLE")[0]
    words = text.split()
    needed = math.prod([len(axes[v].states) for v in [*parents, numbers[name]]])
    if len(words) != needed:
        reason = f"{len(words)} numbers for {label_text(name)}, {needed} are needed."
        raise file_error(source, reason, line, column)
    try:
        if not _NUMERIC.fullmatch(text):
            raise ValueError
        return parents, np.array(list(map(float, words)))
    except ValueError:
        bad = next(word for word in words if not _is_number(word))
        reason = f"expected a number in the table of {label_text(name)}, found {cut(bad)}."
        raise file_error(source, reason, line, column) from None


def _is_number(word: str) -> bool:
    try:
        return _NUMERIC.fullmatch(word) is not None and float(word) is not None
    except ValueError:
        return False
