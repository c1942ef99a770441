"""Splits: against scikit-learn's splitters, by their promises, and what is refused."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_score,
)

from novum.core.errors import InputError
from novum.core.learners import AbsentClassWarning, SharedFolds
from novum.evaluation.validation.smaller_parts import with_every_class
from novum.evaluation.validation.splits import (
    NestedFolds,
    RepeatedFolds,
    grouped,
    leave_one_out,
    nested,
    plan_splits,
    repeated,
    stratified,
    time_ordered,
)
from novum.linear import LinearRegression

X = np.arange(24.0).reshape(12, 2)
CLASSES = np.array(["no", "yes"] * 6)


def listed(splits: Any) -> list[tuple[list[int], list[int]]]:
    return [(sorted(train.tolist()), sorted(test.tolist())) for train, test in splits]


@given(st.lists(st.integers(0, 3), min_size=6, max_size=40), st.integers(2, 6))
@pytest.mark.filterwarnings("ignore")
def test_rows_in_their_order_are_dealt_as_scikit_learn_deals_them(y: list[int], k: int) -> None:
    labels = np.array([f"class {label}" for label in y])
    expected = [test.tolist() for _, test in KFold(k).split(y)]
    assert [test.tolist() for _, test in plan_splits(labels, None, k).split()] == expected
    try:
        theirs = [test.tolist() for _, test in StratifiedKFold(k).split(y, y)]
        ours = [test.tolist() for _, test in plan_splits(y, labels, k, classifier=True).split()]
    except ValueError:
        # No class has enough rows, or a fold would train on one class alone.
        return
    assert ours == theirs


@pytest.mark.parametrize(
    ("cv", "theirs", "name"),
    [
        (None, StratifiedKFold(5), "5 stratified folds"),
        (3, StratifiedKFold(3), "3 stratified folds"),
        ("4x3", RepeatedStratifiedKFold(n_splits=3, n_repeats=4, random_state=0), None),
        (repeated(3, 4), RepeatedStratifiedKFold(n_splits=3, n_repeats=4, random_state=0), None),
        (KFold(3), KFold(3), "3 folds"),
        (stratified(2), StratifiedKFold(2, shuffle=True, random_state=0), "2 stratified folds"),
        (leave_one_out(), LeaveOneOut(), "leave one out"),
        (time_ordered(3, gap=1), TimeSeriesSplit(3, gap=1), "3 time-ordered folds"),
    ],
)
def test_folds_are_those_of_scikit_learn(cv: Any, theirs: Any, name: str | None) -> None:
    y = CLASSES if not isinstance(cv, TimeSeriesSplit) else None
    splits = plan_splits(X, y, cv, classifier=y is not None)
    assert listed(splits.split()) == listed(theirs.split(X, CLASSES))
    assert listed(splits.folds) == listed(splits.split())
    assert name is None or splits.name == name


def test_repeats_are_known_by_number_and_name() -> None:
    splits = plan_splits(X, CLASSES, "4x3", classifier=True)
    assert (splits.n_repeats, splits.n_folds, len(splits)) == (4, 3, 12)
    assert splits.name == "4 x 3 stratified folds"
    assert splits.covers_once
    numbers = plan_splits(X, X[:, 0], "4 x 3")
    assert numbers.name == "4 x 3 folds"


def test_grouped_folds_keep_groups_together() -> None:
    groups = np.repeat([0, 1, 2, 3], 3)
    splits = plan_splits(X, CLASSES, grouped(4), groups=groups, classifier=True)
    assert listed(splits.split()) == listed(GroupKFold(4).split(X, CLASSES, groups))
    for train, test in splits.folds:
        assert not set(groups[train]) & set(groups[test])


def test_a_number_is_shuffled_by_a_seed_and_by_nothing_else() -> None:
    plain = plan_splits(X, CLASSES, 3, classifier=True)
    shuffled = plan_splits(X, CLASSES, 3, classifier=True, random_state=1)
    assert plain.fingerprint != shuffled.fingerprint
    assert (
        shuffled.fingerprint
        == plan_splits(
            X, CLASSES, StratifiedKFold(3, shuffle=True, random_state=1), classifier=True
        ).fingerprint
    )


@given(st.integers(2, 40), st.data())
def test_every_row_is_tested_once_and_never_by_a_model_that_saw_it(n: int, data: Any) -> None:
    k = data.draw(st.integers(2, n))
    splits = plan_splits(np.zeros((n, 1)), None, k)
    assert splits.covers_once
    for number, (train, test) in enumerate(splits.folds):
        assert not set(train) & set(test)
        assert splits.n_train(number) == len(train) == n - len(test)


def test_leaving_one_out_holds_no_training_rows() -> None:
    splits = plan_splits(np.zeros((2000, 1)), None, leave_one_out())
    assert splits.is_leave_one_out
    assert all(fold.train is None for fold in splits.parts)
    assert splits.test_train_ratio == pytest.approx(1 / 1999)
    assert not plan_splits(X, None, 3).is_leave_one_out


def test_splits_serve_as_a_splitter_of_scikit_learn() -> None:
    splits = plan_splits(X, X[:, 0], 3)
    assert splits.get_n_splits() == 3
    ours = cross_val_score(LinearRegression(), X, X[:, 0], cv=splits)
    np.testing.assert_array_equal(ours, cross_val_score(LinearRegression(), X, X[:, 0], cv=3))


def test_plans_are_values() -> None:
    assert repeated(3, 2) == RepeatedFolds(3, 2, 0)
    assert nested(4, 3) == NestedFolds(4, 3)
    assert len(plan_splits(X, CLASSES, nested(4, 3), classifier=True)) == 4
    pairs = list(RepeatedFolds(2, 2).split(X, CLASSES))
    assert len(pairs) == RepeatedFolds(2, 2).get_n_splits() == 4


def test_given_folds_may_be_masks_slices_and_shared_folds() -> None:
    mask = np.arange(12) < 6
    splits = plan_splits(X, None, [(mask, ~mask), (slice(6, None), slice(0, 6))])
    assert listed(splits.split()) == [
        (list(range(6)), list(range(6, 12))),
        (list(range(6, 12)), list(range(6))),
    ]
    assert splits.name == "2 given folds"
    assert plan_splits(X, None, splits) is splits
    shared = SharedFolds.of(3, X, X[:, 0])
    assert listed(plan_splits(X, None, shared).split()) == listed(shared.split())


def test_equal_folds_have_equal_fingerprints_however_they_were_drawn() -> None:
    assert plan_splits(X, None, 3).fingerprint == plan_splits(X, None, KFold(3)).fingerprint
    given_folds = list(KFold(3).split(X))
    assert plan_splits(X, None, 3).fingerprint == plan_splits(X, None, given_folds).fingerprint
    assert plan_splits(X, None, 3).fingerprint != plan_splits(X, None, 4).fingerprint


@pytest.mark.parametrize(
    ("cv", "groups", "message"),
    [
        (1, None, "cv=1 is no plan of folds"),
        (True, None, "cv=True is no number of folds"),
        ("ten", None, "REPEATSxFOLDS, such as '10x5'"),
        ("0x5", None, "at least 1 repeat of at least 2 folds"),
        ("3x1", None, "at least 1 repeat of at least 2 folds"),
        (13, None, "n_splits=13 greater than the number of samples: n_samples=12"),
        (7, None, "the largest class, 'no', has 6 rows. Use fewer folds"),
        (grouped(3), None, r"should not be None\. GroupKFold divides groups"),
        (grouped(3), [], "groups is empty, but X has 12 rows"),
        (grouped(3), [0] * 11, r"groups has shape \(11,\), but X has 12 rows"),
        (grouped(3), [0, 1] * 6, "needs at least 3 groups, but groups has 2 groups"),
        (grouped(3), [0] * 12, "needs at least 3 groups, but groups has 1 group[.]"),
        (grouped(3), ["a", None] * 6, "no label at row 1, 6 such rows in all"),
        ([], None, "cv gives no folds"),
        ([5], None, r"Fold 0 \(counted from 0\) of cv is 5; a fold is a pair"),
        ([([0, 1], [2, 99])], None, "test part of fold 0 .* names row 99, but X has rows 0 to 11"),
        ([([-1, 1], [2])], None, "train part of fold 0 .* names row -1"),
        ([([0, 1], [])], None, "test part of fold 0 .* is empty"),
        ([([0, 1], [1, 2])], None, "tests 1 rows that it trains on, row 1 among them"),
        ([([0.5], [1])], None, "give positions of rows, integers from 0"),
        ([([True, False], [1])], None, r"a mask of shape \(2,\), but X has 12 rows"),
        ([([0, 2], [1]), ([0, 1], [2])], None, "Fold 0 .* trains on class 'no' only: all its 2"),
    ],
)
def test_what_does_not_fit_is_named(cv: Any, groups: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        plan_splits(X, CLASSES, cv, groups=groups, classifier=True)


def test_splits_of_another_table_are_refused() -> None:
    with pytest.raises(InputError, match="drawn for 12 rows, but X has 5"):
        plan_splits(X[:5], None, plan_splits(X, None, 3))


def test_a_class_that_some_folds_lack_is_named() -> None:
    y = ["a"] * 6 + ["b"] * 5 + ["c"]
    with pytest.warns(AbsentClassWarning, match="1 of 3 folds train without any row of class 'c'"):
        plan_splits(X, y, 3, classifier=True)


def test_one_row_cannot_be_left_out() -> None:
    with pytest.raises(InputError, match="needs at least 2 rows, but X has 1"):
        plan_splits(X[:1], None, leave_one_out())


@pytest.mark.parametrize(
    "cv", [3, "2x3", StratifiedKFold(3), KFold(4, shuffle=True, random_state=0), leave_one_out()]
)
def test_rows_of_weight_zero_take_no_part_in_dividing(cv: Any) -> None:
    rng = np.random.default_rng(0)
    y, weight = rng.integers(0, 2, 30), rng.integers(0, 3, 30)
    rows = np.flatnonzero(weight)
    whole = plan_splits(np.zeros((30, 1)), y, cv, classifier=True, sample_weight=weight)
    fewer = plan_splits(np.zeros((len(rows), 1)), y[rows], cv, classifier=True)
    for (train, test), (own_train, own_test) in zip(whole.folds, fewer.folds, strict=True):
        assert train[weight[train] > 0].tolist() == rows[own_train].tolist()
        assert test[weight[test] > 0].tolist() == rows[own_test].tolist()
    assert whole.covers_once


@given(st.lists(st.integers(0, 3), min_size=1, max_size=30), st.integers(1, 30), st.randoms())
def test_the_first_rows_hold_every_class_that_they_can(
    labels: list[int], size: int, random: Any
) -> None:
    codes, order = np.array(labels), np.array(random.sample(range(len(labels)), len(labels)))
    found = with_every_class(order, size, codes)
    assert sorted(found.tolist()) == sorted(order.tolist())
    n_classes = len(set(labels))
    assert len(set(codes[found[:size]].tolist())) == min(size, n_classes)
    if len(set(codes[order[:size]].tolist())) == n_classes:
        assert found.tolist() == order.tolist()
