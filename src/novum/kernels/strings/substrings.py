"""All-substrings kernel: every substring that two strings share, of whatever length.

    k(s, t) = sum over nonempty u  w(|u|) count_s(u) count_t(u),        w(l) = decay^l

A string of m symbols has up to m^2 / 2 different substrings, but only 2 m states in its suffix
automaton. Reading t through the automaton of s finds at every place the longest substring of s
that ends there, and with it the weight of all its suffixes; see `automaton`. So a value takes time
linear in the lengths, without a bound on the substrings, and automata are built once for a string.

References
----------
Vishwanathan and Smola, "Fast kernels for string and tree matching", NIPS 2003; Blumer et al., "The
smallest automaton recognizing the subwords of a text", Theoretical Computer Science 40 (1985).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import DTypeLike

from novum.core.errors import InputError
from novum.core.text import label_text
from novum.kernels.parameters import finite_number, positive_number
from novum.kernels.protocol import Kernel, Prepared, Takes
from novum.kernels.similarity_matrix import empty_block
from novum.kernels.strings.automaton import (
    COMPILED_FROM_SYMBOLS,
    SuffixAutomata,
    built_automata,
    read_through,
)
from novum.kernels.strings.plain_automaton import PlainAutomaton
from novum.kernels.strings.sequences import CodedStrings, coded_strings
from novum.numerics import Array, Floats, Integers, cached_property

# Rows of a symmetric matrix that are mirrored at once, few enough to stay in the cache.
MIRRORED_ROWS = 128


# --- The kernel -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Substrings(Kernel):
    """Similarity of strings by all contiguous substrings that they share.

    Parameters
    ----------
    decay : float, above 0 and at most 1
        Factor for every symbol of a shared substring; below 1 long ones count less.
    weights : sequence of float, optional
        Weights of the lengths 1, 2, ..., none negative, in place of `decay`; longer substrings do
        not count.

    Notes
    -----
    Strings are text, bytes or sequences of hashable symbols. An empty string is similar to nothing,
    not even to itself. Symbols that training did not have match nothing in it.

    With `decay=1` values are whole numbers, exact below 2^53. There are infinitely many substrings,
    so there is no `feature_map`; `Spectrum(up_to=k)` has one for the lengths up to k.

    Examples
    --------
    "ab" and "abb" share `a` once, `b` twice and `ab` once:

    >>> Substrings().gram(["ab", "abb"])
    array([[3., 4.],
           [4., 8.]])
    >>> Substrings(decay=0.5).cross(["ab"], ["abb", "xyz"]).tolist()
    [[1.75, 0.0]]
    """

    decay: float = 1.0
    weights: tuple[float, ...] | None = None

    takes: ClassVar[Takes] = "objects"

    def __post_init__(self) -> None:
        decay = positive_number(self.decay, "Substrings' decay")
        if decay > 1:
            raise InputError(
                f"Substrings' decay must be at most 1, got {label_text(self.decay)}: the weights "
                "of long substrings would grow without bound. State weights=(...) instead."
            )
        object.__setattr__(self, "decay", decay)
        if self.weights is None:
            return
        if decay != 1:
            raise InputError(
                "Substrings takes decay or weights, got both. Multiply the weights by the decay."
            )
        object.__setattr__(self, "weights", _checked_weights(self.weights))

    @property
    def is_psd_by_construction(self) -> bool:
        return True

    def prepare(self, X: Any, like: SubstringRows | None = None) -> SubstringRows:
        strings = coded_strings(
            X, "Substrings", None if like is None else like.store.strings.alphabet
        )
        return SubstringRows(Store(self, strings), np.arange(len(strings)))

    def cumulated(self, longest: int) -> Floats:
        """Sums of the weights of the lengths 1 to l, for l = 0 to `longest`."""
        weights = np.zeros(longest + 1)
        if self.weights is None:
            with np.errstate(under="ignore"):
                weights[1:] = self.decay ** np.arange(1.0, longest + 1)
        else:
            given = self.weights[:longest]
            weights[1 : len(given) + 1] = given
        return np.cumsum(weights)


def _checked_weights(weights: Any) -> tuple[float, ...]:
    given = tuple(
        finite_number(weight, f"Substrings' weight of length {length}")
        for length, weight in enumerate(np.asarray(weights, object).ravel().tolist(), 1)
    )
    negative = [length for length, weight in enumerate(given, 1) if weight < 0]
    if negative:
        raise InputError(
            f"Substrings' weights must not be negative, got {given[negative[0] - 1]} for length "
            f"{negative[0]}: the kernel would not be positive semi-definite."
        )
    if not any(given):
        raise InputError("Substrings' weights are all 0; let one at least be above 0.")
    return given


# --- Prepared strings -----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Store:
    """Strings in codes, and their automata, which are built when they are first needed."""

    kernel: Substrings
    strings: CodedStrings

    @cached_property
    def cumulated(self) -> Floats:
        return self.kernel.cumulated(int(self.strings.lengths.max(initial=0)) + 1)

    @cached_property
    def automata(self) -> SuffixAutomata:
        return built_automata(self.strings, self.cumulated)

    def codes(self, row: int) -> list[int]:
        starts = self.strings.starts
        return list(self.strings.codes[starts[row] : starts[row + 1]].tolist())


@dataclass(frozen=True, eq=False)
class SubstringRows(Prepared):
    """Strings, each with its suffix automaton.

    Parameters
    ----------
    store : Store
        Strings and automata, shared by all parts that are taken.
    rows : int64 array
        Which of the strings these are.
    """

    store: Store
    rows: Integers

    def __len__(self) -> int:
        return int(self.rows.size)

    def take(self, rows: Any) -> SubstringRows:
        chosen = rows if isinstance(rows, slice) else np.asarray(rows)
        return SubstringRows(self.store, self.rows[chosen])

    def diagonal(self) -> Floats:
        each = np.arange(len(self))
        return self._read(self, each, each + 1, np.empty((len(self), 1))).ravel()

    def cross(self, other: SubstringRows, dtype: DTypeLike = np.float64) -> Array:
        _check_one_alphabet(self, other)
        if len(self) > len(other):
            # Fewer automata are prepared for reading; the values are symmetric.
            return np.ascontiguousarray(other.cross(self, dtype).T)
        firsts, out = np.zeros(len(self), np.int64), empty_block(len(self), len(other), dtype)
        return self._read(other, firsts, firsts + len(other), out)

    def gram(self, dtype: DTypeLike = np.float64) -> Array:
        n = len(self)
        K = self._read(self, np.zeros(n, np.int64), np.arange(1, n + 1), empty_block(n, n, dtype))
        for start in range(0, n, MIRRORED_ROWS):
            stop = start + MIRRORED_ROWS
            K[:start, start:stop] = K[start:stop, :start].T
            block = K[start:stop, start:stop]
            block += np.tril(block, -1).T
        return K

    def _read(self, other: SubstringRows, firsts: Integers, stops: Integers, out: Array) -> Array:
        """Strings `firsts[a]` to `stops[a]` of `other` through automaton a; zero beyond."""
        lengths = np.append(0, np.cumsum(other.store.strings.lengths[other.rows]))
        n_read = int((lengths[stops] - lengths[firsts]).sum())
        if n_read + int(self.store.strings.lengths[self.rows].sum()) < COMPILED_FROM_SYMBOLS:
            self._read_plainly(other, firsts, stops, out)
        else:
            read_through(
                self.store.automata,
                self.rows,
                other.store.strings,
                other.rows,
                (firsts, stops),
                self.store.cumulated,
                out,
            )
        return out

    def _read_plainly(
        self, other: SubstringRows, firsts: Integers, stops: Integers, out: Array
    ) -> None:
        cumulated = self.store.cumulated.tolist()
        texts = [other.store.codes(row) for row in other.rows.tolist()]
        out[...] = 0
        for a, row in enumerate(self.rows.tolist()):
            automaton = PlainAutomaton(self.store.codes(row), cumulated)
            for b in range(firsts[a], stops[a]):
                out[a, b - firsts[a]] = automaton.read(texts[b])


def _check_one_alphabet(one: SubstringRows, other: SubstringRows) -> None:
    first, second = one.store.strings.alphabet, other.store.strings.alphabet
    if not (first.extends(second) or second.extends(first)):
        raise InputError(
            "These strings were prepared apart, so their symbols have different codes. "
            "Prepare one like the other: kernel.prepare(Z, like=kernel.prepare(X))."
        )
