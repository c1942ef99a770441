"""Compile every kernel ahead of time, so that no later call waits.

Kernels live in modules named `*_kernels`; they are found by walking the package's folders, so a new
one needs no entry anywhere. Each is compiled for its canonical signature, in worker processes
because Numba compiles one function at a time in each process. The machine code lands in the disk
cache, from which later processes load it in milliseconds.
"""

from __future__ import annotations

import importlib
import importlib.util
import multiprocessing
import pkgutil
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from novum.numerics.jit import RegisteredKernel, registered_kernels


@dataclass(frozen=True)
class KernelOutcome:
    """What warming up did to one kernel.

    Parameters
    ----------
    kernel : str
        Module and name.
    seconds : float
    compiled : bool
        False if the code was on disk already.
    error : str or None
        Why it could not be compiled.
    """

    kernel: str
    seconds: float
    compiled: bool
    error: str | None = None


@dataclass(frozen=True)
class WarmupResult:
    """Outcomes in the order of the kernels' names, and the time in all."""

    outcomes: tuple[KernelOutcome, ...]
    seconds: float

    @property
    def compiled(self) -> tuple[KernelOutcome, ...]:
        return tuple(o for o in self.outcomes if o.error is None and o.compiled)

    @property
    def present(self) -> tuple[KernelOutcome, ...]:
        return tuple(o for o in self.outcomes if o.error is None and not o.compiled)

    @property
    def failures(self) -> tuple[KernelOutcome, ...]:
        return tuple(o for o in self.outcomes if o.error is not None)


Report = Callable[[int, int, KernelOutcome], None]


def warm_up(
    processes: int = 2, report: Report | None = None, *, package: str = "novum"
) -> WarmupResult:
    """Compile the canonical signature of every kernel of a package.

    Parameters
    ----------
    processes : int
        Worker processes, started afresh; 1 compiles in this process.
    report : callable, optional
        Called in this process as `report(done, total, outcome)` after each kernel.
    package : str
        Name of an importable package.

    Returns
    -------
    WarmupResult
        A kernel that fails does not stop the others; see `failures`.

    Notes
    -----
    With `NUMBA_DISABLE_JIT=1` there is nothing to compile and the result is empty.
    """
    if processes < 1:
        raise ValueError(f"Warming up needs at least one process, got {processes}.")
    start = time.perf_counter()
    kernels, broken = _found_kernels(package)
    total = len(kernels) + len(broken)
    outcomes = list(broken)
    for done, outcome in enumerate(broken, 1):
        if report:
            report(done, total, outcome)
    for outcome in _outcomes(kernels, processes):
        outcomes.append(outcome)
        if report:
            report(len(outcomes), total, outcome)
    ordered = tuple(sorted(outcomes, key=lambda outcome: outcome.kernel))
    return WarmupResult(ordered, time.perf_counter() - start)


def kernel_modules(package: str = "novum") -> list[str]:
    """Names of the modules `*_kernels` in a package, found without importing any of them.

    >>> "novum.numerics.counting_kernels" in kernel_modules()
    True
    """
    specification = importlib.util.find_spec(package)
    if specification is None or not specification.submodule_search_locations:
        raise ValueError(f"There is no package {package!r} to look for kernels in.")
    modules: list[str] = []
    for folder in specification.submodule_search_locations:
        modules.extend(_modules_below(Path(folder), package))
    return sorted(modules)


def compile_kernel(module: str, name: str) -> KernelOutcome:
    """Compile one kernel for its canonical signature, or load it from the disk."""
    start = time.perf_counter()
    key = f"{module}.{name}"
    try:
        importlib.import_module(module)
        [registered] = [k for k in registered_kernels() if k.key == key]
        was_compiled = _compile(registered)
    except Exception as error:
        return KernelOutcome(key, time.perf_counter() - start, False, _one_line(error))
    return KernelOutcome(key, time.perf_counter() - start, was_compiled)


def _compile(registered: RegisteredKernel) -> bool:
    from numba.core import sigutils, types

    arguments, declared = sigutils.normalize_signature(registered.signature)
    # The cache is keyed by the types of the arguments alone, as a call would give them.
    registered.dispatcher.compile(tuple(arguments))
    returned = registered.dispatcher.overloads[tuple(arguments)].signature.return_type
    if declared not in (None, returned, types.void if returned == types.none else returned):
        raise TypeError(f"declared to return {declared}, but returns {returned}.")
    return not registered.dispatcher.stats.cache_hits


def _outcomes(kernels: list[RegisteredKernel], processes: int) -> Iterator[KernelOutcome]:
    tasks = [(kernel.module, kernel.name) for kernel in kernels]
    if processes == 1 or len(tasks) < 2:
        yield from (compile_kernel(*task) for task in tasks)
        return
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(min(processes, len(tasks)), mp_context=context)
    try:
        futures: dict[Future[KernelOutcome], str] = {
            pool.submit(compile_kernel, *task): ".".join(task) for task in tasks
        }
        pending = set(futures)
        while pending:
            finished, pending = wait(pending, return_when=FIRST_COMPLETED)
            for future in sorted(finished, key=lambda future: futures[future]):
                yield _outcome(future, futures[future])
    finally:
        pool.shutdown(cancel_futures=True)


def _outcome(future: Future[KernelOutcome], key: str) -> KernelOutcome:
    error: Any = future.exception()
    if error is None:
        return future.result()
    return KernelOutcome(key, 0.0, False, f"its process died: {_one_line(error)}")


def _found_kernels(package: str) -> tuple[list[RegisteredKernel], list[KernelOutcome]]:
    """Kernels that have something to compile, and the modules that cannot be imported."""
    broken = []
    modules = set(kernel_modules(package))
    for module in sorted(modules):
        try:
            importlib.import_module(module)
        except Exception as error:
            broken.append(KernelOutcome(module, 0.0, False, _one_line(error)))
    return [
        kernel
        for kernel in registered_kernels()
        if kernel.module in modules and hasattr(kernel.dispatcher, "compile")
    ], broken


def _modules_below(folder: Path, package: str) -> Iterator[str]:
    for info in pkgutil.iter_modules([str(folder)]):
        name = f"{package}.{info.name}"
        if info.ispkg:
            yield from _modules_below(folder / info.name, name)
        elif info.name.endswith("_kernels"):
            yield name


def _one_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {' '.join(lines)[:500]}"
