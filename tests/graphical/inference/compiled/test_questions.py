"""Questions: the cut model has the posteriors of the whole one, and programs are kept by shape."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from novum.distributions.joint_table import ImpossibleEvidence
from novum.graphical.factor import Factor
from novum.graphical.inference import junction
from novum.graphical.inference.compiled import questions
from novum.graphical.inference.compiled.layout import EVERYTHING, MARGINALS
from novum.graphical.inference.compiled.questions import forget_questions, question_of, whole
from novum.graphical.inference.enumeration import Enumeration
from novum.graphical.inference.junction import JunctionTree
from novum.graphical.models.arrays import Evidence, ModelArrays
from novum.graphical.models.factor_graph import FactorGraph
from novum.graphical.models.questions import evidence_of
from tests.strategies.networks import random_evidence, random_likelihood, random_network, seeds

COMPILED = "novum.graphical.inference.compiled"
quick = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def cutting(monkeypatch: pytest.MonkeyPatch) -> JunctionTree:
    """The compiled engine with every model cut, however small."""
    monkeypatch.setattr(junction, "PLAIN_VARIABLES", 0)
    monkeypatch.setattr(f"{COMPILED}.questions.SMALL_CELLS", 0)
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


def test_a_number_of_zero_is_impossible(cutting: JunctionTree) -> None:
    # A factor without variables, and one of a variable with two states.
    model = ModelArrays(
        np.array([2]), np.array([0, 0, 1]), np.array([0]), np.array([0, 1, 3]),
        np.array([0.0, 1.0, 3.0]), np.full(2, -1), np.arange(1),
    )  # fmt: skip
    assert cutting.log_evidence(model, Evidence.none(1)) == -math.inf
    with pytest.raises(ImpossibleEvidence):
        cutting.joint(model, Evidence.none(1), [0])


# --- Contradictions without evidence --------------------------------------------------------------


def contradiction() -> ModelArrays:
    """Factors that rule out both states of the first variable, and a chain that starts at it."""
    cells = [[1.0, 0.0], [0.0, 1.0], *[[0.9, 0.1, 0.4, 0.6]] * 3]
    scopes = [[0], [0], *([i, i + 1] for i in range(3))]
    return ModelArrays(
        np.full(4, 2),
        np.cumsum([0, *map(len, scopes)]),
        np.concatenate(scopes),
        np.cumsum([0, *map(len, cells)]),
        np.concatenate(cells),
        np.full(5, -1),
        np.arange(4),
    )


def test_factors_that_contradict_each_other_are_impossible(cutting: JunctionTree) -> None:
    model = contradiction()
    assert not whole(model).narrowed.is_possible
    assert whole(relay(4)).narrowed.is_possible
    for codes in ([-1, -1, -1, -1], [-1, 0, -1, -1], [0, -1, -1, 1]):
        evidence = Evidence(np.array(codes))
        assert question_of(model, evidence).log == -math.inf
        assert cutting.log_evidence(model, evidence) == -math.inf
        for ask in (cutting.marginals, cutting.most_probable):
            with pytest.raises(ImpossibleEvidence):
                ask(model, evidence)
        with pytest.raises(ImpossibleEvidence):
            cutting.joint(model, evidence, [3])


def test_a_large_contradictory_graph_has_no_posterior() -> None:
    names = [f"v{i}" for i in range(4)]
    states = {name: ["a", "b"] for name in names}
    states |= {"big": [str(i) for i in range(70)], "other": [str(i) for i in range(70)]}
    big = np.random.default_rng(0).random((70, 70))
    factors = [
        Factor(big, {name: states[name] for name in ("big", "other")}),
        Factor([1, 0], {"v0": states["v0"]}),
        Factor([0, 1], {"v0": states["v0"]}),
    ]
    for one, other in pairwise(names):
        scope = {one: states[one], other: states[other]}
        factors.append(Factor([[0.9, 0.1], [0.4, 0.6]], scope))
    with pytest.raises(ImpossibleEvidence):
        FactorGraph(factors).query("v3", engine=JunctionTree())


# --- Cells near the limits of floats --------------------------------------------------------------


def tiny(n: int) -> ModelArrays:
    """A root whose children have their first state very seldom, the first child less so."""
    rare = np.array([1e-100, *[1e-300] * (n - 1)])
    own = np.stack([rare, 1 - rare, 2 * rare, 1 - 2 * rare], axis=1)
    return ModelArrays(
        np.full(n + 1, 2),
        np.r_[0, 1 + 2 * np.arange(n + 1)],
        np.r_[0, np.stack([np.zeros(n, int), 1 + np.arange(n)], axis=1).ravel()],
        np.r_[0, 2 + 4 * np.arange(n + 1)],
        np.r_[0.5, 0.5, own.ravel()],
        np.arange(n + 1),
        np.arange(n + 1),
    )


@pytest.mark.parametrize("n", [9, 20])
@pytest.mark.parametrize("cells", [0, 4000])
def test_products_of_tiny_cells_are_not_zero(
    monkeypatch: pytest.MonkeyPatch, n: int, cells: int
) -> None:
    monkeypatch.setattr(junction, "PLAIN_VARIABLES", 0)
    monkeypatch.setattr(f"{COMPILED}.questions.SMALL_CELLS", cells)
    engine, model = JunctionTree(), tiny(n)
    # With the root known all tables are numbers.
    for root in (-1, 0):
        evidence = Evidence(np.r_[root, np.zeros(n, int)])
        first = math.log(0.5) - math.log(10) * (100 + 300 * (n - 1))
        more = n * math.log(2)
        wanted = first if root == 0 else first + math.log1p(2.0**n)
        assert engine.log_evidence(model, evidence) == pytest.approx(wanted, rel=1e-13)
        codes, best = engine.most_probable(model, evidence)
        assert codes.tolist() == [0 if root == 0 else 1, *[0] * n]
        assert best == pytest.approx(first if root == 0 else first + more, rel=1e-13)


# --- What is kept ---------------------------------------------------------------------------------


@pytest.mark.usefixtures("cutting")
def test_programs_are_kept_under_short_keys() -> None:
    model = relay(60)
    codes = np.full(60, -1)
    codes[30] = 1
    question = question_of(model, Evidence(codes))
    assert len(question.key) == 20
    codes[30] = 2
    assert question_of(model, Evidence(codes)).key != question.key
    assert question_of(relay(60), Evidence(np.where(codes >= 0, 1, -1))).key == question.key


@pytest.mark.usefixtures("cutting")
def test_questions_and_programs_are_forgotten() -> None:
    model = relay(5)
    evidence = Evidence(np.array([-1, -1, 1, -1, -1]))
    question = question_of(model, evidence)
    program = question.program((), EVERYTHING, MARGINALS)
    forget_questions(model)
    assert (len(whole(model).asked), len(question.home.programs)) == (0, 0)
    again = question_of(model, evidence)
    assert again is not question
    assert again.program((), EVERYTHING, MARGINALS) is not program
