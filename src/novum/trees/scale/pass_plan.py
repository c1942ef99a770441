"""What a pass over the chunks is asked to bring, within a budget of memory.

Every open node wants its sums by code ("histogram"), or only what a leaf needs ("facts"), or, where
it is small, its rows. A pass takes as many nodes as keep all that it holds within the budget:

    bytes = nodes with sums x cells x (3 + log2 chunks) + rows fetched x bytes of a row,

because a sum over n chunks holds up to 2 + log2 n partial sums, and one is being made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil, log2

import numpy as np

from novum.core.runtime import check_memory
from novum.numerics import Floats
from novum.trees.scale.frontier import Bootstrap, ChunkCoding, LevelStep
from novum.trees.scale.growing_tree import GrowingTree
from novum.trees.scale.level_statistics import LevelStatistics

# Bytes that the sums and rows of one pass may take.
BUDGET = 256 * 2**20
# Rows are fetched where that costs no more than this many times the node's sums: below a node
# there are more levels, each of which would have to be summed.
PREFERENCE = 8

HISTOGRAM, FACTS, ROWS = "histogram", "facts", "rows"


@dataclass(eq=False)
class OpenNode:
    """A node that waits for a pass.

    Attributes
    ----------
    tree, node : GrowingTree and number of the node in it
    path : int
        1 for the root, 2p and 2p + 1 for the children of p: what is drawn at a node depends on it.
    most_rows : int
        A bound of how many rows the node has.
    is_whole : bool
        No row is in the node in part.
    sums : array (n_stats,), as they follow from the parent; None at the root
    want : {"histogram", "facts", "rows"}
    facts_at, histogram_at, rows_at : int
        Where the pass brings what is wanted.
    """

    tree: GrowingTree
    node: int
    path: int
    most_rows: int
    is_whole: bool = True
    sums: Floats | None = None
    want: str = HISTOGRAM
    facts_at: int = -1
    histogram_at: int = -1
    rows_at: int = -1

    @property
    def depth(self) -> int:
        return self.tree.depth(self.node)


@dataclass(eq=False)
class Siblings:
    """Nodes that are asked about together: the two children of a split, or a root.

    Attributes
    ----------
    members : list of OpenNode
    gain : float
        Of the split.
    parent : LevelStatistics, optional
        Sums of the parent, where those of a child may be the difference to the other.
    derived : OpenNode, optional
        The child that is not asked about because of that.
    """

    members: list[OpenNode]
    gain: float = 0.0
    parent: LevelStatistics | None = None
    derived: OpenNode | None = field(default=None, init=False)

    @property
    def asked(self) -> list[OpenNode]:
        return [member for member in self.members if member is not self.derived]

    def derive(self, weights: Sequence[float]) -> None:
        """Takes the heavier child as a difference, if both want sums and the parent has them."""
        both = len(self.members) == 2 and all(m.want == HISTOGRAM for m in self.members)
        heavier = int(np.argmax(weights)) if both else 0
        self.derived = self.members[heavier] if both and self.parent is not None else None


@dataclass(frozen=True)
class PassBudget:
    """Bytes that a pass may hold, and what nodes and rows cost.

    Examples
    --------
    >>> PassBudget(limit=1000, node_bytes=300, row_bytes=10).holds_rows(100)
    True
    """

    limit: int
    node_bytes: int
    row_bytes: int

    @classmethod
    def of(cls, coding: ChunkCoding, n_chunks: int, limit: int) -> PassBudget:
        """The budget of a table in so many chunks."""
        held = 3 + ceil(log2(n_chunks + 1))
        n_columns, n_targets = coding.coding.n_codes.size, coding.target_start.size - 1
        code_bytes = n_columns * (1 if coding.coding.is_narrow else 4)
        # A row is held twice while parts are joined, and then in the lists of the engine.
        row_bytes = 2 * (code_bytes + 8 * n_targets + 12) + 40
        return cls(limit, 8 * coding.n_cells * held, row_bytes)

    def require_a_node(self) -> None:
        """Refuses a table of which the budget does not hold the sums of one node."""
        check_memory(
            self.node_bytes,
            "A pass over the chunks, which holds one node's sums by code,",
            "Give a smaller max_bins, leave out columns of many levels, or allow more memory.",
            self.limit,
        )

    def holds_rows(self, n_rows: int) -> bool:
        return n_rows * self.row_bytes <= self.limit

    def prefers_rows(self, n_rows: int) -> bool:
        """Whether the rows of a node are cheap enough to be fetched in place of its sums."""
        return self.holds_rows(n_rows) and (n_rows * self.row_bytes <= PREFERENCE * self.node_bytes)

    def bytes(self, unit: Siblings) -> int:
        """What a unit costs."""
        rows = sum(member.most_rows for member in unit.asked if member.want == ROWS)
        nodes = sum(member.want == HISTOGRAM for member in unit.asked)
        return rows * self.row_bytes + nodes * self.node_bytes

    def batch(self, units: list[Siblings]) -> tuple[list[Siblings], list[Siblings]]:
        """As many units as one pass holds, one at least, and the others."""
        total = 0
        for number, unit in enumerate(units):
            total += self.bytes(unit)
            if number and total > self.limit:
                return units[:number], units[number:]
        return units, []


def step_for(
    asked: Sequence[OpenNode], coding: ChunkCoding, bootstrap: Bootstrap | None
) -> LevelStep:
    """The step of a pass that brings what these nodes want."""
    counts = {HISTOGRAM: 0, FACTS: 0, ROWS: 0}
    trees = {member.tree.number: member.tree for member in asked}
    wants = {
        number: {
            name: np.full(tree.n_nodes, -1, np.int64)
            for name in ("histogram_of", "facts_of", "rows_of")
        }
        for number, tree in trees.items()
    }
    for member in asked:
        # Sums by code come with the facts of the node.
        for name in (FACTS, HISTOGRAM) if member.want == HISTOGRAM else (member.want,):
            wants[member.tree.number][f"{name}_of"][member.node] = counts[name]
            setattr(member, f"{name}_at", counts[name])
            counts[name] += 1
    fronts = tuple(trees[number].front(**wants[number]) for number in sorted(trees))
    return LevelStep(coding, fronts, counts[HISTOGRAM], counts[FACTS], bootstrap)
