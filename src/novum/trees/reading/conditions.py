"""The cells that a branch accepts, as sets that can be intersected and united.

A path from the root to a node is a conjunction of answers. Answers about one column intersect to
one condition, so a path is a box with at most one condition for each column:

    numbers, ordinals    low < x <= high
    nominal columns      x in a set of levels

A branch that also takes missing cells has a condition that a missing cell meets. The leaves' boxes
are disjoint: no row that answers every question meets two of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from novum.core.tables import Column, Kind
from novum.numerics import Floats, Mask
from novum.trees.tree import Question, Tree


@dataclass(frozen=True)
class Interval:
    """Numbers, or codes of an ordinal column, with `low < x <= high`.

    Examples
    --------
    >>> Interval(high=5.0) & Interval(low=2.0)
    Interval(low=2.0, high=5.0, missing=False)
    """

    low: float = -math.inf
    high: float = math.inf
    missing: bool = False

    @property
    def has_values(self) -> bool:
        return self.low < self.high

    @property
    def is_everything(self) -> bool:
        """Whether every number meets it; a missing cell may still not."""
        return self.low == -math.inf and self.high == math.inf

    def __and__(self, other: Condition) -> Interval:
        assert isinstance(other, Interval)
        missing = self.missing and other.missing
        return Interval(max(self.low, other.low), min(self.high, other.high), missing)

    def united(self, other: Condition) -> Interval | None:
        """What meets either, where that is one interval."""
        assert isinstance(other, Interval)
        if max(self.low, other.low) > min(self.high, other.high):
            return None
        missing = self.missing or other.missing
        return Interval(min(self.low, other.low), max(self.high, other.high), missing)

    def holds(self, x: Floats) -> Mask:
        inside = ((x > self.low) | (self.low == -math.inf)) & (x <= self.high)
        return np.asarray(inside | (np.isnan(x) & self.missing))

    def distance(self, x: float) -> float:
        """From a number to the nearest one that meets the condition; 0 for missing cells."""
        return max(self.low - x, x - self.high, 0.0) if x == x else 0.0


@dataclass(frozen=True)
class LevelSet:
    """Cells of a nominal column whose level is one of these.

    Attributes
    ----------
    codes : tuple of int, rising
    n_levels : int
        Levels of the column.

    Examples
    --------
    >>> LevelSet((0, 2), 3) & LevelSet((1, 2), 3)
    LevelSet(codes=(2,), n_levels=3, missing=False)
    """

    codes: tuple[int, ...]
    n_levels: int
    missing: bool = False

    @property
    def has_values(self) -> bool:
        return bool(self.codes)

    @property
    def is_everything(self) -> bool:
        """Whether every known level meets it; a missing cell may still not."""
        return len(self.codes) == self.n_levels

    def __and__(self, other: Condition) -> LevelSet:
        assert isinstance(other, LevelSet)
        kept = tuple(code for code in self.codes if code in set(other.codes))
        return LevelSet(kept, self.n_levels, self.missing and other.missing)

    def united(self, other: Condition) -> LevelSet:
        assert isinstance(other, LevelSet)
        codes = tuple(sorted({*self.codes, *other.codes}))
        return LevelSet(codes, self.n_levels, self.missing or other.missing)

    def holds(self, x: Floats) -> Mask:
        return np.asarray(np.isin(x, self.codes) | (np.isnan(x) & self.missing))

    def distance(self, x: float) -> float:
        """0 where the level meets the condition, else 1: levels without order are equally far."""
        return float(x == x and x not in self.codes)


Condition = Interval | LevelSet
Box = Mapping[int, Condition]


def can_be_met(condition: Condition) -> bool:
    """Whether any cell meets it."""
    return condition.has_values or condition.missing


def known(condition: Condition) -> Condition:
    """The same condition on known cells alone."""
    return replace(condition, missing=False)


# --- Branches and paths ---------------------------------------------------------------------------


def branch_condition(tree: Tree, node: int, branch: int) -> Condition:
    """What a cell of the node's column must be to go down the branch."""
    column = tree.schema.columns[int(tree.column[node])]
    missing = int(tree.missing_branch[node]) == branch
    if tree.question[node] == Question.THRESHOLD:
        threshold = whole_code(column, float(tree.threshold[node]))
        return (
            Interval(high=threshold, missing=missing)
            if branch == 0
            else Interval(low=threshold, missing=missing)
        )
    codes = np.flatnonzero(tree.branches(node) == branch)
    return LevelSet(tuple(map(int, codes)), column.n_levels, missing)


def whole_code(column: Column, threshold: float) -> float:
    """The threshold, for an ordinal column as the last code at or below it.

    Codes are whole numbers, so `x <= 1.5` and `x <= 1` mean the same; past the ends a threshold
    does not bound at all.
    """
    if column.kind is not Kind.ORDINAL:
        return threshold
    code = math.floor(min(max(threshold, -1.0), float(column.n_levels)))
    if code < 0:
        return -math.inf
    return math.inf if code >= column.n_levels - 1 else float(code)


def path_to(tree: Tree, node: int) -> list[int]:
    """The nodes from the root to `node`, both included."""
    path = [node]
    while path[-1]:
        path.append(int(tree.parent[path[-1]]))
    return path[::-1]


def path_box(tree: Tree, node: int) -> dict[int, Condition]:
    """The conditions on the way to a node, one for each column, in the order they are asked."""
    box: dict[int, Condition] = {}
    path = path_to(tree, node)
    for above, below in pairwise(path):
        condition = branch_condition(tree, above, below - int(tree.first_child[above]))
        column = int(tree.column[above])
        box[column] = box[column] & condition if column in box else condition
    return box


def holds_for(box: Box, cells: Floats) -> Mask:
    """Which rows of `cells` meet every condition."""
    met = np.ones(len(cells), bool)
    for column, condition in box.items():
        met &= condition.holds(cells[:, column])
    return met


def reachable_leaves(tree: Tree, box: Box) -> list[int]:
    """Leaves that some row of the box can reach, in whole or in part."""
    leaves = []
    pending = [0]
    while pending:
        node = pending.pop()
        if tree.is_leaf(node):
            leaves.append(node)
            continue
        within = box.get(int(tree.column[node]))
        for branch, child in enumerate(tree.children(node)):
            if within is None or _may_pass(tree, node, branch, within):
                pending.append(child)
    return sorted(leaves)


def _may_pass(tree: Tree, node: int, branch: int, within: Condition) -> bool:
    common = within & branch_condition(tree, node, branch)
    if can_be_met(common):
        return True
    # A cell without an answer goes down every branch: a missing one where no branch takes those,
    # and a level that has no branch here.
    if within.missing and tree.missing_branch[node] < 0:
        return True
    if isinstance(within, LevelSet):
        return bool((tree.branches(node)[list(within.codes)] < 0).any())
    return False
