"""Cost-complexity pruning: scikit-learn's path, all pruned trees, nesting, cross-validation."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from novum.core.errors import InputError
from novum.core.tables import Schema
from novum.trees.pruning.cost_complexity import (
    CostComplexity,
    PathValidation,
    cost_complexity_path,
    validate_path,
)
from novum.trees.pruning.task import PruningTask, fold_numbers
from novum.trees.tree import Question, Tree, single_leaf
from tests.strategies.tree_tables import assert_same_tree, training_tables
from tests.trees.definitions import TrainingTable
from tests.trees.definitions_growth import GrowthRules, grow, row_shares
from tests.trees.pruning.test_reduced_error import leaves_of, prunings

CRITERIA = ["gini", "entropy", "squared_error", "absolute_error"]


@st.composite
def grown_trees(draw: st.DrawFn) -> Tree:
    criterion = draw(st.sampled_from(CRITERIA))
    target = "classes" if criterion in ("gini", "entropy") else "numbers"
    table = draw(training_tables(target=target, max_rows=10))
    nominal = draw(st.sampled_from(("subset", "multiway")))
    missing = draw(st.sampled_from(("fractional", "direction")))
    return grow(table, GrowthRules(criterion, nominal=nominal, missing=missing))


def risks(tree: Tree) -> np.ndarray:
    return tree.weight * tree.impurity / tree.weight[0]


# --- scikit-learn ---------------------------------------------------------------------------------


def one_column(criterion: str, seed: int) -> tuple[Tree, Any, np.ndarray, np.ndarray, np.ndarray]:
    """Our tree and scikit-learn's learner on one column, which leaves no ties to draw among."""
    rng = np.random.default_rng(seed)
    x = rng.permutation(36) / 2
    of_classes = criterion in ("gini", "entropy")
    y = rng.integers(0, 3, 36) if of_classes else np.sin(x) + rng.normal(scale=0.3, size=36)
    weight = rng.integers(1, 4, 36).astype(float)
    learner = DecisionTreeClassifier if of_classes else DecisionTreeRegressor
    classes = (np.arange(3),) if of_classes else None
    table = TrainingTable(Schema.of_array(1), x[:, np.newaxis], y[:, np.newaxis], weight, classes)
    theirs = learner(criterion=criterion)
    return grow(table, GrowthRules(criterion)), theirs, x[:, np.newaxis], y, weight


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_path_is_scikit_learns(criterion: str, seed: int) -> None:
    tree, learner, X, y, weight = one_column(criterion, seed)
    theirs = learner.cost_complexity_pruning_path(X, y, weight)
    ours = cost_complexity_path(tree)
    # scikit-learn lists equal alphas once for every cut: the last of them is our step.
    last = [*(b - a > 1e-9 for a, b in pairwise(theirs.ccp_alphas)), True]
    np.testing.assert_allclose(ours.alphas, theirs.ccp_alphas[last], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ours.impurities, theirs.impurities[last], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_pruned_trees_are_scikit_learns(criterion: str) -> None:
    tree, learner, X, y, weight = one_column(criterion, 3)
    alphas = cost_complexity_path(tree).alphas
    for alpha in [*(np.sqrt(a * b) for a, b in pairwise(alphas[1:])), 2 * alphas[-1]]:
        theirs = learner.set_params(ccp_alpha=alpha).fit(X, y, weight).tree_
        ours = CostComplexity(float(alpha)).prune(tree, PruningTask(X, y[:, None], weight, None))
        assert ours.n_nodes == theirs.node_count
        cuts = theirs.threshold[theirs.children_left >= 0]
        asked = ours.threshold[ours.question == Question.THRESHOLD]
        np.testing.assert_array_equal(np.sort(asked), np.sort(cuts))


# --- All pruned trees -----------------------------------------------------------------------------


@given(grown_trees())
def test_each_tree_is_the_smallest_best_between_its_prices(tree: Tree) -> None:
    assume(tree.n_leaves <= 8)
    path, risk = cost_complexity_path(tree), risks(tree)
    ways = [leaves_of(tree, way) for way in prunings(tree)]
    for step, alpha in enumerate(path.alphas):
        later = path.alphas[step + 1] if step + 1 < path.n_steps else 2 * alpha + 1
        for price in ((alpha + later) / 2, alpha):
            costs = [risk[leaves].sum() + price * len(leaves) for leaves in ways]
            found = path.pruned(step)
            cost = risks(found)[found.question == Question.LEAF].sum() + price * found.n_leaves
            assert cost <= min(costs) + 1e-9
            best = [len(w) for w, c in zip(ways, costs, strict=True) if c <= min(costs) + 1e-12]
            assert found.n_leaves <= min(best)


@given(grown_trees())
def test_the_path_is_nested_and_convex(tree: Tree) -> None:
    path = cost_complexity_path(tree)
    trees = [path.pruned(step) for step in range(path.n_steps)]
    assert path.alphas[0] == 0
    assert (np.diff(path.alphas) > 0).all()
    assert (np.diff(path.impurities) > -1e-12).all()
    assert [t.n_leaves for t in trees] == path.n_leaves.tolist()
    assert trees[-1].n_nodes == 1
    for step, pruned in enumerate(trees):
        leaves = pruned.question == Question.LEAF
        assert path.impurities[step] == pytest.approx(risks(pruned)[leaves].sum(), abs=1e-12)
    for before, after in pairwise(range(path.n_steps)):
        # Whatever a step has cut stays cut, and something more is.
        assert ((path.cut_at <= before) <= (path.cut_at <= after)).all()
        assert trees[after].n_leaves < trees[before].n_leaves
        slope = (path.impurities[after] - path.impurities[before]) / (
            path.n_leaves[before] - path.n_leaves[after]
        )
        assert slope == pytest.approx(path.alphas[after], rel=1e-6, abs=1e-12)


@given(grown_trees())
def test_a_path_of_a_tree_of_the_path_is_its_rest(tree: Tree) -> None:
    path = cost_complexity_path(tree)
    for step in range(path.n_steps):
        rest = cost_complexity_path(path.pruned(step))
        np.testing.assert_allclose(rest.alphas[1:], path.alphas[step + 1 :], rtol=1e-6, atol=1e-12)
        assert rest.n_leaves.tolist() == path.n_leaves[step:].tolist()


@given(grown_trees(), st.floats(0, 3))
def test_a_price_finds_its_step(tree: Tree, alpha: float) -> None:
    path = cost_complexity_path(tree)
    step = path.step_of(alpha)
    assert path.alphas[step] <= alpha
    assert step + 1 == path.n_steps or alpha < path.alphas[step + 1]
    task = PruningTask(np.zeros((1, tree.schema.n_columns)), np.zeros((1, 1)), np.ones(1), None)
    assert_same_tree(CostComplexity(alpha).prune(tree, task), path.pruned(step), rtol=0)


def test_the_price_zero_cuts_what_saves_nothing_and_keeps_what_saves_together() -> None:
    cells = np.array([[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0], [0, 0, 1], [0, 0, 2]], float)
    xor = np.array([[0], [1], [1], [0], [0], [0]])
    table = TrainingTable(Schema.of_array(3), cells, xor, np.ones(6), (np.arange(2),))
    tree = grow(table, GrowthRules())
    path = cost_complexity_path(tree)
    assert path.n_leaves[0] == tree.n_leaves
    assert path.impurities[0] == 0
    mixed = TrainingTable(
        Schema.of_array(1), np.array([[0.0], [0.0], [1.0], [1.0]]), np.array([[0], [1], [0], [1]]),
        np.ones(4), (np.arange(2),),
    )  # fmt: skip
    useless = grow(mixed, GrowthRules())
    assert useless.n_leaves == 2
    assert cost_complexity_path(useless).n_leaves.tolist() == [1]


def test_a_single_leaf_has_a_path_of_one_step() -> None:
    leaf = single_leaf(Schema.of_array(1), None, np.array([1.0]), 3.0, impurity=0.5)
    path = cost_complexity_path(leaf)
    assert path.alphas.tolist() == [0.0]
    assert path.impurities.tolist() == [0.5]
    assert path.pruned(0).n_nodes == 1


# --- Cross-validation -----------------------------------------------------------------------------


def noisy_task(seed: int = 0, n: int = 60) -> tuple[Tree, PruningTask]:
    """A step in one column with noise; the grower is the definition."""
    rng = np.random.default_rng(seed)
    cells = rng.integers(0, 12, (n, 2)).astype(float)
    cells[rng.random((n, 2)) < 0.05] = np.nan
    y = np.where(np.nan_to_num(cells[:, 0]) > 5, 1, 0) ^ (rng.random(n) < 0.15)
    weight = rng.integers(1, 3, n).astype(float)
    schema, classes = Schema.of_array(2), (np.arange(2),)

    def grown(rows: np.ndarray) -> Tree:
        part = TrainingTable(schema, cells[rows], y[rows, np.newaxis], weight[rows], classes)
        return grow(part, GrowthRules(min_samples_leaf=3))

    task = PruningTask(cells, y[:, np.newaxis], weight, (2,), grow=grown)
    return grown(np.arange(n)), replace(task, rng=np.random.default_rng(seed))


def test_cross_validated_errors_are_the_definition() -> None:
    tree, task = noisy_task(n=40)
    found = validate_path(tree, task, 4)
    assert task.grow is not None
    folds = fold_numbers(task.targets, task.n_classes, 4, np.random.default_rng(0))
    alphas = found.path.alphas
    for step in range(found.path.n_steps):
        price = np.sqrt(alphas[step] * alphas[step + 1]) if step + 1 < len(alphas) else 1e9
        wrong = np.zeros(task.n_rows)
        for fold in range(4):
            path = cost_complexity_path(task.grow(np.flatnonzero(folds != fold)))
            pruned = path.pruned(path.step_of(price))
            for row in np.flatnonzero(folds == fold):
                for node, share in row_shares(pruned, task.cells[row]).items():
                    said = pruned.value[node].argmax()
                    if pruned.is_leaf(node) and said != task.targets[row, 0]:
                        wrong[row] += share
        total = task.weight.sum()
        mean = task.weight @ wrong / total
        assert found.errors[step] == pytest.approx(mean)
        # Wrong or right, so the variance of one row is mean (1 - mean).
        assert found.standard_errors[step] == pytest.approx(np.sqrt(mean * (1 - mean) / total))


def test_cross_validation_finds_the_step_in_the_noise() -> None:
    tree, task = noisy_task()
    pruned = CostComplexity("cross_validation", folds=5).prune(tree, task)
    assert tree.n_leaves > 6
    assert pruned.n_leaves == 2
    assert (pruned.column[0], pruned.threshold[0]) == (0, 5.5)


def test_the_same_generator_gives_the_same_tree() -> None:
    for rule in ("minimum", "one_standard_error"):
        pair = []
        for _ in range(2):
            tree, task = noisy_task(3)
            pair.append(CostComplexity("cross_validation", 5, rule).prune(tree, task))
        assert_same_tree(*pair, rtol=0)


def test_the_choices() -> None:
    path = cost_complexity_path(one_column("gini", 0)[0])
    n = path.n_steps
    errors = np.full(n, 0.9)
    errors[:4] = [0.5, 0.3, 0.3, 0.34]
    validation = PathValidation(path, errors, np.full(n, 0.05))
    assert validation.choice("minimum") == 2
    assert validation.choice("one_standard_error") == 3


def test_cross_validation_of_numbers() -> None:
    rng = np.random.default_rng(1)
    x = rng.uniform(-1, 1, (60, 1))
    y = np.where(x > 0, 4.0, 0.0) + rng.normal(size=(60, 1))
    schema = Schema.of_array(1)

    def grown(rows: np.ndarray) -> Tree:
        table = TrainingTable(schema, x[rows], y[rows], np.ones(rows.size), None)
        return grow(table, GrowthRules("squared_error", min_samples_leaf=3))

    tree = grown(np.arange(60))
    task = PruningTask(x, y, np.ones(60), None, grow=grown, rng=rng)
    pruned = CostComplexity("cross_validation").prune(tree, task)
    assert pruned.n_leaves == 2
    assert pruned.threshold[0] == pytest.approx(0, abs=0.1)
    errors = validate_path(tree, replace(task, rng=np.random.default_rng(0)), 10)
    assert errors.errors.min() == pytest.approx(1, abs=0.5)


# --- The rule as a value --------------------------------------------------------------------------


def test_equal_values_are_equal() -> None:
    assert CostComplexity(0.1) == CostComplexity(0.1)
    assert CostComplexity(0.1) != CostComplexity("cross_validation")
    assert CostComplexity().held_out_fraction == 0
    assert CostComplexity().validation_part is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"alpha": -0.1}, r"at least 0, or 'cross_validation'; got -0\.1"),
        ({"alpha": np.inf}, "got inf"),
        ({"alpha": "best"}, "got 'best'"),
        ({"alpha": True}, "got True"),
        ({"folds": 1}, "folds is an integer of at least 2, got 1"),
        ({"folds": 2.5}, "got 2.5"),
        ({"rule": "maximum"}, "rule is one of one_standard_error, minimum, got 'maximum'"),
    ],
)
def test_impossible_rules_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        CostComplexity(**arguments)


def test_cross_validation_needs_rows_and_a_grower() -> None:
    tree, task = noisy_task(n=12)
    rule = CostComplexity("cross_validation", folds=20)
    with pytest.raises(InputError, match="20 folds need at least 20 rows, got 12"):
        rule.prune(tree, task)
    with pytest.raises(InputError, match="needs a task with `grow` and `rng`"):
        rule.prune(tree, replace(task, grow=None))
