from novum.neighbors.classifier import KNeighborsClassifier, RadiusNeighborsClassifier
from novum.neighbors.density import KernelDensity
from novum.neighbors.graphs import kneighbors_graph, radius_neighbors_graph
from novum.neighbors.nearest import NearestNeighbors

# What other packages use.
from novum.neighbors.nearest import NeighborsModel as NeighborsModel
from novum.neighbors.nearest import rows_to_keep as rows_to_keep
from novum.neighbors.novelty import LocalOutlierFactor, NeighborDistance
from novum.neighbors.propagation import (
    LabelPropagation,
    LabelSpreading,
    UnreachedRowsWarning,
)
from novum.neighbors.regressor import KNeighborsRegressor, RadiusNeighborsRegressor
from novum.neighbors.voters import NeighborCurve

__all__ = [
    "KNeighborsClassifier",
    "KNeighborsRegressor",
    "KernelDensity",
    "LabelPropagation",
    "LabelSpreading",
    "LocalOutlierFactor",
    "NearestNeighbors",
    "NeighborCurve",
    "NeighborDistance",
    "RadiusNeighborsClassifier",
    "RadiusNeighborsRegressor",
    "UnreachedRowsWarning",
    "kneighbors_graph",
    "radius_neighbors_graph",
]
