"""A tree as rules: for each class a disjunction of conjunctions.

    yes if  outlook = overcast
        or  outlook = rainy and windy = False
        or  outlook = sunny and humidity <= 77.5

Every leaf is a conjunction of the answers on its way, merged to one condition for each column.
Three simplifications change no prediction:

- answers that others imply vanish by merging (`x <= 5` beside `x <= 2`);
- a node under which all leaves say the same is one rule, without its questions;
- two rules of one class that differ in one condition become one, if the two conditions unite to
  one (touching intervals, sets of levels).

The rules stay disjoint, so coverages add up and a row that answers every question meets exactly
one rule: the rule set classifies it as the tree does.

References
----------
Mitchell, "Machine Learning", 1997, 3.2 (trees as disjunctions of conjunctions).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from novum.core.errors import InputError
from novum.core.tables import Schema
from novum.numerics import Array, Floats, Mask, Positions
from novum.trees.reading.conditions import (
    Condition,
    Interval,
    LevelSet,
    can_be_met,
    holds_for,
    path_box,
    reachable_leaves,
)
from novum.trees.reading.node_values import NodeValues
from novum.trees.reading.questions import (
    DIGITS,
    UNSEEN_TEXT,
    cell_text,
    column_digits,
    condition_text,
    name_text,
)
from novum.trees.reading.rule_text import rule_set_html, rule_set_text
from novum.trees.tree import Tree

# --- Results --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rule:
    """A conjunction of conditions and what it predicts.

    Attributes
    ----------
    prediction : label, or float in a regression
    words : tuple of str
        The conditions; none where the rule holds for every row.
    coverage : float
        Share of the training weight that meets the rule.
    confidence : float or None
        Share of the predicted class in that weight; None for numbers.
    deviation : float or None
        Of the numbers from their mean, by the criterion; None for classes.
    weight : float
    counts : tuple of float
        Class weights; empty for numbers.
    conditions : tuple of (column, condition)
    leaves : tuple of int
        The nodes of the tree that the rule stands for.
    """

    prediction: Any
    words: tuple[str, ...]
    coverage: float
    confidence: float | None
    deviation: float | None
    weight: float
    counts: tuple[float, ...] = ()
    conditions: tuple[tuple[int, Condition], ...] = field(default=(), repr=False)
    leaves: tuple[int, ...] = field(default=(), repr=False)

    @property
    def text(self) -> str:
        """The conjunction: `outlook = sunny and humidity <= 77.5`."""
        return " and ".join(self.words) or "always"

    def __str__(self) -> str:
        return f"{name_text(self.prediction)} if {self.text}"

    def holds(self, cells: Floats) -> Mask:
        """Which rows of `cells` (n, number of columns) meet the rule."""
        return holds_for(dict(self.conditions), cells)


@dataclass(frozen=True, eq=False)
class RuleSet:
    """Disjoint rules, class by class, those that cover most first.

    Attributes
    ----------
    rules : tuple of Rule
    schema : Schema
    labels : array of class labels, or None for numbers
    left_out : int
        Rules that `min_coverage` left out.
    left_out_coverage : float
        Share of the training weight they hold.
    """

    rules: tuple[Rule, ...]
    schema: Schema
    labels: Array | None
    left_out: int = 0
    left_out_coverage: float = 0.0

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    def __len__(self) -> int:
        return len(self.rules)

    def __getitem__(self, place: int) -> Rule:
        return self.rules[place]

    def of(self, prediction: Any) -> tuple[Rule, ...]:
        """The disjunction of one class: all rules that predict it."""
        return tuple(rule for rule in self.rules if rule.prediction == prediction)

    # Rows

    def matches(self, cells: Floats) -> Positions:
        """For each row the place of the rule it meets, -1 where it meets none."""
        rows = np.atleast_2d(np.asarray(cells, float))
        if rows.shape[1] != self.schema.n_columns:
            raise InputError(
                f"The rules are about {self.schema.n_columns} columns, the cells have "
                f"{rows.shape[1]}. Give one cell for each column of the schema, in its order."
            )
        met = np.full(len(rows), -1, np.intp)
        for place, rule in enumerate(self.rules):
            met[rule.holds(rows)] = place
        return met

    def predict(self, cells: Floats, *, otherwise: Any = None) -> Array:
        """The prediction of each row's rule.

        Parameters
        ----------
        cells : array of shape (n, number of columns)
        otherwise : label or number, optional
            For rows that meet no rule; without it they are refused.
        """
        met = self.matches(cells)
        lost = np.flatnonzero(met < 0)
        if lost.size and otherwise is None:
            raise InputError(self._why_lost(np.atleast_2d(cells)[lost[0]], lost))
        said = [*(rule.prediction for rule in self.rules), otherwise]
        kind = np.float64 if self.labels is None else self.labels.dtype
        if lost.size:
            return np.array(said, np.float64 if self.labels is None else object)[met]
        return np.array(said[:-1], kind)[met]

    def _why_lost(self, row: Floats, lost: Positions) -> str:
        head = f"{lost.size} rows meet no rule, the first is row {lost[0]}"
        for column, cell in zip(self.schema.columns, row, strict=True):
            words = cell_text(column, float(cell))
            if math.isnan(cell) or words == UNSEEN_TEXT:
                head += f", whose {name_text(column.name)} is {words}"
                break
        return (
            f"{head}. Rules are for rows that answer every question: predict by the tree itself, "
            "set min_coverage=0, or pass `otherwise`."
        )

    # Other forms

    def records(self) -> list[dict[str, Any]]:
        """One plain record for each rule, ready for any data frame."""
        return [
            {
                "prediction": rule.prediction,
                "rule": rule.text,
                "n_conditions": len(rule.words),
                "coverage": rule.coverage,
                "weight": rule.weight,
                "confidence" if self.labels is not None else "deviation": (
                    rule.confidence if self.labels is not None else rule.deviation
                ),
            }
            for rule in self.rules
        ]

    @property
    def text(self) -> str:
        return rule_set_text(self)

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return rule_set_html(self)


# --- From tree to rules ---------------------------------------------------------------------------


def rules(
    tree: Tree,
    *,
    min_coverage: float = 0.0,
    simplify: bool = True,
    target: int = 0,
    criterion: Literal["squared_error", "absolute_error"] | str = "squared_error",
    digits: int = DIGITS,
) -> RuleSet:
    """The tree as a disjunction of conjunctions.

    Parameters
    ----------
    tree : Tree
    min_coverage : float
        Rules that cover less of the training weight are left out, and counted.
    simplify : bool
        False keeps one rule for each leaf.
    target : int
        Which target, where there are several.
    criterion : str
        Of a regression: what the nodes' impurity is, a mean square ("squared_error") or a mean
        absolute deviation ("absolute_error"). A rule's deviation is the root of the first, or the
        second.
    digits : int
        Significant digits of numbers in words.

    Returns
    -------
    RuleSet
    """
    if not 0 <= min_coverage <= 1:
        raise InputError(f"min_coverage is a share from 0 to 1, got {min_coverage!r}.")
    values = NodeValues.of(tree, target)
    ends = _ends(tree, values) if simplify else [n for n in tree.walk() if tree.is_leaf(n)]
    drafts = []
    for node in ends:
        box = path_box(tree, node)
        # A question asked again can leave a branch that no cell can reach.
        if all(can_be_met(condition) for condition in box.values()):
            drafts.append(Draft(values.outcome(node), box, (node,)))
    if simplify:
        drafts = united(drafts, tree, values)
    digits_of = column_digits(tree, digits)
    drawn = [_rule(draft, tree, values, criterion, digits_of) for draft in drafts]
    return _ordered(drawn, tree.schema, values.labels, min_coverage)


def _ends(tree: Tree, values: NodeValues) -> list[int]:
    """The topmost nodes under which all leaves predict the same."""
    one = [True] * tree.n_nodes
    outcome = [values.outcome(node) for node in range(tree.n_nodes)]
    for node in range(tree.n_nodes - 1, -1, -1):
        below = tree.children(node)
        if below:
            first = outcome[below[0]]
            one[node] = all(one[child] and outcome[child] == first for child in below)
            outcome[node] = first
    leaves, pending = [], [0]
    while pending:
        node = pending.pop()
        if one[node]:
            leaves.append(node)
        else:
            pending.extend(reversed(tree.children(node)))
    return leaves


def _rule(draft: Draft, tree: Tree, values: NodeValues, criterion: str, digits: list[int]) -> Rule:
    nodes = list(draft.nodes)
    weights = tree.weight[nodes]
    weight, total = math.fsum(weights), float(tree.weight[0])
    counts: tuple[float, ...] = ()
    confidence = deviation = None
    if values.labels is None:
        # Rules are united only where means are equal, so their squares pool without a remainder.
        pooled = float(weights @ values.impurity[nodes]) / weight if weight > 0 else 0.0
        deviation = pooled if criterion == "absolute_error" else math.sqrt(max(pooled, 0.0))
    else:
        counts = tuple(map(float, values.values[nodes].sum(axis=0)))
        all_counts = math.fsum(counts)
        confidence = counts[int(draft.outcome)] / all_counts if all_counts > 0 else 0.0
    columns = tree.schema.columns
    return Rule(
        prediction=values.decoded(draft.outcome),
        words=tuple(condition_text(columns[j], c, digits[j]) for j, c in draft.box.items()),
        coverage=weight / total if total > 0 else 0.0,
        confidence=confidence,
        deviation=deviation,
        weight=weight,
        counts=counts,
        conditions=tuple(draft.box.items()),
        leaves=draft.nodes,
    )


def _ordered(
    rules: list[Rule], schema: Schema, labels: Array | None, min_coverage: float
) -> RuleSet:
    kept = [rule for rule in rules if rule.coverage >= min_coverage]
    gone = [rule.coverage for rule in rules if rule.coverage < min_coverage]
    known = [] if labels is None else labels.tolist()

    def order(rule: Rule) -> tuple[float, float, tuple[int, ...]]:
        first = rule.prediction if labels is None else known.index(rule.prediction)
        return (first, -rule.coverage, rule.leaves)

    kept.sort(key=order)
    return RuleSet(tuple(kept), schema, labels, len(gone), math.fsum(gone))


# --- Unions of rules ------------------------------------------------------------------------------
#
# Uniting rules: two of one class that differ in one condition are one rule.
#
#     (A and x in S) or (A and x in T)  =  A and x in (S or T)
#
# holds for any sets, and is a rule again where `S or T` is one condition: sets of levels always,
# intervals where they touch. Rules with the same other conditions meet in a table keyed by those,
# so a pass over all rules costs as much as there are conditions; passes go on until none unites.


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
    united: list[Draft] = []
    for group in alike.values():
        united += [
            draft if len(draft.nodes) == 1 else _widened(draft, tree, values)
            for draft in _chained(group, column)
        ]
    return sorted(united, key=lambda draft: draft.nodes[0])


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
