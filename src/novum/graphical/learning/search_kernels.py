"""Steps of searches over graphs, compiled: the best change of one edge, and random changes.

Graphs are matrices (child, parent). `changed[y, x]` is the score of y with x made a parent, or no
longer one; `changed[y, y]` that of its present parents. Ancestors are bits of words.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

import numpy as np

from novum.graphical.learning.counts_kernels import CONTEXT, local_score
from novum.numerics import inner_kernel, kernel

# Gains below this are rounding: equivalent graphs would take turns.
SMALLEST_GAIN = 1e-8

MATRIX = "int8[:, ::1]"


@inner_kernel()
def has_bit(words, row, bit):
    return (words[row, bit >> 6] >> np.uint64(bit & 63)) & np.uint64(1) != 0


@inner_kernel()
def fill_ancestors(adjacency, order, waiting, out_ancestors):
    """The ancestors of every node, along an order with parents first."""
    d = adjacency.shape[0]
    n = 0
    for v in range(d):
        count = 0
        for p in range(d):
            count += adjacency[v, p]
        waiting[v] = count
        if count == 0:
            order[n] = v
            n += 1
    done = 0
    while done < n:
        v = order[done]
        done += 1
        for c in range(d):
            if adjacency[c, v]:
                waiting[c] -= 1
                if waiting[c] == 0:
                    order[n] = c
                    n += 1
    for w in range(out_ancestors.shape[1]):
        for v in range(d):
            out_ancestors[v, w] = np.uint64(0)
    for i in range(n):
        v = order[i]
        for p in range(d):
            if adjacency[v, p]:
                for w in range(out_ancestors.shape[1]):
                    out_ancestors[v, w] |= out_ancestors[p, w]
                out_ancestors[v, p >> 6] |= np.uint64(1) << np.uint64(p & 63)


@kernel(f"void({MATRIX}, uint64[:, ::1])", vectorize=False)
def ancestors(adjacency, out_ancestors):
    d = adjacency.shape[0]
    fill_ancestors(adjacency, np.empty(d, np.int64), np.empty(d, np.int64), out_ancestors)


@inner_kernel()
def can_turn(adjacency, words, x, y):
    """Whether x -> y is the only way from x to y, so that it can be turned."""
    for p in range(adjacency.shape[0]):
        if adjacency[y, p] and p != x and has_bit(words, p, x):
            return False
    return True


@kernel(
    f"float64(float64[:, ::1], {MATRIX}, {MATRIX}, {MATRIX}, uint64[:, ::1], int64[:, ::1], int64, "
    "float64, int64[::1])",
    vectorize=False,
)
def best_change(changed, adjacency, allowed, required, words, barred, step, wanted, out):
    """The gain of the best change of an edge; minus infinity if there is none.

    A pair is left alone while `step` is below `barred[child, parent]`, unless the gain is above
    `wanted`. `out` is (kind, parent, child): 0 adds, 1 removes, 2 turns the edge.
    """
    d = adjacency.shape[0]
    best = -np.inf
    for y in range(d):
        for x in range(d):
            if x == y:
                continue
            least = best + SMALLEST_GAIN
            if step < barred[y, x]:
                least = max(least, wanted)
            gain = changed[y, x] - changed[y, y]
            if not adjacency[y, x]:
                if gain > least and not adjacency[x, y] and not has_bit(words, x, y):
                    best = gain
                    out[0], out[1], out[2] = 0, x, y
                continue
            if required[y, x]:
                continue
            if gain > least:
                best = gain
                least = max(least, best + SMALLEST_GAIN)
                out[0], out[1], out[2] = 1, x, y
            gain += changed[x, y] - changed[x, x]
            if allowed[x, y] and gain > least and can_turn(adjacency, words, x, y):
                best = gain
                out[0], out[1], out[2] = 2, x, y
    return best


@inner_kernel()
def score_of(data, rule, memory, room, adjacency, child, more, less, parents):
    """The score of a child with one parent more and one less (-1 for none)."""
    n = 0
    for x in range(adjacency.shape[0]):
        if (adjacency[child, x] and x != less) or x == more:
            parents[n] = x
            n += 1
    return local_score(data, rule, memory, room, child, parents, n)


@kernel(
    f"int64({CONTEXT}, {MATRIX}, {MATRIX}, {MATRIX}, {MATRIX}, float64[:, ::1], float64, float64, "
    "float64[::1])"
)
def anneal(
    data, rule, memory, room, adjacency, allowed, required, best, draws, hot, cooling, values
):
    """Random changes, kept where they gain or where a draw below exp(gain / temperature) allows.

    `values` are the present and the best score; `adjacency` and `best` change with them. Returns
    how many changes were kept.
    """
    d = adjacency.shape[0]
    words = np.empty((d, (d + 63) // 64), np.uint64)
    order, waiting, parents = np.empty(d, np.int64), np.empty(d, np.int64), np.empty(d, np.int64)
    fill_ancestors(adjacency, order, waiting, words)
    kept = 0
    for step in range(draws.shape[0]):
        hot *= cooling
        x = min(int(draws[step, 0] * d), d - 1)
        y = min(int(draws[step, 1] * d), d - 1)
        turns = draws[step, 2] < 0.5
        if x == y:
            continue
        if not adjacency[y, x]:
            if adjacency[x, y] or not allowed[y, x] or has_bit(words, x, y):
                continue
            gain = score_of(data, rule, memory, room, adjacency, y, x, -1, parents)
            gain -= score_of(data, rule, memory, room, adjacency, y, -1, -1, parents)
            turns = False
        else:
            if required[y, x]:
                continue
            gain = score_of(data, rule, memory, room, adjacency, y, -1, x, parents)
            gain -= score_of(data, rule, memory, room, adjacency, y, -1, -1, parents)
            if turns:
                if not allowed[x, y] or not can_turn(adjacency, words, x, y):
                    continue
                gain += score_of(data, rule, memory, room, adjacency, x, y, -1, parents)
                gain -= score_of(data, rule, memory, room, adjacency, x, -1, -1, parents)
        if gain < 0 and (gain == -np.inf or draws[step, 3] >= math.exp(gain / hot)):
            continue
        adjacency[y, x] = 1 - adjacency[y, x]
        if turns:
            adjacency[x, y] = 1
        kept += 1
        values[0] += gain
        fill_ancestors(adjacency, order, waiting, words)
        if values[0] > values[1] + SMALLEST_GAIN:
            values[1] = values[0]
            best[:] = adjacency
    return kept
