"""Categories, occurrences and counts within classes.

    categorical  log p(level | k), looked up; a level that training did not have has its own
                 predictive probability, a missing cell the factor one
    Bernoulli    x log p_kj + (1 - x) log(1 - p_kj)
    counts       sum_j x_j log t_kj                         t_kj sums to one over the columns

The last is the multinomial law without the coefficient `n! / prod x_j!`, which is the same in all
classes. If some counts of a row are missing, the others are multinomial given their sum, with
`t_kj` divided by its sum over the present columns: the missing ones are integrated out exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from novum.bayes.class_totals import occurrences, scores
from novum.bayes.column_models import MEstimate, pseudo_counts
from novum.bayes.naive_bayes_statistics import NaiveBayesStatistics
from novum.bayes.numeric_blocks import check_shapes
from novum.core.errors import ModelFileError
from novum.core.schema import Column, Schema
from novum.core.validation import Sample
from novum.numerics.counting import MISSING, UNSEEN
from novum.numerics.jit import as_argument

Floats = NDArray[np.float64]
Positions = NDArray[np.intp]

# Below this many terms (rows x columns x classes) NumPy takes less time than loading a kernel.
COMPILED_FROM_TERMS = 2**20


# --- Categories -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class CategoricalBlock:
    """Categorical columns.

    Attributes
    ----------
    starts : int64 array of shape (d + 1,)
        Where each column begins in `table`.
    table : array of shape (total number of levels + 2 d, K)
        Log-probabilities: for each column of an unseen level, of a missing cell (zero), and of the
        levels.
    pseudo_counts : array of shape (total number of levels + 2 d,)
        What the prior adds to the count of each row of `table`.
    """

    starts: NDArray[np.int64]
    table: Floats
    pseudo_counts: Floats

    def log_likelihood(self, sample: Sample) -> Floats:
        """Sum over the columns, of shape (n, K)."""
        out = np.zeros((sample.n_rows, self.table.shape[1]))
        if sample.codes.size * out.shape[1] < COMPILED_FROM_TERMS:
            for j in range(sample.codes.shape[1]):
                out += self.table[self._places(sample, j)]
            return out
        from novum.bayes.discrete_blocks_kernels import add_level_scores

        codes = as_argument(sample.codes, np.int32)
        add_level_scores(codes, as_argument(self.starts, np.int64), as_argument(self.table), out)
        return out

    def contributions(self, sample: Sample) -> Floats:
        """Of each column, of shape (n, K, d)."""
        columns = range(len(self.starts) - 1)
        return np.stack([self.table[self._places(sample, j)] for j in columns], axis=2)

    def draw(self, labels: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.int32]:
        """Codes of levels, one row for each class code; missing where a column has no level."""
        drawn = np.full((len(labels), len(self.starts) - 1), MISSING, np.int32)
        for j, (start, stop) in enumerate(zip(self.starts[:-1] + 2, self.starts[1:], strict=True)):
            if stop > start:
                heights = np.cumsum(np.exp(self.table[start:stop]), axis=0).T
                threshold = rng.random(len(labels)) * heights[labels, -1]
                below = heights[labels] <= threshold[:, np.newaxis]
                drawn[:, j] = np.minimum(below.sum(axis=1), stop - start - 1)
        return drawn

    def check(self, schema: Schema, n_classes: int) -> None:
        """Refuses a block of a file that does not fit the model: kernels do not check codes."""
        sizes = [column.n_levels + 2 for column in schema.categorical_columns]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        fits = np.array_equal(self.starts, starts) and self.table.shape == (starts[-1], n_classes)
        if not fits or self.pseudo_counts.shape != (starts[-1],) or np.isnan(self.table).any():
            raise ModelFileError("The model's table of levels does not fit its columns.")

    def _places(self, sample: Sample, j: int) -> NDArray[np.int64]:
        return self.starts[j] - UNSEEN + sample.codes[:, j].astype(np.int64)


def categorical_block(
    statistics: NaiveBayesStatistics, smoothing: Sequence[float | MEstimate]
) -> CategoricalBlock:
    """Posterior means of the levels' probabilities, one smoothing for each column."""
    columns = statistics.schema.categorical_columns
    tables = [
        level_table(column, statistics.table(j), smoothing[j]) for j, column in enumerate(columns)
    ]
    starts = np.concatenate([[0], np.cumsum([len(table) for table in tables])]).astype(np.int64)
    priors = []
    for column, strength in zip(columns, smoothing, strict=True):
        known, unseen, _ = pseudo_counts(strength, column)
        priors.append(np.concatenate([[unseen, 0.0], known]))
    return CategoricalBlock(starts, np.vstack(tables), np.concatenate(priors))


def level_table(column: Column, counts: Floats, smoothing: float | MEstimate) -> Floats:
    """Log-probabilities of an unseen level, of a missing cell, and of the levels: (L + 2, K)."""
    known, unseen, total_with_unseen = pseudo_counts(smoothing, column)
    total = counts.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        levels = np.log(counts + known[:, np.newaxis]) - np.log(total + known.sum())
        first_met = np.log(unseen) - np.log(total + total_with_unseen)
    # A class without a cell, and without a prior to fall back on, says nothing.
    silent = total + known.sum() == 0
    levels = np.where(silent, 0.0, levels)
    first_met = np.where(total + total_with_unseen == 0, 0.0, first_met)
    return np.vstack([first_met, np.zeros_like(total), levels])


# --- Occurrences ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class BernoulliBlock:
    """Columns of occurrences.

    Attributes
    ----------
    columns : array of shape (m,)
        Positions among the numeric columns.
    thresholds : array of shape (m,) or (1,)
        A cell occurs if it is larger.
    log_one, log_zero : arrays of shape (m, K)
        Log-probabilities that a cell occurs and that it does not.
    pseudo_counts : array of shape (m,) or (1,)
        What the prior adds to the count of either outcome.
    """

    columns: Positions
    thresholds: Floats
    log_one: Floats
    log_zero: Floats
    pseudo_counts: Floats

    def log_likelihood(self, sample: Sample) -> Floats:
        """Sum over the columns, of shape (n, K)."""
        X = sample.numeric if self._is_all(sample) else sample.numeric[:, self.columns]
        possible = np.isfinite(self.log_one).all() and np.isfinite(self.log_zero).all()
        if sample.is_sparse and possible:
            weights = self.log_one - self.log_zero
            return scores(X, weights, float(self.thresholds[0])) + self.log_zero.sum(axis=0)
        if sample.is_sparse:
            X = X.toarray()
        ones = self._occurs(X)
        zeros = np.where(np.isnan(X), 0.0, 1.0 - ones)
        return scores(ones, self.log_one) + scores(zeros, self.log_zero)

    def contributions(self, sample: Sample) -> Floats:
        """Of each column, of shape (n, K, m)."""
        X = sample.numeric[:, self.columns]
        X = X.toarray() if sample.is_sparse else X
        ones = self._occurs(X)[:, np.newaxis]
        found = np.where(ones > 0, self.log_one.T, self.log_zero.T)
        return np.where(np.isnan(X)[:, np.newaxis], 0.0, found)

    def draw(self, labels: NDArray[np.intp], rng: np.random.Generator) -> Floats:
        """Cells, one row for each class code: one above the threshold, or the threshold."""
        chance = np.exp(self.log_one.T[labels])
        return self.thresholds + (rng.random(chance.shape) < chance)

    def check(self, schema: Schema, n_classes: int) -> None:
        """Refuses a block of a file that does not fit the model."""
        check_shapes(self.columns, schema, n_classes, self.log_one.T, self.log_zero.T)
        shapes = ((1,), self.columns.shape)
        if not (self.thresholds.shape in shapes and self.pseudo_counts.shape in shapes):
            raise ModelFileError("The model has thresholds for other columns.")

    def _occurs(self, X: Floats) -> Floats:
        return np.where(np.isnan(X), 0.0, self.thresholds < X)

    def _is_all(self, sample: Sample) -> bool:
        return bool(self.columns.size == sample.numeric.shape[1])


def bernoulli_block(
    columns: Positions,
    thresholds: Floats,
    totals: Floats,
    weight: Floats,
    alpha: Floats,
) -> BernoulliBlock:
    """Posterior means under a pseudo-count for either outcome.

    `totals` (K, m) are the weights of cells that occur, `weight` (K, m) or (K, 1) those of all
    present cells, `alpha` (m,) or (1,) the pseudo-counts.
    """
    ones, all_ = (totals + alpha).T, (weight + 2 * alpha).T
    zeros = np.maximum(weight - totals, 0.0).T + np.reshape(alpha, (-1, 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        log_all = np.log(all_)
        log_one, log_zero = np.log(ones) - log_all, np.log(zeros) - log_all
    silent = np.broadcast_to(all_ == 0, ones.shape)
    if silent.any():
        log_one, log_zero = np.where(silent, 0.0, log_one), np.where(silent, 0.0, log_zero)
    return BernoulliBlock(columns, thresholds, log_one, log_zero, alpha)


# --- Counts ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class CountBlock:
    """Columns of counts with log-linear scores.

    Attributes
    ----------
    columns : array of shape (m,)
        Positions among the numeric columns.
    weights : array of shape (m, K)
        Score of one count of each column.
    mean_length : array of shape (K,)
        Expected sum of the counts of a row.
    pseudo_counts : array of shape (m,) or (1,)
        What the prior adds to the total of each column.
    normalized : bool
        Whether the weights are logarithms of probabilities that sum to one.
    """

    columns: Positions
    weights: Floats
    mean_length: Floats
    pseudo_counts: Floats
    normalized: bool = True

    def log_likelihood(self, sample: Sample) -> Floats:
        """Sum over the columns, of shape (n, K)."""
        X = sample.numeric
        X = X if self.columns.size == X.shape[1] else X[:, self.columns]
        if sample.is_sparse or not np.isnan(X).any():
            return scores(X, self.weights)
        cells, present = _filled(X)
        return scores(cells, self.weights) - self._lost(cells, present)

    def contributions(self, sample: Sample) -> Floats:
        """Of each column, of shape (n, K, m)."""
        X = sample.numeric[:, self.columns]
        cells, present = _filled(X.toarray() if sample.is_sparse else X)
        occurrences(cells, None)
        with np.errstate(invalid="ignore"):
            terms = cells[:, np.newaxis] * self.weights.T
        terms = np.where(cells[:, np.newaxis] > 0, terms, 0.0)
        length = np.maximum(cells.sum(axis=1), 1e-300)
        shares = (cells / length[:, np.newaxis])[:, np.newaxis]
        return terms - self._lost(cells, present)[:, :, np.newaxis] * shares

    def draw(self, labels: NDArray[np.intp], rng: np.random.Generator) -> Floats:
        """Counts, one row for each class code; the sum of a row is Poisson."""
        drawn = np.empty((len(labels), self.columns.size))
        for k in np.unique(labels):
            rows = np.flatnonzero(labels == k)
            chance = np.exp(self.weights[:, k])
            lengths = rng.poisson(self.mean_length[k], len(rows))
            drawn[rows] = rng.multinomial(lengths, chance / chance.sum())
        return drawn

    def check(self, schema: Schema, n_classes: int) -> None:
        """Refuses a block of a file that does not fit the model."""
        check_shapes(self.columns, schema, n_classes, self.weights.T)
        shapes = ((1,), self.columns.shape)
        if self.mean_length.shape != (n_classes,) or self.pseudo_counts.shape not in shapes:
            raise ModelFileError("The model has lengths of rows for other classes.")

    def _lost(self, cells: Floats, present: NDArray[np.bool_]) -> Floats:
        """`n log(sum of the present columns' probabilities)`: zero where no cell is missing."""
        if not self.normalized:
            return np.zeros((len(cells), self.weights.shape[1]))
        left = np.minimum(present @ np.exp(self.weights), 1.0)
        left = np.where(present.all(axis=1, keepdims=True), 1.0, left)
        length = cells.sum(axis=1)[:, np.newaxis]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(length > 0, length * np.log(left), 0.0)


def count_block(columns: Positions, expected: Floats, weight: Floats, alpha: Floats) -> CountBlock:
    """Posterior means of the columns' shares under a pseudo-count for each column.

    `expected` (K, m) are totals as `expected_totals` gives them, `weight` (K,) the weight of the
    classes, `alpha` (m,) or (1,) the pseudo-counts.
    """
    smoothed = expected + alpha
    total = smoothed.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(smoothed) - np.log(total)
    if not (total > 0).all():
        logs = np.where(total > 0, logs, 0.0)
    length = expected.sum(axis=1) / np.where(weight > 0, weight, 1.0)
    return CountBlock(columns, np.ascontiguousarray(logs.T), length, alpha)


def expected_totals(totals: Floats, missing: Floats | None, class_count: Floats) -> Floats:
    """Totals as they would be expected had no cell been missing: `N_kj W_k / W_kj`.

    Counts of independent Poisson columns have the rates `N_kj / W_kj`, by maximum likelihood, and
    are multinomial given their sum; a missing count is skipped exactly.
    """
    if missing is None:
        return totals
    weight = class_count[:, np.newaxis]
    present = np.maximum(weight - missing, 0.0)
    # A class without a cell of a column takes the rate of all classes together.
    of_all = totals.sum(axis=0) / np.maximum(present.sum(axis=0), np.finfo(float).tiny)
    rate = np.where(present > 0, totals / np.where(present > 0, present, 1.0), of_all)
    # Without a missing cell the total itself, to the last bit.
    return np.where(missing > 0, weight * rate, totals)


def _filled(X: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    absent = np.isnan(X)
    return np.where(absent, 0.0, X), ~absent
