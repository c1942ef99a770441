"""Where a column of numbers is cut into levels: by width, by frequency, or by what classes tell.

The rule of minimum description length cuts where the entropy of the classes falls most, and again
in both parts, as long as the gain pays for naming the cut:

    gain > ( log2(N - 1) + log2(3^k - 2) - (k H - k_1 H_1 - k_2 H_2) ) / N

with N cells of k classes of entropy H, in bits. Fayyad and Irani, Multi-interval discretization of
continuous-valued attributes for classification learning, IJCAI 1993.
"""

from __future__ import annotations

import numpy as np

from novum.numerics import Floats


def equal_width_cuts(values: Floats, bins: int) -> Floats:
    """Between bins of one width over the range.

    Examples
    --------
    >>> equal_width_cuts(np.array([0.0, 1.0, 8.0]), 4)
    array([2., 4., 6.])
    """
    low, high = float(values[0]), float(values[-1])
    inner = np.linspace(low, high, bins + 1)[1:-1]
    return np.unique(inner[(inner > low) & (inner < high)])


def equal_frequency_cuts(values: Floats, weights: Floats, bins: int) -> Floats:
    """Between bins of about equal weight; equal values stay together.

    Examples
    --------
    >>> equal_frequency_cuts(np.array([0.0, 1.0, 2.0, 9.0]), np.ones(4), 2)
    array([1.5])
    """
    below = np.cumsum(weights)[:-1] / weights.sum()
    middles = 0.5 * (values[:-1] + values[1:])
    if not len(middles):
        return middles
    wanted = np.arange(1, bins) / bins
    nearest = np.abs(below[:, np.newaxis] - wanted).argmin(axis=0)
    return np.unique(middles[nearest])


def mdl_cuts(values: Floats, counts: Floats) -> Floats:
    """By minimum description length.

    Parameters
    ----------
    values : array (m,)
        Different, rising.
    counts : array (m, K)
        Weight of every class at every value.

    Examples
    --------
    >>> classes = np.repeat(np.eye(2), 8, axis=0)
    >>> mdl_cuts(np.arange(16.0), classes)
    array([7.5])
    """
    cuts: list[float] = []
    intervals = [(0, len(values))]
    below = np.concatenate([np.zeros((1, counts.shape[1])), np.cumsum(counts, axis=0)])
    while intervals:
        start, stop = intervals.pop()
        if stop - start < 2:
            continue
        whole = below[stop] - below[start]
        left = below[start + 1 : stop] - below[start]
        right = whole - left
        n, n_left, n_right = whole.sum(), left.sum(axis=1), right.sum(axis=1)
        H, H_left, H_right = _entropies(whole[np.newaxis])[0], _entropies(left), _entropies(right)
        gains = H - (n_left * H_left + n_right * H_right) / n
        best = int(np.argmax(gains))
        sides = whole, left[best], right[best]
        k, k_left, k_right = (int((side > 0).sum()) for side in sides)
        price = np.log2(max(n - 1.0, 1.0)) + np.log2(3.0**k - 2.0)
        price -= k * H - k_left * H_left[best] - k_right * H_right[best]
        if gains[best] * n > price:
            at = start + best + 1
            cuts.append(0.5 * float(values[at - 1] + values[at]))
            intervals += [(start, at), (at, stop)]
    return np.array(sorted(cuts))


def _entropies(counts: Floats) -> Floats:
    """Of the rows, in bits."""
    shares = counts / counts.sum(axis=1, keepdims=True)
    logs = np.log2(shares, where=shares > 0, out=np.zeros_like(shares))
    return np.asarray(-(shares * logs).sum(axis=1))
