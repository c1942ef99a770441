"""The best cut of a numeric column, and the best division of a nominal one, from summed codes.

Rows of `scratch`: 0 and 1 are free, 2 has zeros, 3 the sums of rows that are missing here, 4 those
of known rows, 5 those of all. With `both_ways` missing rows are tried on either side.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from novum.numerics.jit import lean_kernel
from novum.trees.growth.growing_columns import CRITERION, ENTROPY, MIN_LEAF, RULES, WORK
from novum.trees.growth.level_kernels import MOST_LISTED, divide_pairs, divide_sums
from novum.trees.growth.split_kernels import cut_pairs, cut_sums, quality


@lean_kernel(
    "UniTuple(float64, 3)(float64[::1], int64[::1], int64, int64, int64[::1], int64, boolean, "
    "float64[:, ::1], float64, float64, int64, float64, float64, boolean[::1])"
)
def cut_numbers(
    sums,
    levels,
    n_levels,
    n_stats,
    target_start,
    criterion,
    both_ways,
    scratch,
    min_leaf,
    tie,
    sign,
    lower,
    upper,
    closed,
):
    """Best threshold: (gain, place in `levels`, branch of missing cells).

    Rows of `scratch`: 0 and 1 free, 2 zeros, 3 sums of missing rows, 4 sums of known rows, 5 of
    all. With `both_ways` missing rows are tried on either side.
    """
    classes = criterion <= ENTROPY
    pairs = n_stats == 2 and criterion != ENTROPY
    best, place, branch = -1.0, -1.0, -1.0
    for way in range(2 if both_ways else 1):
        on_left = both_ways and way == 0
        begin = scratch[3] if on_left else scratch[2]
        whole = scratch[5] if both_ways else scratch[4]
        if pairs:
            gain, at = cut_pairs(
                sums,
                levels,
                n_levels,
                classes,
                begin[0] + begin[1] if classes else begin[0],
                begin[1],
                whole[0] + whole[1] if classes else whole[0],
                whole[1],
                min_leaf,
                tie,
                sign,
                lower,
                upper,
                closed,
            )
            gain *= 2.0 if classes and gain > 0.0 else 1.0
        else:
            base = quality(whole, n_stats, target_start, criterion)
            gain, at = cut_sums(
                sums,
                levels,
                n_levels,
                n_stats,
                target_start,
                criterion,
                begin,
                whole,
                base,
                min_leaf,
                tie,
                closed,
                scratch[0],
                scratch[1],
            )
        # Of equals the lowest threshold is taken, then missing cells on the left.
        if at >= 0.0 and (place < 0.0 or gain > best + tie or (gain >= best - tie and at < place)):
            best, place = gain, at
            branch = -1.0 if not both_ways else (0.0 if on_left else 1.0)
    return best, place, branch


@lean_kernel(
    f"UniTuple(float64, 2)(float64[::1], int64, boolean, boolean, {RULES}, {WORK}, float64, int64)"
)
def divide_levels(sums, n_levels, single, both_ways, rules, work, tie, n_stats):
    """Best division of the levels: (gain, branch of missing cells); `branch` has the sets.

    `scratch` is as in `cut_numbers`.
    """
    target_start, options, limits = rules
    levels, order, closed, key, scratch, branch = (
        work[2],
        work[3],
        work[4],
        work[5],
        work[6],
        work[7],
    )
    criterion = options[CRITERION]
    # Where missing rows go with a set, the best set need not be a head of the levels.
    listed = both_ways and n_levels <= MOST_LISTED
    best, missing_branch = -1.0, -1.0
    for way in range(2 if both_ways else 1):
        begin = scratch[3] if both_ways and way == 0 else scratch[2]
        whole = scratch[5] if both_ways else scratch[4]
        if n_stats == 2 and criterion != ENTROPY and not listed:
            gain, head = divide_pairs(
                sums,
                levels,
                n_levels,
                criterion <= ENTROPY,
                single,
                begin,
                whole,
                limits[MIN_LEAF],
                tie,
                best,
                closed,
                key,
                order,
                branch,
            )
        else:
            gain, head = divide_sums(
                sums,
                levels,
                n_levels,
                n_stats,
                target_start,
                criterion,
                single,
                begin,
                whole,
                limits[MIN_LEAF],
                tie,
                best,
                closed,
                key,
                order,
                scratch,
                branch,
            )
        if head >= 0.0:
            best = gain
            if both_ways:
                missing_branch = head if way == 0 else 1.0 - head
    return best, missing_branch
