"""Trees against all trees."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from novum.core.errors import InputError
from novum.graphical import Dag
from novum.graphical.learning.constraints import Constraints
from novum.graphical.learning.scores import BIC, BDeu, FamilyScores, LogLikelihood
from novum.graphical.learning.search import learn_structure
from novum.graphical.learning.trees import AroundClass, ChowLiu
from tests.graphical.learning.learning_tables import random_graph, random_network, sampled


def table_of(seed: int, d: int = 5, n: int = 80):
    rng = np.random.default_rng(seed)
    cards = tuple(int(c) for c in rng.integers(2, 4, d))
    return sampled(random_network(rng, random_graph(rng, d, 0.5), cards), n, seed)


def all_forests(d: int):
    """Every way to give each node but earlier ones at most one parent, without cycles."""
    for parents in itertools.product(range(-1, d), repeat=d):
        try:
            yield Dag(
                tuple(f"v{i}" for i in range(d)), tuple(() if p < 0 else (p,) for p in parents)
            )
        except InputError:
            continue


@pytest.mark.parametrize("criterion", [LogLikelihood(), BIC(), BDeu(2.0)], ids=str)
def test_chow_liu_is_the_best_of_all_trees(criterion: BIC) -> None:
    for seed in range(4):
        table = table_of(seed)
        scores = FamilyScores(table, criterion)
        best = max(scores.total(graph.parents) for graph in all_forests(5))
        learned = learn_structure(table, criterion, ChowLiu("v3"))
        assert learned.score == pytest.approx(best, rel=1e-12)
        assert not learned.dag.parents[3]


def test_tan_is_the_best_tree_beside_the_class() -> None:
    for seed in range(4):
        table = table_of(seed)
        scores = FamilyScores(table, BIC())
        for between, least in (("tree", 3), ("forest", 0)):
            best = -np.inf
            for tree in all_forests(4):
                if len(tree.edges) >= least:
                    parents = [(), *((0, *(p + 1 for p in own)) for own in tree.parents)]
                    best = max(best, scores.total(parents))
            learned = learn_structure(table, BIC(), AroundClass("v0", between))
            assert learned.score == pytest.approx(best, rel=1e-12)
            assert all(0 in parents for parents in learned.dag.parents[1:])


def test_naive_and_bad_input() -> None:
    table = table_of(0)
    naive = learn_structure(table, None, AroundClass("v2", "nothing")).dag
    assert set(naive.edges) == {("v2", f"v{i}") for i in (0, 1, 3, 4)}
    with pytest.raises(InputError, match="no column 'x'"):
        learn_structure(table, None, ChowLiu("x"))
    with pytest.raises(InputError, match="takes no constraints"):
        learn_structure(table, None, ChowLiu(), Constraints(max_parents=1))
    with pytest.raises(InputError, match="'tree', 'forest' or 'nothing'"):
        AroundClass("v0", "ring")  # type: ignore[arg-type]
