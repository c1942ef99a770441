"""Probabilities beyond the range of floats: every exact engine says the same, and right."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from novum.graphical import (
    BayesianNetwork,
    Enumeration,
    JunctionTree,
    LogJunctionTree,
    PlainJunctionTree,
    VariableElimination,
)

ENGINES = [JunctionTree(), PlainJunctionTree(), LogJunctionTree(), VariableElimination()]


@pytest.mark.parametrize("engine", [*ENGINES, Enumeration()], ids=lambda e: type(e).__name__)
def test_a_likelihood_may_rule_out_what_the_findings_favor(engine: Any) -> None:
    network = BayesianNetwork().add("a", table=[0.5, 0.5])
    for i in range(6):
        network = network.add(f"b{i}", parents="a", table=[[1e-100, 1 - 1e-100], [0.5, 0.5]])
    network = network.add("d", parents="a", table=lambda a: a, states=["true", "false"])
    seen = {f"b{i}": "true" for i in range(6)}
    weights = {"d": [1e250, 1e-250]}
    found = network.query("a", given=seen, likelihood=weights, engine=engine)
    # Odds of (1e-100)^6 * 1e250 to (1/2)^6 * 1e-250.
    expected = 2**6 * 1e-100
    assert found.values[0] == pytest.approx(expected, rel=1e-12)
    assert found.values[1] == 1.0
    log = network.log_evidence(seen, likelihood=weights, engine=engine)
    assert log == pytest.approx(math.log(0.5) - 6 * math.log(2) - 250 * math.log(10), rel=1e-13)


@pytest.mark.parametrize(("rare", "length"), [(1e-6, 120), (0.1, 1500)])
@pytest.mark.parametrize("engine", ENGINES, ids=lambda e: type(e).__name__)
def test_a_chain_of_copies_whose_likely_state_is_ruled_out_at_the_end(
    engine: Any, rare: float, length: int
) -> None:
    if isinstance(engine, VariableElimination):
        length = min(length, 400)
    nodes: dict[str, Any] = {"x0": {"states": list("ABC"), "table": [1 / 3] * 3}}
    for i in range(1, length):
        nodes[f"x{i}"] = {
            "states": list("ABC"),
            "parents": [f"x{i - 1}"],
            "table": lambda state: state,
        }
    for i in range(length):
        table = [[0.5, 0.5], [rare, 1 - rare], [rare, 1 - rare]]
        nodes[f"y{i}"] = {"parents": [f"x{i}"], "table": table, "states": ["true", "false"]}
    nodes["z"] = {
        "parents": [f"x{length - 1}"],
        "table": {"A": {"true": 0, "false": 1}, "B": {"true": 0.5}, "C": {"true": 0.5}},
        "states": ["true", "false"],
    }
    with pytest.warns(UserWarning, match="exactly 0"):
        network = BayesianNetwork.from_dict(nodes)
    seen = {**{f"y{i}": "true" for i in range(length)}, "z": "true"}
    found = network.query("x0", given=seen, engine=engine)
    np.testing.assert_allclose(found.values, [0.0, 0.5, 0.5], atol=1e-12)
    log = network.log_evidence(seen, engine=engine)
    # Two of three states are left, each with all findings and half of the last.
    assert log == pytest.approx(math.log(1 / 3) + length * math.log(rare), rel=1e-12)
