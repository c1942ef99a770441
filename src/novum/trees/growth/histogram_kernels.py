"""Sums of a node's rows by the code of a column, and the best threshold in the common case.

A row adds its weight w to the sum of its class, or (w, w y_1, w y_2, ...) for numbers; the sums of
code c stand at `c * n_stats`. Small nodes touch few codes: they are marked in a bitmap, and only
they are visited and cleared. Wide columns, with more than 256 codes, have a bitmap of the words of
their bitmap, and one of the words of that.

The common case is two classes or one target, or many classes in a small node. There sums are made,
read in the order of the codes and cleared in one go. A cut is judged before the next code is added,
between that code and the one before it:

    gain = (m_left w - m w_left)^2 / (w w_left w_right),

compared without division, as e^2 d_best > (e_best^2 + tie w d_best) d with d = w_left w_right.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

import numpy as np

from novum.numerics import inner_kernel, trailing_zeros

_ONE = np.uint64(1)
_ZERO = np.uint64(0)
_SIX = np.uint64(6)
_LOW = np.uint64(63)


@inner_kernel()
def fill(table, entries, start, stop, chosen, n_chosen, n_stats, classes, out):
    """Adds the rows `start` to `stop` to the histograms of the chosen columns.

    Indices are unsigned, because signed ones are checked for counting from behind.
    """
    codes, labels, numbers = table
    rows, weight = entries
    width = np.uint64(n_stats)
    n_targets = labels.shape[1] if classes else numbers.shape[1]
    for step in range(stop - start):
        i = np.uint64(start) + np.uint64(step)
        row = np.uint64(rows[i])
        w = weight[i]
        if classes:
            for t in range(n_targets):
                k = np.uint64(labels[row, np.uint64(t)])
                for f in range(n_chosen):
                    slot = np.uint64(f)
                    code = np.uint64(codes[row, np.uint64(chosen[slot])])
                    out[slot, code * width + k] += w
        elif n_targets == 1:
            moment = w * numbers[row, _ZERO]
            for f in range(n_chosen):
                slot = np.uint64(f)
                at = np.uint64(codes[row, np.uint64(chosen[slot])]) * width
                out[slot, at] += w
                out[slot, at + _ONE] += moment
        else:
            for f in range(n_chosen):
                slot = np.uint64(f)
                at = np.uint64(codes[row, np.uint64(chosen[slot])]) * width
                out[slot, at] += w
                for t in range(n_targets):
                    out[slot, at + np.uint64(t + 1)] += w * numbers[row, np.uint64(t)]


@inner_kernel()
def occupied_by_scan(sums, n_codes, n_stats, out_codes):
    """The codes with rows, ascending, of a histogram that is nearly full; returns how many."""
    count = 0
    for code in range(n_codes):
        base = code * n_stats
        met = False
        for s in range(n_stats):
            met |= sums[base + s] != 0.0
        out_codes[count] = code
        count += met
    return count


@inner_kernel()
def occupied_by_bits(codes, rows, start, stop, column, missing, bits, out_codes):
    """The codes that the rows have, ascending, without `missing`; leaves the bitmap empty."""
    j = np.uint64(column)
    for step in range(stop - start):
        i = np.uint64(start) + np.uint64(step)
        code = np.uint64(codes[np.uint64(rows[i]), j])
        bits[code >> _SIX] |= _ONE << (code & _LOW)
    return marked_codes(bits, missing, out_codes)


@inner_kernel()
def marked_codes(bits, missing, out_codes):
    """The marked codes, ascending, without `missing`; leaves the bitmap empty."""
    count = 0
    for place in range(4):
        word = bits[place]
        bits[place] = _ZERO
        while word != _ZERO:
            out_codes[count] = place * 64 + trailing_zeros(word)
            count += 1
            word &= word - _ONE
    if count > 0 and out_codes[count - 1] == missing:
        count -= 1
    return count


@inner_kernel()
def occupied_wide(codes, rows, start, stop, column, missing, bits, out_codes):
    """As `occupied_by_bits` for any number of codes: bitmaps of bitmaps, three deep.

    `bits` holds the bitmap of codes, then from `words` on that of its words, and so on.
    """
    words = (missing >> 6) + 1
    upper = (words >> 6) + 1
    top = words + upper
    tops = (upper >> 6) + 1
    for i in range(start, stop):
        code = np.uint64(codes[rows[i], column])
        word = code >> _SIX
        high = word >> _SIX
        bits[word] |= _ONE << (code & _LOW)
        bits[np.uint64(words) + high] |= _ONE << (word & _LOW)
        bits[np.uint64(top) + (high >> _SIX)] |= _ONE << (high & _LOW)
    count = 0
    for a in range(tops):
        first = bits[top + a]
        bits[top + a] = _ZERO
        while first != _ZERO:
            b = a * 64 + trailing_zeros(first)
            first &= first - _ONE
            second = bits[words + b]
            bits[words + b] = _ZERO
            while second != _ZERO:
                c = b * 64 + trailing_zeros(second)
                second &= second - _ONE
                third = bits[c]
                bits[c] = _ZERO
                while third != _ZERO:
                    out_codes[count] = c * 64 + trailing_zeros(third)
                    count += 1
                    third &= third - _ONE
    if count > 0 and out_codes[count - 1] == missing:
        count -= 1
    return count


# --- Thresholds in the common case ----------------------------------------------------------------


@inner_kernel()
def cut_marked_pairs(sums, bits, classes, node, limits):
    """(gain, code, next code, number of codes) of the marked codes; clears sums and marks.

    Two classes are sums (w_0, w_1) with moment w_1; one target is (w, m). Gain -1: no cut.
    """
    weight, moment = node
    min_leaf, tie = limits
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


@inner_kernel()
def cut_all_pairs(sums, n_codes, classes, node, limits):
    """As `cut_marked_pairs` for the sums of all codes, some of which may be empty."""
    weight, moment = node
    min_leaf, tie = limits
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


@inner_kernel()
def mark_pairs(table, entries, start, stop, column, classes, out_sums, out_bits):
    """Adds the rows to the sums of their codes, and marks the codes.

    Indices are unsigned, because signed ones are checked for counting from behind.
    """
    codes, labels, numbers = table
    rows, weight = entries
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


@inner_kernel()
def cut_few_rows(table, entries, start, stop, column, entropy, node, limits, lists, scratch):
    """Many classes in a small node: the rows of a code are a list, and each moves one class.

    q(left) + q(right) is kept up to date: for Gini the sums of squares on both sides, for entropy
    those of s log2 s. `node` has the sums and the weight of the rows, `limits` the least weight of
    a side and what counts as a tie. `lists` are the heads of the lists, -1 everywhere before and
    after, the next row of each, and a bitmap. As `cut_marked_pairs`.
    """
    codes, labels, _ = table
    rows, weight = entries
    total, amount = node
    min_leaf, tie = limits
    heads, nexts, bits = lists
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


@inner_kernel()
def cut_all_sums(sums, n_codes, entropy, node, limits, scratch):
    """Many classes: as `cut_all_pairs`, with q(left) and q(right) kept up to date code by code."""
    total, amount = node
    min_leaf, tie = limits
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
