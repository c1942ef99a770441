"""Greedy search over classes of equivalent graphs, compiled.

`arrows[b, a]` is 1 where a -> b or a - b: an edge without direction has both. Neighbors of y are
joined to it without direction, NA are those of them that are joined to x.

    insert x -> y with T   T neighbors of y, not joined to x; NA and T a clique; every path from y
                           to x that could be directed meets NA or T
    delete x, y with H     H of NA; NA without H a clique

Each gains what one family gains (Chickering 2002, theorems 15 and 17).
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from novum.graphical.learning.counts_kernels import CONTEXT, local_score
from novum.numerics import inner_kernel, kernel

MATRIX = "int8[:, ::1]"
# Sets T and H of one pair that are tried at most.
MOST_SETS = 4096


@inner_kernel()
def are_joined(arrows, a, b):
    return arrows[a, b] or arrows[b, a]


@inner_kernel()
def is_clique(arrows, nodes, n):
    for i in range(n):
        for j in range(i):
            if not are_joined(arrows, nodes[i], nodes[j]):
                return False
    return True


@inner_kernel()
def leads_to(arrows, y, x, barred, waiting, seen):
    """Whether a path from y that could be directed reaches x without a barred node."""
    d = arrows.shape[0]
    for v in range(d):
        seen[v] = barred[v]
    seen[y] = 1
    waiting[0] = y
    n, done = 1, 0
    while done < n:
        a = waiting[done]
        done += 1
        for b in range(d):
            if arrows[b, a] and not seen[b]:
                if b == x:
                    return True
                seen[b] = 1
                waiting[n] = b
                n += 1
    return False


@inner_kernel()
def gain_of(data, rule, memory, room, arrows, y, x, members, parents):
    """Score of y with x, its parents and some neighbors, minus the same without x."""
    d = arrows.shape[0]
    n = 0
    for v in range(d):
        if v != x and ((arrows[y, v] and not arrows[v, y]) or members[v]):
            parents[n] = v
            n += 1
    without = local_score(data, rule, memory, room, y, parents, n)
    at = n
    while at > 0 and parents[at - 1] > x:
        parents[at] = parents[at - 1]
        at -= 1
    parents[at] = x
    with_x = local_score(data, rule, memory, room, y, parents, n + 1)
    return with_x, without


@inner_kernel()
def insert_gain(data, rule, memory, room, arrows, y, x, check, out_set, small, marks):
    """The largest gain of joining x to y, and its T; paths are looked at where `check` says so."""
    d = arrows.shape[0]
    clique, extra, chosen, parents, waiting = small[0], small[1], small[2], small[3], small[4]
    members, seen = marks[0], marks[1]
    n_clique, n_extra = 0, 0
    for v in range(d):
        members[v] = 0
        out_set[v] = 0
        if v != x and arrows[y, v] and arrows[v, y]:
            if are_joined(arrows, v, x):
                clique[n_clique] = v
                members[v] = 1
                n_clique += 1
            else:
                extra[n_extra] = v
                n_extra += 1
    best = -np.inf
    if not is_clique(arrows, clique, n_clique):
        return best
    n, depth, last = 0, 0, -1
    while n < MOST_SETS:
        # The set as it stands is a clique.
        n += 1
        with_x, without = gain_of(data, rule, memory, room, arrows, y, x, members, parents)
        is_better = with_x > -np.inf and with_x - without > best
        if is_better and not (check and leads_to(arrows, y, x, members, waiting, seen)):
            best = with_x - without
            for v in range(d):
                out_set[v] = 0
            for i in range(depth):
                out_set[extra[chosen[i]]] = 1
        # Depth first over larger cliques.
        at = last + 1
        while True:
            while at < n_extra and not fits(arrows, extra[at], members):
                at += 1
            if at < n_extra or depth == 0:
                break
            depth -= 1
            at = chosen[depth]
            members[extra[at]] = 0
            at += 1
        if at >= n_extra:
            break
        chosen[depth] = at
        members[extra[at]] = 1
        depth += 1
        last = at
    return best


@inner_kernel()
def fits(arrows, node, members):
    """Whether a node is joined to all members."""
    n = 0
    for v in range(members.size):
        if members[v] and not are_joined(arrows, node, v):
            n += 1
    return n == 0


@inner_kernel()
def delete_gain(data, rule, memory, room, arrows, y, x, out_set, small, marks):
    """The largest gain of parting x and y, and its H."""
    d = arrows.shape[0]
    near, rest, parents = small[0], small[1], small[3]
    members = marks[0]
    n_near = 0
    for v in range(d):
        members[v] = 0
        out_set[v] = 0
        if v != x and arrows[y, v] and arrows[v, y] and are_joined(arrows, v, x):
            near[n_near] = v
            n_near += 1
    best = -np.inf
    for mask in range(min(1 << min(n_near, 20), MOST_SETS)):
        n = 0
        for i in range(n_near):
            members[near[i]] = 1 - (mask >> i & 1)
            if members[near[i]]:
                rest[n] = near[i]
                n += 1
        if not is_clique(arrows, rest, n):
            continue
        with_x, without = gain_of(data, rule, memory, room, arrows, y, x, members, parents)
        if without > -np.inf and without - with_x > best:
            best = without - with_x
            for i in range(n_near):
                out_set[near[i]] = mask >> i & 1
    return best


@kernel(f"void({CONTEXT}, {MATRIX}, {MATRIX}, int64, int8[::1], int8[::1], float64[:, ::1])")
def insert_gains(data, rule, memory, room, arrows, allowed, y, whole, changed, out_gains):
    """Gains of joining each x to y, paths unseen: all x where `whole[y]`, else the changed."""
    d = arrows.shape[0]
    small, marks = np.empty((5, d + 1), np.int64), np.empty((2, d), np.int8)
    chosen = np.empty(d, np.int8)
    for x in range(d):
        if whole[y] or changed[x]:
            if x == y or not allowed[y, x] or are_joined(arrows, x, y):
                out_gains[y, x] = -np.inf
            else:
                out_gains[y, x] = insert_gain(
                    data, rule, memory, room, arrows, y, x, False, chosen, small, marks
                )


@kernel(f"float64({CONTEXT}, {MATRIX}, int64, int64, int8[::1])")
def checked_insert(data, rule, memory, room, arrows, y, x, out_set):
    """The largest gain of joining x to y that makes no cycle, and its T."""
    d = arrows.shape[0]
    small, marks = np.empty((5, d + 1), np.int64), np.empty((2, d), np.int8)
    return insert_gain(data, rule, memory, room, arrows, y, x, True, out_set, small, marks)


@kernel(f"float64({CONTEXT}, {MATRIX}, int64[::1], int8[::1])")
def best_delete(data, rule, memory, room, arrows, out_pair, out_set):
    """The best deletion of all: its gain, (x, y) and H."""
    d = arrows.shape[0]
    small, marks = np.empty((5, d + 1), np.int64), np.empty((2, d), np.int8)
    chosen = np.empty(d, np.int8)
    best = -np.inf
    for y in range(d):
        for x in range(d):
            if arrows[y, x]:
                gain = delete_gain(data, rule, memory, room, arrows, y, x, chosen, small, marks)
                if gain > best:
                    best = gain
                    out_pair[0], out_pair[1] = x, y
                    out_set[:] = chosen
    return best


# --- Classes --------------------------------------------------------------------------------------


@kernel(f"boolean({MATRIX}, {MATRIX})", vectorize=False)
def directed_graph(arrows, out_adjacency):
    """A graph with these directions and no other immoralities (Dor and Tarsi 1992), if any."""
    d = arrows.shape[0]
    left = np.ones(d, np.int8)
    for a in range(d):
        for b in range(d):
            out_adjacency[a, b] = 1 if arrows[a, b] and not arrows[b, a] else 0
    for _ in range(d):
        sink = -1
        for x in range(d):
            if left[x] and is_sink(arrows, left, x):
                sink = x
                break
        if sink < 0:
            return False
        for y in range(d):
            if left[y] and arrows[sink, y] and arrows[y, sink]:
                out_adjacency[sink, y] = 1
        left[sink] = 0
    return True


@inner_kernel()
def is_sink(arrows, left, x):
    """Whether nothing leaves x, and its neighbors are joined to all that are joined to it."""
    d = arrows.shape[0]
    for y in range(d):
        if left[y] and arrows[y, x] and not arrows[x, y]:
            return False
    for y in range(d):
        if left[y] and arrows[x, y] and arrows[y, x]:
            for z in range(d):
                beside = left[z] and z != y and z != x and are_joined(arrows, x, z)
                if beside and not are_joined(arrows, y, z):
                    return False
    return True


@kernel(f"void({MATRIX}, {MATRIX})", vectorize=False)
def class_of(adjacency, out_arrows):
    """The pattern of a graph by labels of its edges in order (Chickering 1995)."""
    d = adjacency.shape[0]
    order, rank, waiting = np.empty(d, np.int64), np.empty(d, np.int64), np.zeros(d, np.int64)
    n = 0
    for v in range(d):
        for p in range(d):
            waiting[v] += adjacency[v, p]
        if waiting[v] == 0:
            order[n] = v
            n += 1
    for i in range(d):
        v = order[i]
        rank[v] = i
        for c in range(d):
            if adjacency[c, v]:
                waiting[c] -= 1
                if waiting[c] == 0:
                    order[n] = c
                    n += 1
    # 0 none, 1 unknown, 2 compelled, 3 reversible.
    labels = adjacency.copy()
    for i in range(d):
        y = order[i]
        for j in range(i - 1, -1, -1):
            x = order[j]
            if labels[y, x] != 1:
                continue
            done = False
            for w in range(d):
                if labels[x, w] == 2:
                    if adjacency[y, w]:
                        labels[y, w] = 2
                    else:
                        for z in range(d):
                            if adjacency[y, z]:
                                labels[y, z] = 2
                        done = True
                        break
            if done:
                continue
            label = 3
            for z in range(d):
                if adjacency[y, z] and z != x and not adjacency[x, z]:
                    label = 2
                    break
            for z in range(d):
                if labels[y, z] == 1:
                    labels[y, z] = label
    for y in range(d):
        for x in range(d):
            out_arrows[y, x] = 0
    for y in range(d):
        for x in range(d):
            if labels[y, x] >= 2:
                out_arrows[y, x] = 1
                if labels[y, x] == 3:
                    out_arrows[x, y] = 1
