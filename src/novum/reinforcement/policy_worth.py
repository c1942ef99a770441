"""What a policy is worth, where it spends its time, and how often it does what.

A policy turns a decision process into a Markov chain with rewards. Its value solves

    V = r_pi + discount * P_pi V,

a sparse system of linear equations that is solved exactly, with one step of refinement.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import MatrixRankWarning, splu

from novum.core.errors import InputError
from novum.core.runtime import long_call
from novum.core.text import listed
from novum.numerics import Codes, Floats, Integers, stationary_of
from novum.reinforcement.pairs import END
from novum.reinforcement.policy import Policy
from novum.reinforcement.process import MarkovDecisionProcess


def policy_values(
    process: MarkovDecisionProcess, policy: Any, horizon: int | None = None
) -> Floats:
    """The value of a policy in every state, exactly.

    Parameters
    ----------
    process : MarkovDecisionProcess
    policy : Policy, or what `Policy.of` takes
    horizon : int, optional
        Steps that count; that of a policy by steps is its own.

    Returns
    -------
    array (n_states,), or (horizon + 1, n_states) with the value of `t` steps to go in row `t`

    Notes
    -----
    Without a discount a policy must end the process from every state, or stay where rewards are
    zero; one that does not is refused by the loop it is stuck in.

    Examples
    --------
    >>> coin = MarkovDecisionProcess([[[0.5, 0.5], [0.0, 1.0]]], [1.0, 0.0], terminal=[1])
    >>> policy_values(coin, [0, -1]).tolist()
    [2.0, 0.0]
    """
    own = Policy.of(process, policy)
    if own.n_steps is not None or horizon is not None:
        return _finite_values(process, own, horizon)
    matrix, reward = policy_chain(process, own)
    return chain_values(matrix, reward, process)


def policy_chain(process: MarkovDecisionProcess, policy: Policy) -> tuple[Any, Floats]:
    """Transitions and rewards of the Markov chain that a policy makes of a process."""
    pairs = process.pairs
    if policy.choices is not None:
        chosen = chosen_pairs(process, policy.choices)
        return pairs.rows_of(chosen), pairs.reward[chosen]
    action = np.maximum(pairs.action, 0)
    share = np.where(pairs.action == END, 1.0, policy.weights[pairs.state, action])
    mixing = sparse.csr_array(
        (share, (pairs.state, pairs.row_indices(np.arange(pairs.n_pairs)))),
        shape=(pairs.n_states, pairs.rows.shape[0]),
    )
    reward = np.add.reduceat(share * pairs.reward, pairs.start[:-1])
    return mixing @ pairs.rows, reward


def chosen_pairs(process: MarkovDecisionProcess, choices: Codes) -> Integers:
    """The pairs of a deterministic policy."""
    pairs = process.pairs
    if process.allowed.all():
        return np.asarray(pairs.start[:-1] + choices, np.int64)
    hits = np.flatnonzero(pairs.action == choices[pairs.state])
    return np.asarray(hits, np.int64)


def chain_values(matrix: Any, reward: Floats, process: MarkovDecisionProcess) -> Floats:
    """Solves V = reward + discount * matrix V; without a discount the chain must end."""
    discount = process.discount
    if discount < 1:
        return _solved(matrix, discount, reward)
    idle = _idle_states(matrix, reward, process)
    if not idle.any():
        return _solved(matrix, 1.0, reward)
    values = np.zeros(len(reward))
    on = np.flatnonzero(~idle)
    if on.size:
        inside = matrix[on][:, on] if sparse.issparse(matrix) else matrix[np.ix_(on, on)]
        values[on] = _solved(inside, 1.0, reward[on])
    return values


def _idle_states(matrix: Any, reward: Floats, process: MarkovDecisionProcess) -> Any:
    """States of loops that are never left and give nothing; a loop that gives something is refused.

    A class is closed where its rows sum to one within it.
    """
    graph = sparse.csr_array(matrix)
    n_classes, label = connected_components(graph, connection="strong")
    coo = graph.tocoo()
    leaves = np.zeros(n_classes, np.bool_)
    sums = np.asarray(graph.sum(axis=1)).ravel()
    leaves[label[sums < 1 - 1e-9]] = True
    leaves[label[coo.row[label[coo.row] != label[coo.col]]]] = True
    closed = ~leaves[label]
    gives = np.zeros(n_classes, np.bool_)
    gives[label[reward != 0]] = True
    bad = closed & gives[label]
    if bad.any():
        loop = np.flatnonzero(label == label[int(bad.argmax())])
        names = [process.states[s] for s in loop.tolist()]
        raise InputError(
            "Without a discount a policy must end the process, and this one never leaves "
            f"{listed(names)}, where rewards are not zero. Change the policy there, give the "
            "process a discount below 1, or look at average_reward(process)."
        )
    return closed


def _solved(matrix: Any, discount: float, reward: Floats) -> Floats:
    n = len(reward)
    if isinstance(matrix, np.ndarray):
        system = np.eye(n) - discount * matrix
        return np.asarray(
            long_call(
                lambda: np.linalg.solve(system, reward), 0.7 * n**3, f"a system of {n} states"
            )
        )
    system = sparse.eye_array(n, format="csc") - discount * sparse.csc_array(matrix)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MatrixRankWarning)
        factors = long_call(lambda: splu(system), 2e3 * n, f"a sparse system of {n} states")
        values = factors.solve(reward)
        # One step of refinement: elimination in a sparse order loses a few digits.
        values = values + factors.solve(reward - system @ values)
    return np.asarray(values)


def _finite_values(process: MarkovDecisionProcess, policy: Policy, horizon: int | None) -> Floats:
    steps = policy.n_steps if horizon is None else int(horizon)
    assert steps is not None
    if policy.n_steps is not None and steps > policy.n_steps:
        raise InputError(
            f"The policy has {policy.n_steps} steps and the horizon is {steps}. Shorten it."
        )
    values = np.zeros((steps + 1, process.n_states))
    for left in range(1, steps + 1):
        # With `left` steps to go the clock of a policy by steps shows n_steps - left.
        now = policy if policy.n_steps is None else policy.at_step(policy.n_steps - left)
        matrix, reward = policy_chain(process, now)
        values[left] = reward + process.discount * (matrix @ values[left - 1])
    return values


def stationary_distribution(process: MarkovDecisionProcess, policy: Any) -> Floats:
    """The share of time that a policy spends in each state in the long run.

    Where there are several closed classes of states, or the process ends, there is no one answer,
    and an error says so.

    Examples
    --------
    >>> flip = MarkovDecisionProcess([[[0.9, 0.1], [0.5, 0.5]]], [0.0, 1.0], 0.9)
    >>> stationary_distribution(flip, [0, 0]).round(4).tolist()
    [0.8333, 0.1667]
    """
    own = Policy.of(process, policy)
    matrix, _ = policy_chain(process, own)
    graph = sparse.csr_array(matrix)
    n_classes, label = connected_components(graph, connection="strong")
    coo = graph.tocoo()
    closed = np.ones(n_classes, np.bool_)
    closed[label[coo.row[label[coo.row] != label[coo.col]]]] = False
    sums = np.asarray(graph.sum(axis=1)).ravel()
    closed[label[sums < 1 - 1e-9]] = False
    if closed.sum() != 1:
        raise InputError(
            f"The policy has {int(closed.sum())} closed classes of states, and a stationary "
            "distribution needs exactly one. Processes that end have none; see "
            "occupation(process, policy)."
        )
    states = np.flatnonzero(closed[label])
    inside = graph[states][:, states].toarray()
    shares = np.zeros(process.n_states)
    shares[states] = stationary_of(inside, range(len(states)))
    return shares


def occupation(process: MarkovDecisionProcess, policy: Any, start: Any = None) -> Floats:
    """Expected discounted visits of each state and action, of shape (n_states, n_actions).

        x(s, a) = sum over t of  discount^t * P(s_t = s, a_t = a)

    It is the solution of the linear program that is dual to Bellman's equations.

    Examples
    --------
    >>> coin = MarkovDecisionProcess([[[0.5, 0.5], [0.0, 1.0]]], [1.0, 0.0], terminal=[1], start=0)
    >>> occupation(coin, [0, -1]).tolist()
    [[2.0], [0.0]]
    """
    own = Policy.of(process, policy)
    first = process.start if start is None else process._read_start(start)
    if first is None:
        raise InputError("From where? Give the process a start, or name one here.")
    matrix, reward = policy_chain(process, own)
    if process.discount == 1:
        idle = _idle_states(matrix, np.ones(len(reward)), process)
        assert not idle.any()
    transposed = matrix.T if isinstance(matrix, np.ndarray) else sparse.csr_array(matrix).T
    visits = _solved(transposed, process.discount, first)
    return np.asarray(np.maximum(visits, 0.0)[:, np.newaxis] * own.weights)
