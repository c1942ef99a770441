"""Natures of columns: each rule, and what is close to it and still a feature."""

from __future__ import annotations

import numpy as np
import pytest

from novum.apps.job.table.column_cells import Cells
from novum.apps.job.table.column_natures import FEATURE, is_identifier_name, nature_of
from novum.core.tables import Column, Kind
from tests.apps.job.table.tables import numbers, words


def test_columns_without_values_and_without_variation() -> None:
    assert nature_of(numbers(None, None)).name == "empty"
    assert nature_of(words(None, None)).name == "empty"
    assert nature_of(numbers(3, 3, 3)).reason == "constant: every cell is 3"
    assert nature_of(words("a", "a")).reason == "constant: every cell is 'a'"
    # Whether a cell is missing may say something, so these can be learned from.
    assert nature_of(numbers(3, None, 3)) == FEATURE
    assert nature_of(words("a", None)) == FEATURE


def test_numbers_that_count_rows_are_identifiers() -> None:
    order = np.random.default_rng(0).permutation(50) + 7.0
    assert nature_of(Cells(Column("x"), order)).name == "identifier"
    assert nature_of(Cells(Column("x"), order[:19])) == FEATURE
    twice = np.concatenate([order, order])
    assert nature_of(Cells(Column("x"), twice)) == FEATURE
    assert nature_of(Cells(Column("x"), order + 0.5)) == FEATURE


def test_names_tell_identifiers_only_where_all_numbers_differ() -> None:
    sparse = np.arange(40.0) * 17 + 1000
    assert nature_of(Cells(Column("patient_id"), sparse)).name == "identifier"
    assert nature_of(Cells(Column("income"), sparse)) == FEATURE
    assert nature_of(Cells(Column("patient_id"), np.repeat(sparse[:20], 2))) == FEATURE


@pytest.mark.parametrize("name", ["id", "ID", "customer id", "rowKey", "Unnamed: 0", "user.uuid"])
def test_names_of_identifiers(name: str) -> None:
    assert is_identifier_name(name)


@pytest.mark.parametrize("name", ["width", "humidity", "video", "monkey", "valid", "key_rate_x1y"])
def test_names_of_features(name: str) -> None:
    assert is_identifier_name(name) == (name == "key_rate_x1y")


def test_levels_with_a_row_each_are_identifiers() -> None:
    codes = words(*[f"K{i:03d}" for i in range(30)])
    assert nature_of(codes).reason == "an identifier: 30 different values in 30 rows"
    assert nature_of(words(*[f"K{i:03d}" for i in range(10)])) == FEATURE
    assert nature_of(words(*[f"K{i:03d}" for i in range(15)] * 2)) == FEATURE


def test_dates_and_texts() -> None:
    days = words(*[f"2024-0{1 + i % 9}-1{i % 7}" for i in range(30)])
    assert nature_of(days).name == "date"
    assert nature_of(words("2024-01-31", "soon")) == FEATURE
    sentences = words(*[f"patient {i} was seen twice" for i in range(30)])
    assert nature_of(sentences).name == "text"
    assert "5.0 words" in nature_of(sentences).reason


def test_truth_values_and_ordered_levels_are_features() -> None:
    assert nature_of(words(True, False)) == FEATURE
    ordered = words(*[f"K{i}" for i in range(30)], kind=Kind.ORDINAL)
    assert nature_of(ordered) == FEATURE
