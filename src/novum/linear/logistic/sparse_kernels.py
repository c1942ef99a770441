"""Compiled passes over sparse rows (CSR): one reading of the cells for products there and back.

`X w` followed by `X' r` reads the cells twice; here the score of a row, its derivative and its part
of the gradient are computed while its few cells are in the cache. Indices are unsigned, because a
signed one is tested for counting from the end. Coefficients of more than two classes lie side by
side, (d, K), so that a cell meets all of them in one cache line. Columns are not centered here:
what that changes is of rank one and is added outside (`logistic.rows`).
"""

from __future__ import annotations

import numpy as np

from novum.linear.logistic.kernels import BLOCK, STRIDE, binary_links
from novum.numerics import exp_of_negative, fast_kernel

_ROWS = "float64[::1], int32[::1], int64[::1]"


# --- Two classes ----------------------------------------------------------------------------------


@fast_kernel(
    f"float64({_ROWS}, float64[::1], float64[::1], float64[::1], float64, float64[::1], "
    "float64[::1], float64[::1])"
)
def sparse_binary_pass(  # type: ignore[no-untyped-def]
    data, indices, indptr, sign, w, coef, intercept, out_residual, out_curvature, out_gradient
):
    """Sum of the losses; of each row `w (p - y)` and `w p (1 - p)`; `X' residual` is added to.

    Blocks of rows, so that the exponentials of a block are computed side by side.
    """
    total = 0.0
    scores = np.zeros((1, STRIDE))
    residual = np.zeros((1, STRIDE))
    curvature = np.zeros(STRIDE)
    loss = np.zeros(STRIDE)
    for start in range(0, w.size, BLOCK):
        m = min(BLOCK, w.size - start)
        for t in range(m):
            first = np.uint64(indptr[start + t])
            score = intercept
            for c in range(indptr[start + t + 1] - indptr[start + t]):
                at = first + np.uint64(c)
                score += data[at] * coef[np.uint32(indices[at])]
            scores[0, t] = score
        binary_links(scores, sign, w, start, m, residual, curvature, loss)
        for t in range(m):
            total += loss[t]
            r = residual[0, t]
            out_residual[start + t] = r
            out_curvature[start + t] = curvature[t]
            first = np.uint64(indptr[start + t])
            for c in range(indptr[start + t + 1] - indptr[start + t]):
                at = first + np.uint64(c)
                out_gradient[np.uint32(indices[at])] += data[at] * r
    return total


@fast_kernel(f"float64({_ROWS}, float64[::1], float64[::1], float64, float64[::1])")
def sparse_binary_product(data, indices, indptr, curvature, v, shift, out):  # type: ignore[no-untyped-def]
    """Adds `X' (h (X v + shift))` and returns the sum of `h (X v + shift)`."""
    total = 0.0
    for i in range(curvature.size):
        first = np.uint64(indptr[i])
        size = indptr[i + 1] - indptr[i]
        score = shift
        for c in range(size):
            at = first + np.uint64(c)
            score += data[at] * v[np.uint32(indices[at])]
        score *= curvature[i]
        total += score
        for c in range(size):
            at = first + np.uint64(c)
            out[np.uint32(indices[at])] += data[at] * score
    return total


@fast_kernel(f"void({_ROWS}, float64[::1], float64[::1], float64[::1])")
def sparse_squares(data, indices, indptr, curvature, out_linear, out_square):  # type: ignore[no-untyped-def]
    """Adds `sum_i h_i x_ij` and `sum_i h_i x_ij^2` of every column."""
    for i in range(curvature.size):
        first = np.uint64(indptr[i])
        for c in range(indptr[i + 1] - indptr[i]):
            at = first + np.uint64(c)
            j = np.uint32(indices[at])
            part = data[at] * curvature[i]
            out_linear[j] += part
            out_square[j] += part * data[at]


@fast_kernel(f"float64({_ROWS}, float64[::1])")
def sparse_largest_square(data, indices, indptr, scale):  # type: ignore[no-untyped-def]
    """The largest of all `|x scale|^2`."""
    largest = 0.0
    for i in range(indptr.size - 1):
        first = np.uint64(indptr[i])
        size = 0.0
        for c in range(indptr[i + 1] - indptr[i]):
            at = first + np.uint64(c)
            x = data[at] * scale[np.uint32(indices[at])]
            size += x * x
        largest = max(largest, size)
    return largest


# --- More classes ---------------------------------------------------------------------------------


@fast_kernel(
    f"float64({_ROWS}, int64[::1], float64[::1], float64[:,::1], float64[::1], float64[:,::1], "
    "float64[:,::1])"
)
def sparse_softmax_pass(  # type: ignore[no-untyped-def]
    data, indices, indptr, codes, w, coef, intercept, out_share, out_gradient
):
    """Sum of the losses; probabilities (n, K), and the gradient (d, K) is added to."""
    n_classes = intercept.size
    total = 0.0
    residual = np.empty(n_classes)
    for i in range(w.size):
        first = np.uint64(indptr[i])
        cells = indptr[i + 1] - indptr[i]
        for k in range(n_classes):
            residual[k] = intercept[k]
        for c in range(cells):
            at = first + np.uint64(c)
            j = np.uint32(indices[at])
            x = data[at]
            for k in range(n_classes):
                residual[k] += x * coef[j, k]
        top = residual[0]
        for k in range(1, n_classes):
            top = max(top, residual[k])
        own = residual[codes[i]]
        size = 0.0
        for k in range(n_classes):
            residual[k] = exp_of_negative(residual[k] - top)
            size += residual[k]
        total += w[i] * (np.log(size) + top - own)
        for k in range(n_classes):
            share = residual[k] / size
            out_share[i, k] = share
            residual[k] = w[i] * share
        residual[codes[i]] -= w[i]
        for c in range(cells):
            at = first + np.uint64(c)
            j = np.uint32(indices[at])
            x = data[at]
            for k in range(n_classes):
                out_gradient[j, k] += x * residual[k]
    return total


@fast_kernel(
    f"void({_ROWS}, float64[:,::1], float64[::1], float64[:,::1], float64[::1], float64[:,::1], "
    "float64[::1])"
)
def sparse_softmax_product(  # type: ignore[no-untyped-def]
    data, indices, indptr, share, w, v, shift, out, out_sum
):
    """Adds `X' U` and the column sums of `U`, `U_ik = w_i p_ik (u_ik - sum_l p_il u_il)`."""
    n_classes = shift.size
    change = np.empty(n_classes)
    for i in range(w.size):
        first = np.uint64(indptr[i])
        cells = indptr[i + 1] - indptr[i]
        for k in range(n_classes):
            change[k] = shift[k]
        for c in range(cells):
            at = first + np.uint64(c)
            j = np.uint32(indices[at])
            x = data[at]
            for k in range(n_classes):
                change[k] += x * v[j, k]
        mean = 0.0
        for k in range(n_classes):
            mean += share[i, k] * change[k]
        for k in range(n_classes):
            change[k] = w[i] * share[i, k] * (change[k] - mean)
            out_sum[k] += change[k]
        for c in range(cells):
            at = first + np.uint64(c)
            j = np.uint32(indices[at])
            x = data[at]
            for k in range(n_classes):
                out[j, k] += x * change[k]
