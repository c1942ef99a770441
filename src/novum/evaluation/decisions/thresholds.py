"""Choosing a threshold on validation cases.

Scores that are not calibrated log-likelihood ratios, or not ratios at all, need a threshold found
on cases with known labels. The best one is not a number but a step: every threshold from one score
up to the next decides all validation cases alike. The choice is the middle of the step, and the
step itself tells how well it is determined.

    cost(t) = pi C_fn P_fn(t) + (1 - pi) C_fp P_fp(t)

The cost on the cases that chose the threshold is too good; judge it on others (`cost_on`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novum.core.working_point import WorkingPoint, label_array
from novum.evaluation.decisions.detection_cost import detection_cost, minimum_detection_cost
from novum.evaluation.decisions.error_rates import ErrorRates
from novum.evaluation.decisions.labelled_cases import checked_scores


@dataclass(frozen=True)
class ThresholdChoice:
    """A threshold for scores at a working point, and what it cost where it was chosen.

    Attributes
    ----------
    threshold : float
        Accept the positive class above it. Infinite where one decision is best for all cases.
    low, high : float
        The step: every threshold `low <= t < high` decides the validation cases alike.
    cost, bayes_cost : float
        Normalized cost on the validation cases, at the threshold and at the point's own one for
        log-likelihood ratios.
    point : WorkingPoint

    Examples
    --------
    >>> point = WorkingPoint.binary(prior=0.5, cost_fn=1, cost_fp=1, classes=("no", "yes"))
    >>> choice = choose_threshold(["no", "yes", "no", "yes"], [5.0, 8.0, 6.0, 9.0], point)
    >>> choice.threshold, choice.cost, choice.bayes_cost
    (7.0, 0.0, 1.0)
    >>> choice.decide([6.5, 7.5]).tolist()
    ['no', 'yes']
    """

    threshold: float
    low: float
    high: float
    cost: float
    bayes_cost: float
    point: WorkingPoint

    def decide(self, scores: ArrayLike) -> NDArray[Any]:
        """The class of each score."""
        values = np.asarray(scores, float)
        accepted = checked_scores(values.ravel(), values.size) > self.threshold
        return label_array(self.point.classes)[accepted.astype(np.intp)]

    def cost_on(self, y: Any, scores: ArrayLike, *, sample_weight: Any = None) -> float:
        """Normalized cost of this threshold on other cases."""
        return detection_cost(
            y, scores, self.point, threshold=self.threshold, sample_weight=sample_weight
        )


def choose_threshold(
    y: Any, scores: ArrayLike, point: WorkingPoint, *, sample_weight: Any = None
) -> ThresholdChoice:
    """The threshold of least cost on validation cases; among equals the lowest.

    Parameters
    ----------
    y : array of n labels
        The last of `point.classes` is the positive class.
    scores : array of shape (n,)
        Any numbers of which larger ones speak for the positive class.
    point : WorkingPoint
    sample_weight : array of shape (n,), optional

    Returns
    -------
    ThresholdChoice
    """
    best = minimum_detection_cost(y, scores, point, sample_weight=sample_weight)
    edges = ErrorRates.of(y, scores, point.classes, sample_weight).edges
    step = int(np.searchsorted(edges, best.threshold, side="right")) - 1
    return ThresholdChoice(
        best.threshold,
        float(edges[step]),
        float(edges[step + 1]) if step + 1 < len(edges) else float("inf"),
        best.value,
        detection_cost(y, scores, point, sample_weight=sample_weight),
        point,
    )
