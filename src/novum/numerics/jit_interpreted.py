"""Kernels run by Python itself, while their machine code is not at hand.

Compiling takes seconds and pays after many calls. A kernel whose work is small may be interpreted
until then: the function it is made from, with every kernel it calls replaced by its own function.
Integers and the four operations on floats give the same bits either way; other functions of floats
(logarithms, powers) need not, and sums of `fast_kernel` may be ordered differently. Interpret only
kernels without them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, wraps
from types import FunctionType
from typing import Any

import numpy as np

from novum.numerics.jit import registered_kernels


@cache
def interpreted(kernel: Any) -> Callable[..., Any]:
    """The function of a kernel, run by Python together with all kernels it calls.

    Integers wrap around and divisions by zero give infinity without a warning, as in the kernel.

    Examples
    --------
    >>> from novum.numerics import kernel
    >>> @kernel("int64(int64)")
    ... def twice(x):
    ...     return 2 * x
    >>> interpreted(twice)(21)
    42
    """
    function = _uncompiled(kernel)

    @wraps(function)
    def run(*arguments: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*arguments)

    return run


def is_at_hand(kernel: Any) -> bool:
    """Whether calling a kernel needs no compilation: its machine code is in memory or on disk."""
    if not hasattr(kernel, "overloads") or kernel.overloads:
        return True
    holds = getattr(kernel._cache, "holds", None)
    if holds is None:
        return False
    return bool(holds(_argument_types(kernel), kernel.targetctx))


@cache
def _argument_types(kernel: Any) -> tuple[Any, ...]:
    """The types that a kernel's signature names."""
    from numba.core import sigutils

    [signature] = [k.signature for k in registered_kernels() if k.dispatcher is kernel]
    arguments, _ = sigutils.normalize_signature(signature)
    return tuple(arguments)


@dataclass
class Patience:
    """Seconds that Python may spend on kernels in this process before they are compiled.

    Compiling takes longer than some runs in Python, and one question may be all that is asked.

    Attributes
    ----------
    seconds : float
        So many, in all threads together.
    spent : float

    Examples
    --------
    >>> from novum.numerics import kernel
    >>> @kernel("int64(int64)")
    ... def half(x):
    ...     return x // 2
    >>> patience = Patience(seconds=1.0)
    >>> patience.run(half, 42), patience.spent > 0, patience.is_left_for(half)
    (21, True, True)
    """

    seconds: float
    spent: float = 0.0

    def is_left_for(self, kernel: Any) -> bool:
        """Whether Python makes the next run of a kernel: not where its machine code is at hand."""
        return self.spent < self.seconds and not is_at_hand(kernel)

    def run(self, kernel: Any, *arguments: Any) -> Any:
        """What a kernel gives, by Python as long as there is patience."""
        if self.is_left_for(kernel):
            return self.interpret(kernel, *arguments)
        return kernel(*arguments)

    def interpret(self, kernel: Any, *arguments: Any) -> Any:
        """What a kernel gives when Python runs it, on account."""
        start = time.perf_counter()
        try:
            return interpreted(kernel)(*arguments)
        finally:
            self.spent += time.perf_counter() - start


# Globals of modules with kernels, by their identity, and the same with functions in their place.
_plain_globals: dict[int, dict[str, Any]] = {}


def _uncompiled(kernel: Any, unfinished: dict[int, dict[str, Any]] | None = None) -> FunctionType:
    """The function of a kernel, among globals that are seen by others only when all are filled."""
    function = getattr(kernel, "py_func", kernel)
    names = function.__globals__
    filling = {} if unfinished is None else unfinished
    plain = _plain_globals.get(id(names)) or filling.get(id(names))
    if plain is None:
        # Kept before it is filled: kernels of one module call each other.
        plain = filling[id(names)] = dict(names)
        for name, value in list(names.items()):
            if hasattr(value, "py_func"):
                plain[name] = _uncompiled(value, filling)
    if unfinished is None:
        _plain_globals.update(filling)
    return FunctionType(
        function.__code__, plain, function.__name__, function.__defaults__, function.__closure__
    )
