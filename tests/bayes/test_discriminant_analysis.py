"""The two drop-ins: scikit-learn's numbers, and what is better here."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn import discriminant_analysis as other
from sklearn.base import clone
from sklearn.covariance import OAS, LedoitWolf
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from novum.bayes.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from novum.bayes.gaussian import GaussianClassifier
from novum.bayes.gaussian_covariance import SingularCovarianceWarning
from novum.core.errors import InputError, MissingValuesError, ModelFileError, NotAdditiveError
from novum.core.files import save
from novum.decomposition import DiscriminantProjection
from tests.bayes.normal_classes import normal_classes, with_holes

PRIORS: dict[int, Any] = {2: [0.2, 0.8], 3: [0.2, 0.3, 0.5]}


def assert_same(ours: Any, theirs: Any, K: int, *names: str) -> None:
    """Probabilities, decisions, labels and the named attributes agree to 1e-10."""
    X, y = normal_classes(K, 4, 25)
    ours.fit(X, y)
    theirs.fit(X, y)
    new = np.random.default_rng(5).normal(size=(40, 4))
    for method in ("predict_proba", "decision_function", "predict_log_proba"):
        found, expected = getattr(ours, method)(new), getattr(theirs, method)(new)
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10, err_msg=method)
    np.testing.assert_array_equal(ours.predict(new), theirs.predict(new))
    for name in ("means_", "priors_", *names):
        found, expected = getattr(ours, name), getattr(theirs, name)
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10, err_msg=name)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize("solver", ["svd", "lsqr", "eigen"])
def test_linear_is_scikit_learns(solver: str, given: bool, K: int) -> None:
    more = {"solver": solver, "priors": PRIORS[K] if given else None}
    names = ["coef_", "intercept_", *(["xbar_"] if solver == "svd" else ["covariance_"])]
    assert_same(
        LinearDiscriminantAnalysis(**more), other.LinearDiscriminantAnalysis(**more), K, *names
    )


@pytest.mark.parametrize("solver", ["lsqr", "eigen"])
@pytest.mark.parametrize("shrinkage", [0.0, 0.3, 1.0, "auto"])
def test_linear_shrinks_as_scikit_learn_does(shrinkage: Any, solver: str) -> None:
    more = {"solver": solver, "shrinkage": shrinkage, "priors": PRIORS[3]}
    assert_same(
        LinearDiscriminantAnalysis(**more), other.LinearDiscriminantAnalysis(**more), 3, "coef_"
    )


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"priors": "given"},
        {"reg_param": 0.3},
        {"solver": "eigen"},
        {"solver": "eigen", "shrinkage": 0.2},
        {"solver": "eigen", "shrinkage": "auto"},
        {"solver": "eigen", "covariance_estimator": OAS()},
    ],
    ids=str,
)
def test_quadratic_is_scikit_learns(more: dict[str, Any], K: int) -> None:
    chosen = {**more, "priors": PRIORS[K]} if "priors" in more else more
    assert_same(
        QuadraticDiscriminantAnalysis(**chosen),
        other.QuadraticDiscriminantAnalysis(**chosen, store_covariance=True),
        K,
        "covariance_",
        "scalings_",
    )


def test_axes_are_those_of_the_covariances() -> None:
    model = QuadraticDiscriminantAnalysis().fit(*normal_classes(2, 3, 30))
    for C, axes, values in zip(model.covariance_, model.rotations_, model.scalings_, strict=True):
        np.testing.assert_allclose(axes * values @ axes.T, C, atol=1e-12)
        assert (np.diff(values) <= 0).all()


def test_a_covariance_estimator_is_fitted_to_each_class() -> None:
    more = {"solver": "lsqr", "covariance_estimator": LedoitWolf()}
    assert_same(LinearDiscriminantAnalysis(**more), other.LinearDiscriminantAnalysis(**more), 3)
    X, y = normal_classes(2, 2, 10)
    with pytest.raises(InputError, match="knows no weights"):
        LinearDiscriminantAnalysis(**more).fit(X, y, np.ones(len(y)))
    with pytest.raises(InputError, match="either shrinkage or covariance_estimator"):
        LinearDiscriminantAnalysis(shrinkage=0.1, covariance_estimator=LedoitWolf()).fit(X, y)

    class Fixed:
        """No estimator of scikit-learn's, and its `fit` returns nothing."""

        def __init__(self, size: int) -> None:
            self.size = size

        def fit(self, X: Any) -> None:  # noqa: ARG002
            self.covariance_ = np.eye(self.size)

    fixed = Fixed(2)
    model = LinearDiscriminantAnalysis("lsqr", covariance_estimator=fixed).fit(X, y)
    np.testing.assert_allclose(model.covariance_, np.eye(2), atol=1e-12)
    assert not hasattr(fixed, "covariance_")
    with pytest.raises(InputError, match=r"shape \(5, 5\) for 2 columns"):
        LinearDiscriminantAnalysis(covariance_estimator=Fixed(5)).fit(X, y)


def test_shrinkage_by_rows_has_no_sums() -> None:
    X, y = normal_classes(2, 2, 10)
    for model in (
        LinearDiscriminantAnalysis(shrinkage="auto"),
        QuadraticDiscriminantAnalysis(shrinkage="auto"),
    ):
        with pytest.raises(NotAdditiveError):
            model.statistics(X, y)
        assert not hasattr(model, "partial_fit")
        assert not hasattr(model.fit(X, y), "statistics_")
        with pytest.raises(MissingValuesError, match="needs every cell"):
            model.fit(with_holes(X, 0.2), y)
        with pytest.raises(MissingValuesError, match="needs every cell"):
            model.fit(X, y).predict([[np.nan, 1.0]])


def test_strangers_inside_a_model_are_not_saved(tmp_path: Any) -> None:
    model = LinearDiscriminantAnalysis("lsqr", covariance_estimator=LedoitWolf())
    model.fit(*normal_classes(2, 2, 10))
    with pytest.raises(ModelFileError, match="LedoitWolf"):
        save(model, tmp_path / "model.novum")


# --- What is better here --------------------------------------------------------------------------


def test_singular_classes_warn_where_scikit_learn_fails() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(8, 6)), np.arange(8) % 2
    X[y == 1] += 5
    with pytest.raises(np.linalg.LinAlgError):
        other.QuadraticDiscriminantAnalysis().fit(X, y)
    with pytest.warns(SingularCovarianceWarning):
        model = QuadraticDiscriminantAnalysis().fit(X, y)
    assert model.predict(X).tolist() == y.tolist()


def test_drop_ins_are_the_gaussian_classifier() -> None:
    X, y = normal_classes(3, 3, 30)
    X = with_holes(X, 0.1)
    for model, covariance in (
        (LinearDiscriminantAnalysis(), "tied"),
        (QuadraticDiscriminantAnalysis(), "full"),
    ):
        expected = GaussianClassifier(covariance).fit(X, y).predict_proba(X)
        np.testing.assert_allclose(model.fit(X, y).predict_proba(X), expected, atol=1e-12)
        decisions = model.decision_function(X)
        assert (model.classes_[decisions.argmax(axis=1)] == model.predict(X)).all()


def test_shrinkage_with_missing_cells_shrinks_what_em_found() -> None:
    X, y = normal_classes(2, 2, 40)
    X = with_holes(X, 0.1)
    plain = QuadraticDiscriminantAnalysis().fit(X, y)
    model = QuadraticDiscriminantAnalysis(shrinkage=0.5).fit(X, y)
    for C, D in zip(plain.covariance_, model.covariance_, strict=True):
        np.testing.assert_allclose(D, 0.5 * C + 0.25 * np.trace(C) * np.eye(2), rtol=1e-9)


def test_wrong_parameters_are_refused() -> None:
    X, y = normal_classes(2, 2, 10)
    for wrong in ({"solver": "qr"}, {"shrinkage": 2.0}, {"n_components": 0}, {"tol": -1}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            LinearDiscriminantAnalysis(**wrong).fit(X, y)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="shape"):
        LinearDiscriminantAnalysis("lsqr", priors=[1.0]).fit(X, y)


# --- Projection -----------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["svd", "eigen"])
@pytest.mark.parametrize("n_components", [None, 1])
def test_the_projection_is_that_of_scikit_learn(solver: str, n_components: int | None) -> None:
    X, y = load_iris(return_X_y=True)
    reference = other.LinearDiscriminantAnalysis(solver=solver, n_components=n_components).fit(X, y)
    model = LinearDiscriminantAnalysis(solver=solver, n_components=n_components).fit(X, y)
    found, expected = model.transform(X), reference.transform(X)
    assert found.shape == expected.shape == (150, n_components or 2)
    # Within classes a coordinate has variance 1; releases differ in the divisor, by 1 %.
    signs = np.sign((found * expected).sum(axis=0))
    scale = np.linalg.norm(expected, axis=0) / np.linalg.norm(found, axis=0)
    np.testing.assert_allclose(found * signs * scale, expected, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(scale, 1.0, atol=0.02)
    within = sum(np.cov(found[y == k].T, ddof=0) * (y == k).mean() for k in range(3))
    np.testing.assert_allclose(within, np.eye(found.shape[1]).squeeze(), atol=1e-9)
    np.testing.assert_allclose(
        model.explained_variance_ratio_, reference.explained_variance_ratio_, rtol=1e-9
    )
    assert model.scalings_.shape == (4, n_components or 2)
    names = [f"lineardiscriminantanalysis{i}" for i in range(n_components or 2)]
    assert model.get_feature_names_out().tolist() == names
    np.testing.assert_array_equal(clone(model).fit_transform(X, y), found)


def test_the_projection_agrees_with_that_of_decomposition() -> None:
    X, y = load_iris(return_X_y=True)
    model = LinearDiscriminantAnalysis(priors=[0.2, 0.3, 0.5]).fit(X, y)
    projection = DiscriminantProjection().fit(X, y)
    plain = LinearDiscriminantAnalysis().fit(X, y)
    np.testing.assert_allclose(plain.transform(X), projection.transform(X), rtol=1e-8, atol=1e-9)
    least_squares = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    np.testing.assert_allclose(least_squares.transform(X), plain.transform(X), rtol=1e-8, atol=1e-9)
    # Priors move the middle of the class means.
    np.testing.assert_allclose(model.priors_ @ model.transform(model.means_), 0.0, atol=1e-9)


def test_projections_that_do_not_exist_say_why() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(InputError, match=r"cannot be larger than .* is 2 for 3 classes, got 3"):
        LinearDiscriminantAnalysis(n_components=3).fit(X, y)
    halves = [(X[:50], y[:50]), (X[50:], y[50:])]
    assert LinearDiscriminantAnalysis(n_components=2).fit_stream(halves).transform(X).shape[1] == 2
    with pytest.raises(NotFittedError):
        LinearDiscriminantAnalysis().transform(X)
    holes = X.copy()
    holes[3, 1] = np.nan
    found = LinearDiscriminantAnalysis().fit(X, y).transform(holes)
    assert np.flatnonzero(np.isnan(found).any(axis=1)).tolist() == [3]


def test_projection_of_fewer_rows_than_columns() -> None:
    X, y = np.random.default_rng(0).normal(size=(9, 20)), np.arange(9) % 3
    with pytest.warns(SingularCovarianceWarning):
        model = LinearDiscriminantAnalysis().fit(X, y)
    np.testing.assert_allclose(
        model.transform(X), DiscriminantProjection().fit(X, y).transform(X), rtol=1e-7, atol=1e-8
    )
