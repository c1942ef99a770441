"""Tabular Q-learning and SARSA; the quality is the return of 200 greedy episodes.

A peer maps (environment's name, its options, steps, seed) to `Q[state, action]`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.clock import Clock
from benchmarks.peers import Make, Peer
from benchmarks.recipes import Data, Recipe, rows
from benchmarks.registry import Figures, Quality, workload

EPISODES = 200
Train = Callable[[str, dict[str, Any], int, int], np.ndarray]


def task(environment: str, steps: int, **options: Any) -> Data:
    return Data(environment=environment, options=options, steps=steps)


def learn(make: Make, data: Data, clock: Clock) -> Callable[[], Figures]:
    train = make(data)
    with clock("train"):
        Q = train(data.environment, data.options, data.steps, 0)

    def figures() -> Figures:
        return {
            "greedy_return": greedy_return(data, Q),
            "steps_per_second": data.steps / max(clock.cpu["train"], 1e-9),
        }

    return figures


def greedy_return(data: Data, Q: np.ndarray) -> float:
    import gymnasium

    environment = gymnasium.make(data.environment, **data.options)
    total = 0.0
    for episode in range(EPISODES):
        state, _ = environment.reset(seed=episode)
        done = False
        while not done:
            state, reward, ended, cut, _ = environment.step(int(np.argmax(Q[state])))
            total += float(reward)
            done = ended or cut
    return total / EPISODES


def plain_loop(_data: Data) -> Train:
    """Epsilon-greedy Q-learning as written in tutorials."""
    import gymnasium

    def train(name: str, options: dict[str, Any], steps: int, seed: int) -> np.ndarray:
        environment: Any = gymnasium.make(name, **options)
        rng = np.random.default_rng(seed)
        Q = np.zeros((environment.observation_space.n, environment.action_space.n))
        state, _ = environment.reset(seed=seed)
        for step in range(steps):
            explores = rng.random() < max(0.05, 1 - 2 * step / steps)
            action = int(rng.integers(Q.shape[1])) if explores else int(np.argmax(Q[state]))
            following, reward, ended, cut, _ = environment.step(action)
            future = 0.0 if ended else Q[following].max()
            Q[state, action] += 0.1 * (reward + 0.99 * future - Q[state, action])
            state = following
            if ended or cut:
                state, _ = environment.reset()
        return Q

    return train


def plain_sarsa(_data: Data) -> Train:
    """The same for SARSA, which looks at the action that is taken next."""
    import gymnasium

    def train(name: str, options: dict[str, Any], steps: int, seed: int) -> np.ndarray:
        environment: Any = gymnasium.make(name, **options)
        rng = np.random.default_rng(seed)
        Q = np.zeros((environment.observation_space.n, environment.action_space.n))

        def choose(state: int, step: int) -> int:
            explores = rng.random() < max(0.05, 1 - 2 * step / steps)
            return int(rng.integers(Q.shape[1])) if explores else int(np.argmax(Q[state]))

        state, _ = environment.reset(seed=seed)
        action = choose(state, 0)
        for step in range(steps):
            following, reward, ended, cut, _ = environment.step(action)
            ahead = choose(following, step)
            future = 0.0 if ended else Q[following, ahead]
            Q[state, action] += 0.1 * (reward + 0.99 * future - Q[state, action])
            state, action = following, ahead
            if ended or cut:
                state, _ = environment.reset()
                action = choose(state, step)
        return Q

    return train


def ours(_data: Data, agent: str = "QLearning") -> Train:
    """The same schedule of step sizes and exploration."""
    import warnings

    import gymnasium

    from novum import reinforcement
    from novum.reinforcement import EpsilonGreedy, LinearDecay, ScheduleWarning

    kind = getattr(reinforcement, agent)

    def train(name: str, options: dict[str, Any], steps: int, seed: int) -> np.ndarray:
        environment: Any = gymnasium.make(name, **options)
        learner = kind(
            steps,
            step_size=0.1,
            exploration=EpsilonGreedy(LinearDecay(1.0, 0.05, steps // 2)),
            discount=0.99,
            random_state=seed,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ScheduleWarning)
            values: np.ndarray = learner.fit(environment).action_values_
            return values

    return train


for key, environment, options in (
    ("frozen_lake", "FrozenLake-v1", {"map_name": "4x4"}),
    ("taxi", "Taxi-v4", {}),
):
    workload(
        f"reinforcement.learning.q_learning.{key}",
        Recipe(task, environment, rows(200_000), **options),
        learn,
        [Peer("gymnasium, Python loop", plain_loop)],
        novum=Peer("novum", ours, ours=True),
        target=400.0,
        quality=Quality("greedy_return", tolerance=0.3),
        note=f"{environment}, 200k steps, step size 0.1, discount 0.99, epsilon 1 to 0.05",
    )

workload(
    "reinforcement.learning.q_learning.sarsa",
    Recipe(task, "Taxi-v4", rows(200_000)),
    learn,
    [Peer("gymnasium, Python loop", plain_sarsa)],
    novum=Peer("novum", partial(ours, agent="Sarsa"), ours=True),
    target=400.0,
    quality=Quality("greedy_return", tolerance=0.3),
    note="Taxi-v4, 200k steps, SARSA, step size 0.1, discount 0.99, epsilon 1 to 0.05",
)
