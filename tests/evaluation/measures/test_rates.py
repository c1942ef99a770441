"""Rates of confusion matrices: scikit-learn, the definitions, averages, stacks, absent classes."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics
from sklearn.exceptions import UndefinedMetricWarning

from novum.core.errors import InputError
from novum.evaluation.measures import rates
from novum.evaluation.measures.catalog import measure
from novum.evaluation.measures.confusion import confusion_matrix
from tests.evaluation.measures import definitions

SKLEARN = {
    "precision": metrics.precision_score,
    "recall": metrics.recall_score,
    "f1": metrics.f1_score,
    "jaccard": metrics.jaccard_score,
}
rows = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 3), st.floats(0.1, 3)), min_size=2, max_size=30
)


@given(rows)
def test_rates_of_each_class_are_the_definition(found: Any) -> None:
    y, p, w = (list(column) for column in zip(*found, strict=True))
    matrix = confusion_matrix(y, p, classes=[0, 1, 2, 3], sample_weight=w)
    for name in rates.RATES:
        mine = rates.class_rate(matrix.counts, name, beta=2.0)
        expected = [definitions.rate(y, p, w, label, name) for label in range(4)]
        # Sums of at most 30 weights: rounding far below 1e-12. Cancelled weights leave 1e-16/0.1.
        np.testing.assert_allclose(mine, expected, atol=1e-12)


@given(rows)
def test_averages_are_scikit_learns(found: Any) -> None:
    y, p, w = (list(column) for column in zip(*found, strict=True))
    for name, theirs in SKLEARN.items():
        for average in ("micro", "macro", "weighted"):
            expected = theirs(y, p, average=average, sample_weight=w, zero_division=0)
            mine = measure(f"{name}_{average}")(y, p, sample_weight=w)
            assert mine == pytest.approx(expected, abs=1e-12)


@given(rows)
def test_measures_of_the_matrix_are_scikit_learns(found: Any) -> None:
    y, p, w = (list(column) for column in zip(*found, strict=True))
    assert measure("accuracy")(y, p, sample_weight=w) == pytest.approx(
        metrics.accuracy_score(y, p, sample_weight=w), abs=1e-12
    )
    if set(p) <= set(y) and len(set(y)) > 1:
        assert measure("balanced_accuracy")(y, p, sample_weight=w) == pytest.approx(
            metrics.balanced_accuracy_score(y, p, sample_weight=w), abs=1e-12
        )
    counts = confusion_matrix(y, p, sample_weight=w).counts
    if len(set(y)) > 1 and len(set(p)) > 1:
        # The coefficient divides by spreads of the classes, which cancel to about 1e-16 of 100.
        assert measure("matthews")(y, p, sample_weight=w) == pytest.approx(
            metrics.matthews_corrcoef(y, p, sample_weight=w), abs=1e-9
        )
        assert float(rates.matthews(counts)) == pytest.approx(
            definitions.correlation_of_classes(counts.tolist()), abs=1e-9
        )
        assert measure("kappa")(y, p, sample_weight=w) == pytest.approx(
            metrics.cohen_kappa_score(y, p, sample_weight=w), abs=1e-9
        )


def test_f_beta_is_scikit_learns_for_two_classes() -> None:
    y, p = [0, 1, 1, 1, 0, 1], [0, 1, 0, 1, 1, 0]
    for beta in (0.5, 1, 2):
        expected = metrics.fbeta_score(y, p, beta=beta)
        assert measure("f_beta", beta=beta)(y, p) == pytest.approx(expected, rel=1e-14)


def test_a_stack_of_matrices_is_measured_one_by_one() -> None:
    stack = np.random.default_rng(0).integers(0, 9, size=(5, 2, 3, 3)).astype(float)
    whole = (rates.accuracy, rates.balanced_accuracy, rates.matthews, rates.kappa)
    for of_counts in whole:
        one_by_one = [[of_counts(counts) for counts in line] for line in stack]
        np.testing.assert_array_equal(of_counts(stack), one_by_one)


def test_rebalanced_accuracy_is_accuracy_of_resampled_rows() -> None:
    """Repeating the rows of a class changes accuracy to that under the new shares."""
    y = [0] * 10 + [1] * 10
    p = [0] * 9 + [1] + [1] * 6 + [0] * 4
    many = y[:10] * 9 + y[10:], p[:10] * 9 + p[10:]
    assert measure("rebalanced_accuracy", priors=[0.9, 0.1])(y, p) == pytest.approx(
        metrics.accuracy_score(*many), rel=1e-14
    )
    equal = measure("rebalanced_accuracy", priors=[0.5, 0.5])(y, p)
    assert equal == measure("balanced_accuracy")(y, p) == measure("rebalanced_accuracy")(y, p)


def test_rebalanced_accuracy_of_a_class_without_rows_is_unknown() -> None:
    counts = np.array([[5.0, 1.0], [0.0, 0.0]])
    assert np.isnan(rates.rebalanced_accuracy(counts, priors=[0.5, 0.5]))
    assert float(rates.rebalanced_accuracy(counts, priors=[1.0, 0.0])) == pytest.approx(5 / 6)


def test_weight_two_is_the_row_twice_and_zero_is_absent() -> None:
    y, p, w = [0, 1, 2, 1, 3], [0, 2, 2, 1, 0], [1, 2, 1, 3, 0]
    repeated = [value for value, times in zip(y, w, strict=True) for _ in range(times)]
    predicted = [value for value, times in zip(p, w, strict=True) for _ in range(times)]
    for name in ("f1_macro", "recall_weighted", "balanced_accuracy", "kappa", "matthews"):
        once = measure(name)(y, p, sample_weight=w)
        assert once == pytest.approx(measure(name)(repeated, predicted), rel=1e-14)


def test_a_class_never_met_takes_no_part_in_macro() -> None:
    alone = measure("recall_macro")([0, 1, 1], [0, 1, 0])
    assert measure("recall_macro")([0, 1, 1], [0, 1, 0], classes=[0, 1, 2]) == alone


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: measure("precision")([0, 1, 2], [0, 1, 1]), "about one class, and there are 3"),
        (lambda: measure("f_beta", beta=0)([0, 1], [0, 1]), "beta says how many times"),
        (lambda: measure("f1", average="mean")([0, 1], [0, 1]), "average is 'binary', 'micro'"),
        (
            lambda: measure("rebalanced_accuracy", priors=[0.5, 0.2])([0, 1], [0, 1]),
            "priors sum to 1, those given to 0.7",
        ),
        (
            lambda: measure("rebalanced_accuracy", priors=[0.5])([0, 1], [0, 1]),
            "one number of at least 0 for each of the 2 classes",
        ),
    ],
)
def test_bad_settings_are_named(call: Any, message: Any) -> None:
    with pytest.raises(InputError, match=message):
        call()


@pytest.mark.parametrize(
    ("label", "is_positive"), [(0, False), (1, True), (-1, False), (5.0, None)]
)
def test_a_single_class_is_positive_only_if_it_says_so(label: Any, is_positive: Any) -> None:
    y = [label] * 3
    if is_positive is None:
        with pytest.raises(InputError, match="alone, which could be"):
            measure("f1")(y, y)
        return
    for name in ("f1", "precision", "recall", "jaccard"):
        assert measure(name)(y, y) == float(is_positive)
        assert measure(name)(y, y) == SKLEARN[name](y, y, zero_division=0)
    assert measure("specificity")(y, y) == float(not is_positive)


@given(rows)
def test_error_rates_are_what_is_left_to_one(found: Any) -> None:
    y, p, w = (list(column) for column in zip(*found, strict=True))
    for error, right in (("false_positive_rate", "specificity"), ("false_negative_rate", "recall")):
        for suffix in ("_micro", "_macro", "_weighted"):
            both = (measure(name + suffix)(y, p, sample_weight=w) for name in (error, right))
            assert sum(both) == pytest.approx(1, abs=1e-12)


def test_truth_values_and_named_classes() -> None:
    assert measure("f1")([False, False], [False, False]) == 0.0
    assert measure("f1", positive="ill")(["well"] * 2, ["well"] * 2) == 0.0
    assert measure("f1", positive="well")(["well"] * 2, ["well"] * 2) == 1.0
    with pytest.raises(InputError, match="'well' alone, which could be the positive"):
        measure("f1")(["well"] * 2, ["well"] * 2)
    assert measure("f1")(["well"] * 2, ["well"] * 2, classes=["ill", "well"]) == 1.0
    assert measure("f1_macro")(["well"] * 2, ["well"] * 2) == 1.0


@given(rows, st.lists(st.integers(0, 5), min_size=1, unique=True))
def test_rates_of_chosen_labels_are_scikit_learns(found: Any, labels: list[int]) -> None:
    y, p, w = (list(column) for column in zip(*found, strict=True))
    for name, function in SKLEARN.items():
        for average in ("micro", "macro", None):
            more = {"labels": labels, "average": average, "zero_division": 1.0}
            theirs = function(y, p, sample_weight=w, **more)
            # Sums of at most 30 weights, cancelled ones among them: rounding far below 1e-12.
            np.testing.assert_allclose(
                measure(name, **more)(y, p, sample_weight=w), theirs, atol=1e-12
            )


def test_zero_by_zero_counts_as_one_says() -> None:
    y, p = [0, 0, 1, 1], [0, 0, 0, 0]
    for name, function in (("precision", metrics.precision_score), ("f1", metrics.f1_score)):
        for average in ("macro", "weighted"):
            for zero_division in (0.0, 1.0, np.nan):
                more = {"average": average, "zero_division": zero_division}
                theirs = function(y, p, **more)
                np.testing.assert_allclose(measure(name, **more)(y, p), theirs, rtol=1e-12)
    assert measure("precision", zero_division=1.0)(y, p) == 1.0
    with pytest.warns(UndefinedMetricWarning, match="precision is 0/0 in 1 of 2 cases"):
        assert measure("precision", average=None, zero_division="warn")(y, p).tolist() == [0.5, 0.0]
    with pytest.raises(InputError, match="zero_division is a number or 'warn'"):
        measure("precision", zero_division="ignore")(y, p)


def test_kappa_of_chosen_labels_is_scikit_learns() -> None:
    y, p = list("abcabcaab"), list("abccbaabb")
    theirs = metrics.cohen_kappa_score(y, p, labels=["a", "c"])
    assert measure("kappa", labels=["a", "c"])(y, p) == pytest.approx(theirs)
    with pytest.raises(InputError, match="takes no labels"):
        measure("accuracy", labels=["a"])(y, p)
    with pytest.raises(InputError, match="labels are the classes of an average"):
        measure("recall", labels=["a"])(y, p)
