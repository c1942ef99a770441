"""Structures from rows with missing cells."""

from __future__ import annotations

import numpy as np
import pytest

from novum.core.learners import Verdict
from novum.graphical import BayesianNetwork
from novum.graphical.learning.coded_table import CodedTable
from novum.graphical.learning.constraints import Constraints
from novum.graphical.learning.edge_searches import HillClimbing
from novum.graphical.learning.scores import BIC, BDeu, score
from novum.graphical.learning.search import learn_structure
from tests.graphical.learning.learning_tables import sampled

TRUTH = (
    BayesianNetwork()
    .add("a", table=[0.4, 0.6])
    .add("b", parents="a", table=[[0.9, 0.1], [0.2, 0.8]])
    .add("c", parents="b", table=[[0.85, 0.15], [0.2, 0.8]])
    .add("d", table=[0.5, 0.5])
)


def with_gaps(seed: int, weights: bool = False) -> CodedTable:
    table = sampled(TRUTH, 1500, seed)
    codes = table.codes.copy()
    codes[np.random.default_rng(seed).random(codes.shape) < 0.25] = -1
    return CodedTable(table.variables, codes, np.full(1500, 2.0) if weights else None)


@pytest.mark.parametrize("criterion", [BIC(), BDeu(5.0)], ids=str)
def test_the_class_is_found_in_spite_of_gaps(criterion: BIC) -> None:
    table = with_gaps(0)
    learned = learn_structure(table, criterion)
    assert learned.dag.is_equivalent(TRUTH.graph)
    assert learned.score == pytest.approx(score(learned.dag, table, criterion), rel=1e-9)
    assert learned.certificate.verdict is Verdict.LOCAL
    trace = list(learned.certificate.trace or ())
    assert trace == sorted(trace)
    assert "missing at random" in str(learned.certificate.details["assumes"])


def test_weights_and_constraints_hold() -> None:
    learned = learn_structure(
        with_gaps(1, weights=True),
        search=HillClimbing(),
        constraints=Constraints(required=[("d", "a")]),
    )
    assert ("d", "a") in learned.dag.edges
    assert frozenset({"a", "b"}) in learned.dag.skeleton
