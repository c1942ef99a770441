"""Graphs from independences: I-maps, minimal I-maps and perfect maps.

A graph is an *I-map* of a distribution if all it states is true there; a *minimal* one if no edge
can be taken away; a *perfect* map if everything that is true there can be read off it.

    minimal I-map   for an order of the nodes: the parents of x_i are a smallest set S of its
                    predecessors with  x_i independent of the other predecessors given S
    perfect map     the skeleton: a and b are joined iff no set separates them; then immoralities
                    a -> c <- b where c is not in the set that separates a and b; then Meek's rules

Independences come from an oracle: a joint table or a model (exactly), a sample (by a test), another
graph, or any function of (a, b, given).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

from novum.core.errors import InputError
from novum.core.text import label_text, listed
from novum.distributions import JointTable, check_independence, independence_test
from novum.graphical.models.questions import place_of
from novum.graphical.structure.dag import Dag
from novum.graphical.structure.equivalence import PartialDag, completed
from novum.graphical.structure.separation import Statement, connected, local_independences
from novum.graphical.structure.triangulation import interaction_graph
from novum.numerics import cached_property

if TYPE_CHECKING:
    from novum.graphical.models.network_questions import NetworkQuestions


Oracle = Callable[[tuple[str, ...], tuple[str, ...], tuple[str, ...]], bool]


def oracle_of(source: Any, *, level: float = 0.01) -> Oracle:
    """A function that says whether two sets are independent given a third.

    Parameters
    ----------
    source : JointTable, BayesianNetwork, FactorGraph, Dag, data frame or callable
        A known table or a model is asked exactly; a table counted from rows, and a data frame, by
        a test; a graph by d-separation; a callable is taken as it is.
    level : float
        Of the test: the chance of finding a dependence that is not there.
    """
    from novum.graphical.models.network_questions import NetworkQuestions

    if isinstance(source, Dag):
        graph = source
        return lambda a, b, given: bool(graph.d_separated(a, b, given))
    if isinstance(source, NetworkQuestions):
        return ModelOracle(source)
    if isinstance(source, JointTable) and source.sample_size is None:
        table = source
        return lambda a, b, given: bool(check_independence(table, a, b, given=given))
    if callable(source):
        asked: Oracle = source
        return asked
    return lambda a, b, given: independence_test(source, a, b, given).p_value > level


# --- I-maps ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MapVerdict:
    """Whether a graph is an I-map; true if it is.

    Attributes
    ----------
    holds : bool
    violated : Statement or None
        An independence that the graph states and the distribution does not have.
    """

    holds: bool
    violated: Statement | None = None

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        if self.holds:
            return "an I-map: every independence of the graph holds"
        return f"not an I-map: the graph states that {self.violated}, which is not so"


def is_independence_map(graph: Dag, source: Any, *, level: float = 0.01) -> MapVerdict:
    """Whether all independences of a graph hold in a distribution.

    The local ones are enough: all others follow from them.

    Examples
    --------
    >>> xor = JointTable.from_function(
    ...     lambda a, b, c: 0.25 * (c == (a != b)), dict.fromkeys("abc", (False, True))
    ... )
    >>> bool(is_independence_map(Dag.from_edges([("a", "c"), ("b", "c")]), xor))
    True
    >>> print(is_independence_map(Dag.from_edges([("a", "c")], ["a", "b", "c"]), xor))
    not an I-map: the graph states that b independent of a, c, which is not so
    """
    ask = oracle_of(source, level=level)
    for statement in local_independences(graph):
        if not ask(statement.a, statement.b, statement.given):
            return MapVerdict(False, statement)
    return MapVerdict(True)


def minimal_independence_map(order: Sequence[str], source: Any, *, level: float = 0.01) -> Dag:
    """The minimal I-map in which parents come before children in `order`.

    Parents that are not needed are dropped one after the other, so where several smallest sets
    exist one of them is found.

    Examples
    --------
    >>> graph = Dag.from_edges([("a", "c"), ("b", "c")])
    >>> minimal_independence_map(["c", "a", "b"], graph)
    Dag of 'c', 'a', 'b': c -> a, c -> b, a -> b
    """
    ask = oracle_of(source, level=level)
    names = list(order)
    parents: list[tuple[int, ...]] = []
    for place, name in enumerate(names):
        kept = list(range(place))
        for other in range(place):
            rest = [p for p in kept if p != other]
            gone = [names[p] for p in range(place) if p not in rest]
            if ask((name,), tuple(gone), tuple(names[p] for p in rest)):
                kept = rest
        parents.append(tuple(kept))
    return Dag(tuple(names), tuple(parents))


# --- Perfect maps ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class PerfectMap:
    """The search for a perfect map; true if one was found.

    Attributes
    ----------
    pattern : PartialDag or None
        The class of graphs that state exactly what holds.
    reason : str
        Why there is none: a statement that the only possible graph gets wrong.
    """

    pattern: PartialDag | None
    reason: str = ""

    def __bool__(self) -> bool:
        return self.pattern is not None

    def __str__(self) -> str:
        return f"a perfect map: {self.pattern!r}" if self else f"no perfect map: {self.reason}"


def perfect_map(names: Iterable[str], source: Any, *, level: float = 0.01) -> PerfectMap:
    """The graphs that state exactly the independences of a distribution, or why there are none.

    Every pair is asked given every set of others, so it is for few variables. Of a graph that has
    no other ancestors of these nodes, the answer is the pattern of the part that they form.

    Examples
    --------
    >>> print(perfect_map("abc", Dag.from_edges([("a", "c"), ("b", "c")])))
    a perfect map: PartialDag of 'a', 'b', 'c': a -> c, b -> c
    >>> xor = JointTable.from_function(
    ...     lambda a, b, c: 0.25 * (c == (a != b)), dict.fromkeys("abc", (False, True))
    ... )
    >>> print(perfect_map("abc", xor))
    no perfect map: the only candidate, no edges, states that a independent of b given c, \
which is not so
    """
    nodes = tuple(names)
    if isinstance(source, Dag) and set(source.ancestors(nodes)) <= set(nodes):
        # Trails through descendants of no node asked, or of what is given, are all blocked.
        edges_inside = [(a, b) for a, b in source.edges if b in nodes]
        return PerfectMap(Dag.from_edges(edges_inside, nodes).pattern())
    if len(nodes) > 12:
        raise InputError(
            f"A perfect map of {len(nodes)} variables would need {len(nodes) ** 2 // 2} pairs "
            f"given each of {2 ** (len(nodes) - 2)} sets. Choose at most 12 variables."
        )
    ask = oracle_of(source, level=level)
    holds, separators = _asked(nodes, ask)
    edges = {(a, b) for a, b in combinations(range(len(nodes)), 2) if (a, b) not in separators}
    directed = _immoralities(nodes, edges, separators)
    clash = next(((a, b) for a, b in directed if (b, a) in directed), None)
    if clash:
        a, b = (label_text(nodes[n]) for n in clash)
        return PerfectMap(None, f"the edge {a} - {b} would need both directions")
    pattern = completed(nodes, edges, directed)
    try:
        member = pattern.sample(0)
    except InputError as error:
        return PerfectMap(None, f"the directions that follow are impossible. {error}")
    return _compared(pattern, member, nodes, holds)


Asked = dict[tuple[int, int, tuple[int, ...]], bool]


def _asked(nodes: tuple[str, ...], ask: Oracle) -> tuple[Asked, dict[tuple[int, int], set[int]]]:
    """All answers about pairs, and for each separated pair a smallest set that does it."""
    holds: Asked = {}
    separators: dict[tuple[int, int], set[int]] = {}
    for a, b in combinations(range(len(nodes)), 2):
        rest = [node for node in range(len(nodes)) if node not in (a, b)]
        for size in range(len(rest) + 1):
            for given in combinations(rest, size):
                holds_here = ask((nodes[a],), (nodes[b],), tuple(nodes[n] for n in given))
                holds[a, b, given] = holds_here
                if holds_here:
                    separators.setdefault((a, b), set(given))
    return holds, separators


def _immoralities(
    nodes: tuple[str, ...], edges: set[tuple[int, int]], separators: dict[tuple[int, int], set[int]]
) -> set[tuple[int, int]]:
    near = {node: set[int]() for node in range(len(nodes))}
    for a, b in edges:
        near[a].add(b)
        near[b].add(a)
    directed = set()
    for (a, b), given in separators.items():
        for c in near[a] & near[b]:
            if c not in given:
                directed |= {(a, c), (b, c)}
    return directed


def _compared(pattern: PartialDag, member: Dag, nodes: tuple[str, ...], holds: Asked) -> PerfectMap:
    shown = repr(pattern).partition(": ")[2]
    for (a, b, given), is_independent in holds.items():
        stated = b not in connected(member, {a}, set(given))
        if stated == is_independent:
            continue
        statement = Statement((nodes[a],), (nodes[b],), tuple(nodes[n] for n in given))
        if stated:
            return PerfectMap(
                None, f"the only candidate, {shown}, states that {statement}, which is not so"
            )
        return PerfectMap(
            None, f"{statement} holds, and the only candidate, {shown}, does not state it"
        )
    return PerfectMap(pattern)


# --- Independence in a model ----------------------------------------------------------------------
# Whether sets of variables are independent in a model, asked of the model itself.
#
#     separated in the graph           independent, whatever the tables are
#     otherwise, a table small enough  the joint table of the variables in question says it exactly
#     otherwise                        one state c of what is given with P(x, y | c) differing from
#                                      P(x | c) P(y | c) proves that they are not independent
#
# Independences that only the numbers of large tables show cannot be proved that way, and are
# refused.


# Cells of a joint table that is asked for, and of one of all variables that is kept.
MOST_CELLS, MOST_KEPT = 2**20, 2**14
# States of what is given that are tried.
MOST_TRIED = 20


class ModelOracle:
    """Independences of a network or factor graph.

    Parameters
    ----------
    model : BayesianNetwork or FactorGraph

    Examples
    --------
    >>> from novum.graphical.models.bayesian_network import BayesianNetwork
    >>> network = BayesianNetwork().add("a", table=[0.2, 0.8])
    >>> network = network.add("b", ["a"], [[0.9, 0.1], [0.3, 0.7]])
    >>> network = network.add("c", ["b"], [[0.6, 0.4], [0.6, 0.4]])
    >>> ask = ModelOracle(network)
    >>> ask(("a",), ("b",), ()), ask(("a",), ("c",), ("b",)), ask(("b",), ("c",), ())
    (False, True, True)
    """

    def __init__(self, model: NetworkQuestions) -> None:
        self.model = model

    def __call__(self, a: tuple[str, ...], b: tuple[str, ...], given: tuple[str, ...]) -> bool:
        if self._is_separated(a, b, given):
            return True
        if self._joint is not None:
            return bool(check_independence(self._joint, a, b, given=given))
        if self._cells((*a, *b, *given)) <= MOST_CELLS:
            table = self.model.query(*a, *b, *given)
            return bool(check_independence(table, a, b, given=given))
        if not self._is_refuted(a, b, given):
            raise InputError(
                f"Whether {listed(a)} and {listed(b)} are independent given {len(given)} others "
                f"needs a table of {self._cells((*a, *b, *given)):.3g} cells; {MOST_CELLS} is the "
                "limit. Ask about fewer variables, or give the graph of the network, whose "
                "independences hold for all tables."
            )
        return False

    @cached_property
    def _joint(self) -> JointTable | None:
        """All variables in one table, where that is small."""
        names = self.model.names
        return self.model.query(*names) if self._cells(names) <= MOST_KEPT else None

    def _cells(self, names: tuple[str, ...]) -> float:
        return math.prod(len(self.model.variables[place].states) for place in self._places(names))

    def _places(self, names: tuple[str, ...]) -> list[int]:
        return [place_of(self.model, name) for name in names]

    def _is_separated(self, a: tuple[str, ...], b: tuple[str, ...], given: tuple[str, ...]) -> bool:
        left, right, known = (set(self._places(names)) for names in (a, b, given))
        graph = getattr(self.model, "graph", None)
        if graph is not None:
            return not connected(graph, left, known) & right
        waiting, seen = list(left), left | known
        while waiting:
            following = self._near[waiting.pop()] - seen
            waiting += following
            seen |= following
        return not seen & right

    @cached_property
    def _near(self) -> list[set[int]]:
        arrays = self.model.arrays
        scopes = [arrays.scope(factor).tolist() for factor in range(arrays.n_factors)]
        return interaction_graph(scopes, arrays.n_variables)

    def _is_refuted(self, a: tuple[str, ...], b: tuple[str, ...], given: tuple[str, ...]) -> bool:
        """Whether two of the variables depend on each other at some state of what is given."""
        if not self.model.arrays.is_directed:
            return False
        rows = self.model.sample(MOST_TRIED, 0).select(list(given)).to_pylist()
        return any(
            not check_independence(self.model.query(x, y, given=row), x, y)
            for row in rows
            for x, y in product(a, b)
        )
