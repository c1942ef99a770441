"""Contingency tables of families, and the scores they give, compiled.

Each state of each variable has a bitmap, one bit a row. The table of a family is filled depth
first over the states of its members: the rows of a prefix are the AND of its bitmaps, a prefix
without rows is cut, and the last variable is counted by the number of set bits. This costs about
cells * rows / 64 steps, so tables of many cells, and weighted rows, are counted row by row instead.

    data    bitmaps (states, words), first bitmap of each variable, codes (variables, rows), weights
            (or none), number of missing cells of each variable, columns of numbers or None (see
            `gaussian_kernels`)
    rule    see `Rule`; floats are (prior size, penalty of a parameter, whether rows are whole, rows
            and degrees of a prior of numbers), a lookup table, log prior odds of edges (child,
            parent), log prior by number of parents
    memory  keys (child and set of parents as words), scores, number of entries
    room    masks of prefixes, counts, small integers, cells of rows, a key
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math
from enum import IntEnum

import numpy as np

from novum.graphical.learning.gaussian_kernels import number_family
from novum.numerics import inner_kernel, kernel, set_bits

# Tables with columns of numbers have these last, and so kernels of their own: the arithmetic of
# regressions is compiled where it is used, and only there.
DATA = "Tuple((uint64[:, ::1], int64[::1], int32[:, ::1], float64[::1], int64[::1], none))"
RULE = "Tuple((int64[::1], float64[::1], float64[::1], float64[:, ::1], float64[::1]))"
MEMORY = "Tuple((uint64[:, ::1], float64[::1], int64[::1]))"
ROOM = "Tuple((uint64[:, ::1], float64[::1], int64[::1], int64[::1], uint64[::1]))"
CONTEXT = f"{DATA}, {RULE}, {MEMORY}, {ROOM}"

# Words of a bitmap that are taken at a time: prefixes stay in the first cache.
BLOCK_WORDS = 1024
# Rows whose cells are found before they are counted.
BLOCK_ROWS = 4096
# Nanoseconds of a cell by bitmaps, apart from its words, of a word, and of a member of a row: the
# cheaper way is taken (`benchmarks/graphical/learning`). Whole counts are the same by both.
CELL, WORD, MEMBER = 8.0, 0.15, 1.2
# Free places that a memory keeps, as a share of all.
FREE_SHARE = 0.3


class Kind(IntEnum):
    """What a family's counts become."""

    PENALIZED = 0
    DIRICHLET_EQUIVALENT = 1
    DIRICHLET_ONES = 2
    DIRICHLET_SPARSE = 3
    NORMALIZED = 4
    # Of tables with columns of numbers.
    PENALIZED_NORMAL = 5
    NORMAL_WISHART = 6


class Rule(IntEnum):
    """Places of the integers of a rule."""

    KIND = 0
    MAX_PARENTS = 1
    MAX_CELLS = 2


PENALIZED = int(Kind.PENALIZED)
EQUIVALENT = int(Kind.DIRICHLET_EQUIVALENT)
ONES = int(Kind.DIRICHLET_ONES)
SPARSE = int(Kind.DIRICHLET_SPARSE)
PENALIZED_NORMAL = int(Kind.PENALIZED_NORMAL)
WISHART = int(Kind.NORMAL_WISHART)

# --- Counting -------------------------------------------------------------------------------------


@inner_kernel()
def bits_of(words):
    total = np.int64(0)
    for w in range(words.size):
        total += set_bits(words[w])
    return total


@inner_kernel()
def common_bits(words, others):
    total = np.int64(0)
    for w in range(words.size):
        total += set_bits(words[w] & others[w])
    return total


@inner_kernel()
def join_bits(words, others, out):
    """The bits that both have, and how many."""
    total = np.int64(0)
    for w in range(words.size):
        word = words[w] & others[w]
        out[w] = word
        total += set_bits(word)
    return total


@inner_kernel()
def count_bits(data, members, n_members, room):
    """Adds the rows of every cell of a family, the last member running fastest."""
    bitmaps, starts, _, _, gaps, _ = data
    masks, counts, numbers, _, _ = room
    child = members[n_members - 1]
    first, size = starts[child], starts[child + 1] - starts[child]
    last, top = n_members - 2, 0
    n_words = bitmaps.shape[1]
    # Digits, and cells of prefixes, one of each for every level.
    for begin in range(0, n_words, BLOCK_WORDS):
        end = min(begin + BLOCK_WORDS, n_words)
        if n_members == 1:
            for state in range(size):
                counts[state] += bits_of(bitmaps[first + state, begin:end])
            continue
        level = 0
        numbers[0] = -1
        numbers[n_members] = 0
        while level >= 0:
            numbers[level] += 1
            state = numbers[level]
            variable = members[level]
            card = starts[variable + 1] - starts[variable]
            if state == card:
                level -= 1
                continue
            row = starts[variable] + state
            cell = numbers[n_members + level] * card + state
            rows = bitmaps[row, begin:end]
            if level == 0:
                total = bits_of(rows)
            else:
                before = bitmaps[top, begin:end] if level == 1 else masks[level - 1, : end - begin]
                total = join_bits(before, rows, masks[level, : end - begin])
                rows = masks[level, : end - begin]
            if total == 0:
                continue
            if level < last:
                if level == 0:
                    top = row
                level += 1
                numbers[level] = -1
                numbers[n_members + level] = cell
                continue
            counted = size - 1 if gaps[child] == 0 else size
            for t in range(counted):
                n = common_bits(rows, bitmaps[first + t, begin:end])
                counts[cell * size + t] += n
                total -= n
            if gaps[child] == 0:
                counts[cell * size + size - 1] += total


@inner_kernel()
def count_rows(data, members, n_members, room):
    """The same row by row; rows with a missing cell belong nowhere."""
    _, starts, codes, weights, _, _ = data
    _, counts, _, cells, _ = room
    n_rows = codes.shape[1]
    for begin in range(0, n_rows, BLOCK_ROWS):
        end = min(begin + BLOCK_ROWS, n_rows)
        for i in range(begin, end):
            cells[i - begin] = 0
        for m in range(n_members):
            variable = members[m]
            card = starts[variable + 1] - starts[variable]
            for i in range(begin, end):
                code = codes[variable, i]
                cell = cells[i - begin]
                cells[i - begin] = cell * card + code if code >= 0 and cell >= 0 else -1
        for i in range(begin, end):
            if cells[i - begin] >= 0:
                counts[cells[i - begin]] += weights[i] if weights.size else 1.0


@inner_kernel()
def count_family(data, members, n_members, n_cells, room):
    """The table of a family, in `counts`; members are the parents and then the child."""
    counts = room[1]
    for cell in range(n_cells):
        counts[cell] = 0.0
    words, n_rows = data[0].shape[1], data[2].shape[1]
    by_bits, by_rows = n_cells * (CELL + WORD * words), n_rows * MEMBER * (n_members + 1)
    if data[3].size or by_bits > by_rows + 100.0 * CELL:
        count_rows(data, members, n_members, room)
    else:
        count_bits(data, members, n_members, room)


@kernel(f"void({DATA}, int64[::1], int64, {ROOM})")
def count_table(data, members, n_cells, room):
    """The table of one family, for Python."""
    count_family(data, members, members.size, n_cells, room)


# --- Scores ---------------------------------------------------------------------------------------


@inner_kernel()
def x_log_x(x, lookup):
    if x <= 0.0:
        return 0.0
    if x < lookup.size:
        return lookup[int(x)]
    return x * math.log(x)


@inner_kernel()
def log_complexity(n, size, lookup):
    """Logarithm of the sum of the largest likelihoods of all samples of n rows and `size` states.

    For two states it is in the table, or by Szpankowski's expansion beyond it; then
    C(n, r + 2) = C(n, r + 1) + n / r * C(n, r) (Kontkanen and Myllymäki 2007).
    """
    if n <= 0.0 or size == 1:
        return 0.0
    before, now = 1.0, 0.0
    if n < lookup.size:
        now = lookup[int(n)]
    else:
        now = math.exp(
            0.5 * math.log(n * math.pi / 2)
            + math.sqrt(8.0 / (9.0 * n * math.pi))
            + (3.0 * math.pi - 16.0) / (36.0 * n * math.pi)
        )
    for r in range(1, size - 1):
        before, now = now, now + n / r * before
    return math.log(now)


@inner_kernel()
def log_gamma(x):
    """Stirling's series from 12 on, exact to the last digits there and quicker than the library."""
    if x < 12.0:
        return math.lgamma(x)
    y = 1.0 / x
    z = y * y
    series = 1 / 12 - z * (
        1 / 360 - z * (1 / 1260 - z * (1 / 1680 - z * (1 / 1188 - z * 691 / 360360)))
    )
    return (x - 0.5) * math.log(x) - x + 0.9189385332046727 + y * series


@inner_kernel()
def score_counts(counts, n_cells, size, rule):
    """The score of a family with this table, and an upper bound for it and all larger families.

    Of a penalized likelihood the bound is the penalty alone, since no logarithm of a likelihood is
    positive. Of Dirichlet scores it is -log(size) for each cell that has rows: the first row of a
    state is predicted with at most 1 / size, whatever came before it in its configuration, and a
    larger family has at least as many such cells.
    """
    kind, lookup = rule[0][0], rule[2]
    rows = n_cells // size
    total, bound = 0.0, 0.0
    if kind in (PENALIZED, PENALIZED_NORMAL):
        for j in range(rows):
            n = 0.0
            for k in range(size):
                x = counts[j * size + k]
                n += x
                total += x_log_x(x, lookup)
            total -= x_log_x(n, lookup)
        bound = -rule[1][1] * rows * (size - 1)
        return total + bound, bound
    occupied, filled = 0, 0
    for j in range(rows):
        before = filled
        for k in range(size):
            if counts[j * size + k] > 0.0:
                filled += 1
        if filled > before:
            occupied += 1
    if kind in (EQUIVALENT, WISHART):
        each = rule[1][0] / n_cells
    elif kind == ONES:
        each = 1.0
    elif kind == SPARSE:
        each = rule[1][0] / max(occupied * size, 1)
    else:
        for j in range(rows):
            n = 0.0
            for k in range(size):
                x = counts[j * size + k]
                n += x
                total += x * math.log(x) if x > 0.0 else 0.0
            price = log_complexity(n, size, lookup)
            bound -= price
            total -= price + (n * math.log(n) if n > 0.0 else 0.0)
        return total, bound
    log_each, log_all = math.lgamma(each), math.lgamma(each * size)
    for j in range(rows):
        n = 0.0
        for k in range(size):
            x = counts[j * size + k]
            if x > 0.0:
                n += x
                total += log_gamma(x + each) - log_each
        if n > 0.0:
            total -= log_gamma(n + each * size) - log_all
    # Fractions of rows may be predicted better than a whole first one.
    bound = -filled * math.log(size) if rule[1][2] == 1.0 else 0.0
    return total, bound


@kernel(f"float64(float64[::1], int64, {RULE})")
def score_cells(counts, size, rule):
    """The score of one table of counts, for Python."""
    score, _ = score_counts(counts, counts.size, size, rule)
    return score


@inner_kernel()
def log_prior(rule, child, parents, n_parents):
    """Logarithm of the prior of a set of parents, up to what all sets share."""
    odds, by_number = rule[3], rule[4]
    total = by_number[n_parents] if by_number.size else 0.0
    if odds.size:
        for i in range(n_parents):
            total += odds[child, parents[i]]
    return total


@inner_kernel()
def n_cells_of(data, child, parents, n_parents, most):
    """Cells of a family's table; more than `most` is `most + 1`."""
    starts = data[1]
    cells = starts[child + 1] - starts[child]
    for i in range(n_parents):
        cells *= starts[parents[i] + 1] - starts[parents[i]]
        if cells > most:
            return most + 1
    return cells


@inner_kernel()
def fresh_score(data, rule, room, child, parents, n_parents):
    """The score of a family and its bound, counted anew; minus infinity beyond the limits."""
    most = rule[0][2]
    cells = n_cells_of(data, child, parents, n_parents, most)
    if cells > most or n_parents > rule[0][1]:
        return -np.inf, np.inf
    numbers = room[2]
    members = numbers[numbers.size // 2 :]
    for i in range(n_parents):
        members[i] = parents[i]
    members[n_parents] = child
    of_numbers, score, bound = number_family(
        data[5],
        data[1],
        data[2],
        data[3],
        rule[1],
        rule[0][0] == WISHART,
        members,
        n_parents,
        cells,
    )
    if not of_numbers:
        count_family(data, members, n_parents + 1, cells, room)
        size = data[1][child + 1] - data[1][child]
        score, bound = score_counts(room[1], cells, size, rule)
    prior = log_prior(rule, child, parents, n_parents)
    return score + prior, bound + prior


@inner_kernel()
def key_place(keys, key):
    """Where a key is, or the free place where it belongs."""
    last = np.uint64(keys.shape[0] - 1)
    mixed = np.uint64(1469598103934665603)
    for w in range(key.size):
        mixed = (mixed ^ key[w]) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    place = mixed & last
    while keys[place, key.size - 1] != 0:
        same = True
        for w in range(key.size):
            if keys[place, w] != key[w]:
                same = False
                break
        if same:
            break
        place = (place + np.uint64(1)) & last
    return place


@kernel(f"void({MEMORY}, {MEMORY})", vectorize=False)
def move_entries(memory, out_memory):
    """All entries of a memory into a larger, empty one."""
    keys, scores, used = memory
    for place in range(scores.size):
        key = keys[place]
        if key[key.size - 1] != 0:
            to = key_place(out_memory[0], key)
            for w in range(key.size):
                out_memory[0][to, w] = key[w]
            out_memory[1][to] = scores[place]
    out_memory[2][0] = used[0]


@inner_kernel()
def local_score(data, rule, memory, room, child, parents, n_parents):
    """The score of a family, from memory where it was asked before; parents in any order.

    Keys hold the set itself: two families never share an entry.
    """
    keys, scores, used = memory
    key = room[4]
    n_words = key.size - 1
    for w in range(n_words):
        key[w] = np.uint64(0)
    key[n_words] = np.uint64(child + 1)
    for i in range(n_parents):
        key[parents[i] // 64] |= np.uint64(1) << np.uint64(parents[i] % 64)
    place = key_place(keys, key)
    if keys[place, n_words] != 0:
        return scores[place]
    score, _ = fresh_score(data, rule, room, child, parents, n_parents)
    if used[0] < scores.size * (1.0 - FREE_SHARE):
        for w in range(n_words + 1):
            keys[place, w] = key[w]
        scores[place] = score
        used[0] += 1
    return score


@kernel(f"float64({CONTEXT}, int64, int64[::1])")
def family_score(data, rule, memory, room, child, parents):
    """The score of one family, for Python."""
    return local_score(data, rule, memory, room, child, parents, parents.size)


@kernel(f"void({CONTEXT}, int64, int8[:, ::1], int8[:, ::1], float64[:, ::1])")
def score_changes(data, rule, memory, room, child, adjacency, allowed, out_changed):
    """Scores of a child with each other variable made a parent, or no longer one.

    `adjacency[child, parent]` are the present edges; row `child` of `out_changed` is filled, its
    own place with the score of the present parents. Parents that are not allowed give minus
    infinity.
    """
    d = adjacency.shape[0]
    parents = np.empty(d, np.int64)
    n = 0
    for x in range(d):
        if adjacency[child, x]:
            parents[n] = x
            n += 1
    out_changed[child, child] = local_score(data, rule, memory, room, child, parents, n)
    others = np.empty(d, np.int64)
    for x in range(d):
        if x == child:
            continue
        if adjacency[child, x]:
            k = 0
            for i in range(n):
                if parents[i] != x:
                    others[k] = parents[i]
                    k += 1
            out_changed[child, x] = local_score(data, rule, memory, room, child, others, k)
        elif not allowed[child, x] or n >= rule[0][1]:
            out_changed[child, x] = -np.inf
        else:
            # Sorted, so that counting takes the members in one order whatever the way here was.
            k = 0
            while k < n and parents[k] < x:
                others[k] = parents[k]
                k += 1
            others[k] = x
            for i in range(k, n):
                others[i + 1] = parents[i]
            out_changed[child, x] = local_score(data, rule, memory, room, child, others, n + 1)


@kernel("void(float64[::1])")
def binary_complexities(out):
    """C(n, 2) for n = 0, 1, ...: the sum over k of n! / ((n - k)! n^k) (Mononen and Myllymäki)."""
    for n in range(out.size):
        total, term = 1.0, 1.0
        for k in range(1, n + 1):
            term *= (n - k + 1) / n
            total += term
            if term < 1e-18 * total:
                break
        out[n] = total
