from novum.distances.axioms import Violation, check_metric
from novum.distances.column_rows import ColumnRows
from novum.distances.column_rows import refuse_overflow as refuse_overflow
from novum.distances.column_rows import refuse_underflow as refuse_underflow
from novum.distances.learned import ClassFrequencies, ColumnRanges
from novum.distances.mixed import Gower, Overlap, ValueDifference
from novum.distances.names import as_distance, distance_named
from novum.distances.names import takes_sparse as takes_sparse
from novum.distances.other import FromFunction, FromKernel, Precomputed
from novum.distances.protocol import Distance, DistanceRows

# What other packages use.
from novum.distances.sparse_rows import complete_sparse as complete_sparse
from novum.distances.vectors import (
    Chebyshev,
    Cosine,
    Euclidean,
    Haversine,
    Mahalanobis,
    Manhattan,
    Minkowski,
)

__all__ = [
    "Chebyshev",
    "ClassFrequencies",
    "ColumnRanges",
    "ColumnRows",
    "Cosine",
    "Distance",
    "DistanceRows",
    "Euclidean",
    "FromFunction",
    "FromKernel",
    "Gower",
    "Haversine",
    "Mahalanobis",
    "Manhattan",
    "Minkowski",
    "Overlap",
    "Precomputed",
    "ValueDifference",
    "Violation",
    "as_distance",
    "check_metric",
    "distance_named",
]
