"""The common case, fast: the best threshold of one column for two classes or one target, or for
many classes in a small node.

Sums are made, read in the order of the codes and cleared in one go. A cut is judged before the next
code is added, between that code and the one before it:

    gain = (m_left w - m w_left)^2 / (w w_left w_right),

compared without division, as e^2 d_best > (e_best^2 + tie w d_best) d with d = w_left w_right.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

import numpy as np

from novum.numerics.jit import lean_kernel
from novum.numerics.jit_bits import trailing_zeros

_ONE = np.uint64(1)
_ZERO = np.uint64(0)
_SIX = np.uint64(6)
_LOW = np.uint64(63)


@lean_kernel(
    "Tuple((float64, int64, int64, int64))(float64[::1], uint64[::1], boolean, float64, float64, "
    "float64, float64)"
)
def cut_marked_pairs(sums, bits, classes, weight, moment, min_leaf, tie):
    """(gain, code, next code, number of codes) of the marked codes; clears sums and marks.

    Two classes are sums (w_0, w_1) with moment w_1; one target is (w, m). Gain -1: no cut.
    """
    left, left_moment = 0.0, 0.0
    best, best_bar, best_divisor = -1.0, -1.0, 1.0
    code, next_code, before, count = -1, -1, -1, 0
    for place in range(4):
        word = bits[place]
        bits[place] = _ZERO
        while word != _ZERO:
            here = place * 64 + trailing_zeros(word)
            word &= word - _ONE
            right = weight - left
            if count > 0 and left >= min_leaf and right >= min_leaf:
                excess = left_moment * weight - moment * left
                square = excess * excess
                divisor = left * right
                if square * best_divisor > best_bar * divisor:
                    best = square / (weight * divisor)
                    best_divisor = divisor
                    best_bar = square + tie * weight * divisor
                    code, next_code = before, here
            at = np.uint64(2 * here)
            a = sums[at]
            b = sums[at + _ONE]
            sums[at] = 0.0
            sums[at + _ONE] = 0.0
            left += a + b if classes else a
            left_moment += b
            before = here
            count += 1
    return best, code, next_code, count


@lean_kernel(
    "Tuple((float64, int64, int64, int64))(float64[::1], int64, boolean, float64, float64, "
    "float64, float64)"
)
def cut_all_pairs(sums, n_codes, classes, weight, moment, min_leaf, tie):
    """As `cut_marked_pairs` for the sums of all codes, some of which may be empty."""
    left, left_moment = 0.0, 0.0
    best, best_bar, best_divisor = -1.0, -1.0, 1.0
    code, next_code, before, count = -1, -1, -1, 0
    for here in range(n_codes):
        at = np.uint64(2 * here)
        a = sums[at]
        b = sums[at + _ONE]
        amount = a + b if classes else a
        if amount == 0.0:
            continue
        right = weight - left
        if count > 0 and left >= min_leaf and right >= min_leaf:
            excess = left_moment * weight - moment * left
            square = excess * excess
            divisor = left * right
            if square * best_divisor > best_bar * divisor:
                best = square / (weight * divisor)
                best_divisor = divisor
                best_bar = square + tie * weight * divisor
                code, next_code = before, here
        sums[at] = 0.0
        sums[at + _ONE] = 0.0
        left += amount
        left_moment += b
        before = here
        count += 1
    return best, code, next_code, count


@lean_kernel(
    "void(uint8[:, ::1], int32[:, ::1], float64[:, ::1], int32[::1], float64[::1], int64, int64, "
    "int64, boolean, float64[::1], uint64[::1])"
)
def mark_pairs(
    codes, labels, numbers, rows, weight, start, stop, column, classes, out_sums, out_bits
):
    """Adds the rows to the sums of their codes, and marks the codes.

    Indices are unsigned, because signed ones are checked for counting from behind.
    """
    j = np.uint64(column)
    for step in range(stop - start):
        i = np.uint64(start) + np.uint64(step)
        row = np.uint64(rows[i])
        w = weight[i]
        code = np.uint64(codes[row, j])
        at = code + code
        if classes:
            out_sums[at + np.uint64(labels[row, _ZERO])] += w
        else:
            out_sums[at] += w
            out_sums[at + _ONE] += w * numbers[row, _ZERO]
        out_bits[code >> _SIX] |= _ONE << (code & _LOW)


@lean_kernel(
    "Tuple((float64, int64, int64, int64))(uint8[:, ::1], int32[:, ::1], int32[::1], float64[::1], "
    "int64, int64, int64, boolean, float64[::1], float64, float64, float64, float64[:, ::1], "
    "int32[::1], int32[::1], uint64[::1])"
)
def cut_few_rows(
    codes,
    labels,
    rows,
    weight,
    start,
    stop,
    column,
    entropy,
    total,
    amount,
    min_leaf,
    tie,
    scratch,
    heads,
    nexts,
    bits,
):
    """Many classes in a small node: the rows of a code are a list, and each moves one class.

    q(left) + q(right) is kept up to date: for Gini the sums of squares on both sides, for entropy
    those of s log2 s. `heads` is -1 everywhere, before and after. As `cut_marked_pairs`.
    """
    left, right = scratch[0], scratch[1]
    whole_sum = 0.0
    for s in range(total.size):
        left[s] = 0.0
        right[s] = total[s]
        if entropy:
            whole_sum += total[s] * math.log2(total[s]) if total[s] > 0.0 else 0.0
        else:
            whole_sum += total[s] * total[s]
    whole = whole_sum - amount * math.log2(amount) if entropy else whole_sum / amount
    first = np.uint64(start)
    for step in range(stop - start):
        item = np.uint64(step)
        code = np.uint64(codes[np.uint64(rows[first + item]), np.uint64(column)])
        nexts[item] = heads[code]
        heads[code] = step
        bits[code >> _SIX] |= _ONE << (code & _LOW)
    left_sum, right_sum, left_weight = 0.0, whole_sum, 0.0
    best, best_code, next_code, before, count = -1.0, -1, -1, -1, 0
    for place in range(4):
        word = bits[place]
        bits[place] = _ZERO
        while word != _ZERO:
            here = place * 64 + trailing_zeros(word)
            word &= word - _ONE
            right_weight = amount - left_weight
            if count > 0 and left_weight >= min_leaf and right_weight >= min_leaf:
                if entropy:
                    gain = left_sum - left_weight * math.log2(left_weight)
                    gain += right_sum - right_weight * math.log2(right_weight) - whole
                else:
                    gain = left_sum / left_weight + right_sum / right_weight - whole
                if best_code < 0 or gain > best + tie:
                    # A gain is never negative but by rounding.
                    best, best_code, next_code = max(gain, 0.0), before, here
            link = heads[here]
            heads[here] = -1
            while link >= 0:
                item = np.uint64(link)
                k = np.uint64(labels[np.uint64(rows[first + item]), _ZERO])
                w = weight[first + item]
                a, b = left[k], right[k]
                left[k] = a + w
                right[k] = b - w
                if entropy:
                    left_sum += left[k] * math.log2(left[k])
                    left_sum -= a * math.log2(a) if a > 0.0 else 0.0
                    right_sum -= b * math.log2(b) if b > 0.0 else 0.0
                    right_sum += right[k] * math.log2(right[k]) if right[k] > 0.0 else 0.0
                else:
                    left_sum += w * (a + left[k])
                    right_sum -= w * (b + right[k])
                left_weight += w
                link = nexts[item]
            before = here
            count += 1
    return best, best_code, next_code, count


@lean_kernel(
    "Tuple((float64, int64, int64, int64))(float64[::1], int64, boolean, float64[::1], float64, "
    "float64, float64, float64[:, ::1])"
)
def cut_all_sums(sums, n_codes, entropy, total, amount, min_leaf, tie, scratch):
    """Many classes: as `cut_all_pairs`, with q(left) and q(right) kept up to date code by code."""
    left, right = scratch[0], scratch[1]
    n_stats = total.size
    whole_sum = 0.0
    for k in range(n_stats):
        left[k] = 0.0
        right[k] = total[k]
        if entropy:
            whole_sum += total[k] * math.log2(total[k]) if total[k] > 0.0 else 0.0
        else:
            whole_sum += total[k] * total[k]
    whole = whole_sum - amount * math.log2(amount) if entropy else whole_sum / amount
    left_sum, right_sum, left_weight = 0.0, whole_sum, 0.0
    best, best_code, next_code, before, count = -1.0, -1, -1, -1, 0
    for here in range(n_codes):
        at = here * n_stats
        here_weight = 0.0
        for k in range(n_stats):
            here_weight += sums[at + k]
        if here_weight == 0.0:
            continue
        right_weight = amount - left_weight
        if count > 0 and left_weight >= min_leaf and right_weight >= min_leaf:
            if entropy:
                gain = left_sum - left_weight * math.log2(left_weight)
                gain += right_sum - right_weight * math.log2(right_weight) - whole
            else:
                gain = left_sum / left_weight + right_sum / right_weight - whole
            if best_code < 0 or gain > best + tie:
                best, best_code, next_code = max(gain, 0.0), before, here
        left_sum, right_sum = 0.0, 0.0
        for k in range(n_stats):
            w = sums[at + k]
            sums[at + k] = 0.0
            a = left[k] + w
            b = right[k] - w
            left[k] = a
            right[k] = b
            if entropy:
                left_sum += a * math.log2(a) if a > 0.0 else 0.0
                right_sum += b * math.log2(b) if b > 0.0 else 0.0
            else:
                left_sum += a * a
                right_sum += b * b
        left_weight += here_weight
        before = here
        count += 1
    return best, best_code, next_code, count
