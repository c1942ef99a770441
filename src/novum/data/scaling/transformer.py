"""What all scalings share: kinds, containers, missing cells, and fits from sums.

    read  ->  sum the numeric columns  ->  estimate  ->  store
    transform:  numeric columns change, nominal and ordinal ones pass through untouched

A scaling says what it sums (`_columns`), what it makes of the sum (`_estimate_columns`) and how
numbers change (`_forward`, and `_backward` where that exists).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, _fit_context, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from novum.core.certificate import Certificate
from novum.core.cluster import sum_on_cluster
from novum.core.engine import sum_blocks, sum_chunks
from novum.core.errors import InputError, ModelFileError
from novum.core.fitting import fitting
from novum.core.schema import Schema
from novum.core.single_precision import kept_float
from novum.core.sources import Partition, Source, open_source
from novum.core.statistics import ChunkStep, StatisticsMixin
from novum.core.validation import Sample, check_features, check_sample
from novum.data.scaling.containers import output_library, put_back
from novum.data.scaling.statistics import ScalingStatistics

Floats = NDArray[np.float64]


def _goes_back(model: ScalingTransformer) -> bool:
    """Whether the scaling can be undone; `inverse_transform` does not exist otherwise."""
    return hasattr(model, "_backward")


class ScalingTransformer(StatisticsMixin, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """The shared fit and transform; see `StandardScaler`."""

    categorical_features: Any
    statistics_: Any
    schema_: Schema
    certificate_: Certificate

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
    def _has_scale(self) -> NDArray[np.bool_]:
        """Which numeric columns have a scale: those of which training knew a cell."""

    # Fit

    @_fit_context(prefer_skip_nested_validation=True)
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
        if target is not None:
            return super().fit_file(
                path,
                target=target,
                weight=weight,
                features=features,
                kinds=kinds,
                chunk_rows=chunk_rows,
                memory_limit=memory_limit,
                client=client,
            )
        columns = None if features is None else [*features, *([] if weight is None else [weight])]
        source = open_source(path, kinds=kinds, columns=columns, memory_limit=memory_limit)
        reader = _reader(source, weight)
        step = ChunkStep(clone(self), reader.schema)
        if client is not None:
            parts = [_Part(part, reader) for part in source.partitions(chunk_rows)]
            return self.fit_statistics(sum_on_cluster(step, parts, client))
        return self.fit_statistics(sum_chunks(step, lambda: reader.chunks(source, chunk_rows)))

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
        return put_back(X, sample.schema, scaled, output_library(self))

    @available_if(_goes_back)
    def inverse_transform(self, X: Any) -> Any:
        """The table with its numeric columns as they were before scaling."""
        sample = self._sample_of(X)
        back = self._backward(sample.numeric).astype(kept_float(X), copy=False)
        return back if sample.is_sparse else put_back(X, sample.schema, back)

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
        if self._has_scale().shape != (count,):
            raise ModelFileError(f"The scaling does not have the {count} numeric columns it says.")


# --- Files without a target -----------------------------------------------------------------------


@dataclass(frozen=True)
class _Reader:
    """Chunks `(X, None, weight)` of a file's tables."""

    schema: Schema
    weight: str | None

    def chunk(self, table: pa.Table) -> tuple[Any, ...]:
        X = table.select(list(self.schema.names))
        return (X,) if self.weight is None else (X, None, table.column(self.weight).to_numpy())

    def chunks(self, source: Source, rows: int) -> Iterator[tuple[Any, ...]]:
        for table in source.chunks(rows):
            yield self.chunk(table)


@dataclass(frozen=True)
class _Part:
    """A part of a file that a worker reads itself; a small value that can be pickled."""

    partition: Partition
    reader: _Reader

    def __call__(self) -> tuple[Any, ...]:
        return self.reader.chunk(self.partition.read())


def _reader(source: Source, weight: str | None) -> _Reader:
    schema = source.schema()
    if weight is not None and weight not in schema.names:
        raise InputError(
            f"{source.path.name} has no column {weight!r} to be the weight; it has "
            f"{', '.join(schema.names[:20])}."
        )
    columns = tuple(column for column in schema.columns if column.name != weight)
    if not columns:
        raise InputError(f"{source.path.name} has no column left to scale.")
    return _Reader(Schema(columns), weight)
