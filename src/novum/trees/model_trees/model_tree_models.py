"""The linear models of a tree's nodes as a value: flat arrays, terms of one node after another.

    model(x) = base + sum_k coefficient_k (x_k - center_k)

A term is about a number, or about one level of a nominal or ordinal column (1 where the cell has
it). A missing cell and a level that training never met add nothing: they stand for the mean of the
node.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from novum.core.errors import InputError
from novum.core.runtime import time_sliced
from novum.core.tables import Schema
from novum.numerics import Codes, Floats, Integers, Positions, as_argument
from novum.trees.reading.questions import DIGITS, name_text, number_text
from novum.trees.routing import leaf_shares
from novum.trees.tree import Tree


@dataclass(frozen=True)
class LinearModel:
    """`intercept + sum of coefficient x column` for a row without missing cells.

    Attributes
    ----------
    intercept : float
    terms : tuple of pairs
        Names of columns (`age`, `color=red`) with their coefficients.

    Examples
    --------
    >>> print(LinearModel(1.5, (("age", -2.0), ("color=red", 1.0))))
    1.5 - 2 age + 1 color=red
    """

    intercept: float
    terms: tuple[tuple[str, float], ...] = ()

    @property
    def coefficients(self) -> dict[str, float]:
        """Coefficients by the names of columns."""
        return dict(self.terms)

    @property
    def is_constant(self) -> bool:
        return not self.terms

    def text(self, digits: int = DIGITS) -> str:
        """The sum in words; names are made safe to print."""
        words = [number_text(self.intercept, digits)]
        for name, value in self.terms:
            sign = "-" if value < 0 else "+"
            words.append(f"{sign} {number_text(abs(value), digits)} {name_text(name)}")
        return " ".join(words)

    def __str__(self) -> str:
        return self.text()


@dataclass(frozen=True, eq=False)
class NodeModels:
    """One linear model for each node of a tree.

    Attributes
    ----------
    schema : Schema
    start : int64 array (n_nodes + 1,)
        The terms of node t are those from `start[t]` to `start[t + 1]`.
    column : int32 array (n_terms,), position in the schema
    level : int32 array (n_terms,), code of the level; -1 for numbers
    coefficient : float64 array (n_terms, n_targets)
    center : float64 array (n_terms,), the node's mean of the column
    base : float64 array (n_nodes, n_targets), the node's means of the targets
    error : float64 array (n_nodes,)
        Root mean squared error on the node's training rows, of all targets together.
    deviation : float64 array (n_nodes,)
        Standard deviation of the targets in the node, of all together.

    Examples
    --------
    >>> one = np.zeros(1, np.int32)
    >>> models = NodeModels(
    ...     Schema.of_array(1), np.array([0, 1]), one, one - 1,
    ...     coefficient=np.array([[2.0]]), center=np.array([3.0]),
    ...     base=np.array([[7.0]]), error=np.zeros(1), deviation=np.ones(1),
    ... )
    >>> print(models.of(0))
    1 + 2 x0
    """

    schema: Schema
    start: Integers
    column: Codes
    level: Codes
    coefficient: Floats
    center: Floats
    base: Floats
    error: Floats
    deviation: Floats

    @property
    def n_nodes(self) -> int:
        return len(self.base)

    @property
    def n_targets(self) -> int:
        return int(self.base.shape[1])

    @property
    def n_terms(self) -> Integers:
        """Terms of each node beside the constant, (n_nodes,)."""
        return np.diff(self.start)

    @property
    def names(self) -> tuple[str, ...]:
        """What each term is about: `age`, or `color=red`."""
        return tuple(map(self._name, self.column.tolist(), self.level.tolist()))

    def of(self, node: int, target: int = 0) -> LinearModel:
        """The model of a node, before smoothing, with a constant at 0 in place of the means."""
        return self.mixed({node: 1.0}, target)

    def mixed(self, parts: Mapping[int, float], target: int = 0) -> LinearModel:
        """The sum of the models of some nodes, each times a number."""
        if not 0 <= target < self.n_targets:
            raise InputError(f"The models have {self.n_targets} targets, got target={target!r}.")
        intercept, size, slopes = 0.0, 0.0, dict[tuple[int, int], float]()
        for node, part in parts.items():
            its = slice(int(self.start[node]), int(self.start[node + 1]))
            slope = part * self.coefficient[its, target]
            base, moved = part * float(self.base[node, target]), slope * self.center[its]
            intercept += base - float(moved.sum())
            size += abs(base) + float(np.abs(moved).sum())
            keys = zip(self.column[its].tolist(), self.level[its].tolist(), strict=True)
            for key, value in zip(keys, slope.tolist(), strict=True):
                slopes[key] = slopes.get(key, 0.0) + value
        # What the difference of means and slopes leaves by rounding is no constant.
        if abs(intercept) <= 16 * np.finfo(float).eps * size:
            intercept = 0.0
        terms = tuple((self._name(*key), slopes[key]) for key in sorted(slopes))
        return LinearModel(intercept, terms)

    def chosen(self, nodes: Positions) -> NodeModels:
        """The models of some nodes, in their order."""
        sizes = self.n_terms[nodes]
        start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        within = np.arange(start[-1]) - np.repeat(start[:-1], sizes)
        terms = np.repeat(self.start[:-1][nodes], sizes) + within
        return replace(
            self,
            start=start,
            column=self.column[terms],
            level=self.level[terms],
            coefficient=self.coefficient[terms],
            center=self.center[terms],
            base=self.base[nodes],
            error=self.error[nodes],
            deviation=self.deviation[nodes],
        )

    def check(self) -> None:
        """Raises `InputError` if the arrays do not fit together, as in a file that was changed."""
        n, n_terms = self.n_nodes, len(self.column)
        sizes = np.array([column.n_levels for column in self.schema.columns], np.int64)
        sound = (
            self.start.shape == (n + 1,)
            and self.start[0] == 0
            and self.start[-1] == n_terms
            and bool((np.diff(self.start) >= 0).all())
            and self.coefficient.shape == (n_terms, self.n_targets)
            and self.level.shape == self.center.shape == (n_terms,)
            and self.error.shape == self.deviation.shape == (n,)
            and bool(((self.column >= 0) & (self.column < self.schema.n_columns)).all())
            and bool(((self.level >= -1) & (self.level < np.maximum(sizes, 1)[self.column])).all())
            and bool(np.isfinite(self.coefficient).all() and np.isfinite(self.base).all())
            and bool(np.isfinite(self.center).all())
        )
        if not sound:
            raise InputError("The arrays of these linear models do not fit; the file is damaged.")

    def _name(self, column: int, level: int) -> str:
        column_of = self.schema.columns[column]
        return column_of.name if level < 0 else f"{column_of.name}={column_of.levels[level]}"


# --- Smoothing ------------------------------------------------------------------------------------
#
# Smoothing: a leaf's prediction is drawn towards those of the nodes above it.
#
# On the way up from the leaf, the prediction p of a node of weight n and the prediction q of the
# model of its parent become
#
#     p' = (n p + k q) / (n + k),
#
# so that leaves with few rows lean on their elders and neighboring leaves do not jump. It is
# linear: the smoothed model of a leaf is a weighted sum of the models on its way, with weights that
# add to 1.
#
# References: Quinlan, "Learning with continuous classes", 1992, section 3.4.


def path_weights(tree: Tree, leaf: int, smoothing: float) -> dict[int, float]:
    """How much the model of each node on the way of a leaf counts, the leaf's first.

    Examples
    --------
    A leaf of weight 5 below a root, with k = 15: a quarter of itself, the rest of the root.

    >>> from novum.trees import DecisionTreeRegressor
    >>> X, y = [[k] for k in range(10)], [0.0] * 5 + [1.0] * 5
    >>> path_weights(DecisionTreeRegressor().fit(X, y).tree_, 1, 15.0)
    {1: 0.25, 0: 0.75}
    """
    parts, node = {leaf: 1.0}, leaf
    while smoothing > 0 and tree.parent[node] >= 0:
        kept = float(tree.weight[node]) / (float(tree.weight[node]) + smoothing)
        node = int(tree.parent[node])
        parts = {below: kept * part for below, part in parts.items()}
        parts[node] = 1.0 - kept
    return parts


def smoothed_model(
    tree: Tree, models: NodeModels, leaf: int, smoothing: float, target: int = 0
) -> LinearModel:
    """What a leaf predicts for rows without missing cells, the models above it mixed in."""
    return models.mixed(path_weights(tree, leaf, smoothing), target)


def predicted(tree: Tree, models: NodeModels, cells: Floats, smoothing: float) -> Floats:
    """Predictions of rows, (n, n_targets): smoothed values of their leaves, by shares."""
    from novum.trees.model_trees.model_tree_lines_kernels import smoothed_values

    cells = as_argument(cells)
    shares = leaf_shares(tree, cells)
    leaves = (
        as_argument(shares.indptr, np.int64),
        as_argument(shares.indices, np.int32),
        as_argument(shares.data),
    )
    ways = (as_argument(tree.parent, np.int32), as_argument(tree.weight))
    lines = (
        as_argument(models.start, np.int64),
        as_argument(models.column, np.int32),
        as_argument(models.level, np.int32),
        as_argument(models.coefficient),
        as_argument(models.center),
        as_argument(models.base),
    )
    out = np.zeros((len(cells), models.n_targets))
    for low, high in time_sliced(len(cells), block=256):
        smoothed_values(cells, leaves, ways, float(smoothing), lines, low, high, out)
    return out
