"""Decisions about numbers: the output of least expected loss.

    output = argmin_a  E[ loss(a, T) ]        T what the model says about the unknown number

Some losses have the answer in closed form: squared error the mean, absolute error the median, and
the pinball loss of level q, where an output too low costs q and one too high 1 - q for each unit,
the q-quantile. Any other loss is minimized numerically: at values of the sample and at evenly
spaced ones first, so that several valleys do little harm, then inside the deepest valleys.

What is known of T is a law with `mean` and `quantile`, or a sample of draws. The expected loss of
an output is a mean over the draws; under a law it is `variance + (mean - a)^2` for squared error
and otherwise a sum or an integral, with a warning where fewer than 8 digits of it are certain.

Reference: Berger, Statistical Decision Theory and Bayesian Analysis, 2nd ed. (1985), section 4.4.2.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize

from novum.core.errors import InputError, LostDigitsWarning
from novum.distributions import Beta, mean_under
from novum.numerics import AbsoluteLoss, Floats, SquaredLoss

LossFunction = Callable[[Any, Any], Any]

# Valleys of the expected loss under a law are looked for under this many equally likely quantiles.
_QUANTILES = 4001
# Values of the sample, and evenly spaced outputs, that a loss without closed form is tried at; and
# how many of the valleys between them are followed to their bottoms.
_PLACES = 501
_VALLEYS = 8


@dataclass(frozen=True)
class SquaredError:
    """`(a - t)^2`, which the mean makes least."""

    def value(self, score: ArrayLike, target: ArrayLike) -> Floats:
        """The loss of outputs for truths, element by element."""
        return np.square(np.asarray(score, float) - np.asarray(target, float))


@dataclass(frozen=True)
class PinballLoss:
    """`level (t - a)` for outputs `a` below the truth t, `(1 - level) (a - t)` above it.

    Costs `under` and `over` of each unit too low or too high are the level `under/(under + over)`.

    Examples
    --------
    >>> PinballLoss(0.75).value(1.0, [0.0, 3.0]).tolist()
    [0.25, 1.5]
    """

    level: float

    def __post_init__(self) -> None:
        if not 0 < self.level < 1:
            raise InputError(f"The level of a pinball loss is between 0 and 1, got {self.level!r}.")

    def value(self, score: ArrayLike, target: ArrayLike) -> Floats:
        """The loss of outputs for truths, element by element."""
        short = np.asarray(target, float) - np.asarray(score, float)
        return np.where(short >= 0, self.level * short, (self.level - 1) * short)


_NAMED: dict[str, Any] = {"squared": SquaredError(), "absolute": AbsoluteLoss()}


def bayes_output(predictive: Any, loss: Any = "squared", *, weight: ArrayLike | None = None) -> Any:
    """The output of least expected loss.

    Parameters
    ----------
    predictive : law, array of shape (m,) or array of shape (n, m)
        A law with `mean` and `quantile`, m draws of one number, or m draws for each of n cases.
    loss : {"squared", "absolute"}, loss object or callable
        An object with `value(output, truth)`, such as `PinballLoss(0.9)` or `HuberLoss`, or a
        function of output and truth that works on arrays.
    weight : array of shape (m,) or (n, m), optional
        Of the draws.

    Returns
    -------
    float, or array of shape (n,)

    Examples
    --------
    >>> draws = [0.0, 1.0, 2.0, 9.0]
    >>> bayes_output(draws), bayes_output(draws, "absolute"), bayes_output(draws, PinballLoss(0.9))
    (3.0, 1.5, 9.0)
    >>> round(bayes_output(draws, lambda a, t: np.abs(a - t) ** 3), 3)
    3.856
    """
    rule = _checked_loss(loss)
    if hasattr(predictive, "quantile"):
        return _of_law(predictive, rule)
    draws, shares = _checked_draws(predictive, weight)
    if draws.ndim == 1:
        return _of_sample(draws, shares, rule)
    return np.array([_of_sample(row, w, rule) for row, w in zip(draws, shares, strict=True)])


def expected_loss(
    predictive: Any, output: ArrayLike, loss: Any = "squared", *, weight: ArrayLike | None = None
) -> Any:
    """Conditional risk of an output: its expected loss.

    Parameters
    ----------
    predictive, loss, weight
        As for `bayes_output`.
    output : float, or array of shape (n,)

    Notes
    -----
    "squared" is `(output - truth)^2`; a loss object counts as its `value` says, and `SquaredLoss`
    of `novum.numerics` is half of that. Laws are summed or integrated; a `LostDigitsWarning` says
    how far off the result can be where fewer than 8 digits are certain. A loss without a finite
    mean, such as the absolute error of a law without one, gives `inf`.

    Examples
    --------
    >>> expected_loss([0.0, 1.0, 2.0, 9.0], 1.5, "absolute")
    2.5
    >>> expected_loss([0.0, 2.0], 1.0)
    1.0
    """
    rule = _checked_loss(loss)
    outputs = np.asarray(output, np.float64)
    if hasattr(predictive, "quantile"):
        losses = np.array([_law_risk(a, predictive, rule) for a in outputs.ravel()])
        return float(losses[0]) if outputs.ndim == 0 else losses.reshape(outputs.shape)
    draws, shares = _checked_draws(predictive, weight)
    if draws.ndim == 1:
        losses = np.array([_risk(a, draws, shares, rule) for a in outputs.ravel()])
        return float(losses[0]) if outputs.ndim == 0 else losses.reshape(outputs.shape)
    each = np.broadcast_to(outputs, (len(draws),))
    return np.array([_risk(a, row, w, rule) for a, row, w in zip(each, draws, shares, strict=True)])


# --- Laws and samples -----------------------------------------------------------------------------


def _of_law(law: Any, loss: Any) -> float:
    if isinstance(loss, SquaredError | SquaredLoss):
        return float(law.mean)
    level = _level(loss)
    if level is not None:
        return float(law.quantile(level))
    levels = (np.arange(_QUANTILES) + 0.5) / _QUANTILES
    quantiles = np.asarray(law.quantile(levels), float)
    near = _minimized(quantiles, np.full(_QUANTILES, 1 / _QUANTILES), loss)
    # The deepest valley is known; its bottom under the law itself is nearby.
    width = 4 * max(float(np.diff(quantiles[[1000, 3000]])[0]) / 1000, abs(near) * 1e-8)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LostDigitsWarning)
        minimum = optimize.minimize_scalar(
            lambda a: _law_risk(a, law, loss),
            bounds=(near - width, near + width),
            method="bounded",
            options={"xatol": 1e-6 * width},
        )
        better = minimum.fun < _law_risk(near, law, loss)
    return float(minimum.x) if better else near


def _of_sample(draws: Floats, shares: Floats, loss: Any) -> float:
    if isinstance(loss, SquaredError | SquaredLoss):
        return float(shares @ draws)
    level = _level(loss)
    return _minimized(draws, shares, loss) if level is None else _quantile(draws, shares, level)


def _level(loss: Any) -> float | None:
    if isinstance(loss, AbsoluteLoss):
        return 0.5
    return loss.level if isinstance(loss, PinballLoss) else None


def _quantile(draws: Floats, shares: Floats, level: float) -> float:
    """The middle of all minimizers of the pinball loss: one draw, or between two."""
    order = np.argsort(draws, kind="stable")
    ranked, reached = draws[order], np.cumsum(shares[order])
    # Sums of shares reach a level such as 1/2 only up to their rounding.
    slack = 8 * np.finfo(np.float64).eps * len(draws)
    low = min(int(np.searchsorted(reached, level - slack)), len(draws) - 1)
    high = min(int(np.searchsorted(reached, level + slack, side="right")), len(draws) - 1)
    return float((ranked[low] + ranked[high]) / 2)


def _law_risk(output: float, law: Any, loss: Any) -> float:
    is_square = isinstance(loss, SquaredError | SquaredLoss)
    if is_square or _level(loss) is not None:
        try:
            mean = float(law.mean)
        except InputError:
            # A law that has no mean leaves no output a finite loss.
            return math.inf
        if is_square and hasattr(law, "variance"):
            risk = float(law.variance) + (mean - output) ** 2
            return risk if isinstance(loss, SquaredError) else risk / 2

    def losses(truths: Any) -> Floats:
        points = np.atleast_1d(np.asarray(truths, float))
        return _losses(output, points, loss).reshape(np.shape(truths))

    what = f"the loss of output {output:.6g}"
    if hasattr(law, "density"):
        return mean_under(law, losses, what, kinks=[output])
    # The ends, where a quantile may be infinite, have no probability.
    return mean_under(
        Beta(1.0, 1.0), lambda level: losses(law.quantile(np.clip(level, 1e-300, 1 - 2**-53))), what
    )


def _minimized(draws: Floats, shares: Floats, loss: Any) -> float:
    """The lowest of all valleys between neighboring places, each followed to its bottom."""
    places = np.unique(draws)
    if len(places) > _PLACES:
        places = places[np.linspace(0, len(places) - 1, _PLACES).round().astype(np.intp)]
    places = np.unique(np.r_[places, np.linspace(places[0], places[-1], _PLACES)])
    risks = np.array([_risk(place, draws, shares, loss) for place in places])
    best, least = float(places[risks.argmin()]), float(risks.min())
    around = np.r_[np.inf, risks, np.inf]
    valleys = np.flatnonzero((risks <= around[:-2]) & (risks <= around[2:]))
    for k in valleys[np.argsort(risks[valleys], kind="stable")][:_VALLEYS]:
        low, high = places[max(k - 1, 0)], places[min(k + 1, len(places) - 1)]
        if not low < high:
            continue
        minimum = optimize.minimize_scalar(
            lambda a: _risk(a, draws, shares, loss),
            bounds=(low, high),
            method="bounded",
            options={"xatol": 1e-10 * max(abs(low), abs(high), high - low)},
        )
        if minimum.fun < least:
            best, least = float(minimum.x), float(minimum.fun)
    return best


def _risk(output: float, draws: Floats, shares: Floats, loss: Any) -> float:
    return float(shares @ _losses(output, draws, loss))


def _losses(output: float, draws: Floats, loss: Any) -> Floats:
    losses = np.asarray(loss.value(output, draws), np.float64)
    if losses.shape != draws.shape or np.isnan(losses).any():
        raise InputError(
            f"The loss of output {output:.6g} for {len(draws)} truths is an array of shape "
            f"{losses.shape}{' with NaN' if np.isnan(losses).any() else ''}; it must be one number "
            "for each truth."
        )
    return losses


# --- Checks ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Given:
    """A function of output and truth as a loss object."""

    value: LossFunction


def _checked_loss(loss: Any) -> Any:
    if isinstance(loss, str):
        if loss not in _NAMED:
            raise InputError(
                f"{loss!r} is no loss; choose 'squared' or 'absolute', or pass PinballLoss(level) "
                "or a function of output and truth."
            )
        return _NAMED[loss]
    if hasattr(loss, "value"):
        return loss
    if not callable(loss):
        raise InputError(f"loss is a name, an object with `value` or a function, got {loss!r}.")
    return _Given(loss)


def _checked_draws(predictive: Any, weight: ArrayLike | None) -> tuple[Floats, Floats]:
    draws = np.asarray(predictive, np.float64)
    if draws.ndim not in (1, 2) or draws.size == 0 or not np.isfinite(draws).all():
        raise InputError(
            "Draws are finite numbers, of shape (n_draws,) for one case or (n_cases, n_draws) for "
            f"several; got shape {draws.shape}, {np.sum(~np.isfinite(draws))} cells not finite."
        )
    weights = np.ones(draws.shape[-1]) if weight is None else np.asarray(weight, np.float64)
    if weights.shape not in (draws.shape, draws.shape[-1:]):
        raise InputError(
            f"weight has shape {weights.shape} for draws of shape {draws.shape}; pass one number "
            "for each draw."
        )
    totals = weights.sum(axis=-1, keepdims=True)
    if not ((weights >= 0).all() and (totals > 0).all() and np.isfinite(totals).all()):
        raise InputError("Weights of draws are finite, not negative, and not all zero.")
    return draws, np.broadcast_to(weights / totals, draws.shape)
