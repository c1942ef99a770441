"""Searches: never below their start, legal graphs, the best of all on small tables."""

from __future__ import annotations

import io
import math
import sys

import numpy as np
import pytest

from novum.core.errors import InputError
from novum.core.learners import Verdict
from novum.core.runtime import check_cancelled, deadline
from novum.graphical import Dag
from novum.graphical.learning.coded_table import CodedTable
from novum.graphical.learning.constraints import Constraints
from novum.graphical.learning.edge_searches import (
    Annealing,
    HillClimbing,
    Reinsertion,
    Successive,
    Tabu,
)
from novum.graphical.learning.equivalence_search import GreedyEquivalence
from novum.graphical.learning.scores import AIC, BIC, K2, BDeu, StructurePrior, score
from novum.graphical.learning.search import Search, learn_structure
from tests.graphical.learning.learning_tables import random_graph, random_network, sampled
from tests.graphical.networks_on_disk import network_on_disk
from tests.oracles.network_learning_definitions import all_graphs

SEARCHES = [
    HillClimbing(),
    HillClimbing(restarts=3, changes=3),
    Tabu(),
    Annealing(steps=3000),
    GreedyEquivalence(),
    Successive((GreedyEquivalence(), Tabu())),
    Successive((HillClimbing(), Reinsertion())),
]


def table_of(seed: int, d: int = 6, n: int = 300) -> CodedTable:
    rng = np.random.default_rng(seed)
    cards = tuple(int(c) for c in rng.integers(2, 4, d))
    return sampled(random_network(rng, random_graph(rng, d), cards), n, seed)


@pytest.mark.parametrize("search", SEARCHES, ids=lambda s: str(s)[:30])
@pytest.mark.parametrize("criterion", [BIC(), BDeu(5.0)], ids=str)
def test_the_score_is_that_of_the_graph_and_no_less_than_the_start(
    search: Search, criterion: BIC
) -> None:
    for seed in range(6):
        table = table_of(seed)
        start = random_graph(np.random.default_rng(seed + 50), 6, 0.3)
        learned = learn_structure(table, criterion, search, start=start)
        assert learned.score == pytest.approx(score(learned.dag, table, criterion), rel=1e-12)
        assert learned.score >= score(start, table, criterion) - 1e-6
        assert learned.certificate.verdict is Verdict.LOCAL
        trace = learned.certificate.trace
        assert trace is not None
        assert list(trace) == sorted(trace)


@pytest.mark.parametrize("search", [HillClimbing(), Tabu()], ids=lambda s: str(s)[:12])
def test_no_single_change_improves_the_end(search: Search) -> None:
    table = table_of(1, 5)
    learned = learn_structure(table, K2(), search)
    edges = set(learned.dag.edges)
    for a in table.names:
        for b in table.names:
            for other in (edges ^ {(a, b)}, (edges - {(a, b)}) | {(b, a)}):
                if a == b or ((a, b) not in edges and other != edges ^ {(a, b)}):
                    continue
                try:
                    graph = Dag.from_edges(sorted(other), table.names)
                except InputError:
                    continue
                assert score(graph, table, K2()) <= learned.score + 1e-7


@pytest.mark.parametrize("search", [HillClimbing(), Tabu()], ids=lambda s: str(s)[:12])
def test_equal_directions_of_an_edge_are_left_open(search: Search) -> None:
    # Of two directions that score alike the wrong one costs edges later; classes have neither.
    network = network_on_disk("insurance")
    for seed in range(3):
        table = sampled(network, 1000, seed)
        classes = learn_structure(table, None, GreedyEquivalence()).score
        assert learn_structure(table, None, search).score >= classes - 1e-6
        # Where directions are said, equal ones are taken in the order of columns.
        free = Constraints(forbidden=[(table.names[0], table.names[1])])
        assert learn_structure(table, None, search, free).score <= classes


@pytest.mark.slow
@pytest.mark.parametrize("search", [HillClimbing(), Tabu()], ids=lambda s: str(s)[:12])
def test_no_worse_than_the_hill_climbing_of_pyagrum(search: Search) -> None:
    pyagrum = pytest.importorskip("pyagrum")
    networks = [network_on_disk(name) for name in ("andes", "win95pts", "child")]
    for seed in range(6):
        rng = np.random.default_rng(seed)
        cards = tuple(int(c) for c in rng.integers(2, 5, 25))
        networks.append(random_network(rng, random_graph(rng, 25, 0.1), cards))
    gains = []
    for network in networks:
        rows = network.sample(2000, random_state=3).to_pandas().astype(str)
        learner = pyagrum.BNLearner(rows)
        learner.useGreedyHillClimbing()
        learner.useScoreBIC()
        learner.useNoPrior()
        names = {learner.idFromName(name): name for name in rows}
        edges = [(names[a], names[b]) for a, b in learner.learnDAG().arcs()]
        other = score(Dag.from_edges(edges, list(rows)), rows)
        gains.append((learn_structure(rows, None, search).score - other) / -other)
    assert np.min(gains) > -0.002
    assert np.mean(gains) > 0.001


@pytest.mark.slow
def test_hill_climbing_with_restarts_and_tabu_often_find_the_best_of_all() -> None:
    hits = 0
    for seed in range(8):
        table = table_of(seed, 4, 200)
        best = max(score(Dag(table.names, p), table, BIC()) for p in all_graphs(4))
        values = [learn_structure(table, BIC(), s).score for s in SEARCHES]
        assert max(values) <= best + 1e-7
        hits += max(values) > best - 1e-6
    assert hits >= 7


@pytest.mark.parametrize(
    "search",
    [HillClimbing(restarts=2), Tabu(), Annealing(steps=4000), None],
    ids=lambda s: str(s)[:8],
)
def test_constraints_hold(search: Search | None) -> None:
    for seed in range(4):
        table = table_of(seed)
        constraints = Constraints(
            required=[("v5", "v2"), ("v1", "v0")],
            forbidden=[("v0", "v3"), ("v3", "v0")],
            tiers=[["v1", "v5"], ["v0", "v2"]],
            max_parents=2,
        )
        dag = learn_structure(table, AIC(), search, constraints).dag
        assert {("v5", "v2"), ("v1", "v0")} <= set(dag.edges)
        assert frozenset({"v0", "v3"}) not in dag.skeleton
        assert max(map(len, dag.parents)) <= 2
        late = {"v0", "v2"}
        assert not any(a in late and b in {"v1", "v5"} for a, b in dag.edges)


def test_a_prior_of_edges_decides_where_the_table_does_not() -> None:
    rng = np.random.default_rng(0)
    table = {"a": rng.integers(0, 2, 30), "b": rng.integers(0, 2, 30), "c": rng.integers(0, 2, 30)}
    sure = StructurePrior(edges={("c", "a"): 1 - 1e-9})
    assert ("c", "a") in learn_structure(table, structure_prior=sure).dag.edges
    never = StructurePrior(edge=1e-9)
    copies = {"a": table["a"], "b": table["a"]}
    assert learn_structure(copies).dag.edges
    assert not learn_structure(copies, structure_prior=never).dag.edges


def test_weights_are_rows() -> None:
    table = table_of(3)
    twice = CodedTable(table.variables, np.concatenate([table.codes] * 2, axis=1).copy())
    heavy = CodedTable(table.variables, table.codes, np.full(table.n_rows, 2.0))
    assert learn_structure(twice).score == pytest.approx(learn_structure(heavy).score)


def test_small_and_constant_tables() -> None:
    with pytest.raises(InputError, match=r"the table has 1\. Give at least 2"):
        learn_structure({"a": ["x"], "b": ["y"]})
    assert learn_structure({"a": ["x"], "b": ["y"]}, sample_weight=[5.0]).dag.edges == ()
    constant = learn_structure({"a": ["x"] * 20, "b": ["y", "z"] * 10})
    assert constant.dag.edges == ()
    alone = learn_structure({"a": ["x", "y"]})
    assert alone.dag.names == ("a",)
    assert "no single change" in repr(alone)


def test_more_than_64_variables() -> None:
    rng = np.random.default_rng(0)
    first = rng.integers(0, 2, (1, 200))
    codes = np.concatenate([first, first, rng.integers(0, 2, (68, 200))])
    names = [f"v{i}" for i in range(70)]
    for search in (None, HillClimbing()):
        learned = learn_structure(dict(zip(names, codes, strict=True)), None, search)
        assert frozenset({"v0", "v1"}) in learned.dag.skeleton


class _Endless(Search):
    """Climbs, then works until it is interrupted."""

    def run(self, problem) -> None:
        HillClimbing().run(problem)
        while True:
            check_cancelled()


def test_an_interrupt_returns_the_best_so_far_when_asked() -> None:
    table = table_of(2)
    best = learn_structure(table, None, HillClimbing()).score
    with deadline(0.2):
        learned = learn_structure(table, None, _Endless(), on_interrupt="keep")
    assert learned.score == best
    assert learned.certificate.verdict is Verdict.STOPPED_EARLY
    assert "stopped early" in repr(learned)
    with pytest.raises(KeyboardInterrupt), deadline(0.2):
        learn_structure(table, None, _Endless())


def test_progress_has_the_score(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    learned = learn_structure(table_of(1), None, HillClimbing(), verbose=True)
    assert f"best {learned.score:.6g}" in screen.getvalue()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"search": "hc"}, "search is a value"),
        ({"constraints": [("a", "b")]}, "constraints is a value"),
        ({"start": Dag(("x",), ((),))}, "start is a Dag whose nodes"),
        ({"on_interrupt": "stop"}, "'raise' or 'keep'"),
        (
            {"search": GreedyEquivalence(), "constraints": Constraints(required=[("v0", "v1")])},
            "no say in the direction",
        ),
        (
            {
                "search": Successive((Tabu(), GreedyEquivalence())),
                "constraints": Constraints(forbidden=[("v0", "v1")]),
            },
            "no say in the direction",
        ),
    ],
)
def test_bad_input_is_one_sentence(arguments: dict, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        learn_structure(table_of(0), **arguments)


def test_values_check_themselves() -> None:
    with pytest.raises(InputError, match="temperatures"):
        Annealing(hot=-math.inf)
    with pytest.raises(InputError, match="at least one"):
        Successive(())
