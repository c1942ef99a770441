"""Inner kernels: taken in by the kernel that Python calls, alone on disk, never stale."""

from __future__ import annotations

import gc
import importlib
import operator
import os
import shutil
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from numba.core import types
from numba.core.compiler import Flags
from numba.core.errors import TypingError
from numba.core.event import install_recorder
from numba.core.registry import cpu_target
from numba.extending import type_callable

import novum
from novum.numerics import fast_inner_kernel, inner_kernel, kernel
from novum.numerics.jit_parts import (
    QuickFlags,
    RememberedTypes,
    check_internals,
    collector_paused,
)
from tests.numerics.fresh_process import run

needs_compilation = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="plain functions have no machine code"
)

INNERMOST = """
from novum.numerics.jit import inner_kernel

@inner_kernel()
def twice(x):
    return {factor} * x

@inner_kernel()
def refuse(x):
    if x < 0.0:
        raise ValueError("below zero")
    return x
"""

ENTRY = """
import numpy as np
from novum.numerics.jit import inner_kernel, kernel, lean_kernel
from pack.inner_kernels import refuse, twice

@inner_kernel(allocates=True)
def doubled(x):
    out = np.empty(x.size)
    for i in range(x.size):
        out[i] = twice(x[i])
    return out

@kernel("float64(float64[::1])")
def total(x):
    s = 0.0
    for value in doubled(x):
        s += refuse(value)
    return s

@kernel("float64(float64)", vectorize=False)
def scalar_total(x):
    return twice(twice(x))

@lean_kernel("float64(float64[::1])", short_loops=True)
def short_total(x):
    s = 0.0
    for i in range(x.size):
        s += 2.0 * x[i]
    return s
"""

PROBE = """
import numpy as np
from pack.entry_kernels import scalar_total, short_total, total

print(total(np.array([1.0, 2.0])), scalar_total(1.0), short_total(np.arange(75.0)))
for kernel in (total, scalar_total, short_total):
    print(sum(kernel.stats.cache_hits.values()))
try:
    total(np.array([-1.0]))
except ValueError as error:
    print(error)
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "pack"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "entry_kernels.py").write_text(ENTRY)
    (folder / "inner_kernels.py").write_text(INNERMOST.format(factor=2.0))
    return folder


def test_only_entries_are_kept_and_a_changed_part_reaches_them(package: Path) -> None:
    assert run(PROBE, package).split() == ["6.0", "4.0", "5550.0", *"000", "below", "zero"]
    kept = sorted(path.name.split("-")[0] for path in (package.parent / "cache").rglob("*.nbi"))
    assert kept == [f"entry_kernels.{name}" for name in ("scalar_total", "short_total", "total")]
    assert run(PROBE, package).split() == ["6.0", "4.0", "5550.0", *"111", "below", "zero"]
    (package / "inner_kernels.py").write_text(INNERMOST.format(factor=3.0))
    # The last one has no parts.
    assert run(PROBE, package).split() == ["9.0", "9.0", "5550.0", *"001", "below", "zero"]


@pytest.mark.slow
def test_without_the_parts_of_this_numba_kernels_work_as_before(package: Path) -> None:
    without = "import sys; sys.modules['novum.numerics.jit_parts'] = None\n"
    assert run(without + PROBE, package).split() == [
        "6.0",
        "4.0",
        "5550.0",
        *"000",
        "below",
        "zero",
    ]
    assert len(list((package.parent / "cache").rglob("*.nbi"))) == 6


@pytest.mark.parametrize(
    "removed",
    [
        "numba.core.codegen.JITCodeLibrary._optimize_functions",
        "numba.core.codegen.CPUCodegen._module_pass_manager",
        "numba.core.codegen.JITCPUCodegen.set_env",
        "numba.core.compiler.Flags.no_cfunc_wrapper",
    ],
)
def test_a_numba_with_other_internals_is_refused_at_import(
    removed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_internals()
    place, _, name = removed.rpartition(".")
    module, _, owner = place.rpartition(".")
    for cls in getattr(importlib.import_module(module), owner).__mro__:
        # Also where it is inherited from.
        if name in vars(cls):
            monkeypatch.delattr(cls, name)
    with pytest.raises(ImportError, match=f"this Numba's .* has no {name}"):
        check_internals()


@pytest.mark.slow
def test_kernels_work_with_a_numba_that_lacks_internals(package: Path) -> None:
    # What a later version may rename, each read when code is made and never before.
    renamed = """
    from numba.core.codegen import JITCodeLibrary
    class Renamed(JITCodeLibrary):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            del self._linking_libraries
    import numba.core.codegen
    numba.core.codegen.JITCodeLibrary = Renamed
    """
    output = run(textwrap.dedent(renamed) + PROBE, package).split()
    assert output == ["6.0", "4.0", "5550.0", *"000", "below", "zero"]
    assert len(list((package.parent / "cache").rglob("*.nbi"))) == 6


@pytest.mark.slow
@pytest.mark.parametrize("name", ["jit.py", "jit_parts.py"])
def test_a_changed_compiler_is_a_new_version_of_every_kernel(package: Path, name: str) -> None:
    # A copy of the library, found before the installed one.
    copied = shutil.copytree(
        Path(novum.__file__).parent,
        package.parent / "novum",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    hits = [run(PROBE, package).split()[3:6] for _ in range(2)]
    path = copied / "numerics" / name
    path.write_text(path.read_text() + "# changed\n")
    hits.append(run(PROBE, package).split()[3:6])
    assert hits == [[*"000"], [*"111"], [*"000"]]


# --- In this process ------------------------------------------------------------------------------


@inner_kernel()
def added(x: np.ndarray, value: float) -> None:
    for i in range(x.size):
        x[i] += value


@fast_inner_kernel()
def is_missing(x: float) -> bool:
    return np.isnan(x)


@kernel("float64(float64[::1])")
def missing_share(x: np.ndarray) -> float:
    added(x, 1.0)
    count = 0
    for value in x:
        if is_missing(value):
            count += 1
    return count / x.size


def test_inner_kernels_run_in_kernels_and_by_themselves() -> None:
    x = np.array([0.0, np.nan, np.inf, 2.0])
    assert missing_share(x) == 0.25
    np.testing.assert_array_equal(x, [1.0, np.nan, np.inf, 3.0])
    added(x, 1.0)
    np.testing.assert_array_equal(x, [2.0, np.nan, np.inf, 4.0])
    assert is_missing(np.nan)


@needs_compilation
def test_parts_count_no_references() -> None:
    x = np.zeros(3)
    before = sys.getrefcount(x)
    for _ in range(100):
        missing_share(x)
    assert sys.getrefcount(x) == before
    assert added.targetoptions["_nrt"] is False
    assert is_missing.targetoptions["fastmath"] == {"reassoc", "contract"}


@needs_compilation
def test_a_part_is_compiled_once_for_all_constants_it_is_given() -> None:
    @inner_kernel()
    def scaled(x: float, factor: int) -> float:
        return factor * x

    @kernel("float64(float64)")
    def total(x: float) -> float:
        return scaled(x, 2) + scaled(x, 3) + scaled(x, 4)

    with install_recorder("numba:compile") as recorder:
        assert total(2.0) == 18.0
    compiled = [event.data["dispatcher"].py_func for _, event in recorder.buffer if event.is_start]
    assert compiled.count(scaled.py_func) == 1


@needs_compilation
def test_operators_learned_after_a_compilation_are_found() -> None:
    @kernel("float64(float64)")
    def whole(x: float) -> float:
        return x % 2.0

    class Modulus(types.Type):
        def __init__(self) -> None:
            super().__init__("Modulus")

    modulus = Modulus()
    assert whole(5.0) == 1.0
    typing = RememberedTypes(cpu_target.typing_context, Flags())
    with pytest.raises(TypingError):
        typing.resolve_function_type(operator.mod, (types.float64, modulus), {})

    @type_callable(operator.mod)
    def type_mod(_: object) -> object:
        return lambda _, right: types.float64 if right is modulus else None

    cpu_target.typing_context.refresh()
    found = typing.resolve_function_type(operator.mod, (types.float64, modulus), {})
    assert found.return_type == types.float64
    assert typing.resolve_function_type(operator.mod, (types.float64, modulus), {}) is found


def test_flags_are_equal_when_all_their_values_are() -> None:
    plain, quick = Flags(), QuickFlags(Flags())
    assert quick == plain
    assert plain == quick
    assert hash(quick) == hash(plain)
    # A flag that is set to its default is as one that is not set.
    quick.nrt = plain.nrt
    assert quick == plain
    quick.nrt = not plain.nrt
    assert quick != plain
    assert quick != QuickFlags(plain)
    assert quick == quick.copy()
    assert quick != "flags"


def test_the_collector_comes_back() -> None:
    def fail() -> None:
        with collector_paused():
            assert not gc.isenabled()
            raise ValueError("failed")

    with collector_paused():
        with collector_paused():
            pass
        assert not gc.isenabled()
    with pytest.raises(ValueError, match="failed"):
        fail()
    assert gc.isenabled()
