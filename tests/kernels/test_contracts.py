"""The contract: good kernels pass, and every kind of fault is found by the check that names it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from novum.core.errors import InputError
from novum.kernels.contracts import KernelCase, check_kernel_contract, check_promise
from novum.kernels.precomputed import Precomputed
from novum.kernels.protocol import Kernel, Prepared, Takes
from novum.kernels.vectors.gaussian import Gaussian
from novum.kernels.vectors.sigmoid import Sigmoid
from novum.numerics import Array

X = np.random.default_rng(0).normal(size=(6, 2))
WORDS = ["ab", "", "abc", "ab", "ba"]


class LetterRows(Prepared):
    """Counts of letters; `fault` names what is wrong with it."""

    def __init__(self, counts: Any, fault: str, new: bool = False) -> None:
        self.counts, self.fault, self.new = counts, fault, new
        self.kept = counts @ counts.T

    def __len__(self) -> int:
        return len(self.counts)

    def take(self, rows: Any) -> LetterRows:
        if self.fault == "take" and not isinstance(rows, slice):
            rows = np.sort(np.arange(len(self))[rows])
        return LetterRows(self.counts[rows], self.fault, self.new)

    def diagonal(self) -> Any:
        return np.square(self.counts).sum(axis=1) + (self.fault == "diagonal")

    def cross(self, other: Any, dtype: Any = np.float64) -> Array:
        if self.fault == "kept" and other is self:
            return self.kept.astype(dtype, copy=False)
        K = self.counts @ other.counts.T
        if self.fault == "new" and self.new != other.new:
            K = 2 * K
        if self.fault == "finite":
            K[0, 0] = np.nan
        if self.fault == "negative":
            K = -K
        if self.fault == "single":
            return K
        return np.ascontiguousarray(K, dtype)

    def gram(self, dtype: Any = np.float64) -> Array:
        K = self.cross(self, dtype)
        if self.fault == "symmetry":
            K[0, -1] += 1e-9
        return K


@dataclass(frozen=True)
class Letters(Kernel):
    fault: str = ""
    takes: ClassVar[Takes] = "objects"

    @property
    def is_psd_by_construction(self) -> bool:
        return True

    def prepare(self, X: Any, like: Any = None) -> LetterRows:
        if not all(isinstance(word, str) for word in X):
            raise InputError("not words")
        counts = np.array([[word.count(c) for c in "abc"] for word in X], float)
        return LetterRows(counts.reshape(-1, 3), self.fault, like is not None)

    @property
    def feature_map(self) -> Callable[[Any], Any]:
        return lambda X: self.prepare(X).counts * (2.0 if self.fault == "map" else 1.0)


def test_good_kernels_keep_the_contract() -> None:
    check_kernel_contract(Letters(), WORDS)
    check_kernel_contract(Gaussian(1.5), X)
    check_kernel_contract(Sigmoid(), X)
    check_kernel_contract(Precomputed(), X @ X.T)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("symmetry", "not exactly symmetric"),
        ("finite", "not finite"),
        ("diagonal", "diagonal differs"),
        ("take", r"cross after take\(\[2, 0, 0\]\)"),
        ("new", "new against old objects"),
        ("single", "float32 gave float64"),
        ("kept", "overwriting an answer"),
        ("map", "products of the feature map"),
    ],
)
def test_faults_are_found(fault: str, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        check_kernel_contract(Letters(fault), WORDS)


def test_a_broken_promise_is_found() -> None:
    @dataclass(frozen=True)
    class Negative(Letters):
        @property
        def feature_map(self) -> Any:
            return None

    with pytest.raises(AssertionError, match="promises to be a kernel"):
        check_promise(KernelCase(Negative("negative"), WORDS))


def test_a_feature_map_needs_the_promise() -> None:
    @dataclass(frozen=True)
    class Shy(Letters):
        @property
        def is_psd_by_construction(self) -> bool:
            return False

    with pytest.raises(AssertionError, match="a feature map proves"):
        check_kernel_contract(Shy(), WORDS)


def test_two_objects_are_too_few() -> None:
    with pytest.raises(AssertionError, match="at least 3 objects"):
        check_kernel_contract(Letters(), WORDS[:2])
