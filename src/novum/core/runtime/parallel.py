"""Running independent tasks side by side, with the same bits for any number of jobs.

Kernels release the interpreter lock, so tasks run in threads and share their arrays. Results come
back in the order of the tasks. BLAS is held to one thread meanwhile, with one job as with many: a
BLAS with several threads splits its sums differently, and then the last bits depend on the machine.

Ctrl-C reaches only the main thread. `run_tasks` passes it on: no further task is started, and
tasks that are running end at their next `check_cancelled()`.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Iterable, Iterator
from numbers import Integral
from typing import Any, Literal, TypeVar

import joblib
from sklearn import config_context, get_config
from sklearn.utils.parallel import Parallel, delayed

from novum.core.errors import InputError
from novum.core.runtime.interrupts import Cancelled, OutOfTime, check_cancelled, stops_with
from novum.core.tables import said_once
from novum.numerics import one_blas_thread

Task = TypeVar("Task")
Result = TypeVar("Result")


# --- Tasks ----------------------------------------------------------------------------------------


def effective_jobs(n_jobs: int | None = None) -> int:
    """How many tasks run at once, under joblib's rules.

    `None` is 1 unless `joblib.parallel_config` says otherwise; -1 is all processors this process
    may use (affinity and control groups respected), -2 all but one.

    Examples
    --------
    >>> effective_jobs(None), effective_jobs(3)
    (1, 3)
    """
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or n_jobs == 0):
        raise InputError(
            f"n_jobs is None, a positive integer, or -1 for all processors, got {n_jobs!r}."
        )
    return max(1, int(joblib.effective_n_jobs(n_jobs)))


def run_tasks(
    function: Callable[[Task], Result],
    tasks: Iterable[Task],
    n_jobs: int | None = None,
    *,
    prefer: Literal["threads", "processes"] = "threads",
    verbose: int = 0,
) -> list[Result]:
    """`[function(task) for task in tasks]`, several at once.

    Parameters
    ----------
    function : callable
        Called with one task. Randomness comes from `core.runtime.randomness`, keyed by the task.
    tasks : iterable
        Consumed in order.
    n_jobs : int, optional
        See `effective_jobs`. With one job the tasks run in the caller's thread.
    prefer : {"threads", "processes"}, default="threads"
        Processes suit long pure-Python tasks; function and tasks must then be picklable.
    verbose : int, default=0
        joblib's progress messages.

    Returns
    -------
    list
        Results in the order of the tasks. The first task that fails raises its error here.

    Notes
    -----
    scikit-learn's configuration reaches all workers, and in threads so do context variables such
    as `numpy.errstate`. After Ctrl-C no further task starts, and running ones end at their next
    `check_cancelled()`; control comes back without waiting for them.

    Examples
    --------
    >>> run_tasks(lambda n: n**2, range(4), n_jobs=2)
    [0, 1, 4, 9]
    """
    # Tasks ask models that are members of one, which says once what all of them have met.
    with one_blas_thread(), said_once():
        if effective_jobs(n_jobs) == 1:
            return [function(task) for task in tasks]
        if prefer == "processes":
            pool = Parallel(n_jobs=n_jobs, prefer="processes", verbose=verbose)
            return list(pool(delayed(function)(task) for task in tasks))
        return _run_in_threads(function, tasks, n_jobs, verbose)


def _run_in_threads(
    function: Callable[[Task], Result], tasks: Iterable[Task], n_jobs: int | None, verbose: int
) -> list[Result]:
    # Not scikit-learn's `Parallel`: it sets the warning filters in every thread, which all threads
    # share, so that they can end up lost.
    stop = threading.Event()
    config = get_config()
    # Of the caller: joblib may draw tasks in threads of its own, which know none of its variables.
    mine = stops_with(stop)

    def run(context: contextvars.Context, task: Task) -> Result:
        if stop.is_set():
            raise Cancelled
        try:
            with config_context(**config):
                return context.run(function, task)
        except OutOfTime:
            # A pool loses threads that end by anything but an `Exception`.
            stop.set()
            raise Cancelled from None

    def calls() -> Iterator[Any]:
        for task in tasks:
            # A context can be entered by one thread at a time, so each task has its own.
            yield joblib.delayed(run)(mine.copy(), task)

    try:
        pool = joblib.Parallel(n_jobs=n_jobs, require="sharedmem", verbose=verbose)
        return list(pool(calls()))
    except Cancelled:
        check_cancelled()
        raise
    except BaseException:
        stop.set()
        raise
