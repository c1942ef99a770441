"""DiscriminantProjection: another implementation, contracts, where it fails, degenerate input."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.core.errors import InputError, MissingValuesError, ModelFileError, NotAdditiveError
from novum.core.files import registry
from novum.core.learners import Case, Check
from novum.core.learners.contracts import check_name, estimator_checks
from novum.core.sums.contracts import (
    check_exact_folds,
    check_exact_leave_one_out,
    statistics_checks,
)
from novum.data.scaling.class_scatter import ClassScatter
from novum.decomposition.discriminant import DiscriminantProjection
from novum.numerics import Floats, Integers

MODELS = [
    DiscriminantProjection(),
    DiscriminantProjection(1),
    DiscriminantProjection(shrinkage=0.3),
]
PRIORS = DiscriminantProjection(priors=[0.2, 0.5, 0.3])
FROM_ROWS = DiscriminantProjection(shrinkage="auto")


def classes(K: int = 3, d: int = 4, n: int = 150, seed: int = 7) -> tuple[Floats, Integers]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, K, n)
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 2 * rng.normal(size=(K, d))[y]
    return X, y


def all_registered() -> AbstractContextManager[None]:
    """The model can be saved inside, whether the registry lists it or not."""
    estimator, value = DiscriminantProjection, ClassScatter
    return registry.registered(
        {} if estimator.__name__ in registry.ESTIMATORS else {estimator.__name__: estimator},
        {} if value.__name__ in registry.VALUES else {value.__name__: value},
    )


# --- scikit-learn's checks and the contracts ------------------------------------------------------


@parametrize_with_checks([*MODELS, FROM_ROWS], legacy=True)
def test_scikit_learn_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
@pytest.mark.parametrize("model", [*MODELS, PRIORS, FROM_ROWS], ids=repr)
def test_contract(model: Any, check: Check) -> None:
    with all_registered():
        check(Case(model, *classes()))


# A projection predicts nothing, so there are no predictions to cross-validate.
SUMS = [
    check
    for check in statistics_checks()
    if check not in (check_exact_folds, check_exact_leave_one_out)
]


@pytest.mark.parametrize("check", SUMS, ids=check_name)
@pytest.mark.parametrize("model", [*MODELS, PRIORS], ids=repr)
def test_contract_of_sums(model: Any, check: Check) -> None:
    check(Case(model, *classes()))


# --- Another implementation -----------------------------------------------------------------------


def same_up_to_sign_and_scale(found: Floats, expected: Floats) -> None:
    """Columns agree after centering and scaling to unit variance, up to their signs."""
    a, b = ((Z - Z.mean(axis=0)) / Z.std(axis=0) for Z in (found, expected))
    signs = np.sign((a * b).sum(axis=0))
    np.testing.assert_allclose(a, b * signs, atol=1e-8)


@pytest.mark.parametrize("solver", ["svd", "eigen"])
@pytest.mark.parametrize(("K", "d"), [(2, 3), (3, 4), (6, 3)])
def test_scikit_learn_agrees(solver: str, K: int, d: int) -> None:
    X, y = classes(K, d, 300)
    ours = DiscriminantProjection().fit(X, y)
    theirs = LinearDiscriminantAnalysis(solver=solver).fit(X, y)
    same_up_to_sign_and_scale(ours.transform(X), theirs.transform(X))
    np.testing.assert_allclose(
        ours.explained_variance_ratio_, theirs.explained_variance_ratio_, rtol=1e-9
    )
    np.testing.assert_allclose(ours.means_, theirs.means_, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(ours.xbar_, theirs.xbar_ if solver == "svd" else X.mean(axis=0))
    if solver == "eigen":
        np.testing.assert_allclose(ours.covariance_, theirs.covariance_, rtol=1e-9, atol=1e-10)


def test_the_scale_is_unit_variance_within_classes() -> None:
    X, y = classes()
    model = DiscriminantProjection().fit(X, y)
    Z = model.transform(X)
    inner = sum((y == k).sum() * np.cov(Z[y == k].T, ddof=0) for k in range(3)) / len(y)
    np.testing.assert_allclose(inner, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(Z.mean(axis=0), 0.0, atol=1e-12)
    outer = np.cov(Z.T, ddof=0) - inner
    np.testing.assert_allclose(outer, np.diag(model.eigenvalues_), atol=1e-11)


def test_two_classes_give_the_closed_form() -> None:
    """The direction of two classes is `W^-1 (m1 - m0)`."""
    X, y = classes(2)
    model = DiscriminantProjection().fit(X, y)
    expected = np.linalg.solve(model.covariance_, model.means_[1] - model.means_[0])
    cosine = expected @ model.scalings_[:, 0]
    cosine /= np.linalg.norm(expected) * np.linalg.norm(model.scalings_)
    assert abs(cosine) == pytest.approx(1.0, rel=1e-12)
    delta = model.means_[1] - model.means_[0]
    p = model.priors_
    assert model.eigenvalues_[0] == pytest.approx(p[0] * p[1] * delta @ expected, rel=1e-11)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000))
def test_priors_are_weights_of_classes(seed: int) -> None:
    """Rows weighted so that classes have these shares give the same directions as priors."""
    X, y = classes(3, 3, 60, seed)
    counts = np.bincount(y, minlength=3)
    priors = np.array([0.2, 0.5, 0.3])
    found = DiscriminantProjection(priors=priors).fit(X, y)
    weighted = DiscriminantProjection().fit(X, y, sample_weight=(priors / counts)[y])
    np.testing.assert_allclose(found.eigenvalues_, weighted.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(found.transform(X), weighted.transform(X), atol=1e-8)


def test_going_back_and_forth() -> None:
    X, y = classes()
    model = DiscriminantProjection().fit(X, y)
    Z = model.transform(X)
    np.testing.assert_allclose(model.transform(model.inverse_transform(Z)), Z, atol=1e-11)
    # With as many directions as columns, nothing is lost.
    X, y = classes(5, 3, 200)
    whole = DiscriminantProjection().fit(X, y)
    np.testing.assert_allclose(whole.inverse_transform(whole.transform(X)), X, atol=1e-10)
    with pytest.raises(InputError, match="3 directions, but 2 coordinates"):
        whole.inverse_transform(Z)


def test_names_frames_and_output() -> None:
    X, y = classes()
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = DiscriminantProjection().set_output(transform="pandas").fit(frame, y)
    found = model.transform(frame)
    assert found.columns.tolist() == ["discriminantprojection0", "discriminantprojection1"]
    assert model.feature_names_in_.tolist() == list("abcd")


# --- Where it fails -------------------------------------------------------------------------------


def overlap(z: Floats, y: Integers) -> float:
    """Smallest error of a threshold on a coordinate."""
    order = np.argsort(z)
    ones = np.cumsum(y[order])
    zeros = np.cumsum(1 - y[order])
    errors = ones + (zeros[-1] - zeros)
    return float(min(errors.min(), (len(y) - errors).min()) / len(y))


def test_the_case_of_the_notes_where_fisher_fails() -> None:
    """Each class scatters along the direction in which the means differ.

    Two long parallel strips, shifted along their length, whose gap lies across: the direction finds
    the gap. Bend the strips so that the classes are separated but not along their means, and no
    function of means and one covariance can see it.
    """
    rng = np.random.default_rng(0)
    n = 2000
    y = np.arange(n) % 2
    # A ring about a disk: perfectly separated, with means that coincide in the limit.
    angle, radius = rng.uniform(0, 2 * np.pi, n), np.where(y == 1, 3.0, rng.uniform(0, 1, n))
    ring = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    z = DiscriminantProjection().fit_transform(ring, y)[:, 0]
    # A disk of radius 1 covers less than a quarter of the ring's shadow on any line.
    assert overlap(z, y) > 0.1
    assert overlap((ring**2).sum(axis=1), y) == 0.0
    # Scatter along the means: the ratio along them is small, and the projection must overlap.
    along = np.column_stack([rng.normal(size=n) * 10 + 4 * y, rng.normal(size=n)])
    model = DiscriminantProjection().fit(along, y)
    assert model.eigenvalues_[0] < 0.1
    assert overlap(model.transform(along)[:, 0], y) > 0.35


def test_where_principal_components_fail_and_fisher_does_not() -> None:
    """Classes a hair apart across the direction of largest variance (figure 1 of the notes)."""
    rng = np.random.default_rng(0)
    y = np.arange(600) % 2
    X = np.column_stack([rng.normal(size=600) * 10, rng.normal(size=600) * 0.1 + y])
    assert overlap(DiscriminantProjection().fit_transform(X, y)[:, 0], y) == 0.0
    assert overlap(PCA(1).fit_transform(X)[:, 0], y) > 0.3


def test_means_that_coincide_are_an_error_that_says_so() -> None:
    X = np.array([[-1.0], [1.0], [-3.0], [3.0]])
    with pytest.raises(InputError, match=r"means of the 2 classes coincide.*Quadratic"):
        DiscriminantProjection().fit(X, [0, 0, 1, 1])


# --- Degenerate input -----------------------------------------------------------------------------


def test_constant_and_collinear_columns() -> None:
    X, y = classes()
    plain = DiscriminantProjection().fit(X, y)
    more = np.column_stack([X, np.full(len(X), 7.0), X[:, 0] - 3 * X[:, 2]])
    model = DiscriminantProjection().fit(more, y)
    np.testing.assert_allclose(model.eigenvalues_, plain.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(np.abs(model.transform(more)), np.abs(plain.transform(X)), atol=1e-8)
    assert model.certificate_.details["rank_within"] == 4
    assert np.isfinite(model.inverse_transform(model.transform(more))).all()


def test_a_column_that_tells_classes_apart_without_spread_comes_first() -> None:
    X, y = classes()
    exact = np.column_stack([X, np.where(y == 1, 5.0, 2.0)])
    model = DiscriminantProjection().fit(exact, y)
    assert np.isinf(model.eigenvalues_).tolist() == [True, False]
    assert model.explained_variance_ratio_.tolist() == [1.0, 0.0]
    first = model.transform(exact)[:, 0]
    assert np.ptp(first[y == 1]) < 1e-12
    assert abs(first[y == 1][0] - first[y != 1][0]) > 1
    spread = sum((y == k).mean() * first[y == k].mean() ** 2 for k in range(3))
    assert spread == pytest.approx(1.0, rel=1e-10)


def test_fewer_rows_than_columns() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(12) % 3
    X = rng.normal(size=(12, 40)) + y[:, None]
    model = DiscriminantProjection().fit(X, y)
    assert np.isinf(model.eigenvalues_).all()
    Z = model.transform(X)
    for k in range(3):
        np.testing.assert_allclose(Z[y == k], np.broadcast_to(Z[y == k][0], (4, 2)), atol=1e-10)
    shrunk = DiscriminantProjection(shrinkage="auto").fit(X, y)
    assert np.isfinite(shrunk.eigenvalues_).all()
    assert shrunk.certificate_.details["rank_within"] == 40


@pytest.mark.parametrize("size", [1e-8, 1e8])
def test_sizes_and_offsets(size: float) -> None:
    X, y = classes()
    expected = DiscriminantProjection().fit_transform(X, y)
    np.testing.assert_allclose(
        DiscriminantProjection().fit_transform(X * size, y), expected, atol=1e-9
    )
    np.testing.assert_allclose(
        DiscriminantProjection().fit_transform(X + 1e8, y), expected, atol=1e-6
    )


def test_weight_zero_is_absence() -> None:
    X, y = classes()
    weight = (np.arange(len(y)) % 3 > 0).astype(float)
    weight[y == 2] = 0.0
    model = DiscriminantProjection().fit(X, y, weight)
    assert model.classes_.tolist() == [0, 1]
    kept = weight > 0
    same = DiscriminantProjection().fit(X[kept], y[kept])
    np.testing.assert_allclose(model.scalings_, same.scalings_, rtol=1e-10)


def test_classes_may_come_one_by_one() -> None:
    X, y = classes()
    parts = [(X[y == k], y[y == k]) for k in range(3)]
    model = DiscriminantProjection().fit_stream(parts)
    np.testing.assert_allclose(model.eigenvalues_, DiscriminantProjection().fit(X, y).eigenvalues_)
    with pytest.raises(InputError, match=r"greater than one, got 1 class.*fit_stream"):
        DiscriminantProjection().partial_fit(*parts[0])
    declared = DiscriminantProjection().fit_stream(parts, classes=[0, 1, 2, 9])
    assert declared.class_count_.tolist()[3] == 0.0
    with pytest.raises(InputError, match=r"Class 9 has prior 0\.1 but no rows"):
        DiscriminantProjection(priors=[0.3, 0.3, 0.3, 0.1]).fit_stream(parts, classes=[0, 1, 2, 9])


# --- Refusals -------------------------------------------------------------------------------------


def test_missing_cells_and_categories_are_refused_with_advice() -> None:
    X, y = classes()
    X[4, 1] = np.nan
    with pytest.raises(MissingValuesError, match=r"'x1' \(1, first at row 4\).*needs every cell"):
        DiscriminantProjection().fit(X, y)
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]})
    with pytest.raises(InputError, match="projects numbers, but column 'b' holds text"):
        DiscriminantProjection().fit(frame, [0, 1])


def test_files_with_categories_are_refused(tmp_path: Any) -> None:
    path = tmp_path / "table.csv"
    pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"], "y": [0, 1]}).to_csv(path, index=False)
    with pytest.raises(InputError, match="'b'"):
        DiscriminantProjection().fit_file(path, target="y")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 3}, r"min\(n_features, n_classes - 1\) = 2, got 3"),
        ({"priors": [0.5, 0.5]}, r"priors of shape \(2,\) for the 3 classes"),
        ({"priors": [0.5, 0.5, 0.5]}, "sum to 1"),
        ({"priors": [1.5, -0.5, 0.0]}, "non-negative"),
        ({"shrinkage": 1.5}, "shrinkage"),
        ({"n_components": 0}, "n_components"),
    ],
)
def test_parameters_are_checked(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        DiscriminantProjection(**parameters).fit(*classes())


def test_the_automatic_shrinkage_has_no_sums() -> None:
    X, y = classes()
    model = DiscriminantProjection(shrinkage="auto").fit(X, y)
    assert not hasattr(model, "partial_fit")
    assert not hasattr(model, "statistics_")
    with pytest.raises(NotAdditiveError):
        model.statistics(X, y)
    theirs = LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto").fit(X, y)
    np.testing.assert_allclose(model.covariance_, theirs.covariance_, rtol=1e-9, atol=1e-12)


def test_damaged_models_are_refused() -> None:
    model = DiscriminantProjection().fit(*classes())
    model.scalings_ = model.scalings_[:2]
    with pytest.raises(ModelFileError, match=r"scalings_ has shape \(2, 2\), not \(4, 2\)"):
        model._check_state()
    model = DiscriminantProjection().fit(*classes())
    model.xbar_ = model.xbar_ * np.nan
    with pytest.raises(ModelFileError, match="not finite"):
        model._check_state()
