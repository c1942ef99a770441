"""The best split of one node on exact values, over all columns and kinds of questions.

Ordered columns (numbers and ordinals) are searched by compiled kernels, nominal ones through the
sums of their levels. Of the best split of every column the one of largest gain is taken, of equal
ones that of the first column; gains are equal when they differ by less than `TIE` of the node's
impurity times weight. `GainRatio` chooses by its own rules.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from novum.numerics import Codes, Floats, Integers, Mask, cached_property
from novum.trees.general.absolute_error import TIE, DeviationScores
from novum.trees.general.exact_table import (
    ABOVE,
    BELOW,
    GAIN,
    THRESHOLD,
    TOWARDS,
    TRIED,
    Entries,
    ExactTable,
    NodeSums,
)
from novum.trees.general.gain_ratio import (
    TOLERANCE,
    GainRatio,
    information_parts,
    split_information,
    takes_part,
)
from novum.trees.general.nominal_splits import (
    Grouping,
    LevelScores,
    SumScores,
    better,
    every_level,
    every_level_gains,
    known_or_missing,
    missing_as_level,
    random_groups,
    single_groups,
    subset_groups,
    two_sets,
)
from novum.trees.general.rules import GeneralRules
from novum.trees.growth.growing_columns import MissingRule
from novum.trees.tree import Question

# --- Splits --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Split:
    """One question about one column.

    Attributes
    ----------
    column : int
    question : Question
    gain : float
        Impurity times weight that it removes.
    threshold : float
        NaN unless the question is THRESHOLD.
    level_branch : int32 array (n_levels,), of a nominal question
    n_branches : int
    missing_branch : int
        -1 where missing cells go down as fractions.
    """

    column: int
    question: Question
    gain: float
    threshold: float = np.nan
    level_branch: Codes | None = None
    n_branches: int = 2
    missing_branch: int = -1


# --- The search -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class SplitSearch:
    """The search for splits of the nodes of one tree.

    Parameters
    ----------
    table : ExactTable
    rules : GeneralRules
    rng : Generator
        Draws columns, thresholds and sets of levels where the rules say so.
    """

    table: ExactTable
    rules: GeneralRules
    rng: np.random.Generator

    def best(self, entries: Entries, sums: NodeSums) -> Split | None:
        """The split of a node; None where there is none."""
        n_columns = self.table.schema.n_columns
        most = self.rules.max_features
        if most is None or most >= n_columns:
            return _Node(self, entries, sums).best_of(np.arange(n_columns))
        order = self.rng.permutation(n_columns)
        drawn, n_drawn = _Node(self, entries, sums), most
        # A node is not given up while all drawn columns are constant in it.
        while n_drawn < n_columns and not drawn.vary(order[:n_drawn]):
            n_drawn += 1
        return drawn.best_of(np.sort(order[:n_drawn]))

    @property
    def ratio(self) -> GainRatio | None:
        return self.rules.criterion if isinstance(self.rules.criterion, GainRatio) else None

    @cached_property
    def counted(self) -> Mask:
        """The columns that take part in the average gain."""
        return takes_part(self.table.n_levels, float(self.table.weight.sum()))


class _Node:
    """One node in a search: the best split of each column, and the choice among them."""

    def __init__(self, search: SplitSearch, entries: Entries, sums: NodeSums) -> None:
        self.table, self.rules, self.rng = search.table, search.rules, search.rng
        self.ratio = search.ratio
        self.entries, self.sums = entries, sums
        self.directed = self.rules.missing == "direction"
        self.by_gain = self.rules.missing == "auto"
        self.margin = TIE * sums.weight * sums.impurity
        self.least = self.rules.least_weight * (1 - TIE)
        self.counted = search.counted
        if self.ratio is not None:
            self.margin = TOLERANCE * sums.weight
            self.least = self.rules.least_weight - TOLERANCE

    def vary(self, columns: Integers) -> bool:
        """Whether any of the columns has two different cells in the node.

        A missing one differs from the others only where it may have a branch of its own.
        """
        for column in columns:
            cells = self._cells(int(column))
            known = cells[~np.isnan(cells)]
            if known.size and (
                (known != known[0]).any() or self.by_gain > (known.size == cells.size)
            ):
                return True
        return False

    def best_of(self, columns: Integers) -> Split | None:
        """The best split on one of the columns, which are in rising order."""
        n_columns = self.table.schema.n_columns
        gain, information = np.full(n_columns, np.nan), np.zeros(n_columns)
        penalty = np.zeros(n_columns)
        nominal = self.table.is_nominal[columns]
        ordered = columns[~nominal]
        cuts = self._scan(self.table.place[ordered])
        gain[ordered] = np.where(cuts[:, GAIN] > -np.inf, cuts[:, GAIN], np.nan)
        groupings = self._group(columns[nominal], gain, information)
        if self.ratio is not None:
            information[ordered] = self._cut_information(cuts)
            penalty[ordered] = np.log2(np.maximum(cuts[:, TRIED], 1.0))
        column = self._choice(gain, information, penalty)
        if column < 0:
            return None
        gained = max(float(gain[column]), 0.0)
        if not self.table.is_nominal[column]:
            cut = cuts[int(np.searchsorted(ordered, column))]
            towards, threshold = int(cut[TOWARDS]), float(cut[THRESHOLD])
            return Split(column, Question.THRESHOLD, gained, threshold, missing_branch=towards)
        grouping = groupings.get(column)
        if grouping is None:
            grouping = self._every_level(self._levels(column))
        assert grouping is not None
        return self._nominal_split(column, grouping, gained)

    # Choice

    def _choice(self, gain: Floats, information: Floats, penalty: Floats) -> int:
        """The column to split on; -1 for none."""
        if self.ratio is None:
            if np.isnan(gain).all():
                return -1
            return int(np.argmax(gain >= np.nanmax(gain) - self.margin))
        each = gain / self.sums.weight
        ordered = self.table.ordered
        if self.ratio.numeric_penalty:
            each[ordered] -= penalty[ordered] / self.sums.weight
        # A threshold without gain is no test at all, and does not lower the average.
        each[ordered] = np.where(each[ordered] > TOLERANCE, each[ordered], np.nan)
        return self.ratio.chosen_column(each, information, self.counted)

    def _cut_information(self, cuts: Floats) -> Floats:
        sides = cuts[:, [BELOW, ABOVE]]
        unknown = np.where(cuts[:, TOWARDS] >= 0, 0.0, self.sums.weight - sides.sum(axis=1))
        parts = np.column_stack([sides, unknown])
        return np.asarray(split_information(parts, self.sums.weight))

    # Ordered columns

    def _scan(self, places: Integers) -> Floats:
        """The best cut of each of some ordered columns: see the places in `exact_table`."""
        from novum.trees.general.growing_kernels import scan_sums

        out = np.empty((places.size, 6))
        if not places.size:
            return out
        fractions = np.full(places.size, -1.0)
        if self.rules.splitter == "random":
            fractions = self.rng.random(places.size)
        state = np.ones(1, np.uint64)
        if self.rules.max_thresholds is not None:
            state = self.rng.integers(1, 2**64, 1, dtype=np.uint64)
        table, entries = self.table, self.entries
        node = (table.values, places, entries.order)
        how = (self._limits(), fractions, state, out)
        if self.rules.criterion == "absolute_error":
            from novum.trees.general.growing_kernels import scan_deviations

            scan_deviations(*node, table.ordered.size, entries.rows, entries.weight, *how)
            return out
        sums = (table.slot, table.amount, self.sums.center, self.sums.total)
        scan_sums(self.rules.in_bits, *node, entries.rows, entries.weight, *sums, *how)
        return out

    def _limits(self) -> Floats:
        tenth, start, resolution = 0.0, -np.inf, 0.0
        slack = self.rules.least_weight - self.least
        if self.ratio is not None:
            assert self.table.n_classes is not None
            tenth, start = 0.1 / max(self.table.n_classes), 0.0
            resolution = self.ratio.resolution
        most, least = self.rules.max_thresholds or 0, self.rules.least_weight
        rule = MissingRule[self.rules.missing.upper()]
        return np.array([least, tenth, slack, self.margin, start, resolution, rule, most], float)

    # Nominal columns

    def _group(self, columns: Integers, gain: Floats, information: Floats) -> dict[int, Grouping]:
        """Fill in gains and information of nominal columns; their groupings, unless obvious."""
        multiway = self.rules.nominal == "multiway"
        if multiway and not self.directed and self.rules.criterion != "absolute_error":
            lost = self._every_level_of_all(columns, gain, information)
            columns = columns[lost > 0] if self.by_gain else columns[:0]
        groupings = {}
        for column in map(int, columns):
            levels = self._levels(column)
            grouping = self._every_level(levels) if multiway else self._two_sets(levels)
            if grouping is not None:
                groupings[column] = grouping
                gain[column] = grouping.gain
                weights = self._branch_weights(levels, grouping)
                information[column] = split_information(weights, self.sums.weight)
        return groupings

    def _every_level_of_all(self, columns: Integers, gain: Floats, information: Floats) -> Floats:
        """Fill in what a branch for each level gains; the weight of each column's missing cells."""
        if not columns.size:
            return np.empty(0)
        starts = np.cumsum([0, *(self.table.n_levels[columns] + 1)])
        table = self._level_table(columns, starts)
        how = SumScores(table[:, :-1], table[:, -1], self.table.n_targets, self.rules.in_bits)
        gain[columns] = every_level_gains(table, starts, self.least, self._enough, how)
        if self.ratio is not None:
            parts = information_parts(table[:, -1], self.sums.weight)
            information[columns] = np.add.reduceat(parts, starts[:-1])
        return np.asarray(table[starts[1:] - 1, -1])

    @property
    def _enough(self) -> int | None:
        """C4.5 asks for two branches of the least weight, everyone else for all of them."""
        return None if self.ratio is None else 2

    def _every_level(self, levels: LevelScores) -> Grouping | None:
        grouping = every_level(levels, self.least, self._enough, self.directed)
        if not self.by_gain:
            return grouping
        return better(grouping, missing_as_level(levels, self.least, self._enough), self.margin)

    def _two_sets(self, levels: LevelScores) -> Grouping | None:
        if self.rules.splitter == "random":
            groups = random_groups(levels, self.rules.nominal, self.rng)
        elif self.rules.nominal == "single":
            groups = single_groups(levels)
        else:
            groups = subset_groups(levels)
        ways = (False, True) if self.by_gain and levels.weight[-1] > 0 else (self.directed,)
        grouping = None
        for directed in ways if len(groups) else ():
            sets = two_sets(levels, groups, self.least, self.margin, directed)
            grouping = better(grouping, sets, self.margin)
        if not self.by_gain:
            return grouping
        return better(grouping, known_or_missing(levels, self.least), self.margin)

    def _branch_weights(self, levels: LevelScores, grouping: Grouping) -> Floats:
        """Weights of the branches, and of the missing cells where these have no branch."""
        present = grouping.branch >= 0
        size = grouping.n_branches
        counts = np.bincount(grouping.branch[present], levels.weight[:-1][present], size)
        weights = np.asarray(counts, np.float64)
        if grouping.missing_branch < 0:
            return np.append(weights, levels.weight[-1])
        weights[grouping.missing_branch] += levels.weight[-1]
        return weights

    def _levels(self, column: int) -> LevelScores:
        n_levels = int(self.table.n_levels[column])
        if self.rules.criterion == "absolute_error":
            codes = self._cells(column)
            level = np.where(np.isnan(codes), n_levels, codes).astype(np.int64)
            ranks = self.entries.order[self.table.ordered.size :]
            y = self.table.amount[self.entries.rows]
            return DeviationScores(
                np.array([y[order, t] for t, order in enumerate(ranks)]),
                self.entries.weight[ranks],
                level[ranks],
                n_levels,
            )
        table = self._level_table(np.array([column]), np.array([0, n_levels + 1]))
        return SumScores(table[:, :-1], table[:, -1], self.table.n_targets, self.rules.in_bits)

    def _level_table(self, columns: Integers, starts: Integers) -> Floats:
        from novum.trees.general.growing_kernels import add_levels

        out = np.zeros((int(starts[-1]), self.table.n_slots + 1))
        table, entries = self.table, self.entries
        add_levels(
            table.levels,
            table.place[columns],
            starts,
            entries.rows,
            entries.weight,
            table.slot,
            table.amount,
            self.sums.center,
            out,
        )
        return out

    def _nominal_split(self, column: int, grouping: Grouping, gained: float) -> Split:
        branch, n_branches = grouping.branch, grouping.n_branches
        if self.rules.nominal != "multiway":
            return Split(
                column,
                Question.SUBSET,
                gained,
                level_branch=branch,
                missing_branch=grouping.missing_branch,
            )
        if (branch < 0).any():
            # All levels that do not occur here lead to one more branch, which is empty.
            branch = np.where(branch < 0, np.int32(n_branches), branch)
            n_branches += 1
        return Split(
            column,
            Question.MULTIWAY,
            gained,
            level_branch=branch,
            n_branches=n_branches,
            missing_branch=grouping.missing_branch,
        )

    def _cells(self, column: int) -> Floats:
        """The cells of a column in the node."""
        of_kind = self.table.levels if self.table.is_nominal[column] else self.table.values
        return of_kind[self.table.place[column], self.entries.rows]
