"""The plain automaton: sums over substrings by the definition."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from novum.kernels.strings.plain_automaton import PlainAutomaton
from tests.oracles.string_kernel_definitions import substrings

codes = st.lists(st.integers(0, 2), max_size=14)


@given(codes, codes, st.lists(st.integers(0, 5), min_size=15, max_size=15))
def test_reading_sums_over_all_shared_substrings(
    s: list[int], t: list[int], weights: list[int]
) -> None:
    cumulated = [float(sum(weights[:length])) for length in range(16)]
    read = PlainAutomaton(s, cumulated).read([*t, 7, *t])
    twice = substrings(s, [*t, 7, *t], lambda length: weights[length - 1])
    assert read == twice


def test_one_symbol_repeated() -> None:
    # n symbols have n + 1 - l substrings of length l; the sum of their squares is known.
    n = 50
    read = PlainAutomaton([0] * n, list(map(float, range(n + 1)))).read([0] * n)
    assert read == n * (n + 1) * (2 * n + 1) / 6


def test_all_symbols_different() -> None:
    n = 40
    read = PlainAutomaton(range(n), list(map(float, range(n + 1)))).read(range(n))
    assert read == math.comb(n + 1, 2)
