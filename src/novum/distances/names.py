"""Distances by the names that scikit-learn and SciPy give them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.distances.mixed import Gower, Overlap, ValueDifference
from novum.distances.other import FromFunction, Precomputed
from novum.distances.protocol import Distance
from novum.distances.vectors import (
    Chebyshev,
    Cosine,
    Euclidean,
    Haversine,
    Mahalanobis,
    Manhattan,
    Minkowski,
)

_NAMES: dict[str, Any] = {
    "chebyshev": Chebyshev,
    "cityblock": Manhattan,
    "cosine": Cosine,
    "euclidean": Euclidean,
    "gower": Gower,
    "hamming": Overlap,
    "haversine": Haversine,
    "infinity": Chebyshev,
    "l1": Manhattan,
    "l2": Euclidean,
    "mahalanobis": Mahalanobis,
    "manhattan": Manhattan,
    "minkowski": Minkowski,
    "overlap": Overlap,
    "precomputed": Precomputed,
    "value_difference": ValueDifference,
}
# Through SciPy: rarely asked for, and by brute force.
_OF_SCIPY = (
    "braycurtis", "canberra", "correlation", "dice", "jaccard", "jensenshannon", "rogerstanimoto",
    "russellrao", "seuclidean", "sokalsneath", "sqeuclidean", "yule",
)  # fmt: skip


def distance_named(name: str, **settings: Any) -> Distance:
    """The distance of one of scikit-learn's names.

    Examples
    --------
    >>> distance_named("minkowski", p=1)
    Minkowski(p=1, missing='expected')
    >>> distance_named("nan_euclidean")
    Euclidean(missing='partial')
    """
    distance: Distance
    if name == "nan_euclidean":
        return Euclidean(missing="partial", **settings)
    if name == "mahalanobis" and settings:
        return Mahalanobis(_covariance(**settings))
    if name in _OF_SCIPY:
        return FromFunction(name, settings or None)
    if name not in _NAMES:
        names = ", ".join(sorted([*_NAMES, "nan_euclidean", *_OF_SCIPY]))
        raise InputError(f"metric={name!r} is no distance. There are {names}, or a Distance.")
    try:
        distance = _NAMES[name](**settings)
    except TypeError as error:
        raise InputError(
            f"metric={name!r} does not take the parameters {', '.join(settings)}. Leave them out, "
            "or give a Distance."
        ) from error
    return distance


def as_distance(metric: Any, parameters: Mapping[str, Any] | None = None) -> Distance:
    """A metric as a value: a distance as it is, a name, or a function of two rows.

    Examples
    --------
    >>> as_distance("cityblock"), as_distance(Gower())
    (Manhattan(missing='expected'), Gower(weights=None, missing='expected'))
    """
    if isinstance(metric, Distance):
        return metric
    if isinstance(metric, str):
        return distance_named(metric, **(parameters or {}))
    if callable(metric):
        return FromFunction(metric, parameters)
    raise InputError(f"A metric is a Distance, a name or a function of two rows, got {metric!r}.")


def takes_sparse(metric: Any) -> bool:
    """Whether rows under a metric may be sparse; of what is no metric too, for tags of learners.

    Examples
    --------
    >>> takes_sparse("manhattan"), takes_sparse("gower"), takes_sparse(None)
    (True, False, False)
    """
    if isinstance(metric, str):
        metric = _NAMES.get(metric, Euclidean if metric == "nan_euclidean" else None)
    return bool(getattr(metric, "takes_sparse", False))


def _covariance(V: Any = None, VI: Any = None) -> Any:
    return V if VI is None else np.linalg.inv(np.asarray(VI, np.float64))
