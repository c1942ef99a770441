"""Tests of one column against a target, on the rows where the column is known.

    ANOVA            F = (between / (K - 1)) / (within / (n - K))        F law on (K - 1, n - K)
    Kruskal-Wallis   H = (n - 1) between / total, on ranks               chi-square law on K - 1
    correlation      F = r^2 (n - 2) / (1 - r^2)                         F law on (1, n - 2)
    contingency      X^2 = sum (N - E)^2 / E, E = row * column / n       chi-square on (r-1)(s-1)
    counts           X^2 = sum (S_k - E_k)^2 / E_k, E_k = P(k) S         chi-square law on K - 1

`between` and `total` are sums of squared deviations of the group means and of all values from the
mean. With ranks in place of values ANOVA's ratio becomes Kruskal's H, ties corrected, and the
correlation becomes Spearman's. `S_k` is the sum of a column of counts over the rows of class `k`.
What cannot be tested (a constant column, one group, too few rows) has value 0 and p-value 1.

References
----------
Kruskal & Wallis (1952); Agresti, "Categorical Data Analysis", 2013, 3.2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from novum.evaluation.selection.log_tails import log_chi_square_tail, log_f_tail

Floats = NDArray[np.float64]
Codes = NDArray[np.integer]


@dataclass(frozen=True)
class GroupTest:
    """The outcome of one test.

    Parameters
    ----------
    value : float
        The statistic; infinite where the groups do not overlap at all.
    log_p : float
        Natural logarithm of the p-value.
    smallest_expected : float
        Of a contingency table; infinite elsewhere.
    """

    value: float
    log_p: float
    smallest_expected: float = math.inf

    @property
    def p_value(self) -> float:
        return math.exp(self.log_p)


UNTESTABLE = GroupTest(0.0, 0.0)


def anova(values: Floats, groups: Codes) -> GroupTest:
    """One-way analysis of variance.

    Examples
    --------
    >>> test = anova(np.array([1.0, 2, 3, 4, 5, 6]), np.array([0, 0, 0, 1, 1, 1]))
    >>> test.value, round(test.p_value, 4)
    (13.5, 0.0213)
    """
    sums = _deviations(values, groups)
    if sums is None:
        return UNTESTABLE
    between, within, freedom, left = sums
    if left < 1:
        return UNTESTABLE
    value = math.inf if within == 0 else (between / freedom) / (within / left)
    return GroupTest(value, log_f_tail(value, freedom, left))


def kruskal_wallis(values: Floats, groups: Codes) -> GroupTest:
    """ANOVA's question without its normal law: do the groups differ in rank?

    Examples
    --------
    >>> test = kruskal_wallis(np.array([1.0, 2, 3, 4, 5, 6]), np.array([0, 0, 0, 1, 1, 1]))
    >>> round(test.value, 4), round(test.p_value, 4)
    (3.8571, 0.0495)
    """
    sums = _deviations(stats.rankdata(values), groups)
    if sums is None:
        return UNTESTABLE
    between, within, freedom, _ = sums
    value = (values.size - 1) * between / (between + within)
    return GroupTest(value, log_chi_square_tail(value, freedom))


def correlation(x: Floats, y: Floats) -> GroupTest:
    """Pearson's correlation, as the F of its regression.

    Examples
    --------
    >>> test = correlation(np.array([1.0, 2, 3, 4]), np.array([1.0, 3, 2, 4]))
    >>> round(test.value, 4), round(test.p_value, 4)
    (3.5556, 0.2)
    """
    if x.size < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return UNTESTABLE
    left, right = x - x.mean(), y - y.mean()
    left, right = _moderate(left), _moderate(right)
    length = math.sqrt(float(left @ left) * float(right @ right))
    r = float(left @ right) / length
    # 1 - r^2 by the residual: it keeps its digits where r is nearly 1.
    slope = float(left @ right) / float(left @ left)
    rest = float(((right - slope * left) ** 2).sum()) / float(right @ right)
    freedom = x.size - 2
    value = math.inf if rest == 0 else r * r / rest * freedom
    return GroupTest(value, log_f_tail(value, 1, freedom))


def rank_correlation(x: Floats, y: Floats) -> GroupTest:
    """Spearman's correlation: Pearson's, of the ranks."""
    return correlation(stats.rankdata(x), stats.rankdata(y))


def contingency(a: Codes, b: Codes) -> GroupTest:
    """Pearson's test of independence of two columns of codes.

    Examples
    --------
    >>> test = contingency(np.repeat([0, 1], [40, 60]), np.repeat([0, 1, 0, 1], [30, 10, 20, 40]))
    >>> round(test.value, 4), test.smallest_expected
    (16.6667, 20.0)
    """
    rows, columns = np.unique(a, return_inverse=True)[1], np.unique(b, return_inverse=True)[1]
    if a.size == 0 or rows.max() == 0 or columns.max() == 0:
        return UNTESTABLE
    counts = np.zeros((rows.max() + 1, columns.max() + 1))
    np.add.at(counts, (rows, columns), 1.0)
    expected = counts.sum(axis=1)[:, None] * counts.sum(axis=0) / a.size
    value = float(((counts - expected) ** 2 / expected).sum())
    freedom = int(rows.max() * columns.max())
    return GroupTest(value, log_chi_square_tail(value, freedom), float(expected.min()))


def count_test(values: Floats, groups: Codes) -> GroupTest:
    """Whether counts (as of words) fall into the groups in proportion to their rows.

    Examples
    --------
    >>> round(count_test(np.array([3.0, 0, 1, 0]), np.array([0, 0, 1, 1])).value, 4)
    1.0
    """
    groups = np.unique(groups, return_inverse=True)[1]
    total = float(values.sum())
    if total == 0 or groups.max(initial=0) == 0:
        return UNTESTABLE
    observed = np.bincount(groups, values)
    expected = total * np.bincount(groups) / values.size
    value = float(((observed - expected) ** 2 / expected).sum())
    return GroupTest(value, log_chi_square_tail(value, len(observed) - 1))


def _deviations(values: Floats, groups: Codes) -> tuple[float, float, int, int] | None:
    """Squared deviations between and within groups, and the degrees of freedom of both."""
    met, codes = np.unique(groups, return_inverse=True)
    if met.size < 2 or np.ptp(values) == 0:
        return None
    centered = _moderate(values - values.mean())
    counts = np.bincount(codes)
    means = np.bincount(codes, centered) / counts
    residuals = centered - means[codes]
    # What is left of equal numbers within a group is the rounding of their mean.
    residuals[np.abs(residuals) <= 4 * np.finfo(np.float64).eps] = 0.0
    middle = float(counts @ means) / values.size
    between = float(counts @ (means - middle) ** 2)
    return between, float(residuals @ residuals), met.size - 1, values.size - met.size


def _moderate(centered: Floats) -> Floats:
    """Numbers divided by a power of two, so that their squares stay within the range of floats."""
    return np.ldexp(centered, -int(np.frexp(np.abs(centered).max())[1]))
