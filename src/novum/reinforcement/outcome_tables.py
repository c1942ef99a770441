"""Decision processes from tables of outcomes, functions and Gymnasium environments.

An outcome is `(probability, next state, reward, ends)`. Where a step ends the process the next
state is shown and never acted in, so its probability is missing from the row that plans use.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from scipy import sparse

from novum.core.errors import InputError
from novum.core.text import label_text
from novum.numerics import Floats
from novum.reinforcement.names import Names
from novum.reinforcement.pairs import END, WRONG, Outcomes, Pairs
from novum.reinforcement.process_reading import checked_discount

Table = Mapping[Any, Mapping[Any, Any]]


def read_outcomes(
    cls: Any, table: Table, discount: float, actions: Iterable[Any] | None, start: Any
) -> Any:
    """A process from `{state: {action: outcomes}}`."""
    states, action_names = _names(table, actions)
    action: list[int] = []
    first, sizes = [0], []
    cells: list[tuple[float, int, float, bool]] = []
    for state in states:
        own = sorted(
            (action_names.position(name), outcomes) for name, outcomes in _actions(table, state)
        )
        for code, outcomes in own:
            read = [_outcome(one, states, state, action_names[code]) for one in outcomes]
            total = sum(one[0] for one in read)
            if abs(total - 1) > WRONG:
                raise InputError(
                    f"The probabilities of state {label_text(state)}, action "
                    f"{label_text(action_names[code])} sum to {total:.9g}, not to 1. Correct them."
                )
            cells += [(p / total, to, reward, ends) for p, to, reward, ends in read]
            sizes.append(len(read))
            action.append(code)
        if not own:
            sizes.append(0)
            action.append(END)
        first.append(len(action))
    pair_action = np.array(action, np.int32)
    outcomes = _arrays(cells, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))
    # A step into a state without actions is the last one, whether the table says so or not.
    starts = np.array(first, np.int64)
    ends = outcomes.ends | (pair_action[starts[:-1]] == END)[outcomes.next_state]
    outcomes = Outcomes(
        outcomes.start, outcomes.next_state, outcomes.probability, outcomes.reward, ends
    )
    process = object.__new__(cls)
    process.states, process.actions = states, action_names
    process.discount, process.rewards_on = checked_discount(discount), "departure"
    process._step_rewards, process._outcomes = None, outcomes
    process.pairs = _pairs(outcomes, starts, pair_action, len(states))
    process.start = process._read_start(start)
    return process


def outcomes_of_function(
    step: Callable[[Any, Any], Iterable[tuple[Any, ...]]],
    states: list[Any],
    actions: Iterable[Any] | Callable[[Any], Iterable[Any]],
) -> tuple[Table, list[Any]]:
    """The table of a function, and its actions in the order in which they were met."""
    every = None if callable(actions) else list(actions)
    names: dict[Any, None] = {}
    table: dict[Any, dict[Any, Any]] = {}
    for state in states:
        own = actions(state) if callable(actions) else every
        assert own is not None
        table[state] = {action: list(step(state, action)) for action in own}
        names.update(dict.fromkeys(table[state]))
    known = set(states)
    for state, row in table.items():
        for action, outcomes in row.items():
            lost = [one[1] for one in outcomes if one[1] not in known]
            if lost:
                raise InputError(
                    f"Action {label_text(action)} leads from state {label_text(state)} to "
                    f"{label_text(lost[0])}, which is not among the states. Add it."
                )
    return table, list(names) if every is None else every


def read_environment(cls: Any, environment: Any, discount: float) -> Any:
    """The process behind a Gymnasium environment with a table `P`."""
    inner = getattr(environment, "unwrapped", environment)
    table = getattr(inner, "P", None)
    if not isinstance(table, Mapping):
        raise InputError(
            f"{type(inner).__name__} has no table `P` of its transitions, so nothing can be "
            "planned. Learn in it instead, with QLearning().fit(environment)."
        )
    start = getattr(inner, "initial_state_distrib", None)
    n_states, n_actions = int(environment.observation_space.n), int(environment.action_space.n)
    complete = {state: table.get(state, {}) for state in range(n_states)}
    return cls.from_outcomes(
        complete, discount, actions=range(n_actions), start=None if start is None else _start(start)
    )


def _start(distribution: Any) -> dict[int, float]:
    weights = np.asarray(distribution, np.float64)
    return {state: float(weights[state]) for state in np.flatnonzero(weights).tolist()}


def _names(table: Table, actions: Iterable[Any] | None) -> tuple[Names, Names]:
    states: dict[Any, None] = dict.fromkeys(table)
    met: dict[Any, None] = {}
    for state in table:
        for name, outcomes in _actions(table, state):
            met[name] = None
            states.update((one[1], None) for one in outcomes)
    if not states:
        raise InputError("A process needs at least one state; the table of outcomes is empty.")
    names = list(met) if actions is None else list(actions)
    known = list(states)
    if known == list(range(len(known))):
        known = range(len(known))  # type: ignore[assignment]
    action_names = Names.of(names, len(names), "action")
    for name in met:
        action_names.position(name)
    return Names.of(known, len(known), "state"), action_names


def _actions(table: Table, state: Any) -> list[tuple[Any, Any]]:
    row = table.get(state, {})
    return [(name, list(outcomes)) for name, outcomes in row.items()]


def _outcome(one: Any, states: Names, state: Any, action: Any) -> tuple[float, int, float, bool]:
    if not isinstance(one, tuple | list) or len(one) not in (3, 4):
        raise InputError(
            f"An outcome of {_where(state, action)} is (probability, next state, reward) or has a "
            f"fourth part that says whether the process ends; got {label_text(one)}."
        )
    probability, reward = float(one[0]), float(one[2])
    if not probability >= 0 or not math.isfinite(reward):
        raise InputError(
            f"An outcome of {_where(state, action)} has probability {probability:g} and reward "
            f"{reward:g}; a probability is at least 0 and a reward finite."
        )
    return probability, states.position(one[1]), reward, bool(one[3]) if len(one) == 4 else False


def _where(state: Any, action: Any) -> str:
    return f"state {label_text(state)}, action {label_text(action)}"


def _arrays(cells: list[tuple[float, int, float, bool]], start: Any) -> Outcomes:
    columns = list(zip(*cells, strict=True)) or [(), (), (), ()]
    return Outcomes(
        start,
        np.array(columns[1], np.int32),
        np.array(columns[0], np.float64),
        np.array(columns[2], np.float64),
        np.array(columns[3], np.bool_),
    )


def _pairs(outcomes: Outcomes, start: Any, action: Any, n_states: int) -> Pairs:
    """What plans need: expected rewards, and rows without what ends."""
    owner = np.repeat(np.arange(len(action)), np.diff(outcomes.start))
    weighted = outcomes.probability * outcomes.reward
    reward: Floats = np.bincount(owner, weighted, len(action)).astype(np.float64)
    on = ~outcomes.ends & (outcomes.probability > 0)
    rows = sparse.csr_array(
        (outcomes.probability[on], (owner[on], outcomes.next_state[on])),
        shape=(len(action), n_states),
    )
    rows.sum_duplicates()
    return Pairs(start, action, _int32(rows), reward)


def _int32(rows: Any) -> Any:
    tidy = sparse.csr_array(
        (rows.data, rows.indices.astype(np.int32), rows.indptr.astype(np.int32)), shape=rows.shape
    )
    tidy.has_canonical_format = True
    return tidy
