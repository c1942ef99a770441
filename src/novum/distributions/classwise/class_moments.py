"""Weight, mean and scatter of every column within every class, where cells may be missing.

    W_kj = sum_i w_i o_ij [y_i = k],   m_kj = mean of the present cells,   S_kj = their scatter

One pass sums `x - c` and its square about a center `c_kj` near the class mean, taken from the first
rows of each class; then `m = c + L / W` and `S = Q - L^2 / W`. The difference loses digits only
where the center was far off, `L^2 / W` close to `Q`; such a table is passed over once more with the
mean just found as its center. The result is a `ColumnMoments` over all pairs (class, column), class
by class, so that merging and removing are those of `novum.numerics`, in double-double.
"""

from __future__ import annotations

import numpy as np

from novum.core.errors import InputError
from novum.numerics import (
    ColumnMoments,
    Floats,
    Integers,
    as_argument,
    check_underflow,
    column_moments_of,
    unusable_cell,
)
from novum.numerics import double_double as dd

# Below this many cells NumPy takes less time than loading a kernel; by size only, so that the bits
# do not depend on the state of the cache.
COMPILED_FROM_CELLS = 2**18

# Cells of one call of the kernel: a few milliseconds, so that Ctrl-C is never far.
_CALL_CELLS = 2**22

# Rows of each class that give it its center, and of the table in which they are looked for.
_CENTER_ROWS = 64
_SEARCHED_ROWS = 4096

# A center further off than this many standard deviations costs three digits of the scatter.
_FAR = 30.0


def class_moments(
    X: Floats, classes: Integers, n_classes: int, weight: Floats | None = None
) -> ColumnMoments:
    """Moments of each column of `X` within each class, flattened to `n_classes * d` columns.

    Parameters
    ----------
    X : array (n, d)
        Finite or NaN, which is missing.
    classes : array (n,)
        Codes from 0 to `n_classes - 1`.
    weight : array (n,), optional
        Positive.

    Examples
    --------
    >>> X = np.array([[1.0], [3.0], [7.0]])
    >>> found = class_moments(X, np.array([0, 0, 1]), 2, None)
    >>> found.mean.tolist(), found.scatter.tolist()
    ([2.0, 7.0], [2.0, 0.0])
    """
    if X.size < COMPILED_FROM_CELLS:
        return _by_class(X, classes, n_classes, weight)
    center = _centers(X, classes, n_classes)
    weights = np.ones(len(X)) if weight is None else weight
    moments = _one_pass(X, classes, weights, center)
    if _is_far(moments, center):
        moments = _one_pass(X, classes, weights, moments.mean.reshape(center.shape))
    if not np.isfinite(moments.scatter).all():
        raise InputError(str(unusable_cell(np.where(np.isnan(X), 0.0, X), "column moments")))
    try:
        check_underflow(pooled(moments, n_classes).scatter, X)
    except ValueError as error:
        raise InputError(str(error)) from error
    return moments


def pooled(moments: ColumnMoments, n_classes: int) -> ColumnMoments:
    """The moments of the columns over all classes together."""
    arrays = (moments.weight, moments.mean, moments.scatter)
    return pooled_columns(*(array.reshape(n_classes, -1) for array in arrays))


def pooled_columns(weight: Floats, mean: Floats, scatter: Floats) -> ColumnMoments:
    """The same from arrays of shape (n_classes, d)."""
    total = weight.sum(axis=0)
    divisor = np.where(total > 0, total, 1.0)
    # Means are averaged as differences to one of them, so that a constant column stays constant.
    first = mean[weight.argmax(axis=0), np.arange(mean.shape[1])]
    center = first + (weight * (mean - first)).sum(axis=0) / divisor
    between = np.where(weight > 0, weight * (mean - center) ** 2, 0.0)
    return ColumnMoments(total, center, (scatter + between).sum(axis=0))


def _by_class(X: Floats, classes: Integers, n_classes: int, weight: Floats | None) -> ColumnMoments:
    parts = []
    for k in range(n_classes):
        rows = classes == k
        try:
            parts.append(column_moments_of(X[rows], None if weight is None else weight[rows]))
        except ValueError as error:
            raise InputError(str(error)) from error
    names = ("weight", "mean", "scatter", "weight_low", "mean_low", "scatter_low")
    return ColumnMoments(*(np.concatenate([getattr(p, name) for p in parts]) for name in names))


def _centers(X: Floats, classes: Integers, n_classes: int) -> Floats:
    """Means of the first rows of each class; zero where they have no cell."""
    center = np.zeros((n_classes, X.shape[1]))
    head = classes[:_SEARCHED_ROWS]
    for k in range(n_classes):
        rows = np.flatnonzero(head == k)[:_CENTER_ROWS]
        if rows.size == 0:
            rows = np.flatnonzero(classes == k)[:_CENTER_ROWS]
        cells = X[rows]
        present = ~np.isnan(cells)
        counts = np.maximum(present.sum(axis=0), 1)
        with np.errstate(over="ignore", invalid="ignore"):
            center[k] = np.where(present, cells / counts, 0.0).sum(axis=0)
    return center


def _one_pass(X: Floats, classes: Integers, weights: Floats, center: Floats) -> ColumnMoments:
    from novum.distributions.classwise.classwise_kernels import add_centered_sums

    missing, linear, square = (np.zeros_like(center) for _ in range(3))
    height = max(64, _CALL_CELLS // max(1, X.shape[1]))
    for start in range(0, len(X), height):
        rows = slice(start, start + height)
        add_centered_sums(
            as_argument(X[rows]),
            as_argument(classes[rows], np.int64),
            as_argument(weights[rows]),
            center,
            missing,
            linear,
            square,
        )
    total = np.bincount(classes, weights, len(center))[:, np.newaxis] - missing
    # What is left of a sum of weights after as much was taken away is rounding.
    total = np.where(total > 1e-9 * missing, total, 0.0)
    divisor = np.where(total > 0, total, 1.0)
    with np.errstate(over="ignore", invalid="ignore"):
        rest = linear / divisor
        scatter = np.maximum(square - total * rest * rest, 0.0)
    mean, low = dd.two_sum(np.where(total > 0, center, 0.0), np.where(total > 0, rest, 0.0))
    return ColumnMoments(total.ravel(), mean.ravel(), scatter.ravel(), None, low.ravel())


def _is_far(moments: ColumnMoments, center: Floats) -> bool:
    offset = (moments.mean - center.ravel()) ** 2 * moments.weight
    return bool(((moments.weight > 0) & (offset > _FAR**2 * moments.scatter)).any())
