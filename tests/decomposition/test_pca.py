"""PCA: scikit-learn's numbers and checks, the contract, offsets, weights, degenerate tables."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn import decomposition as other
from sklearn.base import clone
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.core.errors import InputError, MissingValuesError, ModelFileError, NotAdditiveError
from novum.core.files import load, save
from novum.core.learners import Case, Check, ConvergenceWarning, Verdict
from novum.core.learners.contracts import (
    check_bits_in_new_processes,
    check_interrupted_fit_changes_nothing,
    check_name,
    estimator_checks,
)
from novum.core.sums import exact_cross_val_predict
from novum.core.sums.contracts import (
    check_exact_folds,
    check_exact_leave_one_out,
    check_file_larger_than_memory,
    statistics_checks,
)
from novum.decomposition import pca
from novum.decomposition.component_choice import ByEvidence, ByLikelihood, ByVariance
from novum.decomposition.pca import PCA
from novum.numerics import Floats
from tests.decomposition.component_tables import exact_axes, low_rank_table, registered

MODELS = [
    PCA(),
    PCA(svd_solver="full"),
    PCA(0.9, whiten=True),
    PCA(ByEvidence()),
    PCA(ByLikelihood(2)),
    PCA(1, svd_solver="randomized", random_state=0),
]
SUMS = [PCA(), PCA(2, svd_solver="full"), PCA(ByVariance(0.9)), PCA(2, whiten=True)]
SOLVERS = ["auto", "full", "covariance_eigh", "arpack", "randomized"]
FITTED = (
    "components_",
    "explained_variance_",
    "explained_variance_ratio_",
    "singular_values_",
    "mean_",
    "noise_variance_",
    "n_components_",
    "n_samples_",
)


# --- scikit-learn's checks and the contract -------------------------------------------------------


@parametrize_with_checks(MODELS, legacy=True)
def test_scikit_learn_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_contract(check: Check, model: Any) -> None:
    X = low_rank_table(60, 4, 3)
    with registered():
        check(Case(model, X, np.arange(len(X), dtype=float)))


@pytest.mark.parametrize("check", statistics_checks(), ids=check_name)
@pytest.mark.parametrize("model", SUMS, ids=repr)
def test_sums(check: Check, model: Any) -> None:
    X = low_rank_table(60, 4, 3)
    if check in (check_exact_folds, check_exact_leave_one_out):
        folds_are_exact(model, X)
    else:
        check(Case(model, X, np.arange(len(X), dtype=float)))


def folds_are_exact(model: Any, X: Floats) -> None:
    """A projection predicts nothing; its coordinates are compared instead."""
    cv = KFold(4, shuffle=True, random_state=0)
    found = exact_cross_val_predict(model, X, None, cv, method="transform")
    for train, test in cv.split(X):
        expected = clone(model).fit(X[train]).transform(X[test])
        np.testing.assert_allclose(found[test], expected, atol=1e-9)


@pytest.mark.slow
def test_bits_do_not_depend_on_threads() -> None:
    check_bits_in_new_processes(Case(PCA(3), low_rank_table(4000, 60, 5)))


def test_an_interrupted_fit_changes_nothing() -> None:
    check_interrupted_fit_changes_nothing(Case(PCA(2), low_rank_table(60, 8, 3)))


@pytest.mark.slow
def test_a_file_larger_than_memory(tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    check_file_larger_than_memory("novum.decomposition.pca:PCA", tmp_path)


def test_a_cluster_gives_the_bits_of_a_stream() -> None:
    dask = pytest.importorskip("dask.array")
    X = low_rank_table(90, 4, 2)
    expected = PCA(2).fit_stream([(X[:30],), (X[30:60],), (X[60:],)])
    arrays = dask.from_array(X, chunks=(30, 4)), dask.from_array(X[:, 0], chunks=30)
    found = PCA(2).fit_stream(arrays)
    assert found.transform(X).tobytes() == expected.transform(X).tobytes()


# --- scikit-learn's numbers -----------------------------------------------------------------------


def assert_same(ours: Any, theirs: Any, X: Any, new: Floats) -> None:
    """Attributes, projections and their inverses agree; both square the condition of X."""
    ours.fit(X)
    theirs.fit(X)
    for name in FITTED:
        found, expected = getattr(ours, name), getattr(theirs, name)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9, err_msg=name)
    found, expected = ours.transform(new), theirs.transform(new)
    np.testing.assert_allclose(found, expected, atol=1e-8)
    back = ours.inverse_transform(found), theirs.inverse_transform(expected)
    np.testing.assert_allclose(*back, atol=1e-8)


@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("shape", [(40, 6), (12, 30), (15, 400)], ids=str)
def test_numbers_are_scikit_learns(shape: tuple[int, int], solver: str, whiten: bool) -> None:
    X, new = low_rank_table(*shape, 4), low_rank_table(7, shape[1], 4, seed=1)
    more = {"n_components": 3, "svd_solver": solver, "whiten": whiten, "random_state": 0}
    assert_same(PCA(**more), other.PCA(**{**more, "svd_solver": "full"}), X, new)


@pytest.mark.parametrize("n_components", [None, 2, 0.5, 0.95, 0.999999, "mle"], ids=str)
def test_numbers_of_components_are_scikit_learns(n_components: Any) -> None:
    X = low_rank_table(50, 5, 2)
    assert_same(PCA(n_components), other.PCA(n_components, svd_solver="full"), X, X[:5])


def test_no_component_leaves_the_mean() -> None:
    X = low_rank_table(20, 3, 2)
    model = PCA(0).fit(X)
    assert model.transform(X).shape == (20, 0)
    np.testing.assert_allclose(model.inverse_transform(np.empty((2, 0))), [X.mean(axis=0)] * 2)
    assert model.noise_variance_ == pytest.approx(np.var(X, axis=0, ddof=1).mean())


@pytest.mark.parametrize("n_components", [1, 3, 5])
def test_density_is_scikit_learns(n_components: int) -> None:
    X = low_rank_table(50, 5, 2)
    ours, theirs = PCA(n_components).fit(X), other.PCA(n_components, svd_solver="full").fit(X)
    for method in ("get_covariance", "get_precision"):
        found, expected = getattr(ours, method)(), getattr(theirs, method)()
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(ours.score_samples(X), theirs.score_samples(X), rtol=1e-9)
    assert ours.score(X) == pytest.approx(theirs.score(X), rel=1e-9)


def test_the_covariance_does_not_depend_on_whitening() -> None:
    # scikit-learn scales the components by their deviations once too often here.
    X = low_rank_table(50, 4, 2)
    np.testing.assert_allclose(PCA(whiten=True).fit(X).get_covariance(), np.cov(X.T), atol=1e-12)
    white = PCA(3, whiten=True).fit(X).transform(X)
    np.testing.assert_allclose(np.cov(white.T), np.eye(3), atol=1e-10)


@pytest.mark.parametrize("solver", SOLVERS)
def test_sparse_rows_are_those_of_the_dense_table(solver: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 12)) * (rng.random((60, 12)) < 0.2) + np.eye(60, 12)
    X[:, 3] = 0.0
    ours = PCA(3, svd_solver=solver, random_state=0).fit(sparse.csr_matrix(X))
    dense = PCA(3).fit(X)
    for name in FITTED:
        np.testing.assert_allclose(getattr(ours, name), getattr(dense, name), atol=1e-9)
    new = sparse.csr_matrix(X[:9])
    for method in ("transform", "score_samples", "reconstruction_error"):
        found, expected = getattr(ours, method)(new), getattr(dense, method)(X[:9])
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)


def test_wide_sparse_rows_by_iteration_and_by_gram_matrix() -> None:
    X = sparse.random(120, 3000, 0.02, "csr", rng=np.random.default_rng(0))
    expected = PCA(4).fit(X.toarray())
    for model in (PCA(4), PCA(4, svd_solver="arpack", random_state=0)):
        model.fit(X)
        np.testing.assert_allclose(
            model.explained_variance_, expected.explained_variance_, rtol=1e-9
        )
        np.testing.assert_allclose(model.transform(X), expected.transform(X.toarray()), atol=1e-6)


# --- The definition -------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["auto", "full"])
def test_axes_are_those_of_fifty_digits_whatever_the_offset(solver: str) -> None:
    # Multiples of a power of two, so that the shifted cells are exact.
    X = np.floor(low_rank_table(20, 4, 2) * 2**20) / 2**20 + 2.0**27
    spread, axes = exact_axes(X, 3)
    model = PCA(3, svd_solver=solver).fit(X)
    np.testing.assert_allclose(model.components_, axes, atol=1e-12)
    np.testing.assert_allclose(model.explained_variance_, spread, rtol=1e-12)
    theirs = other.PCA(3, svd_solver="covariance_eigh").fit(X)
    assert np.abs(theirs.components_ - axes).max() > 1e-3


def test_offsets_do_not_spoil_wide_and_large_tables() -> None:
    for shape in ((40, 600), (30_000, 20)):
        X = np.floor(low_rank_table(*shape, 4) * 2**20) / 2**20
        plain, moved = PCA(3).fit(X), PCA(3).fit(X + 2.0**27)
        np.testing.assert_allclose(moved.components_, plain.components_, atol=1e-9)
        np.testing.assert_allclose(moved.transform(X + 2.0**27), plain.transform(X), atol=1e-7)


def test_full_sees_directions_that_squares_have_lost() -> None:
    rng = np.random.default_rng(0)
    axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    sizes = np.array([1.0, 1e-5, 1e-11])
    X = rng.normal(size=(40, 3))
    X = np.linalg.qr(X - X.mean(axis=0))[0] * sizes @ axes.T
    # The table itself is rounded to 1e-16 of its largest cells.
    model = PCA(svd_solver="full").fit(X)
    np.testing.assert_allclose(model.singular_values_, sizes, rtol=1e-4)
    streamed = PCA(svd_solver="full").fit_stream([(X[:7],), (X[7:],)])
    np.testing.assert_allclose(streamed.singular_values_, sizes, rtol=1e-4)


@given(st.integers(0, 10_000))
@settings(max_examples=25)
def test_no_other_axes_capture_more(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12, 4)) @ rng.normal(size=(4, 4))
    model = PCA(2).fit(X)
    best = float(np.sum(model.singular_values_**2))
    about = X - X.mean(axis=0)
    for _ in range(5):
        axes = np.linalg.qr(rng.normal(size=(4, 2)))[0]
        assert float(np.sum((about @ axes) ** 2)) <= best * (1 + 1e-12)
    left, size = float(np.sum(about**2)) - best, float(np.sum(about**2))
    assert model.reconstruction_error_ == pytest.approx(left / 12, abs=1e-12 * size)
    assert model.reconstruction_error(X).sum() == pytest.approx(left, abs=1e-12 * size)
    assert model.certificate_.value == pytest.approx(left, abs=1e-12 * size)
    assert model.certificate_.verdict is Verdict.PROVED


def test_signs_are_fixed() -> None:
    X = low_rank_table(50, 6, 3)
    for solver in SOLVERS:
        model = PCA(3, svd_solver=solver, random_state=1).fit(X)
        leading = np.abs(model.components_).argmax(axis=1)
        assert (model.components_[np.arange(3), leading] > 0).all()
    # Two loadings of equal size: the first decides, whatever their last digits.
    ties = np.array([[1.0, -1.0], [-1.0, 1.0], [2.0, -2.0], [0.5, -0.5]])
    assert PCA(1).fit(ties).components_[0, 0] > 0


def test_all_routes_find_the_same_components() -> None:
    X = low_rank_table(80, 300, 6)
    reference = PCA(4, svd_solver="full").fit(X)
    for solver in SOLVERS:
        model = PCA(4, svd_solver=solver, random_state=0).fit(X)
        np.testing.assert_allclose(model.components_, reference.components_, atol=1e-8)
        np.testing.assert_allclose(
            model.explained_variance_, reference.explained_variance_, rtol=1e-10
        )
        assert model.certificate_.converged
        assert model.certificate_.residual < 1e-9


# --- Weights and rows -----------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["auto", "full", "randomized"])
@pytest.mark.parametrize("shape", [(20, 5), (12, 300)], ids=str)
def test_weight_two_is_the_row_twice(shape: tuple[int, int], solver: str) -> None:
    X = low_rank_table(*shape, 3)
    weight = np.random.default_rng(0).integers(0, 3, len(X))
    more: dict[str, Any] = {"svd_solver": solver, "random_state": 0}
    weighted = PCA(3, **more).fit(X, sample_weight=weight)
    repeated = PCA(3, **more).fit(np.repeat(X, weight, axis=0))
    for name in ("components_", "explained_variance_", "mean_", "noise_variance_"):
        np.testing.assert_allclose(getattr(weighted, name), getattr(repeated, name), atol=1e-9)


def test_as_many_components_as_repeated_rows_allow() -> None:
    X = low_rank_table(3, 6, 2)
    weighted = PCA().fit(X, sample_weight=[2, 1, 2])
    assert weighted.n_components_ == PCA().fit(X[[0, 0, 1, 2, 2]]).n_components_ == 5
    assert PCA().fit(X, sample_weight=[0.5, 0.5, 0.75]).n_components_ == 3


# --- Choosing the number of components ------------------------------------------------------------


def test_rules_find_the_dimension_of_the_signal() -> None:
    X = low_rank_table(400, 8, 3, noise=0.5)
    for rule in (ByEvidence(), ByLikelihood(5), "mle"):
        model = PCA(rule).fit(X)
        assert model.n_components_ == 3
        assert int(np.argmax(model.component_scores_)) == 3
    assert PCA(ByVariance(0.5)).fit(X).n_components_ == PCA(0.5).fit(X).n_components_


def test_a_rule_by_likelihood_works_on_wide_tables() -> None:
    assert PCA(ByLikelihood(4)).fit(low_rank_table(60, 400, 3)).n_components_ == 3


def test_rules_that_need_rows_or_the_whole_spectrum_say_so() -> None:
    X = low_rank_table(40, 5, 2)
    with pytest.raises(NotAdditiveError, match="not fitted from sums"):
        PCA(ByLikelihood()).statistics(X)
    assert not hasattr(PCA(ByLikelihood()), "partial_fit")
    with pytest.raises(InputError, match="at least 10 different rows, two for each fold"):
        PCA(ByLikelihood(5)).fit(X[:8])
    for rule in (0.5, "mle", ByEvidence()):
        with pytest.raises(InputError, match="needs the whole spectrum"):
            PCA(rule, svd_solver="randomized").fit(X)


# --- Degenerate tables ----------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["auto", "full", "covariance_eigh"])
def test_constant_and_repeated_columns(solver: str) -> None:
    X = low_rank_table(30, 3, 2)
    X = np.column_stack([X, np.full(30, 1e9), X[:, 0]])
    model = PCA(svd_solver=solver).fit(X)
    assert model.n_components_ == 5
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(5), atol=1e-10)
    np.testing.assert_allclose(model.components_[:3, 3], 0.0, atol=1e-10)
    np.testing.assert_allclose(model.explained_variance_[3:], 0.0, atol=1e-10)
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), X, rtol=1e-12)
    with pytest.raises(InputError, match="has no density"):
        model.score(X)


def test_a_constant_table_has_components_without_variance() -> None:
    model = PCA(whiten=True).fit(np.full((5, 3), 7.0))
    assert model.explained_variance_ratio_.tolist() == [0.0] * 3
    assert not model.transform([[8.0, 7.0, 7.0]]).any()
    assert model.certificate_.value == 0.0


@pytest.mark.parametrize("solver", ["auto", "full"])
def test_identical_rows_of_a_wide_table(solver: str) -> None:
    X = np.repeat(low_rank_table(2, 300, 1), 4, axis=0)
    model = PCA(svd_solver=solver).fit(X)
    assert model.n_components_ == 8
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(8), atol=1e-10)
    np.testing.assert_allclose(model.explained_variance_ratio_[0], 1.0)
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-10)


@pytest.mark.parametrize("scale", [1e-8, 1e8, 2.0**-300, 2.0**300])
def test_units_scale_the_result(scale: float) -> None:
    X = low_rank_table(30, 4, 2)
    model, scaled = PCA(2).fit(X), PCA(2).fit(X * scale)
    np.testing.assert_allclose(scaled.components_, model.components_, atol=1e-9)
    np.testing.assert_allclose(scaled.transform(X * scale) / scale, model.transform(X), atol=1e-9)
    np.testing.assert_allclose(scaled.singular_values_ / scale, model.singular_values_, rtol=1e-12)


def test_columns_of_scales_far_apart() -> None:
    X = np.random.default_rng(0).normal(size=(30, 3)) * [1e8, 1.0, 1e-8]
    model = PCA(svd_solver="full").fit(X)
    np.testing.assert_allclose(np.abs(np.diagonal(model.components_)), 1.0, atol=1e-7)
    spread = np.std(X, axis=0)
    error = model.inverse_transform(model.transform(X)) - X
    # Coordinates are sums over all columns: each is right to 1e-16 of the widest.
    assert (np.abs(error[:, :2]) <= 1e-7 * spread[:2]).all()


@pytest.mark.parametrize(
    ("X", "weight", "message"),
    [
        ([[1.0, 2.0]], None, "n_samples=1 row is a single point"),
        ([[1.0, 2.0], [3.0, 4.0]], [1.0, 0.0], "a weight of 1 has none"),
        ([[1.0, 2.0], [3.0, 5.0]], [0.25, 0.5], "scale those that sum to 1"),
        ([[1.0, 2.0], [3.0, 5.0]], [0.0, 0.0], "All 2 weights are zero"),
        ([[1.0, np.inf], [3.0, 5.0]], None, "contains infinity"),
    ],
)
def test_tables_without_a_variance_are_refused(X: Any, weight: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        PCA().fit(X, sample_weight=weight)


def test_missing_cells_are_refused_with_advice() -> None:
    with pytest.raises(MissingValuesError, match="PCA needs every cell"):
        PCA().fit([[1.0, np.nan], [2.0, 3.0]])
    with pytest.raises(MissingValuesError, match="PCA needs every cell"):
        PCA().fit([[1.0, 2.0], [2.0, 3.0]]).transform([[np.nan, 1.0]])


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"n_components": 4}, r"between 0 and min\(n_samples, n_features\)=3"),
        ({"n_components": 3, "svd_solver": "arpack"}, "strictly less than"),
        ({"n_components": 0, "svd_solver": "randomized"}, "between 1 and"),
        ({"n_components": 1.5}, "'n_components' parameter"),
        ({"svd_solver": "fast"}, "'svd_solver' parameter"),
    ],
)
def test_impossible_parameters_are_named(more: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        PCA(**more).fit(low_rank_table(10, 3, 2))


def test_too_few_products_warn_and_say_how_far() -> None:
    X = np.random.default_rng(0).normal(size=(200, 150))
    with pytest.warns(ConvergenceWarning, match="gap is .* Raise iterated_power"):
        model = PCA(3, svd_solver="randomized", iterated_power=1, random_state=0).fit(X)
    assert not model.certificate_.converged
    true = np.linalg.svd(X - X.mean(axis=0))[1][0] ** 2
    found = model.singular_values_[0] ** 2
    assert abs(found - true) <= model.certificate_.residual * found


def test_auto_falls_back_to_the_exact_route(monkeypatch: pytest.MonkeyPatch) -> None:
    # Noise without structure keeps an iteration busy; the budget here is one product.
    monkeypatch.setattr(pca, "chosen_route", lambda *_: "krylov")
    monkeypatch.setattr(pca, "exact_budget", lambda *_: 1)
    X = np.random.default_rng(0).normal(size=(120, 100))
    model = PCA(3, random_state=0).fit(X)
    assert model.certificate_.verdict is Verdict.PROVED
    expected = np.linalg.svd(X - X.mean(axis=0))[1][:3]
    np.testing.assert_allclose(model.singular_values_, expected, rtol=1e-10)


# --- In company -----------------------------------------------------------------------------------


def test_frames_names_and_outputs() -> None:
    frame = pd.DataFrame(low_rank_table(20, 3, 2), columns=["a", "b", "c"])
    model = PCA(2).fit(frame)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    assert model.get_feature_names_out().tolist() == ["pca0", "pca1"]
    for kind, cls in (("pandas", pd.DataFrame), ("polars", pl.DataFrame)):
        found = clone(model).set_output(transform=kind).fit_transform(frame)
        assert isinstance(found, cls)
        np.testing.assert_array_equal(np.asarray(found), model.transform(frame))


def test_in_a_pipeline_the_likelihood_is_a_score() -> None:
    X = low_rank_table(100, 5, 2)
    scores = [cross_val_score(make_pipeline(PCA(k)), X, cv=4).mean() for k in range(1, 5)]
    assert int(np.argmax(scores)) == 1


def test_files_are_checked_when_loaded(tmp_path: Path) -> None:
    path = tmp_path / "model.novum"
    for name, value, message in (
        ("components_", np.ones((2, 3)), "not orthonormal"),
        ("mean_", np.zeros(4), r"mean_ of shape \(4,\)"),
        ("explained_variance_", np.array([1.0, -1.0]), "negative variances"),
        ("singular_values_", np.array([np.nan, 1.0]), "not finite"),
    ):
        model = PCA(2).fit(low_rank_table(20, 3, 2))
        setattr(model, name, value)
        with registered():
            save(model, path)
            with pytest.raises(ModelFileError, match=message):
                load(path)


def test_a_rule_and_its_scores_survive_a_file(tmp_path: Path) -> None:
    model = PCA(ByLikelihood(3)).fit(low_rank_table(30, 4, 2))
    with registered():
        save(model, tmp_path / "model.novum")
        restored = load(tmp_path / "model.novum")
    assert restored.n_components == ByLikelihood(3)
    np.testing.assert_array_equal(restored.component_scores_, model.component_scores_)
