"""Loops over binary problems: what each member is fitted to, weights, constants, threads."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.svm import SVC

from novum.bayes import GaussianNB, NaiveBayes
from novum.core.errors import InputError
from novum.core.learners import (
    ConstantPredictor,
    ConstantTargetWarning,
    add_all_pairs,
    add_one_vs_rest,
    check_rows,
    fit_all_pairs,
    fit_one_vs_rest,
    margin,
    member_with_rows,
    positive_labels,
    unfitted_members,
    without_zero_weights,
)
from novum.core.learners.multiclass import pair_rows
from novum.core.tables import read_labels

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 2))
LABELS = np.array(["a", "b", "c", "d"])[np.arange(40) % 4]
TARGET = read_labels(LABELS, "Learner")


class Witness(ClassifierMixin, BaseEstimator):
    """Remembers what it was fitted to."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Witness:
        self.seen_ = (X, y, sample_weight)
        self.classes_ = np.unique(y)
        return self


def test_one_vs_rest_sees_all_rows() -> None:
    weight = RNG.uniform(1, 2, 40)
    members = fit_one_vs_rest(Witness(), X, TARGET, {"sample_weight": weight})
    assert positive_labels(TARGET) == [0, 1, 2, 3]
    for k, member in enumerate(members):
        rows, y, seen = member.seen_
        assert rows is X
        np.testing.assert_array_equal(y, "abcd"[k] == LABELS)
        np.testing.assert_array_equal(seen, weight)


def test_two_classes_need_one_member_but_two_labels_two() -> None:
    assert positive_labels(read_labels(["x", "y", "x"], "Learner")) == [1]
    assert positive_labels(read_labels([[0, 1], [1, 1]], "Learner")) == [0, 1]


def test_pairs_see_their_own_rows_only() -> None:
    weight = RNG.uniform(1, 2, 40)
    members, rows = fit_all_pairs(Witness(), X, TARGET, {"sample_weight": weight})
    for member, own, (i, j) in zip(members, rows, itertools.combinations("abcd", 2), strict=True):
        chosen = np.flatnonzero((i == LABELS) | (j == LABELS))
        np.testing.assert_array_equal(own, chosen)
        seen, y, w = member.seen_
        np.testing.assert_array_equal(seen, X[chosen])
        np.testing.assert_array_equal(y, LABELS[chosen] == j)
        np.testing.assert_array_equal(w, weight[chosen])


@pytest.mark.parametrize("make", [pd.DataFrame, sparse.csr_matrix, sparse.csc_matrix])
def test_containers_stay_what_they_are(make: Any) -> None:
    members, _ = fit_all_pairs(Witness(), make(X), TARGET)
    seen = members[0].seen_[0]
    assert isinstance(seen, pd.DataFrame) or sparse.issparse(seen)
    assert fit_one_vs_rest(Witness(), make(X), TARGET)[0].seen_[0].shape == (40, 2)


def test_tables_of_rows_against_rows_are_cut_both_ways() -> None:
    gram = X @ X.T
    members, rows = fit_all_pairs(SVC(kernel="precomputed"), gram, TARGET)
    direct = SVC(kernel="linear").fit(X[rows[2]], (LABELS[rows[2]] == "d").astype(int))
    np.testing.assert_allclose(
        members[2].decision_function(gram[:, rows[2]]), direct.decision_function(X), atol=1e-6
    )


@pytest.mark.parametrize("n_jobs", [2, 4])
def test_members_do_not_depend_on_the_number_of_jobs(n_jobs: int) -> None:
    for fit in (fit_one_vs_rest, lambda *a, **k: fit_all_pairs(*a, **k)[0]):
        alone, many = (fit(GaussianNB(), X, TARGET, n_jobs=n) for n in (1, n_jobs))
        for a, b in zip(alone, many, strict=True):
            np.testing.assert_array_equal(margin(a, X), margin(b, X))


def test_constant_labels_are_said_and_not_learned() -> None:
    indicator = np.column_stack((np.arange(40) % 2, np.zeros(40), np.ones(40)))
    with pytest.warns(ConstantTargetWarning) as warned:
        members = fit_one_vs_rest(GaussianNB(), X, read_labels(indicator, "Learner"))
    assert [isinstance(m, ConstantPredictor) for m in members] == [False, True, True]
    assert [m.label for m in members[1:]] == [0, 1]
    texts = [str(w.message) for w in warned]
    assert "Label 1 is in none of the 40 rows" in texts[0]
    assert "Label 2 is in all of the 40 rows" in texts[1]


def test_an_error_says_which_member_it_was() -> None:
    with pytest.raises(ValueError, match="infinity") as caught:
        fit_all_pairs(GaussianNB(), np.where(LABELS == "c", np.inf, 1.0)[:, None], TARGET)
    assert "c against a" in caught.value.__notes__[0]


def test_pairs_need_one_label_for_each_row() -> None:
    with pytest.raises(InputError, match="one label for each row"):
        pair_rows(read_labels([{"a"}, {"b"}], "Learner"))


# --- Rows that come later, and rows that do not count ---------------------------------------------


def test_rows_can_come_in_batches() -> None:
    whole = fit_one_vs_rest(GaussianNB(), X, TARGET)
    members: list[Any] = unfitted_members(GaussianNB(), 4)
    pairs: list[Any] = unfitted_members(GaussianNB(), 6)
    for part in (slice(0, 16), slice(16, 40)):
        labels = read_labels(LABELS[part], "Learner")
        members = add_one_vs_rest(members, X[part], labels, {})
        pairs = add_all_pairs(pairs, X[part], labels, {})
    for a, b in zip(whole, members, strict=True):
        np.testing.assert_allclose(margin(a, X), margin(b, X), rtol=1e-9)
    for a, b in zip(fit_all_pairs(GaussianNB(), X, TARGET)[0], pairs, strict=True):
        np.testing.assert_allclose(margin(a, X), margin(b, X), rtol=1e-9)


def test_a_batch_changes_copies() -> None:
    members = fit_one_vs_rest(GaussianNB(), X, TARGET)
    before = margin(members[0], X)
    add_one_vs_rest(members, X + 5, TARGET, {})
    np.testing.assert_array_equal(margin(members[0], X), before)


def test_a_constant_member_takes_no_rows() -> None:
    with pytest.raises(InputError, match="no learner to add rows to"):
        member_with_rows(ConstantPredictor(1), X, np.ones(40), None, {})


def test_rows_of_weight_zero_are_absent_with_their_classes() -> None:
    weight = np.where(LABELS == "d", 0.0, 1.0)
    rows, labels, params = without_zero_weights(X, TARGET, {"sample_weight": weight, "other": 3})
    assert labels.classes.tolist() == ["a", "b", "c"]
    assert len(rows) == len(params["sample_weight"]) == labels.n_rows == 30
    assert params["other"] == 3
    frame = pd.DataFrame({"x": X[:, 0], "kind": LABELS})
    kept = without_zero_weights(frame, TARGET, {"sample_weight": weight})[0]
    assert list(kept["kind"].unique()) == ["a", "b", "c"]
    assert without_zero_weights(X, TARGET, {})[0] is X


@pytest.mark.parametrize(
    ("weight", "message"),
    [(np.zeros(40), "All 40 weights are zero"), (np.ones(3), r"shape \(3,\), but X has 40 rows")],
)
def test_impossible_weights(weight: np.ndarray, message: str) -> None:
    with pytest.raises(InputError, match=message):
        without_zero_weights(X, TARGET, {"sample_weight": weight})


def test_numbers_of_rows_must_agree() -> None:
    with pytest.raises(InputError, match="X has 40 rows, but y has 3"):
        check_rows(X, 3, "Learner")
    with pytest.raises(InputError, match="0 sample"):
        check_rows(X[:0], 0, "Learner")


def test_nominal_and_missing_cells_reach_the_learner() -> None:
    frame = pd.DataFrame({"n": X[:, 0], "k": LABELS})
    frame.loc[::5, "n"] = np.nan
    frame.loc[3, "k"] = None
    members = fit_one_vs_rest(NaiveBayes(), frame, TARGET)
    assert [m.schema_.names for m in members] == [("n", "k")] * 4
    assert (margin(members[1], frame)[LABELS == "b"] > 0).all()
