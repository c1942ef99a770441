"""Conditional distributions of one variable given its parents.

    P(x | parents) as a table with axes (parents in their order, x last), whose rows sum to one

`Tabular` holds every cell. Compact ones (`novum.graphical.models.compact`) hold fewer numbers and
say how they become tables. All are values: checked when made, never changed.
"""

from __future__ import annotations

import itertools
import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from novum.core.errors import InputError, MemoryLimitError
from novum.core.text import label_text
from novum.distributions import EXACT, MAX_CELLS, MAX_VARIABLES, QUIET, TOLERATED, StateAxis, shown
from novum.numerics import Floats, cached_property


class NetworkWarning(UserWarning):
    """Something in a network is legal but rarely meant."""


class Conditional(ABC):
    """The distribution of `variable` given `parents`.

    Attributes
    ----------
    variable : StateAxis
    parents : tuple of StateAxis
    """

    variable: StateAxis
    parents: tuple[StateAxis, ...]

    @property
    def name(self) -> str:
        return self.variable.name

    @property
    def shape(self) -> tuple[int, ...]:
        """Numbers of states: of the parents in their order, then of the variable."""
        return (*(len(parent.states) for parent in self.parents), len(self.variable.states))

    @property
    @abstractmethod
    def table(self) -> Floats:
        """All cells, of `shape`; read-only."""

    @property
    @abstractmethod
    def n_parameters(self) -> int:
        """Numbers that are free to choose."""

    @property
    def n_zeros(self) -> int:
        """Cells that are exactly zero, so that no evidence can ever make them likely."""
        return int(np.count_nonzero(self.table == 0))

    @abstractmethod
    def renamed(self, variable: StateAxis, parents: tuple[StateAxis, ...]) -> Conditional:
        """The same numbers under other names of variables or states."""

    def row_text(self, row: int) -> str:
        """A row of the table in words, counted in C order: `A = 'true', B = 'false'`."""
        return row_text(self.parents, row)

    # A value is its own copy.
    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __getstate__(self) -> dict[str, Any]:
        return kept_attributes(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        for value in state.values():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
        self.__dict__.update(state)

    def _identity(self) -> tuple[object, ...]:
        return (type(self), self.variable, self.parents, self.table.tobytes())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Conditional) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())


@dataclass(frozen=True, eq=False)
class Tabular(Conditional):
    """A distribution with every cell given.

    Parameters
    ----------
    variable : StateAxis
    parents : tuple of StateAxis
    cells : array (parents' states ..., the variable's states)
        At least 0; rows sum to one. Sums off by more than 1e-3 are refused, by more than 1e-6
        normalized with a warning.

    Examples
    --------
    >>> rain = StateAxis("rain", ("yes", "no"))
    >>> wet = Tabular(StateAxis("wet", ("yes", "no")), (rain,), [[0.9, 0.1], [0.2, 0.8]])
    >>> wet.table[0].tolist(), wet.n_parameters
    ([0.9, 0.1], 2)
    """

    variable: StateAxis
    parents: tuple[StateAxis, ...]
    cells: Floats

    def __init__(
        self, variable: StateAxis, parents: tuple[StateAxis, ...], cells: ArrayLike
    ) -> None:
        checked = checked_table(variable, parents, cells)
        checked.flags.writeable = False
        self.__dict__.update(variable=variable, parents=tuple(parents), cells=checked)

    @classmethod
    def trusted(cls, variable: StateAxis, parents: tuple[StateAxis, ...], cells: Floats) -> Tabular:
        """One whose cells are known to be right: nothing is checked or copied."""
        made = object.__new__(cls)
        made.__dict__.update(variable=variable, parents=parents, cells=cells)
        return made

    @property
    def table(self) -> Floats:
        return self.cells

    @property
    def n_parameters(self) -> int:
        return math.prod(self.shape[:-1]) * (self.shape[-1] - 1)

    def renamed(self, variable: StateAxis, parents: tuple[StateAxis, ...]) -> Tabular:
        return Tabular.trusted(variable, parents, self.cells)


# --- Checks ---------------------------------------------------------------------------------------


def check_node_cells(
    variable: StateAxis, parents: Sequence[StateAxis], advice: str, source: str = ""
) -> None:
    """Refuses a node whose table is too large to exist, before anything is made of it.

    Parameters
    ----------
    variable, parents
    advice : str
        What to do instead; ends the message.
    source : str
        Begins it, such as the name of a file.
    """
    cells = math.prod([len(axis.states) for axis in (*parents, variable)])
    begin = f"{source}: the" if source else "The"
    what = f"{begin} table of {label_text(variable.name)} with its {len(parents)} parents"
    if cells > MAX_CELLS:
        raise MemoryLimitError(f"{what} has {cells:,} cells; the limit is {MAX_CELLS:,}. {advice}")
    if len(parents) >= MAX_VARIABLES:
        raise InputError(
            f"{what} has more than {MAX_VARIABLES} axes. Leave out parents of one state only."
        )


def checked_table(variable: StateAxis, parents: tuple[StateAxis, ...], cells: ArrayLike) -> Floats:
    """Cells of the right shape, at least 0, in rows that sum to one; a new array."""
    name = label_text(variable.name)
    shape = (*(len(parent.states) for parent in parents), len(variable.states))
    check_node_cells(variable, parents, "Use noisy_or(...), or fewer parents.")
    try:
        table = np.array(cells, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise InputError(
            f"The table of {name} is not an array of numbers of shape {shape}. Give one row of "
            f"{shape[-1]} probabilities for each combination of the parents' states."
        ) from None
    if table.shape != shape:
        table = _reshaped(table, shape, name, parents)
    rows = table.reshape(-1, shape[-1])
    _check_cells_are_probabilities(rows, variable, parents)
    return _normalized_rows(rows, variable, parents).reshape(shape)


def _reshaped(
    table: Floats, shape: tuple[int, ...], name: str, parents: tuple[StateAxis, ...]
) -> Floats:
    """A table of (rows, states) for the combinations of several parents in C order."""
    if table.shape == (math.prod(shape[:-1]), shape[-1]):
        return table.reshape(shape)
    axes = "".join(f"{len(p.states)} states of {label_text(p.name)}, " for p in parents)
    raise InputError(
        f"The table of {name} has shape {table.shape}; it needs {shape}: {axes}"
        f"{shape[-1]} states of {name} itself as the last axis."
    )


def _check_cells_are_probabilities(
    rows: Floats, variable: StateAxis, parents: tuple[StateAxis, ...]
) -> None:
    # A NaN fails the comparison too.
    wrong = ~((rows >= 0) & (rows <= 1 + TOLERATED))
    if not wrong.any():
        return
    row, state = (int(place[0]) for place in np.nonzero(wrong))
    raise InputError(
        f"The table of {label_text(variable.name)} has {rows[row, state]:g} for state "
        f"{shown(variable.states[state])}{_in_row(parents, row)}; probabilities lie between 0 "
        "and 1."
    )


def _normalized_rows(rows: Floats, variable: StateAxis, parents: tuple[StateAxis, ...]) -> Floats:
    sums = rows.sum(axis=1)
    off = np.abs(sums - 1.0)
    worst = int(off.argmax())
    where = f"the table of {label_text(variable.name)}{_in_row(parents, worst)}"
    if off[worst] > TOLERATED:
        raise InputError(
            f"The probabilities in {where} sum to {sums[worst]:g}, not to 1. Correct that row, or "
            "divide it by its sum."
        )
    if off[worst] > QUIET:
        warnings.warn(
            f"The probabilities in {where} summed to {float(sums[worst])!r}; rows off by more than "
            f"{QUIET:g} were normalized.",
            NetworkWarning,
            stacklevel=5,
        )
    inexact = off > EXACT
    if inexact.any():
        rows[inexact] /= sums[inexact, None]
    return rows


def _in_row(parents: tuple[StateAxis, ...], row: int) -> str:
    return f" in the row {row_text(parents, row)}" if parents else ""


def row_text(parents: tuple[StateAxis, ...], row: int) -> str:
    """The states of the parents in a row, counted in C order."""
    states: list[object] = []
    # By Python's integers, which do not wrap around where a table is too large to exist.
    for parent in reversed(parents):
        row, state = divmod(row, len(parent.states))
        states.insert(0, parent.states[state])
    return ", ".join(
        f"{shown(parent.name)} = {shown(state)}"
        for parent, state in zip(parents, states, strict=True)
    )


def rows_of_states(parents: tuple[StateAxis, ...]) -> itertools.product[tuple[object, ...]]:
    """All combinations of the parents' states, in the order of the table's rows."""
    return itertools.product(*(parent.states for parent in parents))


# --- Copies ---------------------------------------------------------------------------------------
# What copies of a value hold: all that was given, nothing that is computed from it.


def kept_attributes(value: object) -> dict[str, Any]:
    """The attributes of a value but those that cached properties keep.

    Examples
    --------
    >>> class Square:
    ...     def __init__(self, side):
    ...         self.side = side
    ...     @cached_property
    ...     def area(self):
    ...         return self.side**2
    >>> square = Square(3)
    >>> square.area, kept_attributes(square)
    (9, {'side': 3})
    """
    kind = type(value)
    return {
        name: kept
        for name, kept in value.__dict__.items()
        if not isinstance(getattr(kind, name, None), cached_property)
    }
