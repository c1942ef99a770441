"""Messages: the derivative of the evidence's probability by a weight, and scales."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings

from novum.graphical.inference.compiled.layout import EVERYTHING, MARGINALS
from novum.graphical.inference.compiled.messages_kernels import scale_message
from novum.graphical.inference.compiled.planning import prepared, program_of
from novum.graphical.inference.compiled.runs import collected, distributed
from novum.graphical.models.arrays import Evidence
from tests.strategies.networks import random_network, seeds


def test_a_message_is_divided_by_its_largest_entry() -> None:
    values = np.array([7.0, 0.5, 2.0, 0.0, 9.0])
    assert scale_message(values, 1, 3) == pytest.approx(math.log(2))
    assert values.tolist() == [7.0, 0.25, 1.0, 0.0, 9.0]
    assert scale_message(values, 3, 1) == -math.inf


@given(seeds)
@settings(max_examples=40, deadline=None)
def test_posteriors_are_derivatives_of_the_log_evidence(seed: int) -> None:
    # d log P(e) / d log weight(x) = P(x | e), by central differences.
    model = random_network(seed, zeros=0.0).arrays
    ready = prepared(model)
    rng = np.random.default_rng(seed)
    variable = seed % model.n_variables
    weights = rng.random(model.cards[variable]) + 0.5
    codes = np.full(model.n_variables, -1)
    codes[(variable + 1) % model.n_variables] = 0
    codes[variable] = -1

    def log_at(step: np.ndarray) -> float:
        evidence = Evidence(codes, {variable: weights * np.exp(step)})
        program = program_of(model, evidence, (), EVERYTHING, MARGINALS)
        return collected(ready, program, codes, evidence).log

    evidence = Evidence(codes, {variable: weights})
    program = program_of(model, evidence, (), EVERYTHING, MARGINALS)
    run = collected(ready, program, codes, evidence)
    answers = distributed(run, int(model.cards[program.variables].sum()))
    place = program.variables.tolist().index(variable)
    start = int(model.cards[program.variables[:place]].sum())
    for state in range(int(model.cards[variable])):
        step = np.zeros(len(weights))
        step[state] = 1e-4
        slope = (log_at(step) - log_at(-step)) / 2e-4
        # The error of a central difference is of the order of the step's square.
        assert answers[start + state] == pytest.approx(slope, abs=1e-7)
