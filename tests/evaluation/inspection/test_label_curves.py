"""Curves over the number of labels: scores by hand, paired intervals, words, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import accuracy_score

from novum.bayes import GaussianClassifier, GaussianNB
from novum.core import UnlabelledRows
from novum.core.errors import InputError
from novum.ensemble import SelfTraining
from novum.evaluation import LabelledFolds, cross_validate, label_curve
from novum.neighbors import KNeighborsClassifier, LabelSpreading

rng = np.random.default_rng(0)
Y = np.arange(240) % 2
X = rng.normal(size=(240, 5)) + np.outer(Y, [2.2, 2.2, 0, 0, 0])
RULE = UnlabelledRows(weight=1.0, folds=0)
LEARNER = GaussianClassifier("tied", unlabelled=RULE)


def test_both_scores_are_those_made_by_hand() -> None:
    curve = label_curve(LEARNER, X, Y, label_sizes=[8, 40, 180], cv=4, random_state=3)
    assert curve.labelled_scores.shape == curve.both_scores.shape == (3, 4)
    train, test = next(iter(LabelledFolds(4, 1, 3).split(X, Y)))
    # With all labels of the training part nothing is hidden.
    plain = GaussianClassifier("tied").fit(X[train], Y[train])
    expected = accuracy_score(Y[test], plain.predict(X[test]))
    assert curve.labelled_scores[2, 0] == curve.both_scores[2, 0] == expected
    assert curve.n_unlabelled.tolist() == [172, 140, 0]
    assert curve.test_train_ratios.tolist() == [60 / 180] * 3


def test_unlabelled_rows_gain_most_where_labels_are_few() -> None:
    curve = label_curve(
        LEARNER, X, Y, label_sizes=[8, 180], cv=LabelledFolds(4, 5), scoring="neg_brier_score"
    )
    first, last = curve.gains(0.9)
    assert first.low > 0
    assert last.estimate == pytest.approx(0.0, abs=1e-12)
    assert "help with 8 labels" in curve.verdict(0.9)
    # Log losses are shown as they are, not turned round.
    shown = repr(curve)
    assert "0." in shown
    assert "-0." not in shown.split("difference")[1].split()[2]
    assert "unlabelled" in shown
    assert curve.chart().as_svg().startswith("<svg")


def test_other_learners_text_labels_and_true_gaps() -> None:
    names = np.array(["no", "yes"])[Y].astype(object)
    names[200:] = None
    curve = label_curve(
        SelfTraining(KNeighborsClassifier(3), threshold=0.7, max_iter=2),
        X,
        names,
        labelled_only=KNeighborsClassifier(3),
        label_sizes=[0.1, 0.5],
        cv=3,
        n_jobs=2,
    )
    again = label_curve(
        SelfTraining(KNeighborsClassifier(3), threshold=0.7, max_iter=2),
        X,
        names,
        labelled_only=KNeighborsClassifier(3),
        label_sizes=[0.1, 0.5],
        cv=3,
    )
    assert (curve.both_scores == again.both_scores).all()
    # The 40 rows without a label train in every fold.
    assert curve.n_unlabelled[0] + curve.label_sizes[0] == pytest.approx(200 * 2 / 3 + 40, abs=1)
    spread = label_curve(LabelSpreading("knn"), X, names, label_sizes=[10], cv=3)
    assert np.isfinite(spread.both_scores).all()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"label_sizes": [1]}, "between the 2 classes"),
        ({"label_sizes": [0.0]}, "lie in"),
        ({"label_sizes": "all"}, "list of numbers"),
        ({"scoring": ["accuracy", "f1"]}, "one score"),
    ],
)
def test_refusals(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        label_curve(LEARNER, X, Y, **options)


def test_folds_judge_labelled_rows_only_and_train_on_all_others() -> None:
    y = np.where(np.arange(240) < 60, Y, np.nan)
    seen = np.zeros(240, int)
    for train, test in LabelledFolds(5).split(X, y):
        assert not np.isnan(y[test]).any()
        assert set(range(60, 240)) <= set(train.tolist())
        assert not set(train.tolist()) & set(test.tolist())
        seen[test] += 1
    assert (seen == (~np.isnan(y))).all()
    result = cross_validate(LEARNER, X, y, cv=LabelledFolds(5))
    scores = []
    for train, test in LabelledFolds(5).split(X, y):
        model = GaussianClassifier("tied", unlabelled=RULE).fit(X[train], y[train])
        scores.append(accuracy_score(y[test], model.predict(X[test])))
    np.testing.assert_allclose(result["test_score"], scores)
    with pytest.raises(InputError, match="unlabelled='em'"):
        cross_validate(GaussianNB(), X, y, cv=5)
    with pytest.raises(InputError, match="too few"):
        list(LabelledFolds(5).split(X, np.where(np.arange(240) < 3, Y, np.nan)))


@pytest.mark.parametrize("n_folds", [2, 5])
def test_folds_are_as_many_as_they_are_said_to_be(n_folds: int) -> None:
    y = np.array(["a", "a", "b", "b", "b", "a", *[None] * 6], object)
    plan = LabelledFolds(n_folds, 2)
    assert plan.get_n_splits(None, y) == len(list(plan.split(None, y))) == 2 * min(n_folds, 3)
    assert plan.get_n_splits() == 2 * n_folds
