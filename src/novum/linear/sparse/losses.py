"""Losses of rows as functions of their scores, for penalized fits beyond least squares.

For scores `f` (n, m) a loss is `sum_i phi_i(f_i)`. Newton's method needs its negative gradient `r`
(the residuals) and its curvature, proofs need the conjugate: for `0 <= s <= 1`

    squared    phi = w (y - f)^2 / 2          -phi*(-s r) = s r y - s^2 r^2 / (2 w)
    log        phi = w (log sum_l e^(f_l) - f_y)   -phi*(-s r) = w H((1 - s) e_y + s p)

with `p` the probabilities and `H` the entropy: a multiple of the residuals is the residual of
probabilities nearer to the classes. An intercept is free, so its residuals must sum to zero;
`centered` moves the scores until they do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import special

from novum.numerics import Floats, Integers, cached_property

# Curvatures below this share of the weight are as good as none, but must not vanish.
_FLAT = 1e-10
_STEPS = 50


class RowLoss(Protocol):
    """A loss of n rows with m scores each."""

    @property
    def n_scores(self) -> int:
        """`m`."""

    @property
    def weight(self) -> Floats:
        """Weights of the rows, (n,)."""

    @property
    def steepest(self) -> float:
        """The largest curvature of a row of weight one."""

    def value(self, F: Floats) -> float:
        """The loss."""

    def residuals(self, F: Floats) -> Floats:
        """Its negative gradient, (n, m)."""

    def curvature(self, F: Floats, k: int, other: int) -> Floats:
        """Second derivatives by two scores, (n,)."""

    def square(self, F: Floats) -> float:
        """The squared length of the residuals under the inverse of the curvature."""

    def bound(self, F: Floats, scale: float) -> float:
        """The dual value of a multiple of the residuals, without the penalty's part."""


@dataclass(frozen=True, eq=False)
class SquaredRows:
    """Squared errors of targets `y` (n,), halved."""

    y: Floats
    weight: Floats
    n_scores: int = 1
    steepest: float = 1.0

    def value(self, F: Floats) -> float:
        return 0.5 * float(self.weight @ (self.y - F[:, 0]) ** 2)

    def residuals(self, F: Floats) -> Floats:
        return np.asarray((self.weight * (self.y - F[:, 0]))[:, np.newaxis])

    def curvature(self, F: Floats, k: int, other: int) -> Floats:
        del F, k, other
        return self.weight

    def square(self, F: Floats) -> float:
        return 2.0 * self.value(F)

    def bound(self, F: Floats, scale: float) -> float:
        error = self.y - F[:, 0]
        r = self.weight * error
        return scale * float(r @ self.y) - 0.5 * scale**2 * float(r @ error)


@dataclass(frozen=True, eq=False)
class LogRows:
    """Log losses of classes `codes` (n,) of `n_classes`; two classes have one score."""

    codes: Integers
    weight: Floats
    n_classes: int

    @property
    def n_scores(self) -> int:
        return 1 if self.n_classes == 2 else self.n_classes

    @property
    def steepest(self) -> float:
        return 0.25 if self.n_classes == 2 else 0.5

    @cached_property
    def classes(self) -> Floats:
        """1 where a row is of the class of a score, (n, m)."""
        if self.n_classes == 2:
            return np.asarray(self.codes, np.float64)[:, np.newaxis]
        return np.eye(self.n_classes)[self.codes]

    def probabilities(self, F: Floats) -> Floats:
        return np.asarray(special.expit(F) if self.n_classes == 2 else special.softmax(F, axis=1))

    def value(self, F: Floats) -> float:
        if self.n_classes == 2:
            sign = 1.0 - 2.0 * self.codes
            return float(self.weight @ np.logaddexp(0.0, sign * F[:, 0]))
        own = F[np.arange(len(F)), self.codes]
        return float(self.weight @ (special.logsumexp(F, axis=1) - own))

    def residuals(self, F: Floats) -> Floats:
        if self.n_classes == 2:
            # From the side of the row's class, where nothing cancels.
            sign = 1.0 - 2.0 * self.codes
            r = -sign * special.expit(sign * F[:, 0])
            return np.asarray((self.weight * r)[:, np.newaxis])
        return np.asarray((self.classes - self.probabilities(F)) * self.weight[:, np.newaxis])

    def curvature(self, F: Floats, k: int, other: int) -> Floats:
        P = self.probabilities(F)
        if k != other:
            return np.asarray(-self.weight * P[:, k] * P[:, other])
        return np.asarray(self.weight * np.maximum(P[:, k] * (1.0 - P[:, k]), _FLAT))

    def square(self, F: Floats) -> float:
        # (e_y - p)' (diag p - p p')^+ (e_y - p) = 1 / p_y - 1.
        P = self.probabilities(F)
        if self.n_classes == 2:
            P = np.column_stack([1.0 - P, P])
        own = np.maximum(P[np.arange(len(P)), self.codes], _FLAT)
        return float(self.weight @ (1.0 / own - 1.0))

    def bound(self, F: Floats, scale: float) -> float:
        P = self.probabilities(F)
        if self.n_classes == 2:
            # The probability of the other class, which is small without cancellation.
            sign = 1.0 - 2.0 * self.codes
            other = scale * special.expit(sign * F[:, 0])
            return float(self.weight @ (special.entr(other) + _entropy_of_rest(other)))
        shares = (1.0 - scale) * self.classes + scale * P
        return float(self.weight @ special.entr(shares).sum(axis=1))


def _entropy_of_rest(p: Floats) -> Floats:
    """`-(1 - p) log(1 - p)`, with all digits of a small `p`."""
    return np.asarray(-(1.0 - p) * np.log1p(-np.minimum(p, 1.0 - 1e-300)))


def intercept_curvature(loss: RowLoss, F: Floats, scores: Sequence[int]) -> Floats:
    """Second derivatives by the intercepts of some scores."""
    return np.array([[loss.curvature(F, k, other).sum() for other in scores] for k in scores])


def centered(loss: RowLoss, F: Floats) -> Floats:
    """What must be added to the scores so that the residuals sum to zero, (m,)."""
    shift = np.zeros(loss.n_scores)
    total, value = float(loss.weight.sum()), loss.value(F)
    every = range(loss.n_scores)
    for _ in range(_STEPS):
        sums = loss.residuals(F + shift).sum(axis=0)
        if np.abs(sums).max() <= 1e-14 * total:
            break
        step = np.linalg.pinv(intercept_curvature(loss, F + shift, every)) @ sums
        # Short steps are safe, since curvatures change by less than a factor of 1.2 on their way.
        while np.abs(step).max() > 0.1 and loss.value(F + shift + step) > value:
            step *= 0.5
        shift = shift + step
        if np.abs(step).max() <= 1e-14:
            break
        value = loss.value(F + shift) if np.abs(step).max() > 0.1 else value
    return shift
