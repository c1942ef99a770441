"""Visits: rows in an order of their own, equal ones united, and cells brought into range."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from novum.linear.perceptron.classifier import Perceptron
from novum.linear.perceptron.training import visits_of
from novum.numerics import Array, Floats

# Many tables here overlap, so that training ends without a proof, and says so.
pytestmark = pytest.mark.filterwarnings("ignore:.*passes gain no more")


tables = hnp.arrays(
    float,
    st.tuples(st.integers(1, 12), st.integers(1, 3)),
    elements=st.integers(-2, 2).map(float),
)


def grouped(X: Floats, side: Array, weight: Floats) -> dict[tuple[Any, ...], float]:
    """Total weight of every different row, by definition."""
    found: dict[tuple[Any, ...], float] = {}
    for row, t, w in zip(X.tolist(), side.tolist(), weight.tolist(), strict=True):
        key = (*(cell + 0.0 for cell in row), t)
        found[key] = found.get(key, 0.0) + w
    return found


@given(tables, st.integers(0, 1000))
def test_equal_rows_are_united(X: Floats, seed: int) -> None:
    rng = np.random.default_rng(seed)
    side, weight = rng.integers(0, 2, len(X)), rng.integers(1, 4, len(X)).astype(float)
    found = visits_of(X, side, weight, True, canonical=True)
    signs = (found.sign > 0).astype(int)
    assert grouped(X[found.rows], signs, found.weight) == grouped(X, side, weight)
    assert len(found.rows) == len(grouped(X, side, weight))
    assert found.total == weight.sum()


@given(tables, st.integers(0, 1000))
def test_order_and_form_of_the_table_do_not_matter(X: Floats, seed: int) -> None:
    rng = np.random.default_rng(seed)
    side, order = rng.integers(0, 2, len(X)), rng.permutation(len(X))
    found = visits_of(X, side, None, True, canonical=True)
    others = (
        (X[order], side[order]),
        (sparse.csr_matrix(X), side),
        (sparse.csc_matrix(X[order]).tocsr(), side[order]),
    )
    for table, sides in others:
        other = visits_of(table, sides, None, True, canonical=True)
        rows = table.toarray() if sparse.issparse(table) else table
        np.testing.assert_array_equal(rows[other.rows], X[found.rows])
        np.testing.assert_array_equal(other.sign, found.sign)
        np.testing.assert_array_equal(other.weight, found.weight)


def test_the_order_given_stays_without_canonical_order() -> None:
    X = np.array([[2.0], [1.0], [2.0]])
    found = visits_of(X, np.array([1, 0, 1]), None, False, canonical=False)
    assert found.rows.tolist() == [0, 1, 2]
    assert found.weight.tolist() == [1, 1, 1]
    assert found.constant == 0.0


@pytest.mark.parametrize("size", [1e200, 1e-200])
def test_extreme_cells_are_scaled_by_a_power_of_two(size: float) -> None:
    X = np.array([[1.0, -3.0], [2.0, 0.5]]) * size
    for table in (X, sparse.csr_matrix(X)):
        found = visits_of(table, np.array([0, 1]), None, False, canonical=True)
        assert np.frexp(found.scale)[0] == 0.5
        cells = found.X.toarray() if sparse.issparse(found.X) else found.X
        assert 0.5 <= np.abs(cells).max() <= 1
        np.testing.assert_array_equal(cells / found.scale, X)


def test_the_cell_of_the_intercept_stays_in_range() -> None:
    X = np.array([[1.0, -3.0], [2.0, 0.5]])
    tiny, huge = (visits_of(X * s, np.array([0, 1]), None, True, True) for s in (1e-200, 1e200))
    assert (tiny.scale, tiny.constant) == (1.0, 1.0)
    assert huge.constant == huge.scale < 1e-190
    np.testing.assert_allclose(tiny.norms(), 1.0)


def test_norms_scores_and_errors_are_their_definitions() -> None:
    rng = np.random.default_rng(0)
    X, side = rng.normal(size=(9, 3)), np.arange(9) % 2
    weight, w = rng.uniform(1, 2, 9), rng.normal(size=4)
    for table in (X, sparse.csr_matrix(X)):
        found = visits_of(table, side, weight, True, canonical=True)
        rows = np.column_stack([X, np.ones(9)])[found.rows]
        np.testing.assert_allclose(found.norms(), np.linalg.norm(rows, axis=1), rtol=1e-14)
        np.testing.assert_allclose(found.scores(w), rows @ w, rtol=1e-13)
        wrong = found.sign * (rows @ w) <= 0
        assert found.error(w) == pytest.approx(weight[found.rows][wrong].sum(), rel=1e-14)


def test_input_is_not_changed() -> None:
    unsorted = sparse.csr_matrix(
        (np.array([1.0, 2.0, 3.0]), np.array([1, 0, 0]), np.array([0, 3])), shape=(1, 2)
    )
    before = unsorted.data.copy()
    found = visits_of(unsorted, np.array([1]), None, True, canonical=True)
    np.testing.assert_array_equal(unsorted.data, before)
    np.testing.assert_array_equal(found.X.toarray(), [[5.0, 1.0]])


@pytest.mark.parametrize("scale", [1e200, 1e-160, 1e-200])
def test_extreme_units_end_in_an_answer(scale: float) -> None:
    X = np.random.default_rng(0).normal(size=(30, 2))
    y = X[:, 0] > 0
    with_intercept = Perceptron().fit(X * scale, y)
    assert np.isfinite(with_intercept.coef_).all()
    assert Perceptron(fit_intercept=False).fit(X * scale, y).score(X * scale, y) == 1.0
