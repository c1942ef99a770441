from novum.distances.axioms import Violation, check_metric
from novum.distances.column_rows import ColumnRows
from novum.distances.mixed import Gower, Overlap, ValueDifference
from novum.distances.other import FromKernel, distance_named
from novum.distances.protocol import Distance, DistanceRows
from novum.distances.vectors import Chebyshev, Cosine, Euclidean, Mahalanobis, Manhattan, Minkowski

__all__ = [
    "Chebyshev",
    "ColumnRows",
    "Cosine",
    "Distance",
    "DistanceRows",
    "Euclidean",
    "FromKernel",
    "Gower",
    "Mahalanobis",
    "Manhattan",
    "Minkowski",
    "Overlap",
    "ValueDifference",
    "Violation",
    "check_metric",
    "distance_named",
]
