"""Design: products with the constant column, dense and sparse alike."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from novum.core.errors import InputError, MemoryLimitError
from novum.core.tables import check_sample
from novum.svm.linear import design as linear_design
from novum.svm.linear.classifier import LinearSVC
from novum.svm.linear.design import Design, design_of
from tests.svm.linear_tables import overlapping, with_constant


@pytest.mark.parametrize("constant", [0.0, 2.5])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
def test_products_are_those_of_the_joined_matrix(constant: float, make: object) -> None:
    X, side = overlapping(40, 4)
    Z = with_constant(X, constant) if constant else X
    rng = np.random.default_rng(1)
    u, weight = rng.standard_normal(Z.shape[1]), rng.uniform(1, 2, 40)
    rows = np.array([0, 3, 7, 8, 20])
    found = Design(make(X), constant)  # type: ignore[operator]
    assert found.width == Z.shape[1]
    np.testing.assert_allclose(found.scores(u), Z @ u, atol=1e-13)
    np.testing.assert_allclose(found.adjoint(side), Z.T @ side, atol=1e-13)
    np.testing.assert_allclose(found.squares, (Z**2).sum(axis=1), atol=1e-13)
    np.testing.assert_allclose(found.kernel(), Z @ Z.T, atol=1e-13)
    np.testing.assert_allclose(found.rows(rows), Z[rows])
    expected = (Z[rows] * weight[rows, None]).T @ Z[rows]
    np.testing.assert_allclose(found.gram(rows, weight), expected, atol=1e-13)
    np.testing.assert_allclose(found.part(rows).scores(u), (Z @ u)[rows], atol=1e-13)


def test_blocks_of_a_long_table_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    X, side = overlapping(50, 3)
    u = np.array([1.0, -2.0, 0.5, 3.0])
    whole = Design(X, 1.0)
    expected = whole.scores(u), whole.adjoint(side), whole.gram(np.arange(50), np.ones(50))
    monkeypatch.setattr(linear_design, "CALL_CELLS", 21)
    monkeypatch.setattr(linear_design, "GRAM_ROWS", 8)
    found = whole.scores(u), whole.adjoint(side), whole.gram(np.arange(50), np.ones(50))
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)


def test_nominal_columns_are_coded_against_their_first_level() -> None:
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0], "color": ["red", "blue", "green"]})
    sample = check_sample(LinearSVC(), frame, ["a", "b", "a"], target="classes")
    expected = [[1, 0, 1], [2, 0, 0], [3, 1, 0]]
    assert design_of(sample, 1.0).X.tolist() == expected


def test_duplicate_entries_of_a_sparse_table_are_added() -> None:
    X = sparse.csr_matrix(([1.0, 2.0, 5.0], [0, 0, 1], [0, 2, 3]), shape=(2, 2))
    sample = check_sample(LinearSVC(), X, [0, 1], target="classes", accept_sparse=True)
    np.testing.assert_array_equal(design_of(sample, 0.0).X.toarray(), [[3, 0], [0, 5]])
    assert X.nnz == 3  # the caller's table is as it was


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
def test_cells_without_a_square_are_refused_by_name(make: object) -> None:
    X = make(np.array([[1.0, 1e200], [2.0, 3.0]]))  # type: ignore[operator]
    sample = check_sample(LinearSVC(), X, [0, 1], target="classes", accept_sparse=True)
    with pytest.raises(InputError, match=r"'x1' has cells of size 1e\+200.*power of ten"):
        design_of(sample, 1.0)


def test_a_design_beyond_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pd.DataFrame({"c": [str(i) for i in range(3000)]})
    sample = check_sample(LinearSVC(), frame, [0, 1] * 1500, target="classes")
    monkeypatch.setenv("NOVUM_MEMORY_LIMIT", "1MB")
    with pytest.raises(MemoryLimitError, match="sparse matrix"):
        design_of(sample, 1.0)
