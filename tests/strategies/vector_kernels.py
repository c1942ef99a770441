"""Rows of numbers, and kernels of them with their definitions as functions of two rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from novum.kernels.algebra import added, multiplied, raised
from novum.kernels.composition import Composed, GaussianOf
from novum.kernels.normalization import normalize
from novum.kernels.protocol import Kernel
from novum.kernels.vectors.gaussian import Gaussian
from novum.kernels.vectors.linear import Linear
from novum.kernels.vectors.polynomial import Polynomial
from novum.numerics import Floats
from tests.oracles import kernel_definitions as definitions

Pair = tuple[Kernel, definitions.Similarity]

# Few digits, so that equal rows and rows of zeros occur, and values that sums do not blur.
cells = st.integers(-6, 6).map(lambda n: n / 2)


def matrices(n_columns: int = 3, max_rows: int = 7) -> st.SearchStrategy[Floats]:
    row = st.lists(cells, min_size=n_columns, max_size=n_columns)
    return st.lists(row, min_size=1, max_size=max_rows).map(lambda rows: np.array(rows, float))


def simple_kernels() -> st.SearchStrategy[Pair]:
    """Positive semi-definite kernels of vectors, each with its definition."""
    small = st.sampled_from([0.5, 1.0, 2.0])
    polynomial = st.tuples(st.integers(1, 3), st.sampled_from([0.0, 1.0]), small).map(
        lambda s: (Polynomial(*s), definitions.polynomial(*s))
    )
    gaussian = small.map(lambda w: (Gaussian(w), definitions.gaussian(w)))
    return st.one_of(st.just((Linear(), definitions.linear)), polynomial, gaussian)


def combined_kernels() -> st.SearchStrategy[Pair]:
    """Whatever the algebra makes of positive semi-definite kernels."""
    return st.recursive(simple_kernels(), _combined, max_leaves=4)


def _combined(parts: st.SearchStrategy[Pair]) -> st.SearchStrategy[Pair]:
    factor = st.sampled_from([0.0, 0.5, 2.0])
    two = st.tuples(parts, parts)
    return st.one_of(
        two.map(lambda p: (added(p[0][0], p[1][0]), definitions.added(p[0][1], p[1][1]))),
        two.map(lambda p: (multiplied(p[0][0], p[1][0]), definitions.multiplied(p[0][1], p[1][1]))),
        st.tuples(factor, parts).map(
            lambda p: (multiplied(p[0], p[1][0]), definitions.scaled(p[0], p[1][1]))
        ),
        parts.map(lambda p: (raised(p[0], 2), definitions.raised(p[1], 2))),
        parts.map(lambda p: (normalize(p[0]), definitions.normalized(p[1]))),
        parts.map(lambda p: (GaussianOf(p[0], 2.0), definitions.gaussian_of(p[1], 2.0))),
        parts.map(lambda p: (Composed(Polynomial(2, 1.0, 0.5), p[0]), _squared(p[1]))),
    )


def _squared(kernel: definitions.Similarity) -> definitions.Similarity:
    return lambda x, z: (0.5 * kernel(x, z) + 1.0) ** 2


def assert_prepared_rows_agree(kernel: Kernel, X: Any, Z: Any, rtol: float = 1e-9) -> None:
    """Gram, cross, diagonal, parts that are taken and single precision tell the same."""
    rows = kernel.prepare(X)
    new = kernel.prepare(Z, rows)
    whole = rows.gram()
    size = max(1.0, float(np.abs(whole).max()), float(np.abs(new.cross(new)).max()))
    K = rows.cross(new)
    assert K.flags.c_contiguous
    assert K.shape == (len(rows), len(new))
    np.testing.assert_array_equal(whole, whole.T)
    np.testing.assert_allclose(whole, rows.cross(rows), rtol=0, atol=rtol * size)
    np.testing.assert_allclose(np.diagonal(whole), rows.diagonal(), rtol=0, atol=rtol * size)
    np.testing.assert_allclose(K, new.cross(rows).T, rtol=0, atol=rtol * size)
    for chosen in (slice(0, None, 2), np.arange(len(rows))[::-1], np.arange(len(rows)) % 2 == 0):
        part = rows.take(chosen)
        assert len(part) == len(np.arange(len(rows))[chosen])
        np.testing.assert_allclose(part.cross(new), K[chosen], rtol=0, atol=rtol * size)
        np.testing.assert_allclose(part.diagonal(), rows.diagonal()[chosen], rtol=rtol, atol=1e-300)
    single = rows.cross(new, np.float32)
    assert single.dtype == np.float32
    assert single.flags.c_contiguous
    # 24 bits and a few hundred roundings on the way.
    np.testing.assert_allclose(single, K, rtol=0, atol=2e-5 * size)
    # After single precision was used, the parts taken have it too.
    again = rows.take(slice(0, 1)).cross(new, np.float32)
    np.testing.assert_allclose(again, K[:1], rtol=0, atol=2e-5 * size)
    small = rows.gram(np.float32)
    np.testing.assert_array_equal(small, small.T)
    np.testing.assert_allclose(small, whole, rtol=0, atol=2e-5 * size)
