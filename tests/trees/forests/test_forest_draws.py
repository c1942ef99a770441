"""Draws of rows: repeatable, in proportion to weights, and known again."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from novum.core.errors import InputError, MemoryLimitError
from novum.trees.forests.forest_draws import ForestDraws, checksum, n_row_draws

WORDS = np.array([1, 2, 3, 4], np.uint32)


def draws(n_rows: int = 40, n_draws: int = 40, **more: object) -> ForestDraws:
    return ForestDraws(WORDS, 0, 100, n_rows, n_draws, **more)  # type: ignore[arg-type]


def test_the_same_tree_draws_the_same_rows() -> None:
    np.testing.assert_array_equal(draws().rows(3), draws().rows(3))
    assert (draws().rows(3) != draws().rows(4)).any()
    assert draws().seed(3) == draws().seed(3) != draws().seed(4)


@given(st.integers(1, 60), st.integers(1, 60), st.booleans())
def test_counts_and_unseen_rows_are_those_of_the_draws(n: int, m: int, weighted: bool) -> None:
    weight = np.arange(1.0, n + 1) if weighted else None
    found = draws(n, m, weight=weight)
    rows = found.rows(0)
    assert rows.size == m
    assert rows.min() >= 0
    assert rows.max() < n
    assert found.counts(range(1))[0].tolist() == [int((rows == i).sum()) for i in range(n)]
    assert set(found.out_of_bag(0)) == set(range(n)) - set(rows.tolist())


def test_without_draws_every_tree_sees_all_rows() -> None:
    found = draws(5, 0)
    assert found.rows(0).tolist() == [0, 1, 2, 3, 4]
    assert found.out_of_bag(0).size == 0


def test_rows_are_drawn_in_proportion_to_their_weights() -> None:
    weight = np.array([1.0, 0.0, 2.0, 5.0])
    counts = draws(4, 1000, weight=weight).counts(range(20)).sum(axis=0)
    assert counts[1] == 0
    kept = weight > 0
    # A fixed seed; the test would fail by chance for one seed in a thousand.
    assert stats.chisquare(counts[kept], 20_000 * weight[kept] / 8).pvalue > 1e-3


def test_positions_are_those_of_the_given_table() -> None:
    found = draws(3, 50, kept=np.array([1, 4, 6]))
    assert set(found.given_rows(0).tolist()) == {1, 4, 6}


@pytest.mark.parametrize(
    ("max_samples", "weight", "expected"),
    [
        (None, np.full(10, 3.0), 10),
        (4, np.ones(10), 4),
        (0.5, np.ones(10), 5),
        (0.5, np.full(10, 4.0), 20),
        (0.01, np.ones(10), 1),
    ],
)
def test_number_of_draws(max_samples: object, weight: np.ndarray, expected: int) -> None:
    assert n_row_draws(max_samples, weight) == expected


def test_tiny_weights_give_few_draws_and_a_warning() -> None:
    with pytest.warns(UserWarning, match="weights of mean 1"):
        assert n_row_draws(0.5, np.full(100, 0.01)) == 1


def test_draws_beyond_the_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOVUM_MEMORY_LIMIT", "100MB")
    with pytest.raises(MemoryLimitError, match="divide the weights by their mean"):
        n_row_draws(1.0, np.full(10, 1e9))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seed_words": np.zeros(3, np.uint32)}, "four words"),
        ({"first": 5, "stop": 4}, "are none"),
        ({"n_rows": 0}, "are none"),
        ({"weight": np.ones(3)}, "weight of other length"),
        ({"kept": np.arange(3)}, "kept of other length"),
    ],
)
def test_draws_that_cannot_be_are_refused(change: dict[str, object], message: str) -> None:
    given_ = {"seed_words": WORDS, "first": 0, "stop": 2, "n_rows": 4, **change}
    with pytest.raises(InputError, match=message):
        ForestDraws(**given_)  # type: ignore[arg-type]


def test_checksum_notices_a_changed_cell_and_another_order() -> None:
    rows = np.arange(12.0).reshape(4, 3)
    other = rows.copy()
    other[2, 1] = np.nextafter(other[2, 1], 9.0)
    sums = {checksum(rows), checksum(other), checksum(rows[::-1]), checksum(rows, rows)}
    assert len(sums) == 4
