"""Whole trees by the definitions: growth, the way of one row, importances.

A node becomes a leaf when its targets are all equal, when a limit forbids its split or when no
split is left; a split that gains nothing is taken all the same (two columns that are worthless
alone can decide together). With fractional missing cells an entry (row, weight) whose cell is
missing goes down every branch b with weight times

    share_b = known weight of branch b / known weight of the node.

With a limit of leaves the node whose split gains most is split next, of ties the one made first; a
split that would make more leaves than allowed is none.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from novum.numerics import Codes, Floats
from novum.trees.tree import Question, Tree
from tests.trees.definitions import (
    TIE,
    Entries,
    Split,
    TrainingTable,
    best_split,
    branch_entries,
    class_masses,
    node_impurity,
    weight_of,
    weighted_impurity,
    weighted_mean,
    weighted_median,
)


@dataclass(frozen=True)
class GrowthRules:
    """How a tree is grown.

    Attributes
    ----------
    criterion : {"gini", "entropy", "squared_error", "absolute_error"}
    nominal : {"subset", "single", "multiway"}
    missing : {"fractional", "direction", "auto"}
    max_depth : int, optional
    min_samples_split : float
        A lighter node is a leaf.
    min_samples_leaf : float
        A split with a branch that has less weight of known cells is none.
    min_impurity_decrease : float
        A split that gains less, per unit of the root's weight, is none.
    max_leaf_nodes : int, optional
    """

    criterion: str = "gini"
    nominal: str = "subset"
    missing: str = "fractional"
    max_depth: int | None = None
    min_samples_split: float = 2.0
    min_samples_leaf: float = 1.0
    min_impurity_decrease: float = 0.0
    max_leaf_nodes: int | None = None


@dataclass(eq=False)
class GrownNode:
    """A node while the tree grows: its split is found when the node is made."""

    entries: Entries
    depth: int
    share: float
    split: Split | None = None
    gain: float = 0.0
    children: list[GrownNode] = field(default_factory=list)


# --- Growth ---------------------------------------------------------------------------------------


def grow(table: TrainingTable, rules: GrowthRules) -> Tree:
    """The tree of the definitions.

    Parameters
    ----------
    table : TrainingTable
    rules : GrowthRules

    Returns
    -------
    Tree
        Nodes level by level, first branches first.
    """
    entries = [(row, weight) for row, weight in table.entries() if weight > 0]
    root = _node(table, rules, entries, 0, 1.0, weight_of(entries))
    scale = weighted_impurity(table, entries, rules.criterion)
    frontier, n_leaves = [root], 1
    while frontier:
        node = _next(frontier, scale) if rules.max_leaf_nodes is not None else frontier[0]
        frontier.remove(node)
        if node.split is None:
            continue
        n_more = node.split.n_branches - 1
        if rules.max_leaf_nodes is not None and n_leaves + n_more > rules.max_leaf_nodes:
            continue
        n_leaves += n_more
        for part, share in _parts(table, node):
            child = _node(table, rules, part, node.depth + 1, share, weight_of(entries))
            node.children.append(child)
        frontier.extend(node.children)
    return _flat(table, rules, root)


def _node(
    table: TrainingTable,
    rules: GrowthRules,
    entries: Entries,
    depth: int,
    share: float,
    total: float,
) -> GrownNode:
    node = GrownNode(entries, depth, share)
    if _stops(table, rules, entries, depth):
        return node
    found = best_split(
        table,
        entries,
        rules.criterion,
        nominal=rules.nominal,
        missing=rules.missing,
        min_branch_weight=rules.min_samples_leaf,
    )
    if found is not None:
        decrease = found[1] / total
        if decrease >= rules.min_impurity_decrease - np.finfo(float).eps:
            node.split, node.gain = found
    return node


def _stops(table: TrainingTable, rules: GrowthRules, entries: Entries, depth: int) -> bool:
    if rules.max_depth is not None and depth >= rules.max_depth:
        return True
    if weight_of(entries) < rules.min_samples_split * (1 - TIE):
        return True
    return len({tuple(table.targets[row]) for row, _ in entries}) == 1


def _next(frontier: list[GrownNode], scale: float) -> GrownNode:
    """The node whose split gains most, of ties the first; leaves come last."""
    gains = [node.gain if node.split is not None else -math.inf for node in frontier]
    largest = max(gains)
    return next(
        node for node, gain in zip(frontier, gains, strict=True) if gain >= largest - TIE * scale
    )


def _parts(table: TrainingTable, node: GrownNode) -> list[tuple[Entries, float]]:
    """The entries of each branch, parts of rows with missing cells included, and its share."""
    split = node.split
    assert split is not None
    answers = {row: split.branch(table.cells[row, split.column]) for row, _ in node.entries}
    known = weight_of([entry for entry in node.entries if answers[entry[0]] is not None])
    parts = []
    for going in branch_entries(table, node.entries, split):
        of_branch = weight_of([entry for entry in going if answers[entry[0]] is not None])
        share = of_branch / known
        if split.missing_branch < 0:
            going += [(row, w * share) for row, w in node.entries if answers[row] is None]
        parts.append((going, share))
    return parts


# --- The value ------------------------------------------------------------------------------------


def node_value(table: TrainingTable, entries: Entries, criterion: str) -> list[float]:
    """Masses of the classes of all targets, or the best constant of each."""
    targets = range(table.targets.shape[1])
    if table.classes is not None:
        return [mass for target in targets for mass in class_masses(table, entries, target)]
    center = weighted_median if criterion == "absolute_error" else weighted_mean
    weights = [weight for _, weight in entries]
    return [
        center([float(table.targets[row, target]) for row, _ in entries], weights)
        for target in targets
    ]


def _flat(table: TrainingTable, rules: GrowthRules, root: GrownNode) -> Tree:
    """The nodes level by level, as arrays."""
    nodes, parents = [root], [-1]
    for number, node in enumerate(nodes):
        nodes.extend(node.children)
        parents.extend([number] * len(node.children))
    inner = [node.split if node.children else None for node in nodes]
    level_start, level_branch = _level_branches(table, inner)
    n_children = np.array([len(node.children) for node in nodes], np.int32)
    first = np.cumsum(n_children) - n_children + 1
    impurities = [node_impurity(table, node.entries, rules.criterion) for node in nodes]
    return Tree(
        schema=table.schema,
        classes=table.classes,
        question=np.array([Question.LEAF if s is None else s.question for s in inner], np.int32),
        column=np.array([-1 if s is None else s.column for s in inner], np.int32),
        threshold=np.array([math.nan if s is None else s.threshold for s in inner]),
        first_child=np.where(n_children > 0, first, -1).astype(np.int32),
        n_children=n_children,
        parent=np.array(parents, np.int32),
        share=np.array([node.share for node in nodes]),
        missing_branch=np.array([-1 if s is None else s.missing_branch for s in inner], np.int32),
        level_start=level_start,
        level_branch=level_branch,
        value=np.array([node_value(table, node.entries, rules.criterion) for node in nodes]),
        weight=np.array([weight_of(node.entries) for node in nodes]),
        rows=np.array([len(node.entries) for node in nodes], np.int64),
        impurity=np.array(impurities),
        gain=np.array([node.gain if node.children else 0.0 for node in nodes]),
    )


def _level_branches(table: TrainingTable, splits: Sequence[Split | None]) -> tuple[Codes, Codes]:
    starts: list[int] = []
    branches: list[int | None] = []
    for split in splits:
        nominal = split is not None and split.question is not Question.THRESHOLD
        starts.append(len(branches) if nominal else -1)
        if split is not None and nominal:
            n_levels = table.schema.columns[split.column].n_levels
            branches += [split.branch(float(level)) for level in range(n_levels)]
    places = [-1 if branch is None else branch for branch in branches]
    return np.array(starts, np.int32), np.array(places, np.int32)


# --- Reading a tree -------------------------------------------------------------------------------


def row_shares(tree: Tree, row: Floats) -> dict[int, float]:
    """The share of one row at every node it reaches; 1 at the root."""
    shares = {0: 1.0}
    for node in tree.walk():
        if node not in shares or tree.is_leaf(node):
            continue
        children = tree.children(node)
        branch = _answer(tree, node, float(row[tree.column[node]]))
        for b, child in enumerate(children):
            part = float(tree.share[child]) if branch is None else float(b == branch)
            if part > 0:
                shares[child] = shares[node] * part
    return shares


def _answer(tree: Tree, node: int, cell: float) -> int | None:
    """The branch of a cell; None when it goes down every branch in parts."""
    if math.isnan(cell):
        branch = int(tree.missing_branch[node])
    elif tree.question[node] == Question.THRESHOLD:
        branch = 0 if cell <= tree.threshold[node] else 1
    else:
        branch = int(tree.branches(node)[int(cell)]) if cell >= 0 else -1
    return branch if branch >= 0 else None


def predict_row(tree: Tree, row: Floats) -> list[float]:
    """Class probabilities of all targets side by side, or numbers: leaves mixed by their shares."""
    total = [0.0] * tree.value.shape[1]
    for node, share in row_shares(tree, row).items():
        if tree.is_leaf(node):
            value = leaf_probabilities(tree, node)
            total = [old + share * new for old, new in zip(total, value, strict=True)]
    return total


def leaf_probabilities(tree: Tree, node: int) -> list[float]:
    """The node's class masses divided by their sum, target by target; numbers as they are."""
    value = [float(v) for v in tree.value[node]]
    if tree.classes is None:
        return value
    parts: list[float] = []
    for labels in tree.classes:
        masses = value[len(parts) : len(parts) + len(labels)]
        parts += [mass / math.fsum(masses) for mass in masses]
    return parts


def importances(tree: Tree) -> Floats:
    """The gains of each column's splits, divided by their sum over all columns."""
    totals = np.zeros(tree.schema.n_columns)
    for node in range(tree.n_nodes):
        if not tree.is_leaf(node):
            totals[tree.column[node]] += tree.gain[node]
    return totals / totals.sum() if totals.sum() > 0 else totals
