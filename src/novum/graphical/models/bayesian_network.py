"""Bayesian network: a joint distribution as a graph of conditional ones.

    P(x_1, ..., x_n) = product over i of P(x_i | parents of x_i)

The graph has no cycles, so the product sums to one whatever the tables are, and each variable is
independent of its non-descendants given its parents. Questions are answered by engines
(`novum.graphical.inference`); the default one is exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from novum.core.errors import InputError
from novum.core.tables import Level
from novum.core.text import label_text
from novum.distributions import StateAxis
from novum.graphical.models.compact import Deterministic
from novum.graphical.models.conditional import Conditional
from novum.graphical.models.network_building import (
    bound,
    checked_conditionals,
    checked_order,
    conditional_of,
    conditionals_of,
    node_of,
    warn_of_zeros,
)
from novum.graphical.models.network_structure import NetworkStructure
from novum.graphical.models.questions import Likelihoods, States, check_mapping, place_of, state_of
from novum.graphical.models.states import names_in_order

if TYPE_CHECKING:
    from novum.core.svg_text import SvgText
    from novum.graphical.inference.protocol import Engine, ExactEngine
    from novum.graphical.models.answers import Posterior
    from novum.graphical.models.model_record import ModelRecord


class BayesianNetwork(NetworkStructure):
    """Discrete variables with named states, their graph and their conditional tables.

    A network is a value: adding a node or changing a table gives another network.

    Parameters
    ----------
    conditionals : iterable of Conditional
        In any order; parents are matched by name. Most networks are built by `add`, `from_dict`,
        `from_text` or `read` instead.

    Examples
    --------
    >>> network = (
    ...     BayesianNetwork()
    ...     .add("Burglary", table=[0.001, 0.999])
    ...     .add("Earthquake", table=[0.002, 0.998])
    ...     .add("Alarm", parents=["Burglary", "Earthquake"],
    ...          table=[[[0.95, 0.05], [0.94, 0.06]], [[0.29, 0.71], [0.001, 0.999]]])
    ...     .add("JohnCalls", parents=["Alarm"], table=[[0.9, 0.1], [0.05, 0.95]])
    ...     .add("MaryCalls", parents=["Alarm"], table=[[0.7, 0.3], [0.01, 0.99]])
    ... )
    >>> network.query("Burglary", given={"JohnCalls": "true", "MaryCalls": "true"})
    Burglary  probability
    true         0.284172
    false        0.715828
    >>> network.n_parameters, network.n_joint_parameters
    (10, 31)
    """

    conditionals: tuple[Conditional, ...]
    _saved_fields = ("record",)

    def __init__(self, conditionals: Iterable[Conditional] = ()) -> None:
        self.__dict__["conditionals"] = checked_order(checked_conditionals(conditionals))

    # Building

    def add(
        self,
        name: str,
        parents: str | Sequence[str] = (),
        table: Any = None,
        states: Sequence[Level] | None = None,
        *,
        ordered: bool = False,
    ) -> Self:
        """The network with one more node.

        Parameters
        ----------
        name : str
        parents : name, or names, of nodes that are there already
        table : array, nested dict, callable or `noisy_or(...)`
            Probabilities with the parents' states as first axes and the node's own as the last; a
            callable makes a node that is a function of its parents' states.
        states : sequence of text, numbers or truth values, optional
            By default those that a dict names, and else "true" and "false", where the table has
            two columns or is a function.
        ordered : bool
            Whether the states are listed in a meaningful order.
        """
        if name in self:
            raise InputError(
                f"The network has a node {label_text(name)} already. Use replace to change it."
            )
        axes = self._axes_of(name, parents)
        conditional = conditional_of(name, axes, table, states, ordered)
        warn_of_zeros([conditional])
        return self._with((*self.conditionals, conditional))

    def replace(self, name: str, table: Any, parents: str | Sequence[str] | None = None) -> Self:
        """The network with another table of a node, and other parents where they are named."""
        place = place_of(self, name)
        old = self.conditionals[place]
        axes = old.parents
        if parents is not None:
            axes = self._axes_of(name, parents)
        new = bound(old.variable, axes, table)
        warn_of_zeros([new])
        changed = [*self.conditionals]
        changed[place] = new
        return self._with(checked_order(tuple(changed)))

    def _axes_of(self, name: str, parents: str | Sequence[str]) -> tuple[StateAxis, ...]:
        named = names_in_order(parents, f"The parents of {label_text(name)}")
        return tuple(self.variables[place_of(self, parent)] for parent in named)

    def remove(self, *names: str) -> Self:
        """The network without some nodes that have no children left."""
        gone = {place_of(self, name) for name in names}
        for place, item in enumerate(self.conditionals):
            lost = [p.name for p in item.parents if self.places[p.name] in gone]
            if lost and place not in gone:
                raise InputError(
                    f"Node {label_text(lost[0])} has the child {label_text(item.name)}, whose "
                    "table depends on it. Remove or replace the child first."
                )
        return self._with(tuple(c for i, c in enumerate(self.conditionals) if i not in gone))

    def rename(self, names: Mapping[str, str]) -> Self:
        """The network with other names of nodes."""
        check_mapping(names, "names")
        for old in names:
            place_of(self, old)
        axes = {
            axis.name: StateAxis(names.get(axis.name, axis.name), axis.states, axis.ordered)
            for axis in self.variables
        }
        renamed = (
            item.renamed(axes[item.name], tuple(axes[p.name] for p in item.parents))
            for item in self.conditionals
        )
        return self._with(checked_order(checked_conditionals(renamed)))

    def do(self, states: States) -> Self:
        """The network after setting nodes from outside: they lose their parents."""
        check_mapping(states, "states")
        changed = [*self.conditionals]
        for name, state in states.items():
            place = place_of(self, name)
            axis = self.variables[place]
            chosen = axis.states[state_of(axis, state)]
            changed[place] = Deterministic(axis, (), lambda s=chosen: s)
        return self._with(tuple(changed))

    @classmethod
    def from_dict(cls, nodes: Mapping[str, Mapping[str, Any]]) -> Self:
        """A network from `{name: {"states": ..., "parents": ..., "table": ...}}`, in any order.

        In place of a table a node may have `"noisy_or": {"strengths": ..., "leak": ...}` or
        `"function": states in nested lists`.

        Examples
        --------
        >>> BayesianNetwork.from_dict({
        ...     "wet": {"parents": ["rain"], "table": {"yes": {"true": 0.9}, "no": {"true": 0.2}},
        ...             "states": ["true", "false"]},
        ...     "rain": {"states": ["yes", "no"], "table": {"yes": 0.3, "no": 0.7}},
        ... }).names
        ('wet', 'rain')
        """
        if not isinstance(nodes, Mapping):
            raise InputError(
                "A network is a mapping from names to nodes, such as {'rain': {'table': [0.2, "
                f"0.8]}}}}; got {label_text(nodes)}."
            )
        made = conditionals_of(nodes)
        network = cls(made)
        warn_of_zeros(made)
        return network

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """Nested dicts of plain values, as `from_dict` reads them; compact nodes stay compact."""
        return {item.name: node_of(item) for item in self.conditionals}

    @classmethod
    def from_text(cls, text: str) -> Self:
        """A network from its compact text; `to_text` shows the form."""
        from novum.graphical.models.network_text import parsed

        return cls.from_dict(parsed(text))

    def to_text(self) -> str:
        """The network as text that people can read and edit."""
        from novum.graphical.models.network_text import written

        return written(self)

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """A network from a file: `.network`, `.bif`, `.xmlbif`, `.uai`, `.net`, each also `.gz`."""
        from novum.graphical.formats.files import naming_file, read_network

        with naming_file(path):
            return cls(read_network(path))

    def write(self, path: str | Path) -> None:
        """The network as a file, in the format of its suffix."""
        from novum.graphical.formats.files import write_network

        write_network(self, path)

    def families(
        self,
        *nodes: str,
        given: States | None = None,
        likelihood: Likelihoods | None = None,
        do: States | None = None,
        engine: ExactEngine | None = None,
    ) -> dict[str, Posterior]:
        """The joint distribution of each node and its parents given what is known.

        Parameters
        ----------
        *nodes : str
            All nodes where none is named.
        given, likelihood, do, engine
            As in `query`.

        Returns
        -------
        dict from nodes to tables over (parents in their order, the node)

        Examples
        --------
        >>> network = BayesianNetwork().add("rain", table=[0.2, 0.8])
        >>> network = network.add("wet", parents=["rain"], table=[[0.9, 0.1], [0.1, 0.9]])
        >>> network.families("wet", given={"wet": "true"})["wet"].values.round(4).tolist()
        [[0.6923, 0.0], [0.3077, 0.0]]
        """
        from novum.graphical.models.families import families

        return families(self, nodes, given, likelihood, do, engine)

    def draw(
        self,
        given: States | None = None,
        *,
        nodes: str | Sequence[str] | None = None,
        engine: Engine | None = None,
        max_bars: int = 100,
        max_states: int = 8,
    ) -> SvgText:
        """The network as an SVG picture with the posterior of every node.

        Parameters
        ----------
        given : mapping from nodes to states, optional
        nodes : names, optional
            Only these nodes and the edges between them; all nodes by default.
        engine : Engine, optional
        max_bars, max_states : int
            Networks of more nodes are drawn with names only; boxes show so many states.
        """
        from novum.graphical.drawing.drawing import draw

        return draw(
            self, given, nodes=nodes, engine=engine, max_bars=max_bars, max_states=max_states
        )

    @property
    def record(self) -> ModelRecord:
        """The network as flat arrays, as model files hold it."""
        from novum.graphical.models.model_record import record_of_network

        return record_of_network(self)

    @classmethod
    def _from_saved(cls, record: ModelRecord) -> Self:
        from novum.graphical.models.model_record import network_conditionals

        return cls(network_conditionals(record))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BayesianNetwork) and self.conditionals == other.conditionals

    def __hash__(self) -> int:
        return hash(self.conditionals)
