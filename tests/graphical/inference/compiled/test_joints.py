"""Small questions in one call: against enumeration, and the same bits whichever way they run."""

from __future__ import annotations

import itertools
import os
import signal
import threading

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from novum.core.errors import MemoryLimitError
from novum.distributions.joint_table import ImpossibleEvidence
from novum.graphical import BayesianNetwork, NetworkWarning
from novum.graphical.inference import junction
from novum.graphical.inference.compiled import planning, runs
from novum.graphical.inference.compiled.layout import CONNECTED, JOINT
from novum.graphical.inference.compiled.questions import question_of, uncut_question
from novum.graphical.inference.compiled.runs import SmallJoint, small_joint
from novum.graphical.inference.enumeration import Enumeration
from novum.graphical.inference.junction import JunctionTree
from novum.graphical.models.arrays import Evidence, ModelArrays
from novum.graphical.models.questions import evidence_of
from novum.numerics import Patience, jit_interpreted
from tests.graphical.networks_on_disk import network_on_disk
from tests.strategies.networks import random_evidence, random_likelihood, random_network, seeds

patching = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def some_question(seed: int) -> tuple[ModelArrays, Evidence, list[int]]:
    """A random model with findings of both kinds, and one or two variables to ask about."""
    network = random_network(seed, most=9, zeros=0.2)
    findings = random_evidence(network, seed)
    likelihood = random_likelihood(network, seed, findings) if seed % 3 == 0 else None
    evidence = evidence_of(network, findings, likelihood)
    free = np.flatnonzero(evidence.codes < 0)
    rng = np.random.default_rng(seed)
    asked = rng.permutation(free)[: int(rng.integers(1, 3))].tolist()
    return network.arrays, evidence, asked


@given(seeds)
@patching
def test_joint_tables_equal_enumeration(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    monkeypatch.setattr(junction, "PLAIN_VARIABLES", 0)
    model, evidence, asked = some_question(seed)
    if not asked:
        return
    try:
        truth = Enumeration().joint(model, evidence, asked).tables[0]
    except ImpossibleEvidence:
        with pytest.raises(ImpossibleEvidence):
            JunctionTree().joint(model, evidence, asked)
        return
    found = JunctionTree().joint(model, evidence, asked).tables[0]
    np.testing.assert_allclose(found, truth, rtol=0, atol=1e-12)
    small = small_joint(uncut_question(model, evidence), asked, None)
    assert small is not None
    np.testing.assert_array_equal(small.table.reshape(truth.shape), found)


@given(seeds)
@patching
def test_all_ways_give_the_same_answer(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    # Machine code may fuse the products and sums that Python rounds one by one.
    model, evidence, asked = some_question(seed)
    if not asked:
        return

    def answer() -> SmallJoint:
        found = small_joint(uncut_question(model, evidence), asked, None)
        assert found is not None
        return found

    first, kept = answer(), answer()
    with monkeypatch.context() as patch:
        patch.setattr(runs, "compiled_planner", lambda _: None)
        interpreted = answer()
    for other in (kept, interpreted):
        assert first.has_cut_off == other.has_cut_off
        np.testing.assert_allclose(other.log, first.log, rtol=1e-13, atol=1e-13)
        if first.log > -np.inf:
            np.testing.assert_allclose(other.table, first.table, rtol=1e-13)


def wide(n: int) -> BayesianNetwork:
    """A variable of n parents, without zeros."""
    network = BayesianNetwork()
    for i in range(n):
        network = network.add(f"x{i}", table=[0.3, 0.7])
    names = [f"x{i}" for i in range(n)]
    table = np.random.default_rng(0).uniform(0.1, 0.9, 2**n)
    return network.add("y", names, np.stack([table, 1 - table], -1).reshape([2] * (n + 1)))


def test_large_questions_are_left_to_others() -> None:
    model = wide(14).arrays
    question, asked = uncut_question(model, Evidence.none(15)), [14]
    assert not question.is_cuttable
    assert small_joint(question, asked, None) is None
    # The program is there for those who run it.
    programs = len(question.home.programs)
    program = question_of(model, Evidence.none(15)).program(asked, CONNECTED, JOINT)
    assert len(program.code)
    assert len(question.home.programs) == programs
    assert small_joint(question, asked, None) is None
    found = JunctionTree().joint(model, Evidence.none(15), asked).tables[0]
    weights = np.array([0.3, 0.7])
    table = model.table(14)
    for _ in range(14):
        table = np.tensordot(weights, table, (0, 0))
    np.testing.assert_allclose(found, table, rtol=0, atol=1e-12)


def test_of_large_questions_that_could_be_cut_there_is_but_the_price(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Python would plan a whole program.
    monkeypatch.setattr(planning, "_patience", Patience(0.0))
    with pytest.warns(NetworkWarning, match="exactly 0"):
        network = wide(14).add("z", ["y"], [[1.0, 0.0], [0.5, 0.5]])
    evidence = evidence_of(network, {"z": "false"})
    question = uncut_question(network.arrays, evidence)
    assert question.is_cuttable
    assert small_joint(question, [0], None) is None
    [program] = question.home.programs.values()
    assert (len(program.code), program.cells > runs.AT_ONCE) == (0, True)
    assert small_joint(question, [0], None) is None
    found = JunctionTree().joint(network.arrays, evidence, [0]).tables[0]
    assert found[0] == pytest.approx(0.3, abs=0.01)


def without_a_compiled_planner(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit_interpreted, "is_at_hand", lambda _: False)
    monkeypatch.setattr(planning, "_patience", Patience(np.inf))


@pytest.mark.filterwarnings("ignore::novum.graphical.NetworkWarning")
def test_contradictions_are_told_whoever_plans(monkeypatch: pytest.MonkeyPatch) -> None:
    network = BayesianNetwork().add("x0", table=[0.5, 0.5])
    for i in range(1, 9):
        network = network.add(f"x{i}", [f"x{i - 1}"], [[1.0, 0.0], [0.0, 1.0]])
    known = {"x0": "true", "x8": "false"}
    with pytest.raises(ImpossibleEvidence):
        network.query("x4", given=known)
    without_a_compiled_planner(monkeypatch)
    with pytest.raises(ImpossibleEvidence):
        BayesianNetwork(network.conditionals).query("x4", given=known)


def sparse() -> BayesianNetwork:
    """Tables of which most is impossible."""
    network, states = BayesianNetwork(), [str(i) for i in range(6)]
    for i in range(10):
        parents = [f"x{j}" for j in range(max(0, i - 3), i)]
        table = np.zeros([6] * (len(parents) + 1))
        table[..., 0], table[..., 1] = 0.3, 0.7
        network = network.add(f"x{i}", parents, table, states)
    return network


@pytest.mark.filterwarnings("ignore::novum.graphical.NetworkWarning")
@pytest.mark.parametrize("is_stated", [True, False])
def test_what_fits_when_cut_is_answered(monkeypatch: pytest.MonkeyPatch, is_stated: bool) -> None:
    # The tables as they are do not fit.
    engine = JunctionTree(20_000) if is_stated else JunctionTree()
    used = sparse()
    used.query("x9")
    if not is_stated:
        monkeypatch.setenv("NOVUM_MEMORY_LIMIT", "20000")
    answers = [network.query("x9", engine=engine).values for network in (sparse(), used)]
    without_a_compiled_planner(monkeypatch)
    answers.append(sparse().query("x9", engine=engine).values)
    for found in answers:
        np.testing.assert_allclose(found, [0.3, 0.7, 0, 0, 0, 0], rtol=0, atol=1e-12)


def test_the_limit_of_the_environment_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    networks = [network_on_disk("alarm"), network_on_disk("alarm")]
    monkeypatch.setenv("NOVUM_MEMORY_LIMIT", "1B")
    for network in networks:
        with pytest.raises(MemoryLimitError, match="Exact inference"):
            network.query(network.names[5])
        without_a_compiled_planner(monkeypatch)


def test_stated_limits_hold_for_small_questions() -> None:
    network = network_on_disk("alarm")
    node = network.names[5]
    with pytest.raises(MemoryLimitError):
        network.query(node, engine=JunctionTree("1B"))
    network.query(node)
    with pytest.raises(MemoryLimitError):
        network.query(node, engine=JunctionTree("1B"))
    assert network.query(node, engine=JunctionTree("1GB")).values.sum() == pytest.approx(1)


@pytest.mark.usefixtures("without_collector")
def test_an_interruption_arrives_as_such_while_results_are_made() -> None:
    # Numba runs Python code to make the arrays of a result, and goes on where that raises.
    rng = np.random.default_rng(0)
    network = BayesianNetwork().add("x0", table=[0.5, 0.5])
    for i in range(1, 120):
        parents = [f"x{p}" for p in sorted({max(0, i - 1), max(0, i - 5), max(0, i - 9)})]
        table = rng.dirichlet([1.0, 1.0], size=[2] * len(parents))
        network = network.add(f"x{i}", parents=parents, table=table)
    network.query("x0", "x119")

    def ask_for_ever() -> None:
        for i in itertools.cycle(range(119)):
            network.query(f"x{i}")

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        for _ in range(20):
            timer = threading.Timer(0.01, os.kill, (os.getpid(), signal.SIGINT))
            timer.start()
            with pytest.raises(KeyboardInterrupt):
                ask_for_ever()
            timer.join()
    finally:
        signal.signal(signal.SIGINT, before)
