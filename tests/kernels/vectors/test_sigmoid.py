"""The sigmoid kernel: definition, scikit-learn, and that it is no kernel in general."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics.pairwise import sigmoid_kernel

from novum.core.errors import InputError
from novum.kernels.contracts import check_kernel_contract
from novum.kernels.vectors.sigmoid import Sigmoid
from novum.numerics import Floats
from tests.oracles import kernel_definitions as definitions
from tests.strategies.vector_kernels import assert_prepared_rows_agree, matrices

settings = st.tuples(st.sampled_from([0.1, 1.0, -0.5]), st.sampled_from([0.0, 0.5, -1.0]))


@given(settings, matrices(), matrices())
def test_similarities_are_the_definition(s: tuple[float, float], X: Floats, Z: Floats) -> None:
    K = Sigmoid(*s).cross(X, Z)
    expected = definitions.cross(definitions.sigmoid(*s), X, Z)
    np.testing.assert_allclose(K, expected, rtol=1e-12, atol=1e-14)
    # scikit-learn has no negative scale.
    theirs = sigmoid_kernel(X, np.sign(s[0]) * Z, gamma=abs(s[0]), coef0=s[1])
    np.testing.assert_allclose(K, theirs, rtol=1e-12, atol=1e-14)


@given(settings, matrices(), matrices())
def test_prepared_rows_agree(s: tuple[float, float], X: Floats, Z: Floats) -> None:
    for form in (np.asarray, sparse.csr_array):
        assert_prepared_rows_agree(Sigmoid(*s), form(X), form(Z))


def test_it_is_indefinite_and_says_so() -> None:
    assert not Sigmoid().is_psd_by_construction
    assert Sigmoid().feature_map is None
    assert np.linalg.eigvalsh(Sigmoid(1.0, -1.0).gram([[0.5], [2.0]]))[0] < -0.1


@pytest.mark.parametrize("name", ["scale", "constant"])
def test_wrong_numbers_are_refused(name: str) -> None:
    with pytest.raises(InputError, match=f"Sigmoid's {name} must be a finite number, got nan"):
        Sigmoid(**{name: float("nan")})


def test_the_contract_is_kept() -> None:
    X = np.random.default_rng(0).normal(size=(8, 3))
    X[3], X[5] = X[4], 0.0
    for form in (np.asarray, sparse.csr_array):
        check_kernel_contract(Sigmoid(0.5, -0.1), form(X))
