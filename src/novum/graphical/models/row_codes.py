"""Rows of a table as numbers of states, and back.

Columns are matched to nodes by name; columns that are no node are left alone, nodes without a
column are unknown in every row. Cells match states as the schema compares levels: `True` is not 1,
and text matches text. A cell that is no state is also looked for by the way it is written
(`questions.state_like`), because files know text only.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novum.core.errors import InputError, UnseenLevelWarning
from novum.core.schema import MISSING, UNSEEN, Column, Kind, Level
from novum.core.text import label_text, listed, meant
from novum.distributions.joint_table_counts import named_columns
from novum.distributions.joint_table_states import StateAxis
from novum.graphical.models.arrays import UNKNOWN
from novum.graphical.models.questions import NamedModel, state_like

Codes = NDArray[np.int64]


def read_rows(network: NamedModel, rows: Any, *, strict: bool = True) -> Codes:
    """States by number, of shape (n_rows, n_variables), hidden ones last; `UNKNOWN` if missing.

    Parameters
    ----------
    network : BayesianNetwork, or another model with named variables
    rows : data frame, mapping of columns, or sequence of mappings
    strict : bool
        Whether a cell that is no state of its node is an error; otherwise it is unknown, with a
        warning.

    Examples
    --------
    >>> from novum.graphical.models.bayesian_network import BayesianNetwork
    >>> network = BayesianNetwork().add("rain", table=[0.2, 0.8])
    >>> read_rows(network, {"rain": ["false", None, "true"]}).ravel().tolist()
    [1, -1, 0]
    """
    columns = named_columns(_columns_of(rows), what="States are read")
    known = {name: values for name, values in columns.items() if name in network.places}
    if not known:
        raise InputError(
            f"No column is a node of the network: the columns are {listed(list(columns))}, the "
            f"nodes {listed(network.names)}."
        )
    codes = {
        name: _codes(network.variables[network.places[name]], known[name], strict) for name in known
    }
    lengths = {name: len(found) for name, found in codes.items()}
    n_rows = next(iter(lengths.values()))
    for name, length in lengths.items():
        if length != n_rows:
            raise InputError(
                f"Column {label_text(name)} has {length} rows and others have {n_rows}. Give all "
                "columns one cell for each row."
            )
    table = np.full((n_rows, network.arrays.n_variables), UNKNOWN, np.int64)
    for name, found in codes.items():
        table[:, network.places[name]] = found
    return table


def _columns_of(rows: Any) -> Any:
    """A sequence of mappings as a mapping of columns; other containers as they are."""
    twice = _names_twice(getattr(rows, "columns", ()))
    if twice is not None:
        raise InputError(f"Column {label_text(twice)} occurs twice. Give columns different names.")
    is_rows = isinstance(rows, Sequence) and not isinstance(rows, (str, bytes))
    if not is_rows:
        return rows
    if not rows or not all(isinstance(row, Mapping) for row in rows):
        raise InputError(
            "Rows are a data frame, a mapping of columns, or a list of mappings from nodes to "
            f"states; got a {type(rows).__name__} of {len(rows)} items."
        )
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def _names_twice(columns: Any) -> object:
    """The first name that several columns of a frame have; pandas allows that."""
    seen: set[object] = set()
    for name in columns if hasattr(columns, "get_loc") else ():
        if name in seen:
            return name
        seen.add(name)
    return None


def _codes(axis: StateAxis, values: Any, strict: bool) -> Codes:
    from novum.core.columns import arrow_column, codes_of

    array = arrow_column(values, axis.name)
    # An ordinal column keeps its levels as listed: codes are the network's.
    column = Column(axis.name, Kind.ORDINAL, axis.states)
    codes = codes_of(array, column).astype(np.int64)
    strange = np.flatnonzero(codes == UNSEEN)
    if strange.size:
        _match_written(axis, array, codes, strange)
        strange = np.flatnonzero(codes == UNSEEN)
    if strange.size:
        _say_strange(axis, array[int(strange[0])].as_py(), strange, strict)
    codes[(codes == UNSEEN) | (codes == MISSING)] = UNKNOWN
    return codes


def _match_written(axis: StateAxis, array: Any, codes: Codes, rows: NDArray[np.intp]) -> None:
    """Cells of another type than the states, by the way they are written; fills `codes`."""
    found: dict[Any, int | None] = {}
    # A column has few different cells; the same one is looked up once. True is not 1.
    for row in rows.tolist():
        cell = array[row].as_py()
        key = (type(cell), cell)
        if key not in found:
            found[key] = state_like(axis, cell)
        place = found[key]
        if place is not None:
            codes[row] = place


def _say_strange(axis: StateAxis, cell: Any, strange: NDArray[np.intp], strict: bool) -> None:
    text = (
        f"Column {label_text(axis.name)} has {label_text(cell)} in row {int(strange[0])}, which is "
        f"no state of that node: {meant(cell, axis.states)}"
    )
    if strict:
        raise InputError(text)
    warnings.warn(
        f"{text} {strange.size} such cells are taken as unknown.", UnseenLevelWarning, stacklevel=5
    )


# --- And back -------------------------------------------------------------------------------------


def frame_of_codes(variables: Sequence[StateAxis], codes: Any, frame: str = "arrow") -> Any:
    """A table with a column for each variable.

    Parameters
    ----------
    variables : sequence of StateAxis
    codes : int array of shape (n_rows, n_variables), or of more columns
    frame : {"arrow", "pandas", "polars"}
    """
    import pyarrow as pa

    if frame not in ("arrow", "pandas", "polars"):
        raise InputError(f"frame is 'arrow', 'pandas' or 'polars', got {frame!r}.")
    columns = {}
    for place, axis in enumerate(variables):
        levels = _one_type(axis.states)
        # Stored as indices into the states: no text is copied for each row.
        indices = pa.array(np.ascontiguousarray(codes[:, place], dtype=np.int32))
        columns[axis.name] = pa.DictionaryArray.from_arrays(
            indices, pa.array(levels), ordered=axis.ordered
        )
    table = pa.table(columns)
    if frame == "pandas":
        return table.to_pandas()
    if frame == "polars":
        import polars as pl

        return pl.from_arrow(table)
    return table


def _one_type(states: tuple[Level, ...]) -> list[Any]:
    """States as values of one type; mixed ones as text."""
    kinds = {type(state) for state in states}
    if len(kinds) > 1 and kinds != {int, float}:
        return [str(state) for state in states]
    return list(states)
