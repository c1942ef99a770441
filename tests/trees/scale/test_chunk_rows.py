"""Reading chunks: by the learner's checks, and labels by their place among all."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest

from novum.core.errors import InputError
from novum.core.tables import Column, Kind, Schema, united_labels
from novum.trees import DecisionTreeClassifier, DecisionTreeRegressor
from novum.trees.scale.chunks import ChunkReader, with_classes

CLASSES = ChunkReader(DecisionTreeClassifier(), True)
NUMBERS = ChunkReader(DecisionTreeRegressor(), False)


def test_a_chunk_of_labels() -> None:
    frame = pd.DataFrame({"age": [1.0, np.nan, 3.0], "color": ["red", "blue", None]})
    rows = CLASSES((frame, ["b", "a", "b"], [1.0, 2.0, 0.5]))
    assert rows is not None
    assert rows.classes is not None
    np.testing.assert_array_equal(rows.cells, [[1, 1], [np.nan, 0], [3, np.nan]])
    assert rows.classes[0].tolist() == ["a", "b"]
    assert rows.targets.tolist() == [[1], [0], [1]]
    assert rows.weight.tolist() == [1.0, 2.0, 0.5]


def test_rows_of_weight_zero_are_absent_with_their_classes() -> None:
    rows = CLASSES(([[1.0], [2.0], [3.0]], ["a", "b", "c"], [1, 0, 1]))
    assert rows is not None
    assert rows.classes is not None
    assert rows.classes[0].tolist() == ["a", "c"]
    assert rows.targets.ravel().tolist() == [0, 1]
    assert CLASSES(([[1.0]], ["a"], [0.0])) is None
    assert NUMBERS((np.empty((0, 2)), np.empty(0))) is None


def test_several_targets() -> None:
    rows = CLASSES(([[1.0], [2.0]], [["a", "x"], ["b", "x"]]))
    assert rows is not None
    assert rows.classes is not None
    assert [labels.tolist() for labels in rows.classes] == [["a", "b"], ["x"]]
    numbers = NUMBERS(([[1.0], [2.0]], [[1.0, 2.0], [3.0, 4.0]], [0.0, 1.0]))
    assert numbers is not None
    assert numbers.targets.tolist() == [[3.0, 4.0]]


def test_a_schema_reads_every_chunk_alike() -> None:
    schema = Schema((Column("k", Kind.NOMINAL, ("a", "b", "c")),))
    reader = ChunkReader(DecisionTreeRegressor(), False, schema)
    rows = reader((pd.DataFrame({"k": ["c", "z"]}), [1.0, 2.0]))
    assert rows is not None
    assert rows.cells.tolist() == [[2.0], [-2.0]]


def test_a_reader_travels_and_leaves_the_learner_alone() -> None:
    learner = DecisionTreeRegressor()
    reader = pickle.loads(pickle.dumps(ChunkReader(learner, False)))
    assert reader(([[1.0]], [2.0])).targets.tolist() == [[2.0]]
    assert not hasattr(learner, "n_features_in_")


def test_labels_are_translated_to_the_classes_of_all_chunks() -> None:
    rows = CLASSES(([[1.0], [2.0]], ["c", "a"]))
    assert rows is not None
    found = with_classes(rows, (np.array(["a", "b", "c"]),))
    assert found.targets.ravel().tolist() == [2, 0]


@pytest.mark.parametrize(
    ("chunk", "message"),
    [
        ([[1.0]], r"A chunk is a tuple \(X, y\) or \(X, y, weight\), got list"),
        (([[1.0]],), r"requires y to be passed, but the chunk is \(X,\)"),
        (([[1.0], [2.0]], ["a"]), "X has 2 rows, but y has 1"),
        (([[1.0]], [None]), "y"),
        (([[np.inf]], ["a"]), "contains infinity"),
        (([[1.0]], ["a"], [-1.0]), "Negative values in sample_weight"),
    ],
)
def test_bad_chunks_are_refused(chunk: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        CLASSES(chunk)


def test_text_and_numbers_do_not_mix() -> None:
    with pytest.raises(InputError, match="y holds 'a' in one chunk and 1 in another"):
        united_labels(np.array(["a"]), np.array([1]))
    assert united_labels(np.array([3, 1]), np.array([2])).tolist() == [1, 2, 3]
