"""The profile of a table: brute-force counts of rows and patterns, and the target apart."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.apps.job.table.profile import profile_table, target_values
from novum.core.tables import Column, Schema
from novum.data import available, load
from tests.apps.job.table.tables import loaded, numbers, words

cells = st.sampled_from([0.0, 1.0, None])
tables = st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=25)


@given(tables)
def test_rows_and_patterns_are_those_of_counting(rows: list[tuple[float | None, ...]]) -> None:
    columns = [pa.array([row[j] for row in rows], pa.float64()) for j in range(3)]
    table = pa.table(columns, names=["a", "b", "c"])
    found = profile_table(table, Schema(tuple(map(Column, "abc"))))
    assert found.n_rows == found.seen_rows == len(rows)
    assert found.n_duplicate_rows == len(rows) - len(set(rows))
    assert found.n_complete_rows == sum(None not in row for row in rows)
    patterns = Counter(
        tuple(name for name, cell in zip("abc", row, strict=True) if cell is None) for row in rows
    )
    patterns.pop((), None)
    assert dict(found.missing_patterns) == dict(patterns)
    counts = [count for _, count in found.missing_patterns]
    assert counts == sorted(counts, reverse=True)


@pytest.mark.parametrize("name", available())
def test_bundled_tables(name: str) -> None:
    table = load(name)
    found = profile_table(table.table, table.schema, table.target)
    assert found.target is not None
    assert found.target.name == table.target
    assert len(found.columns) == table.schema.n_columns - 1
    missing = sum(column.n_missing for column in (*found.columns, found.target))
    assert missing == sum(column.null_count for column in table.table.columns)
    assert all(0 <= column.association <= 1 for column in found.columns)
    # Plain values only, and no NaN.
    json.dumps(asdict(found), allow_nan=False)


def test_without_a_target_nothing_is_associated() -> None:
    table = load("iris")
    found = profile_table(table.table, table.schema)
    assert found.target is None
    assert len(found.columns) == 5
    assert {column.association for column in found.columns} == {None}


def test_the_kind_of_the_target_can_be_said() -> None:
    y = np.tile(np.arange(5.0), 20)
    table = loaded("y", x=y * 2, y=y)
    auto = profile_table(table.table, table.schema, "y").columns[0].association
    number = profile_table(table.table, table.schema, "y", "regression").columns[0].association
    assert number == pytest.approx(1.0)
    # As classes the bias is taken off: (5 - 1)^2 / 200 of log 5.
    assert auto == pytest.approx(1 - 16 / 200 / np.log(5))


def test_targets_by_kind() -> None:
    assert target_values(numbers(0, 1, None)).values.tolist() == [0, 1]
    assert target_values(numbers(0, 1, None)).n_classes == 2
    amounts = target_values(numbers(0.5, np.inf, None, 2), "regression")
    assert amounts.values.tolist() == [0.5, 2.0]
    assert amounts.rows.tolist() == [True, False, False, True]
    assert target_values(words("b", "a", None)).values.tolist() == [1, 0]
