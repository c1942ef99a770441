"""The way of one row through a tree, and the changes of one cell that would end elsewhere.

With all other cells as they are, the prediction as a function of one cell is constant between the
thresholds that the row can meet (or on the sets of levels it can meet). The nearest piece with
another prediction is the smallest change of that cell that matters; of the columns, the one whose
change leaves the path last comes first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from novum.core.tables import Kind
from novum.numerics import Floats
from novum.trees.reading.conditions import Condition, branch_condition, known
from novum.trees.reading.node_values import NodeValues
from novum.trees.reading.questions import condition_text
from novum.trees.tree import Question, Tree


@dataclass(frozen=True)
class Visit:
    """A node that a row reaches with a share of itself; `branch` is -1 in leaves and where the
    row goes down every branch."""

    node: int
    share: float
    branch: int


@dataclass(frozen=True)
class Change:
    """Another value of one cell, and what the tree would then predict.

    Attributes
    ----------
    column : int
    words : str
        What the cell would have to be: `petal width > 1.75`.
    prediction : label or number
    node : int
        Where the row would first take another branch.
    distance : float
        To the nearest such value: of numbers, in levels of an ordinal column; 1 for any other
        level of a nominal one, and 0 for a missing cell.
    """

    column: int
    words: str
    prediction: Any
    node: int
    distance: float


# --- The way --------------------------------------------------------------------------------------


def branch_of(tree: Tree, node: int, cell: float) -> int:
    """The branch that a cell takes at a node; -1 for every branch."""
    if math.isnan(cell):
        return int(tree.missing_branch[node])
    if tree.question[node] == Question.THRESHOLD:
        return 0 if cell <= tree.threshold[node] else 1
    branches = tree.branches(node)
    return int(branches[int(cell)]) if 0 <= cell < len(branches) else -1


def visits(tree: Tree, row: Floats) -> list[Visit]:
    """All nodes that the row reaches, parents first, with the row's share."""
    visits = []
    pending = [(0, 1.0)]
    while pending:
        node, share = pending.pop()
        if tree.is_leaf(node):
            visits.append(Visit(node, share, -1))
            continue
        branch = branch_of(tree, node, float(row[tree.column[node]]))
        visits.append(Visit(node, share, branch))
        below = tree.children(node)
        if branch >= 0:
            pending.append((below[branch], share))
        else:
            parts = [(child, share * float(tree.share[child])) for child in below]
            pending += [part for part in reversed(parts) if part[1] > 0]
    return visits


def answer_of_row(tree: Tree, values: NodeValues, way: list[Visit]) -> Floats:
    """Class shares or the mean: those of the leaves, by the row's shares there."""
    ends = [visit for visit in way if tree.is_leaf(visit.node)]
    return values.answers([end.node for end in ends], [end.share for end in ends])


def outcome_of(answer: Floats, values: NodeValues) -> float:
    """The class code of largest share, of several the first; the mean of numbers."""
    return float(answer[0]) if values.labels is None else float(np.argmax(answer))


# --- Changes --------------------------------------------------------------------------------------


def changes(tree: Tree, row: Floats, values: NodeValues, digits: list[int]) -> list[Change]:
    """For each column on the way its smallest change that leads to another prediction."""
    way = visits(tree, row)
    outcome = outcome_of(answer_of_row(tree, values, way), values)
    asked = [int(tree.column[visit.node]) for visit in way if not tree.is_leaf(visit.node)]
    changes = []
    for column in dict.fromkeys(asked):
        tried = [
            _change(tree, row, column, cell, values, way, digits[column])
            for cell in _cells_to_try(tree, row, column)
        ]
        other = [one for one in tried if one is not None and _differs(one, outcome, values)]
        if other:
            nearest = min(other, key=lambda one: (one.distance, -tree.depths[one.node]))
            changes.append(nearest)
    return sorted(changes, key=lambda one: -int(tree.depths[one.node]))


def _differs(change: Change, outcome: float, values: NodeValues) -> bool:
    now = values.decoded(outcome)
    if values.labels is None:
        return not math.isclose(change.prediction, now, rel_tol=1e-12, abs_tol=0.0)
    return bool(change.prediction != now)


def _cells_to_try(tree: Tree, row: Floats, column: int) -> list[float]:
    """One cell for each piece on which the way is the same, from low to high."""
    kind = tree.schema.columns[column]
    if kind.kind is not Kind.NUMERIC:
        return [float(code) for code in range(kind.n_levels)]
    met: set[float] = set()
    pending = [0]
    while pending:
        node = pending.pop()
        if tree.is_leaf(node):
            continue
        below = tree.children(node)
        asked = int(tree.column[node])
        branch = -1 if asked == column else branch_of(tree, node, float(row[asked]))
        if asked == column:
            met.add(float(tree.threshold[node]))
        pending += [below[branch]] if branch >= 0 else list(below)
    cuts = sorted(met)
    return [*cuts, math.nextafter(cuts[-1], math.inf)] if cuts else []


def _change(
    tree: Tree,
    row: Floats,
    column: int,
    cell: float,
    values: NodeValues,
    way: list[Visit],
    digits: int,
) -> Change | None:
    """What another cell leads to; None where the row goes the same way."""
    other = row.copy()
    other[column] = cell
    leaving = [
        visit.node
        for visit in way
        if tree.column[visit.node] == column and branch_of(tree, visit.node, cell) != visit.branch
    ]
    if not leaving:
        return None
    new_way = visits(tree, other)
    region = _region(tree, new_way, column)
    if region is None:
        return None
    return Change(
        column=column,
        words=condition_text(tree.schema.columns[column], region, digits),
        prediction=values.decoded(outcome_of(answer_of_row(tree, values, new_way), values)),
        node=min(leaving, key=lambda node: (int(tree.depths[node]), node)),
        distance=region.distance(float(row[column])),
    )


def _region(tree: Tree, way: list[Visit], column: int) -> Condition | None:
    """The cells of a column for which the way is the same; None where one gives no answer."""
    region: Condition | None = None
    for visit in way:
        if tree.column[visit.node] != column or tree.is_leaf(visit.node):
            continue
        if visit.branch < 0:
            return None
        here = branch_condition(tree, visit.node, visit.branch)
        region = here if region is None else region & here
    return None if region is None else known(region)
