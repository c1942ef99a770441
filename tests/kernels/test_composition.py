"""Compositions: with the linear kernel inside they are the kernels of vectors; bounds; refusals."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given

from novum.core.errors import InputError
from novum.kernels.callables import FromCallable
from novum.kernels.composition import Composed, GaussianOf
from novum.kernels.contracts import check_kernel_contract
from novum.kernels.protocol import Kernel
from novum.kernels.vectors.gaussian import Gaussian
from novum.kernels.vectors.linear import Linear
from novum.kernels.vectors.polynomial import Polynomial
from novum.kernels.vectors.sigmoid import Sigmoid
from novum.numerics import Floats
from tests.oracles import kernel_definitions as definitions
from tests.strategies.vector_kernels import assert_prepared_rows_agree, matrices

# Similarity of two words: letters in common, an inner product of sets.
COMMON = FromCallable(lambda a, b: float(len(set(a) & set(b))), "pair", "objects", psd=True)
WORDS = ["set", "test", "quite", ""]


@pytest.mark.parametrize(
    ("composed", "plain"),
    [
        (Gaussian.of(Linear(), 1.5), Gaussian(1.5)),
        (Polynomial.of(Linear(), 3, 1.0, 0.5), Polynomial(3, 1.0, 0.5)),
        (Sigmoid.of(Linear(), 0.5, -0.1), Sigmoid(0.5, -0.1)),
    ],
)
@given(X=matrices(), Z=matrices())
def test_with_the_linear_kernel_inside_they_are_those_of_vectors(
    composed: Kernel, plain: Kernel, X: Floats, Z: Floats
) -> None:
    K = plain.cross(X, Z)
    np.testing.assert_allclose(composed.cross(X, Z), K, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(composed.gram(X), plain.gram(X), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(composed.diagonal(X), plain.diagonal(X), rtol=1e-12)
    assert composed.is_psd_by_construction == plain.is_psd_by_construction
    assert composed.takes == "vectors"


@pytest.mark.parametrize(
    "kernel", [Gaussian.of(COMMON), Polynomial.of(COMMON, 3, 1.0), Sigmoid.of(COMMON, 0.1)]
)
def test_objects_of_any_kind(kernel: Kernel) -> None:
    assert kernel.takes == "objects"
    assert_prepared_rows_agree(kernel, WORDS, WORDS[:2])


def test_distances_in_feature_space_by_hand() -> None:
    # "set" and "test" have the same letters; "quite" shares t and e with them and has 5.
    K = Gaussian.of(COMMON, width=2.0).gram(WORDS)
    inner = definitions.gaussian_of(COMMON.function, 2.0)
    np.testing.assert_allclose(K, definitions.cross(inner, WORDS, WORDS), rtol=1e-14)
    assert K[0, 1] == 1.0
    assert K[0, 2] == pytest.approx(np.exp(-(3 + 5 - 2 * 2) / 8))


@given(matrices())
def test_features_of_a_polynomial_of_a_kernel(X: Floats) -> None:
    kernel = Polynomial.of(Polynomial(2, 1.0), 2, 0.5)
    assert kernel.feature_map is not None
    features, K = kernel.feature_map(X), kernel.gram(X)
    np.testing.assert_allclose(features @ features.T, K, rtol=0, atol=1e-10 * np.abs(K).max())


def test_the_promise_needs_both_parts() -> None:
    assert Gaussian.of(COMMON).is_psd_by_construction
    assert not Gaussian.of(Sigmoid()).is_psd_by_construction
    assert not Polynomial.of(Sigmoid()).is_psd_by_construction
    assert not Polynomial.of(Linear(), constant=-1.0).is_psd_by_construction
    assert not Sigmoid.of(Linear()).is_psd_by_construction
    assert Gaussian.of(Linear()).feature_map is None
    assert Sigmoid.of(Linear()).feature_map is None
    assert Polynomial.of(Gaussian()).feature_map is None


def test_negative_squares_of_an_indefinite_inner_kernel_are_not_hidden() -> None:
    inner = FromCallable(lambda a, b: 0.0 if a == b else 1.0, "pair", "objects")
    assert Gaussian.of(inner).gram([1, 2])[0, 1] == pytest.approx(np.exp(1.0))


def test_long_objects_go_through_double() -> None:
    kernel = Gaussian.of(Linear(), 1.0)
    rows = kernel.prepare(np.array([[1000.0], [1000.5], [-1000.0]]))
    assert not rows.single_is_enough
    np.testing.assert_allclose(rows.cross(rows, np.float32), rows.gram(), rtol=0, atol=1e-6)
    large = Polynomial.of(Linear(), 3).prepare([[1e6], [2e6]])
    np.testing.assert_allclose(large.cross(large, np.float32), large.gram(), rtol=1e-6)
    with pytest.raises(InputError, match="too large for single precision"):
        (far := Polynomial.of(Linear(), 3).prepare([[1e7]])).gram(np.float32)
    with pytest.raises(InputError, match="too large for single precision"):
        far.cross(far, np.float32)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Gaussian.of("rbf"), "Gaussian.of takes a kernel of novum.kernels, got 'rbf'"),  # type: ignore[arg-type]
        (lambda: Polynomial.of(2), "Polynomial.of takes a kernel of novum.kernels, got 2"),  # type: ignore[arg-type]
        (lambda: Gaussian.of(Linear(), 0.0), "Gaussian's width must be a finite number above 0"),
        (lambda: GaussianOf(Linear(), 1e-200), "its square must be a number of double precision"),
        (lambda: Polynomial.of(Linear(), 0), "Polynomial's degree must be a whole number"),
        (lambda: Composed(Linear(), Linear()), "outer kernel must be Polynomial or Sigmoid"),  # type: ignore[arg-type]
    ],
)
def test_wrong_settings_are_refused(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


@pytest.mark.parametrize(
    "kernel", [Gaussian.of(COMMON), Polynomial.of(COMMON, 3, 1.0), Sigmoid.of(COMMON, 0.1)]
)
def test_the_contract_is_kept(kernel: Kernel) -> None:
    check_kernel_contract(kernel, [*WORDS, "set", "a much longer one"])


def test_a_value_gives_its_settings_to_the_composition() -> None:
    assert Gaussian(2.0).of(COMMON) == Gaussian.of(COMMON, 2.0)
    assert Gaussian(2.0).of(COMMON, 3.0) == Gaussian.of(COMMON, 3.0)
    assert Gaussian.of(COMMON).width == 1.0
    assert Polynomial(3, 1.0, 0.5).of(COMMON) == Polynomial.of(COMMON, 3, 1.0, 0.5)
    assert Polynomial(3, 1.0).of(COMMON, scale=2.0) == Polynomial.of(COMMON, 3, 1.0, 2.0)
    assert Polynomial.of(COMMON) == Polynomial.of(COMMON, 2, 0.0, 1.0)
    assert Sigmoid(0.5, -1.0).of(COMMON) == Sigmoid.of(COMMON, 0.5, -1.0)
