"""Growing trees level by level, with one pass over the chunks for all open nodes of a level.

A pass gives every open node the sums of its rows by code; the best split follows from these, and
its children are open in the next pass. Of two siblings only the lighter one is summed where sums
are exact (classes, whole weights, no fractions of rows): the other is what the parent has left.

A node whose rows are few asks for the rows themselves, and its whole subtree is grown in memory; if
all rows fit the budget, the first pass fetches them, in codes, and no other is needed. The tree
does not depend on the budget, except where columns or cuts are drawn at random.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count

import numpy as np

from novum.core.errors import InputError
from novum.core.runtime import run_tasks
from novum.trees.growth import growing_columns as at
from novum.trees.growth.growing import (
    CodedTable,
    GrownNodes,
    GrowthRules,
    grow,
    growth_of,
)
from novum.trees.scale.chunks import Passes
from novum.trees.scale.frontier import Bootstrap, ChunkCoding, LevelStep
from novum.trees.scale.growing_tree import GrowingTree, Split
from novum.trees.scale.level_statistics import CodeRanges, LevelStatistics, PassTotals, RowPart
from novum.trees.scale.pass_plan import (
    FACTS,
    HISTOGRAM,
    ROWS,
    OpenNode,
    PassBudget,
    Siblings,
    step_for,
)
from novum.trees.scale.split_search import Division, SplitSearch

# Parents' sums that wait for the difference of their children take at most this share of a budget.
WAITING_SHARE = 0.25
# Sums of whole numbers are exact up to here.
_EXACT = 2.0**53


@dataclass(frozen=True, eq=False)
class GrowthTask:
    """What is to be grown, and from what.

    Attributes
    ----------
    passes : Passes
    coding : ChunkCoding
    rules : callable from CodeRanges to GrowthRules
        Limits are weights, which the first pass sums.
    stream : callable from (tree, path) to a generator
        For what is drawn at the node of that path; see `OpenNode`.
    n_rows : int
        As the survey has counted them.
    budget : PassBudget
    n_trees : int
    bootstrap : Bootstrap, optional
    n_jobs : int, optional
        For trees that are grown in memory.
    """

    passes: Passes
    coding: ChunkCoding
    rules: Callable[[CodeRanges], GrowthRules]
    stream: Callable[[int, int], np.random.Generator]
    n_rows: int
    budget: PassBudget
    n_trees: int = 1
    bootstrap: Bootstrap | None = None
    n_jobs: int | None = None

    def total(self, step: LevelStep) -> PassTotals:
        """The sum of a pass; the rows must be those of the survey."""
        totals: PassTotals = self.passes.total(step)
        if totals.level.rows > self.n_rows:
            raise InputError(
                f"The chunks had {self.n_rows:,} rows when they were first read and "
                f"{int(totals.level.rows):,} now. Chunks must be the same every time."
            )
        return totals

    def table(self, ranges: CodeRanges, parts: Sequence[RowPart] = ()) -> CodedTable:
        """The rows of parts as the engine reads them."""
        coding = self.coding
        n_labels = 0 if coding.scale is not None else coding.target_start.size - 1
        codes = coding.coding.codes(np.empty((0, coding.coding.n_codes.size)))
        labels, numbers = np.empty((0, n_labels), np.int32), np.empty((0, coding.n_numbers))
        return CodedTable(
            coding.coding,
            np.concatenate([codes, *(part.codes for part in parts)]),
            np.concatenate([labels, *(part.labels for part in parts)]),
            np.concatenate([numbers, *(part.numbers for part in parts)]),
            coding.target_start,
            ranges.low,
            ranges.high,
        )


@dataclass(frozen=True, eq=False)
class GrownTrees:
    """Grown trees, with what is needed to read them.

    Attributes
    ----------
    trees : list of GrownNodes
    table : CodedTable
        Without rows: coding and ranges of codes.
    ranges : CodeRanges
    n_passes : int
        Over the chunks, without the survey.
    """

    trees: list[GrownNodes]
    table: CodedTable
    ranges: CodeRanges
    n_passes: int


def grow_trees(task: GrowthTask) -> GrownTrees:
    """Grows the trees of a task: in memory if its rows fit the budget, else level by level."""
    budget = task.budget
    if budget.holds_rows(task.n_rows):
        return _grown_in_memory(task)
    budget.require_a_node()
    nominal = task.coding.coding.n_codes[task.coding.coding.nominal]
    n_levels = int(nominal.max()) if nominal.size else 1
    trees = [GrowingTree(t, task.coding.n_stats, n_levels) for t in range(task.n_trees)]
    roots, others = budget.batch([Siblings([OpenNode(t, 0, 1, task.n_rows)]) for t in trees])
    asked = [root for unit in roots for root in unit.members]
    first = replace(step_for(asked, task.coding, task.bootstrap), with_ranges=True)
    totals = task.total(first)
    assert totals.ranges is not None
    growing = LevelGrowing(task, totals.ranges)
    children = growing.take(roots, totals)
    children += growing.ask(others)
    if growing.rules.max_leaf_nodes is None:
        while children:
            children = growing.ask(children)
    else:
        grow_best_first(growing, trees, children, growing.rules.max_leaf_nodes)
    table = task.table(totals.ranges)
    return GrownTrees([t.finished() for t in trees], table, totals.ranges, growing.n_passes)


def _grown_in_memory(task: GrowthTask) -> GrownTrees:
    totals = task.total(LevelStep(task.coding, whole_table=True, with_ranges=True))
    assert totals.ranges is not None
    rules = task.rules(totals.ranges)
    table = task.table(totals.ranges, totals.parts)
    weight = np.concatenate([part.weight for part in totals.parts])

    def grown(number: int) -> GrownNodes:
        own = weight
        if task.bootstrap is not None:
            draw = task.bootstrap.counts
            own = np.concatenate([draw(number, part.number, part.weight) for part in totals.parts])
            # A small table may give a tree no row at all.
            own = own if own.any() else np.ones(len(weight))
        rows = np.flatnonzero(own).astype(np.int32)
        return grow(table, rules, own[rows], task.stream(number, 1), rows)

    trees = run_tasks(grown, range(task.n_trees), task.n_jobs)
    return GrownTrees(trees, task.table(totals.ranges), totals.ranges, 1)


class LevelGrowing:
    """Asks passes about open nodes and splits them.

    Parameters
    ----------
    task : GrowthTask
    ranges : CodeRanges
        Of the first pass.
    """

    def __init__(self, task: GrowthTask, ranges: CodeRanges) -> None:
        self.task, self.budget, self.ranges = task, task.budget, ranges
        self.rules = task.rules(ranges)
        self.search = SplitSearch(task.table(ranges), self.rules, task.coding.offsets)
        self.n_passes = 1
        drawn = task.bootstrap is not None
        self.lightest = 1.0 if drawn else ranges.lightest
        # Differences of sums are exact, and rows of weight 1 are counted by their weight.
        self.is_exact = (
            self.search.has_classes
            and (drawn or ranges.is_whole)
            and max(ranges.weight, task.n_rows) * 64 < _EXACT
        )
        self.is_counted = (
            self.is_exact and ranges.is_unit and not drawn and self.rules.max_leaf_nodes is None
        )
        self.waiting_bytes = 0

    # Passes

    def ask(self, units: Sequence[Siblings]) -> list[Siblings]:
        """Finds the splits of all these nodes; returns the children of those that were split."""
        children, pending = [], list(units)
        self._choose(pending)
        while pending:
            batch, pending = self.budget.batch(pending)
            asked = [member for unit in batch for member in unit.asked]
            totals = self.task.total(step_for(asked, self.task.coding, self.task.bootstrap))
            self.n_passes += 1
            children += self.take(batch, totals)
        return children

    def take(self, units: Sequence[Siblings], totals: PassTotals) -> list[Siblings]:
        """Splits the nodes that a pass was asked about; returns their children."""
        fetched = [m for unit in units for m in unit.asked if m.want == ROWS]
        if fetched:
            self._graft(fetched, totals.parts)
        return [child for unit in units for child in self._examined(unit, totals.level)]

    def _choose(self, units: Sequence[Siblings]) -> None:
        """Says what each node wants."""
        members = [member for unit in units for member in unit.members]
        open_rows = sum(member.most_rows for member in members if self._may_split(member))
        all_fit = self.budget.holds_rows(open_rows)
        for member in members:
            if not self._may_split(member):
                member.want = FACTS
            elif self.rules.max_leaf_nodes is None and (
                all_fit or self.budget.prefers_rows(member.most_rows)
            ):
                member.want = ROWS
            else:
                member.want = HISTOGRAM
        for unit in units:
            unit.derive([self.search.weight(m.sums) for m in unit.members if m.sums is not None])

    def _may_split(self, member: OpenNode) -> bool:
        return member.sums is None or self.search.may_split(member.sums, member.depth)

    # Rows

    def _graft(self, members: Sequence[OpenNode], parts: Sequence[RowPart]) -> None:
        """Grows the subtrees of nodes whose rows have come."""
        table = self.task.table(self.ranges, parts)
        weight = np.concatenate([part.weight for part in parts])
        slot = np.concatenate([part.slot for part in parts])
        order = np.argsort(slot, kind="stable").astype(np.int32)
        bounds = np.searchsorted(slot[order], np.arange(len(members) + 1))

        def grown(place: int) -> GrownNodes:
            rows = order[bounds[place] : bounds[place + 1]]
            member, rules = members[place], self.rules
            if rules.max_depth is not None:
                rules = replace(rules, max_depth=rules.max_depth - member.depth)
            rng = self.task.stream(member.tree.number, member.path)
            engine = growth_of(table, rules).planted(weight[rows], rng, rows)
            engine.numbers[0, [at.LOWER, at.UPPER]] = member.tree.bounds(member.node)
            return engine.run()

        subtrees = run_tasks(grown, range(len(members)), self.task.n_jobs)
        for member, subtree in zip(members, subtrees, strict=True):
            member.tree.graft(member.node, subtree)

    # Sums

    def _examined(self, unit: Siblings, level: LevelStatistics) -> list[Siblings]:
        """The children of the nodes of a unit whose sums have come."""
        siblings = [
            (member, level.node(member.facts_at, member.histogram_at))
            for member in unit.asked
            if member.want != ROWS
        ]
        if unit.derived is not None:
            assert unit.parent is not None
            siblings.append((unit.derived, unit.parent - siblings[0][1]))
            # First branches first, as they are numbered.
            siblings.sort(key=lambda pair: pair[0].node)
        if unit.parent is not None:
            self.waiting_bytes -= unit.parent.histograms.nbytes
            unit.parent = None
        return [child for member, facts in siblings for child in self._split(member, facts)]

    def _split(self, member: OpenNode, facts: LevelStatistics) -> list[Siblings]:
        """Stores what is known of a node and splits it, if it can be; its children."""
        sums, search = facts.sums[0], self.search
        if facts.count[0] == 0:
            raise InputError(
                f"Tree {member.tree.number} has drawn none of the {self.task.n_rows} rows. Give "
                "more rows, or bootstrap=False."
            )
        impurity = search.impurity(facts)
        member.tree.set_facts(member.node, sums, search.weight(sums), impurity, int(facts.count[0]))
        if member.want == FACTS or impurity <= 0 or not search.may_split(sums, member.depth):
            return []
        rng = self.task.stream(member.tree.number, member.path)
        split = search.search(facts, impurity, member.tree.bounds(member.node), rng)
        if split is None:
            return []
        return self._children(member, facts, split, search.divide(facts, split))

    def _children(
        self, member: OpenNode, facts: LevelStatistics, split: Split, division: Division
    ) -> list[Siblings]:
        tree, is_whole = member.tree, member.is_whole and division.is_whole
        nodes = tree.divide(member.node, split, division.shares)
        bounds = self.search.child_bounds(split, division.sums, tree.bounds(member.node))
        members = []
        for branch, node in enumerate(nodes):
            tree.numbers[node, [at.LOWER, at.UPPER]] = bounds[branch]
            sums = division.sums[branch]
            rows = int(facts.count[0])
            if is_whole:
                # No row is lighter than the lightest.
                most = self.search.weight(sums) / self.lightest * (1 + 1e-9)
                rows = min(rows, int(most))
            child = OpenNode(tree, node, 2 * member.path + branch, rows, is_whole, sums)
            if is_whole and self.is_counted and not self._may_split(child):
                self._close(child)
            else:
                members.append(child)
        unit = Siblings(members, split.gain)
        if self.is_exact and is_whole and len(members) == 2 and self._has_room(facts):
            # A copy: the sums of the whole pass must not wait with it.
            unit.parent = replace(facts, histograms=facts.histograms.copy())
            self.waiting_bytes += facts.histograms.nbytes
        return [unit] if members else []

    def _close(self, child: OpenNode) -> None:
        """A leaf of which all is known without another pass."""
        assert child.sums is not None
        schema = self.task.coding.coding.schema
        facts = LevelStatistics.empty(schema, (0, 0), 1, child.sums.size, 0)
        facts = replace(facts, sums=child.sums[np.newaxis])
        impurity, weight = self.search.impurity(facts), self.search.weight(child.sums)
        child.tree.set_facts(child.node, child.sums, weight, impurity, round(weight))

    def _has_room(self, facts: LevelStatistics) -> bool:
        waiting = self.waiting_bytes + facts.histograms.nbytes
        return waiting <= WAITING_SHARE * self.budget.limit


# --- Best first -----------------------------------------------------------------------------------
#
# Best-first growth on sums: the split that gains most is made first, up to a number of leaves.
#
# A split can be made once the splits of its two children are known. One pass looks ahead: it finds
# those of the children of all splits that may still be made, at most as many as leaves are left. So
# a tree of L leaves takes between log2(L) and L passes, usually few.


def grow_best_first(
    growing: LevelGrowing, trees: Sequence[GrowingTree], units: Sequence[Siblings], max_leaves: int
) -> None:
    """Makes the best splits of all trees, of which `units` are those of the roots."""
    queues = {tree.number: BestSplits(tree, max_leaves) for tree in trees}
    for unit in units:
        queues[_tree(unit).number].push([unit])
    while True:
        wanted = [unit for queue in queues.values() for unit in queue.advance()]
        if not wanted:
            break
        answers = growing.ask(wanted)
        for unit in wanted:
            below = {member.node for member in unit.members}
            tree = _tree(unit)
            queues[tree.number].known[id(unit)] = [
                child for child in answers if _tree(child) is tree and _parent(child) in below
            ]
    for queue in queues.values():
        queue.close()


class BestSplits:
    """The splits of one tree that are found and not made.

    Parameters
    ----------
    tree : GrowingTree
    max_leaves : int
    """

    def __init__(self, tree: GrowingTree, max_leaves: int) -> None:
        self.tree, self.left = tree, max_leaves - 1
        self.known: dict[int, list[Siblings]] = {}
        self._queue: list[tuple[float, int, Siblings]] = []
        self._order = count()

    def push(self, units: Sequence[Siblings]) -> None:
        """Adds splits that can be made; of equal gains the earlier comes first."""
        for unit in units:
            heapq.heappush(self._queue, (-unit.gain, next(self._order), unit))

    def advance(self) -> list[Siblings]:
        """Makes splits while their children are known; returns those that must be looked at."""
        while self.left > 0 and self._queue:
            unit = self._queue[0][2]
            if id(unit) not in self.known:
                best = heapq.nsmallest(self.left, self._queue)
                return [unit for _, _, unit in best if id(unit) not in self.known]
            heapq.heappop(self._queue)
            self.left -= 1
            self.push(self.known[id(unit)])
        return []

    def close(self) -> None:
        """Makes leaves of the nodes whose split was not made."""
        for _, _, unit in self._queue:
            self.tree.close(_parent(unit))


def _tree(unit: Siblings) -> GrowingTree:
    return unit.members[0].tree


def _parent(unit: Siblings) -> int:
    """The node whose children these are."""
    member = unit.members[0]
    return int(member.tree.integers[member.node, at.PARENT])
