"""What the writers of all formats ask about a network before they write it."""

from __future__ import annotations

import warnings
from collections.abc import Collection
from typing import TYPE_CHECKING

from novum.core.errors import InputError
from novum.core.text import label_text, listed
from novum.graphical.models.conditional import NetworkWarning, Tabular, check_node_cells

if TYPE_CHECKING:
    from novum.graphical.models.bayesian_network import BayesianNetwork

_ADVICE = "Tables are held in full there; a .network file keeps compact nodes as they are."


def text_states(
    network: BayesianNetwork, source: str, kept: Collection[str] = ()
) -> dict[str, tuple[str, ...]]:
    """The states of each node as text, which is all that the formats with names hold.

    Numbers and truth values become text, ordered states lose their order and compact tables, but
    those of the nodes in `kept`, are written in full; one warning says so.
    """
    found: dict[str, tuple[str, ...]] = {}
    lost: list[str] = []
    for item in network.conditionals:
        axis = item.variable
        if item.name not in kept:
            check_node_cells(axis, item.parents, _ADVICE, source)
        states = tuple(str(state) for state in axis.states)
        if len(set(states)) < len(states) or "" in states:
            raise InputError(
                f"{source}: node {label_text(axis.name)} has states that are empty or equal as "
                f"text: {listed(axis.states)}. Rename them before writing."
            )
        found[axis.name] = states
        in_full = not isinstance(item, Tabular) and item.name not in kept
        if states != axis.states or axis.ordered or in_full:
            lost.append(axis.name)
    if lost:
        warnings.warn(
            f"{source} holds states as text without an order and tables in full: "
            f"{listed(lost)} will read back so.",
            NetworkWarning,
            stacklevel=5,
        )
    return found


def check_full_tables(network: BayesianNetwork, source: str) -> None:
    """Refuses nodes whose tables are too large to exist, before anything is made of them."""
    for item in network.conditionals:
        check_node_cells(item.variable, item.parents, _ADVICE, source)
