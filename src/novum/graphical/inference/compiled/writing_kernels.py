"""Writes the program of a rooted tree: its loads, and its cliques from the roots down."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from novum.graphical.inference.compiled.factors_kernels import MESSAGE_ITEM, SOFT
from novum.graphical.inference.compiled.items_kernels import (
    BAR,
    BARS_FROM,
    BARS_TO,
    ITEM_ROWS,
    MESSAGE_BAR_AT,
    MESSAGE_ROWS,
    MESSAGE_VALUE,
    ORIGIN,
    SCALE_COUNTS,
    SIZE,
    VALUE,
    Items,
    add_item,
    add_messages,
    choose_holders,
    items_by_last_axis,
    place_values,
    program_room,
)
from novum.graphical.inference.compiled.layout import (
    AXES,
    BAR_FROM,
    BAR_TO,
    CLIQUES_AT,
    COUNTED,
    FIRST_BARRED,
    HEADER,
    INCOMING,
    IS_LEAF,
    IS_ROOT,
    MARGINALS,
    MESSAGE,
    MESSAGE_BAR,
    MESSAGE_SIZE,
    MOST_AXES,
    MOST_OPS,
    N_AXES,
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
from novum.numerics import inner_kernel


class Room(NamedTuple):
    """Room for one clique while it is written.

    Attributes
    ----------
    state : axes covered so far, where the table so far begins and ends, and the end of the maps
    axis_of : of each variable of the clique, its axis
    strides, sizes : of each axis, the stride of the item at hand and the number of states
    items, lasts : the items of the clique by their last axis, and that axis
    reader, before : of each item the last clique that reads a message down off it, and of each of
        these the one before it
    """

    state: Any
    axis_of: Any
    strides: Any
    sizes: Any
    items: Any
    lasts: Any
    reader: Any
    before: Any


# --- Cliques --------------------------------------------------------------------------------------


@inner_kernel()
def item_strides(items, item, cards, axis_of, n_axes, out_strides):
    """Strides of an item along the axes of its clique, 0 along those it has not."""
    for axis in range(n_axes):
        out_strides[axis] = 0
    stride = 1
    for place in range(items.starts[item + 1] - 1, items.starts[item] - 1, -1):
        variable = items.axes[place]
        out_strides[axis_of[variable]] = stride
        stride *= cards[variable]


@inner_kernel()
def write_operations(code, at, place, maps, items, cards, n_axes, n_kept, split, purpose, room):
    """The operations of a clique from `place` on; where they end."""
    n_ops, state = code[at + N_OPS], room.state
    state[0], state[1], state[2] = split, 0, 1
    for op in range(n_ops):
        item = room.items[op]
        item_strides(items, item, cards, room.axis_of, n_axes, room.strides)
        origin, bar = items.table[ORIGIN, item], items.table[BAR, item]
        code[place + OP_VALUE] = items.table[VALUE, item]
        code[place + OP_BAR] = bar
        code[place + OP_LANES] = 1 if origin == MESSAGE_ITEM or origin <= SOFT else 0
        if purpose == MARGINALS and bar >= 0 and code[at + FIRST_BARRED] == n_ops:
            code[at + FIRST_BARRED] = op
        place = write_operation(
            code, place, maps, state[3], room.strides, room.sizes, state, room.lasts[op], split,
            n_kept, n_axes, state[3:],
        )  # fmt: skip
    return place


@inner_kernel()
def write_loops(code, at, maps, c, axes, items, cards, n_kept, block, purpose, room):
    """Loops and operations of one clique; where they end."""
    n_axes = axes.size
    for axis in range(n_axes):
        room.axis_of[axes[axis]] = axis
        room.sizes[axis] = cards[axes[axis]]
    split = block_split(room.sizes, n_axes, block)
    place = write_outer(code, at, axes, cards, room.sizes, n_axes, n_kept, split, c)
    n_ops = items_by_last_axis(items, c, room.axis_of, room.items, room.lasts)
    code[at + OPS] = place
    code[at + N_OPS] = n_ops
    code[at + FIRST_BARRED] = n_ops
    place = write_operations(
        code, at, place, maps, items, cards, n_axes, n_kept, split, purpose, room
    )
    code[N_BUFFER] = max(code[N_BUFFER], room.state[2])
    code[MOST_OPS] = max(code[MOST_OPS], n_ops)
    return place


@inner_kernel()
def write_links(code, at, tree, c, messages):
    """How a clique is tied to its parent: its message, and the bars of its items."""
    code[at + COUNTED] = messages[SCALE_COUNTS, c]
    code[at + NEEDED] = tree.needed[c]
    code[at + IS_ROOT] = 1 if tree.parents[c] < 0 else 0
    code[at + MESSAGE] = messages[MESSAGE_VALUE, c]
    code[at + MESSAGE_BAR] = messages[MESSAGE_BAR_AT, c]
    code[at + BAR_FROM] = messages[BARS_FROM, c]
    code[at + BAR_TO] = messages[BARS_TO, c]


@inner_kernel()
def project_item(code, at, items, item, cards, wanted, room, target):
    """A projection of an item's value times bar onto some variables; where it ends."""
    value, bar = items.table[VALUE, item], items.table[BAR, item]
    begin, end = items.starts[item], items.starts[item + 1]
    return write_projection(
        code, at, items.axes, cards, wanted, begin, end, room.sizes, room.strides, value, bar,
        target,
    )  # fmt: skip


@inner_kernel()
def same_message(tree, c, item, room):
    """A clique whose message down is read off the same item onto the same separator, or -1."""
    separator = tree.members[tree.starts[c] : tree.starts[c] + tree.kept[c]]
    other = room.reader[item]
    while other >= 0:
        begin, differ = tree.starts[other], 0
        if tree.kept[other] == separator.size:
            for place in range(separator.size):
                if tree.members[begin + place] != separator[place]:
                    differ += 1
            if differ == 0:
                return other
        other = room.before[other]
    return -1


@inner_kernel()
def write_message_down(code, at, end, tree, c, items, messages, cards, room):
    """The projection onto a separator whose message is not sent up, unless there is one already."""
    item = items.message[c]
    separator = tree.members[tree.starts[c] : tree.starts[c] + tree.kept[c]]
    other = same_message(tree, c, item, room)
    if other >= 0:
        code[at + MESSAGE_BAR] = messages[MESSAGE_BAR_AT, other]
        return end
    room.before[c] = room.reader[item]
    room.reader[item] = c
    code[at + INCOMING] = end
    return project_item(code, end, items, item, cards, separator, room, code[at + MESSAGE_BAR])


@inner_kernel()
def write_readings(code, at, end, tree, c, items, messages, cards, answer_at, room):
    """What is read off a clique's items: a message down that was not sent up, and posteriors."""
    if code[at + IS_ROOT] == 0 and code[at + NEEDED] == 0:
        end = write_message_down(code, at, end, tree, c, items, messages, cards, room)
    axes, n_kept = tree.members[tree.starts[c] : tree.starts[c + 1]], tree.kept[c]
    code[at + PROJECTIONS] = end
    code[at + N_PROJECTIONS] = axes.size - n_kept
    for axis in range(n_kept, axes.size):
        holder, target = items.holder[axes[axis]], answer_at[axes[axis]]
        end = project_item(code, end, items, holder, cards, axes[axis : axis + 1], room, target)
    return end


@inner_kernel()
def is_leaf(code, at, size, is_parent):
    """Whether a clique is one item of so many cells, of which one variable is read off.

    Its posterior is then a sum of rows of the item, weighted by the message down.
    """
    card = code[code[at + AXES] + 2 * code[at + N_AXES] - 1]
    is_simple = code[at + N_OPS] == 1 and code[at + N_PROJECTIONS] == 1 and is_parent == 0
    covers = size == code[at + MESSAGE_SIZE] * card
    return 1 if is_simple and covers and code[at + NEEDED] == 0 else 0


@inner_kernel(allocates=True)
def write_cliques(code, at, maps, tree, items, messages, cards, purpose, block, most_axes):
    """All cliques from the roots down, with what is read off their items."""
    n, most = cards.size, items.table.shape[1]
    places = np.empty((2, max(most, most_axes)), np.int64)
    room = Room(
        np.zeros(4, np.int64), np.empty(n, np.int64), np.empty(most_axes, np.int64),
        np.empty(most_axes, np.int64), places[0], places[1], np.full(most, -1),
        np.empty(tree.kept.size, np.int64),
    )  # fmt: skip
    is_parent = np.zeros(tree.kept.size + 1, np.uint8)
    for c in range(tree.kept.size):
        # Roots mark the place behind the last.
        is_parent[tree.parents[c]] = 1
    answer_at = np.empty(n, np.int64)
    total = 0
    for v in range(n):
        answer_at[v] = total
        total += cards[v]
    for place in range(tree.sequence.size):
        c = tree.sequence[place]
        n_kept = tree.kept[c]
        axes = tree.members[tree.starts[c] : tree.starts[c + 1]]
        code[code[CLIQUES_AT] + place] = at
        end = write_loops(code, at, maps, c, axes, items, cards, n_kept, block, purpose, room)
        write_links(code, at, tree, c, messages)
        if tree.parents[c] < 0 and (n_kept > 0 or place == 0):
            # What is asked is kept by the root that has it.
            code[ROOT_MESSAGE] = messages[MESSAGE_VALUE, c]
        code[at + INCOMING] = -1
        code[at + PROJECTIONS] = end
        code[at + N_PROJECTIONS] = 0
        code[at + IS_LEAF] = 0
        if purpose == MARGINALS:
            size = items.table[SIZE, items.first[c]]
            end = write_readings(code, at, end, tree, c, items, messages, cards, answer_at, room)
            code[at + IS_LEAF] = is_leaf(code, at, size, is_parent[c])
        at = end
    code[N_CODE] = at
    code[N_MAPS] = room.state[3]


# --- The program ----------------------------------------------------------------------------------


@inner_kernel(allocates=True)
def listed_items(tree, factors, cards, purpose):
    """All items of a program, and how many there are."""
    n_cliques, n_factors = tree.kept.size, factors.sources.size
    n_axes = factors.starts[n_factors]
    for c in range(n_cliques):
        n_axes += 2 * tree.kept[c]
    most = n_factors + 2 * n_cliques
    items = Items(
        np.empty(most + 1, np.int64), np.empty(n_axes, np.int64),
        np.empty((ITEM_ROWS, most), np.int64), np.empty(n_cliques, np.int64),
        np.empty(n_cliques, np.int64), np.empty(cards.size, np.int64),
    )  # fmt: skip
    for c in range(n_cliques):
        items.first[c] = -1
    for variable in range(cards.size):
        items.holder[variable] = -1
    sort_axes(
        factors.starts, factors.axes, factors.strides, tree.rank, cards, items.table[SIZE],
        n_factors,
    )  # fmt: skip
    items.starts[0] = 0
    count = 0
    for factor in range(n_factors):
        scope = factors.axes[factors.starts[factor] : factors.starts[factor + 1]]
        count = add_item(items, count, cards, scope, tree.homes[factor], factors.sources[factor])
    count = add_messages(tree, items, count, cards, purpose)
    if purpose == MARGINALS:
        count = choose_holders(tree, items, count, cards)
    return items, count


@inner_kernel(allocates=True)
def write_program(
    tree, factors, cards, variables, table_starts, kept, pairs_at, pairs, purpose, block
):
    """The whole program and its maps."""
    n_cliques, n_records = tree.kept.size, kept.size
    most_axes = 1
    for c in range(n_cliques):
        most_axes = max(most_axes, tree.starts[c + 1] - tree.starts[c])
    items, count = listed_items(tree, factors, cards, purpose)
    room, map_room = program_room(
        tree, items, count, cards, block, pairs_at[n_records], n_records, most_axes
    )
    code, maps = np.empty(room, np.int64), np.empty(map_room, np.int32)
    for at in range(HEADER):
        code[at] = 0
    messages = np.empty((MESSAGE_ROWS, n_cliques), np.int64)
    place_values(tree, items, count, cards, purpose, code, messages)
    at = write_loads(
        code, HEADER, items.table, items.starts, items.axes, factors.strides, factors.sources,
        cards, kept, table_starts, pairs_at, pairs, variables, count,
        np.empty(n_records, np.int64),
    )  # fmt: skip
    code[N_CLIQUES] = n_cliques
    code[MOST_AXES] = most_axes
    code[CLIQUES_AT] = at
    write_cliques(
        code, at + n_cliques, maps, tree, items, messages, cards, purpose, block, most_axes
    )
    return code[: code[N_CODE]].copy(), maps[: code[N_MAPS]].copy()
