"""The one quadratic program behind the family, and what solving it gives.

In signed coefficients `b` of the expansion `f(x) = sum_i b_i k(x_i, x)`,

    min over b   b'Kb / 2 + p'b     so that   lower <= b <= upper,
                                              sum of b over group g = total_g for every group

    classification   one variable a row, p = -y, between 0 and y C_i, one group with total 0
    nu-classification        p = 0, one group for each of the two classes, totals nu / 2 and -nu / 2
    regression       two variables a row: [0, C], p = epsilon - y, and [-C, 0], p = -epsilon - y
    one class        p = 0, [0, 1 / (nu n)], total 1;   sphere: p = -k(x, x) / 2
    ranking          one variable a pair of rows, p = -1, [0, C], no group (no bias)

With the gradient `g = Kb + p` and a multiplier `rho` for each group, every feasible `b` has

    gap = sum_i  (g_i - rho_i) b_i - min over c in [lower_i, upper_i] of (g_i - rho_i) c  >=  0,

which is the primal objective minus the dual one at the best bias: a bound of the distance to the
optimum that needs no knowledge of the optimum.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from novum.numerics import Floats, Positions

UNGROUPED = -1


@dataclass(frozen=True, eq=False)
class QuadraticProblem:
    """The quadratic program; see the formula above.

    Attributes
    ----------
    rows : int array of shape (n_variables,)
        Which prepared object each variable is the coefficient of.
    linear, lower, upper : float arrays of shape (n_variables,)
        `lower <= 0 <= upper` need not hold; `upper` may be infinite (hard margins).
    groups : int array of shape (n_variables,)
        The group of each variable, from 0 without gaps, or all `UNGROUPED`: no sum is prescribed.
    totals : float array of shape (n_groups,)
    start : float array of shape (n_variables,), optional
        A feasible point to begin from; by default the solver makes one.
    """

    rows: Positions
    linear: Floats
    lower: Floats
    upper: Floats
    groups: Positions
    totals: Floats
    start: Floats | None = None


@dataclass(frozen=True)
class Stopping:
    """When a fit ends.

    Attributes
    ----------
    tol : float
        Relative duality gap: `gap <= tol * max(|primal|, |dual|)`.
    max_iter : int or None
        Steps of the solver.
    max_seconds : float or None
        Wall-clock time.
    violation : float
        Largest violation of the Karush-Kuhn-Tucker conditions, relative to the size of decision
        values: it bounds the error of each of them, where the gap bounds that of their sum. It is
        aimed at when the gap is met, as long as budget and arithmetic allow.
    """

    tol: float = 1e-3
    max_iter: int | None = None
    max_seconds: float | None = None
    violation: float = float("inf")


@dataclass(frozen=True, eq=False)
class Solution:
    """A feasible point with its proof.

    Attributes
    ----------
    coefficients : float array of shape (n_variables,)
        `b`; entries at a bound equal it, one of a group perhaps up to rounding of their sum.
    gradient : float array of shape (n_variables,)
        `Kb + p`; similarities may be of single precision where `tol` allows it.
    multipliers : float array of shape (n_groups,)
        `rho`: the mean of the gradient over a group's unbound variables, or the middle of the
        admissible interval where a group has none; where the gap at these is not yet within the
        tolerance, the ones that make it least.
    value : float
        The minimized objective at `b`; the maximized dual is `-value`.
    gap : float
        Absolute, at `multipliers`; of hard margins, of the point stretched to keep them. Infinite
        where time ran out before anything was known. Where similarities were of single
        precision it includes the `allowance`.
    allowance : float
        The part of the gap that is estimated, not proved: what errors of single precision may
        change, from a sample of objects. 0 where products are of double precision.
    violation : float
        The largest violation of the Karush-Kuhn-Tucker conditions at `multipliers`.
    iterations : int
    stopped_by : str or None
        None where the tolerance was met, else "max_iter", "max_seconds", "precision" (no
        progress is possible in the arithmetic) or "infeasible" (hard margins on classes that
        overlap: the objective is unbounded, and `coefficients` is a direction that proves it).
    trace : tuple of float
        The objective after each round.
    """

    coefficients: Floats
    gradient: Floats
    multipliers: Floats
    value: float
    gap: float
    violation: float
    iterations: int
    stopped_by: str | None = None
    trace: tuple[float, ...] = field(default=())
    allowance: float = 0.0
