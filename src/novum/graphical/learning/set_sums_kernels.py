"""Scores of all families from sums over all sets of variables, compiled.

With c the configurations of a set S that the table has, N_c their weight and |S| the number of
cells of its table, the score of child v with parents P is made of sums of the sets P + v and P:

    penalized  L(P + v) - L(P) - price           L(S) = sum over c of N_c log N_c
    BDeu       F(P + v) - F(P)                   F(S) = sum over c of log (s/|S|)_(N_c)
    K2         A(P + v) - B_r(P)                 A(S) = sum of log (1)_(N_c),  B_r of log (r)_(N_c)
    NML        L(P + v) - C_r(P)                 C_r(S) = sum of N_c log N_c + log C(N_c, r)
    BDs        J_v(P + v) - F'(P)                prior s over the configurations of P that occur

where (a)_(n) = Gamma(a + n) / Gamma(a). So 2^d sets are counted and not d 2^(d-1) families, and no
table is ever laid out. Sets are visited depth first, variables in one order: rows that agree on S
lie together, and one more variable splits these groups. A row that is alone in its group stays so
and is only tallied by its weight.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

import numpy as np

from novum.graphical.learning.counts_kernels import (
    EQUIVALENT,
    ONES,
    PENALIZED,
    RULE,
    SPARSE,
    log_complexity,
    log_gamma,
    log_prior,
)
from novum.graphical.learning.exact_kernels import is_legal
from novum.numerics import inner_kernel, kernel, trailing_zeros

# codes (variables, rows) of different rows, their weights, class of each row's weight, weights of
# the classes, numbers of states, order of the variables, states of children that differ
ROWS = (
    "Tuple((int32[:, ::1], float64[::1], int64[::1], float64[::1], int64[::1], int64[::1], "
    "int64[::1]))"
)
# By depth: rows, ends of groups, rows that are alone by class of weight, then (number of groups,
# next variable), set as bits and number of cells, and the present depth.
DEPTHS = (
    "Tuple((int32[:, ::1], int32[:, ::1], int64[:, ::1], int64[:, ::1], int64[::1], float64[::1], "
    "int64[::1]))"
)
# Weights of configurations and how many have them; a tally by whole weight.
ROOM = "Tuple((float64[::1], float64[::1], int64[::1], int64[::1]))"


@inner_kernel()
def split_groups(rows, depths, depth, variable, counts):
    """The groups of the next depth: those of this one, split by one more variable."""
    codes, _, classes, _, cards, _, _ = rows
    members, ends, alone, sizes, _, _, _ = depths
    card = cards[variable]
    for k in range(alone.shape[1]):
        alone[depth + 1, k] = alone[depth, k]
    begin, n, n_groups = 0, 0, 0
    for g in range(sizes[depth, 0]):
        end = ends[depth, g]
        for t in range(card):
            counts[t] = 0
        for i in range(begin, end):
            counts[codes[variable, members[depth, i]]] += 1
        # Groups of one row leave; the others get their places.
        for t in range(card):
            size = counts[t]
            if size > 1:
                counts[t] = n
                n += size
                ends[depth + 1, n_groups] = n
                n_groups += 1
            elif size == 1:
                counts[t] = -1
        for i in range(begin, end):
            row = members[depth, i]
            t = codes[variable, row]
            if counts[t] < 0:
                alone[depth + 1, classes[row]] += 1
            else:
                members[depth + 1, counts[t]] = row
                counts[t] += 1
        begin = end
    sizes[depth + 1, 0] = n_groups


@inner_kernel()
def weigh_groups(rows, depths, depth, room):
    """Weights of the configurations of a set and how many have each; returns how many there are."""
    _, weights, _, class_weights, _, _, _ = rows
    members, ends, alone, sizes, _, _, _ = depths
    values, numbers, tally, touched = room
    n = 0
    for k in range(alone.shape[1]):
        if alone[depth, k] > 0:
            values[n] = class_weights[k]
            numbers[n] = alone[depth, k]
            n += 1
    begin, n_touched = 0, 0
    for g in range(sizes[depth, 0]):
        total = 0.0
        for i in range(begin, ends[depth, g]):
            total += weights[members[depth, i]]
        begin = ends[depth, g]
        whole = int(total)
        if whole == total and whole < tally.size:
            if tally[whole] == 0:
                touched[n_touched] = whole
                n_touched += 1
            tally[whole] += 1
        else:
            values[n] = total
            numbers[n] = 1.0
            n += 1
    for i in range(n_touched):
        values[n] = touched[i]
        numbers[n] = tally[touched[i]]
        tally[touched[i]] = 0
        n += 1
    return n


@inner_kernel()
def rising(values, numbers, n, each):
    """Sum of log Gamma(each + N) - log Gamma(each) over configurations."""
    total, log_each = 0.0, math.lgamma(each)
    for i in range(n):
        total += numbers[i] * (log_gamma(each + values[i]) - log_each)
    return total


@inner_kernel()
def add_set(rows, rule, code, cells, values, numbers, n, out_sums):
    """The sums of one set, from the weights of its configurations."""
    kind, lookup, children = rule[0][0], rule[2], rows[6]
    if kind == EQUIVALENT:
        out_sums[0, code] = rising(values, numbers, n, rule[1][0] / cells)
        return
    total = 0.0
    if kind == SPARSE:
        for i in range(n):
            total += numbers[i]
        out_sums[0, code] = total
    elif kind == ONES:
        out_sums[0, code] = rising(values, numbers, n, 1.0)
        for t in range(children.size):
            out_sums[1 + t, code] = rising(values, numbers, n, 1.0 * children[t])
    else:
        for i in range(n):
            x = values[i]
            total += numbers[i] * x * math.log(x)
        out_sums[0, code] = total
        if kind != PENALIZED:
            for t in range(children.size):
                price = 0.0
                for i in range(n):
                    price += numbers[i] * log_complexity(values[i], children[t], lookup)
                out_sums[1 + t, code] = total + price


@inner_kernel()
def add_sparse(rows, rule, code, values, numbers, n, configurations, out_scores):
    """What one set adds to BDs of the families that it is, or whose parents it is."""
    cards, size = rows[4], rule[1][0]
    above = rising(values, numbers, n, size / max(configurations[0, code], 1.0))
    for v in range(cards.size):
        low = code & ((1 << v) - 1)
        place = low | ((code >> (v + 1)) << v)
        if code >> v & 1:
            q = max(configurations[0, code & ~(1 << v)], 1.0)
            out_scores[v, place] += rising(values, numbers, n, size / (q * cards[v]))
        else:
            out_scores[v, place] -= above


@kernel(
    f"int64({ROWS}, {DEPTHS}, {RULE}, {ROOM}, int64, float64[:, ::1], float64[:, ::1])",
    vectorize=False,
)
def walk_sets(rows, depths, rule, room, budget, out_sums, out_scores):
    """Goes on through the sets until about `budget` steps are done; whether all are.

    `out_sums[0]` holds L, F, A, or of BDs the number of configurations; `out_sums[1 + t]` what
    parents of a child with the t-th number of states add, of K2 and NML. BDs counts the
    configurations of parents, so it takes a second walk, with room for the scores of families:
    `out_scores[v, P]` with P as bits of the variables other than v.
    """
    cards, order = rows[4], rows[5]
    _, ends, _, sizes, sets, cells, at = depths
    values, numbers = room[0], room[1]
    d = order.size
    most = 1
    for v in range(d):
        most = max(most, cards[v])
    counts = np.empty(most, np.int64)
    depth = at[0]
    while depth >= 0:
        if sizes[depth, 1] < 0:
            # Not looked at yet.
            n = weigh_groups(rows, depths, depth, room)
            sizes[depth, 1] = -sizes[depth, 1] - 1
            budget -= 20 + 20 * n
            if out_scores.size:
                budget -= 10 * n * d
                add_sparse(rows, rule, sets[depth], values, numbers, n, out_sums, out_scores)
            else:
                add_set(rows, rule, sets[depth], cells[depth], values, numbers, n, out_sums)
        place = sizes[depth, 1]
        if place == d:
            depth -= 1
            continue
        if budget < 0:
            at[0] = depth
            return 0
        sizes[depth, 1] = place + 1
        variable = order[place]
        if sizes[depth, 0]:
            budget -= ends[depth, sizes[depth, 0] - 1]
        split_groups(rows, depths, depth, variable, counts)
        sets[depth + 1] = sets[depth] | (1 << variable)
        cells[depth + 1] = cells[depth] * cards[variable]
        depth += 1
        # Minus the next variable, less one: to be looked at first.
        sizes[depth, 1] = -(place + 1) - 1
    at[0] = -1
    return 1


@kernel(f"void(int64[::1], {RULE}, int64, int64, float64[:, ::1], float64[::1])", vectorize=False)
def family_scores(cards, rule, child, above, sums, out_scores):
    """Scores of a child with every set of parents, from sums; `above` is the row of the parents."""
    size, penalized = cards[child], rule[0][0] == PENALIZED
    for code in range(out_scores.size):
        low = code & ((1 << child) - 1)
        parents = low | ((code >> child) << (child + 1))
        score = sums[0, parents | (1 << child)] - sums[above, parents]
        if penalized:
            q, word = 1.0, np.uint64(parents)
            while word != 0:
                q *= cards[trailing_zeros(word)]
                word &= word - np.uint64(1)
            score -= rule[1][1] * q * (size - 1)
        out_scores[code] = score


@kernel(
    f"void({RULE}, int64, int8[:, ::1], int8[:, ::1], int64, int64, float64[::1], uint32[::1])",
    vectorize=False,
)
def best_of_subsets(rule, child, allowed, required, begin, end, out_best, out_choice):
    """Scores of a child become the best of all subsets, which `out_choice` names."""
    d = allowed.shape[0]
    parents = np.empty(d, np.int64)
    for code in range(begin, end):
        word = np.uint64(code)
        n = 0
        top, argument = -np.inf, np.uint32(0)
        while word != 0:
            bit = trailing_zeros(word)
            word &= word - np.uint64(1)
            smaller = code & ~(1 << bit)
            if out_best[smaller] > top:
                top, argument = out_best[smaller], out_choice[smaller]
            parents[n] = bit if bit < child else bit + 1
            n += 1
        if n <= rule[0][1] and is_legal(child, parents, n, allowed, required):
            score = out_best[code] + log_prior(rule, child, parents, n)
            if score > top:
                top, argument = score, np.uint32(code)
        out_best[code], out_choice[code] = top, argument
