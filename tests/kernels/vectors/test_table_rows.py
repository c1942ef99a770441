"""Tables read for kernels: every container, the levels of the training, and refusals."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from novum.core.errors import MissingValuesError, SchemaError, UnseenLevelWarning
from novum.core.tables import UNSEEN, Kind
from novum.kernels.vectors.table_rows import read_rows

TABLE = pd.DataFrame({"age": [1.0, 2.0], "color": ["red", "blue"]})


@pytest.mark.parametrize(
    "table", [TABLE, pl.DataFrame(TABLE), TABLE.to_numpy(), [[1.0, "red"], [2.0, "blue"]]]
)
def test_every_container_gives_numbers_and_codes(table: Any) -> None:
    sample = read_rows(table, "Delta")
    assert sample.numeric.ravel().tolist() == [1.0, 2.0]
    assert [sample.schema.columns[1].levels[c] for c in sample.codes[:, 0]] == ["red", "blue"]


@pytest.mark.parametrize("labels", [["b", "a"], ("b", "a"), np.array(["b", "a"]), [2, 1]])
def test_labels_are_one_column(labels: Any) -> None:
    sample = read_rows(labels, "Delta")
    assert (sample.n_rows, sample.schema.n_columns) == (2, 1)


def test_new_rows_are_read_by_the_schema_of_the_training() -> None:
    training = read_rows(TABLE, "Delta")
    same = read_rows(TABLE.iloc[::-1], "Delta", training.schema)
    np.testing.assert_array_equal(same.codes, training.codes[::-1])
    with pytest.warns(UnseenLevelWarning, match=r"'color' has 1 cells .* first at row 0.*unlike"):
        new = read_rows(TABLE.assign(color=["green", "red"]), "Delta", training.schema)
    assert new.codes[0, 0] == UNSEEN


def test_a_checked_sample_passes_and_is_recoded() -> None:
    training = read_rows(TABLE, "Delta")
    assert read_rows(training, "Delta") is training
    assert read_rows(training, "Delta", training.schema) is training
    part = read_rows(TABLE.iloc[[0]], "Delta")
    assert part.codes.tolist() == [[0]]
    assert read_rows(part, "Delta", training.schema).codes.tolist() == [[1]]


def test_other_columns_are_refused() -> None:
    training = read_rows(TABLE, "Delta")
    other = read_rows(TABLE[["age"]], "Delta")
    with pytest.raises(SchemaError, match="Delta cannot compare these tables"):
        read_rows(other, "Delta", training.schema)
    kinds = read_rows(TABLE[["color", "age"]], "Delta")
    assert kinds.schema.columns[0].kind is Kind.NOMINAL
    with pytest.raises(SchemaError, match="their kinds differ"):
        read_rows(kinds, "Delta", training.schema)


@pytest.mark.parametrize("cell", [None, np.nan, pd.NA])
def test_missing_cells_are_refused_with_the_learners_that_take_them(cell: Any) -> None:
    with pytest.raises(MissingValuesError, match=r"'color' \(1, first at row 1\).*Delta needs"):
        read_rows(TABLE.assign(color=["red", cell]), "Delta")
