"""Categories, occurrences and counts within classes.

    categorical  log p(level | k), looked up; a level that training did not have has its own
                 predictive probability, a missing cell the factor one
    Bernoulli    x log p_kj + (1 - x) log(1 - p_kj)
    counts       sum_j x_j log t_kj                         t_kj sums to one over the columns

The last is the multinomial law without the coefficient `n! / prod x_j!`, which is the same in all
classes. If some counts of a row are missing, the others are multinomial given their sum, with
`t_kj` divided by its sum over the present columns: the missing ones are integrated out exactly.

All are posterior means under pseudo-counts `a` (beta and Dirichlet priors), so that without a row
of weight w its class has

    categories   (N_l - w + a_l) / (N - w + sum a)
    counts       t_j = (N_j - w x_j + a_j) / sum_l (N_l - w x_l + a_l).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse

from novum.core.errors import ModelFileError
from novum.core.tables import Sample, Schema
from novum.distributions.classwise.class_totals import occurrences, scores
from novum.distributions.classwise.protocol import ClassSums, check_shapes, numeric_cells
from novum.numerics import MISSING, UNSEEN, Codes, Floats, Integers, Mask, Positions, as_argument

# Below this many terms (rows x columns x classes) NumPy takes less time than loading a kernel.
COMPILED_FROM_TERMS = 2**20

# Cells of a dense part of sparse rows.
_PART_CELLS = 2**22


class LevelPrior(NamedTuple):
    """Pseudo-counts of a categorical column.

    Of each level (L,), of a level that it does not have, and their total with such a level.
    """

    levels: Floats
    unseen: float
    total: float


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

    starts: Integers
    table: Floats
    pseudo_counts: Floats

    @classmethod
    def estimate(cls, sums: ClassSums, priors: Sequence[LevelPrior]) -> CategoricalBlock:
        """Posterior means of the levels' probabilities, one prior for each column."""
        tables = [level_table(sums.table(j), prior) for j, prior in enumerate(priors)]
        starts = np.concatenate([[0], np.cumsum([len(table) for table in tables])])
        pseudo_counts = [np.concatenate([[p.unseen, 0.0], p.levels]) for p in priors]
        return cls(starts.astype(np.int64), np.vstack(tables), np.concatenate(pseudo_counts))

    def log_prior(self) -> float:
        """`sum a log p` over the levels: the log density of the Dirichlet prior but a constant."""
        is_level = np.ones(len(self.table), bool)
        is_level[[*self.starts[:-1], *(self.starts[:-1] + 1)]] = False
        counts, logs = self.pseudo_counts[is_level], self.table[is_level]
        return float(counts[counts > 0] @ logs[counts > 0].sum(axis=1))

    def log_likelihood(self, sample: Sample) -> Floats:
        """Sum over the columns, of shape (n, K)."""
        out = np.zeros((sample.n_rows, self.table.shape[1]))
        if sample.codes.size * out.shape[1] < COMPILED_FROM_TERMS:
            for j in range(sample.codes.shape[1]):
                out += self.table[self._places(sample, j)]
            return out
        from novum.distributions.classwise.classwise_kernels import add_level_scores

        codes = as_argument(sample.codes, np.int32)
        add_level_scores(codes, as_argument(self.starts, np.int64), as_argument(self.table), out)
        return out

    def contributions(self, sample: Sample) -> Floats:
        """Of each column, of shape (n, K, d)."""
        columns = range(len(self.starts) - 1)
        return np.stack([self.table[self._places(sample, j)] for j in columns], axis=2)

    def draw(self, labels: Positions, rng: np.random.Generator) -> Codes:
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

    def leave_one_out(
        self, sample: Sample, sums: ClassSums, weight: Floats
    ) -> tuple[Floats, Floats]:
        """Scores of the rows by their own classes without them, and what is left of those."""
        own, total = sample.target, np.zeros(sample.n_rows)
        for j, (start, stop) in enumerate(zip(self.starts[:-1] + 2, self.starts[1:], strict=True)):
            alpha = self.pseudo_counts[start:stop]
            counts, codes = sums.table(j), sample.codes[:, j]
            present = codes >= 0
            level = np.where(present, codes, 0)
            if counts.size:
                cell = np.log(counts[level, own] - weight + alpha[level])
                terms = cell - np.log(counts.sum(axis=0)[own] - weight + alpha.sum())
                total += np.where(present, terms, 0.0)
        return total, np.ones(sample.n_rows)

    def _places(self, sample: Sample, j: int) -> Integers:
        return self.starts[j] - UNSEEN + sample.codes[:, j].astype(np.int64)


def level_table(counts: Floats, prior: LevelPrior) -> Floats:
    """Log-probabilities of an unseen level, of a missing cell, and of the levels: (L + 2, K)."""
    total = counts.sum(axis=0)
    whole = prior.levels.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        levels = np.log(counts + prior.levels[:, np.newaxis]) - np.log(total + whole)
        first_met = np.log(prior.unseen) - np.log(total + prior.total)
    # A class without a cell, and without a prior to fall back on, says nothing.
    levels = np.where(total + whole == 0, 0.0, levels)
    first_met = np.where(total + prior.total == 0, 0.0, first_met)
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

    @classmethod
    def estimate(
        cls, columns: Positions, sums: ClassSums, thresholds: Floats, alpha: Floats
    ) -> BernoulliBlock:
        """Posterior means under a pseudo-count (m,) or (1,) for either outcome."""
        totals, missing = sums.totals_of(columns)
        weight = sums.class_count[:, np.newaxis]
        if missing is not None:
            weight = np.maximum(weight - missing, 0.0)
        ones, all_ = (totals + alpha).T, (weight + 2 * alpha).T
        zeros = np.maximum(weight - totals, 0.0).T + np.reshape(alpha, (-1, 1))
        with np.errstate(divide="ignore", invalid="ignore"):
            log_all = np.log(all_)
            log_one, log_zero = np.log(ones) - log_all, np.log(zeros) - log_all
        silent = np.broadcast_to(all_ == 0, ones.shape)
        if silent.any():
            log_one, log_zero = np.where(silent, 0.0, log_one), np.where(silent, 0.0, log_zero)
        return cls(columns, thresholds, log_one, log_zero, alpha)

    def log_prior(self) -> float:
        """`sum a (log p + log(1 - p))`: the log density of the beta prior but a constant."""
        counts = np.broadcast_to(self.pseudo_counts, self.columns.shape)
        logs = (self.log_one + self.log_zero)[counts > 0]
        return float(counts[counts > 0] @ logs.sum(axis=1))

    def log_likelihood(self, sample: Sample) -> Floats:
        """Sum over the columns, of shape (n, K)."""
        X = numeric_cells(sample, self.columns)
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
        logs = np.where(ones > 0, self.log_one.T, self.log_zero.T)
        return np.where(np.isnan(X)[:, np.newaxis], 0.0, logs)

    def draw(self, labels: Positions, rng: np.random.Generator) -> Floats:
        """Cells, one row for each class code: one above the threshold, or the threshold."""
        chance = np.exp(self.log_one.T[labels])
        return self.thresholds + (rng.random(chance.shape) < chance)

    def check(self, schema: Schema, n_classes: int) -> None:
        """Refuses a block of a file that does not fit the model."""
        check_shapes(self.columns, schema, n_classes, self.log_one.T, self.log_zero.T)
        shapes = ((1,), self.columns.shape)
        if not (self.thresholds.shape in shapes and self.pseudo_counts.shape in shapes):
            raise ModelFileError("The model has thresholds for other columns.")

    def leave_one_out(
        self, sample: Sample, sums: ClassSums, weight: Floats
    ) -> tuple[Floats, Floats]:
        """Scores of the rows by their own classes without them, and what is left of those."""
        ones, missing = sums.totals_of(self.columns)
        known = np.broadcast_to(sums.class_count[:, np.newaxis], ones.shape)
        if missing is not None:
            known = known - missing
        total = np.zeros(sample.n_rows)
        height = max(1, _PART_CELLS // max(1, self.columns.size))
        for start in range(0, sample.n_rows, height):
            rows = slice(start, start + height)
            X = sample.numeric[rows][:, self.columns]
            X = X.toarray() if sparse.issparse(X) else X
            own, w = sample.target[rows], weight[rows, np.newaxis]
            happened = np.where(self.thresholds < X, ones[own], (known - ones)[own])
            terms = np.log(happened - w + self.pseudo_counts)
            terms = terms - np.log(known[own] - w + 2 * self.pseudo_counts)
            total[rows] = np.where(np.isnan(X), 0.0, terms).sum(axis=1)
        return total, np.ones(sample.n_rows)

    def _occurs(self, X: Floats) -> Floats:
        return np.where(np.isnan(X), 0.0, self.thresholds < X)


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

    @classmethod
    def estimate(cls, columns: Positions, sums: ClassSums, alpha: Floats) -> CountBlock:
        """Posterior means of the columns' shares under a pseudo-count (m,) or (1,) for each."""
        expected = expected_totals(*sums.totals_of(columns), sums.class_count)
        smoothed = expected + alpha
        total = smoothed.sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(smoothed) - np.log(total)
        if not (total > 0).all():
            logs = np.where(total > 0, logs, 0.0)
        length = expected.sum(axis=1) / np.where(sums.class_count > 0, sums.class_count, 1.0)
        return cls(columns, np.ascontiguousarray(logs.T), length, alpha)

    def log_prior(self) -> float:
        """`sum a log p`: the log density of the Dirichlet prior but a constant."""
        counts = np.broadcast_to(self.pseudo_counts, self.columns.shape)
        return float(counts[counts > 0] @ self.weights[counts > 0].sum(axis=1))

    def log_likelihood(self, sample: Sample) -> Floats:
        """Sum over the columns, of shape (n, K)."""
        X = numeric_cells(sample, self.columns)
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

    def draw(self, labels: Positions, rng: np.random.Generator) -> Floats:
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

    def leave_one_out(
        self, sample: Sample, sums: ClassSums, weight: Floats
    ) -> tuple[Floats, Floats]:
        """Scores of the rows by their own classes without them, and what is left of those."""
        totals, missing = sums.totals_of(self.columns)
        if missing is not None and missing.any():
            # Totals are then expectations, in which every row takes part.
            return np.zeros(sample.n_rows), np.zeros(sample.n_rows)
        cells = sparse.coo_matrix(sample.numeric[:, self.columns])
        own, alpha = sample.target, np.broadcast_to(self.pseudo_counts, self.columns.shape)
        row, column, x = cells.row, cells.col, cells.data
        share = np.log(totals[own[row], column] - weight[row] * x + alpha[column])
        score: Floats = np.bincount(row, x * share, sample.n_rows).astype(float)
        length = np.bincount(row, x, sample.n_rows)
        total = totals.sum(axis=1)[own] - weight * length + alpha.sum()
        return score - np.where(length > 0, length * np.log(total), 0.0), np.ones(sample.n_rows)

    def _lost(self, cells: Floats, present: Mask) -> Floats:
        """`n log(sum of the present columns' probabilities)`: zero where no cell is missing."""
        if not self.normalized:
            return np.zeros((len(cells), self.weights.shape[1]))
        left = np.minimum(present @ np.exp(self.weights), 1.0)
        left = np.where(present.all(axis=1, keepdims=True), 1.0, left)
        length = cells.sum(axis=1)[:, np.newaxis]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(length > 0, length * np.log(left), 0.0)


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


def _filled(X: Floats) -> tuple[Floats, Mask]:
    absent = np.isnan(X)
    return np.where(absent, 0.0, X), ~absent
