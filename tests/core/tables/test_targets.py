"""Targets: labels and their codes against NumPy's own sorting, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from novum.core.errors import InputError, MissingValuesError
from novum.core.tables import check_classes, check_numbers, counted_labels

integers = hnp.arrays(
    st.sampled_from([np.int8, np.uint8, np.int32, np.int64, np.uint64]),
    st.integers(1, 30),
)
texts = st.lists(st.sampled_from(["", "b", "B", "ä", "a b", "10", "9"]), min_size=1, max_size=30)


@pytest.mark.filterwarnings("ignore:The number of unique classes")  # scikit-learn, on few rows
@given(integers | texts.map(lambda y: np.array(y, object)) | texts.map(np.array))
def test_counted_labels_are_sorted_labels(y: np.ndarray) -> None:
    classes, codes = check_classes(y, "Learner")
    expected = np.unique(y, return_inverse=True)
    np.testing.assert_array_equal(classes, expected[0])
    np.testing.assert_array_equal(codes, expected[1])
    assert classes.dtype == y.dtype
    assert codes.dtype == np.int64


def test_labels_at_the_ends_of_their_type_do_not_wrap() -> None:
    y = np.array([2**64 - 1, 2**64 - 3, 2**64 - 1], np.uint64)
    classes, codes = check_classes(y, "Learner")
    assert [int(label) for label in classes] == [2**64 - 3, 2**64 - 1]
    assert codes.tolist() == [1, 0, 1]
    low = np.array([-128, 127], np.int8)
    assert check_classes(low, "Learner")[0].tolist() == [-128, 127]


def test_labels_that_are_no_texts_are_looked_at_closer() -> None:
    for y in (["a", "a", "a", None], ["a", "a", "a", 1.0], [["a"], ["a"]], ["a", "a", "b", "c"]):
        cells = np.empty(len(y), object)
        cells[:] = y
        assert counted_labels(cells) is None
    assert counted_labels(np.array([["a", "a"], ["a", "a"]])) is None


def test_labels_far_apart_are_sorted() -> None:
    classes, codes = check_classes(np.array([10**12, -5, 10**12]), "Learner")
    assert classes.tolist() == [-5, 10**12]
    assert codes.tolist() == [1, 0, 1]


def test_infinite_labels_are_named() -> None:
    with pytest.raises(InputError, match="y contains infinity: inf at row 2"):
        check_classes([0.0, 1.0, np.inf], "Learner")


def test_missing_labels_are_named() -> None:
    with pytest.raises(MissingValuesError, match="first at row 1"):
        check_classes(["a", None], "Learner")


def test_labels_of_two_types_are_refused() -> None:
    with pytest.raises(InputError, match=r"mixes text \('a' at row 0\) and numbers \(1 at row 1\)"):
        check_classes(["a", 1], "Learner")


def test_numbers_keep_their_shape() -> None:
    assert check_numbers([[1, 2], [3, 4]], "Learner").tolist() == [[1.0, 2.0], [3.0, 4.0]]
    with pytest.raises(InputError, match="predicts numbers, but y holds 'x' at row 1"):
        check_numbers(np.array([1.0, "x"], object), "Learner")
