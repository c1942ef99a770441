"""A network's nodes from what people give, checked.

Names are text, parents are nodes, states agree, no cycle: each check has one message that says
what is wrong and where. A cycle is shown with all its nodes.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from novum.core.errors import InputError
from novum.core.schema import Level
from novum.core.text import label_text, listed, meant
from novum.distributions.joint_table_states import StateAxis
from novum.graphical.models.compact import Deterministic, NoisyOrSettings
from novum.graphical.models.conditional import Conditional, NetworkWarning, Tabular
from novum.graphical.models.table_reading import BINARY_STATES, states_of, table_from


def conditional_of(
    name: str,
    parents: tuple[StateAxis, ...],
    table: Any,
    states: Sequence[Level] | None,
    ordered: bool,
) -> Conditional:
    """A new node's distribution; without states it has true and false."""
    _check_name(name)
    if states is None:
        states = _states_without_names(table, name)
    return bound(_state_axis(name, states, ordered), parents, table)


def _check_name(name: object) -> None:
    if not isinstance(name, str) or not name:
        raise InputError(f"A node has a name that is text and not empty, got {label_text(name)}.")


def _state_axis(name: str, states: Any, ordered: object) -> StateAxis:
    if isinstance(states, (str, bytes)) or not isinstance(states, Iterable):
        raise InputError(
            f"The states of {label_text(name)} are a list such as ['yes', 'no'], got "
            f"{label_text(states)}."
        )
    return StateAxis(name, tuple(states), bool(ordered))


def _states_without_names(table: Any, name: str) -> Sequence[Level]:
    return BINARY_STATES if isinstance(table, NoisyOrSettings) else states_of(table, name)


def bound(axis: StateAxis, parents: tuple[StateAxis, ...], table: Any) -> Conditional:
    """A node's distribution from what the user gave."""
    twice = [p.name for i, p in enumerate(parents) if p in parents[:i]]
    if twice:
        raise InputError(
            f"Node {label_text(axis.name)} has the parent {label_text(twice[0])} twice."
        )
    if isinstance(table, Conditional):
        return table.renamed(axis, parents)
    if isinstance(table, NoisyOrSettings):
        return table.bind(axis, parents)
    if callable(table):
        return Deterministic(axis, parents, table)
    if table is None:
        raise InputError(f"Node {label_text(axis.name)} has no table. Give table=...")
    return Tabular(axis, parents, table_from(table, axis, parents))


def axis_of(name: str, node: Mapping[str, Any]) -> StateAxis:
    """The states of a node given as a mapping with states, parents, table and ordered."""
    _check_name(name)
    if not isinstance(node, Mapping):
        raise InputError(
            f"Node {label_text(name)} is a mapping with the entries states, parents, table and "
            f"ordered; got {label_text(node)}."
        )
    strange = [key for key in node if key not in ("states", "parents", "table", "ordered")]
    if strange:
        raise InputError(
            f"Node {label_text(name)} has the entry {label_text(strange[0])}; entries are "
            "states, parents, table and ordered."
        )
    states = node.get("states")
    if states is None:
        states = _states_without_names(node.get("table"), name)
    return _state_axis(name, states, node.get("ordered", False))


def warn_of_zeros(items: Sequence[Conditional]) -> None:
    """One warning about tables with cells that are exactly zero, unless they are functions."""
    zeros = {c.name: c.n_zeros for c in items if not isinstance(c, Deterministic) and c.n_zeros}
    if not zeros:
        return
    names = [*zeros]
    tables = f"The table of {label_text(names[0])} has"
    if len(names) > 1:
        tables = f"The tables of {listed(names)} have"
    warnings.warn(
        f"{tables} {sum(zeros.values())} cells that are exactly 0: no evidence can ever make "
        "those states likely. Use small probabilities, or a function of the parents where it is "
        "meant.",
        NetworkWarning,
        stacklevel=3,
    )


def checked_conditionals(given: Any) -> tuple[Conditional, ...]:
    """Conditional distributions, nothing else."""
    items = given if isinstance(given, Iterable) and not hasattr(given, "conditionals") else [given]
    for item in (found := tuple(items)):
        if not isinstance(item, Conditional):
            raise InputError(
                "A network is made of conditional distributions such as Tabular, got "
                f"{label_text(item)}. Build it with add, from_dict, from_text or read."
            )
        _check_name(item.name)
    return found


def checked_order(conditionals: tuple[Conditional, ...]) -> tuple[Conditional, ...]:
    """The conditionals as they are, after every parent was found and no cycle."""
    by_name: dict[str, Conditional] = {}
    for item in conditionals:
        if item.name in by_name:
            raise InputError(f"The network has two nodes {label_text(item.name)}.")
        by_name[item.name] = item
    for item in conditionals:
        for parent in item.parents:
            _check_parent(item, parent, by_name)
    _refuse_cycle({item.name: [p.name for p in item.parents] for item in conditionals})
    return conditionals


def _check_parent(item: Conditional, parent: StateAxis, nodes: Mapping[str, Conditional]) -> None:
    known = nodes.get(parent.name)
    if known is None:
        raise InputError(
            f"Node {label_text(item.name)} has the parent {label_text(parent.name)}, which is no "
            f"node: {meant(parent.name, list(nodes))}"
        )
    if known.variable.states != parent.states:
        raise InputError(
            f"The table of {label_text(item.name)} takes {label_text(parent.name)} with the "
            f"states {listed(parent.states)}, but that node has {listed(known.variable.states)}."
        )


def _refuse_cycle(parents: Mapping[str, Sequence[str]]) -> None:
    done: set[str] = set()
    for start in parents:
        path: dict[str, Any] = {}
        node: str | None = start
        # Depth first without recursion: a path is a dict from nodes to their parents left.
        while node is not None:
            if node not in path and node not in done:
                path[node] = iter(parents[node])
            above = next(path[node], None) if node in path else None
            if above is None:
                done.add(node)
                path.pop(node, None)
                node = next(reversed(path), None)
            elif above in path:
                ring = [*path][[*path].index(above) :]
                shown = " -> ".join(label_text(name) for name in [above, *reversed(ring)])
                raise InputError(f"The edges form a cycle: {shown}. Remove one of them.")
            elif above not in done:
                node = above
