"""Labels that spread over a graph: dense solutions, scikit-learn's fixed points, odd labels."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import semi_supervised as theirs
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.core import ConvergenceWarning, load, save
from novum.core.errors import InputError
from novum.core.learners.contracts import Case, check_name, estimator_checks
from novum.neighbors import LabelPropagation, LabelSpreading, UnreachedRowsWarning
from novum.neighbors.propagation import without_minus_one

BOTH = [LabelPropagation, LabelSpreading]


def solved(rows: list[int], W: Any, target: Any, diagonal: Any) -> list[float]:
    """`(diag - W) f = target` of some rows, in fractions."""
    n = len(rows)
    A = [[diagonal[i] * (i == j) - W[i][j] for j in rows] + [target[i]] for i in rows]
    for k in range(n):
        A[k] = [cell / A[k][k] for cell in A[k]]
        for i in set(range(n)) - {k}:
            A[i] = [a - A[i][k] * b for a, b in zip(A[i], A[k], strict=True)]
    return [float(row[n]) for row in A]


def moons(n: int = 80, seed: int = 0) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % 2
    angle = rng.uniform(0, np.pi, n)
    X = np.c_[np.cos(angle) + truth, np.where(truth == 0, np.sin(angle), 0.4 - np.sin(angle))]
    y = truth.astype(float)
    y[6:] = np.nan
    return X + 0.08 * rng.normal(size=X.shape), truth, y


@parametrize_with_checks([*(kind() for kind in BOTH), LabelSpreading("knn")], legacy=True)
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
@pytest.mark.parametrize("kind", BOTH)
def test_contracts(kind: Any, check: Any) -> None:
    X, _, y = moons()
    check(Case(kind("knn"), X, y))


def test_fixed_points_are_those_of_scikit_learn() -> None:
    X, _, y = moons()
    marked = np.where(np.isnan(y), -1, y).astype(int)
    settings = {"gamma": 3.0, "max_iter": 200_000}
    other = theirs.LabelPropagation(tol=1e-13, **settings).fit(X, marked)
    model = LabelPropagation(tol=1e-13, **settings).fit(X, marked)
    np.testing.assert_allclose(
        model.label_distributions_, other.label_distributions_, rtol=1e-8, atol=1e-10
    )
    new = X + 0.05
    np.testing.assert_allclose(model.predict_proba(new), other.predict_proba(new), rtol=1e-8)
    for alpha in (0.2, 0.9):
        other = theirs.LabelSpreading(tol=1e-14, alpha=alpha, **settings).fit(X, marked)
        model = LabelSpreading(tol=1e-13, alpha=alpha, **settings).fit(X, y)
        np.testing.assert_allclose(
            model.label_distributions_, other.label_distributions_, rtol=1e-8
        )
        assert (model.transduction_ == other.transduction_).all()


@pytest.mark.parametrize("kernel", ["rbf", "knn"])
def test_both_are_the_solutions_of_dense_systems(kernel: str) -> None:
    X, _, y = moons()
    known = ~np.isnan(y)
    model = LabelPropagation(kernel, gamma=2.0, n_neighbors=6, tol=1e-13).fit(X, y)
    W = np.asarray(model._graph().todense() if kernel == "knn" else model._graph())
    assert (np.diag(W) == 0).all()
    assert (W == W.T).all()
    Y = np.eye(2)[y[known].astype(int)]
    A = np.diag(W.sum(axis=1)) - W
    F = np.linalg.solve(A[np.ix_(~known, ~known)], W[np.ix_(~known, known)] @ Y)
    np.testing.assert_allclose(model.label_distributions_[~known], F, rtol=1e-9, atol=1e-11)
    assert (model.label_distributions_[known] == Y).all()
    root = 1 / np.sqrt(W.sum(axis=1))
    whole = np.zeros((len(X), 2))
    whole[known] = Y
    for alpha in (0.8, 0.95):
        spread = LabelSpreading(kernel, gamma=2.0, n_neighbors=6, alpha=alpha, tol=1e-13)
        spread.fit(X, y)
        F = np.linalg.solve(np.eye(len(X)) - alpha * root[:, None] * W * root, (1 - alpha) * whole)
        np.testing.assert_allclose(
            spread.label_distributions_, F / F.sum(axis=1, keepdims=True), rtol=1e-8
        )
        assert spread.certificate_.distance_bound <= 1e-9


def test_labels_far_away_are_right_to_their_own_size() -> None:
    n = 15
    X = np.arange(n)[:, None].astype(float)
    W = np.zeros((n, n))
    W[np.arange(n - 1), np.arange(1, n)] = W[np.arange(1, n), np.arange(n - 1)] = 1.0
    y = np.array([0.0, *[np.nan] * (n - 2), 1.0])
    model = LabelSpreading(kernel=lambda A, _: W if len(A) == n else A, alpha=0.05).fit(X, y)
    # The tridiagonal system in rationals; S has no root where both ends have like degrees.
    degrees = [1 if i in (0, n - 1) else 2 for i in range(n)]
    values = [[Fraction(0)] * 2 for _ in range(n)]
    alpha, given = Fraction(1, 20), {0: (1, 0), n - 1: (0, 1)}
    for _ in range(60):
        # G = D^-1/2 F obeys G = alpha D^-1 W G + (1 - alpha) D^-1/2 Y, and both ends have d = 1.
        values = [
            [
                alpha * sum(values[j][k] for j in (i - 1, i + 1) if 0 <= j < n) / degrees[i]
                + (1 - alpha) * given.get(i, (0, 0))[k]
                for k in range(2)
            ]
            for i in range(n)
        ]
    shares = np.array([[float(v / sum(row)) for v in row] for row in values])
    np.testing.assert_allclose(model.label_distributions_, shares, atol=1e-8)
    # Seven steps of 1/20: conjugate gradients would call the middle nothing.
    np.testing.assert_allclose(model.label_distributions_[n // 2], [0.5, 0.5], atol=1e-8)


def test_the_distance_to_the_solution_is_within_its_bound() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.where(np.arange(60) < 5, np.arange(60) % 2, np.nan)
    rough = LabelSpreading(gamma=1.0, alpha=0.8, tol=0.05)
    graph = rough.fit(X, y)._graph()
    given = np.zeros((60, 2))
    given[:5] = np.eye(2)[y[:5].astype(int)]
    near, certificate = rough._spread(graph, given, ~np.isnan(y))
    exact, _ = rough.set_params(tol=1e-14)._spread(graph, given, ~np.isnan(y))
    distance = float(np.linalg.norm(near - exact))
    assert 0 < distance <= certificate.distance_bound
    with pytest.warns(ConvergenceWarning):
        LabelSpreading(gamma=1.0, alpha=0.9, tol=1e-12, max_iter=2).fit(X, y)


def test_tight_groups_of_rows_without_labels_get_their_exact_shares() -> None:
    # Weights within the middle group are 1e27 times those of its links to the others.
    X = np.array([-2.3, -2.2, -0.07, 0.0, 0.02, 0.07, 2.2, 2.3])[:, None]
    y = ["a", "a", None, None, None, None, "b", "b"]
    model = LabelPropagation(gamma=14.0).fit(X, y)
    W = np.array([[Fraction(w) for w in row] for row in model._graph().tolist()])
    shares = solved([2, 3, 4, 5], W, W[:, 6] + W[:, 7], W.sum(axis=1))
    np.testing.assert_allclose(model.label_distributions_[2:6, 1], shares, rtol=1e-14)
    assert model.certificate_.verdict.value == "proved"
    assert 0 < model.certificate_.distance_bound < 1e-12
    even = LabelPropagation(gamma=14.0).fit(np.delete(X, 4, axis=0), np.delete(y, 4))
    np.testing.assert_allclose(even.label_distributions_[2:5], 0.5, rtol=1e-14)
    # In units of a = 1 - 1/64 the system of spreading is one of fractions too, but for the roots.
    spread = LabelSpreading(gamma=14.0, alpha=1 - 1 / 64).fit(X, y)
    root = np.array([Fraction(float(d)) for d in np.sqrt(model._graph().sum(axis=1))])
    given = [root * [label == name for label in y] for name in "ab"]
    alpha = Fraction(63, 64)
    F = [solved(list(range(8)), alpha * W, (1 - alpha) * side, W.sum(axis=1)) for side in given]
    np.testing.assert_allclose(
        spread.label_distributions_, np.transpose(np.divide(F, np.sum(F, axis=0))), rtol=1e-13
    )


def test_few_labels_are_enough_where_rows_lie_along_curves() -> None:
    X, truth, y = moons(400, 1)
    for kind in BOTH:
        model = kind("knn", n_neighbors=8).fit(X, y)
        assert (model.transduction_ == truth).mean() > 0.95
        assert (model.predict(X) == truth).mean() > 0.95


def test_rows_that_no_label_reaches_get_the_shares_of_the_classes() -> None:
    X = [[0.0], [0.1], [0.2], [5.0], [5.1], [9.0], [9.1]]
    y = ["a", "a", None, "b", None, None, None]
    for kind in BOTH:
        with pytest.warns(UnreachedRowsWarning, match="to 2 of 7 rows, the first is row 5"):
            model = kind("knn", n_neighbors=1).fit(X, y)
        np.testing.assert_allclose(model.label_distributions_[5:], [[2 / 3, 1 / 3]] * 2)


def test_labels_of_all_rows_stay() -> None:
    X, truth, _ = moons()
    model = LabelPropagation("knn").fit(X, truth)
    assert (model.transduction_ == truth).all()
    assert model.certificate_.iterations == 0


def test_mixed_columns_with_missing_cells_and_files(tmp_path: Path) -> None:
    table = pd.DataFrame({"x": [0.0, 0.1, None, 5.0, 5.2], "c": ["p", "p", "p", "q", "q"]})
    model = LabelSpreading("knn", n_neighbors=2).fit(table, ["in", None, None, "out", None])
    assert model.transduction_.tolist() == ["in", "in", "in", "out", "out"]
    save(model, tmp_path / "labels.novum")
    again = load(tmp_path / "labels.novum")
    assert (again.predict_proba(table) == model.predict_proba(table)).all()


def test_far_rows_have_an_answer_and_a_callable_is_a_kernel() -> None:
    X, _, y = moons()
    model = LabelSpreading(gamma=20.0).fit(X, y)
    assert np.isfinite(model.predict_proba([[1e3, 1e3]])).all()
    own = LabelSpreading(kernel=lambda A, B: np.exp(-20 * ((A[:, None] - B) ** 2).sum(-1)))
    own.fit(X, y)
    np.testing.assert_allclose(own.label_distributions_, model.label_distributions_, rtol=1e-9)
    np.testing.assert_allclose(own.predict_proba(X), model.predict_proba(X), rtol=1e-9)


def test_minus_one_is_a_missing_label_only_where_it_can_be_nothing_else() -> None:
    assert without_minus_one([0, 1, -1], "L").tolist() == [0, 1, None]
    np.testing.assert_array_equal(without_minus_one([0.0, 1.0, -1.0], "L"), [0, 1, np.nan])
    # Labels that floats would not tell apart.
    large = LabelSpreading().fit([[0.0], [1.0], [2.0]], [2**53, 2**53 + 1, -1])
    assert large.classes_.tolist() == [2**53, 2**53 + 1]
    # With marked gaps, texts, or fractions -1 is a label as any other.
    for y in ([0.0, -1.0, np.nan], ["a", "-1"], [0.5, -1.0], [-2, 3]):
        assert without_minus_one(y, "L") is y
    with pytest.raises(InputError, match="-1 and 1 only"):
        LabelSpreading().fit([[0.0], [1.0], [2.0]], [-1, 1, 1])
    model = LabelSpreading().fit([[0.0], [1.0], [2.0]], [-1, 1, None])
    assert model.classes_.tolist() == [-1, 1]


def test_bad_kernels_are_refused() -> None:
    X, _, y = moons()
    with pytest.raises(InputError, match="at least 0"):
        LabelSpreading(kernel=lambda A, B: A @ B.T).fit(X, y)
    with pytest.raises(InputError, match="shape"):
        LabelSpreading(kernel=lambda A, _: A).fit(X, y)
