"""Passes over one sequence: forward, backward with expected transitions, and the best path.

Numbers of a step are divided by their sum (forward) or by that of the forward pass (backward). A
state far below the others of its step may still be the only one that explains what comes later, so
where doubles alone would lose it, numbers have an exponent of their own,

    number = value 2^(-512 power),      2^-256 <= value < 2^256

and none ever vanishes. Powers of two are exact: all others keep the digits that they have without.
The likelihoods of a step come divided by the largest of them, whose logarithm the caller adds.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

import numpy as np

from novum.numerics import inner_kernel, kernel

LEAST, MOST = 2.0**-256, 2.0**256
RAISED, LOWERED = 2.0**512, 2.0**-512
# The logarithm of one power.
UNIT = 512 * math.log(2.0)
# Beside a sum of the lowest power that is as large as this, numbers of other powers do not count.
AMPLE = 2.0**-128

# Of every step and state: likelihoods and their logarithms.
SHOWN = "UniTuple(float64[:, ::1], 2)"
# Of every step and state, values and powers.
FILTERED = "UniTuple(float64[:, ::1], 2)"
# Of every step: value and power of the sum, and whether doubles alone hold sum and states; their
# powers are not written then.
SUMS = "Tuple((float64[::1], float64[::1], boolean[::1]))"


@inner_kernel()
def scaled(value, power):
    """The same number with its value between `LEAST` and `MOST`; zero has the power 0."""
    if value == 0.0:
        return 0.0, 0.0
    while value < LEAST:
        value *= RAISED
        power += 1.0
    while value >= MOST:
        value *= LOWERED
        power -= 1.0
    return value, power


@inner_kernel()
def unscaled(value, power):
    """A number of at most 1 as a double; its value may be the product of three."""
    if power < 0.0:
        return value * RAISED
    if power > 4.0:
        return 0.0
    while power > 0.0:
        value *= LOWERED
        power -= 1.0
    return value


@inner_kernel()
def scaled_likelihood(likelihood, log):
    """A likelihood of at most 1, from its logarithm where a double holds it badly."""
    if likelihood >= LEAST or log == -np.inf:
        return likelihood, 0.0
    power = np.ceil(-log / UNIT - 0.5)
    return np.exp(log + power * UNIT), power


@inner_kernel()
def is_ordinary(value, power):
    """Whether a double alone holds a number that is not zero."""
    return (power == 0.0) & (value >= LEAST)


@inner_kernel()
def weighted_sum(weights, values, powers):
    """The sum of `weights[i] values[i] 2^(-512 powers[i])`, scaled."""
    lowest = np.inf
    for i in range(len(values)):
        if values[i] > 0.0 and weights[i] > 0.0:
            lowest = min(lowest, scaled(weights[i], powers[i])[1])
    total = 0.0
    for i in range(len(values)):
        if values[i] > 0.0 and weights[i] > 0.0:
            weight, power = scaled(weights[i], powers[i])
            if power == lowest:
                total += weight * values[i]
            elif power == lowest + 1.0:
                total += weight * values[i] * LOWERED
    return scaled(total, lowest)


@inner_kernel()
def predict(states, transition, out, out_powers):
    """The shares of states after a transition."""
    before, powers, is_plain = states
    n = len(before)
    for j in range(n):
        out[j], out_powers[j] = 0.0, 0.0
    for i in range(n):
        if is_plain or powers[i] == 0.0:
            for j in range(n):
                out[j] += before[i] * transition[i, j]
    if not is_plain:
        for j in range(n):
            if out[j] < AMPLE:
                out[j], out_powers[j] = weighted_sum(transition[:, j], before, powers)


@kernel(f"float64(float64[::1], float64[:, ::1], {SHOWN}, {FILTERED}, {SUMS})")
def forward(initial, transition, shown, out_filtered, out_sums):
    """P(state | observations so far) of every step, and what each was divided by.

    Returns the sum of the logarithms of the divisors; -inf where a step is impossible.
    """
    likelihood, logs = shown
    filtered, powers = out_filtered
    sums, sum_powers, plain = out_sums
    steps, n = likelihood.shape
    has_tiny = False
    for number in transition.flat:
        has_tiny |= 0.0 < number < LEAST
    predicted, predicted_powers = np.empty(n), np.empty(n)
    total = 0.0
    for t in range(steps):
        row = filtered[t]
        if t == 0:
            for j in range(n):
                predicted[j], predicted_powers[j] = scaled(initial[j], 0.0)
        else:
            before = (filtered[t - 1], powers[t - 1], plain[t - 1])
            predict(before, transition, predicted, predicted_powers)
        sum_, lowest, ordinary = 0.0, 0.0, not has_tiny
        for j in range(n):
            row[j] = predicted[j] * likelihood[t, j]
            sum_ += row[j]
            is_zero = (predicted[j] == 0.0) | (logs[t, j] == -np.inf)
            ordinary &= is_zero | is_ordinary(row[j], predicted_powers[j])
        if not ordinary:
            sum_, lowest = 0.0, np.inf
            for j in range(n):
                share, power = scaled_likelihood(likelihood[t, j], logs[t, j])
                row[j], powers[t, j] = scaled(predicted[j] * share, predicted_powers[j] + power)
                if row[j] > 0.0:
                    lowest = min(lowest, powers[t, j])
            for j in range(n):
                powers[t, j] -= lowest
                if powers[t, j] <= 1.0:
                    sum_ += unscaled(row[j], powers[t, j])
            for j in range(n):
                row[j], powers[t, j] = scaled(row[j] / sum_, powers[t, j])
        else:
            for j in range(n):
                row[j] /= sum_
        sums[t], plain[t] = sum_, ordinary
        if not sum_ > 0.0:
            return -np.inf
        if not ordinary:
            sum_powers[t] = lowest
        total += np.log(sum_) - lowest * UNIT
    return total


@kernel(f"void(float64[:, ::1], {SHOWN}, {FILTERED}, {SUMS}, float64[:, ::1], float64[:, ::1])")
def backward(transition, shown, filtered, sums, out_smoothed, out_pairs):
    """P(state | all observations) of every step; expected transitions are added to `out_pairs`."""
    likelihood, logs = shown
    shares, powers = filtered
    divisors, divisor_powers, plain = sums
    steps, n = likelihood.shape
    later, later_powers = np.ones(n), np.zeros(n)
    here, here_powers, near = np.empty(n), np.zeros(n), np.empty(n)
    for j in range(n):
        power = 0.0 if plain[steps - 1] else powers[steps - 1, j]
        out_smoothed[steps - 1, j] = unscaled(shares[steps - 1, j], power)
    for t in range(steps - 2, -1, -1):
        is_plain, lowest = plain[t + 1], 0.0
        for j in range(n):
            near[j] = later[j] * (likelihood[t + 1, j] / divisors[t + 1])
            is_zero = (later[j] == 0.0) | (logs[t + 1, j] == -np.inf)
            is_plain &= is_zero | is_ordinary(near[j], later_powers[j])
        if not is_plain:
            lowest = np.inf
            for j in range(n):
                share, power = scaled_likelihood(likelihood[t + 1, j], logs[t + 1, j])
                power += later_powers[j]
                if not plain[t + 1]:
                    power -= divisor_powers[t + 1]
                share /= divisors[t + 1]
                later[j], later_powers[j] = scaled(later[j] * share, power)
                if later[j] > 0.0:
                    lowest = min(lowest, later_powers[j])
            for j in range(n):
                near[j] = later[j] if later_powers[j] == lowest else 0.0
        else:
            for j in range(n):
                later[j] = near[j]
        for i in range(n):
            s, row_power = 0.0, 0.0 if plain[t] else powers[t, i]
            if is_plain and row_power == 0.0:
                for j in range(n):
                    s += transition[i, j] * later[j]
                    out_pairs[i, j] += shares[t, i] * transition[i, j] * later[j]
            elif shares[t, i] > 0.0:
                for j in range(n):
                    s += transition[i, j] * near[j]
                    share, power = scaled(transition[i, j], row_power + later_powers[j])
                    out_pairs[i, j] += unscaled(shares[t, i] * share * later[j], power)
            here[i], here_powers[i] = s, lowest
            if not is_plain and s < AMPLE:
                here[i], here_powers[i] = weighted_sum(transition[i], later, later_powers)
            out_smoothed[t, i] = unscaled(shares[t, i] * here[i], row_power + here_powers[i])
        for i in range(n):
            later[i], later_powers[i] = scaled(here[i], here_powers[i])


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
