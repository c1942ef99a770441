"""McNemar's test of two classifiers on the same rows.

Only rows on which one is right and the other wrong tell them apart: b rows where the first alone is
right, c where the second alone is. If both err equally often, given b + c = m,

    b ~ Binomial(m, 1/2)

The exact test takes `2 P(B >= max(b, c))`, at most 1, and errs on the safe side because counts are
discrete. The mid-p version counts the observed value by half, `2 P(B > max) + P(B = max)`; its size
is close to the nominal one (Fagerland, Lydersen and Laake 2013). The interval is of the difference
of accuracies, `(b - c) / n`, by Bonett and Price (2012): Wald's with one more row in b and in c.

Every row may enter once. Out-of-fold predictions qualify when each comes from a model that did not
see the row; the test then speaks of the classifiers trained on this table, not of other tables.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from novum.core.errors import InputError
from novum.core.tables import plain_target
from novum.evaluation.comparison.pairs.outcome import (
    Alternative,
    CriticalRegion,
    Outcome,
    checked_options,
)
from novum.evaluation.measures.intervals import Interval
from novum.numerics import Floats

Method = Literal["mid-p", "exact"]


@dataclass(frozen=True, repr=False)
class McNemar(Outcome):
    """Result of McNemar's test; its statistic is `only_first`.

    Attributes
    ----------
    only_first, only_second : int
        Rows that the one classifier alone has right.
    n_rows : int
    """

    only_first: int = 0
    only_second: int = 0
    n_rows: int = 0


def mcnemar_test(
    y: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    *,
    method: Method = "mid-p",
    alternative: Alternative = "two-sided",
    level: float = 0.95,
) -> McNemar:
    """Whether two classifiers are right equally often, from their predictions for the same rows.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        True classes.
    first, second : array-like of shape (n_rows,)
        Predicted classes, out of fold or of test rows.
    method : {"mid-p", "exact"}
    alternative : {"two-sided", "less", "greater"}
        "greater": the first is right more often.
    level : float
        Confidence of the interval; the test has size `1 - level` at most (exact) or nearly (mid-p).

    Returns
    -------
    McNemar

    References
    ----------
    Fagerland, Lydersen and Laake (2013), The McNemar test for binary matched-pairs data, BMC
    Medical Research Methodology 13. Bonett and Price (2012), Adjusted Wald confidence interval for
    a difference of binomial proportions based on paired data, J. Educ. Behav. Stat. 37.

    Examples
    --------
    >>> found = mcnemar_test([1] * 10, [1] * 8 + [0] * 2, [0] * 6 + [1] * 4, method="exact")
    >>> found.only_first, found.only_second, round(found.p_value, 4)
    (6, 2, 0.2891)
    """
    truth = plain_target(y)
    right = [_right(truth, given, name) for given, name in ((first, "first"), (second, "second"))]
    only_first = int(np.sum(right[0] & ~right[1]))
    only_second = int(np.sum(right[1] & ~right[0]))
    return mcnemar_from_counts(
        only_first, only_second, len(truth), method=method, alternative=alternative, level=level
    )


def mcnemar_from_counts(
    only_first: int,
    only_second: int,
    n_rows: int,
    *,
    method: Method = "mid-p",
    alternative: Alternative = "two-sided",
    level: float = 0.95,
) -> McNemar:
    """McNemar's test from the numbers of rows that one classifier alone has right.

    Parameters
    ----------
    only_first, only_second : int
    n_rows : int
        All rows, also those on which both are right or both wrong.
    method, alternative, level
        As for `mcnemar_test`.

    Returns
    -------
    McNemar

    Examples
    --------
    >>> round(mcnemar_from_counts(1, 9, 100).p_value, 6)
    0.011719
    """
    checked_options(alternative, level)
    if method not in ("mid-p", "exact"):
        raise InputError(f"method is 'mid-p' or 'exact', got {method!r}.")
    b, c, n = _checked_counts(only_first, only_second, n_rows)
    p_values = _p_values(b + c, method, alternative)
    note = "" if b + c else "both are right on the same rows, so there is nothing to test"
    return McNemar(
        f"McNemar's test ({method})",
        float(b),
        float(p_values[b]),
        _region(p_values, alternative, 1 - level),
        alternative,
        level,
        estimate=(b - c) / n,
        interval=_interval(b, c, n, alternative, level),
        note=note,
        only_first=b,
        only_second=c,
        n_rows=n,
    )


# --- The binomial law -----------------------------------------------------------------------------


def _p_values(m: int, method: Method, alternative: Alternative) -> Floats:
    """The p-value of each possible b = 0..m."""
    counts = np.arange(m + 1)
    below = special.bdtr(counts, m, 0.5)
    if method == "mid-p":
        logs = (
            special.gammaln(m + 1) - special.gammaln(counts + 1) - special.gammaln(m - counts + 1)
        )
        below = below - 0.5 * np.exp(logs - m * math.log(2))
    above = below[::-1]
    if alternative == "two-sided":
        return np.minimum(1.0, 2 * np.minimum(below, above))
    return below if alternative == "less" else above


def _region(p_values: Floats, alternative: Alternative, size: float) -> CriticalRegion:
    """Counts that reject; a side without any is infinite."""
    rejected = np.flatnonzero(p_values <= size)
    middle = (len(p_values) - 1) / 2
    low, high = -math.inf, math.inf
    if alternative != "greater" and np.any(rejected < middle):
        low = float(rejected[rejected < middle].max())
    if alternative != "less" and np.any(rejected > middle):
        high = float(rejected[rejected > middle].min())
    return CriticalRegion(low, high)


def _interval(b: int, c: int, n: int, alternative: Alternative, level: float) -> Interval:
    one, other = (b + 1) / (n + 2), (c + 1) / (n + 2)
    middle = one - other
    tail = (1 - level) / 2 if alternative == "two-sided" else 1 - level
    half = -float(special.ndtri(tail)) * math.sqrt((one + other - middle**2) / (n + 2))
    low = -1.0 if alternative == "less" else max(-1.0, middle - half)
    high = 1.0 if alternative == "greater" else min(1.0, middle + half)
    return Interval((b - c) / n, low, high, level, "Bonett-Price")


# --- Checks ---------------------------------------------------------------------------------------


def _right(truth: np.ndarray, given: ArrayLike, name: str) -> np.ndarray:
    labels = plain_target(given)
    if labels.shape != truth.shape:
        raise InputError(
            f"The {name} predictions have shape {labels.shape}, but y has shape {truth.shape}. "
            "Pass one predicted class for each row of y, in the same order."
        )
    return np.asarray(labels == truth, bool)


def _checked_counts(*counts: int) -> tuple[int, ...]:
    for count in counts:
        if isinstance(count, bool) or not isinstance(count, Integral) or count < 0:
            raise InputError(f"Counts of rows are whole numbers of at least 0, got {count!r}.")
    b, c, n = (int(count) for count in counts)
    if n == 0 or b + c > n:
        raise InputError(
            f"{b} rows right by the first alone and {c} by the second alone do not fit into "
            f"{n} rows."
        )
    return b, c, n
