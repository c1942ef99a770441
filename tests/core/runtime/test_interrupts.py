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
    check_cancelled,
    deadline,
    interrupts,
    is_late,
    long_call,
    run_tasks,
    seconds_left,
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


# --- Ends -----------------------------------------------------------------------------------------


def test_the_earlier_of_two_deadlines_holds_and_ends_with_its_block() -> None:
    assert seconds_left() == math.inf
    with deadline(100.0):
        assert 99 < seconds_left() <= 100
        with deadline(1000.0):
            assert seconds_left() <= 100
        with deadline(-1.0):
            assert is_late()
            with pytest.raises(OutOfTime):
                check_cancelled()
        check_cancelled()
    assert seconds_left() == math.inf
    assert not is_late()


def test_slices_before_a_deadline_take_half_of_what_is_left() -> None:
    now, pacer = 0.0, Pacer(target=100.0)
    pacer.blocks = 1000
    with deadline(10.0):
        bounds = iter(time_sliced(10**6, pacer=pacer, clock=lambda: now))
        start, stop = next(bounds)
    # Of slices of 100 seconds those of 5 are a twentieth.
    assert 40 <= stop - start <= 50


def test_deadlines_reach_every_thread_of_the_tasks_and_no_other() -> None:
    late = []

    def endless(_: int) -> None:
        while True:
            check_cancelled()
            time.sleep(1e-3)

    for jobs in (1, 3):
        with pytest.raises(OutOfTime), deadline(0.05):
            run_tasks(endless, range(4), n_jobs=jobs)
    with deadline(0.0):
        thread = threading.Thread(target=lambda: late.append(is_late()))
        thread.start()
        thread.join()
    assert late == [False]


def test_a_long_call_is_left_at_the_deadline() -> None:
    over = threading.Event()
    for in_thread in (False, True):
        ended: list[bool] = []

        def work(ended: list[bool] = ended) -> None:
            with pytest.raises(OutOfTime), deadline(0.05):
                long_call(lambda: over.wait(20), 1e12, "a wait", note=lambda _: None)
            ended.append(True)

        thread = threading.Thread(target=work)
        (thread.start if in_thread else work)()
        if in_thread:
            thread.join()
        assert ended == [True]
    over.set()
