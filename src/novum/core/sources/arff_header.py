"""The head of an ARFF file: `@relation`, `@attribute` declarations, `@data`.

    @attribute name numeric | real | integer
    @attribute name {level, 'level with blanks', ...}
    @attribute name string | date ["format"]

Keywords are case-insensitive, `%` begins a comment, and names and levels may stand in single or
double quotes with backslash escapes. Relational attributes are refused.
"""

from __future__ import annotations

from dataclasses import dataclass

from novum.core.errors import FileFormatError
from novum.core.sources.limits import LIMITS, Limits
from novum.core.sources.report import printable

_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}
_NUMERIC = ("numeric", "real", "integer")


@dataclass(frozen=True)
class Attribute:
    """One declaration: `type` is numeric, nominal, string or date; `levels` of nominal ones."""

    name: str
    type: str
    levels: tuple[str, ...] = ()
    line: int = 0


def parse_attribute(text: str, line: int, limits: Limits = LIMITS) -> Attribute:
    """One declaration, without its keyword.

    Examples
    --------
    >>> parse_attribute("'tear rate' {reduced, normal}", 3).levels
    ('reduced', 'normal')
    """
    name, rest = read_token(text.strip(), 0, line, stops=" \t{")
    declared = text.strip()[rest:].strip()
    if not name:
        raise FileFormatError(f"Line {line}: an attribute has no name.", line=line)
    if declared.startswith("{"):
        return Attribute(name, "nominal", _levels(name, declared, line, limits), line)
    word = declared.split(None, 1)[0].lower() if declared else ""
    if word in _NUMERIC:
        return Attribute(name, "numeric", line=line)
    if word in ("string", "date"):
        return Attribute(name, word, line=line)
    if word == "relational":
        raise FileFormatError(
            f"Line {line}: attribute {printable(name)!r} is relational, a table within a cell, "
            "which is not read. Store the inner table in a file of its own.",
            line=line,
        )
    raise FileFormatError(
        f"Line {line}: attribute {printable(name)!r} has the type {printable(declared, 40)!r}; "
        "known are numeric, real, integer, string, date and {level, ...}.",
        line=line,
    )


def read_token(text: str, start: int, line: int, stops: str) -> tuple[str, int]:
    """The word at `start`, unquoted, and the position after it; an open quote is refused."""
    if start < len(text) and text[start] in "'\"":
        return _quoted(text, start, line)
    end = start
    while end < len(text) and text[end] not in stops:
        end += 1
    return text[start:end].strip(), end


def _quoted(text: str, start: int, line: int) -> tuple[str, int]:
    quote, parts, at = text[start], [], start + 1
    while at < len(text):
        sign = text[at]
        if sign == "\\" and at + 1 < len(text):
            parts.append(_ESCAPES.get(text[at + 1], text[at + 1]))
            at += 2
        elif sign == quote:
            return "".join(parts), at + 1
        else:
            parts.append(sign)
            at += 1
    raise FileFormatError(
        f"Line {line}: the {quote} in column {start + 1} is never closed.",
        line=line,
        column=start + 1,
    )


def _levels(name: str, declared: str, line: int, limits: Limits) -> tuple[str, ...]:
    if declared.count(",") >= limits.levels:
        raise FileFormatError(
            f"Line {line}: attribute {printable(name)!r} declares more than {limits.levels:,} "
            "levels: it is an identifier. Declare it as string and leave it out by `columns=`.",
            line=line,
        )
    if declared.endswith("}") and not any(sign in declared for sign in "'\"\\"):
        words = [word.strip() for word in declared[1:-1].split(",")]
        return _checked_levels(name, [word for word in words if word], line)
    levels: list[str] = []
    at = 1
    while True:
        while at < len(declared) and declared[at] in " \t":
            at += 1
        quoted = at < len(declared) and declared[at] in "'\""
        level, at = read_token(declared, at, line, stops=",}")
        while at < len(declared) and declared[at] in " \t":
            at += 1
        if at >= len(declared) or declared[at] not in ",}":
            raise FileFormatError(
                f"Line {line}: the levels of attribute {printable(name)!r} are not closed by }} "
                "or not separated by commas.",
                line=line,
            )
        if level or quoted:
            levels.append(level)
        if declared[at] == "}":
            return _checked_levels(name, levels, line)
        at += 1


def _checked_levels(name: str, levels: list[str], line: int) -> tuple[str, ...]:
    if not levels or len(set(levels)) != len(levels):
        what = "a level twice" if levels else "no levels"
        raise FileFormatError(
            f"Line {line}: attribute {printable(name)!r} declares {what}. List each level once.",
            line=line,
        )
    return tuple(levels)
