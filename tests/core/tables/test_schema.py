"""Schemas: values that never change, one order of levels, and unions that forget nothing."""

import itertools
import pickle
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from novum.bayes import GaussianNB
from novum.core.errors import InputError, SchemaError
from novum.core.files.registry import estimator
from novum.core.tables import MISSING, UNSEEN, Column, Kind, Schema
from novum.core.tables.schema import sorted_levels
from novum.evaluation import cross_val_predict

levels = st.one_of(st.text(max_size=3), st.integers(-9, 9), st.booleans(), st.floats(-9, 9))
level_lists = st.lists(levels, max_size=8)


def nominal(*levels: Any, name: str = "c") -> Column:
    return Column(name, Kind.NOMINAL, levels)


def ordinal(*levels: Any, name: str = "size") -> Column:
    return Column(name, Kind.ORDINAL, levels)


def distinct(values: list[Any]) -> list[Any]:
    return list({(isinstance(v, bool), v): v for v in values}.values())


def types(column: Column) -> list[tuple[type, Any]]:
    return [(type(level), level) for level in column.levels]


# --- Values ---------------------------------------------------------------------------------------


def test_columns_and_schemas_cannot_be_changed() -> None:
    schema = Schema((nominal("a"),))
    with pytest.raises(FrozenInstanceError):
        schema.columns = ()  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        schema.columns[0].name = "other"  # type: ignore[misc]


def test_schemas_are_hashable_picklable_and_equal_by_value() -> None:
    schema = Schema((Column("age"), nominal("b", "a"), ordinal("low", "high")))
    again = Schema([Column("age"), nominal("a", "b"), ordinal("low", "high")])  # type: ignore[arg-type]
    assert schema == again
    assert hash(schema) == hash(again)
    assert pickle.loads(pickle.dumps(schema)) == schema
    assert schema != Schema((Column("age"), nominal("a", "b"), ordinal("high", "low")))
    assert schema.columns[0] != "age"


def test_positions_of_kinds() -> None:
    schema = Schema((nominal("a"), Column("x"), ordinal("low", "high"), Column("z")))
    assert schema.numeric.tolist() == [1, 3]
    assert schema.categorical.tolist() == [0, 2]
    assert [column.name for column in schema.categorical_columns] == ["c", "size"]
    assert not schema.is_numeric
    assert Schema.of_array(2) == Schema((Column("x0"), Column("x1")), named=False)
    assert Schema.of_array(2).is_numeric


def test_true_and_one_are_different_levels() -> None:
    assert nominal(True) != nominal(1)
    assert hash(nominal(1)) == hash(nominal(1.0))
    assert nominal(1) == nominal(1.0)
    assert types(nominal(1, True)) == [(bool, True), (int, 1)]
    united = nominal(True, False).unite(nominal(1, 2))
    assert types(united) == [(bool, False), (bool, True), (int, 1), (int, 2)]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Column("x", Kind.NUMERIC, ("a",)), r"Numeric column 'x' cannot have levels"),
        (lambda: nominal("a", "b", "a"), r"Column 'c' has a level twice: \('a', 'a', 'b'\)"),
        (lambda: ordinal(1, 1.0), "has a level twice"),
        (
            lambda: Schema((Column("a"), Column("b"), Column("a"))),
            r"'a' occurs 2 times\. Rename the columns",
        ),
    ],
)
def test_impossible_columns_are_named(make: Any, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        make()


def test_schema_errors_are_input_errors_and_value_errors() -> None:
    assert issubclass(SchemaError, InputError)
    assert issubclass(InputError, ValueError)


# --- Order of levels ------------------------------------------------------------------------------


def test_order_is_booleans_then_numbers_by_size_then_text_by_code_point() -> None:
    assert sorted_levels(["b", 10, "B", True, 2.5, "", False, -1, "ä", "z"]) == (
        False,
        True,
        -1,
        2.5,
        10,
        "",
        "B",
        "b",
        "z",
        "ä",
    )


@given(level_lists.map(distinct), st.randoms())
def test_order_depends_on_the_set_alone(values: list[Any], random: Any) -> None:
    shuffled = list(values)
    random.shuffle(shuffled)
    assert types(nominal(*values)) == types(nominal(*shuffled))


def test_ordinal_levels_keep_their_declared_order() -> None:
    assert ordinal("small", "large", "huge").levels == ("small", "large", "huge")


# --- Union ----------------------------------------------------------------------------------------


@given(level_lists, level_lists)
def test_union_of_parts_is_the_schema_of_the_whole(a: list[Any], b: list[Any]) -> None:
    parts = [Schema((nominal(*distinct(values)),)) for values in (a, b)]
    whole = Schema((nominal(*distinct(a + b)),))
    assert parts[0].unite(parts[1]) == whole
    assert parts[1].unite(parts[0]) == whole


@given(level_lists, level_lists, level_lists)
def test_union_is_associative_and_idempotent(a: list[Any], b: list[Any], c: list[Any]) -> None:
    x, y, z = (nominal(*distinct(values)) for values in (a, b, c))
    assert x.unite(y).unite(z) == x.unite(y.unite(z))
    assert x.unite(x) == x


def orders_that_contain(a: tuple[str, ...], b: tuple[str, ...]) -> list[tuple[str, ...]]:
    """The definition, by trying all orders of the union."""

    def contains(order: tuple[str, ...], part: tuple[str, ...]) -> bool:
        return tuple(level for level in order if level in part) == part

    everything = itertools.permutations(set(a) | set(b))
    return [order for order in everything if contains(order, a) and contains(order, b)]


@given(
    st.permutations("abcd").flatmap(lambda o: st.integers(0, 4).map(lambda k: tuple(o[:k]))),
    st.permutations("abcd").flatmap(lambda o: st.integers(0, 4).map(lambda k: tuple(o[:k]))),
)
def test_orders_unite_exactly_when_one_order_contains_both(
    a: tuple[str, ...], b: tuple[str, ...]
) -> None:
    possible = orders_that_contain(a, b)
    if len(possible) == 1:
        assert ordinal(*a).unite(ordinal(*b)).levels == possible[0]
    else:
        with pytest.raises(SchemaError, match="Ordinal column 'size' has its levels in two orders"):
            ordinal(*a).unite(ordinal(*b))


def test_numbers_in_an_order_are_not_guessed() -> None:
    with pytest.raises(SchemaError, match="Declare all levels in one order for both parts"):
        ordinal(1, 3).unite(ordinal(2, 3))


def test_columns_that_came_without_names_take_those_of_the_other() -> None:
    named = Schema((Column("age"), nominal("b", name="color")))
    array = Schema((Column("x0"), nominal("a", name="x1")), named=False)
    both = Schema((Column("age"), nominal("a", "b", name="color")))
    assert named.unite(array) == both
    assert array.unite(named) == both


def test_two_tables_without_names_unite_whatever_they_are_called() -> None:
    numbered = Schema((Column("0"), Column("1")), named=False)
    united = Schema.of_array(2).unite(numbered)
    assert united == Schema.of_array(2)
    assert not united.named


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (Schema((Column("a"), Column("b"))), "A table of 1 columns does not fit one of 2"),
        (Schema((Column("b"),)), r"Column 'a' \(numeric\) does not fit column 'b' \(numeric\)"),
        (Schema((nominal("u", name="a"),)), r"'a' \(numeric\) does not fit column 'a' \(nominal\)"),
    ],
)
def test_tables_that_do_not_fit_together_say_why(other: Schema, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        Schema((Column("a"),)).unite(other)


# --- Codes ----------------------------------------------------------------------------------------


@given(level_lists.map(distinct), level_lists.map(distinct), st.data())
def test_recoding_keeps_every_label(a: list[Any], b: list[Any], data: Any) -> None:
    old = Schema((nominal(*a), Column("x"), nominal(*a, name="d")))
    united = old.unite(Schema((nominal(*b), Column("x"), nominal(*b, name="d"))))
    code = st.integers(-2, len(a) - 1)
    codes = np.array(data.draw(st.lists(st.tuples(code, code), min_size=1)), np.int32)
    new = old.recode(codes, united)
    assert new.dtype == np.int32

    def labels(schema: Schema, codes: Any) -> list[Any]:
        columns = schema.categorical_columns
        return [
            repr(columns[j].levels[code]) if code >= 0 else code
            for row in codes.tolist()
            for j, code in enumerate(row)
        ]

    assert labels(united, new) == labels(old, codes)


def test_a_level_that_the_other_schema_lacks_becomes_unseen() -> None:
    old, narrow = Schema((nominal("a", "b"),)), Schema((nominal("b"),))
    codes = np.array([[0], [1], [MISSING], [UNSEEN]], np.int32)
    assert old.recode(codes, narrow).ravel().tolist() == [UNSEEN, 0, MISSING, UNSEEN]
    empty = Schema((nominal(),))
    assert old.recode(codes, empty).ravel().tolist() == [UNSEEN, UNSEEN, MISSING, UNSEEN]


@pytest.mark.parametrize("container", ["pandas", "arrow"])
@pytest.mark.parametrize("method", ["fit", "predict", "validate"])
@pytest.mark.parametrize("name", ["GaussianNB", "BaggingClassifier", "PCA", "SelectPercentile"])
def test_two_columns_of_one_name_are_refused_in_our_words(
    name: str, method: str, container: str
) -> None:
    cells, y = np.random.default_rng(0).normal(size=(12, 3)), np.tile([0, 1], 6)
    names = ["a", "b", "a"]
    twice = pd.DataFrame(cells, columns=names)
    if container == "arrow":
        twice = pa.table(list(cells.T), names=names)
    learner = estimator(name)()
    right = learner.fit(pd.DataFrame(cells, columns=["a", "b", "c"]), y)
    question = {
        "fit": lambda: clone(learner).fit(twice, y),
        "predict": lambda: (right.predict if hasattr(right, "predict") else right.transform)(twice),
        "validate": lambda: cross_val_predict(GaussianNB(), twice, y, cv=2),
    }[method]
    with pytest.raises(SchemaError, match="Column names must differ; 'a' occurs 2 times"):
        question()
