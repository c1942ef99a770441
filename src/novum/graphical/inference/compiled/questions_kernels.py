"""A question in one call: its program and, of a small one about a joint table, the answer.

For small questions the way from Python to compiled code and back, with all its arrays, costs as
much as the work itself. Their sums are so short that the kernel does without vectors, as suits the
planner.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from novum.graphical.inference.compiled.answers_kernels import load
from novum.graphical.inference.compiled.layout import (
    MOST_AXES,
    MOST_OPS,
    N_BUFFER,
    N_CLIQUES,
    N_VALUES,
    PRICE_CELLS,
    ROOT_MESSAGE,
)
from novum.graphical.inference.compiled.messages_kernels import collect
from novum.graphical.inference.compiled.planning_kernels import plan
from novum.numerics.jit import inner_kernel, kernel

# More blocks than any small program has.
EVERY_BLOCK = 2**62


@inner_kernel(allocates=True)
def collect_table(code, maps, tables, table_spans, known, starts, cards, weights, size):
    """The table of a program, whose sum is 1, and the logarithm of the scales (`collect`)."""
    # The span of a table lies in the cell before it: `spans[at]` is `values[at - 1]`.
    spans = np.empty(code[N_VALUES] + 1)
    values, block = spans[1:], np.empty(code[N_BUFFER])
    digits, bases = np.empty(code[MOST_AXES] + 1, np.int64), np.empty(code[MOST_OPS] + 1, np.int64)
    state = np.zeros(2, np.int64)
    state[0] = code[N_CLIQUES] - 1
    log = load(
        code, tables, tables, table_spans, known, starts, cards, weights, values, spans, digits
    )
    if log > -np.inf:
        log += collect(code, maps, values, spans, block, digits, bases, state, EVERY_BLOCK, 1)
    first, total = code[ROOT_MESSAGE], 0.0
    for cell in range(first, first + size):
        total += values[cell]
    table = np.empty(size)
    for cell in range(size):
        table[cell] = values[first + cell] / total
    return table, log


@kernel(
    "Tuple((int64[::1], int32[::1], float64[::1], float64[::1], float64))(int64[::1], int64[::1],"
    " int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], uint8[::1],"
    " float64[::1], int64[::1], uint8[::1], int64[::1], int64, int64, int64, int64, float64,"
    " float64[::1], float64[::1], int64[::1], float64[::1], int64[::1], int32[::1], float64,"
    " float64)",
    vectorize=False,
)
def plan_question(
    cards,
    scope_starts,
    scopes,
    strides,
    table_starts,
    heads,
    var_starts,
    var_factors,
    zeros,
    logs,
    known,
    soft,
    asked,
    extent,
    purpose,
    directed,
    block,
    most_bytes,
    tables,
    table_spans,
    starts,
    weights,
    code,
    maps,
    most_cells,
    at_once,
):
    """The program of a question, its maps, its price, and of a small one also its answer.

    Parameters
    ----------
    most_bytes : beyond them the program is empty
    tables, table_spans, starts, weights : what a run reads (`load`)
    code, maps : a program that is kept, or nothing
    most_cells : beyond them, too
    at_once : a joint question of up to so many cells is answered

    Returns
    -------
    code, maps, prices : the program; prices of a new one only
    table, log : the joint table, whose sum is 1, and the logarithm of the scales (`collect`)
    """
    prices = np.empty(0)
    if code.size == 0:
        code, maps, prices = plan(
            cards, scope_starts, scopes, strides, table_starts, heads, var_starts, var_factors,
            zeros, logs, known, soft, asked, extent, purpose, directed, block, most_bytes,
            most_cells,
        )  # fmt: skip
    if code.size == 0 or (prices.size > 0 and prices[PRICE_CELLS] > at_once):
        return code, maps, prices, np.empty(0), 0.0
    size = 1
    for variable in asked:
        size *= cards[variable]
    table, log = collect_table(code, maps, tables, table_spans, known, starts, cards, weights, size)
    return code, maps, prices, table, log
