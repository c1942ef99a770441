"""The rows of a node: summing them, parting them among its children, copying them nearby.

Entries (row, weight) of a node stand side by side in an arena; a row that goes both ways has an
entry in both children, with parts of its weight.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from novum.numerics.jit import lean_kernel
from novum.trees.growth.growing_columns import ENTROPY, GINI, TABLE
from novum.trees.growth.split_kernels import quality

_ZERO = np.uint64(0)
_ONE = np.uint64(1)


@lean_kernel(
    "float64(int32[:, ::1], float64[:, ::1], int32[::1], float64[::1], int64, int64, int64[::1], "
    "int64, float64[::1])"
)
def sum_rows(labels, numbers, rows, weight, start, stop, target_start, criterion, out):
    """Sums of the rows `start` to `stop`; returns their impurity, exactly 0 if all are alike."""
    n_stats = out.size
    for s in range(n_stats):
        out[s] = 0.0
    total = 0.0
    if criterion <= ENTROPY:
        for step in range(stop - start):
            at = np.uint64(start) + np.uint64(step)
            row = np.uint64(rows[at])
            total += weight[at]
            for t in range(labels.shape[1]):
                out[np.uint64(labels[row, np.uint64(t)])] += weight[at]
        alike = True
        for t in range(labels.shape[1]):
            alike &= out[labels[rows[start], t]] == total
        if alike:
            return 0.0
        found = quality(out, n_stats, target_start, criterion) / total
        return 1.0 - found if criterion == GINI else -found
    square = 0.0
    alike = True
    for i in range(start, stop):
        w = weight[i]
        out[0] += w
        for t in range(numbers.shape[1]):
            y = numbers[rows[i], t]
            out[1 + t] += w * y
            square += w * y * y
            alike &= y == numbers[rows[start], t]
    if alike:
        return 0.0
    found = square / numbers.shape[1] - quality(out, n_stats, target_start, criterion)
    return max(found / out[0], 0.0)


@lean_kernel(
    "UniTuple(int64, 2)(uint8[:, ::1], int32[::1], float64[::1], int64, int64, int64, int64, "
    "int64, int64, int8[::1], int64, int64, int32[:, ::1], float64[:, ::1], float64[::1])"
)
def partition(
    codes,
    rows,
    weight,
    start,
    stop,
    base,
    question,
    column,
    code,
    branch,
    missing,
    missing_branch,
    spare_rows,
    spare_weight,
    out_shares,
):
    """Writes the right child's entries from `base` on, the left child's behind them.

    Returns where the left child's entries begin and end; `out_shares` has the shares (left,
    right) of the known weight. Entries keep their order; parts of rows come after whole ones.
    """
    n_left, n_missing, right = _ZERO, _ZERO, np.uint64(base)
    left_weight, right_weight = 0.0, 0.0
    both = np.int64(2)
    gap = missing_branch if missing_branch >= 0 else both
    j = np.uint64(column)
    # Without branches: every entry is written to all sides, and one of them moves on. Indices are
    # unsigned, because signed ones are checked for counting from behind.
    for step in range(stop - start):
        i = np.uint64(start) + np.uint64(step)
        entry = rows[i]
        w = weight[i]
        c = np.int64(codes[np.uint64(entry), j])
        known = c != missing
        if question == 1:
            side = np.int64(c > code)
        else:
            side = np.int64(branch[np.uint64(c if known else 0)])
        side = side if known else gap
        spare_rows[_ZERO, n_left] = entry
        spare_weight[_ZERO, n_left] = w
        rows[right] = entry
        weight[right] = w
        spare_rows[_ONE, n_missing] = entry
        spare_weight[_ONE, n_missing] = w
        n_left += np.uint64(side == 0)
        right += np.uint64(side == 1)
        n_missing += np.uint64(side == both)
        left_weight += w if known and side == 0 else 0.0
        right_weight += w if known and side == 1 else 0.0
    out_shares[0] = left_weight / (left_weight + right_weight)
    out_shares[1] = right_weight / (left_weight + right_weight)
    for step in range(np.int64(n_missing)):
        i = np.uint64(step)
        rows[right] = spare_rows[_ONE, i]
        weight[right] = spare_weight[_ONE, i] * out_shares[1]
        right += _ONE
    left = right
    for step in range(np.int64(n_left)):
        i = np.uint64(step)
        rows[left] = spare_rows[_ZERO, i]
        weight[left] = spare_weight[_ZERO, i]
        left += _ONE
    for step in range(np.int64(n_missing)):
        i = np.uint64(step)
        rows[left] = spare_rows[_ONE, i]
        weight[left] = spare_weight[_ONE, i] * out_shares[0]
        left += _ONE
    return np.int64(right), np.int64(left)


@lean_kernel(f"void({TABLE}, int32[::1], int64, int64, {TABLE})")
def copy_rows(table, rows, start, stop, out):
    """Copies the rows of a subtree and numbers its entries by the copies."""
    codes, labels, targets = table
    out_codes, out_labels, out_targets = out
    for i in range(start, stop):
        row = rows[i]
        place = i - start
        for j in range(codes.shape[1]):
            out_codes[place, j] = codes[row, j]
        for t in range(labels.shape[1]):
            out_labels[place, t] = labels[row, t]
        for t in range(targets.shape[1]):
            out_targets[place, t] = targets[row, t]
        rows[i] = place
