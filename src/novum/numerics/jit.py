"""The decorators for compiled kernels: lazy, kept on disk, and never stale.

`kernel` compiles a function with Numba when it is first called and keeps the machine code on disk.
It allows no fast-math; `fast_kernel` allows reassociation and contraction, nothing else;
`lean_kernel` counts no references; `inner_kernel` is for those that only kernels call, and has no
machine code of its own (see `jit_parts`). All give a real Numba dispatcher, so kernels call each
other at full speed, and remember the one signature the library calls the kernel with, which `novum
warmup` compiles ahead of time.

Numba's disk cache looks only at the source file of the kernel itself: change a kernel that another
file calls, and the caller's old machine code, with the callee inlined, is loaded without a word.
Here the stamp of a kernel also covers what it was compiled from beyond its own file,

    stamp(f) = digest(file of f, {file of g : g reachable from f}, {frozen globals}, our compiler),

over all kernels g reachable through global names, and all global constants, which Numba freezes
into the code. Our compiler is this file and `jit_parts`. The digests of the files are taken when
the kernels are defined, so that editing a file under a running process cannot mark old code as new.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from novum import __version__
from novum.numerics.jit_notice import announce_slow_compilations
from novum.numerics.types import Array

Decorator = Callable[[Callable[..., Any]], Any]


# --- Registry -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RegisteredKernel:
    """A compiled function and the signature the library calls it with."""

    name: str
    module: str
    signature: str
    dispatcher: Any

    @property
    def key(self) -> str:
        return f"{self.module}.{self.name}"


_kernels: dict[str, RegisteredKernel] = {}
_file_digests: dict[FunctionType, str] = {}
# The files that decide how kernels are compiled.
_COMPILER = ("jit.py", "jit_parts.py")


def registered_kernels() -> tuple[RegisteredKernel, ...]:
    """Every kernel defined so far in this process that Python calls, by name."""
    return tuple(_kernels[key] for key in sorted(_kernels))


class Loops(Enum):
    """How the loops of a kernel become vector instructions."""

    LONG = "several at a time"
    SHORT = "one at a time"
    SCALAR = "not at all"


# --- Decorators -----------------------------------------------------------------------------------


def kernel(signature: str, *, vectorize: bool = True) -> Decorator:
    """Compile a function on first use, keep the code on disk, round as written.

    Parameters
    ----------
    signature : str
        The canonical signature in Numba's notation; `novum warmup` compiles it ahead. Callers bring
        arguments to it with `as_argument`: each further type costs another compilation.
    vectorize : bool
        Whether loops may become vector instructions. Kernels of integers and branches compile
        sooner without, and are as fast.

    Returns
    -------
    decorator
        Turns the function into a Numba dispatcher. With `NUMBA_DISABLE_JIT=1` the function itself
        is returned, which computes the same, slowly.

    Notes
    -----
    Division by zero gives infinity or NaN as in NumPy, and indices are not checked.

    Examples
    --------
    >>> @kernel("float64(float64[::1])")
    ... def total(x):
    ...     s = 0.0
    ...     for i in range(x.size):
    ...         s += x[i]
    ...     return s
    >>> total(as_argument([1, 2, 3]))
    6.0
    """
    loops = Loops.LONG if vectorize else Loops.SCALAR
    return _decorator(signature, fastmath=False, loops=loops)


def fast_kernel(signature: str) -> Decorator:
    """Like `kernel`, but sums may be reordered and multiply-adds fused.

    NaN and infinity keep their meaning. Use it only where a benchmark shows the gain, and say so
    beside the kernel: the result still depends on nothing but the input and the machine.
    """
    return _decorator(signature, fastmath={"reassoc", "contract"})


def lean_kernel(signature: str, *, short_loops: bool = False) -> Decorator:
    """Like `kernel`, for kernels that allocate nothing and return numbers: no reference counts.

    Counting the references of arrays that are handed from kernel to kernel is felt where kernels
    are small, as in trees (`benchmarks/trees`). Lean kernels call only lean kernels.

    Parameters
    ----------
    signature : str
    short_loops : bool
        Whether most loops run over a few dozen cells, too few to take several vectors at a time
        (`benchmarks/graphical/inference`).
    """
    loops = Loops.SHORT if short_loops else Loops.LONG
    return _decorator(signature, fastmath=False, counts_references=False, loops=loops)


def inner_kernel(*, allocates: bool = False) -> Decorator:
    """Like `kernel`, for kernels that only kernels call: compiled as a part of their callers.

    Its types are those that callers give. Nothing is kept on disk but the kernel that Python calls,
    with everything it reaches, so a chain of small kernels is optimized once. A call from Python
    works too, as tests need it, and compiles the kernel for itself. One that allocates nothing
    counts no references, as a `lean_kernel`.
    """
    return _decorator(None, fastmath=False, counts_references=allocates)


def fast_inner_kernel() -> Decorator:
    """Like `inner_kernel`, but sums may be reordered and multiply-adds fused (`fast_kernel`)."""
    return _decorator(None, fastmath={"reassoc", "contract"}, counts_references=False)


def as_argument(values: ArrayLike, dtype: DTypeLike = np.float64) -> Array:
    """`values` as the array a kernel's signature names: this dtype, C-contiguous, writable type.

    Numba compiles anew for read-only arrays. They are passed as a view of the same memory with the
    flag dropped, without a copy: kernels write only into arguments named `out`.

    >>> frozen = np.arange(3.0)
    >>> frozen.flags.writeable = False
    >>> view = as_argument(frozen)
    >>> view.flags.writeable, np.shares_memory(view, frozen)
    (True, True)
    """
    array = np.asarray(values, dtype)
    if not array.flags.c_contiguous:
        array = np.ascontiguousarray(array)
    return array if array.flags.writeable else np.asarray(_WritableView(array))


class _WritableView:
    """Hands an array's memory to NumPy without its read-only flag, and keeps the array alive."""

    def __init__(self, array: Array) -> None:
        self.array = array
        address, _ = array.__array_interface__["data"]
        self.__array_interface__ = {**array.__array_interface__, "data": (address, False)}


def _decorator(
    signature: str | None,
    fastmath: bool | set[str],
    *,
    counts_references: bool = True,
    loops: Loops = Loops.LONG,
) -> Decorator:
    """Without a signature the kernel is an inner one."""
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": fastmath}
    if not counts_references:
        options["_nrt"] = False

    def decorate(function: Callable[..., Any]) -> Any:
        assert isinstance(function, FunctionType), "kernels are plain functions"
        _file_digests[function] = _file_digest(function)
        _compiler_digest()
        dispatcher = _dispatcher(function, options, loops, signature is None)
        if dispatcher is not function:
            from novum.numerics.jit_waiting import compile_while_waiting

            _keep_on_disk(dispatcher)
            compile_while_waiting(dispatcher)
            announce_slow_compilations()
        if signature is not None:
            registered = RegisteredKernel(
                function.__qualname__, function.__module__, signature, dispatcher
            )
            _kernels[registered.key] = registered
        return dispatcher

    return decorate


def _dispatcher(
    function: FunctionType, options: dict[str, Any], loops: Loops, is_inner: bool
) -> Any:
    import numba

    jit_parts = _parts()
    if jit_parts is None:
        return numba.njit(**options)(function)
    options = {**options, "no_cfunc_wrapper": True}
    compilers = {
        Loops.LONG: jit_parts.EntryCompiler,
        Loops.SHORT: jit_parts.ShortLoopCompiler,
        Loops.SCALAR: jit_parts.ScalarCompiler,
    }
    dispatcher = numba.njit(pipeline_class=compilers[loops], **options)(function)
    if is_inner and dispatcher is not function:
        part = numba.njit(pipeline_class=jit_parts.PartCompiler, **options)
        jit_parts.call_as_part(dispatcher, lambda: part(function))
    return dispatcher


@cache
def _parts() -> Any:
    """Our compiler, or None: a Numba with other internals compiles in its own way, to the same."""
    try:
        from novum.numerics import jit_parts
    except ImportError:
        return None
    return jit_parts


# --- Disk cache -----------------------------------------------------------------------------------


def _keep_on_disk(dispatcher: Any) -> None:
    """Give the dispatcher a cache whose stamp covers everything it is compiled from.

    The folder is the one Numba would choose: `NUMBA_CACHE_DIR`, the module's `__pycache__`, or the
    user's cache folder where the installation cannot be written. Where there is none, or where a
    later Numba has other internals, kernels still work, without the disk, and a warning says so.
    """
    try:
        from novum.numerics.jit_cache import stamped_cache

        dispatcher._cache = stamped_cache(dispatcher.py_func, source_digest)
    except Exception as reason:
        if not Path(dispatcher.py_func.__code__.co_filename).exists():
            # Typed at a prompt: no later process could ask for it.
            return
        warnings.warn(
            f"Compiled kernels such as {dispatcher.py_func.__qualname__} cannot be kept on disk "
            f"and are compiled again in every process: {reason} "
            "Set NUMBA_CACHE_DIR to a folder that can be written.",
            RuntimeWarning,
            stacklevel=4,
        )


def source_digest(function: FunctionType) -> str:
    """Digest of all that the machine code of `function` depends on.

    Reads the globals as they are now: call it when the function is about to be compiled.
    """
    digests: dict[str, str] = {}
    constants: dict[str, str] = {}
    pending = [function]
    seen = {function}
    while pending:
        current = pending.pop()
        place = f"{current.__module__}.{current.__qualname__}"
        digests[place] = _file_digests.get(current) or _file_digest(current)
        for name, value in _referenced(current):
            callee = getattr(value, "py_func", value)
            if isinstance(callee, FunctionType):
                if callee not in seen:
                    seen.add(callee)
                    pending.append(callee)
            else:
                constants[f"{place}:{name}"] = _constant_digest(value)
    content = repr((sorted(digests.items()), sorted(constants.items()), _compiler_digest()))
    return hashlib.sha256(content.encode()).hexdigest()


def _referenced(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Names and values of the globals and closure cells the function's code can reach."""
    names = set(_names(function.__code__))
    for name in sorted(names):
        value = function.__globals__.get(name)
        if isinstance(value, ModuleType):
            # `module.attribute` leaves both names in the code, without their connection. Modules
            # outside our own code are covered by Numba's version in the cache.
            for attribute in sorted(names & set(vars(value))):
                member = vars(value)[attribute]
                if hasattr(member, "py_func") or isinstance(member, int | float | Enum):
                    yield f"{name}.{attribute}", member
        elif value is not None:
            yield name, value
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield name, cell.cell_contents


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _constant_digest(value: Any) -> str:
    if isinstance(value, type) and issubclass(value, Enum):
        return repr([(member.name, member.value) for member in value])
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    if isinstance(value, bool | int | float | complex | str | bytes | tuple | Enum | np.generic):
        return repr(value)
    fields = getattr(value, "_fields", ())
    return f"{type(value).__name__} {getattr(value, '__qualname__', '')} {fields}"


@cache
def _compiler_digest() -> str:
    digest = hashlib.sha256()
    for name in _COMPILER:
        path = Path(__file__).with_name(name)
        # In an archive there is no file; the library's version then tells them apart.
        digest.update(path.read_bytes() if path.is_file() else __version__.encode())
    return digest.hexdigest()


def _file_digest(function: FunctionType) -> str:
    path = Path(function.__code__.co_filename)
    try:
        content = path.read_bytes()
    except OSError:
        # Code typed at a prompt or read from an archive: its own bytes are all there is.
        code = function.__code__
        constants = [value for value in code.co_consts if not isinstance(value, CodeType)]
        content = code.co_code + repr((code.co_names, constants)).encode()
    return hashlib.sha256(content).hexdigest()
