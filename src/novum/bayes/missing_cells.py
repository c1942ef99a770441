"""That a cell is missing, as an outcome of its own.

    p(x_j | k) = P(j missing | k)                          if the cell is missing
               = P(j present | k) p_j(x_j | k)             if it is there

Where cells are missing because of the class (a test that is ordered for the sick only, a basket
that lists what was bought), the first factor is what tells the classes apart. It is a Bernoulli law
for each column under one pseudo-count for either outcome,

    P(j missing | k) = (weight of missing cells + 1) / (weight of the class + 2),

from sums that naive Bayes has anyway. A column whose cells were all there in training has no such
factor: nothing is known of what a gap in it would mean.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from novum.bayes.naive_bayes_statistics import NaiveBayesStatistics
from novum.core.errors import ModelFileError
from novum.core.tables import Sample, Schema
from novum.numerics import MISSING, Floats

PSEUDO_COUNT = 1.0
# Weights that were added and removed differ from their sums by rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class MissingBlock:
    """Whether cells are missing, of all columns of the schema.

    Attributes
    ----------
    log_missing, log_present : arrays of shape (n_columns, K)
        Log-probabilities that a cell is missing and that it is not; zero in both where training
        had no missing cell.
    """

    log_missing: Floats
    log_present: Floats

    def log_prior(self) -> float:
        """Log density, but a constant, of the beta prior of columns that had missing cells."""
        return PSEUDO_COUNT * float(self.log_missing.sum() + self.log_present.sum())

    def log_likelihood(self, sample: Sample) -> Floats:
        """Sum over the columns, of shape (n, K)."""
        gain = self.log_missing - self.log_present
        return _missing_cells(sample) @ gain + self.log_present.sum(axis=0)

    def contributions(self, sample: Sample) -> Floats:
        """Of each column, of shape (n, K, n_columns)."""
        absent = _missing_cells(sample)[:, np.newaxis] > 0
        return np.where(absent, self.log_missing.T, self.log_present.T)

    def check(self, schema: Schema, n_classes: int) -> None:
        """Refuses a block of a file that does not fit the model."""
        shape = (schema.n_columns, n_classes)
        for logs in (self.log_missing, self.log_present):
            if logs.shape != shape or not np.isfinite(logs).all() or (logs > 0).any():
                raise ModelFileError("The model's chances of missing cells do not fit its columns.")


def missing_block(statistics: NaiveBayesStatistics) -> MissingBlock:
    """Posterior means of the chances of a missing cell in every column and class."""
    present = _present_weight(statistics)
    total = statistics.class_count[np.newaxis]
    missing = np.maximum(total - present, 0.0)
    met = (missing > _ROUNDING * total).any(axis=1, keepdims=True)
    whole = np.log(total + 2 * PSEUDO_COUNT)
    return MissingBlock(
        np.where(met, np.log(missing + PSEUDO_COUNT) - whole, 0.0),
        np.where(met, np.log(np.maximum(present, 0.0) + PSEUDO_COUNT) - whole, 0.0),
    )


def _present_weight(statistics: NaiveBayesStatistics) -> Floats:
    """Weight of the known cells of every column in every class, (n_columns, K)."""
    schema, K = statistics.schema, statistics.n_classes
    present = np.empty((schema.n_columns, K))
    numbers, counts = statistics.reading.split(schema.numeric.size)
    if numbers.size:
        present[schema.numeric[numbers]] = statistics.moments.weight.reshape(K, -1).T
    if counts.size:
        missing = 0.0 if statistics.missing is None else statistics.missing
        present[schema.numeric[counts]] = (statistics.class_count[:, np.newaxis] - missing).T
    for j, _ in statistics.reading.laws:
        weights = (0.0 if part is None else part.weight for part in statistics.law_sums(j))
        present[schema.numeric[j]] = list(weights)
    for j, i in enumerate(schema.categorical):
        present[i] = statistics.table(j).sum(axis=0)
    return present


def _missing_cells(sample: Sample) -> Floats:
    """One where a cell is missing, else zero, of shape (n, n_columns)."""
    absent = np.zeros((sample.n_rows, sample.schema.n_columns))
    numeric = sample.numeric.toarray() if sample.is_sparse else sample.numeric
    absent[:, sample.schema.numeric] = np.isnan(numeric)
    absent[:, sample.schema.categorical] = sample.codes == MISSING
    return absent
