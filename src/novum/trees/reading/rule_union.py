"""Uniting rules: two of one class that differ in one condition are one rule.

    (A and x in S) or (A and x in T)  =  A and x in (S or T)

holds for any sets, and is a rule again where `S or T` is one condition: sets of levels always,
intervals where they touch. Rules with the same other conditions meet in a table keyed by those, so
a pass over all rules costs as much as there are conditions; passes go on until none unites.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from novum.trees.reading.conditions import Condition, Interval, LevelSet, reachable_leaves
from novum.trees.reading.node_values import NodeValues
from novum.trees.tree import Tree


@dataclass(frozen=True, eq=False)
class Draft:
    """A rule in the making: what it predicts, its box, and the nodes it stands for."""

    outcome: float
    box: dict[int, Condition]
    nodes: tuple[int, ...]


def united(drafts: list[Draft], tree: Tree, values: NodeValues) -> list[Draft]:
    """As few rules as unions of two can make, in the order of their first nodes."""
    drafts = [_widened(draft, tree, values) for draft in drafts]
    columns = sorted({column for draft in drafts for column in draft.box})
    before = len(drafts) + 1
    while len(drafts) < before:
        before = len(drafts)
        for column in columns:
            drafts = _united_in(drafts, column, tree, values)
    return drafts


def _united_in(drafts: list[Draft], column: int, tree: Tree, values: NodeValues) -> list[Draft]:
    """Unites rules that differ in the condition on one column only."""
    alike: dict[object, list[Draft]] = {}
    for place, draft in enumerate(drafts):
        others = frozenset(item for item in draft.box.items() if item[0] != column)
        key = (draft.outcome, others) if column in draft.box else place
        alike.setdefault(key, []).append(draft)
    found: list[Draft] = []
    for group in alike.values():
        found += [
            draft if len(draft.nodes) == 1 else _widened(draft, tree, values)
            for draft in _chained(group, column)
        ]
    return sorted(found, key=lambda draft: draft.nodes[0])


def _chained(group: list[Draft], column: int) -> list[Draft]:
    """Goes through conditions on one column from low to high and unites what touches."""
    if len(group) == 1:
        return group
    chain: list[Draft] = []
    for draft in sorted(group, key=lambda draft: _place(draft.box[column])):
        last = chain[-1] if chain else None
        both = None if last is None else last.box[column].united(draft.box[column])
        if last is None or both is None:
            chain.append(draft)
            continue
        # The order of conditions is that of the rule nearest to the start of the tree.
        first = min(last, draft, key=lambda one: one.nodes[0])
        nodes = tuple(sorted((*last.nodes, *draft.nodes)))
        chain[-1] = replace(first, box={**first.box, column: both}, nodes=nodes)
    return chain


def _place(condition: Condition) -> tuple[float, float]:
    if isinstance(condition, Interval):
        return (condition.low, condition.high)
    return (float(condition.codes[0]) if condition.codes else -1.0, 0.0)


def _widened(draft: Draft, tree: Tree, values: NodeValues) -> Draft:
    """Without conditions that every known cell meets, where missing cells are predicted alike."""
    box = dict(draft.box)
    for column, condition in draft.box.items():
        if not condition.is_everything:
            continue
        if condition.missing or _missing_is_alike(draft, column, tree, values):
            del box[column]
    return replace(draft, box=box) if len(box) < len(draft.box) else draft


def _missing_is_alike(draft: Draft, column: int, tree: Tree, values: NodeValues) -> bool:
    now = draft.box[column]
    nothing: Condition = (
        LevelSet((), now.n_levels, missing=True)
        if isinstance(now, LevelSet)
        else Interval(float("inf"), float("-inf"), missing=True)
    )
    leaves = reachable_leaves(tree, {**draft.box, column: nothing})
    return all(values.outcome(leaf) == draft.outcome for leaf in leaves)
