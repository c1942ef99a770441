"""Smoothing: a leaf's prediction is drawn towards those of the nodes above it.

On the way up from the leaf, the prediction p of a node of weight n and the prediction q of the
model of its parent become

    p' = (n p + k q) / (n + k),

so that leaves with few rows lean on their elders and neighboring leaves do not jump. It is linear:
the smoothed model of a leaf is a weighted sum of the models on its way, with weights that add to 1.

References
----------
Quinlan, "Learning with continuous classes", 1992, section 3.4.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novum.core.interrupts import time_sliced
from novum.numerics import as_argument
from novum.trees.model_trees.model_tree_models import LinearModel, NodeModels
from novum.trees.routing import leaf_shares
from novum.trees.tree import Tree

Floats = NDArray[np.float64]


def path_weights(tree: Tree, leaf: int, smoothing: float) -> dict[int, float]:
    """How much the model of each node on the way of a leaf counts, the leaf's first.

    Examples
    --------
    A leaf of weight 5 below a root, with k = 15: a quarter of itself, the rest of the root.

    >>> from novum.trees import DecisionTreeRegressor
    >>> X, y = [[k] for k in range(10)], [0.0] * 5 + [1.0] * 5
    >>> path_weights(DecisionTreeRegressor().fit(X, y).tree_, 1, 15.0)
    {1: 0.25, 0: 0.75}
    """
    parts, node = {leaf: 1.0}, leaf
    while smoothing > 0 and tree.parent[node] >= 0:
        kept = float(tree.weight[node]) / (float(tree.weight[node]) + smoothing)
        node = int(tree.parent[node])
        parts = {below: kept * part for below, part in parts.items()}
        parts[node] = 1.0 - kept
    return parts


def smoothed_model(
    tree: Tree, models: NodeModels, leaf: int, smoothing: float, target: int = 0
) -> LinearModel:
    """What a leaf predicts for rows without missing cells, the models above it mixed in."""
    return models.mixed(path_weights(tree, leaf, smoothing), target)


def predicted(tree: Tree, models: NodeModels, cells: Floats, smoothing: float) -> Floats:
    """Predictions of rows, (n, n_targets): smoothed values of their leaves, by shares."""
    from novum.trees.model_trees.model_tree_smoothing_kernels import smoothed_values

    cells = as_argument(cells)
    shares = leaf_shares(tree, cells)
    places = (
        as_argument(shares.indptr, np.int64),
        as_argument(shares.indices, np.int32),
        as_argument(shares.data),
        as_argument(tree.parent, np.int32),
        as_argument(tree.weight),
    )
    lines = (
        as_argument(models.start, np.int64),
        as_argument(models.column, np.int32),
        as_argument(models.level, np.int32),
        as_argument(models.coefficient),
        as_argument(models.center),
        as_argument(models.base),
    )
    out = np.zeros((len(cells), models.n_targets))
    for low, high in time_sliced(len(cells), block=256):
        smoothed_values(cells, *places, float(smoothing), *lines, low, high, out)
    return out
