"""float32 in and out: what scikit-learn keeps in single precision, class by class."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn import decomposition
from sklearn import linear_model as other
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as OtherDiscriminantAnalysis

from novum.bayes import LinearDiscriminantAnalysis
from novum.core.files import load, save
from novum.core.runtime import round_attributes
from novum.core.runtime.single_precision import is_single
from novum.decomposition import PCA
from novum.linear import LinearRegression, LogisticRegression, Ridge, RidgeCV

METHODS = ("predict", "decision_function", "predict_proba", "predict_log_proba")


def table(n: int = 60) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    return X.astype(np.float32), X[:, 0] + rng.normal(size=n)


def dtypes(model: Any, X: Any, names: tuple[str, ...], methods: tuple[str, ...]) -> dict[str, Any]:
    """Types of attributes, and of answers to rows of single and of double precision."""
    found = {name: np.asarray(getattr(model, name)).dtype for name in names}
    for method in methods:
        if hasattr(model, method):
            for rows in (X, X.astype(np.float64)):
                answer = getattr(model, method)(rows)
                if answer.dtype.kind == "f":
                    found[f"{method} of {rows.dtype}"] = answer.dtype
    return found


@pytest.mark.parametrize(
    ("ours", "theirs", "classes"),
    [
        (LinearRegression(), other.LinearRegression(), 0),
        (Ridge(), other.Ridge(), 0),
        (Ridge(solver="lsqr"), other.Ridge(solver="lsqr"), 0),
        (RidgeCV(), other.RidgeCV(), 0),
        (LogisticRegression(), other.LogisticRegression(), 2),
        (LogisticRegression(), other.LogisticRegression(), 3),
    ],
    ids=str,
)
@pytest.mark.parametrize("make", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_linear_models_keep_what_scikit_learn_keeps(
    ours: Any, theirs: Any, classes: int, make: Any, tmp_path: Path
) -> None:
    X, y = table()
    if classes:
        y = np.digitize(y, [0.0] if classes == 2 else [-0.5, 0.5])
    rows = make(X)
    names = ("coef_", "intercept_")
    model, peer = ours.fit(rows, y), theirs.fit(rows, y)
    assert dtypes(model, rows, names, METHODS) == dtypes(peer, rows, names, METHODS)
    # Double precision inside: only the result is rounded.
    double = type(ours)(**ours.get_params()).fit(rows.astype(np.float64), y)
    np.testing.assert_allclose(model.coef_, double.coef_, rtol=2**-23)
    assert double.coef_.dtype == np.float64
    path = tmp_path / "model.novum"
    save(model, path)
    again = load(path)
    assert again.coef_.dtype == np.float32
    np.testing.assert_array_equal(again.predict(rows), model.predict(rows))


@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("make", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_components_keep_what_scikit_learn_keeps(whiten: bool, make: Any, tmp_path: Path) -> None:
    X, _ = table()
    rows = make(X)
    names = (
        "components_",
        "mean_",
        "explained_variance_",
        "explained_variance_ratio_",
        "singular_values_",
    )
    options = {"n_components": 2, "whiten": whiten, "svd_solver": "arpack", "random_state": 0}
    model, peer = PCA(**options).fit(rows), decomposition.PCA(**options).fit(rows)
    methods = ("transform",)
    assert dtypes(model, rows, names, methods) == dtypes(peer, rows, names, methods)
    Z = model.transform(rows)
    assert model.inverse_transform(Z).dtype == np.float32
    assert model.fit_transform(rows).dtype == np.float32
    double = PCA(**options).fit(rows.astype(np.float64))
    np.testing.assert_allclose(Z, double.transform(rows.astype(np.float64)), atol=2e-6)
    save(model, tmp_path / "model.novum")
    np.testing.assert_array_equal(load(tmp_path / "model.novum").transform(rows), Z)


@pytest.mark.parametrize("classes", [2, 3])
def test_discriminants_keep_what_scikit_learn_keeps(classes: int) -> None:
    X, y = table()
    y = np.digitize(y, [0.0] if classes == 2 else [-0.5, 0.5])
    names = ("means_", "coef_", "intercept_", "xbar_")
    model = LinearDiscriminantAnalysis().fit(X, y)
    peer = OtherDiscriminantAnalysis().fit(X, y)
    methods = ("decision_function", "predict_proba")
    assert dtypes(model, X, names, methods) == dtypes(peer, X, names, methods)
    double = LinearDiscriminantAnalysis().fit(X.astype(np.float64), y)
    np.testing.assert_allclose(
        model.predict_proba(X.astype(np.float64)), double.predict_proba(X.astype(np.float64))
    )


def test_without_an_intercept_too() -> None:
    X, y = table()
    model = LinearRegression(fit_intercept=False).fit(X, y)
    assert (model.coef_.dtype, model.predict(X).dtype) == (np.float32, np.float32)


def test_inference_does_not_lose_digits_to_the_rounding() -> None:
    X, y = table()
    single, double = (LinearRegression().fit(rows, y) for rows in (X, X.astype(np.float64)))
    for name in ("coef", "standard_errors", "r_squared"):
        np.testing.assert_allclose(
            getattr(single.inference(), name), getattr(double.inference(), name), rtol=1e-12
        )


def test_frames_are_single_where_all_their_columns_are() -> None:
    X, y = table()
    for frame in (pd.DataFrame(X, columns=list("abcd")), pl.DataFrame(X, schema=list("abcd"))):
        assert is_single(frame)
        assert LinearRegression().fit(frame, y).predict(frame).dtype == np.float32
    mixed = pd.DataFrame(X, columns=list("abcd")).assign(d=1.0)
    assert not is_single(mixed)
    assert LinearRegression().fit(mixed, y).coef_.dtype == np.float64


def test_coefficients_beyond_single_precision_stay_double() -> None:
    X = np.array([[1e-30], [2e-30], [4e-30]], np.float32)
    model = LinearRegression().fit(X, [1e10, 2e10, 5e10])
    assert model.coef_.dtype == np.float64
    assert np.isfinite(model.coef_).all()


def test_nothing_is_rounded_without_need() -> None:
    model = LinearRegression().fit([[0.0], [1.0]], [0.1, 0.4])
    round_attributes(model, [[0.0]], "coef_")
    assert model.coef_.dtype == np.float64
