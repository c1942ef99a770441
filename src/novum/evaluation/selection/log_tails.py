"""Logarithms of tail probabilities that are too small to be numbers.

Columns are ranked by how unlikely they would be without any association, and on a few thousand rows
that probability is often below the smallest float. Where it underflows, its logarithm comes from

    F:           P = x^a (1 - x)^b / (a B(a, b)) / (1 + d_1 / (1 + d_2 / ...))   x = v / (v + u F)
    chi-square:  P = exp(-x) x^a / Gamma(a) * 1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - ...))

with `a = v/2, b = u/2` for F on (u, v) degrees of freedom, and `a = u/2`, `x` half the value for
chi-square; in the far tail both expansions converge at once. A two-sided t is the square root of an
F on (1, v).

References
----------
DLMF 8.17.22 (incomplete beta), 8.9.2 (incomplete gamma).
"""

from __future__ import annotations

import math

from scipy import special

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
