"""Leaving one row out of naive Bayes without fitting again: subtract the row's own share.

A row takes part only in the sums of its own class, so without it the other classes score it as
before, and its own class scores it with

    numbers      W' = W - w,   m' = m - w (x - m) / W',   S' = S - w (x - m)^2 W / W'
    categories   (N_l - w + a_l) / (N - w + sum a)
    counts       t_j = (N_j - w x_j + a_j) / sum_l (N_l - w x_l + a_l)

The second result says how much of the class is left: where a scatter all but vanishes, or a least
variance steps in that depends on all rows, the caller fits again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from novum.bayes.class_moments import pooled
from novum.bayes.discrete_blocks import BernoulliBlock, CategoricalBlock, CountBlock
from novum.bayes.naive_bayes_statistics import NaiveBayesStatistics
from novum.bayes.numeric_blocks import GaussianBlock, by_class
from novum.core.validation import Sample
from novum.numerics.column_moments import ColumnMoments

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

# Variances closer than this to the least variance of their column are fitted again.
_NEAR_FLOOR = 1e-6

# Cells of a dense part of sparse rows.
_PART_CELLS = 2**22


def leaves_quickly(blocks: tuple[Any, ...]) -> bool:
    """Whether every block has a formula."""
    return all(type(block) in _FORMULAS for block in blocks)


def left_out_scores(
    blocks: tuple[Any, ...], sample: Sample, statistics: NaiveBayesStatistics
) -> tuple[Floats, Floats]:
    """For every row its own class's log-likelihood without it, and what part of the class is left.

    Parameters
    ----------
    blocks : blocks estimated from `statistics`
    sample : Sample
        The rows behind `statistics`, coded by its schema; weights of zero are allowed.
    statistics : NaiveBayesStatistics

    Returns
    -------
    scores, remainder : arrays of shape (n,)
    """
    weight = np.ones(sample.n_rows) if sample.weight is None else np.asarray(sample.weight)
    own = sample.target
    left = 1 - weight / np.maximum(statistics.class_count[own], np.finfo(float).tiny)
    scores = np.zeros(sample.n_rows)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for block in blocks:
            part, rest = _FORMULAS[type(block)](block, sample, statistics, own, weight)
            scores += part
            left = np.minimum(left, rest)
    return np.where(np.isnan(scores), 0.0, scores), np.where(np.isnan(scores), 0.0, left)


# --- One formula for each block -------------------------------------------------------------------


def _without_normal(
    block: GaussianBlock, sample: Sample, statistics: NaiveBayesStatistics, own: Codes, w: Floats
) -> tuple[Floats, Floats]:
    numbers = statistics.reading.split(sample.numeric.shape[1])[0]
    places = np.searchsorted(numbers, block.columns)
    count, mean, scatter = (
        part[:, places] for part in by_class(statistics.moments, statistics.n_classes)
    )
    parts = (part.ravel() for part in (count, mean, scatter))
    of_all = pooled(ColumnMoments(*parts), statistics.n_classes).variance()
    limit = _NEAR_FLOOR * np.where(np.isnan(of_all), 0.0, of_all)
    # A least variance, or the law of all classes in place of an empty one, changes with every row.
    if ((block.variance <= limit) | (count == 0) | ~np.isfinite(block.variance)).any():
        return np.zeros(sample.n_rows), np.zeros(sample.n_rows)
    X = sample.numeric[:, block.columns]
    present = ~np.isnan(X)
    weight = w[:, np.newaxis]
    before, left = count[own], count[own] - weight
    delta = X - mean[own]
    rest = scatter[own] - weight * delta**2 * before / left
    variance = rest / left
    terms = -0.5 * np.log(2 * np.pi * variance) - 0.5 * (delta * before / left) ** 2 / variance
    share = np.where(present, np.minimum(rest / scatter[own], left / before), 1.0)
    share = np.where(present & ~(variance > limit), 0.0, share)
    return np.where(present, terms, 0.0).sum(axis=1), share.min(axis=1)


def _without_category(
    block: CategoricalBlock, sample: Sample, statistics: NaiveBayesStatistics, own: Codes, w: Floats
) -> tuple[Floats, Floats]:
    scores = np.zeros(sample.n_rows)
    for j, (start, stop) in enumerate(zip(block.starts[:-1] + 2, block.starts[1:], strict=True)):
        alpha = block.pseudo_counts[start:stop]
        counts, codes = statistics.table(j), sample.codes[:, j]
        present = codes >= 0
        level = np.where(present, codes, 0)
        if counts.size:
            cell = np.log(counts[level, own] - w + alpha[level])
            terms = cell - np.log(counts.sum(axis=0)[own] - w + alpha.sum())
            scores += np.where(present, terms, 0.0)
    return scores, np.ones(sample.n_rows)


def _without_occurrence(
    block: BernoulliBlock, sample: Sample, statistics: NaiveBayesStatistics, own: Codes, w: Floats
) -> tuple[Floats, Floats]:
    places = _places(block, sample, statistics)
    ones = statistics.totals[:, places]
    known = np.broadcast_to(statistics.class_count[:, np.newaxis], ones.shape)
    if statistics.missing is not None:
        known = known - statistics.missing[:, places]
    scores = np.zeros(sample.n_rows)
    height = max(1, _PART_CELLS // max(1, places.size))
    for start in range(0, sample.n_rows, height):
        rows = slice(start, start + height)
        X = sample.numeric[rows][:, block.columns]
        X = X.toarray() if sparse.issparse(X) else X
        mine, weight = own[rows], w[rows, np.newaxis]
        happened = np.where(block.thresholds < X, ones[mine], (known - ones)[mine])
        terms = np.log(happened - weight + block.pseudo_counts)
        terms = terms - np.log(known[mine] - weight + 2 * block.pseudo_counts)
        scores[rows] = np.where(np.isnan(X), 0.0, terms).sum(axis=1)
    return scores, np.ones(sample.n_rows)


def _without_counts(
    block: CountBlock, sample: Sample, statistics: NaiveBayesStatistics, own: Codes, w: Floats
) -> tuple[Floats, Floats]:
    places = _places(block, sample, statistics)
    if statistics.missing is not None and statistics.missing[:, places].any():
        # Totals are then expectations, in which every row takes part.
        return np.zeros(sample.n_rows), np.zeros(sample.n_rows)
    cells = sparse.coo_matrix(sample.numeric[:, block.columns])
    totals = statistics.totals[:, places]
    alpha = np.broadcast_to(block.pseudo_counts, (places.size,))
    row, column, x = cells.row, cells.col, cells.data
    share = np.log(totals[own[row], column] - w[row] * x + alpha[column])
    scores: Floats = np.bincount(row, x * share, sample.n_rows).astype(float)
    length = np.bincount(row, x, sample.n_rows)
    total = totals.sum(axis=1)[own] - w * length + alpha.sum()
    return scores - np.where(length > 0, length * np.log(total), 0.0), np.ones(sample.n_rows)


def _places(block: Any, sample: Sample, statistics: NaiveBayesStatistics) -> NDArray[np.intp]:
    counted = statistics.reading.split(sample.numeric.shape[1])[1]
    return np.searchsorted(counted, block.columns)


_FORMULAS: dict[type, Callable[..., tuple[Floats, Floats]]] = {
    GaussianBlock: _without_normal,
    CategoricalBlock: _without_category,
    BernoulliBlock: _without_occurrence,
    CountBlock: _without_counts,
}
