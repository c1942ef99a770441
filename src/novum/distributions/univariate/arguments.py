"""Arguments of univariate laws: points, levels, intervals, samples and parameters, checked.

Every check says what is wrong, where, and what to do, in the name of the law that asked.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike

from novum.core.errors import InputError
from novum.numerics import Floats, Mask

# --- Parameters -----------------------------------------------------------------------------------


def positive(law: str, **parameters: float) -> tuple[float, ...]:
    """Finite numbers above 0, as floats.

    >>> positive("Gamma", shape=2, rate=1)
    (2.0, 1.0)
    """
    for name, value in parameters.items():
        if not (isinstance(value, Real) and np.isfinite(float(value)) and value > 0):
            raise InputError(f"{law} needs a finite {name} above 0, got {value!r}.")
    return tuple(float(value) for value in parameters.values())


def finite(law: str, **parameters: float) -> tuple[float, ...]:
    """Finite numbers, as floats."""
    for name, value in parameters.items():
        if not (isinstance(value, Real) and np.isfinite(float(value))):
            raise InputError(f"{law} needs a finite {name}, got {value!r}.")
    return tuple(float(value) for value in parameters.values())


def share(law: str, name: str, value: float) -> float:
    """A number from 0 to 1, as a float."""
    if not (isinstance(value, Real) and 0 <= float(value) <= 1):
        raise InputError(f"{law} needs a {name} from 0 to 1, got {value!r}.")
    return float(value)


# --- Points, levels, intervals --------------------------------------------------------------------


def points(law: str, x: ArrayLike) -> Floats:
    """Points at which a law is evaluated, as float64; missing ones stay NaN."""
    try:
        return np.asarray(x, float)
    except (TypeError, ValueError) as error:
        raise InputError(f"{law} is a law of numbers and has none for {x!r:.80}.") from error


def levels(law: str, level: ArrayLike) -> Floats:
    """Probabilities at which quantiles are asked for."""
    values = points(law, level)
    bad = np.flatnonzero(~(np.isnan(values) | ((values >= 0) & (values <= 1))).ravel())
    if bad.size:
        raise InputError(
            f"Quantiles exist for levels from 0 to 1; {bad.size} of {values.size} are outside, the "
            f"first is {values.ravel()[bad[0]]:g}. Write 5 % as 0.05."
        )
    return values


def interval(law: str, a: ArrayLike, b: ArrayLike) -> tuple[Floats, Floats]:
    """Both ends of intervals, of one shape and in order."""
    low, high = np.broadcast_arrays(points(law, a), points(law, b))
    if np.any(low > high):
        first = int(np.flatnonzero((low > high).ravel())[0])
        raise InputError(
            "An interval runs from its lower to its upper end, got "
            f"a={low.ravel()[first]:g} and b={high.ravel()[first]:g}. Swap them."
        )
    return low, high


def smallest_counts(
    at_most: Callable[[Floats], Floats], levels: Floats, low: float, high: float
) -> Floats:
    """The smallest whole numbers above `low` at which a cdf reaches the levels, by bisection."""
    a, b = np.full(levels.shape, low), np.full(levels.shape, high)
    while np.any(b - a > 1):
        middle = np.floor(0.5 * (a + b))
        reached = at_most(middle) >= levels
        a, b = np.where(reached, a, middle), np.where(reached, middle, b)
    return b


def keep_missing(result: Floats, *arguments: Floats) -> Floats:
    """NaN where an argument is NaN, the result elsewhere."""
    for argument in arguments:
        if np.isnan(argument).any():
            result = np.where(np.isnan(argument), np.nan, result)
    return result


# --- Samples --------------------------------------------------------------------------------------


def sample(law: str, x: ArrayLike, weight: ArrayLike | None) -> tuple[Floats, Floats | None]:
    """A weighted sample as flat arrays, without the values of weight 0; no value is missing."""
    values = points(law, x).ravel()
    weights = None if weight is None else checked_weights(law, weight, values.size)
    if weights is not None and not weights.all():
        kept = weights > 0
        values, weights = np.where(kept, values, 0.0), weights
        refuse(law, "finite numbers", values, np.isfinite(values))
        return values[kept], weights[kept]
    refuse(law, "finite numbers", values, np.isfinite(values))
    return values, weights


def checked_weights(law: str, weight: ArrayLike, size: int) -> Floats:
    """Weights as a flat array: one per value, finite, not negative."""
    weights = points(law, weight).ravel()
    if weights.size != size:
        raise InputError(
            f"{law} needs one weight per value: there are {size} values and {weights.size} weights."
        )
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if bad.size:
        raise InputError(
            f"Weights are finite and at least 0; {bad.size} of {size} are not, the first is "
            f"{weights[bad[0]]:g} at position {bad[0]}. Give such values weight 0 or drop them."
        )
    return weights


def refuse(law: str, wanted: str, values: Floats, good: Mask, remedy: str = "") -> None:
    """Raises and names the first value that is not good."""
    bad = np.flatnonzero(~good)
    if bad.size:
        first = bad[0]
        default = "Drop missing values or give them weight 0."
        raise InputError(
            f"{law} is estimated from {wanted}; {bad.size} of {values.size} are not, the first is "
            f"{values[first]:g} at position {first}. {remedy or default}"
        )


def weight_of(weights: Floats | None, size: int) -> float:
    """Total weight of a sample."""
    return float(size) if weights is None else float(weights.sum())


def refuse_no_data(law: str, weight: float) -> None:
    if not weight > 0:
        raise InputError(
            f"{law} cannot be estimated from no data: the total weight is {weight:g}. "
            "Give at least one value of positive weight."
        )
