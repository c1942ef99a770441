"""Semismooth Newton steps for smoothed losses.

Minimizes, for a smoothing `m > 0` around the center `v` (0 for the squared losses themselves),

    |u|^2 / 2 + sum_i c_i max over b of (r_i b - zone |b| - m (b - v_i)^2 / 2),   r = q - Z u.

The gradient is `u - Z'(c b)`. It is piecewise linear: where the free rows, those whose `b` is
neither 0 nor at a bound, do not change, one step leads to the very optimum. A step ends where the
slope along it, which only grows, is near zero; its cost is two products with the design.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from novum.linear import Factor
from novum.numerics import Floats, Mask
from novum.svm.linear.design import Design
from novum.svm.linear.losses import RowLosses
from novum.svm.linear.solution import Budget

# A step is long enough where the slope has fallen to this share; so many looks at most.
_FLAT = 0.1
_LOOKS = 40
# Sums of n terms are off by a few units in the last place of the sum of their sizes.
_ROUNDING = 4e-16
FREE = 3


class System(Protocol):
    """Solves the linear system of a step."""

    def solve(self, free: Mask, smoothing: float, vector: Floats, /) -> Floats: ...


@dataclass(frozen=True, eq=False)
class Point:
    """A primal vector, and the dual coefficients that belong to it.

    Attributes
    ----------
    vector : array (width,)
    scores : array (n,)
        `Z u`.
    b : array (n,)
        Slopes of the smoothed losses.
    gradient : array (width,)
        `u - Z'(c b)`.
    steps : int
        How many led here.
    exact : bool
        Whether no step could lead further: an optimum up to rounding.
    """

    vector: Floats
    scores: Floats
    b: Floats
    gradient: Floats
    steps: int
    exact: bool

    @property
    def half_square(self) -> float:
        """Half the squared gradient; for the squared losses this is the duality gap."""
        return float(self.gradient @ self.gradient / 2)


def newton(
    design: Design,
    losses: RowLosses,
    system: System,
    start: tuple[Floats, Floats],
    *,
    smoothing: float,
    center: Floats | None,
    goal: float,
    budget: Budget,
) -> Point:
    """Steps until half the squared gradient is at most `goal`, or nothing changes any more.

    `start` is a vector and its scores.
    """
    vector, scores = start
    sizes = losses.weight * np.sqrt(design.squares)
    before: NDArray[np.int8] | None = None
    last = np.inf
    steps = 0
    while True:
        residual = losses.target - scores
        b = losses.coefficients(residual, smoothing, center)
        gradient = vector - design.adjoint(losses.weight * b)
        length = float(np.linalg.norm(gradient))
        size = float(np.linalg.norm(vector)) + float(sizes @ np.abs(b))
        state = _state(losses, b)
        # On one piece the second step already corrects rounding only.
        same = before is not None and np.array_equal(state, before) and length > 0.5 * last
        exact = same or length <= _ROUNDING * size
        point = Point(vector, scores, b, gradient, steps, exact)
        if exact or point.half_square <= goal or budget.spent:
            return point
        step = -system.solve(state >= FREE, smoothing, gradient)
        along = design.scores(step)
        share = _length(losses, point, residual, step, along, smoothing, center)
        before, last = (state if share == 1.0 else None), length
        vector, scores = vector + share * step, scores + share * along
        steps += 1
        budget.step()


def _state(losses: RowLosses, b: Floats) -> NDArray[np.int8]:
    """On which piece of its loss every row is; `FREE` and above between zero and a bound."""
    bound = np.where(b <= losses.lower, 1, np.where(b >= losses.upper, 2, FREE + (b > 0)))
    return np.where(b == 0, 0, bound).astype(np.int8)


def _length(
    losses: RowLosses,
    point: Point,
    residual: Floats,
    step: Floats,
    along: Floats,
    smoothing: float,
    center: Floats | None,
) -> float:
    """Where the slope along the step is near zero: 1 or less."""
    weighted, offset, square = losses.weight * along, point.vector @ step, step @ step

    def slope(t: float) -> float:
        b = losses.coefficients(residual - t * along, smoothing, center)
        return float(offset + t * square - weighted @ b)

    first, last = float(point.gradient @ step), slope(1.0)
    enough = _FLAT * abs(first)
    if last <= enough:
        return 1.0
    low, high, at_low, at_high = 0.0, 1.0, first, last
    t = 1.0
    for _ in range(_LOOKS):
        t = low - at_low * (high - low) / (at_high - at_low)
        # A secant that keeps to one end is pushed off it.
        t = min(max(t, low + 0.05 * (high - low)), high - 0.05 * (high - low))
        value = slope(t)
        if abs(value) <= enough:
            break
        if value < 0:
            low, at_low = t, value
        else:
            high, at_high = t, value
    return t


# --- The systems of a step ------------------------------------------------------------------------
#
# A step solves `(I + sum over free rows of c_i z_i z_i' / m) step = -gradient`. Two forms of the
# same system, chosen by shape:
#
#     columns   G = sum over free rows of c_i z_i z_i', of the width of the design; rows that become
#               free or cease to be are added and taken away, so that late steps cost little
#     rows      by Woodbury's identity, (m / c + K_ff) x = Z_f gradient with K = Z Z' summed once
#
# Rounding in a matrix that was updated often shortens the steps a little and moves no optimum: the
# gradient is summed anew in every step.


# Free rows that change, beyond which the matrix is summed anew.
_RENEWED = 0.5


class ColumnSystem:
    """The system of width `Z.width`."""

    def __init__(self, design: Design, weight: Floats) -> None:
        self._design, self._weight = design, weight
        self._free: Mask | None = None
        self._gram = np.zeros((design.width, design.width))

    def solve(self, free: Mask, smoothing: float, vector: Floats) -> Floats:
        """`(I + G / m)^-1 vector`."""
        self._update(free)
        hessian = self._gram / smoothing
        hessian[np.diag_indices_from(hessian)] += 1.0
        return Factor(hessian).solve(vector)

    def _update(self, free: Mask) -> None:
        before = np.zeros_like(free) if self._free is None else self._free
        changed = free ^ before
        count = np.count_nonzero(changed)
        if count > _RENEWED * np.count_nonzero(free):
            self._gram = self._design.gram(np.flatnonzero(free), self._weight)
        elif count:
            entering = np.flatnonzero(changed & free)
            leaving = np.flatnonzero(changed & before)
            self._gram = self._gram + self._design.gram(entering, self._weight)
            self._gram -= self._design.gram(leaving, self._weight)
        self._free = free


class RowSystem:
    """The system of as many unknowns as there are free rows."""

    def __init__(self, design: Design, weight: Floats) -> None:
        self._design, self._weight = design, weight
        self._kernel = design.kernel()

    def solve(self, free: Mask, smoothing: float, vector: Floats) -> Floats:
        """`vector - Z_f' (m / c + K_ff)^-1 Z_f vector`."""
        chosen = np.flatnonzero(free)
        if not len(chosen):
            return vector
        matrix = self._kernel[np.ix_(chosen, chosen)]
        matrix[np.diag_indices_from(matrix)] += smoothing / self._weight[chosen]
        inner = np.zeros(self._design.n_rows)
        inner[chosen] = Factor(matrix).solve(self._design.scores(vector)[chosen])
        return np.asarray(vector - self._design.adjoint(inner))


def system_of(design: Design, weight: Floats) -> ColumnSystem | RowSystem:
    """The smaller of the two systems."""
    wide = design.n_rows < design.width
    return RowSystem(design, weight) if wide else ColumnSystem(design, weight)
