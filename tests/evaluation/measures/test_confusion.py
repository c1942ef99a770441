"""Confusion matrix: scikit-learn, the definition, sums, resampled counts, text and HTML."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from novum.core.errors import InputError
from novum.evaluation.measures.confusion import (
    confusion_matrix,
    matrix_of,
    resampled_counts_of,
)
from novum.evaluation.measures.reading import read_label_pair
from tests.evaluation.measures import definitions

rows = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from("abc"), st.floats(0, 3)),
    min_size=1,
    max_size=20,
)


@given(rows)
def test_counts_are_the_definition(found: Any) -> None:
    y, p, w = (list(column) for column in zip(*found, strict=True))
    if not any(w):
        return
    matrix = confusion_matrix(y, p, classes="abc", sample_weight=w)
    expected = definitions.confusion(y, p, list("abc"), w)
    np.testing.assert_allclose(matrix.counts, expected, atol=1e-13)


def test_counts_are_scikit_learns() -> None:
    rng = np.random.default_rng(0)
    y, p, w = rng.integers(0, 4, 50), rng.integers(0, 5, 50), rng.random(50)
    expected = metrics.confusion_matrix(y, p, sample_weight=w)
    np.testing.assert_allclose(confusion_matrix(y, p, sample_weight=w).counts, expected)


def test_counts_of_parts_add_up_in_any_order_of_classes() -> None:
    whole = confusion_matrix(["a", "b", "b"], ["b", "b", "a"])
    first = confusion_matrix(["a"], ["b"], classes=["a", "b"])
    second = confusion_matrix(["b", "b"], ["b", "a"], classes=["b", "a"])
    assert first + second == whole


def test_resampled_counts_are_those_of_repeated_rows() -> None:
    pair = read_label_pair(["a", "b", "a", "c"], ["a", "a", "b", "c"])
    times = np.array([[1.0, 0, 2, 1], [0, 3, 1, 0]])
    for found, repeats in zip(resampled_counts_of(pair)(times), times.astype(int), strict=True):
        rows = np.repeat(np.arange(4), repeats)
        again = read_label_pair(
            np.array(["a", "b", "a", "c"])[rows], np.array(["a", "a", "b", "c"])[rows], "abc"
        )
        np.testing.assert_array_equal(found, matrix_of(again).counts)


def test_shares_of_a_class_without_rows_are_nan() -> None:
    shares = confusion_matrix(["a"], ["b"], classes=["a", "b"]).shares()
    np.testing.assert_array_equal(shares, [[0, 1], [np.nan, np.nan]])


def test_html_is_escaped_and_text_has_no_escapes() -> None:
    matrix = confusion_matrix(["<script>", "x\x1b[2J"], ["<script>", "x\x1b[2J"])
    assert "<script>" not in matrix._repr_html_()
    assert 'scope="row"' in matrix._repr_html_()
    assert "\x1b" not in str(matrix)


@pytest.mark.parametrize(
    ("y", "p", "options", "message"),
    [
        (["a", "b"], ["a", "c"], {"classes": ["a", "b"]}, "predictions holds 'c' at row 1"),
        (["a", "c"], ["a", "a"], {"classes": ["a", "b"]}, "y holds 'c' at row 1, which is none"),
        (["a", "b"], ["a"], {}, "y has 2 rows, predictions 1"),
        (["a", None], ["a", "a"], {}, "y is missing at row 1, 1 such in all"),
        ([0, 1], ["a", "b"], {}, "y holds labels such as 0, the predictions such as 'a'"),
        ([0, 1], [0.3, 0.7], {}, "predictions holds 0.3 at row 0, which is a number and no label"),
        ([], [], {}, "at least one row"),
        ([[0, 1], [1, 0]], [0, 1], {}, "one label for each row"),
        (["a"], ["a"], {"classes": ["a", "a"]}, "classes are different labels"),
        (["a"], ["a"], {"sample_weight": [-1]}, "Negative values in sample_weight"),
    ],
)
def test_bad_labels_are_named(y: Any, p: Any, options: Any, message: Any) -> None:
    with pytest.raises(InputError, match=message):
        confusion_matrix(y, p, **options)


def test_some_labels_in_an_order_are_scikit_learns() -> None:
    y, p = list("abcabcaab"), list("abccbaabb")
    for labels in (["c", "a"], ["a", "z", "c"]):
        matrix = confusion_matrix(y, p, labels=labels, sample_weight=np.arange(1, 10))
        theirs = metrics.confusion_matrix(y, p, labels=labels, sample_weight=np.arange(1, 10))
        assert matrix.classes == tuple(labels)
        np.testing.assert_array_equal(matrix.counts, theirs)
    with pytest.raises(InputError, match="None of the labels 'z' is among the classes"):
        confusion_matrix(y, p, labels=["z"])
