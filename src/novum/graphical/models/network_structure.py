"""What a network is made of, by names: nodes, parents, children, parts and counts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Self

from novum.core.errors import InputError, MemoryLimitError
from novum.core.text import listed
from novum.display import Markup, element
from novum.distributions import StateAxis
from novum.graphical.models.arrays import ModelArrays
from novum.graphical.models.conditional import Conditional
from novum.graphical.models.network_questions import NetworkQuestions
from novum.graphical.models.questions import place_of
from novum.numerics import cached_property

if TYPE_CHECKING:
    from novum.core.svg_text import SvgText
    from novum.graphical.structure.dag import Dag

from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from novum.graphical.models.arrays import read_only
from novum.graphical.models.compact import NoisyOr
from novum.graphical.models.conditional import Tabular
from novum.numerics import Floats, Integers

# Networks of more nodes are shown in a sentence, and so are those that take longer to draw.
_DRAWN_NODES = 40
_DRAWING_SECONDS = 2.0


class NetworkStructure(NetworkQuestions):
    """What `BayesianNetwork` inherits: the view of its conditional distributions as a graph."""

    conditionals: tuple[Conditional, ...]

    if TYPE_CHECKING:

        def draw(self, *, max_bars: int = 100) -> SvgText: ...

    @cached_property
    def variables(self) -> tuple[StateAxis, ...]:
        """The nodes with their states."""
        return tuple(item.variable for item in self.conditionals)

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(axis.name for axis in self.variables)

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """All (parent, child)."""
        return tuple((p.name, item.name) for item in self.conditionals for p in item.parents)

    @cached_property
    def graph(self) -> Dag:
        """The directed graph, for questions of independence."""
        from novum.graphical.structure.dag import Dag

        return Dag(
            self.names,
            tuple(tuple(self.places[p.name] for p in item.parents) for item in self.conditionals),
        )

    @cached_property
    def arrays(self) -> ModelArrays:
        """The network as engines see it."""
        return arrays_of(self.conditionals, self.places)

    def parents(self, name: str) -> tuple[str, ...]:
        """The parents of a node, in the order of its table."""
        return tuple(parent.name for parent in self[name].parents)

    def children(self, name: str) -> tuple[str, ...]:
        """The nodes that have a node as parent."""
        place_of(self, name)
        return self._children.get(name, ())

    @cached_property
    def _children(self) -> Mapping[str, tuple[str, ...]]:
        below: dict[str, list[str]] = {}
        for parent, child in self.edges:
            below.setdefault(parent, []).append(child)
        return {name: tuple(children) for name, children in below.items()}

    def part(self, *nodes: str) -> Self:
        """The network of some nodes and all their ancestors, in the order they have here.

        It is the marginal distribution of these nodes, because no table of theirs needs another.

        Examples
        --------
        >>> from novum.graphical.models.bayesian_network import BayesianNetwork
        >>> network = BayesianNetwork().add("rain", table=[0.2, 0.8]).add("cold", table=[0.4, 0.6])
        >>> network = network.add("wet", parents="rain", table=[[0.9, 0.1], [0.1, 0.9]])
        >>> network.part("wet").names
        ('rain', 'wet')
        """
        if not nodes:
            raise InputError("Name at least one node; its ancestors come with it.")
        kept: set[str] = set()
        waiting = [self.names[place_of(self, node)] for node in nodes]
        while waiting:
            name = waiting.pop()
            if name not in kept:
                kept.add(name)
                waiting += self.parents(name)
        return self._with(tuple(item for item in self.conditionals if item.name in kept))

    def _with(self, conditionals: tuple[Conditional, ...]) -> Self:
        """A network of conditionals in which every parent is known to be there, without cycles."""
        made = object.__new__(type(self))
        made.__dict__["conditionals"] = conditionals
        return made

    def __getitem__(self, name: str) -> Conditional:
        """The conditional distribution of a node."""
        return self.conditionals[place_of(self, name)]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self.places

    def __len__(self) -> int:
        return len(self.conditionals)

    @property
    def n_parameters(self) -> int:
        """Numbers that are free to choose in all conditional distributions."""
        return sum(item.n_parameters for item in self.conditionals)

    @property
    def n_joint_parameters(self) -> int:
        """Numbers that the full joint table would have free."""
        return math.prod(len(axis.states) for axis in self.variables) - 1

    @property
    def n_zeros(self) -> int:
        """Cells of tables that are exactly zero."""
        return sum(item.n_zeros for item in self.conditionals)

    def __repr__(self) -> str:
        return (
            f"BayesianNetwork of {len(self)} nodes and {len(self.edges)} edges: "
            f"{self.n_parameters} parameters; nodes {listed(self.names)}"
        )

    def _repr_html_(self) -> str:
        caption = element("p", repr(self))
        if not 0 < len(self) <= _DRAWN_NODES:
            return element("div", caption, class_="novum")
        try:
            quick = self.forecast().seconds <= _DRAWING_SECONDS
            picture = self.draw(max_bars=_DRAWN_NODES if quick else 0)
        except MemoryLimitError:
            picture = self.draw(max_bars=0)
        return element("div", Markup(picture), caption, class_="novum")


# --- Arrays ---------------------------------------------------------------------------------------
# A network's conditional distributions as flat arrays.
#
# A noisy or of many parents becomes a chain of small tables over auxiliary variables h_1, h_2, ...:
#
#     h_1 = leak or (x_1 with s_1),   h_k = h_{k-1} or (x_k with s_k),   the variable itself = h_m
#
# so that its size grows with the number of parents and not with two to its power. Auxiliary
# variables stand behind the others in the arrays (`ModelArrays.n_hidden`).


# Above this number of parents a chain has fewer cells than the table in every case.
CHAIN_ABOVE = 4


class NetworkArrays(ModelArrays):
    """The arrays of a network, whose order is found when it is first asked for."""

    @classmethod
    def of(
        cls, cards: list[int], scopes: list[int], ends: list[int], tables: list[Floats], shown: int
    ) -> Self:
        """From the factors of variables 0, 1, ..., each with its end in `scopes`."""
        n, size = len(cards), len(scopes)
        sizes = accumulate([table.size for table in tables])
        # One conversion from Python's integers is cheaper than four.
        integers = np.array([*cards, *scopes, 0, *ends, 0, *sizes], np.int64)
        cells = np.concatenate([table.ravel() for table in tables]) if tables else np.empty(0)
        made = object.__new__(cls)
        made.__dict__.update(
            cards=integers[:n],
            scopes=integers[n : n + size],
            scope_starts=integers[n + size : -n - 1],
            table_starts=integers[-n - 1 :],
            # A view, so that kernels find the array that they take.
            tables=read_only(cells[:]),
            heads=np.arange(n, dtype=np.int64),
            n_hidden=n - shown,
            is_directed=True,
        )
        return made

    @cached_property
    def order(self) -> Integers:
        scopes, starts = self.scopes.tolist(), self.scope_starts.tolist()
        parents = [scopes[starts[v] : starts[v + 1] - 1] for v in range(self.n_variables)]
        return np.array(_topological(parents), np.int64)


def arrays_of(conditionals: Sequence[Conditional], places: Mapping[str, int]) -> ModelArrays:
    """The model of conditional distributions, one for each variable in the order of `places`.

    Parameters
    ----------
    conditionals : sequence of Conditional
    places : mapping from names to positions in `conditionals`
    """
    # A copy, since views of mappings answer slowly.
    numbers = dict(places)
    cards = [len(item.variable.states) for item in conditionals]
    scopes: list[int] = []
    ends: list[int] = []
    tables: list[Floats] = []
    hidden = _Hidden(len(cards))
    for place, item in enumerate(conditionals):
        # Tables, which most are, are told by their exact type, without asking the abstract class.
        if type(item) is Tabular:
            for parent in item.parents:
                scopes.append(numbers[parent.name])
            tables.append(item.cells)
        else:
            parents = [numbers[parent.name] for parent in item.parents]
            if isinstance(item, NoisyOr) and len(parents) > CHAIN_ABOVE:
                parents, table = hidden.chain(parents, item)
            else:
                table = item.table
            scopes += parents
            tables.append(table)
        scopes.append(place)
        ends.append(len(scopes))
    for scope in hidden.scopes:
        scopes += scope
        ends.append(len(scopes))
    cards += [2] * len(hidden.scopes)
    return NetworkArrays.of(cards, scopes, ends, tables + hidden.tables, len(conditionals))


class _Hidden:
    """The factors of auxiliary variables, which stand behind `n_shown` others."""

    def __init__(self, n_shown: int) -> None:
        self.n_shown = n_shown
        self.scopes: list[list[int]] = []
        self.tables: list[Floats] = []

    def chain(self, parents: list[int], item: NoisyOr) -> tuple[list[int], Floats]:
        """Adds a chain but for its last table, which is the variable's own: its parents and cells.

        Auxiliary variables have their active state at 1.
        """
        before: list[int] = []
        for step, parent in enumerate(parents[:-1]):
            hidden = self.n_shown + len(self.scopes)
            self.tables.append(_link(_silent(item, step), 1))
            self.scopes.append([*before, parent, hidden])
            before = [hidden]
        last = _link(_silent(item, len(parents) - 1), item.active_state)
        return [*before, parents[-1]], last


def _link(silent: Floats, active: int) -> Floats:
    table = np.empty((*silent.shape, 2))
    table[..., active], table[..., 1 - active] = 1.0 - silent, silent
    return table


def _silent(item: NoisyOr, step: int) -> Floats:
    """The probability of still being inactive after one more parent."""
    factors = np.full(len(item.parents[step].states), 1.0 - item.strengths[step])
    factors[item.inactive_states[step]] = 1.0
    if step == 0:
        return (1.0 - item.leak) * factors
    # Once active, always active.
    return np.stack([factors, np.zeros_like(factors)])


def _topological(parents: Sequence[Sequence[int]]) -> list[int]:
    """Parents before children; among those that are ready the lowest number first come."""
    children: list[list[int]] = [[] for _ in parents]
    waiting = [len(above) for above in parents]
    for variable, above in enumerate(parents):
        for parent in above:
            children[parent].append(variable)
    order = [variable for variable, count in enumerate(waiting) if count == 0]
    for variable in order:
        for child in children[variable]:
            waiting[child] -= 1
            if waiting[child] == 0:
                order.append(child)
    return order
