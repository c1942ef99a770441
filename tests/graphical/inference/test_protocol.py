"""What every engine offers, held by those that there are."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest

from novum.distributions.joint_table import ImpossibleEvidence
from novum.graphical import (
    BayesianNetwork,
    Diagnosis,
    Engine,
    Enumeration,
    Evidence,
    ExactEngine,
    JunctionTree,
    PlainJunctionTree,
    VariableElimination,
)
from tests.graphical.textbook_networks import alarm

EXACT = [Enumeration(), VariableElimination(), PlainJunctionTree(), JunctionTree()]


@pytest.mark.parametrize("engine", EXACT, ids=lambda e: type(e).__name__)
def test_exact_engines_keep_the_contract(engine: Any) -> None:
    model = alarm().arrays
    known = Evidence(np.array([-1, -1, -1, 0, 1]))
    assert engine.is_exact
    assert isinstance(engine, ExactEngine)
    found = engine.marginals(model, known)
    assert len(found.tables) == 5
    assert all(table.sum() == pytest.approx(1.0, rel=1e-12) for table in found.tables)
    assert found.tables[3].tolist() == [1.0, 0.0]
    assert found.diagnosis is None
    some = engine.marginals(model, known, [4, 0])
    assert some.tables[0].tolist() == [0.0, 1.0]
    assert np.allclose(some.tables[1], found.tables[0], rtol=1e-12)
    joint = engine.joint(model, known, [2, 0]).tables[0]
    assert joint.shape == (2, 2)
    assert np.allclose(joint.sum(axis=0), found.tables[0], rtol=1e-12)
    log = engine.log_evidence(model, known)
    assert log == pytest.approx(
        math.log(alarm().probability({"JohnCalls": "true", "MaryCalls": "false"}))
    )
    # Values: settings only, never changed.
    assert known.codes.tolist() == [-1, -1, -1, 0, 1]
    with pytest.raises(dataclasses.FrozenInstanceError):
        engine.something = 1


@pytest.mark.parametrize("engine", EXACT, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("asked", [[3], [1], [0, 2], [1, 3]])
def test_impossible_evidence_is_an_error_whatever_is_asked(engine: Any, asked: list[int]) -> None:
    network = (
        BayesianNetwork()
        .add("a", table=[0.5, 0.5])
        .add("z", table=[0.5, 0.5])
        .add("b", parents=["a"], table=lambda a: a, states=["true", "false"])
        .add("c", parents=["b"], table=[[0.5, 0.5], [0.1, 0.9]])
    )
    known = Evidence(np.array([0, -1, 1, -1]))
    assert engine.log_evidence(network.arrays, known) == -math.inf
    for ask in (engine.marginals, engine.joint):
        with pytest.raises(ImpossibleEvidence):
            ask(network.arrays, known, asked)


def test_an_engine_without_the_methods_cannot_be_made() -> None:
    with pytest.raises(TypeError, match="abstract"):
        Engine()  # type: ignore[abstract]
    diagnosis = Diagnosis("tossing", True, "all well", 10)
    assert (diagnosis.errors, diagnosis.r_hat, diagnosis.bound) == (None, None, None)
