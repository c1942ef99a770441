"""The first pass: sums of parts are the whole, and bins and scales those of the table."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import InputError, NotAdditiveError
from novum.core.sums import total
from novum.core.tables import Schema
from novum.trees import DecisionTreeClassifier, DecisionTreeRegressor
from novum.trees.growth.coding import TableCoding
from novum.trees.growth.conversion import TargetScale
from novum.trees.scale.chunks import ChunkReader
from novum.trees.scale.survey import Survey, SurveyStep
from novum.trees.training import CellRows, common_values
from tests.strategies.tree_tables import training_tables
from tests.trees.definitions import TrainingTable
from tests.trees.scale.grown_tables import mixed_rows, parted, rows_of


@given(
    table=training_tables(max_rows=30), n_parts=st.integers(1, 5), bins=st.sampled_from([2, 255])
)
def test_bins_and_common_values_are_those_of_all_rows(
    table: TrainingTable, n_parts: int, bins: int
) -> None:
    rows = rows_of(table)
    survey = total(Survey.of(part) for part in parted(rows, n_parts))
    expected = TableCoding.of(rows.schema, rows.cells, rows.weight, bins)
    found = survey.coding(bins)
    for a, b in zip(found.edges, expected.edges, strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(found.n_codes, expected.n_codes)
    np.testing.assert_array_equal(survey.common_values(), common_values(rows))
    np.testing.assert_array_equal(survey.missing, np.isnan(rows.cells).sum(axis=0))


@given(table=training_tables(target="numbers", max_targets=2), n_parts=st.integers(1, 5))
def test_the_scale_of_numbers_is_that_of_all_rows(table: TrainingTable, n_parts: int) -> None:
    rows = rows_of(table)
    survey = total(Survey.of(part) for part in parted(rows, n_parts))
    found, expected = survey.scale(), TargetScale.of(rows.targets, rows.weight)
    assert found is not None
    # The largest distance to the mean is at most twice that to the middle of the range.
    assert found.unit in (expected.unit, 2 * expected.unit, expected.unit / 2)
    # Both are near the mean, at a multiple of 2^-10 of their units.
    near = 2**-11 * (found.unit + expected.unit) + 1e-13
    np.testing.assert_allclose(found.offset, expected.offset, rtol=1e-12, atol=near)


def test_large_targets_do_not_overflow() -> None:
    huge = np.array([[1.5e308], [1.7e308], [-1.5e308]])
    rows = CellRows(Schema.of_array(1), np.zeros((3, 1)), huge, np.ones(3), None)
    survey = Survey.of(rows.rows(np.array([0, 1]))) + Survey.of(rows.rows(np.array([2])))
    assert survey.target is not None
    assert survey.target.mean[0] == pytest.approx(1.7e308 / 3)
    with pytest.raises(InputError, match="the squares of such differences"):
        survey.scale()


def test_a_constant_target_stays_what_it_is() -> None:
    target = np.full((30, 1), 0.1)
    rows = CellRows(Schema.of_array(1), np.zeros((30, 1)), target, np.full(30, 0.3), None)
    scale = total(Survey.of(part) for part in parted(rows, 7)).scale()
    assert scale is not None
    assert (scale.offset.tolist(), scale.unit) == ([0.1], 1.0)


def test_levels_and_classes_are_united_by_label() -> None:
    step = SurveyStep(ChunkReader(DecisionTreeClassifier(), True))
    first = step((0, (pd.DataFrame({"k": ["b", "b", None]}), ["y", "x", "x"], [1, 2, 3])))
    second = step((1, (pd.DataFrame({"k": ["a", "b"]}), ["z", "x"])))
    assert first is not None
    assert second is not None
    survey = first + second
    assert survey.schema.columns[0].levels == ("a", "b")
    assert survey.level_weights[0].tolist() == [1.0, 4.0]
    assert survey.classes is not None
    assert survey.class_weights is not None
    assert survey.classes[0].tolist() == ["x", "y", "z"]
    assert survey.class_weights[0].tolist() == [6.0, 1.0, 1.0]
    assert (survey.rows, survey.chunks, survey.weight) == (5.0, 2, 8.0)
    more = survey.with_labels(["w", "z"])
    assert more.classes is not None
    assert more.class_weights is not None
    assert more.classes[0].tolist() == ["w", "x", "y", "z"]
    assert more.class_weights[0].tolist() == [0.0, 6.0, 1.0, 1.0]


def test_labels_of_several_targets_are_given_one_by_one() -> None:
    step = SurveyStep(ChunkReader(DecisionTreeClassifier(), True))
    survey = step((0, ([[1.0], [2.0]], [["a", "x"], ["b", "x"]])))
    assert survey is not None
    more = survey.with_labels([["a"], ["y"]])
    assert more.classes is not None
    assert [labels.tolist() for labels in more.classes] == [["a", "b"], ["x", "y"]]
    with pytest.raises(InputError, match="`classes` has 3 entries for 2 targets"):
        survey.with_labels([["a"], ["y"], ["z"]])


def test_classes_are_for_classifiers() -> None:
    step = SurveyStep(ChunkReader(DecisionTreeRegressor(), False))
    survey = step((0, ([[1.0]], [2.0])))
    assert survey is not None
    with pytest.raises(InputError, match="`classes` is for classifiers"):
        survey.with_labels([1, 2])


@pytest.mark.parametrize("labels", [True, False])
def test_chunks_of_other_targets_do_not_add_up(labels: bool) -> None:
    learner: Any = DecisionTreeClassifier() if labels else DecisionTreeRegressor()
    step = SurveyStep(ChunkReader(learner, labels))
    one, two = step((0, ([[1.0]], [1]))), step((1, ([[1.0]], [[1, 2]])))
    assert one is not None
    assert two is not None
    with pytest.raises(InputError, match="1 target columns in one chunk and 2 in another"):
        one + two


def test_exact_bins_need_all_values() -> None:
    rows = mixed_rows(200)
    survey = Survey.of(rows)
    sketches = tuple(replace(sketch, error=1.0) for sketch in survey.sketches)
    with pytest.raises(NotAdditiveError, match=r"all values of column 'a', .* Give max_bins"):
        replace(survey, sketches=sketches).coding(None)


def test_too_many_levels_are_refused() -> None:
    frame = pd.DataFrame({"id": [str(i) for i in range(2**16 + 1)]})
    step = SurveyStep(ChunkReader(DecisionTreeRegressor(), False))
    survey = step((0, (frame, np.zeros(len(frame)))))
    assert survey is not None
    with pytest.raises(InputError, match="Column 'id' has 65537 levels"):
        survey.coding(255)


def test_an_empty_chunk_is_none() -> None:
    step = SurveyStep(ChunkReader(DecisionTreeRegressor(), False))
    assert step((0, (np.empty((0, 1)), np.empty(0)))) is None
