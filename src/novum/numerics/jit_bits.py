"""Bits of 64-bit words for kernels: one processor instruction each, which Numba does not offer."""

from __future__ import annotations

from typing import Any, cast

from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic


@intrinsic
def _trailing_zeros(typing_context: Any, word: Any) -> Any:  # noqa: ARG001
    if word != types.uint64:
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), generate


@intrinsic
def _set_bits(typing_context: Any, word: Any) -> Any:  # noqa: ARG001
    if word != types.uint64:
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


# The same in Python, for kernels that are not compiled.


def _counted_zeros(word: Any) -> int:
    return (int(word) & -int(word)).bit_length() - 1 if word else 64


def _counted_bits(word: Any) -> int:
    return int(word).bit_count()


# What runs in its place where kernels are interpreted.
cast(Any, _trailing_zeros).py_func = _counted_zeros
cast(Any, _set_bits).py_func = _counted_bits
_interpreted = cast(Any, config).DISABLE_JIT
# Only kernels can call these, with a `uint64`.
# Number of zero bits below the lowest one; 64 for zero.
trailing_zeros = cast(Any, _counted_zeros if _interpreted else _trailing_zeros)
# Number of bits that are one.
set_bits = cast(Any, _counted_bits if _interpreted else _set_bits)
