"""Pessimistic pruning: Quinlan's numbers, a transcription of the procedure, and what must hold."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from novum.core.errors import InputError
from novum.core.tables import Kind, Schema
from novum.trees.general.gain_ratio import GainRatio
from novum.trees.general.growing import grow_general
from novum.trees.general.rules import GeneralRules
from novum.trees.pruning.pessimistic import Pessimistic, collapsed
from novum.trees.pruning.task import PruningTask
from novum.trees.tree import Question, Tree, single_leaf
from tests.strategies.tree_tables import assert_same_tree, training_tables
from tests.trees.definitions import Split, TrainingTable

C45 = GeneralRules(GainRatio(), "multiway", min_samples_leaf=1)


def grown(table: TrainingTable, rules: GeneralRules = C45) -> Tree:
    return grow_general(
        table.cells, table.targets, table.weight, table.schema, table.classes, rules
    )


def task_of(table: TrainingTable) -> PruningTask:
    return PruningTask(table.cells, table.targets, table.weight, table.n_classes)


# --- Charges --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("weight", "rate"), [(6, 0.206), (9, 0.143), (1, 0.750), (16, 0.083)])
def test_leaves_without_error_are_charged_as_in_quinlans_book(weight: int, rate: float) -> None:
    assert Pessimistic(0.25).charged(weight, 0) / weight == pytest.approx(rate, abs=5e-4)


@given(st.integers(2, 500), st.integers(1, 400), st.floats(0.05, 0.5))
def test_a_charge_is_the_end_of_wilsons_interval(n: int, e: int, confidence: float) -> None:
    # The upper end solves (f - p)^2 = z^2 p (1 - p) / n, f the corrected error rate.
    if e + 0.5 >= n:
        return
    p = Pessimistic(confidence).charged(n, e) / n
    f, z = (e + 0.5) / n, stats.norm.ppf(1 - confidence)
    assert p >= f - 1e-12
    assert (f - p) ** 2 == pytest.approx(z * z * p * (1 - p) / n, abs=1e-10)


@given(st.floats(0.5, 300), st.floats(0, 1), st.floats(0.01, 0.5))
def test_charges_grow_with_errors_and_never_pass_the_weight(
    n: float, part: float, confidence: float
) -> None:
    rule = Pessimistic(confidence)
    e = part * n
    assert e - 1e-9 <= rule.charged(n, e) <= n + 1 + 1e-9
    assert rule.charged(n, e) <= rule.charged(n, min(e + 0.1, n)) + 1e-9


def test_charges_join_where_their_formulas_meet() -> None:
    rule = Pessimistic()
    assert rule.charged(10, 1 - 1e-9) == pytest.approx(rule.charged(10, 1), abs=1e-6)
    assert rule.charged(10, 1e-12) == pytest.approx(rule.charged(10, 0), abs=1e-6)
    assert rule.charged(10, 9.6) == 10
    assert rule.charged(0, 0) == 0


# --- The procedure, transcribed -------------------------------------------------------------------


class Plain:
    """A node of the transcription: a question and sons, or nothing."""

    def __init__(self, split: Split | None, sons: list[Plain]) -> None:
        self.split, self.sons = split, sons
        self.masses: list[float] = []


def plain(tree: Tree, node: int) -> Plain:
    if tree.is_leaf(node):
        return Plain(None, [])
    column, first = int(tree.column[node]), int(tree.first_child[node])
    missing = int(tree.missing_branch[node])
    if tree.question[node] == Question.THRESHOLD:
        split = Split(column, Question.THRESHOLD, float(tree.threshold[node]), (), missing)
        return Plain(split, [plain(tree, child) for child in tree.children(node)])
    branches = tree.branches(node)
    if tree.question[node] == Question.SUBSET:
        sets = tuple(tuple(np.flatnonzero(branches == b).tolist()) for b in (0, 1))
        split = Split(column, Question.SUBSET, levels=sets, missing_branch=missing)
        return Plain(split, [plain(tree, child) for child in tree.children(node)])
    levels = tuple((level,) for level in range(len(branches)))
    return Plain(
        Split(column, Question.MULTIWAY, levels=levels),
        [plain(tree, first + int(branch)) for branch in branches],
    )


class Transcription:
    """C4.5's pruning on lists of (row, weight), as J48 does it."""

    def __init__(self, table: TrainingTable, rule: Pessimistic) -> None:
        assert table.n_classes is not None
        self.table, self.rule, self.n_classes = table, rule, table.n_classes[0]

    def masses(self, entries: list[tuple[int, float]]) -> list[float]:
        found = [0.0] * self.n_classes
        for row, weight in entries:
            found[self.table.targets[row, 0]] += weight
        return found

    def parts(self, node: Plain, entries: list[tuple[int, float]]) -> list[list[Any]]:
        assert node.split is not None
        cells = self.table.cells
        branch = {row: node.split.branch(cells[row, node.split.column]) for row, _ in entries}
        sons = range(len(node.sons))
        known = [sum(w for row, w in entries if branch[row] == b) for b in sons]
        total = sum(known)
        share = [k / total if total > 0 else 1 / len(known) for k in known]
        found: list[list[Any]] = []
        for b in sons:
            here = [(row, w) for row, w in entries if branch[row] == b]
            lost = [(row, w * share[b]) for row, w in entries if branch[row] is None]
            found.append(here + [(row, w) for row, w in lost if w > 0])
        return found

    def fill(self, node: Plain, entries: list[tuple[int, float]]) -> None:
        node.masses = self.masses(entries)
        if node.split is not None:
            for son, part in zip(node.sons, self.parts(node, entries), strict=True):
                self.fill(son, part)

    def charge(self, masses: list[float]) -> float:
        return self.rule.charged(sum(masses), sum(masses) - max(masses))

    def errors(self, node: Plain) -> float:
        if node.split is None:
            return self.charge(node.masses)
        return sum(self.errors(son) for son in node.sons)

    def training_errors(self, node: Plain) -> float:
        if node.split is None:
            return sum(node.masses) - max(node.masses)
        return sum(self.training_errors(son) for son in node.sons)

    def branch_errors(self, node: Plain, entries: list[tuple[int, float]]) -> float:
        if node.split is None:
            return self.charge(self.masses(entries))
        parts = self.parts(node, entries)
        return sum(self.branch_errors(s, p) for s, p in zip(node.sons, parts, strict=True))

    def collapse(self, node: Plain) -> None:
        if node.split is None:
            return
        if self.training_errors(node) >= sum(node.masses) - max(node.masses) - 1e-3:
            node.split, node.sons = None, []
        for son in node.sons:
            self.collapse(son)

    def prune(self, node: Plain, entries: list[tuple[int, float]]) -> None:
        if node.split is None:
            return
        for son, part in zip(node.sons, self.parts(node, entries), strict=True):
            self.prune(son, part)
        largest, weight = node.sons[0], 0.0
        for son in node.sons:
            if sum(son.masses) >= weight - 1e-6:
                largest, weight = son, sum(son.masses)
        raised = self.branch_errors(largest, entries) if self.rule.raising else math.inf
        leaf, whole = self.charge(node.masses), self.errors(node)
        if leaf <= whole + 0.1 + 1e-6 and leaf <= raised + 0.1 + 1e-6:
            node.split, node.sons = None, []
        elif raised <= whole + 0.1 + 1e-6:
            node.split, node.sons = largest.split, largest.sons
            self.fill(node, entries)
            self.prune(node, entries)


def assert_as_transcribed(tree: Tree, node: int, other: Plain) -> None:
    if tree.weight[node] > 0:
        np.testing.assert_allclose(tree.value[node], other.masses, rtol=1e-9, atol=1e-9)
        assert tree.weight[node] == pytest.approx(sum(other.masses))
    assert tree.is_leaf(node) == (other.split is None)
    if other.split is None:
        return
    assert tree.column[node] == other.split.column
    np.testing.assert_equal(float(tree.threshold[node]), other.split.threshold)
    first = int(tree.first_child[node])
    if other.split.question is Question.MULTIWAY:
        children = [first + int(branch) for branch in tree.branches(node)]
    else:
        children = list(tree.children(node))
    for child, son in zip(children, other.sons, strict=True):
        assert_as_transcribed(tree, child, son)


@given(
    training_tables(min_rows=8, max_rows=40, kinds=(Kind.NUMERIC, Kind.NOMINAL)),
    st.sampled_from((0.05, 0.25, 0.5)),
    st.booleans(),
    st.sampled_from([C45, GeneralRules("entropy", "multiway"), GeneralRules("gini", "subset")]),
)
def test_pruning_is_the_transcribed_procedure(
    table: TrainingTable, confidence: float, raising: bool, rules: GeneralRules
) -> None:
    rule = Pessimistic(confidence, raising)
    tree = grown(table, rules)
    slow, root = Transcription(table, rule), plain(tree, 0)
    slow.fill(root, table.entries())
    slow.collapse(root)
    slow.prune(root, table.entries())
    assert_as_transcribed(rule.prune(tree, task_of(table)), 0, root)


# --- What must hold -------------------------------------------------------------------------------


@given(training_tables(min_rows=8, max_rows=30))
def test_a_tree_that_needs_no_pruning_is_itself(table: TrainingTable) -> None:
    once = Pessimistic(0.25, raising=False).prune(grown(table), task_of(table))
    assert Pessimistic(0.25, raising=False).prune(once, task_of(table)) is once


@given(training_tables(min_rows=8, max_rows=30))
def test_weights_of_children_add_up_after_pruning(table: TrainingTable) -> None:
    tree = Pessimistic().prune(grown(table), task_of(table))
    assert tree.n_nodes <= 3 * grown(table).n_nodes
    assert tree.weight[0] == pytest.approx(table.weight.sum())
    for node in range(tree.n_nodes):
        children = list(tree.children(node))
        if children:
            assert tree.weight[children].sum() == pytest.approx(tree.weight[node])
            assert tree.share[children].sum() == pytest.approx(1.0)


def test_a_useless_subtree_is_cut_before_anything_is_charged() -> None:
    # Both leaves of the split answer 0, as the root does.
    x = np.array([[0.0], [0.0], [0.0], [1.0], [1.0], [1.0]])
    y = np.array([[0], [0], [0], [0], [0], [1]])
    table = TrainingTable(Schema.of_array(1), x, y, np.ones(6), (np.arange(2),))
    tree = grown(table, GeneralRules("entropy"))
    assert tree.n_nodes == 3
    assert collapsed(tree).n_nodes == 1


def test_a_subtree_is_raised_over_a_question_that_does_not_pay() -> None:
    """Column 1 decides; column 0 only sets two rows apart, one of each class."""
    n = 40
    x = np.zeros((n + 2, 2))
    x[:n, 1] = np.arange(n)
    x[n:, 0] = 1.0
    x[n:, 1] = [5.0, 35.0]
    y = (x[:, 1] >= n / 2).astype(int)[:, np.newaxis]
    table = TrainingTable(Schema.of_array(2), x, y, np.ones(n + 2), (np.arange(2),))
    below = grown(table, GeneralRules("entropy", max_depth=1))
    assert below.column[0] == 1
    tree = _with_root_question(table)
    raised = Pessimistic().prune(tree, task_of(table))
    assert raised.column.tolist() == [1, -1, -1]
    assert raised.weight.tolist() == [42, 21, 21]
    assert raised.value.tolist() == [[21, 21], [21, 0], [0, 21]]
    assert_same_tree(raised, below)
    kept = Pessimistic(raising=False).prune(tree, task_of(table))
    assert kept.column[0] == 0


def _with_root_question(table: TrainingTable) -> Tree:
    """A tree that asks column 0 first and column 1 below."""
    rows = table.cells[:, 0] == 0
    part = TrainingTable(
        table.schema, table.cells[rows], table.targets[rows], table.weight[rows], table.classes
    )
    sub = grown(part, GeneralRules("entropy", max_depth=1))
    masses = np.bincount(table.targets[:, 0], minlength=2)
    other = np.bincount(table.targets[~rows, 0], minlength=2)
    whole = single_leaf(table.schema, table.classes, masses, masses.sum(), impurity=1.0)
    value = np.vstack([masses, sub.value[0], other, sub.value[1:]]).astype(float)

    def joined(name: str, root: float, leaf: float) -> np.ndarray:
        of_sub = getattr(sub, name)
        return np.array([root, of_sub[0], leaf, *of_sub[1:]], of_sub.dtype)

    known = rows.mean()
    return Tree(
        table.schema,
        table.classes,
        question=joined("question", Question.THRESHOLD, Question.LEAF),
        column=joined("column", 0, -1),
        threshold=joined("threshold", 0.5, np.nan),
        first_child=np.array([1, 3, -1, -1, -1], np.int32),
        n_children=joined("n_children", 2, 0),
        parent=np.array([-1, 0, 0, 1, 1], np.int32),
        share=np.array([1.0, known, 1 - known, *sub.share[1:]]),
        missing_branch=joined("missing_branch", -1, -1),
        level_start=joined("level_start", -1, -1),
        level_branch=whole.level_branch,
        value=value,
        weight=value.sum(axis=1),
        rows=joined("rows", len(rows), int((~rows).sum())),
        impurity=joined("impurity", 1.0, 1.0),
        gain=joined("gain", 0.0, 0.0),
    )


# --- Refusals -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_deep_trees_do_not_exhaust_the_stack() -> None:
    # Alternating classes along one column: all thresholds are equal, and the lowest is taken.
    n = 3000
    x, y = np.arange(n, dtype=float)[:, np.newaxis], np.arange(n)[:, np.newaxis] % 2
    table = TrainingTable(Schema.of_array(1), x, y, np.ones(n), (np.arange(2),))
    tree = grown(table, GeneralRules("gini"))
    assert tree.depth > 2000
    assert Pessimistic().prune(tree, task_of(table)).n_nodes < tree.n_nodes


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"confidence": 0.0}, "confidence is a number above 0 and at most 0.5, got 0.0"),
        ({"confidence": 0.6}, "confidence is a number above 0 and at most 0.5"),
        ({"confidence": math.nan}, "confidence is a number above 0"),
        ({"confidence": "0.25"}, "confidence is a number above 0"),
        ({"raising": 1}, "raising is true or false, got 1"),
    ],
)
def test_wrong_parameters_are_named(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Pessimistic(**wrong)


def test_numbers_and_several_targets_are_refused() -> None:
    cells = np.zeros((1, 1))
    numbers = single_leaf(Schema.of_array(1), None, np.array([1.0]), 1.0)
    task = PruningTask(cells, np.zeros((1, 1)), np.ones(1), None)
    with pytest.raises(InputError, match=r"cannot prune a tree of numbers\. Choose CostComplexity"):
        Pessimistic().prune(numbers, task)
    two = (np.arange(2), np.arange(2))
    several = single_leaf(Schema.of_array(1), two, np.array([1.0, 0.0, 1.0, 0.0]), 1.0)
    task = PruningTask(cells, np.zeros((1, 2), int), np.ones(1), (2, 2))
    with pytest.raises(InputError, match="is for one target, the tree has 2"):
        Pessimistic().prune(several, task)
    assert Pessimistic().held_out_fraction == 0.0
    assert Pessimistic().validation_part is None
