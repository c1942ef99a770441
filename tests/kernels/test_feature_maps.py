"""Feature maps of combined kernels: inner products, dense or sparse, and size."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from scipy import sparse

from novum.core.errors import InputError, MemoryLimitError
from novum.kernels.feature_maps import (
    Crossed,
    Monomials,
    Ones,
    SideBySide,
    Stretched,
    UnitLength,
    count_objects,
    stretched,
)
from novum.numerics import Floats
from tests.strategies.vector_kernels import matrices


def rows(X: Floats) -> Floats:
    return X


def squares(X: Floats) -> Floats:
    return np.asarray(X) ** 2


def sparse_rows(X: Floats) -> sparse.csr_array:
    return sparse.csr_array(X)


@given(matrices())
def test_inner_products_follow_the_algebra(X: Floats) -> None:
    a, b = X @ X.T, (X**2) @ (X**2).T
    cases = [
        (SideBySide((rows, squares)), a + b),
        (SideBySide((sparse_rows, squares)), a + b),
        (Crossed((rows, squares)), a * b),
        (Crossed((sparse_rows, rows, squares)), a * a * b),
        (Stretched(rows, 3.0), 9 * a),
        (stretched(rows, 2.0), 2 * a),
        (Monomials(rows, 3), a**3),
        (Monomials(sparse_rows, 2, 1.0, 0.5), (a / 2 + 1) ** 2),
        (Ones(2.0), np.full_like(a, 4.0)),
    ]
    for phi, expected in cases:
        features = phi(X)
        np.testing.assert_allclose(features @ features.T, expected, rtol=1e-11, atol=1e-11)


def test_sparse_features_stay_sparse() -> None:
    X = np.array([[3.0, 4.0], [0.0, 0.0]])
    assert sparse.issparse(SideBySide((sparse_rows, sparse_rows))(X))
    unit = UnitLength(sparse_rows)(X)
    assert sparse.issparse(unit)
    np.testing.assert_allclose(unit.toarray(), [[0.6, 0.8], [0.0, 0.0]])
    np.testing.assert_allclose(UnitLength(rows)(X), [[0.6, 0.8], [0.0, 0.0]])


def test_no_map_stays_none() -> None:
    assert stretched(None, 2.0) is None


def test_objects_are_counted_in_every_container() -> None:
    table = pd.DataFrame({"a": [1, 2, 3]})
    assert [
        count_objects(X) for X in (table, ["a"], np.ones((4, 2)), sparse.csr_array([[1.0]]))
    ] == [3, 1, 4, 1]


def test_too_many_products_are_refused_with_a_forecast(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.ones((2, 600))
    with pytest.raises(
        InputError, match=r"has 360000 features, 5\.8 MB for 2 objects; at most 200000"
    ):
        Crossed((rows, rows))(X)
    # Widths are multiplied as Python integers, which do not wrap around.
    with pytest.raises(InputError, match=f"has {600**8} features"):
        Crossed((rows,) * 8)(X)
    monkeypatch.setenv("NOVUM_MEMORY_LIMIT", "100kB")
    with pytest.raises(MemoryLimitError, match="feature map with its 10000 products"):
        Crossed((rows, rows))(np.ones((2, 100)))
