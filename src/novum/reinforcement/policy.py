"""Policies: what is done in which state, and what that is worth.

deterministic    a = pi(s)            one action for each state
stochastic       pi(a | s)            probabilities of actions
by steps         pi_t(s)              another one for each step of a finite horizon
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from novum.core.errors import InputError
from novum.core.tables import frame_of, is_frame, to_frame
from novum.core.text import label_text, listed
from novum.display import Table
from novum.numerics import Codes, Floats, cached_property
from novum.reinforcement.names import Names
from novum.reinforcement.pairs import END
from novum.reinforcement.process import MarkovDecisionProcess

SHOWN_STATES = 12


@dataclass(frozen=True, eq=False, repr=False)
class Policy:
    """What to do in each state, as a value.

    Made by `Policy.of(process, ...)`; plans and agents give one too.

    Attributes
    ----------
    states, actions : names
    choices : int32 array (n_states,) or (n_steps, n_states), or None
        Codes of actions of a deterministic policy, -1 in terminal states.
    probabilities : array (n_states, n_actions) or (n_steps, n_states, n_actions), or None
        Of a stochastic policy; rows of terminal states are zero.

    Examples
    --------
    >>> process = MarkovDecisionProcess(
    ...     [[[1.0, 0.0], [1.0, 0.0]], [[0.0, 1.0], [0.0, 1.0]]], [0.0, 1.0], 0.5,
    ...     states=["left", "right"], actions=["to left", "to right"])
    >>> policy = Policy.of(
    ...     process, {"left": "to right", "right": {"to left": 0.5, "to right": 0.5}})
    >>> policy["left"], policy["right"]
    ({'to right': 1.0}, {'to left': 0.5, 'to right': 0.5})
    >>> from novum.reinforcement import policy_values
    >>> policy_values(process, policy).round(4).tolist()
    [0.8, 1.6]
    """

    states: Names
    actions: Names
    choices: Codes | None = None
    probabilities: Floats | None = None

    @classmethod
    def of(cls, process: MarkovDecisionProcess, given: Any) -> Policy:
        """A policy for a process, checked against its states and actions.

        Parameters
        ----------
        process : MarkovDecisionProcess
        given : mapping, array, sequence of names, data frame or Policy
            A mapping from states to actions or to `{action: probability}`; codes of actions
            (n_states,) or (n_steps, n_states); probabilities (n_states, n_actions) or with steps in
            front; or what `table()` gave.
        """
        if isinstance(given, Policy):
            _check_names(given, process)
            return _checked(given, process)
        if isinstance(given, Mapping):
            return _checked(_from_mapping(process, given), process)
        if is_frame(given):
            return _checked(_from_frame(process, given), process)
        array = np.asarray(given)
        n_states, n_actions = process.n_states, process.n_actions
        if array.shape[-1:] == (n_states,) and array.ndim <= 2 and not _is_float(array):
            if not np.issubdtype(array.dtype, np.integer):
                array = process.actions.codes(array.ravel().tolist()).reshape(array.shape)
            return _checked(
                cls(process.states, process.actions, choices=array.astype(np.int32)), process
            )
        if array.shape[-2:] == (n_states, n_actions) and array.ndim in (2, 3):
            table = array.astype(np.float64)
            return _checked(cls(process.states, process.actions, probabilities=table), process)
        raise InputError(
            f"A policy of {n_states} states and {n_actions} actions is a mapping from states to "
            f"actions, codes of shape ({n_states},) or probabilities of shape ({n_states}, "
            f"{n_actions}); got {array.dtype} of shape {array.shape}."
        )

    @classmethod
    def uniform(cls, process: MarkovDecisionProcess) -> Policy:
        """Every action of a state with the same probability."""
        counts = np.maximum(process.allowed.sum(axis=1, keepdims=True), 1)
        return cls(process.states, process.actions, probabilities=process.allowed / counts)

    # --- Reading ----------------------------------------------------------------------------------

    @property
    def n_steps(self) -> int | None:
        """Steps of a finite horizon, or None for a policy that does not look at the clock."""
        if self.choices is not None:
            return len(self.choices) if self.choices.ndim == 2 else None
        assert self.probabilities is not None
        return len(self.probabilities) if self.probabilities.ndim == 3 else None

    @property
    def is_deterministic(self) -> bool:
        return self.choices is not None

    def __getitem__(self, state: Any) -> Any:
        """The action in a state, or `{action: probability}`; None in a terminal one."""
        if self.n_steps is not None:
            raise InputError("This policy depends on the step: ask for policy.action(state, step).")
        return self.action(state)

    def action(self, state: Any, step: int = 0) -> Any:
        """The action in a state at a step, counted from 0."""
        code = self.states.position(state)
        now = self.at_step(step)
        if now.choices is not None:
            choice = int(now.choices[code])
            return None if choice == END else self.actions[choice]
        assert now.probabilities is not None
        row = now.probabilities[code]
        return {self.actions[a]: float(row[a]) for a in np.flatnonzero(row).tolist()} or None

    def at_step(self, step: int) -> Policy:
        """The policy of one step."""
        if self.n_steps is None:
            return self
        if not 0 <= step < self.n_steps:
            raise InputError(f"The policy has steps 0 to {self.n_steps - 1}, got {step}.")
        if self.choices is not None:
            return Policy(self.states, self.actions, choices=self.choices[step])
        assert self.probabilities is not None
        return Policy(self.states, self.actions, probabilities=self.probabilities[step])

    @cached_property
    def weights(self) -> Floats:
        """Probabilities of actions, of shape (n_states, n_actions), for policies of all kinds."""
        if self.probabilities is not None:
            return self.probabilities
        assert self.choices is not None
        table = np.zeros((*self.choices.shape, len(self.actions)))
        np.put_along_axis(table, np.maximum(self.choices, 0)[..., np.newaxis], 1.0, axis=-1)
        table[self.choices == END] = 0.0
        return table

    def predict(self, states: Sequence[Any]) -> list[Any]:
        """The most probable action of each state."""
        best = np.argmax(self.at_step(0).weights, axis=1)
        return [self.actions[int(best[self.states.position(state)])] for state in states]

    def table(self, frame: str = "arrow") -> Any:
        """Rows of state, action and probability (and step), as a table that `Policy.of` reads."""
        weights = self.weights if self.n_steps is not None else self.weights[np.newaxis]
        step, state, action = np.nonzero(weights)
        columns: dict[str, Any] = {} if self.n_steps is None else {"step": pa.array(step)}
        columns["state"] = _column(self.states, state)
        columns["action"] = _column(self.actions, action)
        columns["probability"] = pa.array(weights[step, state, action])
        return to_frame(pa.table(columns), frame)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Policy) or not self.states.same_as(other.states):
            return NotImplemented if not isinstance(other, Policy) else False
        return self.actions.same_as(other.actions) and np.array_equal(self.weights, other.weights)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        if self.n_steps is not None:
            return f"Policy of {len(self.states)} states for {self.n_steps} steps"
        shown = list(self.states)[:SHOWN_STATES]
        rows = [[str(state), _action_text(self[state])] for state in shown]
        more = len(self.states) - len(rows)
        return Table(
            "", ["state", "action"], rows, f"and {more} more states" if more else ""
        ).as_text()


# --- Reading --------------------------------------------------------------------------------------


def _is_float(array: Any) -> bool:
    return bool(np.issubdtype(array.dtype, np.floating))


def _check_names(policy: Policy, process: MarkovDecisionProcess) -> None:
    for own, other in ((policy.states, process.states), (policy.actions, process.actions)):
        if not own.same_as(other):
            raise InputError(
                f"The policy is over the {own.kind}s {listed(list(own))} and the process over "
                f"{listed(list(other))}. Make the policy for this process."
            )


def _checked(policy: Policy, process: MarkovDecisionProcess) -> Policy:
    """The policy, if it takes only actions that states have."""
    allowed, terminal = process.allowed, process.pairs.is_terminal
    if policy.choices is not None:
        choices = policy.choices.copy()
        choices[..., terminal] = END
        outside = (choices < 0) & ~terminal | (choices >= process.n_actions)
        taken = np.take_along_axis(
            np.broadcast_to(allowed, (*choices.shape, process.n_actions)),
            np.clip(choices, 0, process.n_actions - 1)[..., np.newaxis],
            axis=-1,
        )[..., 0]
        wrong = (outside | ~taken) & ~terminal
        if wrong.any():
            where = np.unravel_index(int(wrong.argmax()), wrong.shape)
            _refuse(process, int(where[-1]), int(choices[where]))
        return Policy(process.states, process.actions, choices=choices)
    assert policy.probabilities is not None
    table = policy.probabilities.copy()
    table[..., terminal, :] = 0.0
    sums = table.sum(axis=-1)
    wrong_rows = ~(np.isfinite(sums) & (table >= 0).all(axis=-1) & (np.abs(sums - 1) <= 1e-6))
    wrong_rows &= ~terminal
    if wrong_rows.any():
        where = np.unravel_index(int(wrong_rows.argmax()), wrong_rows.shape)
        raise InputError(
            f"The probabilities of actions in state {label_text(process.states[int(where[-1])])} "
            f"are at least 0 and sum to 1; they sum to {sums[where]:g}."
        )
    forbidden = (table > 0) & ~allowed
    if forbidden.any():
        where = np.unravel_index(int(forbidden.argmax()), forbidden.shape)
        _refuse(process, int(where[-2]), int(where[-1]))
    table /= np.where(sums > 0, sums, 1.0)[..., np.newaxis]
    return Policy(process.states, process.actions, probabilities=table)


def _refuse(process: MarkovDecisionProcess, state: int, action: int) -> None:
    name = label_text(process.states[state])
    if not 0 <= action < process.n_actions:
        raise InputError(
            f"The policy gives state {name} the action number {action}; actions are numbered 0 to "
            f"{process.n_actions - 1}."
        )
    process.pair(state, action)


def _from_mapping(process: MarkovDecisionProcess, given: Mapping[Any, Any]) -> Policy:
    states, actions = process.states, process.actions
    table = np.zeros((process.n_states, process.n_actions))
    seen = process.pairs.is_terminal.copy()
    for state, choice in given.items():
        code = states.position(state)
        seen[code] = True
        if process.pairs.is_terminal[code]:
            continue
        shares = choice if isinstance(choice, Mapping) else {choice: 1.0}
        for action, share in shares.items():
            table[code, actions.position(action)] = share
    if not seen.all():
        missing = [states[s] for s in np.flatnonzero(~seen).tolist()]
        raise InputError(f"The policy says nothing about {listed(missing)}. Add an action.")
    if ((table == 0) | (table == 1)).all() and (table.sum(axis=1) <= 1).all():
        choices = np.where(table.any(axis=1), table.argmax(axis=1), END).astype(np.int32)
        return Policy(states, actions, choices=choices)
    return Policy(states, actions, probabilities=table)


def _from_frame(process: MarkovDecisionProcess, given: Any) -> Policy:
    frame = frame_of(given)
    columns = frame.columns
    if not {"state", "action"} <= set(columns):
        raise InputError(
            f"The table of a policy has the columns state and action; these are {listed(columns)}."
        )
    state = process.states.codes(_plain_names(frame["state"].to_list()))
    action = process.actions.codes(_plain_names(frame["action"].to_list()))
    share = (
        np.array(frame["probability"].to_list(), np.float64)
        if "probability" in columns
        else np.ones(len(state))
    )
    if "step" not in columns:
        table = np.zeros((process.n_states, process.n_actions))
        np.add.at(table, (state, action), share)
    else:
        step = np.array(frame["step"].to_list(), np.int64)
        table = np.zeros((int(step.max()) + 1, process.n_states, process.n_actions))
        np.add.at(table, (step, state, action), share)
    if ((table == 0) | (table == 1)).all() and (table.sum(axis=-1) <= 1).all():
        choices = np.where(table.any(axis=-1), table.argmax(axis=-1), END).astype(np.int32)
        return Policy(process.states, process.actions, choices=choices)
    return Policy(process.states, process.actions, probabilities=table)


def _plain_names(names: list[Any]) -> list[Any]:
    """Names of tuples are lists in Arrow."""
    return [tuple(name) if isinstance(name, list) else name for name in names]


def _column(names: Names, codes: Any) -> Any:
    return pa.array([_storable(names[int(code)]) for code in codes])


def _storable(name: Any) -> Any:
    return list(name) if isinstance(name, tuple) else name


def _action_text(action: Any) -> str:
    if action is None:
        return "(terminal)"
    if isinstance(action, Mapping):
        return ", ".join(f"{name} {share:.3g}" for name, share in action.items())
    return str(action)
