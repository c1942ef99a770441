"""The program without what cannot move: variables sorted by group, objects that matter only.

Variables with equal bounds keep their value, and only their share in the gradient remains. Objects
that no variable and no fixed coefficient refers to (rows of weight zero) are left out, so that no
kernel value of theirs is computed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novum.svm.solver.feasibility import is_ungrouped, with_total
from novum.svm.solver.optimality import Terms
from novum.svm.solver.problem import QuadraticProblem

Floats = NDArray[np.float64]
Positions = NDArray[np.intp]


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
