"""Driver of iterative fits over sums: EM, Lloyd's algorithm, Newton's method and their kin.

    statistics_t = sum over chunks of step(params_t, chunk)
    value_t      = objective(params_t, statistics_t)
    params_t+1   = update(params_t, statistics_t)

A learner says these three things in a `SumProblem`; where the sum is computed (in memory, over a
stream, a file, a cluster) is the business of the callable `total`. The driver does the rest once
for all learners: it checks that the objective never falls (EM and Lloyd guarantee it, so a fall is
a defect and not noise), shortens steps that a learner allows to shorten, extrapolates and falls
back, restarts from independent random streams and keeps the best, stops by tolerance, count, time,
deadline or Ctrl-C, and writes the certificate. It never touches the estimator.

The value returned belongs to the parameters returned: both come from the same pass.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Generic, Literal

import numpy as np

from novum.core.errors import InputError
from novum.core.learners import Certificate, Stopwatch, Verdict
from novum.core.runtime import (
    SILENT,
    OutOfTime,
    Progress,
    RandomSource,
    is_late,
    seed_sequence,
    stops_at_deadline,
    stream,
)
from novum.core.sums.sum_problem import Acceleration, ObjectiveFallError, P, S, StopRule, SumProblem
from novum.numerics import EPSILON

# Objectives are sums over the rows; two ways to compute one agree to about this share of its size.
ROUNDING = 1e-10
MAX_RETREATS = 40


@dataclass(frozen=True, eq=False)
class Fitted(Generic[P, S]):
    """Parameters, the statistics and the objective under them, and the certificate of the fit."""

    params: P
    statistics: S
    value: float
    certificate: Certificate


# --- The driver -----------------------------------------------------------------------------------


def fit_sums(
    problem: SumProblem[P, S],
    total: Callable[[Callable[[Any], S]], S],
    *,
    stop: StopRule | None = None,
    n_init: int = 1,
    random_state: RandomSource = None,
    acceleration: Callable[[], Acceleration] | None = None,
    progress: Progress = SILENT,
    on_interrupt: Literal["raise", "keep"] = "raise",
    on_fall: Literal["raise", "record"] = "raise",
    map_restarts: Callable[[Callable[[int], Any], Iterable[int]], Iterable[Any]] = map,
) -> Fitted[P, S]:
    """Run an iterative fit to its end and certify it.

    Parameters
    ----------
    problem : SumProblem
        What to fit.
    total : callable
        Given `chunk -> statistics`, returns the sum of the statistics over all chunks.
    stop : StopRule, optional
    n_init : int
        Restarts; restart k draws from the random stream of key k whatever the order.
    random_state : None, int, Generator, RandomState or SeedSequence
    acceleration : callable, optional
        Makes an `Acceleration` for each restart, such as the class `SquaredExtrapolation`. Needs
        `to_vector` and `from_vector`.
    progress : Progress
        Told of every accepted step.
    on_interrupt : {"raise", "keep"}
        What Ctrl-C does: nothing is returned, or the best model so far, marked as stopped early.
    on_fall : {"raise", "record"}
        Whether a worse objective is an error or goes into the certificate as `largest_fall`.
    map_restarts : callable
        Replaces `map` to run restarts elsewhere, in any order.

    Raises
    ------
    ObjectiveFallError
        If a plain step worsens the objective by more than rounding, or makes it NaN.

    Examples
    --------
    The mean as the minimizer of squared error, in one step from the sums of two chunks.

    >>> class Mean(SumProblem):
    ...     objective_name, direction = "squared error", "minimize"
    ...     def start(self, rng): return 0.0
    ...     def step(self, mean, x): return np.array([x.size, x.sum(), ((x - mean)**2).sum()])
    ...     def objective(self, mean, sums): return float(sums[2])
    ...     def update(self, mean, sums): return float(sums[1] / sums[0])
    >>> chunks = [np.array([1.0, 2.0]), np.array([6.0])]
    >>> fitted = fit_sums(Mean(), lambda step: sum(step(chunk) for chunk in chunks))
    >>> fitted.params, fitted.value, fitted.certificate.verdict.value
    (3.0, 14.0, 'local')
    """
    if n_init < 1:
        raise InputError(f"n_init must be at least 1, got {n_init!r}.")
    rule, clock, root = stop or StopRule(), Stopwatch(), seed_sequence(random_state)
    make = partial(
        _Run, problem, total, rule, clock, progress, on_fall=on_fall, keep=on_interrupt == "keep"
    )

    def restart(number: int) -> _Run[P, S] | None:
        if number and (is_late() or _is_spent(rule, clock)):
            return None
        run = make(number, None if acceleration is None else acceleration())
        try:
            run.to_its_end(stream(root, number))
        except OutOfTime:
            return None
        return run

    runs: list[_Run[P, S]] = []
    cut = ""
    try:
        for run in map_restarts(restart, range(n_init)):
            if run is None:
                cut = cut or ("deadline" if is_late() else "max_seconds")
                continue
            runs.append(run)
            if run.stopped_by in ("interrupt", "callback", "max_seconds", "deadline"):
                cut = run.stopped_by
            if cut in ("interrupt", "callback"):
                break
    except KeyboardInterrupt as end:
        is_over = isinstance(end, OutOfTime)
        if not runs or not (is_over or on_interrupt == "keep"):
            raise
        cut = "deadline" if is_over else "interrupt"
    if not runs:
        raise OutOfTime
    # Restarts may have run in threads of their own.
    stops_at_deadline()
    return _best(problem, rule, sorted(runs, key=lambda run: run.number), cut, clock.seconds)


@dataclass(frozen=True, eq=False)
class _Point(Generic[P, S]):
    """Parameters with what one pass over the data says about them."""

    params: P
    statistics: S
    value: float
    scale: float


class _Run(Generic[P, S]):
    """One restart."""

    def __init__(
        self,
        problem: SumProblem[P, S],
        total: Callable[[Callable[[Any], S]], S],
        rule: StopRule,
        clock: Stopwatch,
        progress: Progress,
        number: int,
        method: Acceleration | None,
        *,
        on_fall: str,
        keep: bool,
    ) -> None:
        self.problem, self.total, self.rule, self.clock = problem, total, rule, clock
        self.progress, self.number, self.method = progress, number, method
        self.on_fall, self.keep = on_fall, keep
        self.sign = 1.0 if problem.direction == "maximize" else -1.0
        self.point: _Point[P, S]
        self.best: _Point[P, S]
        self.trace: list[float] = []
        self.stopped_by = ""
        self.evaluations = self.refusals = 0
        self.is_next_plain = False
        self.largest_fall = 0.0

    def to_its_end(self, rng: np.random.Generator) -> None:
        """From a start until a reason to stop, which is left in `stopped_by`."""
        self.point = self.best = self._evaluate(self.problem.start(rng))
        self._require_number(self.point)
        self.trace.append(self.point.value)
        try:
            if self._gap_is_met():
                self.stopped_by = "gap"
            while not self.stopped_by:
                self.stopped_by = self._limit() or self._advance()
        except OutOfTime:
            stops_at_deadline()
            self.stopped_by = "deadline"
        except KeyboardInterrupt:
            if not self.keep:
                raise
            self.stopped_by = "interrupt"

    def _advance(self) -> str:
        """One accepted step; the reason to stop after it, if any."""
        old = self.point
        proposal = self.problem.update(old.params, old.statistics)
        new = None if self.is_next_plain else self._extrapolated(proposal)
        plain = new is None
        if new is None:
            new = self._shortened(self._evaluate(proposal), proposal)
            if new is None:
                return "tol" if self._is_stationary(old) else "stalled"
            self._check_fall(new)
        self.point = new
        self.trace.append(new.value)
        if self._gain(self.best, new) >= 0:
            self.best = new
        wish = self.progress.advance(note=f"{self.problem.objective_name} {new.value:.6g}")
        if self._gap_is_met():
            return "gap"
        # Extrapolated steps are not judged: a tolerance has one meaning with and without them. One
        # that stands still is followed by a plain one that is; otherwise they might never end.
        stands_still = self._stands_still(old, new)
        if plain and stands_still:
            return "tol"
        self.is_next_plain = stands_still
        return "callback" if wish else ""

    def _evaluate(self, params: P) -> _Point[P, S]:
        self.evaluations += 1
        statistics = self.total(partial(self.problem.step, params))
        value = float(self.problem.objective(params, statistics))
        scale = float(self.problem.scale(params, statistics))
        # An infinite size would forgive any fall, and call any step small.
        return _Point(params, statistics, value, scale if 0 < scale < math.inf else 0.0)

    def _gain(self, old: _Point[P, S], new: _Point[P, S]) -> float:
        return 0.0 if new.value == old.value else self.sign * (new.value - old.value)

    def _is_fall(self, new: _Point[P, S]) -> bool:
        """Whether a point is worse than the present one by more than rounding, or no number."""
        finite = [abs(v) for v in (self.point.value, new.value) if math.isfinite(v)]
        size, gain = max([*finite, new.scale]), self._gain(self.point, new)
        if gain >= -ROUNDING * size:
            return False
        return not gain >= -self.problem.rounding(new.params) * size

    # Steps

    def _extrapolated(self, proposal: P) -> _Point[P, S] | None:
        """A point beyond the proposal that is no worse than the present one, if there is one."""
        if self.method is None:
            return None
        before, image = map(self.problem.to_vector, (self.point.params, proposal))
        if before is None or image is None:
            raise InputError(
                f"{type(self.problem).__name__} gives no vector of its parameters, which "
                "acceleration needs. Leave out acceleration, or add to_vector and from_vector."
            )
        vector = self.method.propose(before, image)
        params = None if vector is None else self.problem.from_vector(vector)
        if params is None:
            return None
        candidate = self._evaluate(params)
        # No slack here: only a true gain is worth leaving the plain sequence.
        if self._gain(self.point, candidate) >= 0:
            self.method.accepted()
            return candidate
        self.refusals += 1
        self.method.refused()
        return None

    def _shortened(self, new: _Point[P, S], proposal: P) -> _Point[P, S] | None:
        """The point, or one nearer to the present one if it is worse and the learner offers one."""
        first = proposal
        for _ in range(MAX_RETREATS):
            if not self._is_fall(new):
                break
            shorter = self.problem.retreat(self.point.params, proposal)
            if shorter is None:
                return new
            proposal, new = shorter, self._evaluate(shorter)
        else:
            return None
        return new if proposal is first else self._settled(new, proposal)

    def _settled(self, new: _Point[P, S], proposal: P) -> _Point[P, S]:
        """The best of ever shorter steps: the first that is no worse may just cross the valley."""
        for _ in range(MAX_RETREATS):
            shorter = self.problem.retreat(self.point.params, proposal)
            if shorter is None:
                break
            proposal, candidate = shorter, self._evaluate(shorter)
            if not self._gain(new, candidate) > 0:
                break
            new = candidate
        return new

    # Checks

    def _require_number(self, point: _Point[P, S]) -> None:
        if math.isnan(point.value):
            raise ObjectiveFallError(
                f"The {self.problem.objective_name} is not a number after step "
                f"{len(self.trace)} of restart {self.number}. Check the data for extreme values."
            )

    def _check_fall(self, new: _Point[P, S]) -> None:
        self._require_number(new)
        if not self._is_fall(new):
            return
        amount = -self._gain(self.point, new)
        self.largest_fall = max(self.largest_fall, amount)
        if self.on_fall == "raise":
            raise ObjectiveFallError(
                f"Step {len(self.trace)} of restart {self.number} took the "
                f"{self.problem.objective_name} from {self.point.value:.17g} to {new.value:.17g}, "
                f"worse by {amount:.6g}, which this method cannot do: update or objective of "
                f"{type(self.problem).__name__} is wrong."
            )

    def _limit(self) -> str:
        if len(self.trace) > self.rule.max_iter:
            return "max_iter"
        if stops_at_deadline():
            return "deadline"
        return "max_seconds" if _is_spent(self.rule, self.clock) else ""

    def _gap_is_met(self) -> bool:
        if self.rule.gap_tol is None:
            return False
        gap = _relative_gap(self.problem, self.point)
        return gap is not None and gap <= self.rule.gap_tol

    def _is_stationary(self, point: _Point[P, S]) -> bool:
        residual = self.problem.residual(point.params, point.statistics)
        limit = self.rule.residual_tol
        return residual is not None and limit is not None and residual <= limit

    def _stands_still(self, old: _Point[P, S], new: _Point[P, S]) -> bool:
        """Whether every tolerance that was given is met by the step from `old` to `new`."""
        rule, met = self.rule, []
        if rule.tol is not None:
            # A gain of one rounding is none: a tolerance below it might never be met.
            least = max(rule.tol, EPSILON) if rule.tol > 0 else 0.0
            met.append(abs(self._gain(old, new)) <= least * new.scale)
        if rule.residual_tol is not None:
            met.append(self._is_stationary(new))
        if rule.parameter_tol is not None:
            before, after = map(self.problem.to_vector, (old.params, new.params))
            if before is None or after is None:
                raise InputError(f"{type(self.problem).__name__} has no vector: no parameter_tol.")
            change, size = np.linalg.norm(after - before), np.linalg.norm(after)
            met.append(bool(change <= rule.parameter_tol * size))
        return bool(met) and all(met)


def _is_spent(rule: StopRule, clock: Stopwatch) -> bool:
    return rule.max_seconds is not None and clock.seconds >= rule.max_seconds


# --- The certificate ------------------------------------------------------------------------------


def _gap(problem: SumProblem[P, S], point: _Point[P, S]) -> tuple[float, float] | None:
    """Bound of the best objective and distance of the point's value to it."""
    bound = problem.bound(point.params, point.statistics)
    if bound is None:
        return None
    gap = bound - point.value if problem.direction == "maximize" else point.value - bound
    return bound, 0.0 if bound == point.value else gap


def _relative_gap(problem: SumProblem[P, S], point: _Point[P, S]) -> float | None:
    known = _gap(problem, point)
    if known is None:
        return None
    bound, gap = known
    size = max(abs(bound), abs(point.value))
    return max(gap, 0.0) / size if math.isfinite(size) and size > 0 else (math.inf if gap else 0.0)


def _best(
    problem: SumProblem[P, S],
    rule: StopRule,
    runs: list[_Run[P, S]],
    cut: str,
    seconds: float,
) -> Fitted[P, S]:
    # The first of equals: `max` keeps the lowest restart, whatever the order they ran in.
    run = max(runs, key=lambda run: run.sign * run.best.value)
    stopped_by = cut or run.stopped_by
    point = run.best
    certificate = Certificate(
        objective=problem.objective_name,
        verdict=_verdict(problem, rule, stopped_by),
        value=point.value,
        residual=problem.residual(point.params, point.statistics),
        iterations=len(run.trace) - 1,
        trace=tuple(run.trace),
        details=_details(rule, run, runs, stopped_by),
        seconds=seconds,
    )
    known = _gap(problem, point)
    if known is not None:
        minimized = problem.direction == "minimize"
        certificate = replace(
            certificate,
            lower_bound=known[0] if minimized else None,
            gap=known[1],
            relative_gap=_relative_gap(problem, point),
        )
    return Fitted(point.params, point.statistics, point.value, certificate)


def _verdict(problem: SumProblem[P, S], rule: StopRule, stopped_by: str) -> Verdict:
    if stopped_by == "gap":
        return Verdict.WITHIN_TOLERANCE
    if stopped_by != "tol":
        return Verdict.STOPPED_EARLY
    # A small gradient of a convex function is small nowhere else; elsewhere it proves little.
    is_global = problem.convex and rule.residual_tol is not None
    return Verdict.WITHIN_TOLERANCE if is_global else Verdict.LOCAL


def _details(
    rule: StopRule, best: _Run[P, S], runs: list[_Run[P, S]], stopped_by: str
) -> dict[str, Any]:
    details: dict[str, Any] = {
        "stopped_by": stopped_by,
        "tol": rule.residual_tol if rule.residual_tol is not None else rule.tol,
        "relative_tol": rule.gap_tol,
        "evaluations": sum(run.evaluations for run in runs),
    }
    if len(runs) > 1:
        details["restart"] = best.number
        details["finals"] = tuple(run.best.value for run in runs)
    if any(run.refusals for run in runs):
        details["refused_extrapolations"] = sum(run.refusals for run in runs)
    if any(run.largest_fall for run in runs):
        details["largest_fall"] = max(run.largest_fall for run in runs)
    return {name: value for name, value in details.items() if value is not None}
