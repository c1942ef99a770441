"""What every column contributes to what trees say of a row: Shapley values, exactly.

A tree without some of the cells of a row says what it says on average: where it asks about a cell
that is not known, the row goes down all branches with their shares of the training rows, or as a
row of the background does. With the known columns S let this be f(S). The contribution of column j

    phi_j = sum over S without j of |S|! (p - |S| - 1)! / p! (f(S with j) - f(S))

is the only one that is fair to all columns, and base + sum_j phi_j = f(all) is the prediction.

For a leaf that says v, let o_i be the chance that the row passes the questions about column i on
the way to it (1 or 0, or shares where its cell is missing), and z_i that without the cell. Then

    phi_j = sum over leaves of v (o_j - z_j) integral_0^1 prod_{i != j} (z_i (1 - t) + o_i t) dt

because the weights of Shapley are values of the beta function. The integrand is a polynomial, for
which a Gauss-Legendre rule with half as many points as there are columns on the way is exact. An
edge that asks about a column again takes the place of the one before it, so that sums over leaves
are sums over subtrees: a row costs its tree's nodes times the points (cf. Yu et al. 2022, Linear
TreeShap).

References
----------
Lundberg et al., From local explanations to global understanding with explainable AI for trees,
Nature Machine Intelligence 2, 2020.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from novum.core.runtime import check_cancelled, check_memory
from novum.display import Table, printable
from novum.numerics import Floats, as_argument
from novum.trees.forests.forest_value import Forest

# Trees between two looks for Ctrl-C.
_TREES = 16


@dataclass(frozen=True, eq=False)
class Contributions:
    """Contributions of columns to predictions, and where they start.

    Attributes
    ----------
    columns : tuple of str
    values : array (n_rows, n_columns), or (n_rows, n_columns, n_outputs) of several outputs
    base : float, or array (n_outputs,)
        The prediction when nothing is known of a row.
    interactions : array (n_rows, n_columns, n_columns) or with outputs, or None
        Off the diagonal half of what a pair of columns does only together; rows add up to `values`.
    """

    columns: tuple[str, ...]
    values: Floats
    base: Any
    interactions: Floats | None = None

    @property
    def predictions(self) -> Floats:
        """Base and contributions added up: what the model says of every row."""
        return np.asarray(self.base + self.values.sum(axis=1))

    @property
    def importances(self) -> Floats:
        """Mean size of the contributions of every column, (n_columns,)."""
        size = np.abs(self.values).mean(axis=0)
        return size if size.ndim == 1 else size.sum(axis=1)

    def __repr__(self) -> str:
        sizes = self.importances
        order = np.argsort(-sizes, kind="stable")[:20]
        rows = [[printable(self.columns[j], 40), f"{sizes[j]:.4g}"] for j in order]
        table = Table.of_numbers("", ["column", "mean size of contribution"], rows)
        return f"Contributions to {len(self.values)} predictions\n{table.as_text()}"


def forest_contributions(
    forest: Forest,
    cells: Floats,
    background: Floats | None = None,
    *,
    interactions: bool = False,
) -> Contributions:
    """Contributions to the sums of what the trees say.

    Parameters
    ----------
    forest : Forest
    cells : array (n, n_columns)
    background : array (m, n_columns), optional
        Rows that stand for cells that are not known, each with the same weight; without them the
        shares of the training rows in the branches.
    interactions : bool
    """
    from novum.trees import contribution_kernels as kernels

    tree = forest.walk_arrays
    parent, before = np.empty((2, forest.n_nodes), np.int32)
    starts = as_argument(forest.tree_start, np.int64)
    most = kernels.find_ways(tree, starts, parent, before)
    point, weight = np.polynomial.legendre.leggauss(max(1, (most + 1) // 2))
    ways = (parent, before, (point + 1) / 2, weight / 2)
    shape = (forest.largest_tree, len(point), kernels.BLOCK)
    work = (
        np.ones(forest.largest_tree),
        np.ones((forest.largest_tree, kernels.BLOCK)),
        *(np.empty(shape) for _ in range(3)),
        np.empty(forest.largest_tree, np.int64),
        np.empty(forest.largest_tree, np.bool_),
    )
    rows, value = as_argument(cells), as_argument(forest.value)
    n, p = rows.shape
    out, base = np.zeros((n, p, forest.n_values)), np.zeros(forest.n_values)
    pairs = None
    if interactions:
        check_memory(
            8 * n * p * p * forest.n_values,
            f"Interactions of {p} columns in {n} rows",
            "Ask for fewer rows.",
        )
        pairs = np.zeros((n, p, p, forest.n_values))
    others = rows[:0] if background is None else as_argument(background)
    for which in [-1] if background is None else range(len(others)):
        for first in range(0, forest.n_trees, _TREES):
            check_cancelled()
            about = (starts, first, min(first + _TREES, forest.n_trees), ways, value, rows, others)
            kernels.add_contributions(tree, *about, which, work, out, base)
            if pairs is not None:
                met = np.empty(most + 1, np.int32)
                kernels.add_interactions(tree, *about, which, work, met, pairs)
    share = 1.0 if background is None else 1.0 / len(others)
    out, base = out * share, base * share
    if pairs is not None:
        pairs *= share
        places = np.arange(p)
        pairs[:, places, places] = out - pairs.sum(axis=2)
    return Contributions(forest.schema.names, out, base, pairs)


class ContributingTrees(ABC):
    """The contributions of columns, for models that add up what trees say."""

    @abstractmethod
    def _cells(self, X: Any) -> Floats:
        """The cells of checked rows."""

    @abstractmethod
    def _summands(self) -> tuple[list[Forest], list[float], Any]:
        """Forests whose outputs stand side by side, their factors, and what is added to them."""

    def contributions(
        self, X: Any, background: Any = None, *, interactions: bool = False
    ) -> Contributions:
        """What every column contributes to the prediction of each row: exact Shapley values.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_columns)
        background : array-like or data frame, optional
            Rows that stand for what is not known, a hundred or so; without them the training rows
            in the branches of the trees do.
        interactions : bool
            Whether pairs of columns are told apart too.

        Returns
        -------
        Contributions
            To means of numbers, to probabilities of classes, or to the raw scores of gradient
            boosting, such as log-odds; they add up to them.
        """
        cells = self._cells(X)
        others = None if background is None else self._cells(background)
        forests, factors, start = self._summands()
        parts = [
            forest_contributions(forest, cells, others, interactions=interactions)
            for forest in forests
        ]
        return _joined(parts, factors, np.asarray(start, np.float64))


def _joined(parts: list[Contributions], factors: list[float], start: Floats) -> Contributions:
    """Contributions to scaled sums of trees, one output after the other."""
    pairs = list(zip(parts, factors, strict=True))
    values = np.concatenate([factor * part.values for part, factor in pairs], axis=-1)
    base = start + np.concatenate([factor * part.base for part, factor in pairs])
    interactions = [
        factor * part.interactions for part, factor in pairs if part.interactions is not None
    ]
    together = np.concatenate(interactions, axis=-1) if interactions else None
    columns = parts[0].columns
    if len(base) > 1:
        return Contributions(columns, values, base, together)
    together = None if together is None else together[..., 0]
    return Contributions(columns, values[..., 0], float(base[0]), together)
