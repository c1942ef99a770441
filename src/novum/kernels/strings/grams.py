"""Numbers for the k-grams of strings: equal grams have equal numbers, different ones never.

A window of k symbols with codes below `a` is one integer, read in base `a`:

    key = c_1 a^(k-1) + c_2 a^(k-2) + ... + c_k

A table of all keys, or one sort of (key, string), counts equal grams, without a hash. Where a key
would not fit into 63 bits, the first symbols of the window are numbered before: their number and
the symbols after them are a key again.

The number of a gram is its rank among the keys seen. Grams that only new strings have are numbered
on from there, so that they count among the new strings and meet nothing in the training.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from novum.core.runtime import time_sliced
from novum.kernels.strings.sequences import CodedStrings
from novum.numerics import Integers, as_argument

LARGEST = 2**62
# A table of all keys is used while it has at most so many for each window.
KEYS_PER_WINDOW = 8
# Fewer windows are sorted by NumPy, which is quicker than loading a kernel.
COMPILED_FROM_WINDOWS = 2**14
# Strings that are counted in one call at first; later calls adapt to their time.
STRINGS_AT_ONCE = 64


# --- Values ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Grams:
    """Grams of one length, numbered by the rank of their keys.

    Parameters
    ----------
    length : int
    base : int
        Symbols have codes below this; a window with any other is not known.
    head : Grams or None
        Numbers of the first symbols of a window, where a key cannot hold them all.
    keys : int64 array (n_grams,), ascending
    """

    length: int
    base: int
    head: Grams | None
    keys: Integers

    def __len__(self) -> int:
        return int(self.keys.size)

    def numbers(self, strings: CodedStrings) -> Integers:
        """Number of the gram in every window; -1 where it is not known."""
        keys = _window_keys(strings, self.length, self.base, self.head)
        if not len(self):
            return np.full(keys.size, -1, np.int64)
        positions = np.searchsorted(self.keys, keys).clip(max=len(self) - 1)
        return np.where(self.keys[positions] == keys, positions, -1)

    def codes(self) -> Integers:
        """Codes of the symbols of every gram, of shape (n_grams, length)."""
        tail = self.length - (0 if self.head is None else self.head.length)
        out = np.empty((len(self), self.length), np.int64)
        rest = self.keys
        for place in range(self.length - 1, self.length - tail - 1, -1):
            rest, out[:, place] = np.divmod(rest, max(self.base, 1))
        if self.head is not None:
            out[:, : self.head.length] = self.head.codes()[rest]
        return out


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Numbers of grams of several lengths, perhaps going on from another vocabulary.

    Parameters
    ----------
    grams : tuple of Grams
        One for each length; numbered one length after the other.
    earlier : Vocabulary or None
        Whose numbers come first.
    """

    grams: tuple[Grams, ...]
    earlier: Vocabulary | None = None

    @property
    def first(self) -> int:
        """The first number of its own."""
        return 0 if self.earlier is None else len(self.earlier)

    def __len__(self) -> int:
        return self.first + sum(map(len, self.grams))

    def extends(self, other: Vocabulary) -> bool:
        """Whether all numbers of `other` mean the same here."""
        return self is other or (self.earlier is not None and self.earlier.extends(other))

    def parts(self) -> Iterator[tuple[int, Grams]]:
        """The grams with the number of their first, earlier ones first."""
        if self.earlier is not None:
            yield from self.earlier.parts()
        first = self.first
        for grams in self.grams:
            yield first, grams
            first += len(grams)


# --- Counting -------------------------------------------------------------------------------------


def learned_counts(
    strings: CodedStrings, lengths: range | tuple[int, ...]
) -> tuple[Vocabulary, sparse.csr_array]:
    """The grams of strings, and how often each string has each of them.

    Examples
    --------
    >>> from novum.kernels.strings.sequences import coded_strings
    >>> vocabulary, counts = learned_counts(coded_strings(["abab", "b"], "Spectrum"), (1, 2))
    >>> counts.toarray().tolist()
    [[2, 2, 2, 1], [0, 1, 0, 0]]
    """
    tabled = [length for length in lengths if _has_table(strings, length)]
    parts = [_by_table(strings, tabled)] if tabled else []
    for length in lengths:
        if length not in tabled:
            grams, counts = _sorted_grams(strings, length)
            parts.append(([grams], counts))
    every = tuple(grams for part, _ in parts for grams in part)
    blocks = [counts for _, counts in parts]
    joined = blocks[0] if len(blocks) == 1 else sparse.hstack(blocks, "csr")
    return Vocabulary(every), sparse.csr_array(joined)


def further_counts(
    strings: CodedStrings, vocabulary: Vocabulary
) -> tuple[Vocabulary, sparse.csr_array]:
    """Counts by the numbers of a vocabulary, which is extended by the grams that it lacks."""
    base = len(strings.alphabet)
    known: dict[int, Integers] = {}
    for first, grams in vocabulary.parts():
        numbers = grams.numbers(strings)
        numbers[numbers >= 0] += first
        before = known.get(grams.length)
        known[grams.length] = numbers if before is None else np.where(before < 0, numbers, before)
    own, first = [], len(vocabulary)
    for length, numbers in known.items():
        lacking = np.flatnonzero(numbers < 0)
        head = _head(strings, length, base)
        keys = _window_keys(strings, length, base, head)[lacking]
        new, rank = np.unique(keys, return_inverse=True)
        numbers[lacking] = first + rank
        own.append(Grams(length, base, head, new))
        first += new.size
    if first > len(vocabulary):
        vocabulary = Vocabulary(tuple(own), vocabulary)
    rows = [_window_rows(strings, length) for length in known]
    columns = np.concatenate(list(known.values()))
    return vocabulary, _by_sorting(np.concatenate(rows), columns, (len(strings), first))[1]


def _has_table(strings: CodedStrings, length: int) -> bool:
    """Whether a table of all keys is small beside the windows, which are many."""
    n_windows = int(_window_counts(strings, length).sum())
    n_keys = len(strings.alphabet) ** length
    return n_windows >= COMPILED_FROM_WINDOWS and n_keys <= KEYS_PER_WINDOW * n_windows


def _sorted_grams(strings: CodedStrings, length: int) -> tuple[Grams, sparse.csr_array]:
    base = len(strings.alphabet)
    head = _head(strings, length, base)
    keys, rows = _window_keys(strings, length, base, head), _window_rows(strings, length)
    seen, counts = _by_sorting(rows, keys, (len(strings), None))
    return Grams(length, base, head, seen), counts


def _by_table(strings: CodedStrings, lengths: list[int]) -> tuple[list[Grams], sparse.csr_array]:
    """The grams of some lengths and their counts, through a table of all keys."""
    from novum.kernels.strings.grams_kernels import count_windows

    n, base = len(strings), len(strings.alphabet)
    offsets = np.append(0, np.cumsum([base**length for length in lengths]))
    n_windows = sum(int(_window_counts(strings, length).sum()) for length in lengths)
    starts = np.zeros(n + 1, np.int64)
    keys, counts = np.empty(n_windows, np.int32), np.empty(n_windows, np.int32)
    places, sizes = np.zeros(offsets[-1], np.int32), np.array(lengths, np.int64)
    codes, begins = as_argument(strings.codes, np.int32), as_argument(strings.starts, np.int64)
    for first, last in time_sliced(n, block=STRINGS_AT_ONCE):
        count_windows(
            codes, begins, first, last, base, sizes, offsets, places, starts, keys, counts
        )
    keys, counts = keys[: starts[-1]], counts[: starts[-1]]
    places[keys] = 1
    seen = np.flatnonzero(places)
    if seen.size < places.size:
        keys = (np.cumsum(places, dtype=np.int32) - 1)[keys]
    bounds = np.searchsorted(seen, offsets)
    grams = [
        Grams(length, base, None, seen[bounds[i] : bounds[i + 1]] - offsets[i])
        for i, length in enumerate(lengths)
    ]
    return grams, sparse.csr_array((counts, keys, starts), shape=(n, seen.size))


def _by_sorting(
    rows: Integers, keys: Integers, shape: tuple[int, int | None]
) -> tuple[Integers, sparse.csr_array]:
    """Keys that occur, and the counts of each, by sorting; with a width, keys are columns."""
    n = shape[0]
    if shape[1] is None and keys.size and int(keys.max()) >= LARGEST // max(n, 1):
        # Ranks are small enough to stand beside the row in one integer.
        seen, keys = np.unique(keys, return_inverse=True)
        return seen, _by_sorting(rows, keys, (n, seen.size))[1]
    cells = np.sort(keys * max(n, 1) + rows)
    begins = np.flatnonzero(np.diff(cells, prepend=-1))
    counts = np.diff(begins, append=cells.size)
    key, row = np.divmod(cells[begins], max(n, 1))
    firsts = np.flatnonzero(np.diff(key, prepend=-1))
    seen = key[firsts]
    if shape[1] is None:
        starts, width = np.append(firsts, key.size), int(seen.size)
    else:
        width = shape[1]
        starts = np.searchsorted(key, np.arange(width + 1))
    by_column = sparse.csc_array(
        (counts.astype(np.int32), row.astype(np.int32), starts), shape=(n, width)
    )
    return seen, sparse.csr_array(by_column)


# --- Windows --------------------------------------------------------------------------------------


def _window_counts(strings: CodedStrings, length: int) -> Integers:
    return np.maximum(strings.lengths - (length - 1), 0)


def _window_rows(strings: CodedStrings, length: int) -> Integers:
    """The string of every window."""
    return np.repeat(np.arange(len(strings)), _window_counts(strings, length))


def _windows(strings: CodedStrings, length: int) -> Integers:
    """Where every window begins."""
    counts = _window_counts(strings, length)
    before = np.cumsum(counts) - counts
    return np.repeat(strings.starts[:-1] - before, counts) + np.arange(counts.sum())


def _window_keys(strings: CodedStrings, length: int, base: int, head: Grams | None) -> Integers:
    """Key of every window; -1 where a symbol has no code below the base or the head is unknown."""
    windows = _windows(strings, length)
    done = 0 if head is None else head.length
    span = strings.codes.size - length + 1
    if span <= 0:
        return np.empty(0, np.int64)
    keys = np.zeros(span, np.int64)
    for place in range(done, length):
        keys *= base
        keys += strings.codes[place : place + span]
    keys = keys[windows]
    if len(strings.alphabet) > base:
        strange = np.append(0, np.cumsum(strings.codes >= base))
        keys[strange[windows + length] > strange[windows]] = -1
    if head is not None:
        # A window of the whole length begins where one of the head's length begins too.
        heads = np.full(strings.codes.size, -1, np.int64)
        heads[_windows(strings, head.length)] = head.numbers(strings)
        first = heads[windows]
        keys = np.where((first < 0) | (keys < 0), -1, first * base ** (length - done) + keys)
    return keys


def _head(strings: CodedStrings, length: int, base: int) -> Grams | None:
    """Numbers of the beginnings of windows, as long as is needed for the keys to fit."""
    fits = _symbols_within(LARGEST, base)
    if length <= fits:
        return None
    head = None
    done = 0
    while length - done > fits:
        done += fits
        keys = _window_keys(strings, done, base, head)
        head = Grams(done, base, head, np.unique(keys))
        fits = _symbols_within(LARGEST // max(len(head), 1), base)
    return head


def _symbols_within(room: int, base: int) -> int:
    """How many symbols have keys below `room`; one at least, which codes of 32 bits always have."""
    count, size = 0, max(base, 2)
    while room >= size:
        room //= size
        count += 1
    return max(count, 1)
