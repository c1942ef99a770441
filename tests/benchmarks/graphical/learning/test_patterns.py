"""Patterns of equivalence: textbook cases, and enumeration of all equivalent DAGs."""

from itertools import combinations, product

import pytest

from benchmarks.graphical.learning.patterns import Edge, pattern


def colliders(edges: tuple[Edge, ...]) -> set[tuple[frozenset[str], str]]:
    adjacent = {frozenset(edge) for edge in edges}
    return {
        (frozenset((a, b)), c)
        for (a, c), (b, d) in combinations(edges, 2)
        if c == d and frozenset((a, b)) not in adjacent
    }


def acyclic(edges: tuple[Edge, ...]) -> bool:
    left = set(edges)
    while left:
        sources = {a for a, _ in left} - {b for _, b in left}
        if not sources:
            return False
        left = {edge for edge in left if edge[0] not in sources}
    return True


def by_enumeration(edges: tuple[Edge, ...]) -> dict[frozenset[str], str]:
    """An arrow is fixed when all DAGs of the same skeleton and colliders have it (Verma, Pearl)."""
    turned = product(*[((a, b), (b, a)) for a, b in edges])
    same = [dag for dag in turned if acyclic(dag) and colliders(dag) == colliders(edges)]
    heads = [{dag[i][1] for dag in same} for i in range(len(edges))]
    pairs = zip(edges, heads, strict=True)
    return {frozenset(e): next(iter(h)) if len(h) == 1 else "-" for e, h in pairs}


@pytest.mark.parametrize("kept", range(2**6))
def test_every_dag_of_four_nodes_equals_its_definition(kept: int) -> None:
    possible = list(combinations("abcd", 2))
    edges = tuple(edge for i, edge in enumerate(possible) if kept >> i & 1)
    assert pattern(edges) == by_enumeration(edges)


def test_a_pattern_given_as_such_is_kept() -> None:
    found = pattern([("a", "b")], [("b", "c")])
    assert found == {frozenset("ab"): "b", frozenset("bc"): "-"}
