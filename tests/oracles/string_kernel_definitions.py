"""String kernels straight from their definitions: every window of both strings, counted one by one.

Slow, and without numbers for grams or automata: the oracle of the tests.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence

String = Sequence[Hashable]


def gram_counts(string: String, length: int) -> Counter[tuple[Hashable, ...]]:
    """How often every gram of one length stands in the string, overlaps included.

    Examples
    --------
    >>> gram_counts("aaa", 2)
    Counter({('a', 'a'): 2})
    """
    symbols = tuple(string)
    return Counter(symbols[i : i + length] for i in range(len(symbols) - length + 1))


def spectrum(s: String, t: String, length: int) -> int:
    """`sum over u of the length  count_s(u) count_t(u)`.

    Examples
    --------
    >>> spectrum("banana", "ananas", 2)
    8
    """
    first, second = gram_counts(s, length), gram_counts(t, length)
    return sum(count * second[gram] for gram, count in first.items())


def substrings(s: String, t: String, weight: Callable[[int], float]) -> float:
    """`sum over nonempty u  weight(|u|) count_s(u) count_t(u)`.

    Examples
    --------
    "ab" and "abb" share `a` once, `b` twice and `ab` once:

    >>> substrings("ab", "abb", lambda length: 1.0)
    4.0
    """
    lengths = range(1, min(len(s), len(t)) + 1)
    return float(sum(weight(length) * spectrum(s, t, length) for length in lengths))
