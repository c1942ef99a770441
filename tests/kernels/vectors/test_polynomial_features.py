"""Features of the polynomial kernel: they reproduce it, none comes twice, and size is forecast."""

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from novum.core.errors import InputError, MemoryLimitError
from novum.kernels.vectors.polynomial import Polynomial, PolynomialFeatures
from novum.numerics import Floats
from tests.oracles import kernel_definitions as definitions
from tests.strategies.vector_kernels import matrices

settings = st.tuples(
    st.integers(1, 4), st.sampled_from([0.0, 0.5, 2.0]), st.sampled_from([1.0, 0.25, 3.0])
)


@given(settings, matrices())
def test_inner_products_of_features_are_the_kernel(s: tuple[int, float, float], X: Floats) -> None:
    features = PolynomialFeatures(*s)(X)
    K = Polynomial(*s).gram(X)
    np.testing.assert_allclose(features @ features.T, K, rtol=0, atol=1e-12 * np.abs(K).max())
    assert features.shape[1] == PolynomialFeatures(*s).n_features(X.shape[1])


@given(settings)
def test_features_are_those_of_the_definition(s: tuple[int, float, float]) -> None:
    # Square roots of different primes: equal values are equal monomials.
    x = np.sqrt([2.0, 3.0, 5.0])
    mine = np.sort(PolynomialFeatures(*s)([x])[0])
    expected = np.sort(definitions.monomials(x, *s))
    np.testing.assert_allclose(mine, expected[expected > 0], rtol=1e-12)


def test_order_and_weights_by_hand() -> None:
    features = PolynomialFeatures(3, 0.0, 1.0)([[2.0, 3.0]])[0]
    # x^3, sqrt(3) x^2 y, sqrt(3) x y^2, y^3
    np.testing.assert_allclose(features, [8.0, np.sqrt(3) * 12, np.sqrt(3) * 18, 27.0])


def test_sparse_rows_give_the_same() -> None:
    X = np.array([[0.0, 2.0], [1.0, 0.0]])
    phi = PolynomialFeatures(2, 1.0, 1.0)
    np.testing.assert_array_equal(phi(sparse.csr_array(X)), phi(X))


@given(st.integers(1, 60), st.integers(1, 60))
def test_counts_are_binomials(p: int, degree: int) -> None:
    assert PolynomialFeatures(degree, 1.0, 1.0).n_features(p) == comb(p + degree, p)
    assert PolynomialFeatures(degree, 0.0, 1.0).n_features(p) == comb(p + degree - 1, degree)


def test_too_many_are_refused_with_a_forecast() -> None:
    with pytest.raises(InputError, match=r"has 1150626 monomials, 18\.4 MB for 2 rows; at most"):
        Polynomial(4, 1.0).feature_map(np.ones((2, 70)))  # type: ignore[misc]


def test_too_much_memory_is_refused_before_it_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOVUM_MEMORY_LIMIT", "1MB")
    with pytest.raises(MemoryLimitError, match="feature map with its 1771 monomials needs"):
        PolynomialFeatures(3, 1.0, 1.0)(np.ones((1000, 20)))
