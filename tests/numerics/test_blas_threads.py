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

from novum.numerics import one_blas_thread
from novum.numerics.blas_threads import _libraries
from tests.numerics.forked_process import needs_fork, output


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


def test_threads_that_come_first_at_once_leave_no_limit() -> None:
    found = output("""
        from threadpoolctl import threadpool_info, threadpool_limits
        import numpy, scipy.linalg
        from novum.numerics.blas_threads import one_blas_thread
        threadpool_limits(limits=2, user_api="blas")
        barrier = threading.Barrier(20)
        def enter():
            barrier.wait()
            with one_blas_thread():
                pass
        threads = [threading.Thread(target=enter) for _ in range(20)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        print({library["num_threads"] for library in threadpool_info()
               if library["user_api"] == "blas"})
    """)
    assert found == "{2}"


@needs_fork
def test_limits_of_threads_that_a_fork_leaves_behind_are_lifted_in_the_child() -> None:
    found = output("""
        from threadpoolctl import threadpool_limits
        from novum.numerics.blas_threads import _libraries, one_blas_thread
        def counts():
            return {library.get_num_threads() for group in _libraries() for library in group}
        _libraries()
        threadpool_limits(limits=2, user_api="blas")
        def child():
            with one_blas_thread():
                inside = counts()
            return inside == {1} and counts() == {2}
        print(while_inside(one_blas_thread, lambda: succeeds(lambda: counts() == {2})))
        print(while_inside(one_blas_thread, lambda: succeeds(child)))
        def keeps_its_own():
            with one_blas_thread():
                return succeeds(lambda: counts() == {1})
        print(while_inside(one_blas_thread, keeps_its_own), counts() == {2})
    """)
    assert found.split() == ["True"] * 4


@needs_fork
def test_children_of_a_process_whose_threads_fit_do_not_hang() -> None:
    found = output("""
        import numpy as np
        from novum.svm import SVC
        rng = np.random.default_rng(0)
        X = rng.normal(size=(80, 3))
        y = (X[:, 0] + rng.normal(size=80) > 0).astype(int)
        SVC().fit(X, y)
        expected = SVC().fit(X, y).decision_function(X)
        over = threading.Event()
        def keep_fitting():
            while not over.is_set():
                SVC().fit(X, y)
        threads = [threading.Thread(target=keep_fitting) for _ in range(4)]
        for thread in threads: thread.start()
        def child():
            return np.array_equal(SVC().fit(X, y).decision_function(X), expected)
        print(sum(succeeds(child) for _ in range(25)))
        over.set()
        for thread in threads: thread.join()
    """)
    assert found == "25"
