"""Traces: steps that somebody took, and what can be learned from them without acting.

A trace holds episodes of (state, action, reward, next state). The values of the policy that made
them follow in three ways,

    direct utility        the mean of the discounted rewards that followed each visit
    adaptive dynamic      transitions and rewards by counting (with a Dirichlet prior), then the
    programming           linear equations of the process that was counted
    temporal differences  V(s) <- V(s) + a (r + discount * V(s') - V(s)), also with traces

`off_policy` judges other policies by the same traces.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from novum.core.errors import InputError
from novum.core.runtime import RandomSource, stream
from novum.core.text import label_text
from novum.display import Table
from novum.numerics import Floats, Integers, Mask, as_argument, cached_property, kernel
from novum.reinforcement.names import Names
from novum.reinforcement.process import MarkovDecisionProcess


@dataclass(frozen=True, eq=False)
class Traces:
    """Episodes as arrays.

    Attributes
    ----------
    states, actions : names
    state, action : int64 arrays (n_steps,)
    reward : array (n_steps,)
    next_state : int64 array (n_steps,)
    ends : bool array (n_steps,)
        Whether the process was over after the step.
    last : bool array (n_steps,)
        Whether the episode was; also where it was cut off.
    probability : array (n_steps,), optional
        With which the action was taken, where that is known.

    Examples
    --------
    >>> traces = Traces.of([[("a", "go", 1.0, "b"), ("b", "go", 2.0, None)]])
    >>> direct_utility(traces, 0.5).values.tolist()
    [2.0, 2.0]
    """

    states: Names
    actions: Names
    state: Integers
    action: Integers
    reward: Floats
    next_state: Integers
    ends: Mask
    last: Mask
    probability: Floats | None = None

    @classmethod
    def of(
        cls,
        episodes: Iterable[Sequence[tuple[Any, ...]]],
        states: Iterable[Any] | None = None,
        actions: Iterable[Any] | None = None,
    ) -> Traces:
        """From episodes of `(state, action, reward, next state)`.

        A next state of None says that the process ended; a fifth part is the probability with
        which the action was taken.
        """
        rows: list[tuple[Any, ...]] = []
        last: list[bool] = []
        for number, episode in enumerate(episodes):
            steps = list(episode)
            for step in steps:
                if not isinstance(step, tuple | list) or len(step) not in (4, 5):
                    raise InputError(
                        f"A step of episode {number} is (state, action, reward, next state), with "
                        f"the probability of the action behind if known; got {label_text(step)}."
                    )
            rows += [tuple(step) for step in steps]
            last += [False] * (len(steps) - 1) + [True] * bool(steps)
        if not rows:
            raise InputError("There is no step in these episodes.")
        met = [row[0] for row in rows] + [row[3] for row in rows if row[3] is not None]
        known = list(dict.fromkeys(met)) if states is None else list(states)
        acts = list(dict.fromkeys(row[1] for row in rows)) if actions is None else list(actions)
        state_names = Names.of(known, len(known), "state")
        action_names = Names.of(acts, len(acts), "action")
        ends = np.array([row[3] is None for row in rows])
        state = state_names.codes([row[0] for row in rows])
        following = [row[0] if row[3] is None else row[3] for row in rows]
        reward = np.array([row[2] for row in rows], np.float64)
        if not np.isfinite(reward).all():
            raise InputError(f"Step {int(np.argmin(np.isfinite(reward)))} has an infinite reward.")
        shares = None
        if all(len(row) == 5 for row in rows):
            shares = np.array([row[4] for row in rows], np.float64)
            if not ((shares > 0) & (shares <= 1)).all():
                raise InputError("Probabilities of actions that were taken are above 0, at most 1.")
        return cls(
            state_names,
            action_names,
            state,
            action_names.codes([row[1] for row in rows]),
            reward,
            state_names.codes(following),
            ends,
            np.array(last),
            shares,
        )

    @property
    def n_steps(self) -> int:
        return len(self.state)

    @cached_property
    def starts(self) -> Integers:
        """Where each episode begins."""
        return np.flatnonzero(np.concatenate([[True], self.last[:-1]])).astype(np.int64)

    @property
    def n_episodes(self) -> int:
        return len(self.starts)

    @property
    def lengths(self) -> Integers:
        return np.diff(np.append(self.starts, self.n_steps))

    def returns(self, discount: float) -> Floats:
        """The discounted sum of rewards of each episode."""
        return self.returns_of_steps(discount)[self.starts]

    def returns_of_steps(self, discount: float) -> Floats:
        """The discounted sum of rewards from each step to the end of its episode."""
        out = np.empty(self.n_steps)
        _returns(as_argument(self.reward), as_argument(self.last, np.bool_), discount, out)
        return out

    def counts(self) -> Floats:
        """How often each action led from each state to each other; (n_states * n_actions, ...)."""
        n, m = len(self.states), len(self.actions)
        on = ~self.ends
        pair = self.state * m + self.action
        return np.asarray(
            sparse.csr_array(
                (np.ones(int(on.sum())), (pair[on], self.next_state[on])), shape=(n * m, n)
            ).toarray()
        )

    def process(self, discount: float, prior: float = 0.0) -> MarkovDecisionProcess:
        """The process by counting: certainty equivalence.

        Parameters
        ----------
        prior : float
            Dirichlet pseudo-count of every next state that was ever met from the same state.

        Notes
        -----
        Actions that were never tried in a state are not allowed there, and states that were never
        left are terminal.
        """
        table: dict[Any, dict[Any, list[tuple[float, Any, float, bool]]]] = {
            state: {} for state in self.states
        }
        m = len(self.actions)
        key = (self.state * m + self.action) * (len(self.states) + 1)
        key = key + np.where(self.ends, len(self.states), self.next_state)
        kinds, first, inverse, counts = np.unique(
            key, return_index=True, return_inverse=True, return_counts=True
        )
        sums = np.bincount(inverse, self.reward, len(kinds))
        seen: dict[int, set[int]] = {}
        for place in first.tolist():
            target = len(self.states) if self.ends[place] else int(self.next_state[place])
            seen.setdefault(int(self.state[place]), set()).add(target)
        tallies: dict[tuple[int, int], dict[int, tuple[float, float]]] = {}
        for place, count, total in zip(first.tolist(), counts, sums, strict=True):
            pair = (int(self.state[place]), int(self.action[place]))
            target = len(self.states) if self.ends[place] else int(self.next_state[place])
            tallies.setdefault(pair, {})[target] = (float(count), float(total / count))
        for (state, action), met in tallies.items():
            targets = seen[state] if prior > 0 else set(met)
            mass = sum(count for count, _ in met.values()) + prior * len(targets)
            mean = sum(c * r for c, r in met.values()) / sum(c for c, _ in met.values())
            table[self.states[state]][self.actions[action]] = [
                (
                    (met.get(target, (0.0, 0.0))[0] + prior) / mass,
                    self.states[state] if target == len(self.states) else self.states[target],
                    met.get(target, (0.0, mean))[1],
                    target == len(self.states),
                )
                for target in sorted(targets)
            ]
        return MarkovDecisionProcess.from_outcomes(table, discount, actions=list(self.actions))


# --- Values of the policy that made the traces ----------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class Utilities:
    """Estimated values of states.

    Attributes
    ----------
    values : array (n_states,)
        NaN where a state was never visited.
    visits : int64 array (n_states,)
    standard_errors : array (n_states,), or None
    """

    states: Names
    values: Floats
    visits: Integers
    standard_errors: Floats | None = None

    def __repr__(self) -> str:
        errors = np.full(len(self.values), np.nan) if self.standard_errors is None else (
            self.standard_errors
        )  # fmt: skip
        rows = [
            [str(s), f"{v:.6g}", f"{e:.2g}", str(int(n))]
            for s, v, e, n in zip(self.states, self.values, errors, self.visits, strict=True)
        ]
        heads = ["state", "value", "standard error", "visits"]
        return Table.of_numbers("", heads, rows[:30]).as_text()


def direct_utility(traces: Traces, discount: float, first_visit: bool = True) -> Utilities:
    """Mean return after visits of a state (Widrow and Hoff 1960; Monte Carlo).

    Parameters
    ----------
    traces : Traces
    discount : float
    first_visit : bool
        Whether only the first visit of an episode counts; its returns are independent, so that
        the standard errors hold. Every visit uses more returns.
    """
    returns = traces.returns_of_steps(discount)
    n = len(traces.states)
    used = np.arange(traces.n_steps)
    if first_visit:
        episode = np.repeat(np.arange(traces.n_episodes), traces.lengths)
        _, used = np.unique(episode * n + traces.state, return_index=True)
    state = traces.state[used]
    count = np.bincount(state, minlength=n)
    total = np.bincount(state, returns[used], n)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = total / count
        spread = np.bincount(state, (returns[used] - mean[state]) ** 2, n) / (count - 1)
        errors = np.sqrt(spread / count)
    return Utilities(traces.states, mean, count, np.where(count > 1, errors, np.nan))


def temporal_differences(
    traces: Traces, discount: float, *, trace_decay: float = 0.0, step_size: Any = None
) -> Utilities:
    """TD(lambda): values learned step by step from the traces, in their order.

    Parameters
    ----------
    trace_decay : float
        Lambda: 0 looks one step ahead, 1 is direct utility estimation step by step.
    step_size : float or schedule, optional
        Counts the visits of a state; `PolynomialDecay()` by default.
    """
    from novum.reinforcement.learning.schedules import PolynomialDecay, schedule_of

    schedule = schedule_of(PolynomialDecay() if step_size is None else step_size, "step_size")
    n = len(traces.states)
    values, visits = np.zeros(n), np.zeros(n, np.int64)
    _td_lambda(
        as_argument(traces.state, np.int64),
        as_argument(traces.reward),
        as_argument(traces.next_state, np.int64),
        as_argument(traces.ends, np.bool_),
        as_argument(traces.last, np.bool_),
        discount,
        float(trace_decay),
        schedule.code(),
        values,
        visits,
        np.zeros(n),
        np.zeros(n + 1, np.int64),
    )
    return Utilities(traces.states, values, visits)


# --- Simulation ----------------------------------------------------------------------------------


def simulate(
    process: MarkovDecisionProcess,
    policy: Any,
    n_episodes: int = 1,
    *,
    max_episode_steps: int = 1000,
    random_state: RandomSource = None,
) -> Traces:
    """Episodes of a policy in a process with a start.

    Examples
    --------
    >>> from novum.reinforcement import GridWorld, solve
    >>> world = GridWorld.notes().process
    >>> traces = simulate(world, solve(world).policy, 2000, random_state=0)
    >>> abs(float(traces.returns(1.0).mean()) - 0.705) < 0.05
    True
    """
    from novum.reinforcement.environments.worlds import TableWorld
    from novum.reinforcement.learning.tabular_kernels import walk_policy
    from novum.reinforcement.policy import Policy

    if n_episodes < 1 or max_episode_steps < 1:
        raise InputError(
            f"At least one episode of one step is simulated, got {n_episodes} episodes of "
            f"{max_episode_steps} steps."
        )
    world = TableWorld.of(process, max_episode_steps)
    own = Policy.of(process, policy)
    if own.n_steps is not None:
        raise InputError("Policies by steps are not simulated; give one that ignores the clock.")
    shares = own.weights[process.pairs.state, np.maximum(process.pairs.action, 0)]
    bounds = cumulative_within(shares, process.pairs.start)
    key = np.uint64(stream(random_state, "simulation").integers(0, 2**63))
    position = np.array([0, -1, 0, 0, 0, 0], np.int64)
    n_pairs = process.pairs.n_pairs
    visits, never = np.zeros(n_pairs, np.int64), np.full(n_pairs, 2**62, np.int64)
    pieces: list[tuple[Any, ...]] = []
    done, block = 0, 4096
    while done < n_episodes:
        pair, reward = np.empty(block, np.int64), np.empty(block)
        following = np.empty(block, np.int32)
        ends, last = np.empty(block, np.bool_), np.empty(block, np.bool_)
        walk_policy(
            block, world.longest, world.first, key, world.start, bounds, world.outcome_start,
            world.cumulative, world.next_state, world.reward, world.ends, never,
            position, visits, pair, reward, following, ends, last,
        )  # fmt: skip
        pieces.append((pair, reward, following, ends, last))
        done += int(last.sum())
    arrays = [np.concatenate(column) for column in zip(*pieces, strict=True)]
    end = int(np.flatnonzero(arrays[4])[n_episodes - 1]) + 1
    pair, reward, following, ends, last = (array[:end] for array in arrays)
    return Traces(
        process.states,
        process.actions,
        process.pairs.state[pair],
        process.pairs.action[pair].astype(np.int64),
        reward,
        following.astype(np.int64),
        ends,
        last,
        shares[pair],
    )


def cumulative_within(shares: Floats, start: Integers) -> Floats:
    """Cumulative probabilities of the pairs of each state; infinite from the last possible one."""
    sums = np.cumsum(shares)
    before = np.concatenate([[0.0], sums])[start[:-1]]
    counts = np.diff(start)
    bounds = sums - np.repeat(before, counts)
    state = np.repeat(np.arange(len(counts)), counts)
    possible = np.flatnonzero(shares > 0)
    last = start[1:] - 1
    last[state[possible]] = possible
    bounds[np.arange(len(shares)) >= last[state]] = np.inf
    return as_argument(bounds)


# --- Kernels --------------------------------------------------------------------------------------


@kernel("void(float64[::1], bool_[::1], float64, float64[::1])")
def _returns(reward, last, discount, out):
    total = 0.0
    for i in range(reward.size - 1, -1, -1):
        total = reward[i] + (0.0 if last[i] else discount * total)
        out[i] = total


@kernel(
    "void(int64[::1], float64[::1], int64[::1], bool_[::1], bool_[::1], float64, float64, "
    "float64[::1], float64[::1], int64[::1], float64[::1], int64[::1])"
)
def _td_lambda(
    state, reward, next_state, ends, last, discount, decay, schedule,
    out_values, out_visits, out_traces, out_active,
):  # fmt: skip
    active = 0
    for i in range(state.size):
        s = state[i]
        if out_traces[s] == 0.0:
            out_active[active] = s
            active += 1
        out_traces[s] = 1.0
        visits = float(out_visits[s])
        out_visits[s] += 1
        if schedule[0] == 0.0:
            alpha = schedule[1]
        elif schedule[0] == 1.0:
            alpha = schedule[1] / (1.0 + visits / schedule[3]) ** schedule[2]
        else:
            alpha = schedule[1] + min(i / schedule[3], 1.0) * (schedule[2] - schedule[1])
        ahead = 0.0 if ends[i] else out_values[next_state[i]]
        error = reward[i] + discount * ahead - out_values[s]
        kept = 0
        for k in range(active):
            other = out_active[k]
            out_values[other] += alpha * error * out_traces[other]
            out_traces[other] *= discount * decay
            if last[i] or out_traces[other] < 1e-8:
                out_traces[other] = 0.0
            else:
                out_active[kept] = other
                kept += 1
        active = kept
