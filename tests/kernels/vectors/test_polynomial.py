"""The polynomial kernel: definition, scikit-learn, features, and the numbers it is made with."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics.pairwise import polynomial_kernel

from novum.core.errors import InputError
from novum.kernels.contracts import check_kernel_contract
from novum.kernels.vectors.polynomial import Polynomial, raised_in_place
from novum.numerics import Floats
from tests.oracles import kernel_definitions as definitions
from tests.strategies.vector_kernels import assert_prepared_rows_agree, matrices

settings = st.tuples(
    st.integers(1, 5), st.sampled_from([0.0, 0.5, 2.0, -1.0]), st.sampled_from([1.0, 0.25, -0.5])
)


@given(settings, matrices(), matrices())
def test_similarities_are_the_definition(s: Any, X: Floats, Z: Floats) -> None:
    K = Polynomial(*s).cross(X, Z)
    expected = definitions.cross(definitions.polynomial(*s), X, Z)
    np.testing.assert_allclose(K, expected, rtol=1e-11, atol=1e-12)
    # scikit-learn has no negative scale.
    theirs = polynomial_kernel(X, np.sign(s[2]) * Z, degree=s[0], coef0=s[1], gamma=abs(s[2]))
    np.testing.assert_allclose(K, theirs, rtol=1e-11, atol=1e-12)


@given(settings, matrices(), matrices())
def test_prepared_rows_agree(s: Any, X: Floats, Z: Floats) -> None:
    for form in (np.asarray, sparse.csr_array):
        assert_prepared_rows_agree(Polynomial(*s), form(X), form(Z))


@given(matrices(), st.integers(1, 4), st.sampled_from([0.0, 1.0]))
def test_gram_matrices_are_positive_semi_definite(X: Floats, degree: int, constant: float) -> None:
    kernel = Polynomial(degree, constant)
    assert kernel.is_psd_by_construction
    values = np.linalg.eigvalsh(kernel.gram(X))
    assert values[0] >= -1e-12 * max(1.0, values[-1])


@pytest.mark.parametrize(("constant", "scale"), [(-1.0, 1.0), (1.0, -1.0)])
def test_negative_numbers_lose_the_promise(constant: float, scale: float) -> None:
    kernel = Polynomial(2, constant, scale)
    assert not kernel.is_psd_by_construction
    assert kernel.feature_map is None
    # And rightly so: k(x, x) k(z, z) < k(x, z)^2 for these rows.
    worst = min(
        np.linalg.eigvalsh(kernel.gram(np.array(rows)))[0]
        for rows in ([[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [-2.0, 0.0]], [[1.0], [2.0]])
    )
    assert worst < -0.1


@given(st.integers(1, 40), st.floats(-2, 2))
def test_powers_by_squaring(degree: int, base: float) -> None:
    assert raised_in_place(np.array([base]), degree)[0] == pytest.approx(
        base**degree, rel=1e-13, abs=1e-300
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0,), "degree must be a whole number of at least 1, got 0"),
        ((-1,), "got -1"),
        ((2.0,), "got 2.0"),
        ((True,), "got True"),
        (("3",), "got '3'"),
        ((2, float("nan")), "Polynomial's constant must be a finite number, got nan"),
        ((2, 0.0, float("inf")), "Polynomial's scale must be a finite number, got inf"),
    ],
)
def test_wrong_numbers_are_refused(arguments: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Polynomial(*arguments)


def test_numpy_numbers_become_plain() -> None:
    kernel = Polynomial(np.int64(2), np.float32(1.0), np.int8(3))
    assert repr(kernel) == "Polynomial(degree=2, constant=1.0, scale=3.0)"
    assert hash(kernel) == hash(Polynomial(2, 1.0, 3.0))


def test_the_contract_is_kept() -> None:
    X = np.random.default_rng(0).normal(size=(8, 3))
    X[3], X[5] = X[4], 0.0
    for form in (np.asarray, sparse.csr_array):
        check_kernel_contract(Polynomial(3, 1.0, 0.5), form(X))
