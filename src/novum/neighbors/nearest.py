"""The rows nearest to a row: what all learners by neighbors stand on."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from novum.core.errors import InputError
from novum.core.learners import Certificate, Learner, Verdict, fitted, parameter
from novum.core.runtime import fit_context, fitting
from novum.core.tables import Sample, check_features, check_sample
from novum.distances import (
    ColumnRows,
    Distance,
    DistanceRows,
    FromKernel,
    Gower,
    Precomputed,
    as_distance,
    takes_sparse,
)
from novum.neighbors.index import RowIndex, way_for
from novum.numerics import Codes, Floats, Integers, cached_property


class NeighborsModel(Learner):
    """The part of learners by neighbors that does not depend on what is asked of neighbors."""

    # Of equally near rows the first are neighbors; who shares votes among them can say more.
    invariances: ClassVar[tuple[str, ...]] = ("shift", "common_scale")
    _holds_training_rows = True

    algorithm: str = parameter({"auto", "brute", "kd_tree", "ball_tree"}, default="auto")
    leaf_size: int = parameter(default=30, at_least=1)
    p: Any = parameter(Interval(Real, 1, None, closed="both"), default=2.0)
    metric: Any = parameter(str, callable, Distance, default="minkowski")
    metric_params: Any = parameter(dict, None, default=None)
    n_jobs: int | None = parameter(default=None)
    categorical_features: Any = parameter(str, None, "array-like", default="auto")

    numbers_: Any = fitted()
    codes_: Codes = fitted()
    objects_: Any = fitted()
    n_samples_fit_: int = fitted()
    certificate_: Certificate = fitted()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        is_pairwise = isinstance(self.metric, str) and self.metric == "precomputed"
        tags.input_tags.allow_nan = not is_pairwise and not callable(self.metric)
        tags.input_tags.sparse = takes_sparse(self.metric)
        tags.input_tags.string = self.categorical_features is not None and not is_pairwise
        tags.input_tags.pairwise = is_pairwise
        return tags

    # Fitting

    def _keep(self, sample: Sample) -> None:
        """Keeps the rows, and looks at them once as the metric does."""
        _refuse_empty_rows(sample)
        self.schema_ = sample.schema
        self.numbers_, self.codes_ = sample.numeric, sample.codes
        self.n_samples_fit_ = sample.n_rows
        state: Any = vars(self)
        for name in ("_index", "_distance"):
            state.pop(name, None)
        assert len(self._index.rows) == sample.n_rows
        self.certificate_ = Certificate(
            objective="rows are kept as they are",
            verdict=Verdict.PROVED,
            details={"search": self._index.way, "distance": self.effective_metric_},
        )

    def _check_state(self) -> None:
        from novum.core.errors import ModelFileError

        n = self.n_samples_fit_
        sizes = {self.numbers_.shape[0], len(self.codes_), len(getattr(self, "targets_", range(n)))}
        if sizes != {n}:
            raise ModelFileError(
                f"The file has {sorted(sizes)} rows of numbers, levels and targets, which differ."
            )
        if self.objects_ is None:
            levels = [column.n_levels for column in self.schema_.categorical_columns]
            shapes = self.numbers_.shape[1:], self.codes_.shape[1:]
            columns = (len(self.schema_.numeric),), (len(levels),)
            if shapes != columns or n == 0 or not (self.codes_ < np.maximum(levels, 1)).all():
                raise ModelFileError("The rows of the file do not fit its columns.")

    @property
    def effective_metric_(self) -> str:
        """The distance that is used, in words."""
        return repr(self._distance)

    @cached_property
    def _distance(self) -> Distance:
        """The distance as a value."""
        if not isinstance(self.metric, str) or self.metric != "minkowski":
            return as_distance(self.metric, self.metric_params)
        # A table with levels has no differences; its columns count by their kinds.
        if self.codes_.shape[1]:
            return Gower()
        return as_distance("minkowski", {"p": self.p, **(self.metric_params or {})})

    @cached_property
    def _index(self) -> RowIndex:
        target = self._classes_of_rows() if self._distance.needs_target else None
        rows: Any = Sample(self.schema_, self.numbers_, self.codes_)
        if self.objects_ is not None:
            rows = self.objects_
        rows = self._distance.prepare(rows, None, target)
        return RowIndex(rows, way_for(rows, self.algorithm))

    def _classes_of_rows(self) -> Any:
        """Codes of classes for distances that are learned from them."""
        return None

    # Questions

    def _asked(self, X: Any) -> tuple[DistanceRows, Integers | None]:
        """Rows to find the neighbors of; the training rows, which do not find themselves."""
        self._check_fitted()
        if X is None:
            return self._index.rows, np.arange(self.n_samples_fit_)
        if isinstance(self.metric, str) and self.metric == "precomputed":
            return self._distance.prepare(X, self._index.rows), None
        if self.objects_ is not None:
            return self._distance.prepare(list(X), self._index.rows), None
        sample = check_features(self, X, allow_missing=True, accept_sparse=True)
        rows = self._distance.prepare(sample, self._index.rows)
        if not (isinstance(rows, ColumnRows) and rows.are_vectors):
            _refuse_empty_rows(sample)
        return rows, None

    def _check_fitted(self) -> None:
        # The attribute is asked for first because scikit-learn's check takes its time.
        if "n_samples_fit_" not in vars(self):
            check_is_fitted(self, "n_samples_fit_")

    def _nearest(self, X: Any, k: Any) -> tuple[Floats, Integers]:
        rows, own = self._asked(X)
        check_count(k, self.n_samples_fit_, own is not None)
        return self._index.nearest(rows, int(k), own)


class KNeighborsMixin(NeighborsModel):
    """Questions for the k nearest rows."""

    n_neighbors: int = parameter(default=5, at_least=1, kw_only=False)

    def kneighbors(
        self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True
    ) -> Any:
        """Distances to and numbers of the nearest training rows, (n_rows, n_neighbors) each.

        Parameters
        ----------
        X : array-like or data frame, optional
            By default the training rows, each without itself.
        n_neighbors : int, optional
            By default as at construction.
        return_distance : bool
            Whether to return both; otherwise the numbers alone.

        Notes
        -----
        Of equally distant rows the one of smaller number comes first, whatever the index.
        """
        k = self.n_neighbors if n_neighbors is None else n_neighbors
        distances, rows = self._nearest(X, k)
        return (distances, rows) if return_distance else rows

    def kneighbors_graph(
        self, X: Any = None, n_neighbors: int | None = None, mode: str = "connectivity"
    ) -> Any:
        """The nearest rows as a sparse matrix, 1 or the distance for each of them."""
        _check_mode(mode)
        distances, rows = self.kneighbors(X, n_neighbors)
        cells = np.ones(rows.size) if mode == "connectivity" else distances.ravel()
        ends = np.arange(len(rows) + 1) * rows.shape[1]
        shape = (len(rows), self.n_samples_fit_)
        return sparse.csr_matrix((cells, rows.ravel(), ends), shape=shape)


class RadiusMixin(NeighborsModel):
    """Questions for all rows within a radius."""

    radius: Any = parameter(Interval(Real, 0, None, closed="both"), default=1.0, kw_only=False)

    def radius_neighbors(
        self,
        X: Any = None,
        radius: float | None = None,
        return_distance: bool = True,
        sort_results: bool = False,
    ) -> Any:
        """Distances to and numbers of the training rows within a radius, an array of arrays each.

        Parameters
        ----------
        X : array-like or data frame, optional
            By default the training rows, each without itself.
        radius : float, optional
            By default as at construction; rows at the very distance are within.
        return_distance : bool
        sort_results : bool
            Whether the nearest come first; otherwise row numbers rise.
        """
        asked, own = self._asked(X)
        reach = self.radius if radius is None else radius
        if not (np.ndim(reach) == 0 and reach >= 0):
            raise InputError(f"The radius is a number of at least 0, got {reach!r}.")
        distances, rows = self._index.within(asked, float(reach), own)
        if sort_results:
            turns = [np.argsort(apart, kind="stable") for apart in distances]
            distances = [apart[turn] for apart, turn in zip(distances, turns, strict=True)]
            rows = [near[turn] for near, turn in zip(rows, turns, strict=True)]
        numbers = _ragged(rows)
        return (_ragged(distances), numbers) if return_distance else numbers

    def radius_neighbors_graph(
        self,
        X: Any = None,
        radius: float | None = None,
        mode: str = "connectivity",
        sort_results: bool = False,
    ) -> Any:
        """The rows within a radius as a sparse matrix, 1 or the distance for each of them."""
        _check_mode(mode)
        distances, rows = self.radius_neighbors(X, radius, sort_results=sort_results)
        counts = np.array([len(near) for near in rows], np.intp)
        near = np.concatenate([*rows, np.empty(0, np.intp)]).astype(np.intp)
        cells = np.ones(len(near)) if mode == "connectivity" else np.concatenate([*distances, []])
        ends = np.concatenate([[0], np.cumsum(counts)])
        return sparse.csr_matrix((cells, near, ends), shape=(len(rows), self.n_samples_fit_))


class NearestNeighbors(RadiusMixin, KNeighborsMixin, BaseEstimator):
    """The rows nearest to a row, by any distance and over columns of any kind.

    Parameters
    ----------
    n_neighbors : int, default=5
    radius : float, default=1.0
    algorithm : {"auto", "brute", "kd_tree", "ball_tree"}
        The index; all find the same rows at the same distances, and "auto" takes the cheapest
        (`novum.neighbors.index` says how). "ball_tree" is a tree of boxes for rows of numbers, and
        bounds by the triangle inequality for kernels and functions.
    leaf_size : int
        Without effect.
    p : float
        Of the Minkowski distance.
    metric : str, Distance or callable, default="minkowski"
        A value of `novum.distances`, one of their names, "precomputed", or a function of two rows.
        By default Minkowski's; `Gower()` where the table has columns of levels.
    metric_params : dict, optional
        For a function of two rows, or of a name, such as `{"V": covariance}`.
    n_jobs
        Without effect.
    categorical_features
        As everywhere.

    Attributes
    ----------
    numbers_, codes_, objects_ : arrays, and a list or None
        The training rows; of objects such as strings, which a kernel compares, the objects.
    n_samples_fit_ : int
    effective_metric_ : str
    certificate_, schema_, n_features_in_, feature_names_in_
        As everywhere.

    Notes
    -----
    Missing cells take part as the distance says; see `novum.distances.Minkowski`.

    Examples
    --------
    >>> model = NearestNeighbors(n_neighbors=2).fit([[0.0], [1.0], [5.0]])
    >>> model.kneighbors([[0.9]])
    (array([[0.1, 0.9]]), array([[1, 0]]))
    >>> table = [[1.0, "a"], [1.1, "a"], [9.0, "b"]]
    >>> NearestNeighbors(n_neighbors=1).fit(table).kneighbors(return_distance=False).ravel()
    array([1, 0, 1])
    """

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Keeps the rows.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_rows, n_columns)
        y : ignored
        """
        del y
        with fitting(self):
            self._keep(rows_to_keep(self, X, None, "none"))
        return self


def rows_to_keep(model: Any, X: Any, y: Any, target: Literal["none", "numbers"]) -> Sample:
    """The rows of a fit, checked; of objects such as strings and graphs, their numbers."""
    model.objects_ = None
    if isinstance(model.metric, FromKernel) and model.metric.takes == "objects":
        model.objects_ = list(X)
        X = np.arange(len(model.objects_), dtype=np.float64)[:, np.newaxis]
    if isinstance(model.metric, str) and model.metric == "precomputed":
        # What is no matrix of distances is said before anything is read as a table.
        matrix = Precomputed().prepare(X)
        sample = check_sample(model, matrix.readable, y, target=target, accept_sparse=True)
        return replace(sample, numeric=matrix.cells.copy())
    sample = check_sample(model, X, y, target=target, allow_missing=True, accept_sparse=True)
    is_shared = isinstance(X, np.ndarray) and np.may_share_memory(sample.numeric, X)
    if is_shared or sparse.issparse(X):
        # A copy, so that later changes of the table do not reach the model.
        sample = replace(sample, numeric=sample.numeric.copy())
    return sample


def _ragged(lines: list[Any]) -> Any:
    """An array of arrays."""
    array = np.empty(len(lines), object)
    for i, line in enumerate(lines):
        array[i] = line
    return array


# --- Checks ---------------------------------------------------------------------------------------


def check_count(k: Any, n: int, without_itself: bool) -> None:
    if not isinstance(k, (int, np.integer)) or isinstance(k, bool) or k < 1:
        raise InputError(f"n_neighbors is a whole number of at least 1, got {k!r}.")
    most = n - without_itself
    if k > most:
        others = "other training rows of each" if without_itself else "training rows"
        raise InputError(
            f"Expected n_neighbors <= n_samples_fit, but n_neighbors = {k}, n_samples_fit = {n}: "
            f"there are {most} {others}. Ask for fewer neighbors."
        )


def _check_mode(mode: str) -> None:
    if mode not in ("connectivity", "distance"):
        raise InputError(
            'Unsupported mode, must be one of "connectivity", or "distance" but got '
            f'"{mode}" instead.'
        )


def _refuse_empty_rows(sample: Sample) -> None:
    """Says which row has no known cell."""
    if sample.is_sparse or sample.n_rows == 0 or sample.schema.n_columns == 0:
        return
    if sample.codes.shape[1] == 0 and not np.isnan(np.sum(sample.numeric)):
        return
    unknown = np.isnan(np.asarray(sample.numeric)).all(axis=1) & (sample.codes < 0).all(axis=1)
    if unknown.any():
        row = int(np.argmax(unknown))
        raise InputError(
            f"Row {row} has no cell that is known, {int(unknown.sum())} such in all, so nothing "
            "is near to it. Leave such rows out."
        )
