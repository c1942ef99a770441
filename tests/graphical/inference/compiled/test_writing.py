"""Written programs: every factor is in one clique, and places do not overlap."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings

from novum.graphical.inference.compiled.layout import (
    BAR_FROM,
    BAR_TO,
    CLIQUES_AT,
    CONNECTED,
    EVERYTHING,
    INCOMING,
    IS_LEAF,
    JOINT,
    MARGINALS,
    MESSAGE_BAR,
    MESSAGE_SIZE,
    N_BARS,
    N_CLIQUES,
    N_CODE,
    N_MAPS,
    N_OPS,
    N_OUTER,
    N_RECORDS,
    OP_FIELDS,
    OP_VALUE,
    OPS,
    ROOT_MESSAGE,
)
from novum.graphical.inference.compiled.planning import program_of
from novum.graphical.inference.enumeration import Enumeration
from novum.graphical.inference.junction import JunctionTree
from novum.graphical.models.arrays import Evidence
from novum.graphical.models.bayesian_network import BayesianNetwork
from tests.strategies.networks import random_network, seeds


@pytest.mark.parametrize("block", [2, 2048])
@given(seeds)
def test_operations_use_each_value_once(block: int, seed: int) -> None:
    model = random_network(seed, most=9).arrays
    nothing = Evidence.none(model.n_variables)
    code = program_of(model, nothing, (), EVERYTHING, MARGINALS, block=block).code
    values, bars = [], []
    for place in range(int(code[N_CLIQUES])):
        at = int(code[int(code[CLIQUES_AT]) + place])
        width = OP_FIELDS + int(code[at + N_OUTER])
        operations = [int(code[at + OPS]) + k * width for k in range(int(code[at + N_OPS]))]
        values += [int(code[op + OP_VALUE]) for op in operations]
        bars.append((int(code[at + BAR_FROM]), int(code[at + BAR_TO])))
        assert code[at + MESSAGE_SIZE] >= 1
    assert len(set(values)) == len(values)
    assert code[N_RECORDS] == model.n_factors
    bars.sort()
    assert all(end <= start for (_, end), (start, _) in itertools.pairwise(bars))
    assert bars[-1][1] <= code[N_BARS]


@given(seeds)
@settings(max_examples=30, deadline=None)
def test_lengths_are_those_written_down(seed: int) -> None:
    model = random_network(seed, most=9).arrays
    asked = [seed % model.n_variables]
    program = program_of(model, Evidence.none(model.n_variables), asked, CONNECTED, JOINT)
    assert len(program.code) == program.code[N_CODE]
    assert len(program.maps) == program.code[N_MAPS]
    assert program.code[ROOT_MESSAGE] >= 0
    assert np.all(program.maps >= 0)


def test_leaves_share_their_message_down() -> None:
    network = BayesianNetwork().add("a", (), [0.2, 0.3, 0.5], ["x", "y", "z"])
    network = network.add("b", ["a"], [[0.1, 0.9], [0.4, 0.6], [0.8, 0.2]])
    rng = np.random.default_rng(0)
    for parents in (["a"], ["a"], ["b"], ["a", "b"], ["a", "b"], ["b"]):
        rows = rng.dirichlet(np.ones(3), [3 if p == "a" else 2 for p in parents])
        network = network.add(f"leaf {len(network)}", parents, rows, ["x", "y", "z"])
    model, nothing = network.arrays, Evidence.none(8)
    code = program_of(model, nothing, (), EVERYTHING, MARGINALS).code
    first = int(code[CLIQUES_AT])
    cliques = [int(at) for at in code[first : first + int(code[N_CLIQUES])]]
    leaves = [at for at in cliques if code[at + IS_LEAF]]
    assert len(leaves) >= 5
    reading = [at for at in cliques if code[at + INCOMING] >= 0]
    # Not more messages than separators: a, b, and both.
    assert len(reading) <= 3
    assert {int(code[at + MESSAGE_BAR]) for at in leaves} <= {
        int(code[at + MESSAGE_BAR]) for at in [*reading, cliques[0]]
    }
    truth, found = (engine.marginals(model, nothing) for engine in (Enumeration(), JunctionTree()))
    for own, other in zip(truth.tables, found.tables, strict=True):
        np.testing.assert_allclose(other, own, rtol=0, atol=1e-14)
