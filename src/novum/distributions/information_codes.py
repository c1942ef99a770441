"""Code lengths: what the entropy says about the shortest description of symbols.

    Kraft       a prefix code with word lengths l_i over D letters exists iff  sum D^-l_i <= 1
    Shannon     l_i = ceil(-log_D p_i)                                H <= E[l] < H + 1
    Huffman     joins the two least probable symbols until one is left: no prefix code is shorter

Kraft's sum is computed in exact fractions. Words are assigned in canonical order (by length, then
by position), so that the lengths alone determine the code.

References
----------
Cover and Thomas, "Elements of Information Theory", 2006, 5.2 (Kraft), 5.4 (Shannon), 5.6 (Huffman).
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from novum.core.errors import InputError
from novum.distributions.information import probabilities_of


@dataclass(frozen=True)
class PrefixCode:
    """A binary code in which no word begins another, so that it needs no separators.

    Parameters
    ----------
    symbols : tuple
    words : tuple of str
        A word of the letters 0 and 1 for each symbol.
    probabilities : tuple of float

    Examples
    --------
    >>> code = huffman_code({"a": 0.5, "b": 0.25, "c": 0.25})
    >>> code.words, code.expected_length
    (('0', '10', '11'), 1.5)
    >>> code.decode(code.encode("abac"))
    ['a', 'b', 'a', 'c']
    """

    symbols: tuple[Hashable, ...]
    words: tuple[str, ...]
    probabilities: tuple[float, ...]

    @property
    def lengths(self) -> tuple[int, ...]:
        return tuple(len(word) for word in self.words)

    @property
    def expected_length(self) -> float:
        """Mean letters per symbol; at least the entropy in bits."""
        pairs = zip(self.probabilities, self.lengths, strict=True)
        return math.fsum(share * length for share, length in pairs)

    def encode(self, symbols: Iterable[Hashable]) -> str:
        words = dict(zip(self.symbols, self.words, strict=True))
        try:
            return "".join(words[symbol] for symbol in symbols)
        except KeyError as error:
            raise InputError(f"The code has no word for {error.args[0]!r}.") from None

    def decode(self, letters: str) -> list[Hashable]:
        symbols = dict(zip(self.words, self.symbols, strict=True))
        symbols_read: list[Hashable] = []
        word = ""
        for letter in letters:
            word += letter
            if word in symbols:
                symbols_read.append(symbols[word])
                word = ""
        if word:
            raise InputError(f"The text ends inside a word: {word[:20]!r} is left.")
        return symbols_read


def huffman_code(probabilities: Mapping[Hashable, float] | ArrayLike) -> PrefixCode:
    """A binary prefix code of least expected length.

    Parameters
    ----------
    probabilities : mapping of symbols, or array
        Symbols of an array are 0, 1, ... A symbol of probability 0 gets a word too; a symbol alone
        gets one letter, since an empty word could not be told from no word.

    Notes
    -----
    Ties go to what was made first, which keeps the longest word short. O(n log n).
    """
    symbols, shares = _symbols_of(probabilities)
    lengths = [1] if len(symbols) == 1 else _huffman_lengths(shares)
    return PrefixCode(symbols, canonical_words(lengths), tuple(shares))


def shannon_lengths(probabilities: ArrayLike, letters: int = 2) -> tuple[int, ...]:
    """`ceil(-log p)` for each symbol: within one letter of the entropy on average.

    Examples
    --------
    >>> shannon_lengths([0.5, 0.25, 0.15, 0.1])
    (1, 2, 3, 4)
    """
    _check_letters(letters)
    shares = probabilities_of(probabilities).ravel()
    if not np.all(shares > 0):
        raise InputError(
            f"The symbol at position {int(np.argmin(shares))} has probability 0, so its word would "
            "be endless. Leave it out."
        )
    return tuple(_shannon_length(float(share), letters) for share in shares)


def kraft_sum(lengths: Iterable[int], letters: int = 2) -> Fraction:
    """`sum letters^-length`, exactly; at most 1 for every prefix code.

    Examples
    --------
    >>> kraft_sum([1, 2, 3, 3]), kraft_sum([1, 1, 2])
    (Fraction(1, 1), Fraction(5, 4))
    """
    _check_letters(letters)
    return sum((Fraction(1, letters ** _length(length)) for length in lengths), Fraction(0))


def canonical_words(lengths: Sequence[int]) -> tuple[str, ...]:
    """Binary words of the given lengths, none of which begins another.

    Examples
    --------
    >>> canonical_words([2, 1, 2])
    ('10', '0', '11')
    """
    total = kraft_sum(lengths)
    if total > 1:
        raise InputError(
            f"No prefix code has the word lengths {str(list(lengths))[:60]}: their Kraft sum "
            f"{total} exceeds 1."
        )
    words = [""] * len(lengths)
    code, last = 0, 0
    for place in sorted(range(len(lengths)), key=lambda i: (lengths[i], i)):
        code <<= lengths[place] - last
        last = lengths[place]
        words[place] = f"{code:0{last}b}" if last else ""
        code += 1
    return tuple(words)


def _huffman_lengths(shares: Sequence[float]) -> list[int]:
    """Depth of every leaf in Huffman's tree, found from the root down without recursion."""
    heap = [(share, place) for place, share in enumerate(shares)]
    heapq.heapify(heap)
    parents: dict[int, int] = {}
    made = len(shares)
    while len(heap) > 1:
        (first, a), (second, b) = heapq.heappop(heap), heapq.heappop(heap)
        parents[a] = parents[b] = made
        heapq.heappush(heap, (first + second, made))
        made += 1
    depth = {made - 1: 0}
    for node in range(made - 2, -1, -1):
        depth[node] = depth[parents[node]] + 1
    return [depth[place] for place in range(len(shares))]


def _shannon_length(share: float, letters: int) -> int:
    length = max(0, math.ceil(-math.log(share) / math.log(letters)))
    # The logarithm is rounded; the length is the smallest with letters^-length <= share.
    exact = Fraction(share)
    while length and Fraction(1, letters ** (length - 1)) <= exact:
        length -= 1
    while Fraction(1, letters**length) > exact:
        length += 1
    return length


# --- Checks ---------------------------------------------------------------------------------------


def _symbols_of(
    probabilities: Mapping[Hashable, float] | ArrayLike,
) -> tuple[tuple[Hashable, ...], list[float]]:
    if isinstance(probabilities, Mapping):
        shares = probabilities_of(list(probabilities.values()))
        return tuple(probabilities), [float(share) for share in shares]
    listed = probabilities_of(probabilities).ravel()
    return tuple(range(listed.size)), [float(share) for share in listed]


def _length(length: int) -> int:
    if length != int(length) or length < 0:
        raise InputError(f"The length of a word is a whole number of at least 0, got {length!r}.")
    return int(length)


def _check_letters(letters: int) -> None:
    if letters != int(letters) or letters < 2:
        raise InputError(f"A code needs at least 2 letters, got {letters!r}.")
