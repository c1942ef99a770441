"""What a network is made of, by names: nodes, parents, children, parts and counts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Self

from novum.core.errors import InputError, MemoryLimitError
from novum.core.text import listed
from novum.distributions.joint_table_states import StateAxis
from novum.graphical.models.arrays import ModelArrays
from novum.graphical.models.conditional import Conditional
from novum.graphical.models.network_arrays import arrays_of
from novum.graphical.models.network_questions import NetworkQuestions
from novum.graphical.models.questions import place_of
from novum.numerics.shared_state import cached_property

if TYPE_CHECKING:
    from novum.core.svg_text import SvgText
    from novum.graphical.structure.dag import Dag

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
        found: dict[str, list[str]] = {}
        for parent, child in self.edges:
            found.setdefault(parent, []).append(child)
        return {name: tuple(children) for name, children in found.items()}

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
        import html

        caption = f"<p>{html.escape(repr(self))}</p>"
        if not 0 < len(self) <= _DRAWN_NODES:
            return f'<div class="novum-network">{caption}</div>'
        try:
            quick = self.forecast().seconds <= _DRAWING_SECONDS
            picture = self.draw(max_bars=_DRAWN_NODES if quick else 0)
        except MemoryLimitError:
            picture = self.draw(max_bars=0)
        return f'<div class="novum-network">{picture}{caption}</div>'
