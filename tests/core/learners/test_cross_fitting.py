"""Cross-fitting: every row once, by a model that has not seen it; sums and refits agree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_predict,
)
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from novum.bayes import GaussianClassifier, GaussianNB, LinearDiscriminantAnalysis, NaiveBayes
from novum.core.errors import InputError
from novum.core.learners import (
    AbsentClassWarning,
    SharedFolds,
    align_classes,
    cross_fit_predictions,
    cross_fitting,
    takes_weights,
)
from novum.linear import LinearRegression, Ridge
from tests.ensemble.ensemble_tables import classes, mixed, numbers


def refitted(model: Any, X: Any, y: Any, folds: SharedFolds, method: str, weight: Any) -> Any:
    """The definition: one clone for each fold."""
    found: Any = None
    for train, test in folds.split():
        more = {} if weight is None else {"sample_weight": weight[train]}
        said = getattr(clone(model).fit(X[train], y[train], **more), method)(X[test])
        if found is None:
            found = np.empty((len(X), *said.shape[1:]), said.dtype)
        found[test] = said
    return found


class Memory(ClassifierMixin, BaseEstimator):
    """Remembers its rows; says 1 for those it has seen."""

    def fit(self, X: Any, y: Any) -> Memory:
        self.classes_ = np.unique(y)
        self.seen_ = set(X[:, 0].tolist())
        return self

    def predict(self, X: Any) -> Any:
        return np.array([int(x in self.seen_) for x in X[:, 0].tolist()])


# --- Every row once, by a model that has not seen it ----------------------------------------------


@given(st.integers(4, 30), st.integers(2, 4), st.integers(0, 99))
@settings(max_examples=25)
def test_no_row_is_predicted_by_a_model_that_has_seen_it(n: int, k: int, seed: int) -> None:
    X = np.arange(float(n))[:, None]
    cv = KFold(min(k, n), shuffle=True, random_state=seed)
    assert not cross_fit_predictions(Memory(), X, np.arange(n) % 2, cv).any()


@pytest.mark.parametrize("method", ["predict", "predict_proba", "decision_function"])
@pytest.mark.parametrize("weighted", [False, True])
def test_sums_give_what_refitting_gives(method: str, weighted: bool) -> None:
    X, y = classes()
    weight = np.random.default_rng(1).random(len(y)) + 0.1 if weighted else None
    model = LinearDiscriminantAnalysis()
    folds = SharedFolds.of(4, X, y, classifier=True)
    found = cross_fit_predictions(model, X, y, folds, method=method, sample_weight=weight)
    expected = refitted(model, X, y, folds, method, weight)
    if method == "predict":
        assert found.tolist() == expected.tolist()
    else:
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)


def test_a_learner_with_sums_is_fitted_from_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError("fitted row by row")

    X, y = numbers()
    monkeypatch.setattr(cross_fitting, "_fitted", refuse)
    assert cross_fit_predictions(LinearRegression(), X, y).shape == (len(y),)
    with pytest.raises(AssertionError, match="row by row"):
        cross_fit_predictions(KNeighborsRegressor(), X, y)


def test_learners_that_lose_their_sums_to_missing_cells_are_refitted() -> None:
    X, y = classes()
    X[::7, 0] = np.nan
    folds = SharedFolds.of(3, X, y, classifier=True)
    model = GaussianClassifier()
    found = cross_fit_predictions(model, X, y, folds, method="predict_proba")
    expected = refitted(model, X, y, folds, "predict_proba", None)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("model", "method"),
    [
        (KNeighborsClassifier(), "predict_proba"),
        (LogisticRegression(), "predict_log_proba"),
        (LinearSVC(), "decision_function"),
        (make_pipeline(StandardScaler(), KNeighborsClassifier()), "predict"),
    ],
    ids=str,
)
def test_learners_of_others_as_in_scikit_learn(model: Any, method: str) -> None:
    X, y = classes()
    expected = cross_val_predict(model, X, y, cv=StratifiedKFold(3), method=method)
    for jobs in (1, 2):
        found = cross_fit_predictions(model, X, y, 3, method=method, n_jobs=jobs)
        np.testing.assert_array_equal(found, expected)


def test_several_targets() -> None:
    X, y = numbers()
    Y = np.stack([y, -y], axis=1)
    for model in (LinearRegression(), KNeighborsRegressor()):
        found = cross_fit_predictions(model, X, Y)
        np.testing.assert_allclose(found, cross_val_predict(model, X, Y), rtol=1e-9, atol=1e-9)


def test_several_labels_give_a_list_of_probabilities() -> None:
    X, y = classes()
    Y = np.stack([y == "a", y != "b"], axis=1).astype(int)
    found = cross_fit_predictions(KNeighborsClassifier(), X, Y, KFold(5), method="predict_proba")
    expected = cross_val_predict(KNeighborsClassifier(), X, Y, cv=KFold(5), method="predict_proba")
    assert isinstance(found, list)
    np.testing.assert_array_equal(np.stack(found), np.stack(expected))


def test_frames_keep_their_columns() -> None:
    frame, y = mixed()
    frame["color"] = frame["color"].astype("category")
    exact = cross_fit_predictions(NaiveBayes(), frame, y, 3, method="predict_proba")
    slow = cross_fit_predictions(
        NaiveBayes(), frame, y, 3, method="predict_proba", fit_params={"sample_weight": None}
    )
    np.testing.assert_allclose(exact, slow, rtol=1e-9, atol=1e-12)
    found = cross_fit_predictions(NaiveBayes(), pl.from_pandas(frame), y, 3, method="predict_proba")
    np.testing.assert_allclose(found, exact, rtol=1e-12)


def test_lists_series_and_sparse_rows_serve_as_well() -> None:
    X, y = numbers()
    expected = cross_fit_predictions(KNeighborsRegressor(), X, y)
    for rows, target in (
        (X.tolist(), y.tolist()),
        (pd.DataFrame(X), pd.Series(y)),
        (sparse.csr_array(X), y),
    ):
        found = cross_fit_predictions(KNeighborsRegressor(), rows, target)
        np.testing.assert_allclose(found, expected, rtol=1e-12)


# --- Weights --------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [LinearRegression(), Ridge(solver="lsqr")], ids=str)
def test_weight_two_is_the_row_twice_and_weight_zero_the_row_absent(model: Any) -> None:
    X, y = numbers(30)
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    group = np.arange(len(y)) % 4
    again = np.repeat(np.arange(len(y)), weight)
    weighted = cross_fit_predictions(
        model, X, y, GroupKFold(4), groups=group, sample_weight=weight.astype(float)
    )
    cv = [(np.flatnonzero(group[again] != g), np.flatnonzero(group[again] == g)) for g in range(4)]
    repeated = cross_fit_predictions(model, X[again], y[again], cv)
    np.testing.assert_allclose(weighted[again], repeated, rtol=1e-6, atol=1e-8)


def test_weights_for_learners_without_them_are_refused() -> None:
    X, y = numbers()
    with pytest.raises(InputError, match="KNeighborsRegressor takes no sample_weight"):
        cross_fit_predictions(KNeighborsRegressor(), X, y, sample_weight=np.ones(len(y)))
    with pytest.raises(InputError, match="Negative values in sample_weight"):
        cross_fit_predictions(Ridge(), X, y, sample_weight=-np.ones(len(y)))


def test_who_takes_weights() -> None:
    class Keywords:
        def fit(self, X: Any, y: Any, **more: Any) -> None: ...

    assert takes_weights(GaussianNB())
    assert takes_weights(Keywords())
    assert not takes_weights(KNeighborsClassifier())
    assert not takes_weights(make_pipeline(StandardScaler(), GaussianNB()))


def test_arguments_with_an_entry_for_each_row_are_cut_to_the_fold() -> None:
    class Recorder(KNeighborsRegressor):
        def fit(self, X: Any, y: Any, row: Any = None, flag: Any = None) -> Any:
            np.testing.assert_array_equal(X[:, 0], row)
            assert flag == "whole"
            return super().fit(X, y)

    X, y = numbers()
    more = {"row": X[:, 0], "flag": "whole"}
    assert np.isfinite(cross_fit_predictions(Recorder(), X, y, fit_params=more)).all()


# --- Classes that a fold lacks --------------------------------------------------------------------


@pytest.mark.parametrize("model", [GaussianNB(), KNeighborsClassifier(1)], ids=str)
def test_a_class_that_a_fold_lacks_has_probability_zero(model: Any) -> None:
    X, y = classes(30)
    y = np.where(np.arange(30) == 4, "z", y)
    with pytest.warns(AbsentClassWarning, match=r"1 of 3 folds train without any row of class .*z"):
        found = cross_fit_predictions(model, X, y, KFold(3), method="predict_proba")
    assert found.shape == (30, 4)
    assert (found[:10, 3] == 0).all()
    np.testing.assert_allclose(found.sum(axis=1), 1)


def test_who_shares_folds_says_what_they_lack() -> None:
    X, y = classes(30)
    codes = np.where(np.arange(30) == 4, 3, np.unique(y, return_inverse=True)[1])
    folds = SharedFolds.of(KFold(3), X, codes)
    found = cross_fit_predictions(GaussianNB(), X, codes, folds, method="predict_proba")
    assert (found[:10, 3] == 0).all()
    labels = np.array(["x", "y", "z", "rare"])
    with pytest.warns(AbsentClassWarning, match="1 of 3 folds .* class 'rare', which has"):
        folds.warn_of_absent_classes(codes, labels)
    weight = np.where(codes == 2, 0.0, 1.0)
    with pytest.warns(AbsentClassWarning, match=r"3 of 3 .* 'z' \(2 such classes in all\)"):
        folds.warn_of_absent_classes(codes, labels, weight)
    parts = [(np.arange(15, 29), np.arange(15)), (np.arange(4), np.arange(15, 30))]
    with pytest.warns(AbsentClassWarning, match="2 of 2 folds .* class 'rare', which has"):
        SharedFolds.of(parts, X, codes).warn_of_absent_classes(codes, labels)


def test_labels_of_a_class_that_a_fold_lacks_need_no_warning() -> None:
    X, y = classes(30)
    y = np.where(np.arange(30) == 4, "zebra", y)
    found = cross_fit_predictions(KNeighborsClassifier(1), X, y, KFold(3))
    assert "zebra" not in found[:10].tolist()


def test_classes_are_aligned_by_label() -> None:
    found = np.array([[0.2, 0.8]])
    for method, fill in (("predict_proba", 0.0), ("predict_log_proba", -np.inf)):
        assert align_classes(found, [1, 5], [0, 1, 5], method).tolist() == [[fill, 0.2, 0.8]]
    scores = align_classes(np.array([1.0, -2.0]), [0, 2], [0, 1, 2], "decision_function")
    assert scores.tolist() == [[-1.0, -1.0, 1.0], [2.0, -2.0, -2.0]]
    assert align_classes(found, [1, 5], [1, 5]) is found
    with pytest.raises(InputError, match="knows the class 7, which is not among"):
        align_classes(found, [1, 7], [0, 1, 5])
    with pytest.raises(InputError, match="cannot be assigned"):
        align_classes(np.ones((2, 6)), [0, 1, 2], [0, 1, 2, 3], "decision_function")
    # Scores of all pairs of classes pass where the model knows all classes.
    pairs = SVC(decision_function_shape="ovo").fit([[0], [1], [2], [3]], [0, 1, 2, 3])
    six = pairs.decision_function([[0.5]])
    assert align_classes(six, pairs.classes_, [0, 1, 2, 3], "decision_function") is six


# --- Folds ----------------------------------------------------------------------------------------


def test_folds_are_drawn_once_and_shared() -> None:
    X, y = numbers()
    folds = SharedFolds.of(KFold(5, shuffle=True), X, y)
    first, second = ([test.tolist() for _, test in folds.split()] for _ in range(2))
    assert first == second
    assert folds.get_n_splits() == 5
    for train, test in folds.split():
        assert sorted([*train, *test]) == list(range(len(y)))


def test_folds_of_some_rows_are_the_same_folds() -> None:
    X, y = numbers(10)
    whole = SharedFolds.of([(range(5), range(5, 10)), (range(6, 10), range(5))], X, y)
    kept = np.array([0, 2, 5, 6, 9])
    pairs = [(train.tolist(), test.tolist()) for train, test in whole.among(kept).split()]
    assert pairs == [([0, 1], [2, 3, 4]), ([3, 4], [0, 1])]
    assert whole.among(np.arange(5)).get_n_splits() == 1


def test_leaving_one_out_keeps_no_table_of_folds() -> None:
    X, y = numbers(200)
    folds = SharedFolds.of(LeaveOneOut(), X, y)
    assert all(fold.train is None for fold in folds.folds)
    expected = cross_val_predict(LinearRegression(), X, y, cv=LeaveOneOut())
    found = cross_fit_predictions(LinearRegression(), X, y, folds)
    np.testing.assert_allclose(found, expected, rtol=1e-8)


def test_folds_that_do_not_test_every_row_once_are_refused() -> None:
    X, y = numbers(10)
    with pytest.raises(InputError, match="share no row and cover all 10"):
        cross_fit_predictions(LinearRegression(), X, y, ShuffleSplit(3, random_state=0))
    peeking = [(np.arange(10), np.arange(5)), (np.arange(5), np.arange(5, 10))]
    with pytest.raises(InputError, match=r"Fold 0 .* tests 5 rows that it trains on, row 0 among"):
        cross_fit_predictions(LinearRegression(), X, y, peeking)


def test_an_error_says_in_which_fold_it_happened() -> None:
    X, y = classes(12, K=2)
    cv = [(np.flatnonzero(y == "a"), np.flatnonzero(y == "b")),
          (np.flatnonzero(y == "b"), np.flatnonzero(y == "a"))]  # fmt: skip
    with pytest.raises(ValueError, match="class") as caught:
        cross_fit_predictions(LogisticRegression(), X, y, cv)
    assert caught.value.__notes__ == ["This happened in fold 0 (counted from 0)."]
