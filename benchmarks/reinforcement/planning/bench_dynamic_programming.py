"""Value and policy iteration on known decision processes.

A peer maps the process to `(value, policy)`; setting up its model is inside the time. The quality
is the policy's own value, because some peers stop on the span and return a shifted value.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.clock import Clock
from benchmarks.peers import Make, Peer
from benchmarks.recipes import Data, Recipe, rows
from benchmarks.registry import Figures, Quality, workload
from benchmarks.reinforcement.processes import dense_process, grid_process, policy_value

Solve = Callable[[Data], tuple[Any, Any]]
STOP: dict[str, Any] = {"epsilon": 1e-4, "max_iter": 10_000}


def solve(make: Make, data: Data, clock: Clock) -> Callable[[], Figures]:
    solver = make(data)
    with clock("solve"):
        value, policy = solver(data)

    def figures() -> Figures:
        v = np.asarray(value, float).ravel()
        own = policy_value(data, np.asarray(policy).ravel().astype(int))
        actions = range(data.R.shape[1])
        backup = np.max([data.R[:, a] + data.discount * (data.P[a] @ v) for a in actions], axis=0)
        return {"policy_value": own.mean(), "residual": np.abs(backup - v).max()}

    return figures


def quantecon(method: str, **options: Any) -> Make:
    def make(_data: Data) -> Solve:
        from quantecon.markov import DiscreteDP

        def run(data: Data) -> tuple[Any, Any]:
            result = DiscreteDP(*_pairs(data)).solve(method=method, **options)
            return result.v, result.sigma

        return run

    return make


def _pairs(data: Data) -> tuple[Any, ...]:
    """QuantEcon's arguments: state-action pairs where the transitions are sparse."""
    if not data.sparse:
        return data.R, data.Q, data.discount
    states, actions = data.R.shape
    order = np.arange(states * actions).reshape(actions, states).T.ravel()
    Q = sp.vstack(data.P).tocsr()[order]
    s, a = np.repeat(np.arange(states), actions), np.tile(np.arange(actions), states)
    return data.R.ravel(), Q, data.discount, s, a


def toolbox(kind: str, **options: Any) -> Make:
    def make(_data: Data) -> Solve:
        import mdptoolbox.mdp

        def run(data: Data) -> tuple[Any, Any]:
            solver = getattr(mdptoolbox.mdp, kind)(data.P, data.R, data.discount, **options)
            solver.run()
            return solver.V, solver.policy

        return run

    return make


DENSE = Recipe(dense_process, rows(2_000), 10)
GRID = Recipe(grid_process, rows(500, quick=50))
SAME_VALUE = Quality("policy_value", tolerance=1e-3)
DENSE_NOTE = "2000 states, 10 actions, discount 0.99"
GRID_NOTE = "250k states, 4 actions, sparse, discount 0.99"

workload(
    "reinforcement.planning.dynamic_programming.dense_value",
    DENSE,
    solve,
    [
        Peer("quantecon", quantecon("value_iteration", **STOP)),
        Peer("pymdptoolbox", toolbox("ValueIteration", **STOP)),
    ],
    target=1.0,
    quality=SAME_VALUE,
    note=DENSE_NOTE + ", epsilon 1e-4, value iteration",
)
workload(
    "reinforcement.planning.dynamic_programming.dense_policy",
    DENSE,
    solve,
    [
        Peer("quantecon policy", quantecon("policy_iteration")),
        Peer("quantecon modified", quantecon("modified_policy_iteration", **STOP)),
        Peer("pymdptoolbox policy", toolbox("PolicyIteration")),
        Peer("pymdptoolbox modified", toolbox("PolicyIterationModified", **STOP)),
    ],
    target=1.0,
    quality=SAME_VALUE,
    note=DENSE_NOTE,
)
workload(
    "reinforcement.planning.dynamic_programming.grid_value",
    GRID,
    solve,
    [
        Peer("quantecon", quantecon("value_iteration", **STOP)),
        Peer("pymdptoolbox", toolbox("ValueIteration", **STOP)),
    ],
    target=6.0,
    quality=SAME_VALUE,
    limit=120,
    note=GRID_NOTE + ", epsilon 1e-4, value iteration",
)
workload(
    "reinforcement.planning.dynamic_programming.grid_policy",
    GRID,
    solve,
    [
        Peer("quantecon modified", quantecon("modified_policy_iteration", **STOP)),
        Peer("quantecon policy", quantecon("policy_iteration"), slow=True),
        Peer("pymdptoolbox modified", toolbox("PolicyIterationModified", **STOP), slow=True),
    ],
    target=6.0,
    quality=SAME_VALUE,
    limit=120,
    note=GRID_NOTE,
)
