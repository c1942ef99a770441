"""How much each column matters to a forest.

Impurity importance: the impurity that the splits of a column remove, as shares of all that the
splits of a tree remove, averaged over trees. It costs nothing, is never negative, and favors
columns with many places to cut.

Permutation importance (Breiman 2001): how much worse a tree predicts the rows that it has not seen
when the cells of one column are shuffled among them,

    I_j = mean over trees t of (loss_t with column j shuffled - loss_t),

with a standard error from the spread over trees. A column that no tree asks about has exactly 0.
Of several columns that say the same, each can stand in for the others, and all look unimportant.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from novum.core.runtime import check_cancelled, run_tasks, stream
from novum.numerics import Array, Floats, Integers
from novum.trees.forests.forest_draws import ForestDraws, check_same_rows, draws_of
from novum.trees.forests.forest_routing import added_answers
from novum.trees.forests.forest_value import Forest

# Mean loss of answers (m, n_values) to the rows of these numbers (m,)
Loss = Callable[[Floats, Integers], float]


@dataclass(frozen=True, eq=False)
class PermutationImportances:
    """Out-of-bag permutation importances.

    Attributes
    ----------
    names : tuple of str
        Of the columns.
    measure : str
        What is lost: "accuracy", "r2" or "mean_squared_error".
    mean : float64 array (n_columns,)
        Mean loss over trees when the column is shuffled; about 0 for a column that says nothing.
    standard_error : float64 array (n_columns,), of `mean`, over trees
    by_tree : float64 array (n_trees, n_columns)
    """

    names: tuple[str, ...]
    measure: str
    mean: Floats
    standard_error: Floats
    by_tree: Floats

    def ranked(self) -> list[tuple[str, float, float]]:
        """Columns with mean and standard error, the most important first."""
        order = np.argsort(-self.mean, kind="stable")
        return [(self.names[j], float(self.mean[j]), float(self.standard_error[j])) for j in order]


def impurity_importances(forest: Forest) -> Floats:
    """Mean over trees of the shares of impurity that each column removes; they add to 1.

    Zeros if no tree has a split.
    """
    n_columns = forest.schema.n_columns
    inner = np.flatnonzero(~forest.is_leaf)
    tree = np.searchsorted(forest.tree_start, inner, side="right") - 1
    place = tree * n_columns + forest.column[inner]
    size = forest.n_trees * n_columns
    removed = np.bincount(place, forest.gain[inner], minlength=size)
    removed = removed.reshape(forest.n_trees, n_columns)
    totals = removed.sum(axis=1, keepdims=True)
    shares = removed / np.where(totals > 0, totals, 1.0)
    mean = shares.sum(axis=0)
    return mean / mean.sum() if mean.sum() > 0 else mean


def permutation_losses(
    forest: Forest,
    draws: Sequence[ForestDraws],
    rows: Array,
    loss: Loss,
    root: np.random.SeedSequence,
    *,
    n_repeats: int = 1,
    n_jobs: int | None = None,
) -> Floats:
    """Loss of every tree by shuffling every column among its unseen rows, (n_trees, n_columns).

    Parameters
    ----------
    forest, draws
        Trees and what they have seen.
    rows : array (n_rows, n_columns), the training rows as nodes ask about them
    loss : callable
    root : SeedSequence
        Of the shuffles; those of a tree depend on the root and its number only.
    n_repeats : int
        Shuffles of each column in each tree.
    n_jobs : int, optional

    Returns
    -------
    array; a row of NaN for a tree that has seen all rows
    """
    check_same_rows(draws)
    n_columns, columns = forest.schema.n_columns, forest.column

    def run(tree: int) -> Floats:
        unseen = draws_of(draws, tree).out_of_bag(tree)
        importances = np.zeros(n_columns)
        if unseen.size == 0:
            return np.full(n_columns, np.nan)
        table = rows[unseen]
        asked = columns[slice(*forest.tree_start[tree : tree + 2])]

        def lost() -> float:
            return loss(added_answers(forest, table, first=tree, last=tree + 1), unseen)

        before, rng = lost(), stream(root, "permutation", tree)
        for j in np.unique(asked[asked >= 0]):
            check_cancelled()
            cells = table[:, j].copy()
            for _ in range(n_repeats):
                table[:, j] = cells[rng.permutation(unseen.size)]
                importances[j] += (lost() - before) / n_repeats
            table[:, j] = cells
        return importances

    return np.array(run_tasks(run, range(forest.n_trees), n_jobs))


def summarized(names: tuple[str, ...], measure: str, by_tree: Floats) -> PermutationImportances:
    """Mean and standard error over the trees that have unseen rows."""
    judged = by_tree[~np.isnan(by_tree).any(axis=1)]
    n = len(judged)
    zeros = np.zeros(by_tree.shape[1])
    return PermutationImportances(
        names,
        measure,
        judged.mean(axis=0) if n else zeros,
        judged.std(axis=0, ddof=1) / np.sqrt(n) if n > 1 else np.full_like(zeros, np.nan),
        by_tree,
    )
