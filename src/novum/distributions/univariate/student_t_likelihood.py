"""The most likely Student t law of a sample.

Solves `max mean log p(x_i | v, m, s)` over location m, scale s and, if not known, degrees of
freedom v. A step is Newton's in (m, log s, log v) where that climbs, and otherwise one of
expectation-maximization, which always does:

    c_i = (v + 1) / (v + z_i^2),  m <- sum c_i x_i / sum c_i,  s^2 <- sum c_i (x_i - m)^2 / sum c_i

followed by a step in log v alone. The likelihood therefore never falls, and near a maximum the
number of right digits doubles with every step.

There is not always a maximum. If a share r of the weight lies at one value and `v < r / (1 - r)`,
the likelihood grows without bound as m goes there and s to 0; a search that comes to such v has
failed, and if all do, the fit raises. If the tails are no heavier than a normal's, the likelihood
grows towards `v = inf`, which is returned.

References
----------
Liu and Rubin, "ML estimation of the t distribution using EM and its extensions", 1995, section 3.
Kent, Tyler and Vardi, "A curious likelihood identity for the multivariate t distribution", 1994.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from novum.core.errors import InputError
from novum.distributions.univariate import arguments
from novum.distributions.univariate.log_gamma import digamma_half_step, log_gamma_half_step
from novum.numerics import Floats

_EPS = float(np.finfo(float).eps)
_MAX_STEPS = 500
# More degrees of freedom than this cannot be told from the normal law.
_NORMAL = 1e6


@dataclass(frozen=True)
class _Point:
    """Parameters of the search, and the mean log-likelihood there."""

    location: float
    scale: float
    degrees: float
    value: float = -np.inf
    settled: bool = False


@dataclass(frozen=True)
class _Problem:
    """A sample in units of its largest deviation from the median; the weights sum to one."""

    x: Floats
    share: Floats
    known: float | None
    least_degrees: float


def most_likely(
    values: Floats, weights: Floats | None, known: float | None
) -> tuple[float, float, float]:
    """Degrees of freedom, location and scale of a maximum; `known` degrees are kept."""
    arguments.refuse_no_data("StudentT", arguments.weight_of(weights, values.size))
    share = np.full(values.size, 1 / values.size) if weights is None else weights / weights.sum()
    center = _weighted_quantile(values, share, 0.5)
    unit = 2 * float(np.abs(0.5 * values - 0.5 * center).max())
    if unit == 0:
        raise InputError(
            f"All values equal {center:g}, and a Student t law needs a scale above 0. "
            "Give values that differ."
        )
    x = 2 * ((0.5 * values - 0.5 * center) / unit)
    problem = _Problem(x, share, known, _least_degrees(values, share, known))
    best = _best(problem, [_search(problem, start) for start in _starts(problem)])
    return best.degrees, center + unit * best.location, unit * best.scale


def _starts(problem: _Problem) -> list[_Point]:
    """A robust start (median and quartiles) and a normal one (mean and variance)."""
    x, share = problem.x, problem.share
    mean = float(share @ x)
    spread = float(np.sqrt(share @ np.square(x - mean)))
    middle = [_weighted_quantile(x, share, level) for level in (0.25, 0.5, 0.75)]
    # Half the distance of the quartiles is 0.74 scales for three degrees of freedom.
    quartile = 0.5 * (middle[2] - middle[0]) / 0.74
    robust = quartile if quartile > 0 else spread
    degrees = problem.known
    if degrees == np.inf:
        return [_valued(problem, _Point(mean, spread, np.inf))]
    few, many = (3.0, 30.0) if degrees is None else (degrees, degrees)
    few = max(few, 1.5 * problem.least_degrees) if degrees is None else few
    points = [_Point(middle[1], robust, few), _Point(mean, spread, max(many, few))]
    return [_valued(problem, point) for point in points]


# --- The search -----------------------------------------------------------------------------------


def _search(problem: _Problem, point: _Point) -> _Point | None:
    """A maximum near the start, or None where the likelihood has no bound.

    A point that is still moving after the last step is not marked as settled.
    """
    last = np.inf
    for _ in range(_MAX_STEPS):
        if point.degrees == np.inf:
            return replace(point, settled=True)
        if problem.known is None and point.degrees > _NORMAL:
            return replace(_normal_limit(problem), settled=True)
        if problem.known is None and point.degrees <= problem.least_degrees:
            return None
        step = _newton_step(*_derivatives(problem, point))
        size = np.inf if step is None else float(np.abs(step).max())
        # Close to a maximum a step that does not shrink is rounding.
        if size <= 1e-14 or (last <= size < 1e-6):
            return replace(point, settled=True)
        last = size
        moved = None if step is None else _newton(problem, point, step)
        point = moved or _climb_degrees(problem, _expectation_maximization(problem, point))
    return point


def _best(problem: _Problem, ends: list[_Point | None]) -> _Point:
    """The likeliest of the points that the search has reached."""
    points = [point for point in ends if point is not None]
    if not points:
        raise InputError(
            "The likelihood of a Student t law has no maximum here: with fewer than "
            f"{problem.least_degrees:.3g} degrees of freedom it grows without bound as the scale "
            "goes to 0 around a single value. Give `degrees_of_freedom`, such as 3."
        )
    best = max(points, key=lambda point: point.value)
    if not best.settled:
        # Imported here: it brings scikit-learn, which a law does not need.
        from novum.core.learners import ConvergenceWarning

        warnings.warn(
            f"The likelihood of a Student t law had not settled after {_MAX_STEPS} steps, at "
            f"{best.degrees:.3g} degrees of freedom. Give `degrees_of_freedom`.",
            ConvergenceWarning,
            stacklevel=4,
        )
    return best


def _newton_step(gradient: Floats, hessian: Floats) -> Floats | None:
    """Newton's step, if the likelihood is concave there."""
    try:
        factor = np.linalg.cholesky(-hessian)
    except np.linalg.LinAlgError:
        return None
    return np.linalg.solve(factor.T, np.linalg.solve(factor, gradient))


def _newton(problem: _Problem, point: _Point, step: Floats) -> _Point | None:
    """The full, half or quarter step that does not lower the likelihood, or None."""
    # No step changes scale or degrees of freedom by more than a factor of exp(5).
    longest = min(1.0, 5.0 / max(float(np.abs(step[1:]).max()), 1e-300))
    for length in (longest, longest / 2, longest / 4):
        moved = _valued(problem, _shifted(point, length * step))
        # Close to the maximum the likelihood changes by less than its rounding.
        if moved.value >= point.value - 4 * _EPS * abs(point.value):
            return moved
    return None


def _expectation_maximization(problem: _Problem, point: _Point) -> _Point:
    z = (problem.x - point.location) / point.scale
    counted = problem.share * (point.degrees + 1) / (point.degrees + z * z)
    counted /= counted.sum()
    location = float(counted @ problem.x)
    scale = float(np.sqrt(counted @ np.square(problem.x - location)))
    return _valued(problem, replace(point, location=location, scale=scale))


def _climb_degrees(problem: _Problem, point: _Point) -> _Point:
    """A step uphill in the logarithm of the degrees of freedom."""
    if problem.known is not None:
        return point
    gradient, hessian = _derivatives(problem, point)
    step = float(np.clip(gradient[2] / max(abs(hessian[2, 2]), 1e-300), -1.0, 1.0))
    for _ in range(40):
        moved = _valued(problem, _shifted(point, np.array([0.0, 0.0, step])))
        if moved.value >= point.value:
            return moved
        step *= 0.5
    return point


def _normal_limit(problem: _Problem) -> _Point:
    mean = float(problem.share @ problem.x)
    spread = float(np.sqrt(problem.share @ np.square(problem.x - mean)))
    return _valued(problem, _Point(mean, spread, np.inf))


def _shifted(point: _Point, step: Floats) -> _Point:
    degrees = point.degrees * np.exp(step[2]) if step.size > 2 else point.degrees
    return _Point(
        float(point.location + point.scale * step[0]),
        float(point.scale * np.exp(step[1])),
        float(degrees),
    )


# --- The likelihood -------------------------------------------------------------------------------


def _valued(problem: _Problem, point: _Point) -> _Point:
    """The point with its mean log-likelihood."""
    z = (problem.x - point.location) / point.scale
    v = point.degrees
    if v == np.inf:
        kernel, top = 0.5 * z * z, -0.5 * float(np.log(2 * np.pi))
    else:
        kernel = 0.5 * (v + 1) * np.log1p(z * z / v)
        top = float(log_gamma_half_step(0.5 * v)) - 0.5 * float(np.log(v * np.pi))
    value = top - float(np.log(point.scale)) - float(problem.share @ kernel)
    return replace(point, value=value)


def _derivatives(problem: _Problem, point: _Point) -> tuple[Floats, Floats]:
    """Gradient and Hessian of the mean log-likelihood in (m / s, log s, log v)."""
    if point.degrees == np.inf:
        return np.zeros(2), -np.eye(2)
    v, share = point.degrees, problem.share
    z = (problem.x - point.location) / point.scale
    square = z * z
    grown = 1 + square / v
    counted = (1 + 1 / v) / grown
    mixed = (square - 1) / (v * grown * grown)
    logs = v * float(share @ np.log1p(square / v))
    gradient = np.array([share @ (counted * z), share @ (counted * square) - 1, 0.0])
    hessian = np.empty((3, 3))
    hessian[0, 0] = -(share @ (counted * (2 - grown) / grown))
    hessian[0, 1] = hessian[1, 0] = -2 * (share @ (counted * z / grown))
    hessian[1, 1] = -2 * (share @ (counted * square / grown))
    if problem.known is not None:
        return gradient[:2], hessian[:2, :2]
    slope = v * float(digamma_half_step(0.5 * v))
    gradient[2] = 0.5 * (slope - 1 - logs + share @ (counted * square))
    hessian[0, 2] = hessian[2, 0] = share @ (z * mixed)
    hessian[1, 2] = hessian[2, 1] = share @ (square * mixed)
    bend = float(special.polygamma(1, 0.5 * v + 0.5) - special.polygamma(1, 0.5 * v))
    curve = slope + 0.5 * v * v * bend - logs
    hessian[2, 2] = 0.5 * (curve + share @ (square / grown) + share @ (square * mixed))
    return gradient, hessian


# --- Checks ---------------------------------------------------------------------------------------


def _least_degrees(values: Floats, share: Floats, known: float | None) -> float:
    """Below this, values that are equal make the likelihood unbounded."""
    different, place = np.unique(values, return_inverse=True)
    shares = np.bincount(place, share)
    largest = int(np.argmax(shares))
    crowd = float(shares[largest])
    least = crowd / (1 - crowd)
    # Shares are sums of rounded weights.
    if known is not None and known <= least * (1 + 1e-9):
        raise InputError(
            f"{crowd:.0%} of the weight lies at {different[largest]:g}, so the likelihood of a "
            f"Student t law with {known:g} degrees of freedom has no maximum: it grows as the "
            f"scale goes to 0. Give more than {least:g} degrees of freedom."
        )
    return least


def _weighted_quantile(x: Floats, share: Floats, level: float) -> float:
    order = np.argsort(x, kind="stable")
    place = int(np.searchsorted(np.cumsum(share[order]), level))
    return float(x[order[min(place, x.size - 1)]])
