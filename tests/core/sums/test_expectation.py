"""The driver on EM, Lloyd and Newton: monotone, deterministic, interruptible, certified."""

import math
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from novum.core.errors import InputError
from novum.core.learners import Verdict
from novum.core.runtime import Progress
from novum.core.sums import ObjectiveFallError, StopRule, fit_sums
from novum.numerics import Floats, SquaredExtrapolation
from tests.core.sum_learners import (
    Lloyd,
    LogisticSlope,
    MixtureOfTwo,
    Pair,
    Total,
    chunked,
    in_memory,
    labeled,
    two_normals,
)

# --- EM -------------------------------------------------------------------------------------------


@given(st.integers(0, 200), st.floats(0.5, 6))
@settings(max_examples=15, deadline=None)
def test_em_never_falls(seed: int, distance: float) -> None:
    x = two_normals(60, distance, seed)
    fitted = fit_sums(
        MixtureOfTwo(), in_memory(x), random_state=seed, stop=StopRule(tol=1e-9, max_iter=40)
    )
    trace = fitted.certificate.trace
    assert trace is not None
    assert all(np.diff(trace) >= -1e-10 * abs(trace[0]))
    assert fitted.value == trace[-1]
    # The value returned is the value of the parameters returned.
    assert MixtureOfTwo().step(fitted.params, x)[0] == fitted.value


def test_em_finds_a_maximum_of_the_likelihood() -> None:
    x = two_normals(400, 5.0)
    problem = MixtureOfTwo()
    fitted = fit_sums(problem, in_memory(x), random_state=1, stop=StopRule(tol=1e-13, max_iter=500))
    reference = optimize.minimize(
        lambda v: -problem.step(problem.from_vector(v), x)[0],  # type: ignore[arg-type]
        problem.to_vector(fitted.params) + 0.1,
        method="BFGS",
        options={"gtol": 1e-6},
    )
    assert fitted.value == pytest.approx(-reference.fun, abs=1e-6)
    certificate = fitted.certificate
    assert certificate.verdict is Verdict.LOCAL
    assert certificate.converged
    assert certificate.gap is None
    assert certificate.details["stopped_by"] == "tol"
    assert certificate.iterations == len(certificate.trace or ()) - 1


@pytest.mark.parametrize("size", [1, 7, 400])
def test_chunks_of_any_size_give_the_same_fit(size: int) -> None:
    x = two_normals(400, 5.0)
    rule = StopRule(tol=1e-10)
    whole = fit_sums(MixtureOfTwo(), in_memory(x), random_state=1, stop=rule)
    parts = fit_sums(MixtureOfTwo(), chunked(x, size), random_state=1, stop=rule)
    np.testing.assert_allclose(
        MixtureOfTwo().to_vector(parts.params), MixtureOfTwo().to_vector(whole.params), rtol=1e-8
    )
    assert parts.certificate.iterations == whole.certificate.iterations


TRUTH = Pair(0.4, (-2.5, 2.5), (1.0, 2.25))


class BrokenMStep(MixtureOfTwo):
    """Forgets the means when it estimates the variances."""

    def update(self, params: Pair, statistics: Floats) -> Pair:
        right = super().update(params, statistics)
        spoiled = tuple(v + m**2 for v, m in zip(right.variances, right.means, strict=True))
        return Pair(right.weight, right.means, spoiled)  # type: ignore[arg-type]


def test_a_broken_m_step_is_caught_with_the_amount() -> None:
    x = two_normals(400, 5.0)
    with pytest.raises(ObjectiveFallError, match=r"worse by [\d.e-]+, .* BrokenMStep is wrong"):
        fit_sums(BrokenMStep(TRUTH), in_memory(x))


def test_a_fall_can_be_recorded_and_the_best_point_is_kept() -> None:
    x = two_normals(400, 5.0)
    fitted = fit_sums(BrokenMStep(TRUTH), in_memory(x), on_fall="record")
    assert fitted.certificate.details["largest_fall"] > 0
    assert fitted.value == max(fitted.certificate.trace or ())


# --- Lloyd ----------------------------------------------------------------------------------------


def test_lloyd_with_restarts_finds_the_best_partition_of_a_line() -> None:
    rng = np.random.default_rng(5)
    x = np.concatenate([rng.normal(center, 0.3, 12) for center in (-4, 0, 1.5, 5)])
    fitted = fit_sums(
        Lloyd(4, x), chunked(x, 10), n_init=20, random_state=0, stop=StopRule(tol=0.0)
    )
    # Clusters of a line are intervals, so the optimum is found by trying all cuts.
    ordered = np.sort(x)
    best = min(
        sum(np.var(part) * part.size for part in np.split(ordered, [a, b, c]))
        for a in range(1, 46)
        for b in range(a + 1, 47)
        for c in range(b + 1, 48)
    )
    assert fitted.value == pytest.approx(best, rel=1e-12)
    finals = fitted.certificate.details["finals"]
    assert len(finals) == 20
    assert min(finals) == fitted.value
    assert finals[fitted.certificate.details["restart"]] == fitted.value
    assert max(finals) > fitted.value


def reversed_order(run: Callable[[int], Any], numbers: Iterable[int]) -> list[Any]:
    return [run(number) for number in reversed(list(numbers))]


def test_restarts_do_not_depend_on_their_order() -> None:
    x = np.random.default_rng(2).normal(size=80)
    arguments = {"n_init": 6, "random_state": 3, "stop": StopRule(tol=0.0)}
    forward = fit_sums(Lloyd(5, x), in_memory(x), **arguments)
    backward = fit_sums(Lloyd(5, x), in_memory(x), map_restarts=reversed_order, **arguments)
    np.testing.assert_array_equal(forward.params, backward.params)
    assert forward.certificate == backward.certificate
    # The first restarts do not depend on how many follow.
    fewer = fit_sums(Lloyd(5, x), in_memory(x), **{**arguments, "n_init": 2})
    assert fewer.certificate.details["finals"] == forward.certificate.details["finals"][:2]


# --- Newton ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", [0.0, 40.0])
def test_newton_is_proved_optimal_even_from_a_start_that_overshoots(first: float) -> None:
    data = labeled(60)
    rule = StopRule(tol=None, gap_tol=1e-12)
    fitted = fit_sums(LogisticSlope(first), chunked(data, 16), stop=rule)
    reference = optimize.minimize_scalar(
        lambda w: LogisticSlope().objective(w, LogisticSlope().step(w, data)), tol=1e-12
    )
    certificate = fitted.certificate
    assert fitted.value == pytest.approx(reference.fun, rel=1e-12)
    assert certificate.verdict is Verdict.WITHIN_TOLERANCE
    assert certificate.relative_gap is not None
    assert certificate.relative_gap <= 1e-12
    assert certificate.lower_bound is not None
    assert certificate.lower_bound <= reference.fun * (1 + 1e-14)
    assert "within the tolerance 1e-12" in certificate.sentence
    assert all(np.diff(certificate.trace or ()) <= 1e-10)


class FullStep(LogisticSlope):
    """Newton without a way back."""

    def retreat(self, params: float, proposal: float) -> None:  # type: ignore[override]
        assert params != proposal


def test_full_newton_steps_fail_where_shortened_ones_do_not() -> None:
    # Far out the curvature is tiny and throws the full step far beyond the optimum.
    data = np.column_stack([np.full(30, 3.0), np.r_[np.ones(20), -np.ones(10)]])
    with pytest.raises(ObjectiveFallError):
        fit_sums(FullStep(-6.0), in_memory(data))
    fitted = fit_sums(LogisticSlope(-6.0), in_memory(data), stop=StopRule(residual_tol=1e-9))
    assert fitted.certificate.verdict is Verdict.WITHIN_TOLERANCE
    assert (fitted.certificate.iterations or 0) < 20


def test_a_small_residual_proves_a_convex_fit_and_only_that() -> None:
    data = labeled(60)
    proved = fit_sums(LogisticSlope(), in_memory(data), stop=StopRule(residual_tol=1e-8))
    assert proved.certificate.verdict is Verdict.WITHIN_TOLERANCE
    assert proved.certificate.residual is not None
    assert proved.certificate.residual <= 1e-8
    loose = fit_sums(LogisticSlope(), in_memory(data), stop=StopRule(tol=1e-3))
    assert loose.certificate.verdict is Verdict.LOCAL
    assert loose.certificate.gap is not None


def test_a_start_that_is_already_good_enough_costs_one_pass() -> None:
    data = labeled(60)
    best = fit_sums(LogisticSlope(), in_memory(data), stop=StopRule(residual_tol=1e-9)).params
    again = fit_sums(LogisticSlope(best), in_memory(data), stop=StopRule(gap_tol=1e-6))
    assert again.certificate.iterations == 0
    assert again.certificate.details["evaluations"] == 1


class Ascent(LogisticSlope):
    direction = "maximize"

    def objective(self, params: float, statistics: Floats) -> float:
        return -super().objective(params, statistics)

    def bound(self, params: float, statistics: Floats) -> float:
        return self.objective(params, statistics) + 0.5 * self.residual(params, statistics) ** 2


def test_a_bound_of_a_maximized_objective_lies_above() -> None:
    rule, data = StopRule(tol=None, gap_tol=1e-6), in_memory(labeled(60))
    down, up = fit_sums(LogisticSlope(), data, stop=rule), fit_sums(Ascent(), data, stop=rule)
    assert (up.params, up.value) == (down.params, -down.value)
    assert up.certificate.lower_bound is None
    assert (up.certificate.gap, up.certificate.verdict) == (
        down.certificate.gap,
        Verdict.WITHIN_TOLERANCE,
    )


# --- Acceleration ---------------------------------------------------------------------------------


def test_acceleration_reaches_the_same_optimum_in_fewer_passes() -> None:
    x = two_normals(500, 2.5, seed=4)
    start = Pair(0.5, (-1.0, 1.0), (1.0, 1.0))
    rule = StopRule(tol=1e-12, max_iter=20_000)
    plain = fit_sums(MixtureOfTwo(start), in_memory(x), stop=rule)
    fast = fit_sums(MixtureOfTwo(start), in_memory(x), stop=rule, acceleration=SquaredExtrapolation)
    assert plain.certificate.converged
    assert fast.certificate.converged
    # A change of 1e-12 per row and step, at rates up to 0.999, leaves up to 5e-7 of likelihood.
    assert fast.value == pytest.approx(plain.value, abs=1e-6)
    assert fast.certificate.details["evaluations"] < plain.certificate.details["evaluations"] / 2
    assert all(np.diff(fast.certificate.trace or ()) >= -1e-10 * abs(fast.value))


class Reckless:
    """Proposes far too far, or nonsense, every time."""

    def __init__(self, factor: float) -> None:
        self.factor = factor

    def propose(self, point: Floats, image: Floats) -> Floats:
        return point + self.factor * (image - point)

    def accepted(self) -> None:
        """Learns nothing."""

    def refused(self) -> None:
        """Learns nothing."""


@pytest.mark.parametrize("factor", [-3.0, 0.0, 1e9])
def test_bad_proposals_cost_passes_but_change_nothing(factor: float) -> None:
    x = two_normals(200, 5.0)
    plain = fit_sums(MixtureOfTwo(), in_memory(x), random_state=1)
    safe = fit_sums(
        MixtureOfTwo(), in_memory(x), random_state=1, acceleration=lambda: Reckless(factor)
    )
    assert safe.params == plain.params
    if factor == 0.0:  # Standing still is no fall, but a step that is judged follows.
        return
    assert safe.certificate.trace == plain.certificate.trace
    if factor == -3.0:
        refused = safe.certificate.details["refused_extrapolations"]
        assert refused == plain.certificate.iterations


def test_acceleration_without_a_vector_is_refused() -> None:
    x = np.arange(10.0)
    with pytest.raises(InputError, match=r"Lloyd gives no vector.*Leave out acceleration"):
        fit_sums(Lloyd(2, x), in_memory(x), acceleration=SquaredExtrapolation)
    with pytest.raises(InputError, match="no parameter_tol"):
        fit_sums(Lloyd(2, x), in_memory(x), stop=StopRule(parameter_tol=1e-3))


# --- Stopping -------------------------------------------------------------------------------------


def test_the_count_of_steps_is_kept_and_named() -> None:
    x = two_normals(300, 2.0)
    fitted = fit_sums(
        MixtureOfTwo(), in_memory(x), random_state=0, stop=StopRule(tol=0.0, max_iter=4)
    )
    assert fitted.certificate.iterations == 4
    assert fitted.certificate.verdict is Verdict.STOPPED_EARLY
    assert fitted.certificate.details["stopped_by"] == "max_iter"
    none = fit_sums(MixtureOfTwo(), in_memory(x), random_state=0, stop=StopRule(max_iter=0))
    assert none.certificate.iterations == 0


def test_all_given_tolerances_must_hold() -> None:
    x = two_normals(300, 2.0)
    loose = fit_sums(MixtureOfTwo(), in_memory(x), random_state=0, stop=StopRule(tol=1e-3))
    both = fit_sums(
        MixtureOfTwo(),
        in_memory(x),
        random_state=0,
        stop=StopRule(tol=1e-3, parameter_tol=1e-4, max_iter=5000),
    )
    assert both.certificate.converged
    assert (both.certificate.iterations or 0) > (loose.certificate.iterations or 0)


def test_a_time_limit_ends_the_fit_after_a_pass() -> None:
    x = two_normals(50, 2.0)
    passes = 0

    def slow(step: Callable[[Any], Any]) -> Any:
        nonlocal passes
        passes += 1
        time.sleep(0.02)
        return step(x)

    fitted = fit_sums(
        MixtureOfTwo(),
        slow,
        n_init=50,
        random_state=0,
        stop=StopRule(tol=0.0, max_iter=10**6, max_seconds=0.1),
    )
    # Each pass takes at least 20 ms, so at most five begin before 100 ms are over.
    assert 1 <= passes <= 6
    assert fitted.certificate.verdict is Verdict.STOPPED_EARLY
    assert fitted.certificate.details["stopped_by"] == "max_seconds"
    assert fitted.certificate.seconds is not None
    assert fitted.certificate.seconds >= 0.1


class Listener:
    """A display that stops the fit at its third step."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def advance(self, note: str, fitted: Any, /) -> bool:
        assert fitted is None
        self.notes.append(note)
        return len(self.notes) == 3

    def note(self, text: str) -> None:
        self.notes.append(text)

    def close(self, *, finished: bool) -> None:
        assert finished


def test_progress_is_told_of_every_step_and_can_stop_the_fit() -> None:
    x, listener = two_normals(300, 2.0), Listener()
    with Progress(listener) as progress:
        fitted = fit_sums(MixtureOfTwo(), in_memory(x), n_init=4, random_state=0, progress=progress)
    assert fitted.certificate.details["stopped_by"] == "callback"
    assert fitted.certificate.iterations == 3
    assert listener.notes[-1] == f"log-likelihood {fitted.value:.6g}"


class NotANumber(FullStep):
    def objective(self, params: float, statistics: Floats) -> float:
        return math.nan if params != self.first else super().objective(params, statistics)


class NeverANumber(FullStep):
    def objective(self, params: float, statistics: Floats) -> float:
        return math.nan * super().objective(params, statistics)


class NowhereElse(NotANumber):
    retreat = LogisticSlope.retreat  # type: ignore[assignment]


def test_impossible_objectives_and_arguments_are_errors() -> None:
    data = labeled(10)
    with pytest.raises(ObjectiveFallError, match="not a number after step 1 of restart 0"):
        fit_sums(NotANumber(), in_memory(data))
    with pytest.raises(ObjectiveFallError, match="not a number after step 0"):
        fit_sums(NeverANumber(), in_memory(data))
    with pytest.raises(InputError, match="n_init must be at least 1, got 0"):
        fit_sums(LogisticSlope(), in_memory(data), n_init=0)


def test_where_no_step_is_short_enough_the_fit_says_that_it_stalled() -> None:
    stalled = fit_sums(NowhereElse(), in_memory(labeled(10)))
    assert stalled.certificate.verdict is Verdict.STOPPED_EARLY
    assert stalled.certificate.details["stopped_by"] == "stalled"
    assert (stalled.params, stalled.certificate.iterations) == (0.0, 0)


# --- Ctrl-C ---------------------------------------------------------------------------------------


def interrupted_at(x: Floats, number: int) -> Total:
    """A sum that is interrupted during its pass of that number."""
    passes = 0

    def total(step: Callable[[Any], Any]) -> Any:
        nonlocal passes
        passes += 1
        if passes == number:
            raise KeyboardInterrupt
        return step(x)

    return total


def test_an_interrupt_is_raised_unless_the_best_so_far_is_wanted() -> None:
    x = two_normals(300, 2.0)
    with pytest.raises(KeyboardInterrupt):
        fit_sums(MixtureOfTwo(), interrupted_at(x, 5), random_state=0)
    kept = fit_sums(MixtureOfTwo(), interrupted_at(x, 5), random_state=0, on_interrupt="keep")
    assert kept.certificate.verdict is Verdict.STOPPED_EARLY
    assert not kept.certificate.converged
    assert kept.certificate.details["stopped_by"] == "interrupt"
    # Four passes were finished: the start and three steps.
    assert kept.certificate.iterations == 3
    assert MixtureOfTwo().step(kept.params, x)[0] == kept.value


def test_an_interrupt_before_the_first_pass_leaves_nothing_to_keep() -> None:
    x = two_normals(30, 2.0)
    with pytest.raises(KeyboardInterrupt):
        fit_sums(MixtureOfTwo(), interrupted_at(x, 1), random_state=0, on_interrupt="keep")


def test_an_interrupt_in_a_later_restart_keeps_the_best_of_all() -> None:
    x = two_normals(100, 5.0)
    rule = StopRule(tol=1e-3)
    first = fit_sums(MixtureOfTwo(), in_memory(x), random_state=0, stop=rule)
    passes = first.certificate.details["evaluations"]
    kept = fit_sums(
        MixtureOfTwo(),
        interrupted_at(x, passes + 1),
        random_state=0,
        stop=rule,
        n_init=5,
        on_interrupt="keep",
    )
    assert kept.params == first.params
    assert kept.certificate.details["stopped_by"] == "interrupt"
    assert not kept.certificate.converged


SCRIPT = """
import sys, time
import numpy as np
from novum.core.sums.expectation import StopRule, SumProblem, fit_sums

class Slow(SumProblem):
    objective_name, direction = "nothing", "minimize"
    def start(self, rng): return 1.0
    def step(self, params, chunk):
        # About 50 ms of work that does not return to Python, as a compiled kernel would.
        rows = np.full((400_000, 2), params)
        return float((np.sin(rows) ** 2).sum()) * 0 + params
    def objective(self, params, statistics): return statistics
    def update(self, params, statistics): return params * 0.999999

class Model:
    def fit(self):
        fitted = fit_sums(Slow(), lambda step: step(None), random_state=0,
                          stop=StopRule(tol=0.0, max_iter=10**9), on_interrupt=sys.argv[1])
        self.params_, self.certificate_ = fitted.params, fitted.certificate

model = Model()
before = dict(vars(model))
print("ready", flush=True)
try:
    model.fit()
except KeyboardInterrupt:
    print("interrupted", time.time(), vars(model) == before, flush=True)
else:
    print("kept", time.time(), model.certificate_.verdict == "stopped early", flush=True)
"""


@pytest.mark.parametrize(("mode", "outcome"), [("raise", "interrupted"), ("keep", "kept")])
def test_ctrl_c_gives_control_back(mode: str, outcome: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, mode], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.3)
        sent = time.time()
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=60)
    finally:
        process.kill()
    word, when, state = output.split()
    assert (word, state) == (outcome, "True")
    # One pass takes 50 ms; two seconds allow for a machine that does other things as well.
    assert float(when) - sent < 2.0
