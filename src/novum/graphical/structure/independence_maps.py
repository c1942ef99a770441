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

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from novum.core.errors import InputError
from novum.core.text import label_text
from novum.distributions.independence import check_independence, independence_test
from novum.distributions.joint_table import JointTable
from novum.graphical.structure.dag import Dag
from novum.graphical.structure.equivalence import PartialDag, completed
from novum.graphical.structure.separation import Statement, connected, local_independences

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
    from novum.graphical.structure.model_oracle import ModelOracle

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
                found = ask((nodes[a],), (nodes[b],), tuple(nodes[n] for n in given))
                holds[a, b, given] = found
                if found:
                    separators.setdefault((a, b), set(given))
    return holds, separators


def _immoralities(
    nodes: tuple[str, ...],
    edges: set[tuple[int, int]],
    separators: dict[tuple[int, int], set[int]],
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
    for (a, b, given), found in holds.items():
        stated = b not in connected(member, {a}, set(given))
        if stated == found:
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
