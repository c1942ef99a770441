"""A tree that can be changed: knots with their sons, and the training rows sent down anew.

Pruning rules that move subtrees work on knots and turn them into a `Tree` at the end. A nominal
node that asks for the level itself has one son for each level of its column here, also for those
that no row has, because a moved subtree may meet rows with other levels.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from novum.numerics import Array, Codes, Floats, Integers, Positions
from novum.trees.general.nominal_splits import scores_of
from novum.trees.tree import Question, Tree

# Places of rows, and the weight with which each is at a knot.
Rows = tuple[Positions, Floats]

TOLERANCE = 1e-6


@dataclass(eq=False)
class Knot:
    """A node and what hangs on it.

    Attributes
    ----------
    question, column, threshold, missing_branch
        As in `Tree`.
    branch : int32 array, the son of each level of a nominal question; None otherwise
    sons : list of Knot, empty in a leaf
    value : float64 array (n_classes,), weights of the training rows here
    rows : int, how many training rows are here
    share : float, of the known weight of the knot above
    impurity, gain : float
    """

    question: int
    column: int
    threshold: float
    missing_branch: int
    branch: Codes | None
    value: Floats
    rows: int
    share: float
    impurity: float
    gain: float
    sons: list[Knot] = field(default_factory=list)

    def become_leaf(self) -> None:
        """Forget the sons."""
        self.question, self.column, self.threshold = int(Question.LEAF), -1, np.nan
        self.missing_branch, self.branch, self.gain, self.sons = -1, None, 0.0, []

    def become(self, other: Knot) -> None:
        """Ask what the other asks, with its sons; rows and place stay."""
        self.question, self.column, self.threshold = other.question, other.column, other.threshold
        self.missing_branch, self.branch, self.sons = other.missing_branch, other.branch, other.sons


# --- From a tree and back -------------------------------------------------------------------------


def knots_of(tree: Tree) -> Knot:
    """The root of the tree as knots."""
    knots = [_knot(tree, node) for node in range(tree.n_nodes)]
    for node, knot in enumerate(knots):
        knot.sons = [knots[child] for child in tree.children(node)]
    for knot in knots:
        if knot.question == Question.MULTIWAY:
            _give_each_level_a_son(knot)
    return knots[0]


def _knot(tree: Tree, node: int) -> Knot:
    nominal = tree.question[node] in (Question.SUBSET, Question.MULTIWAY)
    empty = tree.weight[node] <= 0
    return Knot(
        int(tree.question[node]),
        int(tree.column[node]),
        float(tree.threshold[node]),
        int(tree.missing_branch[node]),
        tree.branches(node).copy() if nominal else None,
        np.zeros_like(tree.value[node]) if empty else tree.value[node].copy(),
        int(tree.rows[node]),
        float(tree.share[node]),
        float(tree.impurity[node]),
        float(tree.gain[node]),
    )


def _give_each_level_a_son(knot: Knot) -> None:
    """One son for each level in their order; levels without rows get an empty leaf each."""
    assert knot.branch is not None
    sons = []
    towards = -1
    for level, branch in enumerate(knot.branch):
        old = knot.sons[branch] if branch >= 0 else None
        if old is not None and old.rows > 0:
            if branch == knot.missing_branch:
                towards = level
            sons.append(old)
        else:
            sons.append(_empty_leaf(len(knot.value)))
    knot.branch = np.arange(len(sons), dtype=np.int32)
    if knot.missing_branch >= 0 and towards < 0:
        # Missing cells have a branch of their own, behind those of the levels.
        sons.append(knot.sons[knot.missing_branch])
        towards = len(sons) - 1
    knot.sons, knot.missing_branch = sons, towards


def _empty_leaf(n_classes: int) -> Knot:
    return Knot(int(Question.LEAF), -1, np.nan, -1, None, np.zeros(n_classes), 0, 0.0, 0.0, 0.0)


def tree_of(root: Knot, like: Tree) -> Tree:
    """The knots as a tree with the schema and classes of another."""
    knots, parents, first, answers = [root], [-1], [-1], [root.value]
    branches: list[Codes | None] = []
    # The list grows while it is read: every knot appends its sons side by side.
    for number, knot in enumerate(knots):
        sons, branch = _merged(knot)
        branches.append(branch)
        first[number] = len(knots) if sons else -1
        knots += sons
        parents += [number] * len(sons)
        first += [-1] * len(sons)
        answers += [son.value if son.rows else answers[number] for son in sons]
    n_children = np.bincount(np.array(parents[1:], np.int64), minlength=len(knots))
    sizes = np.array([0 if branch is None else len(branch) for branch in branches], np.int64)
    starts = np.where(sizes > 0, np.cumsum(sizes) - sizes, -1)
    nominal = [branch for branch in branches if branch is not None]
    return Tree(
        like.schema,
        like.classes,
        question=_integers([knot.question for knot in knots]),
        column=_integers([knot.column for knot in knots]),
        threshold=np.array([knot.threshold for knot in knots]),
        first_child=_integers(first),
        n_children=n_children.astype(np.int32),
        parent=_integers(parents),
        share=np.array([knot.share for knot in knots]),
        missing_branch=_integers([_merged_missing(knot) for knot in knots]),
        level_start=starts.astype(np.int32),
        level_branch=np.concatenate(nominal) if nominal else np.empty(0, np.int32),
        value=np.array(answers),
        weight=np.array([float(knot.value.sum()) for knot in knots]),
        rows=np.array([knot.rows for knot in knots], np.int64),
        impurity=np.array([knot.impurity for knot in knots]),
        gain=np.array([knot.gain for knot in knots]),
    )


def _merged(knot: Knot) -> tuple[list[Knot], Codes | None]:
    """The sons and branches of a knot; levels without rows share one empty leaf at the end."""
    if knot.question != Question.MULTIWAY or knot.branch is None:
        return knot.sons, knot.branch
    met = [son for son in knot.sons if son.rows]
    places = np.cumsum([son.rows > 0 for son in knot.sons]) - 1
    absent = np.array([son.rows == 0 for son in knot.sons])
    if not absent.any():
        return met, knot.branch
    empty = _empty_leaf(len(knot.value))
    empty.impurity = knot.impurity
    branch = np.where(absent, len(met), places)[: len(knot.branch)]
    return [*met, empty], branch.astype(np.int32)


def _merged_missing(knot: Knot) -> int:
    if knot.question != Question.MULTIWAY or knot.missing_branch < 0:
        return knot.missing_branch
    return sum(son.rows > 0 for son in knot.sons[: knot.missing_branch])


def _integers(values: list[int]) -> Codes:
    return np.array(values, np.int32)


# --- Rows sent down -------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Spread:
    """How rows go down knots.

    Attributes
    ----------
    columns : float64 array (n_columns, n), cells by column
    labels : int64 array (n,), codes of the rows' classes
    n_classes : int
    bits : bool
        Whether impurity is entropy; Gini otherwise.
    """

    columns: Floats
    labels: Integers
    n_classes: int
    bits: bool

    @classmethod
    def of(cls, tree: Tree, cells: Floats, labels: Array) -> Spread:
        n_classes = tree.value.shape[1]
        # A tree does not name its criterion, but the impurity of its root tells it.
        impurities = [_impurity(tree.value[0], bits) for bits in (True, False)]
        bits = abs(impurities[0] - tree.impurity[0]) <= abs(impurities[1] - tree.impurity[0])
        columns = np.ascontiguousarray(cells.T)
        return cls(columns, np.asarray(labels, np.int64), n_classes, bool(bits))

    def value(self, rows: Rows) -> Floats:
        """Weights of the classes."""
        counts = np.bincount(self.labels[rows[0]], rows[1], self.n_classes)
        return np.asarray(counts, np.float64)

    def answers(self, knot: Knot, rows: Rows) -> Integers:
        """The son to which each row goes; -1 where the cell does not answer."""
        cells = self.columns[knot.column, rows[0]]
        if knot.question == Question.THRESHOLD:
            answer = (cells > knot.threshold).astype(np.int64)
            answer[np.isnan(cells)] = -1
            return answer
        assert knot.branch is not None
        known = cells >= 0
        codes = np.where(known, cells, 0.0).astype(np.int64)
        return np.where(known, knot.branch[codes], -1).astype(np.int64)

    def divide(self, knot: Knot, rows: Rows, shares: Any = None) -> list[Rows]:
        """The rows of each son; rows without an answer go down all of them in parts.

        Without `shares` the sons get such rows by their weight among the rows that answer, and in
        equal parts where none does.
        """
        index, weight = rows
        answer = self.answers(knot, rows)
        lost = np.flatnonzero(answer < 0)
        sons = range(len(knot.sons))
        if not lost.size:
            return [(index[answer == son], weight[answer == son]) for son in sons]
        part = self._shares(knot, answer, weight) if shares is None else np.asarray(shares)
        gone, gone_weight = index[lost], weight[lost]
        if knot.missing_branch >= 0:
            stays = ~np.isnan(self.columns[knot.column, gone])
            toward = (np.arange(len(sons)) == knot.missing_branch)[:, np.newaxis]
            parts = np.where(stays, part[:, np.newaxis], toward) * gone_weight
        else:
            parts = part[:, np.newaxis] * gone_weight
        parts_of = []
        for son in sons:
            sent, kept = parts[son] > 0, answer == son
            rows_here = np.concatenate([index[kept], gone[sent]])
            parts_of.append((rows_here, np.concatenate([weight[kept], parts[son][sent]])))
        return parts_of

    def _shares(self, knot: Knot, answer: Integers, weight: Floats) -> Floats:
        known = answer >= 0
        weights = np.bincount(answer[known], weight[known], len(knot.sons))
        total = weights.sum()
        if total < TOLERANCE:
            return np.full(len(knot.sons), 1 / len(knot.sons))
        return np.asarray(weights / total)

    def leaf_values(self, knot: Knot, rows: Rows) -> list[Floats]:
        """Weights of the classes in each leaf below, if these rows were sent down."""
        values = []
        waiting = [(knot, rows)]
        while waiting:
            current, here = waiting.pop()
            if current.sons:
                waiting.extend(zip(current.sons, self.divide(current, here), strict=True))
            else:
                values.append(self.value(here))
        return values

    def refill(self, knot: Knot, rows: Rows) -> None:
        """Send the rows down and keep what they are at each knot."""
        waiting = [(knot, rows)]
        while waiting:
            current, here = waiting.pop()
            current.value, current.rows = self.value(here), len(here[0])
            current.impurity = _impurity(current.value, self.bits)
            if not current.sons:
                continue
            answer = self.answers(current, here)
            shares = self._shares(current, answer, here[1])
            parts = self.divide(current, here)
            for son, share in zip(current.sons, shares, strict=True):
                son.share = float(share)
            current.gain = self._gain(current, here, answer)
            waiting.extend(zip(current.sons, parts, strict=True))

    def _gain(self, knot: Knot, rows: Rows, answer: Integers) -> float:
        """Impurity times weight removed, over the rows that answer or go where missing cells go."""
        if knot.missing_branch >= 0:
            missing = np.isnan(self.columns[knot.column, rows[0]])
            answer = np.where(missing, knot.missing_branch, answer)
        known = answer >= 0
        table = np.zeros((len(knot.sons), self.n_classes))
        np.add.at(table, (answer[known], self.labels[rows[0][known]]), rows[1][known])
        node = table.sum(axis=0, keepdims=True)
        scores = scores_of(table, table.sum(axis=1), 1, self.bits)
        return max(float(scores.sum() - scores_of(node, node.sum(axis=1), 1, self.bits)[0]), 0.0)


def _impurity(value: Floats, bits: bool) -> float:
    weight = float(value.sum())
    if weight <= 0:
        return 0.0
    score = float(scores_of(value[np.newaxis], np.array([weight]), 1, bits)[0])
    return max((0.0 if bits else weight) - score, 0.0) / weight
