"""QuadraticFeatures: scikit-learn's expansion, models on it, products without it, the contract."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.sparse.linalg import lsqr
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.core.errors import InputError, MissingValuesError, ModelFileError
from novum.core.learners import Case, Check
from novum.core.learners.contracts import (
    check_failed_fit_changes_nothing,
    check_name,
    estimator_checks,
)
from novum.linear import LinearRegression, Ridge
from novum.linear.perceptron.classifier import Perceptron
from novum.linear.quadratic_features import QuadraticFeatures
from novum.numerics import Array, Floats


@parametrize_with_checks(
    [QuadraticFeatures(), QuadraticFeatures("vec"), QuadraticFeatures("plain", terms="products")],
    legacy=True,
)
def test_scikit_learn_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.filterwarnings("ignore::novum.core.errors.UnseenLevelWarning")
@parametrize_with_checks([QuadraticFeatures(categorical_features="all")], legacy=True)
def test_scikit_learn_checks_on_nominal_columns(
    estimator: Any, check: Callable[[Any], None]
) -> None:
    check(estimator)


# Without a target no single row is a wrong table; the next test has a wrong one.
CHECKS = [check for check in estimator_checks() if check is not check_failed_fit_changes_nothing]


@pytest.mark.parametrize("check", CHECKS, ids=check_name)
def test_contract(check: Check) -> None:
    check(Case(QuadraticFeatures(), np.random.default_rng(0).normal(size=(20, 3))))


def test_a_failed_fit_changes_nothing() -> None:
    model = QuadraticFeatures().fit(np.ones((3, 2)))
    before = dict(vars(model))
    with pytest.raises(MissingValuesError, match="x1"):
        model.fit(np.array([[1.0, np.nan]]))
    assert vars(model) == before


# --- The features ---------------------------------------------------------------------------------


def test_plain_features_are_scikit_learns() -> None:
    X = np.random.default_rng(0).normal(size=(9, 4))
    ours, theirs = QuadraticFeatures("plain"), PolynomialFeatures(2, include_bias=False)
    found, expected = ours.fit_transform(X), theirs.fit_transform(X)
    names = theirs.get_feature_names_out().tolist()
    order = [names.index(name) for name in ours.get_feature_names_out().tolist()]
    np.testing.assert_array_equal(found, expected[:, order])
    products = PolynomialFeatures(2, include_bias=False, interaction_only=True).fit(X)
    assert set(products.get_feature_names_out()) == set(
        QuadraticFeatures("plain", terms="products").fit(X).get_feature_names_out()
    )


def test_names_of_a_frame() -> None:
    frame = pd.DataFrame({"age": [1.0, 2.0], "color": ["blue", "red"]})
    model = QuadraticFeatures("plain").fit(frame)
    assert model.get_feature_names_out().tolist() == [
        "age^2", "age color=red", "color=red^2", "age", "color=red",
    ]  # fmt: skip
    np.testing.assert_array_equal(
        model.transform(frame), [[1.0, 0.0, 0.0, 1.0, 0.0], [4.0, 2.0, 1.0, 2.0, 1.0]]
    )
    shown = QuadraticFeatures("plain").set_output(transform="pandas").fit_transform(frame)
    assert shown.columns.tolist() == model.get_feature_names_out().tolist()


def test_sparse_rows_stay_sparse() -> None:
    X = np.random.default_rng(0).normal(size=(9, 4))
    X[np.abs(X) < 0.7] = 0.0
    for form in ("triangle", "vec", "plain"):
        model = QuadraticFeatures(form).fit(X)
        for kind in (sparse.csr_matrix, sparse.csc_matrix, sparse.coo_array):
            found = model.transform(kind(X))
            assert sparse.issparse(found)
            np.testing.assert_allclose(found.toarray(), model.transform(X), rtol=1e-15)


# --- Models on the features -----------------------------------------------------------------------


def ring(n: int = 300, seed: int = 0) -> tuple[Floats, Array]:
    """One class inside an ellipse, the other outside, with a gap between them."""
    rng = np.random.default_rng(seed)
    angle, inside = rng.uniform(0, 2 * np.pi, n), np.arange(n) % 2
    radius = np.where(inside, rng.uniform(0, 1, n), rng.uniform(1.5, 3, n))
    return np.column_stack([2 * radius * np.cos(angle), radius * np.sin(angle)]), inside


@pytest.mark.parametrize("form", ["triangle", "vec", "plain"])
def test_a_perceptron_learns_an_ellipse_and_says_its_form(form: str) -> None:
    X, y = ring()
    expand = QuadraticFeatures(form)
    model = Perceptron().fit(expand.fit_transform(X), y)
    assert model.score(expand.transform(X), y) == 1
    found = expand.quadratic_form(model.coef_, model.intercept_[0])
    np.testing.assert_allclose(
        found(X), model.decision_function(expand.transform(X)), rtol=1e-9, atol=1e-9
    )
    # Inside is the positive class: the form opens downwards in every direction.
    assert (np.linalg.eigvalsh(found.A) < 0).all()


def test_the_same_ridge_by_the_notes_form_and_by_the_triangle() -> None:
    X, y = np.random.default_rng(0).normal(size=(40, 3)), np.random.default_rng(1).normal(size=40)
    fits = [make_pipeline(QuadraticFeatures(form), Ridge(0.5)) for form in ("vec", "triangle")]
    first, second = (model.fit(X, y).predict(X) for model in fits)
    np.testing.assert_allclose(first, second, rtol=1e-9)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_models_are_fitted_in_blocks_and_by_products(kind: Any) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = X[:, 0] * X[:, 1] - X[:, 2] ** 2 + X[:, 3] + 0.1 * rng.normal(size=200)
    expand = QuadraticFeatures().fit(X)
    whole = LinearRegression().fit(expand.transform(X), y)
    blocks = [(part, y[rows]) for rows, part in expand.blocks(kind(X), 64)]
    assert [len(target) for _, target in blocks] == [64, 64, 64, 8]
    streamed = LinearRegression().fit_stream(blocks)
    np.testing.assert_allclose(streamed.coef_, whole.coef_, rtol=1e-8, atol=1e-11)
    plain = LinearRegression(fit_intercept=False).fit(expand.transform(X), y)
    found = lsqr(expand.linear_operator(kind(X)), y, atol=1e-14, btol=1e-14)[0]
    np.testing.assert_allclose(found, plain.coef_, rtol=1e-6, atol=1e-9)


def test_products_are_those_with_the_table() -> None:
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(8, 3)), rng.normal(size=(5, 3))
    for form in ("triangle", "vec", "plain"):
        model = QuadraticFeatures(form).fit(X)
        table = model.transform(X)
        w, v = rng.normal(size=table.shape[1]), rng.normal(size=8)
        np.testing.assert_allclose(model.matvec(X, w), table @ w, rtol=1e-12)
        np.testing.assert_allclose(model.rmatvec(X, v), table.T @ v, rtol=1e-12)
        np.testing.assert_allclose(model.gram(X), table @ table.T, rtol=1e-11)
        np.testing.assert_allclose(model.gram(X, Z), table @ model.transform(Z).T, rtol=1e-10)


def test_products_need_no_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """2,000 columns would be 2 million features; 50 rows of them 800 MB."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 2000))
    model = QuadraticFeatures().fit(X)
    monkeypatch.setenv("NOVUM_MEMORY_LIMIT", "200MB")
    with pytest.raises(MemoryError, match="Use matvec, rmatvec"):
        model.transform(X)
    v = rng.normal(size=50)
    squared = (X @ X[:1].T)[:, 0]
    expected = squared**2 + squared
    first = model.rmatvec(X[:1], [1.0])
    np.testing.assert_allclose(model.matvec(X, first), expected, rtol=1e-9)
    assert model.gram(X).shape == (50, 50)
    assert model.rmatvec(X, v).shape == (model.n_output_features_,)


# --- Refusals -------------------------------------------------------------------------------------


def test_bad_input_is_named() -> None:
    model = QuadraticFeatures().fit(np.ones((2, 2)))
    with pytest.raises(InputError, match=r"weights have shape \(3,\), but there are 5 features"):
        model.matvec(np.ones((2, 2)), np.ones(3))
    with pytest.raises(InputError, match=r"v has shape \(3,\), but X has 2 rows"):
        model.rmatvec(np.ones((2, 2)), np.ones(3))
    with pytest.raises(InputError, match=r"'x1' has cells of size 1e\+200"):
        model.transform([[1.0, 1e200]])
    with pytest.raises(InputError, match=r"'x1' has cells of size 1e\+200"):
        model.transform(sparse.csr_matrix([[1.0, -1e200]]))
    with pytest.raises(InputError, match="rows must be at least 1"):
        next(model.blocks(np.ones((2, 2)), 0))
    with pytest.raises(NotFittedError):
        QuadraticFeatures().transform(np.ones((2, 2)))
    with pytest.raises(ValueError, match="form"):
        QuadraticFeatures("cubic").fit(np.ones((2, 2)))


def test_extreme_units() -> None:
    X = np.random.default_rng(0).normal(size=(5, 2))
    for scale in (1e8, 1e-8, 1e150):
        found = QuadraticFeatures().fit_transform(X * scale)
        assert np.isfinite(found).all()


def test_a_file_whose_parts_do_not_fit_is_refused() -> None:
    broken = QuadraticFeatures().fit(np.ones((2, 2)))
    broken.n_output_features_ = 7
    with pytest.raises(ModelFileError, match="7 features"):
        broken._check_state()
