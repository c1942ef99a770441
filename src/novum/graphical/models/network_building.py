"""A network's nodes from what people give, checked.

Names are text, parents are nodes, states agree, no cycle: each check has one message that says
what is wrong and where. A cycle is shown with all its nodes.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.core.tables import Level
from novum.core.text import label_text, listed, meant
from novum.distributions import StateAxis
from novum.graphical.models.compact import Deterministic, NoisyOr, NoisyOrSettings, noisy_or
from novum.graphical.models.conditional import Conditional, NetworkWarning, Tabular, row_text
from novum.graphical.models.states import check_told_apart, names_in_order, refuse_set
from novum.graphical.structure.dag import CyclicGraphError
from novum.numerics import Floats

# Entries of a node that say how it depends on its parents.
_TABLES = ("table", "noisy_or", "function")
# Looks at all nodes that are left, before cycles are sought path by path.
ROUNDS = 6
_SETTINGS = {"strengths", "leak", "active", "inactive"}


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
        states = _states_without_names(table, name, len(parents))
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
    refuse_set(states, f"The states of {label_text(name)}")
    axis = StateAxis(name, tuple(states), bool(ordered))
    check_told_apart(axis)
    return axis


def _states_without_names(table: Any, name: str, n_parents: int) -> Sequence[Level]:
    if isinstance(table, Conditional):
        return table.variable.states
    if isinstance(table, NoisyOrSettings):
        return BINARY_STATES
    return states_of(table, name, n_parents)


def bound(axis: StateAxis, parents: tuple[StateAxis, ...], table: Any) -> Conditional:
    """A node's distribution from what the user gave."""
    twice = [p.name for i, p in enumerate(parents) if p in parents[:i]]
    if twice:
        raise InputError(
            f"Node {label_text(axis.name)} has the parent {label_text(twice[0])} twice."
        )
    if isinstance(table, Conditional):
        shape = (*(len(parent.states) for parent in parents), len(axis.states))
        if table.shape != shape:
            raise InputError(
                f"The distribution given for {label_text(axis.name)} has shape {table.shape}; its "
                f"parents and states need {shape}."
            )
        return table.renamed(axis, parents)
    if isinstance(table, NoisyOrSettings):
        return table.bind(axis, parents)
    if callable(table):
        return Deterministic(axis, parents, table)
    if table is None:
        raise no_table(axis.name)
    return Tabular(axis, parents, table_from(table, axis, parents))


def conditionals_of(nodes: Mapping[str, Mapping[str, Any]]) -> list[Conditional]:
    """The distributions of nodes given as `{name: {"states": ..., "parents": ..., ...}}`."""
    axes = {name: axis_of(name, node) for name, node in nodes.items()}
    made = []
    for name, node in nodes.items():
        parents = []
        for parent in _parents_of(name, node):
            if not isinstance(parent, str) or parent not in axes:
                raise InputError(
                    f"Node {label_text(name)} has the parent {label_text(parent)}, which is no "
                    f"node: {meant(parent, list(axes))}"
                )
            parents.append(axes[parent])
        made.append(_of_node(axes[name], tuple(parents), node))
    return made


def _parents_of(name: str, node: Mapping[str, Any]) -> tuple[str, ...]:
    return names_in_order(node.get("parents", ()), f"The parents of {label_text(name)}")


def _of_node(
    axis: StateAxis, parents: tuple[StateAxis, ...], node: Mapping[str, Any]
) -> Conditional:
    """The distribution of a node by its one entry of table, noisy_or or function."""
    given = [key for key in _TABLES if node.get(key) is not None]
    if len(given) > 1:
        raise InputError(
            f"Node {label_text(axis.name)} has the entries {listed(given)}; one of them is enough."
        )
    if given == ["noisy_or"]:
        settings = node["noisy_or"]
        strange = [*settings] if not isinstance(settings, Mapping) else set(settings) - _SETTINGS
        if strange or "strengths" not in settings:
            raise InputError(
                f"The noisy_or of {label_text(axis.name)} is a mapping with the entries "
                f"strengths, leak, active and inactive; got {label_text(settings)}."
            )
        return bound(axis, parents, noisy_or(**settings))
    if given == ["function"]:
        return bound(axis, parents, Deterministic(axis, parents, node["function"]))
    return bound(axis, parents, node.get("table"))


def node_of(item: Conditional) -> dict[str, Any]:
    """A node as nested plain values, as `conditionals_of` reads it; compact ones stay compact."""
    node: dict[str, Any] = {
        "states": list(item.variable.states),
        "parents": [parent.name for parent in item.parents],
    }
    if isinstance(item, NoisyOr):
        node["noisy_or"] = {
            "strengths": list(item.strengths),
            "leak": item.leak,
            "active": item.active,
            "inactive": item.inactive,
        }
    elif isinstance(item, Deterministic):
        node["function"] = item.values
    else:
        node["table"] = item.table.tolist()
    return {**node, "ordered": True} if item.variable.ordered else node


def axis_of(name: str, node: Mapping[str, Any]) -> StateAxis:
    """The states of a node given as a mapping with states, parents, table and ordered."""
    _check_name(name)
    if not isinstance(node, Mapping):
        raise InputError(
            f"Node {label_text(name)} is a mapping with the entries states, parents, table and "
            f"ordered; got {label_text(node)}."
        )
    strange = [key for key in node if key not in ("states", "parents", "ordered", *_TABLES)]
    if strange:
        raise InputError(
            f"Node {label_text(name)} has the entry {label_text(strange[0])}; entries are "
            "states, parents, table and ordered, and in place of table noisy_or or function."
        )
    states = node.get("states")
    if states is None:
        compact = node.get("noisy_or") is not None or node.get("function") is not None
        states = BINARY_STATES
        if not compact:
            n_parents = len(_parents_of(name, node))
            states = _states_without_names(node.get("table"), name, n_parents)
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
    count = sum(zeros.values())
    cells = "1 cell that is" if count == 1 else f"{count} cells that are"
    warnings.warn(
        f"{tables} {cells} exactly 0: no evidence can ever make "
        f"{'that state' if count == 1 else 'those states'} likely. Use small probabilities, or a "
        "function of the parents where it is meant.",
        NetworkWarning,
        stacklevel=3,
    )


def checked_conditionals(given: Any) -> tuple[Conditional, ...]:
    """Conditional distributions, nothing else."""
    refuse_set(given, "Conditional distributions")
    items = given if isinstance(given, Iterable) and not hasattr(given, "conditionals") else [given]
    # Nodes that are read from a file share the lists of their states.
    looked_at: set[int] = set()
    for item in (conditionals := tuple(items)):
        if not isinstance(item, Conditional):
            raise InputError(
                "A network is made of conditional distributions such as Tabular, got "
                f"{label_text(item)}. Build it with add, from_dict, from_text or read."
            )
        _check_name(item.name)
        if id(item.variable.states) not in looked_at:
            check_told_apart(item.variable)
            looked_at.add(id(item.variable.states))
    return conditionals


def checked_order(conditionals: tuple[Conditional, ...]) -> tuple[Conditional, ...]:
    """The conditionals as they are, after every parent was found and no cycle."""
    by_name: dict[str, Conditional] = {}
    for item in conditionals:
        if item.name in by_name:
            raise InputError(f"The network has two nodes {label_text(item.name)}.")
        by_name[item.name] = item
    for item in conditionals:
        for parent in item.parents:
            known = by_name.get(parent.name)
            if known is None or known.variable is not parent:
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


def _soon_ordered(parents: Mapping[str, Sequence[str]]) -> set[str]:
    """Nodes whose parents come before them, found in a few rounds: in most networks all."""
    done: set[str] = set()
    left = list(parents.items())
    for _ in range(ROUNDS):
        rest = []
        for node, above in left:
            if done.issuperset(above):
                done.add(node)
            else:
                rest.append((node, above))
        # Backward, since files list nodes in either direction.
        left = rest[::-1]
    return done


def _refuse_cycle(parents: Mapping[str, Sequence[str]]) -> None:
    done = _soon_ordered(parents)
    for start in parents if len(done) < len(parents) else ():
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
                raise CyclicGraphError([above, *reversed(ring[1:])])
            elif above not in done:
                node = above


# --- Tables ---------------------------------------------------------------------------------------
# Probabilities as people write them, brought into the axes (parents ..., variable).
#
# [[0.9, 0.1], [0.2, 0.8]]                         an array in the order of the states
# {"yes": [0.9, 0.1], "no": [0.2, 0.8]}            a row for each state of the parent
# {("yes", "no"): {"yes": 0.9, "no": 0.1}, ...}    for each combination of several parents
# {"yes": {"no": [0.9, 0.1], ...}, ...}            the same, nested


BINARY_STATES = ("true", "false")


def states_of(table: Any, name: str, n_parents: int) -> Sequence[Level]:
    """The states of a variable given without them.

    Those that the rows of a dict name; true and false where the table has two columns, or is a
    function.
    """
    if callable(table):
        return BINARY_STATES
    if table is None:
        raise no_table(name)
    if isinstance(table, Mapping):
        return _named_states(table, name, n_parents)
    try:
        shape = np.shape(table)
    except ValueError:
        raise InputError(
            f"The rows of the table of {label_text(name)} differ in length or depth. Give every "
            "row one probability for each state."
        ) from None
    if shape[-1:] == (2,):
        return BINARY_STATES
    columns = f"{shape[-1]} columns" if shape else f"the one entry {label_text(table)}"
    raise InputError(
        f"Which states has {label_text(name)}? Its table has {columns}; without states=... it has "
        "'true' and 'false', and its table two numbers in each row."
    )


def no_table(name: str) -> InputError:
    """The error of a node without a distribution."""
    return InputError(
        f"Node {label_text(name)} has no table. Give table=[0.2, 0.8], with a row for each "
        "combination of the parents' states where it has parents."
    )


def _named_states(table: Mapping[Any, Any], name: str, n_parents: int) -> Sequence[Level]:
    """The states that the rows of nested dicts name, in the order met."""
    rows = list(_rows_below(table, n_parents))
    states: dict[Any, None] = {}
    for row in rows:
        if isinstance(row, Mapping):
            states.update(dict.fromkeys(row))
        elif isinstance(row, (list, tuple, np.ndarray)) and len(row) == 2:
            states.update(dict.fromkeys(BINARY_STATES))
    # A row may leave out one state; where none names it, nobody knows what it is called.
    complete = len(states) > 1 or all(
        isinstance(row, Mapping) and [*row.values()] == [1] for row in rows
    )
    if not states or not complete:
        raise InputError(
            f"Which states has {label_text(name)}? The rows of its table name "
            f"{listed(list(states)) or 'none'}. List them: states=[...]."
        )
    return list(states)


def _rows_below(part: Any, n_parents: int) -> Iterator[Any]:
    """What stands below the keys of the parents, one parent or several at a time."""
    if n_parents <= 0 or not isinstance(part, Mapping):
        yield part
        return
    for key, below in part.items():
        yield from _rows_below(below, n_parents - (len(key) if isinstance(key, tuple) else 1))


def table_from(table: Any, variable: StateAxis, parents: Sequence[StateAxis]) -> Any:
    """The cells as an array-like with the axes of the parents first, not yet checked."""
    shape = (*(len(parent.states) for parent in parents), len(variable.states))
    if isinstance(table, Mapping):
        cells = np.full(shape, np.nan)
        _fill(cells, table, variable, tuple(parents), ())
        return _complete(cells, variable, tuple(parents))
    return table


def _fill(
    cells: Floats,
    part: Any,
    variable: StateAxis,
    parents: tuple[StateAxis, ...],
    place: tuple[int, ...],
) -> None:
    """Follows keys, one parent or several at a time, down to the rows."""
    if len(place) == len(parents):
        cells[place] = _row(part, variable, parents, place)
        return
    if not isinstance(part, Mapping):
        known = "".join(f", {label_text(parent.name)}" for parent in parents[len(place) :])
        raise InputError(
            f"The table of {label_text(variable.name)} ends before all parents have a state"
            f"{known}. Give a row for each of their states."
        )
    for key, below in part.items():
        states = key if isinstance(key, tuple) else (key,)
        left = parents[len(place) : len(place) + len(states)]
        if len(left) < len(states):
            raise InputError(
                f"The table of {label_text(variable.name)} has the key {key!r}, which names more "
                f"states than there are parents ({len(parents)})."
            )
        codes = tuple(axis.position(state) for axis, state in zip(left, states, strict=True))
        _fill(cells, below, variable, parents, (*place, *codes))


def _row(
    row: Any, variable: StateAxis, parents: tuple[StateAxis, ...], place: tuple[int, ...]
) -> Floats:
    size = len(variable.states)
    if isinstance(row, Mapping):
        cells = np.zeros(size)
        for state, probability in row.items():
            cells[variable.position(state)] = _number(probability, state, variable)
        if len(row) == size - 1:
            # What is left belongs to the one state that was not named.
            named = {variable.position(state) for state in row}
            cells[(set(range(size)) - named).pop()] = 1.0 - cells.sum()
        return cells
    try:
        numbers = np.asarray(row, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            f"The row {_where(parents, place)}of the table of {label_text(variable.name)} is "
            f"{label_text(row)}; it needs {size} probabilities, one for each state."
        ) from None
    if numbers.shape != (size,):
        where = _where(parents, place)
        raise InputError(
            f"The row {where}of the table of {label_text(variable.name)} has shape "
            f"{numbers.shape}; it needs {size} probabilities, one for each state."
        )
    return numbers


def _number(probability: Any, state: Any, variable: StateAxis) -> float:
    try:
        return float(probability)
    except (TypeError, ValueError):
        raise InputError(
            f"The table of {label_text(variable.name)} has {label_text(probability)} for state "
            f"{label_text(state)}, which is no probability."
        ) from None


def _complete(cells: Floats, variable: StateAxis, parents: tuple[StateAxis, ...]) -> Floats:
    rows = cells.reshape(-1, cells.shape[-1])
    absent = np.flatnonzero(np.isnan(rows).all(axis=1))
    if absent.size:
        raise InputError(
            f"The table of {label_text(variable.name)} has no row for "
            f"{row_text(parents, int(absent[0]))} ({absent.size} of {len(rows)} rows are absent). "
            "Give a row for each combination of the parents' states."
        )
    return cells


def _where(parents: tuple[StateAxis, ...], place: tuple[int, ...]) -> str:
    if not parents:
        return ""
    sizes = tuple(len(parent.states) for parent in parents)
    return row_text(parents, int(np.ravel_multi_index(place, sizes))) + " "
