"""The model that is left when impossible states are cut out of its tables.

A table that is all ones, or a number, loses its scope; one of a single variable that is not its own
becomes a weight of that variable. A conditional table that loses more than zeros no longer sums to
one and belongs to no variable any more.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from novum.graphical.inference.compiled.factors_kernels import COUNTS, LAYOUT, WEIGHTED
from novum.graphical.inference.compiled.loads_kernels import span_of, times_cell
from novum.graphical.inference.compiled.messages_kernels import MOST_SPAN
from novum.numerics import inner_kernel, lean_kernel


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
def copy_run(tables, source, size, out_tables, to):
    """Copies cells that lie in one piece."""
    cells, out_cells = tables[source : source + size], out_tables[to : to + size]
    for place in range(size):
        out_cells[place] = cells[place]


@inner_kernel()
def copy_states(
    tables, table, scopes, strides, begin, end, starts, states, counts, digits, out_tables, to
):
    """Copies the cells of a table at the states that are left; where the copy ends."""
    cell = table
    run = 1
    inner = end - 1
    # The innermost axes lie in one piece up to one whose states are consecutive.
    while inner >= begin:
        variable = scopes[inner]
        first, count = starts[variable], counts[variable]
        if run < strides[inner] or states[first + count - 1] - states[first] != count - 1:
            break
        cell += run * states[first]
        run *= count
        inner -= 1
    # What has one state left is no loop.
    while inner >= begin and counts[scopes[inner]] == 1:
        cell += strides[inner] * states[starts[scopes[inner]]]
        inner -= 1
    if inner < begin:
        copy_run(tables, cell, run, out_tables, to)
        return to + run
    for axis in range(inner - begin):
        digits[axis] = 0
        cell += strides[begin + axis] * states[starts[scopes[begin + axis]]]
    variable, step = scopes[inner], strides[inner]
    first, count = starts[variable], counts[variable]
    axis = 0
    while axis >= 0:
        if run == 1:
            for place in range(count):
                out_tables[to + place] = tables[cell + step * states[first + place]]
            to += count
        else:
            for place in range(count):
                copy_run(tables, cell + step * states[first + place], run, out_tables, to)
                to += run
        cell, axis = next_run(
            cell, inner - begin - 1, scopes, strides, begin, starts, states, counts, digits
        )
    return to


@inner_kernel()
def loses_mass(tables, table, scopes, strides, begin, end, card, starts, states, counts, room):
    """Whether a conditional table has positive cells at states of its variable that are gone.

    Its rows no longer sum to one then. The variable is the last of the scope and has `card` states.
    """
    n = end - begin
    digits, gone = room[:n], room[n:]
    place = starts[scopes[end - 1]]
    end_place = place + counts[scopes[end - 1]]
    n_gone = 0
    for state in range(card):
        if place < end_place and states[place] == state:
            place += 1
        else:
            gone[n_gone] = state
            n_gone += 1
    if n_gone == 0:
        return 0
    cell = table
    for axis in range(n - 1):
        digits[axis] = 0
        cell += strides[begin + axis] * states[starts[scopes[begin + axis]]]
    axis = 0
    while axis >= 0:
        for place in range(n_gone):
            if tables[cell + gone[place]] > 0.0:
                return 1
        cell, axis = next_run(cell, n - 2, scopes, strides, begin, starts, states, counts, digits)
    return 0


@lean_kernel("float64(float64[::1], int64, int64, float64[::1], int64, int64)")
def multiply_weights(values, begin, end, out_weights, to, is_first):
    """Multiplies weights by a table of the same variable, and brings their largest near 1.

    The logarithm of what was taken out; NaN where products could leave the range of floats.
    """
    if is_first != 0:
        for place in range(end - begin):
            out_weights[to + place] = values[begin + place]
    else:
        span = span_of(values, begin, end) + span_of(out_weights, to, to + end - begin)
        if not span < MOST_SPAN:
            return np.nan
        for place in range(end - begin):
            out_weights[to + place] *= values[begin + place]
    top = 0.0
    for place in range(end - begin):
        top = max(top, out_weights[to + place])
    if not top > 0.0:
        return -np.inf
    if top > 1e-30 and top < 1e30:
        return 0.0
    power = np.floor(np.log2(top))
    scale = np.exp2(-power)
    for place in range(end - begin):
        out_weights[to + place] *= scale
    return power * np.log(2.0)


@inner_kernel()
def is_whole(scopes, begin, end, cards, counts):
    """Whether all variables of a table still have all their states, and more than one."""
    for place in range(begin, end):
        if counts[scopes[place]] < cards[scopes[place]] or counts[scopes[place]] == 1:
            return 0
    return 1 if end > begin else 0


@inner_kernel()
def has_value(values, begin, end, x):
    """Whether some cell is exactly x."""
    for cell in range(begin, end):
        if values[cell] == x:
            return 1
    return 0


@inner_kernel()
def all_ones(values, begin, end):
    """Whether there are cells, and all are exactly 1."""
    for cell in range(begin, end):
        if values[cell] != 1.0:
            return 0
    return 1 if end > begin else 0


@inner_kernel()
def write_scope(scopes, begin, end, counts, out_scopes, at):
    """The variables of a scope that have several states left; where the next scope begins."""
    for place in range(begin, end):
        if counts[scopes[place]] > 1:
            out_scopes[at] = scopes[place]
            at += 1
    return at


@inner_kernel()
def write_strides(counts, scopes, first, end, out_strides):
    """Strides of a table that lies in C order of its scope."""
    stride = 1
    for place in range(end - 1, first - 1, -1):
        out_strides[place] = stride
        stride *= counts[scopes[place]]


@inner_kernel()
def weigh(variable, tables, begin, end, starts, out_soft, out_weights):
    """Makes a table of one variable a weight of it; a logarithm as of `multiply_weights`."""
    is_first = 1 - (out_soft[variable] & WEIGHTED)
    out_soft[variable] = WEIGHTED | COUNTS
    return multiply_weights(tables, begin, end, out_weights, starts[variable], is_first)


@lean_kernel(
    f"float64({LAYOUT}, float64[::1], int64[::1], int64[::1], {LAYOUT}, uint8[::1], float64[::1],"
    " float64[::1], int64[::1])"
)
def cut_tables(layout, tables, starts, states, out_layout, out_soft, out_tables, out_weights, room):
    """The tables at the states that are left; the logarithm of what became numbers.

    Tables that are whole stay where they are; the others are copied to `out_tables`, whose places
    count on from the end of `tables`. A table that is all ones, or a number, loses its scope; one
    of a single variable that is not its own becomes a weight of that variable. A variable whose own
    table no longer sums to one counts, whether anything below it does or not. NaN where products
    could leave the range of floats. `out_layout` comes with the numbers of states; `room` holds
    digits of an odometer and states that are gone.
    """
    cards, scope_starts, scopes, strides, table_starts, heads, _, _, zeros = layout
    counts, out_scope_starts, out_scopes, out_strides, out_table_starts = out_layout[:5]
    out_heads, out_var_starts, out_var_factors, out_zeros = out_layout[5:]
    log = 0.0
    number = 1.0
    at = 0
    to = 1
    # The one that tables without scope are.
    out_tables[0] = 1.0
    for factor in range(heads.size):
        first = at
        out_scope_starts[factor] = at
        out_table_starts[factor] = tables.size
        out_heads[factor] = heads[factor]
        out_zeros[factor] = 0
        begin, end, table = scope_starts[factor], scope_starts[factor + 1], table_starts[factor]
        head = heads[factor]
        is_copied = is_whole(scopes, begin, end, cards, counts) == 0
        if not is_copied:
            out_table_starts[factor] = table
            out_zeros[factor] = zeros[factor]
            if end - begin == 1 and head != scopes[begin]:
                is_copied = True
        finish = to
        if is_copied:
            finish = copy_states(
                tables, table, scopes, strides, begin, end, starts, states, counts, room,
                out_tables, to,
            )  # fmt: skip
            out_table_starts[factor] = tables.size
            if finish - to == 1:
                number, log = times_cell(number, log, out_tables[to])
                continue
            if all_ones(out_tables, to, finish) != 0:
                continue
            if (
                head >= 0
                and counts[head] > 1
                and loses_mass(
                    tables,
                    table,
                    scopes,
                    strides,
                    begin,
                    end,
                    cards[head],
                    starts,
                    states,
                    counts,
                    room,
                )
                != 0
            ):
                out_heads[factor] = -1
                out_soft[head] |= COUNTS
        at = write_scope(scopes, begin, end, counts, out_scopes, first)
        if at - first == 1 and out_heads[factor] != out_scopes[first]:
            at = first
            log += weigh(out_scopes[first], out_tables, to, finish, starts, out_soft, out_weights)
            out_zeros[factor] = 0
            continue
        if is_copied:
            out_table_starts[factor] = tables.size + to
            if zeros[factor] != 0:
                out_zeros[factor] = has_value(out_tables, to, finish, 0.0)
            to = finish
        write_strides(counts, out_scopes, first, at, out_strides)
    out_scope_starts[heads.size] = at
    out_table_starts[heads.size] = tables.size + to
    factors_of_variables(out_scope_starts, out_scopes, out_var_starts, out_var_factors)
    return log + np.log(number)


# --- The whole model ------------------------------------------------------------------------------
# How a model lies in memory: strides, the tables of each variable, places of states, bounds.


INFINITY = float("inf")


@inner_kernel()
def factors_of_variables(scope_starts, scopes, out_starts, out_factors):
    """The tables that each variable is part of."""
    n_factors, size = scope_starts.size - 1, scope_starts[scope_starts.size - 1]
    for variable in range(out_starts.size):
        out_starts[variable] = 0
    for place in range(size):
        out_starts[scopes[place] + 1] += 1
    for variable in range(out_starts.size - 1):
        out_starts[variable + 1] += out_starts[variable]
    for factor in range(n_factors - 1, -1, -1):
        for place in range(scope_starts[factor], scope_starts[factor + 1]):
            variable = scopes[place]
            out_starts[variable + 1] -= 1
            out_factors[out_starts[variable + 1]] = factor
    # Filling from the ends has moved each end to its start.
    for variable in range(out_starts.size - 1):
        out_starts[variable] = out_starts[variable + 1]
    out_starts[out_starts.size - 1] = size


@inner_kernel()
def bound_tables(table_starts, tables, out_bounds, out_zeros):
    """The least and the largest positive cell of each table, and whether it has zeros.

    Zeros count as 1.
    """
    for factor in range(out_zeros.size):
        smallest = INFINITY
        low = INFINITY
        high = 0.0
        for cell in range(table_starts[factor], table_starts[factor + 1]):
            x = tables[cell]
            positive = x if x > 0.0 else 1.0
            smallest = x if x < smallest else smallest
            low = positive if positive < low else low
            high = x if x > high else high
        out_zeros[factor] = 1 if smallest == 0.0 else 0
        out_bounds[0, factor] = low
        out_bounds[1, factor] = max(high, 1.0) if smallest == 0.0 else high


@lean_kernel(
    "int64(int64[::1], int64[::1], int64[::1], int64[::1], float64[::1], int64[::1], int64[::1],"
    " int64[::1], int64[::1], int64[::1], float64[:, ::1], uint8[::1])"
)
def lay_out(
    cards, scope_starts, scopes, table_starts, tables, out_strides, out_var_starts, out_var_factors,
    out_starts, out_states, out_bounds, out_zeros,
):  # fmt: skip
    """Strides of all scopes, the tables of each variable, the states of all variables, and bounds.

    No cells are looked at where there is no room for bounds. Returns the number of tables of the
    variable in most of them.
    """
    for factor in range(scope_starts.size - 1):
        stride = 1
        for place in range(scope_starts[factor + 1] - 1, scope_starts[factor] - 1, -1):
            out_strides[place] = stride
            stride *= cards[scopes[place]]
    factors_of_variables(scope_starts, scopes, out_var_starts, out_var_factors)
    at = 0
    most = 0
    for variable in range(cards.size):
        most = max(most, out_var_starts[variable + 1] - out_var_starts[variable])
        out_starts[variable] = at
        for state in range(cards[variable]):
            out_states[at + state] = state
        at += cards[variable]
    bound_tables(table_starts, tables, out_bounds, out_zeros)
    return most
