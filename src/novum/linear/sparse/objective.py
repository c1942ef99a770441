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

from novum.numerics import Floats, Integers, Mask, Positions


@dataclass(frozen=True, eq=False)
class Penalty:
    """Strengths for every coefficient.

    With groups the penalty is `sum_g l1_g |b_g|` over the lengths of the parts of `b`, and what is
    said above of `|A_j'u|` holds for `|A_g'u|`.

    Attributes
    ----------
    l1, l2 : arrays (p,)
        The same within a group.
    positive : bool
    groups : integer array (p,), optional
        The number of the group of each coefficient, from 0.
    """

    l1: Floats
    l2: Floats
    positive: bool = False
    groups: Integers | None = None

    @classmethod
    def of(cls, alpha: float, l1_ratio: float, p: int, positive: bool = False) -> Penalty:
        """That of the elastic net."""
        return cls(
            np.full(p, alpha * l1_ratio), np.full(p, alpha * (1.0 - l1_ratio)), bool(positive)
        )

    def part(self, chosen: Positions) -> Penalty:
        """That of some coefficients; of a group all or none."""
        groups = None
        if self.groups is not None:
            groups = np.unique(self.groups[chosen], return_inverse=True)[1]
        return Penalty(self.l1[chosen], self.l2[chosen], self.positive, groups)

    def value(self, b: Floats) -> float:
        return self._corner(b) + 0.5 * float((self.l2 * b) @ b)

    def _corner(self, b: Floats) -> float:
        if self.groups is None:
            return float(self.l1 @ np.abs(b))
        return float(np.sqrt(np.bincount(self.groups, (self.l1 * b) ** 2)).sum())

    def pull(self, q: Floats) -> Floats:
        """How strongly the loss pulls at coefficients that are zero."""
        if self.groups is not None:
            return np.asarray(np.sqrt(np.bincount(self.groups, q**2))[self.groups])
        return q if self.positive else np.abs(q)

    def sizes(self, squares: Floats) -> Floats:
        """Bounds of the lengths of columns, or of the norms of groups of them."""
        if self.groups is not None:
            return np.asarray(np.sqrt(np.bincount(self.groups, squares))[self.groups])
        return np.sqrt(squares)

    def surplus(self, b: Floats, q: Floats, scale: float) -> float:
        """What penalty and conjugate penalty exceed `s b'q` by."""
        rest = self._corner(b) + float(b @ (0.5 * self.l2 * b - scale * q))
        curved = self.l2 > 0
        if curved.any():
            over = np.maximum(scale * self.pull(q) - self.l1, 0.0)
            terms = np.divide(over**2, 2 * self.l2, out=np.zeros_like(over), where=curved)
            if self.groups is not None:
                terms = terms / np.bincount(self.groups)[self.groups]
            rest += float(terms.sum())
        return rest

    def limit(self, q: Floats) -> float:
        """The largest multiple of `q` that no coefficient's corner is too weak for."""
        pull = self.pull(q)
        tight = pull > 0
        return float(np.min(self.l1[tight] / pull[tight], initial=math.inf))


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
    limit = penalty.limit(q)
    best = max(0.0, 1.0 + float(b @ q) / square) if square > 0 else 1.0
    # With a square in every penalty the residual itself will do.
    scales = {min(best, limit)} if (penalty.l2 == 0).any() else {1.0, min(best, limit)}

    def gap(scale: float) -> float:
        return 0.5 * (1.0 - scale) ** 2 * square + penalty.surplus(b, q, scale)

    scale = min(scales, key=gap)
    return Duality(primal, max(gap(scale), 0.0), scale)


def may_be_active(q: Floats, squares: Floats, known: Duality, penalty: Penalty) -> Mask:
    """Columns that the gap does not prove to be zero; rounding counts for them."""
    reach = known.scale * penalty.pull(q) + np.sqrt(2.0 * known.gap) * penalty.sizes(squares)
    return np.asarray(reach >= penalty.l1 * (1.0 - 1e-10))
