"""The algebra: definitions pair by pair, the laws of sums and products, and what is promised."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, clone

from novum.core.errors import InputError
from novum.core.files.registry import registered
from novum.core.files.state_coding import StateEncoder
from novum.core.files.state_decoding import StateDecoder
from novum.kernels.algebra import Constant, Power, Product, Scaled, Sum, added, common_kind
from novum.kernels.callables import FromCallable
from novum.kernels.composition import Composed, GaussianOf
from novum.kernels.contracts import check_kernel_contract
from novum.kernels.normalization import Normalized, normalize
from novum.kernels.parts import On, on
from novum.kernels.precomputed import Precomputed
from novum.kernels.protocol import Kernel
from novum.kernels.vectors.delta import Delta
from novum.kernels.vectors.gaussian import Gaussian
from novum.kernels.vectors.linear import Linear
from novum.kernels.vectors.mixed import Mixed
from novum.kernels.vectors.polynomial import Polynomial
from novum.kernels.vectors.sigmoid import Sigmoid
from novum.numerics import Floats
from tests.oracles import kernel_definitions as definitions
from tests.strategies.vector_kernels import (
    Pair,
    assert_prepared_rows_agree,
    combined_kernels,
    matrices,
    simple_kernels,
)

VALUES: dict[str, type] = {
    cls.__name__: cls
    for cls in (
        *(Linear, Polynomial, Gaussian, Sigmoid, Delta, Mixed, Precomputed, Constant),
        *(Sum, Product, Scaled, Power, Normalized, Composed, GaussianOf, On),
    )
}
factors = st.sampled_from([0.0, 0.5, 1.0, 3.0])


def same(a: Kernel, b: Kernel, X: Floats) -> None:
    K, L = a.gram(X), b.gram(X)
    np.testing.assert_allclose(K, L, rtol=0, atol=1e-12 * max(1.0, np.abs(L).max()))


# --- Values ---------------------------------------------------------------------------------------


@given(combined_kernels(), matrices(), matrices())
def test_similarities_are_the_definition(pair: Pair, X: Floats, Z: Floats) -> None:
    kernel, definition = pair
    K = kernel.cross(X, Z)
    expected = definitions.cross(definition, X, Z)
    own = [abs(definition(x, x)) for x in (*X, *Z)]
    # Squared distances in feature space lose the digits that the lengths of the objects take.
    np.testing.assert_allclose(K, expected, rtol=1e-9, atol=1e-9 * max(1.0, *own))


@given(combined_kernels(), matrices(), matrices())
def test_prepared_rows_agree(pair: Pair, X: Floats, Z: Floats) -> None:
    kernel = pair[0]
    longest = max(1.0, float(np.abs(kernel.diagonal(X)).max()))
    if longest < 1e6:
        assert_prepared_rows_agree(kernel, X, Z)


@given(combined_kernels(), matrices())
def test_what_is_promised_positive_semi_definite_is(pair: Pair, X: Floats) -> None:
    kernel = pair[0]
    assert kernel.is_psd_by_construction
    values = np.linalg.eigvalsh(kernel.gram(X))
    assert values[0] >= -1e-9 * max(1.0, values[-1])


@given(combined_kernels(), matrices())
def test_features_reproduce_the_kernel(pair: Pair, X: Floats) -> None:
    kernel = pair[0]
    if kernel.feature_map is None:
        assert "Gaussian" in repr(kernel)
        return
    if max(term.count("**") + term.count(".of(") for term in repr(kernel).split("+")) > 1:
        # Powers of powers have more features than are written out; see test_feature_maps.py.
        return
    features = kernel.feature_map(X)
    K = kernel.gram(X)
    np.testing.assert_allclose(
        features @ features.T, K, rtol=0, atol=1e-9 * max(1.0, np.abs(K).max())
    )


# --- Laws -----------------------------------------------------------------------------------------


@given(simple_kernels(), simple_kernels(), simple_kernels(), matrices())
def test_sums_and_products_commute_associate_and_distribute(
    a: Pair, b: Pair, c: Pair, X: Floats
) -> None:
    p, q, r = a[0], b[0], c[0]
    same(p + q, q + p, X)
    same(p * q, q * p, X)
    same((p + q) * r, p * r + q * r, X)
    assert (p + q) + r == p + (q + r)
    assert (p * q) * r == p * (q * r)


@given(simple_kernels(), simple_kernels(), factors, factors, matrices())
def test_multiples(a: Pair, b: Pair, c: float, d: float, X: Floats) -> None:
    p, q = a[0], b[0]
    same(c * (p + q), c * p + c * q, X)
    same((c + d) * p, c * p + d * p, X)
    assert c * (d * p) == (c * d) * p
    assert c * p == p * c
    same((c * p) * (d * q), (c * d) * (p * q), X)
    assert 1.0 * p == p
    assert p + 0 == p
    assert not (0 * p).gram(X).any()


@given(simple_kernels(), st.integers(1, 3), st.integers(1, 3), matrices())
def test_powers(a: Pair, d: int, e: int, X: Floats) -> None:
    p = a[0]
    same(p**d * p**e, p ** (d + e), X)
    assert (p**d) ** e == p ** (d * e)
    same(p**2, p * p, X)
    same((2.0 * p) ** d, 2.0**d * p**d, X)
    assert p**1 == p


@given(matrices(), st.integers(1, 4))
def test_a_polynomial_kernel_is_a_power_of_a_sum(X: Floats, degree: int) -> None:
    same(Polynomial(degree, 2.0, 0.5), (0.5 * Linear() + 2.0) ** degree, X)


def test_python_adds_kernels() -> None:
    assert sum([Linear(), Gaussian(), Delta()]) == Linear() + Gaussian() + Delta()
    assert added(1.0, 2.0) == Constant(3.0)
    assert 1 + Linear() + 2 == Linear() + 3.0


def test_numpy_numbers_are_numbers() -> None:
    assert np.float64(2.0) * Linear() == 2.0 * Linear()
    assert Linear() * np.int64(2) == 2.0 * Linear()


# --- Form -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kernel", "text"),
    [
        (Linear() + Linear() + 1, "Linear() + Linear() + 1.0"),
        (2 * Linear() + Gaussian() * Linear(), "2.0 * Linear() + Gaussian(width=1.0) * Linear()"),
        ((Linear() + 1.0) * Linear(), "(Linear() + 1.0) * Linear()"),
        (2 * (Linear() + 1.0), "2.0 * (Linear() + 1.0)"),
        (2 * Linear() * (3 * Linear()), "6.0 * Linear() * Linear()"),
        ((Linear() + 1.0) ** 2, "(Linear() + 1.0) ** 2"),
        ((2 * Linear()) ** 2, "4.0 * Linear() ** 2"),
        ((Linear() * Gaussian()) ** 2, "(Linear() * Gaussian(width=1.0)) ** 2"),
        (0 * Linear(), "0.0 * Linear()"),
        (normalize(Linear() + 1.0) * 3, "3.0 * normalize(Linear() + 1.0)"),
        (
            Gaussian.of(Linear() + 1.0, 2.0) + on(["a", 1], Linear()),
            "Gaussian.of(Linear() + 1.0, width=2.0) + on(['a', 1], Linear())",
        ),
        (
            Polynomial.of(Linear()) + Sigmoid.of(Linear()),
            "Polynomial.of(Linear(), degree=2, constant=0.0, scale=1.0) + "
            "Sigmoid.of(Linear(), scale=1.0, constant=0.0)",
        ),
    ],
)
def test_texts_are_readable_and_can_be_read_back(kernel: Kernel, text: str) -> None:
    assert repr(kernel) == text
    names = {**VALUES, "normalize": normalize, "on": on}
    assert eval(text, names) == kernel


@given(combined_kernels())
def test_every_text_can_be_read_back(pair: Pair) -> None:
    names = {**VALUES, "normalize": normalize, "on": on}
    assert eval(repr(pair[0]), names) == pair[0]


class Holder(BaseEstimator):
    def __init__(self, kernel: Any = None) -> None:
        self.kernel = kernel


@given(combined_kernels())
def test_kernels_are_values(pair: Pair) -> None:
    kernel = pair[0]
    assert hash(copy.deepcopy(kernel)) == hash(kernel)
    assert pickle.loads(pickle.dumps(kernel)) == kernel
    copied = clone(Holder(kernel)).kernel
    assert copied == kernel
    assert {kernel: 1}[copied] == 1


@given(combined_kernels())
def test_model_files_hold_them(pair: Pair) -> None:
    kernel = on(["a", 0], pair[0]) + Mixed(scales=(1.0,)) + Precomputed()
    with registered(values={f"Tested{name}": cls for name, cls in VALUES.items()}):
        encoder = StateEncoder()
        stored = encoder.encode(kernel, "kernel")
        assert not encoder.arrays
        assert StateDecoder(lambda i: encoder.arrays[i], 0, 0).decode(stored, "kernel", 0) == kernel


def test_what_objects_a_combination_takes() -> None:
    of_objects = FromCallable(max, form="pair", takes="objects")
    assert (Linear() + Gaussian()).takes == "vectors"
    assert (Linear() + Delta()).takes == "table"
    assert (2.0 * Delta()).takes == "table"
    assert (Delta() * of_objects).takes == "objects"
    assert (of_objects + 1.0).takes == "objects"
    assert common_kind((Constant(1.0),)) == "vectors"


def test_an_indefinite_part_takes_the_promise_away() -> None:
    for kernel in (Sigmoid() + Linear(), Sigmoid() * Linear(), 2 * Sigmoid(), Sigmoid() ** 2):
        assert not kernel.is_psd_by_construction
        assert kernel.feature_map is None


# --- Bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [-1, -0.5])
def test_negative_multiples_are_refused(number: float) -> None:
    for combine in (lambda k: number * k, lambda k: k * number, lambda k: k + number):
        with pytest.raises(InputError, match=r"times a kernel is not positive semi-definite"):
            combine(Linear())


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_factors_that_are_no_numbers_are_refused(number: float) -> None:
    with pytest.raises(InputError, match="must be a finite number"):
        number * Linear()


@pytest.mark.parametrize("degree", [0, -2, 0.5, 2.0, "2"])
def test_other_powers_are_refused(degree: Any) -> None:
    with pytest.raises(InputError, match="The power of a kernel must be a whole number of at leas"):
        Linear() ** degree


def test_what_is_no_kernel_cannot_be_combined() -> None:
    with pytest.raises(TypeError, match=r"for \+ of kernels: 'text'"):
        Linear() + "text"
    with pytest.raises(TypeError, match=r"for \* of kernels: \[1\]"):
        [1] * Linear()  # type: ignore[operator]


def test_factors_beyond_all_numbers_are_refused() -> None:
    with pytest.raises(InputError, match="multiply to no finite number"):
        (1e200 * Linear()) * (1e200 * Linear())


def test_products_beyond_single_precision_go_through_double() -> None:
    kernel = Linear() * Linear() * Linear()
    rows = kernel.prepare([[1e6], [2e6]])
    np.testing.assert_allclose(rows.cross(rows, np.float32), rows.gram(), rtol=1e-6)
    far = kernel.prepare([[1e7]])
    with pytest.raises(InputError, match=r"up to 1e\+42, too large for single precision"):
        far.cross(far, np.float32)
    with pytest.raises(InputError, match=r"up to 1e\+42, too large for single precision"):
        far.gram(np.float32)


@pytest.mark.parametrize(
    "kernel",
    [
        2 * Linear() + Gaussian() * Polynomial(2) + 1,
        (Linear() + 1.0) ** 3,
        0 * Linear(),
        Linear() * Sigmoid(0.1),
    ],
)
def test_the_contract_is_kept(kernel: Kernel) -> None:
    X = np.random.default_rng(0).normal(size=(8, 3))
    X[3], X[5] = X[4], 0.0
    check_kernel_contract(kernel, X)
