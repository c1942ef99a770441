"""Isotonic fit: the non-decreasing function closest to the targets.

    minimize over f_1 <= ... <= f_m    sum_j w_j (t_j - f_j)^2        at the sorted scores

Pooling adjacent violators finds it in one pass: neighbors in the wrong order are replaced by their
mean. For targets 0 and 1 the same f also minimizes the log loss, and every other proper scoring
rule. Cases with equal scores must get equal values, so they are pooled before. Between training
scores the function is linear, beyond them constant.

At the optimum the residuals of each pool sum to zero, and from the left end of a pool their partial
sums are never negative; the largest violation of both is kept as the evidence.

Reference: Barlow, Bartholomew, Bremner & Brunk, Statistical Inference under Order Restrictions
(1972), theorems 1.1 and 1.10.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize

from novum.numerics.types import Floats, Positions


@dataclass(frozen=True, eq=False)
class IsotonicMap:
    """A non-decreasing function, linear between its knots.

    Attributes
    ----------
    knots, values : arrays of shape (m,)
        Scores, rising, and the function there, never falling.
    residual : float
        Largest violation of the conditions of optimality, relative to the total weight.

    Examples
    --------
    >>> fitted = fit_isotonic([1.0, 2.0, 3.0, 4.0], [0, 1, 0, 1])
    >>> fitted.predict([0.0, 1.0, 2.5, 3.5, 9.0]).tolist()
    [0.0, 0.0, 0.5, 0.75, 1.0]
    """

    knots: Floats
    values: Floats
    residual: float = 0.0

    def predict(self, scores: ArrayLike) -> Floats:
        """The function at `scores`, of their shape."""
        return interpolate(scores, self.knots, self.values)


def fit_isotonic(
    scores: ArrayLike, targets: ArrayLike, weight: ArrayLike | None = None
) -> IsotonicMap:
    """The non-decreasing function of least squares, by pooling adjacent violators.

    Parameters
    ----------
    scores, targets : arrays of shape (n,)
        Finite.
    weight : array of shape (n,), optional
        Not negative; a case of weight zero is absent.
    """
    x, t, w = checked_columns(scores, targets, weight)
    knots, place = np.unique(x, return_inverse=True)
    weights = np.bincount(place, w).astype(np.float64)
    means = np.bincount(place, w * t) / weights
    fitted = optimize.isotonic_regression(means, weights=weights)
    values = np.clip(fitted.x, t.min(), t.max())
    residual = _violation(means, weights, values, fitted.blocks)
    # Inside a pool the function is constant, so its two ends say all.
    ends = np.r_[True, (values[1:-1] != values[:-2]) | (values[1:-1] != values[2:]), True]
    kept = ends[: len(values)]
    return IsotonicMap(knots[kept], values[kept], residual)


def interpolate(x: ArrayLike, knots: ArrayLike, values: ArrayLike) -> Floats:
    """Linear between rising knots and constant beyond them, however near or far they lie.

    A slope that overflows or loses its digits, as between knots that differ by 1e-310, is never
    formed; elsewhere it is NumPy's `interp`, to the bit.

    Examples
    --------
    >>> interpolate([0.5e-310, 0.5], [0.0, 1e-310, 1.0], [0.0, 1.0, 2.0])
    array([0.5, 1.5])
    """
    x, knots, values = (np.asarray(each, np.float64) for each in (x, knots, values))
    result = np.asarray(np.interp(x, knots, values))
    with np.errstate(over="ignore", under="ignore"):
        steps, rises = np.diff(knots), np.diff(values)
        slopes = np.abs(rises / steps)
    normal = np.isfinite(slopes) & ((slopes >= np.finfo(np.float64).tiny) | (rises == 0))
    normal &= np.isfinite(steps)
    if normal.all():
        return result
    piece = np.clip(np.searchsorted(knots, x, side="right") - 1, 0, len(steps) - 1)
    odd = ~normal[piece] & (x > knots[0]) & (x < knots[-1])
    i = piece[odd]
    # Halves where a difference may be twice the largest number.
    half, part = np.where(np.isfinite([rises[i], steps[i]]), 1.0, 0.5)
    share = (part * x[odd] - part * knots[i]) / (part * knots[i + 1] - part * knots[i])
    start, end = half * values[i], half * values[i + 1]
    result[odd] = (start + share * (end - start)) / half
    return result


def checked_columns(
    scores: ArrayLike, targets: ArrayLike, weight: ArrayLike | None
) -> tuple[Floats, Floats, Floats]:
    """Scores, targets and positive weights of equal length, without cases of weight zero."""
    x, t = np.asarray(scores, np.float64), np.asarray(targets, np.float64)
    w = np.ones(x.shape) if weight is None else np.asarray(weight, np.float64)
    if x.ndim != 1 or t.shape != x.shape or w.shape != x.shape:
        raise ValueError(
            f"Scores, targets and weights are columns of equal length, got the shapes {x.shape}, "
            f"{t.shape} and {w.shape}."
        )
    if not (np.isfinite(x).all() and np.isfinite(t).all()):
        row = int(np.flatnonzero(~(np.isfinite(x) & np.isfinite(t)))[0])
        raise ValueError(
            f"Row {row} has the score {x[row]} and the target {t[row]}; both must be finite."
        )
    if not (np.isfinite(w) & (w >= 0)).all() or not w.any():
        raise ValueError("Weights are finite, not negative, and at least one is positive.")
    return (x, t, w) if w.all() else (x[w > 0], t[w > 0], w[w > 0])


def _violation(means: Floats, weights: Floats, values: Floats, blocks: Positions) -> float:
    sums = np.r_[0.0, np.cumsum(weights * (means - values))]
    starts = sums[blocks[:-1]]
    inside = sums[1:] - np.repeat(starts, np.diff(blocks))
    ends = sums[blocks[1:]] - starts
    worst = max(float(np.abs(ends).max()), float(-inside.min()), 0.0)
    return worst / float(weights.sum())
