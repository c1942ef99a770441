"""Smallest conflicts: impossible together, possible without any one of them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.distributions.joint_table import ImpossibleEvidence
from novum.graphical import BayesianNetwork, Evidence, JunctionTree, PlainJunctionTree
from novum.graphical.models.arrays import ModelArrays
from novum.graphical.models.conflicts import Conflict, smallest_conflict
from novum.graphical.models.questions import evidence_of
from tests.graphical.textbook_networks import grid, random_network

ENGINE = PlainJunctionTree()


class Counting(PlainJunctionTree):
    """Counts how often it is asked."""

    asked = 0

    def log_evidence(self, model: ModelArrays, evidence: Evidence) -> float:
        type(self).asked += 1
        return super().log_evidence(model, evidence)


@given(st.integers(0, 20_000))
def test_a_conflict_is_smallest(seed: int) -> None:
    network = random_network(seed, 7, zeros=True)
    rng = np.random.default_rng(seed)
    codes = np.array([rng.integers(len(axis.states)) for axis in network.variables])
    codes[rng.random(7) < 0.2] = -1
    soft = {}
    for place in np.flatnonzero(codes < 0).tolist():
        size = len(network.variables[place].states)
        weights = np.zeros(size)
        weights[rng.integers(size)] = 1.0
        soft[place] = weights
    evidence = Evidence(codes, soft)
    model = network.arrays
    if ENGINE.log_evidence(model, evidence) > -math.inf:
        return
    found = smallest_conflict(model, evidence, ENGINE)
    observed, weighted = found.observed, found.weighted
    assert found.is_smallest

    def log(observed: list[int], weighted: list[int]) -> float:
        kept = np.full(7, -1)
        kept[observed] = codes[observed]
        return ENGINE.log_evidence(model, Evidence(kept, {v: soft[v] for v in weighted}))

    assert log(observed, weighted) == -math.inf
    for left_out in observed:
        assert log([v for v in observed if v != left_out], weighted) > -math.inf
    for left_out in weighted:
        assert log(observed, [v for v in weighted if v != left_out]) > -math.inf


def test_a_pair_among_hundreds_is_found_by_halving() -> None:
    network = BayesianNetwork().add("a", table=[0.5, 0.5])
    network = network.add("b", parents="a", table=lambda a: a, states=["true", "false"])
    nodes = {f"n{i}": {"table": [0.5, 0.5]} for i in range(300)}
    both = BayesianNetwork([*network.conditionals, *BayesianNetwork.from_dict(nodes).conditionals])
    known = {"a": "true", **dict.fromkeys(nodes, "true"), "b": "false"}
    found = smallest_conflict(both.arrays, evidence_of(both, known), Counting())
    assert found == Conflict([0, 1], [])
    # One question for each finding would be 302.
    assert Counting.asked < 60


def test_a_model_that_is_impossible_by_itself_has_no_conflict() -> None:
    from novum.graphical import Factor, FactorGraph

    graph = FactorGraph([Factor([0.0, 0.0], {"a": (0, 1)})])
    assert smallest_conflict(graph.arrays, Evidence(np.array([0])), ENGINE) == Conflict([], [])


def test_a_search_that_would_take_long_gives_what_it_has() -> None:
    # Known together all is cheap; without the others the grid is too wide to be asked.
    network = grid(40)
    corner = network.add("s", parents="x0_0", table=lambda x: x, states=["a", "b"])
    known = {**dict.fromkeys(network.names, "a"), "s": "b"}
    evidence = evidence_of(corner, known)
    assert JunctionTree().log_evidence(corner.arrays, evidence) == -math.inf
    found = smallest_conflict(corner.arrays, evidence, JunctionTree())
    assert not found.is_smallest
    assert {0, len(network)} <= set(found.observed)
    with pytest.raises(ImpossibleEvidence, match="cannot hold all together"):
        corner.query("x39_39", given={n: s for n, s in known.items() if n != "x39_39"})
