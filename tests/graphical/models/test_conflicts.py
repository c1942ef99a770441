"""The words of impossible evidence."""

from __future__ import annotations

import pytest

from novum.distributions.joint_table import ImpossibleEvidence
from novum.graphical import BayesianNetwork, Factor, FactorGraph, LoopyPropagation
from novum.graphical.models.conflicts import MOST_FINDINGS, impossible_evidence
from novum.graphical.models.questions import evidence_of


def test_a_long_conflict_names_the_first_findings_and_counts_the_rest() -> None:
    causes = [f"cause{i}" for i in range(MOST_FINDINGS + 3)]
    network = BayesianNetwork()
    for cause in causes:
        network = network.add(cause, table=[0.5, 0.5])
    # Half way a sum, so that no table has more than two parents.
    last = causes[0]
    for i, cause in enumerate(causes[1:]):
        network = network.add(
            f"all{i}",
            parents=[last, cause],
            table=lambda a, b: "true" if a == b == "true" else "false",
            states=["true", "false"],
        )
        last = f"all{i}"
    known = {**dict.fromkeys(causes, "true"), last: "false"}
    said = str(impossible_evidence(network, network.arrays, evidence_of(network, known)))
    assert "'cause11' = 'true', and 4 more findings cannot hold together" in said
    assert "'cause12'" not in said
    with pytest.raises(ImpossibleEvidence, match="and 4 more findings"):
        network.query("all0", given=known)


def test_a_model_that_allows_nothing_is_said_to_be_one() -> None:
    graph = FactorGraph([Factor([0.0, 0.0], {"a": (0, 1)})])
    known = evidence_of(graph, {})
    assert "no state of all variables" in str(impossible_evidence(graph, graph.arrays, known))


def test_where_comes_first() -> None:
    network = BayesianNetwork().add("a", table=[0.5, 0.5]).do({"a": "true"})
    known = evidence_of(network, {"a": "false"})
    said = str(impossible_evidence(network, network.arrays, known, "Row 3: "))
    assert said == (
        "Row 3: The evidence has probability 0: 'a' = 'false' is impossible. Check that state."
    )


def test_what_an_approximate_engine_loses_is_not_called_impossible() -> None:
    # Who left cannot return, and staying for 350 steps has the share 10^-350 until the last one.
    n = 350
    steps = [
        Factor([[0.5, 0.5], [0.0, 1.0]], {f"s{i}": (0, 1), f"s{i + 1}": (0, 1)}) for i in range(n)
    ]
    chain = [Factor([1.0, 0.0], {"s0": (0, 1)}), *steps]
    graph = FactorGraph(chain)
    seen = {f"s{i}": [0.1, 1.0] for i in range(1, n)} | {f"s{n}": [1.0, 0.0]}
    for engine in (None, LoopyPropagation()):
        found = graph.query("s5", likelihood=seen, engine=engine)
        assert found.values.tolist() == [1.0, 0.0]
    # With a cycle the messages of loopy propagation are no longer passed in logarithms.
    cycle = FactorGraph([*chain, Factor([[1.0, 1.0]] * 2, {"s0": (0, 1), "s2": (0, 1)})])
    with pytest.raises(ImpossibleEvidence, match="evidence is possible, but"):
        cycle.query("s5", likelihood=seen, engine=LoopyPropagation(max_iter=2 * n))
