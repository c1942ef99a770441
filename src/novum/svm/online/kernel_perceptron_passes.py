"""Training of one binary kernel perceptron, in coefficients of the rows that were mistakes.

    f(x) = sum_i a_i (k(x_i, x) + 1),        a mistake at row i:  a_i <- a_i + t_i

The 1 is the cell of the intercept. The values `f` of all rows are kept up to date, so that a visit
without a mistake costs nothing and one with a mistake adds a column of the kernel matrix; the next
mistake is found by looking at many rows at once. Rules, pocket and stopping are those of
`novum.linear.perceptron.training`, and so are the theorems: Novikoff's bound of the mistakes speaks
of the feature space, where rows have the length `sqrt(k(x, x) + 1)`.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from novum.core.runtime import OutOfTime, check_cancelled, stream
from novum.linear import Proof, Run, Training
from novum.numerics import Floats, Integers
from novum.svm.solver.descent import Budget
from novum.svm.solver.problem import Stopping
from novum.svm.solver.row_cache import KernelRows

# Visits that are looked at together for the next mistake: few at first, then twice as many.
_FIRST_LOOK = 64
# Columns of the kernel matrix that are computed together.
_COLUMNS = 32
# A matrix up to this size is computed as a whole; of a larger one most columns are never needed.
_WHOLE_BYTES = 2**25


class DualVisits(NamedTuple):
    """What a binary kernel perceptron learns from.

    Attributes
    ----------
    objects : int array of shape (g,)
        Which of the m objects each visit is to.
    sign, weight : arrays of shape (g,)
        Side (-1 or +1) and weight of each visit.
    """

    objects: Integers
    sign: Floats
    weight: Floats

    @property
    def total(self) -> float:
        return float(self.weight.sum())

    def error(self, values: Floats) -> float:
        """Weight of the visits to rows that are not strictly on their side."""
        return float(self.weight[~(self.sign * values[self.objects] > 0)].sum())


class Columns:
    """Columns of the kernel matrix plus the constant, kept under a budget of memory.

    Parameters
    ----------
    prepared : Prepared
        m objects.
    constant : float
        1 with an intercept, 0 without.
    budget : int
        Bytes for columns; at least one block of them is held.
    """

    def __init__(self, prepared: Any, constant: float, budget: int) -> None:
        whole = min(budget, _WHOLE_BYTES)
        self.rows = KernelRows(prepared, whole)
        self.constant = constant
        self.diagonal = self.rows.diagonal + constant
        self.holds_all = 8 * len(prepared) ** 2 <= whole
        self.capacity = max(_COLUMNS, budget // (8 * max(1, len(prepared))))
        self._kept: OrderedDict[int, Floats] = OrderedDict()

    def __len__(self) -> int:
        return self.rows.n_rows

    def column(self, number: int, soon: Integers) -> Floats:
        """`k(x, x_number)` of all objects; `soon` are those likely to be asked for next."""
        if self.holds_all:
            return np.asarray(self.rows.gram()[number])
        if number not in self._kept:
            absent = [number, *(i for i in soon.tolist() if i != number and i not in self._kept)]
            chosen = np.array(absent[:_COLUMNS])
            block = self.rows.prepared.take(chosen).cross(self.rows.prepared, np.float64)
            while len(self._kept) > self.capacity - len(chosen) and self._kept:
                self._kept.popitem(last=False)
            self._kept.update(zip(chosen.tolist(), block, strict=True))
        self._kept.move_to_end(number)
        return self._kept[number]

    def values(self, a: Floats) -> Floats:
        """`sum_i a_i (k(x_i, x) + constant)` of all objects."""
        used = np.flatnonzero(a)
        return self.rows.product(used, a[used]) + self.constant * float(a.sum())


@dataclass
class DualState:
    """Coefficients under way.

    Attributes
    ----------
    a, lag, count : arrays of shape (m,)
        Coefficients; what their mean lags behind, times the weight visited; moves of each object.
    values : array of shape (m,)
        Of the function at all objects.
    pocket : array of shape (m,)
        The best coefficients seen.
    """

    a: Floats
    lag: Floats
    count: Floats
    values: Floats
    pocket: Floats
    pocket_error: float
    mistakes: float = 0.0
    visited: float = 0.0
    run: float = 0.0
    longest: float = 0.0

    @classmethod
    def zero(cls, m: int, visits: DualVisits) -> DualState:
        a, lag, count, values, pocket = np.zeros((5, m))
        return cls(a, lag, count, values, pocket, visits.error(values))

    def offer(self, error: float) -> None:
        """Puts the present coefficients into the pocket if they are better."""
        if error < self.pocket_error:
            self.pocket_error, self.pocket = error, self.a.copy()

    def mean(self) -> Floats:
        return self.a - self.lag / self.visited if self.visited > 0 else self.a.copy()


@dataclass(frozen=True, eq=False)
class DualRun:
    """A finished training.

    Attributes
    ----------
    run : Run
        Of `novum.linear`; its weights are coefficients of the m objects.
    proof : Proof
    moves : array of shape (m,)
        How often each object was a mistake that moved its coefficient.
    """

    run: Run
    proof: Proof
    moves: Floats


# --- The training ---------------------------------------------------------------------------------


def train_dual(
    columns: Columns,
    visits: DualVisits,
    training: Training,
    root: Any,
    max_seconds: float | None = None,
) -> DualRun:
    """Passes until the rows are separated, nothing is gained, or a limit is reached.

    Examples
    --------
    >>> from novum.kernels.vectors.linear import Linear
    >>> columns = Columns(Linear().prepare(np.array([[-1.0], [2.0]])), 1.0, 10**6)
    >>> visits = DualVisits(np.arange(2), np.array([-1.0, 1.0]), np.ones(2))
    >>> found = train_dual(columns, visits, Training("stochastic", 1.0, 100, None, 5), 0)
    >>> found.run.stopped_by, found.run.error
    ('separated', 0.0)
    """
    budget, state = Budget(Stopping(max_seconds=max_seconds)), DualState.zero(len(columns), visits)
    columns.rows.check = budget.check
    trace: list[float] = []
    best, idle, stopped_by = np.inf, 0, "max_iter"
    for number in range(training.max_passes):
        before = state.mistakes
        order = _order(visits, training, root, number)
        is_whole = True
        try:
            _pass(columns, visits, training, order, state, budget)
        except OutOfTime:
            is_whole = False
        error = visits.error(state.values)
        state.offer(error)
        trace.append(state.pocket_error / visits.total)
        if error == 0 or (is_whole and state.mistakes == before):
            stopped_by = "separated"
            break
        if budget.spent(0) is not None:
            stopped_by = "max_seconds"
            break
        gained = not np.isfinite(best) or best - trace[-1] > (training.tol or 0.0)
        best, idle = (trace[-1], 0) if gained else (best, idle + 1)
        if training.tol is not None and idle >= training.patience:
            stopped_by = "no_gain"
            break
    left = training.max_passes - len(trace) if stopped_by == "separated" else 0
    try:
        return _finished(columns, visits, training, state, tuple(trace), stopped_by, left)
    except OutOfTime:
        return _unproved(columns, visits, training, state, tuple(trace))


def _order(visits: DualVisits, training: Training, root: Any, number: int) -> Integers:
    if training.shuffle and training.rule != "batch":
        return stream(root, "pass", number).permutation(len(visits.objects)).astype(np.int64)
    return np.arange(len(visits.objects))


def _pass(
    columns: Columns,
    visits: DualVisits,
    training: Training,
    order: Integers,
    state: DualState,
    budget: Budget,
) -> None:
    check_cancelled()
    if training.rule == "batch":
        _batch_pass(columns, visits, training.rate, state, budget)
    else:
        _visit_all(columns, visits, training.rate, order, state, budget)


def _visit_all(
    columns: Columns,
    visits: DualVisits,
    rate: float,
    order: Integers,
    state: DualState,
    budget: Budget,
) -> None:
    at, look = 0, _FIRST_LOOK
    while at < len(order):
        budget.check()
        seen = order[at : at + look]
        wrong = ~(visits.sign[seen] * state.values[visits.objects[seen]] > 0)
        first = int(np.argmax(wrong))
        if not wrong[first]:
            passed = float(visits.weight[seen].sum())
            state.run += passed
            state.visited += passed
            at, look = at + len(seen), 2 * look
            continue
        passed = float(visits.weight[seen[:first]].sum())
        state.run += passed
        state.visited += passed
        _correct(columns, visits, rate, int(seen[first]), visits.objects[seen[wrong]], state)
        at, look = at + first + 1, _FIRST_LOOK


def _correct(
    columns: Columns, visits: DualVisits, rate: float, visit: int, soon: Integers, state: DualState
) -> None:
    """One mistake: its coefficient moves until the row is right, or its weight is used up."""
    if state.run > 1.5 * state.longest:
        state.longest = state.run
        state.offer(visits.error(state.values))
    number, sign = int(visits.objects[visit]), float(visits.sign[visit])
    weight, square = float(visits.weight[visit]), rate * float(columns.diagonal[number])
    whole = float(np.floor(weight))
    margin = sign * float(state.values[number])
    needed = float(np.floor(-margin / square)) + 1 if square > 0 else whole
    step = needed if needed <= whole else weight
    amount = rate * step * sign
    state.a[number] += amount
    state.lag[number] += state.visited * amount
    state.count[number] += step
    state.values += amount * columns.column(number, soon)
    state.values += amount * columns.constant
    state.mistakes += step
    state.run = 0.0
    state.visited += weight


def _batch_pass(
    columns: Columns, visits: DualVisits, rate: float, state: DualState, budget: Budget
) -> None:
    """All mistakes of the present coefficients at once."""
    budget.check()
    wrong = ~(visits.sign * state.values[visits.objects] > 0)
    steps = np.where(wrong, visits.weight, 0.0)
    m = len(columns)
    amount = np.bincount(visits.objects, rate * steps * visits.sign, m).astype(float)
    values = columns.values(amount)
    state.a += amount
    state.lag += state.visited * amount
    state.count += np.bincount(visits.objects, steps, m)
    state.values += values
    state.mistakes += float(steps.sum())
    state.visited += visits.total


# --- The end --------------------------------------------------------------------------------------


def _finished(
    columns: Columns,
    visits: DualVisits,
    training: Training,
    state: DualState,
    trace: tuple[float, ...],
    stopped_by: str,
    passes_left: int,
) -> DualRun:
    if training.rule == "averaged":
        _average_on(columns, visits, state, passes_left)
    mean = state.mean()
    answer = mean if training.rule == "averaged" else state.pocket
    # Judged by values that were summed anew, so that no proof rests on sums of many steps.
    values = columns.values(answer)
    error = visits.error(values)
    separating, its_values = (answer, values) if error == 0 else (None, values)
    if separating is None and state.pocket_error == 0:
        its_values = columns.values(state.pocket)
        separating = state.pocket if visits.error(its_values) == 0 else None
    run = Run(
        answer, state.a, mean, state.visited, state.mistakes, error, separating, trace, stopped_by
    )
    return DualRun(run, _proof(columns, visits, training, run, its_values), state.count)


def _unproved(
    columns: Columns,
    visits: DualVisits,
    training: Training,
    state: DualState,
    trace: tuple[float, ...],
) -> DualRun:
    """What is known where no time is left to sum values anew: nothing is proved by it."""
    averaged, mean = training.rule == "averaged", state.mean()
    answer = mean if averaged else state.pocket
    # The values of a mean were never computed; all that is known of its error is a bound.
    error = visits.total if averaged else state.pocket_error
    run = Run(
        answer, state.a, mean, state.visited, state.mistakes, error, None, trace, "max_seconds"
    )
    return DualRun(run, Proof(_radius(columns, visits), None, None, None), state.count)


def _average_on(columns: Columns, visits: DualVisits, state: DualState, passes: int) -> None:
    """Passes without a mistake change nothing but the mean: twice as many until it separates."""
    behind, done = columns.values(state.lag), 0
    while done < passes and visits.error(state.values - behind / state.visited) > 0:
        more = min(max(1, done), passes - done)
        state.visited += more * visits.total
        done += more


def _proof(
    columns: Columns, visits: DualVisits, training: Training, run: Run, values: Floats
) -> Proof:
    """Novikoff's numbers in the feature space; see `novum.linear.perceptron.proof`."""
    radius = _radius(columns, visits)
    ceiling = None
    if run.mistakes > 0:
        last = columns.values(run.last)
        ceiling = float(np.sqrt(max(float(run.last @ last), 0.0))) / (training.rate * run.mistakes)
    if run.separating is None:
        return Proof(radius, None, ceiling, None)
    length = float(np.sqrt(max(float(run.separating @ values), 0.0)))
    margin = float((visits.sign * values[visits.objects]).min()) / length
    bound = (radius / margin) ** 2 if margin > 0 else None
    if bound is not None and training.rule == "batch":
        bound *= visits.total
    return Proof(radius, margin, ceiling, bound)


def _radius(columns: Columns, visits: DualVisits) -> float:
    """The length of the longest row in the feature space."""
    return float(np.sqrt(max(float(columns.diagonal[visits.objects].max()), 0.0)))
