"""Decision processes: dense and random, or a large slippery grid."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from benchmarks.recipes import Data

DISCOUNT = 0.99


def dense_process(states: int, actions: int, seed: int = 0) -> Data:
    """Random transitions `P[a, s, s']` and rewards `R[s, a]`; `Q[s, a, s']` holds P once more."""
    rng = np.random.default_rng(seed)
    P = rng.random((actions, states, states)) ** 8
    P /= P.sum(2, keepdims=True)
    Q = np.ascontiguousarray(P.transpose(1, 0, 2))
    return Data(P=P, Q=Q, R=rng.random((states, actions)), discount=DISCOUNT, sparse=False)


def grid_process(side: int, seed: int = 0) -> Data:
    """A grid with 20 % walls, slippery moves (0.8 ahead, 0.1 to each side), absorbing goals."""
    rng = np.random.default_rng(seed)
    states = side * side
    wall = rng.random((side, side)) < 0.2
    goal = np.zeros(states, bool)
    goal[rng.choice(states, 50, replace=False)] = True
    moves = [(-1, 0), (0, 1), (1, 0), (0, -1)]
    to = [_step(side, wall, goal, down, right) for down, right in moves]
    here = np.tile(np.arange(states), 3)
    probability = np.repeat([0.8, 0.1, 0.1], states)
    P = []
    for a in range(4):
        there = np.concatenate([to[a], to[(a + 1) % 4], to[(a - 1) % 4]])
        P.append(sp.csr_matrix((probability, (here, there)), shape=(states, states)))
    R = np.where(goal, 0.0, -0.01)[:, None].repeat(4, 1)
    for a in range(4):
        R[:, a] += np.where(goal, 0.0, P[a] @ goal.astype(float))
    return Data(P=P, R=R, discount=DISCOUNT, sparse=True)


def sparse_process(states: int, actions: int, following: int, seed: int = 0) -> Data:
    """Random next states, a few for each pair: mixes fast."""
    rng = np.random.default_rng(seed)
    here = np.repeat(np.arange(states), following)
    P = []
    for _ in range(actions):
        chances = rng.dirichlet(np.ones(following), states).ravel()
        there = rng.integers(0, states, states * following)
        P.append(sp.csr_matrix((chances, (here, there)), shape=(states, states)))
    return Data(P=P, R=rng.random((states, actions)), discount=DISCOUNT, sparse=True)


def chain_process(states: int, seed: int = 0) -> Data:
    """A line to be walked in either direction, with discount 0.9999: mixes slowly."""
    rng = np.random.default_rng(seed)
    ahead = sp.diags([np.full(states - 1, 0.9)], [1], shape=(states, states)).tolil()
    back = sp.diags([np.full(states - 1, 0.9)], [-1], shape=(states, states)).tolil()
    ahead[states - 1, states - 1], back[0, 0] = 0.9, 0.9
    P = [
        (ahead + sp.diags([np.full(states, 0.1)], [0])).tocsr(),
        (back + sp.diags([np.full(states, 0.1)], [0])).tocsr(),
    ]
    R = rng.random((states, 2))
    return Data(P=P, R=R, discount=0.9999, sparse=True)


def _step(side: int, wall: np.ndarray, goal: np.ndarray, down: int, right: int) -> np.ndarray:
    states = np.arange(side * side)
    row, column = np.divmod(states, side)
    row = np.clip(row + down, 0, side - 1)
    column = np.clip(column + right, 0, side - 1)
    return np.where(wall[row, column] | goal, states, row * side + column)


def policy_value(data: Data, policy: np.ndarray) -> np.ndarray:
    """The value of a policy, exactly."""
    states, actions = data.R.shape
    rows = np.arange(states)
    reward = data.R[rows, policy]
    if not data.sparse:
        P = data.P[policy, rows]
        value: np.ndarray = np.linalg.solve(np.eye(states) - data.discount * P, reward)
        return value
    parts = [sp.diags((policy == a).astype(float)) @ data.P[a] for a in range(actions)]
    P = sum(parts[1:], parts[0]).tocsr()
    if data.discount <= DISCOUNT:
        value = np.zeros(states)
        for _ in range(1500):  # 0.99^1500 < 1e-6
            value = reward + data.discount * (P @ value)
        return value
    from scipy.sparse.linalg import spsolve

    solved: np.ndarray = spsolve(
        sp.identity(states, format="csc") - data.discount * P.tocsc(), reward
    )
    return solved
