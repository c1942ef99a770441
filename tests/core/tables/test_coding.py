"""Coding: designs against their definition, cell by cell, and unseen levels as the reference."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from novum.core.errors import SchemaError, UnseenLevelWarning
from novum.core.tables import (
    MISSING,
    UNSEEN,
    Coding,
    Column,
    Kind,
    Sample,
    Schema,
    check_sample,
    coding,
    treatment_blocks,
    treatment_rows,
)
from novum.linear import LinearRegression

SCHEMA = Schema(
    (
        Column("color", Kind.NOMINAL, ("blue", "green", "red")),
        Column("age"),
        Column("size", Kind.ORDINAL, ("small", "large")),
        Column("income"),
    )
)

values = st.floats(-9, 9)
row = st.tuples(st.integers(0, 2), values, st.integers(0, 1), values)
tables = st.lists(row, min_size=1, max_size=7)


def sample_of(rows: list[Any], schema: Schema = SCHEMA) -> Sample:
    numeric = np.array([[r[1], r[3]] for r in rows], float)
    return Sample(schema, numeric, np.array([[r[0], r[2]] for r in rows], np.int32))


def definition(rows: list[Any]) -> Any:
    """The full design, term by term."""
    return np.array(
        [
            [*(float(r[0] == k) for k in range(3)), r[1], *(float(r[2] == k) for k in (0, 1)), r[3]]
            for r in rows
        ]
    )


def full_design(sample: Sample) -> Any:
    out = np.full((sample.n_rows, Coding(sample.schema).full_width), np.nan)
    Coding(sample.schema).fill_full(sample, 0, sample.n_rows, out)
    return out


# --- Designs --------------------------------------------------------------------------------------


def test_places_and_names() -> None:
    coding = Coding(SCHEMA)
    assert coding.starts.tolist() == [0, 3, 4, 6, 7]
    assert coding.full_width == 7
    assert coding.treatment.tolist() == [1, 2, 3, 5, 6]
    assert coding.names == ("color=green", "color=red", "age", "size=large", "income")


@given(tables)
def test_designs_are_their_definition(rows: list[Any]) -> None:
    sample = sample_of(rows)
    np.testing.assert_array_equal(full_design(sample), definition(rows))
    treatment = treatment_rows(sample, 0, sample.n_rows)
    np.testing.assert_array_equal(treatment, definition(rows)[:, [1, 2, 3, 5, 6]])


@given(tables, st.data())
def test_blocks_of_rows_are_blocks_of_the_design(rows: list[Any], data: Any) -> None:
    sample = sample_of(rows)
    start = data.draw(st.integers(0, len(rows) - 1))
    stop = data.draw(st.integers(start + 1, len(rows)))
    out = np.full((stop - start, 7), np.nan)
    Coding(SCHEMA).fill_full(sample, start, stop, out)
    np.testing.assert_array_equal(out, definition(rows)[start:stop])
    whole = treatment_rows(sample, 0, len(rows))
    np.testing.assert_array_equal(treatment_rows(sample, start, stop), whole[start:stop])
    # The end of the table may lie inside the last block.
    np.testing.assert_array_equal(treatment_rows(sample, start, stop + 99), whole[start:])


@given(tables, st.integers(1, 3), st.integers(0, 99))
def test_scores_are_the_design_times_the_coefficients(
    rows: list[Any], n_targets: int, seed: int
) -> None:
    coef = np.random.default_rng(seed).normal(size=(5, n_targets))
    sample = sample_of(rows)
    expected = treatment_rows(sample, 0, sample.n_rows) @ coef
    # Four products of numbers up to 9 and a few units, in another order of summation.
    np.testing.assert_allclose(Coding(SCHEMA).scores(sample, coef), expected, atol=1e-13)


def test_numeric_rows_are_a_view_and_sparse_ones_become_dense() -> None:
    X = np.arange(6.0).reshape(3, 2)
    dense = Sample(Schema.of_array(2), X, np.empty((3, 0), np.int32))
    assert np.shares_memory(treatment_rows(dense, 1, 3), X)
    rows = Sample(Schema.of_array(2), sparse.csr_array(X), np.empty((3, 0), np.int32))
    np.testing.assert_array_equal(treatment_rows(rows, 1, 3), X[1:])
    np.testing.assert_array_equal(full_design(rows), X)
    np.testing.assert_array_equal(Coding(rows.schema).scores(rows, np.eye(2)), X)


@pytest.mark.parametrize("height", [1, 2, 3, 2048])
def test_blocks_cover_the_design_in_order(height: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coding, "BLOCK_ROWS", height)
    X = np.arange(6.0).reshape(3, 2)
    sample = Sample(Schema.of_array(2), X, np.empty((3, 0), np.int32))
    blocks = list(treatment_blocks(sample))
    assert [row for rows, _ in blocks for row in range(rows.start, rows.stop)] == [0, 1, 2]
    assert all(len(x) <= height for _, x in blocks)
    np.testing.assert_array_equal(np.vstack([x for _, x in blocks]), X)


def test_a_column_without_levels_takes_no_place() -> None:
    schema = Schema((Column("c", Kind.NOMINAL, ()), Column("x"), Column("d", Kind.NOMINAL, ("u",))))
    coding = Coding(schema)
    assert coding.names == ("x",)
    assert coding.full_width == 2
    codes = np.array([[UNSEEN, 0], [UNSEEN, 0]], np.int32)
    sample = Sample(schema, np.array([[5.0], [6.0]]), codes)
    with pytest.warns(UnseenLevelWarning, match="count as the reference level None"):
        np.testing.assert_array_equal(treatment_rows(sample, 0, 2), [[5.0], [6.0]])
    with pytest.warns(UnseenLevelWarning):
        np.testing.assert_array_equal(coding.scores(sample, np.ones((1, 1))), [[5.0], [6.0]])


# --- Reserved codes -------------------------------------------------------------------------------


def test_unseen_levels_count_as_the_reference_with_a_warning() -> None:
    sample = sample_of([(0, 1.0, 1, 2.0), (UNSEEN, 1.0, 1, 2.0), (UNSEEN, 3.0, 0, 4.0)])
    message = (
        "Column 'color' has 2 cells with a level not met in training, the first at row 1; "
        "they count as the reference level 'blue'"
    )
    with pytest.warns(UnseenLevelWarning, match=message):
        scores = Coding(SCHEMA).scores(sample, np.eye(5))
    np.testing.assert_array_equal(scores[0], scores[1])
    with pytest.warns(UnseenLevelWarning, match=message):
        np.testing.assert_array_equal(treatment_rows(sample, 0, 3), scores)


def test_an_unseen_level_cannot_be_learned_from() -> None:
    sample = sample_of([(0, 1.0, 1, 2.0), (UNSEEN, 1.0, 1, 2.0)])
    message = r"'color' has a level that the schema does not list \(row 1\); it lists \('blue'"
    with pytest.raises(SchemaError, match=message):
        full_design(sample)


def test_a_missing_cell_is_never_taken_for_the_reference() -> None:
    sample = sample_of([(0, 1.0, 1, 2.0), (1, 1.0, MISSING, 2.0)])
    message = "Column 'size' has a missing cell at row 1"
    with pytest.raises(SchemaError, match=message):
        full_design(sample)
    with pytest.raises(SchemaError, match=message):
        Coding(SCHEMA).scores(sample, np.eye(5))
    with pytest.raises(SchemaError, match=message):
        treatment_rows(sample, 1, 2)


# --- Unions ---------------------------------------------------------------------------------------


@given(tables, st.sets(st.sampled_from(["amber", "black", "pink", "white", "red"])))
def test_a_design_moves_to_the_columns_of_a_united_schema(rows: list[Any], more: set[str]) -> None:
    other = Schema((Column("color", Kind.NOMINAL, tuple(more)), *SCHEMA.columns[1:]))
    united = SCHEMA.unite(other)
    sample = sample_of(rows)
    recoded = Sample(united, sample.numeric, SCHEMA.recode(sample.codes, united))
    moved = Coding(united).moved_from(SCHEMA)
    padded = np.column_stack([full_design(sample), np.zeros(sample.n_rows)])
    np.testing.assert_array_equal(padded[:, moved], full_design(recoded))


def test_true_and_one_move_to_their_own_places() -> None:
    old = Schema((Column("c", Kind.NOMINAL, (1, 2)),))
    united = old.unite(Schema((Column("c", Kind.NOMINAL, (True,)),)))
    assert Coding(united).moved_from(old).tolist() == [-1, 0, 1]


# --- As learners use it ---------------------------------------------------------------------------


def test_coefficients_are_differences_from_the_first_level() -> None:
    frame = pd.DataFrame({"color": ["green", "blue", "green", "blue", "red"]})
    model = LinearRegression().fit(frame, [3.0, 1.0, 5.0, 1.0, 10.0])
    assert model.coef_names_ == ("color=green", "color=red")
    # Means of the groups: blue 1, green 4, red 10.
    np.testing.assert_allclose([model.intercept_, *model.coef_], [1.0, 3.0, 9.0], atol=1e-12)


def test_a_checked_sample_goes_straight_into_the_design() -> None:
    rows = [["b", 1.5], ["a", 2.5]]
    sample = check_sample(LinearRegression(), rows, target="none")
    np.testing.assert_array_equal(full_design(sample), [[0, 1, 1.5], [1, 0, 2.5]])
