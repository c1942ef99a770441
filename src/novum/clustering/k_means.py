"""k-means: k centers that minimize the sum of squared distances of rows to the nearest one.

    f(c_1, ..., c_k) = sum_i w_i min_j |x_i - c_j|^2

Lloyd's algorithm (`lloyd`) ends where both conditions of a local optimum hold: every row belongs to
its nearest center, every center is the mean of its rows. How far the best possible sum can be below
follows from bounds (`lower_bound`).

References
----------
Lloyd, Least squares quantization in PCM, 1982. Hamerly, Making k-means even faster, SDM 2010.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from novum.clustering.center_model import CenterModel
from novum.clustering.lloyd import BoundedRows, Centers, LloydProblem, LloydSums, nearest_centers
from novum.clustering.lower_bound import best_sum_bound
from novum.clustering.sparse_lloyd import (
    SparseStarts,
    nearest_of_sparse,
    sparse_moments,
    sparse_scatter,
)
from novum.clustering.starts import KeptRows, Starts
from novum.core.errors import InputError
from novum.core.learners import (
    Certificate,
    Verdict,
    deferred,
    fitted,
    later,
    parameter,
    warn_if_stopped,
)
from novum.core.runtime import fit_context, fitting
from novum.core.sums import (
    Additive,
    ChunkPasses,
    Fitted,
    PassesMixin,
    StopRule,
    fit_sums,
    set_feature_names,
)
from novum.core.tables import Sample, Schema
from novum.distances import Euclidean
from novum.numerics import Codes, ColumnMoments, Floats, as_argument, column_moments_of

# Columns up to which the scatter matrix of a stream is summed, for the bound.
_FEW_COLUMNS = 512


@dataclass(frozen=True, eq=False)
class TableSums(Additive):
    """First pass over chunks: moments of columns, rows to start from, and the scatter."""

    schema: Schema
    columns: ColumnMoments
    weight: float
    rows: float
    kept: KeptRows
    products: Floats | None

    @classmethod
    def of(cls, sample: Sample) -> TableSums:
        if sample.is_sparse:
            raise InputError(
                "Chunks that are read again and again are dense rows, and this one is sparse. "
                "Yield X.toarray(), or give one sparse table to `fit`."
            )
        X, weights = as_argument(sample.numeric), sample.weights
        columns = column_moments_of(X, sample.weight)
        complete = not np.isnan(np.sum(X)) and X.shape[1] <= _FEW_COLUMNS
        # One more column, so that sums over rows come with the products.
        wide = np.column_stack([X, np.ones(len(X))]) if complete else None
        products = None if wide is None else wide.T @ (weights[:, np.newaxis] * wide)
        weight = float(weights.sum())
        return cls(sample.schema, columns, weight, float(len(X)), KeptRows.of(X, weights), products)

    @property
    def scatter(self) -> Floats | None:
        if self.products is None or not np.isfinite(self.products).all():
            return None
        sums = self.products[-1, :-1]
        return np.asarray(self.products[:-1, :-1] - np.outer(sums, sums) / self.products[-1, -1])


class KMeans(PassesMixin, CenterModel):
    """k-means clustering.

    Parameters
    ----------
    n_clusters : int
    init : {"k-means++", "random"}, array (n_clusters, n_columns) or callable
        First centers: greedy k-means++, rows at random, given ones, or what
        `init(X, n_clusters, random_state)` returns.
    n_init : int or "auto"
        Restarts, of which the best is kept; "auto" is 10 for "random" and callables, 1 otherwise.
    max_iter : int
        Steps of a restart.
    tol : float
        A fit ends when the squared way of all centers in a step is at most this times the mean
        variance of the columns; 0 goes on until nothing changes.
    verbose : int
        Without effect.
    random_state : int, RandomState, Generator or None
    copy_x : bool
        Without effect: `X` is never written to.
    algorithm : {"lloyd", "elkan", "hamerly"}
        Without effect: labels are those of Lloyd's algorithm, found with Hamerly's bounds.

    Attributes
    ----------
    cluster_centers_ : array (n_clusters, n_columns)
        In double precision; `transform` of rows of float32 is float32.
    labels_ : int32 array (n_rows,)
        Of the rows of `fit`, or of the last `partial_fit`; rows of weight 0 have the label of
        their nearest center.
    inertia_ : float
        The sum of squared distances.
    n_iter_ : int
    cell_weights_ : array (n_clusters, n_columns)
        Weights of the known cells that the centers are means of, for `partial_fit`.
    certificate_ : Certificate
        The sum after every step, both conditions of a local optimum, and a lower bound of the best
        possible sum.
    schema_, n_features_in_, feature_names_in_
        As everywhere.

    Notes
    -----
    Missing cells are allowed: distances are of known cells, scaled up to all columns, and centers
    are means of known cells. Sparse rows stay sparse, and need all their cells. A cluster that
    loses all rows starts again at the row that is farthest from its center. Of equally near centers
    the one of smaller number wins. Columns count by their units: scale them first
    (`novum.data.scaling.StandardScaler`), unless units are the same.
    Neither the order of rows nor repetitions in place of weights change a fit.

    Examples
    --------
    >>> X = [[1, 2], [1, 4], [1, 0], [10, 2], [10, 4], [10, 0]]
    >>> model = KMeans(n_clusters=2, random_state=0).fit(X)
    >>> model.cluster_centers_[np.argsort(model.cluster_centers_[:, 0])].tolist()
    [[1.0, 2.0], [10.0, 2.0]]
    >>> model.inertia_, model.certificate_.details["statement"]
    (16.0, 'proved to be the best possible')
    """

    _distance = Euclidean(missing="partial")
    _takes_sparse = True
    _why_passes = "Lloyd's algorithm makes several passes"

    tol: float = parameter(default=1e-4, at_least=0)
    verbose: int = parameter("verbose", default=0)
    copy_x: bool = parameter(default=True)
    algorithm: str = parameter({"lloyd", "elkan", "hamerly"}, default="lloyd")

    cell_weights_: Floats = fitted()
    certificate_: Certificate = deferred()

    # Fitting

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Finds the centers.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_rows, n_columns)
            Numbers; cells may be missing where rows are dense.
        y : ignored
        sample_weight : array-like of shape (n_rows,), optional
            How often each row counts.
        """
        with fitting(self):
            sample = self._read(X, y, sample_weight, None)
            self._check_count(sample.n_rows)
            self.schema_ = sample.schema
            (self._fit_sparse if sample.is_sparse else self._fit_rows)(sample)
            self.labels_ = self._labels_of_all(self.labels_, X, sample_weight)
        return self

    def partial_fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Adds rows: each goes to its nearest center, which moves to the mean of all its rows.

        Rows that came earlier stay where they went. The first call is `fit`.
        """
        if not hasattr(self, "cluster_centers_"):
            return self.fit(X, y, sample_weight)
        with fitting(self):
            _check_width(self, X)
            sample = self._read(X, y, sample_weight, self.schema_)
            origin = self.cluster_centers_.mean(axis=0)
            problem = LloydProblem(lambda _: self.cluster_centers_, origin, 1.0, False)
            sums = problem.step(Centers(self.cluster_centers_), sample)
            cells = np.broadcast_to(self.cell_weights_, sums.sums.shape)
            together = cells + sums.cells
            total = (self.cluster_centers_ - origin) * cells + sums.sums
            means = origin + total / np.where(together > 0, together, 1.0)
            self.cluster_centers_ = np.where(together > 0, means, self.cluster_centers_)
            self.cell_weights_ = together
            rows = sample.numeric if sample.is_sparse else as_argument(sample.numeric)
            labels, squares = self._nearest(rows)
            self.labels_ = self._labels_of_all(labels, X, sample_weight)
            self.inertia_ = float(sample.weights @ squares)
            self.n_iter_ += 1
            self.certificate_ = Certificate(
                objective=LloydProblem.objective_name,
                verdict=Verdict.LOCAL,
                value=self.inertia_,
                iterations=self.n_iter_,
                details={"rows": "of the last partial_fit"},
            )
        return self

    def _fit_rows(self, sample: Sample) -> None:
        """Rows in memory, with bounds where all cells are known."""
        X, weights = as_argument(sample.numeric), as_argument(sample.weights)
        is_complete = not np.isnan(np.sum(X))
        columns = None if is_complete else column_moments_of(X, sample.weight)
        origin = np.average(X, axis=0, weights=weights) if columns is None else columns.mean
        moved = X - origin
        squares = weights @ np.nan_to_num(moved) ** 2
        known = weights.sum() if columns is None else np.maximum(columns.weight, 1e-300)
        variance = float((squares / known).mean())
        begin = self._first_centers(lambda: Starts.of(X, weights, origin), X.shape[1])
        problem = LloydProblem(begin, origin, variance, is_complete)
        engine = None
        if is_complete:
            engine = BoundedRows(X, weights, origin, variance, self.n_clusters)
        total = engine or (lambda step: step(sample))
        solution = self._driven(problem, total)
        centers = solution.params.points
        if engine is not None and engine.last is centers:
            labels, apart = engine.labels, engine.own_squares()
        else:
            labels, apart = nearest_centers(X, centers, is_complete)
        # The bound is made of the rows when somebody asks for it.
        self._store(solution, float(weights @ apart), (moved, weights) if is_complete else None)
        self.labels_ = labels
        self._tell_fewer(len(np.unique(labels)))

    def _fit_sparse(self, sample: Sample) -> None:
        """Sparse rows in memory, which stay sparse."""
        X, weights = sample.numeric, as_argument(sample.weights)
        means, variance = sparse_moments(X, weights)
        begin = self._first_centers(lambda: SparseStarts.of_sparse(X, weights, means), X.shape[1])
        problem = LloydProblem(begin, means, variance, True)
        solution = self._driven(problem, lambda step: step(sample))
        labels, apart = nearest_of_sparse(X, solution.params.points)
        few = X.shape[1] <= _FEW_COLUMNS
        scatter = sparse_scatter(X, weights, means) if few else None
        self._store(solution, float(weights @ apart), scatter)
        self.labels_ = labels
        self._tell_fewer(len(np.unique(labels)))

    def _fit_passes(self, passes: ChunkPasses) -> Self:
        with fitting(self):
            sums: TableSums = passes(TableSums.of)
            set_feature_names(self, sums.schema)
            self.schema_ = sums.schema
            columns = sums.columns
            self._check_count(sums.rows)
            is_complete = bool((columns.weight == sums.weight).all())
            kept, p = sums.kept, len(columns.mean)
            known = np.maximum(columns.weight, 1e-300)
            variance = float((columns.scatter / known).mean())
            begin = self._first_centers(lambda: Starts.of(kept.rows, kept.weights, columns.mean), p)
            problem = LloydProblem(begin, columns.mean, variance, is_complete)
            solution = self._driven(problem, passes)
            self._store(solution, solution.value, sums.scatter)
            self.__dict__.pop("labels_", None)
            self._tell_fewer(int((solution.statistics.counts > 0).sum()))
        return self

    def _driven(self, problem: LloydProblem, total: Any) -> Fitted[Centers, LloydSums]:
        return fit_sums(
            problem,
            total,
            stop=StopRule(tol=None, residual_tol=self.tol, max_iter=self.max_iter),
            n_init=self._restarts,
            random_state=self.random_state,
        )

    def _store(self, solution: Fitted[Centers, LloydSums], inertia: float, rows: Any) -> None:
        certificate = replace(solution.certificate, value=inertia)
        warn_if_stopped(certificate, type(self).__name__, stacklevel=5)
        self.cluster_centers_ = np.array(solution.params.points)
        self.cell_weights_ = np.array(solution.statistics.cells)
        self.inertia_ = inertia
        self.n_iter_ = max(1, certificate.iterations or 1)
        self.certificate_ = later(certified, certificate, self.n_clusters, rows)

    # Answers

    def _nearest(self, X: Any) -> tuple[Codes, Floats]:
        return nearest_centers(X, self.cluster_centers_, not np.isnan(X.sum()))


def _check_width(model: Any, X: Any) -> None:
    width = np.shape(X)[1] if np.ndim(X) == 2 else model.n_features_in_
    if width != model.n_features_in_:
        raise InputError(
            f"X has {width} features, but {type(model).__name__} is expecting "
            f"{model.n_features_in_} features as input."
        )


# --- The certificate ------------------------------------------------------------------------------


def certified(certificate: Certificate, n_clusters: int, rows: Any) -> Certificate:
    """The certificate with the bound, and what it means in words.

    `rows` are centered rows with their weights, a scatter matrix, or None.
    """
    value = certificate.value or 0.0
    conditions = {"rows": "every row belongs to its nearest center"}
    residual = certificate.residual or 0.0
    conditions["centers"] = (
        "every center is the mean of its rows"
        if residual <= 1e-24
        else f"centers are {np.sqrt(residual):.2g} standard deviations from the means of their rows"
    )
    details: dict[str, Any] = dict(certificate.details) | conditions
    if rows is None:
        return replace(certificate, details=details)
    # Rounding of the eigenvalues must not lift the bound above the optimum.
    if isinstance(rows, tuple):
        moved, weights = rows
        bound = best_sum_bound(moved, weights, n_clusters)
    else:
        squares = np.maximum(np.linalg.eigvalsh(rows)[::-1], 0.0)
        bound = float(squares[n_clusters - 1 :].sum())
    bound = min(bound * (1 - 1e-10), value)
    is_best = certificate.converged and value - bound <= 2e-10 * value
    details["statement"] = statement(value, bound) if not is_best else _PROVED
    return replace(
        certificate,
        verdict=Verdict.PROVED if is_best else certificate.verdict,
        converged=None,
        lower_bound=bound,
        gap=None,
        relative_gap=None,
        details=details,
    )


_PROVED = "proved to be the best possible"


def statement(value: float, bound: float) -> str:
    """How far from the best possible a sum is at most, in words.

    Examples
    --------
    >>> statement(108.0, 100.0), statement(5.0, 0.0)
    ('within 8 % of the best possible', 'how much better a sum is possible is not known')
    """
    if not bound > 0:
        return "how much better a sum is possible is not known"
    share = value / bound - 1.0
    if share > 10.0:
        return f"within {share + 1:.2g} times of the best possible"
    shown = f"{100 * share:.0f}" if share >= 0.1 else f"{100 * share:.2g}"
    return f"within {shown} % of the best possible"
