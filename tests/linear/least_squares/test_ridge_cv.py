"""RidgeCV: brute force over strengths and rows, another implementation, unsafe rows, weights."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.linear_model import RidgeCV as OtherRidgeCV
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    PredefinedSplit,
    RepeatedKFold,
    cross_validate,
)

from novum.core.errors import InputError, MissingValuesError
from novum.linear import Ridge, RidgeCV
from novum.numerics import Floats
from tests.linear.tables import integer_tables, normal_table
from tests.oracles.rational_least_squares import exact_least_squares, predictions_without

ALPHAS = (0.01, 0.1, 1.0, 10.0, 100.0)
quick = settings(max_examples=30, deadline=None)


def brute_force(X: Floats, y: Floats, intercept: bool = True) -> Floats:
    """Squared errors of rows left out, (n, n_alphas), by refitting in rational arithmetic."""
    rows = [[i] for i in range(len(y))]
    columns = [
        (y - predictions_without(X, y, rows, intercept=intercept, alpha=alpha)) ** 2
        for alpha in ALPHAS
    ]
    return np.column_stack(columns)


@quick
@given(integer_tables(max_columns=2, max_rows=7), st.booleans())
def test_the_strength_is_that_of_brute_force(
    table: tuple[Floats, Floats, Floats], intercept: bool
) -> None:
    X, y, _ = table
    if len(y) < 2:
        return
    errors = brute_force(X, y, intercept)
    model = RidgeCV(ALPHAS, fit_intercept=intercept, store_cv_results=True).fit(X, y)
    size = 1 + float((y**2).max())
    np.testing.assert_allclose(model.cv_results_, errors, rtol=1e-8, atol=1e-10 * size)
    scores = -errors.mean(axis=0)
    assert model.best_score_ == pytest.approx(scores.max(), rel=1e-8, abs=1e-10 * size)
    assert scores[ALPHAS.index(model.alpha_)] == pytest.approx(
        scores.max(), rel=1e-8, abs=1e-10 * size
    )


def test_another_implementation_agrees() -> None:
    X, y = normal_table(40, 4)
    Y = np.column_stack([y, np.random.default_rng(1).normal(size=40)])
    for options in (
        {},
        {"alpha_per_target": True},
        {"scoring": "neg_mean_absolute_error"},
        {"fit_intercept": False},
    ):
        ours = RidgeCV(ALPHAS, store_cv_results=True, **options).fit(X, Y)
        theirs = OtherRidgeCV(ALPHAS, store_cv_results=True, **options).fit(X, Y)
        np.testing.assert_allclose(ours.alpha_, theirs.alpha_)
        np.testing.assert_allclose(ours.best_score_, theirs.best_score_, rtol=1e-10)
        np.testing.assert_allclose(ours.cv_results_, theirs.cv_results_, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-10)


@pytest.mark.parametrize("scoring", [None, "neg_mean_absolute_error"])
def test_folds_agree_with_another_implementation(scoring: str | None) -> None:
    X, y = normal_table(40, 4)
    weight = np.random.default_rng(2).integers(1, 4, 40).astype(float)
    cv = KFold(4, shuffle=True, random_state=0)
    ours = RidgeCV(ALPHAS, cv=cv, scoring=scoring).fit(X, y, weight)
    theirs = OtherRidgeCV(ALPHAS, cv=cv, scoring=scoring).fit(X, y, sample_weight=weight)
    assert ours.alpha_ == theirs.alpha_
    if scoring is None:
        assert ours.best_score_ == pytest.approx(theirs.best_score_, rel=1e-10)


@pytest.mark.parametrize("options", [{}, {"scoring": "r2"}], ids=["error", "score"])
def test_weight_two_is_the_row_twice(options: dict[str, str]) -> None:
    X, y = normal_table(20, 3)
    weight = np.random.default_rng(3).integers(0, 4, 20)
    weighted = RidgeCV(ALPHAS, **options).fit(X, y, weight.astype(float))
    repeated = RidgeCV(ALPHAS, **options).fit(np.repeat(X, weight, 0), np.repeat(y, weight))
    assert weighted.alpha_ == repeated.alpha_
    assert weighted.best_score_ == pytest.approx(repeated.best_score_, rel=1e-11)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-11)


def test_rows_of_leverage_one_are_left_out_for_real() -> None:
    """Without row 0 its own column is constant; the formula would divide rounding by rounding."""
    X, y = normal_table(12, 2)
    X = np.column_stack([X, 1e6 * np.eye(12)[:, 0]])
    model = RidgeCV([1e-9, 1e-6], store_cv_results=True).fit(X, y)
    for a, alpha in enumerate((1e-9, 1e-6)):
        slow = predictions_without(X, y, [[i] for i in range(12)], alpha=alpha)
        np.testing.assert_allclose(model.cv_results_[:, a], (y - slow) ** 2, rtol=1e-8)


def test_heavy_rows_of_leverage_one_lose_one_copy() -> None:
    X, y = normal_table(10, 1)
    X, weight = np.column_stack([X, 1e6 * np.eye(10)[:, 0]]), np.r_[3.0, np.ones(9)]
    weighted = RidgeCV([1e-6, 1.0]).fit(X, y, weight)
    repeated = RidgeCV([1e-6, 1.0]).fit(np.vstack([X, X[[0, 0]]]), np.r_[y, y[[0, 0]]])
    assert weighted.best_score_ == pytest.approx(repeated.best_score_, rel=1e-9)


def test_a_little_more_than_one_copy_leaves_the_rest() -> None:
    """One copy of leverage almost 1 goes; 5e-5 of the row stays and decides its own column."""
    X, y = normal_table(10, 1)
    X, weight = np.column_stack([X, np.eye(10)[:, 0]]), np.r_[1 + 5e-5, np.ones(9)]
    model = RidgeCV([1e-12], store_cv_results=True).fit(X, y, weight)
    left = np.r_[weight[0] - 1, np.ones(9)]
    constant, coef = exact_least_squares(X.tolist(), y.tolist(), left.tolist(), alpha=1e-12)
    exact = float(constant) + X[0] @ np.array(coef, float)
    assert abs(y[0] - exact) < 1e-5
    assert model.cv_results_[0, 0] == pytest.approx((y[0] - exact) ** 2, abs=1e-12)


def test_the_model_is_ridge_with_that_strength() -> None:
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"x": rng.normal(size=30), "color": ["a", "b", "c"] * 10})
    y = rng.normal(size=30) + frame["x"].to_numpy()
    chosen = RidgeCV(ALPHAS).fit(frame, y)
    ridge = Ridge(alpha=chosen.alpha_).fit(frame, y)
    np.testing.assert_array_equal(chosen.coef_, ridge.coef_)
    np.testing.assert_array_equal(chosen.predict(frame), ridge.predict(frame))
    assert chosen.coef_names_ == ("x", "color=b", "color=c")
    assert chosen.certificate_ == chosen.best_estimator_.certificate_
    assert list(chosen.feature_names_in_) == ["x", "color"]
    assert not hasattr(chosen, "cv_results_")


def test_categorical_columns_by_brute_force() -> None:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"x": rng.normal(size=14), "color": ["a", "b"] * 7})
    frame.loc[0, "color"] = "z"
    y = rng.normal(size=14)
    levels = [(frame["color"] == level).to_numpy(float) for level in "bz"]
    design = np.column_stack([frame["x"], *levels])
    model = RidgeCV(ALPHAS, store_cv_results=True).fit(frame, y)
    np.testing.assert_allclose(model.cv_results_, brute_force(design, y), rtol=1e-9)


def test_one_strength_and_strengths_of_every_form() -> None:
    X, y = normal_table(20, 2)
    assert RidgeCV(2.0).fit(X, y).alpha_ == 2.0
    assert RidgeCV(np.array([2.0])).fit(X, y).alpha_ == 2.0
    refitted = RidgeCV(store_cv_results=True).fit(X, y).set_params(store_cv_results=False).fit(X, y)
    assert not hasattr(refitted, "cv_results_")
    callable_score = RidgeCV(ALPHAS, scoring=lambda m, A, b: -np.abs(b - m.predict(A)).max())
    assert callable_score.fit(X, y).alpha_ in ALPHAS


def test_impossible_requests_are_named() -> None:
    X, y = normal_table(10, 2)
    for bad in ([-1.0], [np.nan], [np.inf], ["a"], [None]):
        with pytest.raises(InputError, match="alphas must be finite numbers of at least 0, got"):
            RidgeCV(bad).fit(X, y)
    for bad in ([], [[0.1, 1.0]]):
        with pytest.raises(InputError, match="alphas must be a list of strengths, got"):
            RidgeCV(bad).fit(X, y)
    with pytest.raises(InputError, match=r"needs alphas above 0, got \[0\.0, 1\.0\]\. Set cv"):
        RidgeCV([0.0, 1.0]).fit(X, y)
    with pytest.raises(InputError, match="at least two rows"):
        RidgeCV().fit(X[:1], y[:1])
    with pytest.raises(InputError, match="at least two rows"):
        RidgeCV().fit(X, y, np.r_[1.0, np.zeros(9)])
    first_half = np.r_[np.ones(5), np.zeros(5)]
    halves = [(np.arange(5, 10), np.arange(5)), (np.arange(5), np.arange(5, 10))]
    with pytest.raises(InputError, match=r"Fold 0 \(counted from 0\) trains on no row of positive"):
        RidgeCV(cv=halves).fit(X, y, first_half)
    with pytest.raises(InputError, match="No fold tests a row of positive weight"):
        RidgeCV(cv=halves[1:]).fit(X, y, first_half)


# --- As in scikit-learn ---------------------------------------------------------------------------


def test_folds_may_try_no_penalty_at_all() -> None:
    X, y = normal_table(40, 2, noise=0.0)
    model = RidgeCV([0.0, 100.0], cv=4).fit(X, y)
    other = OtherRidgeCV([0.0, 100.0], cv=4).fit(X, y)
    assert model.alpha_ == other.alpha_ == 0.0
    np.testing.assert_allclose(model.coef_, other.coef_, rtol=1e-9)


def test_groups_of_rows_stay_together() -> None:
    X, y = normal_table(30, 2)
    groups = np.arange(30) % 3
    model = RidgeCV(ALPHAS, cv=GroupKFold(3), store_cv_results=True).fit(X, y, groups=groups)
    masks = [(groups != k, groups == k) for k in range(3)]
    given_folds = RidgeCV(ALPHAS, cv=masks, store_cv_results=True).fit(X, y)
    # Other orders of the same folds, so other orders of the sums.
    np.testing.assert_allclose(model.cv_results_, given_folds.cv_results_, rtol=1e-10)
    with pytest.raises(ValueError, match="groups"):
        RidgeCV(cv=GroupKFold(3)).fit(X, y)


def test_groups_and_weights_are_routed() -> None:
    X, y = normal_table(30, 2)
    params = {"sample_weight": np.arange(1.0, 31.0), "groups": np.arange(30) % 5}
    with config_context(enable_metadata_routing=True):
        model = RidgeCV(cv=GroupKFold(2)).set_fit_request(sample_weight=True, groups=True)
        model.set_score_request(sample_weight=False)
        routed = cross_validate(model, X, y, cv=GroupKFold(5), params=params)["test_score"]
    alone = []
    for k in range(5):
        rest = params["groups"] != k
        model = RidgeCV(cv=GroupKFold(2)).fit(
            X[rest], y[rest], params["sample_weight"][rest], groups=params["groups"][rest]
        )
        alone.append(model.score(X[~rest], y[~rest]))
    np.testing.assert_array_equal(sorted(routed), sorted(alone))


def test_folds_divide_the_rows_that_count() -> None:
    X, y = normal_table(37, 3)
    weight = np.arange(37.0) % 4
    kept = weight > 0
    for cv in (3, KFold(4, shuffle=True, random_state=1), RepeatedKFold(random_state=0)):
        found = RidgeCV(ALPHAS, cv=cv).fit(X, y, weight)
        alone = RidgeCV(ALPHAS, cv=cv).fit(X[kept], y[kept], weight[kept])
        assert found.best_score_ == pytest.approx(alone.best_score_, rel=1e-11)
    errors = RidgeCV(ALPHAS, cv=3, store_cv_results=True).fit(X, y, weight).cv_results_
    assert errors.shape == (37, len(ALPHAS))
    np.testing.assert_array_equal(np.isnan(errors).all(axis=1), ~kept)


def test_a_named_fold_without_weight_has_no_score() -> None:
    X, y = normal_table(30, 2)
    weight, rows = np.r_[np.zeros(10), np.ones(20)], np.arange(30)
    folds = [(np.delete(rows, part), part) for part in np.split(rows, 3)]
    alone = RidgeCV(ALPHAS, cv=2).fit(X[10:], y[10:])
    for cv in (folds, PredefinedSplit(rows // 10)):
        found = RidgeCV(ALPHAS, cv=cv).fit(X, y, weight)
        assert found.best_score_ == pytest.approx(alone.best_score_, rel=1e-10)


def test_messages_name_the_model_the_user_made() -> None:
    X, y = normal_table(20, 2)
    frame = pd.DataFrame(X, columns=["a", "b"])
    with pytest.raises(MissingValuesError, match="RidgeCV needs every cell"):
        RidgeCV().fit(frame.assign(a=np.nan), y)
    with pytest.warns(UserWarning, match="but RidgeCV was fitted with feature names"):
        RidgeCV().fit(frame, y).predict(X)


@pytest.mark.parametrize("intercept", [True, False])
def test_few_rows_are_left_out_by_sums_that_do_not_cancel(intercept: bool) -> None:
    """A penalty of 1e-9: every row fits itself to 11 digits, and leaving it out is still exact."""
    rng = np.random.default_rng(2)
    X, y = rng.integers(-9, 9, (7, 12)).astype(float), rng.integers(-9, 9, 7).astype(float)
    alphas = (1e-9, 0.1, 10.0)
    rows = [[i] for i in range(7)]
    expected = [
        predictions_without(X, y, rows, intercept=intercept, alpha=alpha) for alpha in alphas
    ]
    model = RidgeCV(
        alphas, fit_intercept=intercept, store_cv_results=True, scoring="neg_mean_squared_error"
    ).fit(X, y)
    np.testing.assert_allclose(model.cv_results_, np.column_stack(expected), rtol=1e-8, atol=1e-8)


def test_few_rows_with_weights_are_copies() -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(6, 9)), rng.normal(size=6)
    weight = np.array([1.0, 2.0, 0.5, 0.0, 1.0, 3.0])
    found = RidgeCV(ALPHAS, store_cv_results=True).fit(X, y, weight).cv_results_
    for i, copies in enumerate(weight):
        left = weight.copy()
        left[i] -= min(copies, 1.0)
        for a, alpha in enumerate(ALPHAS):
            error = y[i] - Ridge(alpha).fit(X, y, left).predict(X[i : i + 1])[0]
            assert found[i, a] == pytest.approx(error**2, rel=1e-9)


def test_a_scorer_of_several_targets_sees_them_all() -> None:
    X, y = normal_table(40, 4)
    Y = np.column_stack([y, np.random.default_rng(1).normal(size=40)])
    shapes = []

    def larger_error(_: object, predicted: Floats, targets: Floats) -> float:
        shapes.append(targets.shape)
        return -float(((predicted - targets) ** 2).mean(axis=0).max())

    model = RidgeCV(ALPHAS, scoring=larger_error).fit(X, Y)
    other = OtherRidgeCV(ALPHAS, scoring=larger_error).fit(X, Y)
    assert set(shapes) == {(40, 2)}
    assert model.alpha_ == other.alpha_
    assert model.best_score_ == pytest.approx(other.best_score_, rel=1e-10)
    shapes.clear()
    RidgeCV(ALPHAS, scoring=larger_error, alpha_per_target=True).fit(X, Y)
    assert set(shapes) == {(40,)}
