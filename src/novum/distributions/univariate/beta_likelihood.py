"""The most likely beta law, by Newton's method on a strictly concave function.

    l(a, b) = (a - 1) g + (b - 1) h - log B(a, b),    g = mean(log x),  h = mean(log(1 - x))

    gradient  g - digamma(a) + digamma(a + b),    h - digamma(b) + digamma(a + b)
    Hessian   -diag(digamma'(a), digamma'(b)) + digamma'(a + b) * ones

Steps are shortened until both shapes stay positive and `l` does not fall, which makes the method
converge from any start; near the maximum the number of right digits doubles with every step.
"""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray
from scipy import special

from novum.distributions.univariate.log_gamma import log_minus_digamma, stirling_error

Floats = NDArray[np.float64]

_EPS = float(np.finfo(float).eps)
_MAX_STEPS = 200
# Relative steps below this are trusted: they change l by less than its rounding shows.
_NEAR = 1e-3


def most_likely(means: Floats, start: tuple[float, float]) -> tuple[float, float]:
    """Solves `max l(a, b)` subject to `a, b > 0`.

    Given the means of `log x` and `log(1 - x)` and positive shapes to start from. Returns shapes at
    which Newton's next step is lost in the rounding of the means.
    """
    shapes, last = np.asarray(start, float), np.inf
    for _ in range(_MAX_STEPS):
        step = _newton_step(shapes, means)
        size = float(np.abs(step / shapes).max())
        # In the region of quadratic convergence a step that does not shrink is rounding.
        if size <= 4 * _EPS or last <= size < _NEAR:
            return float(shapes[0]), float(shapes[1])
        shapes = shapes + step if size < _NEAR else _climb(shapes, step, means)
        last = size
    # Imported here: it brings scikit-learn, which a law does not need.
    from novum.core.certificate import ConvergenceWarning

    warnings.warn(
        f"The shapes of a beta law had not settled after {_MAX_STEPS} steps; they are about "
        f"{shapes[0]:.3g} and {shapes[1]:.3g}. Check for values that crowd at 0 or 1.",
        ConvergenceWarning,
        stacklevel=2,
    )
    return float(shapes[0]), float(shapes[1])


def _climb(shapes: Floats, step: Floats, means: Floats) -> Floats:
    """The longest of the steps `step, step/2, step/4, ...` that does not lower `l`."""
    length, value = 1.0, _log_likelihood(shapes, means)
    if (step < 0).any():
        length = min(1.0, 0.9 / float((-step / shapes).max()))
    while length > _EPS and _log_likelihood(shapes + length * step, means) < value:
        length *= 0.5
    return shapes + length * step


def _newton_step(shapes: Floats, means: Floats) -> Floats:
    total = shapes.sum()
    # log a - log(a + b) is the share's logarithm; the digammas' rests are small.
    shares = np.array([_log_share(shapes[0], shapes[1]), _log_share(shapes[1], shapes[0])])
    gradient = means - shares + log_minus_digamma(shapes) - log_minus_digamma(total)
    curvature = special.polygamma(1, shapes)
    shared = float(special.polygamma(1, total))
    # Sherman and Morrison: a diagonal matrix less a constant one.
    plain = gradient / curvature
    inverse = 1.0 / curvature
    # 1/shared - sum(1/curvature) is positive, and about 1/2 for large shapes.
    slack = 1.0 / shared - inverse.sum()
    return plain + inverse * (plain.sum() / slack)


def _log_share(a: float, b: float) -> float:
    """`log(a / (a + b))`."""
    return float(-np.log1p(b / a))


def _log_likelihood(shapes: Floats, means: Floats) -> float:
    """`l(a, b)` per value, up to a constant, with Stirling's large terms taken away by hand."""
    a, b = shapes
    total = a + b
    errors = stirling_error(a) + stirling_error(b) - stirling_error(total)
    logs = 0.5 * (np.log(a) + np.log(b) - np.log(total))
    fit = a * (means[0] - _log_share(a, b)) + b * (means[1] - _log_share(b, a))
    return float(fit + logs - errors)
