"""The limit holds inside, for every thread at once, and is lifted by the last one out."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any

import pytest
from threadpoolctl import threadpool_limits

from novum.numerics.blas_threads import _libraries, one_blas_thread


def threads_allowed() -> set[int]:
    return {library.get_num_threads() for group in _libraries() for library in group}


def test_the_limit_holds_inside_and_is_lifted_after() -> None:
    before = threads_allowed()
    assert before, "no BLAS library was found"
    with one_blas_thread():
        assert threads_allowed() == {1}
        with one_blas_thread():
            pass
        assert threads_allowed() == {1}
    assert threads_allowed() == before


def test_the_limit_is_lifted_after_an_error() -> None:
    before = threads_allowed()
    with pytest.raises(KeyError), one_blas_thread():
        raise KeyError
    assert threads_allowed() == before


def interrupted_at(line: int) -> bool:
    """Whether Ctrl-C at that line, counted in the order they run, came before the end."""
    left = line

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal left
        # Python raises it where calls return, and never between a lock's `with` and its end.
        if not frame.f_code.co_qualname.startswith("_Limit."):
            return trace
        if event == "line":
            left -= 1
            if left < 0:
                sys.settrace(None)
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        with one_blas_thread():
            pass
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


@pytest.fixture
def few_objects() -> Iterator[None]:
    """Objects that are there before a test are left out of its garbage collections."""
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.usefixtures("few_objects")
def test_an_interrupt_at_any_place_is_made_up_for() -> None:
    with threadpool_limits(limits=2, user_api="blas"):
        line = 0
        while interrupted_at(line):
            gc.collect()
            with one_blas_thread():
                assert threads_allowed() == {1}, line
            assert threads_allowed() == {2}, line
            line += 1
    assert line > 10, "the interrupts came in the places they were meant for"


def test_a_thread_that_leaves_early_does_not_lift_the_others_limit() -> None:
    before = threads_allowed()
    is_inside, may_leave = threading.Event(), threading.Event()
    seen: list[set[int]] = []

    def stay() -> None:
        with one_blas_thread():
            is_inside.set()
            may_leave.wait(10)
            seen.append(threads_allowed())

    with one_blas_thread():
        thread = threading.Thread(target=stay)
        thread.start()
        is_inside.wait(10)
    may_leave.set()
    thread.join()
    assert seen == [{1}]
    assert threads_allowed() == before


def test_a_worker_may_set_and_lift_the_limit_after_the_main_thread_did() -> None:
    before = threads_allowed()
    seen: list[set[int]] = []

    def work() -> None:
        with one_blas_thread():
            seen.append(threads_allowed())

    with one_blas_thread():
        pass
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [{1}]
    assert threads_allowed() == before


def test_limits_of_others_come_back() -> None:
    before = threads_allowed()
    with threadpool_limits(limits=1, user_api="blas"):
        with one_blas_thread():
            pass
        assert threads_allowed() == {1}
    assert threads_allowed() == before
