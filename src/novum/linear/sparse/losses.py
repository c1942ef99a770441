"""Losses of rows as functions of their scores, for penalized fits beyond least squares.

For scores `f` (n, m) a loss is `sum_i phi_i(f_i)`. Newton's method needs its negative gradient `r`
(the residuals) and its curvature, proofs need the conjugate: for `0 <= s <= 1`

    squared    phi = w (y - f)^2 / 2               -phi*(-s r) = s r y - s^2 r^2 / (2 w)
    log        phi = w (log sum_l e^(f_l) - f_y)   -phi*(-s r) = w H((1 - s) e_y + s p)
    count      phi = w (m - y log m),  m = e^f     -phi*(-s r) = w (t - t log t),
                                                               t = (1 - s) y + s m
    amount     phi = w (f + y e^-f)                -phi*(-s r) = w t (1 + log(y / t)),
                                                               t = 1 - s + s y e^-f
    ordinal    phi = -w log(F(theta_k - f) - F(theta_k-1 - f)),        F logistic, see `OrderedRows`

with `p` the probabilities and `H` the entropy: a multiple of the residuals is the residual of
probabilities nearer to the classes, of means nearer to the targets. Counts and amounts are given as
half deviances, which are never negative. What has no penalty is at its optimum wherever a bound is
asked for: intercepts, so that residuals sum to zero (`centered`), and thresholds (`settled`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol, Self

import numpy as np
from scipy import special

from novum.linear.ordinal.links import Logit, Slopes
from novum.numerics import Floats, Integers, cached_property

# Curvatures below this share of the weight are as good as none, but must not vanish.
_FLAT = 1e-10
# Scores beyond this have means that leave the range of doubles.
_LARGEST_SCORE = 700.0
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
        """The largest curvature of a row of weight one; infinite where it has no bound."""

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


@dataclass(frozen=True, eq=False)
class CountRows:
    """Half Poisson deviances of counts `y` (n,), whose means are `exp(f + offset)`."""

    y: Floats
    weight: Floats
    offset: Floats
    n_scores: int = 1
    steepest: float = np.inf

    def means(self, F: Floats) -> Floats:
        return np.asarray(np.exp(np.minimum(F[:, 0] + self.offset, _LARGEST_SCORE)))

    def value(self, F: Floats) -> float:
        return float(self.weight @ special.kl_div(self.y, self.means(F)))

    def residuals(self, F: Floats) -> Floats:
        return np.asarray((self.weight * (self.y - self.means(F)))[:, np.newaxis])

    def curvature(self, F: Floats, k: int, other: int) -> Floats:
        del k, other
        least = _FLAT * float(self.weight @ self.y) / float(self.weight.sum())
        return np.asarray(self.weight * np.maximum(self.means(F), least))

    def square(self, F: Floats) -> float:
        return float((self.residuals(F)[:, 0] ** 2 / self.curvature(F, 0, 0)).sum())

    def bound(self, F: Floats, scale: float) -> float:
        mean = self.means(F)
        between = (1.0 - scale) * self.y + scale * mean
        conjugate = special.entr(between) + between - special.entr(self.y) - self.y
        return float(self.weight @ (conjugate - scale * (self.y - mean) * self.offset))


@dataclass(frozen=True, eq=False)
class AmountRows:
    """Half gamma deviances of amounts `y` (n,) above 0, whose means are `exp(f + offset)`."""

    y: Floats
    weight: Floats
    offset: Floats
    n_scores: int = 1
    steepest: float = np.inf

    def ratios(self, F: Floats) -> Floats:
        """`y / m`."""
        score = np.maximum(F[:, 0] + self.offset, -_LARGEST_SCORE)
        return np.asarray(np.exp(np.minimum(np.log(self.y) - score, _LARGEST_SCORE)))

    def value(self, F: Floats) -> float:
        ratio = np.log(self.y) - F[:, 0] - self.offset
        return float(self.weight @ (self.ratios(F) - ratio - 1.0))

    def residuals(self, F: Floats) -> Floats:
        return np.asarray((self.weight * (self.ratios(F) - 1.0))[:, np.newaxis])

    def curvature(self, F: Floats, k: int, other: int) -> Floats:
        del k, other
        return np.asarray(self.weight * np.maximum(self.ratios(F), _FLAT))

    def square(self, F: Floats) -> float:
        return float((self.residuals(F)[:, 0] ** 2 / self.curvature(F, 0, 0)).sum())

    def bound(self, F: Floats, scale: float) -> float:
        ratio = self.ratios(F)
        between = 1.0 - scale + scale * ratio
        conjugate = special.entr(between) + (between - 1.0) * (1.0 + np.log(self.y))
        return float(self.weight @ (conjugate - scale * (ratio - 1.0) * self.offset))


@dataclass(frozen=True, eq=False)
class OrderedRows:
    """Log losses of ordered classes `codes` (n,) under proportional odds.

    With `g(u, l) = -log(F(u) - F(l))` and a multiple `(-a, b)` of its slopes, `a, b >= 0`, the
    conjugate has its maximum at probabilities `F(u) = p`, `F(l) = q` of which `p + q = 1 - a + b`
    and `p (1 - p) = a (p - q)`. Hence with `S = sqrt(1 + 4 a b)`

        1 - p = a (1 + S - 2 b) / (1 + S),    q = b (1 + S - 2 a) / (1 + S),
        p - q = (1 - (a - b)^2) / (S + a + b),
        g*(-a, b) = a log((1 - p) / p) + b log(q / (1 - q)) + log(p - q).

    Multiples of the slopes at optimal thresholds leave these free, so they bound the problem
    without thresholds, whose curvature is at most that of rows with given ones, 1/2.
    """

    codes: Integers
    weight: Floats
    thresholds: Floats
    n_scores: int = 1
    steepest: float = 0.5

    def _slopes(self, F: Floats) -> Slopes:
        ends = np.concatenate([[-np.inf], self.thresholds, [np.inf]])
        return Logit().slopes(ends[self.codes + 1] - F[:, 0], ends[self.codes] - F[:, 0])

    def value(self, F: Floats) -> float:
        if not (np.diff(self.thresholds) > 0).all():
            return np.inf
        return -float(self.weight @ self._slopes(F).value)

    def residuals(self, F: Floats) -> Floats:
        at = self._slopes(F)
        return np.asarray((-self.weight * (at.upper + at.lower))[:, np.newaxis])

    def curvature(self, F: Floats, k: int, other: int) -> Floats:
        del k, other
        at = self._slopes(F)
        bend = -(at.upper_upper + at.lower_lower + 2 * at.upper_lower)
        return np.asarray(self.weight * np.maximum(bend, _FLAT))

    def square(self, F: Floats) -> float:
        return float((self.residuals(F)[:, 0] ** 2 / self.curvature(F, 0, 0)).sum())

    def bound(self, F: Floats, scale: float) -> float:
        at = self._slopes(F)
        a, b = scale * at.upper, -scale * at.lower
        root = np.sqrt(1.0 + 4.0 * a * b)
        above = a * (1.0 + root - 2.0 * b) / (1.0 + root)
        below = b * (1.0 + root - 2.0 * a) / (1.0 + root)
        width = (1.0 - (a - b)) * (1.0 + (a - b)) / (root + a + b)
        # Of a probability and its complement the smaller one is known with all digits.
        p = np.where(above > 0.5, a * width / np.maximum(above, 0.5), 1.0 - above)
        rest = np.where(below > 0.5, b * width / np.maximum(below, 0.5), 1.0 - below)
        conjugate = special.xlogy(a, above / p) + special.xlogy(b, below / rest) + np.log(width)
        return -float(self.weight @ conjugate)

    # Thresholds

    def mixed(self, F: Floats) -> tuple[Floats, Floats]:
        """Second derivatives by score and threshold (n, t), and by two thresholds (t, t)."""
        at, t = self._slopes(F), len(self.thresholds)
        cross = np.zeros((len(F), t + 2))
        rows = np.arange(len(F))
        cross[rows, self.codes + 1] = self.weight * (at.upper_upper + at.upper_lower)
        cross[rows, self.codes] = self.weight * (at.lower_lower + at.upper_lower)
        upper, lower, both = (
            np.bincount(self.codes, self.weight * part, t + 1)
            for part in (at.upper_upper, at.lower_lower, at.upper_lower)
        )
        inner = -np.diag(upper[:-1] + lower[1:]) - np.diag(both[1:-1], 1) - np.diag(both[1:-1], -1)
        return cross[:, 1:-1], inner

    def moved(self, step: Floats) -> Self:
        """With other thresholds."""
        return replace(self, thresholds=self.thresholds + step)

    def settled(self, F: Floats) -> Self:
        """With the best thresholds for these scores, by Newton's method."""
        loss, value, total = self, self.value(F), float(self.weight.sum())
        for _ in range(_STEPS):
            at = loss._slopes(F)
            upper, lower = (
                np.bincount(self.codes, self.weight * part, len(self.thresholds) + 1)
                for part in (at.upper, at.lower)
            )
            slope = upper[:-1] + lower[1:]
            if np.abs(slope).max() <= 1e-14 * total:
                break
            step = np.linalg.solve(loss.mixed(F)[1], slope)
            trial = loss.moved(step)
            while trial.value(F) > value + 1e-13 * total:
                step *= 0.5
                trial = loss.moved(step)
            loss, value = trial, trial.value(F)
            if np.abs(step).max() <= 1e-14 * max(1.0, float(np.abs(loss.thresholds).max())):
                break
        return loss


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
