"""Suffix automata of strings, and sums over all common substrings by reading through them.

A state stands for the substrings that end at the same places: `count` of them, with lengths above
that of its `link` up to its own `length`. Let `W(l) = w(1) + ... + w(l)`. What ends at a place of
another string, matched by `l` symbols into state v, has in all the weight

    g(v, l) = level(v) + count(v) W(l),    level(v) = g(link, |link|) - count(v) W(|link|)

because every suffix of the match is a substring too, and those of the links occur more often. So
`sum over u of w(|u|) count_s(u) count_t(u)` is the sum of g over the places of t: building is
linear in s, reading is linear in t.

The parts of string i, which starts at `b`, begin at 2 b + 2 i (states, with one more for the end
of the edges), 3 b (edges) and b (letters): a string of m symbols has at most 2 m + 1 states, the
root included, 3 m edges and m letters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from novum.core.runtime import check_memory, time_sliced
from novum.kernels.strings.sequences import CodedStrings
from novum.numerics import Array, Codes, Floats, Integers, as_argument

# Cells of the table of next states; two arrays of them fit into the second cache.
TABLE_CELLS = 2**16
# Symbols that are built or read without compiled code.
COMPILED_FROM_SYMBOLS = 2**13
BYTES_PER_SYMBOL = 2 * (16 + 16) + 3 * 8 + 4
# Automata that are built in one call at first; later calls adapt to their time.
BUILT_AT_ONCE = 16


@dataclass(frozen=True, eq=False)
class SuffixAutomata:
    """The automata of strings, one after the other.

    Parameters
    ----------
    starts : int64 array (n + 1,)
        Where the strings start.
    sizes : int64 array (n, 2)
        Numbers of states and of letters.
    states : int32 array (., 4)
        Length, link, count of the places where it ends, first edge. Ordered by length.
    edges : int32 array (., 2)
        Letter and target, ordered by state and letter.
    letters : int32 array
        The code of each letter of a string.
    values : float64 array (., 2)
        Level and count.
    """

    starts: Integers
    sizes: Integers
    states: Codes
    edges: Codes
    letters: Codes
    values: Floats


def built_automata(strings: CodedStrings, cumulated: Floats) -> SuffixAutomata:
    """The automata of all strings, for the cumulated weights `W(0), W(1), ...`."""
    from novum.kernels.strings.automaton_kernels import build_automata

    n, total = len(strings), int(strings.codes.size)
    check_memory(
        total * BYTES_PER_SYMBOL,
        f"The automata of {total:,} symbols",
        "Take fewer strings, or count k-grams with Spectrum(up_to=...).",
    )
    made = SuffixAutomata(
        as_argument(strings.starts, np.int64),
        np.zeros((n, 2), np.int64),
        np.zeros((2 * total + 2 * n + 1, 4), np.int32),
        np.zeros((3 * total + 1, 2), np.int32),
        np.zeros(total + 1, np.int32),
        np.zeros((2 * total + 2 * n + 1, 2)),
    )
    local = np.zeros(len(strings.alphabet) + 1, np.int32)
    codes, weights = as_argument(strings.codes, np.int32), as_argument(cumulated)
    for first, last in time_sliced(n, block=BUILT_AT_ONCE):
        build_automata(
            codes,
            made.starts,
            first,
            last,
            weights,
            local,
            made.sizes,
            made.states,
            made.edges,
            made.letters,
            made.values,
        )
    return made


def read_through(
    automata: SuffixAutomata,
    rows: Integers,
    strings: CodedStrings,
    read_rows: Integers,
    bounds: tuple[Integers, Integers],
    cumulated: Floats,
    out: Array,
) -> None:
    """Fill `out[a]` with what strings `read_rows[first:stop]` give, read by automaton `rows[a]`.

    `bounds` has first and stop for every a. Entries beyond are zero.
    """
    from novum.kernels.strings.automaton_kernels import read_strings

    largest = int(max(strings.codes.max(initial=0), automata.letters.max(initial=0)))
    local = np.zeros(largest + 1, np.int32)
    following, caps = np.empty(TABLE_CELLS, np.uint32), np.empty(TABLE_CELLS, np.int32)
    codes, begins = as_argument(strings.codes, np.int32), as_argument(strings.starts, np.int64)
    firsts, stops = (as_argument(bound, np.int64) for bound in bounds)
    for first, last in time_sliced(rows.size):
        block = np.zeros((last - first, out.shape[1]))
        read_strings(
            as_argument(rows[first:last], np.int64),
            automata.starts,
            automata.sizes,
            automata.states,
            automata.edges,
            automata.letters,
            automata.values,
            codes,
            begins,
            as_argument(read_rows, np.int64),
            firsts[first:last],
            stops[first:last],
            as_argument(cumulated),
            local,
            following,
            caps,
            block,
        )
        out[first:last] = block
