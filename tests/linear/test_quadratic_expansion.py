"""The quadratic map: products by definition, inner products, and places without a table."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from novum.linear.quadratic_features import Expansion, QuadraticForm
from novum.numerics import Floats

KINDS = list(product(("triangle", "vec", "plain"), ("all", "squares", "products")))
tables = hnp.arrays(
    float, st.tuples(st.integers(1, 4), st.integers(1, 4)), elements=st.integers(-3, 3).map(float)
)


def definition(x: Floats, form: str, terms: str) -> list[float]:
    """The formula, product by product."""
    found = []
    for i in range(len(x)):
        for j in range(len(x)):
            if form != "vec" and j < i:
                continue
            if (terms == "squares" and i != j) or (terms == "products" and i == j):
                continue
            factor = np.sqrt(2) if form == "triangle" and i != j else 1.0
            found.append(factor * x[i] * x[j])
    return [*found, *x]


@pytest.mark.parametrize(("form", "terms"), KINDS)
@given(tables)
def test_rows_are_their_definition(form: str, terms: str, X: Floats) -> None:
    expansion = Expansion(X.shape[1], form, terms)
    expected = np.array([definition(x, form, terms) for x in X])
    assert expansion.width == expected.shape[1]
    np.testing.assert_allclose(expansion.of(X), expected, rtol=1e-15)
    sparse_rows = expansion.of_sparse(sparse.csr_matrix(X))
    np.testing.assert_allclose(sparse_rows.toarray(), expected, rtol=1e-15)


@pytest.mark.parametrize(("form", "terms"), KINDS)
def test_products_without_the_table_are_those_with_it(form: str, terms: str) -> None:
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(7, 4)), rng.normal(size=(5, 4))
    expansion = Expansion(4, form, terms)
    table, other = expansion.of(X), expansion.of(Z)
    w, v = rng.normal(size=expansion.width), rng.normal(size=7)
    A, b = expansion.matrix(w)
    np.testing.assert_array_equal(A, A.T)
    np.testing.assert_allclose(QuadraticForm(A, b, 2.0)(X), table @ w + 2, rtol=1e-12)
    for kind in (np.asarray, sparse.csr_matrix):
        np.testing.assert_allclose(expansion.transposed(kind(X), v), table.T @ v, rtol=1e-12)
        np.testing.assert_allclose(expansion.gram(kind(X), kind(Z)), table @ other.T, rtol=1e-10)


def test_the_notes_form_and_the_triangle_have_the_kernel_as_inner_product() -> None:
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(6, 3)), rng.normal(size=(4, 3))
    kernel = (X @ Z.T) ** 2 + X @ Z.T
    for form in ("vec", "triangle"):
        expansion = Expansion(3, form, "all")
        np.testing.assert_allclose(expansion.of(X) @ expansion.of(Z).T, kernel, rtol=1e-12)
        np.testing.assert_allclose(expansion.gram(X, Z), kernel, rtol=1e-12)


@pytest.mark.parametrize(("form", "terms"), KINDS)
def test_wide_sparse_rows_need_no_table_of_places(form: str, terms: str) -> None:
    """100,000 columns: a table of places would take 80 GB."""
    d = 100_000
    X = sparse.csr_matrix(([2.0, 3.0], ([0, 0], [7, d - 1])), shape=(1, d))
    expansion = Expansion(d, form, terms)
    found = expansion.of_sparse(X)
    assert found.shape == (1, expansion.width)
    factor = np.sqrt(2) if form == "triangle" else 1.0
    crossed = [6.0 * factor] * (2 if form == "vec" else 1)
    squares = [4.0, 9.0]
    expected = {"all": squares + crossed, "squares": squares, "products": crossed}[terms]
    np.testing.assert_allclose(sorted(found.data), sorted([*expected, 2.0, 3.0]))


def test_empty_rows_and_no_rows() -> None:
    expansion = Expansion(3, "triangle", "all")
    empty = expansion.of_sparse(sparse.csr_matrix((2, 3)))
    assert empty.shape == (2, 9)
    assert empty.nnz == 0
