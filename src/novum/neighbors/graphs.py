"""Graphs of neighbors: a sparse matrix with a cell for each row and each of its neighbors."""

from __future__ import annotations

from typing import Any

from novum.core.errors import InputError
from novum.neighbors.nearest import KNeighborsMixin, NearestNeighbors, RadiusMixin


def kneighbors_graph(
    X: Any,
    n_neighbors: int,
    *,
    mode: str = "connectivity",
    metric: Any = "minkowski",
    p: float = 2,
    metric_params: Any = None,
    include_self: bool | str = False,
    n_jobs: int | None = None,
) -> Any:
    """The nearest rows of every row, as a sparse matrix.

    Parameters
    ----------
    X : table, or a fitted learner by neighbors
    n_neighbors : int
    mode : {"connectivity", "distance"}
        Whether cells are 1 or the distance.
    metric, p, metric_params
        As for `NearestNeighbors`.
    include_self : bool or "auto"
        Whether a row is the first neighbor of itself; "auto" is so for connectivity.
    n_jobs : ignored

    Examples
    --------
    >>> kneighbors_graph([[0.0], [3.0], [1.0]], 1, mode="distance").toarray()
    array([[0., 0., 1.],
           [0., 0., 2.],
           [1., 0., 0.]])
    """
    del n_jobs
    model = X
    if not isinstance(X, KNeighborsMixin):
        model = NearestNeighbors(
            n_neighbors=n_neighbors, metric=metric, p=p, metric_params=metric_params
        ).fit(X)
    return model.kneighbors_graph(_asked(X, model, include_self, mode), n_neighbors, mode)


def radius_neighbors_graph(
    X: Any,
    radius: float,
    *,
    mode: str = "connectivity",
    metric: Any = "minkowski",
    p: float = 2,
    metric_params: Any = None,
    include_self: bool | str = False,
    n_jobs: int | None = None,
) -> Any:
    """The rows within a radius of every row, as a sparse matrix.

    Parameters
    ----------
    X : table, or a fitted learner by neighbors
    radius : float
    mode, metric, p, metric_params, include_self, n_jobs
        As for `kneighbors_graph`.

    Examples
    --------
    >>> radius_neighbors_graph([[0.0], [3.0], [1.0]], 1.5).toarray()
    array([[0., 0., 1.],
           [0., 0., 0.],
           [1., 0., 0.]])
    """
    del n_jobs
    model = X
    if not isinstance(X, RadiusMixin):
        model = NearestNeighbors(
            radius=radius, metric=metric, p=p, metric_params=metric_params
        ).fit(X)
    return model.radius_neighbors_graph(_asked(X, model, include_self, mode), radius, mode)


def _asked(X: Any, model: Any, include_self: bool | str, mode: str) -> Any:
    """The rows themselves where each finds itself too; None where it does not."""
    if include_self not in (True, False, "auto"):
        raise InputError(f"include_self is True, False or 'auto', got {include_self!r}.")
    with_self = mode == "connectivity" if include_self == "auto" else include_self
    if not with_self:
        return None
    if X is model:
        raise InputError("include_self needs the rows. Pass the table in place of a fitted model.")
    return X
