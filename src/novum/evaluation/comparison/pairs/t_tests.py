"""Student's t tests of one sample, of two independent ones, and of pairs.

    one sample   t = (mean - mu) / (s / sqrt(n))                          n - 1 df
    paired       the one-sample test of the differences                   n - 1 df
    pooled       t = (m1 - m2 - d) / (s_p sqrt(1/n1 + 1/n2))              n1 + n2 - 2 df
    Welch        t = (m1 - m2 - d) / sqrt(v1 + v2),  v = s^2 / n          (v1 + v2)^2 /
                                                      (v1^2 / (n1 - 1) + v2^2 / (n2 - 1)) df

They hold for independent normal values. Scores of overlapping training sets are *not* independent:
their spread is too small for the difference they estimate, and these tests then reject far too
often. For folds of one table use `corrected_t_test`.
"""

from __future__ import annotations

import math
from numbers import Real
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from novum.core.errors import InputError
from novum.evaluation.comparison.pairs.outcome import (
    Alternative,
    Floats,
    Outcome,
    checked_options,
    checked_values,
    spread,
    t_outcome,
)


def one_sample_t_test(
    values: ArrayLike,
    mean: float = 0.0,
    *,
    alternative: Alternative = "two-sided",
    level: float = 0.95,
) -> Outcome:
    """Whether independent values have the mean `mean`.

    Parameters
    ----------
    values : array-like of shape (n,)
        At least two numbers.
    mean : float
        Mean under the null hypothesis.
    alternative : {"two-sided", "less", "greater"}
        What holds if the null hypothesis does not.
    level : float
        Confidence of the interval; the test has size `1 - level`.

    Returns
    -------
    Outcome

    Examples
    --------
    >>> one_sample_t_test([1.0, 2.0, 3.0], alternative="greater")
    one-sample t test, greater
      statistic        3.464 (2 df)
      p-value          0.0371
      critical region  at least 2.92, at size 0.05
      estimate         2
      interval         [0.3141, inf] at level 0.95
    """
    checked_options(alternative, level)
    found = checked_values(values, "The values")
    return _mean_test("one-sample t test", found, _number(mean, "mean"), alternative, level)


def paired_t_test(
    first: ArrayLike,
    second: ArrayLike,
    *,
    difference: float = 0.0,
    alternative: Alternative = "two-sided",
    level: float = 0.95,
) -> Outcome:
    """Whether pairs differ by `difference` on average, `first - second`.

    Parameters
    ----------
    first, second : array-like of shape (n,)
        Two measurements of each of n independent subjects.
    difference : float
        Mean difference under the null hypothesis.
    alternative, level
        As for `one_sample_t_test`.

    Returns
    -------
    Outcome

    Examples
    --------
    >>> round(paired_t_test([5.0, 7.0, 9.0], [4.0, 5.0, 6.0]).p_value, 4)
    0.0742
    """
    checked_options(alternative, level)
    differences = paired_differences(first, second)
    return _mean_test(
        "paired t test", differences, _number(difference, "difference"), alternative, level
    )


def unpaired_t_test(
    first: ArrayLike,
    second: ArrayLike,
    *,
    difference: float = 0.0,
    variances: Literal["unequal", "equal"] = "unequal",
    alternative: Alternative = "two-sided",
    level: float = 0.95,
) -> Outcome:
    """Whether two independent samples have means that differ by `difference`, `first - second`.

    Parameters
    ----------
    first : array-like of shape (n1,)
    second : array-like of shape (n2,)
    difference : float
        Difference of the means under the null hypothesis.
    variances : {"unequal", "equal"}
        Welch's test, or the pooled one, which holds only for equal variances.
    alternative, level
        As for `one_sample_t_test`.

    Returns
    -------
    Outcome

    Examples
    --------
    >>> found = unpaired_t_test([1.0, 2.0, 3.0], [2.0, 4.0, 6.0], variances="equal")
    >>> found.degrees_of_freedom, round(found.p_value, 4)
    ((4.0,), 0.1963)
    """
    checked_options(alternative, level)
    if variances not in ("unequal", "equal"):
        raise InputError(f"variances are 'unequal' or 'equal', got {variances!r}.")
    a, b = checked_values(first, "The first values"), checked_values(second, "The second values")
    standard_error = _pooled if variances == "equal" else _welch
    error, degrees = standard_error(a, b)
    return t_outcome(
        "pooled t test" if variances == "equal" else "Welch's t test",
        float(a.mean() - b.mean()),
        error,
        degrees,
        null=_number(difference, "difference"),
        alternative=alternative,
        level=level,
    )


def paired_differences(first: ArrayLike, second: ArrayLike) -> Floats:
    """`first - second`, with differences that are rounding of the values set to zero."""
    a, b = checked_values(first, "The first values"), checked_values(second, "The second values")
    if a.shape != b.shape:
        raise InputError(
            f"Pairs need as many first values as second ones, got {a.size} and {b.size}. Values of "
            "different subjects are compared by unpaired_t_test."
        )
    # Two ways to sum the same losses differ in the last bits, and a test of such differences
    # would find "significant" noise.
    rounding = 1e-14 * np.maximum(np.abs(a), np.abs(b))
    return np.where(np.abs(a - b) <= rounding, 0.0, a - b)


# --- Standard errors ------------------------------------------------------------------------------


def _mean_test(
    test: str, values: Floats, null: float, alternative: Alternative, level: float
) -> Outcome:
    return t_outcome(
        test,
        _mean(values),
        spread(values) / math.sqrt(values.size),
        values.size - 1,
        null=null,
        alternative=alternative,
        level=level,
    )


def _mean(values: Floats) -> float:
    # The mean of equal numbers is that number, which a rounded sum need not give.
    return float(values[0]) if np.all(values == values[0]) else float(values.mean())


def _pooled(a: Floats, b: Floats) -> tuple[float, float]:
    degrees = a.size + b.size - 2
    squares = (a.size - 1) * spread(a) ** 2 + (b.size - 1) * spread(b) ** 2
    return math.sqrt(squares / degrees * (1 / a.size + 1 / b.size)), float(degrees)


def _welch(a: Floats, b: Floats) -> tuple[float, float]:
    v1, v2 = spread(a) ** 2 / a.size, spread(b) ** 2 / b.size
    if v1 + v2 == 0:
        return 0.0, float(a.size + b.size - 2)
    # Shares instead of variances: their squares cannot underflow.
    share = v1 / (v1 + v2)
    degrees = 1 / (share**2 / (a.size - 1) + (1 - share) ** 2 / (b.size - 1))
    return math.sqrt(v1 + v2), degrees


def _number(value: float, name: str) -> float:
    if isinstance(value, bool) or not (isinstance(value, Real) and math.isfinite(float(value))):
        raise InputError(f"{name} is a finite number, got {value!r}.")
    return float(value)
