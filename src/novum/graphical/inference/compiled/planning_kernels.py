"""A question as a program: order, tree and loops in one compiled call.

The stages are those of `orders_kernels`, `trees_kernels` and `programs_kernels`; here is what
they hand to each other. The result is one array of integers (see `layout`), one of maps, and the
price.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from novum.graphical.inference.compiled.factors_kernels import (
    SOFT,
    list_items,
    number_free,
    observed_scopes,
)
from novum.graphical.inference.compiled.layout import (
    CONNECTED,
    JOINT,
    MAXIMUM,
    N_PRICES,
    PRICE_BYTES,
    PRICE_CELLS,
    PRICE_CUT_OFF,
    PRICE_LARGEST,
    PRICE_WIDTH,
)
from novum.graphical.inference.compiled.orders_kernels import join
from novum.graphical.inference.compiled.relevance_kernels import mark_ancestors, mark_connected
from novum.graphical.inference.compiled.search_kernels import best_order
from novum.graphical.inference.compiled.trees_kernels import (
    list_cliques,
    mark_messages,
    merge_steps,
    move_roots,
    number_variables,
    tree_order,
)
from novum.graphical.inference.compiled.writing_kernels import write_program
from novum.numerics.jit import kernel, lean_kernel


@lean_kernel(
    "int64(int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], uint8[::1], int64[::1],"
    " uint8[::1], int64, int64, uint8[::1], uint8[::1], int64[::1])"
)
def select_factors(
    scope_starts,
    scopes,
    var_starts,
    var_factors,
    known,
    soft,
    targets,
    zeros,
    extent,
    directed,
    out_needed,
    out_kept,
    stack,
):
    """Marks the factors and variables of a question; whether a table with zeros was cut off."""
    for variable in range(known.size):
        out_needed[variable] = 1
    for factor in range(out_kept.size):
        out_kept[factor] = 1
    if extent != 0 and directed != 0:
        mark_ancestors(scope_starts, scopes, known, soft, targets, out_needed, stack)
        for factor in range(out_kept.size):
            out_kept[factor] = out_needed[factor]
    if extent != CONNECTED:
        return 0
    mark_connected(
        scope_starts,
        scopes,
        var_starts,
        var_factors,
        known,
        targets,
        out_needed,
        out_kept,
        stack,
        directed,
    )
    cut_off = 0
    for factor in range(out_kept.size):
        inside = directed == 0 or out_needed[factor] != 0
        if inside and out_kept[factor] == 0 and zeros[factor] != 0:
            cut_off = 1
    for variable in range(known.size):
        if soft[variable] != 0 and out_needed[variable] != 2 and known[variable] < 0:
            cut_off = 1
        out_needed[variable] = 1 if out_needed[variable] == 2 else 0
    return cut_off


@kernel(
    "Tuple((int64[::1], int64[::1], int64[::1], int64[::1], uint8[::1], int64[::1], int64[::1],"
    " int64[::1]))(uint64[:, ::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1],"
    " int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], float64[::1], int64)"
)
def rooted_tree(
    rows,
    order,
    place,
    above,
    degree,
    item_starts,
    item_axes,
    heads,
    uses,
    cards,
    targets,
    logs,
    every_message,
):
    """Cliques with sorted axes, their parents, an order from the roots down, and what is needed."""
    n = order.size
    into, clique = np.empty(n, np.int64), np.empty(n, np.int64)
    count = merge_steps(above, degree, into, clique)
    total = 0
    for step in range(n):
        if into[step] == step:
            total += degree[step] + 1
    starts, members = np.empty(count + 1, np.int64), np.empty(total, np.int64)
    shared, up = np.empty(total, np.uint8), np.empty(count, np.int64)
    list_cliques(rows, order, place, above, into, clique, starts, members, shared, up)
    homes = np.empty(heads.size, np.int64)
    for item in range(heads.size):
        first = n
        for at in range(item_starts[item], item_starts[item + 1]):
            first = min(first, place[item_axes[at]])
        homes[item] = clique[first]
    top = np.empty(n, np.int64)
    for variable in range(n):
        top[variable] = clique[place[variable]]
    links, sequence = np.empty(3 * count, np.int64), np.empty(count, np.int64)
    tree_order(up, links, sequence)
    below = np.empty(count, np.int64)
    needed_up, needed_down = np.empty(count, np.uint8), np.empty(count, np.uint8)
    mark_messages(
        starts, members, shared, up, sequence, homes, heads, top, below, needed_up, needed_down
    )
    sizes = np.zeros(count)
    for c in range(count):
        for at in range(starts[c], starts[c + 1]):
            sizes[c] += logs[members[at]]
            uses[members[at]] += 1
        sizes[c] = np.exp2(sizes[c])
        if every_message != 0:
            needed_up[c], needed_down[c], below[c] = 1, 1, 1
    chosen = -1
    if targets.size > 0:
        first = n
        for target in targets:
            first = min(first, place[target])
        chosen = clique[first]
    parents, needed = np.empty(count, np.int64), np.empty(count, np.uint8)
    move_roots(
        up, sizes, sequence, needed_up, needed_down, below, chosen, np.empty(count), parents, needed
    )
    tree_order(parents, links, sequence)
    rank, kept = np.empty(n, np.int64), np.empty(count, np.int64)
    number_variables(starts, members, sequence, uses, cards, targets, rank, kept)
    return starts, members, parents, sequence, needed, kept, rank, homes


@lean_kernel("int64(int64[::1], int64)")
def every_variable_weighted(sources, n_variables):
    """Whether each variable has soft evidence, as where rows of evidence run side by side."""
    count = 0
    for source in sources:
        if source <= SOFT:
            count += 1
    return 1 if count == n_variables else 0


@lean_kernel(
    "void(int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1])"
)
def settle_weights(starts, members, kept, item_starts, item_axes, sources, out_homes):
    """Moves soft evidence to the clique that sums its variable out: posteriors are read off there.

    No message becomes needed by that where all variables are weighted, for all are needed then.
    """
    for c in range(kept.size):
        for place in range(starts[c] + kept[c], starts[c + 1]):
            for item in range(sources.size):
                if sources[item] <= SOFT and item_axes[item_starts[item]] == members[place]:
                    out_homes[item] = c


@lean_kernel("void(int64[::1], int64[::1], int64[::1], float64[::1], float64[::1])")
def price_tree(starts, members, kept, logs, out_prices):
    """Cells of all cliques and of the largest, its width, and bytes of all messages twice."""
    bytes_ = 0.0
    for c in range(kept.size):
        clique = 0.0
        separator = 0.0
        for at in range(starts[c], starts[c + 1]):
            clique += logs[members[at]]
            if at - starts[c] < kept[c]:
                separator += logs[members[at]]
        clique = np.exp2(clique)
        bytes_ += 16.0 * np.exp2(separator)
        out_prices[PRICE_CELLS] += clique
        out_prices[PRICE_LARGEST] = max(out_prices[PRICE_LARGEST], clique)
        out_prices[PRICE_WIDTH] = max(out_prices[PRICE_WIDTH], starts[c + 1] - starts[c] - 1.0)
    out_prices[PRICE_BYTES] += bytes_


@kernel(
    "Tuple((int64[::1], int32[::1], float64[::1]))(int64[::1], int64[::1], int64[::1], int64[::1],"
    " int64[::1], int64[::1], int64[::1], int64[::1], uint8[::1], int64[::1], uint8[::1],"
    " int64[::1], int64, int64, int64, int64, float64)"
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
    known,
    soft,
    asked,
    extent,
    purpose,
    directed,
    block,
    most_bytes,
):
    """The program of a question, its maps and its price; an empty program beyond `most_bytes`.

    Parameters
    ----------
    known : of each variable a state if it is observed, else -1
    soft : of each variable whether it has soft evidence
    asked : unobserved variables of a joint table; those that relevance starts from
    extent, purpose : see `layout`
    """
    n_all = cards.size
    needed, kept = np.empty(n_all, np.uint8), np.empty(heads.size, np.uint8)
    stack = np.empty(n_all, np.int64)
    prices = np.zeros(N_PRICES)
    prices[PRICE_CUT_OFF] = select_factors(
        scope_starts,
        scopes,
        var_starts,
        var_factors,
        known,
        soft,
        asked,
        zeros,
        extent,
        directed,
        needed,
        kept,
        stack,
    )
    local, numbered = np.empty(n_all, np.int64), np.empty(n_all, np.int64)
    n = number_free(known, needed, local, numbered)
    variables = numbered[:n]
    own_cards, logs = np.empty(n, np.int64), np.empty(n)
    for v in range(n):
        own_cards[v] = cards[variables[v]]
        logs[v] = np.log2(np.float64(own_cards[v]))
    most = heads.size + n
    item_starts, sources = np.empty(most + 1, np.int64), np.empty(most, np.int64)
    item_axes = np.empty(scopes.size + n, np.int64)
    item_strides, item_heads = np.empty(scopes.size + n, np.int64), np.empty(most, np.int64)
    uses = np.empty(n, np.int64)
    n_items = list_items(
        scope_starts,
        scopes,
        strides,
        heads,
        kept,
        local,
        variables,
        soft,
        item_starts,
        item_axes,
        item_strides,
        sources,
        item_heads,
        uses,
    )
    pairs_at, pairs = np.empty(heads.size + 1, np.int64), np.empty(2 * scopes.size, np.int64)
    observed_scopes(scope_starts, scopes, strides, known, kept, pairs_at, pairs)
    joint = np.empty(asked.size if purpose == JOINT else 0, np.int64)
    for place in range(joint.size):
        joint[place] = local[asked[place]]
    graph = np.zeros((n, (n + 63) // 64), np.uint64)
    for item in range(n_items):
        join(graph, item_axes[item_starts[item] :], item_starts[item + 1] - item_starts[item])
    join(graph, joint, joint.size)
    rows, order, place_, above, degree, _ = best_order(graph, logs)
    starts, members, parents, sequence, messages, n_kept, rank, homes = rooted_tree(
        rows,
        order,
        place_,
        above,
        degree,
        item_starts,
        item_axes,
        item_heads[:n_items],
        uses,
        own_cards,
        joint,
        logs,
        1 if purpose == MAXIMUM else 0,
    )
    if every_variable_weighted(sources[:n_items], n) != 0:
        settle_weights(starts, members, n_kept, item_starts, item_axes, sources[:n_items], homes)
    for item in range(n_items):
        size = 0.0
        for at in range(item_starts[item], item_starts[item + 1]):
            size += logs[item_axes[at]]
        prices[PRICE_BYTES] += 8.0 * np.exp2(size)
    price_tree(starts, members, n_kept, logs, prices)
    if prices[PRICE_BYTES] > most_bytes:
        return np.empty(0, np.int64), np.empty(0, np.int32), prices
    code, maps = write_program(
        starts,
        members,
        parents,
        sequence,
        messages,
        n_kept,
        rank,
        homes,
        own_cards,
        item_starts,
        item_axes,
        item_strides,
        sources[:n_items],
        variables,
        table_starts,
        kept,
        pairs_at,
        pairs,
        purpose,
        block,
    )
    return code, maps, prices
