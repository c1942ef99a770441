"""A* over sets of variables, compiled.

Families of all children lie one after the other, those of child v at `starts[v]` to
`starts[v + 1]`, best first: sets of parents as bits, and scores.

    states   keys (the set plus one, 0 where free), scores, last variable of the best way there
    heap     bounds (score so far plus what the rest can reach), sets; the largest bound first
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from novum.graphical.learning.counts_kernels import DATA, ROOM, RULE, fresh_score
from novum.graphical.learning.exact_kernels import penalty_bound
from novum.numerics import inner_kernel, kernel, trailing_zeros

FAMILIES = "Tuple((int64[::1], uint64[::1], float64[::1]))"
STATES = "Tuple((uint64[::1], float64[::1], int8[::1]))"
HEAP = "Tuple((float64[::1], uint64[::1]))"
GROUPS = "Tuple((int64[::1], int64[::1], int64[::1], float64[::1]))"
ONE = np.uint64(1)
# Why a run of the search ended.
GOES_ON, REACHED, EMPTY, FULL = 0, 1, 2, 3


# --- Families -------------------------------------------------------------------------------------


@kernel(
    f"void({DATA}, {RULE}, {ROOM}, int64, float64, uint64[::1], float64[::1], float64[::1], int64, "
    "int64, float64[::1], float64[::1])"
)
def score_sets(
    data, rule, room, child, slack, sets, tops, bounds, begin, end, out_scores, out_bounds
):
    """Scores of the sets `begin` to `end`, and bounds of all larger ones.

    `tops` are the best scores of their subsets, `bounds` what these leave possible. A set that
    cannot beat its subsets is not counted, and has minus infinity.
    """
    parents = np.empty(64, np.int64)
    for place in range(begin, end):
        n, word = 0, sets[place]
        while word != 0:
            parents[n] = trailing_zeros(word)
            word &= word - ONE
            n += 1
        bound = bounds[place]
        if rule[0][0] == 0:
            bound = min(bound, penalty_bound(data, rule, child, parents, n) + slack)
        out_scores[place], out_bounds[place] = -np.inf, -np.inf
        if bound > tops[place]:
            score, own = fresh_score(data, rule, room, child, parents, n)
            out_scores[place] = score
            out_bounds[place] = min(bound, own + slack)


@inner_kernel()
def best_family(families, v, allowed):
    """The best family of a child whose parents are allowed; -1 where there is none."""
    starts, sets, _ = families
    for f in range(starts[v], starts[v + 1]):
        if sets[f] & ~allowed == 0:
            return f
    return -1


# --- What the rest can reach ----------------------------------------------------------------------


@kernel(f"void({FAMILIES}, int64[::1], uint64, int64, int64, float64[::1])", vectorize=False)
def group_bounds(families, members, everything, begin, end, out_bounds):
    """The best score of the sets `begin` to `end` of a group, all others being before them."""
    scores = families[2]
    for code in range(max(begin, 1), end):
        rest = np.uint64(0)
        for i in range(members.size):
            if code >> i & 1:
                rest |= ONE << np.uint64(members[i])
        allowed, best = everything & ~rest, -np.inf
        for i in range(members.size):
            if code >> i & 1:
                f = best_family(families, members[i], allowed)
                if f >= 0:
                    best = max(best, scores[f] + out_bounds[code & ~(1 << i)])
        out_bounds[code] = best


@inner_kernel()
def reach(groups, done):
    """What the variables that are not done can add at most."""
    ends, members, firsts, bounds = groups
    total, begin = 0.0, 0
    for group in range(ends.size):
        code = 0
        for i in range(begin, ends[group]):
            if done >> np.uint64(members[i]) & ONE == 0:
                code |= 1 << (i - begin)
        total += bounds[firsts[group] + code]
        begin = ends[group]
    return total


# --- States and heap ------------------------------------------------------------------------------


@inner_kernel()
def state_place(keys, done):
    """Where a set is, or the free place where it belongs."""
    last = np.uint64(keys.size - 1)
    mixed = (done + ONE) * np.uint64(0x9E3779B97F4A7C15)
    place = (mixed ^ mixed >> np.uint64(29)) & last
    while keys[place] != 0 and keys[place] != done + ONE:
        place = (place + ONE) & last
    return place


@kernel(f"void({STATES}, {STATES})", vectorize=False)
def move_states(states, out_states):
    """All states into a larger, empty table."""
    keys, scores, lasts = states
    for place in range(keys.size):
        if keys[place] != 0:
            to = state_place(out_states[0], keys[place] - ONE)
            out_states[0][to] = keys[place]
            out_states[1][to] = scores[place]
            out_states[2][to] = lasts[place]


@inner_kernel()
def push(heap, size, bound, done):
    bounds, sets = heap
    place = size
    while place > 0:
        above = (place - 1) >> 1
        if bounds[above] >= bound:
            break
        bounds[place], sets[place] = bounds[above], sets[above]
        place = above
    bounds[place], sets[place] = bound, done


@inner_kernel()
def pop(heap, size):
    """Takes the first; what was last finds its place. `size` is that before."""
    bounds, sets = heap
    bound, done = bounds[size - 1], sets[size - 1]
    size -= 1
    place = 0
    while 2 * place + 1 < size:
        below = 2 * place + 1
        if below + 1 < size and bounds[below + 1] > bounds[below]:
            below += 1
        if bounds[below] <= bound:
            break
        bounds[place], sets[place] = bounds[below], sets[below]
        place = below
    if size > 0:
        bounds[place], sets[place] = bound, done


@kernel(
    f"int64({FAMILIES}, {GROUPS}, {STATES}, {HEAP}, uint64, float64, int64, int64[::1])",
    vectorize=False,
)
def expand(families, groups, states, heap, everything, wanted, most, counters):
    """Expands up to `most` sets in the order of their bounds.

    Only sets that can still beat the score `wanted` are kept. `counters`: sets in the table, in the
    heap, expanded. Returns why it ended.
    """
    keys, scores, lasts = states
    n = families[0].size - 1
    for _ in range(most):
        if counters[1] == 0 or heap[0][0] <= wanted:
            return EMPTY
        if 2 * (counters[0] + n) > keys.size or counters[1] + n > heap[0].size:
            return FULL
        bound, done = heap[0][0], heap[1][0]
        if done == everything:
            return REACHED
        pop(heap, counters[1])
        counters[1] -= 1
        so_far = scores[state_place(keys, done)]
        rest = bound - so_far
        # Reached better since: another entry of the heap stands for it.
        if reach(groups, done) > rest + 1e-9 * (1.0 + abs(rest)):
            continue
        counters[2] += 1
        for v in range(n):
            bit = ONE << np.uint64(v)
            if done & bit:
                continue
            f = best_family(families, v, done)
            if f < 0:
                continue
            score, following = so_far + families[2][f], done | bit
            limit = score + reach(groups, following)
            if limit <= wanted:
                continue
            place = state_place(keys, following)
            if keys[place] == 0:
                keys[place] = following + ONE
                counters[0] += 1
            elif scores[place] >= score:
                continue
            scores[place], lasts[place] = score, v
            push(heap, counters[1], limit, following)
            counters[1] += 1
    return GOES_ON


@kernel(f"int64({FAMILIES}, int64, uint64)", vectorize=False)
def chosen_family(families, v, allowed):
    """`best_family`, for Python."""
    return best_family(families, v, allowed)


@kernel(f"int64({STATES}, uint64)", vectorize=False)
def last_variable(states, done):
    """The last variable on the best way to a set."""
    return np.int64(states[2][state_place(states[0], done)])
