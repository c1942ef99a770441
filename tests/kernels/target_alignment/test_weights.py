"""Weights by alignment: a generic optimizer, optimality conditions, equal and useless kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from novum.core.errors import InputError, MemoryLimitError
from novum.kernels.target_alignment.cosine import centered_alignment
from novum.kernels.target_alignment.weights import joint_weights, single_weights
from novum.kernels.vectors.gaussian import Gaussian
from novum.kernels.vectors.linear import Linear

rng = np.random.default_rng(0)
X = rng.normal(size=(30, 3))
Y = np.sign(X[:, 0] + 0.3 * X[:, 1] ** 2 - 0.2)


def random_kernels(count: int, seed: int) -> list[Any]:
    draws = np.random.default_rng(seed)
    factors = [draws.normal(size=(12, 2)) * 10.0 ** draws.integers(-2, 3) for _ in range(count)]
    return [A @ A.T for A in factors]


@settings(max_examples=25)
@given(st.integers(1, 4), st.integers(0, 10**6))
def test_no_other_weights_are_better_aligned(count: int, seed: int) -> None:
    kernels = random_kernels(count, seed)
    y = np.random.default_rng(seed + 1).normal(size=12)
    found = joint_weights(kernels, y)
    assert found.weights.min() >= 0
    assert found.weights.sum() == pytest.approx(1.0)
    assert found.violation is not None
    assert found.violation < 1e-9
    together = sum(w * K for w, K in zip(found.weights, kernels, strict=True))
    assert centered_alignment(together, y) == pytest.approx(found.alignment, abs=1e-9)
    assert found.alignment >= found.single.max() - 1e-9
    sizes = [float(np.linalg.norm(K)) for K in kernels]

    def worse(logs: Any) -> float:
        scaled = (np.exp(w) / s * K for w, s, K in zip(logs, sizes, kernels, strict=True))
        return -centered_alignment(sum(scaled), y)

    for start in range(3):
        first = np.random.default_rng(start).normal(size=count)
        best = optimize.minimize(worse, first, method="Nelder-Mead", options={"maxiter": 200})
        assert -best.fun <= found.alignment + 1e-7


def test_single_weights_are_the_alignments_of_kernels_of_equal_size() -> None:
    kernels = [Linear(), Gaussian(1.0), 100.0 * np.eye(30)]
    found = single_weights(kernels, Y, X)
    single = [centered_alignment(kernel, Y, X) for kernel in kernels]
    np.testing.assert_allclose(found.single, single, atol=1e-12)
    scaled = single_weights([K / 7.0 for K in map(np.asarray, (kernels[2],))], Y)
    assert scaled.weights.tolist() == [1.0]
    assert found.violation is None


def test_the_scale_of_a_kernel_does_not_change_the_combination() -> None:
    K, M = Linear().gram(X), Gaussian(1.0).gram(X)
    for weigh in (single_weights, joint_weights):
        one, other = weigh([K, M], Y), weigh([1000.0 * K, M], Y)
        ratio = one.weights[0] / one.weights[1]
        assert other.weights[0] / other.weights[1] * 1000.0 == pytest.approx(ratio, rel=1e-9)
        assert other.alignment == pytest.approx(one.alignment, rel=1e-12)


def test_equal_kernels_share() -> None:
    K = Linear().gram(X)
    found = joint_weights([K, K], Y)
    assert found.alignment == pytest.approx(centered_alignment(K, Y), rel=1e-12)
    assert found.weights.sum() == pytest.approx(1.0)


def test_constant_kernels_get_no_weight() -> None:
    found = joint_weights([np.full((30, 30), 7.0), Linear()], Y, X)
    assert found.weights.tolist() == [0.0, 1.0]
    assert found.single[0] == 0.0


def test_classes_of_more_than_two_and_kernels_as_targets() -> None:
    y = np.arange(30) % 3
    ideal = (y[:, None] == y).astype(float)
    assert joint_weights([ideal, Linear()], y, X).weights[0] == pytest.approx(1.0, abs=1e-3)
    assert joint_weights([Linear(), Gaussian(1.0)], Linear(), X).weights[0] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("kernels", "y", "message"),
    [
        ([], [0, 1], "at least one kernel"),
        (np.eye(2), [0, 1], "Give a list"),
        ([np.eye(3)], [0, 1], "of 3 and of 2 objects"),
        ([np.ones((2, 2))], [0, 1], "No kernel is aligned"),
        ([-np.eye(2)], [0, 1], "No kernel is aligned with the target"),
        ([np.eye(2)], np.ones((2, 2)), "tells no two objects apart"),
    ],
)
def test_what_cannot_be_weighted_is_named(kernels: Any, y: Any, message: str) -> None:
    for weigh in (single_weights, joint_weights):
        with pytest.raises(InputError, match=message):
            weigh(kernels, y)


def test_memory_is_forecast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOVUM_MEMORY_LIMIT", "1MB")
    y = np.arange(150) % 2
    with pytest.raises(MemoryLimitError, match="Aligning 10 kernels on 150 objects"):
        joint_weights([np.eye(150)] * 10, y)
