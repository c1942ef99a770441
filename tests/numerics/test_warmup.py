"""Warming up: discovery, fresh and repeated runs, failures that do not stop the rest."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from novum.numerics import KernelOutcome, WarmupResult, warm_up, warmup
from novum.numerics.warmup import kernel_modules

GOOD = """
from novum.numerics.jit import kernel

@kernel("float64(float64[:,::1], int64)")
def cell(x, j):
    return x[0, j]

@kernel("void(float64[::1])")
def clear(out):
    for i in range(out.size):
        out[i] = 0.0
"""

BAD = """
from novum.numerics.jit import kernel

@kernel("int64(float64)")
def wrong_return(x):
    return x + 0.5

@kernel("float64(float64)")
def broken(x):
    return x.no_such_thing
"""

RUN = """
import sys
import numpy as np
from novum.numerics.warmup import warm_up
if __name__ == "__main__":
    steps = []
    result = warm_up({processes}, lambda *step: steps.append(step[:2]), package="warm")
    total = len(result.outcomes)
    assert steps == [(i + 1, total) for i in range(total)], steps
    print([o.kernel for o in result.compiled])
    print([o.kernel for o in result.present])
    for failure in result.failures:
        print(failure.kernel, failure.error)
    from warm.inner.good_kernels import cell
    assert cell(np.ones((1, 2)), 1) == 1.0
    print(len(cell.overloads))
"""

ALL_GOOD = "['warm.inner.good_kernels.cell', 'warm.inner.good_kernels.clear']"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    inner = tmp_path / "warm" / "inner"
    inner.mkdir(parents=True)
    (tmp_path / "warm" / "__init__.py").write_text("")
    (inner / "__init__.py").write_text("")
    (inner / "good_kernels.py").write_text(GOOD)
    (inner / "ordinary.py").write_text("raise RuntimeError('imported without need')")
    return tmp_path


def run(folder: Path, processes: int, **environment: str) -> list[str]:
    # A script on disk: new processes must be able to import it.
    script = folder / "script.py"
    script.write_text(RUN.format(processes=processes))
    finished = subprocess.run(
        [sys.executable, str(script)],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(folder), *filter(None, sys.path)]),
            "NUMBA_CACHE_DIR": str(folder / "cache"),
            "NUMBA_DISABLE_JIT": "0",
            **environment,
        },
        capture_output=True,
        text=True,
        check=True,
        timeout=100,
    )
    return finished.stdout.splitlines()


def test_the_second_run_finds_everything_and_calls_use_it(package: Path) -> None:
    assert run(package, 2) == [ALL_GOOD, "[]", "1"]
    # One overload after a real call: the canonical signature is the one that calls have.
    assert run(package, 1) == ["[]", ALL_GOOD, "1"]


@pytest.mark.slow
def test_failures_are_named_and_the_rest_is_compiled(package: Path) -> None:
    (package / "warm" / "bad_kernels.py").write_text(BAD)
    (package / "warm" / "absent_kernels.py").write_text("import no_such_module_at_all")
    compiled, _, *failures, _ = run(package, 2)
    assert compiled == ALL_GOOD
    assert [failure.split()[0] for failure in failures] == [
        "warm.absent_kernels",
        "warm.bad_kernels.broken",
        "warm.bad_kernels.wrong_return",
    ]
    assert "no_such_module_at_all" in failures[0]
    assert "no_such_thing" in failures[1]
    assert "declared to return int64, but returns float64" in failures[2]


def test_without_compilation_there_is_nothing_to_do(package: Path) -> None:
    code = "from novum.numerics.warmup import warm_up; print(warm_up(2, package='warm').outcomes)"
    finished = subprocess.run(
        [sys.executable, "-c", code],
        env={
            **os.environ,
            "NUMBA_DISABLE_JIT": "1",
            "PYTHONPATH": os.pathsep.join([str(package), *filter(None, sys.path)]),
        },
        capture_output=True,
        text=True,
        check=True,
    )
    assert finished.stdout.strip() == "()"


def test_a_process_that_dies_is_a_failure_of_its_kernels() -> None:
    from concurrent.futures import Future

    future: Future[KernelOutcome] = Future()
    future.set_exception(RuntimeError("terminated\nabruptly"))
    outcome = warmup._outcome(future, "a.b")
    assert outcome.error == "its process died: RuntimeError: terminated abruptly"


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled")
@pytest.mark.timeout(900)
def test_every_kernel_of_novum_compiles_for_its_signature() -> None:
    result = warm_up(1)
    assert [f"{o.kernel}: {o.error}" for o in result.failures] == []
    modules = {outcome.kernel.rpartition(".")[0] for outcome in result.outcomes}
    assert modules <= set(kernel_modules())
    # The others hold kernels that only kernels call, which are compiled with their callers.
    for module in set(kernel_modules()) - modules:
        found = vars(importlib.import_module(module)).values()
        assert any(hasattr(k, "py_func") and k.__module__ == module for k in found), module


def test_outcomes_are_sorted_into_three_kinds() -> None:
    done, there, failed = (
        KernelOutcome("a", 1.0, True),
        KernelOutcome("b", 0.1, False),
        KernelOutcome("c", 0.1, False, "no"),
    )
    result = WarmupResult((done, there, failed), 1.2)
    assert (result.compiled, result.present, result.failures) == ((done,), (there,), (failed,))


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one process, got 0"):
        warm_up(0)
    with pytest.raises(ValueError, match="no package 'no_such_package'"):
        kernel_modules("no_such_package")
