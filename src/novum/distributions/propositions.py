"""Propositions about discrete variables, built with `&`, `|` and `~`.

    cavity = variable("cavity") == True
    cavity | ~(variable("pain") >= 3)

A proposition is a value: it knows which variables it speaks of and, given their states, in which
of them it holds. Its probability is the sum over the atomic events in which it is true,

    P(phi) = sum_{w : w |= phi} P(w).

Python's `and`, `or`, `not` and chained comparisons cannot be redefined; used on a proposition they
raise instead of giving a wrong answer.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.core.tables import Level
from novum.distributions.joint_table_states import StateAxis, StateSpace, shown, shown_states
from novum.numerics import Array, Mask

_ORDER: Mapping[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


# --- Propositions ---------------------------------------------------------------------------------


class Proposition(ABC):
    """A statement that is true or false in every joint state of some variables."""

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The variables it speaks of, each once, in order of mention."""

    @abstractmethod
    def holds(self, space: StateSpace) -> Mask:
        """Where it is true: an array that broadcasts against a table over `space`."""

    def __and__(self, other: Proposition) -> Proposition:
        return Conjunction(self, _checked(other, "&"))

    def __or__(self, other: Proposition) -> Proposition:
        return Disjunction(self, _checked(other, "|"))

    def __invert__(self) -> Proposition:
        return Negation(self)

    def __bool__(self) -> bool:
        raise TypeError(
            "A proposition is neither true nor false by itself. Combine propositions with &, | "
            "and ~ (in parentheses), not with and, or, not or chained comparisons."
        )


@dataclass(frozen=True, eq=False, repr=False)
class Membership(Proposition):
    """The variable is in one of the states."""

    name: str
    states: tuple[Level, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name,)

    def holds(self, space: StateSpace) -> Mask:
        axis = space.axis(self.name)
        inside = np.zeros(len(axis.states), bool)
        inside[[axis.position(state) for state in self.states]] = True
        return space.spread(self.name, inside)

    def __repr__(self) -> str:
        if len(self.states) == 1:
            return f"{shown(self.name)} = {shown(self.states[0])}"
        return f"{shown(self.name)} in {{{shown_states(self.states)}}}"


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Proposition):
    """The variable is below or above a value, by size or by the declared order of its states."""

    name: str
    sign: str
    value: Level

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name,)

    def holds(self, space: StateSpace) -> Mask:
        axis = space.axis(self.name)
        ranks, value = self._ranks(axis)
        return space.spread(self.name, np.asarray(_ORDER[self.sign](ranks, value)))

    def _ranks(self, axis: StateAxis) -> tuple[Array, float]:
        if axis.ordered:
            return np.arange(len(axis.states)), axis.position(self.value)
        if not axis.is_numeric:
            raise InputError(
                f"The states of {self.name!r} ({shown_states(axis.states)}) have no order, so "
                f"{self!r} has no meaning. Use `isin`, or declare the variable ordered."
            )
        if isinstance(self.value, (str, bool)):
            raise InputError(
                f"The states of {self.name!r} are numbers and cannot be compared with "
                f"{self.value!r}. Compare them with a number."
            )
        return axis.numbers, float(self.value)

    def __repr__(self) -> str:
        return f"{shown(self.name)} {self.sign} {shown(self.value)}"


@dataclass(frozen=True, eq=False, repr=False)
class Negation(Proposition):
    """What is true where the other is not."""

    other: Proposition

    @property
    def names(self) -> tuple[str, ...]:
        return self.other.names

    def holds(self, space: StateSpace) -> Mask:
        return ~self.other.holds(space)

    def __repr__(self) -> str:
        return f"~({self.other!r})"


@dataclass(frozen=True, eq=False, repr=False)
class PairOfPropositions(Proposition):
    """Two propositions joined by a connective."""

    left: Proposition
    right: Proposition

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.left.names, *self.right.names)))


class Conjunction(PairOfPropositions):
    """Both are true."""

    def holds(self, space: StateSpace) -> Mask:
        return self.left.holds(space) & self.right.holds(space)

    def __repr__(self) -> str:
        return f"({self.left!r} & {self.right!r})"


class Disjunction(PairOfPropositions):
    """At least one is true."""

    def holds(self, space: StateSpace) -> Mask:
        return self.left.holds(space) | self.right.holds(space)

    def __repr__(self) -> str:
        return f"({self.left!r} | {self.right!r})"


# --- Variables ------------------------------------------------------------------------------------


class Variable(Proposition):
    """A name to build propositions from; alone it says that a truth-valued variable is true.

    Examples
    --------
    >>> size, wet = variable("size"), variable("wet")
    >>> (size >= 3) & ~wet
    (size >= 3 & ~(wet))
    """

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name,)

    def holds(self, space: StateSpace) -> Mask:
        axis = space.axis(self.name)
        if not all(isinstance(state, bool) for state in axis.states):
            raise InputError(
                f"The states of {self.name!r} ({shown_states(axis.states)}) are not truth values, "
                f"so the variable alone is no proposition. Say variable({self.name!r}) == state."
            )
        return space.spread(self.name, np.array(axis.states, bool))

    def isin(self, states: Iterable[Level]) -> Proposition:
        """True where the variable is in one of the states."""
        if isinstance(states, str):
            raise InputError(f"isin takes a list of states, got the text {states!r}.")
        return Membership(self.name, tuple(states))

    def __eq__(self, state: object) -> Proposition:  # type: ignore[override]
        if isinstance(state, Proposition):
            raise InputError(
                f"Variable {self.name!r} is compared with {state!r}. Compare it with a state; two "
                "propositions are combined with &, | and ~."
            )
        return Membership(self.name, (state,))  # type: ignore[arg-type]

    def __ne__(self, state: object) -> Proposition:  # type: ignore[override]
        return Negation(self == state)

    def __lt__(self, value: Level) -> Proposition:
        return Comparison(self.name, "<", value)

    def __le__(self, value: Level) -> Proposition:
        return Comparison(self.name, "<=", value)

    def __gt__(self, value: Level) -> Proposition:
        return Comparison(self.name, ">", value)

    def __ge__(self, value: Level) -> Proposition:
        return Comparison(self.name, ">=", value)

    def __hash__(self) -> int:
        return hash((Variable, self.name))

    def __repr__(self) -> str:
        return shown(self.name)


def variable(name: str) -> Variable:
    """The variable of that name, to be compared with states.

    Examples
    --------
    >>> variable("weather").isin(["sunny", "cloudy"])
    weather in {sunny, cloudy}
    """
    if not isinstance(name, str):
        raise InputError(f"The name of a variable is text, got {name!r}.")
    return Variable(name)


def proposition_of(event: Proposition | Mapping[str, Level]) -> Proposition:
    """A proposition as it is; a mapping of names to states as their conjunction."""
    if isinstance(event, Proposition):
        return event
    if not isinstance(event, Mapping) or not event:
        raise InputError(
            "An event is a proposition such as variable('rain') == True, or a mapping of names to "
            f"states, got {event!r}."
        )
    parts = [Membership(name, (state,)) for name, state in event.items()]
    whole: Proposition = parts[0]
    for part in parts[1:]:
        whole = whole & part
    return whole


def _checked(other: object, sign: str) -> Proposition:
    if not isinstance(other, Proposition):
        raise InputError(
            f"{sign} joins propositions, got {other!r}. Put comparisons in parentheses: "
            "(a == 1) & (b == 2)."
        )
    return other
