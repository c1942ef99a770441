"""Normalized kernels: cosines, objects without length, and kernels that have no lengths."""

import numpy as np
import pytest
from hypothesis import given
from sklearn.metrics.pairwise import cosine_similarity

from novum.core.errors import InputError
from novum.kernels.callables import FromCallable
from novum.kernels.contracts import check_kernel_contract
from novum.kernels.normalization import Normalized, normalize
from novum.kernels.vectors.gaussian import Gaussian
from novum.kernels.vectors.linear import Linear
from novum.kernels.vectors.polynomial import Polynomial
from novum.kernels.vectors.sigmoid import Sigmoid
from novum.numerics import Floats
from tests.oracles import kernel_definitions as definitions
from tests.strategies.vector_kernels import (
    Pair,
    assert_prepared_rows_agree,
    matrices,
    simple_kernels,
)


@given(simple_kernels(), matrices(), matrices())
def test_similarities_are_the_definition(pair: Pair, X: Floats, Z: Floats) -> None:
    expected = definitions.cross(definitions.normalized(pair[1]), X, Z)
    np.testing.assert_allclose(normalize(pair[0]).cross(X, Z), expected, rtol=0, atol=1e-13)


@given(matrices(), matrices())
def test_the_normalized_linear_kernel_is_the_cosine(X: Floats, Z: Floats) -> None:
    K = normalize(Linear()).cross(X, Z)
    np.testing.assert_allclose(K, cosine_similarity(X, Z), rtol=0, atol=1e-14)


@given(simple_kernels(), matrices(), matrices())
def test_prepared_rows_agree(pair: Pair, X: Floats, Z: Floats) -> None:
    assert_prepared_rows_agree(normalize(pair[0]), X, Z)


@given(matrices())
def test_features_have_length_one_or_zero(X: Floats) -> None:
    features = normalize(Polynomial(2)).feature_map(X)
    lengths = np.linalg.norm(features, axis=1)
    np.testing.assert_allclose(lengths, np.any(X, axis=1), rtol=1e-12)


def test_the_diagonal_is_exactly_one() -> None:
    X = np.random.default_rng(0).normal(size=(50, 3))
    K = normalize(Polynomial(3, 1.0)).gram(X)
    assert (np.diagonal(K) == 1.0).all()


def test_an_object_without_length_is_like_nothing() -> None:
    K = normalize(Linear()).gram([[0.0, 0.0], [3.0, 4.0]])
    np.testing.assert_array_equal(K, [[0.0, 0.0], [0.0, 1.0]])


def test_what_is_normalized_stays() -> None:
    assert normalize(normalize(Linear())) == normalize(Linear())
    assert normalize(Gaussian(2.0)) == Gaussian(2.0)
    assert normalize(Gaussian.of(Linear())) == Gaussian.of(Linear())
    assert normalize(3.0 * Linear()) == normalize(Linear())
    assert normalize(0.0 * Linear()) == Normalized(0.0 * Linear())


def test_the_promise_is_that_of_the_inner_kernel() -> None:
    assert normalize(Linear()).is_psd_by_construction
    assert not normalize(Sigmoid()).is_psd_by_construction
    assert normalize(FromCallable(max, "pair", "objects")).takes == "objects"


def test_long_and_short_objects_keep_their_digits_in_single_precision() -> None:
    kernel = normalize(Polynomial(6))
    rows = kernel.prepare([[1e-6, 0.0], [1e3, 1e3], [1e-6, 1e-6]])
    np.testing.assert_allclose(rows.cross(rows, np.float32), rows.gram(), rtol=0, atol=1e-6)


def test_negative_squares_have_no_root() -> None:
    with pytest.raises(InputError, match=r"object 1 has the similarity -0\.76.* with itself"):
        normalize(Sigmoid(-1.0)).gram([[0.0], [1.0]])


def test_only_kernels_are_normalized() -> None:
    with pytest.raises(InputError, match=r"normalize takes a kernel of .*, got 'linear'"):
        normalize("linear")  # type: ignore[arg-type]


def test_the_contract_is_kept() -> None:
    X = np.random.default_rng(0).normal(size=(8, 3))
    X[3], X[5] = X[4], 0.0
    check_kernel_contract(normalize(Polynomial(2)), X)
