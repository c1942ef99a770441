"""Sweeps over blocks of variables: Gibbs updates and Metropolis steps.

    weight of cell c of a block  =  inside[c] * product over links j of table_j[base_j + delta_j[c]]

where `base_j` is the place in the table of factor j that the other blocks' states give. Places are
kept for each factor and moved when a block changes, so an update costs its cells times its links.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

import numpy as np

from novum.graphical.inference.chance_kernels import mixed, uniform
from novum.numerics.jit import lean_kernel

# Below this the sum of weights has lost digits to underflow, and logarithms are used.
_LOW = 1e-280


@lean_kernel(
    "float64(int64, int64, float64[::1], int64[::1], int64[::1], int64[::1], int64[::1],"
    " int64[::1], float64[::1], int64[::1])"
)
def log_weight(
    block, cell, inside, cell_starts, link_starts, link_factors, delta_starts, deltas, tables, bases
):
    """Logarithm of the weight of a cell, with the block's own part taken out of the bases."""
    total = math.log(inside[cell_starts[block] + cell])
    for j in range(link_starts[block], link_starts[block + 1]):
        total += math.log(tables[bases[link_factors[j]] + deltas[delta_starts[j] + cell]])
    return total


@lean_kernel(
    "float64(int64, float64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1],"
    " float64[::1], int64[::1], float64[::1])"
)
def weigh_cells(
    block, inside, cell_starts, link_starts, link_factors, delta_starts, deltas, tables, bases,
    out_weights,
):  # fmt: skip
    """Weights of all cells of a block, and their sum."""
    first = cell_starts[block]
    n = cell_starts[block + 1] - first
    for c in range(n):
        out_weights[c] = inside[first + c]
    for j in range(link_starts[block], link_starts[block + 1]):
        base, at = bases[link_factors[j]], delta_starts[j]
        for c in range(n):
            out_weights[c] *= tables[base + deltas[at + c]]
    total = 0.0
    for c in range(n):
        total += out_weights[c]
    if total > _LOW:
        return total
    top = -np.inf
    for c in range(n):
        out_weights[c] = log_weight(
            block, c, inside, cell_starts, link_starts, link_factors, delta_starts, deltas, tables,
            bases,
        )  # fmt: skip
        top = max(top, out_weights[c])
    total = 0.0
    for c in range(n):
        out_weights[c] = math.exp(out_weights[c] - top)
        total += out_weights[c]
    return total


@lean_kernel(
    "void(float64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], float64[::1],"
    " int64[::1], int64[::1], uint64, uint64, boolean, float64[::1], float64[::1])"
)
def gibbs_sweep(
    inside, cell_starts, link_starts, link_factors, delta_starts, deltas, tables, bases, cells,
    key, sweep, kept, weights, out_sums,
):  # fmt: skip
    """Draws each block given all others; a kept sweep adds the probabilities it drew from."""
    n_blocks = cells.size
    for block in range(n_blocks):
        first = cell_starts[block]
        n = cell_starts[block + 1] - first
        if n == 1:
            if kept:
                out_sums[first] += 1.0
            continue
        old = cells[block]
        for j in range(link_starts[block], link_starts[block + 1]):
            bases[link_factors[j]] -= deltas[delta_starts[j] + old]
        total = weigh_cells(
            block, inside, cell_starts, link_starts, link_factors, delta_starts, deltas, tables,
            bases, weights,
        )  # fmt: skip
        left = uniform(key, sweep * np.uint64(n_blocks) + np.uint64(block)) * total
        chosen = 0
        while chosen < n - 1 and left >= weights[chosen]:
            left -= weights[chosen]
            chosen += 1
        # Rounding may lead past the last possible cell.
        while weights[chosen] == 0.0:
            chosen -= 1
        if kept:
            share = 1.0 / total
            for c in range(n):
                out_sums[first + c] += weights[c] * share
        cells[block] = chosen
        for j in range(link_starts[block], link_starts[block + 1]):
            bases[link_factors[j]] += deltas[delta_starts[j] + chosen]


@lean_kernel(
    "int64(float64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], float64[::1],"
    " int64[::1], int64[::1], uint64, uint64, boolean, float64[::1])"
)
def metropolis_sweep(
    inside, cell_starts, link_starts, link_factors, delta_starts, deltas, tables, bases, cells,
    key, sweep, kept, out_sums,
):  # fmt: skip
    """Proposes for each block one of its cells, all alike, the present one too; moves made."""
    n_blocks = cells.size
    moved = 0
    for block in range(n_blocks):
        first = cell_starts[block]
        n = cell_starts[block + 1] - first
        draw = (sweep * np.uint64(n_blocks) + np.uint64(block)) * np.uint64(2)
        proposed = np.int64(uniform(key, draw) * n)
        old = cells[block]
        if proposed != old:
            for j in range(link_starts[block], link_starts[block + 1]):
                bases[link_factors[j]] -= deltas[delta_starts[j] + old]
            gain = log_weight(
                block, proposed, inside, cell_starts, link_starts, link_factors, delta_starts,
                deltas, tables, bases,
            ) - log_weight(
                block, old, inside, cell_starts, link_starts, link_factors, delta_starts, deltas,
                tables, bases,
            )  # fmt: skip
            if uniform(key, draw + np.uint64(1)) < math.exp(min(gain, 0.0)):
                cells[block] = proposed
                moved += 1
            for j in range(link_starts[block], link_starts[block + 1]):
                bases[link_factors[j]] += deltas[delta_starts[j] + cells[block]]
        if kept:
            out_sums[first + cells[block]] += 1.0
    return moved


@lean_kernel(
    "int64(float64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], float64[::1],"
    " int64[::1], int64[::1], uint64, boolean, int64, int64, int64, int64, int64[::1], int64[::1],"
    " int64[::1], float64[::1], float64[:,::1], float64[:,::1])"
)
def run_chain(
    inside, cell_starts, link_starts, link_factors, delta_starts, deltas, tables, bases, cells,
    key, metropolis, start, stop, burn_in, thin, ends, asked_blocks, asked_places, weights,
    out_batches, out_joint,
):  # fmt: skip
    """Sweeps `start ... stop` of one chain; kept ones are added to their batch.

    `ends` has for each batch the number of kept sweeps up to its end. `asked_places` gives for
    each cell its part in the place of a joint table over `asked_blocks`.
    """
    moved = 0
    batch = 0
    for sweep in range(start, stop):
        after = sweep - burn_in
        kept = after >= 0 and (after + 1) % thin == 0 and (after + 1) // thin <= ends[-1]
        if kept:
            while ends[batch] < (after + 1) // thin:
                batch += 1
        if metropolis:
            moved += metropolis_sweep(
                inside, cell_starts, link_starts, link_factors, delta_starts, deltas, tables,
                bases, cells, key, np.uint64(sweep), kept, out_batches[batch],
            )  # fmt: skip
        else:
            gibbs_sweep(
                inside, cell_starts, link_starts, link_factors, delta_starts, deltas, tables,
                bases, cells, key, np.uint64(sweep), kept, weights, out_batches[batch],
            )  # fmt: skip
        if kept and asked_blocks.size > 0:
            at = 0
            for block in asked_blocks:
                at += asked_places[cell_starts[block] + cells[block]]
            out_joint[batch, at] += 1.0
    return moved


@lean_kernel(
    "void(int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], uint64,"
    " int64[::1], int64[::1])"
)
def start_chain(
    cell_starts, link_starts, link_factors, delta_starts, deltas, table_starts, key,
    out_bases, out_cells,
):  # fmt: skip
    """Every block at one of its cells, all alike: starts far from each other."""
    for factor in range(out_bases.size):
        out_bases[factor] = table_starts[factor]
    for block in range(out_cells.size):
        n = cell_starts[block + 1] - cell_starts[block]
        cell = np.int64(mixed(key, np.uint64(block)) % np.uint64(n))
        out_cells[block] = cell
        for j in range(link_starts[block], link_starts[block + 1]):
            out_bases[link_factors[j]] += deltas[delta_starts[j] + cell]
