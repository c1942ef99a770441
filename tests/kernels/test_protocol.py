"""What the protocol itself gives every kernel: Gram and cross matrices from prepared rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import DTypeLike

from novum.kernels.protocol import Kernel, Prepared
from novum.numerics import Array, Floats


@dataclass(frozen=True, eq=False)
class Lengths(Prepared):
    """Lengths of words, and how often they were prepared like others."""

    values: Floats
    likes: int = 0

    def __len__(self) -> int:
        return len(self.values)

    def take(self, rows: Any) -> Lengths:
        return Lengths(self.values[rows], self.likes)

    def diagonal(self) -> Floats:
        return self.values**2

    def cross(self, other: Lengths, dtype: DTypeLike = np.float64) -> Array:
        return np.outer(self.values, other.values).astype(dtype)


class LengthKernel(Kernel):
    """The product of the lengths of two words."""

    takes = "objects"

    @property
    def is_psd_by_construction(self) -> bool:
        return True

    def prepare(self, X: Any, like: Lengths | None = None) -> Lengths:
        return Lengths(np.array([float(len(x)) for x in X]), 0 if like is None else like.likes + 1)


def test_matrices_follow_from_prepared_rows() -> None:
    kernel = LengthKernel()
    words = ["a", "bcd", "ef"]
    assert kernel.gram(words).tolist() == [[1, 3, 2], [3, 9, 6], [2, 6, 4]]
    assert kernel.cross(words, ["xyzw"]).tolist() == [[4], [12], [8]]
    assert kernel.diagonal(words).tolist() == [1, 9, 4]
    assert kernel.feature_map is None


def test_gram_matrices_are_exactly_symmetric_and_keep_their_type() -> None:
    class Uneven(Lengths):
        def cross(self, other: Lengths, dtype: DTypeLike = np.float64) -> Array:
            K = np.outer(self.values, other.values)
            K[1, 0] += 1e-7
            return K.astype(dtype)

    for dtype in (np.float32, np.float64):
        K = Uneven(np.ones(2)).gram(dtype)
        assert K.dtype == dtype
        assert np.array_equal(K, K.T)


def test_new_objects_are_prepared_like_those_of_the_training() -> None:
    kernel = LengthKernel()
    rows = kernel.prepare(["a"])
    assert kernel.prepare(["b"], rows).likes == 1


@pytest.mark.parametrize("other", ["text", None, [1.0]])
def test_operators_refuse_what_is_no_kernel(other: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        _ = LengthKernel() + other
    with pytest.raises((TypeError, ValueError)):
        _ = LengthKernel() ** 0
