"""Agents with a table: SARSA, expected SARSA, Q-learning, double Q-learning.

After a step from pair p with reward r to state s', the value of the pair moves towards a target,

    Q(p) <- Q(p) + a (target - Q(p))

    SARSA             r + discount * Q(s', a')          a' is the action that is taken next
    expected SARSA    r + discount * sum over a of pi(a | s') Q(s', a)
    Q-learning        r + discount * max over a of Q(s', a)
    double Q          r + discount * Q2(s', argmax over a of Q1(s', a)),  the tables in turns
    n-step            r_1 + discount r_2 + ... + discount^n Q(s_n, a_n)

SARSA with `trace_decay` lambda moves all pairs of the episode, by (discount * lambda)^age.

Processes and environments with a table are learned in one compiled loop; its random numbers are
counted, so that stopping, saving and going on give the bits of one long run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from novum.core.errors import InputError, ModelFileError
from novum.core.learners import Learner, fitted, parameter
from novum.core.runtime import RandomSource, fit_context, fitting, stream, time_sliced
from novum.core.text import label_text
from novum.display import Axis, Chart, Line
from novum.numerics import Codes, Floats, Integers
from novum.reinforcement.environments.worlds import GymWorld, TableWorld, world_of
from novum.reinforcement.learning.schedules import (
    EpsilonGreedy,
    Exploration,
    PolynomialDecay,
    schedule_of,
    warn_of_schedules,
)
from novum.reinforcement.learning.tabular_kernels import Rule, choose, learn, learn_from_steps
from novum.reinforcement.learning.traces import Traces
from novum.reinforcement.names import Names
from novum.reinforcement.pairs import END
from novum.reinforcement.policy import Policy

GYM_DISCOUNT = 0.99


class TabularAgent(Learner):
    """What agents with a table share.

    Parameters
    ----------
    n_steps : int
        Steps to take in a fit.
    step_size : float or schedule
        How far a value moves towards its target; schedules count the visits of a pair.
    exploration : Greedy, EpsilonGreedy, Boltzmann or Optimistic
        Default: `EpsilonGreedy()`, which fades with the visits of a state.
    discount : float, optional
        That of the process by default, and 0.99 in Gymnasium's environments.
    initial_value : float
        Of every pair; a high one makes the agent try everything.
    max_episode_steps : int, optional
        Steps after which an episode is cut off; what Gymnasium has registered by default.
    random_state : int, Generator, RandomState, SeedSequence or None

    Attributes
    ----------
    action_values_ : array (n_states, n_actions)
        NaN where a state lacks an action.
    values_ : array (n_states,)
    policy_ : Policy
        The best action so far of every state.
    visits_ : int64 array (n_pairs,)
    episode_returns_, episode_lengths_ : arrays (n_episodes,)
        Sums of rewards, and steps, of finished episodes.
    n_steps_ : int
        Steps taken so far.
    """

    _rule: ClassVar[Rule]
    _is_on_policy: ClassVar[bool] = False

    n_steps: int = parameter(default=100_000, at_least=1, kw_only=False)
    step_size: Any = parameter(default=PolynomialDecay())
    exploration: Any = parameter(default=EpsilonGreedy())
    discount: float | None = parameter(default=None, at_least=0, at_most=1)
    initial_value: float = parameter(default=0.0)
    max_episode_steps: int | None = parameter(default=None, at_least=1)
    random_state: RandomSource = parameter(default=None)

    states_: tuple[Any, ...] = fitted()
    actions_: tuple[Any, ...] = fitted()
    pair_start_: Integers = fitted()
    pair_action_: Codes = fitted()
    pair_values_: Floats = fitted()
    visits_: Integers = fitted()
    episode_returns_: Floats = fitted()
    episode_lengths_: Integers = fitted()

    # --- Learning ---------------------------------------------------------------------------------

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, environment: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Learns from scratch, by `n_steps` steps.

        Parameters
        ----------
        environment : MarkovDecisionProcess with a start, GridWorld, Gymnasium environment, Traces
            From traces the agent learns what others did, as often as they did it.
        y : ignored

        Returns
        -------
        self
        """
        with fitting(self):
            schedule, exploration = self._settings()
            warn_of_schedules(schedule, exploration, self._is_on_policy)
            self._forget()
            self._learn(environment, self.n_steps)
        return self

    def partial_fit(self, environment: Any, n_steps: int | None = None) -> Self:
        """Goes on for some steps; together with those before they are one long run."""
        with fitting(self):
            self._settings()
            if not hasattr(self, "pair_values_"):
                self._forget()
            self._learn(environment, self.n_steps if n_steps is None else int(n_steps))
        return self

    def _settings(self) -> tuple[Any, Any]:
        if not isinstance(self.exploration, Exploration):
            raise InputError(
                "exploration is Greedy(), EpsilonGreedy(...), Boltzmann(...) or Optimistic(...), "
                f"got {label_text(self.exploration)}."
            )
        return schedule_of(self.step_size, "step_size"), self.exploration

    def _forget(self) -> None:
        for name in [name for name in vars(self) if name.endswith("_") and name != "__dict__"]:
            delattr(self, name)

    def _learn(self, environment: Any, steps: int) -> None:
        if isinstance(environment, Traces):
            self._learn_traces(environment)
            return
        own = GYM_DISCOUNT if self.discount is None else self.discount
        world = world_of(environment, self.max_episode_steps, own)
        if isinstance(world, TableWorld):
            process = world.process
            self._prepare(
                tuple(process.states),
                tuple(process.actions),
                process.pairs.start,
                process.pairs.action,
                process.discount if self.discount is None else self.discount,
            )
            self._learn_table(world, steps)
        else:
            n, m = world.n_states, world.n_actions
            self._prepare(
                tuple(range(n)),
                tuple(range(m)),
                np.arange(0, n * m + 1, m),
                np.tile(np.arange(m, dtype=np.int32), n),
                own,
            )
            self._learn_gym(world, steps)

    def _prepare(
        self,
        states: tuple[Any, ...],
        actions: tuple[Any, ...],
        start: Integers,
        action: Codes,
        discount: float,
    ) -> None:
        """The table of a first fit; for later ones that it is the same world."""
        if hasattr(self, "pair_values_"):
            same = (states, actions) == (self.states_, self.actions_)
            if not same or not np.array_equal(start, self.pair_start_):
                raise InputError(
                    f"The agent knows {len(self.states_)} states and {len(self.actions_)} actions, "
                    f"and this world has others ({len(states)} and {len(actions)}). Fit a new one."
                )
            # Kernels write into what an earlier fit may share with a copy.
            for name in ("pair_values_", "other_values_", "visits_", "position_", "traces_"):
                setattr(self, name, getattr(self, name).copy())
            return
        self.states_, self.actions_ = states, actions
        self.pair_start_ = np.asarray(start, np.int64)
        self.pair_action_ = np.asarray(action, np.int32)
        n_pairs = len(action)
        self.discount_ = float(discount)
        self.pair_values_ = np.full(n_pairs, float(self.initial_value))
        self.pair_values_[self.pair_action_ == END] = 0.0
        self.other_values_ = self.pair_values_.copy()
        self.visits_ = np.zeros(n_pairs, np.int64)
        self.traces_ = np.zeros(n_pairs)
        self.position_ = np.array([0, -1, 0, 0, 0, 0], np.int64)
        self.episode_sum_ = np.zeros(1)
        self.ring_pairs_ = np.zeros(self._ring_size(), np.int64)
        self.ring_rewards_ = np.zeros(self._ring_size())
        self.active_ = np.zeros(n_pairs + 1, np.int64)
        self.episode_returns_ = np.zeros(0)
        self.episode_lengths_ = np.zeros(0, np.int64)
        rng = stream(self.random_state, "agent")
        self.key_ = int(rng.integers(0, 2**63))

    def _ring_size(self) -> int:
        return 1

    def _decay(self) -> float:
        return 0.0

    def _learn_table(self, world: TableWorld, steps: int) -> None:
        schedule, exploration = self._settings()
        returns, lengths = [self.episode_returns_], [self.episode_lengths_]
        for begin, end in time_sliced(steps, block=4096):
            own_returns, own_lengths = np.empty(end - begin), np.empty(end - begin, np.int64)
            episodes = learn(
                int(self._rule),
                end - begin,
                exploration.code(),
                schedule.code(),
                world.first,
                self.discount_,
                self._decay(),
                world.longest,
                np.uint64(self.key_),
                world.start,
                world.outcome_start,
                world.cumulative,
                world.next_state,
                world.reward,
                world.ends,
                self.pair_values_,
                self.other_values_,
                self.traces_,
                self.active_,
                self.visits_,
                self.episode_sum_,
                self.ring_pairs_,
                self.ring_rewards_,
                self.position_,
                own_returns,
                own_lengths,
            )
            returns.append(own_returns[:episodes])
            lengths.append(own_lengths[:episodes])
        self.episode_returns_ = np.concatenate(returns)
        self.episode_lengths_ = np.concatenate(lengths)

    def _learn_gym(self, world: GymWorld, steps: int) -> None:
        """The same updates, with steps that Gymnasium takes."""
        schedule, exploration = self._settings()
        if self._decay() or self._ring_size() > 1:
            raise InputError(
                "Traces and n-step returns need a process, or an environment with a table "
                "(env.unwrapped.P). Use trace_decay=0 and n=1 here."
            )
        code, sizes, key = exploration.code(), schedule.code(), np.uint64(self.key_)
        environment, position = world.environment, self.position_
        returns, lengths = self.episode_returns_.tolist(), self.episode_lengths_.tolist()
        state, total, length = None, 0.0, 0
        for _ in range(steps):
            t = int(position[3])
            if state is None:
                seed = int((self.key_ + len(returns)) % 2**31)
                state, total, length = world.checked(environment.reset(seed=seed)[0]), 0.0, 0
                pair = self._choice(code, state, t, key)
            action = int(self.pair_action_[pair])
            seen, reward, ended, cut, _ = environment.step(action)
            following = world.checked(seen)
            total, length = total + float(reward), length + 1
            ahead = -1 if ended else self._choice(code, following, t + 1, key)
            learn_from_steps(
                int(self._rule), code, sizes, self.discount_, self.pair_start_,
                np.array([pair]), np.array([float(reward)]), np.array([following], np.int32),
                np.array([ahead]), np.array([bool(ended)]), key, t,
                self.pair_values_, self.other_values_, self.visits_,
            )  # fmt: skip
            position[3] = t + 1
            state, pair = following, ahead
            if not ended and not self._is_on_policy:
                pair = self._choice(code, following, t + 1, key)
            limit = self.max_episode_steps
            if ended or cut or (limit is not None and length >= limit):
                returns.append(total)
                lengths.append(length)
                state = None
        self.episode_returns_ = np.array(returns)
        self.episode_lengths_ = np.array(lengths, np.int64)

    def _choice(self, code: Floats, state: int, step: int, key: Any) -> int:
        return int(
            choose(code, self.pair_values_, self.pair_start_, self.visits_, state, step, key)
        )

    def _learn_traces(self, traces: Traces) -> None:
        schedule, exploration = self._settings()
        if self._decay() or self._ring_size() > 1:
            raise InputError("From traces agents learn one step at a time: trace_decay=0, n=1.")
        n, m = len(traces.states), len(traces.actions)
        own = GYM_DISCOUNT if self.discount is None else self.discount
        self._prepare(
            tuple(traces.states),
            tuple(traces.actions),
            np.arange(0, n * m + 1, m),
            np.tile(np.arange(m, dtype=np.int32), n),
            own,
        )
        pair = traces.state * m + traces.action
        following = np.append(pair[1:], -1)
        following[traces.last] = -1
        ends = traces.ends.copy()
        # The action after the last step that was seen is not known, and SARSA asks for it.
        keep = np.asarray(ends | (following >= 0) | (self._rule != Rule.SARSA), np.bool_)
        learn_from_steps(
            int(self._rule), exploration.code(), schedule.code(), self.discount_,
            self.pair_start_, pair[keep], traces.reward[keep],
            traces.next_state[keep].astype(np.int32), following[keep], ends[keep],
            np.uint64(self.key_), int(self.position_[3]),
            self.pair_values_, self.other_values_, self.visits_,
        )  # fmt: skip
        self.position_[3] += int(keep.sum())
        self.episode_returns_ = np.append(self.episode_returns_, traces.returns(1.0))
        self.episode_lengths_ = np.append(self.episode_lengths_, traces.lengths)

    # --- What was learned -------------------------------------------------------------------------

    @property
    def n_steps_(self) -> int:
        """Steps taken so far."""
        check_is_fitted(self)
        return int(self.position_[3])

    def _learned(self) -> Floats:
        check_is_fitted(self)
        if self._rule == Rule.DOUBLE_Q:
            return 0.5 * (self.pair_values_ + self.other_values_)
        return self.pair_values_

    @property
    def action_values_(self) -> Floats:
        """The value of each action, of shape (n_states, n_actions)."""
        values = self._learned()
        table = np.full((len(self.states_), len(self.actions_)), np.nan)
        real = self.pair_action_ != END
        state = np.repeat(np.arange(len(self.states_)), np.diff(self.pair_start_))
        table[state[real], self.pair_action_[real]] = values[real]
        return table

    @property
    def values_(self) -> Floats:
        """The value of the best action of each state; zero in terminal ones."""
        return np.asarray(np.maximum.reduceat(self._learned(), self.pair_start_[:-1]))

    @property
    def policy_(self) -> Policy:
        """The best action so far of every state."""
        values = self._learned()
        state = np.repeat(np.arange(len(self.states_)), np.diff(self.pair_start_))
        hits = np.flatnonzero(values == self.values_[state])
        _, first = np.unique(state[hits], return_index=True)
        return Policy(
            Names.of(self.states_, len(self.states_), "state"),
            Names.of(self.actions_, len(self.actions_), "action"),
            choices=self.pair_action_[hits[first]],
        )

    def predict(self, X: Sequence[Any]) -> list[Any]:
        """The best action so far of each of the states."""
        return self.policy_.predict(X)

    def learning_curve(self, window: int = 100) -> Chart:
        """Mean return of the last episodes, by episode."""
        check_is_fitted(self)
        returns = self.episode_returns_
        size = max(min(window, len(returns)), 1)
        sums = np.cumsum(np.concatenate([[0.0], returns]))
        means = (sums[size:] - sums[:-size]) / size
        places = np.arange(size, len(returns) + 1)
        keep = np.unique(np.linspace(0, max(len(means) - 1, 0), 400).astype(int))[: len(means)]
        return Chart(
            Axis("episode"),
            Axis(f"mean return of {size} episodes"),
            [Line(places[keep], means[keep])],
        )

    def _check_state(self) -> None:
        shapes = {len(self.pair_values_), len(self.pair_action_), len(self.visits_)}
        if shapes != {int(self.pair_start_[-1])} or len(self.pair_start_) != len(self.states_) + 1:
            raise ModelFileError("The tables of the agent do not fit together.")


class QLearning(TabularAgent):
    """Q-learning: the best action's value, whatever the agent does meanwhile (Watkins 1989).

    Examples
    --------
    >>> from novum.reinforcement import GridWorld, solve
    >>> world = GridWorld.notes()
    >>> agent = QLearning(300_000, random_state=0).fit(world)
    >>> best = solve(world.process)
    >>> bool(abs(agent.values_ - best.values)[agent.visits_.size // 8] < 0.1)
    True
    >>> agent.predict([(1, 1), (3, 3)])
    ['up', 'right']
    """

    _rule = Rule.Q_LEARNING


class Sarsa(TabularAgent):
    """SARSA: the value of what the agent does itself (Rummery and Niranjan 1994).

    Parameters
    ----------
    trace_decay : float
        Lambda of eligibility traces; 0 updates the last pair alone.
    n : int
        Steps of a return before the table is looked at.
    """

    _is_on_policy = True

    trace_decay: float = parameter(default=0.0, at_least=0, at_most=1)
    n: int = parameter(default=1, at_least=1)

    @property
    def _rule(self) -> Rule:  # type: ignore[override]
        return Rule.SARSA if self.n == 1 else Rule.N_STEP

    def _settings(self) -> tuple[Any, Any]:
        if self.n > 1 and self.trace_decay > 0:
            raise InputError(
                "Traces and n-step returns are two ways to the same end: set n=1 or trace_decay=0."
            )
        return super()._settings()

    def _ring_size(self) -> int:
        return int(self.n)

    def _decay(self) -> float:
        return float(self.trace_decay)


class ExpectedSarsa(TabularAgent):
    """Expected SARSA: the mean over the next action, which spares its noise."""

    _rule = Rule.EXPECTED_SARSA
    _is_on_policy = True


class DoubleQLearning(TabularAgent):
    """Double Q-learning: one table chooses, the other values (van Hasselt 2010).

    The maximum of noisy values is too large in the mean; with two tables that bias is gone.
    """

    _rule = Rule.DOUBLE_Q
