"""Pointwise losses: what one prediction costs, with slope and curvature in the score.

A loss l(s, t) compares a score s with a target t. Losses of regression depend on the residual
s - t; losses of classification have t = -1 or +1 and depend on the margin m = t s. Each is convex
in s and comes with its Fenchel conjugate

    l*(a, t) = sup_s  a s - l(s, t),        l(s, t) + l*(a, t) >= a s,

which is what a dual problem is made of: for an objective  sum_i l(x_i w, t_i) + |w|^2 / 2  every a
with a finite conjugate gives the lower bound  -sum_i l*(a_i, t_i) - |sum_i a_i x_i|^2 / 2.

`smoothness` is the Lipschitz constant of the slope (infinite at a kink), the number that a safe
step length needs. At a kink `gradient` returns one fixed member of the subdifferential, named in
the class, and `curvature` the curvature of the branch that the gradient belongs to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from novum.numerics.types import Floats, Mask


@runtime_checkable
class Loss(Protocol):
    """What solvers ask of a loss; all methods work element by element and broadcast."""

    @property
    def smoothness(self) -> float:
        """Smallest L with |l'(r, t) - l'(s, t)| <= L |r - s|; infinite for a loss with a kink."""

    def value(self, score: ArrayLike, target: ArrayLike) -> Floats:
        """The loss itself."""

    def gradient(self, score: ArrayLike, target: ArrayLike) -> Floats:
        """Derivative by the score."""

    def curvature(self, score: ArrayLike, target: ArrayLike) -> Floats:
        """Second derivative by the score."""

    def conjugate(self, dual: ArrayLike, target: ArrayLike) -> Floats:
        """Fenchel conjugate at `dual`; infinite outside its domain."""


def _pair(first: ArrayLike, target: ArrayLike) -> tuple[Floats, Floats]:
    return np.asarray(first, dtype=np.float64), np.asarray(target, dtype=np.float64)


def _inside(allowed: Mask, conjugate: Floats) -> Floats:
    return np.where(allowed, conjugate, np.inf)


# --- Regression -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class SquaredLoss:
    """`(s - t)^2 / 2`, minimized by the mean.

    Examples
    --------
    >>> float(SquaredLoss().value(3.0, 1.0)), float(SquaredLoss().gradient(3.0, 1.0))
    (2.0, 2.0)
    """

    smoothness: ClassVar[float] = 1.0

    def value(self, score: ArrayLike, target: ArrayLike) -> Floats:
        return 0.5 * np.square(self.gradient(score, target))

    def gradient(self, score: ArrayLike, target: ArrayLike) -> Floats:
        score, target = _pair(score, target)
        return np.asarray(score - target)

    def curvature(self, score: ArrayLike, target: ArrayLike) -> Floats:
        return np.ones_like(self.gradient(score, target))

    def conjugate(self, dual: ArrayLike, target: ArrayLike) -> Floats:
        dual, target = _pair(dual, target)
        return dual * target + 0.5 * np.square(dual)


@dataclass(frozen=True)
class AbsoluteLoss:
    """`|s - t|`, minimized by the median; slope 0 at the kink.

    Examples
    --------
    >>> AbsoluteLoss().value([3.0, -1.0], 1.0).tolist()
    [2.0, 2.0]
    """

    smoothness: ClassVar[float] = np.inf

    def value(self, score: ArrayLike, target: ArrayLike) -> Floats:
        score, target = _pair(score, target)
        return np.abs(score - target)

    def gradient(self, score: ArrayLike, target: ArrayLike) -> Floats:
        score, target = _pair(score, target)
        return np.sign(score - target)

    def curvature(self, score: ArrayLike, target: ArrayLike) -> Floats:
        return np.zeros_like(self.gradient(score, target))

    def conjugate(self, dual: ArrayLike, target: ArrayLike) -> Floats:
        dual, target = _pair(dual, target)
        return _inside(np.abs(dual) <= 1, dual * target)


@dataclass(frozen=True)
class HuberLoss:
    """Squared for residuals up to `width`, straight beyond: `width |r| - width^2 / 2`.

    Parameters
    ----------
    width : float
        Largest residual that counts as noise rather than as an outlier.

    Examples
    --------
    >>> HuberLoss(width=1.0).value([0.5, 3.0], 0.0).tolist()
    [0.125, 2.5]
    """

    smoothness: ClassVar[float] = 1.0
    width: float = 1.0

    def __post_init__(self) -> None:
        if not (np.isfinite(self.width) and self.width > 0):
            raise ValueError(f"HuberLoss needs a finite width above 0, got {self.width!r}.")

    def value(self, score: ArrayLike, target: ArrayLike) -> Floats:
        score, target = _pair(score, target)
        size = np.abs(score - target)
        # The part within the width is squared, what sticks out is paid at slope `width`.
        within = np.minimum(size, self.width)
        return 0.5 * np.square(within) + self.width * (size - within)

    def gradient(self, score: ArrayLike, target: ArrayLike) -> Floats:
        score, target = _pair(score, target)
        return np.clip(score - target, -self.width, self.width)

    def curvature(self, score: ArrayLike, target: ArrayLike) -> Floats:
        score, target = _pair(score, target)
        return np.where(np.abs(score - target) <= self.width, 1.0, 0.0)

    def conjugate(self, dual: ArrayLike, target: ArrayLike) -> Floats:
        dual, target = _pair(dual, target)
        return _inside(np.abs(dual) <= self.width, dual * target + 0.5 * np.square(dual))


# --- Classification, target -1 or +1 --------------------------------------------------------------


@dataclass(frozen=True)
class LogisticLoss:
    """`log(1 + exp(-t s))`, the negative log-likelihood of a log-odds score s.

    Both tails keep full relative accuracy: a margin of 800 costs exp(-800), not 0 by cancellation,
    and a margin of -800 costs 800 without overflow.

    Examples
    --------
    >>> LogisticLoss().value([0.0, -800.0], 1.0).round(6).tolist()
    [0.693147, 800.0]
    """

    smoothness: ClassVar[float] = 0.25

    def value(self, score: ArrayLike, target: ArrayLike) -> Floats:
        score, target = _pair(score, target)
        return np.logaddexp(0.0, -target * score)

    def gradient(self, score: ArrayLike, target: ArrayLike) -> Floats:
        score, target = _pair(score, target)
        # 1 / (1 + exp(m)) as exp(-log(1 + exp(m))), which neither overflows nor cancels.
        return -target * np.exp(-np.logaddexp(0.0, target * score))

    def curvature(self, score: ArrayLike, target: ArrayLike) -> Floats:
        score, target = _pair(score, target)
        margin = target * score
        return np.exp(-np.logaddexp(0.0, margin) - np.logaddexp(0.0, -margin))

    def conjugate(self, dual: ArrayLike, target: ArrayLike) -> Floats:
        """Negative entropy of the share `-a t`, which must lie in [0, 1]."""
        dual, target = _pair(dual, target)
        share = -dual * target
        allowed = (share >= 0) & (share <= 1)
        share = np.where(allowed, share, 0.5)
        return _inside(allowed, _x_log_x(share) + _log_of_rest(share))


@dataclass(frozen=True)
class HingeLoss:
    """`max(0, 1 - t s)`, the loss of the support vector machine; slope 0 at the kink.

    Examples
    --------
    >>> HingeLoss().value([2.0, 0.25], 1.0).tolist()
    [0.0, 0.75]
    """

    smoothness: ClassVar[float] = np.inf

    def value(self, score: ArrayLike, target: ArrayLike) -> Floats:
        score, target = _pair(score, target)
        return np.maximum(0.0, 1.0 - target * score)

    def gradient(self, score: ArrayLike, target: ArrayLike) -> Floats:
        score, target = _pair(score, target)
        return np.where(target * score < 1.0, -target, 0.0)

    def curvature(self, score: ArrayLike, target: ArrayLike) -> Floats:
        return np.zeros_like(self.gradient(score, target))

    def conjugate(self, dual: ArrayLike, target: ArrayLike) -> Floats:
        dual, target = _pair(dual, target)
        product = dual * target
        return _inside((product >= -1) & (product <= 0), product)


@dataclass(frozen=True)
class SquaredHingeLoss:
    """`max(0, 1 - t s)^2`, the smooth sibling of the hinge.

    Examples
    --------
    >>> SquaredHingeLoss().value([2.0, -1.0], 1.0).tolist()
    [0.0, 4.0]
    """

    smoothness: ClassVar[float] = 2.0

    def value(self, score: ArrayLike, target: ArrayLike) -> Floats:
        score, target = _pair(score, target)
        return np.square(np.maximum(0.0, 1.0 - target * score))

    def gradient(self, score: ArrayLike, target: ArrayLike) -> Floats:
        score, target = _pair(score, target)
        return -2.0 * target * np.maximum(0.0, 1.0 - target * score)

    def curvature(self, score: ArrayLike, target: ArrayLike) -> Floats:
        score, target = _pair(score, target)
        return np.where(target * score < 1.0, 2.0, 0.0)

    def conjugate(self, dual: ArrayLike, target: ArrayLike) -> Floats:
        dual, target = _pair(dual, target)
        product = dual * target
        return _inside(product <= 0, product + 0.25 * np.square(product))


@dataclass(frozen=True)
class PerceptronLoss:
    """`max(0, -t s)`; slope -t at the kink, so that a score of 0 counts as a mistake.

    Examples
    --------
    >>> PerceptronLoss().gradient([0.0, 2.0], 1.0).tolist()
    [-1.0, 0.0]
    """

    smoothness: ClassVar[float] = np.inf

    def value(self, score: ArrayLike, target: ArrayLike) -> Floats:
        score, target = _pair(score, target)
        return np.maximum(0.0, -target * score)

    def gradient(self, score: ArrayLike, target: ArrayLike) -> Floats:
        score, target = _pair(score, target)
        return np.where(target * score <= 0.0, -target, 0.0)

    def curvature(self, score: ArrayLike, target: ArrayLike) -> Floats:
        return np.zeros_like(self.gradient(score, target))

    def conjugate(self, dual: ArrayLike, target: ArrayLike) -> Floats:
        dual, target = _pair(dual, target)
        product = dual * target
        return _inside((product >= -1) & (product <= 0), np.zeros_like(product))


# --- Entropy terms --------------------------------------------------------------------------------


def _x_log_x(share: Floats) -> Floats:
    return share * np.log(np.where(share > 0, share, 1.0))


def _log_of_rest(share: Floats) -> Floats:
    """(1 - x) log(1 - x) without cancellation for small x."""
    return (1.0 - share) * np.log1p(-np.where(share < 1, share, 0.0))
