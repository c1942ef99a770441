"""Compiled passes of stump growing, on codes that stay as they are from round to round.

Rows are sorted by class and codes stored by column, so that the class weights by code cost one
addition for each row and column. Four columns go at a time with unsigned indices, because signed
ones are checked for counting from behind (`benchmarks/ensemble/bench_adaboost.py`).
"""

from __future__ import annotations

import math

import numpy as np

from novum.numerics import kernel

_GINI = 0
_ONE = np.uint64(1)
# Gains, and weights of classes, that differ by less than this part of the whole are equal.
_TIE = 1e-10


@kernel("void(uint8[:, ::1], int64[::1], float64[::1], float64[:, ::1])")
def class_sums(codes, starts, w, out):  # type: ignore[no-untyped-def]
    """Weight of every class by code: that of class k and code c at `c * K + k` of each column.

    Rows `starts[k]` to `starts[k + 1]` are of class k. The columns are a multiple of four.
    """
    n_classes = starts.size - 1
    step = np.uint64(n_classes)
    for j in range(0, codes.shape[0], 4):
        a, b, c, d = out[j], out[j + 1], out[j + 2], out[j + 3]
        first, second, third, fourth = codes[j], codes[j + 1], codes[j + 2], codes[j + 3]
        for place in range(out.shape[1]):
            a[place] = 0.0
            b[place] = 0.0
            c[place] = 0.0
            d[place] = 0.0
        for k in range(n_classes):
            start = np.uint64(starts[k])
            label = np.uint64(k)
            for t in range(starts[k + 1] - starts[k]):
                i = start + np.uint64(t)
                x = w[i]
                a[np.uint64(first[i]) * step + label] += x
                b[np.uint64(second[i]) * step + label] += x
                c[np.uint64(third[i]) * step + label] += x
                d[np.uint64(fourth[i]) * step + label] += x


@kernel("float64(float64[::1], int64, float64[::1])")
def root_sums(sums, criterion, out_root):  # type: ignore[no-untyped-def]
    """Class weights of all rows, from the sums of any column; returns the gain that is a tie."""
    n_classes = out_root.size
    weight, squares, logs = 0.0, 0.0, 0.0
    for k in range(n_classes):
        total = 0.0
        for place in range(k, sums.size, n_classes):
            total += sums[place]
        out_root[k] = total
        weight += total
        squares += total * total
        if total > 0.0:
            logs += total * math.log2(total)
    removable = weight - squares / weight
    if criterion != _GINI:
        removable = weight * math.log2(weight) - logs
    return _TIE * removable + 1e-15 * weight


@kernel("float64(float64[::1], float64[::1], float64, float64)")
def entropy_gain(left, known, n_left, n_known):  # type: ignore[no-untyped-def]
    """Bits that a cut saves, summed over the rows, with class weights `left` of `known`."""
    n_right = n_known - n_left
    information = 0.0
    for k in range(left.size):
        right = known[k] - left[k]
        if left[k] > 0.0:
            information += left[k] * math.log2(left[k] * n_known / (known[k] * n_left))
        if right > 0.0:
            information += right * math.log2(right * n_known / (known[k] * n_right))
    return information


@kernel(
    "UniTuple(float64, 3)(float64[:, ::1], float64[::1], int64[::1], int64[:, ::1], int64[::1], "
    "int64, int64, float64, float64[:, ::1])"
)
def best_cut(sums, root, columns, levels, n_levels, missing, criterion, tie, scratch):  # type: ignore[no-untyped-def]
    """Best threshold of the ordered columns: (gain, column, place in its levels), or gain -1.

    `levels` are the codes that rows have, ascending. Of gains within `tie` the first stays. The
    gain of Gini is N / (N_l N_r) sum_k (l_k - N_l c_k / N)^2: no difference of large numbers.
    """
    n_classes = root.size
    left, known = scratch[0], scratch[1]
    pairs = n_classes == 2 and criterion == _GINI
    best, best_column, best_place = -1.0, -1, -1
    for j in columns:
        row = sums[j]
        n_known, n_left = 0.0, 0.0
        for k in range(n_classes):
            left[k] = 0.0
            known[k] = root[k] - row[missing * n_classes + k]
            n_known += known[k]
        rate = known[n_classes - 1] / n_known
        left_last = 0.0
        for place in range(n_levels[j] - 1):
            at = np.uint64(levels[j, place] * n_classes)
            if pairs:
                # With two classes both squares are equal, and registers hold the sums.
                x = row[at + _ONE]
                left_last += x
                n_left += row[at] + x
                excess = left_last - n_left * rate
                total = 2.0 * excess * excess
            else:
                total = 0.0
                for k in range(n_classes):
                    x = row[at + np.uint64(k)]
                    left[k] += x
                    n_left += x
                if criterion == _GINI:
                    share = n_left / n_known
                    for k in range(n_classes):
                        excess = left[k] - share * known[k]
                        total += excess * excess
            n_right = n_known - n_left
            # A tail that weighs nothing beside the rest is no branch.
            if n_right > 0.0:
                if criterion == _GINI:
                    gain = total * n_known / (n_left * n_right)
                else:
                    gain = entropy_gain(left, known, n_left, n_known)
                if gain > best + tie:
                    best, best_column, best_place = gain, j, place
    return best, float(best_column), float(best_place)


@kernel("float64(uint8[::1], int64[::1], float64[:, ::1], float64[::1])")
def reweigh(codes, starts, factors, out_w):  # type: ignore[no-untyped-def]
    """Multiplies the weight of each row of class k by `factors[k, code]`; returns the largest."""
    largest = 0.0
    for k in range(starts.size - 1):
        start = np.uint64(starts[k])
        factor = factors[k]
        for t in range(starts[k + 1] - starts[k]):
            i = start + np.uint64(t)
            x = out_w[i] * factor[np.uint64(codes[i])]
            out_w[i] = x
            largest = x if x > largest else largest
    return largest


@kernel("int64(float64[::1])")
def first_largest(weights):  # type: ignore[no-untyped-def]
    """The first class whose weight is the largest up to rounding."""
    largest, total = 0.0, 0.0
    for k in range(weights.size):
        largest = max(largest, weights[k])
        total += weights[k]
    for k in range(weights.size):
        if weights[k] >= largest - _TIE * total:
            return k
    return 0


@kernel(
    "float64(float64[::1], int8[::1], float64[::1], boolean, float64[:, ::1], float64[:, ::1], "
    "float64[::1], int32[::1])"
)
def answer(sums, branch, root, divided, scratch, out_value, out_share, out_answer):  # type: ignore[no-untyped-def]
    """Class weights and classes of the branches of a question; returns the error.

    Rows of branch 2 have cells that do not answer. They count in both branches with their shares,
    and get the class that is most probable when the branches are mixed by their shares.
    """
    n_classes = root.size
    amounts = np.zeros(3)
    for b in range(3):
        for k in range(n_classes):
            scratch[b, k] = 0.0
    for code in range(branch.size):
        for k in range(n_classes):
            x = sums[code * n_classes + k]
            scratch[branch[code], k] += x
            amounts[branch[code]] += x
    mixed = out_value[0]
    for b in range(2):
        out_share[b] = amounts[b] / (amounts[0] + amounts[1]) if divided else 0.0
        for k in range(n_classes):
            out_value[b + 1, k] = scratch[b, k] + out_share[b] * scratch[2, k]
        out_answer[b] = first_largest(out_value[b + 1])
    for k in range(n_classes):
        mixed[k] = root[k]
        if divided:
            mixed[k] = 0.0
            for b in range(2):
                whole = amounts[b] + out_share[b] * amounts[2]
                mixed[k] += out_share[b] * out_value[b + 1, k] / whole
    out_answer[2] = first_largest(mixed)
    missed, weight = 0.0, 0.0
    for k in range(n_classes):
        out_value[0, k] = root[k]
        weight += root[k]
        # Summing what is missed, not subtracting what is not, keeps an error of zero exact.
        for b in range(3):
            missed += scratch[b, k] if out_answer[b] != k else 0.0
    return missed / weight
