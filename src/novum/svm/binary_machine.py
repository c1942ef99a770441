"""One hyperplane between two classes: from its quadratic program to margins and slacks.

    f(x) = sum_i b_i k(x_i, x) + bias

In soft margins the multiplier of the sum of coefficients is minus the bias. In nu-classification
each class has a multiplier, `rho - bias` and `-rho - bias`; the machine is divided by `rho`, so
that its margin is at 1 like all others.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.core.runtime import RandomSource, stream
from novum.core.text import label_text
from novum.numerics import (
    Floats,
    IsotonicMap,
    Mask,
    Positions,
    SigmoidMap,
    cached_property,
    couple_least_squares,
    fit_isotonic,
    fit_sigmoid,
    normalize_one_vs_rest,
)
from novum.svm.kernel_machine import expand
from novum.svm.solver import problems
from novum.svm.solver.problem import QuadraticProblem, Solution, Stopping
from novum.svm.solver.solving import solve
from novum.svm.solver.vanishing import VANISHING, VanishingMarginWarning, solve_or_vanish

# A margin of so many units in the last place of what it is computed from is none.
_ROUNDING = 8 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class BinaryMachine:
    """A fitted hyperplane, as of the m objects it was fitted to.

    Attributes
    ----------
    sign : array of shape (m,), -1 or 1
    problem : QuadraticProblem
    solution : Solution
        Before any scaling.
    bias : float
        Of the same scale.
    scale : float
        What the solution is multiplied by, so that the margin is at 1.
    """

    sign: Floats
    problem: QuadraticProblem
    solution: Solution
    bias: float
    scale: float = 1.0

    @cached_property
    def coefficients(self) -> Floats:
        """Signed, of shape (m,)."""
        return self.scale * self.solution.coefficients

    @property
    def intercept(self) -> float:
        """The bias of the scaled machine."""
        return self.scale * self.bias

    @cached_property
    def _expansion(self) -> Floats:
        """Values of the solution at its objects, without the bias."""
        return self.solution.gradient - self.problem.linear

    @cached_property
    def squared_norm(self) -> float:
        """`|w|^2`."""
        return self.scale * (self.scale * float(self.solution.coefficients @ self._expansion))

    @property
    def norm(self) -> float:
        """`|w|`."""
        return sqrt(max(self.squared_norm, 0.0))

    @property
    def margin(self) -> float:
        """`1 / |w|`, infinite where `w` is zero."""
        return 1.0 / self.norm if self.squared_norm > 0 else float(np.inf)

    @cached_property
    def slack(self) -> Floats:
        """By how much objects miss the margin, of shape (m,)."""
        values = self.scale * (self._expansion + self.bias)
        return np.maximum(1.0 - self.sign * values, 0.0)

    @property
    def bound(self) -> Mask:
        """Support objects whose coefficient is as large as their weight allows, of shape (m,)."""
        b, problem = self.solution.coefficients, self.problem
        at_end = np.where(self.sign > 0, b >= problem.upper, b <= problem.lower)
        return np.asarray(at_end & (b != 0))

    @property
    def violation(self) -> float:
        """By how much decision values miss the conditions of optimality at most."""
        return self.scale * self.solution.violation


@dataclass(frozen=True, eq=False)
class BinaryTask:
    """What one machine is fitted to.

    Attributes
    ----------
    objects : Prepared
        Of the fit.
    sign : array of shape (m,), -1 or 1
    weight : array of shape (m,)
        What slack costs, relative to C.
    count : array of shape (m,)
        How often each object was seen: the same without weights of classes.
    labels : pair of labels
        Of the negative and of the positive class, for messages.
    rows : int array of shape (m,), optional
        Which objects are the machine's; all, if absent.
    """

    objects: Any
    sign: Floats
    weight: Floats
    count: Floats
    labels: tuple[object, object]
    rows: Positions | None = None

    @cached_property
    def prepared(self) -> Any:
        """The m objects of the machine."""
        return self.objects if self.rows is None else self.objects.take(self.rows)


def soft_program(task: BinaryTask, C: float) -> QuadraticProblem:
    """The program of `soft_margin`."""
    return problems.classification(task.sign, C * task.weight)


def nu_program(task: BinaryTask, nu: float) -> QuadraticProblem:
    """The program of `nu_margin`."""
    largest = problems.feasible_nu(task.sign, task.weight)
    return problems.nu_classification(task.sign, task.weight, min(nu, largest))


def soft_margin(
    task: BinaryTask,
    problem: QuadraticProblem,
    stopping: Stopping,
    cache_bytes: int,
    start: Floats | None = None,
    solution: Solution | None = None,
) -> BinaryMachine:
    """The hyperplane of largest margin, by its `soft_program`.

    `solution` is the solution, where that is known already.

    Raises
    ------
    InputError
        If margins are hard and the classes overlap.
    """
    if solution is None:
        solution = solve(task.prepared, problem, stopping, cache_bytes=cache_bytes, start=start)
    if solution.stopped_by == "infeasible":
        raise _overlap(task.labels)
    return BinaryMachine(task.sign, problem, solution, -float(solution.multipliers[0]))


def nu_margin(
    task: BinaryTask,
    problem: QuadraticProblem,
    nu: float,
    stopping: Stopping,
    cache_bytes: int,
    start: Floats | None = None,
    solution: Solution | None = None,
) -> BinaryMachine:
    """The hyperplane with at most the share `nu` of margin errors, or the largest feasible one.

    If weights of classes are what makes it infeasible, all rows of the lighter class are margin
    errors, nothing ties the width of the margin to them, and it is taken as wide as puts them all
    on the other class's side. `problem` is its `nu_program`, and `solution` the solution of that,
    where it is known already.
    """
    if solution is None:
        solution = solve_or_vanish(
            task.prepared, problem, stopping, cache_bytes=cache_bytes, start=start
        )
    bias, rho = _bias_and_width(task, nu, solution)
    if not rho > _ROUNDING * _size_of_sums(task, solution):
        rho = 1.0
        if solution.stopped_by in (None, "precision"):
            solution = replace(solution, stopped_by=VANISHING)
    if solution.stopped_by == VANISHING:
        share = min(nu, problems.feasible_nu(task.sign, task.weight))
        warnings.warn(
            f"nu={share:.6g} is so small that the best margin between classes "
            f"{label_text(task.labels[0])} and {label_text(task.labels[1])} is zero: their rows "
            "are mixed, and no hyperplane leaves so few of them on the wrong side. Choose a larger "
            "nu.",
            VanishingMarginWarning,
            stacklevel=7,
        )
    return BinaryMachine(task.sign, problem, solution, bias, 1.0 / rho)


def _bias_and_width(task: BinaryTask, nu: float, solution: Solution) -> tuple[float, float]:
    """`bias` and `rho` from the multipliers of the two classes."""
    largest = problems.feasible_nu(task.sign, task.weight)
    gives_way = min(nu, problems.feasible_nu(task.sign, task.count)) > largest * (1 + 1e-9)
    above, below = (float(r) for r in solution.multipliers)
    if gives_way:
        positive = task.sign > 0
        if task.weight[positive].sum() < task.weight[~positive].sum():
            above = 2 * float(solution.gradient[positive].max()) - below
        else:
            below = 2 * float(solution.gradient[~positive].min()) - above
    return -(above + below) / 2, (above - below) / 2


def _size_of_sums(task: BinaryTask, solution: Solution) -> float:
    """The most that the addends of a value of the gradient can come to."""
    largest = float(np.max(task.prepared.diagonal(), initial=0.0))
    return largest * float(np.abs(solution.coefficients).sum())


def _overlap(labels: tuple[object, object]) -> InputError:
    return InputError(
        f"Hard margins (C=inf) are infeasible: no hyperplane of this kernel separates classes "
        f"{label_text(labels[0])} and {label_text(labels[1])}, whose convex hulls meet in the "
        "feature space. Choose a finite C, or a kernel with more freedom."
    )


# --- Probabilities --------------------------------------------------------------------------------
#
#     P(positive | x) = g(f(x)),     g a sigmoid (Platt 1999) or any function that never falls
#
# Support vectors of the training rows lie on the margin by construction, so `g` is fitted to
# decision values of five machines, each trained without the rows it is asked about. Objects are
# dealt to the folds class by class, so that every fold has its share of each; rows that are equal
# are one object and never stand on both sides. The pairs of many classes are coupled by least
# squares (Wu, Lin and Weng 2004); classes against the rest are normalized.


ScoreMap = SigmoidMap | IsotonicMap
FitParts = Callable[[list[Positions], list[BinaryTask]], list[BinaryMachine]]

N_FOLDS = 5


def fit_map(
    task: BinaryTask,
    fit: FitParts,
    method: str,
    random_state: RandomSource = None,
    kinds: Positions | None = None,
) -> ScoreMap:
    """The map from decision values of one machine to probabilities of its positive class.

    Parameters
    ----------
    task : BinaryTask
    fit : callable
        From some of the objects for each of several parts, and these parts, to their machines.
    method : {"sigmoid", "isotonic"}
    random_state : None, int or generator
        None deals objects to folds in the order of the task, which is that of digests of the rows
        of a table (`novum.svm.objects`), so that the folds do not depend on the
        order of the table, and for precomputed similarities and other objects the given one.
        Anything else shuffles them before.
    kinds : int array, optional
        Which objects are equal; of either class, they are held out together.
    """
    scores = held_out_scores(task, fit, folds_of(task.sign, random_state, kinds))
    positive = (task.sign > 0).astype(float)
    fitted = fit_sigmoid if method == "sigmoid" else fit_isotonic
    return fitted(scores, positive, task.count)


def folds_of(
    sign: Floats, random_state: RandomSource = None, kinds: Positions | None = None
) -> Positions:
    """The fold of every object, dealt class by class; equal ones are in the fold of the first.

    An object whose equal of the other class is learned from would be taken for that class.

    Examples
    --------
    >>> folds_of(np.array([1.0, 1.0, -1.0, 1.0, -1.0])).tolist()
    [2, 3, 0, 4, 1]
    >>> folds_of(np.array([1.0, -1.0, -1.0]), kinds=np.array([7, 5, 7])).tolist()
    [2, 0, 2]
    """
    folds = np.empty(len(sign), np.intp)
    dealt = 0
    for side in (-1.0, 1.0):
        rows = np.flatnonzero(sign == side)
        if random_state is not None:
            rows = stream(random_state, "folds", int(side > 0)).permutation(rows)
        folds[rows] = (dealt + np.arange(len(rows))) % N_FOLDS
        dealt += len(rows)
    if kinds is not None:
        _, first, place = np.unique(kinds, return_index=True, return_inverse=True)
        folds = folds[first][place]
    return folds


def held_out_scores(task: BinaryTask, fit: FitParts, folds: Positions) -> Floats:
    """For every object the decision value of a machine that was fitted without it."""
    scores = np.zeros(len(folds))
    outs, rows = [], []
    for fold in np.unique(folds):
        out, others = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
        sides = task.sign[others]
        if len(others) and (sides != sides[0]).any():
            outs.append(out)
            rows.append(others)
        elif len(others):
            # All that is known without a class is the other one, at its margin.
            scores[out] = sides[0]
    parts = [
        replace(
            task,
            objects=task.prepared,
            rows=chosen,
            sign=task.sign[chosen],
            weight=task.weight[chosen],
            count=task.count[chosen],
        )
        for chosen in rows
    ]
    for out, part, machine in zip(outs, parts, fit(rows, parts), strict=True):
        kept = np.flatnonzero(machine.coefficients)
        new, support = task.prepared.take(out), part.prepared.take(kept)
        sums = expand(new, support, machine.coefficients[np.newaxis, kept])
        scores[out] = sums[:, 0] + machine.intercept
    return scores


def probabilities(maps: Sequence[ScoreMap], margins: Floats, *, paired: bool) -> Floats:
    """Probabilities of all classes, of shape (n, K), each row summing to one.

    Parameters
    ----------
    maps : sequence of maps
        Of the machines.
    margins : array of shape (n, n_members)
        Their decision values.
    paired : bool
        Whether the machines stand for pairs of classes; a single one does.
    """
    columns = np.column_stack([g.predict(margins[:, k]) for k, g in enumerate(maps)])
    if paired:
        first = np.column_stack([_other(g, margins[:, k]) for k, g in enumerate(maps)])
        return couple_least_squares(columns, first).probabilities
    with np.errstate(divide="ignore"):
        return normalize_one_vs_rest(np.log(columns))


def _other(fitted: ScoreMap, scores: Floats) -> Floats:
    """The probability of the negative class, to all its digits where the map allows."""
    if isinstance(fitted, SigmoidMap):
        return SigmoidMap(-fitted.slope, -fitted.intercept).predict(scores)
    return np.asarray(1.0 - fitted.predict(scores))
