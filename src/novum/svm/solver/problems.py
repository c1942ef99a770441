"""The members of the family as quadratic programs.

Every member is one `QuadraticProblem` in signed coefficients `b` of the expansion. Weights `w`
count how often a row stands in the table, so the price of a row's slack is `C w`:

    classification       |w|^2 / 2 + C sum w_i xi_i,          y_i f(x_i) >= 1 - xi_i
    nu-classification    |w|^2 / 2 - nu rho + sum w_i xi_i / W,    y_i f(x_i) >= rho - xi_i
    regression           |w|^2 / 2 + C sum w_i xi_i,          |y_i - f(x_i)| <= epsilon + xi_i
    nu-regression        the same with epsilon free, at the price C nu W epsilon
    one class            |w|^2 / 2 - rho + sum w_i xi_i / (nu W),  <w, phi(x_i)> >= rho - xi_i
    sphere               R^2 + C sum w_i xi_i,                |phi(x_i) - o|^2 <= R^2 + xi_i

`W` is the sum of the weights. References: Schoelkopf and Smola, Learning with Kernels (2002),
chapters 7 to 9; Chang and Lin, LIBSVM (2011), section 2; Tax and Duin (2004).
"""

from __future__ import annotations

import numpy as np

from novum.core.errors import InputError
from novum.core.text import label_text
from novum.numerics import Floats
from novum.svm.solver.problem import QuadraticProblem

# A share that is exceeded by rounding only is not exceeded.
ROUNDING = 1e-12


# --- Two classes ----------------------------------------------------------------------------------


def classification(sign: Floats, price: Floats) -> QuadraticProblem:
    """Soft margins; hard ones where the price of slack is infinite.

    Parameters
    ----------
    sign : array of shape (m,), -1 or 1
    price : array of shape (m,)
        `C w`, above zero.

    Examples
    --------
    >>> classification(np.array([1.0, -1.0]), np.array([2.0, 3.0])).lower.tolist()
    [0.0, -3.0]
    """
    end = sign * price
    return QuadraticProblem(
        rows=np.arange(len(sign)),
        linear=-sign,
        lower=np.minimum(end, 0.0),
        upper=np.maximum(end, 0.0),
        groups=np.zeros(len(sign), np.intp),
        totals=np.zeros(1),
    )


def nu_classification(sign: Floats, weight: Floats, nu: float) -> QuadraticProblem:
    """Margins of which at most the share `nu` is broken; `nu` must be `feasible_nu` at most.

    Examples
    --------
    >>> nu_classification(np.array([1.0, -1.0]), np.ones(2), 0.5).totals.tolist()
    [0.25, -0.25]
    """
    positive, share = sign > 0, weight / weight.sum()
    return QuadraticProblem(
        rows=np.arange(len(sign)),
        linear=np.zeros(len(sign)),
        lower=np.where(positive, 0.0, -share),
        upper=np.where(positive, share, 0.0),
        groups=np.where(positive, 0, 1).astype(np.intp),
        totals=np.array([nu / 2, -nu / 2]),
    )


def feasible_nu(sign: Floats, weight: Floats) -> float:
    """The largest `nu`: twice the share of the smaller class.

    Examples
    --------
    >>> feasible_nu(np.array([1.0, -1.0, -1.0, -1.0]), np.ones(4))
    0.5
    """
    positive = float(weight[sign > 0].sum())
    total = float(weight.sum())
    return min(2.0 * min(positive, total - positive) / total, 1.0)


def check_nu(nu: float, sign: Floats, weight: Floats, labels: tuple[object, object]) -> None:
    """Refuses a `nu` that no point satisfies, and says the largest that some point does.

    Parameters
    ----------
    nu : float
    sign, weight : arrays of shape (m,)
    labels : pair of labels
        Of the negative and of the positive class.
    """
    largest = feasible_nu(sign, weight)
    if nu <= largest * (1 + ROUNDING):
        return
    smaller = labels[0] if weight[sign < 0].sum() <= weight[sign > 0].sum() else labels[1]
    raise InputError(
        f"specified nu is infeasible: nu={nu:.6g} is more than twice the share of class "
        f"{label_text(smaller)} among classes {label_text(labels[0])} and "
        f"{label_text(labels[1])}. Choose nu of at most {_floored(largest)}."
    )


def _floored(value: float) -> str:
    """Six digits that do not exceed the value."""
    digits = 10.0**6
    return f"{np.floor(value * digits) / digits:.6g}"


# --- Numbers --------------------------------------------------------------------------------------


def regression(target: Floats, price: Floats, epsilon: float) -> QuadraticProblem:
    """A tube of half-width `epsilon`; the first m variables are those of targets above it.

    Examples
    --------
    >>> regression(np.array([3.0]), np.array([2.0]), 0.5).linear.tolist()
    [-2.5, -3.5]
    """
    m = len(target)
    nothing = np.zeros(m)
    return QuadraticProblem(
        rows=np.tile(np.arange(m), 2),
        linear=np.concatenate([epsilon - target, -epsilon - target]),
        lower=np.concatenate([nothing, -price]),
        upper=np.concatenate([price, nothing]),
        groups=np.zeros(2 * m, np.intp),
        totals=np.zeros(1),
    )


def nu_regression(target: Floats, price: Floats, nu: float) -> QuadraticProblem:
    """A tube as wide as leaves at most the share `nu` of the rows outside.

    Examples
    --------
    >>> nu_regression(np.array([3.0, 4.0]), np.ones(2), 0.5).totals.tolist()
    [0.5, -0.5]
    """
    m = len(target)
    tube = regression(target, price, 0.0)
    half = nu * float(price.sum()) / 2
    return QuadraticProblem(
        rows=tube.rows,
        linear=tube.linear,
        lower=tube.lower,
        upper=tube.upper,
        groups=np.repeat(np.arange(2, dtype=np.intp), m),
        totals=np.array([half, -half]),
    )


# --- One class ------------------------------------------------------------------------------------


def one_class(weight: Floats, nu: float) -> QuadraticProblem:
    """The hyperplane farthest from the origin with at most the share `nu` below it.

    Examples
    --------
    >>> one_class(np.ones(4), 0.5).upper.tolist()
    [0.5, 0.5, 0.5, 0.5]
    """
    return QuadraticProblem(
        rows=np.arange(len(weight)),
        linear=np.zeros(len(weight)),
        lower=np.zeros(len(weight)),
        upper=weight / (nu * weight.sum()),
        groups=np.zeros(len(weight), np.intp),
        totals=np.ones(1),
    )


def sphere(diagonal: Floats, price: Floats) -> QuadraticProblem:
    """The smallest sphere; its objective is twice the program's.

    Parameters
    ----------
    diagonal : array of shape (m,)
        `k(x, x)`.
    price : array of shape (m,)
        `C w`; a center needs prices that sum to one at least.

    Examples
    --------
    >>> sphere(np.array([4.0, 1.0]), np.ones(2)).linear.tolist()
    [-2.0, -0.5]
    """
    return QuadraticProblem(
        rows=np.arange(len(price)),
        linear=-diagonal / 2,
        lower=np.zeros(len(price)),
        upper=price,
        groups=np.zeros(len(price), np.intp),
        totals=np.ones(1),
    )
