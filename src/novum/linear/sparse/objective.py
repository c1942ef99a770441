"""The penalized least squares problem, its dual, and what screening may conclude.

    primal   P(b) = |t - A b|^2 / 2 + sum_j (l1_j |b_j| + l2_j b_j^2 / 2)
    dual     D(u) = t'u - |u|^2 / 2 - sum_j (|A_j'u| - l1_j)_+^2 / (2 l2_j)

(with `l2_j = 0` the last term is the constraint `|A_j'u| <= l1_j`; with positive coefficients
`A_j'u` stands for its absolute value). Every `u` gives a lower bound `D(u) <= P(b)`. For the
residual `r = t - A b`, `q = A'r` and `u = s r` the difference is a sum of terms that are small one
by one, so that it keeps its digits however small it is:

    P(b) - D(s r) = (1 - s)^2 |r|^2 / 2 + sum_j (l1_j |b_j| - s b_j q_j + l2_j b_j^2 / 2
                                                 + (|s q_j| - l1_j)_+^2 / (2 l2_j)).

The dual is strongly concave with modulus 1, so its optimum is within `sqrt(2 gap)` of `u`, and a
column with `|A_j'u| + |A_j| sqrt(2 gap) < l1_j` has coefficient zero in every solution: it may be
left out (gap-safe screening, Ndiaye et al. 2017).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from novum.numerics import Floats, Mask


@dataclass(frozen=True, eq=False)
class Penalty:
    """Strengths for every coefficient.

    Attributes
    ----------
    l1, l2 : arrays (p,)
    positive : bool
    """

    l1: Floats
    l2: Floats
    positive: bool = False

    @classmethod
    def of(cls, alpha: float, l1_ratio: float, p: int, positive: bool = False) -> Penalty:
        """That of the elastic net."""
        return cls(
            np.full(p, alpha * l1_ratio), np.full(p, alpha * (1.0 - l1_ratio)), bool(positive)
        )

    def value(self, b: Floats) -> float:
        return float(self.l1 @ np.abs(b) + 0.5 * (self.l2 * b) @ b)

    def pull(self, q: Floats) -> Floats:
        """How strongly the loss pulls at coefficients that are zero."""
        return q if self.positive else np.abs(q)


@dataclass(frozen=True, eq=False)
class Duality:
    """Values at a point.

    Attributes
    ----------
    primal, dual, gap : float
    scale : float
        `s`.
    """

    primal: float
    gap: float
    scale: float

    @property
    def dual(self) -> float:
        return self.primal - self.gap

    @property
    def relative(self) -> float:
        return relative(self.gap, self.primal)


def relative(gap: float, primal: float) -> float:
    """The gap as a share of the objective."""
    if gap <= 0:
        return 0.0
    return gap / primal if primal > 0 else math.inf


def duality(b: Floats, q: Floats, square: float, penalty: Penalty) -> Duality:
    """The gap of `b` with `q = A'r` and `square = |r|^2`, by the better of two multiples of `r`."""
    primal = 0.5 * square + penalty.value(b)
    pull, free = penalty.pull(q), penalty.l2 == 0
    best = max(0.0, 1.0 + float(b @ q) / square) if square > 0 else 1.0
    with np.errstate(divide="ignore"):
        limit = float(np.min(penalty.l1[free] / np.maximum(pull[free], 0.0), initial=math.inf))
    scales = {min(best, limit)} if free.any() else {1.0}
    if not free.any():
        tight = float(np.min(penalty.l1 / np.maximum(pull, 1e-300), initial=math.inf))
        scales.add(min(best, tight))
    return min((_at(b, q, square, penalty, primal, s) for s in scales), key=lambda d: d.gap)


def _at(
    b: Floats, q: Floats, square: float, penalty: Penalty, primal: float, scale: float
) -> Duality:
    over = np.maximum(scale * penalty.pull(q) - penalty.l1, 0.0)
    curved = penalty.l2 > 0
    terms = penalty.l1 * np.abs(b) - scale * b * q + 0.5 * penalty.l2 * b * b
    terms[curved] += 0.5 * over[curved] ** 2 / penalty.l2[curved]
    gap = 0.5 * (1.0 - scale) ** 2 * square + float(terms.sum())
    return Duality(primal, max(gap, 0.0), scale)


def may_be_active(q: Floats, squares: Floats, known: Duality, penalty: Penalty) -> Mask:
    """Columns that the gap does not prove to be zero; rounding counts for them."""
    reach = known.scale * penalty.pull(q) + np.sqrt(2.0 * squares * known.gap)
    return np.asarray(reach >= penalty.l1 * (1.0 - 1e-10))
