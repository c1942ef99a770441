"""Rows of a table as numbers of states, and back.

Columns are matched to nodes by name; columns that are no node are left alone, nodes without a
column are unknown in every row. Cells match states as the schema compares levels: `True` is not 1,
and text matches text. A cell that is no state is also looked for by the way it is written
(`states.state_like`), because files know text only.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from novum.core.errors import InputError, UnseenLevelWarning
from novum.core.tables import MISSING, UNSEEN, Column, Kind, Level, frame_of, is_frame
from novum.core.text import label_text, listed, meant
from novum.distributions import StateAxis, named_columns
from novum.graphical.models.arrays import UNKNOWN
from novum.graphical.models.conditional import NetworkWarning
from novum.graphical.models.questions import NamedModel
from novum.graphical.models.states import interval_cuts, refuse_set, state_like
from novum.numerics import Floats, Integers, Positions

# Columns with names near to those of nodes that a warning names.
MOST_NEAR = 8
# Types of cells that are equal only where they are the same state: True and 1 never stand together.
_PLAIN_CELLS = ({str, int, type(None)}, {str, bool, type(None)})


def read_rows(network: NamedModel, rows: Any, *, strict: bool = True) -> Integers:
    """States by number, of shape (n_rows, n_variables), hidden ones last; `UNKNOWN` if missing.

    Parameters
    ----------
    network : BayesianNetwork, or another model with named variables
    rows : data frame, mapping of columns, or sequence of mappings
        A warning names columns that are no nodes but nearly called so.
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
    quick = _plain_codes(network, rows)
    if quick is not None:
        return quick
    columns = _known_columns(network, rows)
    codes = {
        name: _codes(network.variables[network.places[name]], values, strict)
        for name, values in columns.items()
    }
    if not codes:
        return np.full((len(rows), network.arrays.n_variables), UNKNOWN, np.int64)
    lengths = {name: len(column) for name, column in codes.items()}
    n_rows = next(iter(lengths.values()))
    for name, length in lengths.items():
        if length != n_rows:
            raise InputError(
                f"Column {label_text(name)} has {length} rows and others have {n_rows}. Give all "
                "columns one cell for each row."
            )
    table = np.full((n_rows, network.arrays.n_variables), UNKNOWN, np.int64)
    for name, column in codes.items():
        table[:, network.places[name]] = column
    return table


def _plain_codes(network: NamedModel, rows: Any) -> Integers | None:
    """Rows that are dictionaries whose cells are states as they are, or missing; None for others.

    What is wrong with others, or how their cells are written, is found column by column.
    """
    if not isinstance(rows, (list, tuple)) or {*map(type, rows)} != {dict}:
        return None
    kinds = {*map(type, chain.from_iterable(map(dict.values, rows)))}
    allowed = next((plain for plain in _PLAIN_CELLS if kinds <= plain), None)
    names = {*chain.from_iterable(rows)}
    if allowed is None or not names <= network.places.keys():
        return None
    numbers: dict[tuple[str, Any], int] = {}
    places: list[int] = []
    codes: list[int] = []
    for name in names:
        place = network.places[name]
        states = network.variables[place].states
        if len({*map(type, states)}) == 1 and type(states[0]) in allowed:
            cells = (None, *states)
            numbers.update(((name, cell), len(codes) + i) for i, cell in enumerate(cells))
            places += [place] * len(cells)
            codes += [UNKNOWN, *range(len(states))]
    lengths = np.fromiter(map(len, rows), np.int64, len(rows))
    items = chain.from_iterable(map(dict.items, rows))
    try:
        positions = np.fromiter(map(numbers.__getitem__, items), np.int64, int(lengths.sum()))
    except KeyError:
        return None
    table = np.full((len(rows), network.arrays.n_variables), UNKNOWN, np.int64)
    of_row = np.repeat(np.arange(len(rows)), lengths)
    table[of_row, np.array(places, np.int64)[positions]] = np.array(codes, np.int64)[positions]
    return table


def _known_columns(network: NamedModel, rows: Any) -> dict[str, Any]:
    """The columns that are nodes, by name; none where rows are mappings without entries."""
    if hasattr(rows, "collect") and hasattr(rows, "collect_schema"):
        raise InputError("Rows are a frame that is there, got a lazy one. Give rows.collect().")
    refuse_set(rows, "Rows")
    if isinstance(rows, Sequence) and not isinstance(rows, (str, bytes)):
        rows = _columns_of_mappings(network, rows)
        if not rows:
            return {}
    if isinstance(rows, Mapping):
        names = [str(name) for name in rows]
        kept: Any = {
            str(name): values for name, values in rows.items() if str(name) in network.places
        }
        for name, values in kept.items():
            _check_column(name, values)
    else:
        names, kept = _frame_columns(network, rows)
    known = [name for name in names if name in network.places]
    if names and not known:
        raise InputError(
            f"No column is a node of the network: the columns are {listed(names)}, the nodes "
            f"{listed(network.names)}."
        )
    _warn_of_near(network, known, names)
    return named_columns(kept, what="States are read")


def _columns_of_mappings(network: NamedModel, rows: Sequence[Any]) -> dict[str, list[Any]]:
    """A sequence of mappings as a mapping of columns; of strange columns only the names."""
    if not all(isinstance(row, Mapping) for row in rows):
        raise InputError(
            "Rows are a data frame, a mapping of columns, or a list of mappings from nodes to "
            f"states; got a {type(rows).__name__} of {len(rows)} items."
        )
    names = dict.fromkeys(name for row in rows for name in row)
    return {
        name: [row.get(name) for row in rows] if name in network.places else [] for name in names
    }


def _frame_columns(network: NamedModel, frame: Any) -> tuple[list[str], Any]:
    """The names of a frame's columns, and the frame with those that are nodes."""
    twice = _names_twice(getattr(frame, "columns", ()))
    if twice is not None:
        raise InputError(f"Column {label_text(twice)} occurs twice. Give columns different names.")
    if not is_frame(frame):
        return [], frame
    table = frame_of(frame)
    names = [str(name) for name in table.columns]
    places = [place for place, name in enumerate(names) if name in network.places]
    # All at once: one by one, every step looks at the names of a wide frame again.
    return names, table[:, places].to_native() if places else frame


def _check_column(name: str, values: Any) -> None:
    refuse_set(values, f"The cells of column {label_text(name)}")
    if isinstance(values, (str, bytes)) or not hasattr(values, "__len__"):
        raise InputError(
            f"Column {label_text(name)} is {label_text(values)}; a column is a list with one cell "
            f"for each row, such as [{label_text(values)}]."
        )


def _warn_of_near(network: NamedModel, known: Sequence[str], names: Sequence[str]) -> None:
    """A column that nearly has the name of a node without one is left alone, and named."""
    if len(known) == len(names):
        return
    taken = {*known}
    without = [name for name in network.names if name not in taken]
    near = near_names((name for name in names if name not in taken), without)
    if near:
        shown = [
            f"{label_text(name)} (is it {label_text(node)}?)" for name, node in near[:MOST_NEAR]
        ]
        more = f" and {len(near) - MOST_NEAR} more" if len(near) > MOST_NEAR else ""
        warnings.warn(
            f"Columns that are no nodes are left alone, and these are near to one: "
            f"{', '.join(shown)}{more}. Rename them if they are meant.",
            NetworkWarning,
            stacklevel=5,
        )


def _names_twice(columns: Any) -> object:
    """The first name that several columns of a frame have; pandas allows that."""
    seen: set[object] = set()
    for name in columns if hasattr(columns, "get_loc") else ():
        if name in seen:
            return name
        seen.add(name)
    return None


def number_cells(name: str, values: Any) -> Floats:
    """The cells of a numeric node, NaN where missing; what is no finite number is an error."""
    import pyarrow as pa

    from novum.core.tables import arrow_column

    array = arrow_column(values, name)
    try:
        cells = array.cast(pa.float64()).to_numpy(zero_copy_only=False).astype(np.float64)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise InputError(
            f"Column {label_text(name)} holds {array.type} and its node numbers. Give numbers."
        ) from None
    if np.isinf(cells).any():
        row = int(np.flatnonzero(np.isinf(cells))[0])
        raise InputError(
            f"Column {label_text(name)} is infinite in row {row}. Give a finite number, or leave "
            "the cell missing."
        )
    return cells


def state_cells(axis: StateAxis, values: Any) -> Integers:
    """The cells of a discrete node by number; what is no state is an error."""
    return _codes(axis, values, strict=True)


def _codes(axis: StateAxis, values: Any, strict: bool) -> Integers:
    import pyarrow as pa

    from novum.core.tables import arrow_column, codes_of

    array = arrow_column(values, axis.name)
    cuts = interval_cuts(axis.states)
    if cuts is not None and (pa.types.is_integer(array.type) or pa.types.is_floating(array.type)):
        # Numbers belong to the intervals that hold them.
        cells = number_cells(axis.name, array)
        return np.where(np.isnan(cells), UNKNOWN, np.searchsorted(cuts, cells, side="left"))
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


def _match_written(axis: StateAxis, array: Any, codes: Integers, rows: Positions) -> None:
    """Cells of another type than the states, by the way they are written; fills `codes`."""
    positions: dict[Any, int | None] = {}
    # A column has few different cells; the same one is looked up once. True is not 1.
    for row in rows.tolist():
        cell = array[row].as_py()
        key = (type(cell), cell)
        if key not in positions:
            positions[key] = state_like(axis, cell)
        place = positions[key]
        if place is not None:
            codes[row] = place


def _say_strange(axis: StateAxis, cell: Any, strange: Positions, strict: bool) -> None:
    text = (
        f"Column {label_text(axis.name)} has {label_text(cell)} in row {int(strange[0])}, which is "
        f"no state of that node: {meant(cell, axis.states)}"
    )
    if strict:
        raise InputError(text)
    cells = "That cell is" if strange.size == 1 else f"{strange.size} such cells are"
    warnings.warn(f"{text} {cells} taken as unknown.", UnseenLevelWarning, stacklevel=5)


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
    """States as values of one type; mixed ones, and numbers beyond 64 bits, as text."""
    kinds = {type(state) for state in states}
    is_mixed = len(kinds) > 1 and kinds != {int, float}
    if is_mixed or any(type(state) is int and not -(2**63) <= state < 2**63 for state in states):
        return [str(state) for state in states]
    return list(states)


# --- Names that are nearly right ------------------------------------------------------------------
# Names that were probably meant to be others.
#
# Two names are near where they differ in the size of letters or in what is no letter or digit, or,
# of four signs and more, in one letter that was added, left out, replaced or swapped with the next.
# Digits are not forgiven: `x1` and `x2` are different things. Such names share a text that both
# give when at most one sign is left out, so many names are compared at once.


# Longer names are compared as a whole only, shorter ones too: "ab" is near to everything.
_LONGEST = 60
_SHORTEST = 4


def near_names(names: Iterable[str], known: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs of a name and the known one that it is near to, without being it.

    Examples
    --------
    >>> near_names(["Alram", "alarm", "x2", "burglar"], ["Alarm", "x1", "Burglary"])
    [('Alram', 'Alarm'), ('alarm', 'Alarm'), ('burglar', 'Burglary')]
    """
    shortened: dict[str, str] = {}
    for name in known:
        for text in _shortened(_plain(name)):
            shortened.setdefault(text, name)
    pairs = []
    for name in names:
        plain = _plain(name)
        meant = next((shortened[t] for t in _shortened(plain) if t in shortened), None)
        if meant is not None and meant != name and _are_near(plain, _plain(meant)):
            pairs.append((name, meant))
    return pairs


def _plain(name: str) -> str:
    """Small letters and digits only; the name itself where there is none."""
    return "".join(filter(str.isalnum, name.casefold())) or name


def _shortened(plain: str) -> Iterator[str]:
    """The text itself and, of middling length, what is left without one of its signs."""
    yield plain
    if _SHORTEST <= len(plain) <= _LONGEST:
        for place in range(len(plain)):
            yield plain[:place] + plain[place + 1 :]


def _are_near(one: str, other: str) -> bool:
    if one == other:
        return True
    if min(len(one), len(other)) < _SHORTEST:
        return False
    return [c for c in one if c.isdigit()] == [c for c in other if c.isdigit()]
