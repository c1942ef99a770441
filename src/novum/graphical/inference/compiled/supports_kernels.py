"""Which states are possible at all, given what is known.

A state of a variable stays while every table with zeros has a positive cell for it among the
states that the other variables still have; a variable that loses states sends its tables around
again. What goes has probability zero, so nothing is lost, and cliques shrink with the product of
what is left. Variables with one state left are known.

One positive cell is enough for all states it belongs to, and most states need not be looked at:
those of the variable that lost others keep their cells, and the rows of a conditional table all
have one while its own variable has all states.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from novum.graphical.inference.compiled.factors_kernels import LAYOUT
from novum.numerics import inner_kernel, lean_kernel, trailing_zeros

# causes, and the queue: what `call_tables` says of tables that wait
WAITING = "Tuple((int64[::1], uint64[:, ::1]))"
# seen, left, axes
ROOM = "Tuple((uint8[::1], int64[::1], int64[:, ::1]))"
# More than one variable lost states since a table was last looked at.
ALL = -1
# Fields of an axis of a table: the first place of its states, how many there are, its stride, the
# first place in `seen`, how many are not seen, and which one is looked at.
START, COUNT, STRIDE, SEEN_AT, OPEN, DIGIT = range(6)
N_FIELDS = 6


@inner_kernel()
def keep_seen(variable, start, out_states, out_counts, seen, at):
    """Drops the states of a variable that were not seen; how many there were of them."""
    kept = start
    for place in range(out_counts[variable]):
        if seen[at + place] != 0:
            out_states[kept] = out_states[start + place]
            kept += 1
    removed = out_counts[variable] - (kept - start)
    out_counts[variable] = kept - start
    return removed


@inner_kernel()
def call_tables(variable, layout, ranks, counts, out_waiting):
    """Lets the tables with zeros of a variable that lost states wait.

    `causes` has at their ranks the variable, if no other one has called them, else `ALL`. Each row
    of a conditional table has a positive cell while its variable has all states: only its own
    states may go then, and it waits behind the others, until its parents have lost theirs.
    """
    cards, _, _, _, _, heads, var_starts, var_factors, zeros = layout
    causes, out_queue = out_waiting
    for near in range(var_starts[variable], var_starts[variable + 1]):
        factor = var_factors[near]
        if zeros[factor] != 0:
            rank, head = ranks[factor], heads[factor]
            word, bit = rank >> 6, np.uint64(1) << np.uint64(rank & 63)
            waits = (out_queue[0, word] | out_queue[1, word]) & bit
            causes[rank] = variable if waits == 0 or causes[rank] == variable else ALL
            is_sure = 1 if head >= 0 and counts[head] == cards[head] else 0
            out_queue[is_sure, word] |= bit
            out_queue[1 - is_sure, word] &= ~bit


@inner_kernel()
def next_waiting(queue):
    """Takes the first table out of the queue: its rank and whether its rows are sure, or -1."""
    for is_sure in range(2):
        for word in range(queue.shape[1]):
            bits = queue[is_sure, word]
            if bits != 0:
                queue[is_sure, word] = bits & (bits - np.uint64(1))
                return (word << 6) + trailing_zeros(bits), is_sure
    return -1, 0


@inner_kernel()
def observe(codes, layout, ranks, starts, out_states, out_counts, out_waiting):
    """Leaves observed variables one state; 0 for one that is gone already, else 1."""
    for variable in range(codes.size):
        if codes[variable] < 0:
            continue
        possible = 0
        for place in range(starts[variable], starts[variable] + out_counts[variable]):
            if out_states[place] == codes[variable]:
                possible = 1
        if possible == 0:
            return 0
        if out_counts[variable] > 1:
            out_states[starts[variable]] = codes[variable]
            out_counts[variable] = 1
            call_tables(variable, layout, ranks, out_counts, out_waiting)
    return 1


@inner_kernel()
def open_axes(
    scopes, strides, begin, end, cause, sure_parents, starts, states, counts, cell, out_seen,
    out_axes,
):  # fmt: skip
    """Marks the states that need a positive cell: the first cell, how many axes, how many states.

    Variables with one state are no axes. States of the only variable that lost some need no cell:
    those it still has were seen with states that the others still have. -1 says that there is one
    cell only, which nobody has seen.
    """
    n = 0
    at = 0
    missing = 0
    is_sure = 0
    for place in range(begin, end):
        variable = scopes[place]
        count = counts[variable]
        sure = 1 if variable == cause or (sure_parents != 0 and place < end - 1) else 0
        is_sure |= sure
        mark = 1 if count == 1 else sure
        for state in range(count):
            out_seen[at + state] = mark
        cell += strides[place] * states[starts[variable]]
        if count > 1:
            out_axes[n, START] = starts[variable]
            out_axes[n, COUNT] = count
            out_axes[n, STRIDE] = strides[place]
            out_axes[n, SEEN_AT] = at
            out_axes[n, OPEN] = 0 if sure != 0 else count
            out_axes[n, DIGIT] = 0
            missing += out_axes[n, OPEN]
            n += 1
        at += count
    return cell, n, missing if n > 0 or is_sure != 0 else -1


@inner_kernel()
def next_row(cell, axis, states, axes):
    """Moves to the next states of the axes up to `axis`: their cell, and the axis that moved."""
    while axis >= 0:
        start, digit, stride = axes[axis, START], axes[axis, DIGIT], axes[axis, STRIDE]
        cell -= stride * states[start + digit]
        digit += 1
        if digit < axes[axis, COUNT]:
            axes[axis, DIGIT] = digit
            cell += stride * states[start + digit]
            break
        axes[axis, DIGIT] = 0
        cell += stride * states[start]
        axis -= 1
    return cell, axis


@inner_kernel()
def see_row(tables, cell, states, axes, last, new, seen, left):
    """Looks for positive cells in a row; whether there is one, if that tells something new.

    `left` has the places of the states of the last axis that were not seen.
    """
    start, stride, at = axes[last, START], axes[last, STRIDE], axes[last, SEEN_AT]
    outcome = 0
    if new > 0:
        for place in range(axes[last, COUNT]):
            if tables[cell + stride * states[start + place]] > 0.0:
                outcome = 1
                break
        if outcome == 0:
            return 0
    kept = 0
    for item in range(axes[last, OPEN]):
        place = left[item]
        if tables[cell + stride * states[start + place]] > 0.0:
            seen[at + place] = 1
        else:
            left[kept] = place
            kept += 1
    axes[last, OPEN] = kept
    return outcome


@inner_kernel()
def revise(tables, cell, states, axes, n, missing, seen, left):
    """Looks for a positive cell for each state that needs one; how many have none."""
    last = n - 1
    outer = missing - axes[last, OPEN]
    cell -= axes[last, STRIDE] * states[axes[last, START]]
    for place in range(axes[last, OPEN]):
        left[place] = place
    move = 0
    while move >= 0:
        new = 0
        for axis in range(last if outer > 0 else 0):
            if seen[axes[axis, SEEN_AT] + axes[axis, DIGIT]] == 0:
                new += 1
        if new > 0 or axes[last, OPEN] > 0:
            outcome = see_row(tables, cell, states, axes, last, new, seen, left)
            if outcome != 0 and new > 0:
                for axis in range(last):
                    at = axes[axis, SEEN_AT] + axes[axis, DIGIT]
                    if seen[at] == 0:
                        seen[at] = 1
                        axes[axis, OPEN] -= 1
                        outer -= 1
                new = 0
        if outer + axes[last, OPEN] == 0:
            return 0
        move = last - 1
        if new == 0 and axes[last, OPEN] == 0:
            # Axes behind the last one with open states have no more to tell.
            while axes[move, OPEN] == 0:
                start = axes[move, START]
                cell -= axes[move, STRIDE] * (states[start + axes[move, DIGIT]] - states[start])
                axes[move, DIGIT] = 0
                move -= 1
        cell, move = next_row(cell, move, states, axes)
    return outer + axes[last, OPEN]


@lean_kernel(
    f"int64({LAYOUT}, UniTuple(int64[::1], 2), float64[::1], int64[::1], int64[::1], int64[::1],"
    f" int64[::1], int64[::1], {WAITING}, {ROOM})"
)
def narrow(layout, ranking, tables, starts, codes, lost, out_states, out_counts, out_waiting, room):
    """Revises the tables of what is observed, and those of variables that lose states.

    Small tables come first, since what they cut is not looked at in large ones. Without codes all
    tables are revised; the variables in `lost` have lost states before. Without states left for
    some variable the answer is 0, else 1.
    """
    cards, scope_starts, scopes, strides, table_starts, _, _, _, _ = layout
    ranks, ranked = ranking
    causes, queue = out_waiting
    seen, left, axes = room
    is_first = codes.size == 0
    for place in range(cards.size if is_first else lost.size):
        variable = place if is_first else lost[place]
        call_tables(variable, layout, ranks, out_counts, out_waiting)
    for rank in range(causes.size if is_first else 0):
        causes[rank] = ALL
    some = observe(codes, layout, ranks, starts, out_states, out_counts, out_waiting)
    if some == 0:
        return 0
    while True:
        rank, is_sure = next_waiting(queue)
        if rank < 0:
            return 1
        factor = ranked[rank]
        begin, end = scope_starts[factor], scope_starts[factor + 1]
        cell, n, missing = open_axes(
            scopes, strides, begin, end, causes[rank], is_sure, starts, out_states, out_counts,
            table_starts[factor], seen, axes,
        )  # fmt: skip
        if missing < 0 and tables[cell] == 0.0:
            return 0
        if missing <= 0 or revise(tables, cell, out_states, axes, n, missing, seen, left) == 0:
            continue
        at = 0
        for place in range(begin, end):
            variable = scopes[place]
            before = out_counts[variable]
            removed = keep_seen(variable, starts[variable], out_states, out_counts, seen, at)
            at += before
            if out_counts[variable] == 0:
                return 0
            if removed > 0:
                call_tables(variable, layout, ranks, out_counts, out_waiting)
        # What it has kept, it has seen.
        for level in range(2):
            queue[level, rank >> 6] &= ~(np.uint64(1) << np.uint64(rank & 63))
