"""Random decision processes for properties."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from novum.reinforcement import MarkovDecisionProcess


@st.composite
def processes(
    draw: Any, most_states: int = 5, most_actions: int = 3, discounts: tuple[float, ...] = ()
) -> MarkovDecisionProcess:
    """Few states, ties and zeros likely; some actions are missing, some states terminal."""
    n_states = draw(st.integers(1, most_states))
    n_actions = draw(st.integers(1, most_actions))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 4, (n_actions, n_states, n_states)).astype(float)
    counts[counts.sum(axis=2) == 0, 0] = 1.0
    transitions = counts / counts.sum(axis=2, keepdims=True)
    rewards = rng.integers(-4, 5, (n_states, n_actions)) / 2
    allowed = rng.random((n_states, n_actions)) < 0.8
    allowed[np.arange(n_states), rng.integers(0, n_actions, n_states)] = True
    allowed[0] = True
    is_terminal = rng.random(n_states) < draw(st.sampled_from([0.0, 0.3]))
    is_terminal[0] = False
    discount = draw(st.sampled_from(discounts or (0.0, 0.3, 0.5, 0.9, 0.99)))
    return MarkovDecisionProcess(
        transitions,
        rewards,
        discount,
        allowed=allowed,
        terminal=np.flatnonzero(is_terminal).tolist(),
    )


@st.composite
def ending_processes(draw: Any, most_states: int = 5) -> MarkovDecisionProcess:
    """Without a discount: every step costs, and the last state is terminal and can be reached."""
    n_states = draw(st.integers(2, most_states))
    n_actions = draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    counts = rng.integers(0, 3, (n_actions, n_states, n_states)).astype(float)
    counts[0, :, -1] += 1
    counts[counts.sum(axis=2) == 0, 0] = 1.0
    transitions = counts / counts.sum(axis=2, keepdims=True)
    rewards = -rng.integers(1, 5, (n_states, n_actions)) / 2
    return MarkovDecisionProcess(transitions, rewards, terminal=[n_states - 1])
