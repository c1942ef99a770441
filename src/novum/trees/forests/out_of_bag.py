"""Out-of-bag predictions: every row is judged by the trees that have not seen it.

    oob(x_i) = mean over the trees t without row i in their bootstrap sample of tree_t(x_i)

These are about 37 % of the trees, so the error estimates that of a smaller forest on new rows,
without a held-out part.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novum.core.errors import InputError
from novum.core.parallel import run_tasks
from novum.trees.forests.forest_draws import ForestDraws
from novum.trees.forests.forest_routing import added_answers
from novum.trees.forests.forest_value import Forest

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

# Trees whose answers wait to be added in their order.
_BATCH = 16


def draws_of(draws: Sequence[ForestDraws], tree: int) -> ForestDraws:
    """The draws that a tree belongs to."""
    return next(found for found in draws if found.first <= tree < found.stop)


def check_same_rows(draws: Sequence[ForestDraws]) -> None:
    """Refuses trees that were drawn from different tables, which have no common bag."""
    if any(found.n_rows != draws[-1].n_rows for found in draws):
        raise InputError(
            "Out-of-bag predictions need trees drawn from one table, but earlier trees were "
            "fitted to another number of rows. Set warm_start=False."
        )
    if not all(found.n_draws for found in draws):
        raise InputError(
            "Out of bag estimation only available if bootstrap=True: without it every tree has "
            "seen all rows."
        )


def out_of_bag_answers(
    forest: Forest, draws: Sequence[ForestDraws], rows: NDArray[Any], n_jobs: int | None = None
) -> tuple[Floats, Rows]:
    """Means over the trees that have not seen a row of what they say of it, and their number.

    Parameters
    ----------
    forest : Forest
    draws : sequence of ForestDraws
    rows : array (n_rows, n_columns), the training rows as nodes ask about them
    n_jobs : int, optional

    Returns
    -------
    answers : array (n_rows, n_values); NaN for a row that every tree has seen
    asked : array (n_rows,)
    """
    check_same_rows(draws)
    sums, asked = np.zeros((len(rows), forest.n_values)), np.zeros(len(rows), np.int64)

    def run(tree: int) -> tuple[Rows, Floats]:
        unseen = draws_of(draws, tree).out_of_bag(tree)
        return unseen, added_answers(forest, rows[unseen], first=tree, last=tree + 1)

    for start in range(0, forest.n_trees, _BATCH):
        batch = range(start, min(start + _BATCH, forest.n_trees))
        for unseen, answers in run_tasks(run, batch, n_jobs):
            sums[unseen] += answers
            asked[unseen] += 1
    with np.errstate(invalid="ignore"):
        return sums / np.where(asked > 0, asked, np.nan)[:, np.newaxis], asked


def warn_if_seen_by_all(asked: Rows) -> None:
    """Says how many rows have no out-of-bag prediction."""
    never = int((asked == 0).sum())
    if never:
        warnings.warn(
            f"Some inputs do not have OOB scores: {never} of {len(asked)} rows were drawn for "
            "every tree. Their out-of-bag prediction is NaN, and they count in no score. Use more "
            "trees.",
            stacklevel=2,
        )


def in_given_order(answers: Floats, kept: Rows | None, n_given: int) -> Floats:
    """Answers with a place for every row that `fit` was given; NaN for rows of weight zero."""
    if kept is None:
        return answers
    placed = np.full((n_given, *answers.shape[1:]), np.nan)
    placed[kept] = answers
    return placed
