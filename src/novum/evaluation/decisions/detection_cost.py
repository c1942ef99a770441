"""Detection cost: what a binary decision costs at a working point, as used and at best.

    DCF(t) = pi C_fn P_fn(t) + (1 - pi) C_fp P_fp(t)            accept when score > t

A score that is a log-likelihood ratio needs no tuning: the Bayes threshold of the working point is
optimal, and the cost there is the *actual* cost. The *minimum* cost is that of the best threshold
for these very cases; the difference between the two is what bad calibration costs. Divided by

    min(pi C_fn, (1 - pi) C_fp),

the cost of the better of "always no" and "always yes", both depend on the working point through
its effective prior only, and a system worth having stays below 1.

Where right decisions cost something too, the cost has the constant  pi C_tp + (1 - pi) C_tn  added;
the normalized cost is that of the errors alone.

References: Brümmer & du Preez, Computer Speech and Language 20 (2006), section 3; NIST speaker
recognition evaluations since 1996.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novum.core.errors import InputError
from novum.core.working_point import WorkingPoint
from novum.evaluation.decisions.error_rates import ErrorRates

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class MinimumCost:
    """The least cost over all thresholds, and where it is reached.

    Attributes
    ----------
    value : float
    threshold : float
        Half way between two scores; infinite where accepting all cases or none is best. Among
        thresholds of equal cost the lowest.
    false_negative_rate, false_positive_rate : float
        At the threshold.
    normalized : bool
        Whether `value` is divided by the cost of the best blind decision.
    """

    value: float
    threshold: float
    false_negative_rate: float
    false_positive_rate: float
    normalized: bool

    def __float__(self) -> float:
        return self.value


def detection_cost(
    y: Any,
    scores: ArrayLike,
    point: WorkingPoint,
    normalized: bool = True,
    *,
    threshold: float | None = None,
    sample_weight: Any = None,
) -> float:
    """Cost of accepting the positive class when `score > threshold`.

    Parameters
    ----------
    y : array of n labels
        The last of `point.classes` is the positive class.
    scores : array of shape (n,)
        Log-likelihood ratios; larger speaks for the positive class. May be infinite.
    point : WorkingPoint
        With two classes, which are also the actions.
    normalized : bool
        Whether 1 is the cost of the better of always accepting and never accepting.
    threshold : float, optional
        Default: the Bayes threshold of the point.
    sample_weight : array of shape (n,), optional

    Examples
    --------
    >>> point = WorkingPoint.binary(prior=0.5, cost_fn=1, cost_fp=1)
    >>> detection_cost([0, 0, 1, 1], [-2.0, 1.0, 0.5, 3.0], point)
    0.5
    """
    risks = _risks(point)
    cases = ErrorRates.of(y, scores, point.classes, sample_weight)
    used = point.threshold if threshold is None else _checked_threshold(threshold)
    fn, fp = (float(rate) for rate in cases.rates_at(used))
    return _scaled(risks[0] * fn + risks[1] * fp, point, normalized)


def minimum_detection_cost(
    y: Any,
    scores: ArrayLike,
    point: WorkingPoint,
    normalized: bool = True,
    *,
    sample_weight: Any = None,
) -> MinimumCost:
    """Least cost over all thresholds, by one sort of the scores.

    Parameters
    ----------
    y, scores, point, normalized, sample_weight
        As for `detection_cost`. Only the order of the scores matters for the value.

    Returns
    -------
    MinimumCost
        With `value` and `threshold`.

    Examples
    --------
    >>> point = WorkingPoint.binary(prior=0.5, cost_fn=1, cost_fp=1)
    >>> best = minimum_detection_cost([0, 0, 1, 1], [-2.0, 1.0, 0.5, 3.0], point)
    >>> best.value, best.threshold
    (0.5, -0.75)
    """
    risks = _risks(point)
    cases = ErrorRates.of(y, scores, point.classes, sample_weight)
    step, cost = cases.least(*risks)
    return MinimumCost(
        _scaled(cost, point, normalized),
        cases.threshold_of(step),
        float(cases.false_negative[step]),
        float(cases.false_positive[step]),
        bool(normalized),
    )


def _risks(point: WorkingPoint) -> tuple[float, float]:
    """Prior times excess cost of a missed positive and of a false alarm."""
    if not isinstance(point, WorkingPoint):
        raise InputError(
            f"point is a WorkingPoint, such as WorkingPoint.binary(prior=..., cost_fn=..., "
            f"cost_fp=...), got {point!r}."
        )
    if point.reject_cost is not None:
        raise InputError(
            "Detection accepts or refuses, but this point may also reject at the cost of "
            f"{point.reject_cost}. See empirical_bayes_risk, or leave out reject_cost."
        )
    false_negative, false_positive = point._binary_risks()
    return float(false_negative), float(false_positive)


def _scaled(cost: float, point: WorkingPoint, normalized: bool) -> float:
    if not normalized:
        return cost + float(point.priors @ np.diagonal(point.cost))
    blind = min(_risks(point))
    if not blind > 0:
        raise InputError(
            "The cost cannot be normalized: one of the errors costs nothing at this point "
            f"(effective prior {point.effective_prior:.6g}), so a blind decision is free. Ask for "
            "normalized=False."
        )
    return cost / blind


def _checked_threshold(threshold: float) -> float:
    number = float(threshold)
    if np.isnan(number):
        raise InputError("threshold is a number, finite or infinite, got NaN.")
    return number
