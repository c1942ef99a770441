"""The best split of one node: which column, and where it is cut.

Columns are drawn without replacement until `max_features` of them that differ among the rows have
been tried, and until one of them splits. Results go into `best_number` (the gain), `best_integer`
(column, question, code, next code, missing branch) and `best_branch` (branch of each level).
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from novum.numerics.jit import lean_kernel
from novum.trees.growth.chance_kernels import choose_cuts, draw
from novum.trees.growth.growing_columns import (
    ANY_MISSING,
    AUTO,
    BEST,
    BY_GAIN,
    COLUMNS,
    CRITERION,
    DIRECTION,
    ENTRIES,
    ENTROPY,
    FRACTIONAL,
    MAX_CUTS,
    MAX_FEATURES,
    MIN_LEAF,
    MISSING_CODE,
    MISSING_RULE,
    NOMINAL_RULE,
    RANDOM_CUT,
    RULES,
    SINGLE,
    TABLE,
    WORK,
)
from novum.trees.growth.histogram_kernels import (
    fill,
    marked_codes,
    occupied_by_bits,
    occupied_by_scan,
    occupied_wide,
)
from novum.trees.growth.level_kernels import mark_head
from novum.trees.growth.quick_kernels import (
    cut_all_pairs,
    cut_all_sums,
    cut_few_rows,
    cut_marked_pairs,
    mark_pairs,
)
from novum.trees.growth.search_kernels import cut_numbers, divide_levels
from novum.trees.growth.split_kernels import quality, weight_of

# Nodes with fewer rows than this mark the codes they touch.
FEW_ROWS = 400
# Rows for each level from which a node may divide levels into sets ("auto").
ROWS_FOR_EACH_LEVEL = 50
# The code of missing cells where codes are bytes.
NARROW = 255

_THRESHOLD = 1
_SUBSET = 2


@lean_kernel(f"void(float64[::1], int64, int64, {COLUMNS}, {RULES}, {WORK}, float64[::1], {BEST})")
def try_column(sums, n_levels, column, columns, rules, work, facts, best):
    """Replaces the best split so far by the best of this column, if that is better.

    `facts` of the node: differences that count as ties, lower and upper bound of means, weight,
    then the sums of its rows.
    """
    n_codes, nominal, signs = columns[0], columns[1][column], columns[2]
    target_start, options, limits = rules
    levels, closed, scratch, branch = work[2], work[4], work[6], work[7]
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
        shuffled = choose_cuts(columns, rules, work, column, n_levels, single)
    # Missing cells in parts, then on one side, then alone: the first unless a later one gains more.
    rule = options[MISSING_RULE] if missing else FRACTIONAL
    for way in range(1 if rule == DIRECTION else 0, 1 if rule == FRACTIONAL else 2):
        both_ways = way == 1
        place, missing_branch = 0.0, -1.0
        if n_levels < 2:
            break
        if shuffled or not nominal:
            gain, place, missing_branch = cut_numbers(
                sums,
                levels,
                n_levels,
                n_stats,
                target_start,
                criterion,
                both_ways,
                scratch,
                limits[MIN_LEAF],
                tie,
                signs[column],
                facts[1],
                facts[2],
                closed,
            )
            if shuffled and place >= 0.0:
                mark_head(levels, n_levels, int(place), branch[: n_codes[column]])
                if both_ways and branch[levels[0]] == 1:
                    missing_branch = 1.0 - missing_branch
        else:
            gain, missing_branch = divide_levels(
                sums, n_levels, single, both_ways, rules, work, tie, n_stats
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
    if rule == BY_GAIN:
        amount = weight_of(scratch[3], target_start, classes)
        if min(weight, amount) < limits[MIN_LEAF] or weight <= 0.0:
            return
        gain = (
            quality(scratch[3], n_stats, target_start, criterion)
            + quality(scratch[4], n_stats, target_start, criterion)
            - quality(scratch[5], n_stats, target_start, criterion)
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


@lean_kernel("boolean(float64, int64, float64, float64, int64)")
def is_better(gain, column, tie, best_gain, best_column):
    """Whether a split replaces the best so far; of equals the lower column is better."""
    return gain > best_gain + tie or (gain >= best_gain - tie and column < best_column)


@lean_kernel(f"boolean(float64[::1], int64, {RULES}, int64)")
def is_divided(sums, n_levels, rules, n_stats):
    """Whether the rows differ in a column: in their codes or, by gain, in having one at all."""
    target_start, options = rules[0], rules[1]
    if n_levels != 1 or options[MISSING_RULE] != BY_GAIN:
        return n_levels > 1
    at = options[MISSING_CODE] * n_stats
    return weight_of(sums[at : at + n_stats], target_start, options[CRITERION] <= ENTROPY) > 0.0


@lean_kernel(f"int64(float64[::1], int64, int64, {COLUMNS}, {RULES}, {WORK}, float64[::1], {BEST})")
def try_summed(sums, n_levels, column, columns, rules, work, facts, best):
    """`try_column` if there is more than one code; clears the sums. Returns 1 if it was tried."""
    levels = work[2]
    n_stats = facts.size - 4
    levels[n_levels] = rules[1][MISSING_CODE]
    differs = is_divided(sums, n_levels, rules, n_stats)
    if differs:
        try_column(sums, n_levels, column, columns, rules, work, facts, best)
    for i in range(n_levels + 1):
        at = levels[i] * n_stats
        for s in range(n_stats):
            sums[at + s] = 0.0
    return np.int64(differs)


@lean_kernel(
    f"int64({TABLE}, {ENTRIES}, int64, int64, int64, {COLUMNS}, {RULES}, {WORK}, float64[::1], "
    f"uint64[::1], float64[::1], {BEST}, boolean)"
)
def try_quickly(
    table, entries, start, stop, column, columns, rules, work, sums, bits, facts, best, filled
):
    """As `try_column`, in one go, where `is_quick` holds; returns the number of codes."""
    codes, labels, targets = table
    rows, weight = entries
    options, limits = rules[1], rules[2]
    classes = options[CRITERION] <= ENTROPY
    best_number, best_integer = best[0], best[1]
    tie, min_leaf = facts[0], limits[MIN_LEAF]
    n_stats = facts.size - 4
    entropy = options[CRITERION] == ENTROPY
    if (n_stats > 2 or entropy) and filled:
        gain, code, next_code, count = cut_all_sums(
            sums, columns[0][column], entropy, facts[4:], facts[3], min_leaf, tie, work[6]
        )
    elif n_stats > 2 or entropy:
        gain, code, next_code, count = cut_few_rows(
            codes,
            labels,
            rows,
            weight,
            start,
            stop,
            column,
            entropy,
            facts[4:],
            facts[3],
            min_leaf,
            tie,
            work[6],
            work[9],
            work[10],
            bits,
        )
    else:
        known, moment = facts[4], facts[5]
        known += moment if classes else 0.0
        missing_at = 2 * options[MISSING_CODE]
        if filled:
            amount = sums[missing_at] + (sums[missing_at + 1] if classes else 0.0)
            if amount > 0.0 and options[MISSING_RULE] != FRACTIONAL:
                count = occupied_by_scan(sums, columns[0][column], 2, work[2])
                return 1 + try_summed(sums, count, column, columns, rules, work, facts, best)
            known -= amount
            moment -= sums[missing_at + 1]
            sums[missing_at] = 0.0
            sums[missing_at + 1] = 0.0
            gain, code, next_code, count = cut_all_pairs(
                sums, columns[0][column], classes, known, moment, min_leaf, tie
            )
        else:
            mark_pairs(
                codes, labels, targets, rows, weight, start, stop, column, classes, sums, bits
            )
            last = np.uint64(1) << np.uint64(63)
            if bits[3] & last != np.uint64(0) and options[MISSING_RULE] != FRACTIONAL:
                count = marked_codes(bits, options[MISSING_CODE], work[2])
                return 1 + try_summed(sums, count, column, columns, rules, work, facts, best)
            if bits[3] & last != np.uint64(0):
                bits[3] ^= last
                known -= sums[missing_at] + (sums[missing_at + 1] if classes else 0.0)
                moment -= sums[missing_at + 1]
                sums[missing_at] = 0.0
                sums[missing_at + 1] = 0.0
            gain, code, next_code, count = cut_marked_pairs(
                sums, bits, classes, known, moment, min_leaf, tie
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


@lean_kernel(
    f"int64({TABLE}, {ENTRIES}, int64, int64, int64, {COLUMNS}, {RULES}, {WORK}, "
    f"float64[:, ::1], uint64[::1], float64[::1], {BEST})"
)
def try_alone(
    table, entries, start, stop, column, columns, rules, work, histograms, bits, facts, best
):
    """Sums the rows by one column and tries it. Returns 1 if it has more than one code."""
    codes, labels, targets = table
    rows, weight = entries
    options, chosen, levels = rules[1], work[1], work[2]
    n_stats = facts.size - 4
    classes = options[CRITERION] <= ENTROPY
    missing = options[MISSING_CODE]
    if missing == NARROW and n_stats == 2 and labels.shape[1] + targets.shape[1] == 1:
        mark_pairs(
            codes, labels, targets, rows, weight, start, stop, column, classes, histograms[0], bits
        )
        n_levels = marked_codes(bits, missing, levels)
    else:
        chosen[0] = column
        fill(
            codes,
            labels,
            targets,
            rows,
            weight,
            start,
            stop,
            chosen,
            1,
            n_stats,
            classes,
            histograms,
        )
        if missing == NARROW:
            n_levels = occupied_by_bits(codes, rows, start, stop, column, missing, bits, levels)
        else:
            n_levels = occupied_wide(codes, rows, start, stop, column, missing, bits, levels)
    return try_summed(histograms[0], n_levels, column, columns, rules, work, facts, best)


@lean_kernel(f"boolean({TABLE}, {RULES}, int64)")
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


@lean_kernel(
    f"int64({TABLE}, {ENTRIES}, int64, int64, {COLUMNS}, {RULES}, {WORK}, float64[:, ::1], "
    f"uint64[::1], float64[::1], {BEST})"
)
def find_split(table, entries, start, stop, columns, rules, work, histograms, bits, facts, best):
    """The best split of the rows `start` to `stop`; returns the cells it looked at.

    A small node sums one column after the other; a large one all columns of a draw in one go.
    """
    codes, labels, targets = table
    rows, weight = entries
    n_codes, nominal, signs = columns[0], columns[1], columns[2]
    options = rules[1]
    permutation, chosen, levels, chance = work[0], work[1], work[2], work[8]
    n_columns, n_stats = n_codes.size, facts.size - 4
    wanted = options[MAX_FEATURES]
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
            fill(
                codes,
                labels,
                targets,
                rows,
                weight,
                start,
                stop,
                chosen,
                batch,
                n_stats,
                options[CRITERION] <= ENTROPY,
                histograms,
            )
        for f in range(batch):
            column = permutation[drawn - batch + f]
            sums = histograms[0 if alone else f]
            if quick and not nominal[column] and signs[column] == 0:
                count = try_quickly(
                    table,
                    entries,
                    start,
                    stop,
                    column,
                    columns,
                    rules,
                    work,
                    sums,
                    bits,
                    facts,
                    best,
                    not alone,
                )
                tried += count > 1
            elif alone:
                tried += try_alone(
                    table,
                    entries,
                    start,
                    stop,
                    column,
                    columns,
                    rules,
                    work,
                    histograms,
                    bits,
                    facts,
                    best,
                )
            else:
                n_levels = occupied_by_scan(sums, n_codes[column], n_stats, levels)
                tried += try_summed(sums, n_levels, column, columns, rules, work, facts, best)
    return drawn * (stop - start)
