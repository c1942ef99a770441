"""Grids of variables whose links are moderate one by one and hold everything in place together."""

from __future__ import annotations

import numpy as np

from novum.graphical.factor import Factor
from novum.graphical.models.factor_graph import FactorGraph


def potts_grid(n: int, strength: float, n_states: int, field: float = 1.5) -> FactorGraph:
    """A square of n * n variables; neighbors that agree weigh `exp(2 * strength)` times more.

    The last state of the first variable weighs `field` times more than its others.
    """
    states = tuple(range(n_states))
    same = np.exp(strength * (2 * np.eye(n_states) - 1))
    pairs = [(at, at + n) for at in range(n * (n - 1))]
    pairs += [(at, at + 1) for at in range(n * n) if at % n < n - 1]
    first = Factor([1.0] * (n_states - 1) + [field], {"x0": states})
    return FactorGraph(
        [first, *(Factor(same, {f"x{a}": states, f"x{b}": states}) for a, b in pairs)]
    )


def ising_grid(n: int, strength: float) -> FactorGraph:
    """A grid of two states each."""
    return potts_grid(n, strength, 2)
