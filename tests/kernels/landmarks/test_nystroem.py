"""Nystroem: scikit-learn's numbers and checks, the contract, greedy landmarks, any objects."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import kernel_approximation as other
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.core.errors import InputError, MissingValuesError, ModelFileError
from novum.core.files import load, save
from novum.core.files.registry import ESTIMATORS, VALUES, registered
from novum.core.learners import Case, Check
from novum.core.learners.contracts import (
    check_failed_fit_changes_nothing,
    check_name,
    estimator_checks,
)
from novum.kernels.landmarks.nystroem import Nystroem
from novum.kernels.trees.ordered_tree import OrderedTree
from novum.kernels.trees.subset_tree import SubsetTreeKernel
from novum.kernels.trees.subtree import SubtreeKernel
from novum.kernels.validity import IndefiniteKernelError
from novum.kernels.vectors.gaussian import Gaussian
from novum.kernels.vectors.linear import Linear

rng = np.random.default_rng(0)
X, Z = rng.normal(size=(40, 3)), rng.normal(size=(10, 3))
TREES = ["(S (N a) (V b))", "(S (N a) (V c))", "(N a)", "(S (N a) (V b))", "(V (V b) (N a))"]
MODELS = [
    Nystroem(n_components=1, random_state=0),
    Nystroem(Gaussian(1.0), n_components=1, landmarks="greedy"),
]


def known(*classes: type) -> Any:
    """The registry with these classes, where it has them not yet."""
    estimators = {c.__name__: c for c in classes if c is Nystroem and c.__name__ not in ESTIMATORS}
    values = {c.__name__: c for c in classes if c is not Nystroem and c.__name__ not in VALUES}
    return registered(estimators, values)


# --- scikit-learn's checks and the contract -------------------------------------------------------


@parametrize_with_checks(MODELS, legacy=True)
def test_scikit_learn_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@parametrize_with_checks(
    [Nystroem(n_components=1, categorical_features="all", random_state=0)], legacy=True
)
def test_scikit_learn_checks_of_nominal_columns(
    estimator: Any, check: Callable[[Any], None]
) -> None:
    check(estimator)


# One row is enough to fit, so a failed fit needs other data than that check has; see below.
CHECKS = [check for check in estimator_checks() if check is not check_failed_fit_changes_nothing]


@pytest.mark.parametrize("check", CHECKS, ids=check_name)
@pytest.mark.parametrize("landmarks", ["uniform", "greedy"])
def test_contract(check: Check, landmarks: str) -> None:
    with known(Nystroem, Gaussian):
        check(Case(Nystroem(n_components=5, random_state=0, landmarks=landmarks), X, None))


def test_a_failed_fit_changes_nothing() -> None:
    model = Nystroem(n_components=5, random_state=0).fit(X)
    before, attributes = model.transform(Z), set(vars(model))
    with pytest.raises(IndefiniteKernelError):
        model.set_params(kernel="sigmoid", coef0=-1.0, gamma=1.0, n_components=20).fit(X)
    assert set(vars(model)) == attributes
    np.testing.assert_array_equal(model.transform(Z), before)


# --- Values ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kernel", "settings"),
    [
        ("rbf", {}),
        ("rbf", {"gamma": 0.3}),
        ("poly", {"degree": 2, "coef0": 1.5, "gamma": 0.2}),
        ("polynomial", {}),
        ("linear", {}),
        ("cosine", {}),
    ],
)
def test_features_are_scikit_learns(kernel: str, settings: dict[str, Any]) -> None:
    ours = Nystroem(kernel, n_components=40, random_state=0, **settings).fit(X)
    theirs = other.Nystroem(kernel=kernel, n_components=40, random_state=0, **settings).fit(X)
    found, expected = ours.transform(Z), theirs.transform(Z)
    # Bases differ by the order of landmarks; scikit-learn keeps directions of rounding.
    np.testing.assert_allclose(found @ found.T, expected @ expected.T, atol=1e-5)


@pytest.mark.parametrize("landmarks", ["uniform", "greedy"])
def test_features_are_the_formula(landmarks: str) -> None:
    model = Nystroem(gamma=0.5, n_components=8, random_state=1, landmarks=landmarks).fit(X)
    marks = X[model.component_indices_]
    np.testing.assert_array_equal(model.components_, marks)
    K_mm = pairwise_kernels(marks, metric="rbf", gamma=0.5)
    K_zm = pairwise_kernels(Z, marks, metric="rbf", gamma=0.5)
    features = model.transform(Z)
    np.testing.assert_allclose(
        features @ features.T, K_zm @ np.linalg.solve(K_mm, K_zm.T), atol=1e-8
    )
    assert features.shape == (10, 8)
    assert model.get_feature_names_out()[0] == "nystroem0"


def test_the_certificate_is_the_error_of_the_training() -> None:
    K = pairwise_kernels(X, metric="rbf", gamma=0.5)
    for landmarks in ("uniform", "greedy"):
        model = Nystroem(gamma=0.5, n_components=10, random_state=0, landmarks=landmarks).fit(X)
        features = model.transform(X)
        E = K - features @ features.T
        assert model.certificate_.value == pytest.approx(np.trace(E), rel=1e-8)
        bound = model.certificate_.details["spectral_bound"]
        assert np.linalg.norm(E, 2) <= bound


def test_greedy_landmarks_explain_more_than_drawn_ones() -> None:
    def left(**settings: Any) -> float:
        model = Nystroem(gamma=0.1, n_components=10, **settings).fit(X)
        return float(model.certificate_.value)

    drawn = [left(random_state=seed) for seed in range(10)]
    assert left(landmarks="greedy") < np.median(drawn)


def test_equal_landmarks_do_no_harm() -> None:
    rows = np.repeat(X[:3], 5, axis=0)
    model = Nystroem(gamma=0.5, n_components=15, random_state=0).fit(rows)
    features = model.transform(rows)
    expected = pairwise_kernels(rows, metric="rbf", gamma=0.5)
    np.testing.assert_allclose(features @ features.T, expected, atol=1e-12)
    greedy = Nystroem(gamma=0.5, n_components=15, landmarks="greedy").fit(rows)
    assert len(greedy.component_indices_) == 3


# --- What can be given ----------------------------------------------------------------------------


def test_sparse_rows_are_the_dense_ones() -> None:
    dense = np.where(X > 0.5, X, 0.0)
    model = Nystroem("rbf", n_components=7, random_state=0)
    expected = model.fit(dense).transform(dense)
    found = model.fit(sparse.csr_matrix(dense)).transform(sparse.csr_matrix(dense))
    np.testing.assert_allclose(found, expected, atol=1e-10)
    assert sparse.issparse(model.components_)


def test_precomputed_similarities() -> None:
    K, cross = X @ X.T, Z @ X.T
    model = Nystroem("precomputed", n_components=10, random_state=0).fit(K)
    direct = Nystroem("linear", n_components=10, random_state=0).fit(X)
    np.testing.assert_allclose(model.transform(cross), direct.transform(Z), atol=1e-9)
    assert model.components_ is None


def test_functions_with_keywords() -> None:
    def similarity(x: Any, z: Any, power: int) -> float:
        return float((x @ z + 1) ** power)

    model = Nystroem(similarity, kernel_params={"power": 2}, n_components=40, random_state=0)
    expected = Nystroem("poly", degree=2, gamma=1.0, n_components=40, random_state=0)
    found, same = model.fit(X).transform(Z), expected.fit(X).transform(Z)
    np.testing.assert_allclose(found @ found.T, same @ same.T, rtol=1e-8)
    assert "kernel_params" in model.get_params()


@pytest.mark.parametrize("kernel", [SubtreeKernel(), SubsetTreeKernel()])
def test_trees(kernel: Any) -> None:
    model = Nystroem(kernel, n_components=5, landmarks="greedy").fit(TREES)
    features = model.transform(TREES)
    np.testing.assert_allclose(features @ features.T, kernel.gram(TREES), atol=1e-10)
    assert model.components_ == [TREES[i] for i in model.component_indices_]
    assert model.transform(["(N (N a))"]).shape == (1, len(model.component_indices_))


def test_nominal_columns_are_coded() -> None:
    table = pd.DataFrame({"size": X[:, 0], "color": np.where(X[:, 1] > 0, "red", "blue")})
    model = Nystroem(Linear(), n_components=40, random_state=0).fit(table)
    features = model.transform(table)
    design = np.column_stack([X[:, 0], X[:, 1] > 0])
    np.testing.assert_allclose(features @ features.T, design @ design.T, atol=1e-9)


def test_in_a_pipeline() -> None:
    y = (np.linalg.norm(X, axis=1) > 1.5).astype(int)
    model = make_pipeline(
        Nystroem(gamma=0.5, n_components=20, random_state=0), LogisticRegression()
    )
    assert model.fit(X, y).score(X, y) > 0.9


def test_jobs_and_blocks_change_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    model = Nystroem(n_components=6, random_state=0).fit(X)
    monkeypatch.setattr("novum.kernels.landmarks.nystroem.BLOCK_ENTRIES", 30)
    one = model.transform(X)
    two = model.set_params(n_jobs=2).transform(X)
    np.testing.assert_array_equal(one, two)


def test_files(tmp_path: Path) -> None:
    with known(Nystroem, SubsetTreeKernel, OrderedTree):
        trees = [OrderedTree.of(text) for text in TREES]
        model = Nystroem(SubsetTreeKernel(), n_components=3, landmarks="greedy").fit(trees)
        save(model, tmp_path / "trees.novum")
        again = load(tmp_path / "trees.novum")
        np.testing.assert_array_equal(again.transform(trees), model.transform(trees))


def test_files_of_sparse_landmarks(tmp_path: Path) -> None:
    rows = sparse.csr_matrix(np.where(X > 0.5, X, 0.0))
    with known(Nystroem, Gaussian):
        model = Nystroem(n_components=3, random_state=0).fit(rows)
        save(model, tmp_path / "sparse.novum")
        again = load(tmp_path / "sparse.novum")
        np.testing.assert_array_equal(again.transform(rows), model.transform(rows))
        again.normalization_ = np.eye(2)
        with pytest.raises(ModelFileError, match="3 landmarks and a normalization of shape"):
            again._check_state()


# --- What cannot ----------------------------------------------------------------------------------


def test_too_many_landmarks_are_said() -> None:
    with pytest.warns(UserWarning, match="n_components=100 landmarks were asked for.*n_samples=40"):
        model = Nystroem().fit(X)
    assert len(model.component_indices_) == 40


def test_indefinite_kernels_are_refused_or_projected() -> None:
    model = Nystroem("sigmoid", coef0=-1.0, gamma=1.0, n_components=20, random_state=0)
    with pytest.raises(IndefiniteKernelError, match='indefinite="project"'):
        model.fit(X)
    features = model.set_params(indefinite="project").fit(X).transform(Z)
    assert np.isfinite(features).all()
    assert model.certificate_.details["assumes"] == "a positive semi-definite kernel"


@pytest.mark.parametrize(
    ("model", "rows", "error", "message"),
    [
        (Nystroem(np.dot, gamma=1.0, n_components=2), X, InputError, "Don't pass gamma"),
        (Nystroem("precomputed", n_components=2), X, InputError, "square"),
        (Nystroem(SubtreeKernel(), n_components=2), ["(a", "b"], InputError, "Object 0 is not a"),
        (Nystroem(SubtreeKernel(), n_components=2), "(a b)", InputError, "Pass a list"),
        (Nystroem(n_components=2), [[np.nan], [1.0]], MissingValuesError, "missing"),
    ],
)
def test_bad_input_is_named(model: Any, rows: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        model.fit(rows)


def test_objects_without_similarity() -> None:
    model = Nystroem(SubsetTreeKernel(), n_components=2, landmarks="greedy").fit(["a", "b", "c"])
    assert model.transform(["(a b)"]).tolist() == [[0.0]]
