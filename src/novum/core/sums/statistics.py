"""Statistics that add up, and all that follows from them.

A learner whose fit depends on the data only through a sum `S = sum_i s(x_i, y_i, w_i)` gives three
small functions: read a sample, sum it, estimate from the sum. This mixin makes of them

    statistics(X, y, w)    S, without touching the model
    fit_statistics(S)      the model of a sum, wherever it was computed
    partial_fit(X, y)      S + S(new)
    forget(X, y)           S - S(old): exact removal, as if the rows had never been there
    fit_stream(chunks)     one chunk at a time, or a Dask cluster
    fit_file(path)         a CSV, Parquet or ARFF file larger than memory

`docs/extend/statistics.md` shows how to write such a learner; `core.learners.contracts` checks it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import _check_feature_names, _check_n_features, check_is_fitted

from novum.core.errors import InputError, NoLabelsError, NotAdditiveError, UnlabelledRowsError
from novum.core.runtime import fitting, is_dask, sum_on_cluster
from novum.core.sums.engine import sum_blocks, sum_chunks
from novum.core.tables import Sample, Schema
from novum.numerics import one_blas_thread


@runtime_checkable
class Statistics(Protocol):
    """An immutable sum over rows that knows the schema of those rows.

    `+` unites levels and classes by label; `-` takes rows away again; `a * S` counts every row
    `a` times; `zero()` is the sum over no rows; `isclose` compares up to rounding.
    """

    @property
    def schema(self) -> Schema: ...
    @property
    def rows(self) -> float: ...
    def __add__(self, other: Any, /) -> Any: ...
    def __sub__(self, other: Any, /) -> Any: ...
    def __rmul__(self, factor: float, /) -> Any: ...
    def zero(self) -> Any: ...
    def isclose(self, other: Any, rtol: float = 1e-10) -> bool: ...


class StatisticsMixin(ABC):
    """Gives a learner everything that follows from sums; it says how to read, sum and estimate."""

    statistics_: Statistics

    @abstractmethod
    def _read(self, X: Any, y: Any, sample_weight: Any, schema: Schema | None) -> Sample:
        """The checked sample, read by `schema` where one is given."""

    @abstractmethod
    def _sum(self, sample: Sample) -> Statistics:
        """The statistics of a sample."""

    @abstractmethod
    def _estimate(self, statistics: Any) -> None:
        """Stores the fitted attributes of a sum, `statistics_` among them."""

    def _is_additive(self) -> bool:
        """Whether the fit, with the parameters as they are, is a function of sums."""
        return True

    def statistics(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, schema: Schema | None = None
    ) -> Any:
        """The sum over the rows of `X`, `y`; the model stays as it is.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        schema : Schema, optional
            Reads `X` by this schema; by default one is learned from `X`, and `+` unites them.

        Returns
        -------
        statistics : an immutable value with `+`, `-` and `*`
        """
        _refuse_other_than_sums(self)
        reader = clone(self)
        sample = reader._read(X, y, sample_weight, schema)
        refuse_unlabelled(reader, sample)
        return sum_blocks(reader._sum, sample, getattr(self, "n_jobs", None))

    def fit_statistics(self, statistics: Any) -> Self:
        """Fits the model to rows that are known only by their sum."""
        _refuse_other_than_sums(self)
        if not isinstance(statistics, Statistics):
            raise InputError(
                f"Expected statistics, got {type(statistics).__name__}. Pass what "
                f"`{type(self).__name__}().statistics(X, y)` returns, or a sum of such."
            )
        if not statistics.rows > 0:
            raise InputError(
                "These statistics hold no rows, so there is nothing to fit. Add some rows first."
            )
        if hasattr(self, "_parameter_constraints"):
            self._validate_params()  # type: ignore[attr-defined]
        with fitting(self):
            set_feature_names(self, statistics.schema)
            self._estimate(statistics)
        return self

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Adds rows to those the model has learned from; the first call starts anew."""
        _refuse_fit_without_sums(self)
        if not hasattr(self, "statistics_"):
            return self.fit_statistics(self.statistics(X, y, sample_weight))
        _check_names(self, X)
        with one_blas_thread():
            statistics = self.statistics_ + self.statistics(X, y, sample_weight)
        return self.fit_statistics(statistics)

    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Removes rows exactly: the model is that of the remaining rows."""
        _refuse_fit_without_sums(self)
        check_is_fitted(self, "statistics_")
        _check_names(self, X)
        with one_blas_thread():
            statistics = self.statistics_ - self.statistics(X, y, sample_weight)
        return self.fit_statistics(statistics)

    def fit_stream(
        self,
        chunks: Iterable[Any] | Callable[[], Iterable[Any]],
        *,
        schema: Schema | None = None,
        classes: Any = None,
    ) -> Self:
        """Fits to chunks `(X, y)` or `(X, y, weight)` that come one after the other.

        Parameters
        ----------
        chunks : iterable, callable or Dask collections
            Chunks, a callable that returns a fresh iterator of them, a pair of Dask arrays or
            frames `(X, y)`, or a list of delayed chunks or futures.
        schema : Schema, optional
            Reads every chunk alike; without it each chunk's levels are united.
        classes : array-like, optional
            For classifiers: all labels that may occur.

        Notes
        -----
        Labels may be missing where the learner has `unlabelled="em"` and the chunks can be read
        again and again: a list, a callable, or Dask collections.
        """
        _refuse_other_than_sums(self)
        step = ChunkStep(clone(self), schema)
        try:
            if is_dask(chunks):
                statistics = sum_on_cluster(step, chunks)
            else:
                statistics = sum_chunks(step, chunks)
        except (UnlabelledRowsError, NoLabelsError):
            if getattr(self, "unlabelled", None) is None:
                raise
            from novum.core.sums.chunk_passes import ChunkPasses

            passes = ChunkPasses.over(chunks, self, schema, reason="Labels are missing")
            return self._fit_partly_in_passes(passes, classes)
        return self.fit_statistics(
            statistics if classes is None else _with_classes(statistics, classes)
        )

    def _fit_partly_in_passes(self, passes: Any, classes: Any = None) -> Self:
        """EM over labels that are missing, by chunks that can be read again and again."""
        from novum.core.sums.labelled_rows import PartlyLabelledRows

        with fitting(self):
            rows = PartlyLabelledRows.in_passes(passes, classes)
            set_feature_names(self, rows.judged.schema)
            self._fit_partly(rows)
        return self

    def _fit_partly(self, rows: Any) -> None:
        """A fit to `PartlyLabelledRows`, for learners that take rows without a label."""
        raise TypeError(
            f"{type(self).__name__} needs a label of each of {rows.judged.n_rows} rows."
        )

    def fit_file(
        self,
        path: Any,
        *,
        target: str,
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
        path : path of the file, or of a folder of Parquet files
        target, weight : str
            Names of the columns with the targets and, optionally, the weights.
        features : iterable of str, optional
            The columns to learn from; all others by default.
        kinds : mapping, optional
            Kinds of columns that the file's types do not tell, such as `{"zip": "nominal"}`.
        chunk_rows : int
            Rows in memory at a time, fewer where `memory_limit` has no room for them.
        memory_limit : str, optional
            Memory for reading and summing, such as `"200MB"`; a page of every column of a Parquet
            file, about 3 MB, comes on top.
        client : distributed.Client, optional
            Sums the file's partitions on this cluster, whose workers must see the file.
        """
        from novum.core.files import TableFile

        _refuse_other_than_sums(self)
        file = TableFile.open(path, target, weight, features, kinds, memory_limit)
        step = ChunkStep(clone(self), file.schema)
        rows = file.rows_at_a_time(chunk_rows)
        chunks: Any = file.parts(rows) if client is not None else partial(file.chunks, rows)
        try:
            if client is not None:
                return self.fit_statistics(sum_on_cluster(step, chunks, client))
            return self.fit_statistics(sum_chunks(step, chunks))
        except (UnlabelledRowsError, NoLabelsError):
            if getattr(self, "unlabelled", None) is None:
                raise
            from novum.core.sums.chunk_passes import ChunkPasses

            return self._fit_partly_in_passes(ChunkPasses(clone(self), file.schema, chunks, client))


class ChunkStep:
    """The step `chunk -> statistics` of a learner; picklable, so that workers can run it.

    A chunk without a row that counts gives None, the sum over no rows.
    """

    def __init__(self, learner: Any, schema: Schema | None) -> None:
        self.learner = learner
        self.schema = schema

    def __call__(self, chunk: Any) -> Any:
        values = chunk() if callable(chunk) else chunk
        if not isinstance(values, tuple) or not 1 <= len(values) <= 3:
            raise InputError(
                "A chunk is a tuple (X, y) or (X, y, weight), got "
                f"{type(values).__name__}. Yield tuples; a single chunk goes into a list."
            )
        if is_empty_chunk(*values):
            return None
        return self.learner.statistics(*values, schema=self.schema)


def is_empty_chunk(X: Any, _y: Any = None, weight: Any = None) -> bool:
    """No rows, or none of positive weight; what is odd in other ways is left to the checks."""
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X) if hasattr(X, "__len__") else None
    if weight is None or not n_rows:
        return n_rows == 0
    weights = np.ma.asarray(weight)
    odd = weights.shape != (n_rows,) or np.ma.is_masked(weights)
    return not odd and bool((weights == 0).all())


def _refuse_other_than_sums(model: Any) -> None:
    if not model._is_additive():
        raise NotAdditiveError(
            f"{model!r} is not fitted from sums, so it has no statistics. Choose parameters "
            "that solve from sums."
        )


def _refuse_fit_without_sums(model: Any) -> None:
    """A model that was fitted row by row has lost the rows, and cannot add to or take from them."""
    if hasattr(model, "n_features_in_") and not hasattr(model, "statistics_"):
        raise NotAdditiveError(
            f"This {type(model).__name__} was fitted without keeping sums, so rows can be neither "
            "added nor removed. Start with `partial_fit` on a fresh model."
        )
    if hasattr(model, "unlabelled_weight_"):
        raise NotAdditiveError(
            f"This {type(model).__name__} has learned from rows without a label, whose shares in "
            "the classes would change with every row that is added or removed. Fit to all rows."
        )


def refuse_unlabelled(model: Any, sample: Sample) -> None:
    """Rows without a label belong to a class only in the course of a fit."""
    if getattr(model, "unlabelled", None) is not None and (sample.target < 0).any():
        raise UnlabelledRowsError(
            f"{int((sample.target < 0).sum())} of {sample.n_rows} rows have no label, and "
            f"{type(model).__name__} has no sums of such rows. Call `fit` with all rows, or select "
            "those with a label."
        )


def set_feature_names(model: Any, schema: Schema) -> None:
    model.n_features_in_ = schema.n_columns
    model.__dict__.pop("feature_names_in_", None)
    if schema.named:
        model.feature_names_in_ = np.array(schema.names, object)


def _check_names(model: Any, X: Any) -> None:
    """Refuses other columns than those of the first call, in scikit-learn's words."""
    _check_feature_names(model, X, reset=False)
    if hasattr(X, "shape"):
        _check_n_features(model, X, reset=False)


def _with_classes(statistics: Any, classes: Any) -> Any:
    if not hasattr(statistics, "with_classes"):
        raise InputError("`classes` is for classifiers; this learner has none. Leave it out.")
    return statistics.with_classes(classes)
