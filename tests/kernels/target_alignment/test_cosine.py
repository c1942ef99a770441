"""Alignment: the cosine of entries, centering as in feature space, targets of all kinds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import InputError
from novum.kernels.target_alignment.cosine import (
    alignment,
    centered,
    centered_alignment,
    ideal_matrix,
)
from novum.kernels.vectors.gaussian import Gaussian
from novum.kernels.vectors.linear import Linear

seeds = st.integers(0, 10**6)


def features(n: int, seed: int) -> Any:
    return np.random.default_rng(seed).normal(size=(n, 3)) + 1.0


@given(seeds)
def test_alignment_is_the_cosine_of_all_entries(seed: int) -> None:
    a, b = features(6, seed), features(6, seed + 1)
    K, M = a @ a.T, b @ b.T
    pairs = [(i, j) for i in range(6) for j in range(6)]
    inner = sum(K[p] * M[p] for p in pairs)
    sizes = sum(K[p] ** 2 for p in pairs) * sum(M[p] ** 2 for p in pairs)
    assert alignment(K, M) == pytest.approx(inner / sizes**0.5, rel=1e-12)


@given(seeds)
def test_centering_subtracts_the_mean_in_feature_space(seed: int) -> None:
    A = features(7, seed)
    less = A - A.mean(axis=0)
    np.testing.assert_allclose(centered(A @ A.T), less @ less.T, atol=1e-12)


@given(seeds, st.floats(0.01, 100.0), st.floats(0.0, 10.0))
def test_scale_and_constants_do_not_matter_when_centered(
    seed: int, scale: float, constant: float
) -> None:
    a, b = features(6, seed), features(6, seed + 1)
    K, M = a @ a.T, b @ b.T
    expected = centered_alignment(K, M)
    assert centered_alignment(scale * K + constant, M) == pytest.approx(expected, abs=1e-9)
    assert centered_alignment(M, K) == pytest.approx(expected, abs=1e-12)
    assert -1e-12 <= expected <= 1.0
    assert centered_alignment(K, K) == pytest.approx(1.0)


def test_kernels_are_compared_on_objects() -> None:
    X = features(9, 0)
    found = alignment(Linear(), Gaussian(2.0), X)
    assert found == pytest.approx(alignment(X @ X.T, Gaussian(2.0).gram(X)), rel=1e-12)


def test_two_classes_are_plus_and_minus_one() -> None:
    y = np.array(["no", "yes", "yes", "no"])
    signs = np.array([-1.0, 1.0, 1.0, -1.0])
    np.testing.assert_array_equal(ideal_matrix(y), np.outer(signs, signs))
    np.testing.assert_array_equal(ideal_matrix(y == "yes"), np.outer(signs, signs))
    np.testing.assert_array_equal(ideal_matrix([0, 1, 1, 0]), np.outer(signs, signs))


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_the_ideal_matrix_of_classes_is_a_kernel(n_classes: int) -> None:
    y = np.arange(20) % n_classes
    K = ideal_matrix(y)
    values = np.linalg.eigvalsh(K)
    assert values[0] > -1e-12
    assert int((values > 1e-9).sum()) == n_classes - 1
    assert centered_alignment(K, y) == 1.0


def test_numbers_are_numbers() -> None:
    y = np.array([0.5, -1.25, 3.0])
    np.testing.assert_array_equal(ideal_matrix(y), np.outer(y, y))
    whole = [1, 2, 3]
    np.testing.assert_array_equal(ideal_matrix(whole, "numbers"), np.outer(whole, whole))
    assert ideal_matrix(whole)[0].tolist() == [1.0, -0.5, -0.5]
    assert ideal_matrix([1.0, 2.0, 1.0])[0].tolist() == [1.0, -1.0, 1.0]


def test_classes_of_unequal_size_fool_only_the_plain_alignment() -> None:
    # Cortes et al., figure 1: nearly all of one class, and a kernel that says nothing.
    y = np.r_[np.ones(95, int), np.zeros(5, int)]
    constant = np.ones((100, 100)) + 1e-3 * np.eye(100)
    assert alignment(constant, y) > 0.8
    assert centered_alignment(constant, y) < 0.2


def test_extreme_sizes() -> None:
    K = np.array([[2.0, 1.0], [1.0, 2.0]])
    for scale in (1e-200, 1e200):
        assert alignment(scale * K, K) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        (np.eye(3), [0, 1], "of 3 and of 2 objects"),
        (np.eye(2), [1, 1], "All 2 labels are equal"),
        (np.zeros((2, 2)), [0, 1], "matrix of zeros is not defined"),
        (Linear(), [0, 1], r"alignment of Linear\(\) needs objects"),
        (np.ones((2, 3)), [0, 1], "square"),
    ],
)
def test_what_has_no_alignment_is_named(a: Any, b: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        alignment(a, b)


def test_a_constant_kernel_has_no_centered_alignment() -> None:
    with pytest.raises(InputError, match="same similarity is zero"):
        centered_alignment(np.ones((4, 4)), [0, 1, 0, 1])


def test_targets_are_of_three_kinds() -> None:
    with pytest.raises(InputError, match="got 'ranks'"):
        alignment(np.eye(2), [0, 1], target="ranks")  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"got shape \(2, 2\)"):
        ideal_matrix([[0.5, 1.0], [2.0, 3.0]], "numbers")
