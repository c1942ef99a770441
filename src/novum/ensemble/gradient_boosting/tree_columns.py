"""What the columns of the arrays mean that `tree_kernels` works on."""

from __future__ import annotations

# Integers of a node.
START, STOP, DEPTH, SLOT, QUESTION, COLUMN, CODE, MISSING, CHILD, GROUPS, WORD, AMOUNT = range(12)
# Numbers of a node.
GAIN, LOWER, UPPER = range(3)
# Integers that hold for a tree.
LOW_BITS, MAX_LEAVES, MAX_DEPTH, MIN_AMOUNT, MIN_CURVATURE, N_TRIED = range(6)
# Numbers that hold for a tree.
G_UNIT, H_UNIT, PENALTY, LEVEL_PENALTY, SHRINKAGE, MIN_GAIN, FULL_CURVATURE = range(7)
# The best split of a node: integers, and numbers.
SPLIT_QUESTION, SPLIT_COLUMN, SPLIT_CODE, SPLIT_MISSING, SPLIT_WORD, SPLIT_AMOUNT = range(6)
