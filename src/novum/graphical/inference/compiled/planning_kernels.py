"""A question as a program: its order, its tree and its loops.

The stages are those of `factors_kernels`, `orders_kernels`, `trees_kernels` and `writing_kernels`;
here is what they hand to each other. The result is one array of integers (see `layout`), one of
maps, and the price.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from novum.graphical.inference.compiled.answers_kernels import load
from novum.graphical.inference.compiled.factors_kernels import (
    LAYOUT,
    SOFT,
    WEIGHTED,
    mark_ancestors,
    mark_connected,
    number_free,
    observed_scopes,
    question_factors,
)
from novum.graphical.inference.compiled.layout import (
    CONNECTED,
    JOINT,
    MARGINALS,
    MAXIMUM,
    MOST_AXES,
    MOST_OPS,
    N_BUFFER,
    N_CLIQUES,
    N_PRICES,
    N_VALUES,
    PRICE_BYTES,
    PRICE_CELLS,
    PRICE_CUT_OFF,
    PRICE_LARGEST,
    PRICE_WIDTH,
    ROOT_MESSAGE,
)
from novum.graphical.inference.compiled.messages_kernels import collect
from novum.graphical.inference.compiled.orders_kernels import best_order, join
from novum.graphical.inference.compiled.programs_kernels import block_cells
from novum.graphical.inference.compiled.trees_kernels import rooted_tree
from novum.graphical.inference.compiled.writing_kernels import write_program
from novum.numerics import inner_kernel, kernel

# `planning.Request` as a plain tuple: known, soft, asked, extent, purpose, block.
REQUEST = "Tuple((int64[::1], uint8[::1], int64[::1], int64, int64, int64))"
# starts; tables, table_spans, weights: what a run loads
READING = "Tuple((int64[::1],) + (float64[::1],) * 3)"
# code, maps
PROGRAM = "Tuple((int64[::1], int32[::1]))"
# Words of work on elimination orders for each cell of a run.
COLLECTING_SHARE = 0.1
DISTRIBUTING_SHARE = 0.15


@inner_kernel()
def select_factors(layout, request, directed, out_needed, out_kept, stack):
    """Marks the factors and variables of a question; whether a table with zeros was cut off."""
    _, scope_starts, scopes, _, _, _, var_starts, var_factors, zeros = layout
    known, soft, targets, extent, _, _ = request
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
        scope_starts, scopes, var_starts, var_factors, known, targets, out_needed, out_kept, stack,
        directed,
    )  # fmt: skip
    cut_off = 0
    for factor in range(out_kept.size):
        inside = directed == 0 or out_needed[factor] != 0
        if inside and out_kept[factor] == 0 and zeros[factor] != 0:
            cut_off = 1
    for variable in range(known.size):
        if soft[variable] == WEIGHTED and out_needed[variable] != 2 and known[variable] < 0:
            cut_off = 1
        out_needed[variable] = 1 if out_needed[variable] == 2 else 0
    return cut_off


@inner_kernel(allocates=True)
def interaction_graph(factors, joint, n):
    """Rows of bits: which variables share a factor, or are asked together."""
    graph = np.zeros((n, (n + 63) // 64), np.uint64)
    for factor in range(factors.sources.size):
        begin, end = factors.starts[factor], factors.starts[factor + 1]
        join(graph, factors.axes[begin:end])
    join(graph, joint)
    return graph


@inner_kernel()
def settle_weights(factors, tree):
    """Where all variables are weighted, each weight moves to the clique that sums it out.

    So it is where rows of evidence run side by side: posteriors are read off there. No message
    becomes needed by that, for all are needed then.
    """
    weighted = 0
    for source in factors.sources:
        if source <= SOFT:
            weighted += 1
    if weighted < tree.rank.size:
        return
    for c in range(tree.kept.size):
        for place in range(tree.starts[c] + tree.kept[c], tree.starts[c + 1]):
            for factor in range(factors.sources.size):
                axis = factors.axes[factors.starts[factor]]
                if factors.sources[factor] <= SOFT and axis == tree.members[place]:
                    tree.homes[factor] = c


@inner_kernel()
def cells_of(cards, variables):
    """Cells of a table over some variables, as a float that cannot overflow into nonsense."""
    cells = 1.0
    for variable in variables:
        cells *= cards[variable]
    return cells


@inner_kernel()
def message_copies(tree, c, purpose):
    """Arrays of the size of a clique's message, at most: see `place_values`.

    Posteriors take the message and its derivative; for one that is not sent up there may be ones,
    their derivative, and what is read off it. Maxima take what was chosen in each cell.
    """
    is_sent = tree.parents[c] < 0 or tree.needed[c] != 0
    if purpose == MARGINALS:
        return 2 if is_sent else 3
    return (1 if is_sent else 0) + (1 if purpose == MAXIMUM else 0)


@inner_kernel(allocates=True)
def price_tree(factors, tree, cards, purpose, block, out_prices):
    """Cells of all cliques and of the largest, its width; bytes that a run takes at most.

    These are factors and messages, with a cell more for each, and the steps of the products in a
    block; for posteriors the derivatives by all of them.
    """
    ways = 2.0 if purpose == MARGINALS else 1.0
    operations = np.zeros(tree.kept.size, np.int64)
    numbers = 0.0
    for factor in range(factors.sources.size):
        scope = factors.axes[factors.starts[factor] : factors.starts[factor + 1]]
        numbers += ways * cells_of(cards, scope) + 1.0
        operations[tree.homes[factor]] += 1
    for c in range(tree.kept.size):
        if tree.parents[c] >= 0:
            operations[tree.parents[c]] += 1
    buffer = 0.0
    for c in range(tree.kept.size):
        members = tree.members[tree.starts[c] : tree.starts[c + 1]]
        cells = cells_of(cards, members)
        copies = message_copies(tree, c, purpose)
        numbers += copies * cells_of(cards, members[: tree.kept[c]]) + 1.0
        buffer = max(buffer, 1.0 + operations[c] * block_cells(cards, members, block))
        out_prices[PRICE_CELLS] += cells
        out_prices[PRICE_LARGEST] = max(out_prices[PRICE_LARGEST], cells)
        out_prices[PRICE_WIDTH] = max(out_prices[PRICE_WIDTH], members.size - 1.0)
    out_prices[PRICE_BYTES] = 8.0 * (numbers + ways * buffer)


@inner_kernel(allocates=True)
def plan(layout, logs, directed, request, most_bytes, most_cells):
    """The program of a question, its maps and its price.

    There is an empty program beyond `most_bytes` or `most_cells`.

    Parameters
    ----------
    logs : of each variable the logarithm of its number of states
    request : of each variable a state if it is observed, else -1, and whether it has soft evidence;
        the unobserved variables of a joint table, or those that relevance starts from
    """
    cards, scope_starts, scopes, strides, table_starts, heads, _, _, _ = layout
    known, soft, asked, _, purpose, block = request
    n_all = cards.size
    prices = np.zeros(N_PRICES)
    needed, kept = np.empty(n_all, np.uint8), np.empty(heads.size, np.uint8)
    local, numbered = np.empty(n_all, np.int64), np.empty(n_all, np.int64)
    prices[PRICE_CUT_OFF] = select_factors(layout, request, directed, needed, kept, numbered)
    n = number_free(known, needed, local, numbered)
    variables = numbered[:n]
    own_cards, own_logs = np.empty(n, np.int64), np.empty(n)
    for v in range(n):
        own_cards[v], own_logs[v] = cards[variables[v]], logs[variables[v]]
    factors = question_factors(scope_starts, scopes, strides, heads, kept, local, variables, soft)
    joint = np.empty(asked.size if purpose == JOINT else 0, np.int64)
    for place in range(joint.size):
        joint[place] = local[asked[place]]
    share = DISTRIBUTING_SHARE if purpose == MARGINALS else COLLECTING_SHARE
    order = best_order(interaction_graph(factors, joint, n), own_logs, own_cards, share)
    tree = rooted_tree(order, factors, own_cards, joint, 1 if purpose == MAXIMUM else 0)
    settle_weights(factors, tree)
    price_tree(factors, tree, own_cards, purpose, block, prices)
    if prices[PRICE_BYTES] > most_bytes or prices[PRICE_CELLS] > most_cells:
        return np.empty(0, np.int64), np.empty(0, np.int32), prices
    pairs_at, pairs = (np.empty(heads.size + 1, np.int64), np.empty(2 * scopes.size, np.int64))
    observed_scopes(scope_starts, scopes, strides, known, kept, pairs_at, pairs)
    code, maps = write_program(
        tree, factors, own_cards, variables, table_starts, kept, pairs_at, pairs, purpose, block
    )
    return code, maps, prices


# --- A question in one call -----------------------------------------------------------------------
# A question in one call: its program and, of a small one about a joint table, the answer.
#
# For small questions the way from Python to compiled code and back, with all its arrays, costs as
# much as the work itself. Their sums are so short that the kernel does without vectors, as suits
# the planner.


# More blocks than any small program has.
EVERY_BLOCK = 2**62


@inner_kernel(allocates=True)
def collect_table(code, maps, reading, size):
    """The table of a program, whose sum is 1, and the logarithm of the scales (`collect`)."""
    # The span of a table lies in the cell before it: `spans[at]` is `values[at - 1]`.
    spans = np.empty(code[N_VALUES] + 1)
    values, block = spans[1:], np.empty(code[N_BUFFER])
    digits, bases = np.empty(code[MOST_AXES] + 1, np.int64), np.empty(code[MOST_OPS] + 1, np.int64)
    state = np.zeros(2, np.int64)
    state[0] = code[N_CLIQUES] - 1
    log = load(code, reading, values, spans, digits)
    if log > -np.inf:
        log += collect(code, maps, values, spans, block, digits, bases, state, EVERY_BLOCK, 1)
    first, total = code[ROOT_MESSAGE], 0.0
    for cell in range(first, first + size):
        total += values[cell]
    table = np.empty(size)
    for cell in range(size):
        table[cell] = values[first + cell] / total
    return table, log


@kernel(
    "Tuple((int64[::1], int32[::1]) + (float64[::1],) * 2 + (float64,))"
    f"({LAYOUT}, float64[::1], int64, {REQUEST}, UniTuple(float64, 3), {READING}, {PROGRAM})",
    vectorize=False,
)
def plan_question(layout, logs, directed, request, limits, reading, program):
    """The program of a question, its maps, its price, and of a small one also its answer.

    Parameters
    ----------
    limits : bytes and cells beyond which the program is empty; a joint question of up to so many
        cells is answered
    reading : what a run loads
    program : code and maps that are kept, or nothing

    Returns
    -------
    code, maps, prices : the program; prices of a new one only
    table, log : the joint table, whose sum is 1, and the logarithm of the scales (`collect`)
    """
    most_bytes, most_cells, at_once = limits
    code, maps = program
    prices = np.empty(0)
    if code.size == 0:
        code, maps, prices = plan(layout, logs, directed, request, most_bytes, most_cells)
    if code.size == 0 or (prices.size > 0 and prices[PRICE_CELLS] > at_once):
        return code, maps, prices, np.empty(0), 0.0
    cards, known, asked, size = layout[0], request[0], request[2], 1
    for variable in asked:
        size *= cards[variable]
    starts, tables, table_spans, weights = reading
    loaded = tables, tables, table_spans, known, starts, cards, weights
    table, log = collect_table(code, maps, loaded, size)
    return code, maps, prices, table, log
