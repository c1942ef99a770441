"""Supports: states that stay are those of some configuration, on trees exactly."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from novum.graphical.inference.compiled import questions
from novum.graphical.inference.compiled.questions import question_of
from novum.graphical.inference.enumeration import Enumeration
from novum.graphical.models.arrays import Evidence
from novum.graphical.models.questions import evidence_of
from tests.strategies.networks import random_evidence, random_network, seeds


@given(seeds)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_possible_state_is_cut(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    monkeypatch.setattr(questions, "SMALL_CELLS", 0)
    network = random_network(seed, zeros=0.5)
    evidence = evidence_of(network, random_evidence(network, seed))
    model = network.arrays
    question = question_of(model, evidence)
    if Enumeration().log_evidence(model, evidence) == -np.inf:
        return
    assert question.log > -np.inf
    for variable, table in enumerate(Enumeration().marginals(model, evidence).tables):
        assert set(np.flatnonzero(table)) <= set(question.states_of(variable).tolist())


def test_a_chain_keeps_exactly_what_is_possible(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(questions, "SMALL_CELLS", 0)
    from tests.graphical.inference.compiled.test_questions import relay

    model = relay(6)
    for place in range(6):
        for state in range(3):
            codes = np.full(6, -1)
            codes[place] = state
            evidence = Evidence(codes)
            question = question_of(model, evidence)
            for v, table in enumerate(Enumeration().marginals(model, evidence).tables):
                assert question.states_of(v).tolist() == np.flatnonzero(table).tolist()
