"""Filling missing cells: a step of its own, before a learner that needs every cell.

    numeric    the mean or the median of the known cells, or a constant
    nominal    a level of its own ("missing"), or the most frequent level
    ordinal    the median level, or the most frequent one

A filled cell looks like a measured one, so for every column that had missing cells in training a
column of zeros and ones is added that says where (unless the cell's own level says it). Centers and
counts add up over chunks (`filling_columns`), so filling is fitted out of core, on a cluster, and
rows are removed exactly. Learners that treat missing as missing do better without this step;
`docs/guides/missing_cells.md` says which.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from novum.core.errors import InputError, ModelFileError
from novum.core.learners import Certificate, Verdict, parameter
from novum.core.tables import (
    MISSING,
    Column,
    Kind,
    Level,
    Sample,
    check_features,
    level_key,
    output_library,
    with_columns,
    with_levels,
    with_numbers,
)
from novum.data.filling.filling_columns import FillingColumns, LevelCounts
from novum.data.scaling.transformer import ScalingStatistics, ScalingTransformer
from novum.numerics import Array, Floats, Integers, Mask


class FillMissing(ScalingTransformer):
    """Fills missing cells of every kind, and says where it did.

    Parameters
    ----------
    numeric : {"mean", "median", "constant"}, default="mean"
        What numeric columns are filled with.
    nominal : {"level", "most_frequent"}, default="level"
        A level of its own, or the most frequent one; columns that were complete in training get
        the most frequent one, since nothing was learned about a level of their own.
    ordinal : {"median", "most_frequent"}, default="median"
        The level of ordinal columns, whose order leaves no place for one more.
    indicators : bool, default=True
        Whether a column of zeros and ones is added for each column with missing cells in training;
        not for columns where a level of its own says as much.
    fill_value : float, default=0.0
        The constant; also for numeric columns of which training knew no cell.
    level : str, default="missing"
        Name of the level of its own; a number is added where the column has that level already
        ("missing_2"). Where levels are numbers it is one less than the least.
    categorical_features : "auto", "all", None, mask, names or positions, default="auto"
        Columns that are not numeric.

    Attributes
    ----------
    fill_numbers_ : array (number of numeric columns,)
    fill_levels_ : tuple
        A level for each other column.
    filled_ : array (n_features_in_,)
        Weight of the missing cells of each column in training; without weights their number.
    indicator_features_ : int array
        Positions of the columns that have an indicator.
    statistics_, schema_, certificate_

    Notes
    -----
    `O(n d)`; the median keeps the different values of each column. Truth values have no third
    level and get the more frequent one. Levels never met in training pass through. A column that
    was complete in training is filled all the same, without an indicator; `count_missing` counts.

    Examples
    --------
    >>> model = FillMissing().fit([[1.0, "a"], [3.0, None], [np.nan, "a"]])
    >>> model.transform([[np.nan, None]]).tolist(), model.filled_.tolist()
    ([[2.0, 'missing', 1.0]], [1.0, 1.0])
    >>> model.get_feature_names_out().tolist()
    ['x0', 'x1', 'x0_is_missing']
    """

    invariances = ("row_order", "duplication")

    numeric: str = parameter({"mean", "median", "constant"}, default="mean", kw_only=False)
    nominal: str = parameter({"level", "most_frequent"}, default="level", kw_only=False)
    ordinal: str = parameter({"median", "most_frequent"}, default="median")
    indicators: bool = parameter(default=True)
    fill_value: float = parameter(Interval(Real, None, None, closed="neither"), default=0.0)
    level: str = parameter(default="missing")
    categorical_features: Any = parameter(str, None, "array-like", default="auto")

    @property
    def _holds_training_rows(self) -> bool:
        """Medians keep values of single cells, though not which row they came from."""
        return self.numeric == "median"

    # Fit

    def _columns(self, sample: Sample) -> FillingColumns:
        return FillingColumns.of(sample, self.numeric)

    def _estimate_columns(self, statistics: ScalingStatistics) -> Certificate:
        columns: FillingColumns = statistics.columns
        schema = statistics.schema
        centers = columns.centers()
        unknown = np.isnan(centers)
        self.fill_numbers_ = np.where(unknown, float(self.fill_value), centers)
        self.fill_levels_ = tuple(
            self._fill_level(columns.levels, j) for j in range(len(columns.levels.columns))
        )
        self.filled_ = np.zeros(schema.n_columns)
        self.filled_[schema.numeric] = columns.missing
        self.filled_[schema.categorical] = columns.levels.missing
        self.indicator_features_ = self._indicated(schema.columns)
        self._refuse_taken_names(schema.names)
        return Certificate(
            objective="missing cells filled",
            verdict=Verdict.PROVED,
            value=float(self.filled_.sum()),
            details={
                "columns_with_missing": int(np.count_nonzero(self.filled_)),
                "unknown_columns": int(np.count_nonzero(columns.known == 0)),
            },
        )

    def _fill_level(self, counts: LevelCounts, j: int) -> Level:
        column = counts.columns[j]
        if column.kind is Kind.ORDINAL and self.ordinal == "median":
            usual = counts.median(j)
        else:
            usual = counts.most_frequent(j)
        # A level that training never met would say nothing to the learner behind.
        if usual is not None and not (self._has_own_level(column) and counts.missing[j] > 0):
            return usual
        return self._own_level(column)

    def _has_own_level(self, column: Column) -> bool:
        """Whether missing cells of the column become a level of their own."""
        is_truth = any(isinstance(level, bool) for level in column.levels)
        return self.nominal == "level" and column.kind is Kind.NOMINAL and not is_truth

    def _own_level(self, column: Column) -> Level:
        numbers = [level for level in column.levels if not isinstance(level, (str, bool))]
        if numbers:
            return min(numbers) - 1
        names = (self.level, *(f"{self.level}_{i}" for i in range(2, column.n_levels + 2)))
        return next(name for name in names if level_key(name) not in column.positions)

    def _indicated(self, columns: tuple[Column, ...]) -> Integers:
        wanted = [
            i
            for i, column in enumerate(columns)
            if self.indicators and self.filled_[i] > 0 and not self._has_own_level(column)
        ]
        return np.array(wanted, np.int64)

    def _refuse_taken_names(self, names: tuple[str, ...]) -> None:
        taken = set(names) & {indicator_name(names[i]) for i in self.indicator_features_}
        if taken:
            raise InputError(
                f"The table has a column {min(taken)!r} already, which an indicator would be "
                "called. Rename it, or leave out the indicators (indicators=False)."
            )

    # Filling

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags

    def transform(self, X: Any) -> Any:
        """The table with its missing cells filled, and the indicators behind its columns.

        Arrays give arrays and frames frames of the same library, unless `set_output` says
        otherwise.
        """
        check_is_fitted(self)
        sample = check_features(self, X, allow_missing=True, tell_unseen=False)
        out = with_numbers(X, sample.schema, self._forward(sample.numeric), output_library(self))
        gone = sample.codes == MISSING
        fills = {
            int(i): (gone[:, j], self.fill_levels_[j])
            for j, i in enumerate(sample.schema.categorical)
        }
        names = [indicator_name(sample.schema.names[i]) for i in self.indicator_features_]
        out, flags = with_levels(out, fills), self._flags(sample)
        return with_columns(out, names, flags.astype(getattr(out, "dtype", flags.dtype)))

    def count_missing(self, X: Any) -> Integers:
        """How many cells of each column of `X` would be filled, of shape (n_features_in_,)."""
        check_is_fitted(self)
        sample = check_features(self, X, allow_missing=True, tell_unseen=False)
        return np.asarray(_missing(sample).sum(axis=0), np.int64)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Names of the columns after `transform`: those of the table, then the indicators'.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the table's columns, where it had none.
        """
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        added = [indicator_name(str(names[i])) for i in self.indicator_features_]
        return np.concatenate([names, np.array(added, object)])

    def _flags(self, sample: Sample) -> Floats:
        return _missing(sample)[:, self.indicator_features_].astype(float)

    def _forward(self, X: Floats) -> Floats:
        return np.where(np.isnan(X), self.fill_numbers_, X)

    def _has_scale(self) -> Mask:
        return np.isfinite(self.fill_numbers_)

    def _check_state(self) -> None:
        super()._check_state()
        n_columns = self.schema_.n_columns
        places = self.indicator_features_
        fits = (
            len(self.fill_levels_) == self.schema_.categorical.size
            and self.filled_.shape == (n_columns,)
            and self._has_scale().all()
            and places.ndim == 1
            and places.dtype.kind == "i"
            and ((places >= 0) & (places < n_columns)).all()
        )
        if not fits:
            raise ModelFileError("The parts of this filling do not fit its columns.")


def indicator_name(name: str) -> str:
    """The name of the column that says where `name` was missing."""
    return f"{name}_is_missing"


def _missing(sample: Sample) -> Mask:
    """Missing cells, of shape (n, n_columns)."""
    mask = np.zeros((sample.n_rows, sample.schema.n_columns), bool)
    mask[:, sample.schema.numeric] = np.isnan(sample.numeric)
    mask[:, sample.schema.categorical] = sample.codes == MISSING
    return mask
