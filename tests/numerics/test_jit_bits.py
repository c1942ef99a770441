"""Bits of 64-bit words, against Python's integers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba.core.errors import TypingError

from novum.numerics import kernel, lean_kernel, set_bits, trailing_zeros
from novum.numerics.jit_interpreted import interpreted


@lean_kernel("int64(uint64)")
def lowest_bit(word: Any) -> Any:
    return trailing_zeros(word)


@lean_kernel("int64(uint64, int64[::1])")
def listed_bits(word: Any, out: Any) -> Any:
    count = 0
    while word != np.uint64(0):
        out[count] = trailing_zeros(word)
        count += 1
        word &= word - np.uint64(1)
    return count


@lean_kernel("int64(uint64)")
def number_of_bits(word: Any) -> Any:
    return set_bits(word)


@kernel("int64(int64)")
def bits_of_a_signed_word(word: Any) -> Any:
    return set_bits(word)


@kernel("int64(int64)")
def of_a_signed_word(word: Any) -> Any:
    return trailing_zeros(word)


@pytest.mark.parametrize("place", range(64))
def test_each_bit(place: int) -> None:
    assert lowest_bit(np.uint64(2**place)) == place
    # Bits above it do not matter.
    assert lowest_bit(np.uint64(2**64 - 2**place)) == place


def test_zero_has_all_of_them() -> None:
    assert lowest_bit(np.uint64(0)) == 64


@given(st.integers(0, 2**64 - 1))
def test_a_word_taken_apart(word: int) -> None:
    out = np.empty(64, np.int64)
    count = listed_bits(np.uint64(word), out)
    assert out[:count].tolist() == [place for place in range(64) if word >> place & 1]
    assert number_of_bits(np.uint64(word)) == interpreted(number_of_bits)(word) == count


def test_other_types_are_refused() -> None:
    with pytest.raises(TypingError):
        of_a_signed_word(4)
    with pytest.raises(TypingError):
        bits_of_a_signed_word(4)
