"""Tokens of a text file, with the line and column of each.

A token is a mark (`{`, `(`, `,` ...), a word or a name in double quotes; white space and comments
between them are skipped. What separates tokens is a regular expression of the format, so that
reading takes time in proportion to the length of the file.
"""

from __future__ import annotations

import re
from typing import NoReturn

import numpy as np

from novum.core.errors import FileFormatError
from novum.graphical.formats.draft import cut, file_error

MARK, WORD, QUOTED, END = "mark", "word", "quoted", "end"
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def token_pattern(marks: str, comment: str, opener: str) -> re.Pattern[str]:
    """What a token of a format looks like.

    Parameters
    ----------
    marks : str
        Single characters that are tokens themselves, escaped for use in brackets.
    comment : str
        Pattern of a comment that ends.
    opener : str
        Pattern of what begins a comment, which therefore ends a word.
    """
    return re.compile(
        rf"(?:\s+|{comment})*+"
        rf'(?:(?P<mark>[{marks}])|"(?P<quoted>(?:[^"\\]|\\.)*+)"'
        rf'|(?P<word>(?:(?!{opener})[^\s{marks}"])++)|(?P<broken>.)|(?P<end>\Z))',
        re.DOTALL,
    )


class Scanner:
    """The tokens of a text, one at a time.

    Attributes
    ----------
    kind, value : str
        The current token.
    place : int
        Where it begins, in characters.
    """

    def __init__(self, text: str, source: str, pattern: re.Pattern[str]) -> None:
        self.text = text
        self.source = source
        self._pattern = pattern
        self._end = 0
        self.advance()

    def advance(self) -> str:
        """Moves on; returns the value of the token that was current."""
        passed = getattr(self, "value", "")
        match = self._pattern.match(self.text, self._end)
        assert match is not None
        kind = match.lastgroup or END
        self.kind, self.value = kind, match[kind]
        self.place, self._end = match.start(kind), match.end()
        if kind == "broken":
            what = "quotes that do not close" if self.value == '"' else "a comment without an end"
            self.wrong(what)
        if kind == QUOTED and "\\" in self.value:
            self.value = _ESCAPE.sub(lambda m: _ESCAPED.get(m[1], m[1]), self.value)
        return passed

    def at(self, *values: str) -> bool:
        """Whether the current token is one of these marks or words."""
        return self.kind in (MARK, WORD) and self.value in values

    def skip(self, value: str) -> bool:
        """Moves past a mark or word if it is there."""
        if self.at(value):
            self.advance()
            return True
        return False

    def expect(self, value: str) -> None:
        """Moves past a mark or word that must be there."""
        if not self.skip(value):
            self.wrong(f"expected {value!r}, found {self.found()}")

    def name(self, what: str) -> str:
        """A word or quoted name."""
        if self.kind not in (WORD, QUOTED) or not self.value:
            self.wrong(f"expected {what}, found {self.found()}")
        return self.advance()

    def count(self, what: str) -> int:
        """A whole number of at most nine digits."""
        if self.kind != WORD or not re.fullmatch("[0-9]{1,9}", self.value):
            self.wrong(f"expected {what}, found {self.found()}")
        return int(self.advance())

    def number(self) -> float:
        if self.kind != WORD or not _NUMBER.fullmatch(self.value):
            self.wrong(f"expected a number, found {self.found()}")
        return float(self.advance())

    def found(self) -> str:
        """The current token in words."""
        return "the end of the file" if self.kind == END else cut(self.value)

    def wrong(self, reason: str, place: int | None = None) -> NoReturn:
        """Refuses the file at a place, the current token's by default."""
        raise self.error(reason, place)

    def error(self, reason: str, place: int | None = None) -> FileFormatError:
        at = self.place if place is None else place
        line = self.line_at(at)
        column = at - self.text.rfind("\n", 0, at)
        # Suggestions of names end in a question mark.
        end = "" if reason.endswith(("?", ".")) else "."
        return file_error(self.source, reason + end, line, column)

    def line_at(self, place: int) -> int:
        """The number of the line in which a place lies."""
        return self.text.count("\n", 0, place) + 1


def quoted(text: str) -> str:
    """A name in double quotes, as `Scanner` reads it."""
    return '"' + "".join(_ESCAPES.get(character, character) for character in text) + '"'


def numbers_text(cells: np.ndarray) -> list[str]:
    """Numbers as the shortest text that reads back to the same bits."""
    return [repr(cell) for cell in cells.ravel().tolist()]
