"""An exponential and a logarithm that become vector instructions, for kernels of many of them."""

from __future__ import annotations

import numpy as np

from novum.numerics.jit import kernel

_ROUND = 6755399441055744.0  # 1.5 * 2^52: adding and taking it away rounds to an integer
_LOG2_E = 1.4426950408889634
_LN2_HIGH = 6.93145751953125e-1
_LN2_LOW = 1.42860682030941723212e-6

# Bits of sqrt(1/2), of 2^52, and the bias of exponents.
_ROOT_HALF = 0x3FE6A09E667F3BCD
_LAST_BIT_ONE = 0x4330000000000000
_BIAS = 1023


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


@kernel("float64(float64)")
def log_of_positive(x):  # type: ignore[no-untyped-def]
    """`log(x)` for numbers from 2.3e-308, where doubles are not denormal, to 1.8e308.

    `x = 2^k m` with m in [sqrt(1/2), sqrt(2)), and `log m = 2 (s + s^3 / 3 + s^5 / 5 + ...)` for
    `s = (m - 1) / (m + 1)`; up to `s^21` the series is exact to rounding.
    """
    bits = np.float64(x).view(np.int64)
    biased = (bits - _ROOT_HALF + (_BIAS << 52)) >> 52
    m = np.int64(bits - ((biased - _BIAS) << 52)).view(np.float64)
    # An integer in the last bits of 2^52 is added to it: quicker than a conversion.
    k = np.int64(biased | _LAST_BIT_ONE).view(np.float64) - (4503599627370496.0 + _BIAS)
    s = (m - 1.0) / (m + 1.0)
    t = s * s
    p = t * (1.0 / 21.0) + 1.0 / 19.0
    p = p * t + 1.0 / 17.0
    p = p * t + 1.0 / 15.0
    p = p * t + 1.0 / 13.0
    p = p * t + 1.0 / 11.0
    p = p * t + 1.0 / 9.0
    p = p * t + 1.0 / 7.0
    p = p * t + 1.0 / 5.0
    p = p * t + 1.0 / 3.0
    return k * _LN2_HIGH + (2.0 * s + (2.0 * s * t * p + k * _LN2_LOW))
