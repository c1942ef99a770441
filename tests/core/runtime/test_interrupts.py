"""Interrupts: slices cover the work, blocks never depend on time, calls settle at the target."""

import io
import math
import signal
import threading
import time
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.runtime import (
    OutOfTime,
    Pacer,
    announce_long_call,
    interrupts,
    long_call,
    time_limit,
    time_sliced,
)
from novum.core.runtime.interrupts import estimated_seconds
from novum.kernels import Gaussian
from novum.numerics import eigenpairs, factorize, one_blas_thread


class Machine:
    """A clock that advances by a fixed cost per item, noisy like a busy machine."""

    def __init__(self, seconds_per_item: float, noise: list[float]) -> None:
        self.now, self.cost, self.noise, self.calls = 0.0, seconds_per_item, noise, 0

    def __call__(self) -> float:
        return self.now

    def work(self, items: int) -> float:
        took = items * self.cost * self.noise[self.calls % len(self.noise)]
        self.now += took
        self.calls += 1
        return took


@given(
    n_items=st.integers(0, 5000),
    block=st.integers(1, 70),
    cost=st.floats(1e-6, 1e-2),
    noise=st.lists(st.floats(0.1, 10), min_size=1, max_size=5),
)
def test_slices_cover_everything_in_whole_blocks(
    n_items: int, block: int, cost: float, noise: list[float]
) -> None:
    machine, end = Machine(cost, noise), 0
    for start, stop in time_sliced(n_items, block=block, clock=machine):
        assert start == end
        assert start < stop <= n_items
        assert stop % block == 0 or stop == n_items
        machine.work(stop - start)
        end = stop
    assert end == n_items


@pytest.mark.parametrize("cost", [1e-5, 1e-4, 1e-3, 0.03])
def test_calls_settle_below_two_tenths_of_a_second(cost: float) -> None:
    machine = Machine(cost, [1.0])
    times = [machine.work(b - a) for a, b in time_sliced(2_000_000, block=1, clock=machine)]
    assert max(times) <= 0.2
    # Once settled, a call is worth its overhead: at least half the target, but for the last.
    assert min(times[8:-1]) >= 0.05


def test_work_that_turns_expensive_is_sliced_finer_at_once() -> None:
    machine = Machine(1e-4, [1.0])
    lengths = []
    for start, stop in time_sliced(100_000, clock=machine):
        machine.cost = 1e-4 if start < 10_000 else 1e-2
        lengths.append(machine.work(stop - start))
    slow = [seconds for seconds in lengths if seconds > 0.2]
    # Only the one call during which the cost rose can be long.
    assert len(slow) <= 1


def test_sums_do_not_depend_on_the_speed_of_the_machine() -> None:
    x = np.random.default_rng(0).normal(size=10_000) * np.logspace(-8, 8, 10_000)

    def total(machine: Machine) -> float:
        """One accumulator per block of 64, combined in order."""
        partials = np.zeros(math.ceil(x.size / 64))
        for start, stop in time_sliced(x.size, block=64, clock=machine):
            for first in range(start, stop, 64):
                partials[first // 64] = np.sum(x[first : first + 64])
            machine.work(stop - start)
        return float(partials.sum())

    speeds = [(cost, noise) for cost in (1e-6, 1e-3) for noise in ([1.0], [0.1, 9.0])]
    assert len({total(Machine(cost, noise)) for cost, noise in speeds}) == 1


def test_a_pacer_can_be_kept_across_loops() -> None:
    machine, pacer = Machine(1e-3, [1.0]), Pacer()
    for start, stop in time_sliced(1000, pacer=pacer, clock=machine):
        machine.work(stop - start)
    again = [(a, b) for a, b in time_sliced(1000, pacer=pacer, clock=lambda: 0.0)]
    assert again[0] == (0, 100)


@pytest.mark.parametrize(("n_items", "block"), [(-1, 1), (5, 0)])
def test_impossible_cuts_are_refused(n_items: int, block: int) -> None:
    with pytest.raises(ValueError, match=f"Cannot cut {n_items} items into blocks of {block}"):
        next(time_sliced(n_items, block=block))


def test_an_impossible_target_is_refused() -> None:
    with pytest.raises(ValueError, match="above 0 seconds"):
        Pacer(target=0.0)


# --- Announcements --------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_long_calls_are_announced_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    screen, pipe = Terminal(), io.StringIO()
    monkeypatch.setattr(interrupts.sys, "stderr", screen)
    assert announce_long_call(30.0, "eigenvalues of \x1b[2J")
    assert screen.getvalue() == ("eigenvalues of \\x1b[2J: about 30 s without a sign of progress\n")
    monkeypatch.setattr(interrupts.sys, "stderr", pipe)
    assert announce_long_call(30.0, "eigenvalues")
    assert pipe.getvalue() == ""


def test_short_calls_are_not_announced_and_notes_go_where_told() -> None:
    notes: list[str] = []
    assert not announce_long_call(0.5, "a solve", note=notes.append)
    assert not announce_long_call(math.nan, "a solve", note=notes.append)
    assert announce_long_call(2.0, "a solve", note=notes.append)
    assert notes == ["a solve: about 2 s without a sign of progress"]


def test_no_standard_error_at_all_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interrupts.sys, "stderr", None)
    assert announce_long_call(2.0, "a solve")
    assert not interrupts.on_terminal()


def seconds_to_interrupt(work: Callable[[], object]) -> float:
    """How long after a signal its KeyboardInterrupt arrives."""
    sent: list[float] = []

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    def send() -> None:
        sent.append(time.perf_counter())
        signal.raise_signal(signal.SIGUSR1)

    before = signal.signal(signal.SIGUSR1, interrupt)
    timer = threading.Timer(0.2, send)
    try:
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            work()
        return time.perf_counter() - sent[0]
    finally:
        timer.join()
        signal.signal(signal.SIGUSR1, before)


@pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="this system has no such signal")
def test_ctrl_c_ends_a_long_call_into_a_library_at_once() -> None:
    rng = np.random.default_rng(0)
    root = rng.normal(size=(1500, 1500))
    A = root @ root.T
    work = [
        lambda: long_call(lambda: np.linalg.eigh(A), 9.0 * 1500**3, "eigenvalues"),
        lambda: long_call(lambda: eigenpairs(A, 0, 1400), 9.0 * 1500**3, "eigenvalues"),
        lambda: [factorize(np.array(A, order="F")) for _ in range(100)],
        lambda: [Gaussian(1.0).prepare(root).gram() for _ in range(100)],
    ]
    with one_blas_thread():
        for call in work:
            assert seconds_to_interrupt(call) < 0.5
            # What is left behind would slow down the next one.
            for thread in threading.enumerate():
                if thread.name == "novum call":
                    thread.join()


def test_estimates_grow_with_the_work() -> None:
    assert estimated_seconds(0.0) == 0.0
    assert estimated_seconds(2e12) == 2 * estimated_seconds(1e12)


# --- Limits of time -------------------------------------------------------------------------------


def test_a_limit_ends_the_block_and_only_the_block() -> None:
    with pytest.raises(OutOfTime), time_limit(0.02):
        time.sleep(20)
    with time_limit(0.05):
        pass
    time.sleep(0.1)


def test_the_inner_of_two_limits_ends_first_and_the_outer_goes_on() -> None:
    ended = []

    def work() -> None:
        with pytest.raises(OutOfTime), time_limit(0.02):
            time.sleep(20)
        ended.append("inner")
        time.sleep(20)

    with pytest.raises(OutOfTime), time_limit(0.3):
        work()
    assert ended == ["inner"]


def test_an_interrupt_that_is_swallowed_comes_again() -> None:
    swallowed = []

    def work() -> None:
        try:
            time.sleep(20)
        except OutOfTime as end:
            swallowed.append(end)
        time.sleep(20)

    with pytest.raises(OutOfTime), time_limit(0.02):
        work()
    assert len(swallowed) == 1


def test_the_timer_of_somebody_else_is_left_as_it_was() -> None:
    handler, timer = signal.getsignal(signal.SIGALRM), signal.getitimer(signal.ITIMER_REAL)
    with time_limit(5.0):
        pass
    assert signal.getsignal(signal.SIGALRM) is handler
    left = signal.getitimer(signal.ITIMER_REAL)[0]
    assert (left == 0) == (timer[0] == 0)
    assert timer[0] - 5 < left <= timer[0]


def test_other_threads_and_endless_limits_run_to_the_end() -> None:
    done = []

    def work() -> None:
        with time_limit(0.01):
            time.sleep(0.05)
            done.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    with time_limit(math.inf):
        done.append(True)
    assert done == [True, True]
