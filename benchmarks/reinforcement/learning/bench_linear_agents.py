"""Linear SARSA on CartPole; the quality is the return of the last hundred episodes.

A peer maps (steps, seed) to the returns of its episodes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.clock import Clock
from benchmarks.peers import Make, Peer
from benchmarks.recipes import Data, Recipe, rows
from benchmarks.registry import Figures, Quality, workload

LOW, HIGH = (-2.4, -3.0, -0.21, -3.0), (2.4, 3.0, 0.21, 3.0)
TILES, TILINGS = 4, 8
Train = Callable[[int, int], np.ndarray]


def task(steps: int) -> Data:
    return Data(steps=steps)


def learn(make: Make, data: Data, clock: Clock) -> Callable[[], Figures]:
    train = make(data)
    with clock("train"):
        returns = train(data.steps, 0)
    return lambda: {"late_return": float(np.mean(returns[-100:]))}


def plain_loop(_data: Data) -> Train:
    """Tiles and updates as written in tutorials, with NumPy."""
    import gymnasium

    def train(steps: int, seed: int) -> np.ndarray:
        environment: Any = gymnasium.make("CartPole-v1")
        rng = np.random.default_rng(seed)
        size = TILINGS * (TILES + 1) ** 4
        weights = np.zeros((2, size))
        low, width = np.array(LOW), np.array(HIGH) - np.array(LOW)
        shift = (np.arange(TILINGS)[:, None] * (2 * np.arange(4) + 1) % TILINGS) / TILINGS
        powers = (TILES + 1) ** np.arange(4)
        base = np.arange(TILINGS) * (TILES + 1) ** 4

        def active(state: Any) -> np.ndarray:
            unit = np.clip((np.asarray(state) - low) / width, 0, 1) * TILES
            cells: np.ndarray = np.minimum((unit + shift).astype(int), TILES) @ powers + base
            return cells

        def choose(values: np.ndarray, step: int) -> int:
            if rng.random() < max(0.05, 1 - 1.9 * step / steps):
                return int(rng.integers(2))
            return int(np.argmax(values))

        returns, total = [], 0.0
        on = active(environment.reset(seed=seed)[0])
        action = choose(weights[:, on].sum(1), 0)
        for step in range(steps):
            state, reward, ended, cut, _ = environment.step(action)
            total += float(reward)
            ahead = active(state)
            values = weights[:, ahead].sum(1)
            following = choose(values, step)
            target = float(reward) + (0.0 if ended else 0.99 * values[following])
            weights[action, on] += 0.5 / TILINGS * (target - weights[action, on].sum())
            on, action = ahead, following
            if ended or cut:
                returns.append(total)
                total = 0.0
                on = active(environment.reset()[0])
                action = choose(weights[:, on].sum(1), step)
        return np.array(returns)

    return train


def ours(_data: Data) -> Train:
    import gymnasium

    from novum.reinforcement import LinearSarsa, TileCoding

    def train(steps: int, seed: int) -> np.ndarray:
        features = TileCoding(LOW, HIGH, tiles=TILES, tilings=TILINGS)
        agent = LinearSarsa(steps, features=features, random_state=seed)
        return agent.fit(gymnasium.make("CartPole-v1")).episode_returns_

    return train


workload(
    "reinforcement.learning.linear_agents.cart_pole",
    Recipe(task, rows(50_000)),
    learn,
    [Peer("gymnasium, Python loop", plain_loop)],
    novum=Peer("novum", ours, ours=True),
    target=2.0,
    quality=Quality("late_return", tolerance=0.5),
    note="CartPole-v1, 50k steps, 8 tilings of 4^4 tiles",
)
