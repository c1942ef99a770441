"""Growing a tree for linear models: splits by the root of the deviation.

    gain = W v^(1/4) - W_left v_left^(1/4) - W_right v_right^(1/4)

with the weights W and the variances v of the rows whose cell is known. Squared error has the power
1, Quinlan's standard deviation 1/2. A smaller power cares less for where the targets lie and more
for how much they vary: it separates a part that one line fits from a part that another fits, also
where both have the same mean.

Each branch takes at least a tenth of the node's weight, so that no split merely sets the largest
targets apart: lines fit those, and the tree stays shallow.

References
----------
Wang and Witten, "Inducing model trees for continuous classes", 1997; their M5' has the power 1/5.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novum.core.parallel import check_cancelled
from novum.numerics import as_argument
from novum.trees.growth.coding import TableCoding, midpoints
from novum.trees.growth.growing import MISSING_RULES
from novum.trees.growth.grown import TargetScale
from novum.trees.training import TrainingRows
from novum.trees.tree import Question, Tree

Floats = NDArray[np.float64]
Rows = NDArray[np.int32]

LEAST_SHARE = 0.1
_RULES = {"subset": 0, "single": 1, "auto": 2}


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


@dataclass(eq=False)
class _Node:
    """A node that waits: its rows with their weights."""

    number: int
    rows: Rows
    weight: Floats


@dataclass(eq=False)
class _Nodes:
    """The columns of a tree in the making."""

    columns: dict[str, list[Any]] = field(default_factory=dict)
    level_branch: list[int] = field(default_factory=list)

    def add(self, **values: Any) -> int:
        for name, value in values.items():
            self.columns.setdefault(name, []).append(value)
        return len(self.columns["parent"]) - 1

    def set(self, number: int, **values: Any) -> None:
        for name, value in values.items():
            self.columns[name][number] = value


def grow_by_deviation(
    rows: TrainingRows, rules: DeviationRules, max_bins: int | None = 255
) -> Tree:
    """The tree, without pruning.

    Examples
    --------
    Two parts of one mean, which squared error does not tell apart:

    >>> from novum.core.schema import Schema
    >>> x = np.linspace(-1, 1, 200)
    >>> y = np.where(x < 0, 0.1, 3.0) * np.tile([-1.0, 1.0], 100)
    >>> table = TrainingRows(
    ...     Schema.of_array(1), x[:, np.newaxis], y[:, np.newaxis], np.ones(200), None
    ... )
    >>> abs(grow_by_deviation(table, DeviationRules(min_leaf=4.0)).threshold[0]) < 0.01
    np.True_
    """
    grower = _Grower(rows, rules, max_bins)
    waiting = [grower.plant()]
    while waiting:
        waiting.extend(grower.divide(waiting.pop()))
        check_cancelled()
    return grower.tree()


class _Grower:
    """The table as codes, and the nodes so far."""

    def __init__(self, rows: TrainingRows, rules: DeviationRules, max_bins: int | None) -> None:
        self.table, self.rules, self.nodes = rows, rules, _Nodes()
        self.scale = TargetScale.of(rows.targets, rows.weight)
        self.targets = as_argument(self.scale.numbers(rows.targets))
        coding = TableCoding.of(rows.schema, rows.cells, rows.weight, max_bins)
        found = coding.codes(rows.cells)
        self.low, self.high = coding.ranges(found, rows.cells)
        self.codes, self.no_code = as_argument(found, np.int32), coding.missing
        self.n_codes = as_argument(coding.n_codes, np.int64)
        self.nominal = as_argument(coding.nominal, np.bool_)
        self.sums = np.zeros((int(self.n_codes.max()), 2 + self.targets.shape[1]))

    def plant(self) -> _Node:
        """The root."""
        chosen = np.arange(self.table.n_rows, dtype=np.int32)
        return self._node(-1, 1.0, chosen, self.table.weight)

    def _node(self, parent: int, share: float, rows: Rows, weight: Floats) -> _Node:
        y, total = self.targets[rows], float(weight.sum())
        mean = weight @ y / total
        variance = float((weight @ (y - mean) ** 2).sum() / total)
        number = self.nodes.add(
            question=int(Question.LEAF),
            column=-1,
            threshold=np.nan,
            first_child=-1,
            n_children=0,
            parent=parent,
            share=share,
            missing_branch=-1,
            level_start=-1,
            value=mean,
            weight=total,
            rows=rows.size,
            impurity=variance,
            gain=0.0,
        )
        return _Node(number, rows, weight)

    def divide(self, node: _Node) -> list[_Node]:
        """The children of a node, none where it stays a leaf."""
        from novum.trees.model_trees.model_tree_growing_kernels import best_split

        columns = self.nodes.columns
        total, variance = columns["weight"][node.number], columns["impurity"][node.number]
        if total < 2 * self.rules.min_leaf * (1 - 1e-9) or variance <= 0.0:
            return []
        # Sums of many weights may fall short of their true value in the last digits.
        least = max(self.rules.min_leaf, self.rules.least_share * total) * (1 - 1e-9)
        found = np.empty(4, np.int64)
        branch = np.empty(int(self.n_codes.max()), np.int8)
        best_split(
            self.codes,
            self.no_code,
            self.nominal,
            self.targets,
            as_argument(columns["value"][node.number]),
            node.rows,
            node.weight,
            variance,
            least,
            MISSING_RULES[self.rules.missing],
            _RULES[self.rules.nominal],
            self.sums,
            found,
            branch,
        )
        return [] if found[0] < 0 else self._divided(node, found, branch)

    def _divided(
        self, node: _Node, found: NDArray[np.int64], branch: NDArray[np.int8]
    ) -> list[_Node]:
        column, code, after, towards = map(int, found)
        codes = self.codes[node.rows, column]
        known = codes != self.no_code
        if self.nominal[column]:
            sides = branch[np.where(known, codes, 0)]
        else:
            sides = (codes > code).astype(np.int8)
        answered = [known & (sides == b) for b in (0, 1)]
        masses = [float(node.weight[here].sum()) for here in answered]
        gone = [here | (~known & (towards == b)) for b, here in enumerate(answered)]
        gain = self._squares(node, gone[0] | gone[1]) - sum(self._squares(node, b) for b in gone)
        children = []
        for b in (0, 1):
            share = masses[b] / (masses[0] + masses[1])
            part = np.where(answered[b], 1.0, 0.0)
            part[~known] = share if towards < 0 else float(towards == b)
            kept = part > 0
            weight = as_argument(node.weight[kept] * part[kept])
            children.append(self._node(node.number, share, node.rows[kept], weight))
        self.nodes.set(
            node.number,
            **self._question(column, code, after, branch),
            first_child=children[0].number,
            n_children=2,
            missing_branch=towards,
            gain=max(gain, 0.0),
        )
        return children

    def _squares(self, node: _Node, chosen: NDArray[np.bool_]) -> float:
        """Squared deviations of some of a node's rows from their mean."""
        y, weight = self.targets[node.rows[chosen]], node.weight[chosen]
        return float((weight @ (y - weight @ y / weight.sum()) ** 2).sum())

    def _question(
        self, column: int, code: int, after: int, branch: NDArray[np.int8]
    ) -> dict[str, Any]:
        question, threshold, start = Question.THRESHOLD, np.nan, -1
        if self.nominal[column]:
            question, start = Question.SUBSET, len(self.nodes.level_branch)
            self.nodes.level_branch += branch[: self.n_codes[column]].tolist()
        elif after < 0:
            threshold = np.inf
        else:
            pair = self.high[column, [code]], self.low[column, [after]]
            threshold = float(midpoints(*pair)[0])
        return {
            "question": int(question),
            "column": column,
            "threshold": threshold,
            "level_start": start,
        }

    def tree(self) -> Tree:
        columns, unit = self.nodes.columns, self.scale.unit
        integers = ("question", "column", "first_child", "n_children", "parent")
        more = ("missing_branch", "level_start")
        return Tree(
            self.table.schema,
            None,
            **{name: np.array(columns[name], np.int32) for name in (*integers, *more)},
            threshold=np.array(columns["threshold"], np.float64),
            share=np.array(columns["share"], np.float64),
            level_branch=np.array(self.nodes.level_branch, np.int32),
            value=self.scale.offset + unit * np.array(columns["value"], np.float64),
            weight=np.array(columns["weight"], np.float64),
            rows=np.array(columns["rows"], np.int64),
            impurity=unit**2 * np.array(columns["impurity"], np.float64),
            gain=unit**2 * np.array(columns["gain"], np.float64),
        )
