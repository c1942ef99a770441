"""Model trees: functions they must recover, the contract, weights, missing cells, bad input."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.core.errors import InputError, ModelFileError
from novum.core.files import load, registry, save
from novum.core.learners import Case, Check
from novum.core.learners.contracts import (
    check_bits_in_new_processes,
    check_interrupted_fit_changes_nothing,
    check_name,
    estimator_checks,
)
from novum.linear import LinearRegression
from novum.numerics import Floats
from novum.trees.model_trees.model_tree import ModelPruning, ModelTreeRegressor
from novum.trees.model_trees.model_tree_models import NodeModels
from novum.trees.regressor import DecisionTreeRegressor
from novum.trees.tree import Tree
from tests.trees.model_tree_definition import prediction


@contextmanager
def model_files() -> Iterator[None]:
    """Makes sure that model files know the classes of model trees."""
    estimators = {"ModelTreeRegressor": ModelTreeRegressor}
    values = {"ModelPruning": ModelPruning, "NodeModels": NodeModels, "Tree": Tree}
    with registry.registered(
        {name: cls for name, cls in estimators.items() if name not in registry.ESTIMATORS},
        {name: cls for name, cls in values.items() if name not in registry.VALUES},
    ):
        yield


def numbers(n: int = 150, seed: int = 0) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    y = np.where(x[:, 0] > 0, 3 * x[:, 1], 2 - x[:, 2]) + 0.1 * rng.normal(size=n)
    return x, y


def mixed(n: int = 200, seed: int = 0) -> tuple[pd.DataFrame, Floats]:
    """Numbers, levels with an order and without, and missing cells."""
    rng = np.random.default_rng(seed)
    color, grade = rng.choice(["blue", "green", "red"], n), rng.integers(0, 4, n)
    x, z = rng.normal(size=(2, n))
    y = np.where(color == "red", 5 + 2 * x, -x) + grade + 0.1 * rng.normal(size=n)
    holes = rng.uniform(size=(n, 2)) < 0.1
    frame = pd.DataFrame(
        {
            "x": np.where(holes[:, 0], np.nan, x),
            "z": z,
            "color": pd.Categorical(np.where(holes[:, 1], None, color)),
            "grade": pd.Categorical.from_codes(grade, list("DCBA"), ordered=True),
        }
    )
    return frame, y


# --- scikit-learn's checks and the contract -------------------------------------------------------


@parametrize_with_checks([ModelTreeRegressor(), ModelTreeRegressor(pruning=None)], legacy=True)
def test_scikit_learn_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.filterwarnings("ignore::novum.core.errors.UnseenLevelWarning")
@parametrize_with_checks([ModelTreeRegressor(categorical_features="all")], legacy=True)
def test_scikit_learn_checks_on_nominal_columns(
    estimator: Any, check: Callable[[Any], None]
) -> None:
    check(estimator)


CASES = {
    "numeric": Case(ModelTreeRegressor(), *numbers()),
    "numeric, whole tree": Case(ModelTreeRegressor(pruning=None, smoothing=None), *numbers()),
    "mixed": Case(ModelTreeRegressor(), *mixed()),
    "mixed, missing by gain": Case(ModelTreeRegressor(missing="auto", max_bins=255), *mixed()),
    "mixed, single levels, direction": Case(
        ModelTreeRegressor(nominal="single", missing="direction", max_bins=255), *mixed()
    ),
}


@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_contract(case: Case, check: Check) -> None:
    with model_files():
        check(case)


@pytest.mark.slow
def test_bits_do_not_depend_on_the_number_of_threads() -> None:
    check_bits_in_new_processes(Case(ModelTreeRegressor(), *numbers(3000)))


def test_a_fit_can_be_interrupted() -> None:
    check_interrupted_fit_changes_nothing(CASES["numeric"], rows=60_000)


# --- What must be recovered -----------------------------------------------------------------------


def test_two_lines_are_recovered_with_one_split() -> None:
    rng = np.random.default_rng(1)
    x = rng.uniform(-1, 1, (200, 3))
    y = np.where(x[:, 1] <= 0.1, 1 + 2 * x[:, 0] - x[:, 2], 40 - 3 * x[:, 1] + x[:, 2])
    model = ModelTreeRegressor(smoothing=None).fit(x, y)
    assert model.get_n_leaves() == 2
    low, high = (model.leaf_model(leaf) for leaf in (1, 2))
    assert low.intercept == pytest.approx(1, abs=1e-12)
    assert low.coefficients == pytest.approx({"x0": 2, "x2": -1}, abs=1e-12)
    assert high.intercept == pytest.approx(40, abs=1e-12)
    assert high.coefficients == pytest.approx({"x1": -3, "x2": 1}, abs=1e-12)
    inside = np.abs(x[:, 1] - model.tree_.threshold[0])
    new = x[inside > 0.02]
    np.testing.assert_allclose(model.predict(new), y[inside > 0.02], rtol=1e-11, atol=1e-11)


def test_a_plane_is_one_leaf_and_least_squares() -> None:
    rng = np.random.default_rng(2)
    x, weight = rng.normal(size=(120, 4)), rng.integers(1, 4, 120).astype(float)
    y = x @ [3.0, -2.0, 1.0, 5.0] + 7 + 0.5 * rng.normal(size=120)
    model = ModelTreeRegressor().fit(x, y, weight)
    assert model.get_n_leaves() == 1
    exact = LinearRegression().fit(x, y, weight)
    np.testing.assert_allclose(model.predict(x), exact.predict(x), rtol=1e-11, atol=1e-11)
    by_depth = ModelTreeRegressor(max_depth=0, pruning=None).fit(x, y, weight)
    assert by_depth.predict(x).tobytes() == model.predict(x).tobytes()


def test_steps_are_constants() -> None:
    x = np.linspace(0, 1, 200)[:, np.newaxis]
    y = np.repeat([1.0, 5.0, 2.0, 9.0], 50)
    model = ModelTreeRegressor(smoothing=0).fit(x, y)
    assert model.get_n_leaves() == 4
    assert model.certificate_.details["constant leaves"] == 4
    np.testing.assert_allclose(model.predict(x), y, rtol=1e-12)
    assert model.certificate_.value == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_lines_beat_constants_where_there_are_lines(seed: int) -> None:
    x, y = numbers(600, seed)
    new, truth = numbers(600, seed + 100)
    lines = ModelTreeRegressor().fit(x, y)
    constants = DecisionTreeRegressor(min_samples_leaf=4).fit(x, y)
    errors = [np.mean((model.predict(new) - truth) ** 2) for model in (lines, constants)]
    assert errors[0] < 0.4 * errors[1]
    assert lines.get_n_leaves() < 0.25 * constants.get_n_leaves()


def test_the_border_of_two_lines_is_found_among_many_rows() -> None:
    x, y = numbers(5000)
    model = ModelTreeRegressor().fit(x, y)
    assert model.get_n_leaves() == 2
    assert abs(model.tree_.threshold[0]) < 1e-3
    new, truth = numbers(2000, 1)
    # The noise has the deviation 0.1.
    assert np.sqrt(np.mean((model.predict(new) - truth) ** 2)) < 0.105


@pytest.mark.parametrize("seed", range(3))
def test_on_noise_it_is_hardly_worse_than_the_mean(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y, new, truth = *rng.normal(size=(2, 300)), *rng.normal(size=(2, 3000))
    model = ModelTreeRegressor().fit(x[:, np.newaxis], y)
    error = np.mean((model.predict(new[:, np.newaxis]) - truth) ** 2)
    # A tree of one row to a leaf has twice the variance of the noise, the mean 1.003 times.
    assert error < 1.15


# --- Parameters -----------------------------------------------------------------------------------


def test_depth_deviation_and_leaves_are_limits() -> None:
    x, y = numbers(400)
    whole = ModelTreeRegressor(pruning=None, min_deviation=0.0).fit(x, y)
    assert whole.tree_.weight[whole.tree_.question == 0].min() >= 4
    for depth in (0, 1, 3):
        model = ModelTreeRegressor(pruning=None, max_depth=depth).fit(x, y)
        assert model.get_depth() == depth
    coarse = ModelTreeRegressor(pruning=None, min_deviation=0.5).fit(x, y).tree_
    inner = coarse.question != 0
    assert (coarse.impurity[inner] >= 0.25 * coarse.impurity[0]).all()
    assert coarse.n_leaves < whole.tree_.n_leaves
    assert ModelTreeRegressor(pruning=ModelPruning(200.0)).fit(x, y).get_n_leaves() == 1
    quarter = ModelTreeRegressor(pruning=None, min_samples_leaf=0.25).fit(x, y).tree_
    assert quarter.weight[quarter.question == 0].min() >= 100


def test_a_leaf_by_limits_has_a_line_of_what_would_be_asked_below() -> None:
    x, y = numbers(400)
    model = ModelTreeRegressor(max_depth=1, pruning=None, smoothing=None).fit(x, y)
    plain = DecisionTreeRegressor(max_depth=1).fit(x, y)
    assert model.score(x, y) > plain.score(x, y) + 0.1


def test_no_smoothing_is_zero_smoothing() -> None:
    x, y = numbers()
    none = ModelTreeRegressor(smoothing=None).fit(x, y).predict(x)
    assert none.tobytes() == ModelTreeRegressor(smoothing=0.0).fit(x, y).predict(x).tobytes()
    assert not np.allclose(none, ModelTreeRegressor().fit(x, y).predict(x))


def test_predictions_are_those_of_the_definition() -> None:
    X, y = mixed()
    model = ModelTreeRegressor().fit(X, y)
    assert model.get_n_leaves() > 1
    found = [prediction(model.tree_, model.models_, row, 15.0)[0] for row in model._cells(X)]
    np.testing.assert_allclose(model.predict(X), found, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("nominal", ["subset", "single", "auto"])
def test_levels_are_split_in_every_way(nominal: str) -> None:
    X, y = mixed(300)
    model = ModelTreeRegressor(nominal=nominal).fit(X, y)
    # A tenth of the cells of each of the two columns that matter are missing.
    assert model.score(X, y) > 0.8


def test_lines_on_either_side_of_being_missing() -> None:
    """One line where a cell is known and another where it is missing."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    X[rng.random(300) < 0.4, 1] = np.nan
    y = np.where(np.isnan(X[:, 1]), 5.0 + 2.0 * X[:, 0], -3.0 * X[:, 0])
    model = ModelTreeRegressor(missing="auto", smoothing=None).fit(X, y)
    assert np.isinf(model.tree_.threshold[0])
    assert model.score(X, y) > 0.999
    assert model.get_n_leaves() == 2
    assert ModelTreeRegressor(smoothing=None).fit(X, y).score(X, y) < 0.9


def test_several_targets_share_a_tree() -> None:
    x, y = numbers(300)
    both = ModelTreeRegressor().fit(x, np.column_stack([y, 10 - 2 * y]))
    single = ModelTreeRegressor().fit(x, y)
    assert both.n_outputs_ == 2
    found = both.predict(x)
    # The second is a line of the first, so nothing about tree and columns changes.
    np.testing.assert_allclose(found[:, 0], single.predict(x), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found[:, 1], 10 - 2 * found[:, 0], rtol=1e-9, atol=1e-9)
    one = ModelTreeRegressor().fit(x, y[:, np.newaxis])
    assert one.predict(x).shape == (300,)


# --- Rows on their way ----------------------------------------------------------------------------


def test_leaves_and_ways_of_rows() -> None:
    X, y = mixed()
    model = ModelTreeRegressor().fit(X, y)
    leaves, path = model.apply(X), model.decision_path(X)
    assert path.shape == (200, model.tree_.n_nodes)
    assert (model.tree_.question[leaves] == 0).all()
    assert np.asarray(path[np.arange(200), leaves]).all()
    assert model.svg().startswith("<svg")
    with pytest.raises(InputError, match="Node 0 is no leaf"):
        model.leaf_model(0)


# --- Missing cells and levels ---------------------------------------------------------------------


def test_missing_cells_are_counted() -> None:
    X, y = mixed()
    model = ModelTreeRegressor().fit(X, y)
    expected = {"x": int(X["x"].isna().sum()), "color": int(X["color"].isna().sum())}
    assert model.expected_ == {k: n for k, n in expected.items() if k in model.expected_}
    assert "x" in model.expected_
    assert model.replaced_ == {}
    replaced = ModelTreeRegressor(missing="most_common").fit(X, y)
    assert replaced.replaced_ == expected
    assert replaced.expected_ == {}
    filled = X.fillna({"x": float(np.sort(X["x"].dropna())[(X["x"].count() - 1) // 2])})
    filled["color"] = filled["color"].fillna(filled["color"].mode()[0])
    again = ModelTreeRegressor().fit(filled, y)
    np.testing.assert_allclose(again.predict(filled), replaced.predict(X), rtol=1e-9)


def test_a_row_without_cells_is_predicted_by_its_expectation() -> None:
    x, y = numbers(300)
    model = ModelTreeRegressor(smoothing=None).fit(x, y)
    leaves = model.tree_.question == 0
    weight = model.tree_.weight[leaves] / model.tree_.weight[0]
    expected = weight @ model.models_.base[leaves, 0]
    assert model.predict([[np.nan] * 3])[0] == pytest.approx(expected)
    assert expected == pytest.approx(y.mean())


@pytest.mark.filterwarnings("ignore::novum.core.errors.UnseenLevelWarning")
def test_an_unseen_level_is_a_missing_one() -> None:
    X, y = mixed()
    model = ModelTreeRegressor().fit(X, y)
    new = X.iloc[:5].assign(color="violet")
    missing = X.iloc[:5].assign(color=pd.Categorical([None] * 5, X["color"].cat.categories))
    np.testing.assert_allclose(model.predict(new), model.predict(missing), rtol=1e-12)


def test_all_cells_of_a_column_may_be_missing() -> None:
    x, y = numbers()
    model = ModelTreeRegressor().fit(np.column_stack([x, np.full(len(x), np.nan)]), y)
    plain = ModelTreeRegressor().fit(x, y)
    empty = np.column_stack([x, np.full(len(x), np.nan)])
    np.testing.assert_allclose(model.predict(empty), plain.predict(x), rtol=1e-12)


# --- Weights --------------------------------------------------------------------------------------


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=15)
def test_weight_two_is_the_row_twice_and_rows_have_no_order(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = mixed(60, seed)
    times = rng.integers(0, 4, 60)
    order = rng.permutation(np.repeat(np.arange(60), times))
    weighted = ModelTreeRegressor().fit(X, y, times)
    repeated = ModelTreeRegressor().fit(X.iloc[order], y[order])
    known = X.iloc[order]
    np.testing.assert_allclose(
        weighted.predict(known), repeated.predict(known), rtol=1e-8, atol=1e-8
    )


# --- Model files ----------------------------------------------------------------------------------


def test_a_damaged_model_is_refused(tmp_path: Any) -> None:
    X, y = mixed()
    with model_files():
        model = ModelTreeRegressor(pruning=ModelPruning(0.5)).fit(X, y)
        save(model, tmp_path / "tree.novum")
        again = load(tmp_path / "tree.novum")
        assert again.predict(X).tobytes() == model.predict(X).tobytes()
        assert again.pruning == ModelPruning(0.5)
        assert again.text() == model.text()
        model.models_ = replace(model.models_, column=model.models_.column + 9)
        save(model, tmp_path / "bad.novum")
        with pytest.raises(ModelFileError, match="damaged"):
            load(tmp_path / "bad.novum")
        model = ModelTreeRegressor().fit(X, y)
        model.models_ = model.models_.chosen(np.array([0]))
        save(model, tmp_path / "bad.novum")
        with pytest.raises(ModelFileError, match="do not fit together"):
            load(tmp_path / "bad.novum")


# --- Bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_few_rows_are_their_mean(rows: int) -> None:
    x = np.arange(float(rows))[:, np.newaxis]
    model = ModelTreeRegressor().fit(x, 2 * x[:, 0] + 1)
    np.testing.assert_allclose(model.predict(x), np.full(rows, rows), rtol=1e-12)
    assert model.text().startswith("all rows: LM 1")


def test_a_constant_target_is_proved() -> None:
    model = ModelTreeRegressor().fit(numbers()[0], np.full(150, 2.5))
    assert model.certificate_.verdict.value == "proved"
    assert model.predict([[0.0, 0.0, 1e9]]) == 2.5


@pytest.mark.parametrize("power", [-450, 450])
def test_targets_and_columns_of_any_size(power: int) -> None:
    # Powers of two change no digit.
    x, y = numbers()
    plain = ModelTreeRegressor().fit(x, y).predict(x)
    large = ModelTreeRegressor().fit(x, np.ldexp(y, power))
    np.testing.assert_allclose(np.ldexp(large.predict(x), -power), plain, rtol=1e-12)
    wide = ModelTreeRegressor().fit(np.ldexp(x, 2 * power), y)
    np.testing.assert_allclose(wide.predict(np.ldexp(x, 2 * power)), plain, rtol=1e-12)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"pruning": 0.3}, "pruning"),
        ({"smoothing": -1.0}, "smoothing"),
        ({"min_deviation": 2.0}, "min_deviation"),
        ({"max_depth": -1}, "max_depth"),
        ({"missing": "most_common_of_class"}, "missing"),
        ({"max_bins": 1}, "max_bins"),
    ],
)
def test_impossible_parameters_are_named(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"The '{message}' parameter"):
        ModelTreeRegressor(**parameters).fit(*numbers(20))


def test_infinite_cells_and_targets_are_refused() -> None:
    x, y = numbers(20)
    x[3, 1] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        ModelTreeRegressor().fit(x, y)
    x[3, 1], y[2] = 0.0, np.nan
    with pytest.raises(ValueError, match="NaN"):
        ModelTreeRegressor().fit(x, y)
