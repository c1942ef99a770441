"""Linear values: SARSA and Q-learning with features, in any Gymnasium environment.

    Q(s, a) = w_a . f(s),        w_a <- w_a + step * error * f(s)

Linear SARSA stays bounded near its policy's values; Q-learning with features can diverge, as
Baird's example shows. Values far beyond any discounted sum of the rewards that were seen are the
sign of it: the agent stops, keeps the weights it had, and says so (`DivergenceWarning`).

Vector environments (`gymnasium.make_vec`) are stepped all at once.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from novum.core.errors import InputError
from novum.core.learners import Certificate, Learner, Verdict, fitted, parameter
from novum.core.runtime import RandomSource, fit_context, fitting, stream
from novum.numerics import Floats, Integers, chance, lean_kernel
from novum.reinforcement.environments.worlds import check_discrete_actions, is_environment
from novum.reinforcement.learning.features import TileCoding, features_of
from novum.reinforcement.learning.schedules import EpsilonGreedy, LinearDecay, schedule_of

# Values beyond this many times the largest possible return are no values any more.
BEYOND = 100.0


class DivergenceWarning(UserWarning):
    """Values grew without bound; the message says when, and what to do."""


class LinearAgent(Learner):
    """What agents with linear values share.

    Parameters
    ----------
    n_steps : int
        Steps to take in a fit.
    features : TileCoding, FourierFeatures, RadialFeatures, KernelFeatures or alike
        Tiles over the bounds of the environment by default; where it has none, over twice the
        range of 1,000 random steps.
    step_size : float or schedule
        Of all weights together: it is divided by the number of features that are on (or by the
        squared length of the features).
    exploration : EpsilonGreedy
        From 1 to 0.05 over the first half of the steps by default.
    discount : float
    trace_decay : float
        Lambda of eligibility traces.
    max_episode_steps : int, optional
    random_state : int, Generator, RandomState, SeedSequence or None

    Attributes
    ----------
    weights_ : array (n_actions, n_features)
    episode_returns_, episode_lengths_ : arrays (n_episodes,)
    certificate_ : Certificate
        Whether the values stayed within what returns can be.
    """

    _is_greedy_target: ClassVar[bool]

    n_steps: int = parameter(default=50_000, at_least=1, kw_only=False)
    features: Any = parameter(default=None)
    step_size: Any = parameter(default=0.5)
    exploration: Any = parameter(default=None)
    discount: float = parameter(default=0.99, at_least=0, at_most=1)
    trace_decay: float = parameter(default=0.0, at_least=0, at_most=1)
    max_episode_steps: int | None = parameter(default=None, at_least=1)
    random_state: RandomSource = parameter(default=None)

    weights_: Floats = fitted()
    episode_returns_: Floats = fitted()
    episode_lengths_: Integers = fitted()
    certificate_: Certificate = fitted()

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, environment: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Learns from scratch, by `n_steps` steps in a Gymnasium environment.

        Parameters
        ----------
        environment : Gymnasium environment with discrete actions, or a vector of them
        y : ignored

        Returns
        -------
        self
        """
        with fitting(self):
            for name in [name for name in vars(self) if name.endswith("_")]:
                delattr(self, name)
            self._learn(environment, self.n_steps)
        return self

    def partial_fit(self, environment: Any, n_steps: int | None = None) -> Self:
        """Goes on with the weights there are, in new episodes."""
        with fitting(self):
            self._learn(environment, self.n_steps if n_steps is None else int(n_steps))
        return self

    def _learn(self, environment: Any, steps: int) -> None:
        if not is_environment(environment):
            raise InputError(
                f"{type(self).__name__} acts in Gymnasium environments (reset, step, action_space)."
            )
        is_vector = hasattr(environment, "num_envs")
        single = environment.single_action_space if is_vector else environment.action_space
        n_actions = check_discrete_actions(_WithActions(single))
        if not hasattr(self, "weights_"):
            self.features_ = features_of(self.features, environment, self.random_state)
            self.weights_ = np.zeros((n_actions, self.features_.n_features))
            self.episode_returns_, self.episode_lengths_ = np.zeros(0), np.zeros(0, np.int64)
            self.steps_ = 0
            self.key_ = int(stream(self.random_state, "agent").integers(0, 2**63))
        elif len(self.weights_) != n_actions:
            raise InputError(
                f"The agent knows {len(self.weights_)} actions and the environment has "
                f"{n_actions}. Fit a new one."
            )
        else:
            self.weights_ = self.weights_.copy()
        run = _Run(self, n_actions)
        (run.vector if is_vector else run.single)(environment, steps)
        self.episode_returns_ = np.append(self.episode_returns_, run.returns)
        self.episode_lengths_ = np.append(self.episode_lengths_, run.lengths).astype(np.int64)
        verdict = Verdict.UNBOUNDED if run.diverged_at else Verdict.LOCAL
        self.certificate_ = Certificate(
            objective="temporal-difference errors of linear values",
            verdict=verdict,
            iterations=self.steps_,
            details={"diverged_at": run.diverged_at or None},
        )

    def action_values(self, states: Any) -> Floats:
        """The value of each action in some states, of shape (n, n_actions)."""
        check_is_fitted(self)
        return np.asarray(self.features_.transform(states) @ self.weights_.T)

    def predict(self, X: Sequence[Any]) -> Integers:
        """The best action so far of each of the states (n, d)."""
        return np.argmax(self.action_values(X), axis=1)


class LinearSarsa(LinearAgent):
    """SARSA with linear values (Sutton 1996).

    Examples
    --------
    >>> LinearSarsa(1000, discount=1.0).get_params()["trace_decay"]
    0.0
    """

    _is_greedy_target = False


class LinearQLearning(LinearAgent):
    """Q-learning with linear values, which can diverge; it says so when it does."""

    _is_greedy_target = True


class _WithActions:
    def __init__(self, space: Any) -> None:
        self.action_space = space


class _Run:
    """One stretch of steps, whose weights are written in place."""

    def __init__(self, agent: LinearAgent, n_actions: int) -> None:
        self.agent, self.n_actions = agent, n_actions
        self.step_size = schedule_of(agent.step_size, "step_size")
        exploration = agent.exploration
        if exploration is None:
            exploration = EpsilonGreedy(LinearDecay(1.0, 0.05, max(agent.n_steps // 2, 1)))
        if not isinstance(exploration, EpsilonGreedy):
            raise InputError(f"Linear agents explore by EpsilonGreedy(...), got {exploration!r}.")
        self.epsilon = schedule_of(exploration.epsilon, "epsilon")
        self.returns: list[float] = []
        self.lengths: list[int] = []
        self.largest = 0.0
        self.diverged_at = 0
        features = agent.features_
        self.is_binary = hasattr(features, "active")
        self.traces = np.zeros_like(agent.weights_) if agent.trace_decay > 0 else None
        self.key = np.uint64(agent.key_)

    def encoded(self, state: Any) -> Any:
        """Places of the features that are on, or the features themselves."""
        features = self.agent.features_
        if self.is_binary:
            return np.ascontiguousarray(features.active(state)[0])
        return np.ascontiguousarray(features.transform(state)[0])

    def values(self, encoded: Any) -> Floats:
        if self.is_binary:
            return np.asarray(self.agent.weights_[:, encoded].sum(axis=1))
        return np.asarray(self.agent.weights_ @ encoded)

    def chosen(self, values: Floats) -> int:
        step = self.agent.steps_
        if _draw(self.key, 4 * step + 1) < self.epsilon.at(step):
            return int(self.n_actions * _draw(self.key, 4 * step + 2))
        return int(values.argmax())

    def update(self, encoded: Any, action: int, reward: float, ahead: float, over: bool) -> None:
        agent = self.agent
        target = reward + (0.0 if over else agent.discount * ahead)
        step = self.step_size.at(agent.steps_)
        self.largest = max(self.largest, abs(reward))
        if self.is_binary:
            error = target - float(agent.weights_[action, encoded].sum())
            rate = step / len(encoded)
        else:
            error = target - float(agent.weights_[action] @ encoded)
            rate = step / max(float(encoded @ encoded), 1e-12)
        if self.traces is None:
            if self.is_binary:
                agent.weights_[action, encoded] += rate * error
            else:
                agent.weights_[action] += rate * error * encoded
            return
        self.traces *= agent.discount * agent.trace_decay
        if self.is_binary:
            self.traces[action, encoded] = 1.0
        else:
            self.traces[action] += encoded
        agent.weights_ += rate * error * self.traces
        if over:
            self.traces[:] = 0.0

    def has_diverged(self) -> bool:
        """Whether values are far beyond any return; if so the agent says so."""
        agent = self.agent
        reach = max(self.largest, 1e-12) * min(1 / max(1 - agent.discount, 1e-6), 1e6)
        size = float(np.abs(agent.weights_).max())
        if np.isfinite(size) and size <= BEYOND * max(reach, 1.0):
            return False
        self.diverged_at = agent.steps_
        warnings.warn(
            f"{type(agent).__name__} diverged: after {agent.steps_} steps a weight is {size:.2g}, "
            f"and no return can exceed {reach:.2g}. Lower step_size, use LinearSarsa or "
            "FittedQ, or other features.",
            DivergenceWarning,
            stacklevel=6,
        )
        return True

    def single(self, environment: Any, steps: int) -> None:
        if self.traces is None and isinstance(self.agent.features_, TileCoding):
            self.tiles(environment, steps)
            return
        agent, state, total, length = self.agent, None, 0.0, 0
        encoded: Any = None
        action = 0
        for _ in range(steps):
            if state is None:
                seed = int((agent.key_ + len(agent.episode_returns_) + len(self.returns)) % 2**31)
                state, total, length = environment.reset(seed=seed)[0], 0.0, 0
                encoded = self.encoded(state)
                action = self.chosen(self.values(encoded))
            state, reward, ended, cut, _ = environment.step(action)
            reward, length = float(reward), length + 1
            total += reward
            agent.steps_ += 1
            following = self.encoded(state)
            values = self.values(following)
            next_action = self.chosen(values)
            ahead = values.max() if agent._is_greedy_target else values[next_action]
            self.update(encoded, action, reward, float(ahead), bool(ended))
            encoded, action = following, next_action
            limit = agent.max_episode_steps
            if ended or cut or (limit is not None and length >= limit):
                self.returns.append(total)
                self.lengths.append(length)
                state = None
            if agent.steps_ % 256 == 0 and self.has_diverged():
                return

    def tiles(self, environment: Any, steps: int) -> None:
        """As `single`, with tiles: features, choice and update in one compiled call."""
        agent, tiles = self.agent, self.agent.features_
        low, high = np.array(tiles.low), np.array(tiles.high)
        shifts, scale = tiles.shifts, tiles.tiles / (high - low)
        on = np.empty(tiles.tilings, np.int64)
        ahead = np.empty(tiles.tilings, np.int64)
        is_greedy, weights, key = agent._is_greedy_target, agent.weights_, self.key
        limit = agent.max_episode_steps or np.inf
        seed = agent.key_ + len(agent.episode_returns_)
        fresh, total, length, action = True, 0.0, 0, 0
        for _ in range(steps):
            step = agent.steps_
            epsilon = self.epsilon.at(step)
            if fresh:
                state = environment.reset(seed=int((seed + len(self.returns)) % 2**31))[0]
                total, length = 0.0, 0
                action = _tile_step(
                    np.asarray(state, np.float64), low, scale, shifts, tiles.tiles, weights, on,
                    -1, 0.0, True, 0.0, 0.0, is_greedy, epsilon, key, step, on,
                )  # fmt: skip
            state, reward, ended, cut, _ = environment.step(action)
            length += 1
            reward = float(reward)
            total += reward
            if abs(reward) > self.largest:
                self.largest = abs(reward)
            step += 1
            agent.steps_ = step
            action = _tile_step(
                np.asarray(state, np.float64), low, scale, shifts, tiles.tiles, weights, on,
                action, reward, ended, agent.discount, self.step_size.at(step) / tiles.tilings,
                is_greedy, epsilon, key, step, ahead,
            )  # fmt: skip
            on, ahead = ahead, on
            fresh = ended or cut or length >= limit
            if fresh:
                self.returns.append(total)
                self.lengths.append(length)
            if step % 256 == 0 and self.has_diverged():
                return

    def vector(self, environments: Any, steps: int) -> None:
        agent, count = self.agent, int(environments.num_envs)
        if self.traces is not None:
            raise InputError("Traces are those of one episode: use trace_decay=0 in a vector.")
        states, _ = environments.reset(seed=int(agent.key_ % 2**31))
        totals, lengths = np.zeros(count), np.zeros(count, np.int64)
        # Gymnasium resets an environment by the step after its end, which is no step of an episode.
        fresh = np.zeros(count, np.bool_)
        encoded = [self.encoded(state) for state in states]
        actions = [self.chosen(self.values(one)) for one in encoded]
        for _ in range(max(steps // count, 1)):
            states, rewards, ended, cut, _ = environments.step(np.array(actions))
            for i in range(count):
                agent.steps_ += 1
                following = self.encoded(states[i])
                values = self.values(following)
                next_action = self.chosen(values)
                if not fresh[i]:
                    ahead = values.max() if agent._is_greedy_target else values[next_action]
                    self.update(
                        encoded[i], actions[i], float(rewards[i]), float(ahead), bool(ended[i])
                    )
                    totals[i] += float(rewards[i])
                    lengths[i] += 1
                fresh[i] = bool(ended[i] or cut[i])
                if fresh[i]:
                    self.returns.append(float(totals[i]))
                    self.lengths.append(int(lengths[i]))
                    totals[i], lengths[i] = 0.0, 0
                encoded[i], actions[i] = following, next_action
            if self.has_diverged():
                return


def _draw(key: Any, counter: int) -> float:
    return float(_chance(key, np.uint64(counter)))


@lean_kernel(
    "int64(float64[::1], float64[::1], float64[::1], float64[:,::1], int64, float64[:,::1], "
    "int64[::1], int64, float64, bool_, float64, float64, bool_, float64, uint64, int64, "
    "int64[::1])"
)
def _tile_step(
    state, low, scale, shifts, tiles, out_weights, on, action, reward, ended, discount, rate,
    is_greedy, epsilon, key, step, out_on,
):  # fmt: skip
    """Tiles of a state, the next action, and the update of the pair before; -1 is no pair."""
    n_actions, tilings = out_weights.shape[0], shifts.shape[0]
    per_tiling = (tiles + 1) ** state.size
    if action >= 0:
        now = 0.0
        for k in range(tilings):
            now += out_weights[action, on[k]]
    for k in range(tilings):
        place, size = k * per_tiling, 1
        for j in range(state.size):
            unit = min(max((state[j] - low[j]) * scale[j], 0.0), float(tiles))
            place += size * min(int(unit + shifts[k, j]), tiles)
            size *= tiles + 1
        out_on[k] = place
    best, top, own = 0, -np.inf, 0.0
    explores = chance(key, np.uint64(4 * step + 1)) < epsilon
    chosen = int(n_actions * chance(key, np.uint64(4 * step + 2))) if explores else -1
    for a in range(n_actions):
        total = 0.0
        for k in range(tilings):
            total += out_weights[a, out_on[k]]
        if total > top:
            best, top = a, total
        if a == chosen:
            own = total
    if chosen < 0:
        chosen, own = best, top
    if action >= 0:
        following = 0.0 if ended else discount * (top if is_greedy else own)
        error = reward + following - now
        for k in range(tilings):
            out_weights[action, on[k]] += rate * error
    return chosen


@lean_kernel("float64(uint64, uint64)")
def _chance(key, counter):
    return chance(key, counter)
