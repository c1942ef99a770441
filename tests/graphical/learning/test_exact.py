"""The best graph of all, against the list of all graphs."""

from __future__ import annotations

import numpy as np
import pytest

from novum.core.errors import InputError, MemoryLimitError
from novum.core.learners import Verdict
from novum.graphical import Dag
from novum.graphical.learning.constraints import Constraints
from novum.graphical.learning.edge_searches import Annealing, HillClimbing, Tabu
from novum.graphical.learning.exact import Exact
from novum.graphical.learning.scores import (
    AIC,
    BIC,
    K2,
    NML,
    BDeu,
    BDs,
    FamilyScores,
    LogLikelihood,
    StructurePrior,
)
from novum.graphical.learning.search import learn_structure
from tests.graphical.learning.learning_tables import random_graph, random_network, sampled
from tests.oracles.network_learning_definitions import all_graphs

CRITERIA = [BIC(), AIC(), BDeu(3.0), K2(), BDs(), NML(), LogLikelihood()]


def table_of(seed: int, d: int, n: int = 60):
    rng = np.random.default_rng(seed)
    cards = tuple(int(c) for c in rng.integers(2, 4, d))
    return sampled(random_network(rng, random_graph(rng, d, 0.5), cards), n, seed)


@pytest.mark.parametrize("criterion", CRITERIA, ids=str)
def test_it_is_the_best_of_all_graphs_of_four_variables(criterion: BIC) -> None:
    for seed in range(5):
        table = table_of(seed, 4)
        scores = FamilyScores(table, criterion)
        best = max(scores.total(parents) for parents in all_graphs(4))
        learned = learn_structure(table, criterion, Exact())
        assert learned.score == pytest.approx(best, rel=1e-12)
        assert learned.certificate.verdict is Verdict.PROVED
        assert learned.certificate.gap == 0.0
        assert "proved best" in repr(learned)


def test_it_is_the_best_of_all_graphs_of_five_variables() -> None:
    table = table_of(7, 5, 100)
    scores = FamilyScores(table, BDeu())
    best = max(scores.total(parents) for parents in all_graphs(5))
    assert learn_structure(table, BDeu(), Exact()).score == pytest.approx(best, rel=1e-12)


def test_constraints_and_priors_hold_in_the_proof() -> None:
    table = table_of(3, 4)
    constraints = Constraints(
        required=[("v3", "v1")], forbidden=[("v0", "v2")], tiers=[["v3"], ["v0"]], max_parents=2
    )
    rules = constraints.rules(table.names)
    prior = StructurePrior(edge=0.2, edges={("v2", "v0"): 0.99}, parents=[3.0, 1.0, 0.1])
    scores = FamilyScores(table, BIC(), prior=prior)

    def is_allowed(parents: tuple[tuple[int, ...], ...]) -> bool:
        try:
            rules.check(Dag(table.names, parents))
        except InputError:
            return False
        return True

    best = max(scores.total(p) for p in all_graphs(4) if is_allowed(p))
    learned = learn_structure(table, BIC(), Exact(), constraints, structure_prior=prior)
    assert learned.score == pytest.approx(best, rel=1e-12)
    assert is_allowed(learned.dag.parents)
    assert "with at most 2 parents" in learned.sentence


def test_weights_are_proved_too() -> None:
    table = table_of(5, 4)
    rng = np.random.default_rng(0)
    frame = dict(zip(table.names, table.codes, strict=True))
    weights = rng.random(table.n_rows) * 3
    learned = learn_structure(frame, BDeu(0.5), Exact(), sample_weight=weights)
    scores = FamilyScores(learned.table, BDeu(0.5))
    assert learned.score == pytest.approx(max(scores.total(p) for p in all_graphs(4)), rel=1e-12)


def test_no_search_beats_it() -> None:
    for seed in range(4):
        table = table_of(seed, 9, 150)
        best = learn_structure(table, None, Exact()).score
        for search in (None, HillClimbing(restarts=5), Tabu(), Annealing(steps=3000)):
            assert learn_structure(table, None, search).score <= best + 1e-7


def test_too_many_variables_say_their_price() -> None:
    rows = {f"v{i}": [0, 1] for i in range(28)}
    with pytest.raises(MemoryLimitError, match=r"28 variables in all sets .* needs"):
        learn_structure(rows, None, Exact())
    with pytest.raises(InputError, match=r"2\^40 of them"):
        learn_structure({f"v{i}": [0, 1] for i in range(40)}, None, Exact())
