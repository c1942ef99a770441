"""Where the nodes of a drawing stand: a tidy tree in linear time.

Nodes of one depth stand on one line, parents above the middle of their children, subtrees of equal
shape are drawn equally, nothing overlaps and nothing can move closer without breaking this. Each
subtree is placed as near to its left neighbors as their outlines allow; the outlines are followed
by threads, from the bottom of the shorter one to where the longer one goes on, so that every node
is looked at a bounded number of times. Room that a wide subtree forces open is spread evenly over
the smaller ones between.

Children have higher numbers than their parents, so that counting the nodes down visits all below a
node before it, and no recursion limits the depth.

References
----------
Buchheim, Juenger, Leipert, "Improving Walker's Algorithm to Run in Linear Time", GD 2002.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from novum.numerics import Floats


def tidy_centers(children: Sequence[range], widths: Sequence[float], gap: float) -> Floats:
    """Horizontal centers of the nodes, so that the leftmost edge is at 0.

    Parameters
    ----------
    children : for each node the numbers of its children
        All higher than its own; node 0 is the root.
    widths : of the nodes
    gap : float
        Between neighbors.

    Examples
    --------
    >>> tidy_centers([range(1, 3), range(0), range(0)], [4.0, 2.0, 2.0], gap=1.0).tolist()
    [2.5, 1.0, 4.0]
    """
    walker = _Walker(children, np.asarray(widths, float), gap)
    for node in range(len(children) - 1, -1, -1):
        walker.place_children(node)
    centers = np.zeros(len(children))
    shift = np.zeros(len(children))
    centers[0] = walker.place[0]
    for node, below in enumerate(children):
        for child in below:
            # A node's own place is settled by its parent; `shift` moves all below it.
            shift[child] = shift[node] + walker.move[node]
            centers[child] = walker.place[child] + shift[child]
    return np.asarray(centers - (centers - walker.widths / 2).min())


class _Walker:
    """The state of the first walk; names follow the paper where it has one."""

    def __init__(self, children: Sequence[range], widths: Floats, gap: float) -> None:
        n = len(children)
        self.children = children
        self.widths = widths
        self.gap = gap
        self.place = [0.0] * n  # prelim: where the node stands among its siblings
        self.move = [0.0] * n  # mod: how far everything below it moves along
        self.thread = [-1] * n
        self.ancestor = list(range(n))
        self.change = [0.0] * n
        self.shift = [0.0] * n
        self.rank = [0] * n
        for below in children:
            for rank, child in enumerate(below):
                self.rank[child] = rank

    def place_children(self, node: int) -> None:
        """Places the subtrees of a node beside each other, and the node above them.

        The subtrees themselves are finished: each knows the middle of its own children, in
        `place`, as long as no left neighbor has moved it.
        """
        below = self.children[node]
        if not below:
            return
        nearest = below[0]
        for left, child in pairwise(below):
            middle = self.place[child]
            self.place[child] = self.place[left] + self._apart(left, child)
            self.move[child] = self.place[child] - middle
            nearest = self._apportion(child, left, below[0], nearest)
        self._execute_shifts(below)
        self.place[node] = (self.place[below[0]] + self.place[below[-1]]) / 2

    def _apart(self, left: int, right: int) -> float:
        return float((self.widths[left] + self.widths[right]) / 2 + self.gap)

    def _apportion(self, node: int, left: int, leftmost: int, nearest: int) -> int:
        """Moves the subtree of `node` right until it clears all to its left; the paper's names.

        Four walkers go down together: on the right and left outline of what is on the left
        (`inner_left`, `outer_left`) and on those of the subtree (`inner_right`, `outer_right`).
        """
        inner_right = outer_right = node
        inner_left, outer_left = left, leftmost
        s_inner_right = s_outer_right = self.move[node]
        s_inner_left, s_outer_left = self.move[left], self.move[leftmost]
        while self._right(inner_left) >= 0 and self._left(inner_right) >= 0:
            inner_left, inner_right = self._right(inner_left), self._left(inner_right)
            outer_left, outer_right = self._left(outer_left), self._right(outer_right)
            self.ancestor[outer_right] = node
            end = self.place[inner_left] + s_inner_left + self._apart(inner_left, inner_right)
            shift = end - (self.place[inner_right] + s_inner_right)
            if shift > 0:
                self._move_subtree(self._ancestor(inner_left, node, nearest), node, shift)
                s_inner_right += shift
                s_outer_right += shift
            s_inner_left += self.move[inner_left]
            s_inner_right += self.move[inner_right]
            s_outer_left += self.move[outer_left]
            s_outer_right += self.move[outer_right]
        if self._right(inner_left) >= 0 and self._right(outer_right) < 0:
            self.thread[outer_right] = self._right(inner_left)
            self.move[outer_right] += s_inner_left - s_outer_right
        if self._left(inner_right) >= 0 and self._left(outer_left) < 0:
            self.thread[outer_left] = self._left(inner_right)
            self.move[outer_left] += s_inner_right - s_outer_left
            nearest = node
        return nearest

    def _left(self, node: int) -> int:
        below = self.children[node]
        return below[0] if below else self.thread[node]

    def _right(self, node: int) -> int:
        below = self.children[node]
        return below[-1] if below else self.thread[node]

    def _ancestor(self, inner_left: int, node: int, nearest: int) -> int:
        ancestor = self.ancestor[inner_left]
        return ancestor if self._are_siblings(ancestor, node) else nearest

    def _are_siblings(self, one: int, other: int) -> bool:
        return one - self.rank[one] == other - self.rank[other] and one != other

    def _move_subtree(self, left: int, right: int, shift: float) -> None:
        between = self.rank[right] - self.rank[left]
        self.change[right] -= shift / between
        self.shift[right] += shift
        self.change[left] += shift / between
        self.place[right] += shift
        self.move[right] += shift

    def _execute_shifts(self, below: range) -> None:
        """Spreads the room between subtrees over the smaller ones in between."""
        shift = change = 0.0
        for child in reversed(below):
            self.place[child] += shift
            self.move[child] += shift
            change += self.change[child]
            shift += self.shift[child] + change
