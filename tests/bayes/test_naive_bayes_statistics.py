"""Statistics of naive Bayes: they add up, come off, and unite classes and levels by label."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest

from novum.bayes import BernoulliNB, GaussianNB, MultinomialNB, NaiveBayes
from novum.bayes.naive_bayes_statistics import Reading
from novum.core import Kind
from novum.core.errors import InputError, SchemaError
from tests.bayes.naive_bayes_tables import counts, mixed, mixed_model, numbers

MODEL = NaiveBayes()


def frame(rows: list[tuple[Any, Any]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["color", "size"])


def test_sums_are_what_one_counts_by_hand() -> None:
    table = frame([("red", 1.0), ("red", 3.0), ("blue", None), (None, 5.0)])
    found = MODEL.statistics(table, ["a", "a", "b", "a"], [1, 1, 2, 1])
    assert found.classes.tolist() == ["a", "b"]
    assert found.class_count.tolist() == [3.0, 2.0]
    assert found.rows == 4
    assert found.schema.columns[0].levels == ("blue", "red")
    assert found.table(0).tolist() == [[0.0, 2.0], [2.0, 0.0]]
    assert found.moments.weight.tolist() == [3.0, 0.0]
    assert found.moments.mean.tolist() == [3.0, 0.0]
    assert found.moments.scatter.tolist() == [8.0, 0.0]


def test_sums_unite_classes_and_levels_by_label() -> None:
    first = MODEL.statistics(frame([("red", 1.0), ("green", 2.0)]), ["b", "c"])
    second = MODEL.statistics(frame([("blue", 5.0), ("red", 7.0)]), ["a", "b"])
    both = first + second
    whole = frame([("red", 1.0), ("green", 2.0), ("blue", 5.0), ("red", 7.0)])
    assert both.isclose(MODEL.statistics(whole, ["b", "c", "a", "b"]))
    assert both.classes.tolist() == ["a", "b", "c"]
    assert both.schema.columns[0].levels == ("blue", "green", "red")


def test_what_only_removed_rows_had_is_gone() -> None:
    whole = frame([("red", 1.0), ("red", 2.0), ("blue", 5.0)])
    rest = MODEL.statistics(whole, ["a", "a", "b"]) - MODEL.statistics(whole[2:], ["b"])
    assert rest.isclose(MODEL.statistics(whole[:2], ["a", "a"]))
    assert rest.classes.tolist() == ["a"]
    assert rest.schema.columns[0].levels == ("red",)


def test_declared_classes_and_ordinal_levels_stay() -> None:
    grades = pd.Categorical(["low", "high"], ["low", "high"], ordered=True)
    table = pd.DataFrame({"grade": grades})
    whole = MODEL.statistics(table, ["a", "b"]).with_classes(["a", "b", "z"])
    rest = whole - MODEL.statistics(table[1:], ["b"])
    assert rest.classes.tolist() == ["a", "z"]
    assert rest.schema.columns[0].kind is Kind.ORDINAL
    assert rest.schema.columns[0].levels == ("low", "high")


def test_fractional_weights_come_off_without_a_trace() -> None:
    X, y = counts()
    weight = np.random.default_rng(0).random(len(y))
    model = MultinomialNB()
    whole = model.statistics(X, y, weight)
    rest = whole - model.statistics(X[y == 1], y[y == 1], weight[y == 1])
    assert rest.classes.tolist() == [0]
    assert rest.isclose(model.statistics(X[y == 0], y[y == 0], weight[y == 0]))


def test_removing_rows_that_were_never_there_is_refused() -> None:
    X, y = numbers()
    few, many = GaussianNB().statistics(X[:9], y[:9]), GaussianNB().statistics(X, y)
    with pytest.raises(InputError, match="never added: class 0 has weight"):
        few - many


def test_multiples_and_zero() -> None:
    X, y = mixed()
    model = mixed_model()
    sums = model.statistics(X, y)
    assert (3 * sums).isclose(sums + sums + sums)
    assert (sums * 2.0).rows == sums.rows
    assert sums.zero().rows == 0
    assert sums.zero().class_count.tolist() == [0.0, 0.0, 0.0]
    with pytest.raises(InputError, match="at least 0, got -1"):
        -1 * sums


def test_statistics_of_other_readings_do_not_mix() -> None:
    X, y = counts()
    with pytest.raises(InputError, match="read their columns differently"):
        MultinomialNB().statistics(X, y) + BernoulliNB().statistics(X, y)
    with pytest.raises(SchemaError, match="5 columns does not fit one of 4"):
        MultinomialNB().statistics(X, y) + MultinomialNB().statistics(X[:, :4], y)
    with pytest.raises(InputError, match="different types"):
        GaussianNB().statistics(X, y) + GaussianNB().statistics(X, y.astype(str))


def test_sums_survive_pickle_and_differ_when_they_differ() -> None:
    X, y = mixed()
    sums = mixed_model().statistics(X, y)
    assert pickle.loads(pickle.dumps(sums)).isclose(sums)
    assert not sums.isclose(1.001 * sums)


def test_huge_counts_stay_exact() -> None:
    X = np.array([[1e9, 1.0], [1e9, 2.0], [3.0, 1e9]])
    model = MultinomialNB()
    sums = model.statistics(X, [0, 0, 1], [1e6, 1, 1])
    assert sums.totals.tolist() == [[1e15 + 1e9, 1e6 + 2.0], [3.0, 1e9]]
    rest = sums - model.statistics(X[:1], [0], [1e6])
    assert rest.totals.tolist() == [[1e9, 2.0], [3.0, 1e9]]


def test_reading_splits_numbers_from_counts() -> None:
    numbers_at, counts_at = Reading((1, 3), (None, 0.5)).split(4)
    assert (numbers_at.tolist(), counts_at.tolist()) == ([0, 2], [1, 3])
    assert Reading(None).split(2)[1].tolist() == [0, 1]
