"""Whole runs: load, collect, distribute and hand out, in slices that go on where they were.

`state` holds the clique and the block that are next, the step of the run, and whether posteriors
are wanted.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from novum.graphical.inference.compiled.layout import LOCAL_AT, N_CLIQUES, N_LOCAL, N_SOFT
from novum.graphical.inference.compiled.loads_kernels import load_values, load_weights
from novum.graphical.inference.compiled.maxima_kernels import collect_maxima, read_choices
from novum.graphical.inference.compiled.messages_kernels import collect, distribute
from novum.numerics.jit import inner_kernel, lean_kernel

# Steps of a run.
LOAD = 0
COLLECT = 1
DISTRIBUTE = 2
DONE = 3


@inner_kernel()
def load(
    code, tables, further, table_spans, known, starts, cards, weights, out_values, out_spans, digits
):
    """Tables and weights of a program; the logarithm of what are but numbers."""
    log = load_values(code, tables, further, table_spans, known, out_values, out_spans, digits)
    if code[N_SOFT] > 0:
        log += load_weights(code, starts, cards, weights, out_values, out_spans)
    return log


@inner_kernel()
def spread(code, answers, known, starts, cards, states, out_tables):
    """Answers at the states that are left, zeros at the others; known variables have a one."""
    for cell in range(out_tables.size):
        out_tables[cell] = 0.0
    for variable in range(known.size):
        if known[variable] >= 0:
            out_tables[starts[variable] + states[starts[variable] + known[variable]]] = 1.0
    at = 0
    for local in range(code[N_LOCAL]):
        variable = code[code[LOCAL_AT] + local]
        start = starts[variable]
        for place in range(start, start + cards[variable]):
            out_tables[start + states[place]] = answers[at]
            at += 1


@inner_kernel()
def begin(
    code, tables, further, table_spans, known, starts, cards, weights, values, spans, digits, state
):
    """Loads what a run that has not begun works with; the logarithm of what became numbers."""
    if state[2] != LOAD:
        return 0.0
    log = load(
        code, tables, further, table_spans, known, starts, cards, weights, values, spans, digits
    )
    state[0], state[1], state[2] = code[N_CLIQUES] - 1, 0, COLLECT
    if log == -np.inf:
        state[2] = DONE
    return log


@lean_kernel(
    "float64(int64[::1], int32[::1], float64[::1], float64[::1], float64[::1], int64[::1],"
    " int64[::1], int64[::1], float64[::1], float64[::1], float64[::1], float64[::1], int64[::1],"
    " int64[::1], int64[::1], int64[::1], float64[::1], float64[::1], float64[::1], float64[::1],"
    " int64)",
    short_loops=True,
)
def run_sums(
    code,
    maps,
    tables,
    further,
    table_spans,
    known,
    starts,
    cards,
    weights,
    values,
    spans,
    block,
    digits,
    bases,
    state,
    states,
    bars,
    slope,
    answers,
    out_tables,
    budget,
):
    """Goes on for `budget` blocks; the logarithms that were found, see `collect`."""
    log = begin(
        code,
        tables,
        further,
        table_spans,
        known,
        starts,
        cards,
        weights,
        values,
        spans,
        digits,
        state,
    )
    if state[2] == COLLECT:
        sums_roots = 1 if state[3] == 0 else 0
        log += collect(code, maps, values, spans, block, digits, bases, state, budget, sums_roots)
        if state[0] >= 0:
            return log
        state[0], state[1], state[2] = 0, 0, DONE
        if log > -np.inf and state[3] != 0:
            state[2] = DISTRIBUTE
    if state[2] == DISTRIBUTE:
        log += distribute(
            code, maps, values, bars, block, slope, digits, bases, state, budget, answers
        )
        if log == -np.inf:
            state[2] = DONE
        elif state[0] == code[N_CLIQUES]:
            spread(code, answers, known, starts, cards, states, out_tables)
            state[2] = DONE
    return log


@lean_kernel(
    "float64(int64[::1], int32[::1], float64[::1], float64[::1], float64[::1], int64[::1],"
    " int64[::1], int64[::1], float64[::1], float64[::1], float64[::1], float64[::1], int64[::1],"
    " int64[::1], int64[::1], int64[::1], int64[::1], int64)",
    short_loops=True,
)
def run_maxima(
    code,
    maps,
    tables,
    further,
    table_spans,
    known,
    starts,
    cards,
    weights,
    values,
    spans,
    block,
    digits,
    bases,
    state,
    choices,
    out_codes,
    budget,
):
    """The same with maxima; `out_codes` become the states of all variables that take part."""
    log = begin(
        code,
        tables,
        further,
        table_spans,
        known,
        starts,
        cards,
        weights,
        values,
        spans,
        digits,
        state,
    )
    if state[2] == COLLECT:
        log += collect_maxima(
            code, maps, values, spans, block, digits, bases, state, budget, choices
        )
        if state[0] < 0:
            state[2] = DONE
            if log > -np.inf:
                read_choices(code, maps, values, block, digits, bases, choices, out_codes)
    return log
