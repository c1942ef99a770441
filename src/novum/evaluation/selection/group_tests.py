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
from scipy import special, stats

from novum.numerics import Floats

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


# --- Tails of the laws ----------------------------------------------------------------------------
# Logarithms of tail probabilities that are too small to be numbers.
#
# Columns are ranked by how unlikely they would be without any association, and on a few thousand
# rows that probability is often below the smallest float. Where it underflows, its logarithm comes
# from
#
#     F:           P = x^a (1 - x)^b / (a B(a, b)) / (1 + d_1 / (1 + d_2 / ...))   x = v / (v + u F)
#     chi-square:  P = exp(-x) x^a / Gamma(a) * 1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - ...))
#
# with `a = v/2, b = u/2` for F on (u, v) degrees of freedom, and `a = u/2`, `x` half the value for
# chi-square; in the far tail both expansions converge at once. A two-sided t is the square root of
# an F on (1, v).
#
# References
# ----------
# DLMF 8.17.22 (incomplete beta), 8.9.2 (incomplete gamma).


# A probability above this is exact as a float.
_SMALL = 1e-290


def log_f_tail(value: float, above: float, below: float) -> float:
    """`log P(F > value)` on (`above`, `below`) degrees of freedom.

    Examples
    --------
    >>> round(log_f_tail(4.0, 1, 10), 4) == round(math.log(special.fdtrc(1, 10, 4.0)), 4)
    True
    >>> log_f_tail(1e6, 2, 200) < -700
    True
    """
    plain = float(special.fdtrc(above, below, value))
    if plain > _SMALL:
        return math.log(plain)
    if math.isinf(value):
        return -math.inf
    a, b = below / 2, above / 2
    x = below / (below + above * value)
    lead = a * math.log(x) + b * math.log1p(-x) - math.log(a) - float(special.betaln(a, b))
    return lead - math.log(_beta_fraction(a, b, x))


def log_chi_square_tail(value: float, freedom: float) -> float:
    """`log P(X > value)` of a chi-square law.

    Examples
    --------
    >>> round(log_chi_square_tail(4.0, 2), 6)  # exactly -value / 2 for two degrees of freedom
    -2.0
    >>> round(log_chi_square_tail(5000.0, 2), 6)
    -2500.0
    """
    plain = float(special.chdtrc(freedom, value))
    if plain > _SMALL:
        return math.log(plain)
    if math.isinf(value):
        return -math.inf
    a, x = freedom / 2, value / 2
    fraction = 0.0
    # From the inside out; the far tail needs few terms, and more do no harm.
    for n in range(200, 0, -1):
        fraction = n * (n - a) / (x + 2 * n + 1 - a - fraction)
    lead = -x + a * math.log(x) - float(special.gammaln(a))
    return lead - math.log(x + 1 - a - fraction)


def _beta_fraction(a: float, b: float, x: float) -> float:
    """`1 + d_1 / (1 + d_2 / ...)` of the incomplete beta function, by Lentz' method.

    It needs about `sqrt(a)` terms where x is below the mean `a / (a + b)`, as in a tail.
    """
    value, above, below = 1.0, 1.0, 0.0
    for n in range(1, 100_000):
        m = n // 2
        if n % 2:
            d = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            d = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        below = 1 / (1 + d * below)
        above = 1 + d / above
        value *= above * below
        if abs(above * below - 1) < 1e-16:
            break
    return value
