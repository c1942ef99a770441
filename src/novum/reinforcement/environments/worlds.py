"""What an agent acts in, seen the same way whether it is a process or a Gymnasium environment.

A process with a start, and an environment that knows its own table (`env.unwrapped.P`), are
simulated in compiled loops. Any other Gymnasium environment is stepped by Gymnasium.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.core.text import label_text
from novum.numerics import Codes, Floats, Integers, Mask, as_argument
from novum.reinforcement.process import MarkovDecisionProcess

LONGEST = 1_000_000


@dataclass(frozen=True, eq=False)
class TableWorld:
    """A process as arrays to be simulated.

    Attributes
    ----------
    process : MarkovDecisionProcess
    start : int64 array (n_states + 1,)
        Where the pairs of each state begin.
    first : array (n_states,)
        Cumulative probabilities of the first state.
    outcome_start, cumulative, next_state, reward, ends : arrays
        What pairs come to, with cumulative probabilities within each pair.
    longest : int
        Steps after which an episode is cut off.
    """

    process: MarkovDecisionProcess
    start: Integers
    first: Floats
    outcome_start: Integers
    cumulative: Floats
    next_state: Codes
    reward: Floats
    ends: Mask
    longest: int

    @classmethod
    def of(cls, process: MarkovDecisionProcess, longest: int | None) -> TableWorld:
        if process.start is None:
            raise InputError(
                "Where do episodes begin? Give the process a start: process.at(start=...)."
            )
        if process.pairs.is_terminal.all():
            raise InputError("Every state of the process is terminal: there is nothing to learn.")
        first = process.start
        if (first[process.pairs.is_terminal] > 0).any():
            bad = np.flatnonzero((first > 0) & process.pairs.is_terminal)[0]
            raise InputError(
                f"Episodes may begin in {label_text(process.states[int(bad)])}, which is terminal."
            )
        outcomes = process.outcomes
        cumulative = np.cumsum(outcomes.probability)
        before = np.concatenate([[0.0], cumulative])[outcomes.start[:-1]]
        cumulative = cumulative - np.repeat(before, np.diff(outcomes.start))
        lasts = outcomes.start[1:][np.diff(outcomes.start) > 0] - 1
        # Rounding must not lead past the last possibility.
        cumulative[lasts] = np.inf
        bounds = np.cumsum(first)
        bounds[np.flatnonzero(first)[-1] :] = np.inf
        return cls(
            process,
            as_argument(process.pairs.start, np.int64),
            as_argument(bounds),
            as_argument(outcomes.start, np.int64),
            as_argument(cumulative),
            as_argument(outcomes.next_state, np.int32),
            as_argument(outcomes.reward),
            as_argument(outcomes.ends, np.bool_),
            LONGEST if longest is None else int(longest),
        )


@dataclass(frozen=True, eq=False)
class GymWorld:
    """A Gymnasium environment with states 0, 1, ... and actions 0, 1, ..."""

    environment: Any
    n_states: int
    n_actions: int

    def checked(self, state: Any) -> int:
        """A state that the environment declared."""
        code = int(state)
        if not 0 <= code < self.n_states:
            raise InputError(
                f"The environment is in state {code}, and it declared the states 0 to "
                f"{self.n_states - 1} (observation_space). Correct the environment."
            )
        return code


def is_environment(given: Any) -> bool:
    return hasattr(given, "reset") and hasattr(given, "step") and hasattr(given, "action_space")


def discrete_size(space: Any) -> int | None:
    """How many elements a discrete space has; None for other spaces."""
    size = getattr(space, "n", None)
    is_counted = isinstance(size, int | np.integer) and int(getattr(space, "start", 0)) == 0
    return int(size) if is_counted and size is not None else None


def check_discrete_actions(environment: Any) -> int:
    """The number of actions of an environment."""
    size = discrete_size(environment.action_space)
    if size is None:
        raise InputError(
            f"Actions are {environment.action_space}; agents here choose among finitely many, "
            "numbered from 0 (Discrete). Discretize the actions first."
        )
    return size


def world_of(given: Any, longest: int | None, discount: float) -> TableWorld | GymWorld:
    """How to act in a process or an environment.

    Parameters
    ----------
    given : MarkovDecisionProcess, GridWorld, or Gymnasium environment with discrete spaces
    longest : int, optional
        Steps of an episode at most.
    discount : float
        Of an environment that has none of its own.
    """
    process = getattr(given, "process", given)
    if isinstance(process, MarkovDecisionProcess):
        return TableWorld.of(process, longest)
    if not is_environment(given):
        raise InputError(
            "Agents act in a MarkovDecisionProcess, a GridWorld or a Gymnasium environment, got "
            f"{label_text(given)}."
        )
    if hasattr(given, "num_envs"):
        raise InputError(
            "Agents with a table act in one environment, and this is a vector of "
            f"{given.num_envs}. Pass one of them, or learn by "
            "LinearQLearning(features=StateIndicators(...))."
        )
    n_actions = check_discrete_actions(given)
    n_states = discrete_size(given.observation_space)
    if n_states is None:
        raise InputError(
            f"States are {given.observation_space}, not numbers 0, 1, ... A table cannot hold "
            "them; use LinearSarsa(features=...) or FittedQ(...)."
        )
    if hasattr(given.unwrapped, "P") and longest is None:
        own = getattr(getattr(given, "spec", None), "max_episode_steps", None)
        process = MarkovDecisionProcess.from_environment(given, discount)
        if process.start is not None and not process.pairs.is_terminal.all():
            return TableWorld.of(process, own)
    return GymWorld(given, n_states, n_actions)
