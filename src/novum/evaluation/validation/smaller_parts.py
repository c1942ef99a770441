"""Smaller parts of folds: nested ones for learning curves, thinned ones for halving.

The first rows of a training part, or rows drawn at random, may lack a class that the part has, and
no classifier learns a class that it does not meet. Where that happens the rows are taken in another
order, in which the classes take turns by their shares.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils import check_random_state, resample

from novum.core.errors import InputError
from novum.core.sums import Fold, fold_of
from novum.evaluation.validation.splits import Splits
from novum.numerics import Positions


def nested_splits(
    planned: Splits,
    trains: Sequence[Positions],
    sizes: Positions,
    shuffle: bool,
    random_state: Any,
    labels: Any = None,
    groups: Any = None,
) -> Splits:
    """Folds of all sizes, size after size within a fold; a smaller part begins a larger one."""
    rng = check_random_state(random_state) if shuffle else None
    parts = []
    for train, fold in zip(trains, planned.parts, strict=True):
        order = train if rng is None else rng.permutation(train)
        if labels is not None and labels.ndim == 1 and not planned.in_time:
            order = with_every_class(order, int(sizes[0]), labels, groups)
        parts += [Fold(order[:size], fold.test) for size in sizes]
    name = f"{planned.name}, {len(sizes)} sizes"
    return Splits(tuple(parts), planned.n_rows, 1, len(parts), name)


def thinned(
    splits: Splits, fraction: float, random_state: Any, labels: Any = None, weight: Any = None
) -> Splits:
    """The folds with a share of the rows of each side, drawn without replacement.

    Where the rows drawn lack one of the `labels` of a side, they are drawn within them. Rows of
    weight 0 are not drawn and stay.
    """
    counts = np.ones(splits.n_rows) if weight is None else np.asarray(weight)

    def some(side: Any) -> Any:
        rows, absent = side[counts[side] > 0], side[counts[side] <= 0]
        kept = int(fraction * len(rows))
        if kept == 0:
            raise InputError(
                f"A fold of {len(rows)} rows has none left at a share of {fraction:.3g}. Use fewer "
                "folds or a larger min_resources."
            )
        drawn = resample(rows, replace=False, random_state=random_state)
        if labels is not None and labels.ndim == 1:
            drawn = with_every_class(drawn, kept, labels)
        return np.append(drawn[:kept], absent)

    parts: list[Fold] = [
        fold_of(some(train), some(test), splits.n_rows) for train, test in splits.split()
    ]
    name = f"{splits.name}, {fraction:.3g} of the rows"
    return Splits(tuple(parts), splits.n_rows, splits.n_repeats, splits.n_folds, name)


def with_every_class(order: Positions, size: int, labels: Any, groups: Any = None) -> Positions:
    """Rows in an order whose first `size` hold every class.

    They stay as they are if they do. Otherwise groups that bring a class come first; where that is
    not enough, or there are no groups, classes take turns by their shares, each with one row before
    any has its second.

    Parameters
    ----------
    order : int array of shape (n,)
    size : int
    labels : array of shape (n_rows,)
    groups : array of shape (n_rows,), optional

    Examples
    --------
    >>> labels = np.array(["a", "a", "a", "a", "b", "b"])
    >>> with_every_class(np.arange(6), 2, labels).tolist()
    [0, 4, 1, 2, 5, 3]
    >>> with_every_class(np.arange(6), 5, labels).tolist()
    [0, 1, 2, 3, 4, 5]
    """
    _, codes = np.unique(labels[order], return_inverse=True)
    counts = np.bincount(codes)
    if len(np.unique(codes[:size])) == len(counts):
        return order
    if groups is not None:
        _, of_row = np.unique(np.asarray(groups)[order], return_inverse=True)
        _, met = np.unique(codes, return_index=True)
        leading = np.isin(of_row, of_row[met])
        by_group = np.lexsort((np.arange(len(order)), of_row, ~leading))
        return with_every_class(order[by_group], size, labels)
    turn = np.empty(len(order))
    for code, count in enumerate(counts.tolist()):
        turn[codes == code] = np.r_[-1.0, np.arange(1, count) / count]
    return order[np.argsort(turn, kind="stable")]
