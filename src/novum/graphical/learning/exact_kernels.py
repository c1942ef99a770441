"""The best graph of all by dynamic programming over sets of variables, compiled.

For each child the best parents inside every set of others, smaller sets first; then for every set
of variables its best sink (Silander and Myllymäki 2006). A family is scored only where it could
still beat its subsets: `bounds` hold what no larger family exceeds (see `score_counts`).
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from novum.graphical.learning.counts_kernels import DATA, ROOM, RULE, fresh_score
from novum.numerics import inner_kernel, kernel, trailing_zeros


@inner_kernel()
def penalty_bound(data, rule, child, parents, n_parents):
    """What the penalty alone leaves of a penalized score, without counting."""
    starts = data[1]
    size = starts[child + 1] - starts[child]
    rows = 1.0
    for i in range(n_parents):
        rows *= starts[parents[i] + 1] - starts[parents[i]]
    return -rule[1][1] * rows * (size - 1)


@inner_kernel()
def is_legal(child, parents, n, allowed, required):
    """Whether all of these parents are allowed, and all that are required are among them."""
    n_required = 0
    for v in range(allowed.shape[0]):
        n_required += required[child, v]
    for i in range(n):
        if allowed[child, parents[i]] == 0:
            return False
        n_required -= required[child, parents[i]]
    return n_required == 0


@kernel(
    f"int64({DATA}, {RULE}, {ROOM}, int64, int8[:, ::1], int8[:, ::1], float64, int64, int64, "
    "float64[::1], float64[::1], uint32[::1], int64[::1])"
)
def best_parents(
    data, rule, room, child, allowed, required, slack, begin, end, bounds, best, choice, counters
):
    """Best parents of a child inside the sets `begin` to `end` (bits of the other variables).

    `slack` is what a prior of edges could add to a larger family. `counters` are families scored
    and families beyond the limit of cells. Returns where to go on: at most so many families at a
    time, so that Ctrl-C is never far.
    """
    d = data[1].size - 1
    parents = np.empty(d, np.int64)
    scored, rows = 0, data[2].shape[1]
    most = max(8, 40_000_000 // (64 + rows))
    for code in range(begin, end):
        word = np.uint64(code)
        n = 0
        top, argument, bound = -np.inf, np.uint32(0), np.inf
        while word != 0:
            bit = trailing_zeros(word)
            word &= word - np.uint64(1)
            smaller = code & ~(1 << bit)
            if best[smaller] > top:
                top, argument = best[smaller], choice[smaller]
            bound = min(bound, bounds[smaller])
            parents[n] = bit if bit < child else bit + 1
            n += 1
        if n <= rule[0][1] and is_legal(child, parents, n, allowed, required):
            if rule[0][0] == 0:
                bound = min(bound, penalty_bound(data, rule, child, parents, n) + slack)
            if bound > top:
                score, own = fresh_score(data, rule, room, child, parents, n)
                scored += 1
                if score == -np.inf:
                    counters[1] += 1
                else:
                    bound = min(bound, own + slack)
                if score > top:
                    top, argument = score, np.uint32(code)
        best[code], choice[code], bounds[code] = top, argument, bound
        if scored >= most:
            counters[0] += scored
            return code + 1
    counters[0] += scored
    return end


@inner_kernel()
def without(code, v):
    """A set without variable v, as bits of the others."""
    low = code & ((1 << v) - 1)
    return low | ((code >> (v + 1)) << v)


@kernel("void(int64, int64, float64[:, ::1], float64[::1], int8[::1])", vectorize=False)
def best_sinks(begin, end, best, out_values, out_sinks):
    """The best score of the sets `begin` to `end`, and their last variable."""
    for code in range(begin, end):
        top, sink = -np.inf, -1
        word = np.uint64(code)
        while word != 0:
            v = trailing_zeros(word)
            word &= word - np.uint64(1)
            value = out_values[code & ~(1 << v)] + best[v, without(code, v)]
            if value > top or sink < 0:
                top, sink = value, v
        out_values[code], out_sinks[code] = top, sink
