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
from scipy import special

from novum.core.errors import InputError
from novum.evaluation.comparison.pairs.outcome import (
    Alternative,
    CriticalRegion,
    Outcome,
    checked_options,
    checked_ratio,
    checked_values,
    spread,
    t_outcome,
)
from novum.numerics import DIFFERENCES, Floats


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
    checked = checked_values(values, "The values")
    return _mean_test("one-sample t test", checked, _number(mean, "mean"), alternative, level)


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


# --- Scores of overlapping training sets ----------------------------------------------------------
# Tests for scores of overlapping training sets: corrected resampled t, and 5x2 cross-validation.
#
# Differences d_1..d_n of two models on n folds share training rows, so they are correlated with
# some rho, and the variance of their mean is not `s^2 / n` but, as `E s^2 = sigma^2 (1 - rho)`,
#
#     Var[mean d] = sigma^2 (1 + (n - 1) rho) / n = E s^2 (1/n + rho / (1 - rho))
#
# Nadeau and Bengio (2003) put `rho = n_test / (n_test + n_train)`, which gives the corrected test
#
#     t = mean d / (s sqrt(1/n + n_test / n_train)),      n - 1 df
#
# For normal differences with that correlation t has exactly Student's law. More repeats do not
# shrink the term `n_test / n_train`: they cannot replace rows.
#
# Dietterich's (1998) five repeats of two folds avoid overlap inside a repeat. With `s_i^2` the sum
# of squared deviations of the two differences of repeat i from their mean,
#
#     t = d_11 / sqrt(sum s_i^2 / 5),   5 df       F = sum d_ij^2 / (2 sum s_i^2),   (10, 5) df
#
# where F (Alpaydin 1999) does not depend on which difference is called the first.


def corrected_t_test(
    differences: ArrayLike,
    test_train_ratio: float,
    *,
    difference: float = 0.0,
    alternative: Alternative = "two-sided",
    level: float = 0.95,
) -> Outcome:
    """Corrected resampled t test of score differences on shared folds.

    Parameters
    ----------
    differences : array-like of shape (n_folds,)
        Score of one model minus score of the other, fold by fold, over all repeats.
    test_train_ratio : float
        Rows of a test part over rows of its training part: `1 / (k - 1)` for k folds. Zero gives
        the plain paired test.
    difference : float
        Mean difference under the null hypothesis.
    alternative : {"two-sided", "less", "greater"}
    level : float
        Confidence of the interval; the test has size `1 - level`.

    Returns
    -------
    Outcome
        With `p_value`, `interval` and `critical_region`.

    Notes
    -----
    The correlation is a working assumption: nobody can estimate it from one table (Bengio and
    Grandvalet 2004). It holds the level well for repeated k-fold and random splits.

    References
    ----------
    Nadeau and Bengio (2003), Inference for the generalization error, Machine Learning 52.

    Examples
    --------
    >>> found = corrected_t_test([0.02, 0.05, 0.01, 0.04], test_train_ratio=1 / 3)
    >>> round(found.statistic, 4), round(found.p_value, 4)
    (2.1514, 0.1205)
    """
    checked_options(alternative, level)
    ratio = checked_ratio(test_train_ratio)
    values = checked_values(differences, "The differences")
    null = checked_values([difference], "The difference under the null hypothesis", 1)[0]
    deviation = spread(values)
    return t_outcome(
        "corrected resampled t test",
        float(values.mean()) if deviation else float(values[0]),
        deviation * math.sqrt(1 / values.size + ratio),
        values.size - 1,
        null=float(null),
        alternative=alternative,
        level=level,
    )


def five_by_two_t_test(
    differences: ArrayLike, *, alternative: Alternative = "two-sided", level: float = 0.95
) -> Outcome:
    """Dietterich's 5x2cv paired t test.

    Parameters
    ----------
    differences : array-like of shape (5, 2) or (10,)
        Score differences of the two folds of each of five repeats.
    alternative : {"two-sided", "less", "greater"}
    level : float
        Confidence of the interval; the test has size `1 - level`.

    Returns
    -------
    Outcome
        Its estimate is the first difference, which is what the statistic standardizes.

    References
    ----------
    Dietterich (1998), Approximate statistical tests for comparing supervised classification
    learning algorithms, Neural Computation 10.

    Examples
    --------
    >>> halves = [[0.04, 0.06], [0.05, 0.03], [0.02, 0.05], [0.06, 0.04], [0.05, 0.05]]
    >>> round(five_by_two_t_test(halves).statistic, 4)
    2.7603
    """
    checked_options(alternative, level)
    halves = _checked_halves(differences)
    return t_outcome(
        "5x2cv t test",
        float(halves[0, 0]),
        math.sqrt(_squares(halves) / 5),
        5,
        null=0.0,
        alternative=alternative,
        level=level,
    )


def five_by_two_f_test(differences: ArrayLike, *, level: float = 0.95) -> Outcome:
    """Alpaydin's combined 5x2cv F test.

    Parameters
    ----------
    differences : array-like of shape (5, 2) or (10,)
        As for `five_by_two_t_test`; their order does not matter within and among repeats.
    level : float
        The test has size `1 - level`.

    Returns
    -------
    Outcome
        Its estimate is the mean of the ten differences.

    References
    ----------
    Alpaydin (1999), Combined 5x2 cv F test for comparing supervised classification learning
    algorithms, Neural Computation 11.

    Examples
    --------
    >>> halves = [[0.04, 0.06], [0.05, 0.03], [0.02, 0.05], [0.06, 0.04], [0.05, 0.05]]
    >>> found = five_by_two_f_test(halves)
    >>> round(found.statistic, 3), round(found.p_value, 4)
    (10.333, 0.0094)
    """
    checked_options("two-sided", level)
    halves = _checked_halves(differences)
    within, total = 2 * _squares(halves), float(np.sum(halves**2))
    note = ""
    if within > 0:
        statistic, p_value = total / within, float(special.fdtrc(10, 5, total / within))
    else:
        statistic, p_value = (math.inf, math.nan) if total > 0 else (0.0, 1.0)
        note = "both differences of every repeat are equal: they have no spread to judge them by"
    return Outcome(
        "5x2cv F test",
        statistic,
        p_value,
        CriticalRegion(-math.inf, float(special.fdtri(10, 5, level))),
        "two-sided",
        level,
        (10.0, 5.0),
        float(halves.mean()),
        note=note,
    )


def _squares(halves: Floats) -> float:
    """`sum s_i^2`; two numbers deviate from their mean by half their distance."""
    distances = halves[:, 0] - halves[:, 1]
    distances[np.abs(distances) <= DIFFERENCES * np.abs(halves).max()] = 0.0
    return float(np.sum(distances**2) / 2)


def _checked_halves(differences: ArrayLike) -> Floats:
    halves = np.asarray(differences)
    if halves.shape not in ((5, 2), (10,)):
        raise InputError(
            "The 5x2cv tests need the differences of two folds in each of five repeats, an array "
            f"of shape (5, 2), got shape {halves.shape}. Use corrected_t_test for other plans."
        )
    return checked_values(halves.ravel(), "The differences").reshape(5, 2)
