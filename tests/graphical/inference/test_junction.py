"""The junction tree engine: plain and compiled ways against enumeration and each other."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from novum.core.errors import MemoryLimitError
from novum.distributions.joint_table import ImpossibleEvidence
from novum.graphical.inference import junction
from novum.graphical.inference.batches import batch_log_evidence, batch_marginals
from novum.graphical.inference.enumeration import Enumeration
from novum.graphical.inference.junction import JunctionTree
from novum.graphical.inference.plain_junction import PlainJunctionTree, VariableElimination
from novum.graphical.models.arrays import NO_HEAD, Evidence, ModelArrays
from novum.graphical.models.bayesian_network import BayesianNetwork
from novum.graphical.models.questions import evidence_of
from tests.graphical.networks_on_disk import PUBLISHED, network_on_disk
from tests.strategies.networks import random_evidence, random_likelihood, random_network, seeds

# Sums of up to a few thousand positive products, each rounded once: far below 1e-12.
CLOSE = {"rtol": 1e-11, "atol": 1e-12}
quick = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> JunctionTree:
    """The engine with every model answered by the compiled way."""
    monkeypatch.setattr(junction, "PLAIN_VARIABLES", 0)
    return JunctionTree()


def chain(n: int) -> ModelArrays:
    """A chain of variables with two states each, kept with probability 0.9."""
    scopes = np.r_[0, np.stack([np.arange(n - 1), np.arange(1, n)], 1).ravel()]
    tables = np.r_[[0.5, 0.5], np.tile([0.9, 0.1, 0.1, 0.9], n - 1)]
    return ModelArrays(
        np.full(n, 2),
        np.r_[0, 1 + 2 * np.arange(n)],
        scopes,
        np.r_[0, 2 + 4 * np.arange(n)],
        tables,
        np.arange(n),
        np.arange(n),
    )


def grid(side: int) -> ModelArrays:
    """A grid of binary variables, each with the one above and the one to the left as parents."""
    rng = np.random.default_rng(side)
    scopes, tables = [], []
    for i in range(side):
        for j in range(side):
            parents = [(i - 1) * side + j] * (i > 0) + [i * side + j - 1] * (j > 0)
            scopes.append([*parents, i * side + j])
            tables.append(rng.dirichlet(np.ones(2), size=2 ** len(parents)).ravel())
    n = side * side
    return ModelArrays(
        np.full(n, 2),
        np.cumsum([0, *map(len, scopes)]),
        np.concatenate(scopes),
        np.cumsum([0, *map(len, tables)]),
        np.concatenate(tables),
        np.arange(n),
        np.arange(n),
    )


def undirected(model: ModelArrays) -> ModelArrays:
    """The same factors, belonging to nobody and not normalized."""
    return replace(
        model, heads=np.full(model.n_factors, NO_HEAD), tables=model.tables * 1.5, n_hidden=0
    )


def same_beliefs(engine: Any, other: Any, model: ModelArrays, evidence: Evidence) -> None:
    """All questions have the same answers."""
    log = other.log_evidence(model, evidence)
    assert engine.log_evidence(model, evidence) == pytest.approx(log, abs=1e-11)
    if log == -math.inf:
        for question in (engine.marginals, engine.most_probable):
            with pytest.raises(ImpossibleEvidence, match="probability 0"):
                question(model, evidence)
        with pytest.raises(ImpossibleEvidence):
            engine.joint(model, evidence, [0])
        with pytest.raises(ImpossibleEvidence):
            engine.marginals(model, evidence, [0, model.n_variables - 1])
        return
    found, wanted = engine.marginals(model, evidence), other.marginals(model, evidence)
    assert found.log_evidence == pytest.approx(log, abs=1e-11)
    for mine, theirs in zip(found.tables, wanted.tables, strict=True):
        np.testing.assert_allclose(mine, theirs, **CLOSE)
    rng = np.random.default_rng(model.n_variables)
    some = rng.permutation(model.n_variables)[:3].tolist()
    for variable, table in zip(some, engine.marginals(model, evidence, some).tables, strict=True):
        mine = other.marginals(model, evidence, [variable]).tables[0]
        np.testing.assert_allclose(table, mine, **CLOSE)
    np.testing.assert_allclose(
        engine.joint(model, evidence, some).tables[0],
        other.joint(model, evidence, some).tables[0],
        **CLOSE,
    )


@given(seeds)
@quick
def test_compiled_equals_enumeration(compiled: JunctionTree, seed: int) -> None:
    network = random_network(seed)
    known = random_evidence(network, seed)
    weights = random_likelihood(network, seed, known)
    evidence = evidence_of(network, known, weights)
    same_beliefs(compiled, Enumeration(), network.arrays, evidence)
    same_beliefs(compiled, Enumeration(), undirected(network.arrays), evidence)


@given(seeds)
@quick
def test_most_probable_is_the_largest_cell(compiled: JunctionTree, seed: int) -> None:
    network = random_network(seed)
    evidence = evidence_of(network, random_evidence(network, seed))
    model = network.arrays
    everything = list(range(model.n_variables))
    log = Enumeration().log_evidence(model, evidence)
    if log == -math.inf:
        return
    joint = Enumeration().joint(model, evidence, everything).tables[0]
    codes, best = compiled.most_probable(model, evidence)
    assert joint[tuple(codes)] == pytest.approx(joint.max(), rel=1e-12)
    assert best == pytest.approx(math.log(joint.max()) + log, abs=1e-10)
    plain = JunctionTree().most_probable(model, evidence)
    assert plain[1] == pytest.approx(best, abs=1e-10)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5])
def test_engines_agree_on_a_grid(share: float) -> None:
    # 36 variables in cliques of 7: beyond the plain size, within reach of elimination.
    model = grid(6)
    rng = np.random.default_rng(3)
    codes = np.where(rng.random(36) < share, rng.integers(0, 2, 36), -1)
    for other in (PlainJunctionTree(), VariableElimination()):
        same_beliefs(JunctionTree(), other, model, Evidence(codes))


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5])
@pytest.mark.parametrize("name", PUBLISHED)
def test_engines_agree_on_published_networks(name: str, share: float) -> None:
    network = network_on_disk(name)
    row = network.sample(1, random_state=5).to_pylist()[0]
    rng = np.random.default_rng(7)
    known = {node: state for node, state in row.items() if rng.random() < share}
    found = network.marginals(known)
    plain = network.marginals(known, engine=PlainJunctionTree())
    assert found.log_evidence == pytest.approx(plain.log_evidence, abs=1e-12 * len(network))
    for node in network.names:
        np.testing.assert_allclose(found[node].values, plain[node].values, rtol=0, atol=1e-12)
    node = network.names[int(rng.integers(len(network)))]
    for engine in (VariableElimination(), *([Enumeration()] if len(network) < 12 else [])):
        single = network.query(node, given=known, engine=engine)
        np.testing.assert_allclose(found[node].values, single.values, rtol=0, atol=1e-12)


def test_blocks_of_large_cliques(compiled: JunctionTree, monkeypatch: pytest.MonkeyPatch) -> None:
    # Small blocks make every clique a loop over many of them.
    from novum.graphical.inference.compiled.questions import Question

    monkeypatch.setattr(Question.program, "__defaults__", (None, 4))
    same_beliefs(compiled, PlainJunctionTree(), grid(5), Evidence.none(25))
    codes = np.full(25, -1)
    codes[[3, 12, 24]] = 1
    model, evidence = grid(5), Evidence(codes)
    same_beliefs(compiled, PlainJunctionTree(), model, evidence)
    states, log = compiled.most_probable(model, evidence)
    cells = [model.table(f)[tuple(states[v] for v in model.scope(f))] for f in range(25)]
    assert log == pytest.approx(np.log(cells).sum(), abs=1e-10)


def test_slices_do_not_change_the_bits(
    compiled: JunctionTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    from novum.graphical.inference.compiled import runs

    whole = compiled.marginals(grid(6), Evidence.none(36))
    monkeypatch.setattr(runs, "SLICE", 1)
    cut = compiled.marginals(grid(6), Evidence.none(36))
    assert whole.log_evidence == cut.log_evidence
    for one, other in zip(whole.tables, cut.tables, strict=True):
        np.testing.assert_array_equal(one, other)


def test_ancestral_programs_equal_one_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    model, nothing = grid(6), Evidence.none(36)
    tree = JunctionTree().marginals(model, nothing)
    monkeypatch.setattr(junction, "LARGE_TREE", 0.0)
    monkeypatch.setattr(junction, "WHOLE_TREE", 1e12)
    singles = JunctionTree().marginals(model, nothing)
    assert singles.log_evidence == 0.0
    for one, other in zip(tree.tables, singles.tables, strict=True):
        np.testing.assert_allclose(one, other, **CLOSE)


def test_a_chain_of_ten_thousand_does_not_underflow() -> None:
    n = 10_000
    codes = np.full(n, -1)
    codes[::2] = np.arange(n // 2) % 2
    engine, evidence = JunctionTree(), Evidence(codes)
    # Every known variable differs from the one two steps before it: 2 * 0.9 * 0.1 each time.
    wanted = math.log(0.5) + (n // 2 - 1) * math.log(0.18)
    assert engine.log_evidence(chain(n), evidence) == pytest.approx(wanted, rel=1e-12)
    found = engine.marginals(chain(n), evidence)
    np.testing.assert_allclose(found.tables[1], [0.5, 0.5], rtol=1e-12)
    codes, log = engine.most_probable(chain(n), evidence)
    assert log == pytest.approx(
        math.log(0.5) + (n // 2 - 1) * math.log(0.09) + math.log(0.9), rel=1e-12
    )


def test_single_states_isolated_nodes_and_nothing_free(compiled: JunctionTree) -> None:
    network = BayesianNetwork().add("only", table=[1.0], states=["yes"])
    network = network.add("alone", table=[0.25, 0.75])
    network = network.add("child", parents=["only"], table=[[0.5, 0.5]])
    model = network.arrays
    same_beliefs(compiled, Enumeration(), model, Evidence.none(3))
    known = Evidence(np.array([0, 1, 0]))
    assert compiled.log_evidence(model, known) == pytest.approx(math.log(0.375))
    tables = compiled.marginals(model, known).tables
    np.testing.assert_array_equal(tables[1], [0.0, 1.0])
    assert compiled.joint(model, known, [0, 1, 2]).tables[0].shape == (1, 2, 2)


def test_a_variable_without_factors_is_uniform(compiled: JunctionTree) -> None:
    ends = np.array([0, 1])
    model = ModelArrays(
        np.array([2, 3]), ends, np.array([0]), np.array([0, 2]), np.array([1.0, 3.0]),
        np.array([NO_HEAD]), np.arange(2),
    )  # fmt: skip
    found = compiled.marginals(model, Evidence.none(2))
    np.testing.assert_allclose(found.tables[0], [0.25, 0.75])
    np.testing.assert_allclose(found.tables[1], np.full(3, 1 / 3))
    assert found.log_evidence == pytest.approx(math.log(12))


def test_conflict_outside_of_what_is_asked_is_found(compiled: JunctionTree) -> None:
    network = BayesianNetwork().add("a", table=[0.5, 0.5])
    network = network.add("b", table=[0.5, 0.5])
    network = network.add("c", parents=["b"], table=lambda b: b, states=["true", "false"])
    evidence = evidence_of(network, {"b": "true", "c": "false"})
    with pytest.raises(ImpossibleEvidence, match="Check its states"):
        compiled.joint(network.arrays, evidence, [0])


def test_too_much_memory_is_refused_with_the_forecast() -> None:
    # 26 binary variables in a grid have separators of a few dozen cells; one kilobyte is less.
    with pytest.raises(MemoryLimitError, match=r"cliques of up to \d+ variables .* cells"):
        JunctionTree(memory_limit=1000).marginals(grid(6), Evidence.none(36))


def test_kept_programs_give_the_same_bits() -> None:
    model = grid(5)
    codes = np.full(25, -1)
    codes[[2, 17]] = [0, 1]
    first = JunctionTree().marginals(model, Evidence(codes))
    codes[[2, 17]] = [1, 1]
    JunctionTree().marginals(model, Evidence(codes.copy()))
    codes[[2, 17]] = [0, 1]
    again = JunctionTree().marginals(model, Evidence(codes))
    for one, other in zip(first.tables, again.tables, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("n", [40, 1000])
def test_products_at_a_hub_do_not_underflow(n: int) -> None:
    rare = [[1e-10, 1 - 1e-10], [2e-10, 1 - 2e-10]]
    network = BayesianNetwork().add("root", table=[0.5, 0.5])
    for i in range(n):
        network = network.add(f"v{i}", ["root"], rare)
    known = {f"v{i}": "true" for i in range(n)}
    wanted = math.log(0.5) + n * math.log(2e-10) + math.log1p(0.5**n)
    assert network.log_evidence(known, engine=JunctionTree()) == pytest.approx(wanted, rel=1e-12)
    found = network.query("root", given=known, engine=JunctionTree()).values
    np.testing.assert_allclose(found, [0.5**n / (1 + 0.5**n), 1 / (1 + 0.5**n)], rtol=1e-9)
    assert network.most_probable(known)["root"] == "false"


def hub(children: list[tuple[float, ...]]) -> ModelArrays:
    """A root of three states, and children that are true with these chances in each of them."""
    n = len(children)
    tables = [[0.5, 0.25, 0.25], *([x for p in row for x in (p, 1 - p)] for row in children)]
    return ModelArrays(
        np.r_[3, np.full(n, 2)],
        np.r_[0, 1 + 2 * np.arange(n + 1)],
        np.r_[0, np.stack([np.zeros(n, np.int64), np.arange(1, n + 1)], 1).ravel()],
        np.r_[0, 3 + 6 * np.arange(n + 1)],
        np.concatenate(tables),
        np.arange(n + 1),
        np.arange(n + 1),
    )


def exact_posterior(children: list[tuple[float, ...]]) -> tuple[list[float], float]:
    """Of the root when all children are true, and the logarithm of that, in rational numbers."""
    joint = [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)]
    for chances in children:
        joint = [x * Fraction(p) for x, p in zip(joint, chances, strict=True)]
    total = sum(joint)
    log = math.log(total.numerator) - math.log(total.denominator)
    return [float(x / total) for x in joint], log


HUBS = {
    "many rare children": [(1e-3, 1e-3, 2e-3)] * 10 + [(1e-3, 1e-3, 1e-3)] * 1990,
    "the largest is ruled out": [(1.0, 1e-160, 2e-160)] * 2 + [(0.0, 0.5, 0.5)],
    "ruled out before": [(0.0, 0.5, 0.5)] + [(1.0, 1e-160, 2e-160)] * 3,
    "subnormal numbers": [(0.5, 3e-162, 1e-162)] * 2 + [(0.0, 0.5, 0.25)],
    "up and down": [(1e-8, 1.0, 1.0)] * 60 + [(1.0, 1e-8, 1e-8)] * 60,
}


@pytest.mark.parametrize("name", HUBS)
def test_hubs_equal_rational_numbers(compiled: JunctionTree, name: str) -> None:
    children = HUBS[name]
    wanted, log = exact_posterior(children)
    model, evidence = hub(children), Evidence(np.r_[-1, np.zeros(len(children), np.int64)])
    # Each factor's logarithm is rounded once, to a part in 1e16 of what is thousands at most.
    assert compiled.log_evidence(model, evidence) == pytest.approx(log, rel=1e-12)
    found = compiled.marginals(model, evidence)
    assert found.log_evidence == pytest.approx(log, rel=1e-12)
    for table in (
        found.tables[0],
        compiled.joint(model, evidence, [0]).tables[0],
        compiled.marginals(model, evidence, [0, 1]).tables[0],
        batch_marginals(model, evidence.codes[None], [0])[0][0],
    ):
        np.testing.assert_allclose(table, wanted, rtol=1e-9, atol=1e-15)
    logs = batch_log_evidence(model, np.stack([evidence.codes, np.full(model.n_variables, -1)]))
    assert logs[0] == pytest.approx(log, rel=1e-12)
    assert logs[1] == pytest.approx(0.0, abs=1e-12)
    codes, _ = compiled.most_probable(model, evidence)
    assert wanted[codes[0]] == pytest.approx(max(wanted), rel=1e-9)


def test_impossible_at_a_hub(compiled: JunctionTree) -> None:
    model = hub([(1e-100, 1e-100, 0.0)] * 12 + [(0.0, 0.0, 1.0)])
    evidence = Evidence(np.r_[-1, np.zeros(13, np.int64)])
    assert compiled.log_evidence(model, evidence) == -math.inf
    for question in (compiled.marginals, compiled.most_probable):
        with pytest.raises(ImpossibleEvidence, match="probability 0"):
            question(model, evidence)
    with pytest.raises(ImpossibleEvidence):
        compiled.joint(model, evidence, [0])
    assert np.isnan(batch_marginals(model, evidence.codes[None], [0])[0]).all()
