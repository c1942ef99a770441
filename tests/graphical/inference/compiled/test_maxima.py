"""Maxima: rows of the last operation, and configurations against all of them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given

from novum.graphical.inference.compiled.layout import EVERYTHING, MAXIMUM
from novum.graphical.inference.compiled.questions import question_of
from novum.graphical.inference.compiled.runs import maximized
from novum.graphical.inference.enumeration import Enumeration
from novum.graphical.models.arrays import Evidence
from novum.graphical.models.questions import evidence_of
from tests.strategies.networks import random_evidence, random_likelihood, random_network, seeds


@pytest.mark.parametrize("block", [1, 8, 2048])
@given(seeds)
def test_configuration_is_the_best_of_all(block: int, seed: int) -> None:
    network = random_network(seed)
    model = network.arrays
    known = random_evidence(network, seed)
    evidence = evidence_of(network, known, random_likelihood(network, seed, known))
    question = question_of(model, evidence)
    codes, log = maximized(question, question.program((), EVERYTHING, MAXIMUM, block=block))
    total = Enumeration().log_evidence(model, evidence)
    if total == -math.inf:
        assert log == -math.inf
        return
    joint = Enumeration().joint(model, evidence, list(range(model.n_variables))).tables[0]
    assert joint[tuple(codes)] == pytest.approx(joint.max(), rel=1e-12)
    assert log == pytest.approx(math.log(joint.max()) + total, abs=1e-10)


def test_of_equal_maxima_the_first_is_taken() -> None:
    network = random_network(0, most=1)
    network = type(network)().add("a", table=[0.5, 0.5]).add("b", ["a"], np.full((2, 2), 0.5))
    question = question_of(network.arrays, Evidence.none(2))
    codes, _ = maximized(question, question.program((), EVERYTHING, MAXIMUM))
    assert codes.tolist() == [0, 0]
