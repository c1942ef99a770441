"""Tables and reference solutions for the tests of support vector machines."""

from __future__ import annotations

from typing import Any

import numpy as np

from novum.core.files.registry import registered
from novum.core.tables import Sample
from novum.kernels.callables import FromCallable
from novum.kernels.precomputed import Precomputed
from novum.kernels.strings.spectrum import Spectrum
from novum.kernels.vectors.gaussian import Gaussian
from novum.kernels.vectors.linear import Linear
from novum.kernels.vectors.mixed import Mixed
from novum.kernels.vectors.sigmoid import Sigmoid
from novum.numerics import Floats
from novum.svm.classifier import SVC, NuSVC
from novum.svm.margins import MarginErrorBound
from novum.svm.novelty import SVDD, OneClassSVM
from novum.svm.objects import SparseVectors
from novum.svm.regression import SVR, NuSVR

CLASSIFIERS = (SVC, NuSVC)
MEMBERS = (SVC, NuSVC, SVR, NuSVR, OneClassSVM, SVDD)


def blobs(n: int = 60, classes: int = 2, spread: float = 1.5, seed: int = 0) -> tuple[Floats, Any]:
    """Classes around the corners of a polygon, which overlap a little."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    angle = 2 * np.pi * y / classes
    centers = 2 * np.column_stack([np.cos(angle), np.sin(angle)])
    return centers + spread * rng.normal(size=(n, 2)), y


def wave(n: int = 60, seed: int = 0) -> tuple[Floats, Floats]:
    """A sine with noise."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, (n, 1))
    return X, np.sin(X[:, 0]) + 0.1 * rng.normal(size=n)


def strings(n: int = 30, seed: int = 0) -> tuple[list[str], list[str]]:
    """Words of two alphabets that share a letter."""
    rng = np.random.default_rng(seed)
    letters = (list("abc"), list("cde"))
    words = ["".join(rng.choice(letters[i % 2], 8)) for i in range(n)]
    return words, ["early" if i % 2 == 0 else "late" for i in range(n)]


def table_for(cls: type) -> tuple[Floats, Any]:
    """Rows and a target that a member can learn from."""
    return wave() if cls in (SVR, NuSVR) else blobs()


def as_files() -> Any:
    """The registry with the family in it, for tests that write model files."""
    from novum.core.files import registry

    estimators = {cls.__name__: cls for cls in MEMBERS if cls.__name__ not in registry.ESTIMATORS}
    kinds = (SparseVectors, MarginErrorBound, Sample, Gaussian, Linear, Mixed, Sigmoid)
    kinds += (Spectrum, Precomputed, FromCallable)
    values = {cls.__name__: cls for cls in kinds if cls.__name__ not in registry.VALUES}
    return registered(estimators, values)
