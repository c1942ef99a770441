"""Conditional distributions with fewer numbers than cells.

    noisy or       P(x inactive | parents) = (1 - leak) * product over active parents of (1 - s_i)
    deterministic  P(x = f(parents) | parents) = 1

A noisy or has one strength for each parent instead of a table that doubles with each of them. Its
table is never needed whole: a chain of auxiliary variables, each the or of the one before and one
more parent, means the same (`novum.graphical.models.network_structure`).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from novum.core.errors import InputError
from novum.core.tables import Level
from novum.core.text import label_text, listed
from novum.distributions import StateAxis, shown
from novum.graphical.models.conditional import (
    Conditional,
    check_node_cells,
    row_text,
    rows_of_states,
)
from novum.graphical.models.states import refuse_set, state_like
from novum.numerics import Floats, Integers, cached_property

# Of two states, the one that says that something is there.
_AFFIRMATIVE = ("true", "yes", "present", "on", "1", "1.0", "t", "y")


@dataclass(frozen=True, eq=False)
class NoisyOr(Conditional):
    """A binary variable that each active parent can make active by itself.

    Parameters
    ----------
    variable : StateAxis
        Of two states.
    parents : tuple of StateAxis
        Of any number of states; one state of each is inactive.
    strengths : sequence of float
        For each parent the probability with which it alone makes the variable active.
    leak : float
        The probability of being active without any active parent.
    active : mapping from names to states, optional
        Which state is the active one: of the variable itself and of its parents. Found without
        help where two states are such as true and false, yes and no, 1 and 0. Of a parent with
        more states all others than the *inactive* one act alike; give it by `inactive`.
    inactive : mapping from names to states, optional

    Examples
    --------
    >>> cold, flu = StateAxis("cold", ("yes", "no")), StateAxis("flu", ("yes", "no"))
    >>> fever = NoisyOr(StateAxis("fever", ("yes", "no")), (cold, flu), [0.4, 0.8])
    >>> fever.table[:, :, 0].round(2).tolist()
    [[0.88, 0.4], [0.8, 0.0]]
    """

    variable: StateAxis
    parents: tuple[StateAxis, ...]
    strengths: tuple[float, ...]
    leak: float
    active_state: int
    inactive_states: tuple[int, ...]

    _saved_fields: ClassVar[tuple[str, ...]] = (
        "variable",
        "parents",
        "strengths",
        "leak",
        "active",
        "inactive",
    )

    def __init__(
        self,
        variable: StateAxis,
        parents: Sequence[StateAxis],
        strengths: Sequence[float],
        leak: float = 0.0,
        active: Mapping[str, Level] | None = None,
        inactive: Mapping[str, Level] | None = None,
    ) -> None:
        if len(variable.states) != 2:
            raise InputError(
                f"A noisy or has two states, but {label_text(variable.name)} has "
                f"{len(variable.states)}. Use a table."
            )
        refuse_set(strengths, f"The strengths of {label_text(variable.name)}")
        values = tuple(float(strength) for strength in strengths)
        if len(values) != len(parents):
            raise InputError(
                f"The noisy or {label_text(variable.name)} has {len(parents)} parents and "
                f"{len(values)} strengths. Give one strength for each parent."
            )
        for value in (*values, leak):
            if not 0 <= value <= 1:
                raise InputError(
                    f"A strength of the noisy or {label_text(variable.name)} is {value:g}; "
                    "strengths and leak are probabilities between 0 and 1."
                )
        chosen, left = dict(active or {}), dict(inactive or {})
        self.__dict__.update(
            variable=variable,
            parents=tuple(parents),
            strengths=values,
            leak=float(leak),
            active_state=_active_state(variable, chosen, left),
            inactive_states=tuple(_inactive_state(parent, chosen, left) for parent in parents),
        )

    @cached_property
    def table(self) -> Floats:
        advice = "No question needs it: engines take the node in parts."
        check_node_cells(self.variable, self.parents, advice)
        shape = self.shape
        silent = np.full(shape[:-1], 1.0 - self.leak)
        for place, (parent, strength) in enumerate(zip(self.parents, self.strengths, strict=True)):
            factors = np.full(len(parent.states), 1.0 - strength)
            factors[self.inactive_states[place]] = 1.0
            silent *= factors.reshape([-1 if axis == place else 1 for axis in range(silent.ndim)])
        table = np.empty(shape)
        table[..., self.active_state] = 1.0 - silent
        table[..., 1 - self.active_state] = silent
        table.flags.writeable = False
        return table

    @property
    def active(self) -> dict[str, Level]:
        """The active state of the variable, by its name."""
        return {self.variable.name: self.variable.states[self.active_state]}

    @property
    def inactive(self) -> dict[str, Level]:
        """The inactive state of each parent, by its name."""
        chosen = zip(self.parents, self.inactive_states, strict=True)
        return {parent.name: parent.states[state] for parent, state in chosen}

    @property
    def n_parameters(self) -> int:
        return len(self.strengths) + 1

    @property
    def n_zeros(self) -> int:
        # Without the table, which may be too large to exist.
        certain = sum(strength == 1.0 for strength in self.strengths)
        return int(self.leak in (0.0, 1.0)) + certain

    def renamed(self, variable: StateAxis, parents: tuple[StateAxis, ...]) -> NoisyOr:
        made = object.__new__(NoisyOr)
        fields = {key: self.__dict__[key] for key in ("strengths", "leak", "active_state")}
        made.__dict__.update(
            fields, variable=variable, parents=parents, inactive_states=self.inactive_states
        )
        return made

    def _identity(self) -> tuple[object, ...]:
        numbers = (self.strengths, self.leak, self.active_state, self.inactive_states)
        return (type(self), self.variable, self.parents, numbers)


@dataclass(frozen=True)
class NoisyOrSettings:
    """What a noisy or needs besides its variables; made by `noisy_or`."""

    strengths: tuple[float, ...] | tuple[tuple[str, float], ...]
    leak: float = 0.0
    active: tuple[tuple[str, Level], ...] = ()
    inactive: tuple[tuple[str, Level], ...] = ()

    def bind(self, variable: StateAxis, parents: Sequence[StateAxis]) -> NoisyOr:
        """The distribution of a variable given its parents."""
        strengths: Any = self.strengths
        if strengths and isinstance(strengths[0], tuple):
            named = dict(strengths)
            wanted = [parent.name for parent in parents]
            if set(named) != set(wanted):
                raise InputError(
                    f"The noisy or {label_text(variable.name)} has strengths for "
                    f"{listed(sorted(named))} and the parents {listed(wanted)}. Give one "
                    "strength for each parent."
                )
            strengths = [named[name] for name in wanted]
        return NoisyOr(
            variable, parents, strengths, self.leak, dict(self.active), dict(self.inactive)
        )


def noisy_or(
    strengths: Sequence[float] | Mapping[str, float],
    leak: float = 0.0,
    *,
    active: Mapping[str, Level] | None = None,
    inactive: Mapping[str, Level] | None = None,
) -> NoisyOrSettings:
    """A noisy or, to be given to `BayesianNetwork.add` in place of a table.

    Parameters
    ----------
    strengths : sequence in the order of the parents, or mapping from their names
    leak, active, inactive
        As in `NoisyOr`.

    Examples
    --------
    >>> noisy_or({"cold": 0.4, "flu": 0.8}, leak=0.01).leak
    0.01
    """
    refuse_set(strengths, "The strengths of a noisy or")
    pairs = tuple(strengths.items()) if isinstance(strengths, Mapping) else tuple(strengths)
    chosen, left = tuple((active or {}).items()), tuple((inactive or {}).items())
    return NoisyOrSettings(pairs, float(leak), chosen, left)


@dataclass(frozen=True, eq=False)
class Deterministic(Conditional):
    """A variable that is a function of its parents.

    Parameters
    ----------
    variable : StateAxis
    parents : tuple of StateAxis
    function : callable, or array of states
        Called with the parents' states, one argument for each in their order; gives a state of
        the variable.

    Examples
    --------
    >>> a, b = StateAxis("a", (0, 1)), StateAxis("b", (0, 1))
    >>> both = Deterministic(StateAxis("both", (0, 1)), (a, b), lambda a, b: a * b)
    >>> both.table[1].tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """

    variable: StateAxis
    parents: tuple[StateAxis, ...]
    codes: Integers

    _saved_fields: ClassVar[tuple[str, ...]] = ("variable", "parents", "codes")

    def __init__(
        self,
        variable: StateAxis,
        parents: Sequence[StateAxis],
        function: Callable[..., Level] | Sequence[Any],
    ) -> None:
        parents = tuple(parents)
        sizes = tuple(len(parent.states) for parent in parents)
        check_node_cells(variable, parents, "Split it into several functions of fewer parents.")
        given = _values(variable, parents, function)
        codes = np.empty(len(given), np.int64)
        for row, state in enumerate(given):
            codes[row] = _code(variable, parents, row, state)
        codes = codes.reshape(sizes)
        codes.flags.writeable = False
        self.__dict__.update(variable=variable, parents=parents, codes=codes)

    @classmethod
    def from_codes(
        cls, variable: StateAxis, parents: Sequence[StateAxis], codes: ArrayLike
    ) -> Deterministic:
        """The same from the numbers of the states in place of the states."""
        given = np.asarray(codes)
        if given.dtype.kind not in "iu":
            raise InputError(f"Codes of {label_text(variable.name)} are whole numbers.")
        card = len(variable.states)
        if given.size and not (given.min() >= 0 and given.max() < card):
            raise InputError(
                f"Codes of {label_text(variable.name)} number its {card} states from 0."
            )
        states = np.empty(card, object)
        states[:] = variable.states
        return cls(variable, parents, states[given])

    _from_saved = from_codes

    @property
    def values(self) -> Any:
        """The states it takes, in nested lists by the parents' states."""
        states = np.empty(len(self.variable.states), object)
        states[:] = self.variable.states
        values = states[self.codes]
        return values.tolist() if self.parents else values

    @cached_property
    def table(self) -> Floats:
        table = np.zeros(self.shape)
        np.put_along_axis(table, self.codes[..., None], 1.0, axis=-1)
        table.flags.writeable = False
        return table

    @property
    def n_parameters(self) -> int:
        return 0

    def renamed(self, variable: StateAxis, parents: tuple[StateAxis, ...]) -> Deterministic:
        made = object.__new__(Deterministic)
        made.__dict__.update(variable=variable, parents=parents, codes=self.codes)
        return made

    def _identity(self) -> tuple[object, ...]:
        return (type(self), self.variable, self.parents, self.codes.tobytes())


# --- Which state is active ------------------------------------------------------------------------


def _active_state(variable: StateAxis, active: dict[str, Level], inactive: dict[str, Level]) -> int:
    if variable.name in active:
        return variable.position(active[variable.name])
    return 1 - _inactive_state(variable, active, inactive)


def _inactive_state(axis: StateAxis, active: dict[str, Level], inactive: dict[str, Level]) -> int:
    if axis.name in inactive:
        return axis.position(inactive[axis.name])
    if len(axis.states) == 2:
        if axis.name in active:
            return 1 - axis.position(active[axis.name])
        spoken = [str(state).casefold() in _AFFIRMATIVE for state in axis.states]
        if sum(spoken) == 1:
            return spoken.index(False)
    raise InputError(
        f"Which state of {label_text(axis.name)} is the inactive one? Its states are "
        f"{listed(axis.states)}. Say so: inactive={{{label_text(axis.name)}: ...}}."
    )


# --- Values of functions --------------------------------------------------------------------------


def _values(variable: StateAxis, parents: tuple[StateAxis, ...], function: Any) -> list[Any]:
    if callable(function):
        _check_arguments(variable, parents, function)
        return [function(*states) for states in rows_of_states(parents)]
    given = np.asarray(function, dtype=object)
    sizes = tuple(len(parent.states) for parent in parents)
    if given.shape != sizes:
        raise InputError(
            f"The values of {label_text(variable.name)} have shape {given.shape}; they need "
            f"{sizes}, one for each combination of the parents' states."
        )
    return list(given.ravel())


def _check_arguments(variable: StateAxis, parents: tuple[StateAxis, ...], function: Any) -> None:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        # Of some built-in functions nobody knows it.
        return
    try:
        signature.bind(*parents)
    except TypeError:
        names = listed([parent.name for parent in parents]) if parents else "no parents"
        raise InputError(
            f"The function of {label_text(variable.name)} is called with one state for each of its "
            f"{len(parents)} parents ({names}), but it is written as {signature}. Give it as many "
            "arguments."
        ) from None


def _code(variable: StateAxis, parents: tuple[StateAxis, ...], row: int, state: Any) -> int:
    place = state_like(variable, state)
    if place is not None:
        return place
    try:
        return variable.position(state)
    except InputError as error:
        where = f" for {row_text(parents, row)}" if parents else ""
        raise InputError(
            f"The function of {label_text(variable.name)} gives {shown(state)}{where}. {error}"
        ) from None
