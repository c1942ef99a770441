"""Factors at what is known: slices of tables, copied one after the other."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

import numpy as np

from novum.numerics import lean_kernel

# cards, scope_starts, scopes, table_starts, tables of a model
MODEL = "Tuple((int64[::1], int64[::1], int64[::1], int64[::1], float64[::1]))"
# scope_starts, scopes, strides, table_starts, tables, sources of what is left
LEFT = "Tuple((int64[::1], int64[::1], int64[::1], int64[::1], float64[::1], int64[::1]))"


@lean_kernel(
    f"float64({MODEL}, int64[::1], int64[::1], int64[::1], int64[:,::1], {LEFT}, int64[::1])"
)
def slice_tables(model, codes, factors, new_numbers, work, out_left, out_counts):
    """Copies the chosen factors without their observed axes, each over its largest cell.

    Returns the logarithm of all that was divided out; `-inf` if a factor is all zero. `out_counts`
    tells how many factors, edges and cells there are; those without free variables are left out.
    """
    cards, scope_starts, scopes, table_starts, tables = model
    out_scope_starts, out_scopes, out_strides, out_table_starts, out_tables, out_sources = out_left
    free, strides, digits = work[0], work[1], work[2]
    log = 0.0
    n_factors = 0
    n_edges = 0
    n_cells = 0
    for f in factors:
        base = table_starts[f]
        stride = 1
        n_free = 0
        for edge in range(scope_starts[f + 1] - 1, scope_starts[f] - 1, -1):
            v = scopes[edge]
            if codes[v] >= 0:
                base += stride * codes[v]
            else:
                # From the last axis to the first.
                free[n_free], strides[n_free], digits[n_free] = v, stride, 0
                n_free += 1
            stride *= cards[v]
        size = 1
        for i in range(n_free):
            out_strides[n_edges + n_free - 1 - i] = size
            out_scopes[n_edges + n_free - 1 - i] = new_numbers[free[i]]
            size *= cards[free[i]]
        top = 0.0
        # Axes after the last observed one lie together.
        run = 1
        n_inner = 0
        while n_inner < n_free and strides[n_inner] == run:
            run *= cards[free[n_inner]]
            n_inner += 1
        for cell in range(n_cells, n_cells + size, run):
            for k in range(run):
                value = tables[base + k]
                top = max(top, value)
                out_tables[cell + k] = value
            for i in range(n_inner, n_free):
                base += strides[i]
                digits[i] += 1
                if digits[i] < cards[free[i]]:
                    break
                base -= strides[i] * digits[i]
                digits[i] = 0
        if top == 0.0:
            return -np.inf
        log += math.log(top)
        if n_free > 0:
            for cell in range(n_cells, n_cells + size):
                out_tables[cell] /= top
            out_sources[n_factors] = f
            n_factors += 1
            n_edges += n_free
            n_cells += size
            out_scope_starts[n_factors] = n_edges
            out_table_starts[n_factors] = n_cells
    out_counts[0], out_counts[1], out_counts[2] = n_factors, n_edges, n_cells
    return log
