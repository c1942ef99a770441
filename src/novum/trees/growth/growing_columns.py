"""Names of the columns and places of the arrays that the growing kernels share, and their types."""

from __future__ import annotations

from enum import IntEnum

# Columns of `integers`, one row for each node
(
    QUESTION,
    COLUMN,
    CODE,
    NEXT_CODE,
    CHILD,
    PARENT,
    MISSING_BRANCH,
    LEVEL_AT,
    DEPTH,
    START,
    STOP,
    ROWS,
) = range(12)

# Columns of `numbers`, one row for each node
SHARE, WEIGHT, IMPURITY, GAIN, LOWER, UPPER = range(6)

# Places of `state`: what a kernel that is called again goes on from
WAITING, NODES, ARENA, LEVELS, LOCAL_AT, LEAVES, STATUS = range(7)

# Values of `state[STATUS]`
DONE, SLICED, NEEDS_ENTRIES, NEEDS_NODES = range(4)

# Places of `options`
(
    CRITERION,
    MAX_DEPTH,
    MAX_FEATURES,
    NOMINAL_RULE,
    MISSING_RULE,
    RANDOM_CUT,
    MAX_CUTS,
    MAX_LEAVES,
    MISSING_CODE,
    ANY_MISSING,
) = range(10)
GINI, ENTROPY, SQUARED_ERROR = range(3)
SETS, SINGLE, AUTO = range(3)


class MissingRule(IntEnum):
    """What a node does with rows whose cell is missing, as kernels know it."""

    FRACTIONAL = 0
    DIRECTION = 1
    AUTO = 2


# Places of `limits`
MIN_SPLIT, MIN_LEAF, MIN_GAIN = range(3)

# Tuples of arrays that kernels hand on, and the types of their parts.
# codes, class labels, numeric targets
TABLE = "Tuple((uint8[:, ::1], int32[:, ::1], float64[:, ::1]))"
# rows, weights
ENTRIES = "Tuple((int32[::1], float64[::1]))"
# n_codes, nominal, signs (of monotone columns), low and high of every code; for random cuts high of
# all codes up to it
COLUMNS = "Tuple((int64[::1], boolean[::1], int64[::1], float64[:, ::1], float64[:, ::1]))"
# target_start, options, limits
RULES = "Tuple((int64[::1], int64[::1], float64[::1]))"
# permutation, chosen, chance, heads, nexts, histograms, bits, facts
WORK = (
    "Tuple((int64[::1], int64[::1], uint64[::1], int32[::1], int32[::1], float64[:, ::1], "
    "uint64[::1], float64[::1]))"
)
# levels, order, closed, key, branch, scratch
SEARCH = "Tuple((int64[::1], int64[::1], boolean[::1], float64[::1], int8[::1], float64[:, ::1]))"
# best_number, best_integer, best_branch
BEST = "Tuple((float64[::1], int64[::1], int8[::1]))"
# integers, numbers, sums, level_branch: one row for each node, or nominal split
NODES_OF_TREE = "Tuple((int64[:, ::1], float64[:, ::1], float64[:, ::1], int8[:, ::1]))"
# rows, weights, two numbers
SPARE = "Tuple((int32[:, ::1], float64[:, ::1], float64[::1]))"
# Arguments of the kernels that grow trees: copies of few rows, then as above; the stack of nodes
# that wait, the state, and the cells that may be read before the kernel returns.
GROWING = (
    f"{TABLE}, {TABLE}, {ENTRIES}, {COLUMNS}, {RULES}, {WORK}, {SEARCH}, {BEST}, {SPARE}, "
    f"{NODES_OF_TREE}, int64[::1], int64[::1], int64"
)
