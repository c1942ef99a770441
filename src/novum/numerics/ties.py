"""When two numbers are equal but for rounding, decided in one place.

`0.83 - 0.82` is not `0.01` in floating point, and not `0.73 - 0.72` either. Where a decision hangs
on equality (a rank, a win, a limit), numbers are equal if they differ by at most

    ROUNDING    = 2^-46 = 1.4e-14   times the larger of them, for scores and cells as they are:
                                    64 units in the last place, which means of folds keep to
    DIFFERENCES = 1e-9              times the largest of all, for differences of scores: their
                                    rounding is that of scores which are no longer there

A difference of scores that is 1e-9 of the others is no win that anybody should count. Rows that a
model ranks by its scores (areas under curves, detection costs) are ranked by the numbers as given.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from novum.numerics.types import Floats, Mask, Positions

ROUNDING = 2.0**-46
DIFFERENCES = 1e-9


def merge_rounding(values: ArrayLike) -> Floats:
    """Numbers with those made equal that rounding alone keeps apart; each becomes the smallest.

    A number joins the smallest of a group if they differ by at most `ROUNDING` of the larger, so no
    chain of neighbors draws far numbers together. What is left can be compared with `==`, `<` and
    `>`, and ranked.

    Examples
    --------
    >>> merge_rounding([0.3, 0.1 + 0.2, 0.4]).tolist()
    [0.3, 0.3, 0.4]
    """
    numbers = np.asarray(values, float)
    order = np.argsort(numbers, axis=None)
    ordered = numbers.ravel()[order]
    merged = np.empty_like(ordered)
    merged[order] = ordered[_group_starts(ordered, None)]
    return merged.reshape(numbers.shape)


def merge_differences(values: ArrayLike, margin: float = 0.0) -> Floats:
    """Differences of scores with those made equal that rounding alone keeps apart.

    Sizes are merged and signs kept, so that `d` and `-d` stay opposite. A difference that is zero
    or as large as the margin but for rounding becomes 0 or the margin.

    Examples
    --------
    >>> merge_differences([0.83 - 0.82, 0.72 - 0.73, 0.3 - (0.1 + 0.2)], margin=0.01).tolist()
    [0.01, -0.01, 0.0]
    """
    numbers = np.asarray(values, float)
    sizes = np.abs(numbers).ravel()
    tolerance = DIFFERENCES * np.max(sizes, where=np.isfinite(sizes), initial=abs(margin))
    order = np.argsort(sizes)
    merged = np.empty_like(sizes)
    merged[order] = sizes[order][_group_starts(sizes[order], tolerance)]
    # The two numbers that differences are compared with, the margin first: it may be zero.
    for number in (abs(margin), 0.0):
        merged[np.abs(sizes - number) <= tolerance] = number
    return np.asarray(np.copysign(merged.reshape(numbers.shape), numbers) + 0.0)


def score_differences(first: ArrayLike, second: ArrayLike) -> Floats:
    """`first - second`, exactly zero where the two scores are equal but for rounding.

    >>> score_differences([0.3, 0.5], [0.1 + 0.2, 0.4]).tolist()
    [0.0, 0.09999999999999998]
    """
    a, b = np.asarray(first, float), np.asarray(second, float)
    with np.errstate(invalid="ignore"):
        return np.where(_equal(a, b), 0.0, a - b)


def at_least(values: ArrayLike, limit: ArrayLike) -> Mask:
    """Whether numbers are at least a limit, or equal to it but for rounding.

    >>> at_least([0.29, 0.3, 0.31], 0.1 + 0.2).tolist()
    [False, True, True]
    """
    a, b = np.asarray(values, float), np.asarray(limit, float)
    return np.asarray((a >= b) | _equal(a, b))


def best_of(values: ArrayLike, *, last: bool = False) -> int:
    """The first (or last) of the numbers that equal the largest but for rounding; NaN is none.

    >>> best_of([0.1, 0.3, 0.1 + 0.2]), best_of([0.1, 0.1 + 0.2, 0.3], last=True)
    (1, 2)
    """
    numbers = np.asarray(values, float)
    near = np.flatnonzero(at_least(numbers, np.nanmax(numbers)))
    return int(near[-1 if last else 0])


def _equal(a: Floats, b: Floats) -> Mask:
    with np.errstate(invalid="ignore"):
        size = np.maximum(np.abs(a), np.abs(b))
        return np.asarray((a == b) | ((np.abs(a - b) <= ROUNDING * size) & np.isfinite(size)))


def _group_starts(ordered: Floats, tolerance: float | None) -> Positions:
    """For each of some sorted numbers the position of the smallest of its group; NaN is alone."""
    starts = np.arange(ordered.size)
    known = ordered[~np.isnan(ordered)]
    with np.errstate(over="ignore"):
        if tolerance is None:
            # The largest b with b - a <= ROUNDING max(|a|, |b|).
            largest = np.where(known > 0, known / (1 - ROUNDING), known * (1 - ROUNDING))
        else:
            largest = known + tolerance
    largest = np.where(np.isinf(known), known, np.minimum(largest, np.finfo(float).max))
    ends = np.searchsorted(known, largest, "right").tolist()
    start = 0
    while start < known.size:
        starts[start : ends[start]] = start
        start = ends[start]
    return starts
