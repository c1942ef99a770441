"""Growing the trees of a forest: one coding of the table, then each tree on its own draws.

A tree is given the rows that were drawn for it, each once, and how often it was drawn as its
weight. The tasks are independent, so any number of threads grows the same forest. Splits in two by
Gini, entropy or squared error are grown by the binary engine on codes; criteria and splits that it
does not know by the general engine on exact values.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from itertools import pairwise, takewhile
from typing import Any

import numpy as np

from novum.core.runtime import (
    SILENT,
    OutOfTime,
    check_memory,
    effective_jobs,
    is_late,
    run_tasks,
    stops_at_deadline,
    track,
)
from novum.core.tables import Kind
from novum.numerics import Array, Codes, Floats
from novum.trees.forests.forest_draws import ForestDraws
from novum.trees.forests.forest_value import Forest, padded_edges
from novum.trees.general.gain_ratio import GainRatio
from novum.trees.general.growing import grow_general
from novum.trees.growth import growing_columns as at
from novum.trees.growth.conversion import TargetScale, tree_of
from novum.trees.growth.growing import CodedTable, GrownNodes, GrowthRules, Roots, growth_of
from novum.trees.model import TreeModel
from novum.trees.pruning.cost_complexity import cost_complexity_path
from novum.trees.settings import general_rules, growth_rules
from novum.trees.training import CellRows, class_factors
from novum.trees.tree import Question, Tree

# Rows, counted for each tree, that one task grows trees of: some hundredths of a second.
ROWS_OF_TASK = 2**15


class TreeGrower:
    """Grows the trees of one fit, by their numbers.

    Parameters
    ----------
    member : DecisionTreeClassifier or DecisionTreeRegressor
        Unfitted, with the settings of the trees.
    rows : CellRows
        Their weights carry those of the classes; rows of weight zero are in no tree.
    draws : ForestDraws
    table : CodedTable, optional
        The rows as codes, for the binary engine; without it the general engine grows the trees.
    scale : TargetScale, optional
        Of the table's numeric targets.
    balanced : bool
        Whether the classes of each bootstrap sample get the same weight.
    """

    def __init__(
        self,
        member: TreeModel,
        rows: CellRows,
        draws: ForestDraws,
        table: CodedTable | None = None,
        scale: TargetScale | None = None,
        *,
        balanced: bool = False,
    ) -> None:
        self.member, self.rows, self.draws, self.balanced = member, rows, draws, balanced
        self.table, self.scale = table, scale
        self._of_thread = threading.local()
        self._rules_of_sizes: dict[tuple[float, float], GrowthRules] = {}
        self.has_nominal = table is not None and bool(table.coding.nominal.any())
        # Forests of codes are made at once for many trees; others tree by tree.
        narrow = table is not None and table.coding.is_narrow and not member.ccp_alpha
        self.edges = padded_edges(table.coding) if table is not None and narrow else None
        self.many = narrow and member.max_leaf_nodes is None

    def __call__(self, trees: range) -> Forest:
        """The forest of those trees alone."""
        if not self.many and len(trees) > 1:
            return Forest.joined([self(range(tree, tree + 1)) for tree in trees])
        roots = self.roots(trees)
        if self.table is None:
            rules = general_rules(
                self.member, replace(self.rows, weight=roots.weight), self.member._criterion()
            )
            taken = self.rows.rows(roots.rows)
            about = (taken.schema, taken.classes, rules, self.draws.growing_stream(trees.start))
            tree = grow_general(taken.cells, taken.targets, roots.weight, *about)
            return Forest.of_tree(self._pruned(tree))
        weights = [roots.weight[low:high] for high, low in pairwise(roots.bounds)]
        # All that rules depend on.
        sizes = {(float(weight.sum()), float(weight.min())) for weight in weights}
        if len(sizes) > 1:
            half = trees.start + len(trees) // 2
            parts = (range(trees.start, half), range(half, trees.stop))
            return Forest.joined([self(part) for part in parts])
        last = getattr(self._of_thread, "growth", None)
        growth = growth_of(self.table, self._rules(sizes.pop(), weights[0]), last)
        self._of_thread.growth = growth
        return self._forest(growth.planted_all(roots).run(), len(trees), self.table)

    def _rules(self, sizes: tuple[float, float], weight: Floats) -> GrowthRules:
        """The rules of trees of these weights; those of the last ones, where they hold again."""
        rules = self._rules_of_sizes.get(sizes)
        if rules is None:
            criterion = self.member._criterion()
            assert isinstance(criterion, str)
            rules = growth_rules(self.member, replace(self.rows, weight=weight), criterion)
            if self.scale is not None:
                rules = rules.scaled(self.scale.unit**-2)
            self._rules_of_sizes = {sizes: rules}
        return rules

    def roots(self, trees: range) -> Roots:
        """The rows of the trees, each once and in order, and their weights."""
        seeds, n_trees = self.draws.growing_seeds(trees), len(trees)
        if not self.draws.n_draws:
            every = np.flatnonzero(self.rows.weight > 0).astype(np.int32)
            bounds = np.arange(n_trees, -1, -1) * every.size
            weight = np.tile(self.rows.weight[every], n_trees)
            return Roots(np.tile(every, n_trees), weight, bounds, seeds)
        # The first tree comes last.
        counts = self.draws.counts(trees)[::-1]
        tree, chosen = np.nonzero(counts)
        weight = counts[tree, chosen].astype(np.float64)
        bounds = np.searchsorted(tree, np.arange(n_trees, -1, -1))
        if self.balanced:
            for high, low in pairwise(bounds):
                own = self.rows.rows(chosen[low:high])
                weight[low:high] *= class_factors(own, "balanced", weight[low:high])
        return Roots(chosen.astype(np.int32), weight, bounds, seeds)

    def _forest(self, grown: GrownNodes, n_trees: int, table: CodedTable) -> Forest:
        rows = self.rows
        if not table.coding.is_narrow:
            tree = tree_of(grown, table, rows.schema, rows.classes, self.scale)
            return Forest.of_tree(self._pruned(tree))
        if self.member.ccp_alpha:
            tree = tree_of(grown, table, rows.schema, rows.classes, self.scale, on_edges=True)
            return Forest.of_tree(self._pruned(tree), table.coding)
        return self._compact(grown, n_trees, table)

    def _compact(self, grown: GrownNodes, n_trees: int, table: CodedTable) -> Forest:
        """The forest of `tree_of(..., on_edges=True)` of each tree, made at once."""
        from novum.trees.forests.forest_kernels import compact_nodes

        grown, tree_start = grown.by_tree(n_trees)
        n_nodes, rows = len(grown.integers), self.rows
        scale = TargetScale(np.empty(0), 1.0) if self.scale is None else self.scale
        n_values = table.n_stats - (rows.classes is None)
        step, value = np.empty(n_nodes, np.int64), np.empty((n_nodes, n_values))
        numbers, counts = np.empty((3, n_nodes)), np.empty(n_nodes, np.int32)
        assert self.edges is not None
        compact_nodes(
            (grown.integers, grown.numbers, grown.sums, grown.branches),
            (table.low, table.high, self.edges, table.coding.n_codes - 1),
            table.target_start,
            (scale.offset, scale.unit),
            rows.classes is not None,
            (step, value, numbers, counts),
        )
        forest = Forest(
            rows.schema,
            rows.classes,
            table.coding,
            tree_start,
            step,
            value,
            numbers[0],
            counts,
            numbers[1],
            numbers[2],
            np.empty(0),
            np.empty(0),
            np.empty(0, np.int32),
            *self._levels(grown, table),
        )
        branches = missing_branches(grown)
        directed = np.logical_or.reduceat(branches >= 0, tree_start[:-1])
        if not directed.any():
            return forest
        # A tree without such branches has shares that follow from its weights.
        own = np.repeat(directed, np.diff(tree_start))
        share = np.where(own, grown.numbers[:, at.SHARE], forest.shares)
        return replace(forest, share=share, missing_branch=branches)

    def _levels(self, grown: GrownNodes, table: CodedTable) -> tuple[Any, Any]:
        if self.has_nominal:
            return level_branches(grown, table)
        return np.empty(0, np.int32), np.empty(0, np.int8)

    def _pruned(self, tree: Tree) -> Tree:
        if not self.member.ccp_alpha:
            return tree
        path = cost_complexity_path(tree)
        return path.pruned(path.step_of(float(self.member.ccp_alpha)))


def grow_forest(model: Any, grower: TreeGrower) -> tuple[Forest, str]:
    """The trees that the grower's draws are for, `n_jobs` at once; and whether all were grown.

    Fewer are grown only if a callback asks the fit to stop, or the deadline does.
    """
    first, n_trees = grower.draws.first, grower.draws.stop - grower.draws.first
    lock, stop, jobs = threading.Lock(), threading.Event(), effective_jobs(model.n_jobs)
    with track(model, "fit", total=n_trees) as progress:

        def run(trees: range) -> Forest | None:
            if stop.is_set():
                return None
            try:
                grown = grower(trees)
            except OutOfTime:
                stop.set()
                return None
            with lock:
                if progress.advance() or is_late():
                    stop.set()
            return grown

        # Trees of few rows are grown many in a task; one by one where somebody looks at each.
        many = min(ROWS_OF_TASK // grower.rows.n_rows, -(-n_trees // (4 * jobs)))
        size = 1 if progress is not SILENT else max(1, many)
        # The first trees tell how much room the others will take.
        some = min(n_trees, jobs)
        starts = [*range(some), *range(some, n_trees, size), n_trees]
        tasks = [range(first + low, first + high) for low, high in pairwise(starts)]
        grown = run_tasks(run, tasks[:some], model.n_jobs)
        if grown[0] is None:
            raise OutOfTime
        _check_room(grown, n_trees)
        grown += run_tasks(run, tasks[some:], model.n_jobs)
    forests = [forest for forest in takewhile(lambda forest: forest is not None, grown) if forest]
    forest = Forest.joined(forests)
    if forest.n_trees == n_trees:
        return forest, ""
    return forest, "deadline" if stops_at_deadline() else "callback"


def needs_general_engine(member: TreeModel, rows: CellRows) -> bool:
    """Whether the trees have splits or a criterion that the binary engine does not know."""
    criterion = member._criterion()
    nominal = any(column.kind is Kind.NOMINAL for column in rows.schema.columns)
    multiway = member.nominal == "multiway" and nominal
    return isinstance(criterion, GainRatio) or criterion == "absolute_error" or multiway


def missing_branches(grown: GrownNodes) -> Codes:
    """Branches of missing cells; -1 where they go down as fractions."""
    return grown.integers[:, at.MISSING_BRANCH].astype(np.int32)


def level_branches(grown: GrownNodes, table: CodedTable) -> tuple[Any, Any]:
    """Where the branches of every nominal node begin, and the branches; empty if there are none."""
    asked = np.flatnonzero(grown.integers[:, at.QUESTION] == Question.SUBSET)
    if asked.size == 0:
        return np.empty(0, np.int32), np.empty(0, np.int8)
    n_levels = table.coding.n_codes[grown.integers[asked, at.COLUMN]]
    start = np.full(len(grown.integers), -1, np.int32)
    start[asked] = np.cumsum(n_levels) - n_levels
    branches = grown.branches[grown.integers[asked, at.LEVEL_AT]]
    return start, branches[np.arange(branches.shape[1]) < n_levels[:, np.newaxis]]


def _check_room(grown: list[Forest | None], n_trees: int) -> None:
    sizes = [sum(array.nbytes for array in _arrays(tree)) for tree in grown if tree is not None]
    # Trees are kept one by one until the last is grown, and then joined.
    check_memory(
        2 * n_trees * max(sizes),
        f"A forest of {n_trees} such trees",
        "Grow fewer trees, or smaller ones by min_samples_leaf or max_depth.",
    )


def _arrays(forest: Forest) -> list[Array]:
    return [value for value in vars(forest).values() if isinstance(value, np.ndarray)]
