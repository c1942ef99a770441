"""Two graphs side by side: which edges differ, and whether that can be seen in any table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from novum.core.errors import InputError
from novum.core.text import label_text, listed
from novum.graphical.models.bayesian_network import BayesianNetwork
from novum.graphical.structure.dag import Dag
from novum.graphical.structure.equivalence import PartialDag


@dataclass(frozen=True)
class GraphComparison:
    """How a graph differs from a reference.

    Attributes
    ----------
    absent : tuple of pairs
        Edges of the reference that the graph lacks.
    extra : tuple of pairs
        Edges that only the graph has.
    turned : tuple of pairs
        Edges of the reference that the graph has the other way round.
    class_distance : int
        Pairs that are joined differently in the classes of both: not at all, one way, the other
        way, or without direction.
    """

    absent: tuple[tuple[str, str], ...]
    extra: tuple[tuple[str, str], ...]
    turned: tuple[tuple[str, str], ...]
    class_distance: int

    @property
    def distance(self) -> int:
        """Structural Hamming distance: edges to add, remove or turn."""
        return len(self.absent) + len(self.extra) + len(self.turned)

    @property
    def are_equivalent(self) -> bool:
        """Whether both state the same independences, so that no table can tell them apart."""
        return self.class_distance == 0

    def __repr__(self) -> str:
        count = "1 edge differs" if self.distance == 1 else f"{self.distance} edges differ"
        seen = f"the classes of equivalent graphs in {self.class_distance}"
        lines = [f"{count}, {seen}"]
        if self.are_equivalent:
            lines = [f"{count}, and no table can tell the graphs apart"]
        for what, edges in (
            ("absent", self.absent),
            ("extra", self.extra),
            ("turned", self.turned),
        ):
            if edges:
                lines.append(f"  {what}: " + ", ".join(f"{a} -> {b}" for a, b in edges))
        return "\n".join(lines)


def compare(graph: Dag | BayesianNetwork, reference: Dag | BayesianNetwork) -> GraphComparison:
    """The edges in which a graph differs from a reference.

    Examples
    --------
    >>> one = Dag.from_edges([("a", "b"), ("b", "c")])
    >>> compare(one, Dag.from_edges([("b", "a"), ("b", "c")]))
    1 edge differs, and no table can tell the graphs apart
      turned: b -> a
    >>> compare(one, Dag(("a", "b", "c"), ((), (), (0, 1)))).distance
    2
    """
    one, other = _graph(graph), _graph(reference)
    if set(one.names) != set(other.names):
        differing = sorted(set(one.names) ^ set(other.names))
        raise InputError(
            f"The graphs have different nodes: {listed(differing)} are in one only. Compare graphs "
            "of the same variables."
        )
    own, theirs = set(one.edges), set(other.edges)
    turned = [(a, b) for a, b in other.edges if (b, a) in own]
    return GraphComparison(
        tuple((a, b) for a, b in other.edges if (a, b) not in own and (b, a) not in own),
        tuple((a, b) for a, b in one.edges if (a, b) not in theirs and (b, a) not in theirs),
        tuple(turned),
        pattern_distance(one.pattern(), other.pattern()),
    )


def pattern_distance(one: PartialDag, other: PartialDag) -> int:
    """Pairs that two partly directed graphs join differently."""
    joined = [
        {frozenset(edge): edge[1] for edge in graph.directed} | dict.fromkeys(graph.undirected, "")
        for graph in (one, other)
    ]
    return sum(joined[0].get(pair) != joined[1].get(pair) for pair in joined[0].keys() | joined[1])


def _graph(given: Any) -> Dag:
    if isinstance(given, BayesianNetwork):
        return given.graph
    if isinstance(given, Dag):
        return given
    raise InputError(f"Compare two graphs or networks; got {label_text(given)}.")
