"""The linear kernel: the definition, scikit-learn, and its features."""

import pickle

import numpy as np
from hypothesis import given
from scipy import sparse
from sklearn.metrics.pairwise import linear_kernel

from novum.kernels.contracts import check_kernel_contract
from novum.kernels.vectors.linear import Linear
from novum.numerics import Floats
from tests.oracles import kernel_definitions as definitions
from tests.strategies.vector_kernels import matrices


@given(matrices(), matrices())
def test_similarities_are_inner_products(X: Floats, Z: Floats) -> None:
    K = Linear().cross(X, Z)
    np.testing.assert_allclose(K, definitions.cross(definitions.linear, X, Z), rtol=1e-13)
    np.testing.assert_allclose(K, linear_kernel(X, Z), rtol=1e-13)


@given(matrices())
def test_features_are_the_rows(X: Floats) -> None:
    np.testing.assert_array_equal(Linear().feature_map(X), X)
    assert Linear().is_psd_by_construction


def test_it_is_a_value() -> None:
    assert Linear() == Linear()
    assert len({Linear(), Linear()}) == 1
    assert pickle.loads(pickle.dumps(Linear())) == Linear()
    assert repr(Linear()) == "Linear()"
    assert pickle.loads(pickle.dumps(Linear().feature_map))([[1.0]]).tolist() == [[1.0]]


def test_the_contract_is_kept() -> None:
    X = np.random.default_rng(0).normal(size=(8, 3))
    X[3], X[5] = X[4], 0.0
    for form in (np.asarray, sparse.csr_array):
        check_kernel_contract(Linear(), form(X))
