"""Factor: a table of numbers over named variables.

    product    (f g)(x, y, z) = f(x, y) g(y, z)         axes are matched by name
    sum, max   over some variables
    reduce     at some states, whose variables go away
    normalize  divided by its sum

The building block of networks and of undirected models alike; conditional tables are factors, and
so are messages. Values are at least 0 and need not sum to anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from novum.core.errors import InputError
from novum.core.tables import Level
from novum.core.text import label_text, listed
from novum.distributions import (
    JointTable,
    StateAxis,
    StateSpace,
    as_html,
    as_text,
    check_cells,
    names_of,
    table_over,
)
from novum.graphical.models.states import refuse_set
from novum.numerics import Floats, cached_property

Names = str | Iterable[str]


@dataclass(frozen=True, eq=False, repr=False)
class Factor:
    """A table over named discrete variables, of numbers that are at least 0.

    Parameters
    ----------
    values : array (k_1, ..., k_m)
    variables : mapping from names to states, or sequence of StateAxis
        In the order of the axes.

    Examples
    --------
    >>> f = Factor([[3.0, 1.0], [1.0, 3.0]], {"a": ("x", "y"), "b": ("x", "y")})
    >>> g = Factor([1.0, 2.0], {"b": ("x", "y")})
    >>> (f * g).sum("a").values.tolist()
    [4.0, 8.0]
    >>> f.reduce(b="x").normalize()
    a  probability
    x         0.75
    y         0.25
    """

    values: Floats
    variables: tuple[StateAxis, ...]

    def __init__(
        self, values: ArrayLike, variables: Mapping[str, Sequence[Level]] | Sequence[StateAxis]
    ) -> None:
        axes = _axes(variables)
        space = StateSpace(axes)
        try:
            cells = np.array(values, dtype=np.float64, order="C")
        except (TypeError, ValueError):
            raise InputError(
                f"Values of a factor over {listed(space.names)} are an array of numbers of shape "
                f"{space.shape}, one for each joint state."
            ) from None
        if cells.shape != space.shape:
            raise InputError(
                f"A factor over {listed(space.names)} has shape {space.shape}, one value for each "
                f"joint state; got {cells.shape}."
            )
        if not (np.isfinite(cells).all() and (cells >= 0).all()):
            wrong = cells[~(np.isfinite(cells) & (cells >= 0))].ravel()[0]
            raise InputError(
                f"Values of a factor over {listed(space.names)} are finite and at least 0; got "
                f"{wrong:g}."
            )
        cells.flags.writeable = False
        self.__dict__.update(values=cells, variables=axes)

    @classmethod
    def _made(cls, values: Floats, variables: Sequence[StateAxis]) -> Factor:
        """One whose parts are known to be right."""
        made = object.__new__(cls)
        cells = np.asarray(values, order="C")
        cells.flags.writeable = False
        made.__dict__.update(values=cells, variables=tuple(variables))
        return made

    @cached_property
    def space(self) -> StateSpace:
        return StateSpace(self.variables)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(axis.name for axis in self.variables)

    # Algebra

    def __mul__(self, other: Factor | float) -> Factor:
        if isinstance(other, (int, float)):
            return Factor(self.values * other, self.variables)
        if not isinstance(other, Factor):
            return NotImplemented
        new = [axis for axis in other.variables if axis.name not in self.names]
        for axis in other.variables:
            if axis.name in self.names:
                _check_same(self.space.axis(axis.name), axis)
        axes = (*self.variables, *new)
        check_cells([len(axis.states) for axis in axes])
        left = self.values.reshape((*self.values.shape, *[1] * len(new)))
        order = [axis.name for axis in axes if axis.name in other.names]
        right = other.values.transpose([other.names.index(name) for name in order])
        sizes = iter(right.shape)
        right = right.reshape([next(sizes) if a.name in other.names else 1 for a in axes])
        with np.errstate(over="ignore"):
            cells = left * right
        if not np.isfinite(cells).all():
            raise InputError(
                f"A product over {listed([axis.name for axis in axes])} is beyond the largest "
                "floating-point number. Divide the factors by their largest values first."
            )
        return Factor._made(cells, axes)

    __rmul__ = __mul__

    def sum(self, *names: str) -> Factor:
        """Summed over some variables."""
        return self._over(names, np.sum)

    def max(self, *names: str) -> Factor:
        """The largest over some variables."""
        return self._over(names, np.max)

    def keep(self, *names: str) -> Factor:
        """Summed over all variables but these, in this order."""
        gone = [name for name in self.names if name not in names]
        left = self.sum(*gone)
        places = left.space.places(names)
        return Factor._made(left.values.transpose(places), [left.variables[p] for p in places])

    def reduce(self, given: Mapping[str, Level] | None = None, **states: Level) -> Factor:
        """The factor at some states; their variables go away."""
        if given is not None and not isinstance(given, Mapping):
            raise InputError(
                f"reduce takes a mapping from variables to states, got {label_text(given)}."
            )
        known = {**(given or {}), **states}
        self.space.places(list(known))
        at = tuple(
            axis.position(known[axis.name]) if axis.name in known else slice(None)
            for axis in self.variables
        )
        left = [axis for axis in self.variables if axis.name not in known]
        return Factor._made(self.values[at], left)

    def normalize(self) -> JointTable:
        """The joint distribution proportional to it."""
        largest = float(self.values.max(initial=0.0))
        if largest == 0:
            raise InputError(
                f"A factor over {listed(self.names)} is 0 everywhere and has no distribution. "
                "Check the states it was reduced at."
            )
        # Over the largest first: the sum of the values themselves may not be finite.
        cells = self.values / largest
        return table_over(self.variables, cells / cells.sum())

    def _over(self, names: Names, how: object) -> Factor:
        places = self.space.places(names_of(names))
        left = [axis for place, axis in enumerate(self.variables) if place not in places]
        return Factor._made(how(self.values, axis=places), left)  # type: ignore[operator]

    def isclose(self, other: Factor, tolerance: float = 1e-12) -> bool:
        """Whether two factors over the same variables agree relative to the largest value."""
        if not isinstance(other, Factor):
            raise InputError(f"isclose compares with another factor, got {label_text(other)}.")
        if set(self.names) != set(other.names):
            return False
        if any(self.space.axis(axis.name).states != axis.states for axis in other.variables):
            return False
        turned = other.keep(*self.names).values
        scale = max(float(self.values.max(initial=0)), float(turned.max(initial=0)))
        return bool(np.abs(self.values - turned).max(initial=0) <= tolerance * scale)

    def __repr__(self) -> str:
        return as_text(self.space, self.values, "value")

    def _repr_html_(self) -> str:
        return as_html(self.space, self.values, "value")


def _axes(variables: Mapping[str, Sequence[Level]] | Sequence[StateAxis]) -> tuple[StateAxis, ...]:
    if isinstance(variables, Mapping):
        for name, states in variables.items():
            if isinstance(states, (str, bytes)) or not isinstance(states, Iterable):
                raise InputError(
                    f"The states of {label_text(name)} are a list such as ('yes', 'no'), got "
                    f"{label_text(states)}."
                )
            refuse_set(states, f"The states of {label_text(name)}")
        return tuple(StateAxis(name, tuple(states)) for name, states in variables.items())
    refuse_set(variables, "The variables of a factor")
    axes = tuple(variables) if isinstance(variables, Iterable) else (variables,)
    for axis in axes:
        if not isinstance(axis, StateAxis):
            raise InputError(
                "The variables of a factor are a mapping from names to states, such as {'rain': "
                f"('yes', 'no')}}; got {label_text(axis)}."
            )
    return axes


def _check_same(mine: StateAxis, theirs: StateAxis) -> None:
    if mine.states != theirs.states:
        raise InputError(
            f"Variable {label_text(mine.name)} has the states {listed(mine.states)} in one factor "
            f"and {listed(theirs.states)} in the other. Give it the same states in the same order."
        )
