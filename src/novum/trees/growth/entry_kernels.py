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
        for i in range(start, stop):
            total += weight[i]
            for t in range(labels.shape[1]):
                out[labels[rows[i], t]] += weight[i]
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
    "int64, int64, int8[::1], int64, int64, boolean, int32[:, ::1], float64[:, ::1], "
    "float64[::1])"
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
    whole,
    scratch_rows,
    scratch_weight,
    out_shares,
):
    """Writes the right child's entries from `base` on, the left child's behind them.

    Returns where the left child's entries begin and end; `out_shares` has the shares (left,
    right) of the known weight. Entries keep their order; parts of rows come after whole ones.
    """
    n_left = 0
    n_missing = 0
    right = base
    left_weight = 0.0
    right_weight = 0.0
    if question == 1 and whole:
        # Without branches: every entry is written to both sides and one of them moves on.
        for i in range(start, stop):
            row = rows[i]
            w = weight[i]
            above = codes[row, column] > code
            scratch_rows[0, n_left] = row
            scratch_weight[0, n_left] = w
            rows[right] = row
            weight[right] = w
            n_left += not above
            right += above
            right_weight += w if above else 0.0
            left_weight += 0.0 if above else w
        stop = start
    for i in range(start, stop):
        row = rows[i]
        w = weight[i]
        c = np.int64(codes[row, column])
        side = missing_branch
        if c != missing:
            side = (0 if c <= code else 1) if question == 1 else branch[c]
        if side == 0:
            scratch_rows[0, n_left] = row
            scratch_weight[0, n_left] = w
            n_left += 1
            left_weight += w if c != missing else 0.0
        elif side == 1:
            rows[right] = row
            weight[right] = w
            right += 1
            right_weight += w if c != missing else 0.0
        else:
            scratch_rows[1, n_missing] = row
            scratch_weight[1, n_missing] = w
            n_missing += 1
    out_shares[0] = left_weight / (left_weight + right_weight)
    out_shares[1] = right_weight / (left_weight + right_weight)
    for i in range(n_missing):
        rows[right] = scratch_rows[1, i]
        weight[right] = scratch_weight[1, i] * out_shares[1]
        right += 1
    left = right
    for i in range(n_left):
        rows[left] = scratch_rows[0, i]
        weight[left] = scratch_weight[0, i]
        left += 1
    for i in range(n_missing):
        rows[left] = scratch_rows[1, i]
        weight[left] = scratch_weight[1, i] * out_shares[0]
        left += 1
    return right, left


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
