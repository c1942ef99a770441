"""Weights of levels: counting by hand, sums by label, removal, and refusals."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import InputError
from novum.core.tables import Column, Kind, check_sample
from novum.data.filling import FillMissing
from novum.data.filling.filling_columns import LevelCounts

words = st.lists(st.sampled_from(["a", "b", "c", None]), min_size=1, max_size=12)


def counts_of(cells: list[str | None], weight: list[float] | None = None) -> LevelCounts:
    X = np.array([[cell] for cell in cells], object)
    found = check_sample(
        FillMissing(categorical_features="all"), X, None, weight, target="none", allow_missing=True
    )
    return LevelCounts.of(found)


def as_counter(counts: LevelCounts) -> Counter[str]:
    pairs = zip(counts.columns[0].levels, counts.column(0), strict=True)
    return Counter({str(level): int(count) for level, count in pairs if count})


@given(words)
def test_counts_are_those_of_a_counter(cells: list[str | None]) -> None:
    found = counts_of(cells)
    assert as_counter(found) == Counter(cell for cell in cells if cell is not None)
    assert found.missing.tolist() == [cells.count(None)]


@given(words, words)
def test_parts_unite_by_label_and_come_off(a: list[str | None], b: list[str | None]) -> None:
    whole = counts_of(a + b)
    both = counts_of(a) + counts_of(b)
    assert both.isclose(whole)
    assert (both - counts_of(b)).isclose(counts_of(a))
    assert (2.0 * counts_of(a)).isclose(counts_of(a + a))


def test_what_was_never_added_cannot_be_removed() -> None:
    with pytest.raises(InputError, match="never added"):
        counts_of(["a"]) - counts_of(["b"])
    with pytest.raises(InputError, match="never added"):
        counts_of(["a"]) - counts_of(["a", None])


def test_ties_go_to_the_first_level() -> None:
    assert counts_of(["b", "a"]).most_frequent(0) == "a"
    assert counts_of(["b", "b", "a"]).most_frequent(0) == "b"
    assert counts_of([None]).most_frequent(0) is None


@pytest.mark.parametrize(
    ("weights", "expected"),
    [([1.0, 1.0, 1.0], "mid"), ([2.0, 1.0, 1.0], "low"), ([1.0, 0.0, 5.0], "high")],
)
def test_the_median_level_has_half_of_the_weight_up_to_it(
    weights: list[float], expected: str
) -> None:
    column = Column("size", Kind.ORDINAL, ("low", "mid", "high"))
    assert LevelCounts((column,), np.array(weights), np.zeros(1)).median(0) == expected


def test_no_weight_has_no_median() -> None:
    column = Column("size", Kind.ORDINAL, ("low",))
    assert LevelCounts((column,), np.zeros(1), np.ones(1)).median(0) is None


def test_lengths_and_columns_must_fit() -> None:
    column = Column("c", Kind.NOMINAL, ("a",))
    with pytest.raises(InputError, match="wrong lengths"):
        LevelCounts((column,), np.zeros(2), np.zeros(1))
    one = LevelCounts((column,), np.ones(1), np.zeros(1))
    none = LevelCounts((), np.zeros(0), np.zeros(0))
    with pytest.raises(InputError, match="do not combine"):
        one + none
