"""The streams of kernels are NumPy's, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

from novum.numerics.seeded_stream_kernels import (
    draw_counts,
    positive_words,
    stream_scratch,
    whole_numbers,
)

WORDS = np.random.default_rng(5).integers(0, 2**32, 8, dtype=np.uint32)


def numpys(task: int) -> np.random.Generator:
    key = (*WORDS[4:].tolist(), task)
    return np.random.default_rng(np.random.SeedSequence(WORDS[:4].tolist(), spawn_key=key))


def test_first_words_of_many_streams() -> None:
    out = np.empty(300, np.uint64)
    positive_words(WORDS, 2**31, stream_scratch(), out)
    expected = [numpys(2**31 + i).integers(1, 2**64, dtype=np.uint64) for i in range(300)]
    assert out.tolist() == expected


# Of the last two, a quarter and almost a half of the words are drawn anew.
@pytest.mark.parametrize("n", [1, 2, 3, 150, 2**16, 2**32 - 1, 3 * 2**30, 2**31 + 1])
def test_whole_numbers(n: int) -> None:
    out = np.empty(75, np.int64)
    for task in range(20):
        whole_numbers(WORDS, task, n, stream_scratch(), out)
        assert out.tolist() == numpys(task).integers(0, n, 75).tolist()


@pytest.mark.parametrize("n", [1, 7])
def test_counts_of_draws(n: int) -> None:
    out = np.full((9, n), -1, np.int32)
    draw_counts(WORDS, 4, 20, stream_scratch(), out)
    for place in range(9):
        drawn = numpys(4 + place).integers(0, n, 20)
        assert out[place].tolist() == np.bincount(drawn, minlength=n).tolist()
