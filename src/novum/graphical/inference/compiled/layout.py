"""Places in a program: a flat array of integers that kernels read.

    header | load records | cliques from the roots down: loops, operations, projections

An operation's outer strides follow its fields, one for each outer axis of the clique.
"""

from __future__ import annotations

# Header
N_CLIQUES = 0
N_VALUES = 1
N_BARS = 2
N_BUFFER = 3
N_RECORDS = 4
RECORDS_AT = 5
CLIQUES_AT = 6
N_SOFT = 7
SOFT_AT = 8
N_ONES = 9
ONES_AT = 10
N_LOCAL = 11
LOCAL_AT = 12
ROOT_MESSAGE = 13
N_CODE = 14
N_MAPS = 15
MOST_AXES = 16
MOST_OPS = 17
HEADER = 18

# A clique
NUMBER = 0
N_AXES = 1
N_OUTER = 2
N_OPS = 3
N_PROJECTIONS = 4
GROUPS = 5
BLOCKS = 6
MESSAGE = 7
MESSAGE_BAR = 8
MESSAGE_SIZE = 9
NEEDED = 10
FIRST_BARRED = 11
BAR_FROM = 12
BAR_TO = 13
AXES = 14
OUTER = 15
OPS = 16
PROJECTIONS = 17
IS_ROOT = 18
INCOMING = 19
COUNTED = 20
IS_LEAF = 21
CLIQUE_FIELDS = 22

# An operation
OP_VALUE = 0
OP_BAR = 1
OP_LANES = 2
IS_EXPANSION = 3
ROWS = 4
REPEATS = 5
RUN = 6
MAP_AT = 7
SOURCE = 8
TARGET = 9
OP_FIELDS = 10

# A projection of value times bar of an item, to a message or an answer
FROM_VALUE = 0
FROM_BAR = 1
TO = 2
TO_SIZE = 3
PROJECTED_AXES = 4
PROJECTION_FIELDS = 5

# A load record: cells of a factor at what is observed
LOAD_TO = 0
LOAD_FROM = 1
N_OBSERVED = 2
N_FREE = 3
LOAD_FACTOR = 4
LOAD_FIELDS = 5

# What a program computes
JOINT = 0
MARGINALS = 1
MAXIMUM = 2

# How much of the model a question keeps
EVERYTHING = 0
ANCESTORS = 1
CONNECTED = 2

# Prices of a plan
PRICE_CELLS = 0
PRICE_LARGEST = 1
PRICE_WIDTH = 2
PRICE_BYTES = 3
PRICE_CUT_OFF = 4
N_PRICES = 5
