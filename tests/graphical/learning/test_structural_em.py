"""Structures from rows with missing cells."""

from __future__ import annotations

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from novum.core.learners import Verdict
from novum.graphical import BayesianNetwork
from novum.graphical.learning.coded_table import CodedTable
from novum.graphical.learning.constraints import Constraints
from novum.graphical.learning.edge_searches import HillClimbing
from novum.graphical.learning.expectation import fit_expectation
from novum.graphical.learning.scores import BIC, BDeu, BGe, score
from novum.graphical.learning.search import learn_structure
from novum.graphical.learning.trees import AroundClass
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


def numbers_with_gaps(seed: int, n: int = 800) -> dict[str, list]:
    """kind -> x -> y and z apart; what is missing depends on what is not."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 2, n)
    x = rng.normal(size=n) + 2 * kind
    y = 1.5 * x + rng.normal(size=n)
    rows = {"kind": np.array(["a", "b"])[kind], "x": x, "y": y, "z": rng.normal(size=n)}
    gaps = {name: rng.random(n) < 0.15 for name in rows}
    gaps["y"] |= (x > 2) & ~gaps["x"] & (rng.random(n) < 0.5)
    return {
        name: [None if gone else cell for cell, gone in zip(c.tolist(), gaps[name], strict=True)]
        for name, c in rows.items()
    }


@pytest.mark.parametrize("criterion", [BIC(), BGe()], ids=str)
def test_numbers_as_they_are_may_have_gaps(criterion: BIC) -> None:
    rows = numbers_with_gaps(0)
    learned = learn_structure(rows, criterion, numbers="normal")
    wanted = {frozenset({"kind", "x"}), frozenset({"x", "y"})}
    assert learned.dag.skeleton == wanted
    trace = list(learned.certificate.trace or ())
    assert len(trace) > 1
    assert trace == sorted(trace)
    # EM ends where a round gains less than 1e-8 for each row, from one start or the other.
    assert learned.score == pytest.approx(
        score(learned.dag, rows, criterion, numbers="normal"), rel=1e-6
    )
    network = learned.network()
    if criterion == BIC():
        # The log-likelihood of the known cells, minus the price of the parameters.
        fitted = fit_expectation(learned.dag, rows, numbers="normal")
        price = 0.5 * np.log(800) * network.n_parameters
        assert learned.score == pytest.approx(fitted.log_likelihood - price, rel=1e-6)
    # Cases without y have larger x: the mean of what is known of y is too small by about 0.5.
    assert network.query("y").mean == pytest.approx(1.5, abs=0.25)


def test_columns_of_numbers_alone_may_have_gaps() -> None:
    rows = numbers_with_gaps(1)
    del rows["kind"]
    learned = learn_structure(
        rows, numbers="normal", constraints=Constraints(required=[("z", "x")])
    )
    assert ("z", "x") in learned.dag.edges
    assert frozenset({"x", "y"}) in learned.dag.skeleton


def test_threads_change_no_bit() -> None:
    """Scores, cuts and expectations of numbers, and of states."""
    rng = np.random.default_rng(0)
    cells = rng.normal(size=(3000, 8)).cumsum(axis=1)
    rows = {f"v{i}": column for i, column in enumerate(cells.T)}
    gaps = {name: column.copy() for name, column in list(rows.items())[:3]}
    gaps["v1"][::50] = np.nan
    answers = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            kept = learn_structure(rows, numbers="normal")
            expected = learn_structure(gaps, numbers="normal")
            cut = learn_structure(rows)
        answers.append(
            (kept.score, kept.dag, kept.network(), expected.score, expected.network(), cut.score)
        )
    assert answers[0] == answers[1]


@pytest.mark.parametrize("between", ["tree", "forest", "nothing"])
def test_a_search_for_one_form_keeps_it_where_no_edge_scores_best(between: str) -> None:
    rng = np.random.default_rng(0)
    disease = rng.integers(0, 12, 60)
    rows = {"disease": [f"d{i}" for i in disease]}
    for j in range(6):
        says = (disease >> (j % 4)) & 1
        rows[f"sign {j}"] = [str(v) for v in np.where(rng.random(60) < 0.1, 1 - says, says)]
    whole = learn_structure(rows, BIC(), AroundClass("disease", between))
    rows["sign 0"] = [None, *rows["sign 0"][1:]]
    learned = learn_structure(rows, BIC(), AroundClass("disease", between))
    assert learn_structure(rows, BIC()).score > learned.score
    signs = set(rows) - {"disease"}
    assert {b for a, b in learned.dag.edges if a == "disease"} == signs
    assert learned.score == pytest.approx(whole.score, rel=0.01)
    among_signs = [edge for edge in learned.dag.edges if "disease" not in edge]
    assert len(among_signs) == 5 if between == "tree" else not among_signs
