"""Random numbers in kernels, counted: the number of a draw decides its value.

    u(key, i) = upper 53 bits of mix(key + i * golden) / 2^53            (splitmix64)

(Steele, Lea and Flood 2014.) Draws may be made in any order and in any slices of the work, and
stay the same. The key comes from a stream of `novum.core.runtime.randomness`.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from novum.numerics.jit import lean_kernel

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_UNIT = 1.0 / (1 << 53)


@lean_kernel("uint64(uint64, uint64)")
def chance_word(key, counter):
    """64 bits that depend on every bit of the key and the counter."""
    x = key + counter * _GOLDEN
    x = (x ^ (x >> np.uint64(30))) * _FIRST
    x = (x ^ (x >> np.uint64(27))) * _SECOND
    return x ^ (x >> np.uint64(31))


@lean_kernel("int64(uint64, uint64)")
def chance_bits(key, counter):
    """A whole number from 0 up to, and without, 2^53."""
    return np.int64(chance_word(key, counter) >> np.uint64(11))


@lean_kernel("float64(uint64, uint64)")
def chance(key, counter):
    """A number from 0 up to, and without, 1."""
    return chance_bits(key, counter) * _UNIT
