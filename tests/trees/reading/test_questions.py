"""Words for thresholds, sets and cells: exact texts, and numbers that can be read back."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.tables import Column, Kind, Schema
from novum.trees.reading.conditions import Interval, LevelSet
from novum.trees.reading.questions import (
    answer_text,
    branch_answer,
    branch_text,
    cell_text,
    column_digits,
    condition_text,
    level_text,
    name_text,
    number_between,
    number_text,
)
from tests.trees.reading.reading_trees import (
    RANDOM_SCHEMA,
    among,
    below,
    build,
    iris_tree,
    leaf,
    weather_tree,
)

SIZE = Column("size", Kind.ORDINAL, ("S", "M", "L", "XL"))
COLOR = Column("color", Kind.NOMINAL, ("blue", "green", "red"))
finite = st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (1.75, "1.75"),
        (-0.0, "0"),
        (0.1 + 0.2, "0.3"),
        (123456.5, "123456.5"),
        (1234567.5, "1234567.5"),
        (1e-7, "1e-07"),
        (1e20, "1e+20"),
        (1e300, "1e+300"),
        (2.0**51 + 0.5, "2251799813685248.5"),
        (-math.inf, "-inf"),
        (math.nan, "missing"),
    ],
)
def test_numbers_are_short_and_readable(x: float, text: str) -> None:
    assert number_text(x) == text


@given(finite)
def test_seventeen_digits_give_the_number_back(x: float) -> None:
    assert float(number_text(x, 17)) == x


@given(finite)
def test_six_digits_are_right_to_six_digits(x: float) -> None:
    assert float(number_text(x)) == pytest.approx(x, rel=5.0001e-6, abs=5e-324)


@given(finite, finite)
def test_a_written_threshold_still_separates_its_neighbors(a: float, b: float) -> None:
    low, high = min(a, b), max(a, b)
    if low < high:
        middle = low / 2 + high / 2
        middle = middle if low <= middle < high else low
        assert low <= float(number_between(middle, low, high)) < high


@pytest.mark.parametrize(
    ("column", "condition", "text"),
    [
        (Column("x"), Interval(high=1.75), "x <= 1.75"),
        (Column("x"), Interval(low=1.75, missing=True), "x > 1.75 or missing"),
        (Column("x"), Interval(2.0, 5.0), "2 < x <= 5"),
        (Column("x"), Interval(2.0, 5.0, missing=True), "2 < x <= 5 or missing"),
        (Column("x"), Interval(), "x known"),
        (Column("x"), Interval(missing=True), "x anything"),
        (Column("x"), Interval(5.0, 2.0, missing=True), "x missing"),
        (Column("x"), Interval(5.0, 2.0), "x never"),
        (SIZE, Interval(high=1.0), "size <= M"),
        (SIZE, Interval(low=1.0), "size > M"),
        (SIZE, Interval(0.0, 1.0), "size = M"),
        (SIZE, Interval(0.0, 2.0), "S < size <= L"),
        (COLOR, LevelSet((2,), 3), "color = red"),
        (COLOR, LevelSet((0, 2), 3), "color in {blue, red}"),
        (COLOR, LevelSet((0, 1, 2), 3), "color known"),
        (COLOR, LevelSet((0,), 3, missing=True), "color = blue or missing"),
    ],
)
def test_conditions_in_words(column: Column, condition: Interval | LevelSet, text: str) -> None:
    assert condition_text(column, condition) == text


def test_an_answer_is_the_condition_without_its_column() -> None:
    assert answer_text(Column("x"), Interval(2.0, 5.0)) == "in (2, 5]"
    assert branch_answer(weather_tree(), 0, 2) == "= sunny"
    assert branch_text(iris_tree(), 2, 1) == "petal width > 1.75 or missing"
    tree = build(RANDOM_SCHEMA, [["x", "y"]], among(2, [0, -1, 1, 1], leaf(1, 0), leaf(0, 1)))
    assert branch_text(tree, 0, 1) == "c in {r, s}"


def test_thresholds_of_one_column_never_look_equal() -> None:
    tree = build(
        Schema.of_array(2),
        [["x", "y"]],
        below(0, 0.12345678, leaf(1, 0), below(0, 0.12345679, leaf(1, 1), leaf(0, 1))),
    )
    assert column_digits(tree) == [8, 6]
    assert branch_text(tree, 0, 0, 8) != branch_text(tree, 2, 0, 8)


@pytest.mark.parametrize(
    ("levels", "texts"),
    [
        (("a", "b c"), ["a", "b c"]),
        (("", " a", "a, b", "missing"), ["''", "' a'", "'a, b'", "'missing'"]),
        ((1, "1"), ["1", "'1'"]),
        ((False, True), ["False", "True"]),
        ((0.1,), ["0.1"]),
    ],
)
def test_levels_cannot_be_misread(levels: tuple[str, ...], texts: list[str]) -> None:
    column = Column("c", Kind.NOMINAL, levels)
    assert [level_text(column, code) for code in range(len(levels))] == texts


def test_cells_in_words() -> None:
    assert cell_text(COLOR, 2.0) == "red"
    assert cell_text(COLOR, -2.0) == "an unseen level"
    assert cell_text(COLOR, math.nan) == "missing"
    assert cell_text(SIZE, 1.0) == "M"
    assert cell_text(Column("x"), 1.25) == "1.25"


def test_odd_characters_are_shown_by_their_codes() -> None:
    column = Column("in\x1b[2Jcome", Kind.NOMINAL, ("a\u202eb", "z" * 200))
    assert condition_text(column, LevelSet((0,), 2)) == "in\\x1b[2Jcome = a\\u202eb"
    assert len(level_text(column, 1)) == 60
    assert name_text("a\nb") == "a\\nb"
