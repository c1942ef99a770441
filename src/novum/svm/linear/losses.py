"""The losses of linear machines, all of one form, and their conjugates.

With the residual `r = q - f` of a row of score `f`, every loss is

    phi(r) = max over lower <= b <= upper of   r b - zone |b| - smoothing b^2 / 2

    hinge                     q = y = -1 or 1, zone 0, b y in [0, 1],   smoothing 0
    squared hinge             the same with b y in [0, inf)             and smoothing 1/2
    epsilon-insensitive       q = y, zone epsilon, b in [-1, 1],        smoothing 0
    its square                the same with b in (-inf, inf)            and smoothing 1/2

so the maximizing `b` is the slope of the loss and the coefficient of the row in the dual,

    b(r) = clip(soft(r, zone) / smoothing, lower, upper),        u = sum_i c_i b_i z_i,

and the two objectives over `u` and over `b` are

    primal  |u|^2 / 2 + sum_i c_i phi_i(r_i)
    dual    sum_i c_i (q_i b_i - zone |b_i| - smoothing b_i^2 / 2) - |sum_i c_i b_i z_i|^2 / 2.

Their difference is `|u - Z'(c b)|^2 / 2 + sum_i c_i (phi(r_i) - its term at b_i)`: a sum of terms
that are never negative, so that no digits cancel near the optimum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from novum.numerics import Floats, Positions

SQUARED = 0.5


@dataclass(frozen=True, eq=False)
class RowLosses:
    """The loss of every row; see the module.

    Attributes
    ----------
    target : array (n,), or (K, n) for K machines with the same weights
        `q`.
    weight : array (n,)
        `c`, which is C times the weight of the row; above 0.
    lower, upper : arrays of the same shape
    zone, smoothing : float
    """

    target: Floats
    weight: Floats
    lower: Floats
    upper: Floats
    zone: float = 0.0
    smoothing: float = 0.0

    def coefficients(
        self, residual: Floats, smoothing: float, center: Floats | None = None
    ) -> Floats:
        """`b(r)` under this smoothing around `center`, which is 0 by default."""
        pulled = residual if center is None else residual + smoothing * center
        if self.zone:
            pulled = soft(pulled, self.zone)
        # `np.clip` takes three times as long for a few hundred rows.
        return np.minimum(np.maximum(pulled / smoothing, self.lower), self.upper)

    def values(self, residual: Floats) -> Floats:
        """`phi(r)` of every row."""
        if self.smoothing:
            return self.terms(residual, self.coefficients(residual, self.smoothing))
        above = np.maximum(residual - self.zone, 0.0) * self.upper
        return above + np.minimum(residual + self.zone, 0.0) * self.lower

    def terms(self, residual: Floats, b: Floats) -> Floats:
        """`r b - zone |b| - smoothing b^2 / 2` of every row."""
        values = residual * b
        if self.zone:
            values -= self.zone * np.abs(b)
        if self.smoothing:
            values -= 0.5 * self.smoothing * b * b
        return values

    def primal(self, vector: Floats, residual: Floats) -> float:
        return float(vector @ vector / 2 + self.weight @ self.values(residual))

    def slack(self, residual: Floats, b: Floats) -> Floats:
        """`c_i (phi(r_i) - its term at b_i)` of every row: its part of the gap, not negative."""
        differences = self.values(residual) - self.terms(residual, b)
        return self.weight * np.maximum(differences, 0.0)

    def violations(self, residual: Floats, b: Floats) -> Floats:
        """Violations of the optimality conditions of the rows, in units of the target.

        The slope `r - smoothing b -+ zone` vanishes where `b` is free, and holds it at its bound.
        """
        slope = residual - self.smoothing * b
        above, below = slope - self.zone, slope + self.zone
        rising = np.where(b >= 0, above, below)
        falling = np.where(b > 0, above, below)
        up = np.where(b < self.upper, np.maximum(rising, 0.0), 0.0)
        down = np.where(b > self.lower, np.maximum(-falling, 0.0), 0.0)
        return np.maximum(up, down)

    def violation(self, residual: Floats, b: Floats) -> float:
        """The largest of `violations`."""
        return float(self.violations(residual, b).max(initial=0.0))

    def rows(self, chosen: slice | Positions, factor: float = 1.0) -> RowLosses:
        """Some of the rows, with `factor` times their weight."""
        return replace(
            self,
            target=np.ascontiguousarray(self.target[chosen]),
            weight=factor * self.weight[chosen],
            lower=np.ascontiguousarray(self.lower[chosen]),
            upper=np.ascontiguousarray(self.upper[chosen]),
        )


def side_by_side(machines: Sequence[RowLosses]) -> RowLosses:
    """The losses of machines that have the same weights, zone and smoothing, in one value."""
    targets, lower, upper = zip(*((m.target, m.lower, m.upper) for m in machines), strict=True)
    return replace(
        machines[0], target=np.array(targets), lower=np.array(lower), upper=np.array(upper)
    )


def soft(x: Floats, zone: float) -> Floats:
    """`sign(x) max(|x| - zone, 0)`.

    >>> soft(np.array([-3.0, 0.5, 2.0]), 1.0)
    array([-2.,  0.,  1.])
    """
    return np.asarray(x - np.clip(x, -zone, zone))


def hinge_losses(side: Floats, weight: Floats, *, squared: bool) -> RowLosses:
    """(Squared) hinge losses of rows on the sides -1 and 1.

    >>> losses = hinge_losses(np.array([1.0, -1.0]), np.ones(2), squared=True)
    >>> losses.values(np.array([1.0, -1.0]) - np.array([-1.0, -3.0]))
    array([4., 0.])
    """
    end = np.inf if squared else 1.0
    return RowLosses(
        target=side,
        weight=weight,
        lower=np.where(side > 0, 0.0, -end),
        upper=np.where(side > 0, end, 0.0),
        smoothing=SQUARED if squared else 0.0,
    )


def tube_losses(target: Floats, weight: Floats, epsilon: float, *, squared: bool) -> RowLosses:
    """(Squared) losses outside a tube of half-width epsilon.

    >>> losses = tube_losses(np.zeros(3), np.ones(3), 1.0, squared=False)
    >>> losses.values(np.array([-3.0, 0.5, 2.0]))
    array([2., 0., 1.])
    """
    ends = np.full(len(target), np.inf if squared else 1.0)
    return RowLosses(target, weight, -ends, ends, float(epsilon), SQUARED if squared else 0.0)
