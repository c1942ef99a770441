"""Equal rows: against a search of all pairs, in any order, dense and sparse."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from novum.numerics import Floats, distinct_rows, row_digests

tables = hnp.arrays(
    np.float64,
    st.tuples(st.integers(1, 12), st.integers(1, 3)),
    elements=st.sampled_from([0.0, 1.0, -2.5]),
)


def kinds(X: Floats, y: Floats) -> int:
    return len({(*row.tolist(), t) for row, t in zip(X, y.tolist(), strict=True)})


@given(tables)
def test_groups_are_those_of_a_search(X: Floats) -> None:
    y = np.arange(len(X)) % 2 * 1.0
    found = distinct_rows(X, y)
    assert len(found.chosen) == kinds(X, y)
    assert (X[found.chosen][found.group] == X).all()
    assert (y[found.chosen][found.group] == y).all()


@given(tables)
def test_order_depends_on_cells_alone(X: Floats) -> None:
    order = np.random.default_rng(0).permutation(len(X))
    first, second = distinct_rows(X), distinct_rows(X[order])
    np.testing.assert_array_equal(X[first.chosen], X[order][second.chosen])


@given(tables)
def test_sparse_rows_are_as_dense_ones(X: Floats) -> None:
    dense, compressed = distinct_rows(X), distinct_rows(sparse.csr_matrix(X))
    np.testing.assert_array_equal(dense.group, compressed.group)


def test_targets_of_several_columns_count_as_a_whole() -> None:
    X, y = np.ones((3, 1)), np.array([[1.0, 2.0], [1.0, 3.0], [1.0, 2.0]])
    assert len(distinct_rows(X, y).chosen) == 2


def test_equal_digests_do_not_make_rows_equal(monkeypatch: object) -> None:
    import novum.numerics.equal_rows as module

    monkeypatch.setattr(module, "row_digests", lambda X: np.zeros(X.shape[0], np.uint64))  # type: ignore[attr-defined]
    X = np.array([[1.0], [2.0], [2.0]])
    assert len(distinct_rows(X).chosen) == 2


def test_digests_tell_columns_signs_and_places_apart() -> None:
    rows = np.array([[1.0, 2.0], [2.0, 1.0], [-1.0, 2.0], [0.0, 2.0], [2.0, 0.0], [1.0, 2.0]])
    found = row_digests(rows)
    assert len(set(found.tolist())) == 5
    assert found[0] == found[5]
    zeros = row_digests(np.array([[0.0, -0.0], [0.0, 0.0]]))
    assert zeros[0] == zeros[1]


def test_digests_do_not_collide_on_many_rows() -> None:
    grid = np.array(np.meshgrid(*[np.arange(30.0)] * 3)).reshape(3, -1).T
    assert len(np.unique(row_digests(grid))) == len(grid)


def test_a_wide_table_is_digested_in_blocks() -> None:
    X = np.random.default_rng(0).normal(size=(3000, 700))
    X[2999] = X[0]
    found = row_digests(X)
    assert found[0] == found[2999]
    assert len(np.unique(found)) == 2999
