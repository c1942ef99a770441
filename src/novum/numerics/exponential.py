"""An exponential that becomes vector instructions, for kernels that take many of them."""

from __future__ import annotations

import numpy as np

from novum.numerics.jit import kernel

_ROUND = 6755399441055744.0  # 1.5 * 2^52: adding and taking it away rounds to an integer
_LOG2_E = 1.4426950408889634
_LN2_HIGH = 6.93145751953125e-1
_LN2_LOW = 1.42860682030941723212e-6


@kernel("float64(float64)")
def exp_of_negative(x):  # type: ignore[no-untyped-def]
    """`exp(x)` for `x <= 0`; below -708 it stays at 3e-308, so that it is never zero.

    `x = k ln 2 + f` with `|f| <= ln(2) / 2`; the Taylor polynomial of degree 13 is then exact to
    rounding, and `2^k` is written into the exponent of a double.
    """
    a = x if x > -708.0 else -708.0
    k = (a * _LOG2_E + _ROUND) - _ROUND
    f = (a - k * _LN2_HIGH) - k * _LN2_LOW
    p = f * (1.0 / 6227020800.0) + 1.0 / 479001600.0
    p = p * f + 1.0 / 39916800.0
    p = p * f + 1.0 / 3628800.0
    p = p * f + 1.0 / 362880.0
    p = p * f + 1.0 / 40320.0
    p = p * f + 1.0 / 5040.0
    p = p * f + 1.0 / 720.0
    p = p * f + 1.0 / 120.0
    p = p * f + 1.0 / 24.0
    p = p * f + 1.0 / 6.0
    p = p * f + 0.5
    p = p * f + 1.0
    p = p * f + 1.0
    return p * np.int64((np.int64(k) + 1023) << 52).view(np.float64)
