"""Policy iteration (Howard 1960): solve for the policy's values, take the best actions, repeat.

    V = r_pi + discount * P_pi V            exactly, by sparse or dense elimination
    pi(s) = argmax over pairs p of s of     r_p + discount * P_p V

Each policy is at least as good as the one before in every state, and there are finitely many, so it
ends at a best one; mostly after a handful of rounds. An action is changed only for one that is
better beyond rounding, so that ties cannot make it go round in circles, and so that without a
discount a policy that ends is followed by one that ends.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import MatrixRankWarning, splu

from novum.core.runtime import check_cancelled, long_call
from novum.numerics import Floats, Integers
from novum.reinforcement.pairs import Pairs

MOST_ROUNDS = 1000


@dataclass(frozen=True, eq=False)
class Approximation:
    """Values and a policy, as a method leaves them.

    Attributes
    ----------
    values : array (n_states,)
    chosen : int64 array (n_states,)
        Pairs of the policy.
    iterations : int
        Rounds over all pairs.
    trace : tuple of float
        The span of the last change, or what else the method watches.
    is_done : bool
        Whether it ended by itself.
    """

    values: Floats
    chosen: Integers
    iterations: int
    trace: tuple[float, ...]
    is_done: bool


def improve(
    pairs: Pairs,
    discount: float,
    chosen: Integers,
    most_rounds: int = MOST_ROUNDS,
    *,
    slack: float = 1e-13,
) -> Approximation | None:
    """Policy iteration from a policy; None where a policy's equations have no solution.

    Parameters
    ----------
    slack : float
        By how much of the largest value an action must be better to be taken.
    """
    trace: list[float] = []
    values = np.zeros(pairs.n_states)
    for rounds in range(1, most_rounds + 1):
        check_cancelled()
        solved = evaluate(pairs, discount, chosen)
        if solved is None:
            return None
        values = solved
        action_values = pairs.reward + discount * pairs.expected(values)
        best = pairs.best(action_values)
        gain = best - action_values[chosen]
        trace.append(float(gain.max()))
        scale = max(float(np.abs(values).max()), float(np.abs(pairs.reward).max()))
        better = gain > slack * scale
        if not better.any():
            return Approximation(values, chosen, rounds, tuple(trace), True)
        chosen = np.where(better, pairs.greedy(action_values, best), chosen)
    return Approximation(values, chosen, most_rounds, tuple(trace), False)


def evaluate(pairs: Pairs, discount: float, chosen: Integers) -> Floats | None:
    """The values of a policy given by its pairs; None where the equations are singular."""
    rows, reward, n = pairs.rows_of(chosen), pairs.reward[chosen], pairs.n_states
    if isinstance(rows, np.ndarray) or n <= 400:
        dense = rows if isinstance(rows, np.ndarray) else rows.toarray()
        return _dense(np.eye(n) - discount * dense, reward)
    system = sparse.eye_array(n, format="csc") - discount * sparse.csc_array(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MatrixRankWarning)
        try:
            factors = long_call(lambda: splu(system), 2e3 * n, f"a sparse system of {n} states")
        except RuntimeError:
            return None
        values = factors.solve(reward)
        values = values + factors.solve(reward - system @ values)
    return np.asarray(values) if np.isfinite(values).all() else None


def _dense(system: Floats, reward: Floats) -> Floats | None:
    n = len(reward)

    def solved() -> Any:
        values = np.linalg.solve(system, reward)
        return values + np.linalg.solve(system, reward - system @ values) if n <= 400 else values

    try:
        values = long_call(solved, 0.7 * n**3, f"a system of {n} states")
    except np.linalg.LinAlgError:
        return None
    return np.asarray(values) if np.isfinite(values).all() else None


def first_policy(pairs: Pairs) -> Integers:
    """The policy of the largest immediate rewards."""
    return pairs.greedy(pairs.reward)
