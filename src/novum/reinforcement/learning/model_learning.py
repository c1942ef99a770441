"""Learning a model and planning in it: adaptive dynamic programming.

Transitions are counted. With a Dirichlet prior of total weight c over the next states and the end,

    P(s' | s, a) ~ Dirichlet(N(s, a, s') + c / (n_states + 1)),

and the agent plans in one process of that posterior:

    CertaintyEquivalence    its mean; actions beside the plan come from an exploration rule
    ThompsonSampling        one drawn from it, kept until some pair has been tried twice as often
    Optimism                its mean, but pairs tried fewer than `visits` times are worth `optimum`:
                            the exploration function of the notes, inside the maximum

A new plan is made whenever some pair has been tried twice as often as at the last one, so that the
number of plans grows with the logarithm of the number of steps.

Prioritized sweeping (Moore and Atkeson 1993) makes a few backups after every step instead, where
they change most.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse

from novum.core.errors import InputError
from novum.core.learners import fitted, parameter
from novum.core.runtime import (
    check_cancelled,
    check_memory,
    fit_context,
    fitting,
    stream,
    time_sliced,
)
from novum.numerics import Floats, Integers, chance, lean_kernel
from novum.reinforcement.environments.worlds import TableWorld
from novum.reinforcement.learning.schedules import EpsilonGreedy, schedule_of
from novum.reinforcement.learning.tabular import TabularAgent
from novum.reinforcement.learning.tabular_kernels import Rule, chosen_pair, drawn, walk_policy
from novum.reinforcement.learning.traces import cumulative_within
from novum.reinforcement.pairs import END, Pairs
from novum.reinforcement.planning.policy_iteration import first_policy, improve

BLOCK = 4096
# A process that was drawn may have loops that earn; without a discount it would have no values.
MOST_DISCOUNT = 0.999


@dataclass(frozen=True)
class CertaintyEquivalence:
    """Plans in the mean of the posterior, as if it were the truth."""


@dataclass(frozen=True)
class ThompsonSampling:
    """Plans in one process drawn from the posterior, which explores as much as is in doubt."""


@dataclass(frozen=True)
class Optimism:
    """Pairs tried fewer than `visits` times are worth `optimum`."""

    optimum: float
    visits: int = 5


PlanningRule = CertaintyEquivalence | ThompsonSampling | Optimism


class ModelAgent(TabularAgent):
    """What agents that count transitions share."""

    transition_counts_: Floats = fitted()
    reward_sums_: Floats = fitted()

    def _prepare_model(self, world: Any) -> None:
        if not isinstance(world, TableWorld):
            raise InputError(
                "Agents that learn a model act in processes and in environments with a table "
                "(env.unwrapped.P). Use QLearning here, or Traces.process on recorded episodes."
            )
        if not hasattr(self, "transition_counts_"):
            n_pairs, n_states = world.process.pairs.n_pairs, world.process.n_states
            check_memory(
                8 * n_pairs * (n_states + 1),
                f"The counts of {n_pairs} pairs and {n_states} next states",
                "Use QLearning, which keeps one number for each pair.",
            )
            self.transition_counts_ = np.zeros((n_pairs, n_states + 1))
            self.reward_sums_ = np.zeros(n_pairs)
            self.reward_squares_ = np.zeros(n_pairs)
            self.largest_reward_ = 0.0
        else:
            self.transition_counts_ = self.transition_counts_.copy()
            self.reward_sums_ = self.reward_sums_.copy()
            self.reward_squares_ = self.reward_squares_.copy()

    def posterior(self, state: Any, action: Any) -> dict[Any, float]:
        """Parameters of the Dirichlet law of the next state; `None` stands for the end."""
        names = self.policy_
        s, a = names.states.position(state), names.actions.position(action)
        own = slice(int(self.pair_start_[s]), int(self.pair_start_[s + 1]))
        place = int(self.pair_start_[s]) + int(np.flatnonzero(self.pair_action_[own] == a)[0])
        row = self.transition_counts_[place] + self._prior_share()
        return {
            (None if i == len(self.states_) else self.states_[i]): float(row[i])
            for i in np.flatnonzero(row).tolist()
        }

    def _prior_share(self) -> float:
        return 0.0


class AdaptiveDynamicProgramming(ModelAgent):
    """Counts transitions, plans in what was counted, and acts by the plan.

    Parameters
    ----------
    rule : CertaintyEquivalence, ThompsonSampling or Optimism
        In which process of the posterior it plans.
    prior : float
        Weight of the Dirichlet prior: as many steps are imagined for each pair, spread evenly over
        all next states and the end.

    Attributes
    ----------
    transition_counts_ : array (n_pairs, n_states + 1)
        The last column counts steps that ended the process.
    reward_sums_ : array (n_pairs,)
    n_plans_ : int

    Examples
    --------
    >>> from novum.reinforcement import GridWorld, solve
    >>> world = GridWorld.notes()
    >>> agent = AdaptiveDynamicProgramming(20_000, rule=Optimism(2.0, 20), random_state=0)
    >>> agent = agent.fit(world)
    >>> agent.predict([(1, 1)]), agent.n_plans_ < 700
    (['up'], True)
    """

    _rule = Rule.Q_LEARNING

    rule: Any = parameter(default=CertaintyEquivalence())
    prior: float = parameter(default=0.1, above=0)

    def _settings(self) -> tuple[Any, Any]:
        if not isinstance(self.rule, PlanningRule):
            raise InputError(
                "rule is CertaintyEquivalence(), ThompsonSampling() or Optimism(...), got "
                f"{self.rule!r}."
            )
        return super()._settings()

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, environment: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Learns from scratch, by `n_steps` steps in a process or a table environment."""
        with fitting(self):
            self._settings()
            self._forget()
            self._learn(environment, self.n_steps)
        return self

    def _prior_share(self) -> float:
        return float(self.prior) / (len(self.states_) + 1)

    def _learn_gym(self, world: Any, steps: int) -> None:  # noqa: ARG002
        self._prepare_model(world)

    def _learn_table(self, world: TableWorld, steps: int) -> None:
        self._prepare_model(world)
        n_plans = getattr(self, "n_plans_", 0)
        key = np.uint64(self.key_)
        chosen: Integers | None = None
        drawn_models = isinstance(self.rule, ThompsonSampling)
        discount = min(self.discount_, MOST_DISCOUNT) if drawn_models else self.discount_
        returns, lengths = [self.episode_returns_], [self.episode_lengths_]
        done = 0
        while done < steps:
            check_cancelled()
            pairs = self._model(world, n_plans)
            start = first_policy(pairs) if chosen is None else chosen
            plan = improve(pairs, discount, start)
            assert plan is not None, "a step ends, or is discounted"
            chosen, n_plans = plan.chosen, n_plans + 1
            bounds = cumulative_within(self._shares(world, chosen), world.start)
            most = np.maximum(2 * self.visits_, 1)
            block = min(steps - done, BLOCK)
            pair, reward = np.empty(block, np.int64), np.empty(block)
            following = np.empty(block, np.int32)
            ends, last = np.empty(block, np.bool_), np.empty(block, np.bool_)
            taken = int(
                walk_policy(
                    block,
                    world.longest,
                    world.first,
                    key,
                    world.start,
                    bounds,
                    world.outcome_start,
                    world.cumulative,
                    world.next_state,
                    world.reward,
                    world.ends,
                    most,
                    self.position_,
                    self.visits_,
                    pair,
                    reward,
                    following,
                    ends,
                    last,
                )
            )
            self._count(pair[:taken], reward[:taken], following[:taken], ends[:taken])
            own = self._finish_episodes(reward[:taken], last[:taken])
            returns.append(own[0])
            lengths.append(own[1])
            done += taken
        self.n_plans_ = n_plans
        self.episode_returns_ = np.concatenate(returns)
        self.episode_lengths_ = np.concatenate(lengths)
        # What was learned is the mean of the posterior, whatever was planned with.
        mean = self._mean_model(world)
        plan = improve(mean, self.discount_, first_policy(mean))
        assert plan is not None
        self.pair_values_ = mean.reward + self.discount_ * mean.expected(plan.values)

    def _finish_episodes(self, reward: Floats, last: Any) -> tuple[Floats, Integers]:
        """Returns and lengths of the episodes that ended; what is open is kept."""
        ends = np.flatnonzero(last)
        sums = np.cumsum(reward)
        before = np.concatenate([[0.0], sums[ends]])
        totals = np.diff(before)
        if len(ends):
            totals[0] += self.episode_sum_[0]
            self.episode_sum_ = np.array([sums[-1] - before[-1]])
        else:
            self.episode_sum_ = self.episode_sum_ + (sums[-1] if len(sums) else 0.0)
        steps = np.diff(np.concatenate([[-1], ends]))
        if len(ends):
            steps[0] += getattr(self, "open_steps_", 0)
            self.open_steps_ = int(len(reward) - 1 - ends[-1])
        else:
            self.open_steps_ = getattr(self, "open_steps_", 0) + len(reward)
        return totals, steps.astype(np.int64)

    def _count(self, pair: Integers, reward: Floats, following: Any, ends: Any) -> None:
        target = np.where(ends, len(self.states_), following)
        np.add.at(self.transition_counts_, (pair, target), 1.0)
        np.add.at(self.reward_sums_, pair, reward)
        np.add.at(self.reward_squares_, pair, reward**2)
        self.largest_reward_ = max(self.largest_reward_, float(np.abs(reward).max(initial=0.0)))

    def _shares(self, world: TableWorld, chosen: Integers) -> Floats:
        """Probabilities of pairs: the plan, and what the exploration rule adds to it."""
        pairs = world.process.pairs
        shares = np.zeros(pairs.n_pairs)
        shares[chosen] = 1.0
        if not isinstance(self.rule, CertaintyEquivalence):
            return shares
        if not isinstance(self.exploration, EpsilonGreedy):
            return shares
        schedule = schedule_of(self.exploration.epsilon, "epsilon")
        visits = np.add.reduceat(self.visits_, pairs.start[:-1])
        step = int(self.position_[3])
        counts = [step] * len(visits) if not hasattr(schedule, "exponent") else visits.tolist()
        epsilon = np.array([schedule.at(float(count)) for count in counts])[pairs.state]
        width = np.diff(pairs.start)[pairs.state]
        return (1 - epsilon) * shares + epsilon / width

    def _model(self, world: TableWorld, number: int) -> Pairs:
        if isinstance(self.rule, ThompsonSampling):
            rng = stream(self.key_, "model", number)
            weights = rng.gamma(self.transition_counts_ + self._prior_share())
            mean, deviation = self._reward_posterior()
            return self._pairs(world, weights, mean + deviation * rng.normal(size=len(mean)))
        model = self._mean_model(world)
        if isinstance(self.rule, Optimism):
            few = (self.visits_ < self.rule.visits) & (model.action != END)
            rows = sparse.diags_array((~few).astype(float)) @ model.rows
            reward = np.where(few, self.rule.optimum, model.reward)
            return Pairs(model.start, model.action, sparse.csr_array(rows), reward)
        return model

    def _reward_posterior(self) -> tuple[Floats, Floats]:
        """Mean and deviation of each pair's expected reward.

        Conjugate normal laws: before any step a reward may be as large as the largest that was
        met, and steps differ by the variance within pairs.
        """
        tried = self.transition_counts_.sum(axis=1)
        mean = self.reward_sums_ / np.maximum(tried, 1)
        wide = max(self.largest_reward_, 1e-9) ** 2
        within = float((self.reward_squares_ - self.reward_sums_ * mean).sum())
        spread = max(within / max(float(np.maximum(tried - 1, 0).sum()), 1.0), 1e-12 * wide)
        return mean, 1 / np.sqrt(1 / wide + tried / spread)

    def _mean_model(self, world: TableWorld) -> Pairs:
        tried = np.maximum(self.transition_counts_.sum(axis=1), 1)
        weights = self.transition_counts_ + self._prior_share()
        return self._pairs(world, weights, self.reward_sums_ / tried)

    def _pairs(self, world: TableWorld, weights: Floats, reward: Floats) -> Pairs:
        pairs = world.process.pairs
        total = np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)
        rows = weights[:, :-1] / total
        idle = pairs.action == END
        rows[idle] = 0.0
        return Pairs(pairs.start, pairs.action, sparse.csr_array(rows), np.where(idle, 0.0, reward))


class PrioritizedSweeping(ModelAgent):
    """Counts transitions and backs up, after every step, the states that changes reach most.

    Parameters
    ----------
    backups : int
        States that are backed up after each step.
    threshold : float
        Changes below are not passed on.

    Notes
    -----
    A backup looks at all pairs once, so that the agent is meant for some thousands of pairs.
    """

    _rule = Rule.Q_LEARNING

    backups: int = parameter(default=5, at_least=1)
    threshold: float = parameter(default=1e-4, above=0)

    def _learn_gym(self, world: Any, steps: int) -> None:  # noqa: ARG002
        self._prepare_model(world)

    def _learn_table(self, world: TableWorld, steps: int) -> None:
        self._prepare_model(world)
        _, exploration = self._settings()
        if not hasattr(self, "priority_"):
            self.priority_ = np.zeros(len(self.states_))
            self.state_values_ = np.zeros(len(self.states_))
        returns, lengths = [self.episode_returns_], [self.episode_lengths_]
        for begin, end in time_sliced(steps, block=256):
            own_returns, own_lengths = np.empty(end - begin), np.empty(end - begin, np.int64)
            episodes = _sweep(
                end - begin, int(self.backups), float(self.threshold), exploration.code(),
                world.first, self.discount_, world.longest, np.uint64(self.key_), world.start,
                world.process.pairs.state, world.outcome_start, world.cumulative,
                world.next_state, world.reward, world.ends, self.pair_values_, self.visits_,
                self.transition_counts_, self.reward_sums_, self.state_values_, self.priority_,
                self.episode_sum_, self.position_, own_returns, own_lengths,
            )  # fmt: skip
            returns.append(own_returns[:episodes])
            lengths.append(own_lengths[:episodes])
        self.episode_returns_ = np.concatenate(returns)
        self.episode_lengths_ = np.concatenate(lengths)


@lean_kernel(
    "int64(int64, int64, float64, float64[::1], float64[::1], float64, int64, uint64, int64[::1], "
    "int64[::1], int64[::1], float64[::1], int32[::1], float64[::1], bool_[::1], float64[::1], "
    "int64[::1], float64[:,::1], float64[::1], float64[::1], float64[::1], float64[::1], "
    "int64[::1], float64[::1], int64[::1])"
)
def _sweep(
    steps, backups, threshold, exploration, first, discount, longest, key, start, state_of,
    outcome_start, cumulative, next_state, reward, ends, out_values, out_visits, out_counts,
    out_rewards, out_state_values, out_priority, out_sum, out_position, out_returns, out_lengths,
):  # fmt: skip
    """Steps, each followed by backups of the states whose values would change most."""
    episodes = 0
    n_states = start.size - 1
    for _ in range(steps):
        t = out_position[3]
        counter = np.uint64(4 * t)
        if out_position[1] < 0:
            out_position[0] = drawn(first, 0, first.size, chance(key, counter + np.uint64(3)))
            out_position[2] = 0
            out_sum[0] = 0.0
            out_position[1] = 0
        state = out_position[0]
        pair = chosen_pair(exploration, out_values, start, out_visits, state, t, key)
        place = drawn(
            cumulative, outcome_start[pair], outcome_start[pair + 1], chance(key, counter)
        )
        following = np.int64(next_state[place])
        out_visits[pair] += 1
        out_counts[pair, n_states if ends[place] else following] += 1.0
        out_rewards[pair] += reward[place]
        out_sum[0] += reward[place]
        out_priority[state] = np.inf
        for _backup in range(backups):
            top = 0
            for s in range(1, n_states):
                if out_priority[s] > out_priority[top]:
                    top = s
            if out_priority[top] <= threshold:
                break
            out_priority[top] = 0.0
            best = -np.inf
            for p in range(start[top], start[top + 1]):
                if out_visits[p] > 0:
                    total = out_rewards[p]
                    for s in range(n_states):
                        if out_counts[p, s] > 0.0:
                            total += discount * out_counts[p, s] * out_state_values[s]
                    out_values[p] = total / out_visits[p]
                best = max(best, out_values[p])
            change = abs(best - out_state_values[top])
            out_state_values[top] = best
            if change > threshold:
                for p in range(out_counts.shape[0]):
                    if out_counts[p, top] > 0.0:
                        own = change * discount * out_counts[p, top] / out_visits[p]
                        out_priority[state_of[p]] = max(out_priority[state_of[p]], own)
        out_position[2] += 1
        out_position[3] = t + 1
        out_position[0] = following
        if ends[place] or out_position[2] >= longest:
            out_returns[episodes] = out_sum[0]
            out_lengths[episodes] = out_position[2]
            episodes += 1
            out_position[1] = -1
    return episodes
