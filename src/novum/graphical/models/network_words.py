"""The words of a network's text: names in quotes where needed, states, numbers and marks.

A state is text, a number or a truth value. Text that would read as something else stands in quotes,
so that every name and state comes back as what it was.
"""

from __future__ import annotations

import re
from typing import Any

from novum.core.errors import FileFormatError
from novum.core.tables import Level
from novum.core.text import printable

_PLAIN = re.compile(r"[^\W\d][\w.<>+/-]*|[<>][\w.<>+/-]*")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_WHOLE = re.compile(r"[+-]?\d+", re.ASCII)
_TOKEN = re.compile(
    r'\s*(?:(?P<comment>#.*)|(?P<quoted>"(?:[^"\\]|\\.)*")|(?P<mark>[:|,=])'
    r"|(?P<word>[\w.<>+/-]+)|(?P<rest>\S))",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL)
_WORDS: dict[str, Level] = {"True": True, "False": False}
# Python reads no longer ones.
_MAX_DIGITS = 4000
LINES = re.compile(r"\r\n|\n|\r")

Token = tuple[str, Any]
Row = list[tuple[Level, float]]


def quoted(name: str) -> str:
    """A name as it is, or in quotes where it would read as something else.

    Examples
    --------
    >>> print(quoted("rain"), quoted("heavy rain"), quoted("1"), quoted("True"))
    rain "heavy rain" "1" "True"
    """
    if _PLAIN.fullmatch(name) and name not in _WORDS:
        return name
    escaped = "".join(f"\\{c}" if c in '"\\' else _escaped(c) for c in name)
    return f'"{escaped}"'


def _escaped(character: str) -> str:
    if character.isprintable():
        return character
    code = ord(character)
    return "\\n" if character == "\n" else f"\\u{code:04x}" if code < 2**16 else f"\\U{code:08x}"


def state_text(state: Level) -> str:
    """A state as it reads back: text as a name, all others as themselves."""
    return quoted(state) if isinstance(state, str) else repr(state)


# --- Reading --------------------------------------------------------------------------------------


def tokens_of(line: str, number: int) -> list[Token]:
    """The words and marks of a line, with `number` for messages."""
    tokens: list[Token] = []
    bare = line.rstrip()
    place = 0
    while place < len(bare):
        match = _TOKEN.match(bare, place)
        if match is None or match["comment"]:
            break
        if match["rest"]:
            unclosed = ": its quote is not closed" if match["rest"] == '"' else "; quote names"
            raise wrong(number, f"{printable(match['rest'])!r} is not expected{unclosed}")
        if match["mark"]:
            tokens.append(("mark", match["mark"]))
        elif match["quoted"]:
            tokens.append(("name", _unquoted(match["quoted"], number)))
        elif len(match["word"]) > _MAX_DIGITS and _WHOLE.fullmatch(match["word"]):
            raise wrong(number, f"a whole number of {len(match['word'])} digits is too long")
        else:
            tokens.append(("word", match["word"]))
        place = match.end()
    return tokens


def _unquoted(text: str, number: int) -> str:
    def character(match: re.Match[str]) -> str:
        code = match[1]
        if len(code) == 1:
            return "\n" if code == "n" else code
        if int(code[1:], 16) > 0x10FFFF:
            raise wrong(number, f"there is no character {code}")
        return chr(int(code[1:], 16))

    return _ESCAPE.sub(character, text[1:-1])


def mark(character: str) -> Token:
    """The token of a mark."""
    return ("mark", character)


def pairs_of(tokens: list[Token], number: int) -> Row:
    """States with their probabilities."""
    row: Row = []
    for place in range(0, len(tokens), 3):
        part = tokens[place : place + 3]
        if len(part) < 2 or part[0][0] == "mark" or (len(part) == 3 and part[2] != mark(",")):
            raise wrong(number, "probabilities are 'state number, state number, ...'")
        kind, text = part[1]
        if kind != "word" or not _NUMBER.fullmatch(text):
            raise wrong(number, f"{printable(str(text), 40)!r} is no probability")
        row.append((value_of(part[0]), float(text)))
    if not row:
        raise wrong(number, "probabilities are 'state number, state number, ...'")
    return row


def parts_of(tokens: list[Token], number: int) -> list[Token]:
    """What commas separate."""
    values, commas = tokens[::2], tokens[1::2]
    if any(kind == "mark" for kind, _ in values) or any(t != mark(",") for t in commas):
        raise wrong(number, "items are separated by commas")
    return values


def value_of(token: Token) -> Level:
    """A state: text in quotes or a word; numbers and True and False as themselves."""
    kind, text = token
    if kind == "name":
        return str(text)
    if text in _WORDS:
        return _WORDS[text]
    if _WHOLE.fullmatch(text):
        return int(text)
    return float(text) if _NUMBER.fullmatch(text) else str(text)


def wrong(number: int, reason: str) -> FileFormatError:
    """The error of a line."""
    return FileFormatError(f"Line {number} of the network's text: {reason}.", line=number)
