"""Numbers of grams: counted as by the definition on every path, and known again in new strings."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.kernels.strings import grams
from novum.kernels.strings.grams import Vocabulary, further_counts, learned_counts
from novum.kernels.strings.sequences import CodedStrings, coded_strings
from tests.oracles.string_kernel_definitions import gram_counts

strings = st.lists(st.lists(st.integers(0, 3), max_size=9), min_size=1, max_size=6)
spans = st.lists(st.integers(1, 6), min_size=1, max_size=3, unique=True).map(tuple)


def counters(coded: CodedStrings, vocabulary: Vocabulary, counts: Any) -> list[Counter[Any]]:
    """Counts by the grams themselves."""
    symbols = list(coded.alphabet.codes)
    names = {
        first + rank: tuple(symbols[code] for code in codes)
        for first, part in vocabulary.parts()
        for rank, codes in enumerate(part.codes().tolist())
    }
    found = []
    for row in counts.toarray():
        found.append(Counter({names[j]: int(row[j]) for j in np.flatnonzero(row)}))
    return found


def expected(X: list[Any], lengths: tuple[int, ...]) -> list[Counter[Any]]:
    return [sum((gram_counts(s, length) for length in lengths), Counter()) for s in X]


@pytest.mark.parametrize("compiled_from", [0, 2**62], ids=["compiled", "plain"])
@pytest.mark.parametrize("largest", [2**62, 40, 5], ids=["one key", "two steps", "many steps"])
@given(X=strings, Z=strings, lengths=spans)
def test_counts_are_those_of_the_definition(
    compiled_from: int, largest: int, X: list[Any], Z: list[Any], lengths: tuple[int, ...]
) -> None:
    Z = [*Z, [9, 1, 9], X[0]]
    with pytest.MonkeyPatch.context() as patch:
        # Small limits make keys of two and more steps; the second string of a pair is recoded.
        patch.setattr(grams, "COMPILED_FROM_WINDOWS", compiled_from)
        patch.setattr(grams, "LARGEST", largest)
        patch.setattr(grams, "KEYS_PER_WINDOW", 2**20)
        coded = coded_strings(X, "Spectrum")
        vocabulary, counts = learned_counts(coded, lengths)
        assert counters(coded, vocabulary, counts) == expected(X, lengths)
        new = coded_strings(Z, "Spectrum", coded.alphabet)
        wider, more = further_counts(new, vocabulary)
        assert counters(new, wider, more) == expected(Z, lengths)
        assert wider.extends(vocabulary)
        assert more.shape == (len(Z), len(wider))


def test_known_grams_make_no_new_vocabulary() -> None:
    coded = coded_strings(["abcabc", "cab"], "Spectrum")
    vocabulary, _ = learned_counts(coded, (2, 3))
    again, _ = further_counts(coded_strings(["abca"], "Spectrum", coded.alphabet), vocabulary)
    assert again is vocabulary
    wider, _ = further_counts(coded_strings(["aa"], "Spectrum", coded.alphabet), vocabulary)
    assert wider is not vocabulary
    assert not vocabulary.extends(wider)
    twice, counts = further_counts(coded_strings(["aab"], "Spectrum", coded.alphabet), wider)
    assert twice.extends(vocabulary)
    assert counts.toarray().sum() == 3


def test_long_grams_over_many_symbols_are_told_apart() -> None:
    # 70 places over 500 symbols have 500^70 keys, far beyond 63 bits.
    rng = np.random.default_rng(0)
    row = rng.integers(0, 500, 90).tolist()
    other = [*row[:60], 500, *row[61:]]
    coded = coded_strings([row, other, row[5:80]], "Spectrum")
    _, counts = learned_counts(coded, (70,))
    dense = counts.toarray()
    assert (dense @ dense.T).tolist() == [[21, 0, 6], [0, 21, 0], [6, 0, 6]]
