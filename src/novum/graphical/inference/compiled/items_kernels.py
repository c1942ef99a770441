"""Items of a program: what each clique multiplies, and where their values and derivatives lie.

An item is a factor, the message of a child, soft evidence, or ones. The derivative by an item (its
bar) is kept only where something is read off it: the message down to a child, or the posterior of a
variable. A child that sends nothing up reads its message down off the smallest item that has its
separator.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from novum.graphical.inference.compiled.factors_kernels import MESSAGE_ITEM, ONES, SOFT
from novum.graphical.inference.compiled.layout import (
    CLIQUE_FIELDS,
    HEADER,
    LOAD_FIELDS,
    MARGINALS,
    MAXIMUM,
    N_BARS,
    N_VALUES,
    OP_FIELDS,
    PROJECTION_FIELDS,
)
from novum.graphical.inference.compiled.programs_kernels import product_of, smallest_holder
from novum.numerics.jit import lean_kernel

# Columns of the table of items.
HOME = 0
FOLLOWING = 1
SIZE = 2
VALUE = 3
BAR = 4
ORIGIN = 5


@lean_kernel(
    "int64(int64, int64[::1], int64[::1], int64[::1], int64[:, ::1], int64[::1], int64[::1],"
    " int64, int64)"
)
def add_item(item, starts, axes, cards, items, first, wanted, home, origin):
    """One more item over some variables; the number after it."""
    size = 1
    at = starts[item]
    for variable in wanted:
        axes[at] = variable
        at += 1
        size *= cards[variable]
    starts[item + 1] = at
    items[SIZE, item] = size
    items[HOME, item] = home
    items[ORIGIN, item] = origin
    items[BAR, item] = -1
    items[FOLLOWING, item] = first[home]
    first[home] = item
    return item + 1


@lean_kernel(
    "int64(int64[::1], int64[::1], int64[::1], int64[::1], uint8[::1], int64[::1], int64[::1],"
    " int64[::1], int64[::1], int64[:, ::1], int64[::1], int64[::1], int64[::1], int64, int64)"
)
def add_messages(
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
    out_item,
    out_holder,
    n_items,
    purpose,
):
    """Items for messages, and the items that answers are read off (bar 0); how many items."""
    for at in range(sequence.size):
        c = sequence[at]
        out_item[c] = -1
        if parents[c] >= 0 and needed[c] != 0:
            out_item[c] = n_items
            wanted = members[starts[c] : starts[c] + kept[c]]
            n_items = add_item(
                n_items,
                item_starts,
                item_axes,
                cards,
                items,
                first,
                wanted,
                parents[c],
                np.int64(MESSAGE_ITEM),
            )
            if purpose == MARGINALS:
                items[BAR, n_items - 1] = 0
    if purpose != MARGINALS:
        return n_items
    for at in range(sequence.size):
        c = sequence[at]
        if parents[c] >= 0 and needed[c] == 0:
            wanted = members[starts[c] : starts[c] + kept[c]]
            holder = smallest_holder(
                first,
                items[FOLLOWING],
                item_starts,
                item_axes,
                items[SIZE],
                items[BAR],
                parents[c],
                wanted,
            )
            if holder < 0:
                holder = n_items
                n_items = add_item(
                    n_items,
                    item_starts,
                    item_axes,
                    cards,
                    items,
                    first,
                    wanted,
                    parents[c],
                    np.int64(ONES),
                )
            out_item[c] = holder
            items[BAR, holder] = 0
    weighted = 0
    for item in range(n_items):
        if items[ORIGIN, item] <= SOFT:
            weighted += 1
    # Where all variables are weighted, each answer is read off its own weights: the smallest item.
    preferred = SIZE if weighted == cards.size else BAR
    for at in range(sequence.size):
        c = sequence[at]
        for place in range(starts[c] + kept[c], starts[c + 1]):
            holder = smallest_holder(
                first,
                items[FOLLOWING],
                item_starts,
                item_axes,
                items[SIZE],
                items[preferred],
                c,
                members[place : place + 1],
            )
            out_holder[members[place]] = holder
            items[BAR, holder] = 0
    return n_items


@lean_kernel(
    "int64(int64[:, ::1], int64[::1], int64[::1], int64[::1], int64[::1], uint8[::1], int64[::1],"
    " int64[::1], int64[::1], int64[::1], int64[::1], int64, int64, int64[:, ::1])"
)
def place_values(
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
    out_messages,
):
    """Where values and derivatives lie; rows of `out_messages`: value, bar, bars from and to."""
    at = 0
    for item in range(n_items):
        items[VALUE, item] = at
        at += items[SIZE, item]
    bar = 0
    for place in range(sequence.size):
        c = sequence[place]
        size = product_of(cards, members, starts[c], starts[c] + kept[c])
        out_messages[0, c] = -1
        out_messages[1, c] = -1
        if parents[c] < 0:
            out_messages[0, c] = at
            at += size
        elif needed[c] != 0:
            out_messages[0, c] = items[VALUE, message_item[c]]
        if purpose == MAXIMUM or (purpose == MARGINALS and (parents[c] < 0 or needed[c] == 0)):
            out_messages[1, c] = bar
            bar += size
        elif purpose == MARGINALS:
            # Its parent came before and has given the item its place.
            out_messages[1, c] = items[BAR, message_item[c]]
        out_messages[2, c] = bar
        item = first[c]
        while item >= 0:
            if items[BAR, item] >= 0:
                items[BAR, item] = bar
                bar += items[SIZE, item]
            item = items[FOLLOWING, item]
        out_messages[3, c] = bar
    code[N_VALUES] = at
    code[N_BARS] = bar
    return at


@lean_kernel(
    "int64(int64[::1], int64[::1], int64[:, ::1], int64[::1], int64, int64[::1], int64[::1],"
    " int64[::1])"
)
def items_by_last_axis(item_starts, item_axes, items, first, c, axis_of, out_items, out_lasts):
    """The items of a clique by the last of their axes; how many there are."""
    n = 0
    item = first[c]
    while item >= 0:
        last = axis_of[item_axes[item_starts[item + 1] - 1]]
        back = n
        while back > 0 and (
            out_lasts[back - 1] > last
            or (
                out_lasts[back - 1] == last and items[SIZE, out_items[back - 1]] > items[SIZE, item]
            )
        ):
            out_items[back] = out_items[back - 1]
            out_lasts[back] = out_lasts[back - 1]
            back -= 1
        out_items[back] = item
        out_lasts[back] = last
        n += 1
        item = items[FOLLOWING, item]
    return n


@lean_kernel(
    "UniTuple(int64, 2)(int64[::1], int64[::1], int64[:, ::1], int64[::1], int64[::1], int64,"
    " int64, int64, int64, int64)"
)
def program_room(
    starts, members, items, cards, item_starts, n_items, block, n_pairs, n_records, most_axes
):
    """Bounds of the lengths of a program and its maps."""
    count = starts.size - 1
    n = cards.size
    room = HEADER + LOAD_FIELDS * n_records + 2 * n_pairs + 2 * item_starts[n_items] + 4 * n_items
    room += n + count * (1 + CLIQUE_FIELDS + 3 * most_axes)
    room += n_items * (OP_FIELDS + most_axes)
    room += (count + n) * (PROJECTION_FIELDS + 2 * most_axes)
    map_room = 0
    for item in range(n_items):
        c = items[HOME, item]
        cells = 1
        for place in range(starts[c + 1] - 1, starts[c] - 1, -1):
            if cells * cards[members[place]] > block:
                break
            cells *= cards[members[place]]
        map_room += cells
    return room, map_room
