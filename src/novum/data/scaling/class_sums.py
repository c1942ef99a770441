"""Summing rows about the means of their classes.

    sums_k = sum_i w_i (x_i - c_k),    Q = sum_i w_i (x_i - c_k)(x_i - c_k)'

about centers c_k near the class means, taken from the first rows of each class; then

    m_k = c_k + sums_k / W_k,    S = Q - sum_k W_k (m_k - c_k)(m_k - c_k)'.

The difference loses digits only where a center was far off; such a table is passed over once more
about the means just found. A column that is constant within classes has exactly that constant as
its center, and a scatter of exactly zero.
"""

from __future__ import annotations

import numpy as np

from novum.numerics import (
    Floats,
    Integers,
    Parts,
    as_argument,
    blocks_of_rows,
    check_underflow,
    moments_of,
    unusable_cell,
)
from novum.numerics import double_double as dd

# From this many cells on a compiled kernel centers the rows; the choice looks at the size only.
COMPILED_FROM_CELLS = 2**18

# A center is good enough when squares about it are at most this many times those about the mean.
_EXCESS = 4.0

# First rows of each class, whose mean is its center.
_CENTER_ROWS = 64


def scatter_of_classes(X: Floats, codes: Integers, weight: Floats | None, n_classes: int) -> Parts:
    """Weight (K,), mean (K, d) and scatter (K, d, d) of each class on its own."""
    d = X.shape[1]
    out = np.zeros((2, n_classes)), np.zeros((2, n_classes, d)), np.zeros((2, n_classes, d, d))
    for k in range(n_classes):
        rows = codes == k
        if rows.any():
            moments = moments_of(X[rows], None if weight is None else weight[rows])
            for pair, name in zip(out, ("weight", "mean", "scatter"), strict=True):
                pair[0][k], pair[1][k] = getattr(moments, name), getattr(moments, f"{name}_low")
    return tuple((pair[0], pair[1]) for pair in out)  # type: ignore[return-value]


def pooled_scatter(X: Floats, codes: Integers, weight: Floats | None, n_classes: int) -> Parts:
    """Weight (K,) and mean (K, d) of each class, and the scatter within all of them (1, d, d).

    Parameters
    ----------
    X : array (n, d)
        Complete and finite.
    codes : array (n,)
        From 0 to `n_classes - 1`.
    weight : array (n,), optional
        Positive.

    Examples
    --------
    >>> X, codes = np.array([[1.0], [3.0], [7.0]]), np.array([0, 0, 1])
    >>> weight, mean, scatter = pooled_scatter(X, codes, None, 2)
    >>> weight[0].tolist(), mean[0].ravel().tolist(), scatter[0].ravel().tolist()
    ([2.0, 1.0], [2.0, 7.0], [2.0])

    Notes
    -----
    `O(n d^2)`. Squares about centers exceed those about the means by `W_k shift_k^2`. After a pass
    about the means just found there is no excess left, so two passes always suffice.
    """
    total = np.bincount(codes, weight, n_classes).astype(float)
    divisor = np.where(total > 0, total, 1.0)[:, None]
    centered = _compiled_sums if X.size >= COMPILED_FROM_CELLS else _plain_sums
    center = _first_centers(X, codes, n_classes)
    rows = as_argument(X)
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        for _ in range(2):
            sums, squares = centered(rows, codes, weight, center)
            shift = sums / divisor
            scatter = squares - (shift * total[:, None]).T @ shift
            spread, about = np.diagonal(scatter), np.diagonal(squares)
            high, low = dd.two_sum(center, shift)
            if not np.isfinite(scatter).all():
                raise unusable_cell(X, "scatter of classes")
            if (about <= _EXCESS * spread).all():
                break
            center = high
    scatter = (scatter + scatter.T) / 2
    # What rounding leaves of a column that is constant within classes is no spread.
    np.fill_diagonal(scatter, np.maximum(np.diagonal(scatter), 0.0))
    _check_underflow(scatter, total, high, X)
    none = np.zeros_like(scatter)[None]
    return (total, np.zeros_like(total)), (high, low), (scatter[None], none)


def _first_centers(X: Floats, codes: Integers, n_classes: int) -> Floats:
    """Means of the first rows of each class, as differences to the very first of them.

    A column that is constant within a class has then exactly that constant as its center.
    """
    center = np.zeros((n_classes, X.shape[1]))
    # NumPy sorts 16-bit integers by counting, ten times as fast as wider ones.
    small = codes.astype(np.uint16) if n_classes <= 2**16 else codes
    order = np.argsort(small, kind="stable")
    ends = np.cumsum(np.bincount(codes, minlength=n_classes))
    for k, (start, end) in enumerate(zip([0, *ends[:-1]], ends, strict=True)):
        rows = order[start : min(end, start + _CENTER_ROWS)]
        if rows.size:
            first = X[rows[0]]
            with np.errstate(over="ignore", invalid="ignore"):
                center[k] = first + (X[rows] - first).mean(axis=0)
    return center


def _plain_sums(
    X: Floats, codes: Integers, weight: Floats | None, center: Floats
) -> tuple[Floats, Floats]:
    """Sums of `w (x - c)` by class (K, d), and of `w (x - c)(x - c)'` over all (d, d)."""
    centered = X - center[codes]
    weighted = centered if weight is None else centered * weight[:, None]
    sums = np.zeros_like(center)
    np.add.at(sums, codes, weighted)
    if weight is not None:
        centered *= np.sqrt(weight)[:, None]
    return sums, centered.T @ centered


def _compiled_sums(
    X: Floats, codes: Integers, weight: Floats | None, center: Floats
) -> tuple[Floats, Floats]:
    """The same, block by block; a block stays in a cache until its product is taken."""
    from scipy.linalg import blas

    from novum.data.scaling.class_sums_kernels import center_rows

    d = X.shape[1]
    roots = as_argument(np.empty(0) if weight is None else np.sqrt(weight))
    places = as_argument(codes, np.int64)
    sums, squares = np.zeros_like(center), np.zeros((d, d), order="F")
    buffer: Floats | None = None
    for start, stop in blocks_of_rows(*X.shape):
        if buffer is None or len(buffer) != stop - start:
            buffer = np.empty((stop - start, d))
        center_rows(X[start:stop], places[start:stop], roots[start:stop], center, buffer, sums)
        squares = blas.dsyrk(1.0, buffer.T, beta=1.0, c=squares, overwrite_c=1)
    return sums, np.triu(squares) + np.triu(squares, 1).T


def _check_underflow(scatter: Floats, weight: Floats, mean: Floats, X: Floats) -> None:
    middle = weight @ (mean - mean[0]) / weight.sum() + mean[0]
    between = weight @ (mean - middle) ** 2
    check_underflow(np.diagonal(scatter) + between, X)
