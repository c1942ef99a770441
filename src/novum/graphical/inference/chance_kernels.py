"""A walk along a Markov chain, drawn by counted random numbers (`numerics.counted_chance`)."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from novum.numerics import chance, lean_kernel


@lean_kernel("void(float64[:,::1], uint64, int64, int64, int64, int32[::1])")
def walk(cumulative, key, state, start, stop, out_states):
    """States after steps `start ... stop`, the first of them drawn from `state`."""
    for step in range(start, stop):
        u = chance(key, np.uint64(step))
        low, high = 0, cumulative.shape[1] - 1
        # The first state whose cumulative probability exceeds u.
        while low < high:
            middle = (low + high) // 2
            if u < cumulative[state, middle]:
                high = middle
            else:
                low = middle + 1
        state = low
        out_states[step] = state
