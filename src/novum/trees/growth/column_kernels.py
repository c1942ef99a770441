"""The best split of one node: which column, and where it is cut.

Columns are drawn without replacement until `max_features` of them that differ among the rows have
been tried, and until one of them splits. Results go into `best_number` (the gain), `best_integer`
(column, question, code, next code, missing branch) and `best_branch` (branch of each level).

`facts` of the node: differences that count as ties, lower and upper bound of means, weight, then
the sums of its rows.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from novum.numerics import inner_kernel
from novum.trees.growth.growing_columns import (
    ANY_MISSING,
    AUTO,
    CRITERION,
    ENTROPY,
    MAX_CUTS,
    MAX_FEATURES,
    MIN_LEAF,
    MISSING_CODE,
    MISSING_RULE,
    NOMINAL_RULE,
    RANDOM_CUT,
    SINGLE,
    MissingRule,
)
from novum.trees.growth.histogram_kernels import (
    cut_all_pairs,
    cut_all_sums,
    cut_few_rows,
    cut_marked_pairs,
    fill,
    mark_pairs,
    marked_codes,
    occupied_by_bits,
    occupied_by_scan,
    occupied_wide,
)
from novum.trees.growth.search_kernels import (
    choose_cuts,
    cut_numbers,
    divide_levels,
    draw,
    mark_head,
    quality,
    weight_of,
)

# Nodes with fewer rows than this mark the codes they touch.
FEW_ROWS = 400
# Rows for each level from which a node may divide levels into sets ("auto").
ROWS_FOR_EACH_LEVEL = 50
# The code of missing cells where codes are bytes.
NARROW = 255

_THRESHOLD = 1
_SUBSET = 2
_FRACTIONAL = int(MissingRule.FRACTIONAL)
_DIRECTION = int(MissingRule.DIRECTION)
_AUTO = int(MissingRule.AUTO)


@inner_kernel()
def try_column(sums, n_levels, column, columns, rules, chance, search, facts, best):
    """Replaces the best split so far by the best of this column, if that is better."""
    n_codes, nominal, signs = columns[0], columns[1][column], columns[2]
    target_start, options, limits = rules
    levels, branch, scratch = search[0], search[4], search[5]
    best_number, best_integer, best_branch = best
    tie = facts[0]
    n_stats = facts.size - 4
    criterion = options[CRITERION]
    classes = criterion <= ENTROPY
    missing_at = options[MISSING_CODE] * n_stats
    for s in range(n_stats):
        scratch[3, s] = sums[missing_at + s]
        scratch[4, s] = facts[4 + s]
        scratch[5, s] = facts[4 + s]
    missing = weight_of(scratch[3], target_start, classes) > 0.0
    if missing:
        for s in range(n_stats):
            scratch[4, s] = 0.0
            for i in range(n_levels):
                scratch[4, s] += sums[levels[i] * n_stats + s]
    weight = weight_of(scratch[4], target_start, classes)
    single = nominal and (
        options[NOMINAL_RULE] == SINGLE
        or (options[NOMINAL_RULE] == AUTO and weight < ROWS_FOR_EACH_LEVEL * n_levels)
    )
    shuffled = 0
    if options[RANDOM_CUT] or options[MAX_CUTS] > 0:
        shuffled = choose_cuts(columns, options, chance, search, column, n_levels, single)
    # Missing cells in parts, then on one side, then alone: the first unless a later one gains more.
    rule = options[MISSING_RULE] if missing else _FRACTIONAL
    for way in range(1 if rule == _DIRECTION else 0, 1 if rule == _FRACTIONAL else 2):
        both_ways = way == 1
        place, missing_branch = 0.0, -1.0
        if n_levels < 2:
            break
        if shuffled or not nominal:
            bounds = (signs[column], facts[1], facts[2])
            gain, place, missing_branch = cut_numbers(
                sums, n_levels, both_ways, rules, search, tie, bounds
            )
            if shuffled and place >= 0.0:
                mark_head(levels, n_levels, int(place), branch[: n_codes[column]])
                if both_ways and branch[levels[0]] == 1:
                    missing_branch = 1.0 - missing_branch
        else:
            gain, missing_branch = divide_levels(
                sums, n_levels, single, both_ways, rules, search, tie
            )
        if place < 0.0 or gain < -0.5:
            continue
        if is_better(gain, column, tie, best_number[0], best_integer[0]):
            best_number[0] = gain
            best_integer[0] = column
            best_integer[1] = _SUBSET if nominal else _THRESHOLD
            best_integer[4] = int(missing_branch)
            if nominal:
                for code in range(n_codes[column]):
                    best_branch[code] = branch[code]
            else:
                at = int(place)
                best_integer[2] = levels[at]
                best_integer[3] = levels[at + 1] if at + 1 < n_levels else -1
    if rule == _AUTO:
        amount = weight_of(scratch[3], target_start, classes)
        if min(weight, amount) < limits[MIN_LEAF] or weight <= 0.0:
            return
        gain = (
            quality(scratch[3], target_start, criterion)
            + quality(scratch[4], target_start, criterion)
            - quality(scratch[5], target_start, criterion)
        )
        if is_better(gain, column, tie, best_number[0], best_integer[0]):
            best_number[0] = max(gain, 0.0)
            best_integer[0] = column
            best_integer[1] = _SUBSET if nominal else _THRESHOLD
            # Every code goes left, also one that no row of the node has.
            best_integer[2] = n_codes[column] - 1
            best_integer[3] = -1
            best_integer[4] = 1
            for code in range(n_codes[column]):
                best_branch[code] = 0


@inner_kernel()
def is_better(gain, column, tie, best_gain, best_column):
    """Whether a split replaces the best so far; of equals the lower column is better."""
    return gain > best_gain + tie or (gain >= best_gain - tie and column < best_column)


@inner_kernel()
def is_divided(sums, n_levels, rules, n_stats):
    """Whether the rows differ in a column: in their codes or, by gain, in having one at all."""
    target_start, options = rules[0], rules[1]
    if n_levels != 1 or options[MISSING_RULE] != _AUTO:
        return n_levels > 1
    at = options[MISSING_CODE] * n_stats
    return weight_of(sums[at : at + n_stats], target_start, options[CRITERION] <= ENTROPY) > 0.0


@inner_kernel()
def try_summed(sums, n_levels, column, columns, rules, chance, search, facts, best):
    """`try_column` if there is more than one code; clears the sums. Returns 1 if it was tried."""
    levels = search[0]
    n_stats = facts.size - 4
    levels[n_levels] = rules[1][MISSING_CODE]
    differs = is_divided(sums, n_levels, rules, n_stats)
    if differs:
        try_column(sums, n_levels, column, columns, rules, chance, search, facts, best)
    for i in range(n_levels + 1):
        at = levels[i] * n_stats
        for s in range(n_stats):
            sums[at + s] = 0.0
    return np.int64(differs)


@inner_kernel()
def try_quickly(
    table, entries, start, stop, column, columns, rules, work, search, sums, best, filled
):
    """As `try_column`, in one go, where `is_quick` holds; returns the number of codes."""
    options, n_codes = rules[1], columns[0][column]
    chance, heads, nexts, bits, facts = work[2], work[3], work[4], work[6], work[7]
    classes = options[CRITERION] <= ENTROPY
    entropy = options[CRITERION] == ENTROPY
    best_number, best_integer = best[0], best[1]
    tie, n_stats = facts[0], facts.size - 4
    limits = (rules[2][MIN_LEAF], tie)
    if n_stats > 2 or entropy:
        node = (facts[4:], facts[3])
        if filled:
            gain, code, next_code, count = cut_all_sums(
                sums, n_codes, entropy, node, limits, search[5]
            )
        else:
            lists = (heads, nexts, bits)
            gain, code, next_code, count = cut_few_rows(
                table, entries, start, stop, column, entropy, node, limits, lists, search[5]
            )
    else:
        known, moment = facts[4], facts[5]
        known += moment if classes else 0.0
        missing_at = 2 * options[MISSING_CODE]
        if filled:
            amount = sums[missing_at] + (sums[missing_at + 1] if classes else 0.0)
            if amount > 0.0 and options[MISSING_RULE] != _FRACTIONAL:
                count = occupied_by_scan(sums, n_codes, 2, search[0])
                return 1 + try_summed(
                    sums, count, column, columns, rules, chance, search, facts, best
                )
            known -= amount
            moment -= sums[missing_at + 1]
            sums[missing_at] = 0.0
            sums[missing_at + 1] = 0.0
            gain, code, next_code, count = cut_all_pairs(
                sums, n_codes, classes, (known, moment), limits
            )
        else:
            mark_pairs(table, entries, start, stop, column, classes, sums, bits)
            last = np.uint64(1) << np.uint64(63)
            if bits[3] & last != np.uint64(0) and options[MISSING_RULE] != _FRACTIONAL:
                count = marked_codes(bits, options[MISSING_CODE], search[0])
                return 1 + try_summed(
                    sums, count, column, columns, rules, chance, search, facts, best
                )
            if bits[3] & last != np.uint64(0):
                bits[3] ^= last
                known -= sums[missing_at] + (sums[missing_at + 1] if classes else 0.0)
                moment -= sums[missing_at + 1]
                sums[missing_at] = 0.0
                sums[missing_at + 1] = 0.0
            gain, code, next_code, count = cut_marked_pairs(
                sums, bits, classes, (known, moment), limits
            )
        if classes:
            gain *= 2.0
    if code >= 0 and is_better(gain, column, tie, best_number[0], best_integer[0]):
        best_number[0] = gain
        best_integer[0] = column
        best_integer[1] = _THRESHOLD
        best_integer[2] = code
        best_integer[3] = next_code
        best_integer[4] = -1
    return count


@inner_kernel()
def try_alone(table, entries, start, stop, column, columns, rules, work, search, best):
    """Sums the rows by one column and tries it. Returns 1 if it has more than one code."""
    codes, labels, targets = table
    options, levels = rules[1], search[0]
    chosen, chance, histograms, bits, facts = work[1], work[2], work[5], work[6], work[7]
    n_stats = facts.size - 4
    classes = options[CRITERION] <= ENTROPY
    missing = options[MISSING_CODE]
    if missing == NARROW and n_stats == 2 and labels.shape[1] + targets.shape[1] == 1:
        mark_pairs(table, entries, start, stop, column, classes, histograms[0], bits)
        n_levels = marked_codes(bits, missing, levels)
    else:
        chosen[0] = column
        fill(table, entries, start, stop, chosen, 1, n_stats, classes, histograms)
        node = (codes, entries[0], start, stop, column, missing, bits, levels)
        n_levels = occupied_by_bits(*node) if missing == NARROW else occupied_wide(*node)
    return try_summed(histograms[0], n_levels, column, columns, rules, chance, search, facts, best)


@inner_kernel()
def is_quick(table, rules, n_stats):
    """Whether numeric columns without bounds may be tried by `try_quickly`.

    Two classes or one target: any cells but missing ones that are tried on both sides. More
    classes: no missing cells.
    """
    options = rules[1]
    whole = not options[ANY_MISSING]
    if options[MISSING_CODE] != NARROW or options[RANDOM_CUT] or options[MAX_CUTS]:
        return False
    if n_stats == 2 and options[CRITERION] != ENTROPY:
        return True
    return whole and options[CRITERION] <= ENTROPY and table[1].shape[1] == 1


@inner_kernel()
def find_split(table, entries, start, stop, columns, rules, work, search, best):
    """The best split of the rows `start` to `stop`; returns the cells it looked at.

    A small node sums one column after the other; a large one all columns of a draw in one go.
    """
    n_codes, nominal, signs = columns[0], columns[1], columns[2]
    options = rules[1]
    permutation, chosen, chance, histograms, facts = work[0], work[1], work[2], work[5], work[7]
    n_columns, n_stats = n_codes.size, facts.size - 4
    wanted = options[MAX_FEATURES]
    classes = options[CRITERION] <= ENTROPY
    quick = is_quick(table, rules, n_stats)
    alone = stop - start < FEW_ROWS or options[MISSING_CODE] != NARROW
    best[0][0] = -1.0 - facts[0]
    best[1][0] = n_columns
    tried, drawn = 0, 0
    while drawn < n_columns and (tried < wanted or best[0][0] < 0.0):
        batch = min(max(wanted - tried, 1), n_columns - drawn, histograms.shape[0])
        for f in range(batch):
            if wanted < n_columns:
                other = drawn + draw(chance, n_columns - drawn)
                permutation[drawn], permutation[other] = permutation[other], permutation[drawn]
            chosen[f] = permutation[drawn]
            drawn += 1
        if not alone:
            fill(table, entries, start, stop, chosen, batch, n_stats, classes, histograms)
        for f in range(batch):
            column = permutation[drawn - batch + f]
            sums = histograms[0 if alone else f]
            node = (table, entries, start, stop, column, columns, rules, work, search)
            if quick and not nominal[column] and signs[column] == 0:
                tried += try_quickly(*node, sums, best, not alone) > 1
            elif alone:
                tried += try_alone(*node, best)
            else:
                count = occupied_by_scan(sums, n_codes[column], n_stats, search[0])
                tried += try_summed(
                    sums, count, column, columns, rules, chance, search, facts, best
                )
    return drawn * (stop - start)
