"""AdaBoost: the algorithm by hand, scikit-learn's numbers, definitions of trees, and its ends."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import ensemble as other
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier as SklearnTree
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.bayes import GaussianNB
from novum.core import WorkingPoint
from novum.core.errors import InputError, ModelFileError, UnseenLevelWarning
from novum.core.learners import Case
from novum.core.learners.contracts import check_name, estimator_checks
from novum.ensemble.adaboost import AdaBoostClassifier, stump_rules
from novum.ensemble.adaboost_rounds import EarlyStopping
from novum.numerics import Array, Floats
from novum.trees.classifier import DecisionTreeClassifier
from novum.trees.stumps.stump_growing import StumpRules
from tests.trees.definitions import TrainingTable
from tests.trees.definitions_growth import GrowthRules, grow, predict_row
from tests.trees.forest_tables import baskets


def curved(K: int = 2, n: int = 200, seed: int = 0) -> tuple[Floats, Array]:
    """Rows of few enough values that every one of them has a code of its own."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    score = X[:, 0] + X[:, 1] ** 2 + 0.5 * rng.normal(size=n)
    return X, np.digitize(score, [0.5, 1.0, 2.0][: K - 1])


class Fixed(ClassifierMixin, BaseEstimator):
    """A learner whose n-th fit answers as it was told to for the rows 0, 1, 2, ..."""

    fits = 0

    def __init__(self, answers: Any = ()) -> None:
        self.answers = answers

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Fixed:  # noqa: ARG002
        self.classes_ = np.unique(y)
        self.weight_ = np.array(sample_weight)
        self.round_ = Fixed.fits
        Fixed.fits += 1
        return self

    def predict(self, X: Any) -> Array:
        told = np.asarray(self.answers[min(self.round_, len(self.answers) - 1)])
        return told[np.asarray(X)[:, 0].astype(int)]


def fixed(*answers: list[int]) -> Fixed:
    Fixed.fits = 0
    return Fixed(answers)


NUMBERED = np.arange(4.0).reshape(-1, 1)


# --- The algorithm --------------------------------------------------------------------------------


def test_by_hand() -> None:
    """Five points on a line, a a b b a, in fractions.

    Round 1 cuts behind 2: the last a is missed, e = 1/5, and weighs exp(log 4) = 4 of 8 then.
    Round 2 cuts before the last: b b weigh 2, a a weigh 2 and the tie says a: e = 2/8.
    """
    X, y = [[1], [2], [3], [4], [5]], list("aabba")
    model = AdaBoostClassifier(n_estimators=3).fit(X, y)
    errors = [Fraction(1, 5), Fraction(2, 8), Fraction(2, 12)]
    np.testing.assert_allclose(model.estimator_errors_, [float(e) for e in errors], rtol=1e-12)
    weights = [math.log((1 - e) / e) for e in errors]
    np.testing.assert_allclose(model.estimator_weights_, weights, rtol=1e-12)
    np.testing.assert_allclose(weights, np.log([4, 3, 5]), rtol=1e-12)
    assert model.predict(X).tolist() == y
    # Behind 5: votes of log 4 for b, of log 3 and log 5 for a.
    assert model.predict_proba([[6]])[0] == pytest.approx([15 / 19, 4 / 19])
    assert model.certificate_.value == pytest.approx(
        math.prod(2 * math.sqrt(e * (1 - e)) for e in errors)
    )
    assert model.certificate_.details["training_error"] == 0.0


@pytest.mark.parametrize("rate", [1.0, 0.3])
@pytest.mark.parametrize("K", [2, 3, 4])
@pytest.mark.parametrize("base", [None, SklearnTree(max_depth=1)], ids=["codes", "fitted"])
def test_scikit_learns_numbers(base: Any, K: int, rate: float) -> None:
    X, y = curved(K)
    weight = np.random.default_rng(1).integers(1, 4, len(y)).astype(float)
    more = {"n_estimators": 30, "learning_rate": rate, "random_state": 0}
    ours = AdaBoostClassifier(base, **more).fit(X, y, weight)
    theirs = other.AdaBoostClassifier(**more).fit(X, y, weight)
    for name in ("estimator_weights_", "estimator_errors_", "feature_importances_", "classes_"):
        np.testing.assert_allclose(
            getattr(ours, name), getattr(theirs, name), rtol=1e-9, atol=1e-12
        )
    new = np.random.default_rng(5).normal(size=(100, 4))
    np.testing.assert_array_equal(ours.predict(new), theirs.predict(new))
    np.testing.assert_allclose(
        ours.decision_function(new), theirs.decision_function(new), atol=1e-12
    )
    for mine, yours in zip(
        ours.staged_decision_function(new), theirs.staged_decision_function(new), strict=True
    ):
        np.testing.assert_allclose(mine, yours, atol=1e-12)


def mixed_table(n: int = 60) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"x": rng.normal(size=n), "z": rng.normal(size=n)})
    table["color"] = rng.choice(["blue", "green", "red", "white"], n)
    table.loc[rng.random(n) < 0.2, "x"] = np.nan
    table.loc[rng.random(n) < 0.2, "color"] = None
    return table


def mixed_labels(table: pd.DataFrame) -> Array:
    rng = np.random.default_rng(4)
    score = table["x"].fillna(0.3) + (table["color"] == "red") * 1.5 + rng.normal(size=len(table))
    return np.where(score > 0.5, "yes", "no")


@pytest.mark.parametrize("nominal", ["subset", "single"])
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_rounds_of_the_definitions_of_trees(criterion: str, nominal: str) -> None:
    """Textbook SAMME around trees grown by their definitions, with levels and missing cells."""
    table = mixed_table()
    y = mixed_labels(table)
    base = DecisionTreeClassifier(max_depth=1, criterion=criterion, nominal=nominal)
    model = AdaBoostClassifier(base, n_estimators=8).fit(table, y)
    codes = (y == "yes").astype(np.int64)
    levels = {"blue": 0.0, "green": 1.0, "red": 2.0, "white": 3.0}
    cells = np.column_stack([table["x"], table["z"], table["color"].map(levels)]).astype(float)
    weight, votes = np.ones(len(y)), np.zeros((len(y), 2))
    rules = GrowthRules(criterion, nominal, max_depth=1, min_samples_leaf=0, min_samples_split=0)
    for error, alpha in zip(model.estimator_errors_, model.estimator_weights_, strict=True):
        rows = TrainingTable(model.schema_, cells, codes[:, None], weight, (np.arange(2),))
        tree = grow(rows, rules)
        p = np.array([predict_row(tree, row) for row in cells])
        # After a learner that names one class for all, both classes weigh the same: ties are usual.
        answers = np.where(p[:, 1] > p[:, 0] + 1e-9, 1, 0)
        expected = weight[answers != codes].sum() / weight.sum()
        assert error == pytest.approx(expected, rel=1e-9)
        assert alpha == pytest.approx(math.log((1 - expected) / expected), rel=1e-9)
        weight[answers != codes] *= math.exp(alpha)
        votes[np.arange(len(y)), answers] += alpha
    p = np.exp(votes) / np.exp(votes).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(table), p, rtol=1e-9)


def test_the_engine_of_stumps_finds_what_fitted_trees_find() -> None:
    table = mixed_table()
    y = mixed_labels(table)
    # A limit that binds nowhere keeps the engine of stumps out.
    fitted = DecisionTreeClassifier(max_depth=1, min_samples_leaf=1e-9)
    assert stump_rules(fitted) is None
    # Later rounds have ties, which fitted trees decide by rounding.
    stump = DecisionTreeClassifier(max_depth=1)
    one = AdaBoostClassifier(stump, n_estimators=5).fit(table, y)
    assert one.stumps_ is not None
    two = AdaBoostClassifier(fitted, n_estimators=5).fit(table, y)
    np.testing.assert_allclose(one.estimator_errors_, two.estimator_errors_, rtol=1e-9)
    np.testing.assert_allclose(one.predict_proba(table), two.predict_proba(table), rtol=1e-9)
    np.testing.assert_allclose(one.feature_importances_, two.feature_importances_, rtol=1e-9)
    for mine, yours in zip(one.estimators_, two.estimators_, strict=True):
        np.testing.assert_array_equal(mine.predict(table), yours.predict(table))


def test_cells_that_are_missing_for_a_reason_are_learned() -> None:
    """Baskets, `t` or missing: in parts there is nothing to ask, and no stump beats guessing."""
    table, y = baskets()
    model = AdaBoostClassifier(n_estimators=30).fit(table, y)
    assert model.score(table, y) > 0.84
    assert "missing" in model.estimators_[0].text()
    plain = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=30)
    assert plain.fit(table, y).score(table, y) == pytest.approx((y == "low").mean())


# --- Certificate ----------------------------------------------------------------------------------

tables = st.integers(0, 10_000).map(lambda seed: curved(2 + seed % 3, 30, seed))


@settings(max_examples=30)
@given(tables, st.sampled_from([1.0, 0.5]))
def test_loss_and_bound_of_the_fitted_model(table: Any, rate: float) -> None:
    X, y = table
    model = AdaBoostClassifier(n_estimators=20, learning_rate=rate).fit(X, y)
    found, K = model.certificate_, model.n_classes_
    votes = model._votes(X)
    own = votes[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    A = model.estimator_weights_.sum()
    assert found.value == pytest.approx(np.exp(A / K - own).mean(), rel=1e-9)
    assert found.details["training_error"] == pytest.approx(1 - model.score(X, y))
    assert found.details["training_error"] <= found.details["training_error_bound"] + 1e-12
    if rate == 1.0:
        assert (np.diff([1.0, *found.trace]) <= 1e-12).all()


# --- Ends -----------------------------------------------------------------------------------------


def test_a_perfect_first_learner_ends_boosting() -> None:
    model = AdaBoostClassifier().fit([[0], [1], [2], [3]], [0, 0, 1, 1])
    assert model.estimator_errors_.tolist() == [0.0]
    assert model.estimator_weights_ == pytest.approx([math.log(9)])
    assert model.certificate_.details["stopped_by"] == "zero error"
    # As if half a row of four and a half had been missed.
    assert model.predict_proba([[0]])[0] == pytest.approx([0.9, 0.1])


def test_a_perfect_later_learner_decides() -> None:
    base = fixed([0, 1, 0, 0], [0, 1, 0, 1], [1, 1, 1, 1])
    model = AdaBoostClassifier(base).fit(NUMBERED, [0, 1, 0, 1])
    assert len(model.estimators_) == 2
    assert model.predict(NUMBERED).tolist() == [0, 1, 0, 1]
    assert model.estimator_weights_[1] > model.estimator_weights_[0]


def test_a_learner_worse_than_one_half_is_turned_round() -> None:
    y = [0, 1, 0, 1]
    model = AdaBoostClassifier(fixed([1, 0, 1, 1]), n_estimators=1).fit(NUMBERED, y)
    assert model.estimator_errors_ == pytest.approx([0.75])
    assert model.estimator_weights_ == pytest.approx([-math.log(3)])
    assert model.predict(NUMBERED).tolist() == [0, 1, 0, 0]
    assert model.predict_proba(NUMBERED)[0] == pytest.approx([0.75, 0.25])
    assert model.decision_function(NUMBERED).tolist() == [-2.0, 2.0, -2.0, -2.0]


def test_a_first_learner_that_guesses_is_an_error() -> None:
    with pytest.raises(InputError, match="no better than guessing among 2 classes"):
        AdaBoostClassifier().fit([[1.0]] * 4, [0, 1, 0, 1])
    with pytest.raises(InputError, match="first Fixed is no better than guessing among 3"):
        AdaBoostClassifier(fixed([1, 2, 0, 0])).fit(NUMBERED, [0, 1, 2, 0])


def test_a_later_learner_that_guesses_ends_boosting() -> None:
    model = AdaBoostClassifier(fixed([0, 1, 0, 0])).fit(NUMBERED, [0, 1, 0, 1])
    assert len(model.estimators_) == 1
    assert model.certificate_.details["stopped_by"] == "guessing"
    # A constant column and unequal classes: one learner names the larger, its weights make a guess.
    model = AdaBoostClassifier().fit([[1.0]] * 3, [0, 1, 0])
    assert model.estimator_errors_ == pytest.approx([1 / 3])
    assert model.predict([[7.0]]).tolist() == [0]


def test_one_class_and_one_row() -> None:
    model = AdaBoostClassifier().fit([[1.0, np.nan]], ["only"])
    assert model.predict([[0.0, 2.0]]).tolist() == ["only"]
    assert model.predict_proba([[0.0, 2.0]]).tolist() == [[1.0]]
    assert model.decision_function([[0.0, 2.0]]).tolist() == [[0.0]]


def test_many_rounds_stay_numbers() -> None:
    X, y = curved(2, 40)
    model = AdaBoostClassifier(n_estimators=3000).fit(X, y)
    assert len(model.estimator_weights_) == 3000
    assert np.isfinite(model.estimator_weights_).all()
    assert model.certificate_.value < 1e-12
    assert model.score(X, y) == 1.0
    fitted = AdaBoostClassifier(GaussianNB(), n_estimators=60, learning_rate=20.0).fit(X, y)
    assert np.isfinite(fitted.predict_log_proba(X)).all()


# --- Weights --------------------------------------------------------------------------------------


@pytest.mark.parametrize("base", [None, GaussianNB()], ids=["stumps", "naive Bayes"])
def test_weight_two_is_the_row_twice(base: Any) -> None:
    X, y = curved(3, 60)
    weight = np.random.default_rng(0).integers(0, 4, 60)
    weighted = AdaBoostClassifier(base, n_estimators=10).fit(X, y, weight)
    rows = np.repeat(np.arange(60), weight)
    repeated = AdaBoostClassifier(base, n_estimators=10).fit(X[rows], y[rows])
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), rtol=1e-9)
    np.testing.assert_allclose(weighted.class_prior_, repeated.class_prior_)


def test_the_first_learner_is_fitted_as_alone() -> None:
    base = fixed([0, 1, 0, 0], [0, 0, 0, 1])
    model = AdaBoostClassifier(base, n_estimators=2).fit(NUMBERED, [0, 1, 0, 1], [2, 1, 3, 1])
    first, second = model.estimators_
    assert first.weight_.tolist() == [2, 1, 3, 1]
    # The missed row has half of the weight, all rows still weigh 7.
    assert second.weight_ == pytest.approx([7 / 6, 7 / 12, 7 / 4, 7 / 2])


def test_learners_without_weights_are_named() -> None:
    with pytest.raises(InputError, match="KNeighborsClassifier doesn't support sample_weight"):
        AdaBoostClassifier(KNeighborsClassifier()).fit(*curved())


# --- Early stopping -------------------------------------------------------------------------------


@pytest.mark.parametrize("base", [None, SklearnTree(max_depth=1)], ids=["codes", "fitted"])
def test_early_stopping_keeps_the_best_rounds(base: Any) -> None:
    X, y = curved(2, 200)
    rule = EarlyStopping(0.3, patience=15)
    model = AdaBoostClassifier(base, n_estimators=500, early_stopping=rule, random_state=0)
    model.fit(X, y)
    again = AdaBoostClassifier(base, n_estimators=500, early_stopping=rule, random_state=0)
    assert again.fit(X, y).predict_proba(X).tobytes() == model.predict_proba(X).tobytes()
    assert len(model.estimator_weights_) < 400
    assert model.certificate_.details["stopped_by"] == "early stopping"
    assert model.score(X, y) > 0.85
    assert "row_order" not in model.invariances


def test_held_out_rows_teach_nothing() -> None:
    """The learner of rows 0-29 that are not held out is fitted to exactly these."""
    y = np.arange(30) % 2
    answers = np.where(np.arange(30) < 27, y, 1 - y).tolist()
    X = np.arange(30.0).reshape(-1, 1)
    model = AdaBoostClassifier(
        fixed(answers), n_estimators=1, early_stopping=EarlyStopping(10), random_state=3
    ).fit(X, y)
    assert model.estimators_[0].weight_.size == 20


# --- Prediction -----------------------------------------------------------------------------------


@pytest.mark.parametrize("base", [None, LogisticRegression()], ids=["stumps", "logistic"])
@pytest.mark.parametrize("K", [2, 3])
def test_stages_end_with_the_model(K: int, base: Any) -> None:
    X, y = curved(K)
    model = AdaBoostClassifier(base, n_estimators=12).fit(X, y)
    rounds = len(model.estimators_)
    stages = {
        "decision_function": list(model.staged_decision_function(X)),
        "predict_proba": list(model.staged_predict_proba(X)),
    }
    for name, found in stages.items():
        assert len(found) == rounds
        np.testing.assert_allclose(found[-1], getattr(model, name)(X), atol=1e-12)
    scores = list(model.staged_score(X, y))
    assert scores[-1] == model.score(X, y)
    assert (list(model.staged_predict(X))[-1] == model.predict(X)).all()
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X))


def test_other_priors_and_costs_need_no_training() -> None:
    X, y = curved()
    model = AdaBoostClassifier(n_estimators=10).fit(X, y)
    odds = model.predict_proba(X)[:, 1] / model.predict_proba(X)[:, 0]
    before = model.class_prior_[1] / model.class_prior_[0]
    moved = model.at(WorkingPoint.binary(prior=0.5, cost_fn=1, cost_fp=1)).predict_proba(X)
    np.testing.assert_allclose(moved[:, 1] / moved[:, 0], odds / before, rtol=1e-9)


def test_frames_of_all_makes_predict_the_same() -> None:
    table = mixed_table()
    y = mixed_labels(table)
    model = AdaBoostClassifier(n_estimators=10).fit(table, y)
    assert model.feature_names_in_.tolist() == ["x", "z", "color"]
    found = model.predict_proba(table)
    other_frame = pl.from_pandas(table.astype({"color": "string"}), nan_to_null=True)
    np.testing.assert_array_equal(model.predict_proba(other_frame), found)
    unseen = table.assign(color="violet")
    missing = table.assign(color=None)
    with pytest.warns(UnseenLevelWarning, match="'color' has"):
        found = model.predict_proba(unseen)
    np.testing.assert_array_equal(found, model.predict_proba(missing))


def test_importances_of_learners_without_them() -> None:
    model = AdaBoostClassifier(GaussianNB(), n_estimators=3).fit(*curved())
    assert not hasattr(model, "feature_importances_")


# --- Which engine ---------------------------------------------------------------------------------


def test_which_trees_are_stumps() -> None:
    assert stump_rules(DecisionTreeClassifier(max_depth=1)) == StumpRules()
    entropy = DecisionTreeClassifier(
        max_depth=1, criterion="entropy", nominal="single", max_bins=63
    )
    assert stump_rules(entropy) == StumpRules("entropy", True, 63)
    for changes in ({"max_depth": 2}, {"min_samples_leaf": 5}, {"missing": "direction"}):
        assert stump_rules(DecisionTreeClassifier(**{"max_depth": 1, **changes})) is None
    assert stump_rules(SklearnTree(max_depth=1)) is None


# --- Contracts ------------------------------------------------------------------------------------


@parametrize_with_checks(
    [
        AdaBoostClassifier(n_estimators=5),
        AdaBoostClassifier(GaussianNB(), n_estimators=5),
    ]
)
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


CASES = {
    "stumps": Case(AdaBoostClassifier(n_estimators=8), *curved(3, 80)),
    "frame": Case(AdaBoostClassifier(n_estimators=8), mixed_table(), mixed_labels(mixed_table())),
    "naive Bayes": Case(AdaBoostClassifier(GaussianNB(), n_estimators=4), *curved(2, 80)),
}


@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_contract(check: Any, case: Case) -> None:
    check(case)


def test_a_loaded_model_that_does_not_fit_together_is_refused() -> None:
    model = AdaBoostClassifier(n_estimators=4).fit(*curved())
    model._check_state()
    model.estimator_weights_ = model.estimator_weights_[:2]
    with pytest.raises(ModelFileError, match="4 learners, but 2 weights"):
        model._check_state()
    model = AdaBoostClassifier(n_estimators=4).fit(*curved())
    model.class_prior_ = np.ones(3)
    with pytest.raises(ModelFileError, match="2 classes, but other priors"):
        model._check_state()
