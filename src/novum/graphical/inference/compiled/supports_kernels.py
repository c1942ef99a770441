"""Which states are possible at all, given what is known.

A state of a variable stays while every table with zeros has a positive cell for it among the
states that the other variables still have; a variable that loses states sends its tables around
again. What goes has probability zero, so nothing is lost, and cliques shrink with the product of
what is left. Variables with one state left are known.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from novum.numerics.jit import inner_kernel, lean_kernel


@inner_kernel()
def next_run(cell, axis, scopes, strides, begin, starts, states, counts, digits):
    """Moves to the next states of the axes up to `axis`: their cell, and the axis that moved.

    After the last ones the axis is -1 and all are back at their first states.
    """
    while axis >= 0:
        at = starts[scopes[begin + axis]]
        cell -= strides[begin + axis] * states[at + digits[axis]]
        digits[axis] += 1
        if digits[axis] < counts[scopes[begin + axis]]:
            cell += strides[begin + axis] * states[at + digits[axis]]
            break
        digits[axis] = 0
        cell += strides[begin + axis] * states[at]
        axis -= 1
    return cell, axis


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


@lean_kernel("int64(int64, int64[::1], int64[::1], uint8[::1], int64[::1], uint8[::1], int64)")
def call_tables(variable, var_starts, var_factors, zeros, ranks, waiting, first):
    """Lets the tables of a variable that have zeros wait; the first rank that waits."""
    for near in range(var_starts[variable], var_starts[variable + 1]):
        factor = var_factors[near]
        if zeros[factor] != 0:
            waiting[ranks[factor]] = 1
            first = min(first, ranks[factor])
    return first


@lean_kernel(
    "int64(int64[::1], int64[::1], int64[::1], uint8[::1], int64[::1], int64[::1], int64[::1],"
    " int64[::1], uint8[::1])"
)
def observe(codes, var_starts, var_factors, zeros, ranks, starts, out_states, out_counts, waiting):
    """Leaves observed variables one state; the first table that waits, or -1 for a conflict."""
    first = waiting.size
    for variable in range(codes.size):
        if codes[variable] < 0:
            continue
        found = 0
        for place in range(starts[variable], starts[variable] + out_counts[variable]):
            if out_states[place] == codes[variable]:
                found = 1
        if found == 0:
            return -1
        if out_counts[variable] > 1:
            out_states[starts[variable]] = codes[variable]
            out_counts[variable] = 1
            first = call_tables(variable, var_starts, var_factors, zeros, ranks, waiting, first)
    return first


@inner_kernel()
def revise(tables, table, scopes, strides, begin, end, starts, states, counts, seen, room):
    """Drops states without a positive cell in one table; how many.

    `seen` then has, axis by axis, which of the states before had one; `room` is for digits and for
    the places of axes in `seen`.
    """
    n = end - begin
    digits, places = room[:n], room[n : 2 * n + 1]
    missing = 0
    cell = table
    for axis in range(n):
        variable = scopes[begin + axis]
        digits[axis] = 0
        places[axis] = missing
        for place in range(counts[variable]):
            seen[missing + place] = 0
        missing += counts[variable]
        cell += strides[begin + axis] * states[starts[variable]]
    last = scopes[end - 1]
    first_of_last, n_last, step = starts[last], counts[last], strides[end - 1]
    cell -= step * states[first_of_last]
    open_last = n_last
    axis = 0
    while axis >= 0:
        found = 0
        new_row = open_last
        for axis in range(n - 1):
            if seen[places[axis] + digits[axis]] == 0:
                new_row += 1
        if new_row > 0:
            for place in range(n_last):
                if tables[cell + step * states[first_of_last + place]] > 0.0:
                    found = 1
                    if seen[places[n - 1] + place] == 0:
                        seen[places[n - 1] + place] = 1
                        open_last -= 1
                        missing -= 1
                    if open_last == 0:
                        break
        if found != 0:
            for axis in range(n - 1):
                if seen[places[axis] + digits[axis]] == 0:
                    seen[places[axis] + digits[axis]] = 1
                    missing -= 1
            if missing == 0:
                return 0
        cell, axis = next_run(cell, n - 2, scopes, strides, begin, starts, states, counts, digits)
    return missing


@lean_kernel(
    "int64(int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], uint8[::1],"
    " int64[::1], int64[::1], float64[::1], int64[::1], int64[::1], int64[::1], uint8[::1],"
    " uint8[::1], int64[::1], int64)"
)
def narrow(
    scope_starts,
    scopes,
    strides,
    table_starts,
    var_starts,
    var_factors,
    zeros,
    ranks,
    ranked,
    tables,
    starts,
    out_states,
    out_counts,
    seen,
    waiting,
    room,
    first,
):
    """Revises the tables that wait, and those of variables that lose states; 0 if none is left.

    Small tables come first, since what they cut is not looked at in large ones. `waiting` goes by
    their ranks, of which `first` is the first that waits.
    """
    while first < waiting.size:
        if waiting[first] == 0:
            first += 1
            continue
        waiting[first] = 0
        factor = ranked[first]
        begin, end = scope_starts[factor], scope_starts[factor + 1]
        if begin == end:
            # A number, which no state can change.
            continue
        missing = revise(
            tables,
            table_starts[factor],
            scopes,
            strides,
            begin,
            end,
            starts,
            out_states,
            out_counts,
            seen,
            room,
        )
        if missing == 0:
            continue
        at = 0
        own = first
        for place in range(begin, end):
            variable = scopes[place]
            before = out_counts[variable]
            removed = keep_seen(variable, starts[variable], out_states, out_counts, seen, at)
            at += before
            if out_counts[variable] == 0:
                return 0
            if removed > 0:
                first = call_tables(variable, var_starts, var_factors, zeros, ranks, waiting, first)
        # What it has kept, it has seen.
        waiting[own] = 0
    return 1
