"""Passes over one sequence: forward, backward with expected transitions, and the best path.

Numbers of a step are divided by their sum (forward) or by that of the forward pass (backward), so
that nothing vanishes however long a sequence is. The likelihoods of a step come divided by the
largest of them, whose logarithm the caller adds.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from novum.numerics import kernel


@kernel("float64(float64[::1], float64[:, ::1], float64[:, ::1], float64[:, ::1], float64[::1])")
def forward(initial, transition, likelihood, out_filtered, out_sums):
    """P(state | observations so far) of every step, and what each was divided by.

    Returns the sum of the logarithms of the divisors; -inf where a step is impossible.
    """
    steps, n = likelihood.shape
    total = 0.0
    for t in range(steps):
        row = out_filtered[t]
        if t == 0:
            for j in range(n):
                row[j] = initial[j]
        else:
            before = out_filtered[t - 1]
            for j in range(n):
                row[j] = 0.0
            for i in range(n):
                for j in range(n):
                    row[j] += before[i] * transition[i, j]
        sum_ = 0.0
        for j in range(n):
            row[j] *= likelihood[t, j]
            sum_ += row[j]
        out_sums[t] = sum_
        if not sum_ > 0.0:
            return -np.inf
        for j in range(n):
            row[j] /= sum_
        total += np.log(sum_)
    return total


@kernel(
    "void(float64[:, ::1], float64[:, ::1], float64[:, ::1], float64[::1], float64[:, ::1], "
    "float64[:, ::1])"
)
def backward(transition, likelihood, filtered, sums, out_smoothed, out_pairs):
    """P(state | all observations) of every step; expected transitions are added to `out_pairs`."""
    steps, n = likelihood.shape
    later, here = np.ones(n), np.empty(n)
    for j in range(n):
        out_smoothed[steps - 1, j] = filtered[steps - 1, j]
    for t in range(steps - 2, -1, -1):
        for j in range(n):
            later[j] *= likelihood[t + 1, j] / sums[t + 1]
        for i in range(n):
            s = 0.0
            for j in range(n):
                s += transition[i, j] * later[j]
                out_pairs[i, j] += filtered[t, i] * transition[i, j] * later[j]
            here[i] = s
            out_smoothed[t, i] = filtered[t, i] * s
        for i in range(n):
            later[i] = here[i]


@kernel("float64(float64[::1], float64[:, ::1], float64[:, ::1], int32[:, ::1], int64[::1])")
def best_path(log_initial, log_transition, log_likelihood, back, out_path):
    """The most probable path; of equals the one of smallest states, from the end on."""
    steps, n = log_likelihood.shape
    best, new = np.empty(n), np.empty(n)
    for j in range(n):
        best[j] = log_initial[j] + log_likelihood[0, j]
    for t in range(1, steps):
        for j in range(n):
            where, value = 0, -np.inf
            for i in range(n):
                candidate = best[i] + log_transition[i, j]
                if candidate > value:
                    where, value = i, candidate
            back[t, j] = where
            new[j] = value + log_likelihood[t, j]
        for j in range(n):
            best[j] = new[j]
    last = 0
    for j in range(n):
        if best[j] > best[last]:
            last = j
    out_path[steps - 1] = last
    for t in range(steps - 1, 0, -1):
        out_path[t - 1] = back[t, out_path[t]]
    return best[last]
