"""The life of a forest: fits, fits that go on, fits that fail, files, settings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.core import load, save
from novum.core.errors import InputError
from novum.core.learners import Case, Verdict
from novum.core.learners.contracts import (
    check_interrupted_fit_changes_nothing,
    check_name,
    estimator_checks,
)
from novum.trees.forests.forest import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from tests.trees.forest_tables import mixed_labels, mixed_numbers, mixed_table

BOOTSTRAPPED = [RandomForestClassifier(4), RandomForestRegressor(4)]
DETERMINED = [
    RandomForestClassifier(4, bootstrap=False),
    ExtraTreesClassifier(4),
    ExtraTreesRegressor(4),
    ExtraTreesRegressor(3, max_bins=None),
]
RESAMPLED = {
    f"check_sample_weight_equivalence_on_{kind}_data": "draws depend on the number of rows"
    for kind in ("dense", "sparse")
}


@parametrize_with_checks(BOOTSTRAPPED, legacy=True, expected_failed_checks=lambda _: RESAMPLED)
def test_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


@parametrize_with_checks(DETERMINED, legacy=True)
def test_scikit_learn_without_bootstrap(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.filterwarnings("ignore::novum.core.errors.UnseenLevelWarning")
@parametrize_with_checks([ExtraTreesClassifier(3, categorical_features="all")], legacy=True)
def test_scikit_learn_with_levels(estimator: Any, check: Any) -> None:
    check(estimator)


MODELS = [
    RandomForestClassifier(5, random_state=0),
    RandomForestRegressor(5, random_state=0),
    ExtraTreesClassifier(5, random_state=0),
    ExtraTreesRegressor(5, random_state=0),
    RandomForestClassifier(3, random_state=0, bootstrap=False, max_bins=None),
    RandomForestClassifier(3, random_state=0, nominal="multiway", oob_score=False),
]


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
def test_contract(check: Any, model: Any) -> None:
    table = mixed_table(120)
    y = mixed_labels(table) if hasattr(model, "class_weight") else mixed_numbers(table)
    check(Case(model, table, y))


def test_contract_of_arrays() -> None:
    X = np.random.default_rng(0).normal(size=(80, 3))
    for check in estimator_checks():
        check(Case(ExtraTreesRegressor(4, random_state=0), X, X[:, 0] - X[:, 1] ** 2))


def test_an_interrupted_fit_changes_nothing() -> None:
    X = np.random.default_rng(0).normal(size=(500, 4))
    case = Case(RandomForestClassifier(8, random_state=0, max_depth=8), X, X[:, 0] > 0)
    check_interrupted_fit_changes_nothing(case, rows=100_000)


# --- Growing on -----------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [RandomForestClassifier, ExtraTreesClassifier])
@pytest.mark.parametrize("max_bins", [255, None])
def test_trees_added_are_those_of_one_fit(model: Any, max_bins: int | None) -> None:
    table = mixed_table(100)
    y = mixed_labels(table)
    grown = model(3, random_state=0, warm_start=True, max_bins=max_bins).fit(table, y)
    early = grown.forest_
    grown.set_params(n_estimators=8).fit(table, y)
    whole = model(8, random_state=0, max_bins=max_bins).fit(table, y)
    np.testing.assert_array_equal(grown.predict_proba(table), whole.predict_proba(table))
    assert early.n_trees == 3
    assert grown.forest_.step.tobytes() == whole.forest_.step.tobytes()
    for rows, others in zip(grown.estimators_samples_, whole.estimators_samples_, strict=True):
        np.testing.assert_array_equal(rows, others)


def test_unseeded_trees_that_are_added_differ_from_the_first() -> None:
    X = np.random.default_rng(0).normal(size=(80, 2))
    model = RandomForestRegressor(2, warm_start=True).fit(X, X[:, 0])
    model.set_params(n_estimators=4).fit(X, X[:, 0])
    drawn = {tuple(rows) for rows in model.estimators_samples_}
    assert len(drawn) == 4


def test_the_score_out_of_bag_follows_the_added_trees() -> None:
    table = mixed_table(100)
    y = mixed_labels(table)
    model = RandomForestClassifier(20, random_state=0, warm_start=True, oob_score=True)
    model.fit(table, y)
    before = model.oob_decision_function_
    model.set_params(n_estimators=40).fit(table, y)
    whole = RandomForestClassifier(40, random_state=0, oob_score=True).fit(table, y)
    assert (before != model.oob_decision_function_).any()
    np.testing.assert_array_equal(model.oob_decision_function_, whole.oob_decision_function_)
    model.set_params(oob_score=False, n_estimators=41).fit(table, y)
    assert not hasattr(model, "oob_score_")


def test_a_fit_without_new_trees_warns_and_can_be_judged() -> None:
    table = mixed_table(60)
    y = mixed_labels(table)
    model = RandomForestClassifier(30, random_state=0, warm_start=True).fit(table, y)
    model.set_params(oob_score=True)
    with pytest.warns(UserWarning, match="does not fit new trees"):
        model.fit(table, y)
    assert 0 < model.oob_score_ <= 1


def test_what_cannot_be_added_is_refused() -> None:
    table = mixed_table(60)
    y = mixed_labels(table)
    model = RandomForestClassifier(4, random_state=0, warm_start=True).fit(table, y)
    with pytest.raises(InputError, match=r"n_estimators=3 must be larger or equal to"):
        model.set_params(n_estimators=3).fit(table, y)
    model.set_params(n_estimators=6)
    with pytest.raises(InputError, match="same columns, levels and classes"):
        model.fit(table, y == "a")
    with pytest.raises(InputError, match="same columns, levels and classes"):
        model.fit(table.assign(place="here"), y)
    with pytest.raises(InputError, match="another max_bins"):
        model.set_params(criterion="gain_ratio").fit(table, y)
    assert len(model) == 4
    numbers = RandomForestRegressor(2, warm_start=True).fit(table, np.arange(60.0))
    with pytest.raises(InputError, match="same columns"):
        numbers.set_params(n_estimators=3).fit(table, np.ones((60, 2)))


def test_added_trees_keep_to_the_first_edges() -> None:
    rng = np.random.default_rng(0)
    X, other = rng.normal(size=(200, 2)), rng.normal(size=(300, 2)) + 1
    model = RandomForestRegressor(3, random_state=0, warm_start=True, max_bins=10)
    coding = model.fit(X, X[:, 0]).forest_.coding
    model.set_params(n_estimators=6).fit(other, other[:, 0])
    assert model.forest_.coding is coding
    assert len(model.draws_) == 2
    assert model.estimators_samples_[-1].max() > 200


# --- Weights --------------------------------------------------------------------------------------


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("model", [RandomForestClassifier, ExtraTreesClassifier])
def test_weight_two_is_the_row_twice_without_bootstrap(model: Any, missing: float) -> None:
    table = mixed_table(80, missing=missing)
    y = mixed_labels(table)
    weight = np.arange(80) % 3
    rows = np.repeat(np.arange(80), weight)
    grower = model(5, random_state=0, bootstrap=False)
    weighted = grower.fit(table, y, sample_weight=weight).predict_proba(table)
    repeated = grower.fit(table.iloc[rows], y[rows]).predict_proba(table)
    np.testing.assert_allclose(weighted, repeated, rtol=1e-9, atol=1e-12)


def test_weight_two_is_the_row_twice_in_law() -> None:
    # Mean predictions of forests with many seeds, with weights and with repeated rows, differ by
    # no more than chance does. Both draw as often (max_samples is a share of the weight).
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = (X[:, 0] + rng.normal(scale=0.5, size=40) > 0).astype(int)
    weight = np.where(np.arange(40) % 2 == 0, 3, 1)
    rows = np.repeat(np.arange(40), weight)
    found: list[list[np.ndarray]] = [[], []]
    for seed in range(60):
        model = RandomForestClassifier(5, random_state=seed, max_samples=1.0, max_depth=3)
        found[0].append(model.fit(X, y, sample_weight=weight).predict_proba(X)[:, 1])
        found[1].append(model.fit(X[rows], y[rows]).predict_proba(X)[:, 1])
    first, second = np.array(found[0]), np.array(found[1])
    error = np.sqrt((first.var(axis=0, ddof=1) + second.var(axis=0, ddof=1)) / 60)
    # 40 correlated comparisons at 4.5 standard errors: a chance of less than 1 in 3,000.
    assert (np.abs(first.mean(axis=0) - second.mean(axis=0)) < 4.5 * error + 1e-12).all()


def test_rows_without_weight_are_in_no_tree() -> None:
    X = np.arange(30.0)[:, None]
    weight = np.where(np.arange(30) < 10, 0.0, 1.0)
    model = RandomForestRegressor(5, random_state=0).fit(X, X[:, 0], sample_weight=weight)
    assert min(int(rows.min()) for rows in model.estimators_samples_) >= 10
    assert model.predict([[0.0]])[0] >= 10


# --- Certificates, files, settings ----------------------------------------------------------------


def test_the_certificate_says_what_is_left() -> None:
    X = np.arange(40.0)[:, None]
    pure = ExtraTreesClassifier(3, random_state=0).fit(X, X[:, 0] > 19).certificate_
    assert (pure.verdict, pure.value, pure.details["trees"]) == (Verdict.PROVED, 0.0, 3)
    stump = RandomForestRegressor(3, random_state=0, max_depth=1).fit(X, X[:, 0])
    leaves = [
        (t.weight * t.impurity)[t.question == 0].sum() / t.weight[0] for t in stump.forest_.trees
    ]
    assert stump.certificate_.value == pytest.approx(np.mean(leaves))
    assert stump.certificate_.verdict is Verdict.LOCAL


def test_a_callback_ends_the_fit_early(monkeypatch: pytest.MonkeyPatch) -> None:
    from novum.core.learners import ConvergenceWarning
    from novum.core.runtime import Progress
    from novum.trees.forests import forest_growing

    class Stopping(Progress):
        seen = 0

        def advance(self, n: int = 1, note: str = "", *, fitted: Any = None) -> bool:
            del n, note, fitted
            self.seen += 1
            return self.seen == 3

    monkeypatch.setattr(forest_growing, "track", lambda *_, **__: Stopping())
    X = np.arange(40.0)[:, None]
    with pytest.warns(ConvergenceWarning):
        model = RandomForestRegressor(10, random_state=0).fit(X, X[:, 0])
    assert len(model) == 3
    assert model.certificate_.verdict is Verdict.STOPPED_EARLY
    monkeypatch.undo()
    whole = RandomForestRegressor(3, random_state=0).fit(X, X[:, 0])
    np.testing.assert_array_equal(model.predict(X), whole.predict(X))


@pytest.mark.parametrize("part", ["draws_", "forest_", "common_values_"])
def test_a_changed_file_is_refused(part: str, tmp_path: Path) -> None:
    table = mixed_table(60)
    model = RandomForestClassifier(3, random_state=0).fit(table, mixed_labels(table))
    path = tmp_path / "forest.novum"
    save(model, path)
    np.testing.assert_array_equal(load(path).predict_proba(table), model.predict_proba(table))
    if part == "draws_":
        model.draws_ = (replace(model.draws_[0], stop=2),)
    elif part == "forest_":
        model.forest_ = replace(model.forest_, step=model.forest_.step | 0x3FFFFF00)
    else:
        model.common_values_ = np.ones(2)
    with pytest.raises(InputError):
        model._check_state()
    save(model, path)
    with pytest.raises(InputError):
        load(path)


def test_replaced_cells_are_counted() -> None:
    table = mixed_table(60)
    model = RandomForestClassifier(3, random_state=0, missing="most_common")
    model.fit(table, mixed_labels(table))
    assert model.replaced_ == {name: int(table[name].isna().sum()) for name in table}
    assert not np.isnan(model._cells(table)).any()
    with pytest.raises(InputError, match="needs classes, and y holds numbers"):
        RandomForestRegressor(2, missing="most_common_of_class").fit(table, mixed_numbers(table))


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"n_estimators": 0}, "n_estimators"),
        ({"bootstrap": False, "max_samples": 5}, "cannot be set if `bootstrap=False`"),
        ({"max_samples": 0.0}, "max_samples"),
        ({"nominal": "sets"}, "nominal"),
        ({"max_bins": 256}, "max_bins"),
        ({"monotonic_cst": [1, 0]}, "one entry for each column"),
        ({"monotonic_cst": [1, 0, 0], "nominal": "auto", "criterion": "gain_ratio"}, "splits in"),
        ({"criterion": "poisson"}, "criterion"),
        ({"oob_score": "yes"}, "oob_score"),
        ({"n_jobs": 0}, "n_jobs"),
    ],
    ids=str,
)
def test_bad_settings_are_named(setting: dict[str, Any], message: str) -> None:
    X = np.arange(30.0).reshape(10, 3)
    with pytest.raises(ValueError, match=message):
        RandomForestClassifier(**setting).fit(X, np.arange(10) > 4)


def test_nasty_tables() -> None:
    X = np.full((8, 2), np.nan)
    X[:, 1] = 1.0
    y = np.array([0, 1] * 4)
    model = RandomForestClassifier(5, random_state=0).fit(X, y)
    assert all(tree.n_nodes == 1 for tree in model.forest_.trees)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    one = RandomForestRegressor(3, random_state=0).fit([[1.0]], [2.5])
    assert one.predict([[9.0]]).tolist() == [2.5]
    constant = ExtraTreesRegressor(3, random_state=0).fit(np.arange(9.0)[:, None], np.full(9, 0.1))
    assert constant.predict([[4.0]])[0] == pytest.approx(0.1, rel=1e-15)
    with pytest.raises(InputError, match="infini"):
        RandomForestRegressor(2).fit([[np.inf], [1.0]], [0.0, 1.0])
