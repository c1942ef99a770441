"""The states of named discrete variables, and where they stand in a table.

A variable has a name and finitely many states: text, numbers or truth values, in the order of the
table's cells. `True` and 1 are different states. Numbers have their natural order; other states
have one only where the variable is declared *ordered*, and then it is that of the list.

The size of a table is the product of the numbers of states. It is computed with Python's integers,
which do not wrap around, before anything is allocated.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from novum.core.errors import InputError, MemoryLimitError
from novum.core.tables import Level, level_key
from novum.core.text import printable
from novum.display import Column, Paragraph, Table, notebook
from novum.numerics import Array, Floats, cached_property

# 512 MB of float64; beyond it a joint table is the wrong tool.
MAX_CELLS = 2**26
# NumPy's limit on the number of axes.
MAX_VARIABLES = 64


@dataclass(frozen=True)
class StateAxis:
    """One variable: its name and its states in the order of the cells.

    Examples
    --------
    >>> size = StateAxis("size", ("small", "medium", "large"), ordered=True)
    >>> size.position("large")
    2
    """

    name: str
    states: tuple[Level, ...]
    ordered: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "states", tuple(_plain(state) for state in self.states))
        if not self.states:
            raise InputError(f"Variable {self.name!r} has no states. List at least one.")
        if len(self.positions) != len(self.states):
            raise InputError(
                f"Variable {self.name!r} has a state twice: {shown_states(self.states)}. List "
                "every state once."
            )

    @cached_property
    def positions(self) -> dict[tuple[bool, Level], int]:
        return {level_key(state): place for place, state in enumerate(self.states)}

    def position(self, state: object) -> int:
        """Where a state stands; an unknown one is an error that lists those there are."""
        plain = _plain(state)
        place = self.positions.get(level_key(plain))
        if place is None:
            raise InputError(
                f"Variable {self.name!r} has no state {shown(plain)}; its states are "
                f"{shown_states(self.states)}."
            )
        return place

    @property
    def is_numeric(self) -> bool:
        return all(_is_number(state) for state in self.states)

    @property
    def numbers(self) -> Floats:
        """The states as numbers, truth values as 0 and 1."""
        for state in self.states:
            if not (_is_number(state) or isinstance(state, bool)):
                raise InputError(
                    f"Variable {self.name!r} has the state {shown(state)}, which is no number, so "
                    "it has no moments. Give the variable numeric states first."
                )
        return np.array([float(state) for state in self.states])


class StateSpace(tuple[StateAxis, ...]):
    """The variables of one table, in the order of its axes.

    Examples
    --------
    >>> space = StateSpace([StateAxis("rain", (True, False)), StateAxis("wet", (True, False))])
    >>> space.shape, space.places(["wet"])
    ((2, 2), (1,))
    """

    __slots__ = ()

    def __new__(cls, axes: Iterable[StateAxis]) -> StateSpace:
        space = super().__new__(cls, tuple(axes))
        names = space.names
        for name in names:
            if not isinstance(name, str):
                raise InputError(f"Names of variables are text, got {name!r}.")
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise InputError(f"Variable {twice[0]!r} occurs twice. Names must differ.")
        check_cells(space.shape)
        return space

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(axis.name for axis in self)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(axis.states) for axis in self)

    def place(self, name: str) -> int:
        for place, axis in enumerate(self):
            if axis.name == name:
                return place
        known = ", ".join(repr(known) for known in self.names)
        raise InputError(f"The table has no variable {name!r}; it has {known or 'none'}.")

    def places(self, names: Sequence[str]) -> tuple[int, ...]:
        """The axes of several variables, each named once."""
        places_of = tuple(self.place(name) for name in names)
        if len(set(places_of)) != len(places_of):
            twice = next(name for name in names if list(names).count(name) > 1)
            raise InputError(f"Variable {twice!r} is named twice. Name each variable once.")
        return places_of

    def axis(self, name: str) -> StateAxis:
        return self[self.place(name)]

    def spread(self, name: str, values: Array) -> Array:
        """One value for each state of a variable, shaped to broadcast against the table."""
        shape = [1] * len(self)
        shape[self.place(name)] = -1
        return values.reshape(shape)


def names_of(names: str | Iterable[str]) -> tuple[str, ...]:
    """One name or several, as a tuple."""
    return (names,) if isinstance(names, str) else tuple(names)


def shown(state: object) -> str:
    """A state as text on one line that is safe to print."""
    return printable(state if isinstance(state, str) else repr(state), 40)


def shown_states(states: Sequence[object], limit: int = 8) -> str:
    listed = ", ".join(shown(state) for state in states[:limit])
    return listed if len(states) <= limit else f"{listed}, ... ({len(states)})"


# --- Checks ---------------------------------------------------------------------------------------


def check_cells(sizes: Sequence[int]) -> int:
    """The number of cells of a table of that shape, refused beyond `MAX_CELLS`.

    >>> check_cells([2] * 64)
    Traceback (most recent call last):
    novum.core.errors.MemoryLimitError: A joint table over 64 variables has 18446744073709551616 \
cells; the limit is 67108864. Use fewer variables or states, or a Bayesian network.
    """
    cells = math.prod(int(size) for size in sizes)
    if cells > MAX_CELLS:
        raise MemoryLimitError(
            f"A joint table over {len(sizes)} variables has {cells} cells; the limit is "
            f"{MAX_CELLS}. Use fewer variables or states, or a Bayesian network."
        )
    if len(sizes) > MAX_VARIABLES:
        raise InputError(
            f"A joint table has at most {MAX_VARIABLES} variables, got {len(sizes)}. Leave out "
            "those with one state only."
        )
    return cells


def _plain(state: Any) -> Any:
    """Scalars of NumPy as Python's own, so that they compare and print alike."""
    plain = state.item() if isinstance(state, np.generic) else state
    if not isinstance(plain, (str, bool, int, float)):
        raise InputError(
            f"A state is text, a number or a truth value, got {plain!r} of type "
            f"{type(plain).__name__}."
        )
    if isinstance(plain, float) and not math.isfinite(plain):
        raise InputError(f"A state is a finite number, got {plain!r}. Give it a name instead.")
    return plain


def _is_number(state: object) -> bool:
    return isinstance(state, Real) and not isinstance(state, bool)


# --- Text -----------------------------------------------------------------------------------------
#
# Tables over discrete variables as text and as HTML.
#
# One line for each joint state: the states, then the number. Long tables show their first lines and
# how many more there are. Names and states come from elsewhere, so control characters are written
# by their codes and HTML is escaped.


LINES = 20


def as_text(space: StateSpace, cells: Floats, heading: str = "probability") -> str:
    """Aligned columns, states to the left and numbers to the right.

    Examples
    --------
    >>> import numpy as np
    >>> from novum.distributions.joint_table_states import StateAxis
    >>> print(as_text(StateSpace([StateAxis("coin", ("head", "tail"))]), np.array([0.25, 0.75])))
    coin  probability
    head         0.25
    tail         0.75
    """
    return "\n".join([_table(space, cells, heading).as_text(), *_more(cells)])


def as_html(space: StateSpace, cells: Floats, heading: str = "probability") -> str:
    """The same as a table that a notebook shows."""
    return notebook(_table(space, cells, heading), *map(Paragraph, _more(cells)))


def _table(space: StateSpace, cells: Floats, heading: str) -> Table:
    states = itertools.islice(itertools.product(*(axis.states for axis in space)), LINES)
    rows = [
        [*(shown(state) for state in joint), _number(float(cell))]
        for joint, cell in zip(states, cells.flat, strict=False)
    ]
    return Table("", [*(shown(name) for name in space.names), Column(heading, True)], rows)


def _number(value: float) -> str:
    return "undefined" if math.isnan(value) else f"{value:.6g}"


def _more(cells: Floats) -> list[str]:
    return [f"... {cells.size - LINES} more joint states"] if cells.size > LINES else []
