"""The best place to cut a list of codes in two, given the sums of each code.

The gain of a cut is what the criterion, summed over the rows, falls by:

    gain = q(left) + q(right) - q(known),

with q = sum_k s_k^2 / w for Gini, sum_k s_k log2 s_k - w log2 w for entropy, and sum_t m_t^2 / w
for numbers with moments m_t = sum w y_t. With two classes, or one target, it is a multiple of
(m_left w - m w_left)^2 / (w w_left w_right), which needs no difference of large numbers.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

from novum.numerics.jit import lean_kernel

_GINI = 0
_ENTROPY = 1


@lean_kernel("float64(float64[::1], int64, int64[::1], int64)")
def quality(sums, n_stats, target_start, criterion):
    """q of a set of rows, averaged over the targets; 0 for no rows."""
    n_targets = target_start.size - 1
    found = 0.0
    if criterion <= _ENTROPY:
        for t in range(n_targets):
            weight = 0.0
            total = 0.0
            for k in range(target_start[t], target_start[t + 1]):
                s = sums[k]
                weight += s
                if criterion == _GINI:
                    total += s * s
                elif s > 0.0:
                    total += s * math.log2(s)
            if weight > 0.0:
                if criterion == _GINI:
                    found += total / weight
                else:
                    found += total - weight * math.log2(weight)
        return found / n_targets
    if sums[0] > 0.0:
        for s in range(1, n_stats):
            found += sums[s] * sums[s] / sums[0]
    return found / n_targets


@lean_kernel("float64(float64[::1], int64[::1], boolean)")
def weight_of(sums, target_start, classes):
    """The weight of a set of rows."""
    if not classes:
        return sums[0]
    weight = 0.0
    for k in range(target_start[1]):
        weight += sums[k]
    return weight


@lean_kernel(
    "UniTuple(float64, 2)(float64[::1], int64[::1], int64, boolean, float64, float64, float64, "
    "float64, float64, float64, int64, float64, float64, boolean[::1])"
)
def cut_pairs(
    sums,
    order,
    n_codes,
    classes,
    start_weight,
    start_moment,
    weight,
    moment,
    min_leaf,
    tie,
    sign,
    lower,
    upper,
    closed,
):
    """Best cut of the codes in `order` where the sums are two numbers: (gain, place), or -1.

    Two classes are (w_0, w_1), whose moment is w_1; one target is (w, m). The left side starts
    with rows of its own (`start_weight`, `start_moment`), which are missing ones. Gains are those
    of squares: twice them is Gini's. `sign` asks the mean to rise (1) or fall (-1) from left to
    right and both means to stay within bounds.
    """
    best = -1.0
    place = -1
    left = start_weight
    left_moment = start_moment
    for i in range(n_codes - 1):
        at = order[i] * 2
        a = sums[at]
        b = sums[at + 1]
        left_moment += b
        left += a + b if classes else a
        right = weight - left
        if left < min_leaf or right < min_leaf or right <= 0.0 or closed[i]:
            continue
        excess = left_moment * weight - moment * left
        gain = excess * excess / (weight * left * right)
        if place < 0 or gain > best + tie:
            if sign != 0:
                low = left_moment / left
                high = (moment - left_moment) / right
                if (high - low) * sign < 0.0 or min(low, high) < lower or max(low, high) > upper:
                    continue
            best = gain
            place = i
    return best, float(place)


@lean_kernel(
    "UniTuple(float64, 2)(float64[::1], int64[::1], int64, int64, int64[::1], int64, "
    "float64[::1], float64[::1], float64, float64, float64, boolean[::1], float64[::1], "
    "float64[::1])"
)
def cut_sums(
    sums,
    order,
    n_codes,
    n_stats,
    target_start,
    criterion,
    start_sums,
    known,
    known_quality,
    min_leaf,
    tie,
    closed,
    left,
    right,
):
    """As `cut_pairs` for any sums; `left` and `right` are scratch. Returns (gain, place), or -1."""
    classes = criterion <= _ENTROPY
    for s in range(n_stats):
        left[s] = start_sums[s]
    best = -1.0
    place = -1
    for i in range(n_codes - 1):
        at = order[i] * n_stats
        for s in range(n_stats):
            left[s] += sums[at + s]
            right[s] = known[s] - left[s]
        if closed[i]:
            continue
        left_weight = weight_of(left, target_start, classes)
        right_weight = weight_of(right, target_start, classes)
        if left_weight < min_leaf or right_weight < min_leaf or right_weight <= 0.0:
            continue
        gain = (
            quality(left, n_stats, target_start, criterion)
            + quality(right, n_stats, target_start, criterion)
            - known_quality
        )
        if place < 0 or gain > best + tie:
            # A gain is never negative but by rounding.
            best = max(gain, 0.0)
            place = i
    return best, float(place)
