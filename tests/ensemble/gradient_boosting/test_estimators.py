"""The estimators: scikit-learn's checks, the library's contract, rounds and how they end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_limits

from novum.core import load, save
from novum.core.errors import InputError
from novum.core.learners import Case
from novum.core.learners.contracts import check_name, estimator_checks
from novum.ensemble import (
    AdaBoostClassifier,
    CustomLoss,
    EarlyStopping,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HuberLoss,
    SoftmaxLoss,
    SquaredLoss,
)
from tests.trees.forest_tables import mixed_labels, mixed_numbers, mixed_table

X, Y = load_diabetes(return_X_y=True)


@parametrize_with_checks(
    [
        GradientBoostingClassifier(n_estimators=8, min_samples_leaf=3),
        GradientBoostingRegressor(n_estimators=8, min_samples_leaf=3),
        GradientBoostingRegressor("huber", n_estimators=6, min_samples_leaf=3, max_leaf_nodes=None),
    ],
    legacy=True,
)
def test_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


MODELS = [
    GradientBoostingClassifier(n_estimators=5),
    GradientBoostingRegressor(n_estimators=5),
    GradientBoostingRegressor(HuberLoss(0.8), n_estimators=5, subsample=0.7, random_state=0),
]


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
def test_contract(check: Any, model: Any) -> None:
    table = mixed_table(120)
    y = mixed_labels(table) if hasattr(model, "class_weight") else mixed_numbers(table)
    check(Case(model, table, y))


@pytest.mark.slow
def test_as_good_as_scikit_learn() -> None:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    from novum.evaluation import cross_val_score

    cancer = load_breast_cancer(return_X_y=True)
    ours = cross_val_score(GradientBoostingClassifier(), *cancer, cv=5, scoring="neg_log_loss")
    # Threads of OpenMP that wait for each other take a minute where two processes test.
    with threadpool_limits(1):
        theirs = cross_val_score(
            HistGradientBoostingClassifier(), *cancer, cv=5, scoring="neg_log_loss"
        )
        others = cross_val_score(HistGradientBoostingRegressor(), X, Y, cv=5)
    assert ours.mean() > theirs.mean() - 0.02
    assert cross_val_score(GradientBoostingRegressor(), X, Y, cv=5).mean() > others.mean() - 0.03


def test_the_training_loss_falls_and_the_certificate_says_why_it_ended() -> None:
    model = GradientBoostingRegressor(n_estimators=30).fit(X, Y)
    trace = np.array(model.certificate_.trace)
    assert (np.diff(trace) < 0).all()
    residuals = Y - model.predict(X)
    assert model.certificate_.value == pytest.approx((residuals**2).mean() / 2)
    assert model.certificate_.details["stopped_by"] == "n_estimators"
    assert model.certificate_.iterations == model.n_estimators_ == 30
    constant = GradientBoostingRegressor().fit(X, np.full(len(Y), 3.0))
    assert constant.certificate_.details["stopped_by"] == "no split"
    np.testing.assert_allclose(constant.predict(X[:3]), 3.0)


def rare_levels(n: int = 400) -> tuple[Any, Any]:
    """Two columns that tell, and twelve of too few ones for any leaf."""
    rng = np.random.default_rng(7)
    told = rng.normal(size=(n, 2))
    X = np.column_stack([told, rng.random((n, 12)) < 0.02]).astype(float)
    return X, told[:, 0] - 2 * np.abs(told[:, 1])


def test_a_round_without_a_split_is_no_end_where_the_next_draws_other_columns() -> None:
    X, y = rare_levels()
    model = GradientBoostingRegressor(max_features=1, n_estimators=150, random_state=0).fit(X, y)
    assert model.n_estimators_ == 150
    sizes = np.diff(model.forests_[0].tree_start)
    assert sizes[0] == 1 < sizes.max()
    assert model.score(X, y) > 0.5
    classes = np.digitize(y, [-2.5, -1.0])
    boosted = GradientBoostingClassifier(max_features="log2", random_state=0).fit(X, classes)
    assert boosted.n_estimators_ == 100
    assert boosted.score(X, classes) > 0.85


def test_weight_2_is_the_row_twice_where_columns_are_drawn() -> None:
    X, y = rare_levels()
    weight = np.random.default_rng(1).integers(0, 4, len(y))
    twice = np.repeat(np.arange(len(y)), weight)
    model = GradientBoostingRegressor(max_features=0.3, n_estimators=40, random_state=0)
    weighted = model.fit(X, y, sample_weight=weight).predict(X)
    np.testing.assert_allclose(weighted, model.fit(X[twice], y[twice]).predict(X), rtol=1e-9)


def test_a_leaf_that_is_not_zero_is_no_end() -> None:
    X, y = rare_levels()
    far = CustomLoss(
        lambda y, f: (f - y) ** 2 / 2, lambda y, f: f - y, lambda y, _: np.ones(len(y)), first=-90.0
    )
    model = GradientBoostingRegressor(far, n_estimators=200, random_state=0).fit(X, y)
    assert len(model.forests_[0].value) > model.n_estimators_ == 200
    assert model.score(X, y) > 0.9
    # Until the constant is the best one, and then no further.
    ends = GradientBoostingRegressor(far, n_estimators=5000, max_features=0.5, random_state=0)
    ends.fit(np.zeros((400, 4)), y)
    assert 50 < ends.n_estimators_ < 500
    assert ends.predict([[0.0] * 4])[0] == pytest.approx(y.mean(), abs=1e-9)


@pytest.mark.parametrize("settings", [{}, {"max_features": 0.3}, {"subsample": 0.5}])
@pytest.mark.parametrize("loss", ["squared_error", "huber", "quantile", "poisson", "gamma"])
def test_rounds_end_where_nothing_can_differ(loss: str, settings: Any) -> None:
    X, y = rare_levels()
    model = GradientBoostingRegressor(loss, n_estimators=10_000, random_state=0, **settings)
    assert model.fit(X, np.full(400, 0.7)).n_estimators_ < 50
    assert model.certificate_.details["stopped_by"] == "no split"
    np.testing.assert_allclose(model.predict(X), 0.7, rtol=1e-15)
    if "subsample" not in settings:
        assert model.fit(X[:, 2:], np.exp(y)).n_estimators_ < 1000
        classes = np.arange(400) % 3
        for kind in ("log_loss", "ordinal"):
            still = GradientBoostingClassifier(kind, n_estimators=10_000, **settings)
            assert still.fit(np.zeros((400, 5)), classes).n_estimators_ == 1


def test_stages_lead_to_the_prediction() -> None:
    iris = load_iris(return_X_y=True)
    model = GradientBoostingClassifier(n_estimators=7).fit(*iris)
    *_, last = model.staged_predict_proba(iris[0])
    np.testing.assert_allclose(last, model.predict_proba(iris[0]), atol=1e-12)
    assert len(list(model.staged_predict(iris[0]))) == 7
    first = next(iter(model.staged_decision_function(iris[0])))
    one = GradientBoostingClassifier(n_estimators=1).fit(*iris)
    np.testing.assert_allclose(first, one.decision_function(iris[0]), atol=1e-12)


@pytest.mark.parametrize("loss", ["squared_error", "huber"])
def test_warm_starts_go_on(loss: str) -> None:
    settings = {"subsample": 0.6, "random_state": 1}
    whole = GradientBoostingRegressor(loss, n_estimators=12, **settings).fit(X, Y)
    parts = GradientBoostingRegressor(loss, n_estimators=5, warm_start=True, **settings).fit(X, Y)
    parts.set_params(n_estimators=12).fit(X, Y)
    np.testing.assert_allclose(parts.predict(X), whole.predict(X), rtol=1e-9)
    with pytest.raises(InputError, match="larger or equal"):
        parts.set_params(n_estimators=3).fit(X, Y)
    with pytest.raises(InputError, match="same columns"):
        parts.set_params(n_estimators=20).fit(X[:, :4], Y)


def test_early_stopping_keeps_the_best_rounds() -> None:
    rule = EarlyStopping(0.3, patience=5)
    model = GradientBoostingRegressor(n_estimators=300, early_stopping=rule, random_state=0).fit(
        X, Y
    )
    losses = model.validation_losses_
    assert model.certificate_.details["stopped_by"] == "early stopping"
    assert model.n_estimators_ == np.argmin(losses) + 1 == len(losses) - 5
    careful = clone(model).set_params(
        early_stopping=EarlyStopping(0.3, patience=5, one_standard_error=True)
    )
    assert careful.fit(X, Y).n_estimators_ < model.n_estimators_
    bag = clone(model).set_params(early_stopping=EarlyStopping("out_of_bag"), subsample=0.5)
    assert 5 < bag.fit(X, Y).n_estimators_ < 300


def test_early_stopping_in_the_words_of_scikit_learn() -> None:
    model = GradientBoostingRegressor(n_estimators=200, random_state=0)
    rule = EarlyStopping(0.25, patience=6, tol=1e-7)
    expected = clone(model).set_params(early_stopping=rule).fit(X, Y)
    words: dict[str, Any] = {"validation_fraction": 0.25, "n_iter_no_change": 6}
    for on in ({}, {"early_stopping": True}):
        same = clone(model).set_params(**words, **on).fit(X, Y)
        assert same.n_estimators_ == expected.n_estimators_ < 200
        np.testing.assert_array_equal(same.predict(X), expected.predict(X))
    assert "duplication" not in model.set_params(**words).invariances
    assert model.set_params(early_stopping=False).fit(X, Y).n_estimators_ == 200
    with pytest.raises(InputError, match="Leave n_iter_no_change out"):
        model.set_params(early_stopping=rule).fit(X, Y)


class Watching(SquaredLoss):
    """Notes the residuals of the rows that leaves were grown from."""

    def leaf_value(self, residuals: Any, weight: Any) -> None:
        del weight
        self.met.extend(residuals.tolist())


def test_improvements_out_of_bag_are_those_of_rows_that_a_round_has_not_drawn() -> None:
    loss, weight = Watching(), np.arange(len(Y)) % 3 + 1.0
    object.__setattr__(loss, "met", [])
    y = Y + 1e-3 * np.arange(len(Y))
    model = GradientBoostingRegressor(loss, n_estimators=1, subsample=0.4, random_state=0)
    model.fit(X, y, sample_weight=weight)
    before, after = y - model.starts_[0], y - model.predict(X)
    rest = ~np.isin(before, loss.met)
    assert rest.sum() == len(Y) - round(0.4 * len(Y))
    gained = np.average((before**2 - after**2)[rest] / 2, weights=weight[rest])
    assert model.oob_improvement_ == pytest.approx([gained])
    # More rounds go on from there, and the rule of the same name judges by their sum.
    model.set_params(loss="squared_error", n_estimators=30, warm_start=True)
    assert model.fit(X, y, sample_weight=weight).oob_improvement_.shape == (30,)
    assert model.oob_improvement_[0] == pytest.approx(gained)
    model.set_params(warm_start=False, early_stopping=EarlyStopping("out_of_bag", patience=99))
    model.fit(X, y, sample_weight=weight)
    kept = model.n_estimators_
    assert len(model.oob_improvement_) == kept
    np.testing.assert_allclose(
        model.certificate_.trace[0] - model.oob_improvement_.cumsum(),
        model.validation_losses_[:kept],
    )
    plain = model.set_params(subsample=1.0, early_stopping=None).fit(X, y)
    assert not hasattr(plain, "oob_improvement_")


def test_early_stopping_out_of_bag_needs_a_bag() -> None:
    rule = EarlyStopping("out_of_bag")
    with pytest.raises(InputError, match="subsample below 1"):
        GradientBoostingRegressor(early_stopping=rule).fit(X, Y)
    with pytest.raises(InputError, match=r"subsample=0.99 of 20 rows draws all"):
        GradientBoostingRegressor(early_stopping=rule, subsample=0.99).fit(X[:20], Y[:20])
    with pytest.raises(InputError, match="Hold out a share"):
        AdaBoostClassifier(early_stopping=rule).fit(X, Y > 100)
    with pytest.raises(InputError, match="'out_of_bag'"):
        EarlyStopping("bag")


class Interrupting(SquaredLoss):
    """A loss during which somebody presses Ctrl-C."""

    calls = 0

    def gradients(self, scores: Any, y: Any) -> Any:
        type(self).calls += 1
        if type(self).calls % 4 == 0:
            raise KeyboardInterrupt
        return super().gradients(scores, y)


def test_ctrl_c_keeps_the_rounds_so_far_if_asked() -> None:
    model = GradientBoostingRegressor(Interrupting(), keep_interrupted=True)
    with pytest.warns(UserWarning, match="stopped"):
        model.fit(X, Y)
    assert model.n_estimators_ == 3
    assert model.certificate_.details["stopped_by"] == "interrupt"
    with pytest.raises(KeyboardInterrupt):
        GradientBoostingRegressor(Interrupting()).fit(X, Y)


def test_several_targets_are_several_models() -> None:
    both = GradientBoostingRegressor(n_estimators=5).fit(X, np.column_stack([Y, -Y])).predict(X)
    one = GradientBoostingRegressor(n_estimators=5).fit(X, Y).predict(X)
    np.testing.assert_allclose(both, np.column_stack([one, -one]), rtol=1e-8)


def test_an_order_of_classes() -> None:
    levels = np.digitize(Y, [80, 140, 200])
    model = GradientBoostingClassifier("ordinal", n_estimators=40).fit(X, levels)
    assert len(model.forests_) == 1
    thresholds = model.losses_[0].thresholds
    assert (np.diff(thresholds) > 0).all()
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert model.certificate_.value == pytest.approx(
        -np.log(probabilities[np.arange(len(levels)), levels]).mean()
    )
    assert model.score(X, levels) > 0.7


@pytest.mark.parametrize("sign", [1, -1])
def test_an_order_of_classes_may_have_to_rise_along_columns(sign: int) -> None:
    rng = np.random.default_rng(3)
    Z = rng.uniform(-1, 1, size=(500, 3))
    Z[rng.random(Z.shape) < 0.1] = np.nan
    middle = np.nan_to_num(np.sin(4 * Z[:, 0]) + Z[:, 1])
    levels = np.digitize(middle + rng.normal(size=500), [-1, 0, 1])
    signs = [sign, 0, -sign]
    model = GradientBoostingClassifier("ordinal", monotonic_cst=signs, min_samples_leaf=5)
    model.fit(Z, levels)
    for column, way in enumerate(signs):
        rows = np.repeat(Z[:60], 41, axis=0)
        rows[:, column] = np.tile(np.linspace(-1.1, 1.1, 41), 60)
        above = 1 - model.predict_proba(rows).cumsum(axis=1)[:, :-1].reshape(60, 41, 3)
        steps = np.diff(above, axis=1)
        assert (way * steps >= -1e-12).all()
    with pytest.raises(InputError, match="every class has a score"):
        GradientBoostingClassifier(monotonic_cst=signs).fit(Z, levels)
    with pytest.raises(InputError, match="every class has a score"):
        GradientBoostingClassifier(SoftmaxLoss(), monotonic_cst=signs).fit(Z, levels > 1)


def test_models_of_files_predict_the_same(tmp_path: Any) -> None:
    table = mixed_table(150)
    for model, y in (
        (GradientBoostingClassifier(n_estimators=4), mixed_labels(table)),
        (GradientBoostingRegressor("quantile", n_estimators=4), mixed_numbers(table)),
    ):
        model.fit(table, y)
        save(model, tmp_path / "model.novum")
        loaded = load(tmp_path / "model.novum")
        np.testing.assert_array_equal(loaded.predict(table), model.predict(table))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"interaction_cst": "some"}, "no_interactions"),
        ({"interaction_cst": [["z"]]}, "no column of X"),
        ({"interaction_cst": [[12]]}, "numbered from 0 to 9"),
        ({"monotonic_cst": [1, 0]}, "one entry for each column"),
    ],
)
def test_bad_settings_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        GradientBoostingRegressor(**settings).fit(X, Y)


def test_too_many_groups() -> None:
    wide = np.random.default_rng(0).normal(size=(50, 70))
    with pytest.raises(InputError, match="70 groups"):
        GradientBoostingRegressor(interaction_cst="no_interactions").fit(wide, wide[:, 0])
