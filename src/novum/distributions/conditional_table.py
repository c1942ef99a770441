"""Conditional distributions of discrete variables: one distribution for every given state.

    product rule  P(a, b) = P(a | b) P(b)                    `conditional * marginal`
    Bayes rule    P(b | a) = P(a | b) P(b) / P(a)            `conditional.reverse(marginal)`

Multiplied with a joint distribution of more variables than those given, the product rests on the
assumption that the new variables depend on the others only through the given ones. That is how a
Bayesian network is multiplied out by hand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from novum.core.errors import InputError
from novum.core.tables import Level
from novum.distributions.joint_table import ImpossibleEvidence, JointTable, normalized, table_over
from novum.distributions.joint_table_states import (
    StateAxis,
    StateSpace,
    as_html,
    as_text,
    check_cells,
)
from novum.numerics import Floats

Variables = Mapping[str, Sequence[Level]]


@dataclass(frozen=True, eq=False, repr=False)
class ConditionalTable:
    """`P(of | given)` of discrete variables.

    Parameters
    ----------
    probabilities : array (given states ..., states ...)
        The axes of the given variables come first. Each distribution sums to one, within the
        tolerances of `JointTable`; all NaN means undefined, where the given state is impossible.
    of, given : mappings of names to states

    Examples
    --------
    >>> test = ConditionalTable(
    ...     [[0.98, 0.02], [0.03, 0.97]],
    ...     of={"positive": (True, False)},
    ...     given={"ill": (True, False)},
    ... )
    >>> prior = JointTable([0.008, 0.992], ["ill"], [(True, False)])
    >>> round(test.reverse(prior).at(positive=True).probability({"ill": True}), 4)
    0.2085
    """

    probabilities: Floats
    of: Mapping[str, tuple[Level, ...]]
    given: Mapping[str, tuple[Level, ...]]

    def __init__(self, probabilities: ArrayLike, of: Variables, given: Variables) -> None:
        check_cells([*(len(s) for s in given.values()), *(len(s) for s in of.values())])
        axes = [StateAxis(name, tuple(states)) for name, states in (*given.items(), *of.items())]
        cells = _checked(np.array(probabilities, dtype=np.float64), StateSpace(axes), len(given))
        self._store(cells, axes, len(given))

    @classmethod
    def from_joint(cls, joint: JointTable, n_given: int) -> ConditionalTable:
        """The table of the later variables given the first `n_given`."""
        later = tuple(range(n_given, len(joint.names)))
        known = joint.probabilities.sum(axis=later, keepdims=True)
        undefined = np.full(joint.shape, np.nan)
        cells = np.divide(joint.probabilities, known, out=undefined, where=known > 0)
        table = object.__new__(cls)
        table._store(cells, list(joint.space), n_given)
        return table

    def _store(self, cells: Floats, axes: list[StateAxis], n_given: int) -> None:
        cells.flags.writeable = False
        fields: dict[str, Any] = {
            "probabilities": cells,
            "of": {axis.name: axis.states for axis in axes[n_given:]},
            "given": {axis.name: axis.states for axis in axes[:n_given]},
            "space": StateSpace(axes),
        }
        self.__dict__.update(fields)

    def at(self, **states: Level) -> JointTable:
        """The distribution in one state of all given variables."""
        if set(states) != set(self.given):
            raise InputError(
                f"The table needs a state for each of {', '.join(self.given)}; got "
                f"{', '.join(states) or 'none'}."
            )
        cell = tuple(self.space.axis(name).position(states[name]) for name in self.given)
        part = self.probabilities[cell]
        if np.isnan(part).any():
            shown = ", ".join(f"{name} = {state!r}" for name, state in states.items())
            raise ImpossibleEvidence(
                f"The given state {shown} has probability 0, so nothing can be said given it."
            )
        return table_over(self.space[len(self.given) :], part)

    def __mul__(self, other: JointTable) -> JointTable:
        """The joint distribution of both, by the product rule."""
        if not isinstance(other, JointTable):
            return NotImplemented
        for name, states in self.given.items():
            _check_same_states(name, states, other.space.axis(name).states)
        axes = [*other.space, *self.space[len(self.given) :]]
        check_cells(StateSpace(axes).shape)
        factor = self._turned(other.space)
        known = other.probabilities.reshape((*other.shape, *[1] * len(self.of)))
        # Where the given state is impossible the joint probability is zero, whatever follows.
        return table_over(axes, np.where(known > 0, known * factor, 0.0))

    __rmul__ = __mul__

    def reverse(self, prior: JointTable) -> ConditionalTable:
        """`P(given | of)` by Bayes' rule, from the distribution of the given variables."""
        if set(prior.names) != set(self.given):
            raise InputError(
                f"Bayes' rule needs the distribution of {', '.join(self.given)}, got that of "
                f"{', '.join(prior.names)}."
            )
        return (self * prior).conditional(*prior.names, given=tuple(self.of))

    def _turned(self, space: StateSpace) -> Floats:
        """Given axes in the order and with the states of `space`, ones where it has more."""
        n = len(self.given)
        cells = self.probabilities
        for place, axis in enumerate(self.space[:n]):
            order = [axis.position(state) for state in space.axis(axis.name).states]
            cells = np.take(cells, order, axis=place)
        used = [name for name in space.names if name in self.given]
        order = [self.space.place(name) for name in used]
        cells = cells.transpose([*order, *range(n, cells.ndim)])
        wide = [len(a.states) if a.name in self.given else 1 for a in space]
        return cells.reshape((*wide, *cells.shape[n:]))

    def __repr__(self) -> str:
        return as_text(self.space, self.probabilities, self._heading)

    def _repr_html_(self) -> str:
        return as_html(self.space, self.probabilities, self._heading)

    @property
    def _heading(self) -> str:
        return f"P({', '.join(self.of)} | {', '.join(self.given)})"

    @property
    def space(self) -> StateSpace:
        """All variables with their states, the given ones first."""
        space: StateSpace = self.__dict__["space"]
        return space


# --- Checks ---------------------------------------------------------------------------------------


def _checked(cells: Floats, space: StateSpace, n_given: int) -> Floats:
    if cells.shape != space.shape:
        raise InputError(
            f"A table of {', '.join(space.names[n_given:])} given "
            f"{', '.join(space.names[:n_given])} has shape {space.shape}; got {cells.shape}."
        )
    for given in np.ndindex(*space.shape[:n_given]):
        row = cells[given]
        where = ", ".join(f"{a.name} = {a.states[i]!r}" for a, i in zip(space, given, strict=False))
        if not np.all(row >= 0):
            raise InputError(f"Given {where} a probability is {row.min()}; it must be at least 0.")
        cells[given] = normalized(row, f"Given {where} the probabilities")
    return cells


def _check_same_states(name: str, mine: Sequence[Level], theirs: Sequence[Level]) -> None:
    known = StateAxis(name, tuple(theirs)).positions
    if set(known) != set(StateAxis(name, tuple(mine)).positions):
        raise InputError(
            f"Variable {name!r} has the states {mine!r} in the conditional table and {theirs!r} in "
            "the other. Give both the same states."
        )
