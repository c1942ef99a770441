"""Pruning a model tree: a subtree stays where it is estimated to err less than one linear model.

The error of a model on the rows it was fitted to is too small, the more so the more parameters it
has. M5 charges for them:

    estimate = sqrt(SSE / n) (n + v) / (n - v).

From the leaves up, a node becomes a leaf if the estimate of its linear model is at most that of the
subtree below it. A subtree is one model too: its squared error is that of its leaves, and its
parameters are those of its leaves and one for each question.

References
----------
Quinlan, "Learning with continuous classes", 1992, section 3.3. Wang and Witten, "Inducing model
trees for continuous classes", 1997.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from novum.core.errors import InputError
from novum.trees.model_trees.model_tree_models import NodeModels
from novum.trees.tree import Question, Tree

# Errors below this share of the deviation of all rows count as that share.
NEGLIGIBLE = 1e-6
# Estimates that differ by less, relative to themselves, are equal: sums in another order.
_TIE = 1e-9


@dataclass(frozen=True)
class ModelPruning:
    """Prunes a model tree by the estimates of M5.

    Parameters
    ----------
    price : float
        What a parameter counts as: v is the number of parameters times this. More prunes more;
        with 0 a node is cut only where its line fits the rows as well as the subtree does.

    Examples
    --------
    >>> ModelPruning().estimate(error=2.0, weight=10.0, parameters=2)
    3.0
    """

    price: float = 1.0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.price) and self.price >= 0):
            raise InputError(f"The price of a parameter is a number of at least 0: {self.price!r}.")

    def estimate(self, error: float, weight: float, parameters: float) -> float:
        """`error (n + v) / (n - v)`, infinite for n <= v."""
        v = self.price * parameters
        return math.inf if weight <= v else error * (weight + v) / (weight - v)

    def leaves(self, tree: Tree, models: NodeModels) -> NDArray[np.bool_]:
        """Which nodes become leaves; `tree.cut` makes them so."""
        # In units of the deviation of all rows, so that no square leaves the range of a double.
        unit = float(models.deviation[0]) or 1.0
        weight, parameters = tree.weight.tolist(), (models.n_terms + 1.0).tolist()
        squares = ((models.error / unit) ** 2 * tree.weight).tolist()
        cut = np.zeros(tree.n_nodes, bool)
        for node in np.flatnonzero(tree.question != Question.LEAF)[::-1].tolist():
            n, below = weight[node], tree.children(node)
            subtree = sum(squares[child] for child in below)
            count = sum(parameters[child] for child in below) + 1.0
            own = max(math.sqrt(squares[node] / n), NEGLIGIBLE)
            theirs = max(math.sqrt(subtree / n), NEGLIGIBLE)
            line = self.estimate(own, n, parameters[node])
            if line <= self.estimate(theirs, n, count) * (1.0 + _TIE):
                cut[node] = True
            else:
                squares[node], parameters[node] = subtree, count
        return cut
