"""A tree whose nodes are split one by one, from sums, and whose small subtrees are grafted on.

Nodes are kept in the arrays of the engine (`growing_columns`). When the tree is finished they are
numbered as the engine in memory numbers them: a node's two children are numbered when it is split,
and all below the left child comes before all below the right one. So the nodes below a grafted root
follow each other, in the order they already have.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from novum.numerics import Array, Floats, Integers
from novum.trees.growth import growing_columns as at
from novum.trees.growth.growing import GrownNodes
from novum.trees.scale.frontier import TreeFront
from novum.trees.tree import Question


@dataclass(frozen=True, eq=False)
class Split:
    """A question that was found best for a node.

    Attributes
    ----------
    question, column, code, next_code, missing_branch : int, as the engine numbers them
    branch : int8 array (n_levels,), of each level of a nominal column
    gain : float
    """

    question: int
    column: int
    code: int
    next_code: int
    missing_branch: int
    branch: NDArray[np.int8]
    gain: float


class GrowingTree:
    """The nodes of one tree.

    Parameters
    ----------
    number : int
        Of the tree in its forest.
    n_stats, n_levels : int
        Sums of a node, and the most levels of a nominal column.
    """

    def __init__(self, number: int, n_stats: int, n_levels: int) -> None:
        self.number, self.n_levels = number, max(n_levels, 1)
        self.n_nodes = 1
        self.integers = np.full((16, 12), -1, np.int64)
        self.numbers, self.sums = np.zeros((16, 6)), np.zeros((16, n_stats))
        self.branches: list[NDArray[np.int8]] = []
        self.grafts: dict[int, GrownNodes] = {}
        self.integers[0, [at.QUESTION, at.DEPTH]] = 0
        self.numbers[0] = [1.0, 0.0, 0.0, 0.0, -np.inf, np.inf]

    # Nodes

    def depth(self, node: int) -> int:
        return int(self.integers[node, at.DEPTH])

    def bounds(self, node: int) -> tuple[float, float]:
        """What the means of the node must stay within."""
        lower, upper = self.numbers[node, [at.LOWER, at.UPPER]].tolist()
        return lower, upper

    def set_facts(self, node: int, sums: Floats, weight: float, impurity: float, rows: int) -> None:
        self.sums[node] = sums
        self.numbers[node, [at.WEIGHT, at.IMPURITY]] = weight, impurity
        self.integers[node, at.ROWS] = rows

    def divide(self, node: int, split: Split, shares: tuple[float, float]) -> tuple[int, int]:
        """Splits a node; returns its children."""
        left = self.n_nodes
        self.n_nodes += 2
        if self.n_nodes > len(self.integers):
            self._double()
        self.integers[node, [at.QUESTION, at.COLUMN]] = split.question, split.column
        self.integers[node, [at.MISSING_BRANCH, at.CHILD]] = split.missing_branch, left
        self.numbers[node, at.GAIN] = split.gain
        if split.question == Question.THRESHOLD:
            self.integers[node, [at.CODE, at.NEXT_CODE]] = split.code, split.next_code
        else:
            self.integers[node, at.LEVEL_AT] = len(self.branches)
            self.branches.append(split.branch)
        for branch in range(2):
            child = left + branch
            self.integers[child] = -1
            self.integers[child, [at.QUESTION, at.PARENT]] = 0, node
            self.integers[child, at.DEPTH] = self.depth(node) + 1
            self.numbers[child] = self.numbers[node]
            self.numbers[child, [at.SHARE, at.GAIN]] = shares[branch], 0.0
        return left, left + 1

    def close(self, node: int) -> None:
        """Makes a node a leaf; what was below it is left out of the finished tree."""
        kept = self.integers[node, [at.PARENT, at.DEPTH, at.ROWS]].copy()
        self.integers[node] = -1
        self.integers[node, [at.PARENT, at.DEPTH, at.ROWS]] = kept
        self.integers[node, at.QUESTION] = 0
        self.numbers[node, at.GAIN] = 0.0

    def graft(self, node: int, grown: GrownNodes) -> None:
        """Puts a subtree that was grown in memory in the place of a node."""
        self.grafts[node] = grown

    def _double(self) -> None:
        def doubled(array: Array) -> Array:
            return np.concatenate([array, np.zeros_like(array)])

        self.integers, self.numbers = doubled(self.integers), doubled(self.numbers)
        self.sums = doubled(self.sums)

    # The whole

    def front(
        self,
        histogram_of: Integers,
        facts_of: Integers,
        rows_of: Integers,
    ) -> TreeFront:
        """The tree as chunks are sent down it, and where what its nodes want goes."""
        asked = [at.QUESTION, at.COLUMN, at.CODE, at.CHILD, at.MISSING_BRANCH, at.LEVEL_AT]
        nodes = np.ascontiguousarray(self.integers[: self.n_nodes, asked].T)
        share = self.numbers[: self.n_nodes, at.SHARE].copy()
        wants = (histogram_of, facts_of, rows_of)
        return TreeFront(self.number, nodes, share, self._branch_table(), *wants)

    def _branch_table(self) -> NDArray[np.int8]:
        table = np.full((len(self.branches) + 1, self.n_levels), -1, np.int8)
        for place, branch in enumerate(self.branches):
            table[place, : branch.size] = branch
        return table

    def finished(self) -> GrownNodes:
        """All nodes, grafted ones included, in the order of the engine in memory."""
        kept, place, first_below, size = self._order()
        integers, numbers = np.empty((size, 12), np.int64), np.empty((size, 6))
        sums = np.empty((size, self.sums.shape[1]))
        to = place[kept]
        integers[to], numbers[to], sums[to] = (
            self.integers[kept],
            self.numbers[kept],
            self.sums[kept],
        )
        for name in (at.CHILD, at.PARENT):
            links = integers[to, name]
            integers[to, name] = np.where(links >= 0, place[links], -1)
        tables = [self._branch_table()[:-1]]
        n_branches = len(self.branches)
        for node, grown in self.grafts.items():
            if node not in first_below:
                continue
            spots = np.concatenate(
                [[place[node]], first_below[node] + np.arange(len(grown.integers) - 1)]
            ).astype(np.int64)
            moved = grown.integers.copy()
            for name in (at.CHILD, at.PARENT):
                moved[:, name] = np.where(moved[:, name] >= 0, spots[moved[:, name]], -1)
            moved[:, at.LEVEL_AT] += np.where(moved[:, at.LEVEL_AT] >= 0, n_branches, 0)
            moved[:, at.DEPTH] += self.depth(node)
            moved[0, at.PARENT] = integers[place[node], at.PARENT]
            share = numbers[place[node], at.SHARE]
            integers[spots], numbers[spots], sums[spots] = moved, grown.numbers, grown.sums
            numbers[place[node], at.SHARE] = share
            table = np.full((len(grown.branches), self.n_levels), -1, np.int8)
            table[:, : grown.branches.shape[1]] = grown.branches
            tables.append(table)
            n_branches += len(table)
        return GrownNodes(integers, numbers, sums, np.concatenate(tables))

    def _order(self) -> tuple[Integers, Integers, dict[int, int], int]:
        """Nodes that remain, their new numbers, where grafted nodes begin, and how many in all."""
        place = np.full(self.n_nodes, -1, np.int64)
        place[0] = 0
        first_below: dict[int, int] = {}
        kept, pending, size = [], [0], 1
        while pending:
            node = pending.pop()
            kept.append(node)
            if node in self.grafts:
                first_below[node] = size
                size += len(self.grafts[node].integers) - 1
            elif self.integers[node, at.QUESTION] != Question.LEAF:
                left = int(self.integers[node, at.CHILD])
                place[left], place[left + 1] = size, size + 1
                size += 2
                pending += [left + 1, left]
        return np.array(kept, np.int64), place, first_below, size
