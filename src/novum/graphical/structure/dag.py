"""Directed acyclic graph of named nodes.

What the graph of a network says without its tables: who depends on whom. Nodes are numbered in
their order inside, and named outside.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from numbers import Integral
from typing import TYPE_CHECKING

from novum.core.errors import InputError
from novum.core.text import label_text, listed, meant
from novum.display import Paragraph, Table, notebook
from novum.distributions import names_of
from novum.numerics import cached_property

if TYPE_CHECKING:
    from novum.graphical.structure.equivalence import PartialDag
    from novum.graphical.structure.separation import Separation, Statement

Names = str | Iterable[str]
# Nodes of a cycle that a message shows, and rows of a table that a notebook does.
_MOST_SHOWN = 12
_MOST_ROWS = 60


class CyclicGraphError(InputError):
    """A cycle where there must be none.

    Parameters
    ----------
    variables : sequence
        Nodes of a cycle in their order: names, or numbers where a model has no names.
    directed : bool
        Whether the edges of a network form it, or the factors of a graph that must be a tree.
    source : str
        The file that has it.

    Examples
    --------
    >>> print(CyclicGraphError(["rain", "wet"]))
    The edges form a cycle: 'rain' -> 'wet' -> 'rain'. Remove one of them.
    """

    def __init__(
        self, variables: Sequence[object], directed: bool = True, source: str = ""
    ) -> None:
        self.variables = tuple(variables)
        self.directed = directed
        self.source = source
        where = f"{source}: " if source else ""
        what = _directed(self.variables) if directed else _undirected(self.variables)
        super().__init__(where + what)

    def named(self, names: Sequence[str]) -> CyclicGraphError:
        """The same with names in place of numbers; auxiliary variables have none and are left."""
        shown = [names[v] for v in self.variables if isinstance(v, int) and v < len(names)]
        return CyclicGraphError(shown, self.directed, self.source)

    def in_file(self, source: str) -> CyclicGraphError:
        """The same with the file that has it."""
        return CyclicGraphError(self.variables, self.directed, source)

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return CyclicGraphError, (self.variables, self.directed, self.source)


def _directed(variables: Sequence[object]) -> str:
    return f"The edges form a cycle: {_around(variables, ' -> ')}. Remove one of them."


def _undirected(variables: Sequence[object]) -> str:
    numbers = any(isinstance(variable, int) for variable in variables)
    note = " (variables by number from 0)" if numbers else ""
    return (
        f"The factor graph has a cycle: {_around(variables, ' - ')}{note}; messages on trees are "
        "not exact there. Use JunctionTree(), or LoopyPropagation() for an approximation."
    )


def _around(variables: Sequence[object], arrow: str) -> str:
    """A cycle in words, from its first node back to it."""
    shown = [label_text(variable) for variable in variables[:_MOST_SHOWN]]
    if len(variables) > _MOST_SHOWN:
        shown.append(f"... ({len(variables)} nodes)")
    return arrow.join([*shown, *shown[:1]])


@dataclass(frozen=True, repr=False)
class Dag:
    """A directed graph without cycles.

    Parameters
    ----------
    names : tuple of str
    parents : tuple of tuples of int
        Of each node, by number.

    Examples
    --------
    >>> graph = Dag.from_edges([("Burglary", "Alarm"), ("Earthquake", "Alarm"), ("Alarm", "Call")])
    >>> graph.markov_blanket("Burglary")
    ('Alarm', 'Earthquake')
    >>> bool(graph.d_separated("Burglary", "Call", given="Alarm"))
    True
    """

    names: tuple[str, ...]
    parents: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        _check_names(self.names)
        _check_parents(self.names, self.parents)
        if len(self.order) < len(self.names):
            raise CyclicGraphError([self.names[i] for i in _cycle(self.parents, self.order)])

    @classmethod
    def from_edges(cls, edges: Iterable[tuple[str, str]], names: Sequence[str] = ()) -> Dag:
        """A graph from (parent, child) pairs; `names` adds nodes and fixes their order."""
        pairs = _pairs(edges)
        nodes = [*names, *chain(*pairs)]
        _check_texts(nodes)
        places = {name: i for i, name in enumerate(dict.fromkeys(nodes))}
        parents: list[list[int]] = [[] for _ in places]
        for parent, child in pairs:
            parents[places[child]].append(places[parent])
        return cls(tuple(places), tuple(tuple(above) for above in parents))

    # Neighborhoods

    @cached_property
    def places(self) -> dict[str, int]:
        """The number of each node."""
        return {name: place for place, name in enumerate(self.names)}

    def place(self, name: str) -> int:
        """The number of a node; an unknown name is an error that suggests one."""
        number = self.places.get(name)
        if number is None:
            raise InputError(f"The graph has no node {label_text(name)}: {meant(name, self.names)}")
        return number

    def numbers(self, names: Names) -> tuple[int, ...]:
        """The numbers of one node or several."""
        return tuple(self.place(name) for name in names_of(names))

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """Of each node, by number."""
        lists: list[list[int]] = [[] for _ in self.names]
        for child, parents in enumerate(self.parents):
            for parent in parents:
                lists[parent].append(child)
        return tuple(tuple(item) for item in lists)

    @cached_property
    def order(self) -> tuple[int, ...]:
        """Nodes with parents before children; fewer than all where there is a cycle."""
        waiting = [len(parents) for parents in self.parents]
        order = [node for node, count in enumerate(waiting) if count == 0]
        for node in order:
            for child in self.children[node]:
                waiting[child] -= 1
                if waiting[child] == 0:
                    order.append(child)
        return tuple(order)

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """All (parent, child)."""
        return tuple(
            (self.names[parent], self.names[child])
            for child, parents in enumerate(self.parents)
            for parent in parents
        )

    def ancestors(self, names: Names) -> tuple[str, ...]:
        """Who the nodes descend from, the nodes themselves left out."""
        start = set(self.numbers(names))
        return self._named(reached(self.parents, start) - start)

    def descendants(self, names: Names) -> tuple[str, ...]:
        """Who descends from the nodes, the nodes themselves left out."""
        start = set(self.numbers(names))
        return self._named(reached(self.children, start) - start)

    def markov_blanket(self, name: str) -> tuple[str, ...]:
        """Parents, children and the children's other parents: they screen off all others."""
        node = self.place(name)
        blanket = {*self.parents[node], *self.children[node]}
        for child in self.children[node]:
            blanket.update(self.parents[child])
        return self._named(blanket - {node})

    @cached_property
    def skeleton(self) -> frozenset[frozenset[str]]:
        """The edges without their direction."""
        return frozenset(frozenset(edge) for edge in self.edges)

    @cached_property
    def immoralities(self) -> frozenset[tuple[frozenset[str], str]]:
        """All (pair of parents that are not joined, their common child)."""
        triples = set()
        for child, parents in enumerate(self.parents):
            for i, a in enumerate(parents):
                for b in parents[:i]:
                    pair = frozenset((self.names[a], self.names[b]))
                    if pair not in self.skeleton:
                        triples.add((pair, self.names[child]))
        return frozenset(triples)

    # Independence

    def d_separated(self, a: Names, b: Names, given: Names = ()) -> Separation:
        """Whether every trail between two sets is blocked, with the open ones if not."""
        from novum.graphical.structure.separation import separation

        return separation(self, a, b, given)

    def local_independences(self) -> tuple[Statement, ...]:
        """Each node is independent of its non-descendants given its parents."""
        from novum.graphical.structure.separation import local_independences

        return local_independences(self)

    def independences(self, *, most_given: int | None = None) -> tuple[Statement, ...]:
        """All pairs that are d-separated given some set of others."""
        from novum.graphical.structure.separation import global_independences

        return global_independences(self, most_given)

    def is_equivalent(self, other: Dag) -> bool:
        """Whether two graphs state the same independences."""
        from novum.graphical.structure.equivalence import are_equivalent

        return are_equivalent(self, other)

    def pattern(self) -> PartialDag:
        """The class of equivalent graphs: edges that all share, and those that can turn."""
        from novum.graphical.structure.equivalence import pattern_of

        return pattern_of(self)

    def _named(self, nodes: Iterable[int]) -> tuple[str, ...]:
        return tuple(self.names[node] for node in sorted(nodes))

    def __repr__(self) -> str:
        shown = ", ".join(f"{a} -> {b}" for a, b in self.edges[:12])
        more = f", ... ({len(self.edges)})" if len(self.edges) > 12 else ""
        return f"Dag of {listed(self.names)}: {shown or 'no edges'}{more}"

    def _repr_html_(self) -> str:
        rows = [
            (name, ", ".join(self.names[parent] for parent in parents))
            for name, parents in zip(self.names, self.parents, strict=True)
        ]
        head = f"Dag of {len(self.names)} nodes and {len(self.edges)} edges"
        return html_table(head, ("node", "parents"), rows)


def html_table(head: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Rows of text under a sentence, as notebooks show them; many rows are cut."""
    rest = len(rows) - _MOST_ROWS
    note = f"... {rest} more rows" if rest > 0 else ""
    return notebook(Paragraph(head), Table("", columns, rows[:_MOST_ROWS], note))


Steps = Sequence[Collection[int]] | Mapping[int, Collection[int]]


def reached(steps: Steps, start: Iterable[int]) -> set[int]:
    """All nodes on the way from some, themselves among them."""
    nodes = set(start)
    waiting = list(nodes)
    while waiting:
        for node in steps[waiting.pop()]:
            if node not in nodes:
                nodes.add(node)
                waiting.append(node)
    return nodes


def _cycle(parents: Sequence[Sequence[int]], order: Sequence[int]) -> list[int]:
    """A cycle among the nodes that no order can take, along the arrows."""
    left = set(range(len(parents))) - set(order)
    # Every node left has a parent that is left, so going up must come back.
    node = min(left)
    path: dict[int, int] = {}
    while node not in path:
        path[node] = len(path)
        node = next(parent for parent in parents[node] if parent in left)
    return [node, *reversed([*path][path[node] + 1 :])]


# --- Checks ---------------------------------------------------------------------------------------


def _pairs(edges: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The different edges, each checked to be a pair."""
    if isinstance(edges, str) or not isinstance(edges, Iterable):
        raise InputError(f"edges are (parent, child) pairs in a list, got {label_text(edges)}.")
    edges_once: dict[tuple[str, str], None] = {}
    for number, edge in enumerate(edges):
        if not isinstance(edge, (tuple, list)) or len(edge) != 2:
            raise InputError(
                f"An edge is a pair (parent, child); number {number} from 0 is {label_text(edge)}."
            )
        _check_texts(edge)
        edges_once[edge[0], edge[1]] = None
    return list(edges_once)


def _check_texts(names: Iterable[object]) -> None:
    for name in names:
        if not isinstance(name, str) or not name:
            raise InputError(
                f"A node has a name that is text and not empty, got {label_text(name)}."
            )


def _check_names(names: Sequence[str]) -> None:
    _check_texts(names)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"Node {label_text(twice)} occurs twice. Names must differ.")


def _check_parents(names: Sequence[str], parents: Sequence[Sequence[int]]) -> None:
    if len(parents) != len(names):
        raise InputError(
            f"{len(names)} nodes need a tuple of parents each, got {len(parents)} of them."
        )
    for name, own in zip(names, parents, strict=True):
        wrong = [p for p in own if not isinstance(p, Integral) or not 0 <= p < len(names)]
        if wrong:
            raise InputError(
                f"Parents are numbers of nodes from 0 to {len(names) - 1}; node {label_text(name)} "
                f"has {label_text(wrong[0])}. Dag.from_edges takes names."
            )
        if len(set(own)) < len(own):
            raise InputError(f"Node {label_text(name)} has a parent twice. Name each one once.")
