"""Elimination orders on bit sets.

    fill(v) = missing edges among the neighbors of v        weight(v) = log cells of its clique

Row v of the graph is a set of bits. The variable of least price is eliminated: its neighbors are
joined, and prices of those whose neighborhood changed are computed anew; a tournament keeps the
least. A row is left as it is when its variable goes, so the rows end up as the cliques of the
order. Work is counted in words, not seconds, so that the same model has the same order everywhere.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from novum.numerics import inner_kernel, set_bits, trailing_zeros

BY_FILL = 0
BY_WEIGHT = 1
# The second criterion decides ties of the first and nothing else.
TIE = 1e-6
GONE = np.inf
# Work on a price besides the words that are read: it is entered, and others are compared with it.
ENTRY = 16
ONE = np.uint64(1)


@inner_kernel()
def join(rows, members):
    """Adds an edge between any two of some variables."""
    for variable in members:
        row = rows[variable]
        for other in members:
            if other != variable:
                row[other >> 6] |= ONE << np.uint64(other & 63)


@inner_kernel()
def extent(row):
    """The first word of a row with a bit, and the one behind the last."""
    first, last = 0, row.size
    while first < last and row[first] == 0:
        first += 1
    while last > first and row[last - 1] == 0:
        last -= 1
    return first, last


@inner_kernel()
def price(rows, logs, variable, rule, jitter):
    """What eliminating a variable costs by a rule, ties by the other one or by chance; the work."""
    row = rows[variable]
    first, last = extent(row)
    missing = 0
    work = ENTRY + row.size
    weight = logs[variable]
    for w in range(first, last):
        word = row[w]
        while word != 0:
            other = (w << 6) + trailing_zeros(word)
            word &= word - ONE
            weight += logs[other]
            near = rows[other]
            for x in range(first, last):
                missing += set_bits(row[x] & ~near[x])
            missing -= 1
            work += last - first + 1
    fill = 0.5 * missing
    if rule == BY_FILL:
        return fill + TIE * weight + jitter, work
    return weight + TIE * fill + jitter, work


@inner_kernel()
def place_price(tournament, variable, value):
    """Enters a price and corrects the least ones above it."""
    at = (tournament.size >> 1) + variable
    tournament[at] = value
    while at > 1:
        at >>= 1
        left, right = tournament[2 * at], tournament[2 * at + 1]
        tournament[at] = left if left <= right else right


@inner_kernel()
def cheapest(tournament):
    """The variable of least price; the first of equal ones."""
    half = tournament.size >> 1
    at = 1
    while at < half:
        at *= 2
        if tournament[at] > tournament[at + 1]:
            at += 1
    return at - half


@inner_kernel()
def eliminate(rows, variable, out_touched):
    """Joins the neighbors of a variable and takes it out of their rows; edges that were added."""
    row = rows[variable]
    first, last = extent(row)
    added = 0
    for w in range(row.size):
        out_touched[w] = row[w]
    own = ~(ONE << np.uint64(variable & 63))
    for w in range(first, last):
        word = row[w]
        while word != 0:
            other = (w << 6) + trailing_zeros(word)
            word &= word - ONE
            near = rows[other]
            # Of the bits that are new to it, one is its own.
            new = -1
            for x in range(first, last):
                new += set_bits(row[x] & ~near[x])
                near[x] |= row[x]
            near[variable >> 6] &= own
            near[w] &= ~(ONE << np.uint64(other & 63))
            if new > 0:
                added += 1
                for x in range(row.size):
                    out_touched[x] |= near[x]
    return added


@inner_kernel()
def greedy_order(rows, logs, rule, seed, tournament, touched, out_order, out_place):
    """Eliminates all variables; `rows` become the cliques. The work done, in words."""
    n = rows.shape[0]
    words = rows.shape[1]
    work = 0
    state = seed
    for at in range(tournament.size):
        tournament[at] = GONE
    for variable in range(n):
        state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
        jitter = 0.0
        if seed != 0:
            jitter = 0.4 * np.float64(state >> np.uint64(11)) / 9007199254740992.0
        out_place[variable] = -1
        cost, words_read = price(rows, logs, variable, rule, jitter)
        place_price(tournament, variable, cost)
        work += words_read
    for step in range(n):
        variable = cheapest(tournament)
        out_order[step] = variable
        out_place[variable] = step
        added = eliminate(rows, variable, touched)
        place_price(tournament, variable, GONE)
        for w in range(words):
            word = touched[w]
            while word != 0:
                other = (w << 6) + trailing_zeros(word)
                word &= word - ONE
                if out_place[other] >= 0:
                    continue
                # Without new edges only the neighbors' prices have changed.
                is_near = (rows[variable, w] >> np.uint64(other & 63)) & ONE != 0
                if not is_near and (added == 0 or rule == BY_WEIGHT):
                    continue
                jitter = 0.0
                if seed != 0:
                    state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
                    jitter = 0.4 * np.float64(state >> np.uint64(11)) / 9007199254740992.0
                cost, words_read = price(rows, logs, other, rule, jitter)
                place_price(tournament, other, cost)
                work += words_read
    return work


@inner_kernel()
def order_cells(rows, cards, order, place, out_above, out_degree, out_cells):
    """Cells of all maximal cliques; the step above each one, its degree, and cells of maximal ones.

    Numbers of states are multiplied, not their logarithms added: the same bits on every machine.
    """
    n = order.size
    for step in range(n):
        row = rows[order[step]]
        first = n
        degree = 0
        size = 1.0 * cards[order[step]]
        for w in range(row.size):
            word = row[w]
            while word != 0:
                other = (w << 6) + trailing_zeros(word)
                word &= word - ONE
                degree += 1
                size *= cards[other]
                first = min(first, place[other])
        out_above[step] = first if first < n else -1
        out_degree[step] = degree
        out_cells[step] = size
    for step in range(n):
        above = out_above[step]
        if above >= 0 and out_degree[above] + 1 == out_degree[step]:
            out_cells[above] = 0.0
    total = 0.0
    for step in range(n):
        total += out_cells[step]
    return total


# --- The cheapest of several ----------------------------------------------------------------------
# The cheapest of several elimination orders.
#
# By fill first; by weight where that costs little against a run; then by both with chance, until
# the words of work spent on orders are a share of the cells that a run will touch. Both are counts,
# so the order depends on nothing but the question.


# The second order may cost so many times the share.
SECOND = 3.0
MOST_TRIES = 40


class Order(NamedTuple):
    """An elimination order and its cliques.

    Attributes
    ----------
    rows : of each variable, its neighbors when it is eliminated, as a row of bits
    steps, place : the variables in order, and the step of each
    above, degree : of each step, that of its first neighbor to go (or -1), and how many there are
    cells : of all maximal cliques
    """

    rows: Any
    steps: Any
    place: Any
    above: Any
    degree: Any
    cells: Any


@inner_kernel(allocates=True)
def best_order(graph, logs, cards, share):
    """The best order found for a graph of bits, variables of so many states.

    There are `share` words of work for each cell of a run.
    """
    n, words = graph.shape
    half = 1
    while half < n:
        half *= 2
    tournament = np.empty(2 * half)
    touched = np.empty(words, np.uint64)
    sizes = np.empty(n)
    best_rows, rows = np.empty((n, words), np.uint64), np.empty((n, words), np.uint64)
    # Rows of these are order, places, steps above and degrees.
    best, order = np.empty((4, n), np.int64), np.empty((4, n), np.int64)
    cells = np.inf
    spent = 0
    for attempt in range(MOST_TRIES):
        if attempt > 0 and spent > (SECOND if attempt == 1 else 1.0) * share * cells:
            break
        for v in range(n):
            for w in range(words):
                rows[v, w] = graph[v, w]
        seed = np.uint64(attempt if attempt > 1 else 0)
        rule = BY_FILL if attempt % 2 == 0 else BY_WEIGHT
        spent += greedy_order(rows, logs, rule, seed, tournament, touched, order[0], order[1])
        price = order_cells(rows, cards, order[0], order[1], order[2], order[3], sizes)
        if price < cells:
            cells = price
            best_rows, rows = rows, best_rows
            best, order = order, best
    return Order(best_rows, best[0], best[1], best[2], best[3], cells)
