"""Cells of a column: every Arrow form of a column gives the same numbers and codes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from novum.apps.job.table.column_cells import cells_of
from novum.core.tables import Column, Kind

NOMINAL = Column("c", Kind.NOMINAL, ("a", "b"))


@pytest.mark.parametrize(
    "values",
    [
        pa.array(["b", None, "a", "b"]),
        pa.array(["b", None, "a", "b"]).dictionary_encode(),
        pa.DictionaryArray.from_arrays(pa.array([1, None, 0, 1]), pa.array(["a", "b"])),
        pa.chunked_array([["b", None], ["a", "b"]]),
    ],
    ids=["text", "coded otherwise", "coded by the schema", "chunks"],
)
def test_levels_have_the_codes_of_the_schema(values: pa.Array) -> None:
    cells = cells_of(values, NOMINAL)
    assert cells.values.tolist() == [1, -1, 0, 1]
    assert cells.values.dtype == np.int32
    assert cells.known.tolist() == [True, False, True, True]
    assert cells.n_missing == 1
    assert cells.level_counts.tolist() == [1, 2]


def test_numbers_and_truth_values() -> None:
    cells = cells_of(pa.array([1.5, None, float("nan")]), Column("x"))
    np.testing.assert_array_equal(cells.values, [1.5, np.nan, np.nan])
    assert cells.n_missing == 2
    truth = cells_of(pa.array([True, None, False]), Column("t", Kind.NOMINAL, (True, False)))
    assert [None if c < 0 else truth.level(int(c)) for c in truth.values] == [True, None, False]


def test_levels_without_rows_count_zero() -> None:
    column = Column("c", Kind.NOMINAL, ("a", "b", "never"))
    cells = cells_of(pa.array(["b", "b"]), column)
    assert cells.level_counts.tolist() == [0, 2, 0]
    assert cells.rows(np.array([1])).values.tolist() == [1]
