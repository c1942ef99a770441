"""Reading what measures are given: containers, types of labels, order of classes."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from novum.core.errors import InputError
from novum.evaluation.measures.reading import (
    listed,
    place_of,
    plain_labels,
    read_label_pair,
    read_number_pair,
    read_probabilities,
)

LABELS = ["no", "yes", "yes"]


@pytest.mark.parametrize(
    "container",
    [list, np.array, pd.Series, pl.Series, pa.array, lambda x: np.array(x, object), pd.Categorical],
)
def test_labels_come_in_any_container(container: Any) -> None:
    pair = read_label_pair(container(LABELS), LABELS)
    assert pair.classes == ("no", "yes")
    assert all(type(label) is str for label in pair.classes)
    assert pair.true.tolist() == pair.predicted.tolist() == [0, 1, 1]


def test_numbers_and_truth_values_are_the_same_labels() -> None:
    pair = read_label_pair([0, 1, 1], np.array([False, True, False]))
    assert pair.predicted.tolist() == [0, 1, 0]
    assert read_label_pair([1.0, 2.0], [1, 2]).predicted.tolist() == [0, 1]


def test_the_order_of_classes_is_kept() -> None:
    pair = read_label_pair(LABELS, LABELS, classes=["yes", "no"])
    assert pair.true.tolist() == [1, 0, 0]


def test_columns_follow_the_order_of_classes() -> None:
    table = read_probabilities(LABELS, [0.9, 0.2, 0.3], ["yes", "no"], positive="yes")
    np.testing.assert_allclose(table.table[:, 0], [0.9, 0.2, 0.3])


def test_a_table_of_one_column_is_a_column() -> None:
    assert read_label_pair(np.array([[0], [1]]), [0, 1]).true.tolist() == [0, 1]
    assert read_number_pair([[1.0], [2.0]], [1, 2]).true.shape == (2, 1)


def test_labels_are_shown_plainly_and_safely() -> None:
    assert listed(plain_labels(np.array(["no", "yes"]))) == "'no', 'yes'"
    assert "\x1b" not in listed(["\x1b[2J"])
    assert listed(list(range(20))).endswith("... (20 in all)")


def test_the_positive_class_is_the_last_unless_said() -> None:
    assert place_of(None, ("a", "b")) == 1
    assert place_of(np.str_("a"), ("a", "b")) == 0
    with pytest.raises(InputError, match="positive='c' is none of the classes 'a', 'b'"):
        place_of("c", ("a", "b"))
