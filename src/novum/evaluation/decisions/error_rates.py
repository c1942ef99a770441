"""Error rates at every threshold, from one sort of the scores.

Accepting the positive class when `score > t`, the rates are step functions of t that change at
scores only,

    P_fn(t) = weight of positives with score <= t / weight of positives,
    P_fp(t) = weight of negatives with score >  t / weight of negatives.

After one sort both are cumulative sums, and everything that is asked of thresholds follows from
them: the rates at given thresholds by binary search, the least of any cost  u P_fn + v P_fp  by a
look at every step, and the least for *all* ratios u / v at once from the lower convex hull of the
points (P_fp, P_fn). Pooling adjacent violators gives the hull: its corners are the ends of the
pools, and the corner for a ratio is found by binary search among the pools' shares of positives.

Reference: Fawcett & Niculescu-Mizil, Machine Learning 68 (2007), 97-106, for the hull.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize

from novum.core.errors import InputError
from novum.evaluation.decisions.labelled_cases import (
    case_weights,
    checked_scores,
    class_codes,
    class_weights,
)
from novum.numerics import Floats, Mask


@dataclass(frozen=True, eq=False)
class ErrorRates:
    """Both error rates as functions of the threshold.

    Attributes
    ----------
    edges : array of shape (m,)
        Thresholds at which the rates change, rising: `-inf`, then the different scores. The rates
        at `edges[k]` hold up to, and not at, `edges[k + 1]`.
    false_negative, false_positive : arrays of shape (m,)

    Examples
    --------
    >>> cases = ErrorRates.of([0, 1, 0, 1], [-1.0, 2.0, 0.5, 0.0])
    >>> cases.edges.tolist()
    [-inf, -1.0, 0.0, 0.5, 2.0]
    >>> cases.false_negative.tolist(), cases.false_positive.tolist()
    ([0.0, 0.0, 0.5, 0.5, 1.0], [1.0, 0.5, 0.5, 0.0, 0.0])
    """

    edges: Floats
    false_negative: Floats
    false_positive: Floats

    @classmethod
    def of(
        cls, y: Any, scores: ArrayLike, classes: Any = (0, 1), sample_weight: Any = None
    ) -> ErrorRates:
        """Cases with two classes, of which the last is the positive one."""
        labels = tuple(classes)
        if len(labels) != 2:
            raise InputError(
                f"Detection has two classes, the positive one last; got {len(labels)}. For more "
                "classes see empirical_bayes_risk."
            )
        codes = class_codes(y, labels)
        numbers = checked_scores(scores, len(codes))
        weight = case_weights(sample_weight, len(codes))
        class_weights(codes, weight, labels)
        counted = weight > 0
        return _rates(numbers[counted], codes[counted] == 1, weight[counted])

    def rates_at(self, thresholds: ArrayLike) -> tuple[Floats, Floats]:
        """P_fn and P_fp of accepting above each of the thresholds."""
        place = np.searchsorted(self.edges, np.asarray(thresholds, float), side="right") - 1
        return self.false_negative[place], self.false_positive[place]

    def least(self, weight_fn: float, weight_fp: float) -> tuple[int, float]:
        """Step with the least `weight_fn P_fn + weight_fp P_fp`, the first of equals; its cost."""
        costs = weight_fn * self.false_negative + weight_fp * self.false_positive
        step = int(costs.argmin())
        return step, float(costs[step])

    def threshold_of(self, step: int) -> float:
        """A threshold within a step, half way to the next score; infinite for the end steps.

        Accepting all cases is `-inf`, unless a score is that itself; accepting none is `inf`.
        """
        if step == len(self.edges) - 1:
            return float("inf")
        low, high = float(self.edges[step]), float(self.edges[step + 1])
        if not np.isfinite(low) or not np.isfinite(high):
            return low
        middle = low + (high - low) / 2
        return middle if low <= middle < high else low

    def least_for_priors(self, priors: Floats) -> Floats:
        """Least `p P_fn + (1 - p) P_fp` over all thresholds, for every prior p of an array."""
        rises, falls = np.diff(self.false_negative), -np.diff(self.false_positive)
        if rises.size == 0:
            return priors * self.false_negative[0] + (1 - priors) * self.false_positive[0]
        pooled = optimize.isotonic_regression(rises / (rises + falls), weights=rises + falls)
        shares, corners = pooled.x[pooled.blocks[:-1]], pooled.blocks
        # Refusing a pool of cases pays exactly while its share of positives is below 1 - p.
        corner = corners[np.searchsorted(shares, 1 - priors, side="left")]
        return priors * self.false_negative[corner] + (1 - priors) * self.false_positive[corner]


def _rates(scores: Floats, positive: Mask, weight: Floats) -> ErrorRates:
    order = np.argsort(scores, kind="stable")
    ranked = scores[order]
    last = np.flatnonzero(np.r_[ranked[1:] != ranked[:-1], True])
    misses = np.cumsum(np.where(positive, weight, 0.0)[order])
    edges, fn = ranked[last], misses[last] / misses[-1]
    # Counted from the other end, so that the last rate is exactly 0 and small rates keep digits.
    alarms = np.r_[np.cumsum(np.where(positive, 0.0, weight)[order][::-1])[::-1], 0.0]
    fp = alarms[last + 1] / alarms[0]
    if edges[0] > -np.inf:
        edges, fn, fp = np.r_[-np.inf, edges], np.r_[0.0, fn], np.r_[1.0, fp]
    return ErrorRates(edges, fn, fp)
