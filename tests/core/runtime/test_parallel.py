"""Parallel tasks: order, same bits, errors, interruption, and the counted BLAS limit."""

import _thread
import threading
import time
from collections.abc import Iterator

import joblib
import numpy as np
import pytest
import sklearn
from threadpoolctl import ThreadpoolController, threadpool_limits

from novum.core.errors import InputError
from novum.core.runtime import Cancelled, check_cancelled, effective_jobs, run_tasks


def blas_threads() -> set[int]:
    info = ThreadpoolController().select(user_api="blas").info()
    return {library["num_threads"] for library in info}


@pytest.fixture
def three_blas_threads() -> Iterator[None]:
    with threadpool_limits(3, user_api="blas"):
        yield


# --- Tasks ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_jobs", [None, 1, 2, 4, -1])
def test_results_keep_the_order_of_tasks(n_jobs: int | None) -> None:
    def late_first(task: int) -> int:
        time.sleep(0.002 * (8 - task))
        return task

    assert run_tasks(late_first, iter(range(8)), n_jobs) == list(range(8))


def test_no_tasks() -> None:
    assert run_tasks(abs, [], n_jobs=2) == []


def test_processes_are_possible() -> None:
    assert run_tasks(abs, [-1, -2], n_jobs=2, prefer="processes") == [1, 2]


def test_tasks_run_side_by_side_in_threads() -> None:
    barrier = threading.Barrier(2, timeout=10)

    # Passes only if both tasks are inside at the same time.
    assert sorted(run_tasks(lambda _: barrier.wait(), range(2), n_jobs=2)) == [0, 1]


def test_threads_are_used_even_if_joblib_prefers_processes() -> None:
    seen: list[int] = []
    with joblib.parallel_config(backend="loky"):
        run_tasks(seen.append, range(3), n_jobs=2)
    assert sorted(seen) == [0, 1, 2]


def test_bits_do_not_depend_on_the_number_of_jobs() -> None:
    rng = np.random.default_rng(0)
    blocks = [rng.normal(size=(300, 40)) for _ in range(6)]

    def gram(block: np.ndarray) -> bytes:
        return (block.T @ block).tobytes()

    assert run_tasks(gram, blocks, n_jobs=1) == run_tasks(gram, blocks, n_jobs=3)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_configuration_and_context_reach_the_tasks(n_jobs: int) -> None:
    def look(_: int) -> tuple[bool, str]:
        return sklearn.get_config()["assume_finite"], np.geterr()["over"]

    with sklearn.config_context(assume_finite=True), np.errstate(over="raise"):
        assert run_tasks(look, range(3), n_jobs=n_jobs) == [(True, "raise")] * 3


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_the_error_of_a_task_is_the_callers(n_jobs: int) -> None:
    def fail(task: int) -> int:
        if task == 2:
            raise ZeroDivisionError("task 2")
        return task

    with pytest.raises(ZeroDivisionError, match="task 2"):
        run_tasks(fail, range(5), n_jobs=n_jobs)


def test_interruption_gives_control_back_and_ends_the_tasks() -> None:
    running = threading.Semaphore(0)
    ended: list[str] = []

    def work(_: int) -> None:
        running.release()
        try:
            for _ in range(2000):
                time.sleep(0.005)
                check_cancelled()
        except Cancelled:
            ended.append("cancelled")
            raise
        ended.append("done")

    def interrupt() -> None:
        running.acquire()
        running.acquire()
        _thread.interrupt_main()

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        run_tasks(work, range(20), n_jobs=2)
    thread.join()
    for _ in range(400):
        if len(ended) == 2:
            break
        time.sleep(0.005)
    # Only the two that ran; the other eighteen never started, none ran its ten seconds.
    assert ended == ["cancelled", "cancelled"]


def test_outside_of_tasks_nothing_is_cancelled() -> None:
    check_cancelled()


# --- Numbers of jobs ------------------------------------------------------------------------------


def test_jobs_follow_joblib() -> None:
    assert effective_jobs(None) == 1
    assert effective_jobs(5) == 5
    assert effective_jobs(-1) == joblib.cpu_count()
    assert effective_jobs(-1000) == 1
    with joblib.parallel_config(n_jobs=3):
        assert effective_jobs(None) == 3


@pytest.mark.parametrize("bad", [0, 1.5, "2"])
def test_impossible_numbers_of_jobs_are_named(bad: object) -> None:
    with pytest.raises(InputError, match="n_jobs is None, a positive integer, or -1"):
        effective_jobs(bad)  # type: ignore[arg-type]


# --- BLAS -----------------------------------------------------------------------------------------


@pytest.mark.usefixtures("three_blas_threads")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_tasks_see_one_blas_thread(n_jobs: int) -> None:
    assert run_tasks(lambda _: blas_threads(), range(2), n_jobs=n_jobs) == [{1}, {1}]
