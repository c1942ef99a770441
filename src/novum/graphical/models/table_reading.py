"""Probabilities as people write them, brought into the axes (parents ..., variable).

[[0.9, 0.1], [0.2, 0.8]]                         an array in the order of the states
{"yes": [0.9, 0.1], "no": [0.2, 0.8]}            a row for each state of the parent
{("yes", "no"): {"yes": 0.9, "no": 0.1}, ...}    for each combination of several parents
{"yes": {"no": [0.9, 0.1], ...}, ...}            the same, nested
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.core.schema import Level
from novum.core.text import label_text, listed
from novum.distributions.joint_table_states import StateAxis
from novum.graphical.models.conditional import Floats, row_text

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
    found: dict[Any, None] = {}
    for row in rows:
        if isinstance(row, Mapping):
            found.update(dict.fromkeys(row))
        elif isinstance(row, (list, tuple, np.ndarray)) and len(row) == 2:
            found.update(dict.fromkeys(BINARY_STATES))
    # A row may leave out one state; where none names it, nobody knows what it is called.
    complete = len(found) > 1 or all(
        isinstance(row, Mapping) and [*row.values()] == [1] for row in rows
    )
    if not found or not complete:
        raise InputError(
            f"Which states has {label_text(name)}? The rows of its table name "
            f"{listed(list(found)) or 'none'}. List them: states=[...]."
        )
    return list(found)


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
        found = np.asarray(row, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            f"The row {_where(parents, place)}of the table of {label_text(variable.name)} is "
            f"{label_text(row)}; it needs {size} probabilities, one for each state."
        ) from None
    if found.shape != (size,):
        where = _where(parents, place)
        raise InputError(
            f"The row {where}of the table of {label_text(variable.name)} has shape {found.shape}; "
            f"it needs {size} probabilities, one for each state."
        )
    return found


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
