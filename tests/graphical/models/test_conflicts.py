"""The words of impossible evidence."""

from __future__ import annotations

import pytest

from novum.distributions.joint_table import ImpossibleEvidence
from novum.graphical import BayesianNetwork, Factor, FactorGraph
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
