"""Suffix automata: their shape, their counts, and the same bits as the plain ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import MemoryLimitError
from novum.kernels.strings import automaton
from novum.kernels.strings.automaton import SuffixAutomata, built_automata, read_through
from novum.kernels.strings.plain_automaton import PlainAutomaton
from novum.kernels.strings.sequences import CodedStrings, coded_strings
from tests.oracles.string_kernel_definitions import gram_counts

strings = st.lists(st.lists(st.integers(0, 4), max_size=14), min_size=1, max_size=5)


def read_all(strings: CodedStrings, cumulated: Any) -> np.ndarray:
    n = len(strings)
    rows, out = np.arange(n), np.empty((n, n))
    bounds = np.zeros(n, np.int64), np.full(n, n)
    read_through(built_automata(strings, cumulated), rows, strings, rows, bounds, cumulated, out)
    return out


def substring_counts(automata: SuffixAutomata, i: int) -> dict[tuple[int, ...], int]:
    """Every path from the root, with the count of the state where it ends."""
    begin = automata.starts[i]
    at, n_states = 2 * begin + 2 * i, automata.sizes[i, 0]
    states = automata.states[at : at + n_states + 1]
    edges, letters = automata.edges[3 * begin :], automata.letters[begin:]
    found: dict[tuple[int, ...], int] = {}
    paths: list[tuple[tuple[int, ...], int]] = [((), 0)]
    while paths:
        path, state = paths.pop()
        for letter, target in edges[states[state, 3] : states[state + 1, 3]].tolist():
            longer = (*path, int(letters[letter]))
            found[longer] = int(states[target, 2])
            paths.append((longer, target))
    return found


@given(strings)
def test_paths_are_the_substrings_with_their_counts(X: list[list[int]]) -> None:
    coded = coded_strings(X, "Substrings")
    automata = built_automata(coded, np.arange(20.0))
    for i, (a, b) in enumerate(zip(coded.starts[:-1], coded.starts[1:], strict=True)):
        codes = coded.codes[a:b].tolist()
        expected: dict[Any, int] = {}
        for length in range(1, len(codes) + 1):
            expected |= gram_counts(codes, length)
        assert substring_counts(automata, i) == expected


@given(strings, st.floats(0.01, 1.0), st.sampled_from([1, 2**16]))
def test_compiled_and_plain_automata_have_the_same_bits(
    X: list[list[int]], decay: float, cells: int
) -> None:
    coded = coded_strings(X, "Substrings")
    cumulated = np.append(0.0, np.cumsum(decay ** np.arange(1.0, 20)))
    bounds = zip(coded.starts[:-1], coded.starts[1:], strict=True)
    texts = [coded.codes[a:b].tolist() for a, b in bounds]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(automaton, "TABLE_CELLS", cells)
        compiled = read_all(coded, cumulated)
    plain = [[PlainAutomaton(s, cumulated.tolist()).read(t) for t in texts] for s in texts]
    assert compiled.tobytes() == np.array(plain).tobytes()


def test_many_symbols_are_searched_for_and_few_are_tabled() -> None:
    rng = np.random.default_rng(0)
    X = [rng.integers(0, 4000, 5000).tolist(), rng.integers(0, 4, 300).tolist()]
    coded = coded_strings(X, "Substrings")
    found = read_all(coded, np.arange(5002.0))
    # Symbols are rarely repeated, so that substrings can be counted by their places.
    first, second = (np.array(x) for x in X)
    assert found[0, 1] == found[1, 0] >= (first[:, None] == second).sum()
    assert found[0, 0] >= 5000 * 5001 / 2


def test_automata_beyond_the_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOVUM_MEMORY_LIMIT", "1MB")
    strings = coded_strings(["ab" * 50_000], "Substrings")
    with pytest.raises(MemoryLimitError, match=r"automata of 100,000 symbols.*Spectrum\(up_to"):
        built_automata(strings, np.arange(100_002.0))
