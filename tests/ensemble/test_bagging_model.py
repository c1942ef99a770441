"""What bagging shares: scikit-learn's checks, contracts, streams, growing on, weights, routing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.bayes import GaussianNB, NaiveBayes
from novum.core import load, save
from novum.core.errors import InputError, ModelFileError
from novum.core.learners import Case, Check
from novum.core.learners.contracts import (
    check_bits_in_new_processes,
    check_interrupted_fit_changes_nothing,
    check_name,
    estimator_checks,
)
from novum.ensemble.bagging import BaggingClassifier, BaggingRegressor
from novum.linear import LinearRegression, Ridge
from tests.ensemble.ensemble_tables import classes, mixed, model_files, numbers

# Rows drawn with replacement make a weight a probability: the equivalence holds in distribution
# (`test_weights_are_repetitions_in_distribution`), and exactly without replacement.
RESAMPLED = {
    f"check_sample_weight_equivalence_on_{kind}_data": "rows are drawn at random"
    for kind in ("dense", "sparse")
}


# --- scikit-learn's checks and the contracts ------------------------------------------------------


@parametrize_with_checks(
    [BaggingClassifier(GaussianNB(), 4), BaggingRegressor(Ridge(), 4)],
    legacy=True,
    expected_failed_checks=lambda _: RESAMPLED,
)
def test_scikit_learn_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@parametrize_with_checks(
    [
        BaggingClassifier(GaussianNB(), 2, bootstrap=False),
        BaggingRegressor(Ridge(), 3, bootstrap=False, max_features=0.7, random_state=0),
    ],
    legacy=True,
)
def test_scikit_learn_checks_without_replacement(
    estimator: Any, check: Callable[[Any], None]
) -> None:
    check(estimator)


@pytest.mark.filterwarnings("ignore::novum.core.errors.UnseenLevelWarning")
@parametrize_with_checks(
    [
        BaggingClassifier(NaiveBayes(categorical_features="all"), 3),
        BaggingRegressor(LinearRegression(categorical_features="all"), 3),
    ],
    legacy=True,
    expected_failed_checks=lambda _: RESAMPLED,
)
def test_scikit_learn_checks_on_nominal_columns(
    estimator: Any, check: Callable[[Any], None]
) -> None:
    check(estimator)


def cases() -> list[Any]:
    seeded = {"n_estimators": 4, "random_state": 0}
    frame, labels = mixed()
    made = {
        "classifier": Case(BaggingClassifier(GaussianNB(), **seeded), *classes()),
        "patches": Case(
            BaggingClassifier(GaussianNB(), max_features=2, max_samples=0.5, **seeded), *classes()
        ),
        "whole": Case(BaggingRegressor(Ridge(), bootstrap=False, **seeded), *numbers()),
        "regressor": Case(BaggingRegressor(LinearRegression(), **seeded), *numbers()),
        "mixed": Case(BaggingClassifier(NaiveBayes(), **seeded), frame, labels),
    }
    return [pytest.param(case, id=name) for name, case in made.items()]


@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
@pytest.mark.parametrize("case", cases())
def test_contract(case: Case, check: Check) -> None:
    with model_files():
        check(case)


@pytest.mark.slow
def test_bits_do_not_depend_on_the_number_of_threads() -> None:
    model = BaggingClassifier(GaussianNB(), 3, random_state=0, n_jobs=2)
    check_bits_in_new_processes(Case(model, *classes(3000)))


def test_an_interrupted_fit_changes_nothing() -> None:
    model = BaggingRegressor(LinearRegression(), 4, random_state=0, n_jobs=2)
    check_interrupted_fit_changes_nothing(Case(model, *numbers()), rows=60_000)


def test_invariances_are_those_of_the_base_but_for_the_order_of_rows() -> None:
    assert "row_order" not in BaggingRegressor(LinearRegression()).invariances
    assert "shift" in BaggingRegressor(LinearRegression()).invariances
    assert "duplication" in BaggingRegressor(LinearRegression(), bootstrap=False).invariances


# --- Streams --------------------------------------------------------------------------------------


def test_the_first_ten_of_twenty_members_are_the_ten() -> None:
    X, y = numbers()
    ten = BaggingRegressor(LinearRegression(), 10, random_state=3).fit(X, y)
    twenty = BaggingRegressor(LinearRegression(), 20, random_state=3, n_jobs=2).fit(X, y)
    for a, b in zip(ten, twenty, strict=False):
        np.testing.assert_array_equal(a.coef_, b.coef_)
    for a, b in zip(ten.estimators_samples_, twenty.estimators_samples_, strict=False):
        np.testing.assert_array_equal(a, b)
    assert len(ten) == 10
    assert ten[3] is ten.estimators_[3]


@pytest.mark.parametrize("random_state", [7, None, np.random.default_rng(0)], ids=str)
def test_growing_on_gives_what_growing_at_once_gives(random_state: Any) -> None:
    X, y = classes()
    model = BaggingClassifier(
        GaussianNB(), 4, warm_start=True, max_features=2, random_state=random_state
    ).fit(X, y)
    first = list(model.estimators_)
    model.set_params(n_estimators=9).fit(X, y)
    assert model.estimators_[:4] == first
    assert len(model.estimators_samples_) == len(model.estimators_features_) == 9
    if random_state == 7:
        whole = BaggingClassifier(GaussianNB(), 9, max_features=2, random_state=7).fit(X, y)
        np.testing.assert_array_equal(model.predict_proba(X), whole.predict_proba(X))
    for m, rows in enumerate(model.estimators_samples_):
        columns = model.estimators_features_[m]
        again = GaussianNB().fit(X[rows][:, columns], np.unique(y, return_inverse=True)[1][rows])
        np.testing.assert_allclose(model.estimators_[m].theta_, again.theta_, rtol=1e-9)


def test_growing_on_refuses_what_does_not_fit() -> None:
    X, y = classes()
    model = BaggingClassifier(GaussianNB(), 4, warm_start=True, random_state=0).fit(X, y)
    before = model.predict_proba(X)
    with pytest.warns(UserWarning, match="without increasing n_estimators"):
        model.fit(X, y)
    with pytest.raises(InputError, match="must be larger or equal"):
        model.set_params(n_estimators=3).fit(X, y)
    model.set_params(n_estimators=6)
    with pytest.raises(InputError, match=r"classes \['a', 'b', 'c'\], but y has \['a', 'b'\]"):
        model.fit(X, np.where(y == "c", "a", y))
    with pytest.raises(ValueError, match="2 features, but BaggingClassifier is expecting 3"):
        model.fit(X[:, :2], y)
    np.testing.assert_array_equal(model.predict_proba(X), before)
    with pytest.raises(InputError, match="members drawn from one table"):
        model.set_params(oob_score=True).fit(X[:80], y[:80])


def test_every_random_state_inside_a_member_is_seeded() -> None:
    X, y = classes()
    base = make_pipeline(StandardScaler(), DecisionTreeClassifier(splitter="random"))
    one, two = (BaggingClassifier(base, 5, random_state=1, n_jobs=j).fit(X, y) for j in (1, 3))
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))
    assert len({member[-1].random_state for member in one}) == 5


# --- Weights --------------------------------------------------------------------------------------


class Recorder(ClassifierMixin, BaseEstimator):
    """Keeps what it was fitted to."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None, price: Any = None) -> Recorder:
        self.classes_, self.given_ = np.unique(y), (np.asarray(X), sample_weight, price)
        return self

    def predict(self, X: Any, price: Any = None) -> Any:
        return np.zeros(len(X), int) if price is None else np.asarray(price)


class Weightless(RegressorMixin, BaseEstimator):
    """A mean without weights."""

    def fit(self, X: Any, y: Any) -> Weightless:
        self.rows_ = np.asarray(X)[:, 0]
        self.mean_ = np.mean(y)
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.mean_)


def test_members_that_take_weights_count_the_draws_others_get_the_rows() -> None:
    X, y = np.arange(12.0)[:, None], np.arange(12) % 2
    counted = BaggingClassifier(Recorder(), 3, random_state=0).fit(X, y)
    repeated = BaggingRegressor(Weightless(), 3, random_state=0).fit(X, y)
    for m in range(3):
        rows = np.sort(counted.estimators_samples_[m])
        np.testing.assert_array_equal(np.bincount(rows, minlength=12), counted[m].given_[1])
        np.testing.assert_array_equal(rows, repeated[m].rows_)


def test_without_replacement_weights_are_passed_on() -> None:
    X, y = numbers()
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    model = BaggingRegressor(Ridge(), 2, bootstrap=False).fit(X, y, weight)
    plain = Ridge().fit(X, y, weight)
    np.testing.assert_allclose(model.predict(X), plain.predict(X), rtol=1e-10)
    half = BaggingClassifier(Recorder(), 2, bootstrap=False, max_samples=0.5, random_state=0)
    labels = np.arange(len(y)) % 2
    half.fit(X, labels, weight)
    kept = weight > 0
    for m, rows in enumerate(half.estimators_samples_):
        assert (weight[rows] > 0).all()
        drawn = np.isin(np.flatnonzero(kept), rows)
        np.testing.assert_array_equal(half[m].given_[1], np.where(drawn, weight[kept], 0))
    with pytest.raises(InputError, match=r"Weightless takes no sample_weight\. Set boot"):
        BaggingRegressor(Weightless(), bootstrap=False).fit(X, y, weight)
    whole = BaggingClassifier(Recorder(), 2, bootstrap=False).fit(X, labels)
    assert whole[0].given_[1] is None


@pytest.mark.slow
@pytest.mark.parametrize("base", [Weightless(), LinearRegression()], ids=str)
def test_weights_are_repetitions_in_distribution(base: Any) -> None:
    # With max_samples=1.0 the weighted and the repeated table draw as many rows, each with the
    # same probability; the mean over 400 members then agrees within four standard errors.
    X, y = numbers(25)
    weight = np.random.default_rng(1).integers(0, 4, 25).astype(float)
    again = np.repeat(np.arange(25), weight.astype(int))
    more = {"max_samples": 1.0, "n_estimators": 400}
    weighted = BaggingRegressor(base, random_state=0, **more).fit(X, y, weight)
    repeated = BaggingRegressor(base, random_state=1, **more).fit(X[again], y[again])
    said = [np.array([m.predict(X) for m in model]) for model in (weighted, repeated)]
    error = np.sqrt(sum(values.var(axis=0) / 400 for values in said))
    assert (np.abs(said[0].mean(axis=0) - said[1].mean(axis=0)) < 4 * error).all()
    np.testing.assert_allclose(said[0].var(axis=0), said[1].var(axis=0), rtol=0.5)


# --- Metadata, tags, files ------------------------------------------------------------------------


def test_routing_sends_metadata_to_the_members() -> None:
    X, y = classes(30, K=2)
    codes = np.unique(y, return_inverse=True)[1]
    price = np.arange(30)
    with pytest.raises(ValueError, match="price"):
        BaggingClassifier(Recorder()).fit(X, y, price=price)
    with config_context(enable_metadata_routing=True):
        base = Recorder().set_fit_request(price=True, sample_weight=True)
        base.set_predict_request(price=True)
        model = BaggingClassifier(base, 3, random_state=0).fit(X, y, price=price)
        np.testing.assert_array_equal(model[0].given_[2], price)
        assert model.predict(X, price=codes).tolist() == y.tolist()
        # A base learner that does not ask for weights gets the drawn rows, and their prices.
        base = Recorder().set_fit_request(price=True, sample_weight=False)
        model = BaggingClassifier(base, 3, random_state=0).fit(X, y, price=price)
        rows = np.sort(model.estimators_samples_[1])
        np.testing.assert_array_equal(model[1].given_[2], rows)
        np.testing.assert_array_equal(model[1].given_[0], X[rows])


def test_tags_are_those_of_the_base() -> None:
    assert BaggingClassifier(NaiveBayes()).__sklearn_tags__().input_tags.allow_nan
    assert not BaggingClassifier(KNeighborsClassifier()).__sklearn_tags__().input_tags.allow_nan
    assert BaggingRegressor(Ridge()).__sklearn_tags__().input_tags.sparse


def test_strangers_inside_a_model_are_refused_by_name(tmp_path: Any) -> None:
    model = BaggingRegressor(KNeighborsRegressor()).fit(*numbers())
    with model_files(), pytest.raises(ModelFileError, match="KNeighborsRegressor"):
        save(model, tmp_path / "bag.novum")


def test_damaged_files_are_refused(tmp_path: Any) -> None:
    def fitted() -> Any:
        return BaggingClassifier(GaussianNB(), 4, max_features=2, random_state=0).fit(*classes())

    changes: list[tuple[str, Any]] = [
        ("estimators_features_", [np.array([0, 99])] * 4),
        ("estimators_features_", [np.array([0, 1])] * 3),
        ("estimators_", fitted().estimators_[:2]),
        ("_resamplings", []),
        ("class_prior_", np.ones(7)),
    ]
    with model_files():
        for name, value in changes:
            damaged = fitted()
            setattr(damaged, name, value)
            save(damaged, tmp_path / "bag.novum")
            with pytest.raises(ModelFileError, match="not in order"):
                load(tmp_path / "bag.novum")
        save(fitted(), tmp_path / "bag.novum")
        restored = load(tmp_path / "bag.novum")
    for a, b in zip(restored.estimators_samples_, fitted().estimators_samples_, strict=True):
        np.testing.assert_array_equal(a, b)


def test_trees_are_the_default_base() -> None:
    X, y = classes()
    model = BaggingClassifier(random_state=0, oob_score=True, n_estimators=30).fit(X, y)
    assert type(model.estimator_).__module__.startswith("novum.trees")
    assert model.oob_score_ > 0.5
    Xr, yr = numbers(200)
    single = BaggingRegressor(n_estimators=1, bootstrap=False).fit(Xr[:100], yr[:100])
    many = BaggingRegressor(n_estimators=30, random_state=0).fit(Xr[:100], yr[:100])
    # A mean of trees varies less from sample to sample than one tree.
    assert many.score(Xr[100:], yr[100:]) > single.score(Xr[100:], yr[100:])
    frame, labels = mixed()
    nominal = BaggingClassifier(n_estimators=20, random_state=0, oob_score=True)
    assert nominal.fit(frame, labels).oob_score_ > 0.5
