"""Losses that gradient boosting minimizes, each a value.

Raw scores f, of shape (K, n), are what the trees add up; the loss knows their value, gradient and
curvature, where to start, and what a score means (`answers`).

    squared     (y - f)^2 / 2                              f is the mean
    absolute    |y - f|                                    the median
    quantile    (y - f) (q - [y < f])                      the quantile q
    Huber       squared up to a width, absolute beyond     a mean that outliers cannot pull
    Poisson     exp(f) - y f                               exp(f) is the mean
    gamma       y exp(-f) + f                              exp(f) is the mean
    Tweedie     exp((2 - p) f) / (2 - p) - y exp((1 - p) f) / (1 - p)
    logistic    log(1 + exp(f)) - y f                      P(1) = 1 / (1 + exp(-f))
    softmax     log sum_k exp(f_k) - f_y                   P(k) in proportion to exp(f_k)
    ordinal     -log(s(t_y - f) - s(t_{y-1} - f))          P(y <= k) = s(t_k - f), s the sigmoid

Where the loss is linear, its curvature says nothing: the gradients choose the splits, and a leaf
takes the quantile of its residuals (`leaf_value`) in place of a Newton step.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from scipy import optimize

from novum.core.errors import InputError
from novum.numerics import Floats

# Scores beyond this have no exponentials that are numbers.
_CERTAIN = 700.0


@dataclass(frozen=True)
class Loss(ABC):
    """What boosting minimizes; see the module."""

    # Whether targets are numbers or codes of classes.
    takes: ClassVar[str] = "numbers"
    # Whether answers rise or fall with one score.
    has_one_score: ClassVar[bool] = True
    # Whether every row has curvature 1.
    is_flat: ClassVar[bool] = False
    # The largest curvature of a row, if it is known.
    most_curved: ClassVar[float] = np.inf
    # The longest Newton step of a leaf, before the learning rate.
    longest_step: ClassVar[float] = np.inf
    # Targets that the loss is for, in words.
    range_of_targets: ClassVar[str] = ""

    def refuses(self, y: Floats) -> bool:  # noqa: ARG002
        """Whether some target has no loss."""
        return False

    def fitted(self, scores: Floats, y: Floats, weight: Floats) -> Self:  # noqa: ARG002
        """The loss with what it learns besides the scores: widths, thresholds."""
        return self

    @abstractmethod
    def start(self, y: Floats, weight: Floats) -> Floats:
        """The best constant scores, of shape (K,): a round has K trees."""

    @abstractmethod
    def values(self, scores: Floats, y: Floats) -> Floats:
        """The loss of every row, of shape (n,), up to what no score changes."""

    @abstractmethod
    def gradients(self, scores: Floats, y: Floats) -> tuple[Floats, Floats | None]:
        """First and second derivatives of a row's loss, of shape (K, n); None for curvature 1."""

    def leaf_value(self, residuals: Floats, weight: Floats) -> float | None:  # noqa: ARG002
        """What a leaf adds where a Newton step is not the best: of `y - f` and weights."""
        return None

    def answers(self, scores: Floats) -> Floats:
        """What scores (K, n) mean: numbers (n,), or probabilities (n, n_classes)."""
        return scores[0]


@dataclass(frozen=True)
class SquaredLoss(Loss):
    """`(y - f)^2 / 2`: the score is the mean.

    Examples
    --------
    >>> g, h = SquaredLoss().gradients(np.array([[1.0, 5.0]]), np.array([2.0, 3.0]))
    >>> g.tolist(), h
    ([[-1.0, 2.0]], None)
    """

    is_flat = True
    most_curved = 1.0

    def start(self, y: Floats, weight: Floats) -> Floats:
        # The rounded mean of equal numbers may be none of them.
        return np.array([np.clip(np.average(y, weights=weight), y.min(), y.max())])

    def values(self, scores: Floats, y: Floats) -> Floats:
        return np.asarray((y - scores[0]) ** 2 / 2)

    def gradients(self, scores: Floats, y: Floats) -> tuple[Floats, Floats | None]:
        return scores - y, None


@dataclass(frozen=True)
class QuantileLoss(Loss):
    """`(y - f) (q - [y < f])`: the score is the quantile `q`.

    Examples
    --------
    >>> QuantileLoss(0.9).start(np.arange(11.0), np.ones(11)).tolist()
    [9.0]
    """

    q: float = 0.5
    is_flat = True
    most_curved = 1.0

    def __post_init__(self) -> None:
        if not 0.0 < self.q < 1.0:
            raise InputError(f"A quantile lies between 0 and 1, got {self.q!r}.")

    def start(self, y: Floats, weight: Floats) -> Floats:
        return np.array([weighted_quantile(y, weight, self.q)])

    def values(self, scores: Floats, y: Floats) -> Floats:
        residuals = y - scores[0]
        return np.asarray(residuals * (self.q - (residuals < 0)))

    def gradients(self, scores: Floats, y: Floats) -> tuple[Floats, Floats | None]:
        return np.where(y < scores, 1.0 - self.q, np.where(y > scores, -self.q, 0.0)), None

    def leaf_value(self, residuals: Floats, weight: Floats) -> float | None:
        return weighted_quantile(residuals, weight, self.q)


@dataclass(frozen=True)
class AbsoluteLoss(QuantileLoss):
    """`|y - f|`: the score is the median."""

    def values(self, scores: Floats, y: Floats) -> Floats:
        return np.abs(y - scores[0])

    def gradients(self, scores: Floats, y: Floats) -> tuple[Floats, Floats | None]:
        return np.sign(scores - y), None


@dataclass(frozen=True)
class HuberLoss(Loss):
    """Squared up to a width, absolute beyond.

    Parameters
    ----------
    share : float or None
        The width follows the residuals of every round, so that this share of them counts by its
        square; None keeps the given width.
    width : float

    Examples
    --------
    >>> HuberLoss(None, 2.0).values(np.zeros((1, 2)), np.array([1.0, 10.0])).tolist()
    [0.5, 18.0]
    """

    share: float | None = 0.9
    width: float = np.inf
    is_flat = True
    most_curved = 1.0

    def __post_init__(self) -> None:
        if self.share is not None and not 0.0 < self.share < 1.0:
            raise InputError(f"The share of a Huber loss lies between 0 and 1, got {self.share!r}.")
        if not self.width > 0:
            raise InputError(f"The width of a Huber loss is above 0, got {self.width!r}.")

    def fitted(self, scores: Floats, y: Floats, weight: Floats) -> Self:
        if self.share is None:
            return self
        width = weighted_quantile(np.abs(y - scores[0]), weight, self.share)
        return replace(self, width=max(width, 1e-300))

    def start(self, y: Floats, weight: Floats) -> Floats:
        middle = weighted_quantile(y, weight, 0.5)
        loss = self.fitted(np.full((1, len(y)), middle), y, weight)
        return np.array([best_constant(loss, y, weight, middle)])

    def values(self, scores: Floats, y: Floats) -> Floats:
        size = np.abs(y - scores[0])
        inside = np.minimum(size, self.width)
        return np.asarray(inside * (size - inside / 2))

    def gradients(self, scores: Floats, y: Floats) -> tuple[Floats, Floats | None]:
        return np.clip(scores - y, -self.width, self.width), None

    def leaf_value(self, residuals: Floats, weight: Floats) -> float | None:
        # One step from the median towards the minimum (Friedman 2001).
        middle = weighted_quantile(residuals, weight, 0.5)
        away = np.clip(residuals - middle, -self.width, self.width)
        return middle + float(np.average(away, weights=weight))


# --- Counts and amounts ---------------------------------------------------------------------------


@dataclass(frozen=True)
class _MeanByExponential(Loss):
    """Losses of targets whose mean is `exp(f)`.

    Newton's model of an exponential is far off where the mean has to grow many times; steps are
    held to factors of `exp(2)`.
    """

    longest_step = 2.0

    def start(self, y: Floats, weight: Floats) -> Floats:
        return np.array([np.log(max(np.average(y, weights=weight), 1e-300))])

    def answers(self, scores: Floats) -> Floats:
        return np.exp(np.minimum(scores[0], _CERTAIN))


@dataclass(frozen=True)
class PoissonLoss(_MeanByExponential):
    """`exp(f) - y f`, for counts and rates of at least 0.

    Examples
    --------
    >>> PoissonLoss().answers(PoissonLoss().start(np.array([1.0, 3.0]), np.ones(2))[:, None])
    array([2.])
    """

    range_of_targets = "numbers of at least 0, and not all 0"

    def refuses(self, y: Floats) -> bool:
        return bool((y < 0).any() or not (y > 0).any())

    def values(self, scores: Floats, y: Floats) -> Floats:
        return self.answers(scores) - y * scores[0]

    def gradients(self, scores: Floats, y: Floats) -> tuple[Floats, Floats | None]:
        mean = np.exp(np.minimum(scores, _CERTAIN))
        return mean - y, mean


@dataclass(frozen=True)
class GammaLoss(_MeanByExponential):
    """`y exp(-f) + f`, for amounts above 0."""

    range_of_targets = "numbers above 0"

    def refuses(self, y: Floats) -> bool:
        return bool((y <= 0).any())

    def values(self, scores: Floats, y: Floats) -> Floats:
        return y * np.exp(-np.maximum(scores[0], -_CERTAIN)) + scores[0]

    def gradients(self, scores: Floats, y: Floats) -> tuple[Floats, Floats | None]:
        ratio = y * np.exp(-np.maximum(scores, -_CERTAIN))
        return 1.0 - ratio, ratio


@dataclass(frozen=True)
class TweedieLoss(_MeanByExponential):
    """Between Poisson and gamma: amounts of which some are exactly 0, as of insurance.

    Parameters
    ----------
    power : float
        Between 1 and 2; the variance is in proportion to the mean to this power.
    """

    power: float = 1.5
    range_of_targets = "numbers of at least 0, and not all 0"

    def __post_init__(self) -> None:
        if not 1.0 < self.power < 2.0:
            raise InputError(
                f"The power of a Tweedie loss lies between 1 (Poisson) and 2 (gamma), got "
                f"{self.power!r}."
            )

    def refuses(self, y: Floats) -> bool:
        return bool((y < 0).any() or not (y > 0).any())

    def _parts(self, scores: Floats, y: Floats) -> tuple[Floats, Floats]:
        f = np.clip(scores, -_CERTAIN, _CERTAIN)
        return y * np.exp((1 - self.power) * f), np.exp((2 - self.power) * f)

    def values(self, scores: Floats, y: Floats) -> Floats:
        low, high = self._parts(scores[0], y)
        return high / (2 - self.power) - low / (1 - self.power)

    def gradients(self, scores: Floats, y: Floats) -> tuple[Floats, Floats | None]:
        low, high = self._parts(scores, y)
        return high - low, (2 - self.power) * high - (1 - self.power) * low


# --- One's own ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CustomLoss(Loss):
    """A loss of one's own.

    Parameters
    ----------
    value, gradient, curvature : callables
        Of targets and scores, both of shape (n,), to an array of that shape; curvatures are at
        least 0. Where a curvature vanishes far from the targets, Newton steps from there are too
        long; an upper bound of the curvature makes them safe.
    link : callable, optional
        From scores to predictions; they are the same by default.
    first : float, optional
        The score that boosting starts from; by default the best constant, which is looked for
        from 0 downhill.

    Examples
    --------
    >>> loss = CustomLoss(lambda y, f: (y - f) ** 2, lambda y, f: 2 * (f - y),
    ...                   lambda y, f: np.full(len(y), 2.0))
    >>> loss.values(np.array([[1.0]]), np.array([3.0])).tolist()
    [4.0]
    """

    value: Callable[[Floats, Floats], Floats]
    gradient: Callable[[Floats, Floats], Floats]
    curvature: Callable[[Floats, Floats], Floats]
    link: Callable[[Floats], Floats] | None = None
    first: float | None = None

    def start(self, y: Floats, weight: Floats) -> Floats:
        return np.array([best_constant(self, y, weight) if self.first is None else self.first])

    def values(self, scores: Floats, y: Floats) -> Floats:
        return self._checked("value", self.value(y, scores[0]), y)

    def gradients(self, scores: Floats, y: Floats) -> tuple[Floats, Floats | None]:
        g = self._checked("gradient", self.gradient(y, scores[0]), y)
        h = self._checked("curvature", self.curvature(y, scores[0]), y)
        if (h < 0).any():
            raise InputError(
                "The curvature of a loss is at least 0, but this one's is negative for "
                f"{int((h < 0).sum())} rows. Give an upper bound of it, such as its absolute value."
            )
        return g[np.newaxis], h[np.newaxis]

    @staticmethod
    def _checked(name: str, values: Any, y: Floats) -> Floats:
        array = np.asarray(values, np.float64)
        if array.shape != y.shape or not np.isfinite(array).all():
            raise InputError(
                f"The {name} of a loss is one finite number for each of {len(y)} rows; got an "
                f"array of shape {array.shape}"
                + ("." if array.shape != y.shape else " with cells that are none.")
            )
        return array

    def answers(self, scores: Floats) -> Floats:
        return scores[0] if self.link is None else np.asarray(self.link(scores[0]), float)


NAMED_LOSSES: dict[str, Loss] = {
    "squared_error": SquaredLoss(),
    "absolute_error": AbsoluteLoss(),
    "huber": HuberLoss(),
    "quantile": QuantileLoss(),
    "poisson": PoissonLoss(),
    "gamma": GammaLoss(),
    "tweedie": TweedieLoss(),
}


def best_constant(loss: Loss, y: Floats, weight: Floats, first: float = 0.0) -> float:
    """The score of least loss for all rows, from `first` downhill.

    Newton's step, doubled until the sum of gradients has changed its sign, and Brent's method in
    between. Where a step leads out of what the loss is defined for, it is halved. A loss that falls
    for ever has no best constant: of scores whose gradients vanish the nearest tried is taken, and
    where none vanish, `first`.

    Examples
    --------
    >>> best_constant(HuberLoss(None, 1.0), np.array([0.0, 1.0, 9.0]), np.ones(3), first=0.0)
    1.0
    """

    def slopes(score: float) -> tuple[float, float]:
        with np.errstate(all="ignore"):
            g, h = loss.gradients(np.full((1, len(y)), score), y)
            return float(weight @ g[0]), float(weight.sum() if h is None else weight @ h[0])

    def slope(score: float) -> float:
        try:
            return slopes(score)[0]
        except InputError:
            return np.nan

    total, curvature = slopes(first)
    step = -total / curvature if curvature > 0 else -float(np.sign(total))
    near, far, outside = first, first + step, np.nan
    while far != near and np.isfinite(far):
        at_far = slope(far)
        if at_far == 0:
            return far
        if np.sign(at_far) == -np.sign(total):
            width = max(1e-15 * abs(far - near), np.finfo(float).tiny)
            limits: dict[str, Any] = {"xtol": width, "rtol": 1e-15, "maxiter": 5000}
            return float(optimize.brentq(slope, near, far, **limits, disp=False))
        if np.isnan(at_far):
            outside = far
        else:
            near, step = far, 2 * step
        far = near + step if np.isnan(outside) else (near + outside) / 2
    return first


def weighted_quantile(x: Floats, weight: Floats, q: float) -> float:
    """The least value up to which the share `q` of the weight lies.

    Examples
    --------
    >>> weighted_quantile(np.array([3.0, 1.0, 2.0]), np.array([1.0, 1.0, 2.0]), 0.5)
    2.0
    """
    order = np.argsort(x, kind="stable")
    below = np.cumsum(weight[order])
    return float(x[order[np.searchsorted(below, q * below[-1] * (1 - 1e-12))]])
