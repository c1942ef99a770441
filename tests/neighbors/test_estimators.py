"""Learners by neighbors: scikit-learn's checks and answers, curves, and what is refused."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import neighbors as theirs
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.core import load, save
from novum.core.errors import InputError, ModelFileError, UnseenLevelWarning
from novum.core.learners.contracts import Case, check_name, estimator_checks
from novum.distances import FromKernel, Gower, Mahalanobis, ValueDifference
from novum.kernels import Spectrum
from novum.neighbors import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    NearestNeighbors,
    RadiusNeighborsClassifier,
    RadiusNeighborsRegressor,
)

WIDE = 1.0
MODELS = [
    KNeighborsClassifier(),
    KNeighborsRegressor(),
    NearestNeighbors(),
    RadiusNeighborsClassifier(WIDE),
    RadiusNeighborsRegressor(WIDE),
]


@parametrize_with_checks(MODELS, legacy=True)
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def classes(n: int = 80, p: int = 3, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    return rng.normal(size=(n, p)) + y[:, None], np.array(["a", "b", "c"])[y]


@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
@pytest.mark.parametrize("model", [KNeighborsClassifier(), KNeighborsClassifier(metric="gower")])
def test_contracts_of_classifiers(model: Any, check: Any) -> None:
    check(Case(model, *classes()))


@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
def test_contracts_of_regressors(check: Any) -> None:
    X, _ = classes()
    check(Case(KNeighborsRegressor(), X, X[:, 0] ** 2))


@pytest.mark.parametrize("weights", ["uniform", "distance", lambda d: np.exp(-d)])
@pytest.mark.parametrize("metric", ["minkowski", "manhattan", "chebyshev", "cosine"])
def test_answers_are_scikit_learns(weights: Any, metric: str) -> None:
    X, y = classes(seed=4)
    Z, _ = classes(seed=5)
    for mine, other, target in (
        (KNeighborsClassifier, theirs.KNeighborsClassifier, y),
        (KNeighborsRegressor, theirs.KNeighborsRegressor, X[:, 0]),
    ):
        ours = mine(7, weights=weights, metric=metric).fit(X, target)
        reference = other(7, weights=weights, metric=metric).fit(X, target)
        if target is y:
            np.testing.assert_allclose(ours.predict_proba(Z), reference.predict_proba(Z), atol=1e-9)
        else:
            np.testing.assert_allclose(ours.predict(Z), reference.predict(Z), atol=1e-9)
        for found, expected in zip(ours.kneighbors(Z), reference.kneighbors(Z), strict=True):
            np.testing.assert_allclose(found, expected, atol=1e-12)
        graphs = (one.kneighbors_graph(Z, mode="distance").toarray() for one in (ours, reference))
        np.testing.assert_allclose(*graphs, atol=1e-12)


def test_radius_answers_are_scikit_learns() -> None:
    X, y = classes(seed=6)
    Z, _ = classes(seed=7)
    ours = RadiusNeighborsClassifier(1.5, weights="distance", outlier_label="a").fit(X, y)
    other = theirs.RadiusNeighborsClassifier(1.5, weights="distance", outlier_label="a").fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(Z), other.predict_proba(Z), atol=1e-9)
    numbers = RadiusNeighborsRegressor(2.5).fit(X, X).predict(Z)
    expected = theirs.RadiusNeighborsRegressor(2.5).fit(X, X).predict(Z)
    np.testing.assert_allclose(numbers, expected, atol=1e-9)
    graph = NearestNeighbors(radius=1.0).fit(X).radius_neighbors_graph(mode="distance")
    expected = theirs.NearestNeighbors(radius=1.0).fit(X).radius_neighbors_graph(mode="distance")
    np.testing.assert_allclose(graph.toarray(), expected.toarray(), atol=1e-12)
    with pytest.raises(InputError, match="No neighbors found for test samples"):
        RadiusNeighborsClassifier(1e-6).fit(X, y).predict(Z)
    with pytest.warns(UserWarning, match="have no neighbors within"):
        assert np.isnan(RadiusNeighborsRegressor(1e-6).fit(X, X[:, 0]).predict(Z)).all()


def test_several_targets() -> None:
    X, y = classes()
    both = np.stack([y, (X[:, 0] > 1).astype(str)], axis=1)
    ours = KNeighborsClassifier(3).fit(X, both)
    reference = theirs.KNeighborsClassifier(3).fit(X, both)
    assert np.array_equal(ours.predict(X), reference.predict(X))
    for mine, other in zip(ours.predict_proba(X), reference.predict_proba(X), strict=True):
        np.testing.assert_allclose(mine, other)
    assert KNeighborsRegressor(3).fit(X, X).predict(X).shape == X.shape


def test_labels_of_rows_without_neighbors() -> None:
    X, y = [[0.0], [1.0], [2.0]], ["a", "b", "b"]
    model = RadiusNeighborsClassifier(0.5, outlier_label="none").fit(X, y)
    with pytest.warns(UserWarning, match="not in training classes"):
        answers = model.predict([[9.0], [1.1]])
    assert answers.tolist() == ["none", "b"]
    often = RadiusNeighborsClassifier(0.5, outlier_label="most_frequent").fit(X, y)
    assert often.predict_proba([[9.0]]).tolist() == [[0.0, 1.0]]
    both = np.array([["a", "c"], ["b", "c"], ["b", "d"]])
    several = RadiusNeighborsClassifier(0.5, outlier_label=["a", "d"]).fit(X, both)
    assert several.predict([[9.0]]).tolist() == [["a", "d"]]
    with pytest.raises(InputError, match="1 labels for 2 targets"):
        RadiusNeighborsClassifier(0.5, outlier_label=["a"]).fit(X, both).predict([[9.0]])


def test_levels_that_training_never_met() -> None:
    X, y = [["red", 1.0], ["red", 2.0], ["blue", 9.0]], [0.0, 0.0, 1.0]
    model = KNeighborsRegressor(1).fit(X, y)
    with pytest.warns(UnseenLevelWarning, match="not met in training"):
        answer = model.predict([["green", 8.0]])
    assert answer.tolist() == [1.0]


def test_weights_that_are_infinite_or_zero() -> None:
    X, y = [[0.0], [1.0], [2.0]], [0.0, 6.0, 9.0]
    model = KNeighborsRegressor(3, weights=lambda d: 1.0 / d**2).fit(X, y)
    assert model.predict([[1.0]]).tolist() == [6.0]
    with pytest.raises(InputError, match="zero weights"):
        KNeighborsRegressor(3, weights=np.zeros_like).fit(X, y).predict([[1.0]])


def test_later_changes_of_the_table_do_not_reach_the_model() -> None:
    for rows in (np.arange(6.0).reshape(3, 2), sparse.csr_matrix(np.arange(6.0).reshape(3, 2))):
        model = NearestNeighbors(n_neighbors=1).fit(rows)
        if sparse.issparse(rows):
            rows.data[:] = 0.0
        else:
            rows[:] = 0.0
        assert model.kneighbors([[4.0, 5.0]])[0].tolist() == [[0.0]]


def test_a_neighbor_at_distance_zero_decides_alone() -> None:
    model = KNeighborsClassifier(3, weights="distance").fit([[0.0], [0.1], [0.2]], ["a", "b", "b"])
    assert model.predict_proba([[0.0]]).tolist() == [[1.0, 0.0]]


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_curves_are_leave_one_out_by_refitting(weights: str) -> None:
    X, y = classes(30, seed=8)
    curve = KNeighborsClassifier(weights=weights).fit(X, y).curve(6)
    numbers = KNeighborsRegressor(weights=weights).fit(X, X[:, 0] * 2).curve(6)
    for k in range(1, 7):
        wrong, squares = [], []
        for i in range(30):
            others = np.arange(30) != i
            one = KNeighborsClassifier(k, weights=weights).fit(X[others], y[others])
            wrong.append(one.predict(X[[i]])[0] != y[i])
            mean = KNeighborsRegressor(k, weights=weights).fit(X[others], X[others, 0] * 2)
            squares.append((mean.predict(X[[i]])[0] - 2 * X[i, 0]) ** 2)
        assert curve.errors[k - 1] == pytest.approx(np.mean(wrong))
        assert numbers.errors[k - 1] == pytest.approx(np.mean(squares))
    auto = KNeighborsClassifier("auto", weights=weights).fit(X, y)
    assert auto.n_neighbors_ == auto.curve().best
    assert auto.curve().errors.min() == auto.curve().errors[auto.n_neighbors_ - 1]


def test_tables_as_they_are_and_files(tmp_path: Any) -> None:
    rng = np.random.default_rng(9)
    frame = pd.DataFrame({"a": rng.normal(size=60), "b": rng.choice(["x", "y"], 60)})
    y = np.where((frame["b"] == "x") & (frame["a"] > 0), "in", "out")
    frame.loc[3, "a"] = None
    frame.loc[4, "b"] = None
    learned = [
        Gower().fit_stream([(frame[:20],), (frame[20:],)]),
        ValueDifference(alpha=1.0).fit_stream([(frame[:20], y[:20]), (frame[20:], y[20:])]),
    ]
    for metric in ("minkowski", Gower({"b": 2.0}), ValueDifference(alpha=1.0), *learned):
        model = KNeighborsClassifier(3, metric=metric).fit(frame, y)
        assert (model.predict(frame) == y).mean() > 0.8
        save(model, tmp_path / "m.novum")
        again = load(tmp_path / "m.novum")
        assert np.array_equal(again.predict_proba(frame), model.predict_proba(frame))
        assert again.metric == model.metric
    numbers = rng.normal(size=(40, 3))
    model = KNeighborsRegressor(metric=Mahalanobis(np.diag([1.0, 2.0, 3.0])))
    save(model.fit(numbers, numbers[:, 0]), tmp_path / "n.novum")
    assert np.array_equal(load(tmp_path / "n.novum").predict(numbers), model.predict(numbers))


def test_sparse_rows_functions_and_matrices() -> None:
    X, y = classes()
    dense = KNeighborsClassifier().fit(X, y).predict_proba(X)
    for rows in (sparse.csr_matrix(X), sparse.csc_matrix(X)):
        np.testing.assert_allclose(KNeighborsClassifier().fit(rows, y).predict_proba(rows), dense)
        # Either may be asked with the other.
        for asked in (X, rows):
            for trained in (X, rows):
                mixed = KNeighborsClassifier().fit(trained, y).predict_proba(asked)
                np.testing.assert_allclose(mixed, dense)
    own = KNeighborsClassifier(metric=lambda x, z: float(np.abs(x - z).sum())).fit(X, y)
    l1 = KNeighborsClassifier(metric="manhattan").fit(X, y)
    np.testing.assert_allclose(own.predict_proba(X), l1.predict_proba(X))
    D = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    model = KNeighborsClassifier(metric="precomputed").fit(D, y)
    np.testing.assert_allclose(model.predict_proba(D[:5]), dense[:5])
    assert np.array_equal(
        model.kneighbors(return_distance=False),
        KNeighborsClassifier().fit(X, y).kneighbors(return_distance=False),
    )


def test_objects_by_a_kernel(tmp_path: Any) -> None:
    words = ["abab", "abba", "aabb", "cdcd", "cddc", "ccdd"]
    model = KNeighborsClassifier(1, metric=FromKernel(Spectrum(1))).fit(words, list("xxxyyy"))
    assert model.predict(["baba", "dcdc"]).tolist() == ["x", "y"]
    save(model, tmp_path / "words.novum")
    again = load(tmp_path / "words.novum")
    assert again.predict(["baba", "dcdc"]).tolist() == ["x", "y"]
    assert again.kneighbors(return_distance=False).shape == (6, 1)


SQUARE = np.array([[0.0, 1.0], [1.0, 0.0]])


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (lambda: NearestNeighbors(3).fit([[1.0], [2.0]]).kneighbors([[1.0]]), "n_neighbors = 3"),
        (lambda: NearestNeighbors(2).fit([[1.0], [2.0]]).kneighbors(), "there are 1 other"),
        (lambda: NearestNeighbors(1).fit([[1.0]]).kneighbors([[1.0]], 0), "at least 1, got 0"),
        (lambda: NearestNeighbors().fit([[1.0], [math.nan]]), "Row 1 has no cell that is known"),
        (lambda: NearestNeighbors().fit([[1.0], [math.inf]]), "inf"),
        (
            lambda: NearestNeighbors(metric="precomputed").fit([[0.0, 1.0]]),
            "square; got shape .1, 2.",
        ),
        (lambda: NearestNeighbors(metric="precomputed").fit(-SQUARE), "at least 0, but"),
        (lambda: NearestNeighbors(metric="precomputed").fit([["a"]]), "holds numbers"),
        (lambda: NearestNeighbors().fit([[1.0]]).radius_neighbors([[1.0]], -1), "got -1"),
        (
            lambda: NearestNeighbors(metric="precomputed").fit([[0.0, 1.0], [2.0, 0.0]]),
            "rows 0 and 1 are 1 and 2 apart",
        ),
        (
            lambda: NearestNeighbors(1, metric="precomputed").fit(SQUARE).kneighbors([[1.0]]),
            "Distances to 2 training rows",
        ),
        (lambda: KNeighborsClassifier().fit([[1.0]], ["a"]).curve(), "One row leaves no other"),
        (lambda: KNeighborsClassifier("auto").fit([[1.0]], ["a"]), "One row leaves no other"),
        (lambda: NearestNeighbors(metric="nonsense").fit([[1.0]]), "'nonsense' is no distance"),
        (lambda: NearestNeighbors(metric="euclidean").fit([["a"]]), "column 'x0' is nominal"),
        (
            lambda: (
                KNeighborsClassifier(1, weights=lambda d: -d - 1)
                .fit([[1.0]], ["a"])
                .predict([[2.0]])
            ),
            "must give numbers of at least 0",
        ),
        (
            lambda: NearestNeighbors(metric="gower").fit(sparse.csr_matrix([[1.0]])),
            "is not for sparse rows",
        ),
        (
            lambda: RadiusNeighborsClassifier(outlier_label=3).fit([[1.0]], ["a"]).predict([[9.0]]),
            "outlier_label=3 is of another type",
        ),
    ],
)
def test_what_is_wrong_is_said(step: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        step()


@pytest.mark.parametrize(
    ("model", "targets"),
    [
        (KNeighborsClassifier(3), np.full((30, 1), 2**31)),
        (KNeighborsClassifier(3), np.full((30, 1), -1)),
        (KNeighborsClassifier(3), np.zeros(30, np.int64)),
        (KNeighborsClassifier(3), np.zeros((30, 1))),
        (KNeighborsRegressor(3), np.zeros(30)),
        (KNeighborsRegressor(3), np.zeros((30, 1), np.int64)),
    ],
)
def test_targets_of_a_file_are_checked_before_they_are_used(
    model: Any, targets: Any, tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)
    model.fit(rng.normal(size=(30, 2)), np.arange(30) % 3)
    model.targets_ = targets
    save(model, tmp_path / "m.novum")
    with pytest.raises(ModelFileError, match="targets"):
        load(tmp_path / "m.novum")


@pytest.mark.parametrize(
    ("name", "value"),
    [("numbers_", np.zeros((9, 0))), ("numbers_", np.zeros(9)),
     ("codes_", np.full((9, 1), 2**31 - 1)), ("codes_", np.zeros((9, 0), np.int32))],
)  # fmt: skip
def test_rows_of_a_file_fit_its_columns(name: str, value: Any, tmp_path: Path) -> None:
    X = pd.DataFrame({"age": np.arange(9.0), "ward": list("aabbccabc")})
    model = KNeighborsRegressor(2).fit(X, np.arange(9.0))
    setattr(model, name, value)
    save(model, tmp_path / "m.novum")
    with pytest.raises(ModelFileError, match="do not fit its columns"):
        load(tmp_path / "m.novum")
