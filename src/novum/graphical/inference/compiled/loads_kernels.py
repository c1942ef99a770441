"""What fills the values of a program: records of tables, and their copies at what is observed."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from novum.graphical.inference.compiled.factors_kernels import ONES, SOFT
from novum.graphical.inference.compiled.items_kernels import ORIGIN, SIZE, VALUE
from novum.graphical.inference.compiled.layout import (
    LOAD_FACTOR,
    LOAD_FIELDS,
    LOAD_FROM,
    LOAD_TO,
    LOCAL_AT,
    N_FREE,
    N_LOCAL,
    N_OBSERVED,
    N_ONES,
    N_RECORDS,
    N_SOFT,
    ONES_AT,
    RECORDS_AT,
    SOFT_AT,
)
from novum.graphical.inference.compiled.programs_kernels import merge_axes
from novum.numerics import inner_kernel, lean_kernel

# Products between these are far from the limits of floats.
SMALL, LARGE = 1e-150, 1e150


@inner_kernel()
def write_axes(code, at, axes, strides, cards, begin, end):
    """Cards and source strides of an item, neighbors that are copied as one as one; how many."""
    n = end - begin
    if n == 0:
        return 0
    for axis in range(n):
        code[at + axis] = cards[axes[begin + axis]]
        code[at + n + axis] = strides[begin + axis]
    left = merge_axes(code[at : at + n], code[at + n : at + 2 * n], n)
    for axis in range(left):
        code[at + left + axis] = code[at + n + axis]
    return left


@inner_kernel()
def write_loads(
    code, at, items, item_starts, item_axes, item_strides, sources, cards, kept, table_starts,
    pairs_at, pairs, variables, n_items, of_factor,
):  # fmt: skip
    """Records that fill the values: tables at what is observed, soft evidence, ones."""
    code[RECORDS_AT] = at
    for factor in range(kept.size):
        of_factor[factor] = -1
    for item in range(sources.size):
        if sources[item] >= 0:
            of_factor[sources[item]] = item
    for factor in range(kept.size):
        if kept[factor] == 0:
            continue
        code[N_RECORDS] += 1
        item = of_factor[factor]
        n_observed = pairs_at[factor + 1] - pairs_at[factor]
        code[at + LOAD_TO] = items[VALUE, item] if item >= 0 else -1
        code[at + LOAD_FROM] = table_starts[factor]
        code[at + N_OBSERVED] = n_observed
        code[at + LOAD_FACTOR] = factor
        begin = item_starts[item] if item >= 0 else 0
        end = item_starts[item + 1] if item >= 0 else 0
        record = at
        at += LOAD_FIELDS
        for pair in range(2 * n_observed):
            code[at + pair] = pairs[2 * pairs_at[factor] + pair]
        at += 2 * n_observed
        code[record + N_FREE] = write_axes(code, at, item_axes, item_strides, cards, begin, end)
        at += 2 * code[record + N_FREE]
    code[SOFT_AT] = at
    for item in range(n_items):
        if items[ORIGIN, item] <= SOFT:
            code[at] = SOFT - items[ORIGIN, item]
            code[at + 1] = items[VALUE, item]
            at += 2
            code[N_SOFT] += 1
    code[ONES_AT] = at
    for item in range(n_items):
        if items[ORIGIN, item] == ONES:
            code[at] = items[VALUE, item]
            code[at + 1] = items[SIZE, item]
            at += 2
            code[N_ONES] += 1
    code[LOCAL_AT] = at
    code[N_LOCAL] = variables.size
    for v in range(variables.size):
        code[at + v] = variables[v]
    return at + variables.size


@inner_kernel()
def copy_cells(tables, source, code, at, n_axes, out_values, to, digits):
    """Copies a table with its axes in another order: cards at `at`, source strides behind them."""
    last = n_axes - 1
    run, stride = code[at + last], code[at + n_axes + last]
    for axis in range(n_axes):
        digits[axis] = 0
    while True:
        if stride == 1:
            for j in range(run):
                out_values[to + j] = tables[source + j]
        else:
            for j in range(run):
                out_values[to + j] = tables[source + j * stride]
        to += run
        axis = last - 1
        while axis >= 0:
            digits[axis] += 1
            source += code[at + n_axes + axis]
            if digits[axis] < code[at + axis]:
                break
            source -= digits[axis] * code[at + n_axes + axis]
            digits[axis] = 0
            axis -= 1
        if axis < 0:
            return


@inner_kernel()
def times_cell(number, log, cell):
    """A product and the logarithm of what was taken out of it, after one more cell.

    One logarithm serves many cells; it is taken before a product could leave the range of floats.
    """
    if not (cell > SMALL and cell < LARGE):
        return number, log + np.log(cell)
    number *= cell
    if not (number > SMALL and number < LARGE):
        return 1.0, log + np.log(number)
    return number, log


@inner_kernel()
def span_of(values, begin, end):
    """How many powers of two the positive cells of a table are away from 1, at most."""
    low = 1.0
    high = 1.0
    for cell in range(begin, end):
        x = values[cell]
        high = max(high, x)
        low = min(low, x if x > 0.0 else 1.0)
    return max(np.log2(high), -np.log2(low))


@lean_kernel(
    "float64(int64[::1], float64[::1], float64[::1], float64[::1], int64[::1], float64[::1],"
    " float64[::1], int64[::1])"
)
def load_values(code, tables, further, table_spans, codes, out_values, out_spans, digits):
    """Tables at the observed states; the logarithm of those that are but a number then.

    `further` goes on where `tables` ends. `out_spans` has at the first cell of each table how many
    powers of two its positive cells are away from 1.
    """
    log = 0.0
    number = 1.0
    at = code[RECORDS_AT]
    for _ in range(code[N_RECORDS]):
        source, n_axes = code[at + LOAD_FROM], code[at + N_FREE]
        to, n_observed = code[at + LOAD_TO], code[at + N_OBSERVED]
        factor = code[at + LOAD_FACTOR]
        at += LOAD_FIELDS
        for _ in range(n_observed):
            source += codes[code[at]] * code[at + 1]
            at += 2
        cells = tables
        if source >= tables.size:
            cells = further
            source -= tables.size
        if n_axes == 0:
            number, log = times_cell(number, log, cells[source])
        else:
            out_spans[to] = table_spans[factor]
            copy_cells(cells, source, code, at, n_axes, out_values, to, digits)
        at += 2 * n_axes
    at = code[ONES_AT]
    for _ in range(code[N_ONES]):
        out_spans[code[at]] = 0.0
        for cell in range(code[at], code[at] + code[at + 1]):
            out_values[cell] = 1.0
        at += 2
    return log + np.log(number)


@inner_kernel()
def load_weights(code, starts, cards, weights, out_values, out_spans):
    """Weights of variables into their places, each over its largest one; the logarithms of these.

    Those of a variable begin at its place in `starts`.
    """
    log = 0.0
    at = code[SOFT_AT]
    for _ in range(code[N_SOFT]):
        variable, to = code[at], code[at + 1]
        at += 2
        top = 0.0
        for state in range(cards[variable]):
            top = max(top, weights[starts[variable] + state])
        if not top > 0.0:
            return -np.inf
        for state in range(cards[variable]):
            out_values[to + state] = weights[starts[variable] + state] / top
        out_spans[to] = span_of(out_values, to, to + cards[variable])
        log += np.log(top)
    return log
