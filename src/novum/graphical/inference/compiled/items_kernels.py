"""Items of a program: what each clique multiplies, and where their values and derivatives lie.

An item is a factor, the message of a child, soft evidence, or ones. The derivative by an item (its
bar) is kept only where something is read off it: the message down to a child, or the posterior of a
variable. A child that sends nothing up reads its message down off the smallest item that has its
separator.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from typing import Any, NamedTuple

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
from novum.graphical.inference.compiled.programs_kernels import block_cells, product_of
from novum.numerics import inner_kernel

# Rows of the table of items.
HOME = 0
FOLLOWING = 1
SIZE = 2
VALUE = 3
BAR = 4
ORIGIN = 5
ITEM_ROWS = 6

# Rows of the table of messages, by clique: where its value and bar lie, where bars of the clique's
# items begin and end, and whether the scale of the message counts.
MESSAGE_VALUE = 0
MESSAGE_BAR_AT = 1
BARS_FROM = 2
BARS_TO = 3
SCALE_COUNTS = 4
MESSAGE_ROWS = 5


class Items(NamedTuple):
    """All items of a program.

    Attributes
    ----------
    starts, axes : where each item begins; its variables in the common order
    table : the rows above
    first : of each clique its latest item; `table[FOLLOWING]` leads to the others
    message : of each clique the item of its message, or the one its message down is read off
    holder : of each variable the item that its posterior is read off, or -1
    """

    starts: Any
    axes: Any
    table: Any
    first: Any
    message: Any
    holder: Any


@inner_kernel()
def add_item(items, count, cards, variables, home, origin):
    """One more item over some variables; how many there are now."""
    table = items.table
    size = 1
    at = items.starts[count]
    for variable in variables:
        items.axes[at] = variable
        at += 1
        size *= cards[variable]
    items.starts[count + 1] = at
    table[SIZE, count] = size
    table[HOME, count] = home
    table[ORIGIN, count] = origin
    table[BAR, count] = -1
    table[FOLLOWING, count] = items.first[home]
    items.first[home] = count
    return count + 1


@inner_kernel()
def smallest_holder(items, preferred, clique, wanted):
    """The smallest item at a clique that has all wanted variables, or -1.

    One with 0 or more in the row `preferred` comes before all others: with `BAR` those whose bar is
    kept anyway, for a further bar costs a pass over the whole clique.
    """
    sizes, marks = items.table[SIZE], items.table[preferred]
    best = -1
    item = items.first[clique]
    while item >= 0:
        is_better = best < 0 or (marks[item] >= 0 and marks[best] < 0)
        if best >= 0 and (marks[item] >= 0) == (marks[best] >= 0):
            is_better = sizes[item] < sizes[best]
        if is_better:
            matched = 0
            for variable in wanted:
                for place in range(items.starts[item], items.starts[item + 1]):
                    if items.axes[place] == variable:
                        matched += 1
            if matched == wanted.size:
                best = item
        item = items.table[FOLLOWING, item]
    return best


@inner_kernel()
def add_messages(tree, items, count, cards, purpose):
    """Items for the messages that are needed; how many items there are then."""
    for c in tree.sequence:
        items.message[c] = -1
        if tree.parents[c] >= 0 and tree.needed[c] != 0:
            separator = tree.members[tree.starts[c] : tree.starts[c] + tree.kept[c]]
            items.message[c] = count
            count = add_item(items, count, cards, separator, tree.parents[c], MESSAGE_ITEM)
            if purpose == MARGINALS:
                items.table[BAR, items.message[c]] = 0
    return count


@inner_kernel()
def choose_holders(tree, items, count, cards):
    """What messages down and posteriors are read off (bar 0), with ones where no item has it all.

    How many items there are then.
    """
    for c in tree.sequence:
        if tree.parents[c] >= 0 and tree.needed[c] == 0:
            separator = tree.members[tree.starts[c] : tree.starts[c] + tree.kept[c]]
            holder = smallest_holder(items, BAR, tree.parents[c], separator)
            if holder < 0:
                holder = count
                count = add_item(items, count, cards, separator, tree.parents[c], ONES)
            items.message[c] = holder
            items.table[BAR, holder] = 0
    weighted = 0
    for item in range(count):
        if items.table[ORIGIN, item] <= SOFT:
            weighted += 1
    # Where all variables are weighted, each answer is read off its own weights: the smallest item.
    preferred = SIZE if weighted == cards.size else BAR
    for c in tree.sequence:
        for place in range(tree.starts[c] + tree.kept[c], tree.starts[c + 1]):
            holder = smallest_holder(items, preferred, c, tree.members[place : place + 1])
            items.holder[tree.members[place]] = holder
            items.table[BAR, holder] = 0
    return count


@inner_kernel()
def place_values(tree, items, count, cards, purpose, code, out_messages):
    """Where values and derivatives of items and messages lie.

    Each value has one cell more than its table, so that its span may lie with it.
    """
    table = items.table
    at = 0
    for item in range(count):
        table[VALUE, item] = at
        at += table[SIZE, item] + 1
    bar = 0
    for c in tree.sequence:
        is_root, needed = tree.parents[c] < 0, tree.needed[c] != 0
        size = product_of(cards, tree.members, tree.starts[c], tree.starts[c] + tree.kept[c])
        out_messages[MESSAGE_VALUE, c] = -1
        out_messages[MESSAGE_BAR_AT, c] = -1
        if is_root:
            out_messages[MESSAGE_VALUE, c] = at
            at += size + 1
        elif needed:
            out_messages[MESSAGE_VALUE, c] = table[VALUE, items.message[c]]
        if purpose == MAXIMUM or (purpose == MARGINALS and (is_root or not needed)):
            out_messages[MESSAGE_BAR_AT, c] = bar
            bar += size
        elif purpose == MARGINALS:
            # Its parent came before and has given the item its place.
            out_messages[MESSAGE_BAR_AT, c] = table[BAR, items.message[c]]
        out_messages[BARS_FROM, c] = bar
        item = items.first[c]
        while item >= 0:
            if table[BAR, item] >= 0:
                table[BAR, item] = bar
                bar += table[SIZE, item]
            item = table[FOLLOWING, item]
        out_messages[BARS_TO, c] = bar
        # The scale of a message counts unless what it goes into is known to sum to one.
        above = 1 if is_root else out_messages[SCALE_COUNTS, tree.parents[c]]
        out_messages[SCALE_COUNTS, c] = above if needed else 0
    code[N_VALUES] = at
    code[N_BARS] = bar


@inner_kernel()
def items_by_last_axis(items, c, axis_of, out_items, out_lasts):
    """The items of a clique by the last of their axes, smaller ones first; how many there are."""
    sizes = items.table[SIZE]
    n = 0
    item = items.first[c]
    while item >= 0:
        last = axis_of[items.axes[items.starts[item + 1] - 1]]
        back = n
        while back > 0 and (
            out_lasts[back - 1] > last
            or (out_lasts[back - 1] == last and sizes[out_items[back - 1]] > sizes[item])
        ):
            out_items[back] = out_items[back - 1]
            out_lasts[back] = out_lasts[back - 1]
            back -= 1
        out_items[back] = item
        out_lasts[back] = last
        n += 1
        item = items.table[FOLLOWING, item]
    return n


@inner_kernel()
def program_room(tree, items, count, cards, block, n_pairs, n_records, most_axes):
    """Bounds of the lengths of a program and its maps."""
    n_cliques, n = tree.kept.size, cards.size
    room = HEADER + LOAD_FIELDS * n_records + 2 * n_pairs + 2 * items.starts[count] + 4 * count
    room += n + n_cliques * (1 + CLIQUE_FIELDS + 3 * most_axes)
    room += count * (OP_FIELDS + most_axes)
    room += (n_cliques + n) * (PROJECTION_FIELDS + 2 * most_axes)
    map_room = 0
    for item in range(count):
        c = items.table[HOME, item]
        members = tree.members[tree.starts[c] : tree.starts[c + 1]]
        map_room += int(block_cells(cards, members, block))
    return room, map_room
