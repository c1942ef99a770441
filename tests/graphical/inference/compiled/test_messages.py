"""Messages: the derivative of the evidence's probability by a weight, and scales."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given

from novum.graphical.inference.compiled.layout import EVERYTHING, MARGINALS
from novum.graphical.inference.compiled.messages_kernels import scale_message
from novum.graphical.inference.compiled.questions import question_of
from novum.graphical.inference.compiled.runs import log_sum, posteriors
from novum.graphical.models.arrays import Evidence
from novum.graphical.models.bayesian_network import BayesianNetwork
from tests.strategies.networks import random_network, seeds


def test_a_message_is_divided_by_its_largest_entry() -> None:
    values = np.array([7.0, 0.5, 2.0, 0.0, 9.0])
    spans = np.full(5, -1.0)
    assert scale_message(values, 1, 3, spans) == pytest.approx(math.log(2))
    assert values.tolist() == [7.0, 0.25, 1.0, 0.0, 9.0]
    # The smallest positive entry is two powers of two below the largest.
    assert spans.tolist() == [-1.0, 2.0, -1.0, -1.0, -1.0]
    assert scale_message(values, 3, 1, spans) == -math.inf


def test_products_that_could_leave_the_range_of_floats_are_not_trusted() -> None:
    # With every child the product at the root's first state loses 200 powers of two.
    assert log_of_children(4) == pytest.approx(math.log(0.5**5))
    assert math.isnan(log_of_children(5))


def log_of_children(n: int) -> float:
    network = BayesianNetwork().add("root", table=[0.5, 0.5])
    for i in range(n):
        network = network.add(f"v{i}", ["root"], [[2.0**-200, 1 - 2.0**-200], [0.5, 0.5]])
    question = question_of(network.arrays, Evidence(np.array([-1, *[0] * n])))
    return log_sum(question, question.program((), EVERYTHING, MARGINALS))


@given(seeds)
def test_posteriors_are_derivatives_of_the_log_evidence(seed: int) -> None:
    # d log P(e) / d log weight(x) = P(x | e), by central differences.
    model = random_network(seed, zeros=0.0).arrays
    rng = np.random.default_rng(seed)
    variable = seed % model.n_variables
    weights = rng.random(model.cards[variable]) + 0.5
    codes = np.full(model.n_variables, -1)
    codes[(variable + 1) % model.n_variables] = 0
    codes[variable] = -1

    def log_at(step: np.ndarray) -> float:
        question = question_of(model, Evidence(codes, {variable: weights * np.exp(step)}))
        return log_sum(question, question.program((), EVERYTHING, MARGINALS))

    question = question_of(model, Evidence(codes, {variable: weights}))
    answers, _ = posteriors(question, question.program((), EVERYTHING, MARGINALS))
    start = int(model.cards[:variable].sum())
    for state in range(int(model.cards[variable])):
        step = np.zeros(len(weights))
        step[state] = 1e-4
        slope = (log_at(step) - log_at(-step)) / 2e-4
        # The error of a central difference is of the order of the step's square.
        assert answers[start + state] == pytest.approx(slope, abs=1e-7)
