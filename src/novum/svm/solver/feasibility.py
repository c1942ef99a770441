"""Feasible points: made from nothing, from any given point, and kept feasible against rounding.

    lower <= b <= upper,      sum of b over group g = total_g

A point that is given (the optimum of a neighboring problem, say) is moved to the nearest feasible
one in each group, `b_i = clip(x_i + t, lower_i, upper_i)` with the one `t` that meets the total: a
sum of clipped ramps, increasing in `t`. Without a given point few coefficients are better than
many, as each costs a row of kernel values: variables stay as near to zero as they can, and the
first ones of a group are raised to their bounds until the total is met.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.numerics import Floats, Positions
from novum.svm.solver.optimality import Terms
from novum.svm.solver.problem import UNGROUPED, QuadraticProblem

# Totals are met to some ulps of the largest sum on the way.
_ROUNDING = 1e-12
_HALVINGS = 200


def check_problem(problem: QuadraticProblem, n_rows: int) -> None:
    """Raise `InputError` for a program without feasible points or with broken references."""
    n = len(problem.rows)
    for name in ("linear", "lower", "upper", "groups"):
        if np.shape(getattr(problem, name)) != (n,):
            raise InputError(f"The program has {n} rows but its {name!r} is of another length.")
    if n == 0:
        raise InputError("The program has no variables; give at least one object to learn from.")
    if problem.rows.min() < 0 or problem.rows.max() >= n_rows:
        raise InputError(f"The program names objects beyond the {n_rows} that were prepared.")
    if not (np.isfinite(problem.linear).all() and (problem.lower <= problem.upper).all()):
        raise InputError("The program has linear terms that are not finite, or crossed bounds.")
    for group, total in enumerate(problem.totals):
        inside = problem.groups == group
        least, most = problem.lower[inside].sum(), problem.upper[inside].sum()
        slack = _ROUNDING * max(abs(least), abs(most), 1e-300) if np.isfinite(most - least) else 0.0
        if not least - slack <= total <= most + slack:
            raise InputError(
                f"The coefficients of group {group} cannot add up to {float(total):.6g}: their "
                f"bounds allow {float(least):.6g} to {float(most):.6g}."
            )


def feasible_start(problem: QuadraticProblem, given: Floats | None = None) -> Floats:
    """A feasible point, near to the one given where there is one.

    Examples
    --------
    >>> sphere = QuadraticProblem(np.arange(4), np.zeros(4), np.zeros(4), np.full(4, 0.4),
    ...                           np.zeros(4, int), np.ones(1))
    >>> feasible_start(sphere).round(6)
    array([0.4, 0.4, 0.2, 0. ])
    >>> feasible_start(sphere, np.array([1.0, 0.0, 0.0, 0.0]))
    array([0.4, 0.2, 0.2, 0.2])
    """
    if given is not None:
        if np.shape(given) != problem.linear.shape or not np.isfinite(given).all():
            raise InputError(
                f"A start needs one finite coefficient for each of the {len(problem.linear)} "
                f"variables; got an array of shape {np.shape(given)}."
            )
        b = np.array(given, float)
        if is_ungrouped(problem):
            b = np.clip(b, problem.lower, problem.upper)
    else:
        b = np.clip(np.zeros(len(problem.linear)), problem.lower, problem.upper)
    for group, total in enumerate(problem.totals):
        inside = np.flatnonzero(problem.groups == group)
        if not inside.size:
            continue
        lower, upper = problem.lower[inside], problem.upper[inside]
        if given is None:
            b[inside] = _raised(b[inside], lower, upper, float(total))
        else:
            b[inside] = shifted(b[inside], lower, upper, float(total))
    return b


def _raised(b: Floats, lower: Floats, upper: Floats, total: float) -> Floats:
    """The first variables moved to their bounds until the total is met."""
    missing = total - b.sum()
    room = (upper - b) if missing > 0 else (b - lower)
    before = np.concatenate([[0.0], np.cumsum(room)[:-1]])
    moved = np.clip(abs(missing) - before, 0.0, room)
    # To the bound itself, not to within an ulp of it.
    bound = upper if missing > 0 else lower
    raised = np.where(moved >= room, bound, b + np.copysign(moved, missing))
    return with_total(raised, lower, upper, total)


def least_vertex(problem: QuadraticProblem, g: Floats) -> Floats:
    """The feasible point of least `g'b`: in each group the first variables by `g` are raised.

    Examples
    --------
    >>> sphere = QuadraticProblem(np.arange(4), np.zeros(4), np.zeros(4), np.full(4, 0.4),
    ...                           np.zeros(4, int), np.ones(1))
    >>> least_vertex(sphere, np.array([3.0, 1.0, 2.0, 0.0])).round(6)
    array([0. , 0.4, 0.2, 0.4])
    """
    if is_ungrouped(problem):
        return np.where(g < 0, problem.upper, problem.lower)
    b = problem.lower.copy()
    for group, total in enumerate(problem.totals):
        inside = np.flatnonzero(problem.groups == group)
        inside = inside[np.argsort(g[inside], kind="stable")]
        if inside.size:
            lower, upper = problem.lower[inside], problem.upper[inside]
            b[inside] = _raised(b[inside], lower, upper, float(total))
    return b


def shifted(x: Floats, lower: Floats, upper: Floats, total: float) -> Floats:
    """The nearest point with this total: `clip(x + t, lower, upper)`."""
    inside = np.clip(x, lower, upper)
    if abs(inside.sum() - total) <= _ROUNDING * (np.abs(inside).sum() + abs(total)):
        return with_total(inside, lower, upper, total)
    spread = abs(total) + np.abs(x).sum() + 1.0
    ends = np.concatenate([upper[np.isfinite(upper)], lower[np.isfinite(lower)]])
    spread += np.abs(ends).max(initial=0.0)
    low, high = -spread, spread
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        if np.clip(x + middle, lower, upper).sum() < total:
            low = middle
        else:
            high = middle
    nearest = np.clip(x + high, lower, upper)
    # What is next to a bound only by the shift belongs to it; each coefficient costs a kernel row.
    close = _ROUNDING * np.where(np.isfinite(upper - lower), upper - lower, 0.0)
    nearest = np.where(nearest - lower < close, lower, nearest)
    nearest = np.where(upper - nearest < close, upper, nearest)
    return with_total(nearest, lower, upper, total)


def with_total(b: Floats, lower: Floats, upper: Floats, total: float) -> Floats:
    """`b` with the rounding error of its sum moved into the variables that have room for it."""
    b = b.copy()
    for _ in range(3):
        error = total - b.sum()
        # Below some ulps of the addends the sum cannot be told from the total.
        if abs(error) <= 4e-16 * (np.abs(b).sum() + abs(total)):
            break
        room = np.minimum(b - lower, upper - b)
        k = int(np.argmax(room))
        if room[k] >= abs(error):
            b[k] += error
            break
        reach = (upper - b) if error > 0 else (b - lower)
        k = int(np.argmax(reach))
        b[k] = min(max(b[k] + error, lower[k]), upper[k])
    return b


def is_ungrouped(problem: QuadraticProblem) -> bool:
    """Whether no sums are prescribed."""
    return len(problem.totals) == 0 or bool((problem.groups == UNGROUPED).all())


# --- Programs without what cannot move ------------------------------------------------------------
#
# Variables with equal bounds keep their value, and only their share in the gradient remains.
# Objects that no variable and no fixed coefficient refers to (rows of weight zero) are left out, so
# that no kernel value of theirs is computed.


@dataclass(frozen=True, eq=False)
class Reduction:
    """What moves of a program, and the way back.

    Attributes
    ----------
    terms : Terms
        Of the variables that can move.
    rows : int array of shape (n_movable,)
        Their objects, among `objects`.
    order : int array of shape (n_movable,)
        Which variables of the program they are.
    fixed : float array of shape (n_variables,)
        The values of the others, and zeros.
    objects : int array of shape (n_objects,)
        The prepared objects that matter, ascending.
    fixed_by_object : float array of shape (n_objects,)
        Sums of the fixed coefficients.
    """

    problem: QuadraticProblem
    terms: Terms
    rows: Positions
    order: Positions
    fixed: Floats
    objects: Positions
    fixed_by_object: Floats

    def prepared(self, prepared: Any) -> Any:
        """The prepared objects that matter."""
        everything = len(self.objects) == len(prepared)
        return prepared if everything else prepared.take(self.objects)

    def by_object(self, b: Floats) -> Floats:
        """Sum of the coefficients of each object."""
        moving = np.bincount(self.rows, weights=b, minlength=len(self.objects))
        return moving + self.fixed_by_object

    def restored(self, b: Floats) -> Floats:
        """The coefficients of all variables, their totals met to rounding."""
        terms = self.terms
        everything = self.fixed.copy()
        for group, part in enumerate(terms.segments):
            inside = b[part]
            if terms.is_grouped:
                total = float(terms.totals[group])
                inside = with_total(inside, terms.lower[part], terms.upper[part], total)
            everything[self.order[part]] = inside
        return everything

    def multipliers(self, moving: Floats) -> Floats:
        """As many as the program has totals."""
        return moving if self.terms.is_grouped else np.zeros(len(self.problem.totals))


def reduced(problem: QuadraticProblem, start: Floats) -> Reduction:
    """Leave out what cannot move from the feasible point `start`."""
    moves = problem.lower < problem.upper
    fixed = np.where(moves, 0.0, start)
    grouped = not is_ungrouped(problem)
    groups = problem.groups[moves] if grouped else np.zeros(int(moves.sum()), np.intp)
    order = np.flatnonzero(moves)[np.argsort(groups, kind="stable")]
    n_groups = len(problem.totals) if grouped else 1
    counts = np.bincount(groups, minlength=n_groups)
    totals = np.zeros(1)
    if grouped:
        taken = np.bincount(problem.groups, weights=fixed, minlength=n_groups)
        totals = problem.totals - taken
    matters = moves | (fixed != 0)
    objects, places = np.unique(problem.rows[matters], return_inverse=True)
    place = np.zeros(len(moves), np.intp)
    place[matters] = places
    weights = np.zeros(len(objects))
    np.add.at(weights, place[matters], fixed[matters])
    terms = Terms(
        problem.linear[order],
        problem.lower[order],
        problem.upper[order],
        np.concatenate([[0], np.cumsum(counts)]).astype(np.intp),
        totals,
        grouped,
    )
    return Reduction(problem, terms, place[order], order, fixed, objects, weights)
