"""Separation: found when and only when it is there, with a direction that shows it."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from novum.core.learners import ConvergenceWarning, Verdict
from novum.linear.logistic.objective import Shape
from novum.linear.logistic.regression import LogisticRegression
from novum.linear.logistic.separation import NEGATIVE, Margins, find_direction, margins
from novum.numerics import Floats
from tests.linear.logistic_tables import logistic_table

INF = float("inf")


def look_at(Z: Floats, y: Floats, shape: Shape) -> object:
    def look(direction: Floats, level: float) -> Margins:
        half = len(Z) // 2
        return margins(Z[:half], y[:half], direction, shape, level) + margins(
            Z[half:], y[half:], direction, shape, level
        )

    return look


def constraints(Z: Floats, y: Floats, K: int) -> Floats:
    """The vectors that must not point away from a direction of every class's own coefficients."""
    cuts = []
    for z, label in zip(Z, y, strict=True):
        for k in set(range(K)) - {int(label)}:
            row = np.zeros((K, Z.shape[1]))
            row[label], row[k] = z, -z
            cuts.append(row.ravel())
    return np.array(cuts)


def separable(Z: Floats, y: Floats, K: int) -> bool:
    """The linear program with all constraints at once."""
    A = constraints(Z, y, K)
    found = linprog(-A.sum(axis=0), A_ub=-A, b_ub=np.zeros(len(A)), bounds=(-1, 1), method="highs")
    return bool(-found.fun > 1e-6)


def completely_separable(Z: Floats, y: Floats, K: int) -> bool:
    """Whether all margins can be 1 at once."""
    A = constraints(Z, y, K)
    nothing, ones = np.zeros(A.shape[1]), np.ones(len(A))
    return bool(linprog(nothing, A_ub=-A, b_ub=-ones, bounds=(None, None)).status == 0)


@settings(max_examples=150)
@given(
    st.lists(st.tuples(st.integers(-4, 4), st.integers(-3, 3)), min_size=4, max_size=12),
    st.integers(2, 3),
    st.integers(0, 10**6),
)
def test_it_agrees_with_the_whole_program(points: list[tuple[int, int]], K: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    Z = np.column_stack([np.array(points, float), np.ones(len(points))])
    y = rng.integers(0, K, len(points))
    shape = Shape(K, 2, True, 0.0)
    found = find_direction(look_at(Z, y, shape), shape.size, np.zeros(shape.size))  # type: ignore[arg-type]
    assert (found is not None) == separable(Z, y, K)
    if found is not None:
        W = shape.coefficients(found[0])
        scores = Z @ W.T
        if K == 2:
            scores = np.column_stack([-scores[:, 0] / 2, scores[:, 0] / 2])
        own = scores[np.arange(len(y)), y][:, np.newaxis] - scores
        assert own.min() > -1e-6
        assert own.max() > 0
        assert (found[1].strict == found[1].rows) == completely_separable(Z, y, K)


@given(st.lists(st.integers(-5, 5), min_size=3, max_size=10), st.integers(0, 10**6))
def test_one_column_is_separated_when_its_ranges_do_not_overlap(x: list[int], seed: int) -> None:
    y = np.random.default_rng(seed).integers(0, 2, len(x))
    y[:2] = 0, 1
    a, b = np.array(x)[y == 0], np.array(x)[y == 1]
    apart = (a.max() <= b.min() or b.max() <= a.min()) and len(set(x)) > 1
    X = np.array(x, float)[:, np.newaxis]
    model = LogisticRegression(C=INF)
    if not apart:
        assert model.fit(X, y).separation_ is None
        assert model.certificate_.converged
        return
    with pytest.warns(ConvergenceWarning, match="separated"):
        model.fit(X, y)
    assert model.separation_ is not None
    strict = a.max() < b.min() or b.max() < a.min()
    assert model.separation_.kind == ("complete" if strict else "quasi-complete")
    scores = (X @ model.separation_.coef.T + model.separation_.intercept)[:, 0]
    # Margins are known to this part of the sizes of a row, at most 5, and of the direction.
    assert (np.where(y == 1, scores, -scores) >= -10 * NEGATIVE).all()


def test_the_certificate_says_that_the_optimum_is_at_infinity() -> None:
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    with pytest.warns(ConvergenceWarning, match="4 of 4 rows ever more likely"):
        model = LogisticRegression(C=INF).fit(X, [0, 0, 1, 1])
    certificate = model.certificate_
    assert certificate.verdict is Verdict.UNBOUNDED
    assert not certificate.converged
    assert certificate.details["separation"] == "complete"
    assert certificate.details["direction"] == ((1.0,),)
    assert np.isfinite(model.coef_).all()
    # With a penalty all is well.
    assert LogisticRegression(C=1e6).fit(X, [0, 0, 1, 1]).certificate_.converged


def test_one_separated_row_among_many_is_found() -> None:
    X, y = logistic_table(2000, 2)
    rare = np.zeros(2000)
    rare[[7, 11, 13]] = 1.0
    y[[7, 11, 13]] = 1
    with pytest.warns(ConvergenceWarning, match="quasi-completely separated"):
        model = LogisticRegression(C=INF).fit(np.column_stack([X, rare]), y)
    assert model.separation_ is not None
    assert model.separation_.separated == 3
    np.testing.assert_allclose(model.separation_.coef, [[0, 0, 1]], atol=1e-6)


@pytest.mark.parametrize("K", [2, 3])
def test_fewer_rows_than_columns_are_always_separated(K: int) -> None:
    X, y = logistic_table(6, 10, K)
    with pytest.warns(ConvergenceWarning, match="completely separated"):
        model = LogisticRegression(C=INF).fit(X, y)
    assert model.separation_ is not None
    assert model.separation_.coef.shape == (1 if K == 2 else K, 10)
    scores = X @ model.separation_.coef.T + model.separation_.intercept
    if K == 2:
        scores = np.column_stack([-scores[:, 0], scores[:, 0]])
    np.testing.assert_array_equal(scores.argmax(axis=1), y)


def test_no_false_alarm_where_probabilities_are_extreme() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 3))
    y = (X @ [30.0, -20.0, 10.0] + rng.logistic(size=3000) > 0).astype(int)
    model = LogisticRegression(C=INF).fit(X, y)
    assert model.separation_ is None
    assert model.certificate_.verdict is Verdict.PROVED


def test_units_do_not_matter() -> None:
    X, y = logistic_table(60, 2)
    units = np.array([1e8, 1e-8])
    assert LogisticRegression(C=INF).fit(X * units, y).separation_ is None
    X[:, 1] = y + 0.5 * X[:, 1].clip(-0.9, 0.9)
    with pytest.warns(ConvergenceWarning, match="completely separated"):
        model = LogisticRegression(C=INF).fit(X * units, y)
    assert model.separation_ is not None
    assert model.separation_.kind == "complete"


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("K", [2, 3])
def test_complete_separation_is_called_so_though_a_first_direction_touches_rows(
    K: int, streamed: bool
) -> None:
    X = np.random.default_rng(0).normal(size=(200, 3))
    y = np.digitize(X[:, 0], [-0.5, 0.5][: K - 1])
    chunks = [(X[:90], y[:90]), (X[90:], y[90:])]
    model = LogisticRegression(C=INF)
    fit = partial(model.fit_stream, chunks) if streamed else partial(model.fit, X, y)
    with pytest.warns(ConvergenceWarning, match="the classes are completely .*200 of 200"):
        fit()
    assert model.separation_ is not None
    assert model.separation_.kind == "complete"
    assert model.certificate_.lower_bound == 0.0
    scores = X @ model.separation_.coef.T + model.separation_.intercept
    if K == 2:
        scores = np.column_stack([-scores[:, 0], scores[:, 0]])
    np.testing.assert_array_equal(scores.argmax(axis=1), y)
