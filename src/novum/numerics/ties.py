"""When two numbers are equal but for rounding, decided in one place.

`0.83 - 0.82` is not `0.01` in floating point, and not `0.73 - 0.72` either. Where a decision hangs
on equality (a rank, a win, a threshold), numbers are equal if they differ by at most

    ROUNDING    = 2^-48 = 3.6e-15   times the larger of them, for scores and cells as they are:
                                    sixteen units in the last place, which means of folds keep to
    DIFFERENCES = 1e-9              times the largest of all, for differences of scores: their
                                    rounding is that of scores which are no longer there

A difference of scores that is 1e-9 of the others is no win that anybody should count.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

ROUNDING = 2.0**-48
DIFFERENCES = 1e-9


def merge_rounding(values: ArrayLike) -> Floats:
    """Numbers of one run of near-equal ones replaced by the smallest of the run.

    A run ends where the next larger number exceeds the last by more than `ROUNDING` of the larger.
    What is left can be compared with `==`, `<` and `>`, and ranked.

    Examples
    --------
    >>> merge_rounding([0.3, 0.1 + 0.2, 0.4]).tolist()
    [0.3, 0.3, 0.4]
    """
    found = np.asarray(values, float)
    order = np.argsort(found, axis=None)
    ordered = found.ravel()[order]
    size = np.maximum(np.abs(ordered[1:]), np.abs(ordered[:-1]))
    merged = np.empty_like(ordered)
    merged[order] = ordered[_run_starts(ordered, ROUNDING * size)]
    return merged.reshape(found.shape)


def merge_differences(values: ArrayLike, margin: float = 0.0) -> Floats:
    """Differences of scores with those made equal that rounding alone keeps apart.

    Sizes are merged and signs kept, so that `d` and `-d` stay opposite. A difference that is zero
    or as large as the margin but for rounding becomes 0 or the margin.

    Examples
    --------
    >>> merge_differences([0.83 - 0.82, 0.72 - 0.73, 0.3 - (0.1 + 0.2)], margin=0.01).tolist()
    [0.01, -0.01, 0.0]
    """
    found = np.asarray(values, float)
    sizes = np.abs(found).ravel()
    tolerance = DIFFERENCES * np.max(sizes, where=np.isfinite(sizes), initial=abs(margin))
    order = np.argsort(sizes)
    merged = np.empty_like(sizes)
    merged[order] = sizes[order][_run_starts(sizes[order], tolerance)]
    # The two numbers that differences are compared with, the margin first: it may be zero.
    for number in (abs(margin), 0.0):
        merged[np.abs(sizes - number) <= tolerance] = number
    return np.asarray(np.copysign(merged.reshape(found.shape), found) + 0.0)


def score_differences(first: ArrayLike, second: ArrayLike) -> Floats:
    """`first - second`, exactly zero where the two scores are equal but for rounding.

    >>> score_differences([0.3, 0.5], [0.1 + 0.2, 0.4]).tolist()
    [0.0, 0.09999999999999998]
    """
    a, b = np.asarray(first, float), np.asarray(second, float)
    with np.errstate(invalid="ignore"):
        difference = a - b
        size = np.maximum(np.abs(a), np.abs(b))
        return np.where(np.abs(difference) <= ROUNDING * size, 0.0, difference)


def _run_starts(ordered: Floats, tolerance: Floats | float) -> NDArray[np.intp]:
    """For each of some sorted numbers the position at which its run of near-equal ones starts."""
    with np.errstate(invalid="ignore"):
        # Infinite numbers are equal to themselves only; NaN, at the end, to nothing.
        same = (np.diff(ordered) <= tolerance) | (ordered[1:] == ordered[:-1])
    same &= np.isfinite(ordered[:-1]) == np.isfinite(ordered[1:])
    positions = np.arange(ordered.size)
    return np.maximum.accumulate(np.where(np.r_[True, ~same][: ordered.size], positions, 0))
