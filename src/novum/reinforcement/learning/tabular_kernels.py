"""Learning in a table of pairs, step by step, in one compiled loop.

Random numbers are counted: step t uses the numbers 4t ... 4t + 3 of its key, whatever the slices in
which the steps are made. `position` holds where the agent is between two calls:

    0 state    1 pair that is taken next, or -1 before a start    2 steps of this episode
    3 steps in all    4 filled places of the ring of n-step returns    5 pairs with a trace
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from enum import IntEnum

import numpy as np

from novum.numerics import chance, inner_kernel, kernel, lean_kernel


class Rule(IntEnum):
    """What an action is updated towards."""

    SARSA = 0
    EXPECTED_SARSA = 1
    Q_LEARNING = 2
    DOUBLE_Q = 3
    N_STEP = 4


_SARSA, _EXPECTED, _Q, _DOUBLE, _N_STEP = 0, 1, 2, 3, 4
_SMALL_TRACE = 1e-8


@inner_kernel()
def scheduled(code, first, visits, steps):
    """The number of a schedule whose code begins at `first`."""
    kind, a, b, c = code[first], code[first + 1], code[first + 2], code[first + 3]
    if kind == 0.0:
        return a
    if kind == 1.0:
        return a / (1.0 + visits / c) ** b
    share = min(steps / c, 1.0)
    return a + share * (b - a)


@inner_kernel()
def best_pair(values, low, high):
    best = low
    for p in range(low + 1, high):
        if values[p] > values[best]:
            best = p
    return best


@inner_kernel()
def _any_best(values, low, high, u):
    """One of the best pairs; the first would be tried for ever where all are worth the same."""
    top, ties = values[low], 1
    for p in range(low + 1, high):
        if values[p] > top:
            top, ties = values[p], 1
        elif values[p] == top:
            ties += 1
    left = int(u * ties)
    for p in range(low, high):
        if values[p] == top:
            if left == 0:
                return p
            left -= 1
    return high - 1


@inner_kernel()
def _visits_of(exploration, visits, low, high):
    """Visits of a state, where the schedule of exploration counts them."""
    own = 0
    if exploration[1] == 1.0:
        for p in range(low, high):
            own += visits[p]
    return own


@inner_kernel()
def chosen_pair(exploration, values, start, visits, state, step, key):
    """The pair that an exploring agent takes in a state."""
    low, high = start[state], start[state + 1]
    if high - low == 1:
        return low
    own = _visits_of(exploration, visits, low, high)
    counter = np.uint64(4 * step)
    if exploration[0] == 0.0:
        epsilon = scheduled(exploration, 1, float(own), float(step))
        if epsilon > 0.0 and chance(key, counter + np.uint64(1)) < epsilon:
            return low + int((high - low) * chance(key, counter + np.uint64(2)))
        return _any_best(values, low, high, chance(key, counter + np.uint64(2)))
    if exploration[0] == 1.0:
        temperature = scheduled(exploration, 1, float(own), float(step))
        top = values[best_pair(values, low, high)]
        total = 0.0
        for p in range(low, high):
            total += np.exp((values[p] - top) / temperature)
        u = chance(key, counter + np.uint64(2)) * total
        for p in range(low, high):
            u -= np.exp((values[p] - top) / temperature)
            if u < 0.0:
                return p
        return high - 1
    best, worth = low, -np.inf
    for p in range(low, high):
        value = exploration[2] if visits[p] < exploration[3] else values[p]
        if value > worth:
            best, worth = p, value
    return best


@inner_kernel()
def expected_value(exploration, values, start, visits, state, step):
    """The mean of the values of a state under the exploring policy."""
    low, high = start[state], start[state + 1]
    own = _visits_of(exploration, visits, low, high)
    top = values[best_pair(values, low, high)]
    if exploration[0] == 1.0:
        temperature = scheduled(exploration, 1, float(own), float(step))
        total, mean = 0.0, 0.0
        for p in range(low, high):
            weight = np.exp((values[p] - top) / temperature)
            total += weight
            mean += weight * values[p]
        return mean / total
    epsilon = scheduled(exploration, 1, float(own), float(step)) if exploration[0] == 0.0 else 0.0
    mean = 0.0
    for p in range(low, high):
        mean += values[p]
    return (1.0 - epsilon) * top + epsilon * mean / (high - low)


@inner_kernel()
def first_table_learns(key, step):
    """The coin of double Q-learning.

    Of a key of its own: were it one of the four numbers of the step, the table that learns from the
    first step of an episode would depend on where the episode began.
    """
    return chance(~key, np.uint64(step)) < 0.5


@inner_kernel()
def following_value(rule, exploration, values, others, start, visits, state, pair, step, key):
    """What the next state is worth to the pair that led there."""
    low, high = start[state], start[state + 1]
    if rule == _Q:
        return values[best_pair(values, low, high)]
    if rule == _EXPECTED:
        return expected_value(exploration, values, start, visits, state, step)
    if rule == _DOUBLE:
        if first_table_learns(key, step):
            return others[best_pair(values, low, high)]
        return values[best_pair(others, low, high)]
    return values[pair]


@inner_kernel()
def drawn(cumulative, low, high, u):
    """The first place whose cumulative probability exceeds u."""
    high -= 1
    while low < high:
        middle = (low + high) // 2
        if u < cumulative[middle]:
            high = middle
        else:
            low = middle + 1
    return low


@lean_kernel(
    "int64(int64, int64, float64[::1], float64[::1], float64[::1], float64, float64, int64, "
    "uint64, int64[::1], int64[::1], float64[::1], int32[::1], float64[::1], bool_[::1], "
    "float64[::1], float64[::1], float64[::1], int64[::1], int64[::1], float64[::1], "
    "int64[::1], float64[::1], int64[::1], float64[::1], int64[::1])"
)
def learn(
    rule,
    steps,
    exploration,
    step_size,
    first,
    discount,
    decay,
    longest,
    key,
    start,
    outcome_start,
    cumulative,
    next_state,
    reward,
    ends,
    out_values,
    out_others,
    out_traces,
    out_active,
    out_visits,
    out_sum,
    out_ring_pairs,
    out_ring_rewards,
    out_position,
    out_returns,
    out_lengths,
):
    """Takes some steps in a simulated process and learns from each; counts finished episodes."""
    episodes = 0
    state, pair, length, t = out_position[0], out_position[1], out_position[2], out_position[3]
    total = out_sum[0]
    for _ in range(steps):
        counter = np.uint64(4 * t)
        if pair < 0:
            state = drawn(first, 0, first.size, chance(key, counter + np.uint64(3)))
            length = 0
            total = 0.0
            pair = chosen_pair(exploration, out_values, start, out_visits, state, t, key)
        place = drawn(
            cumulative, outcome_start[pair], outcome_start[pair + 1], chance(key, counter)
        )
        gained, state, over = reward[place], np.int64(next_state[place]), ends[place]
        total += gained
        out_visits[pair] += 1
        length += 1
        following = np.int64(-1)
        if not over and rule in (_SARSA, _N_STEP):
            following = chosen_pair(exploration, out_values, start, out_visits, state, t + 1, key)
        if rule == _N_STEP:
            _n_step_update(
                pair, gained, following, over, discount, step_size, t,
                out_values, out_visits, out_ring_pairs, out_ring_rewards, out_position,
            )  # fmt: skip
        else:
            ahead = 0.0
            if not over:
                ahead = following_value(
                    rule, exploration, out_values, out_others, start, out_visits, state,
                    following, t, key,
                )  # fmt: skip
            target = gained + discount * ahead
            alpha = scheduled(step_size, 0, float(out_visits[pair] - 1), float(t))
            if rule == _DOUBLE:
                if first_table_learns(key, t):
                    out_values[pair] += alpha * (target - out_values[pair])
                else:
                    out_others[pair] += alpha * (target - out_others[pair])
            elif decay == 0.0:
                out_values[pair] += alpha * (target - out_values[pair])
            else:
                _trace_update(
                    pair, target - out_values[pair], step_size, t, discount * decay,
                    out_values, out_visits, out_traces, out_active, out_position,
                )  # fmt: skip
        t += 1
        if over or length >= longest:
            if rule == _N_STEP:
                _finish_ring(
                    following, over, discount, step_size, t - 1,
                    out_values, out_visits, out_ring_pairs, out_ring_rewards, out_position,
                )  # fmt: skip
            for i in range(out_position[5]):
                out_traces[out_active[i]] = 0.0
            out_position[5] = 0
            out_returns[episodes] = total
            out_lengths[episodes] = length
            episodes += 1
            pair = -1
        elif following >= 0:
            pair = following
        else:
            pair = chosen_pair(exploration, out_values, start, out_visits, state, t, key)
    out_position[0] = state
    out_position[1] = pair
    out_position[2] = length
    out_position[3] = t
    out_sum[0] = total
    return episodes


@inner_kernel()
def _trace_update(
    pair, error, step_size, step, fade, out_values, out_visits, out_traces, out_active, out_position
):
    """All pairs that led here share the error by how long ago they were taken last."""
    if out_traces[pair] == 0.0:
        out_active[out_position[5]] = pair
        out_position[5] += 1
    # Replaced, not added to: a pair that is taken again and again would move by more than its step.
    out_traces[pair] = 1.0
    kept = 0
    for i in range(out_position[5]):
        p = out_active[i]
        alpha = scheduled(step_size, 0, float(max(out_visits[p] - 1, 0)), float(step))
        out_values[p] += alpha * error * out_traces[p]
        out_traces[p] *= fade
        if out_traces[p] < _SMALL_TRACE:
            out_traces[p] = 0.0
        else:
            out_active[kept] = p
            kept += 1
    out_position[5] = kept


@inner_kernel()
def _n_step_update(
    pair, gained, following, over, discount, step_size, step,
    out_values, out_visits, out_ring_pairs, out_ring_rewards, out_position,
):  # fmt: skip
    """Keeps the last n steps; when all places are filled the oldest is updated."""
    n, filled = out_ring_pairs.size, out_position[4]
    out_ring_pairs[filled] = pair
    out_ring_rewards[filled] = gained
    out_position[4] = filled + 1
    if filled + 1 == n and not over:
        _update_oldest(
            out_values[following], discount, step_size, step,
            out_values, out_visits, out_ring_pairs, out_ring_rewards, out_position,
        )  # fmt: skip


@inner_kernel()
def _update_oldest(
    last, discount, step_size, step,
    out_values, out_visits, out_ring_pairs, out_ring_rewards, out_position,
):  # fmt: skip
    filled = out_position[4]
    total = last
    for i in range(filled - 1, -1, -1):
        total = out_ring_rewards[i] + discount * total
    p = out_ring_pairs[0]
    alpha = scheduled(step_size, 0, float(max(out_visits[p] - 1, 0)), float(step))
    out_values[p] += alpha * (total - out_values[p])
    for i in range(filled - 1):
        out_ring_pairs[i] = out_ring_pairs[i + 1]
        out_ring_rewards[i] = out_ring_rewards[i + 1]
    out_position[4] = filled - 1


@inner_kernel()
def _finish_ring(
    following, over, discount, step_size, step,
    out_values, out_visits, out_ring_pairs, out_ring_rewards, out_position,
):  # fmt: skip
    """The steps that are left when an episode is over."""
    last = 0.0 if over else out_values[following]
    while out_position[4] > 0:
        _update_oldest(
            last, discount, step_size, step,
            out_values, out_visits, out_ring_pairs, out_ring_rewards, out_position,
        )  # fmt: skip


# --- From given steps -----------------------------------------------------------------------------


@kernel(
    "float64(int64, float64[::1], float64[::1], float64, int64[::1], int64[::1], float64[::1], "
    "int32[::1], int64[::1], bool_[::1], uint64, int64, float64[::1], float64[::1], int64[::1])"
)
def learn_from_steps(
    rule, exploration, step_size, discount, start, pair, reward, next_state, next_pair, ends,
    key, first_step, out_values, out_others, out_visits,
):  # fmt: skip
    """Updates pairs by steps that somebody else took; the sum of squared errors."""
    squares = 0.0
    for i in range(pair.size):
        p = pair[i]
        ahead = 0.0
        out_visits[p] += 1
        if not ends[i]:
            ahead = following_value(
                rule, exploration, out_values, out_others, start, out_visits,
                np.int64(next_state[i]), next_pair[i], first_step + i, key,
            )  # fmt: skip
        alpha = scheduled(step_size, 0, float(out_visits[p] - 1), float(first_step + i))
        target = reward[i] + discount * ahead
        if rule == _DOUBLE and not first_table_learns(key, first_step + i):
            error = target - out_others[p]
            out_others[p] += alpha * error
        else:
            error = target - out_values[p]
            out_values[p] += alpha * error
        squares += error * error
    return squares


@lean_kernel("int64(float64[::1], float64[::1], int64[::1], int64[::1], int64, int64, uint64)")
def choose(exploration, values, start, visits, state, step, key):
    """`chosen_pair`, for loops in Python."""
    return chosen_pair(exploration, values, start, visits, state, step, key)


# --- A fixed policy -------------------------------------------------------------------------------


@lean_kernel(
    "int64(int64, int64, float64[::1], uint64, int64[::1], float64[::1], int64[::1], float64[::1], "
    "int32[::1], float64[::1], bool_[::1], int64[::1], int64[::1], int64[::1], int64[::1], "
    "float64[::1], int32[::1], bool_[::1], bool_[::1])"
)
def walk_policy(
    steps, longest, first, key, start, policy, outcome_start, cumulative, next_state, reward, ends,
    most_visits, out_position, out_visits, out_pair, out_reward, out_next, out_ends, out_last,
):  # fmt: skip
    """Steps of a policy (cumulative probabilities of pairs), until a pair is visited enough.

    `most_visits` of a pair ends the walk after the step that fills it.
    """
    for i in range(steps):
        t = out_position[3]
        counter = np.uint64(4 * t)
        if out_position[1] < 0:
            out_position[0] = drawn(first, 0, first.size, chance(key, counter + np.uint64(3)))
            out_position[2] = 0
            out_position[1] = 0
        state = out_position[0]
        pair = drawn(policy, start[state], start[state + 1], chance(key, counter + np.uint64(1)))
        place = drawn(
            cumulative, outcome_start[pair], outcome_start[pair + 1], chance(key, counter)
        )
        out_pair[i] = pair
        out_reward[i] = reward[place]
        out_next[i] = next_state[place]
        out_ends[i] = ends[place]
        out_visits[pair] += 1
        out_position[2] += 1
        out_position[3] = t + 1
        out_position[0] = next_state[place]
        out_last[i] = ends[place] or out_position[2] >= longest
        if out_last[i]:
            out_position[1] = -1
        if out_visits[pair] >= most_visits[pair]:
            return i + 1
    return steps
