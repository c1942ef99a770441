"""Reading the transition matrix of a Markov chain: rows of probabilities by named states."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from novum.core.errors import InputError
from novum.core.schema import Level
from novum.core.text import label_text, listed
from novum.distributions.joint_table import EXACT
from novum.distributions.joint_table_states import StateAxis
from novum.graphical.models.conditional import NetworkWarning
from novum.graphical.models.questions import state_of

Floats = NDArray[np.float64]
# Rows off by more than the first are refused, by more than the second renormalized with a warning.
WRONG, ROUNDED = 1e-3, 1e-6


def from_mapping(
    rows: Mapping[Level, Mapping[Level, float]], states: Sequence[Level] | None
) -> tuple[Sequence[Level], Floats]:
    """States and matrix of rows given by name; what a row leaves out has probability zero."""
    names = list(rows) if states is None else list(states)
    axis = StateAxis("state", tuple(names))
    table = np.zeros((len(names), len(names)))
    for state, row in rows.items():
        for following, value in row.items():
            table[state_of(axis, state), state_of(axis, following)] = value
    return names, table


def checked_rows(table: Floats, axis: StateAxis) -> Floats:
    """Rows that sum to one, read-only; wrong ones are refused by the name of their state."""
    for state, row in zip(axis.states, table, strict=True):
        total = float(row.sum())
        if not (np.isfinite(row).all() and (row >= 0).all() and abs(total - 1) <= WRONG):
            raise InputError(
                f"The row of state {label_text(state)} must have probabilities from 0 to 1 that "
                f"sum to 1, got {listed(row.tolist())} with sum {total:g}."
            )
        if abs(total - 1) > ROUNDED:
            warnings.warn(
                f"The row of state {label_text(state)} sums to {total:.7g} and was divided by it.",
                NetworkWarning,
                stacklevel=4,
            )
    sums = table.sum(axis=1, keepdims=True)
    # Rows that sum to one up to rounding keep their bits, so that a chain is its own copy.
    checked = table / np.where(np.abs(sums - 1) > EXACT, sums, 1.0)
    checked.flags.writeable = False
    return checked
