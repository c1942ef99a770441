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
from numpy.typing import ArrayLike
from scipy import special

from novum.core.decisions import WorkingPoint, label_array
from novum.core.errors import InputError
from novum.display import DOTTED, Axis, Chart, Line
from novum.evaluation.decisions.error_rates import ErrorRates
from novum.evaluation.decisions.labelled_cases import checked_scores
from novum.numerics import Array, Floats


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


# --- Choosing a threshold -------------------------------------------------------------------------
# Choosing a threshold on validation cases.
#
# Scores that are not calibrated log-likelihood ratios, or not ratios at all, need a threshold found
# on cases with known labels. The best one is not a number but a step: every threshold from one
# score up to the next decides all validation cases alike. The choice is the middle of the step, and
# the step itself tells how well it is determined.
#
#     cost(t) = pi C_fn P_fn(t) + (1 - pi) C_fp P_fp(t)
#
# The cost on the cases that chose the threshold is too good; judge it on others (`cost_on`).


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

    def decide(self, scores: ArrayLike) -> Array:
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


# --- The cost of all priors -----------------------------------------------------------------------
# Bayes-error plot: detection cost over a range of working points.
#
# Normalized detection cost depends on the working point through its effective prior p only, so one
# picture over  log(p / (1 - p))  shows a system at every point it could be used at:
#
#     actual(p)  = cost at the Bayes threshold -log(p / (1 - p)),
#     minimum(p) = least cost over all thresholds,              minimum(p) <= min(actual(p), 1).
#
# Where the curves touch, scores are calibrated; where the actual one exceeds 1, deciding blindly
# would be cheaper. All values come from one sort (`error_rates`).
#
# Reference: Brümmer & du Preez, Computer Speech and Language 20 (2006), section 3.6 ("applied
# probability of error").


@dataclass(frozen=True, eq=False)
class BayesErrorCurve:
    """Actual and minimum detection cost for a range of effective priors.

    Attributes
    ----------
    log_odds : array of shape (m,)
        Of the effective prior.
    actual, minimum : arrays of shape (m,)
        Cost at the Bayes threshold and at the best one.
    normalized : bool
        Whether the costs are divided by `min(p, 1 - p)`; otherwise they are error rates.
    """

    log_odds: Floats
    actual: Floats
    minimum: Floats
    normalized: bool

    @property
    def effective_prior(self) -> Floats:
        """Probability of the positive class, with equal costs, at each point."""
        return special.expit(self.log_odds)

    @property
    def calibration_loss(self) -> Floats:
        """What the scores lose to their own best threshold at each point; never negative."""
        return self.actual - self.minimum

    def plot(self, ax: Any = None, label: str | None = None) -> Any:
        """Both curves, and the cost of the better blind decision; gives the axes back.

        Parameters
        ----------
        ax : matplotlib axes, optional
        label : str, optional
            Name of the system, for several in one picture.
        """
        name = "" if label is None else f"{label}, "
        p = self.effective_prior
        blind = np.ones_like(p) if self.normalized else np.minimum(p, 1 - p)
        # Several systems in one picture have a color each.
        color = 0 if ax is None else len(ax.lines) // 3
        # Far outside of their calibration scores cost many times a blind decision.
        top = min(max(1.1, 1.05 * self.actual.max()), 2.0)
        if not self.normalized:
            top = 1.05 * float(max(self.actual.max(), blind.max()))
        return Chart(
            Axis("log odds of the effective prior"),
            Axis("normalized detection cost" if self.normalized else "error probability", (0, top)),
            [
                Line(self.log_odds, self.actual, f"{name}actual", color),
                Line(self.log_odds, self.minimum, f"{name}minimum", color, dash=(5, 2)),
                Line(self.log_odds, blind, color="muted", dash=DOTTED, width=0.9),
            ],
        ).plot(ax)


def bayes_error_curve(
    y: Any,
    scores: ArrayLike,
    log_odds: ArrayLike | None = None,
    *,
    classes: Any = (0, 1),
    normalized: bool = True,
    sample_weight: Any = None,
) -> BayesErrorCurve:
    """Actual and minimum detection cost over effective priors, by one sort of the scores.

    Parameters
    ----------
    y : array of n labels
    scores : array of shape (n,)
        Log-likelihood ratios of the positive class.
    log_odds : array of shape (m,), optional
        Of the effective priors, finite. Default: 161 from -4 to 4.
    classes : pair of labels
        The last is the positive class.
    normalized : bool
        Whether 1 is the cost of the better blind decision.
    sample_weight : array of shape (n,), optional

    Examples
    --------
    >>> curve = bayes_error_curve([0, 0, 1, 1], [-2.0, 1.0, 0.5, 3.0], [-1.5, 0.0, 1.5])
    >>> curve.actual.round(3).tolist(), curve.minimum.round(3).tolist()
    ([0.5, 0.5, 0.5], [0.5, 0.5, 0.5])
    """
    points = np.linspace(-4, 4, 161) if log_odds is None else np.array(log_odds, np.float64)
    if points.ndim != 1 or points.size == 0 or not np.isfinite(points).all():
        raise InputError(
            f"log_odds are finite numbers in one row, got an array of shape {points.shape}. The "
            "log odds of a prior p are log(p / (1 - p))."
        )
    cases = ErrorRates.of(y, scores, classes, sample_weight)
    p, rest = special.expit(points), special.expit(-points)
    fn, fp = cases.rates_at(-points)
    blind = np.minimum(p, rest) if normalized else 1.0
    actual = (p * fn + rest * fp) / blind
    # The least of all thresholds is at most that of one of them; rounding must not say otherwise.
    minimum = np.minimum(cases.least_for_priors(p) / blind, actual)
    return BayesErrorCurve(points, actual, minimum, bool(normalized))
