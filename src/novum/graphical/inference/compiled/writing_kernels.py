"""Writes the program of a rooted tree: its loads, and its cliques from the roots down."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from novum.graphical.inference.compiled.factors_kernels import MESSAGE_ITEM, SOFT
from novum.graphical.inference.compiled.items_kernels import (
    BAR,
    ORIGIN,
    SIZE,
    VALUE,
    add_item,
    add_messages,
    items_by_last_axis,
    place_values,
    program_room,
)
from novum.graphical.inference.compiled.layout import (
    BAR_FROM,
    BAR_TO,
    CLIQUES_AT,
    COUNTED,
    FIRST_BARRED,
    HEADER,
    INCOMING,
    IS_ROOT,
    MARGINALS,
    MESSAGE,
    MESSAGE_BAR,
    MOST_AXES,
    MOST_OPS,
    N_BUFFER,
    N_CLIQUES,
    N_CODE,
    N_MAPS,
    N_OPS,
    N_PROJECTIONS,
    NEEDED,
    OP_BAR,
    OP_LANES,
    OP_VALUE,
    OPS,
    PROJECTIONS,
    ROOT_MESSAGE,
)
from novum.graphical.inference.compiled.loads_kernels import write_loads
from novum.graphical.inference.compiled.programs_kernels import (
    block_split,
    sort_axes,
    write_operation,
    write_outer,
    write_projection,
)
from novum.numerics.jit import kernel, lean_kernel


@lean_kernel(
    "int64(int64[::1], int64, int32[::1], int64, int64, int64[::1], int64[::1], int64[::1],"
    " int64[:, ::1], int64[::1], int64[::1], int64, int64, int64, int64[::1], int64[::1],"
    " int64[::1], int64[::1], int64[::1])"
)
def write_clique(
    code,
    at,
    maps,
    map_at,
    c,
    axes,
    item_starts,
    item_axes,
    items,
    first,
    cards,
    n_kept,
    block,
    purpose,
    axis_of,
    strides,
    sizes,
    chosen,
    out_state,
):
    """Loops and operations of one clique; `out_state` has the ends of code, maps and buffer."""
    n_axes = axes.size
    for axis in range(n_axes):
        axis_of[axes[axis]] = axis
        sizes[axis] = cards[axes[axis]]
    split = block_split(sizes, n_axes, block)
    place = write_outer(code, at, axes, cards, sizes, n_axes, n_kept, split, c)
    lasts = chosen[chosen.size // 2 :]
    n_ops = items_by_last_axis(item_starts, item_axes, items, first, c, axis_of, chosen, lasts)
    code[at + OPS] = place
    code[at + N_OPS] = n_ops
    code[at + FIRST_BARRED] = n_ops
    state = out_state[:4]
    state[0], state[1], state[2], state[3] = split, 0, 1, map_at
    for op in range(n_ops):
        item = chosen[op]
        for axis in range(n_axes):
            strides[axis] = 0
        stride = 1
        for axis in range(item_starts[item + 1] - 1, item_starts[item] - 1, -1):
            strides[axis_of[item_axes[axis]]] = stride
            stride *= cards[item_axes[axis]]
        code[place + OP_VALUE] = items[VALUE, item]
        code[place + OP_BAR] = items[BAR, item]
        origin = items[ORIGIN, item]
        code[place + OP_LANES] = 1 if origin == MESSAGE_ITEM or origin <= SOFT else 0
        if purpose == MARGINALS and items[BAR, item] >= 0 and code[at + FIRST_BARRED] == n_ops:
            code[at + FIRST_BARRED] = op
        place = write_operation(
            code,
            place,
            maps,
            state[3],
            strides,
            sizes,
            state,
            lasts[op],
            split,
            n_kept,
            n_axes,
            state[3:],
        )
    code[N_BUFFER] = max(code[N_BUFFER], state[2])
    code[MOST_OPS] = max(code[MOST_OPS], n_ops)
    code[at + PROJECTIONS] = place
    code[at + N_PROJECTIONS] = 0
    return place


@lean_kernel(
    "int64(int64[::1], int64, int32[::1], int64[::1], int64[::1], int64[::1], int64[::1],"
    " uint8[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[:, ::1], int64[::1],"
    " int64[::1], int64[::1], int64[:, ::1], int64, int64, int64[::1])"
)
def write_cliques(
    code,
    at,
    maps,
    starts,
    members,
    parents,
    sequence,
    needed,
    kept,
    cards,
    item_starts,
    item_axes,
    items,
    first,
    message_item,
    holders,
    messages,
    purpose,
    block,
    room,
):
    """All cliques from the roots down, with what is read off their items; the end of the maps."""
    n, most_axes = cards.size, (room.size - 4 - 2 * cards.size - 2 * items.shape[1]) // 2
    state, room = room[:4], room[4:]
    axis_of, answer_at, room = room[:n], room[n : 2 * n], room[2 * n :]
    strides, sizes = room[:most_axes], room[most_axes : 2 * most_axes]
    chosen = room[2 * most_axes :]
    total = 0
    for v in range(n):
        answer_at[v] = total
        total += cards[v]
    state[3] = 0
    for place in range(sequence.size):
        c = sequence[place]
        code[code[CLIQUES_AT] + place] = at
        axes = members[starts[c] : starts[c + 1]]
        end = write_clique(
            code,
            at,
            maps,
            state[3],
            c,
            axes,
            item_starts,
            item_axes,
            items,
            first,
            cards,
            kept[c],
            block,
            purpose,
            axis_of,
            strides,
            sizes,
            chosen,
            state,
        )
        # The scale of a message counts unless what it goes into is known to sum to one.
        messages[4, c] = needed[c] * (1 if parents[c] < 0 else messages[4, parents[c]])
        code[at + COUNTED] = messages[4, c]
        code[at + NEEDED] = needed[c]
        code[at + IS_ROOT] = 1 if parents[c] < 0 else 0
        code[at + MESSAGE] = messages[0, c]
        code[at + MESSAGE_BAR] = messages[1, c]
        code[at + BAR_FROM] = messages[2, c]
        code[at + BAR_TO] = messages[3, c]
        code[at + INCOMING] = -1
        if parents[c] < 0 and (kept[c] > 0 or place == 0):
            # What is asked is kept by the root that has it.
            code[ROOT_MESSAGE] = messages[0, c]
        if purpose == MARGINALS:
            if parents[c] >= 0 and needed[c] == 0:
                code[at + INCOMING] = end
                item = message_item[c]
                end = write_projection(
                    code,
                    end,
                    item_axes,
                    cards,
                    axes[: kept[c]],
                    item_starts[item],
                    item_starts[item + 1],
                    strides,
                    items[VALUE, item],
                    items[BAR, item],
                    messages[1, c],
                )
            code[at + PROJECTIONS] = end
            for axis in range(kept[c], axes.size):
                item = holders[axes[axis]]
                code[at + N_PROJECTIONS] += 1
                end = write_projection(
                    code,
                    end,
                    item_axes,
                    cards,
                    axes[axis : axis + 1],
                    item_starts[item],
                    item_starts[item + 1],
                    strides,
                    items[VALUE, item],
                    items[BAR, item],
                    answer_at[axes[axis]],
                )
        at = end
    code[N_CODE] = at
    code[N_MAPS] = state[3]
    return state[3]


@kernel(
    "Tuple((int64[::1], int32[::1]))(int64[::1], int64[::1], int64[::1], int64[::1], uint8[::1],"
    " int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1],"
    " int64[::1], int64[::1], int64[::1], uint8[::1], int64[::1], int64[::1], int64, int64)"
)
def write_program(
    starts,
    members,
    parents,
    sequence,
    needed,
    kept,
    rank,
    homes,
    cards,
    factor_starts,
    factor_axes,
    factor_strides,
    sources,
    variables,
    table_starts,
    kept_factors,
    pairs_at,
    pairs,
    purpose,
    block,
):
    """The whole program and its maps."""
    count, n_factors = sequence.size, sources.size
    n_axes = factor_starts[n_factors]
    most_axes = np.int64(1)
    for c in range(count):
        n_axes += 2 * kept[c]
        most_axes = max(most_axes, starts[c + 1] - starts[c])
    most = n_factors + 2 * count
    item_starts, item_axes = np.empty(most + 1, np.int64), np.empty(n_axes, np.int64)
    items = np.empty((6, most), np.int64)
    sort_axes(factor_starts, factor_axes, factor_strides, rank, cards, items[SIZE], n_factors)
    first = np.full(count, -1, np.int64)
    item_starts[0] = 0
    n_items = np.int64(0)
    for item in range(n_factors):
        n_items = add_item(
            n_items,
            item_starts,
            item_axes,
            cards,
            items,
            first,
            factor_axes[factor_starts[item] : factor_starts[item + 1]],
            homes[item],
            sources[item],
        )
    message_item, holders = np.empty(count, np.int64), np.full(cards.size, -1, np.int64)
    n_items = add_messages(
        starts,
        members,
        parents,
        sequence,
        needed,
        kept,
        cards,
        item_starts,
        item_axes,
        items,
        first,
        message_item,
        holders,
        n_items,
        purpose,
    )
    room, map_room = program_room(
        starts,
        members,
        items,
        cards,
        item_starts,
        n_items,
        block,
        pairs_at[kept_factors.size],
        kept_factors.size,
        most_axes,
    )
    code, maps = np.empty(room, np.int64), np.empty(map_room, np.int32)
    for at in range(HEADER):
        code[at] = 0
    messages = np.empty((5, count), np.int64)
    place_values(
        items,
        first,
        starts,
        members,
        sequence,
        needed,
        kept,
        parents,
        cards,
        message_item,
        code,
        n_items,
        purpose,
        messages,
    )
    at = write_loads(
        code,
        np.int64(HEADER),
        items,
        item_starts,
        item_axes,
        factor_strides,
        sources,
        cards,
        kept_factors,
        table_starts,
        pairs_at,
        pairs,
        variables,
        n_items,
        np.empty(kept_factors.size, np.int64),
    )
    code[N_CLIQUES] = count
    code[MOST_AXES] = most_axes
    code[CLIQUES_AT] = at
    at += count
    n_maps = write_cliques(
        code,
        at,
        maps,
        starts,
        members,
        parents,
        sequence,
        needed,
        kept,
        cards,
        item_starts,
        item_axes,
        items,
        first,
        message_item,
        holders,
        messages,
        purpose,
        block,
        np.empty(4 + 2 * (cards.size + most + most_axes), np.int64),
    )
    return code[: code[N_CODE]].copy(), maps[:n_maps].copy()
