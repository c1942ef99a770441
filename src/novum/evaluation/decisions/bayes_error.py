"""Bayes-error plot: detection cost over a range of working points.

Normalized detection cost depends on the working point through its effective prior p only, so one
picture over  log(p / (1 - p))  shows a system at every point it could be used at:

    actual(p)  = cost at the Bayes threshold -log(p / (1 - p)),
    minimum(p) = least cost over all thresholds,              minimum(p) <= min(actual(p), 1).

Where the curves touch, scores are calibrated; where the actual one exceeds 1, deciding blindly
would be cheaper. All values come from one sort (`error_rates`).

Reference: Brümmer & du Preez, Computer Speech and Language 20 (2006), section 3.6 ("applied
probability of error").
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from novum.core.errors import InputError
from novum.evaluation.decisions.error_rates import ErrorRates

Floats = NDArray[np.float64]


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
        axes = _axes(ax)
        name = "" if label is None else f"{label}, "
        (line,) = axes.plot(self.log_odds, self.actual, label=f"{name}actual")
        axes.plot(self.log_odds, self.minimum, "--", color=line.get_color(), label=f"{name}minimum")
        p = self.effective_prior
        blind = np.ones_like(p) if self.normalized else np.minimum(p, 1 - p)
        axes.plot(self.log_odds, blind, ":", color="0.6")
        axes.set_xlabel("log odds of the effective prior")
        axes.set_ylabel("normalized detection cost" if self.normalized else "error probability")
        # Far outside of their calibration scores cost many times a blind decision.
        axes.set_ylim(0, min(max(1.1, 1.05 * self.actual.max()), 2.0) if self.normalized else None)
        axes.legend(frameon=False)
        return axes


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


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "Pictures need matplotlib, which is not installed. Install novum with its plot extra."
        ) from error
    return plt.subplots()[1]
