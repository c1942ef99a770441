"""From a rooted tree to a program of loops.

The axes of a clique are its separator followed by what is summed out. Its table is built axis by
axis, in blocks of at most `BLOCK` cells, and never stored:

    expand    T'[i, a, j] = T[i] * f[offset(i, a) + j]      f reaches an axis that T has not
    multiply  T'[i, j]    = T[i, j] * f[offset(i) + j]      f ends at the last axis of T

The offsets of a factor within a block are a map, one entry for each (i, a); the outer axes move its
base. `layout` names the places of everything in a program.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from novum.graphical.inference.compiled.layout import (
    AXES,
    BLOCKS,
    CLIQUE_FIELDS,
    FROM_BAR,
    FROM_VALUE,
    GROUPS,
    IS_EXPANSION,
    MAP_AT,
    MESSAGE_SIZE,
    N_AXES,
    N_OUTER,
    NUMBER,
    OP_FIELDS,
    OUTER,
    PROJECTED_AXES,
    PROJECTION_FIELDS,
    REPEATS,
    ROWS,
    RUN,
    SOURCE,
    TARGET,
    TO,
    TO_SIZE,
)
from novum.numerics import inner_kernel


@inner_kernel()
def sort_axes(starts, axes, strides, rank, cards, out_sizes, n_items):
    """Brings the axes of factors into the common order, their source strides with them."""
    for item in range(n_items):
        size = 1
        for place in range(starts[item], starts[item + 1]):
            variable, stride = axes[place], strides[place]
            size *= cards[variable]
            back = place
            while back > starts[item] and rank[axes[back - 1]] > rank[variable]:
                axes[back] = axes[back - 1]
                strides[back] = strides[back - 1]
                back -= 1
            axes[back] = variable
            strides[back] = stride
        out_sizes[item] = size


@inner_kernel()
def write_map(maps, at, strides, cards, begin, end):
    """Offsets of an item over the axes `begin` to `end`, in C order; how many there are."""
    maps[at] = 0
    length = 1
    for axis in range(end - 1, begin - 1, -1):
        for digit in range(1, cards[axis]):
            step = digit * strides[axis]
            for t in range(length):
                maps[at + digit * length + t] = maps[at + t] + step
        length *= cards[axis]
    return length


@inner_kernel()
def product_of(cards, axes, begin, end):
    """Cells of some axes."""
    total = 1
    for place in range(begin, end):
        total *= cards[axes[place]]
    return total


@inner_kernel()
def write_outer(code, at, axes, cards, sizes, n_axes, n_kept, split, number):
    """Fields of a clique, its axes and its outer loops; where its operations begin."""
    code[at + NUMBER] = number
    code[at + N_AXES] = n_axes
    code[at + N_OUTER] = split
    code[at + GROUPS] = 1
    code[at + BLOCKS] = 1
    place = at + CLIQUE_FIELDS
    code[at + AXES] = place
    for axis in range(n_axes):
        sizes[axis] = cards[axes[axis]]
        code[place + axis] = axes[axis]
        code[place + n_axes + axis] = sizes[axis]
        if axis < split:
            code[at + BLOCKS] *= sizes[axis]
        elif axis < n_kept:
            code[at + GROUPS] *= sizes[axis]
    place += 2 * n_axes
    code[at + OUTER] = place
    stride = 1
    for axis in range(n_kept - 1, -1, -1):
        if axis < split:
            code[place + axis] = stride
        stride *= sizes[axis]
    for axis in range(n_kept, split):
        code[place + axis] = 0
    code[at + MESSAGE_SIZE] = stride
    return place + split


@inner_kernel()
def block_split(sizes, n_axes, block):
    """The first axis inside a block of at most so many cells."""
    cells = 1
    split = n_axes
    while split > 0 and cells * sizes[split - 1] <= block:
        split -= 1
        cells *= sizes[split]
    return min(split, n_axes - 1)


@inner_kernel()
def block_cells(cards, members, block):
    """Cells of a clique's table that are there at a time, see `block_split`."""
    cells = 1.0
    for place in range(members.size - 1, -1, -1):
        if place < members.size - 1 and cells * cards[members[place]] > block:
            break
        cells *= cards[members[place]]
    return cells


@inner_kernel()
def write_operation(
    code, at, maps, map_at, strides, sizes, state, last, split, n_kept, n_axes, out_map
):
    """One operation of a clique: its loops, its map and where its block lies; where the next goes.

    `state` holds the axes that are covered, where the table so far begins, and its end.
    """
    covered, source, end = state[0], state[1], state[2]
    code[at + MAP_AT] = map_at
    code[at + SOURCE] = source
    code[at + IS_EXPANSION] = 1
    code[at + REPEATS] = 1
    code[at + RUN] = 1
    code[at + ROWS] = 1
    # Where nothing is summed out, each cell is a row of its own.
    first = max(last, split) if last < n_axes - 1 or n_kept < n_axes else last + 1
    if last >= split:
        code[at + IS_EXPANSION] = 1 if last >= covered else 0
        low = covered if last >= covered else split
        # A run stays on one side of the end of the separator, so that rows have one message cell.
        while first > low and first <= last and first != n_kept and strides[first - 1] != 0:
            first -= 1
        for axis in range(first, last + 1):
            code[at + RUN] *= sizes[axis]
        if last >= covered:
            for axis in range(covered, first):
                code[at + REPEATS] *= sizes[axis]
            first_row = covered
        else:
            first_row = first
        for axis in range(split, first_row):
            code[at + ROWS] *= sizes[axis]
        out_map[0] = map_at + write_map(maps, map_at, strides, sizes, split, first)
        state[0] = max(covered, last + 1)
    else:
        # Only outer axes: a number for each block, which multiplies what there is so far.
        maps[map_at] = 0
        out_map[0] = map_at + 1
    code[at + TARGET] = end
    state[1] = end
    state[2] = end + code[at + ROWS] * code[at + REPEATS] * code[at + RUN]
    for axis in range(split):
        code[at + OP_FIELDS + axis] = strides[axis]
    return at + OP_FIELDS + split


@inner_kernel()
def merge_axes(sizes, strides, n):
    """Makes one axis of neighbors that are stepped through as one; how many axes are left."""
    last = 0
    for axis in range(1, n):
        if strides[last] == strides[axis] * sizes[axis]:
            sizes[last] *= sizes[axis]
            strides[last] = strides[axis]
        else:
            last += 1
            sizes[last] = sizes[axis]
            strides[last] = strides[axis]
    return last + 1


@inner_kernel()
def write_projection(code, at, axes, cards, wanted, begin, end, sizes, strides, value, bar, target):
    """Sums of an item's value times bar over all but the wanted variables."""
    n = end - begin
    for axis in range(n):
        sizes[axis] = cards[axes[begin + axis]]
        strides[axis] = 0
    size = 1
    for place in range(wanted.size - 1, -1, -1):
        for axis in range(n):
            if axes[begin + axis] == wanted[place]:
                strides[axis] = size
        size *= cards[wanted[place]]
    n = merge_axes(sizes, strides, n)
    for axis in range(n):
        code[at + PROJECTION_FIELDS + axis] = sizes[axis]
        code[at + PROJECTION_FIELDS + n + axis] = strides[axis]
    code[at + FROM_VALUE] = value
    code[at + FROM_BAR] = bar
    code[at + TO] = target
    code[at + TO_SIZE] = size
    code[at + PROJECTED_AXES] = n
    return at + PROJECTION_FIELDS + 2 * n
