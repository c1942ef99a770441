"""What the writers of all formats ask about a network before they write it."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from novum.core.errors import InputError
from novum.core.text import label_text, listed
from novum.graphical.models.conditional import NetworkWarning, Tabular

if TYPE_CHECKING:
    from novum.graphical.models.bayesian_network import BayesianNetwork


def text_states(network: BayesianNetwork, source: str) -> dict[str, tuple[str, ...]]:
    """The states of each node as text, which is all that the formats with names hold.

    Numbers and truth values become text, ordered states lose their order and compact tables are
    written in full; one warning says so.
    """
    found: dict[str, tuple[str, ...]] = {}
    lost: list[str] = []
    for item in network.conditionals:
        axis = item.variable
        states = tuple(str(state) for state in axis.states)
        if len(set(states)) < len(states) or "" in states:
            raise InputError(
                f"{source}: node {label_text(axis.name)} has states that are empty or equal as "
                f"text: {listed(axis.states)}. Rename them before writing."
            )
        found[axis.name] = states
        if states != axis.states or axis.ordered or not isinstance(item, Tabular):
            lost.append(axis.name)
    if lost:
        warnings.warn(
            f"{source} holds states as text without an order and tables in full: "
            f"{listed(lost)} will read back so.",
            NetworkWarning,
            stacklevel=5,
        )
    return found
