"""What people give as a decision process, checked, as arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy import sparse

from novum.core.errors import InputError
from novum.core.text import label_text, listed
from novum.numerics import Floats, Mask
from novum.reinforcement.names import Names
from novum.reinforcement.pairs import END, Pairs


def read_transitions(transitions: Any) -> tuple[Any, int, int]:
    """Transitions as an array or a list of sparse matrices, with their two counts."""
    is_list = isinstance(transitions, (list, tuple))
    if is_list and any(sparse.issparse(matrix) for matrix in transitions):
        shapes = {matrix.shape for matrix in transitions}
        if len(shapes) != 1 or (shape := shapes.pop())[0] != shape[1] or shape[0] == 0:
            raise InputError(
                "Each action has a square matrix over the same states; the shapes are "
                f"{listed([matrix.shape for matrix in transitions])}."
            )
        for place, matrix in enumerate(transitions):
            if not np.isfinite(matrix.data).all():
                raise InputError(
                    f"The transitions of action number {place} hold a value that is not finite."
                )
        return list(transitions), len(transitions), shape[0]
    if sparse.issparse(transitions):
        raise InputError(
            "One sparse matrix is given; a process takes a list of them, one for each action."
        )
    try:
        array = np.asarray(transitions, np.float64)
    except (TypeError, ValueError):
        raise InputError(
            "Transitions are numbers in an array of shape (n_actions, n_states, n_states), or a "
            "list of sparse matrices; these could not be read as such."
        ) from None
    if array.ndim != 3 or array.shape[1] != array.shape[2] or array.size == 0:
        raise InputError(
            "Transitions have the shape (n_actions, n_states, n_states), got "
            f"{array.shape}. transitions[a, s, s'] is the probability from s to s' by action a."
        )
    return array, array.shape[0], array.shape[1]


def checked_discount(discount: float) -> float:
    is_number = isinstance(discount, (int, float, np.number)) and not isinstance(discount, bool)
    if not is_number or not 0 <= discount <= 1:
        raise InputError(f"The discount is a number from 0 to 1, got {label_text(discount)}.")
    return float(discount)


def read_allowed(allowed: Any, is_terminal: Mask, states: Names, actions: Names) -> Mask:
    mask = np.ones((len(states), len(actions)), np.bool_)
    if isinstance(allowed, Mapping):
        mask[:] = False
        for state, own in allowed.items():
            mask[states.position(state), actions.codes(own)] = True
    elif allowed is not None:
        given = np.asarray(allowed)
        if given.shape != mask.shape or given.dtype != np.bool_:
            raise InputError(
                f"`allowed` is a table of truth values of shape {mask.shape}, one row for each "
                f"state, or a mapping from states to actions; got shape {given.shape} of "
                f"{given.dtype}."
            )
        mask = given.copy()
    mask[is_terminal] = False
    idle = ~mask.any(axis=0)
    if idle.any() and not is_terminal.all():
        action = actions[int(idle.argmax())]
        raise InputError(
            f"Action {label_text(action)} is allowed in no state. Leave it out, or allow it "
            "somewhere."
        )
    stuck = ~mask.any(axis=1) & ~is_terminal
    if stuck.any():
        names = [states[s] for s in np.flatnonzero(stuck).tolist()]
        raise InputError(
            f"No action is allowed in {listed(names)}. Allow one, or list it in `terminal`."
        )
    return mask


StepRewards = Callable[[Pairs], Floats]


def read_rewards(
    rewards: Any, pairs: Pairs, rewards_on: str, process: Any
) -> tuple[Floats, StepRewards | None]:
    """Expected rewards of pairs; and what single steps give where the next state matters."""
    if rewards_on not in ("departure", "arrival"):
        raise InputError(f"rewards_on is 'departure' or 'arrival', got {rewards_on!r}.")
    n_states, n_actions = process.n_states, process.n_actions
    is_list = isinstance(rewards, (list, tuple))
    if is_list and rewards and any(sparse.issparse(matrix) for matrix in rewards):
        if len(rewards) != n_actions or any(m.shape != (n_states, n_states) for m in rewards):
            raise InputError(
                f"Rewards of steps are one matrix of shape ({n_states}, {n_states}) for each of "
                f"{n_actions} actions."
            )
        stacked = sparse.csr_matrix(sparse.vstack([sparse.csr_array(m) for m in rewards]))
        return _step_rewards(
            pairs, lambda a, s, t: np.asarray(stacked[a * n_states + s, t]).ravel(), process
        )
    array = _numbers(rewards, n_states, n_actions)
    action, state = pairs.action, pairs.state
    if array.shape == (n_states,):
        if rewards_on == "arrival":
            finite(array[state], pairs, process)
            expected = np.where(action == END, 0.0, pairs.expected(array))
            return expected, lambda own: array[own.rows.indices]
        return finite(array[state], pairs, process), None
    if rewards_on == "arrival":
        raise InputError(
            "rewards_on='arrival' is about rewards of states; these have the shape "
            f"{array.shape}. Give one reward for each of {n_states} states."
        )
    if array.shape == (n_states, n_actions):
        return finite(np.where(action == END, 0.0, array[state, action]), pairs, process), None
    return _step_rewards(pairs, lambda a, s, t: array[a, s, t], process)


def _numbers(rewards: Any, n_states: int, n_actions: int) -> Floats:
    shapes = [(n_states,), (n_states, n_actions), (n_actions, n_states, n_states)]
    try:
        array = np.asarray(rewards, np.float64)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.shape not in shapes:
        raise InputError(
            f"Rewards of {n_states} states and {n_actions} actions have one of the shapes "
            f"{', '.join(map(str, shapes))}; got {np.shape(array)}."
        )
    return array


def _step_rewards(
    pairs: Pairs,
    at: Callable[[Any, Any, Any], Floats],
    process: Any,
) -> tuple[Floats, StepRewards]:
    """Rewards of (a, s, s') where the transition can happen; what cannot is not looked at."""

    def of_steps(own: Pairs) -> Floats:
        lengths = np.diff(own.rows.indptr)
        action = np.repeat(np.where(own.action == END, 0, own.action), lengths)
        return at(action, np.repeat(own.state, lengths), own.rows.indices)

    own = pairs.as_sparse()
    steps = own.rows.data * of_steps(own)
    owner = np.repeat(np.arange(own.n_pairs), np.diff(own.rows.indptr))
    expected = np.bincount(owner, steps, own.n_pairs).astype(np.float64)
    return finite(expected, pairs, process), of_steps


def finite(expected: Floats, pairs: Pairs, process: Any) -> Floats:
    bad = ~np.isfinite(expected)
    if bad.any():
        pair = int(bad.argmax())
        where = f"state {label_text(process.states[int(pairs.state[pair])])}"
        if pairs.action[pair] != END:
            where += f", action {label_text(process.actions[int(pairs.action[pair])])}"
        raise InputError(
            f"The reward of {where} is {expected[pair]:g}. Rewards are finite; forbid an action by "
            "`allowed` instead."
        )
    return expected
