"""Codes: no prefix code is shorter than Huffman's, checked by enumerating all length vectors."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import InputError
from novum.distributions.information import entropy
from novum.distributions.information_codes import (
    canonical_words,
    huffman_code,
    kraft_sum,
    shannon_lengths,
)

weights = st.lists(st.integers(1, 100), min_size=2, max_size=8)


def normalized(counts: list[int]) -> Any:
    return np.array(counts) / sum(counts)


@given(st.lists(st.integers(1, 50), min_size=2, max_size=5))
def test_huffman_is_optimal(counts: list[int]) -> None:
    p = normalized(counts)
    # Kraft: exactly these length vectors have prefix codes.
    vectors = itertools.product(range(1, len(p)), repeat=len(p)) if len(p) > 2 else [(1, 1)]
    best = min(
        sum(Fraction(c) * length for c, length in zip(counts, lengths, strict=True))
        for lengths in vectors
        if sum(Fraction(1, 2**length) for length in lengths) <= 1
    )
    assert huffman_code(p).expected_length == pytest.approx(float(best / sum(counts)), rel=1e-12)


@given(weights)
def test_entropy_bounds_the_mean_length(counts: list[int]) -> None:
    p = normalized(counts)
    code = huffman_code(p)
    shannon = float(p @ np.array(shannon_lengths(p)))
    assert entropy(p, base=2) - 1e-12 <= code.expected_length <= shannon + 1e-12
    assert shannon < entropy(p, base=2) + 1
    assert kraft_sum(code.lengths) == 1
    assert kraft_sum(shannon_lengths(p)) <= 1


@given(weights, st.integers(2, 5))
def test_shannon_lengths_are_the_smallest_that_fit(counts: list[int], letters: int) -> None:
    p = normalized(counts)
    for share, length in zip(p, shannon_lengths(p, letters), strict=True):
        exact = Fraction(float(share))
        assert Fraction(1, letters**length) <= exact
        assert length == 0 or Fraction(1, letters ** (length - 1)) > exact


def test_powers_of_two_are_coded_without_loss() -> None:
    p = [0.5, 0.25, 0.125, 0.125]
    assert huffman_code(p).expected_length == entropy(p, base=2)
    assert shannon_lengths(p) == (1, 2, 3, 3)


@given(weights)
def test_words_are_prefix_free(counts: list[int]) -> None:
    words = huffman_code(normalized(counts)).words
    for a, b in itertools.permutations(words, 2):
        assert not b.startswith(a)


@given(weights, st.data())
def test_decoding_gives_the_message_back(counts: list[int], data: st.DataObject) -> None:
    code = huffman_code(normalized(counts))
    message = data.draw(st.lists(st.sampled_from(code.symbols), max_size=30))
    assert code.decode(code.encode(message)) == message


def test_symbols_of_a_mapping_keep_their_names() -> None:
    code = huffman_code({"x": 0.9, "y": 0.1, "z": 0.0})
    assert code.symbols == ("x", "y", "z")
    assert code.lengths == (1, 2, 2)


def test_a_symbol_alone_has_one_letter() -> None:
    assert huffman_code([1.0]).words == ("0",)


def test_deep_trees_do_not_recurse() -> None:
    # Fibonacci weights give the longest words there are; those below 1e-323 are taken as 0.
    weights = [1, 1]
    while len(weights) < 1400:
        weights.append(weights[-1] + weights[-2])
    total = sum(weights)
    code = huffman_code([float(Fraction(w, total)) for w in weights])
    assert max(code.lengths) > 800
    assert kraft_sum(code.lengths) == 1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: canonical_words([1, 1, 2]), "Kraft sum 5/4 exceeds 1"),
        (lambda: shannon_lengths([1.0, 0.0]), "position 1 has probability 0"),
        (lambda: shannon_lengths([0.5, 0.5], letters=1), "at least 2 letters"),
        (lambda: kraft_sum([1.5]), "whole number"),
        (lambda: kraft_sum([-1]), "got -1"),
        (lambda: huffman_code([0.5, 0.6]), "these to 1.1"),
        (lambda: huffman_code([0.5, 0.5]).encode([7]), "no word for 7"),
        (lambda: huffman_code([0.5, 0.25, 0.25]).decode("01"), "ends inside a word: '1'"),
    ],
)
def test_what_is_no_code_is_refused(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


def test_lengths_are_within_one_of_the_ideal() -> None:
    p = [0.4, 0.3, 0.2, 0.1]
    for share, length in zip(p, shannon_lengths(p), strict=True):
        assert 0 <= length + math.log2(share) < 1
