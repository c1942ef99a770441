"""Best-first growth on sums: the split that gains most is made first, up to a number of leaves.

A split can be made once the splits of its two children are known. One pass looks ahead: it finds
those of the children of all splits that may still be made, at most as many as leaves are left.
So a tree of L leaves takes between log2(L) and L passes, usually few.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from itertools import count
from typing import TYPE_CHECKING

from novum.trees.growth import growing_columns as at
from novum.trees.scale.growing_tree import GrowingTree
from novum.trees.scale.pass_plan import Siblings

if TYPE_CHECKING:
    from novum.trees.scale.level_growing import LevelGrowing


def grow_best_first(
    growing: LevelGrowing, trees: Sequence[GrowingTree], units: Sequence[Siblings], max_leaves: int
) -> None:
    """Makes the best splits of all trees, of which `units` are those of the roots."""
    queues = {tree.number: BestSplits(tree, max_leaves) for tree in trees}
    for unit in units:
        queues[_tree(unit).number].push([unit])
    while True:
        wanted = [unit for queue in queues.values() for unit in queue.advance()]
        if not wanted:
            break
        found = growing.ask(wanted)
        for unit in wanted:
            below = {member.node for member in unit.members}
            tree = _tree(unit)
            queues[tree.number].known[id(unit)] = [
                child for child in found if _tree(child) is tree and _parent(child) in below
            ]
    for queue in queues.values():
        queue.close()


class BestSplits:
    """The splits of one tree that are found and not made.

    Parameters
    ----------
    tree : GrowingTree
    max_leaves : int
    """

    def __init__(self, tree: GrowingTree, max_leaves: int) -> None:
        self.tree, self.left = tree, max_leaves - 1
        self.known: dict[int, list[Siblings]] = {}
        self._queue: list[tuple[float, int, Siblings]] = []
        self._order = count()

    def push(self, units: Sequence[Siblings]) -> None:
        """Adds splits that can be made; of equal gains the earlier comes first."""
        for unit in units:
            heapq.heappush(self._queue, (-unit.gain, next(self._order), unit))

    def advance(self) -> list[Siblings]:
        """Makes splits while their children are known; returns those that must be looked at."""
        while self.left > 0 and self._queue:
            unit = self._queue[0][2]
            if id(unit) not in self.known:
                best = heapq.nsmallest(self.left, self._queue)
                return [unit for _, _, unit in best if id(unit) not in self.known]
            heapq.heappop(self._queue)
            self.left -= 1
            self.push(self.known[id(unit)])
        return []

    def close(self) -> None:
        """Makes leaves of the nodes whose split was not made."""
        for _, _, unit in self._queue:
            self.tree.close(_parent(unit))


def _tree(unit: Siblings) -> GrowingTree:
    return unit.members[0].tree


def _parent(unit: Siblings) -> int:
    """The node whose children these are."""
    member = unit.members[0]
    return int(member.tree.integers[member.node, at.PARENT])
