"""Questions: the cut model has the posteriors of the whole one, and programs are kept by shape."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from novum.graphical.inference import junction
from novum.graphical.inference.compiled import questions
from novum.graphical.inference.compiled.layout import EVERYTHING, MARGINALS
from novum.graphical.inference.compiled.questions import question_of, whole
from novum.graphical.inference.enumeration import Enumeration
from novum.graphical.inference.junction import JunctionTree
from novum.graphical.models.arrays import Evidence, ModelArrays
from novum.graphical.models.questions import evidence_of
from tests.strategies.networks import random_evidence, random_likelihood, random_network, seeds

quick = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture
def cutting(monkeypatch: pytest.MonkeyPatch) -> JunctionTree:
    """The compiled engine with every model cut, however small."""
    monkeypatch.setattr(junction, "PLAIN_VARIABLES", 0)
    monkeypatch.setattr(questions, "SMALL_CELLS", 0)
    return JunctionTree()


def relay(n: int) -> ModelArrays:
    """Variables of three states, each the one before or the next higher state of it."""
    step = np.array([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.0, 0.0, 1.0]])
    scopes = [[0], *([i - 1, i] for i in range(1, n))]
    return ModelArrays(
        np.full(n, 3),
        np.cumsum([0, *map(len, scopes)]),
        np.concatenate(scopes),
        np.r_[0, 3 + 9 * np.arange(n)],
        np.concatenate([np.full(3, 1 / 3), *[step.ravel()] * (n - 1)]),
        np.arange(n),
        np.arange(n),
    )


@given(seeds)
@quick
def test_cut_models_equal_enumeration(cutting: JunctionTree, seed: int) -> None:
    network = random_network(seed, zeros=0.4)
    known = random_evidence(network, seed)
    evidence = evidence_of(network, known, random_likelihood(network, seed, known))
    model, oracle = network.arrays, Enumeration()
    log = oracle.log_evidence(model, evidence)
    assert cutting.log_evidence(model, evidence) == pytest.approx(log, abs=1e-11)
    if log == -math.inf:
        return
    wanted = oracle.marginals(model, evidence).tables
    found = cutting.marginals(model, evidence)
    assert found.log_evidence == pytest.approx(log, abs=1e-11)
    for mine, theirs in zip(found.tables, wanted, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-11, atol=1e-12)
    some = list(range(model.n_variables))[::-2]
    np.testing.assert_allclose(
        cutting.joint(model, evidence, some).tables[0],
        oracle.joint(model, evidence, some).tables[0],
        rtol=1e-11,
        atol=1e-12,
    )
    joint = oracle.joint(model, evidence, list(range(model.n_variables))).tables[0]
    codes, best = cutting.most_probable(model, evidence)
    assert joint[tuple(codes)] == pytest.approx(joint.max(), rel=1e-12)
    assert best == pytest.approx(math.log(joint.max()) + log, abs=1e-10)


@pytest.mark.usefixtures("cutting")
def test_states_that_cannot_be_are_gone() -> None:
    model = relay(4)
    # The third is at its middle state: before it none is higher, after it none is lower.
    question = question_of(model, Evidence(np.array([-1, -1, 1, -1])))
    assert [question.states_of(v).tolist() for v in range(4)] == [[0, 1], [0, 1], [1], [1, 2]]
    # The last has lost only what its own table rules out; the second one's states were taken.
    assert question.soft[3] == 0
    assert question.soft[1] > 0
    program = question.program((), EVERYTHING, MARGINALS)
    assert program.variables.tolist() == [0, 1, 3]
    assert math.isnan(question.log) is False
    conflict = question_of(model, Evidence(np.array([2, -1, 1, -1])))
    assert conflict.log == -math.inf


@pytest.mark.usefixtures("cutting")
def test_weights_of_zero_cut_states() -> None:
    question = question_of(relay(3), Evidence(np.full(3, -1), {0: np.array([0.0, 0.0, 4.0])}))
    assert [question.states_of(v).tolist() for v in range(3)] == [[2], [2], [2]]
    # P(first = 2) = 1/3 with weight 4, and all others follow.
    assert question.log == pytest.approx(math.log(4 / 3))
    nothing = question_of(relay(3), Evidence(np.full(3, -1), {0: np.zeros(3)}))
    assert nothing.log == -math.inf


def test_questions_and_programs_are_kept(cutting: JunctionTree) -> None:
    model = relay(5)
    evidence = Evidence(np.array([-1, -1, 1, -1, -1]))
    question = question_of(model, evidence)
    assert question_of(model, Evidence(evidence.codes.copy())) is question
    program = question.program((), EVERYTHING, MARGINALS)
    again = question_of(model, Evidence(np.array([-1, -1, 1, -1, -1])))
    assert again.program((), EVERYTHING, MARGINALS) is program
    for state in range(3):
        for place in range(5):
            codes = np.full(5, -1)
            codes[place] = state
            question_of(model, Evidence(codes))
    assert len(whole(model).asked) == questions.MOST_QUESTIONS
    first = cutting.marginals(model, evidence).tables
    for one, other in zip(first, cutting.marginals(relay(5), evidence).tables, strict=True):
        np.testing.assert_array_equal(one, other)


def test_small_models_are_taken_as_they_are() -> None:
    model = relay(4)
    question = question_of(model, Evidence(np.array([-1, -1, 1, -1])))
    assert question.ready is question.home
    assert question.known.tolist() == [-1, -1, 1, -1]
    assert question.states_of(2).tolist() == [1]


@pytest.mark.usefixtures("cutting")
def test_a_number_of_zero_is_impossible() -> None:
    # A factor without variables, and one of a variable with two states.
    model = ModelArrays(
        np.array([2]), np.array([0, 0, 1]), np.array([0]), np.array([0, 1, 3]),
        np.array([0.0, 1.0, 3.0]), np.full(2, -1), np.arange(1),
    )  # fmt: skip
    assert question_of(model, Evidence.none(1)).log == -math.inf
