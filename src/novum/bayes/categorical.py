"""Categorical naive Bayes: every column has its own probabilities of levels within every class.

    log P(k, x) = log P(k) + sum_j log p_kj(x_j),   p_kj(l) = (N_kjl + alpha) / (N_kj + alpha L_j)

`N_kjl` is the weight of rows of class k with level l in column j, `N_kj` of all its present cells.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from novum.bayes.column_models import level_prior
from novum.bayes.multinomial import PseudoCountModel
from novum.bayes.naive_bayes_statistics import NaiveBayesStatistics, Reading
from novum.core.errors import InputError
from novum.core.learners import count, parameter
from novum.core.tables import MISSING, Column, Kind, Sample, Schema
from novum.distributions import CategoricalBlock
from novum.numerics import Floats, Integers

# Codes beyond this are identifiers, not categories; the gaps between them are not filled.
_LARGEST_CODE = 2**20


class CategoricalNB(PseudoCountModel):
    """Categorical naive Bayes on codes, text or any categories.

    Parameters
    ----------
    alpha : float, default=1.0
        Pseudo-count of each level: the parameter of a Dirichlet prior.
    min_categories : int or array-like of shape (n_columns,), optional
        Least number of categories of columns of codes: codes 0 to `min_categories - 1` exist.

    Attributes
    ----------
    classes_, class_count_, class_prior_, class_log_prior_ : arrays of shape (n_classes,)
    category_count_, feature_log_prob_ : lists of arrays of shape (n_classes, n_categories of j)
    n_categories_ : array of shape (n_columns,)
    certificate_, statistics_, schema_
        As everywhere; `schema_` lists the levels in the order of their codes.

    Notes
    -----
    A column whose levels are all whole numbers of at least 0 is taken as codes, as in scikit-learn:
    all codes up to the largest exist, met or not. Other columns, such as text, have the levels that
    occur. A level that training did not have gets the predictive probability of one more level,
    `alpha / (N_kj + alpha (L_j + 1))`; a missing cell is skipped, exactly. Exact cross-validation
    knows the levels of all rows in every fold.

    Examples
    --------
    >>> from novum.bayes import CategoricalNB
    >>> model = CategoricalNB().fit([["sun"], ["sun"], ["rain"]], ["out", "out", "in"])
    >>> np.exp(model.feature_log_prob_[0]).round(4).tolist()
    [[0.6667, 0.3333], [0.25, 0.75]]
    >>> model.predict([["rain"], ["sun"]]).tolist()
    ['in', 'out']
    """

    categorical_features = "all"
    min_categories: Any = parameter(None, "array-like", count(), default=None)

    @property
    def n_categories_(self) -> Integers:
        return np.array([column.n_levels for column in self.schema_.columns], np.int64)

    @property
    def category_count_(self) -> list[Floats]:
        complete = self.statistics_.on(self.schema_)
        return [complete.table(j).T for j in range(self.schema_.n_columns)]

    @property
    def feature_log_prob_(self) -> list[Floats]:
        block = self._blocks[0]
        bounds = zip(block.starts[:-1] + 2, block.starts[1:], strict=True)
        return [block.table[start:stop].T for start, stop in bounds]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def _reading(self, schema: Schema) -> Reading:  # noqa: ARG002
        return Reading()

    def _read(self, X: Any, y: Any, sample_weight: Any, schema: Schema | None) -> Sample:
        return _as_categories(super()._read(X, y, sample_weight, schema))

    def _complete_schema(self, schema: Schema) -> Schema:
        least = _least_numbers(self.min_categories, schema.n_columns)
        pairs = zip(schema.columns, least, strict=True)
        return Schema(tuple(_with_all_codes(column, n) for column, n in pairs), schema.named)

    def _estimated_blocks(self, statistics: NaiveBayesStatistics) -> tuple[Any, ...]:
        n_columns = statistics.schema.n_columns
        alpha = np.broadcast_to(self._checked_alpha(n_columns), n_columns)
        pairs = zip(alpha.tolist(), statistics.schema.columns, strict=True)
        priors = [level_prior(value, column) for value, column in pairs]
        return (CategoricalBlock.estimate(statistics, priors),)


def _least_numbers(min_categories: Any, n_columns: int) -> list[int]:
    if min_categories is None:
        return [0] * n_columns
    least = np.asarray(min_categories)
    if least.dtype.kind not in "iu":
        raise InputError(f"'min_categories' should have integral type. Got {least.dtype} instead.")
    if least.ndim > 0 and least.shape != (n_columns,):
        raise InputError(
            f"'min_categories' should have shape ({n_columns},) when an array-like is provided. "
            f"Got {least.shape} instead."
        )
    return [int(value) for value in np.broadcast_to(least, (n_columns,))]


def _as_categories(sample: Sample) -> Sample:
    """A schema made elsewhere, as of a file, may call codes numbers: here they are categories."""
    if sample.schema.numeric.size == 0:
        return sample
    columns = list(sample.schema.columns)
    codes = np.empty((sample.n_rows, len(columns)), np.int32)
    codes[:, sample.schema.categorical] = sample.codes
    for j, i in enumerate(sample.schema.numeric):
        cells = sample.numeric[:, j]
        present = ~np.isnan(cells)
        levels, places = np.unique(cells[present], return_inverse=True)
        plain = (int(level) if level.is_integer() else level for level in levels.tolist())
        columns[i] = Column(columns[i].name, Kind.NOMINAL, tuple(plain))
        codes[:, i] = MISSING
        codes[present, i] = places
    schema = Schema(tuple(columns), sample.schema.named)
    return replace(sample, schema=schema, codes=codes, numeric=np.empty((sample.n_rows, 0)))


def _with_all_codes(column: Column, least: int) -> Column:
    """A nominal column of codes with all codes up to the largest."""
    codes = [level for level in column.levels if type(level) is int]
    whole = len(codes) == column.n_levels and all(0 <= code < _LARGEST_CODE for code in codes)
    if column.kind is not Kind.NOMINAL or not whole:
        return column
    return Column(column.name, Kind.NOMINAL, tuple(range(max([least, *(c + 1 for c in codes)]))))
