"""The model that is left when impossible states are cut out of its tables.

A table that is all ones, or a number, loses its scope; one of a single variable that is not its own
becomes a weight of that variable. A conditional table that loses more than zeros no longer sums to
one and belongs to no variable any more.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from novum.graphical.inference.compiled.factors_kernels import COUNTS, WEIGHTED
from novum.graphical.inference.compiled.loads_kernels import span_of, times_cell
from novum.graphical.inference.compiled.messages_kernels import MOST_SPAN
from novum.graphical.inference.compiled.supports_kernels import next_run
from novum.numerics.jit import inner_kernel, lean_kernel


@inner_kernel()
def copy_states(
    tables, table, scopes, strides, begin, end, starts, states, counts, digits, out_tables, to
):
    """Copies the cells of a table at the states that are left; where the copy ends."""
    n = end - begin
    cell = table
    for axis in range(n):
        digits[axis] = 0
        cell += strides[begin + axis] * states[starts[scopes[begin + axis]]]
    if n == 0:
        out_tables[to] = tables[table]
        return to + 1
    last = scopes[end - 1]
    first, n_last, step = starts[last], counts[last], strides[end - 1]
    cell -= step * states[first]
    is_run = step == 1 and states[first + n_last - 1] - states[first] == n_last - 1
    axis = 0
    while axis >= 0:
        if is_run:
            source = cell + states[first]
            for place in range(n_last):
                out_tables[to + place] = tables[source + place]
        else:
            for place in range(n_last):
                out_tables[to + place] = tables[cell + step * states[first + place]]
        to += n_last
        cell, axis = next_run(cell, n - 2, scopes, strides, begin, starts, states, counts, digits)
    return to


@inner_kernel()
def loses_mass(tables, table, scopes, strides, begin, end, card, starts, states, counts, digits):
    """Whether a conditional table has positive cells at states of its variable that are gone.

    Its rows no longer sum to one then. The variable is the last of the scope and has `card` states.
    """
    n = end - begin
    last = scopes[end - 1]
    if counts[last] == card:
        return 0
    cell = table
    for axis in range(n - 1):
        digits[axis] = 0
        cell += strides[begin + axis] * states[starts[scopes[begin + axis]]]
    axis = 0
    while axis >= 0:
        place = starts[last]
        end_place = place + counts[last]
        for state in range(card):
            if place < end_place and states[place] == state:
                place += 1
            elif tables[cell + state] > 0.0:
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
            out_scopes[0, at] = scopes[place]
            at += 1
    return at


@inner_kernel()
def write_strides(counts, out_scopes, first, end):
    """Strides of a table that lies in C order of its scope."""
    stride = 1
    for place in range(end - 1, first - 1, -1):
        out_scopes[1, place] = stride
        stride *= counts[out_scopes[0, place]]


@inner_kernel()
def weigh(variable, tables, begin, end, starts, out_soft, out_weights):
    """Makes a table of one variable a weight of it; a logarithm as of `multiply_weights`."""
    is_first = 1 - (out_soft[variable] & WEIGHTED)
    out_soft[variable] = WEIGHTED | COUNTS
    return multiply_weights(tables, begin, end, out_weights, starts[variable], is_first)


@lean_kernel(
    "float64(int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], uint8[::1],"
    " float64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[:, ::1], int64[::1],"
    " int64[::1], uint8[::1], uint8[::1], float64[::1], float64[::1], int64[::1])"
)
def cut_tables(
    cards,
    scope_starts,
    scopes,
    strides,
    table_starts,
    heads,
    zeros,
    tables,
    starts,
    states,
    counts,
    out_scope_starts,
    out_scopes,
    out_table_starts,
    out_heads,
    out_zeros,
    out_soft,
    out_tables,
    out_weights,
    digits,
):
    """The tables at the states that are left; the logarithm of what became numbers.

    Rows of `out_scopes` are variables and strides. Tables that are whole stay where they are; the
    others are copied to `out_tables`, whose places count on from the end of `tables`. A table that
    is all ones, or a number, loses its scope; one of a single variable that is not its own becomes
    a weight of that variable. A variable whose own table no longer sums to one counts, whether
    anything below it does or not. NaN where products could leave the range of floats.
    """
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
                tables,
                table,
                scopes,
                strides,
                begin,
                end,
                starts,
                states,
                counts,
                digits,
                out_tables,
                to,
            )
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
                    digits,
                )
                != 0
            ):
                out_heads[factor] = -1
                out_soft[head] |= COUNTS
        at = write_scope(scopes, begin, end, counts, out_scopes, first)
        if at - first == 1 and out_heads[factor] != out_scopes[0, first]:
            at = first
            log += weigh(
                out_scopes[0, first], out_tables, to, finish, starts, out_soft, out_weights
            )
            out_zeros[factor] = 0
            continue
        if is_copied:
            out_table_starts[factor] = tables.size + to
            if zeros[factor] != 0:
                out_zeros[factor] = has_value(out_tables, to, finish, 0.0)
            to = finish
        write_strides(counts, out_scopes, first, at)
    out_scope_starts[heads.size] = at
    out_table_starts[heads.size] = tables.size + to
    return log + np.log(number)


@lean_kernel("void(int64[::1], int64[:, ::1], int64[::1], int64[::1])")
def factors_of_variables(scope_starts, scopes, out_starts, out_factors):
    """The tables that each variable is part of."""
    for variable in range(out_starts.size):
        out_starts[variable] = 0
    for place in range(scope_starts[scope_starts.size - 1]):
        out_starts[scopes[0, place] + 1] += 1
    for variable in range(out_starts.size - 1):
        out_starts[variable + 1] += out_starts[variable]
    for factor in range(scope_starts.size - 2, -1, -1):
        for place in range(scope_starts[factor], scope_starts[factor + 1]):
            variable = scopes[0, place]
            out_starts[variable + 1] -= 1
            out_factors[out_starts[variable + 1]] = factor
    # Filling from the ends has moved each end to its start.
    for variable in range(out_starts.size - 1):
        out_starts[variable] = out_starts[variable + 1]
    out_starts[out_starts.size - 1] = scope_starts[scope_starts.size - 1]
