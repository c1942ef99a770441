"""Margins: how far the classes are kept apart, which rows are in the way, what it promises.

A binary machine `f(x) = <w, phi(x)> + b` has the geometric margin `1 / |w|`, and a row of side `y`
the slack `xi = max(0, 1 - y f(x))`. With probability `1 - delta` over the draw of m rows, a new row
is misclassified with probability at most

    nu + sqrt( c / m  ( R^2 Lambda^2 / rho^2  ln(m)^2  +  ln(1 / delta) ) )

for all hyperplanes through the origin with `|w| <= Lambda`, rows no longer than R, and `nu` the
share of rows with `y f(x) < rho` (Schoelkopf and Smola 2002, theorem 7.3). The constant c is
universal but not known, so the terms are reported and not a number made of them. A bias is a
hyperplane through the origin in a space with one more coordinate, which is R in all rows:
`R^2 + R^2` and `|w|^2 + b^2 / R^2` then take the places of `R^2` and `Lambda^2`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt

from novum.core.errors import InputError
from novum.numerics import Floats


@dataclass(frozen=True)
class MarginErrorBound:
    """The terms of the bound above, at `rho = 1`.

    Attributes
    ----------
    margin_errors : float
        `nu`: the share of rows with `y f(x) < 1`.
    radius : float
        R: the length of the longest training row in the feature space.
    norm : float
        `|w|`; the margin is its reciprocal.
    bias : float
    n_rows : float
        m: how many rows there were, each as often as it weighs.

    Examples
    --------
    >>> terms = MarginErrorBound(margin_errors=0.05, radius=1.0, norm=4.0, bias=0.0, n_rows=1000)
    >>> terms.complexity
    32.0
    >>> round(terms.confidence(0.05), 3)
    2.996
    """

    margin_errors: float
    radius: float
    norm: float
    bias: float
    n_rows: float

    @property
    def complexity(self) -> float:
        """`R^2 Lambda^2 / rho^2`, the bias included."""
        return 2.0 * (self.radius**2 * self.norm**2 + self.bias**2)

    @property
    def complexity_term(self) -> float:
        """`R^2 Lambda^2 / rho^2 ln(m)^2 / m`, which c multiplies."""
        return self.complexity * log(self.n_rows) ** 2 / self.n_rows

    @staticmethod
    def confidence(delta: float) -> float:
        """`ln(1 / delta)`: the price of being right with probability `1 - delta`."""
        if not 0 < delta < 1:
            raise InputError(f"delta is a probability between 0 and 1, got {delta!r}.")
        return log(1.0 / delta)

    def value(self, c: float, delta: float) -> float:
        """The bound, for a constant that the caller vouches for."""
        if not c > 0:
            raise InputError(f"The constant of the bound is above 0, got {c!r}.")
        inside = self.complexity_term + self.confidence(delta) / self.n_rows
        return self.margin_errors + sqrt(c * inside)


def margin_error_bound(
    slack: Floats, weight: Floats, diagonal: Floats, norm: float, bias: float, tol: float
) -> MarginErrorBound:
    """The terms for one binary machine.

    Parameters
    ----------
    slack, weight, diagonal : arrays of shape (m,)
        `xi`, weights and `k(x, x)` of the rows.
    norm, bias : float
    tol : float
        A slack up to this is none: unbound support vectors lie on the margin up to it.
    """
    total = float(weight.sum())
    errors = float(weight[slack > tol].sum()) / total
    radius = sqrt(max(float(diagonal.max()), 0.0))
    return MarginErrorBound(errors, radius, norm, bias, total)
