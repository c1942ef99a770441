"""Input that breaks solvers: constants, duplicates, one row, extremes; and what messages say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.model_selection import GroupKFold, KFold

from novum.core.errors import InputError, MissingValuesError
from novum.core.files import load, save
from novum.linear import ElasticNet, ElasticNetCV, Lasso, LassoCV, LinearRegression, RidgeCV

MODELS = [Lasso(0.01), ElasticNet(0.01), LassoCV(alphas=5), LassoCV(alphas=5, criterion="bic")]


@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_constant_targets_and_columns(model: Any, form: Any) -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=30), np.full(30, 0.1), np.zeros(30)])
    model.fit(form(X), np.full(30, 0.3))
    assert not model.coef_.any()
    assert model.intercept_ == 0.3
    assert model.certificate_.converged
    model.fit(form(X), X[:, 0] + 0.1 * rng.normal(size=30))
    assert model.coef_[0] > 0.5
    assert not model.coef_[1:].any()


def test_duplicate_columns() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(40, 2))
    y = x @ [1.0, -2.0] + 0.1 * rng.normal(size=40)
    single = Lasso(0.05, tol=1e-10).fit(x, y)
    double = Lasso(0.05, tol=1e-10).fit(np.hstack([x, x]), y)
    np.testing.assert_allclose(double.predict(np.hstack([x, x])), single.predict(x), atol=1e-6)
    assert double.certificate_.relative_gap <= 1e-10
    net = ElasticNet(0.05, tol=1e-12).fit(np.hstack([x, x]), y)
    np.testing.assert_allclose(net.coef_[:2], net.coef_[2:], atol=1e-8)


def test_one_row_and_more_columns_than_rows() -> None:
    for model in (Lasso(0.1), ElasticNet(0.1)):
        model.fit([[1.0, 2.0]], [3.0])
        assert model.coef_.tolist() == [0.0, 0.0]
        assert model.intercept_ == 3.0
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 2000))
    model = Lasso(0.01, tol=1e-8).fit(X, X[:, 0])
    assert model.certificate_.relative_gap <= 1e-8
    assert np.count_nonzero(model.coef_) <= 20


def test_units_and_offsets() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 4))
    y = X @ [1.0, 0.0, -2.0, 0.0] + 0.1 * rng.normal(size=50)
    plain = Lasso(0.05, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(Lasso(0.05, tol=1e-10).fit(X + 1e8, y).coef_, plain.coef_, rtol=1e-6)
    large = Lasso(0.05 * 2.0**40, tol=1e-10).fit(X, y * 2.0**40)
    np.testing.assert_allclose(large.coef_, plain.coef_ * 2.0**40, rtol=1e-12)
    small = Lasso(0.05 * 2.0**-80, tol=1e-10).fit(X * 2.0**-40, y * 2.0**-40)
    np.testing.assert_allclose(small.coef_, plain.coef_, rtol=1e-12)


def test_zero_weights_are_absent_rows() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), rng.normal(size=30)
    weight = np.r_[np.ones(20), np.zeros(10)]
    y[25] = 1e100
    kept = Lasso(0.05).fit(X[:20], y[:20])
    np.testing.assert_allclose(Lasso(0.05).fit(X, y, weight).coef_, kept.coef_, rtol=1e-10)
    with pytest.raises(ValueError, match="weight"):
        Lasso().fit(X, y, np.zeros(30))


@pytest.mark.parametrize("cv", [4, KFold(3, shuffle=True, random_state=5), GroupKFold(3)])
def test_folds_divide_the_rows_that_count(cv: Any) -> None:
    rng = np.random.default_rng(2)
    X, weight, groups = rng.normal(size=(41, 4)), rng.integers(0, 3, 41), np.arange(41) % 7
    y, kept = X @ [1.0, 0.0, -1.0, 0.5] + rng.normal(size=41), weight > 0
    for model in (LassoCV(alphas=9, cv=cv), ElasticNetCV(alphas=9, cv=cv, l1_ratio=[0.3, 0.8])):
        several = isinstance(cv, GroupKFold)
        errors = model.fit(X, y, weight, groups=groups if several else None).mse_path_
        part = groups[kept] if several else None
        alone = model.fit(X[kept], y[kept], weight[kept], groups=part).mse_path_
        np.testing.assert_allclose(errors, alone, rtol=1e-9)


def test_a_whole_number_is_a_ratio_and_a_given_grid_is_one() -> None:
    from sklearn.linear_model import ElasticNetCV as OtherCV

    X = np.random.default_rng(3).normal(size=(30, 3))
    y = X[:, 0] - 0.3 * X[:, 1]
    for options in (
        {"l1_ratio": 1, "alphas": 4},
        {"eps": 1, "alphas": 3},
        {"l1_ratio": [0.2, 1], "alphas": [0.1, 0.7, 0.3]},
        {"l1_ratio": [0.2, 1], "alphas": 4},
    ):
        ours, theirs = ElasticNetCV(**options).fit(X, y), OtherCV(**options).fit(X, y)
        np.testing.assert_allclose(ours.alphas_, theirs.alphas_, rtol=1e-12)
        assert ours.mse_path_.shape == theirs.mse_path_.shape


@pytest.mark.parametrize(
    ("model", "X", "y", "message"),
    [
        (Lasso(), [[1.0], [np.inf]], [1.0, 2.0], "column 'x0' has inf at row 1"),
        (Lasso(), [[1e200], [1.0]], [1.0, 2.0], "Rescale it by a power of ten"),
        (Lasso(), [[1.0], [2.0]], [1e200, 2.0], r"size 1e\+200, whose square .* Rescale y"),
        (LassoCV(), [[1.0], [2.0]], [[1.0, 2.0], [2.0, 3.0]], "Fit one target at a time"),
        (ElasticNetCV(l1_ratio=2.0), [[1.0]] * 9, [1.0] * 9, "between 0 and 1"),
        (ElasticNetCV(l1_ratio=0.0), [[1.0]] * 9, [1.0] * 9, "Give alphas as a list"),
        (LassoCV(alphas=[0.0, 1.0]), [[1.0]] * 9, [1.0] * 9, "above 0"),
        (LassoCV(alphas=[1.0, "0.5"]), [[1.0]] * 9, [1.0] * 9, "alphas must be finite numbers"),
        (RidgeCV(alphas=["2", "0.5"]), [[1.0]] * 9, [1.0] * 9, "alphas must be finite numbers"),
    ],
)
def test_messages(model: Any, X: Any, y: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        model.fit(X, y)


def test_missing_cells_are_refused() -> None:
    with pytest.raises(MissingValuesError):
        Lasso().fit([[1.0], [np.nan]], [1.0, 2.0])


def test_choices_of_the_penalty() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 12))
    y = X[:, :2] @ [2.0, -1.0] + rng.normal(size=80)
    least, simple = (LassoCV(rule=rule, alphas=30).fit(X, y) for rule in ("min", "1se"))
    assert simple.alpha_ > least.alpha_
    assert least.mse_path_.shape == (30, 5)
    chosen = int(np.flatnonzero(simple.alphas_ == simple.alpha_)[0])
    means = least.mse_path_.mean(axis=1)
    at = int(means.argmin())
    level = means[at] + least.mse_path_[at].std(ddof=1) / np.sqrt(5)
    assert means[chosen] <= level < means[chosen - 1]
    bic = LassoCV(criterion="bic", alphas=30).fit(X, y)
    k = int(np.flatnonzero(bic.alphas_ == bic.alpha_)[0])
    r = y - Lasso(bic.alpha_, tol=1e-10).fit(X, y).predict(X)
    active = np.count_nonzero(bic.coef_)
    assert bic.bic_path_[k] == pytest.approx(
        80 * np.log(r @ r / 80) + np.log(80) * active, rel=1e-4
    )
    both = ElasticNetCV(l1_ratio=[0.2, 1.0], alphas=10, n_jobs=2).fit(X, y)
    assert both.mse_path_.shape == (2, 10, 5)
    assert both.l1_ratio_ in (0.2, 1.0)
    plain = ElasticNetCV(l1_ratio=1.0, alphas=30).fit(X, y)
    assert plain.alpha_ == least.alpha_


def test_another_implementation_chooses_the_same() -> None:
    from sklearn.linear_model import LassoCV as OtherCV

    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 10))
    y = X[:, 0] + 0.5 * rng.normal(size=60)
    ours = LassoCV(alphas=25, tol=1e-9).fit(X, y)
    theirs = OtherCV(alphas=25, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(ours.mse_path_, theirs.mse_path_, rtol=1e-5)
    assert ours.alpha_ == pytest.approx(theirs.alpha_, rel=1e-10)


def test_files(tmp_path: Any) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), rng.normal(size=30)
    for model in (Lasso(0.1), ElasticNetCV(alphas=4)):
        save(model.fit(X, y), tmp_path / "model.novum")
        assert (load(tmp_path / "model.novum").predict(X) == model.predict(X)).all()
    assert LinearRegression().fit(X, y).coef_.shape == (3,)
