"""Spectrum kernel: how often two strings have the same k-grams.

    k(s, t) = sum over lengths l  weight_l  sum over u of length l  count_s(u) count_t(u)

`count_s(u)` is how often `u` stands in `s` without a gap, overlaps included. It is the inner
product of the strings' counts, of which only those that occur are stored: `up to N` windows of `N`
symbols, although there are `a^l` grams over `a` symbols. Counts and products are exact integers.

References
----------
Leslie, Eskin and Noble, "The spectrum kernel: a string kernel for SVM protein classification",
Pacific Symposium on Biocomputing 2002.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from novum.core.errors import InputError
from novum.kernels.count_rows import CountRows
from novum.kernels.parameters import positive_integer, positive_number
from novum.kernels.protocol import Kernel, Prepared, Takes
from novum.kernels.strings.grams import Vocabulary, further_counts, learned_counts
from novum.kernels.strings.sequences import Alphabet, coded_strings
from novum.numerics import Array, Floats, Integers, cached_property

Gram = Hashable


# --- The kernel -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Spectrum(Kernel):
    """Similarity of strings by the contiguous k-grams that they share.

    Parameters
    ----------
    k : int, optional
        The length of the grams; with `up_to` the shortest one.
    up_to : int, optional
        The longest length: `Spectrum(up_to=4)` takes lengths 1 to 4, `Spectrum(3, up_to=6)`
        lengths 3 to 6.
    weights : sequence of float, optional
        A factor above 0 for each length, shortest first. 1 by default.

    Notes
    -----
    Strings are text, bytes or sequences of hashable symbols; what equals what is told in
    `novum.kernels.strings.sequences`. A string shorter than every length has no gram: it is similar
    to nothing, not even to itself. Symbols that training did not have match nothing in it.

    Values are exact below 2^53 (with weights: each length's part is, and their sum is rounded).
    Time is linear in the total length for the counts; the products of all pairs cost what
    `novum.kernels.count_rows` says.

    Examples
    --------
    "banana" has `an` twice and `na` twice, "ananas" the same and `as`:

    >>> Spectrum(2).gram(["banana", "ananas"])
    array([[9., 8.],
           [8., 9.]])
    >>> Spectrum(up_to=2).cross(["abc"], ["ab", b"ab", ["a", "c"]]).tolist()
    [[3.0, 0.0, 2.0]]
    """

    k: int | None = None
    up_to: int | None = None
    weights: tuple[float, ...] | None = None

    takes: ClassVar[Takes] = "objects"

    def __post_init__(self) -> None:
        if self.k is None and self.up_to is None:
            raise InputError(
                "Spectrum needs the length of its grams: Spectrum(3), Spectrum(up_to=3) for all "
                "lengths from 1, or Spectrum(3, up_to=6)."
            )
        if self.k is not None:
            object.__setattr__(self, "k", positive_integer(self.k, "Spectrum's k"))
        if self.up_to is not None:
            object.__setattr__(self, "up_to", positive_integer(self.up_to, "Spectrum's up_to"))
        if not len(self.lengths):
            raise InputError(
                f"Spectrum takes lengths from k={self.k} up to {self.up_to}, which are none. "
                "Let up_to be at least k."
            )
        if self.weights is not None:
            object.__setattr__(self, "weights", _checked_weights(self.weights, self.lengths))

    @property
    def lengths(self) -> range:
        """The lengths of the grams."""
        shortest = 1 if self.k is None else self.k
        return range(shortest, (shortest if self.up_to is None else self.up_to) + 1)

    @property
    def is_psd_by_construction(self) -> bool:
        return True

    def prepare(self, X: Any, like: SpectrumRows | None = None) -> SpectrumRows:
        strings = coded_strings(X, "Spectrum", None if like is None else like.alphabet)
        parts = []
        for position, (weight, lengths) in enumerate(self._parts()):
            if like is None:
                vocabulary, counts = learned_counts(strings, lengths)
            else:
                vocabulary, counts = further_counts(strings, like.parts[position].vocabulary)
            parts.append(WeightedCounts(weight, vocabulary, CountRows(counts)))
        return SpectrumRows(strings.alphabet, tuple(parts))

    @property
    def feature_map(self) -> SpectrumMap:
        """Strings to a sparse matrix of counts, a column a gram."""
        return SpectrumMap(self)

    def _parts(self) -> list[tuple[float, tuple[int, ...]]]:
        """Lengths of equal weight together: their grams are counted in one product."""
        weights = (1.0,) * len(self.lengths) if self.weights is None else self.weights
        grouped: dict[float, tuple[int, ...]] = {}
        for weight, length in zip(weights, self.lengths, strict=True):
            grouped[weight] = (*grouped.get(weight, ()), length)
        return list(grouped.items())


def _checked_weights(weights: Any, lengths: range) -> tuple[float, ...]:
    given = tuple(np.asarray(weights, object).ravel().tolist())
    if len(given) != len(lengths):
        raise InputError(
            f"Spectrum needs a weight for each of its {len(lengths)} lengths "
            f"({lengths[0]} to {lengths[-1]}), got {len(given)}."
        )
    return tuple(
        positive_number(weight, f"Spectrum's weight of length {length}")
        for weight, length in zip(given, lengths, strict=True)
    )


# --- Prepared strings -----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class WeightedCounts:
    """Counts of the grams of some lengths, which share a weight."""

    weight: float
    vocabulary: Vocabulary
    counts: CountRows


@dataclass(frozen=True, eq=False)
class SpectrumRows(Prepared):
    """Strings as counts of their grams.

    Parameters
    ----------
    alphabet : Alphabet
    parts : tuple of WeightedCounts
    """

    alphabet: Alphabet
    parts: tuple[WeightedCounts, ...]

    def __len__(self) -> int:
        return len(self.parts[0].counts)

    def take(self, rows: Any) -> SpectrumRows:
        chosen = rows if isinstance(rows, slice) else np.asarray(rows)
        parts = (
            WeightedCounts(part.weight, part.vocabulary, part.counts.take(chosen))
            for part in self.parts
        )
        return SpectrumRows(self.alphabet, tuple(parts))

    def diagonal(self) -> Floats:
        return np.sum([part.weight * part.counts.squares for part in self.parts], axis=0)

    def cross(self, other: SpectrumRows, dtype: DTypeLike = np.float64) -> Array:
        pairs = zip(self.parts, other.parts, strict=True)
        if not all(_share_numbers(a.vocabulary, b.vocabulary) for a, b in pairs):
            raise InputError(
                "These strings were prepared apart, so their grams have different numbers. "
                "Prepare one like the other: kernel.prepare(Z, like=kernel.prepare(X))."
            )
        pairs = zip(self.parts, other.parts, strict=True)
        return _added([(a.weight, a.counts.cross(b.counts, dtype)) for a, b in pairs])

    def gram(self, dtype: DTypeLike = np.float64) -> Array:
        return _added([(part.weight, part.counts.gram(dtype)) for part in self.parts])


def _share_numbers(one: Vocabulary, other: Vocabulary) -> bool:
    return one.extends(other) or other.extends(one)


def _added(parts: list[tuple[float, Array]]) -> Array:
    """Weighted sum of matrices, which are overwritten."""
    (weight, total), *others = parts
    if weight != 1:
        total *= weight
    for weight, matrix in others:
        matrix *= weight
        total += matrix
    return total


# --- Features -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SpectrumMap:
    """The counts themselves: `phi(X) @ phi(X).T` is the Gram matrix.

    Parameters
    ----------
    kernel : Spectrum

    Examples
    --------
    >>> phi = Spectrum(2).feature_map
    >>> phi(["banana", "ananas"]).toarray().tolist()
    [[2.0, 0.0, 1.0, 2.0], [2.0, 1.0, 0.0, 2.0]]
    >>> phi.named(["banana", "ananas"]).feature_names
    ('an', 'as', 'ba', 'na')
    """

    kernel: Spectrum

    def __call__(self, X: Any, like: SpectrumFeatures | None = None) -> sparse.csr_array:
        """Counts, times the roots of the weights of their lengths; `like` fixes the columns."""
        return (self.named(X) if like is None else like.of(X)).matrix

    def named(self, X: Any) -> SpectrumFeatures:
        """The counts with the names of their columns."""
        rows = self.kernel.prepare(X)
        return SpectrumFeatures(self.kernel, rows, rows)


@dataclass(frozen=True, eq=False)
class SpectrumFeatures:
    """Counts of grams in strings, with the grams.

    Parameters
    ----------
    kernel : Spectrum
    rows : SpectrumRows
        The strings.
    columns : SpectrumRows
        The strings whose grams are the columns.

    Attributes
    ----------
    matrix : csr_array of float64 (n, n_grams)
    feature_names : tuple
        The gram of each column: text or bytes where all strings are, else a tuple of symbols.
        Shorter grams come first, and those of one length in the order of their symbols' codes.
    """

    kernel: Spectrum
    rows: SpectrumRows
    columns: SpectrumRows

    def of(self, Z: Any) -> SpectrumFeatures:
        """The same columns counted in other strings; grams that have no column are left out."""
        return SpectrumFeatures(self.kernel, self.kernel.prepare(Z, self.columns), self.columns)

    @cached_property
    def matrix(self) -> sparse.csr_array:
        blocks = []
        for part, columns in zip(self.rows.parts, self.columns.parts, strict=True):
            known = part.counts.matrix[:, : len(columns.vocabulary)]
            blocks.append(known.astype(np.float64) * np.sqrt(part.weight))
        return sparse.csr_array(sparse.hstack(blocks, "csr")[:, self._order])

    @cached_property
    def feature_names(self) -> tuple[Gram, ...]:
        symbols = list(self.columns.alphabet.codes)
        join = _joining(symbols)
        names = [
            join([symbols[code] for code in codes])
            for part in self.columns.parts
            for _, grams in part.vocabulary.parts()
            for codes in grams.codes().tolist()
        ]
        return tuple(names[i] for i in self._order.tolist())

    @cached_property
    def _order(self) -> Integers:
        """Columns of shorter grams first: lengths of equal weight stand together before."""
        lengths = [
            np.full(len(grams), grams.length)
            for part in self.columns.parts
            for _, grams in part.vocabulary.parts()
        ]
        return np.argsort(np.concatenate(lengths), kind="stable")


def _joining(symbols: list[Hashable]) -> Any:
    """How the symbols of a gram are joined to its name."""
    if all(isinstance(symbol, str) and len(symbol) == 1 for symbol in symbols):
        return "".join
    if all(type(symbol) is int and 0 <= symbol < 256 for symbol in symbols):
        return bytes
    return tuple
