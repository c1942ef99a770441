"""Reduced-error pruning: the procedure step by step, and all pruned trees one by one."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from novum.core.errors import InputError
from novum.core.tables import Schema
from novum.trees.pruning.reduced_error import ReducedError, bottom_up_cuts, greedy_cuts
from novum.trees.pruning.task import PruningTask, node_errors
from novum.trees.tree import Question, Tree
from tests.strategies.tree_tables import assert_same_tree, training_tables
from tests.trees.definitions import TrainingTable
from tests.trees.definitions_growth import GrowthRules, grow

Cut = frozenset[int]


@st.composite
def priced_trees(draw: st.DrawFn) -> tuple[Tree, np.ndarray]:
    """Small trees with few different errors, so that ties occur."""
    table = draw(training_tables(max_rows=10))
    nominal = draw(st.sampled_from(("subset", "multiway")))
    tree = grow(table, GrowthRules(nominal=nominal))
    n = tree.n_nodes
    errors = draw(st.lists(st.integers(0, 6), min_size=n, max_size=n))
    return tree, np.array(errors, float)


@st.composite
def divided_tables(draw: st.DrawFn, target: str) -> tuple[Tree, PruningTask]:
    """A tree of some rows, and the other rows."""
    table = draw(training_tables(target=target, min_rows=6))
    half = len(table.cells) // 2
    parts = [
        PruningTask(table.cells[rows], table.targets[rows], table.weight[rows], table.n_classes)
        for rows in (slice(half), slice(half, None))
    ]
    criterion = "gini" if target == "classes" else "squared_error"
    growing = TrainingTable(
        table.schema, parts[0].cells, parts[0].targets, parts[0].weight, table.classes
    )
    return grow(growing, GrowthRules(criterion)), replace(parts[0], held_out=parts[1])


def leaves_of(tree: Tree, cut: Cut, node: int = 0) -> list[int]:
    if tree.is_leaf(node) or node in cut:
        return [node]
    return [leaf for child in tree.children(node) for leaf in leaves_of(tree, cut, child)]


def prunings(tree: Tree, node: int = 0) -> list[Cut]:
    """Every way to cut at and below a node."""
    if tree.is_leaf(node):
        return [frozenset()]
    below = [prunings(tree, child) for child in tree.children(node)]
    return [frozenset({node}), *(frozenset().union(*chosen) for chosen in product(*below))]


def greedy_by_the_book(tree: Tree, errors: np.ndarray) -> Cut:
    """Recomputes everything for every cut; of ties the deepest node."""
    cut: Cut = frozenset()
    while True:
        now = sum(errors[leaf] for leaf in leaves_of(tree, cut))
        options = []
        for node in range(tree.n_nodes):
            # What is below a cut is no longer there to be cut.
            visible = leaves_of(tree, cut, node) != [node] and not _hidden(tree, cut, node)
            if visible:
                then = sum(errors[leaf] for leaf in leaves_of(tree, cut | {node}))
                options.append((now - then, tree.depths[node], node))
        if not options or max(options)[0] < 0:
            return cut
        cut |= {max(options)[2]}


def _hidden(tree: Tree, cut: Cut, node: int) -> bool:
    while node > 0:
        node = int(tree.parent[node])
        if node in cut:
            return True
    return False


def kept_leaves(tree: Tree, marks: np.ndarray) -> list[int]:
    return leaves_of(tree, frozenset(np.flatnonzero(marks).tolist()))


# --- Truth ----------------------------------------------------------------------------------------


@given(priced_trees())
def test_greedy_cuts_are_those_of_the_book(case: tuple[Tree, np.ndarray]) -> None:
    tree, errors = case
    expected = leaves_of(tree, greedy_by_the_book(tree, errors))
    assert kept_leaves(tree, greedy_cuts(tree, errors)) == expected


@given(priced_trees())
def test_bottom_up_leaves_the_smallest_of_the_best_trees(case: tuple[Tree, np.ndarray]) -> None:
    tree, errors = case
    assume(tree.n_leaves <= 8)
    ways = prunings(tree)
    ranked = sorted((errors[leaves_of(tree, w)].sum(), len(leaves_of(tree, w))) for w in ways)
    found = kept_leaves(tree, bottom_up_cuts(tree, errors))
    assert (errors[found].sum(), len(found)) == ranked[0]


@given(priced_trees())
def test_greedy_ends_where_every_cut_adds_errors(case: tuple[Tree, np.ndarray]) -> None:
    tree, errors = case
    marks = greedy_cuts(tree, errors)
    before, after = tree.question == Question.LEAF, kept_leaves(tree, marks)
    assert errors[after].sum() <= errors[before].sum()
    assert errors[kept_leaves(tree, bottom_up_cuts(tree, errors))].sum() <= errors[after].sum()
    cut = frozenset(np.flatnonzero(marks).tolist())
    for node in tree.walk():
        if not tree.is_leaf(node) and node not in cut and not _hidden(tree, cut, node):
            assert errors[leaves_of(tree, cut | {node})].sum() > errors[after].sum()


def test_greedy_is_not_always_best() -> None:
    tree = three_splits()
    # Nodes 1 and 2 save 3 each, their parent 4.
    errors = np.array([8.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0])
    errors[0] = errors[3:].sum() - 4
    assert kept_leaves(tree, greedy_cuts(tree, errors)) == [0]
    assert kept_leaves(tree, bottom_up_cuts(tree, errors)) == [1, 2]


def three_splits() -> Tree:
    """Two levels: root, children 1 and 2, leaves 3 to 6."""
    cells = np.arange(4, dtype=float)[:, np.newaxis]
    y = np.array([[0.0], [1.0], [9.0], [10.0]])
    table = TrainingTable(Schema.of_array(1), cells, y, np.ones(4), None)
    tree = grow(table, GrowthRules("squared_error"))
    assert tree.parent.tolist() == [-1, 0, 0, 1, 1, 2, 2]
    return tree


def test_a_tie_prunes() -> None:
    tree, errors = three_splits(), np.array([2.0, 1.0, 1.0, 0.5, 0.5, 0.5, 0.5])
    assert kept_leaves(tree, greedy_cuts(tree, errors)) == [0]
    errors[0] = 2.5
    assert kept_leaves(tree, greedy_cuts(tree, errors)) == [1, 2]


def test_sums_that_differ_by_rounding_tie() -> None:
    tree = three_splits()
    errors = np.array([0.6, 0.3, 0.3, 0.1, 0.2, 0.1, 0.2 - 1e-16])
    for cuts in (greedy_cuts, bottom_up_cuts):
        assert kept_leaves(tree, cuts(tree, errors)) == [0]


# --- On rows --------------------------------------------------------------------------------------


@given(st.sampled_from(("classes", "numbers")).flatmap(divided_tables))
@pytest.mark.parametrize("order", ["greedy", "bottom_up"])
def test_kept_nodes_are_as_they_were(order: str, case: tuple[Tree, PruningTask]) -> None:
    tree, task = case
    pruned = ReducedError(order=order).prune(tree, task)
    assert task.held_out is not None
    cuts = {"greedy": greedy_cuts, "bottom_up": bottom_up_cuts}[order]
    marks = cuts(tree, node_errors(tree, task.held_out))
    assert_same_tree(pruned, tree.cut(marks), rtol=0)
    kept = np.flatnonzero([not _hidden(tree, _cut(marks), t) for t in range(tree.n_nodes)])
    np.testing.assert_array_equal(pruned.value, tree.value[kept])
    np.testing.assert_array_equal(pruned.weight, tree.weight[kept])
    still = pruned.question != Question.LEAF
    np.testing.assert_array_equal(pruned.column[still], tree.column[kept][still])
    np.testing.assert_array_equal(pruned.threshold[still], tree.threshold[kept][still])


def _cut(marks: np.ndarray) -> Cut:
    return frozenset(np.flatnonzero(marks).tolist())


@given(st.sampled_from(("classes", "numbers")).flatmap(divided_tables))
def test_pruning_twice_changes_nothing_more(case: tuple[Tree, PruningTask]) -> None:
    tree, task = case
    for order in ("greedy", "bottom_up"):
        once = ReducedError(order=order).prune(tree, task)
        assert_same_tree(ReducedError(order=order).prune(once, task), once, rtol=0)


@given(divided_tables("classes"), st.sampled_from((3.0, 0.125)))
def test_a_common_scale_of_validation_weights_does_not_matter(
    case: tuple[Tree, PruningTask], factor: float
) -> None:
    tree, task = case
    assert task.held_out is not None
    scaled = replace(task, held_out=replace(task.held_out, weight=task.held_out.weight * factor))
    rule = ReducedError()
    assert_same_tree(rule.prune(tree, scaled), rule.prune(tree, task), rtol=0)


def test_noise_is_pruned_and_signal_kept() -> None:
    rng = np.random.default_rng(2)
    make = partial(rng.normal, size=(120, 3))
    tables = []
    for _ in range(2):
        cells = make()
        y = ((cells[:, 0] > 0) ^ (rng.random(120) < 0.1)).astype(int)[:, np.newaxis]
        tables.append(PruningTask(cells, y, np.ones(120), (2,)))
    growing = TrainingTable(
        Schema.of_array(3), tables[0].cells, tables[0].targets, np.ones(120), (np.arange(2),)
    )
    tree = grow(growing, GrowthRules(min_samples_leaf=4))
    pruned = ReducedError(order="bottom_up").prune(tree, replace(tables[0], held_out=tables[1]))
    assert tree.n_leaves > 6 > pruned.n_leaves >= 2
    assert pruned.column[0] == 0


# --- The rule as a value --------------------------------------------------------------------------


def test_a_share_or_given_rows() -> None:
    assert ReducedError().held_out_fraction == 0.3
    assert ReducedError().validation_part is None
    given_rows = ([[1.0]], [0], [2.0])
    assert ReducedError(given_rows).held_out_fraction == 0.0
    assert ReducedError(given_rows).validation_part == given_rows


def test_equal_values_are_equal() -> None:
    assert ReducedError(0.25) == ReducedError(0.25)
    assert hash(ReducedError(0.25)) == hash(ReducedError(0.25))
    assert ReducedError(0.25) != ReducedError(0.25, order="bottom_up")
    assert ReducedError(0.25) != 0.25
    rows = (np.zeros((2, 1)), np.zeros(2))
    assert ReducedError(rows) == ReducedError(rows)
    assert ReducedError(rows) != ReducedError((np.zeros((2, 1)), np.zeros(2)))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"validation": 0.0}, r"between 0 and 1, got validation=0\.0"),
        ({"validation": 1.5}, "between 0 and 1"),
        ({"validation": np.nan}, "between 0 and 1"),
        ({"validation": "a third"}, r"a tuple \(X, y\).*got str"),
        ({"validation": (1,)}, r"a tuple \(X, y\).*got tuple"),
        ({"validation": True}, "got bool"),
        ({"order": "random"}, "order is one of greedy, bottom_up, got 'random'"),
    ],
)
def test_impossible_rules_are_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ReducedError(**arguments)  # type: ignore[arg-type]


def test_no_validation_rows_is_an_error_that_says_so() -> None:
    task = PruningTask(np.zeros((4, 1)), np.zeros((4, 1)), np.ones(4), None)
    with pytest.raises(InputError, match="needs validation rows"):
        ReducedError().prune(three_splits(), task)
    empty = PruningTask(np.zeros((0, 1)), np.zeros((0, 1)), np.zeros(0), None)
    with pytest.raises(InputError, match="needs validation rows"):
        ReducedError().prune(three_splits(), replace(task, held_out=empty))
