"""What decisions cost at a working point, as a function of row weights.

    risk = sum over classes of prior * mean over its rows of cost[class, action taken]

Each class is weighted by its prior at the point, not by how often it occurs among the rows. Divided
by the risk of the best action that looks at nothing it is the normalized risk: 1 is useless.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from novum.core.working_point import WorkingPoint
from novum.evaluation.decisions.risk import blind_risk

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class DecisionCosts:
    """Costs of actions taken.

    Parameters
    ----------
    true : array of shape (n,)
        Class of each row.
    cost : array of shape (n,)
        Cost of the action taken for the row.
    point : WorkingPoint
    """

    true: NDArray[np.int64]
    cost: Floats
    point: WorkingPoint

    @property
    def names(self) -> tuple[str, ...]:
        """The numbers that `of_weights` gives."""
        return ("bayes_risk", "normalized_bayes_risk")

    def of_weights(self, weights: Floats) -> list[Floats]:
        """Risk and normalized risk for row weights of shape (b, n)."""
        risk = np.zeros(len(weights))
        for place, prior in enumerate(self.point.priors):
            chosen = self.true == place
            if prior == 0:
                continue
            part = weights[:, chosen]
            with np.errstate(invalid="ignore", divide="ignore"):
                risk += prior * (part @ self.cost[chosen]) / part.sum(axis=1)
        known, blind = blind_risk(self.point)
        with np.errstate(invalid="ignore", divide="ignore"):
            return [risk, (risk - known) / (blind - known)]


def costs_of_actions(
    true: NDArray[np.int64], actions: NDArray[np.int64], point: WorkingPoint
) -> DecisionCosts:
    """Costs of the actions taken for rows of those classes.

    Examples
    --------
    >>> point = WorkingPoint.binary(prior=0.5, cost_fn=3, cost_fp=1)
    >>> costs = costs_of_actions(np.array([0, 0, 1]), np.array([0, 1, 1]), point)
    >>> [float(value[0]) for value in costs.of_weights(np.ones((1, 3)))]
    [0.25, 0.5]
    """
    return DecisionCosts(true, point.action_costs[true, actions], point)
