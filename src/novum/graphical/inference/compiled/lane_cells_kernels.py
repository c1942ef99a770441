"""One cell of an item in all lanes: it is the same in all of them, or has a number in each.

set    out = left * cell        add    out += left * cell
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from novum.numerics.jit import inner_kernel


@inner_kernel()
def set_cells(width, out, to, left, source, tables, values, cell, in_lanes):
    """Products with a cell of `values`, which has lanes, or of `tables`, which has none."""
    if in_lanes:
        v = cell * width
        for lane in range(width):
            out[to + lane] = left[source + lane] * values[v + lane]
    else:
        x = tables[cell]
        for lane in range(width):
            out[to + lane] = left[source + lane] * x


@inner_kernel()
def add_cells(width, out, to, left, source, tables, values, cell, in_lanes):
    """The same, added to what there is."""
    if in_lanes:
        v = cell * width
        for lane in range(width):
            out[to + lane] += left[source + lane] * values[v + lane]
    else:
        x = tables[cell]
        for lane in range(width):
            out[to + lane] += left[source + lane] * x
