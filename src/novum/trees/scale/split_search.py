"""The best split of a node that is known by the sums of its rows, and its two children.

The search is that of the engine in memory (`column_kernels.try_column`), so the same sums give the
same split. Sums of the children follow from the node's own: with K_b the sums of the known rows of
branch b, M those of the rows whose cell is missing, and s_b the branch's share of the known weight,

    child b  =  K_b + s_b M     (fractions),     K_b + M or K_b     (missing cells to one side).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from novum.numerics import Floats, Integers
from novum.trees.growth import growing_columns as at
from novum.trees.growth.growing import CRITERIA, CodedTable, Growth, GrowthRules
from novum.trees.scale.growing_tree import Split
from novum.trees.scale.level_statistics import LevelStatistics
from novum.trees.tree import Question


@dataclass(frozen=True, eq=False)
class Division:
    """The children of a split.

    Attributes
    ----------
    sums : float64 array (2, n_stats)
    shares : (float, float)
        Of the known weight.
    is_whole : bool
        Whether every row goes to one child only.
    """

    sums: Floats
    shares: tuple[float, float]
    is_whole: bool


class SplitSearch:
    """Searches the nodes of one table.

    Parameters
    ----------
    table : CodedTable
        Without rows: coding, targets and ranges of codes.
    rules : GrowthRules
    offsets : int64 array (n_columns + 1,)
        Where the codes of each column begin in a histogram.
    """

    def __init__(self, table: CodedTable, rules: GrowthRules, offsets: Integers) -> None:
        self.table, self.rules, self.offsets = table, rules, offsets
        self.n_stats, self.target_start = table.n_stats, table.target_start
        self.criterion = CRITERIA[rules.criterion]
        self.has_classes = self.criterion <= at.ENTROPY
        arrays = Growth(table, rules)
        self.chance, self._columns = arrays.chance, arrays.columns
        self._rules = (table.target_start, arrays.options, arrays.limits)
        self._work, self._search, self._best = arrays.work, arrays.search, arrays.best
        self._sums = np.zeros((table.coding.missing + 1) * self.n_stats)

    # Nodes

    def weight(self, sums: Floats) -> float:
        return float(sums[: self.target_start[1]].sum() if self.has_classes else sums[0])

    def is_pure(self, sums: Floats) -> bool:
        """Whether rows of known class weights are all of one class."""
        pairs = pairwise(self.target_start.tolist())
        return all(np.count_nonzero(sums[start:stop]) <= 1 for start, stop in pairs)

    def may_split(self, sums: Floats, depth: int) -> bool:
        """Whether no rule but the search itself can end the tree at a node with these sums."""
        rules, weight = self.rules, self.weight(sums)
        if self.has_classes and self.is_pure(sums):
            return False
        return (
            (rules.max_depth is None or depth < rules.max_depth)
            and weight >= rules.min_split
            and weight >= 2.0 * rules.min_leaf
        )

    def impurity(self, facts: LevelStatistics) -> float:
        """Of a node; exactly 0 if all its rows are alike."""
        from novum.trees.growth.search_kernels import quality

        sums = np.ascontiguousarray(facts.sums[0])
        if self.has_classes:
            if self.is_pure(sums):
                return 0.0
            impurity = quality(sums, self.target_start, self.criterion)
            impurity /= self.weight(sums)
            return float(1.0 - impurity if self.criterion == at.GINI else -impurity)
        if (facts.least[0] == facts.largest[0]).all():
            return 0.0
        impurity = quality(sums, self.target_start, self.criterion)
        mean_square = facts.square[0] / (self.n_stats - 1)
        return float(max((mean_square - impurity) / sums[0], 0.0))

    # Splits

    def search(
        self,
        facts: LevelStatistics,
        impurity: float,
        bounds: tuple[float, float],
        rng: np.random.Generator,
    ) -> Split | None:
        """The best split of a node; None if there is none, or it gains too little."""
        from novum.trees.scale.frontier_kernels import find_in_sums

        sums = facts.sums[0]
        weight = self.weight(sums)
        tie = 1e-10 * weight * impurity + 1e-15 * weight
        node = np.concatenate([[tie, *bounds, weight], sums])
        self.chance[0] = rng.integers(1, 2**64, dtype=np.uint64)
        find_in_sums(
            np.ascontiguousarray(facts.histograms[0]),
            self.offsets,
            self._columns,
            self._rules,
            self._work,
            self._search,
            self._sums,
            node,
            self._best,
        )
        gain = float(self._best[0][0])
        if gain < -0.5 or gain < self.rules.min_gain:
            return None
        column, question, code, next_code, missing_branch = self._best[1].tolist()
        n_levels = int(self.table.coding.n_codes[column]) if question == Question.SUBSET else 0
        branch = self._best[2][:n_levels].copy()
        return Split(question, column, code, next_code, missing_branch, branch, max(gain, 0.0))

    def divide(self, facts: LevelStatistics, split: Split) -> Division:
        """The sums of the children."""
        start, stop = self.offsets[split.column : split.column + 2].tolist()
        cells = facts.histograms[0, start * self.n_stats : stop * self.n_stats]
        known, missing = np.split(cells.reshape(-1, self.n_stats), [-1])
        if split.question == Question.THRESHOLD:
            on_right = np.arange(len(known)) > split.code
        else:
            on_right = split.branch == 1
        sums = np.vstack([known[~on_right].sum(axis=0), known[on_right].sum(axis=0)])
        weights = self.weight(sums[0]), self.weight(sums[1])
        shares = weights[0] / sum(weights), weights[1] / sum(weights)
        is_whole = split.missing_branch >= 0 or not missing.any()
        if split.missing_branch >= 0:
            sums[split.missing_branch] += missing[0]
        else:
            sums += np.outer(shares, missing[0])
        return Division(sums, shares, is_whole)

    def child_bounds(
        self, split: Split, sums: Floats, bounds: tuple[float, float]
    ) -> tuple[tuple[float, float], tuple[float, float]]:
        """Bounds of the children's means; in a monotone column the middle of theirs parts them.

        Missing cells in a branch of their own stand in no order to the others.
        """
        sign = self.rules.signs[split.column] if self.rules.signs else 0
        if sign == 0 or split.next_code < 0:
            return bounds, bounds
        means = [total[1] / self.weight(total) for total in sums]
        middle = 0.5 * (means[0] + means[1])
        below, above = (bounds[0], middle), (middle, bounds[1])
        return (below, above) if sign > 0 else (above, below)
