"""k-medians: k centers that minimize the sum of absolute differences to the nearest one.

    f(c_1, ..., c_k) = sum_i w_i min_j sum_t |x_it - c_jt|

As in k-means rows go to their nearest center and centers to the best point of their rows, which is
the median of each column: single far cells do not pull a center away. Over missing cells distances
are partial, `(p / p_i)` times the sum over the p_i known ones, and medians are of known cells,
weighted by p / p_i.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from novum.clustering.center_model import CenterModel
from novum.clustering.starts import Starts
from novum.core.learners import Certificate, fitted, parameter, warn_if_stopped
from novum.core.runtime import fit_context, fitting
from novum.core.sums import StopRule, SumProblem, fit_sums
from novum.core.tables import Sample
from novum.distances import Manhattan
from novum.numerics import Array, Codes, Floats, as_argument

_DISTANCE = Manhattan(missing="partial")


class KMedians(CenterModel):
    """k-medians clustering.

    Parameters
    ----------
    n_clusters : int
    init : {"k-means++", "random"}, array (n_clusters, n_columns) or callable
        As for `KMeans`; "k-means++" draws rows with chances by their distance, not its square.
    n_init : int or "auto"
        Restarts, of which the best is kept; "auto" is 10 for "random" and callables, 1 otherwise.
    max_iter : int
    tol : float
        A fit ends when a step lowers the sum by at most this share of it.
    random_state : int, RandomState, Generator or None

    Attributes
    ----------
    cluster_centers_ : array (n_clusters, n_columns)
    labels_ : int32 array (n_rows,)
    inertia_ : float
        The sum of absolute differences.
    n_iter_ : int
    certificate_ : Certificate
        The sum after every step; at the end every row is at its nearest center and every center at
        the medians of its rows.

    Notes
    -----
    Missing cells, weights, empty clusters and ties as for `KMeans`.

    Examples
    --------
    >>> model = KMedians(2, random_state=0).fit([[0.0], [1.0], [2.0], [50.0], [51.0], [80.0]])
    >>> np.sort(model.cluster_centers_.ravel()), model.inertia_
    (array([ 1., 51.]), 32.0)
    """

    _distance = _DISTANCE

    tol: float = parameter(default=0.0, at_least=0)
    certificate_: Certificate = fitted()

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Finds the centers; as `KMeans.fit`."""
        with fitting(self):
            sample = self._read(X, y, sample_weight, None)
            rows, weights = as_argument(sample.numeric), as_argument(sample.weights)
            self._check_count(len(rows))
            middle = _medians(rows, weights)
            begin = self._first_centers(
                lambda: Starts.of(rows, weights, middle, power=1.0), rows.shape[1]
            )
            problem = MedianProblem(begin)
            solution = fit_sums(
                problem,
                lambda step: step(sample),
                stop=StopRule(tol=self.tol, max_iter=self.max_iter),
                n_init=self._restarts,
                random_state=self.random_state,
            )
            warn_if_stopped(solution.certificate, type(self).__name__, stacklevel=4)
            self.schema_, self.certificate_ = sample.schema, solution.certificate
            self.cluster_centers_ = np.array(solution.params)
            self.inertia_, labels = solution.value, solution.statistics.labels
            self.n_iter_ = max(1, solution.certificate.iterations or 1)
            self._tell_fewer(len(np.unique(labels)))
            self.labels_ = self._labels_of_all(labels, X, sample_weight)
        return self

    def _nearest(self, X: Floats) -> tuple[Codes, Floats]:
        return _nearest(X, self.cluster_centers_)


@dataclass(frozen=True, eq=False)
class MedianStep:
    """What one pass over the rows in memory gives; medians are no sums."""

    labels: Codes
    cost: float
    centers: Floats


class MedianProblem(SumProblem[Floats, MedianStep]):
    """Minimizes the sum of absolute differences to k centers, of rows in memory."""

    objective_name = "sum of absolute differences to the nearest center"
    direction: ClassVar[Any] = "minimize"

    def __init__(self, begin: Callable[[np.random.Generator], Floats]) -> None:
        self.begin = begin

    def start(self, rng: np.random.Generator, /) -> Floats:
        return self.begin(rng)

    def step(self, params: Floats, chunk: Sample, /) -> MedianStep:
        X, weights = as_argument(chunk.numeric), chunk.weights
        labels, costs = _nearest(X, params)
        known = ~np.isnan(X)
        scaled = weights * X.shape[1] / known.sum(axis=1)
        centers = np.array(params)
        far = iter(np.argsort(-costs, kind="stable"))
        for j in range(len(centers)):
            mine = labels == j
            if mine.any():
                medians = _medians(X[mine], scaled[mine])
                centers[j] = np.where(np.isnan(medians), centers[j], medians)
            else:
                row = next(far)
                centers[j] = np.where(known[row], X[row], centers[j])
        return MedianStep(labels, float(weights @ costs), centers)

    def objective(self, params: Floats, statistics: MedianStep, /) -> float:  # noqa: ARG002
        return statistics.cost

    def update(self, params: Floats, statistics: MedianStep, /) -> Floats:  # noqa: ARG002
        return statistics.centers


def _nearest(X: Floats, centers: Floats) -> tuple[Codes, Floats]:
    rows = _DISTANCE.prepare(X)
    costs = rows.cross(_DISTANCE.prepare(centers, rows))
    labels = costs.argmin(axis=1)
    return labels.astype(np.int32), costs[np.arange(len(X)), labels]


def _medians(X: Floats, weights: Floats) -> Floats:
    """Weighted medians of known cells: the middle of all best points; NaN without a known cell."""
    medians = np.full(X.shape[1], np.nan)
    for j in range(X.shape[1]):
        known = ~np.isnan(X[:, j])
        if known.any():
            medians[j] = weighted_median(X[known, j], weights[known])
    return medians


def weighted_median(values: Array, weights: Array) -> float:
    """The middle of all points with half of the weight on either side.

    Examples
    --------
    >>> weighted_median(np.array([3.0, 1.0, 2.0]), np.array([1.0, 1.0, 2.0]))
    2.0
    """
    order = np.argsort(values, kind="stable")
    ends = np.cumsum(weights[order])
    half = ends[-1] / 2
    room = 1e-12 * ends[-1]
    low = int(np.searchsorted(ends, half - room))
    high = int(np.searchsorted(ends, half + room))
    return float((values[order[low]] + values[order[min(high, len(order) - 1)]]) / 2)
