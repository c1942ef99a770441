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
from benchmarks.reinforcement.processes import (
    chain_process,
    dense_process,
    grid_process,
    policy_value,
    sparse_process,
)

Solve = Callable[[Data], tuple[Any, Any]]
STOP: dict[str, Any] = {"epsilon": 1e-4, "max_iter": 10_000}
# A line is improved by a state or two in a round, and sweeps at discount 0.9999 fade as slowly.
PATIENT: dict[str, Any] = {"max_iter": 1_000_000}


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
            if result.num_iter >= result.max_iter:
                raise RuntimeError(f"{method} stopped after {result.num_iter} rounds, unfinished.")
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


def ours(method: str = "auto", tol: float = 1e-6) -> Peer:
    """Novum; the tolerance is relative to values of about 80, so that it is that of the others."""

    def make(_data: Data) -> Solve:
        from novum.reinforcement import MarkovDecisionProcess, solve

        def run(data: Data) -> tuple[Any, Any]:
            process = MarkovDecisionProcess(data.P, data.R, data.discount)
            plan = solve(process, method=method, tol=tol)
            return plan.values, plan.policy.choices

        return run

    return Peer("novum", make, ours=True)


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
    novum=ours("value_iteration"),
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
    novum=ours(),
    target=1.0,
    quality=SAME_VALUE,
    note=DENSE_NOTE,
)
workload(
    "reinforcement.planning.dynamic_programming.dense_many_actions",
    Recipe(dense_process, rows(1_000), 20),
    solve,
    [
        Peer("quantecon policy", quantecon("policy_iteration")),
        Peer("quantecon modified", quantecon("modified_policy_iteration", **STOP)),
        Peer("quantecon value", quantecon("value_iteration", **STOP)),
    ],
    novum=ours(),
    target=1.0,
    quality=SAME_VALUE,
    note="1000 states, 20 actions, discount 0.99",
)
workload(
    "reinforcement.planning.dynamic_programming.grid_value",
    GRID,
    solve,
    [
        Peer("quantecon", quantecon("value_iteration", **STOP)),
        Peer("pymdptoolbox", toolbox("ValueIteration", **STOP)),
    ],
    novum=ours(),
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
    novum=ours(),
    target=6.0,
    quality=SAME_VALUE,
    limit=120,
    note=GRID_NOTE,
)
workload(
    "reinforcement.planning.dynamic_programming.sparse",
    Recipe(sparse_process, rows(50_000), 5, 8),
    solve,
    [Peer("quantecon modified", quantecon("modified_policy_iteration", **STOP))],
    novum=ours(),
    target=1.3,
    quality=SAME_VALUE,
    note="50k states, 5 actions, 8 next states each, discount 0.99",
)
workload(
    "reinforcement.planning.dynamic_programming.chain",
    Recipe(chain_process, rows(2_000)),
    solve,
    [
        Peer("quantecon modified", quantecon("modified_policy_iteration", epsilon=1e-4, **PATIENT)),
        Peer("quantecon policy", quantecon("policy_iteration", **PATIENT)),
        Peer("pymdptoolbox policy", toolbox("PolicyIteration", **PATIENT), slow=True),
    ],
    novum=ours(tol=1e-8),
    target=10.0,
    quality=Quality("policy_value", tolerance=1e-3),
    limit=120,
    note="a line of 2000 states, discount 0.9999",
)
