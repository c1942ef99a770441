"""The best graph of all, against the list of all graphs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from novum.core.errors import InputError, MemoryLimitError
from novum.core.learners import Verdict
from novum.graphical import Dag
from novum.graphical.learning import best_first, exact, set_sums
from novum.graphical.learning.best_first import BestFirst
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
from novum.graphical.learning.search import SearchProblem, learn_structure
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


@pytest.mark.parametrize("criterion", CRITERIA, ids=str)
@pytest.mark.parametrize("weights", [None, "whole", "fractions"])
def test_sums_over_sets_are_the_scores_of_all_families(criterion: BIC, weights: Any) -> None:
    table = table_of(3, 5)
    rng = np.random.default_rng(0)
    if weights == "fractions" and not criterion.takes_fractions:
        return
    if weights is not None:
        drawn = rng.random(60) if weights == "fractions" else rng.integers(1, 4, 60)
        table = replace(table, weights=drawn.astype(float))
    scores, rules = FamilyScores(table, criterion), Constraints().rules(table.names)
    found = set_sums.all_family_scores(scores, SearchProblem(scores, rules, rules.required.copy()))
    for child in range(5):
        others = [v for v in range(5) if v != child]
        for code in range(16):
            parents = [v for bit, v in enumerate(others) if code >> bit & 1]
            assert found[child, code] == pytest.approx(scores.local(child, parents), rel=1e-9)


def test_sums_over_sets_and_bounds_prove_the_same(monkeypatch: Any) -> None:
    table = table_of(5, 8, 200)
    prior = StructurePrior(edge=0.3, edges={("v0", "v1"): 0.9}, parents=[3.0, 2.0, 1.0])
    limits = Constraints(required=[("v2", "v3")], forbidden=[("v4", "v5")], max_parents=5)
    for criterion in (BIC(), BDeu(), K2(), BDs()):
        answers = []
        for is_quicker in (True, False):
            monkeypatch.setattr(exact, "are_sums_quicker", lambda *_, answer=is_quicker: answer)
            answers.append(
                learn_structure(table, criterion, Exact(), limits, structure_prior=prior)
            )
        assert answers[0].score == pytest.approx(answers[1].score, rel=1e-12)
        assert answers[0].certificate.verdict is Verdict.PROVED


def test_families_need_no_tables() -> None:
    """Twelve columns of four states: the largest table has 16 million cells, the table 80 rows."""
    rng = np.random.default_rng(0)
    rows = {f"v{i}": rng.integers(0, 4, 80).astype(str) for i in range(12)}
    learned = learn_structure(rows, LogLikelihood(), Exact())
    assert learned.sentence == "proved best"
    # Any order of complete families explains each row exactly but for the first columns.
    cells = np.stack([rows[f"v{i}"] for i in range(12)], axis=1)
    assert len(np.unique(cells, axis=0)) == 80
    assert learned.score == pytest.approx(-80 * np.log(80))


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


# --- A* over sets ---------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", [BIC(), BDeu(3.0), K2(), NML()], ids=str)
def test_best_first_is_the_best_of_all_graphs(criterion: BIC) -> None:
    for seed in range(4):
        table = table_of(seed, 4)
        best = max(FamilyScores(table, criterion).total(p) for p in all_graphs(4))
        learned = learn_structure(table, criterion, BestFirst())
        assert learned.score == pytest.approx(best, rel=1e-12)
        assert learned.certificate.verdict is Verdict.PROVED


def test_best_first_equals_dynamic_programming_with_constraints_and_priors(
    monkeypatch: Any,
) -> None:
    # Small groups: bounds that are not exact, so that sets must be looked at.
    monkeypatch.setattr(best_first, "GROUP", 4)
    constraints = Constraints(
        required=[("v3", "v1")], forbidden=[("v0", "v2")], tiers=[["v3"], ["v0"]], max_parents=3
    )
    prior = StructurePrior(edge=0.2, edges={("v2", "v0"): 0.99}, parents=[3.0, 1.0, 0.1])
    for seed in range(4):
        table = table_of(seed, 9, 80)
        for limits, belief in ((None, None), (constraints, prior)):
            both = [
                learn_structure(table, BIC(), search, limits, structure_prior=belief)
                for search in (Exact(), BestFirst())
            ]
            assert both[1].score == pytest.approx(both[0].score, rel=1e-12)
            assert both[1].sentence == both[0].sentence
    weights = np.random.default_rng(0).random(table.n_rows) * 3
    frame = dict(zip(table.names, table.codes, strict=True))
    both = [
        learn_structure(frame, BDeu(0.5), search, sample_weight=weights)
        for search in (Exact(), BestFirst())
    ]
    assert both[1].score == pytest.approx(both[0].score, rel=1e-12)


def test_without_room_the_gap_holds_the_best(monkeypatch: Any) -> None:
    monkeypatch.setattr(best_first, "GROUP", 2)
    monkeypatch.setattr(best_first, "FIRST_STATES", 1 << 6)
    for seed in range(3):
        table = table_of(seed, 12, 60)
        best = learn_structure(table, BIC(), Exact())
        short = learn_structure(table, BIC(), BestFirst(max_states=8))
        assert short.certificate.verdict is Verdict.STOPPED_EARLY
        assert short.certificate.gap is not None
        assert short.score <= best.score + 1e-9 <= short.score + short.certificate.gap + 2e-9
        assert f"at most {short.certificate.gap:.4g} nats from the best" in short.sentence


def test_families_that_are_too_many_are_left_out_and_said(monkeypatch: Any) -> None:
    monkeypatch.setattr(best_first, "MOST_FAMILIES", 40)
    table = table_of(2, 8, 400)
    learned = learn_structure(table, BDeu(1.0), BestFirst())
    most = int(learned.sentence.split("at most ")[1].split()[0])
    limited = learn_structure(table, BDeu(1.0), Exact(), Constraints(max_parents=most))
    assert "proved best with at most" in learned.sentence
    # The start may have more parents than the proof looks at.
    assert learned.score >= limited.score - 1e-9


@pytest.mark.parametrize("search", [Exact(), BestFirst()])
def test_an_interrupt_leaves_the_best_so_far(search: Exact, monkeypatch: Any) -> None:
    table = table_of(3, 15, 100)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(exact.kernels, "best_sinks", interrupt)
    monkeypatch.setattr(best_first.kernels, "expand", interrupt)
    kept = learn_structure(table, None, search, on_interrupt="keep")
    assert kept.score >= learn_structure(table).score - 1e-9
    assert kept.certificate.verdict is Verdict.STOPPED_EARLY
    assert "nats from the best" in kept.sentence
    with pytest.raises(KeyboardInterrupt):
        learn_structure(table, None, search)


@pytest.mark.slow
def test_more_than_22_variables_are_proved_too() -> None:
    rng = np.random.default_rng(0)
    table = sampled(random_network(rng, random_graph(rng, 26, 0.05), (2,) * 26), 60, 0)
    learned = learn_structure(table, None, Exact())
    assert learned.sentence == "proved best"
    assert learned.score >= learn_structure(table).score - 1e-9


def test_too_many_variables_say_their_price() -> None:
    with pytest.raises(InputError, match="room for 63 variables, and the table has 70"):
        learn_structure({f"v{i}": [0, 1] for i in range(70)}, None, Exact())
    with pytest.raises(MemoryLimitError, match="sets of variables needs"):
        learn_structure({f"v{i}": [0, 1] for i in range(30)}, None, Exact(max_states=10**12))
    with pytest.raises(InputError, match="max_states is a number"):
        BestFirst(max_states=0)
