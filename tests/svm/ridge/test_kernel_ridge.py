"""KernelRidge: scikit-learn, linear ridge and gradients as witnesses, the contract, odd input."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.kernel_ridge import KernelRidge as Reference
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.core.errors import InputError, MemoryLimitError, MissingValuesError, ModelFileError
from novum.core.files import load, save
from novum.core.learners import Case, Check, Verdict
from novum.core.learners.contracts import check_name, estimator_checks
from novum.kernels.strings.spectrum import Spectrum
from novum.kernels.vectors.gaussian import Gaussian
from novum.kernels.vectors.linear import Linear
from novum.linear import Ridge
from novum.numerics import Floats
from novum.svm.ridge.kernel_ridge import KernelRidge


def table(n: int = 40, d: int = 3, seed: int = 0) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.sin(X[:, 0]) + 0.1 * rng.normal(size=n)


# --- scikit-learn's checks and the contract -------------------------------------------------------


@parametrize_with_checks(
    [KernelRidge(), KernelRidge(0.1, kernel="rbf"), KernelRidge(kernel=Gaussian(2.0))], legacy=True
)
def test_scikit_learn_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.filterwarnings("ignore::novum.core.errors.UnseenLevelWarning")
@parametrize_with_checks([KernelRidge(categorical_features="all")], legacy=True)
def test_scikit_learn_checks_on_nominal_columns(
    estimator: Any, check: Callable[[Any], None]
) -> None:
    check(estimator)


def mixed_frame() -> tuple[pd.DataFrame, Floats]:
    rng = np.random.default_rng(0)
    color = rng.choice(["blue", "green", "red"], 40)
    size = rng.uniform(-1, 1, 40)
    return pd.DataFrame({"size": size, "color": color}), size + (color == "red")


@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
@pytest.mark.parametrize(
    "case",
    [
        pytest.param(Case(KernelRidge(), *table()), id="linear"),
        pytest.param(Case(KernelRidge(0.1, kernel="rbf"), *table()), id="rbf"),
        pytest.param(Case(KernelRidge(0.1, kernel="rbf"), *mixed_frame()), id="mixed"),
    ],
)
def test_contract(case: Case, check: Check) -> None:
    check(case)


# --- Against scikit-learn -------------------------------------------------------------------------

SETTINGS: list[dict[str, Any]] = [
    {},
    {"alpha": 0.01, "kernel": "rbf"},
    {"kernel": "rbf", "gamma": 0.3},
    {"kernel": "poly", "degree": 2},
    {"kernel": "polynomial", "gamma": 0.5, "coef0": 2},
    {"kernel": "cosine"},
    {"alpha": [0.5, 5.0], "kernel": "rbf"},
]


@pytest.mark.parametrize("options", SETTINGS, ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_predictions_are_those_of_scikit_learn(options: dict[str, Any], weighted: bool) -> None:
    X, y = table(30)
    y = np.column_stack([y, X[:, 1] ** 2]) if isinstance(options.get("alpha"), list) else y
    weight = np.random.default_rng(3).uniform(0.2, 3.0, 30) if weighted else None
    new = np.random.default_rng(4).normal(size=(11, 3))
    ours, theirs = KernelRidge(**options).fit(X, y, weight), Reference(**options).fit(X, y, weight)
    np.testing.assert_allclose(ours.predict(new), theirs.predict(new), rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, rtol=1e-7, atol=1e-9)
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y))


def test_large_systems_agree_with_scikit_learn() -> None:
    X, y = table(700)
    new = np.random.default_rng(5).normal(size=(20, 3))
    options = {"alpha": 0.1, "kernel": "rbf", "gamma": 0.5}
    ours, theirs = KernelRidge(**options).fit(X, y), Reference(**options).fit(X, y)
    np.testing.assert_allclose(ours.predict(new), theirs.predict(new), rtol=1e-8, atol=1e-10)
    assert ours.certificate_.iterations >= 2


def test_functions_compare_two_rows_and_take_their_arguments() -> None:
    def overlap(a: Floats, b: Floats, power: float = 1.0) -> float:
        return float(np.minimum(np.abs(a), np.abs(b)).sum()) ** power

    X, y = table(15)
    for params in (None, {"power": 1.0}):
        options = {"kernel": overlap, "kernel_params": params, "alpha": 0.5}
        ours, theirs = KernelRidge(**options).fit(X, y), Reference(**options).fit(X, y)
        np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-8)
        assert ours.kernel is overlap


def test_precomputed_similarities_and_sparse_rows() -> None:
    X, y = table(20)
    plain = KernelRidge(0.3).fit(X, y)
    given = KernelRidge(0.3, kernel="precomputed").fit(X @ X.T, y)
    thin = KernelRidge(0.3).fit(sparse.csr_matrix(X), y)
    new = X[:4] + 1.0
    np.testing.assert_allclose(given.predict(new @ X.T), plain.predict(new), rtol=1e-9)
    np.testing.assert_allclose(thin.predict(sparse.csr_matrix(new)), plain.predict(new), rtol=1e-9)
    weight = np.ones(20)
    weight[3] = 0
    less = KernelRidge(0.3, kernel="precomputed").fit(X @ X.T, y, weight)
    expected = KernelRidge(0.3).fit(np.delete(X, 3, 0), np.delete(y, 3))
    np.testing.assert_allclose(less.predict(new @ X.T), expected.predict(new), rtol=1e-9)


# --- Properties -----------------------------------------------------------------------------------


@settings(max_examples=30)
@given(st.integers(2, 12), st.integers(1, 3), st.floats(0.01, 100.0), st.integers(0, 10**6))
def test_the_linear_kernel_is_ridge_without_intercept(
    n: int, d: int, alpha: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    X, y, weight = rng.normal(size=(n, d)), rng.normal(size=n), rng.uniform(0.5, 2.0, n)
    kernel = KernelRidge(alpha, kernel=Linear()).fit(X, y, weight)
    linear = Ridge(alpha, fit_intercept=False).fit(X, y, weight)
    np.testing.assert_allclose(kernel.coef_, linear.coef_, rtol=1e-7, atol=1e-9)
    # Both minimize the same function.
    assert kernel.certificate_.value == pytest.approx(
        linear.certificate_.value, rel=1e-8, abs=1e-12
    )


def test_the_gradient_vanishes_at_the_optimum() -> None:
    X, y = table(25)
    model = KernelRidge(0.2, kernel=Gaussian(1.0)).fit(X, y)
    K, a = Gaussian(1.0).gram(X), model.dual_coef_

    def objective(b: Floats) -> float:
        return float(((y - K @ b) ** 2).sum() + 0.2 * b @ K @ b)

    rng = np.random.default_rng(1)
    for _ in range(20):
        assert objective(a + 1e-3 * rng.normal(size=25)) >= objective(a)
    assert model.certificate_.value == pytest.approx(objective(a), rel=1e-12)
    assert model.certificate_.verdict is Verdict.PROVED


def test_strings_have_a_regression_too() -> None:
    words = ["banana", "bandana", "cabana", "stone", "tone", "bone"]
    y = np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0])
    model = KernelRidge(0.1, kernel=Spectrum(2)).fit(words, y)
    found = model.predict(["ana", "one"])
    assert found[0] > found[1]
    assert model.predict([""]).tolist() == [0.0]


def test_one_column_of_targets_keeps_its_shape() -> None:
    X, y = table(10)
    model = KernelRidge().fit(X, y[:, np.newaxis])
    assert model.predict(X).shape == (10, 1)
    assert model.dual_coef_.shape == (10, 1)
    assert model.coef_.shape == (1, 3)


def test_zero_strength_and_equal_rows() -> None:
    X = np.array([[1.0], [1.0], [2.0]])
    model = KernelRidge(0.0, kernel="rbf", gamma=1.0).fit(X, [1.0, 3.0, 0.0])
    # Equal rows with different targets can only have their mean.
    np.testing.assert_allclose(model.predict(X), [2.0, 2.0, 0.0], atol=1e-9)
    assert "singular" in str(model.certificate_.details["solution"])
    flat = KernelRidge(1.0, kernel="rbf").fit(np.ones((5, 2)), np.arange(5.0))
    np.testing.assert_allclose(flat.predict(np.ones((1, 2))), [10 / 6])


# --- Bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "X", "y", "message"),
    [
        ({"alpha": -1.0}, [[1.0], [2.0]], [1.0, 2.0], "alpha"),
        ({"alpha": [1.0, 2.0]}, [[1.0], [2.0]], [1.0, 2.0], "do not correspond: 1 != 2"),
        ({"kernel": "rbf", "gamma": 0.0}, [[1.0], [2.0]], [1.0, 2.0], "gamma"),
        ({"kernel": "unknown"}, [[1.0], [2.0]], [1.0, 2.0], "kernel"),
        ({}, [[1.0], [2.0]], [1.0], "inconsistent numbers of samples"),
        ({}, [[1.0], [2.0]], ["a", "b"], "predicts numbers"),
        ({}, [[1.0], [np.inf]], [1.0, 2.0], "infinity"),
        ({"kernel": "precomputed"}, [[1.0, 0.0]], [1.0], "square"),
        ({"kernel": "precomputed"}, [[-1.0, 0.0], [0.0, -1.0]], [1.0, 2.0], "semi-definite"),
    ],
)
def test_bad_input_is_named(options: dict[str, Any], X: Any, y: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        KernelRidge(**options).fit(X, y)


def test_rows_that_no_column_tells_apart_are_all_zero() -> None:
    model = KernelRidge().fit([["red"], ["red"]], [1.0, 2.0])
    assert model.predict([["red"]]).tolist() == [0.0]
    # A kernel that is not zero at the origin sees equal rows: the mean, shrunk.
    model = KernelRidge(kernel="rbf", gamma=1.0).fit([["red"], ["red"]], [1.0, 2.0])
    assert model.predict([["red"]]) == pytest.approx([1.0])


def test_missing_cells_point_to_who_takes_them() -> None:
    with pytest.raises(MissingValuesError, match=r"KernelRidge.*RandomForestRegressor"):
        KernelRidge().fit([[1.0], [np.nan]], [1.0, 2.0])


def test_indefinite_similarities_are_projected_when_asked() -> None:
    K = np.array([[1.0, 0.0], [0.0, -1.0]])
    model = KernelRidge(1.0, kernel="precomputed", indefinite="project").fit(K, [2.0, 5.0])
    np.testing.assert_allclose(model.predict(K), [1.0, 0.0], atol=1e-12)


def test_tables_beyond_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = table(400)
    monkeypatch.setenv("NOVUM_MEMORY_LIMIT", "1MB")
    with pytest.raises(MemoryLimitError, match="kernel matrix of 400 objects"):
        KernelRidge().fit(X, y)


def test_the_unfitted_and_the_nonlinear_say_so() -> None:
    with pytest.raises(NotFittedError):
        _ = KernelRidge().dual_coef_
    with pytest.raises(NotFittedError):
        KernelRidge().predict([[1.0]])
    X, y = table(6)
    with pytest.raises(AttributeError, match="linear kernel"):
        _ = KernelRidge(kernel="rbf").fit(X, y).coef_


def test_a_failed_fit_leaves_the_function_as_it_was() -> None:
    def wrong(a: Floats, b: Floats) -> float:
        del a, b
        return float("nan")

    model = KernelRidge(kernel=wrong)
    with pytest.raises(InputError, match="returned nan"):
        model.fit([[1.0], [2.0]], [1.0, 2.0])
    assert model.kernel is wrong
    assert clone(model).kernel is wrong


def test_model_files_with_broken_numbers_are_refused(tmp_path: Path) -> None:
    X, y = table(6)
    model = KernelRidge().fit(X, y)
    save(model, tmp_path / "m.novum")
    assert load(tmp_path / "m.novum").predict(X).tolist() == model.predict(X).tolist()
    model.expansion_[0, 0] = np.nan
    with pytest.raises(ModelFileError, match="not finite"):
        model._check_state()
