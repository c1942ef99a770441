"""Scores against their definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import InputError
from novum.distributions import StateAxis
from novum.graphical import Dag
from novum.graphical.learning.coded_table import CodedTable
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
    score,
)
from tests.oracles.network_learning_definitions import all_graphs, family_score

CRITERIA = [LogLikelihood(), AIC(), BIC(), BDeu(), BDeu(0.7), K2(), BDs(3.0), NML()]


def table_of(seed: int, n: int, cards: tuple[int, ...], weighted: bool = False) -> CodedTable:
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, card, n) for card in cards]).astype(np.int32)
    # The last depends on the first two, and one state of the first is never met.
    codes[-1] = (codes[0] + codes[1] + (rng.random(n) < 0.2)) % cards[-1]
    axes = tuple(StateAxis(f"v{i}", tuple(range(c))) for i, c in enumerate(cards))
    return CodedTable(axes, codes, rng.integers(1, 4, n) * 1.0 if weighted else None)


@pytest.mark.parametrize("criterion", CRITERIA, ids=str)
@given(seed=st.integers(0, 10**6), weighted=st.booleans())
def test_families_equal_the_definition(criterion, seed: int, weighted: bool) -> None:
    table = table_of(seed, 25, (2, 3, 1, 3), weighted)
    weights = np.ones(25) if table.weights is None else table.weights
    scores = FamilyScores(table, criterion)
    for parents in ((), (0,), (0, 1), (0, 1, 2)):
        expected = family_score(
            type(criterion).__name__, criterion.prior_size, table.codes.T.tolist(), weights,
            table.cards.tolist(), parents, 3,
        )  # fmt: skip
        assert scores.local(3, parents) == pytest.approx(expected, rel=1e-9, abs=1e-9)
        assert scores.local(3, parents[::-1]) == scores.local(3, parents)


@pytest.mark.parametrize("criterion", CRITERIA, ids=str)
def test_weight_two_is_the_row_twice(criterion) -> None:
    table = table_of(1, 30, (2, 2, 3))
    twice = CodedTable(table.variables, np.concatenate([table.codes] * 2, axis=1).copy())
    heavy = CodedTable(table.variables, table.codes, np.full(30, 2.0))
    graph = Dag(("v0", "v1", "v2"), ((), (0,), (0, 1)))
    assert score(graph, twice, criterion) == pytest.approx(score(graph, heavy, criterion))


@pytest.mark.parametrize("criterion", [BIC(), AIC(), BDeu(4.0), LogLikelihood()], ids=str)
def test_equivalent_graphs_score_alike(criterion) -> None:
    table = table_of(2, 50, (2, 3, 2))
    by_class: dict[object, list[float]] = {}
    for parents in all_graphs(3):
        graph = Dag(table.names, parents)
        by_class.setdefault(graph.pattern(), []).append(score(graph, table, criterion))
    assert len(by_class) == 11
    for values in by_class.values():
        assert values == pytest.approx([values[0]] * len(values), rel=1e-12)


def test_large_counts_leave_the_lookup_tables() -> None:
    rng = np.random.default_rng(0)
    n = 150_000
    codes = rng.integers(0, 2, (2, n)).astype(np.int32)
    table = CodedTable(tuple(StateAxis(c, (0, 1)) for c in "ab"), codes)
    counts = np.bincount(codes[0])
    expected = float((counts * np.log(counts / n)).sum())
    assert FamilyScores(table, LogLikelihood()).local(0, ()) == pytest.approx(expected, rel=1e-12)
    # Szpankowski's expansion meets the exact sum where the table ends.
    kept = FamilyScores(table, NML()).rule[2]
    m = len(kept) - 1
    expansion = (
        0.5 * math.log(m * math.pi / 2)
        + math.sqrt(8 / (9 * m * math.pi))
        + (3 * math.pi - 16) / (36 * m * math.pi)
    )
    assert expansion == pytest.approx(math.log(kept[m]), rel=1e-9)


def test_many_families_are_remembered_and_the_memory_grows() -> None:
    table = table_of(4, 20, (2,) * 17)
    scores = FamilyScores(table, BIC())
    for mask in range(2**14):
        scores.local(16, [i for i in range(14) if mask >> i & 1])
    assert int(scores.memory[2][0]) >= 2**14 - 1000
    fresh = FamilyScores(table, BIC())
    for mask in (0, 77, 1027):
        parents = [i for i in range(14) if mask >> i & 1]
        assert scores.local(16, parents) == fresh.local(16, parents)


def test_more_than_64_variables_have_their_own_keys() -> None:
    table = table_of(5, 40, (2,) * 70)
    scores = FamilyScores(table, BIC())
    assert scores.local(0, (1,)) != scores.local(0, (65,))


def test_priors_of_edges_and_of_numbers_of_parents() -> None:
    table = table_of(6, 30, (2, 2, 2))
    graph = Dag(("v0", "v1", "v2"), ((), (), (0, 1)))
    plain = score(graph, table)
    edges = StructurePrior(edge=0.2, edges={("v0", "v2"): 0.9})
    assert score(graph, table, structure_prior=edges) == pytest.approx(
        plain + math.log(0.2 / 0.8) + math.log(0.9 / 0.1)
    )
    number = StructurePrior(parents=[1.0, 0.5, 0.25])
    assert score(graph, table, structure_prior=number) == pytest.approx(plain + math.log(0.25))


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: BDeu(0.0), "above 0"),
        (lambda: score(Dag(("a",), ((),)), {"a": [1]}, "bic"), "criterion is a value"),
        (lambda: StructurePrior(edge=1.0), "between 0"),
        (lambda: StructurePrior(parents=[]), "weights above 0"),
        (lambda: StructurePrior(edges={("a", "z"): 0.3}).log_odds(["a", "b"]), "'z', which is no"),
        (
            lambda: score(Dag(("a",), ((),)), {"a": [1, 2]}, NML(), sample_weight=[0.5, 1]),
            "counts whole rows",
        ),
    ],
)
def test_bad_input_is_one_sentence(call: object, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        call()  # type: ignore[operator]
