"""Markov decision process: states, actions, what they lead to, and what they are worth.

    P(s' | s, a)      the next state depends on the present state and the action alone
    r(s, a)           expected reward of the step
    V(s)              = max over a of  r(s, a) + discount * sum over s' of P(s' | s, a) V(s')

Rewards may be given for a state, R(s), received when it is left; for a state and an action,
R(s, a); or for the whole step, R(s, a, s'). With `rewards_on="arrival"` R(s) is received on coming
to s. A terminal state ends the process: what R(s) gives for it is received once.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from novum.core.errors import InputError
from novum.core.text import label_text, listed
from novum.display import Paragraph, Table, notebook
from novum.numerics import Floats, Mask, cached_property
from novum.reinforcement.names import Names
from novum.reinforcement.pairs import END, WRONG, Outcomes, pairs_of_arrays
from novum.reinforcement.process_reading import (
    checked_discount,
    finite,
    read_allowed,
    read_rewards,
    read_transitions,
)


class ProcessWarning(UserWarning):
    """Something about a decision process that is allowed, and seldom meant."""


class MarkovDecisionProcess:
    """A decision process over named states and actions.

    Parameters
    ----------
    transitions : array (n_actions, n_states, n_states), or one sparse matrix for each action
        `transitions[a, s, s']` is the probability that action a leads from s to s'.
    rewards : array (n_states,), (n_states, n_actions), (n_actions, n_states, n_states), or matrices
    discount : float
        From 0 to 1; what a reward is worth one step later.
    states, actions : sequences of names, optional
        0, 1, ... by default.
    allowed : bool array (n_states, n_actions), or mapping from states to actions, optional
        Which actions each state has; all by default.
    rewards_on : {"departure", "arrival"}
        Whether R(s) is received when s is left or when it is reached.
    terminal : sequence of states
        Where the process ends.
    start : state, or mapping from states to probabilities, optional
        Where it begins; needed to simulate, and to tell which states cannot be reached.

    Attributes
    ----------
    states, actions : names in their order
    discount : float
    pairs : Pairs
        Everything as arrays, one row for each action of each state.
    layout : GridWorld or None
        Where the states lie, for pictures.

    Notes
    -----
    Sparse matrices stay sparse, and so do arrays of which less than a quarter of the cells is not
    zero. Rows that sum to one but for 1e-6 are divided by their sum.

    Examples
    --------
    A machine that works well earns 10; worn it earns 4, and a repair costs 3:

    >>> machine = MarkovDecisionProcess(
    ...     [[[0.8, 0.2], [0.0, 1.0]], [[1.0, 0.0], [1.0, 0.0]]],
    ...     [[10.0, 7.0], [4.0, -3.0]],
    ...     discount=0.9,
    ...     states=["good", "worn"],
    ...     actions=["run", "repair"],
    ... )
    >>> machine
    MarkovDecisionProcess of 2 states, 2 actions, discount 0.9
    >>> from novum.reinforcement import solve
    >>> plan = solve(machine)
    >>> plan.policy["worn"], plan.values.round(2).tolist()
    ('repair', [80.17, 69.15])
    """

    layout: Any = None

    def __init__(
        self,
        transitions: Any,
        rewards: Any,
        discount: float = 1.0,
        states: Iterable[Any] | None = None,
        actions: Iterable[Any] | None = None,
        allowed: Any = None,
        *,
        rewards_on: str = "departure",
        terminal: Iterable[Any] = (),
        start: Any = None,
    ) -> None:
        read, n_actions, n_states = read_transitions(transitions)
        self.states = Names.of(states, n_states, "state")
        self.actions = Names.of(actions, n_actions, "action")
        self.discount = checked_discount(discount)
        self.rewards_on = rewards_on
        is_terminal = np.zeros(n_states, np.bool_)
        is_terminal[self.states.codes(terminal)] = True
        mask = read_allowed(allowed, is_terminal, self.states, self.actions)
        pairs = pairs_of_arrays(read, mask, is_terminal, self.states, self.actions)
        expected, self._step_rewards = read_rewards(rewards, pairs, rewards_on, self)
        self.pairs = replace(pairs, reward=expected)
        self._outcomes: Outcomes | None = None
        self.start = self._read_start(start)

    # --- Other ways to make one -------------------------------------------------------------------

    @classmethod
    def from_outcomes(
        cls,
        outcomes: Mapping[Any, Mapping[Any, Sequence[tuple[Any, ...]]]],
        discount: float = 1.0,
        *,
        actions: Iterable[Any] | None = None,
        start: Any = None,
    ) -> MarkovDecisionProcess:
        """From `{state: {action: [(probability, next state, reward, ends), ...]}}`.

        That is the table of Gymnasium's small environments; `ends` may be left out. A state
        without actions is terminal, and so is one that occurs only as a next state.

        Examples
        --------
        >>> walk = {"home": {"go": [(0.5, "home", -1.0), (0.5, "work", -1.0)]}}
        >>> process = MarkovDecisionProcess.from_outcomes(walk)
        >>> process.states.labels, process.terminal_states
        (('home', 'work'), ['work'])
        """
        from novum.reinforcement.outcome_tables import read_outcomes

        return read_outcomes(cls, outcomes, discount, actions, start)

    @classmethod
    def from_function(
        cls,
        step: Callable[[Any, Any], Iterable[tuple[Any, ...]]],
        states: Iterable[Any],
        actions: Iterable[Any] | Callable[[Any], Iterable[Any]],
        discount: float = 1.0,
        *,
        start: Any = None,
    ) -> MarkovDecisionProcess:
        """From a function of a state and an action.

        Parameters
        ----------
        step : callable
            `step(state, action)` gives tuples `(probability, next state, reward)`, or with a fourth
            part that says whether the process ends.
        states : names
        actions : names, or a function from a state to its actions
            No action makes a state terminal.

        Examples
        --------
        >>> def step(position, move):
        ...     return [(1.0, position + move, -1.0)]
        >>> line = MarkovDecisionProcess.from_function(
        ...     step, range(4), lambda position: [] if position == 3 else [1]
        ... )
        >>> line.terminal_states
        [3]
        """
        from novum.reinforcement.outcome_tables import outcomes_of_function

        known = list(states)
        table, names = outcomes_of_function(step, known, actions)
        return cls.from_outcomes(table, discount, actions=names, start=start)

    @classmethod
    def from_environment(cls, environment: Any, discount: float = 1.0) -> MarkovDecisionProcess:
        """From a Gymnasium environment that knows its own table (`env.unwrapped.P`)."""
        from novum.reinforcement.outcome_tables import read_environment

        return read_environment(cls, environment, discount)

    def at(self, *, discount: float | None = None, start: Any = None) -> MarkovDecisionProcess:
        """The same process with another discount or start."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.__dict__.pop("outcomes", None)
        if discount is not None:
            other.discount = checked_discount(discount)
        if start is not None:
            other.start = other._read_start(start)
        return other

    def with_rewards(self, rewards: Any) -> MarkovDecisionProcess:
        """The same process with other rewards, of any shape that the constructor takes.

        Rewards of pairs, as `pairs.reward`, are taken too.
        """
        other = self.at()
        if self._outcomes is not None:
            raise InputError(
                "The rewards of a process made of outcomes belong to its outcomes. Change them "
                "there and make the process anew."
            )
        if isinstance(rewards, np.ndarray) and rewards.shape == (self.pairs.n_pairs,):
            expected, other._step_rewards = (
                finite(rewards.astype(np.float64), self.pairs, self),
                None,
            )
        else:
            expected, other._step_rewards = read_rewards(rewards, self.pairs, self.rewards_on, self)
        other.pairs = replace(self.pairs, reward=expected)
        return other

    # --- What it is -------------------------------------------------------------------------------

    @property
    def n_states(self) -> int:
        return len(self.states)

    @property
    def n_actions(self) -> int:
        return len(self.actions)

    @property
    def terminal_states(self) -> list[Any]:
        """The names of states in which the process ends."""
        return [self.states[s] for s in np.flatnonzero(self.pairs.is_terminal).tolist()]

    @cached_property
    def allowed(self) -> Mask:
        """Which actions each state has, of shape (n_states, n_actions)."""
        mask = np.zeros((self.n_states, self.n_actions), np.bool_)
        real = self.pairs.action != END
        mask[self.pairs.state[real], self.pairs.action[real]] = True
        return mask

    def actions_of(self, state: Any) -> list[Any]:
        """The names of a state's actions."""
        code = self.states.position(state)
        own = self.pairs.action[self.pairs.start[code] : self.pairs.start[code + 1]]
        return [self.actions[a] for a in own.tolist() if a != END]

    def transition(self, state: Any, action: Any) -> dict[Any, float]:
        """Probabilities of the next states; those of probability zero are left out."""
        pair = self.pair(self.states.position(state), self.actions.position(action))
        steps = self.outcomes
        chances: dict[Any, float] = {}
        for k in range(int(steps.start[pair]), int(steps.start[pair + 1])):
            name = self.states[int(steps.next_state[k])]
            chances[name] = chances.get(name, 0.0) + float(steps.probability[k])
        return {name: chance for name, chance in chances.items() if chance > 0}

    def reward(self, state: Any, action: Any) -> float:
        """The expected reward of an action."""
        pair = self.pair(self.states.position(state), self.actions.position(action))
        return float(self.pairs.reward[pair])

    def pair(self, state: int, action: int) -> int:
        """Where the pair of two codes stands; an action that the state lacks is refused."""
        first, last = int(self.pairs.start[state]), int(self.pairs.start[state + 1])
        place = first + int(np.searchsorted(self.pairs.action[first:last], action))
        if place == last or self.pairs.action[place] != action:
            own = [self.actions[a] for a in self.pairs.action[first:last].tolist() if a != END]
            has = f"its actions are {listed(own)}" if own else "it is terminal"
            raise InputError(
                f"State {label_text(self.states[state])} has no action "
                f"{label_text(self.actions[action])}; {has}."
            )
        return place

    def by_action(self, pair_values: Floats, empty: float = math.nan) -> Floats:
        """Numbers of pairs as a table (n_states, n_actions), `empty` where there is no action."""
        table = np.full((self.n_states, self.n_actions), empty)
        real = self.pairs.action != END
        table[self.pairs.state[real], self.pairs.action[real]] = pair_values[real]
        return table

    @cached_property
    def outcomes(self) -> Outcomes:
        """What each pair can come to, to be drawn from."""
        if self._outcomes is not None:
            return self._outcomes
        pairs = self.pairs.as_sparse()
        rows = pairs.rows
        lengths = np.diff(rows.indptr)
        if self._step_rewards is None:
            reward = np.repeat(pairs.reward, lengths)
        else:
            reward = self._step_rewards(pairs)
        # A step into a terminal state is the last one, and brings what that state gives.
        last = np.where(pairs.is_terminal, pairs.reward[pairs.start[:-1]], 0.0)
        reward = reward + self.discount * last[rows.indices]
        ends = pairs.is_terminal[rows.indices]
        return Outcomes(
            rows.indptr.astype(np.int64), rows.indices.astype(np.int32), rows.data, reward, ends
        )

    def unreachable_states(self, start: Any = None) -> list[Any]:
        """States that no policy comes to from the start."""
        first = self.start if start is None else self._read_start(start)
        if first is None:
            raise InputError("From where? Give the process a start, or name one here.")
        steps = self.outcomes
        graph = sparse.csr_array(
            (steps.probability, steps.next_state, steps.start[self.pairs.start]),
            shape=(self.n_states, self.n_states),
        )
        reached = first > 0
        waiting = np.flatnonzero(reached)
        while waiting.size:
            ahead = np.unique(graph[waiting].indices)
            waiting = ahead[~reached[ahead]]
            reached[waiting] = True
        return [self.states[s] for s in np.flatnonzero(~reached).tolist()]

    def _read_start(self, start: Any) -> Floats | None:
        if start is None:
            return None
        first = np.zeros(self.n_states)
        if isinstance(start, Mapping):
            for state, value in start.items():
                first[self.states.position(state)] = value
        elif isinstance(start, np.ndarray) and start.shape == (self.n_states,):
            first = start.astype(np.float64)
        else:
            first[self.states.position(start)] = 1.0
        if not ((first >= 0).all() and abs(first.sum() - 1) <= WRONG):
            raise InputError(
                "The probabilities of a start are at least 0 and sum to 1; they sum to "
                f"{first.sum():g}."
            )
        return first / first.sum()

    def warn_of_unreachable(self) -> None:
        """Warns of states that cannot be reached from the start, by name."""
        lost = self.unreachable_states()
        if lost:
            warnings.warn(
                f"{len(lost)} states cannot be reached from the start: {listed(lost)}. Check the "
                "transitions, or leave these states out.",
                ProcessWarning,
                stacklevel=2,
            )

    # --- Texts ------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        ends = int(self.pairs.is_terminal.sum())
        terminal = f" ({ends} terminal)" if ends else ""
        return (
            f"{type(self).__name__} of {self.n_states} states{terminal}, {self.n_actions} actions, "
            f"discount {self.discount:g}"
        )

    def _repr_html_(self) -> str:
        few = range(min(self.n_states, 12))
        rows = [
            [str(self.states[s]), listed(self.actions_of(self.states[s])) or "terminal"]
            for s in few
        ]
        note = "" if self.n_states <= 12 else f"and {self.n_states - 12} more states"
        return notebook(Paragraph(repr(self)), Table("States", ["state", "actions"], rows, note))
