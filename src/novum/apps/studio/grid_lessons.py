"""A grid world that is watched while it is planned, or while an agent learns it.

    value iteration    V(s) <- max_a [R(s) + discount sum_s' P(s' | s, a) V(s')]
    policy iteration   the values of a policy exactly, then the best action everywhere
    Q-learning         Q(s, a) <- Q(s, a) + rate [r + discount max_b Q(s', b) - Q(s, a)]

Each frame has a value and a move for every field, and of one field, the one that changed most, the
formula with its numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from novum.apps.studio.frames import Frame
from novum.core.errors import InputError
from novum.numerics import Floats, Integers
from novum.reinforcement import (
    GridWorld,
    MarkovDecisionProcess,
    Policy,
    QLearning,
    policy_values,
    solve,
)

MOST_FIELDS = 100
MOST_SWEEPS = 60
METHODS = {
    "value iteration": "Every sweep looks one step further ahead.",
    "policy iteration": "Judge a policy exactly, then do better everywhere.",
    "Q-learning": "An agent that knows nothing walks, and remembers what paid.",
}


def world_of(
    fields: str, living_reward: float = -0.04, slip: float = 0.2, discount: float = 1.0
) -> GridWorld:
    """The world of a map, which must have an end that pays."""
    if sum(not sign.isspace() for sign in fields) > MOST_FIELDS:
        raise InputError(f"The map has too many fields; {MOST_FIELDS} are enough for a class room.")
    world = GridWorld(fields, living_reward, slip, discount)
    if not world.terminal_rewards:
        raise InputError("The world needs an end. Make a field a goal or a pit.")
    if living_reward > 0 and discount == 1.0:
        raise InputError(
            "With a reward for living and no discount it pays to wander for ever. Set a discount "
            "below 1, or a reward of at most 0."
        )
    return world


def frames(world: GridWorld, method: str, seed: int = 0) -> list[Frame]:
    """What each step of a method shows."""
    steps = {
        "value iteration": lambda: _value_iteration(world),
        "policy iteration": lambda: _policy_iteration(world),
        "Q-learning": lambda: _q_learning(world, seed),
    }
    if method not in steps:
        raise InputError(f"The method is one of {', '.join(steps)}.")
    return list(steps[method]())


def _value_iteration(world: GridWorld) -> Iterator[Frame]:
    process = world.process
    V = _end_values(world)
    yield _frame(world, "Start: only the ends are worth something", V, None, "V(s) = 0", [])
    for sweep in range(1, MOST_SWEEPS + 1):
        Q = action_values(process, V)
        after = np.where(
            np.isnan(Q).all(axis=1), V, np.nanmax(np.nan_to_num(Q, nan=-np.inf), axis=1)
        )
        moved = np.abs(after - V)
        at = int(moved.argmax())
        yield _frame(
            world,
            f"Sweep {sweep}: the largest change is {moved.max():.3g}",
            after,
            Q,
            *_bellman(process, at, V, Q, after),
            at=at,
        )
        V = after
        if moved.max() < 1e-3:
            return


def _policy_iteration(world: GridWorld) -> Iterator[Frame]:
    process, nearly = world.process, ""
    if process.discount == 1.0:
        # A policy that never ends has no value; nearly no discount is nearly the same world.
        process, nearly = process.at(discount=0.999), " (discount 0.999)"
    actions = np.zeros(process.n_states, np.int64)
    for number in range(1, 30):
        names = {
            state: process.actions[int(actions[i])]
            for i, state in enumerate(process.states)
            if process.actions_of(state)
        }
        V = policy_values(process, Policy.of(process, names))
        Q = action_values(process, V)
        better = best_moves(Q)
        # A move is changed only for one that is truly better.
        gain = np.take_along_axis(Q, better[:, np.newaxis], 1)[:, 0]
        own = np.take_along_axis(Q, actions[:, np.newaxis], 1)[:, 0]
        changes = np.nan_to_num(gain - own) > 1e-9
        at = int(np.nan_to_num(gain - own).argmax())
        yield _frame(
            world,
            f"Policy {number}{nearly}: {int(changes.sum())} fields would rather go elsewhere"
            if changes.any()
            else f"Policy {number}{nearly}: no field would rather go elsewhere, so it is the best",
            V,
            None,
            *_bellman(process, at, V, Q, V),
            at=at,
            moves=actions,
        )
        if not changes.any():
            return
        actions = np.where(changes, better, actions)


def _q_learning(world: GridWorld, seed: int) -> Iterator[Frame]:
    process = world.process
    if process.start is None:
        raise InputError("An agent needs a field to start from. Make a field the start.")
    best = solve(process).values
    agent = QLearning(1, random_state=seed, max_episode_steps=500)
    done = 0
    for total in (10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000, 300_000):
        agent = agent.partial_fit(world, total - done)
        done = total
        V, Q = agent.values_.copy(), agent.action_values_
        for field, reward in world.terminal_rewards.items():
            V[process.states.position(field)] = reward
        error = float(np.abs(V - best).max())
        episodes = len(agent.episode_returns_)
        numbers = [("episodes", episodes), ("largest error of V", error)]
        if episodes:
            numbers.append(
                ("mean return of the last 20", float(agent.episode_returns_[-20:].mean()))
            )
        yield _frame(
            world,
            f"After {total:,} steps",
            V,
            Q,
            "Q(s, a) ← Q(s, a) + rate [r + discount · max_b Q(s′, b) − Q(s, a)]",
            numbers,
        )


def action_values(process: MarkovDecisionProcess, V: Floats) -> Floats:
    """`R(s, a) + discount sum P V` (n_states, n_actions), NaN where a state has no such action."""
    Q = np.full((process.n_states, process.n_actions), np.nan)
    place = {state: i for i, state in enumerate(process.states)}
    for i, state in enumerate(process.states):
        for action in process.actions_of(state):
            ahead = sum(p * V[place[to]] for to, p in process.transition(state, action).items())
            Q[i, list(process.actions).index(action)] = (
                process.reward(state, action) + process.discount * ahead
            )
    return Q


def best_moves(Q: Floats) -> Integers:
    """The best action of each state; the first one of ends, which have none."""
    return np.argmax(np.nan_to_num(Q, nan=-np.inf), axis=1)


def _end_values(world: GridWorld) -> Floats:
    process = world.process
    V = np.zeros(process.n_states)
    for field, reward in world.terminal_rewards.items():
        V[process.states.position(field)] = reward
    return V


def _bellman(
    process: MarkovDecisionProcess, at: int, V: Floats, Q: Floats, after: Floats
) -> tuple[str, list[tuple[str, float]]]:
    """The equation of one field, and its numbers."""
    if np.isnan(Q[at]).all():
        return "V(s) = R(s) at an end", [("V", float(after[at]))]
    names, state = list(process.actions), process.states[at]
    best = int(np.nanargmax(Q[at]))
    place = {one: i for i, one in enumerate(process.states)}
    terms = " + ".join(
        f"{p:g}·{V[place[to]]:.3f}" for to, p in process.transition(state, names[best]).items()
    )
    reward = process.reward(state, names[best])
    formula = (
        f"V{tuple(state)} = max over moves; {names[best]}: "
        f"{reward:g} + {process.discount:g}·({terms}) = {Q[at, best]:.3f}"
    )
    return formula, [(name, float(Q[at, k])) for k, name in enumerate(names)]


def _frame(
    world: GridWorld,
    title: str,
    V: Floats,
    Q: Floats | None,
    formula: str,
    numbers: list[tuple[str, float]],
    at: int | None = None,
    moves: Any = None,
) -> Frame:
    process, ends = world.process, world.terminal_rewards
    if moves is None and Q is not None:
        moves = best_moves(Q)
    fields = []
    for i, field in enumerate(process.states):
        move = None if field in ends or moves is None else str(process.actions[int(moves[i])])
        fields.append({"field": list(field), "value": float(V[i]), "move": move})
    return {
        "title": title,
        "formula": formula,
        "numbers": [[name, float(value)] for name, value in numbers if np.isfinite(value)],
        "fields": fields,
        "at": None if at is None else list(process.states[at]),
    }
