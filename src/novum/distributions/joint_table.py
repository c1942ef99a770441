"""Joint distribution of named discrete variables, as one table.

    sum rule      P(a) = sum_b P(a, b)                       `marginal`
    product rule  P(a, b) = P(a | b) P(b)                    `conditional(...) * marginal(...)`
    Bayes rule    P(a | b) = P(b | a) P(a) / P(b)            `condition`, `conditional`
    enumeration   P(phi) = sum over states where phi holds   `probability`

The table holds one number for every joint state, so every question about its variables has an
exact answer by summing cells. The price is that cells multiply: tables beyond `MAX_CELLS` are
refused. A table made from a sample remembers how many rows stand behind it, which tests of
independence need.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from novum.core.errors import InputError
from novum.core.runtime import RandomSource, stream
from novum.core.tables import Level, level_key
from novum.distributions.joint_table_states import (
    StateAxis,
    StateSpace,
    check_cells,
    names_of,
    shown,
)
from novum.distributions.propositions import Proposition, proposition_of
from novum.numerics import Floats, cached_property

if TYPE_CHECKING:
    from novum.distributions.conditional_table import ConditionalTable

Event = Proposition | Mapping[str, Level]
Names = str | Iterable[str]

# Totals closer to one than the first are rounding of sums; up to the second they are normalized,
# up to the third with a warning; beyond it the numbers are no distribution.
EXACT, QUIET, TOLERATED = 1e-12, 1e-6, 1e-3


class ImpossibleEvidence(InputError):  # noqa: N818
    """Something was asked given an event of probability zero."""


@dataclass(frozen=True, eq=False, repr=False)
class JointTable:
    """Joint distribution of named discrete variables.

    Parameters
    ----------
    probabilities : array (k_1, ..., k_m)
        One number of at least 0 for each joint state; they sum to one. Sums off by more than 1e-3
        are refused, by more than 1e-6 normalized with a warning.
    names : m names
    states : m sequences of states
        Text, numbers or truth values, in the order of the cells.
    ordered : names, optional
        Variables whose states are listed in a meaningful order, so that `<` applies to them.
    sample_size : float, optional
        Weight of the rows the table was counted from; None for a table that is known.

    Examples
    --------
    >>> from novum.distributions.propositions import variable
    >>> table = JointTable.from_function(
    ...     lambda rain, wet: (0.3 if rain else 0.7) * (0.9 if wet == rain else 0.1),
    ...     {"rain": (True, False), "wet": (True, False)},
    ... )
    >>> round(table.probability(variable("rain"), given=variable("wet")), 4)
    0.7941
    >>> table.marginal("wet")
    wet    probability
    True          0.34
    False         0.66
    """

    probabilities: Floats
    names: tuple[str, ...]
    states: tuple[tuple[Level, ...], ...]
    ordered: tuple[str, ...] = ()
    sample_size: float | None = None

    def __post_init__(self) -> None:
        names, ordered = names_of(self.names), names_of(self.ordered)
        states = tuple(tuple(axis) for axis in self.states)
        if len(names) != len(states):
            raise InputError(f"{len(names)} names need as many lists of states, got {len(states)}.")
        check_cells([len(axis) for axis in states])
        space = StateSpace(
            StateAxis(name, axis, name in ordered) for name, axis in zip(names, states, strict=True)
        )
        space.places(ordered)
        cells = _checked_cells(self.probabilities, space)
        cells.flags.writeable = False
        object.__setattr__(self, "probabilities", cells)
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "states", tuple(axis.states for axis in space))
        object.__setattr__(self, "ordered", ordered)
        self.__dict__["space"] = space
        if self.sample_size is not None and not 0 < self.sample_size < math.inf:
            raise InputError(
                f"The sample behind a table has a positive weight, got {self.sample_size!r}."
            )

    # Other ways to make one

    @classmethod
    def from_counts(
        cls,
        counts: ArrayLike,
        names: Sequence[str],
        states: Sequence[Sequence[Level]],
        ordered: Names = (),
    ) -> JointTable:
        """The shares of counted rows (weights allowed); their total becomes `sample_size`.

        Examples
        --------
        >>> JointTable.from_counts([3, 1], ["coin"], [["head", "tail"]]).probabilities.tolist()
        [0.75, 0.25]
        """
        weights = np.asarray(counts, float)
        total = float(weights.sum())
        if not (np.all(weights >= 0) and 0 < total < math.inf):
            raise InputError(
                "Counts are finite, at least 0 and not all 0; their smallest is "
                f"{weights.min(initial=math.inf):g} and their sum {total:g}."
            )
        table = tuple(tuple(axis) for axis in states)
        return cls(weights / total, tuple(names), table, names_of(ordered), total)

    @classmethod
    def from_function(
        cls, function: Callable[..., float], variables: Mapping[str, Sequence[Level]]
    ) -> JointTable:
        """A probability for every joint state, from a function of the variables by name.

        Examples
        --------
        >>> JointTable.from_function(lambda die: 1 / 6, {"die": range(1, 7)}).probabilities.shape
        (6,)
        """
        space = StateSpace(StateAxis(name, tuple(axis)) for name, axis in variables.items())
        cells = np.empty(space.shape)
        for cell in np.ndindex(*space.shape):
            state = {axis.name: axis.states[i] for axis, i in zip(space, cell, strict=True)}
            cells[cell] = function(**state)
        return cls(cells, space.names, tuple(axis.states for axis in space))

    @classmethod
    def from_dict(
        cls, probabilities: Mapping[Any, float], names: Names, ordered: Names = ()
    ) -> JointTable:
        """From joint states (tuples; plain states for one variable); what is left out has 0.

        Examples
        --------
        >>> JointTable.from_dict({("hot", True): 0.25, ("cold", False): 0.75}, ["day", "ice"])
        day   ice    probability
        hot   True          0.25
        hot   False            0
        cold  True             0
        cold  False         0.75
        """
        wanted = names_of(names)
        keys = [key if isinstance(key, tuple) else (key,) for key in probabilities]
        for key in keys:
            if len(key) != len(wanted):
                raise InputError(
                    f"The joint state {key!r} has {len(key)} parts for {len(wanted)} variables."
                )
        listed = [
            tuple({level_key(state): state for state in column}.values())
            for column in zip(*keys, strict=True)
        ]
        if not keys:
            raise InputError("A table needs at least one joint state, got an empty mapping.")
        space = StateSpace(StateAxis(name, axis) for name, axis in zip(wanted, listed, strict=True))
        cells = np.zeros(space.shape)
        for key, share in zip(keys, probabilities.values(), strict=True):
            cells[tuple(a.position(s) for a, s in zip(space, key, strict=True))] = share
        return cls(cells, wanted, tuple(listed), names_of(ordered))

    @classmethod
    def from_frame(
        cls, frame: Any, columns: Names | None = None, sample_weight: ArrayLike | None = None
    ) -> JointTable:
        """The shares of the rows of a data frame, or of a mapping of names to columns.

        Levels come in the schema's order; ordered categoricals are ordered here too. Rows with a
        missing cell cannot be placed and are refused: drop them or give missing a level.
        """
        from novum.distributions.joint_table_counts import counted_columns

        return cls.from_counts(*counted_columns(frame, columns, sample_weight))

    # Marginals and conditionals

    def marginal(self, *names: str) -> JointTable:
        """The distribution of the named variables, in that order: all others are summed out."""
        places = self.space.places(names)
        others = tuple(place for place in range(len(self.names)) if place not in places)
        kept = sorted(places)
        cells = self.probabilities.sum(axis=others).transpose([kept.index(p) for p in places])
        return table_over([self.space[place] for place in places], cells, self.sample_size)

    def condition(self, event: Event) -> JointTable:
        """The distribution given an event.

        A mapping of names to states takes those variables out of the table; a proposition keeps
        all variables and leaves probability zero where it does not hold.
        """
        if isinstance(event, Proposition):
            held = np.where(event.holds(self.space), self.probabilities, 0.0)
            return self._shared(list(self.space), held, event)
        if not isinstance(event, Mapping):
            proposition_of(event)  # raises, and says what an event is
        places = self.space.places(tuple(event))
        cell: list[Any] = [slice(None)] * len(self.names)
        for place, state in zip(places, event.values(), strict=True):
            cell[place] = self.space[place].position(state)
        rest = [axis for place, axis in enumerate(self.space) if place not in places]
        return self._shared(rest, self.probabilities[tuple(cell)], event)

    def conditional(self, *names: str, given: Names) -> ConditionalTable:
        """`P(names | given)`, one distribution for every state of the given variables."""
        from novum.distributions.conditional_table import ConditionalTable

        known = names_of(given)
        joint = self.marginal(*known, *names)
        # marginal() has checked that no name occurs twice.
        return ConditionalTable.from_joint(joint, len(known))

    def __mul__(self, other: JointTable) -> JointTable:
        """The joint distribution of two independent sets of variables."""
        if not isinstance(other, JointTable):
            return NotImplemented
        shape = (*self.shape, *other.shape)
        check_cells(shape)
        cells = np.multiply.outer(self.probabilities, other.probabilities)
        return table_over([*self.space, *other.space], cells, None)

    # Probabilities

    def probability(self, event: Event, given: Event | None = None) -> float:
        """`P(event)` or `P(event | given)`, by summing the joint states where it is true.

        Parameters
        ----------
        event, given : proposition, or mapping of names to states
        """
        wanted = proposition_of(event)
        if given is None:
            return self._mass(wanted)
        known = proposition_of(given)
        evidence = self._mass(known)
        if evidence == 0:
            raise ImpossibleEvidence(_impossible(known))
        return min(1.0, self._mass(wanted & known) / evidence)

    @property
    def mode(self) -> dict[str, Level]:
        """A most probable joint state; of several the first in the order of the table."""
        cell = np.unravel_index(int(np.argmax(self.probabilities)), self.shape)
        return {a.name: a.states[int(i)] for a, i in zip(self.space, cell, strict=True)}

    def _mass(self, event: Proposition) -> float:
        """Only the variables of the event are kept before its states are looked at."""
        part = self.marginal(*event.names)
        held = np.broadcast_to(event.holds(part.space), part.shape)
        # A sum over everything is one, whatever the rounding of the cells says.
        return 1.0 if held.all() else min(1.0, float(part.probabilities[held].sum()))

    # Moments

    def expectation(self, of: str | Callable[..., float], *names: str) -> float:
        """Mean of a variable with numeric states, or of a function of the named variables.

        Examples
        --------
        >>> die = JointTable(np.full(6, 1 / 6), ["die"], [range(1, 7)])
        >>> round(die.expectation("die"), 12), round(die.expectation(lambda d: d**2, "die"), 12)
        (3.5, 15.166666666667)
        """
        if isinstance(of, str):
            return float(self.marginal(of).probabilities @ self.space.axis(of).numbers)
        part = self.marginal(*names)
        values = np.empty(part.shape)
        for cell in np.ndindex(*part.shape):
            values[cell] = of(*(a.states[i] for a, i in zip(part.space, cell, strict=True)))
        # A state of probability zero counts for nothing, also where the function is infinite.
        positive = part.probabilities > 0
        return float(part.probabilities[positive] @ values[positive])

    def variance(self, name: str) -> float:
        """`E[(x - E x)^2]` of a variable with numeric states."""
        centered = self.space.axis(name).numbers - self.expectation(name)
        return float(self.marginal(name).probabilities @ centered**2)

    def covariance(self, a: str, b: str) -> float:
        """`E[(a - E a)(b - E b)]` of two variables with numeric states."""
        if a == b:
            return self.variance(a)
        left = self.space.axis(a).numbers - self.expectation(a)
        right = self.space.axis(b).numbers - self.expectation(b)
        return float(left @ self.marginal(a, b).probabilities @ right)

    def correlation(self, a: str, b: str) -> float:
        """Covariance over the product of standard deviations, between -1 and 1."""
        spreads = [math.sqrt(self.variance(name)) for name in (a, b)]
        for name, spread in zip((a, b), spreads, strict=True):
            if spread == 0:
                raise InputError(f"Variable {name!r} is constant, so it has no correlation.")
        return max(-1.0, min(1.0, self.covariance(a, b) / spreads[0] / spreads[1]))

    # Sampling

    def sample(self, size: int, random_state: RandomSource = None) -> Any:
        """Independent joint states, as an Arrow table with one column for each variable."""
        import pyarrow as pa

        draws = stream(random_state, "joint table").random(size)
        edges = np.cumsum(self.probabilities.ravel())
        edges /= edges[-1]
        cells = np.unravel_index(np.searchsorted(edges, draws, side="right"), self.shape)
        columns: dict[str, Any] = {}
        for axis, codes in zip(self.space, cells, strict=True):
            _check_one_type(axis)
            columns[axis.name] = pa.array(axis.states).take(pa.array(codes))
        return pa.table(columns)

    # Comparison and text

    @cached_property
    def space(self) -> StateSpace:
        """The variables with their states, in the order of the axes."""
        return StateSpace(
            StateAxis(name, states, name in self.ordered)
            for name, states in zip(self.names, self.states, strict=True)
        )

    @property
    def shape(self) -> tuple[int, ...]:
        return self.probabilities.shape

    def isclose(self, other: JointTable, tolerance: float = 1e-9) -> bool:
        """Whether both give every joint state the same probability; orders do not matter."""
        if set(self.names) != set(other.names):
            return False
        turned = other.marginal(*self.names)
        for mine, theirs in zip(self.space, turned.space, strict=True):
            if set(mine.positions) != set(theirs.positions):
                return False
            order = [theirs.position(state) for state in mine.states]
            place = self.space.place(mine.name)
            turned = table_over(
                [*turned.space[:place], mine, *turned.space[place + 1 :]],
                np.take(turned.probabilities, order, axis=place),
                None,
            )
        return bool(np.all(np.abs(self.probabilities - turned.probabilities) <= tolerance))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, JointTable):
            return NotImplemented
        return self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    @cached_property
    def _identity(self) -> tuple[Any, ...]:
        states = tuple(tuple(map(level_key, axis)) for axis in self.states)
        cells = (self.probabilities + 0.0).tobytes()
        return self.names, states, frozenset(self.ordered), self.sample_size, cells

    def __repr__(self) -> str:
        from novum.distributions.joint_table_states import as_text

        return as_text(self.space, self.probabilities)

    def _repr_html_(self) -> str:
        from novum.distributions.joint_table_states import as_html

        return as_html(self.space, self.probabilities)

    # Making of results

    def _shared(self, axes: list[StateAxis], cells: Floats, event: Event) -> JointTable:
        """Cells divided by their sum, which is the probability of the evidence."""
        total = float(cells.sum())
        if total == 0:
            raise ImpossibleEvidence(_impossible(proposition_of(event)))
        left = None if self.sample_size is None else total * self.sample_size
        return table_over(axes, cells / total, left)


def table_over(
    axes: Sequence[StateAxis], cells: ArrayLike, sample_size: float | None = None
) -> JointTable:
    """A table whose parts are known to be right: nothing is checked, so that queries are quick."""
    array = np.array(cells, dtype=np.float64, order="C")
    array.flags.writeable = False
    table = object.__new__(JointTable)
    table.__dict__.update(
        probabilities=array,
        names=tuple(axis.name for axis in axes),
        states=tuple(axis.states for axis in axes),
        ordered=tuple(axis.name for axis in axes if axis.ordered),
        sample_size=sample_size,
        space=StateSpace(axes),
    )
    return table


# --- Checks ---------------------------------------------------------------------------------------


def _checked_cells(probabilities: ArrayLike, space: StateSpace) -> Floats:
    cells = np.array(probabilities, dtype=np.float64, order="C")
    if cells.shape != space.shape:
        raise InputError(
            f"A table over {', '.join(map(repr, space.names)) or 'no variables'} has shape "
            f"{space.shape}, one cell for each joint state; got {cells.shape}."
        )
    low = float(cells.min())
    if not low >= 0:
        worst = int(np.argmin(np.where(np.isnan(cells), -np.inf, cells)))
        cell = np.unravel_index(worst, cells.shape)
        at = ", ".join(
            f"{a.name} = {shown(a.states[int(i)])}" for a, i in zip(space, cell, strict=True)
        )
        raise InputError(f"Probabilities are at least 0; at {at} there is {cells[cell]}.")
    return normalized(cells, "The probabilities of a joint table")


def normalized(cells: Floats, what: str) -> Floats:
    """Cells that sum to one; what is further off than rounding is said or refused."""
    total = float(cells.sum())
    off = abs(total - 1.0)
    if not off <= TOLERATED:
        raise InputError(
            f"{what} sum to {total:g}, not to 1. Divide them by their sum, or pass counts to "
            "`from_counts`."
        )
    if off > QUIET:
        warnings.warn(f"{what} summed to {total!r} and were normalized.", stacklevel=4)
    return cells if off <= EXACT else cells / total


def _impossible(event: Proposition) -> str:
    return (
        f"The evidence {event!r} has probability 0, so nothing can be said given it. Check its "
        "states, or smooth the table with pseudo-counts."
    )


def _check_one_type(axis: StateAxis) -> None:
    kinds = {"number" if type(s) in (int, float) else type(s).__name__ for s in axis.states}
    if len(kinds) > 1:
        raise InputError(
            f"The states of {axis.name!r} mix {' and '.join(sorted(kinds))}, which one column "
            "cannot hold. Rename the states."
        )
