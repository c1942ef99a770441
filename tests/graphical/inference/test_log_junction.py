"""Propagation in logarithms: the same answers as enumeration, and digits far below floats."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given

from novum.distributions.joint_table import ImpossibleEvidence
from novum.graphical.inference.enumeration import Enumeration
from novum.graphical.inference.junction import JunctionTree
from novum.graphical.inference.plain_junction import LogJunctionTree
from novum.graphical.models.arrays import Evidence, ModelArrays
from novum.graphical.models.questions import evidence_of
from tests.strategies.networks import random_evidence, random_likelihood, random_network, seeds

# Logarithms of a few units are rounded once for each factor.
CLOSE = {"rtol": 1e-11, "atol": 1e-12}


@given(seeds)
def test_equals_enumeration(seed: int) -> None:
    network = random_network(seed)
    known = random_evidence(network, seed)
    evidence = evidence_of(network, known, random_likelihood(network, seed, known))
    model, engine, oracle = network.arrays, LogJunctionTree(), Enumeration()
    log = oracle.log_evidence(model, evidence)
    assert engine.log_evidence(model, evidence) == pytest.approx(log, abs=1e-11)
    if log == -math.inf:
        with pytest.raises(ImpossibleEvidence):
            engine.marginals(model, evidence)
        return
    wanted = oracle.marginals(model, evidence).tables
    for mine, theirs in zip(engine.marginals(model, evidence).tables, wanted, strict=True):
        np.testing.assert_allclose(mine, theirs, **CLOSE)
    some = list(range(model.n_variables))[:2][::-1]
    np.testing.assert_allclose(
        engine.joint(model, evidence, some).tables[0],
        oracle.joint(model, evidence, some).tables[0],
        **CLOSE,
    )


def copies(n: int, ratio: float) -> ModelArrays:
    """A variable and n - 1 exact copies in a chain, each with a child that favors one state.

    In the first half the first state has `ratio` times the chance of the second, then the other way
    around. Copies are variables 0 to n - 1, children follow.
    """
    tables, scopes = [np.array([0.25, 0.75])], [[0]]
    for i in range(1, n):
        scopes.append([i - 1, i])
        tables.append(np.eye(2).ravel())
    for i in range(n):
        low, high = 0.5, 0.5 * ratio
        first, second = (high, low) if i < n // 2 else (low, high)
        scopes.append([i, n + i])
        tables.append(np.array([first, 1 - first, second, 1 - second]))
    return ModelArrays(
        np.full(2 * n, 2),
        np.cumsum([0, *map(len, scopes)]),
        np.concatenate(scopes),
        np.cumsum([0, *map(len, tables)]),
        np.concatenate(tables),
        np.arange(2 * n),
        np.arange(2 * n),
    )


@pytest.mark.parametrize("engine", [JunctionTree(), LogJunctionTree()])
@pytest.mark.parametrize("n", [20, 100])
def test_a_state_ruled_out_by_floats_comes_back(
    engine: JunctionTree | LogJunctionTree, n: int
) -> None:
    # After half of the children one state is 1e-10 ** (n / 2) times as probable as the other: with
    # 100 copies less than the smallest float. The other half makes them equal again.
    model = copies(n, 1e-10)
    codes = np.r_[np.full(n, -1), np.zeros(n, np.int64)]
    evidence = Evidence(codes)
    wanted = n * math.log(0.5) + n // 2 * math.log(1e-10)
    assert engine.log_evidence(model, evidence) == pytest.approx(wanted, rel=1e-12)
    for variable in (0, n // 2, n - 1):
        table = engine.joint(model, evidence, [variable]).tables[0]
        np.testing.assert_allclose(table, [0.25, 0.75], rtol=1e-10)
    for table in engine.marginals(model, evidence).tables[:n]:
        np.testing.assert_allclose(table, [0.25, 0.75], rtol=1e-10)
