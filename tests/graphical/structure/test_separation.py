"""d-separation against its definition by trails and against numerical independence."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from novum.core.errors import InputError
from novum.distributions.independence import check_independence
from novum.distributions.joint_table import JointTable
from novum.graphical.structure import separation as separation_module
from novum.graphical.structure.dag import Dag
from novum.graphical.structure.separation import _shortest, separation


@st.composite
def graphs(draw: st.DrawFn, most: int = 6) -> Dag:
    n = draw(st.integers(2, most))
    names = [f"v{i}" for i in range(n)]
    pairs = list(itertools.combinations(names, 2))
    chosen = draw(st.lists(st.booleans(), min_size=len(pairs), max_size=len(pairs)))
    edges = [pair for pair, taken in zip(pairs, chosen, strict=True) if taken]
    return Dag.from_edges(edges, draw(st.permutations(names)))


def open_by_definition(graph: Dag, path: list[str], known: set[str]) -> bool:
    """Each inner node of a path lets pass."""
    for before, node, after in zip(path, path[1:], path[2:], strict=False):
        collider = before in parents(graph, node) and after in parents(graph, node)
        if collider and not known & {node, *graph.descendants(node)}:
            return False
        if not collider and node in known:
            return False
    return True


def parents(graph: Dag, name: str) -> set[str]:
    return {graph.names[p] for p in graph.parents[graph.place(name)]}


def paths(graph: Dag, a: str, b: str) -> list[list[str]]:
    near = {n: {m for pair in graph.skeleton if n in pair for m in pair - {n}} for n in graph.names}
    found, waiting = [], [[a]]
    while waiting:
        path = waiting.pop()
        if path[-1] == b:
            found.append(path)
            continue
        waiting += [[*path, n] for n in near[path[-1]] if n not in path]
    return found


@given(graphs(5), st.data())
def test_equals_the_definition_by_trails(graph: Dag, data: st.DataObject) -> None:
    a, b = data.draw(st.sampled_from(list(itertools.combinations(graph.names, 2))))
    rest = [n for n in graph.names if n not in (a, b)]
    known = set(data.draw(st.lists(st.sampled_from(rest), unique=True))) if rest else set()
    opened = [path for path in paths(graph, a, b) if open_by_definition(graph, path, known)]
    found = separation(graph, a, b, known)
    assert bool(found) == (not opened)
    shown = {trail.nodes for trail in found.trails}
    assert shown <= set(map(tuple, opened))
    assert len(shown) == min(len(opened), 10)


@given(graphs(5), st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_implies_independence_whatever_the_tables_are(graph: Dag, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = len(graph.names)
    joint = np.ones([2] * n)
    for node, above in enumerate(graph.parents):
        table = rng.dirichlet([1, 1], [2] * len(above)).reshape([2] * (len(above) + 1))
        axes = [*above, node]
        order = np.argsort(axes)
        shape = [2 if axis in axes else 1 for axis in range(n)]
        joint = joint * table.transpose(order).reshape(shape)
    law = JointTable(joint, graph.names, [(0, 1)] * n)
    for statement in graph.independences():
        assert check_independence(law, statement.a, statement.b, given=statement.given)
    for statement in graph.local_independences():
        assert check_independence(law, statement.a, statement.b, given=statement.given)
        assert graph.d_separated(statement.a, statement.b, statement.given)


def test_explaining_away() -> None:
    graph = Dag.from_edges([("rain", "wet"), ("sprinkler", "wet"), ("wet", "slippery")])
    assert graph.d_separated("rain", "sprinkler")
    found = graph.d_separated("rain", "sprinkler", given="slippery")
    assert not found
    assert [str(trail) for trail in found.trails] == [
        "rain -> wet <- sprinkler (open: slippery below wet is)"
    ]
    assert "wet is observed" in str(graph.d_separated("rain", "sprinkler", given="wet").trails[0])


def test_bad_questions() -> None:
    graph = Dag.from_edges([("a", "b"), ("b", "c")])
    with pytest.raises(InputError, match="in two of the sets"):
        graph.d_separated("a", "b", given="b")
    with pytest.raises(InputError, match="at least one node on each side"):
        graph.d_separated((), "b")
    with pytest.raises(InputError, match="no node 'x'"):
        graph.d_separated("a", "x")


def test_many_trails_end() -> None:
    names = [f"v{i}" for i in range(14)]
    complete = Dag.from_edges(list(itertools.combinations(names, 2)))
    found = complete.d_separated("v0", "v13")
    assert not found
    assert found.trails[0].nodes == ("v0", "v13")


def test_the_shortest_trail_is_found_however_long() -> None:
    names = [f"v{i}" for i in range(10_000)]
    chain = Dag.from_edges(list(itertools.pairwise(names)))
    found = chain.d_separated(names[0], names[-1])
    assert [trail.nodes for trail in found.trails] == [tuple(names)]
    # Colliders all along, opened from below.
    n = 3000
    edges = [(f"p{i + d}", f"c{i}") for i in range(n) for d in (0, 1)]
    known = [f"s{i}" for i in range(n)]
    zigzag = Dag.from_edges([*edges, *((f"c{i}", f"s{i}") for i in range(n))])
    (trail,) = zigzag.d_separated("p0", f"p{n}", given=known).trails
    assert trail.nodes[:3] == ("p0", "c0", "p1")
    assert len(trail.nodes) == 2 * n + 1
    assert trail.openers == tuple((f"c{i}", f"s{i}") for i in range(n))
    assert zigzag.d_separated("p0", f"p{n}", given=known[1:])


@given(graphs(6), st.data())
def test_the_shortest_trail_is_one_of_all(graph: Dag, data: st.DataObject) -> None:
    a, b = data.draw(st.sampled_from(list(itertools.combinations(graph.names, 2))))
    rest = [n for n in graph.names if n not in (a, b)]
    known = set(data.draw(st.lists(st.sampled_from(rest), unique=True))) if rest else set()
    opened = [path for path in paths(graph, a, b) if open_by_definition(graph, path, known)]
    if opened:
        left, right, given = ({graph.place(n) for n in part} for part in ({a}, {b}, known))
        found = _shortest(graph, left, right, given)
        assert list(found.nodes) in opened
        assert len(found.nodes) == min(map(len, opened))


def test_too_many_questions_are_refused_before_they_are_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def asked(*_: object) -> set[int]:
        raise AssertionError("a question was asked")

    names = [f"v{i}" for i in range(30)]
    chain = Dag.from_edges(list(itertools.pairwise(names)))
    assert len(chain.independences(most_given=1)) > 0
    monkeypatch.setattr(separation_module, "connected", asked)
    with pytest.raises(InputError, match=r"406 pairs .* up to 28 others are 1\.09e\+11 questions"):
        chain.independences()
    with pytest.raises(InputError, match="most_given is a number of nodes"):
        chain.independences(most_given=-1)
    # Where all nodes are joined there is nothing to ask.
    assert Dag.from_edges(list(itertools.combinations(names, 2))).independences() == ()


def test_notebooks_show_open_trails() -> None:
    graph = Dag.from_edges([("a", "b"), ("b", "c")])
    assert ">a -&gt; b -&gt; c</th>" in graph.d_separated("a", "c")._repr_html_()
    shown = graph.d_separated("a", "c", given="b")._repr_html_()
    assert shown == "<p>d-separated: a independent of c given b</p>"
