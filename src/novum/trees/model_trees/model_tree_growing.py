"""Growing a tree for linear models: splits by the root of the deviation.

    gain = W v^(1/4) - W_left v_left^(1/4) - W_right v_right^(1/4)

with the weights W and the variances v of the rows whose cell is known. Squared error has the power
1, Quinlan's standard deviation 1/2. A smaller power cares less for where the targets lie and more
for how much they vary: it separates a part that one line fits from a part that another fits, also
where both have the same mean.

Each branch takes at least a tenth of the node's weight, so that no split merely sets the largest
targets apart: lines fit those, and the tree stays shallow. All else is the exact engine's
(`general.growing`), which is given this rule for a cut.

References
----------
Wang and Witten, "Inducing model trees for continuous classes", 1997; their M5' has the power 1/5.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from novum.numerics import Floats, Mask, as_argument
from novum.trees.general.exact_table import Entries, ExactTable, NodeSums
from novum.trees.general.growing import ExactGrowth
from novum.trees.general.rules import GeneralRules
from novum.trees.general.splits import Split
from novum.trees.growth.coding import TableCoding, midpoints
from novum.trees.growth.conversion import TargetScale
from novum.trees.growth.growing import NOMINAL_RULES
from novum.trees.growth.growing_columns import MissingRule
from novum.trees.training import CellRows
from novum.trees.tree import Question, Tree

LEAST_SHARE = 0.1


@dataclass(frozen=True)
class DeviationRules:
    """When and how nodes are split.

    Parameters
    ----------
    min_leaf : float
        Least weight of the known rows of a branch.
    nominal : {"subset", "single", "auto"}
    missing : {"fractional", "direction", "auto"}
        Whether missing cells go to both sides in parts, all to the better side, or as gains more:
        in parts, to one side, or to a branch of their own.
    least_share : float
        Least share of the known rows of a branch in the node's weight.
    """

    min_leaf: float
    nominal: str = "subset"
    missing: str = "fractional"
    least_share: float = LEAST_SHARE


def grow_by_deviation(rows: CellRows, rules: DeviationRules, max_bins: int | None = 255) -> Tree:
    """The tree, without pruning.

    Examples
    --------
    Two parts of one mean, which squared error does not tell apart:

    >>> from novum.core.tables import Schema
    >>> x = np.linspace(-1, 1, 200)
    >>> y = np.where(x < 0, 0.1, 3.0) * np.tile([-1.0, 1.0], 100)
    >>> table = CellRows(
    ...     Schema.of_array(1), x[:, np.newaxis], y[:, np.newaxis], np.ones(200), None
    ... )
    >>> abs(grow_by_deviation(table, DeviationRules(min_leaf=4.0)).threshold[0]) < 0.01
    np.True_
    """
    scale = TargetScale.of(rows.targets, rows.weight)
    numbers = scale.numbers(rows.targets)
    table = ExactTable.of(rows.cells, numbers, rows.weight, rows.schema, None, ranked=False)
    limits = GeneralRules("squared_error", min_samples_split=0.0, min_samples_leaf=rules.min_leaf)
    growth = ExactGrowth(table, limits, DeviationSearch(rows, numbers, rules, max_bins))
    # Rows are summed by code, so that no orders of them are needed.
    everything = np.arange(rows.n_rows, dtype=np.int32)
    growth.run(Entries(everything, rows.weight, np.empty((0, rows.n_rows), np.int32)))
    tree = growth.tree(rows.schema, None)
    # The impurity of several targets is that of all of them together.
    return replace(
        tree,
        value=scale.offset + scale.unit * tree.value,
        impurity=scale.unit**2 * numbers.shape[1] * tree.impurity,
        gain=scale.unit**2 * tree.gain,
    )


class DeviationSearch:
    """The rule for a cut: the table as codes, and the best split of a node from sums by code."""

    def __init__(
        self, rows: CellRows, numbers: Floats, rules: DeviationRules, max_bins: int | None
    ) -> None:
        self.rules, self.numbers = rules, as_argument(numbers)
        coding = TableCoding.of(rows.schema, rows.cells, rows.weight, max_bins)
        codes = coding.codes(rows.cells)
        self.low, self.high = coding.ranges(codes, rows.cells)
        self.codes, self.no_code = as_argument(codes, np.int32), coding.missing
        self.n_codes, self.n_branches = coding.n_codes, int(coding.n_codes.max())
        missing, nominal = MissingRule[rules.missing.upper()], NOMINAL_RULES[rules.nominal]
        self.codes_of_rules = (int(missing), nominal)
        self.nominal = as_argument(coding.nominal, np.bool_)
        self.sums = np.zeros((self.n_branches, 2 + self.numbers.shape[1]))

    def best(self, entries: Entries, sums: NodeSums) -> Split | None:
        """The split of a node; None where there is none."""
        from novum.trees.model_trees.model_tree_growing_kernels import best_split

        # Sums of many weights may fall short of their true value in the last digits.
        share = self.rules.least_share * sums.weight
        least = max(self.rules.min_leaf, share) * (1 - 1e-9)
        place = np.empty(4, np.int64)
        branch = np.empty(self.n_branches, np.int8)
        best_split(
            self.codes,
            self.no_code,
            self.nominal,
            self.numbers,
            as_argument(sums.value),
            entries.rows,
            entries.weight,
            sums.impurity * self.numbers.shape[1],
            least,
            *self.codes_of_rules,
            self.sums,
            place,
            branch,
        )
        column, code, after, towards = map(int, place)
        if column < 0:
            return None
        codes = self.codes[entries.rows, column]
        known = codes != self.no_code
        question, threshold, levels = Question.THRESHOLD, np.inf, None
        if self.nominal[column]:
            question, threshold = Question.SUBSET, np.nan
            levels = branch[: self.n_codes[column]].astype(np.int32)
            sides = levels[np.where(known, codes, 0)]
        else:
            sides = (codes > code).astype(np.int32)
            if after >= 0:
                threshold = float(
                    midpoints(self.high[column, [code]], self.low[column, [after]])[0]
                )
        sides = np.where(known, sides, towards)
        parts = [self._squares(entries, chosen) for chosen in (sides >= 0, sides == 0, sides == 1)]
        gain = max(parts[0] - parts[1] - parts[2], 0.0)
        return Split(column, question, gain, threshold, levels, missing_branch=towards)

    def _squares(self, entries: Entries, chosen: Mask) -> float:
        """Squared deviations of some of a node's rows from their mean."""
        y, weight = self.numbers[entries.rows[chosen]], entries.weight[chosen]
        return float((weight @ (y - weight @ y / weight.sum()) ** 2).sum())
