"""Calls that the main thread waits for: results, errors, context, and Ctrl-C in the middle."""

from __future__ import annotations

import contextvars
import signal
import threading
import time

import pytest

from novum.numerics import wait_for


def test_results_and_errors_come_back() -> None:
    assert wait_for(divmod, 7, 2) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        wait_for(divmod, 7, 0)


def test_the_main_thread_does_not_make_the_call_and_others_do() -> None:
    assert wait_for(threading.current_thread) is not threading.main_thread()
    seen: list[bool] = []

    def work() -> None:
        seen.append(wait_for(threading.current_thread) is threading.current_thread())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [True]


def test_the_call_sees_the_context_of_the_caller() -> None:
    variable = contextvars.ContextVar("variable", default=0)
    variable.set(5)
    assert wait_for(variable.get) == 5


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no interval timer")
def test_an_interrupt_ends_the_wait_at_once_and_the_call_goes_on() -> None:
    ended = threading.Event()

    def long_call() -> None:
        time.sleep(1.5)
        ended.set()

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    start = time.perf_counter()
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(KeyboardInterrupt):
            wait_for(long_call)
        assert time.perf_counter() - start < 1.0
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert ended.wait(10)
