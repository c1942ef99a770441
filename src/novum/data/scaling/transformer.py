"""What all scalings share: kinds, containers, missing cells, and fits from sums.

    read  ->  sum the numeric columns  ->  estimate  ->  store
    transform:  numeric columns change, nominal and ordinal ones pass through untouched

What is summed is a value with `+`, `-`, `*` and `isclose` of its own: moments, extremes or counted
values of each numeric column. Nominal and ordinal columns take no part, but their levels unite, so
that parts of a table with other levels fit together. A scaling says what it sums (`_columns`), what
it makes of the sum (`_estimate_columns`) and how numbers change (`_forward`, and `_backward` where
that exists).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import OneToOneFeatureMixin, TransformerMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from novum.core.errors import InputError, ModelFileError
from novum.core.files import TableFile
from novum.core.learners import Certificate, Learner, fitted, parameter
from novum.core.runtime import fit_context, fitting, kept_float, sum_on_cluster
from novum.core.sums import Additive, ChunkStep, StatisticsMixin, sum_blocks, sum_chunks
from novum.core.tables import (
    Sample,
    Schema,
    check_features,
    check_sample,
    output_library,
    with_numbers,
)
from novum.numerics import Floats, Mask


def _goes_back(model: ScalingTransformer) -> bool:
    """Whether the scaling can be undone; `inverse_transform` does not exist otherwise."""
    return hasattr(model, "_backward")


class ScalingTransformer(StatisticsMixin, OneToOneFeatureMixin, TransformerMixin, Learner):
    """The shared fit and transform; see `StandardScaler`."""

    categorical_features: Any = parameter(str, None, "array-like", default="auto")

    statistics_: Any = fitted()
    schema_: Schema = fitted()
    certificate_: Certificate = fitted()

    # What a scaling says

    @abstractmethod
    def _columns(self, sample: Sample) -> Any:
        """The sum over the numeric columns of a sample."""

    @abstractmethod
    def _estimate_columns(self, statistics: Any) -> Certificate:
        """Stores the fitted attributes of a sum, and says what they are."""

    @abstractmethod
    def _forward(self, X: Floats) -> Floats:
        """Scaled numbers (n, number of numeric columns); missing ones stay missing."""

    @abstractmethod
    def _has_scale(self) -> Mask:
        """Which numeric columns have a scale: those of which training knew a cell."""

    # Fit

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learns the scale of the numeric columns.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_columns)
            Missing cells are allowed, other kinds of columns too.
        y : ignored
        sample_weight : array-like of shape (n_rows,), optional
            How often each row counts.

        Returns
        -------
        self : fitted scaling
        """
        with fitting(self):
            sample = self._read(X, y, sample_weight, None)
            self._estimate(sum_blocks(self._sum, sample))
        return self

    def fit_file(
        self,
        path: Any,
        *,
        target: str | None = None,
        weight: str | None = None,
        features: Iterable[str] | None = None,
        kinds: Mapping[str, Any] | None = None,
        chunk_rows: int = 65_536,
        memory_limit: str | None = None,
        client: Any = None,
    ) -> Self:
        """Fits to a CSV, Parquet or ARFF file, which may be larger than memory.

        Parameters
        ----------
        path : path of the file
        target, weight : str, optional
            Columns with a target and with weights; neither is scaled.
        features, kinds, chunk_rows, memory_limit, client
            As in `StatisticsMixin.fit_file`.
        """
        file = TableFile.open(path, target, weight, features, kinds, memory_limit)
        step = ChunkStep(clone(self), file.schema)
        rows = file.rows_at_a_time(chunk_rows)
        if client is not None:
            return self.fit_statistics(sum_on_cluster(step, file.parts(rows), client))
        return self.fit_statistics(sum_chunks(step, lambda: file.chunks(rows)))

    def _read(self, X: Any, y: Any, sample_weight: Any, schema: Schema | None) -> Sample:  # noqa: ARG002
        self._refuse_centered_sparse(X)
        return check_sample(
            self,
            X,
            None,
            sample_weight,
            target="none",
            schema=schema,
            allow_missing=True,
            accept_sparse=True,
        )

    def _sum(self, sample: Sample) -> Any:
        try:
            return ScalingStatistics.of(sample, self._columns(sample))
        except InputError:
            raise
        except ValueError as error:
            raise InputError(str(error)) from error

    def _estimate(self, statistics: Any) -> None:
        self.schema_ = statistics.schema
        self.certificate_ = self._estimate_columns(statistics)
        self.statistics_ = statistics

    # Scaling

    def transform(self, X: Any) -> Any:
        """The table with its numeric columns scaled.

        Arrays give arrays and frames frames of the same library, unless `set_output` says
        otherwise. Nominal and ordinal columns are those of `X`.
        """
        sample = self._sample_of(X)
        scaled = self._forward(sample.numeric).astype(kept_float(X), copy=False)
        if sample.is_sparse:
            return scaled
        return with_numbers(X, sample.schema, scaled, output_library(self))

    @available_if(_goes_back)
    def inverse_transform(self, X: Any) -> Any:
        """The table with its numeric columns as they were before scaling."""
        sample = self._sample_of(X)
        back = self._backward(sample.numeric).astype(kept_float(X), copy=False)
        return back if sample.is_sparse else with_numbers(X, sample.schema, back)

    def _sample_of(self, X: Any) -> Sample:
        check_is_fitted(self)
        self._refuse_centered_sparse(X)
        sample = check_features(self, X, allow_missing=True, accept_sparse=True, tell_unseen=False)
        self._refuse_unknown(sample.numeric)
        return sample

    def _keeps_zeros(self) -> bool:
        """Whether zero stays zero, so that sparse rows stay sparse."""
        return False

    def _refuse_centered_sparse(self, X: Any) -> None:
        if sparse.issparse(X) and not self._keeps_zeros():
            raise InputError(
                f"Cannot center sparse matrices: {type(self).__name__} moves zeros, which would "
                "make every cell of a sparse X a number. Use StandardScaler(with_mean=False), or "
                "'.toarray()' if the dense table fits into memory."
            )

    def _refuse_unknown(self, X: Any) -> None:
        """Refuses numbers in a column of which training knew no cell: they have no scale."""
        for j in np.flatnonzero(~self._has_scale()):
            cells = X[:, [j]].toarray()[:, 0] if sparse.issparse(X) else X[:, j]
            known = np.flatnonzero(~np.isnan(cells))
            if known.size:
                name = self.schema_.columns[self.schema_.numeric[j]].name
                raise InputError(
                    f"Column {name!r} had no known cell in training, so its scale is unknown, but "
                    f"row {known[0]} has {cells[known[0]]} there. Leave the column out, or fit "
                    "with rows in which it is known."
                )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = self._keeps_zeros()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    def _check_state(self) -> None:
        """Refuses a loaded scaling whose parts do not fit together."""
        count = self.schema_.numeric.size
        # What a scaling does not have, or does not use, is None.
        named = [getattr(self, name, None) for name in ("mean_", "scale_", "data_min_")]
        parts = [self._has_scale(), *(part for part in named if part is not None)]
        if any(part.shape != (count,) or np.iscomplexobj(part) for part in parts):
            raise ModelFileError(f"The scaling does not have the {count} numeric columns it says.")


# --- Statistics -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ScalingStatistics(Additive):
    """What a scaling knows of a weighted table.

    Attributes
    ----------
    schema : Schema
    rows : float
        Number of rows of positive weight.
    weight : float
        Sum of the weights.
    columns : ColumnMoments, Extremes or CountedValues
        Of the numeric columns.
    """

    schema: Schema
    rows: float
    weight: float
    columns: Any

    @classmethod
    def of(cls, sample: Sample, columns: Any) -> ScalingStatistics:
        """The statistics of a sample whose numeric columns are already summed."""
        weight = float(sample.n_rows) if sample.weight is None else float(sample.weight.sum())
        return cls(sample.schema, float(sample.n_rows), weight, columns)

    def __sub__(self, other: ScalingStatistics) -> ScalingStatistics:
        """The statistics without the rows of `other`, which must be among them."""
        self._check_fits(other)
        schema, left = self.schema.unite(other.schema), self.weight - other.weight
        if left < -1e-12 * self.weight:
            raise InputError(
                f"Cannot remove more rows than there are: a weight of {self.weight:g} would become "
                f"{left:g}."
            )
        try:
            columns = self.columns - other.columns
        except ValueError as error:
            raise InputError(str(error)) from error
        gone = left <= 1e-12 * self.weight
        rows = 0.0 if gone else max(self.rows - other.rows, 1.0)
        return ScalingStatistics(schema, rows, 0.0 if gone else left, columns)

    def __mul__(self, factor: float) -> ScalingStatistics:
        rows = self.rows if factor > 0 else 0.0
        return ScalingStatistics(self.schema, rows, factor * self.weight, factor * self.columns)

    __rmul__ = __mul__

    def zero(self) -> ScalingStatistics:
        return 0.0 * self

    def isclose(self, other: ScalingStatistics, rtol: float = 1e-10) -> bool:
        self._check_fits(other)
        close = abs(self.weight - other.weight) <= rtol * max(self.weight, other.weight)
        return close and bool(self.columns.isclose(other.columns, rtol))

    def _check_fits(self, other: ScalingStatistics) -> None:
        if not isinstance(other, ScalingStatistics) or type(self.columns) is not type(
            other.columns
        ):
            raise InputError(
                f"Statistics of {type(self.columns).__name__} combine with their like only. Sum "
                "all parts with the same scaling."
            )


def seen(weight: Floats) -> Any:
    """Weights of known cells as scikit-learn's `n_samples_seen_`: one number where all are equal.

    >>> seen(np.array([3.0, 3.0])), seen(np.array([3.0, 2.5])).tolist()
    (3, [3.0, 2.5])
    """
    if weight.size and (weight == weight[0]).all():
        first = float(weight[0])
        return int(first) if first.is_integer() else first
    return weight
