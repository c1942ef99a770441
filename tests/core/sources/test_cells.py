"""Cells: numbers against Python's float, markers, blanks, decimals, overflow."""

import math

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.sources import DATE, DEFAULT_MISSING, CellReader, all_match, is_number_text

usual = CellReader(frozenset(DEFAULT_MISSING))


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=20))
def test_every_float_comes_back_exactly(values: list[float]) -> None:
    parsed = usual.numbers(pa.array([repr(value) for value in values]))
    assert parsed.words is None
    assert parsed.values.to_pylist() == values


@given(st.text(alphabet="0123456789+-.eE, xinf", max_size=8))
def test_a_number_is_what_float_accepts_without_extras(text: str) -> None:
    try:
        value: float | None = float(text)
    except ValueError:
        value = None
    assert is_number_text(text.strip()) == (value is not None)
    parsed = usual.numbers(pa.array([text, "word"]))
    if value is not None and (math.isfinite(value) or "inf" in text.lower()):
        assert parsed.values.to_pylist() == [value, None]
    elif text.strip() not in DEFAULT_MISSING:
        assert parsed.words is not None
        assert parsed.words.to_pylist() == [True, True]


def test_fast_and_slow_way_agree() -> None:
    cells = ["1", "-2.5", "1e3", None, "inf"]
    fast = usual.numbers(pa.array(cells[:4], pa.string()))
    slow = usual.numbers(pa.array([*cells[:4], " 7 "], pa.string()))
    assert slow.values.to_pylist() == [*fast.values.to_pylist(), 7.0]
    assert usual.numbers(pa.array(cells, pa.string())).values.to_pylist()[-1] == math.inf


@pytest.mark.parametrize("marker", DEFAULT_MISSING)
def test_markers_are_missing_with_and_without_blanks(marker: str) -> None:
    cells = pa.array([marker, f" {marker} ", "4"])
    assert usual.numbers(cells).values.to_pylist() == [None, None, 4.0]
    assert usual.levels(cells).to_pylist() == [None, None, "4"]


def test_markers_are_configurable() -> None:
    reader = CellReader(frozenset({"-9"}))
    assert reader.numbers(pa.array(["-9", "5"])).values.to_pylist() == [None, 5.0]
    assert reader.numbers(pa.array([" -9", "5"])).values.to_pylist() == [None, 5.0]
    assert reader.levels(pa.array(["-9", "?"])).to_pylist() == [None, "?"]


def test_a_number_beyond_float64_is_a_word_and_not_infinity() -> None:
    parsed = usual.numbers(pa.array(["1e999", "1"]))
    assert parsed.values.to_pylist() == [None, 1.0]
    assert parsed.words is not None
    assert parsed.words.to_pylist() == [True, False]


def test_decimal_commas() -> None:
    reader = CellReader(frozenset({""}), decimal=",")
    parsed = reader.numbers(pa.array(["1,5", "-2", "", "1.234,5", "3.5"]))
    assert parsed.values.to_pylist() == [1.5, -2.0, None, None, None]
    assert parsed.words is not None
    assert parsed.words.to_pylist() == [False, False, False, True, True]


def test_levels_lose_blanks_and_the_loss_is_counted() -> None:
    cells = pa.array([" a", "a", "b ", "c d"])
    assert usual.levels(cells).to_pylist() == ["a", "a", "b", "c d"]
    assert usual.levels(cells).dictionary.to_pylist() == ["a", "b", "c d"]
    assert usual.trimmed(cells) == 2


@pytest.mark.parametrize(
    ("cell", "dated"),
    [
        ("2024-02-29", True),
        ("2024-02-29T12:30:00Z", True),
        ("29.02.2024 08:15", True),
        ("2/29/24", True),
        ("20240229", False),
        ("1.2.3.4", False),
        ("May", False),
    ],
)
def test_dates_are_known_by_their_form(cell: str, dated: bool) -> None:
    assert all_match(DATE, [cell]) is dated


def test_no_values_are_no_dates() -> None:
    assert not all_match(DATE, [])
