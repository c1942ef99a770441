"""Learners that label rows for themselves: rounds by hand, calibration, views, odd labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax
from sklearn.base import clone
from sklearn.svm import LinearSVC as OtherSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.bayes import GaussianNB, NaiveBayes
from novum.core import Pipeline, UnlabelledRows, load, save
from novum.core.errors import InputError
from novum.core.learners.contracts import Case, check_name, estimator_checks
from novum.decomposition import PCA, ProbabilisticPCA
from novum.ensemble import CoTraining, SelfTraining
from novum.ensemble.confidence import inverse_temperature
from novum.linear import LogisticRegression
from novum.mixture import GaussianMixture
from novum.neighbors import KNeighborsClassifier


def two_views(n: int = 300, labelled: int = 12, seed: int = 0) -> tuple[Any, Any, Any]:
    """Columns 0, 1 and columns 2, 3 tell two classes apart independently."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % 2
    X = rng.normal(size=(n, 4)) + 1.4 * truth[:, None]
    y = truth.astype(float)
    y[labelled:] = np.nan
    return X, truth, y


@parametrize_with_checks([SelfTraining(GaussianNB()), SelfTraining(LogisticRegression())])
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
@pytest.mark.parametrize(
    "model", [SelfTraining(GaussianNB()), CoTraining(GaussianNB(), [[0, 1], [2, 3]])]
)
def test_contracts(model: Any, check: Any) -> None:
    X, _, y = two_views()
    check(Case(model, X, y))


def test_rounds_are_those_made_by_hand() -> None:
    X, _, y = two_views()
    model = SelfTraining(GaussianNB(), threshold=0.8, folds=None, max_iter=3).fit(X, y)
    labels = y.copy()
    for number in range(3):
        known = ~np.isnan(labels)
        inner = GaussianNB().fit(X[known], labels[known])
        sure = inner.predict_proba(X).max(axis=1) >= 0.8
        new = sure & ~known
        assert (model.labeled_iter_[new] == number + 1).all()
        assert sum(model.history_[number].added) == new.sum()
        labels[new] = inner.predict(X[new])
        assert model.history_[number].remaining == np.isnan(labels).sum()
    known = ~np.isnan(labels)
    inner = GaussianNB().fit(X[known], labels[known])
    assert (model.predict_proba(X) == inner.predict_proba(X)).all()
    assert model.termination_condition_ == "3 rounds"
    assert [label is None for label in model.transduction_] == (~known).tolist()


@pytest.mark.parametrize(
    "model",
    [
        SelfTraining(GaussianNB(), threshold=0.7, max_iter=3),
        CoTraining(GaussianNB(), [[0, 1], [2, 3]], threshold=0.7, max_iter=3),
    ],
)
def test_rows_of_weight_0_keep_their_entries_and_teach_nothing(model: Any) -> None:
    X, truth, _ = two_views(120)
    y = np.array(["no", "yes"], object)[truth]
    y[20:], y[[1, 50]] = None, ["never", "no"]
    weight = np.where(np.arange(120) % 4 == 1, 0.0, 1.0)
    weight[50] = 0.0
    count = weight > 0
    model.fit(X, y, sample_weight=weight)
    absent = clone(model).fit(X[count], y[count], sample_weight=weight[count])
    assert model.classes_.tolist() == ["no", "yes"]
    assert (model.label_codes_[count] == absent.label_codes_).all()
    assert (model.labeled_iter_[count] == absent.labeled_iter_).all()
    assert (model.labeled_iter_[count] > 0).any()
    known = np.array([label in ("no", "yes") for label in y])
    assert (model.transduction_[known] == y[known]).all()
    assert model.transduction_[1] is None
    assert (model.label_codes_[~known & ~count] == -1).all()
    assert (model.labeled_iter_[~count] == np.where(known, 0, -1)[~count]).all()


def test_at_most_k_best_rows_in_a_round_and_the_surest() -> None:
    X, _, y = two_views()
    model = SelfTraining(GaussianNB(), threshold=0.0, k_best=8, folds=None, max_iter=2).fit(X, y)
    assert [r.added for r in model.history_] == [(4, 4), (4, 4)]
    known = ~np.isnan(y)
    shares = GaussianNB().fit(X[known], y[known]).predict_proba(X)
    first = model.labeled_iter_ == 1
    for k in range(2):
        named = shares.argmax(axis=1) == k
        assert shares[first & named, k].min() >= shares[~known & ~first & named, k].max()


def test_it_stops_with_its_reason() -> None:
    X, truth, y = two_views()
    whole = SelfTraining(GaussianNB()).fit(X, truth)
    assert whole.termination_condition_ == "every row has a label"
    assert whole.history_ == ()
    plain = GaussianNB().fit(X, truth)
    assert (whole.predict_proba(X) == plain.predict_proba(X)).all()
    none = SelfTraining(GaussianNB(), threshold=1.0).fit(X, y)
    assert none.termination_condition_.startswith("no row is labelled with confidence 1")
    assert none.certificate_.details["labelled_by_itself"] == 0
    assert SelfTraining(GaussianNB(), max_iter=0).fit(X, y).termination_condition_ == "0 rounds"
    # Views may share columns, and a single column is a view.
    views = CoTraining(GaussianNB(), [[0, 1, 2], 3]).fit(X, truth)
    assert (views.views_, views.termination_condition_) == (
        ((0, 1, 2), (3,)),
        "every row has a label",
    )


def test_confidence_is_no_more_than_held_out_labels_prove() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, 400)
    scores = 2.0 * np.eye(3)[codes] + rng.normal(size=(400, 3))
    best = inverse_temperature(scores, codes)
    # Scores ten times as large are the same answers with ten times the boast.
    assert inverse_temperature(10 * scores, codes) == pytest.approx(best / 10, rel=1e-6)
    mean = softmax(best * scores, axis=1).max(axis=1).mean()
    right = (scores.argmax(axis=1) == codes).sum()
    assert mean <= (right + 1) / 402 + 1e-9
    assert inverse_temperature(scores, (scores.argmax(axis=1) + 1) % 3) == 0.0


def test_labels_that_it_gives_itself_help_where_classes_are_groups() -> None:
    rng = np.random.default_rng(5)
    truth = np.arange(400) % 2
    X = rng.normal(size=(400, 2)) * [1.0, 4.0] + np.outer(truth, [5.0, 0.0])
    y = truth.astype(object)
    y[8:] = None
    plain = KNeighborsClassifier(3).fit(X[:8], truth[:8])
    model = SelfTraining(KNeighborsClassifier(3), threshold=0.7, k_best=20, max_iter=30).fit(X, y)
    assert (model.predict(X) == truth).mean() > (plain.predict(X) == truth).mean()


def test_scores_serve_where_there_are_no_probabilities() -> None:
    X, _, y = two_views()
    model = SelfTraining(OtherSVC(), threshold=0.7, max_iter=3).fit(X, y)
    assert model.n_iter_ >= 2
    assert not hasattr(model, "predict_proba")
    assert model.decision_function(X).shape == (300,)

    class Mute(GaussianNB):
        predict_proba = predict_log_proba = decision_function = property()  # type: ignore[assignment]

    with pytest.raises(InputError, match="neither predict_proba nor decision_function"):
        SelfTraining(Mute()).fit(X, y)


def test_views_teach_each_other() -> None:
    better = 0
    for seed in range(3):
        X, truth, y = two_views(300, 8, seed)
        alone = GaussianNB().fit(X[:8], truth[:8])
        both = CoTraining(GaussianNB(), [[0, 1], [2, 3]], threshold=0.6, k_best=30, max_iter=8).fit(
            X, y
        )
        better += (both.predict(X) == truth).mean() > (alone.predict(X) == truth).mean()
    assert better >= 2


def test_a_round_of_co_training_by_hand() -> None:
    X, _, y = two_views()
    known = ~np.isnan(y)
    model = CoTraining(
        [GaussianNB(), KNeighborsClassifier(3)],
        [[0, 1], [2, 3]],
        threshold=0.9,
        folds=None,
        max_iter=1,
    ).fit(X, y)
    a = GaussianNB().fit(X[known][:, :2], y[known]).predict_proba(X[:, :2])
    b = KNeighborsClassifier(3).fit(X[known][:, 2:], y[known]).predict_proba(X[:, 2:])
    sure_a, sure_b = a.max(axis=1) >= 0.9, b.max(axis=1) >= 0.9
    dispute = sure_a & sure_b & (a.argmax(axis=1) != b.argmax(axis=1)) & ~known
    label = np.where(sure_a, a.argmax(axis=1), b.argmax(axis=1))
    new = (sure_a | sure_b) & ~dispute & ~known
    assert (np.flatnonzero(model.labeled_iter_ == 1) == np.flatnonzero(new)).all()
    assert (model.label_codes_[new] == label[new]).all()
    assert model.history_[0].disagreements == dispute.sum()


def test_frames_weights_and_files(tmp_path: Path) -> None:
    table = pd.DataFrame({"x": [0.0, 1, 2, 9, 10, 11], "c": list("ppqqqq"), "z": [1.0] * 6})
    y = ["a", "a", None, "b", "b", None]
    model = CoTraining(NaiveBayes(), [["x"], ["c", "z"]], threshold=0.5).fit(table, y)
    assert model.views_ == ((0,), (1, 2))
    save(model, tmp_path / "views.novum")
    again = load(tmp_path / "views.novum")
    assert (again.predict_proba(table) == model.predict_proba(table)).all()
    assert again.history_ == model.history_
    weight = np.array([1.0, 1, 0, 1, 1, 2])
    weighted = SelfTraining(NaiveBayes(), threshold=0.5).fit(table, y, weight)
    kept = weight > 0
    rows = np.repeat(np.flatnonzero(kept), weight[kept].astype(int))
    other = SelfTraining(NaiveBayes(), threshold=0.5).fit(
        table.iloc[rows], [y[row] for row in rows]
    )
    np.testing.assert_allclose(weighted.predict_proba(table), other.predict_proba(table), rtol=1e-9)


@pytest.mark.parametrize(
    "representation", [PCA(2), ProbabilisticPCA(2), GaussianMixture(2, random_state=0)]
)
def test_steps_before_the_last_learn_from_all_rows(representation: Any) -> None:
    X, _, y = two_views()
    known = ~np.isnan(y)
    pipe = Pipeline([("all", representation), ("few", SelfTraining(GaussianNB(), max_iter=0))])
    pipe.fit(X, y)
    features = clone(representation).fit(X)
    by_hand = GaussianNB().fit(features.transform(X[known]), y[known])
    found = pipe.predict_proba(X)
    assert (found == by_hand.predict_proba(features.transform(X))).all()
    few = clone(representation).fit(X[known])
    assert not np.allclose(few.transform(X), features.transform(X))
    rule = UnlabelledRows(weight=1.0, folds=0)
    # A last step that takes missing labels itself needs no wrapping.
    em = Pipeline([("all", representation), ("few", GaussianNB(unlabelled=rule))])
    assert em.fit(X, y).predict(X).shape == (300,)


def test_responsibilities_have_names() -> None:
    X, _, _ = two_views()
    mixture = GaussianMixture(3, random_state=0).fit(X)
    np.testing.assert_array_equal(mixture.transform(X), mixture.predict_proba(X))
    names = ["gaussianmixture0", "gaussianmixture1", "gaussianmixture2"]
    assert mixture.get_feature_names_out().tolist() == names


def test_what_cannot_be_is_refused() -> None:
    X, _, y = two_views()
    with pytest.raises(InputError, match="at least two classes"):
        SelfTraining(GaussianNB()).fit(X, np.where(np.isnan(y), y, 1.0))
    with pytest.raises(InputError, match="None of the 300 rows"):
        SelfTraining(GaussianNB()).fit(X, np.full(300, np.nan))
    with pytest.raises(InputError, match="two views"):
        CoTraining(GaussianNB(), [[0, 1]]).fit(X, y)
    with pytest.raises(InputError, match="`views` names 7, but X has no such column"):
        CoTraining(GaussianNB(), [[0, 1], [7]]).fit(X, y)
    with pytest.raises(InputError, match="view 0 has no column"):
        CoTraining(GaussianNB(), [[], [1]]).fit(X, y)
    with pytest.raises(InputError, match="View 1 names column 'x2' twice"):
        CoTraining(GaussianNB(), [[0], [2, -2]]).fit(X, y)
    with pytest.raises(InputError, match="Views 0 and 2 have the same columns"):
        CoTraining(GaussianNB(), [[0, 1], [2], [1, 0]]).fit(X, y)
    with pytest.raises(
        InputError, match=r"Labels of one class only, 1\.0.*CoTraining needs at least"
    ):
        CoTraining(GaussianNB(), [[0], [1]]).fit(X, np.where(np.isnan(y), y, 1.0))
    with pytest.raises(InputError, match="3 learners for 2 views"):
        CoTraining([GaussianNB()] * 3, [[0], [1]]).fit(X, y)
    with pytest.raises(InputError, match="weight above 0"):
        SelfTraining(GaussianNB()).fit(X, y, sample_weight=np.isnan(y).astype(float))
