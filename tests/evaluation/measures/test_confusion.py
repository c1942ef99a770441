"""Confusion matrix: scikit-learn, the definition, sums, posteriors, text and HTML."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn import metrics

from novum.core.errors import InputError
from novum.evaluation.measures import rates
from novum.evaluation.measures.confusion import (
    confusion_matrix,
    table_intervals,
)
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


def test_the_posterior_of_a_share_is_that_of_jeffreys() -> None:
    """A class with 3 hits of 9: Beta(3.5, 6.5); and one without errors: Beta(20.5, 0.5)."""
    table, rng = np.array([[20.0, 0.0], [6.0, 3.0]]), np.random.default_rng(0)
    found = table_intervals(
        lambda counts: np.diagonal(counts, axis1=1, axis2=2) / counts.sum(axis=2),
        table,
        29,
        level=0.9,
        n_draws=200_000,
        rng=rng,
    )
    low, high = stats.beta.ppf([0.05, 0.95], 3.5, 6.5)
    assert tuple(found[1]) == pytest.approx((low, high), abs=3e-3)
    assert found[0].high == 1.0
    assert found[0].low == pytest.approx(stats.beta.ppf(0.05, 20.5, 0.5), abs=3e-3)


def test_doubled_weights_change_no_posterior() -> None:
    table = np.array([[8.0, 2.0, 0.0], [1.0, 5.0, 0.0], [0.0, 0.0, 0.0]])

    def macro(counts: Any) -> Any:
        return rates.averaged_rate(counts, "f1", average="macro")[:, None]

    given: Any = {"level": 0.95, "n_draws": 50_000}
    once, twice = (
        table_intervals(macro, part, 16, rng=np.random.default_rng(0), **given)[0]
        for part in (table, 2 * table)
    )
    assert tuple(once) == pytest.approx(tuple(twice), rel=1e-12)


def test_a_macro_f_score_covers_at_its_level() -> None:
    """Rows of three classes; the truth is the measure of their probabilities."""
    rng = np.random.default_rng(9)
    joint = np.array([[0.3, 0.05, 0.05], [0.06, 0.2, 0.04], [0.08, 0.02, 0.2]])
    truth = float(rates.averaged_rate(joint, "f1", average="macro"))
    trials = 300
    covered = sum(
        table_intervals(
            lambda counts: rates.averaged_rate(counts, "f1", average="macro")[:, None],
            rng.multinomial(60, joint.ravel()).reshape(3, 3).astype(float),
            60,
            level=0.95,
            n_draws=400,
            rng=rng,
        )[0].covers(truth)
        for _ in range(trials)
    )
    # Four standard errors of a share of 300 trials are 0.05.
    assert abs(covered / trials - 0.95) < 0.05


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
