"""Kernels: real compilation in fresh processes, freshness of the disk cache, arguments."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from novum.numerics import as_argument, fast_kernel, kernel, lean_kernel, registered_kernels
from tests.numerics.fresh_process import run

CALLEE = """
from novum.numerics.jit import kernel

SHIFT = {shift}

@kernel("float64(float64)")
def twice(x):
    return {factor} * x
"""

CALLER = """
from novum.numerics.jit import kernel
from pack.callee_kernels import SHIFT, twice
from pack import callee_kernels

@kernel("float64(float64)")
def through_same_file(x):
    return defined_below(x) + SHIFT

@kernel("float64(float64)")
def defined_below(x):
    return twice(x)

@kernel("float64(float64)")
def through_module(x):
    return callee_kernels.twice(x) + callee_kernels.SHIFT
"""

PROBE = """
from pack.caller_kernels import through_module, through_same_file

print(through_same_file(10.0), through_module(10.0))
print(sum(through_same_file.stats.cache_hits.values()),
      sum(through_module.stats.cache_hits.values()))
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "pack"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "caller_kernels.py").write_text(CALLER)
    write_callee(folder, factor=2.0, shift=0.0)
    return folder


def write_callee(folder: Path, factor: float, shift: float) -> None:
    (folder / "callee_kernels.py").write_text(CALLEE.format(factor=factor, shift=shift))


def test_a_changed_callee_in_another_file_reaches_its_cached_callers(package: Path) -> None:
    first = run(PROBE, package).split()
    unchanged = run(PROBE, package).split()
    write_callee(package, factor=3.0, shift=0.0)
    callee_changed = run(PROBE, package).split()
    write_callee(package, factor=3.0, shift=0.5)
    constant_changed = run(PROBE, package).split()
    assert first == ["20.0", "20.0", "0", "0"]
    assert unchanged == ["20.0", "20.0", "1", "1"]
    assert callee_changed == ["30.0", "30.0", "0", "0"]
    assert constant_changed == ["30.5", "30.5", "0", "0"]
    # One index per kernel is left: files of former versions are removed.
    assert len(list((package.parent / "cache").rglob("*.nbi"))) == 4


@pytest.mark.slow
def test_an_edit_under_a_running_process_does_not_mark_old_code_as_new(package: Path) -> None:
    path = package / "callee_kernels.py"
    late = f"""
    import pathlib
    from pack.caller_kernels import through_module
    path = pathlib.Path({str(path)!r})
    path.write_text(path.read_text().replace("2.0", "3.0"))
    print(through_module(10.0))
    """
    assert run(late, package).split() == ["20.0"]
    assert run(PROBE, package).split()[1] == "30.0"


@pytest.mark.slow
def test_a_damaged_cache_costs_a_compilation_not_a_crash(package: Path) -> None:
    run(PROBE, package)
    for path in (package.parent / "cache").rglob("*.nb[ic]"):
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert run(PROBE, package).split() == ["20.0", "20.0", "0", "0"]
    assert run(PROBE, package).split() == ["20.0", "20.0", "1", "1"]


@pytest.mark.slow
def test_cold_processes_side_by_side_agree(package: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        outputs = list(pool.map(lambda _: run(PROBE, package).split()[:2], range(4)))
    assert outputs == [["20.0", "20.0"]] * 4
    assert run(PROBE, package).split()[2:] == ["1", "1"]


@pytest.mark.slow
def test_cold_threads_side_by_side_agree(package: Path) -> None:
    code = """
    import threading
    from pack.caller_kernels import through_module, through_same_file
    barrier, results = threading.Barrier(8), []
    def work(function):
        barrier.wait()
        results.append(function(10.0))
    threads = [threading.Thread(target=work, args=(f,))
               for f in (through_module, through_same_file) for _ in range(4)]
    [t.start() for t in threads], [t.join() for t in threads]
    print(results)
    """
    assert run(code, package).strip() == str([20.0] * 8)


@pytest.mark.slow
def test_an_install_folder_that_cannot_be_written_uses_the_user_cache(
    package: Path, tmp_path: Path
) -> None:
    # A file where the folder should be makes it unwritable for every user, root included.
    (package / "__pycache__").write_text("")
    home = {"NUMBA_CACHE_DIR": "", "XDG_CACHE_HOME": str(tmp_path / "home"), "HOME": str(tmp_path)}
    run(PROBE, package, **home)
    assert run(PROBE, package, **home).split()[2:] == ["1", "1"]
    assert list((tmp_path / "home").rglob("*.nbi"))


@pytest.mark.slow
def test_no_writable_folder_at_all_works_with_a_warning(package: Path, tmp_path: Path) -> None:
    (package / "__pycache__").write_text("")
    nowhere = tmp_path / "file"
    nowhere.write_text("")
    code = """
    import warnings
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        from pack.callee_kernels import twice
    print(twice(10.0), "NUMBA_CACHE_DIR" in str(caught[0].message), len(caught))
    """
    gone = str(nowhere / "x")
    output = run(code, package, NUMBA_CACHE_DIR="", XDG_CACHE_HOME=gone, HOME=gone)
    assert output.split() == ["20.0", "True", "1"]


def test_without_compilation_kernels_are_plain_functions(package: Path) -> None:
    code = """
    from pack.caller_kernels import through_module
    print(through_module(10.0), type(through_module).__name__)
    """
    assert run(code, package, NUMBA_DISABLE_JIT="1").split() == ["20.0", "function"]


def test_importing_numerics_does_not_import_numba() -> None:
    code = "import sys, novum.numerics; print('numba' in sys.modules, 'sklearn' in sys.modules)"
    output = subprocess.check_output([sys.executable, "-c", code], text=True)
    assert output.split() == ["False", "False"]


# --- In this process ------------------------------------------------------------------------------


@kernel("float64(float64, float64)")
def quotient(a: float, b: float) -> float:
    return a / b


@fast_kernel("boolean(float64)")
def is_missing(x: float) -> bool:
    return np.isnan(x)


@lean_kernel("float64(float64[::1], int64)")
def lean_sum(x: np.ndarray, n: int) -> float:
    total = 0.0
    for i in range(n):
        total += x[i]
    return total


@lean_kernel("void(float64[:, ::1], float64[::1])")
def lean_row_sums(x: np.ndarray, out: np.ndarray) -> None:
    for row in range(x.shape[0]):
        out[row] = lean_sum(x[row], x.shape[1]) / x.shape[1]


@pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="plain Python raises on division by zero"
)
def test_division_by_zero_follows_numpy() -> None:
    assert quotient(1.0, 0.0) == np.inf
    assert np.isnan(quotient(0.0, 0.0))


def test_fast_kernels_still_know_nan() -> None:
    assert is_missing(np.nan)
    assert not is_missing(np.inf)


def test_kernels_are_registered_with_their_signature() -> None:
    found = {k.name: k for k in registered_kernels() if k.module == __name__}
    assert found["quotient"].signature == "float64(float64, float64)"
    assert found["quotient"].dispatcher is quotient
    assert found["lean_sum"].signature == "float64(float64[::1], int64)"
    assert set(found) == {"quotient", "is_missing", "lean_sum", "lean_row_sums"}


def test_lean_kernels_hand_on_rows_and_leave_references_alone() -> None:
    """Rows of an array go from kernel to kernel uncounted; the array lives as long as before."""
    x = np.arange(12.0).reshape(3, 4)
    out = np.empty(3)
    before = sys.getrefcount(x), sys.getrefcount(out)
    for _ in range(100):
        lean_row_sums(x, out)
    np.testing.assert_array_equal(out, x.mean(axis=1))
    assert (sys.getrefcount(x), sys.getrefcount(out)) == before
    np.testing.assert_array_equal(x, np.arange(12.0).reshape(3, 4))


@pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="plain functions have no machine code"
)
def test_lean_kernels_divide_as_numpy_and_count_no_references() -> None:
    out = np.empty(2)
    lean_row_sums(np.empty((2, 0)), out)
    assert np.isnan(out).all()
    assert lean_row_sums.targetoptions["_nrt"] is False
    assert "_nrt" not in quotient.targetoptions


@pytest.mark.slow
def test_lean_kernels_are_kept_on_disk(package: Path) -> None:
    (package / "lean_kernels.py").write_text(
        CALLEE.replace("kernel", "lean_kernel").format(factor=2.0, shift=0.0)
    )
    probe = """
    from pack.lean_kernels import twice
    print(twice(10.0), sum(twice.stats.cache_hits.values()))
    """
    assert run(probe, package).split() == ["20.0", "0"]
    assert run(probe, package).split() == ["20.0", "1"]


@pytest.mark.parametrize(
    "values",
    [
        [[1, 2], [3, 4]],
        np.arange(4, dtype=np.float32).reshape(2, 2),
        np.asfortranarray(np.arange(4.0).reshape(2, 2)),
        np.arange(16.0).reshape(4, 4)[::2, ::2],
        np.zeros((0, 3)),
    ],
)
def test_arguments_become_canonical(values: object) -> None:
    argument = as_argument(values)  # type: ignore[arg-type]
    np.testing.assert_array_equal(argument, np.asarray(values))
    assert argument.dtype == np.float64
    assert argument.flags.c_contiguous
    assert argument.flags.writeable


def test_a_read_only_argument_is_neither_copied_nor_released() -> None:
    frozen = np.arange(5.0)
    frozen.flags.writeable = False
    argument = as_argument(frozen)
    assert np.shares_memory(argument, frozen)
    del frozen
    np.testing.assert_array_equal(argument, np.arange(5.0))
