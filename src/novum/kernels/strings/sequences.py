"""Strings as codes: what counts as a string, and which symbols are the same.

A string is text, bytes, or a sequence of hashable symbols. The symbols of text are its characters
(code points, as they stand: nothing is folded or normalized), those of bytes are the numbers 0 to
255. Symbols are the same when Python says that they are equal, so "ab" is also ["a", "b"].

    strings  ->  codes 0, 1, ... of their symbols, one string after the other

An alphabet is never changed. New strings bring their own symbols by an alphabet that extends the
one of the training: the codes known stay as they are, and a new symbol equals no known one.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.core.text import label_text, listed
from novum.numerics import Array, Codes, Integers

# --- Values ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Alphabet:
    """Symbols and their codes.

    Parameters
    ----------
    codes : dict
        Code of every symbol, in the order of the codes.
    base : Alphabet, optional
        The alphabet that this one extends.
    """

    codes: dict[Hashable, int]
    base: Alphabet | None = None

    def __len__(self) -> int:
        return len(self.codes)

    def extends(self, other: Alphabet) -> bool:
        """Whether all codes of `other` mean the same here."""
        return self is other or (self.base is not None and self.base.extends(other))

    def extended(self, symbols: Iterable[Hashable]) -> Alphabet:
        """This alphabet with further symbols; itself where there are none."""
        new = [symbol for symbol in symbols if symbol not in self.codes]
        if not new:
            return self
        numbered = zip(new, range(len(self), len(self) + len(new)), strict=True)
        return Alphabet({**self.codes, **dict(numbered)}, self)


@dataclass(frozen=True, eq=False)
class CodedStrings:
    """Strings one after the other.

    Parameters
    ----------
    codes : int32 array (total length,)
    starts : int64 array (n + 1,)
        Where each string starts, and where the last one ends.
    alphabet : Alphabet
    """

    codes: Codes
    starts: Integers
    alphabet: Alphabet

    def __len__(self) -> int:
        return self.starts.size - 1

    @property
    def lengths(self) -> Integers:
        return np.diff(self.starts)


# --- Reading --------------------------------------------------------------------------------------


def coded_strings(X: Any, kernel: str, like: Alphabet | None = None) -> CodedStrings:
    """The strings of `X` in codes.

    Parameters
    ----------
    X : sequence of strings
        A list, an array, or a column of a frame.
    kernel : str
        Who asks, for messages.
    like : Alphabet, optional
        Symbols that keep their codes.

    Examples
    --------
    >>> strings = coded_strings(["abc", "", "ca"], "Spectrum")
    >>> strings.codes.tolist(), strings.starts.tolist()
    ([0, 1, 2, 2, 0], [0, 3, 3, 5])
    >>> more = coded_strings(["xa"], "Spectrum", strings.alphabet)
    >>> more.codes.tolist(), more.alphabet.extends(strings.alphabet)
    ([3, 0], True)
    """
    items = _items(X, kernel)
    alphabet = Alphabet({}) if like is None else like
    if all(isinstance(item, str) for item in items):
        codes, alphabet = _characters(items, alphabet)
    elif all(isinstance(item, bytes | bytearray) for item in items):
        octets = np.frombuffer(b"".join(items), np.uint8)
        codes, alphabet = _looked_up(octets, alphabet, int)
    else:
        items = [_symbols(item, i, kernel) for i, item in enumerate(items)]
        alphabet = alphabet.extended(dict.fromkeys(chain.from_iterable(items)))
        codes = np.fromiter((alphabet.codes[s] for s in chain.from_iterable(items)), np.int32)
    starts = np.zeros(len(items) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, items), np.int64, len(items)), out=starts[1:])
    return CodedStrings(codes, starts, alphabet)


def _characters(texts: list[str], alphabet: Alphabet) -> tuple[Codes, Alphabet]:
    joined = "".join(texts)
    if joined.isascii():
        points: Array = np.frombuffer(joined.encode("ascii"), np.uint8)
    else:
        # Halves of surrogate pairs are no valid text, but they are symbols like any other.
        points = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), np.uint32)
    return _looked_up(points, alphabet, chr)


def _looked_up(
    points: Array, alphabet: Alphabet, symbol_of: type[int] | Any
) -> tuple[Codes, Alphabet]:
    """Codes of small numbers by a table; `symbol_of` gives the symbol of a number."""
    if not points.size:
        return np.empty(0, np.int32), alphabet
    seen = np.flatnonzero(np.bincount(points))
    table = np.zeros(seen[-1] + 1, np.int32)
    symbols = [symbol_of(point) for point in seen.tolist()]
    alphabet = alphabet.extended(symbols)
    table[seen] = [alphabet.codes[symbol] for symbol in symbols]
    return table.take(points), alphabet


def _symbols(item: Any, position: int, kernel: str) -> Sequence[Hashable]:
    """The symbols of one string, each of which can be compared with others."""
    symbols = item.tolist() if isinstance(item, np.ndarray) else item
    for place, symbol in enumerate(symbols):
        where = f"{kernel}: symbol {place} of the string at position {position}"
        try:
            hash(symbol)
        except TypeError:
            raise InputError(
                f"{where} is {label_text(symbol)}, which is not hashable. "
                "Use text, numbers or tuples as symbols."
            ) from None
        if not _equals_itself(symbol):
            raise InputError(
                f"{where} is {label_text(symbol)}, which equals nothing, not even itself. "
                "Leave it out, or put a symbol of your own in its place."
            )
    return symbols


def _equals_itself(symbol: Hashable) -> bool:
    try:
        return bool(symbol == symbol)
    except (TypeError, ValueError):
        # Marks of missing values are neither true nor false.
        return False


# --- Checks ---------------------------------------------------------------------------------------


def _items(X: Any, kernel: str) -> list[Any]:
    if isinstance(X, str | bytes | bytearray):
        raise InputError(
            f"{kernel} compares strings with each other, got the one string {label_text(X, 30)}. "
            f"Pass a list of strings, such as [{label_text(X, 30)}]."
        )
    _refuse_table(X, kernel)
    if hasattr(X, "to_pylist"):
        X = X.to_pylist()
    try:
        items = list(X)
    except TypeError:
        raise InputError(
            f"{kernel} takes a sequence of strings, got {type(X).__name__}. Pass a list of strings."
        ) from None
    for position, item in enumerate(items):
        if type(item) is not str and not _is_string(item):
            raise InputError(
                f"{kernel} compares strings, that is text, bytes or sequences of symbols; "
                f"got {label_text(item)} at position {position}. {_advice(item)}"
            )
    return items


def _refuse_table(X: Any, kernel: str) -> None:
    shape = getattr(X, "shape", ())
    # Rows of integers are sequences of symbols; rows of text are rather a table.
    of_symbols = isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "iub"
    if len(shape) < 2 or of_symbols:
        return
    names = [str(name) for name in getattr(X, "column_names", getattr(X, "columns", ()))]
    raise InputError(
        f"{kernel} takes one sequence of strings, got {type(X).__name__} of shape "
        f"{tuple(int(size) for size in shape)}"
        + (f" with the columns {listed(names)}. " if names else ". ")
        + "Pass one of its columns, or rows as lists of symbols (X.tolist())."
    )


def _is_string(item: Any) -> bool:
    if isinstance(item, np.ndarray):
        return item.ndim == 1
    return isinstance(item, Sequence) and not isinstance(item, memoryview)


def _advice(item: Any) -> str:
    if item is None or item is np.ma.masked or type(item).__name__ in ("NAType", "NaTType"):
        return "Drop missing strings, or put '' in their place."
    if isinstance(item, float) and item != item:
        return "Drop missing strings, or put '' in their place."
    if isinstance(item, set | frozenset | dict):
        return "Give it an order: make it a list."
    if isinstance(item, int | float | complex | np.number):
        return (
            "Write a number as text (str) if its digits are meant, "
            "or use a kernel on vectors, such as Gaussian."
        )
    return "Make it a list of hashable symbols."
