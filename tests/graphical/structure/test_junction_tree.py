"""Clique trees: every property that messages rely on."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from novum.graphical.structure.triangulation import (
    CliqueTree,
    best_order,
    clique_tree,
    interaction_graph,
)


def tree_of(seed: int, last: tuple[int, ...] = ()) -> tuple[CliqueTree, list[tuple[int, ...]]]:
    rng = np.random.default_rng(seed)
    n = 9
    scopes = [tuple(rng.permutation(n)[: rng.integers(1, 4)].tolist()) for _ in range(8)]
    joined = [*scopes, last] if last else scopes
    near = interaction_graph(joined, n)
    order = best_order(near, [2] * n, range(n), last)
    return clique_tree(order, last), scopes


@given(st.integers(0, 5000))
def test_cliques_hold_every_factor_and_hang_together(seed: int) -> None:
    tree, scopes = tree_of(seed)
    cliques = [set(scope) for scope in tree.scopes]
    for scope in scopes:
        assert set(scope) <= cliques[tree.home(scope)]
    # Every variable is eliminated once.
    assert sorted(v for residual in tree.residuals for v in residual) == list(range(9))
    for clique, parent in enumerate(tree.parents):
        assert parent == -1 or parent > clique
        separator = set(tree.separators[clique])
        assert separator == (cliques[clique] & cliques[parent] if parent >= 0 else set())
        assert bool(separator) == (parent >= 0)
        assert cliques[clique] == separator | set(tree.residuals[clique])
    # Running intersection: the cliques of a variable are one connected part.
    for variable in range(9):
        holding = [c for c in range(len(cliques)) if variable in cliques[c]]
        links = [c for c in holding if tree.parents[c] in holding]
        assert len(links) == len(holding) - 1
    # Maximal: none is part of another.
    assert not any(a < b for a in cliques for b in cliques)


@given(st.integers(0, 5000))
def test_axes_follow_one_common_order(seed: int) -> None:
    tree, _ = tree_of(seed)
    for scope in tree.scopes:
        ranks = [tree.rank[v] for v in scope]
        assert ranks == sorted(ranks)


@given(st.integers(0, 5000), st.permutations(range(9)), st.integers(1, 4))
def test_last_variables_are_the_residual_of_one_root(
    seed: int, order: list[int], size: int
) -> None:
    last = tuple(order[:size])
    tree, scopes = tree_of(seed, last)
    root = tree.homes[last[0]]
    assert tree.parents[root] == -1
    assert set(tree.residuals[root]) == set(last)
    assert {tree.homes[v] for v in last} == {root}
    for scope in scopes:
        assert set(scope) <= set(tree.scopes[tree.home(scope)])


def test_a_chain_and_no_variables_at_all() -> None:
    near = interaction_graph([(0, 1), (1, 2)], 3)
    tree = clique_tree(best_order(near, [2, 2, 2], range(3)))
    assert (tree.scopes, tree.parents) == ([(1, 0), (2, 1)], (1, -1))
    empty = clique_tree(best_order([], [], []))
    assert (empty.scopes, empty.parents) == ([], ())
