"""From the cliques of an order to a rooted tree.

A step whose clique is no more than the separator of a step before it is merged with that one, which
leaves the maximal cliques. Which end of the tree is the root decides which messages there are:

    message(c -> parent) = 1   if every table below has its own variable below, unobserved

so the root is moved to where the cells of messages that must be computed are fewest: crossing the
edge of clique c changes the total by  down(c) - up(c).
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from novum.numerics import inner_kernel, trailing_zeros

ONE = np.uint64(1)


@inner_kernel()
def merge_steps(above, degree, out_into, out_clique):
    """Merges steps into maximal cliques; `above` becomes what the message of a merged one reaches.

    `out_into[step]` is the step whose clique took it in, `out_clique` numbers those that stay.
    """
    n = above.size
    for step in range(n):
        out_into[step] = step
    count = 0
    for step in range(n):
        if out_into[step] != step:
            continue
        size = degree[step]
        up = above[step]
        while up >= 0 and out_into[up] == up and degree[up] + 1 == size:
            out_into[up] = step
            size -= 1
            up = above[up]
        above[step] = up
        out_clique[step] = count
        count += 1
    for step in range(n):
        out_clique[step] = out_clique[out_into[step]]
    return count


@inner_kernel()
def list_cliques(
    rows, order, place, above, into, clique, out_starts, out_members, out_shared, out_up
):
    """Members of each clique, whether its neighbor above has them too, and that neighbor."""
    at = 0
    for step in range(order.size):
        if into[step] != step:
            continue
        number = clique[step]
        out_starts[number] = at
        out_up[number] = clique[above[step]] if above[step] >= 0 else -1
        out_members[at] = order[step]
        out_shared[at] = 0
        at += 1
        row = rows[order[step]]
        for w in range(row.size):
            word = row[w]
            while word != 0:
                other = (w << 6) + trailing_zeros(word)
                word &= word - ONE
                out_members[at] = other
                out_shared[at] = 1 if into[place[other]] != step else 0
                at += 1
    out_starts[out_up.size] = at


@inner_kernel()
def tree_order(up, links, out_order):
    """All cliques, each after the one above it and each part by itself.

    `links` is room for first children, next siblings and a stack.
    """
    n = up.size
    first, following, stack = links[:n], links[n : 2 * n], links[2 * n : 3 * n]
    for c in range(n):
        first[c] = -1
    depth = 0
    for c in range(n - 1, -1, -1):
        if up[c] >= 0:
            following[c] = first[up[c]]
            first[up[c]] = c
        else:
            stack[depth] = c
            depth += 1
    at = 0
    while depth > 0:
        depth -= 1
        c = stack[depth]
        out_order[at] = c
        at += 1
        child = first[c]
        while child >= 0:
            stack[depth] = child
            depth += 1
            child = following[child]


@inner_kernel()
def mark_messages(
    starts, members, shared, up, order, homes, heads, top, out_below, out_up, out_down
):
    """Which messages are not all ones, upward and downward on the edge above each clique.

    Parameters
    ----------
    homes, heads : of each factor, its clique and the unobserved variable it is the table of, or -1
    top : of each variable the clique that eliminates it
    out_below : room for the number of headless factors below each clique
    """
    n = up.size
    for c in range(n):
        out_below[c] = 0
        out_up[c] = 0
        out_down[c] = 0
    for factor in range(homes.size):
        head = heads[factor]
        if head < 0:
            out_below[homes[factor]] += 1
            continue
        c = homes[factor]
        while c != top[head]:
            # The table of a separator's variable lies below: 2 says so for this member.
            for place in range(starts[c], starts[c + 1]):
                if members[place] == head:
                    shared[place] = 2
            c = up[c]
    for at in range(n - 1, -1, -1):
        c = order[at]
        if up[c] >= 0:
            out_below[up[c]] += out_below[c]
    total = 0
    for at in range(n):
        c = order[at]
        if up[c] < 0:
            # The cliques of a part follow its root.
            total = out_below[c]
            continue
        out_up[c] = 1 if out_below[c] > 0 else 0
        out_down[c] = 1 if total > out_below[c] else 0
        for place in range(starts[c], starts[c + 1]):
            if shared[place] == 2:
                out_up[c] = 1
            elif shared[place] == 1:
                out_down[c] = 1


@inner_kernel()
def move_roots(up, sizes, order, needed_up, needed_down, below, chosen, costs, out_up, out_needed):
    """Roots every part where its messages are cheapest, or at the clique `chosen`.

    `out_needed[c]` says whether the message of c is not all ones; that of a root is the sum over
    everything in its part.
    """
    n = up.size
    for at in range(n):
        c = order[at]
        out_up[c] = up[c]
        out_needed[c] = needed_up[c]
        costs[c] = 0.0
        if up[c] >= 0:
            costs[c] = costs[up[c]]
            if needed_up[c]:
                costs[c] -= sizes[c]
            if needed_down[c]:
                costs[c] += sizes[up[c]]
    # The best clique of each part stands at the end of its stretch of the order.
    at = 0
    while at < n:
        end = at + 1
        best = order[at]
        while end < n and up[order[end]] >= 0:
            if costs[order[end]] < costs[best]:
                best = order[end]
            end += 1
        for other in range(at, end):
            if order[other] == chosen:
                best = chosen
        # Turn around the path from the new root to the old one.
        c, parent = best, -1
        needed = 1 if below[order[at]] > 0 or best == chosen else 0
        while c >= 0:
            following = up[c]
            out_up[c] = parent
            out_needed[c] = needed
            needed = needed_down[c]
            parent = c
            c = following
        at = end


@inner_kernel()
def number_variables(starts, members, order, uses, cards, targets, out_rank, out_kept):
    """One order of all variables in which each separator comes before what is summed out.

    Sorts the members of every clique by it. `out_kept[c]` is how many are shared with the parent.
    A variable in few factors comes late: the innermost loop then has few of them.
    """
    for variable in range(out_rank.size):
        out_rank[variable] = -1
    rank = 0
    for variable in targets:
        out_rank[variable] = rank
        rank += 1
    for at in range(order.size):
        c = order[at]
        begin, end = starts[c], starts[c + 1]
        kept = begin
        for place in range(begin, end):
            variable = members[place]
            if out_rank[variable] >= 0:
                members[place] = members[kept]
                members[kept] = variable
                kept += 1
        out_kept[c] = kept - begin
        for place in range(begin + 1, end):
            variable = members[place]
            back = place
            low = begin if place < kept else kept
            while back > low:
                other = members[back - 1]
                if place < kept:
                    later = out_rank[other] > out_rank[variable]
                else:
                    later = uses[other] < uses[variable] or (
                        uses[other] == uses[variable] and cards[other] > cards[variable]
                    )
                if not later:
                    break
                members[back] = other
                back -= 1
            members[back] = variable
        for place in range(kept, end):
            out_rank[members[place]] = rank
            rank += 1


# --- The tree of an order -------------------------------------------------------------------------


class Tree(NamedTuple):
    """Cliques with a root in every part.

    Attributes
    ----------
    starts, members : where each clique begins; its variables, those of its separator first
    parents : the clique above, or -1 for a root
    sequence : all cliques from the roots down
    needed : whether the message to the parent is not all ones
    kept : how many members are shared with the parent
    rank : of each variable, its place in the common order
    homes : of each factor, its clique
    """

    starts: Any
    members: Any
    parents: Any
    sequence: Any
    needed: Any
    kept: Any
    rank: Any
    homes: Any


@inner_kernel(allocates=True)
def maximal_cliques(order):
    """The clique of each step; starts, members, which are shared above, and the neighbor above."""
    n = order.steps.size
    into, clique = np.empty(n, np.int64), np.empty(n, np.int64)
    count = merge_steps(order.above, order.degree, into, clique)
    total = 0
    for step in range(n):
        if into[step] == step:
            total += order.degree[step] + 1
    starts, members = np.empty(count + 1, np.int64), np.empty(total, np.int64)
    shared, up = np.empty(total, np.uint8), np.empty(count, np.int64)
    list_cliques(
        order.rows, order.steps, order.place, order.above, into, clique, starts, members, shared, up
    )
    return clique, starts, members, shared, up


@inner_kernel()
def first_step(place, variables):
    """The first step that eliminates one of some variables; after the last one for none."""
    first = place.size
    for variable in variables:
        first = min(first, place[variable])
    return first


@inner_kernel(allocates=True)
def rooted_tree(order, factors, cards, targets, every_message):
    """Cliques with sorted axes, their parents, an order from the roots down, and what is needed.

    Parameters
    ----------
    targets : variables that the root has to have; the first ones in the common order
    every_message : whether messages that are all ones are wanted too
    """
    n = order.steps.size
    clique, starts, members, shared, up = maximal_cliques(order)
    count = up.size
    homes, top = np.empty(factors.heads.size, np.int64), np.empty(n, np.int64)
    for factor in range(homes.size):
        scope = factors.axes[factors.starts[factor] : factors.starts[factor + 1]]
        homes[factor] = clique[first_step(order.place, scope)]
    for variable in range(n):
        top[variable] = clique[order.place[variable]]
    links, sequence = np.empty(3 * count, np.int64), np.empty(count, np.int64)
    tree_order(up, links, sequence)
    below, sizes = np.empty(count, np.int64), np.empty(count)
    needed_up, needed_down = np.empty(count, np.uint8), np.empty(count, np.uint8)
    mark_messages(
        starts, members, shared, up, sequence, homes, factors.heads, top, below, needed_up,
        needed_down,
    )  # fmt: skip
    for c in range(count):
        sizes[c] = 1.0
        for at in range(starts[c], starts[c + 1]):
            sizes[c] *= cards[members[at]]
            factors.uses[members[at]] += 1
        if every_message != 0:
            needed_up[c], needed_down[c], below[c] = 1, 1, 1
    chosen = clique[first_step(order.place, targets)] if targets.size > 0 else -1
    parents, needed = np.empty(count, np.int64), np.empty(count, np.uint8)
    move_roots(
        up, sizes, sequence, needed_up, needed_down, below, chosen, np.empty(count), parents, needed
    )
    tree_order(parents, links, sequence)
    rank, kept = np.empty(n, np.int64), np.empty(count, np.int64)
    number_variables(starts, members, sequence, factors.uses, cards, targets, rank, kept)
    return Tree(starts, members, parents, sequence, needed, kept, rank, homes)
