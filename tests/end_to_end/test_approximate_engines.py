"""All approximate engines on questions that are hard, or hardly worth asking."""

from __future__ import annotations

import _thread
import itertools
import threading
from dataclasses import replace

import numpy as np
import pytest

from novum.core.errors import InputError
from novum.distributions.joint_table import ImpossibleEvidence
from novum.graphical.factor import Factor
from novum.graphical.inference.belief_propagation import LoopyPropagation
from novum.graphical.inference.blocks import MixingError
from novum.graphical.inference.gibbs import Gibbs, MetropolisHastings
from novum.graphical.inference.mean_field import MeanField
from novum.graphical.inference.plain_junction import SumProduct
from novum.graphical.inference.protocol import Engine, Trust
from novum.graphical.inference.sampling import (
    ForwardSampling,
    LikelihoodWeighting,
    NothingAcceptedError,
    RejectionSampling,
)
from novum.graphical.models.arrays import Evidence, ModelArrays
from novum.graphical.models.bayesian_network import BayesianNetwork
from novum.graphical.models.compact import noisy_or
from novum.graphical.models.factor_graph import FactorGraph
from tests.graphical.networks_on_disk import network_on_disk
from tests.strategies.stated_errors import sprinkler

LOCAL: list[Engine] = [
    LoopyPropagation(),
    LoopyPropagation("residual"),
    MeanField(random_state=0),
    Gibbs(1200, 200, random_state=0),
    MetropolisHastings(4000, 400, random_state=0),
]
SAMPLERS: list[Engine] = [
    LikelihoodWeighting(4000, random_state=0),
    RejectionSampling(2000, random_state=0),
]
ALL = [*LOCAL, *SAMPLERS]
SAMPLED = [engine for engine in ALL if not isinstance(engine, LoopyPropagation | MeanField)]


def lonely() -> BayesianNetwork:
    """A node of one state, a node without neighbors, and a pair."""
    return (
        BayesianNetwork()
        .add("only", table=[1.0], states=["x"])
        .add("alone", table=[0.2, 0.3, 0.5], states=["a", "b", "c"])
        .add("first", ["only"], [[0.4, 0.6]])
        .add("second", ["first", "only"], [[[0.9, 0.1]], [[0.5, 0.5]]])
    )


@pytest.mark.parametrize("engine", ALL, ids=str)
def test_single_states_and_nodes_without_neighbors(engine: Engine) -> None:
    network = lonely()
    found, exact = network.marginals(engine=engine), network.marginals()
    assert found["only"].values.tolist() == [1.0]
    for name in network.names:
        np.testing.assert_allclose(found[name].values, exact[name].values, atol=0.06)
    both = network.query("only", "alone", given={"second": "true"}, engine=engine)
    assert both.values.shape == (1, 3)
    np.testing.assert_allclose(both.values[0], [0.2, 0.3, 0.5], atol=0.06)


@pytest.mark.parametrize("engine", ALL, ids=str)
def test_all_nodes_observed(engine: Engine) -> None:
    network = sprinkler()
    known = dict.fromkeys(network.names, "false")
    found = network.marginals(known, engine=engine)
    for name in network.names:
        assert found[name].values.tolist() == [0.0, 1.0]
        if found[name].errors is not None:
            assert found[name].errors.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("engine", ALL, ids=str)
def test_impossible_evidence_is_named(engine: Engine) -> None:
    network = BayesianNetwork().add("a", table=[0.5, 0.5])
    network = network.add("b", ["a"], lambda a: a, states=["true", "false"])
    network = network.add("c", ["b"], [[0.6, 0.4], [0.5, 0.5]])
    with pytest.raises(ImpossibleEvidence, match="cannot hold together"):
        network.query("c", given={"a": "true", "b": "false"}, engine=engine)


@pytest.mark.parametrize("engine", ALL, ids=str)
def test_likelihoods_and_interventions(engine: Engine) -> None:
    network = sprinkler()
    asked = {"likelihood": {"wet": [0.9, 0.3]}, "do": {"sprinkler": "true"}}
    found, exact = network.marginals(**asked, engine=engine), network.marginals(**asked)
    for name in network.names:
        # Mean field takes the two causes that are left as independent.
        np.testing.assert_allclose(found[name].values, exact[name].values, atol=0.08)
        if engine in SAMPLED:
            gap = np.abs(found[name].values - exact[name].values)
            assert (gap <= 5 * found[name].errors).all(), name


@pytest.mark.parametrize("engine", LOCAL, ids=str)
def test_undirected_models(engine: Engine) -> None:
    pairs = [(i, j) for i, j in itertools.combinations(range(4), 2) if j - i < 3]
    graph = FactorGraph(
        [Factor([[2.0, 1.0], [1.0, 3.0]], {f"x{i}": (0, 1), f"x{j}": (0, 1)}) for i, j in pairs]
    )
    found, exact = graph.marginals({"x0": 1}, engine=engine), graph.marginals({"x0": 1})
    for name in graph.names:
        np.testing.assert_allclose(found[name].values, exact[name].values, atol=0.1)


@pytest.mark.parametrize("engine", ALL, ids=str)
def test_hidden_variables_of_noisy_or(engine: Engine) -> None:
    causes = [f"c{i}" for i in range(8)]
    network = BayesianNetwork()
    for name in causes:
        network = network.add(name, table=[0.2, 0.8])
    network = network.add("e", causes, noisy_or(dict.fromkeys(causes, 0.5), leak=0.05))
    found, exact = network.marginals({"e": "true"}, engine=engine), network.marginals({"e": "true"})
    assert set(found) == set(network.names)
    for name in causes:
        assert found[name].values[0] == pytest.approx(exact[name].values[0], abs=0.12)
        if engine in SAMPLED:
            gap = np.abs(found[name].values - exact[name].values)
            assert not found.diagnosis.trusted or (gap <= 5 * found[name].errors).all(), name


def test_evidence_of_tiny_probability() -> None:
    network = BayesianNetwork().add("a", table=[0.5, 0.5])
    for i in range(30):
        network = network.add(f"b{i}", ["a"], [[0.02, 0.98], [0.01, 0.99]])
    network = network.add("c", [f"b{i}" for i in range(3)], np.full((2, 2, 2, 2), 0.5))
    known = {f"b{i}": "true" for i in range(30)}
    with pytest.raises(NothingAcceptedError, match=r"None of 5000 rows .* Use LikelihoodWeighting"):
        network.query("a", given=known, engine=RejectionSampling(10, 5000, random_state=0))
    # All rows of the likelier state weigh the same, so here weights do not fail.
    found = network.query("a", given=known, engine=LikelihoodWeighting(4000, random_state=0))
    assert found.values[0] == pytest.approx(1.0, abs=1e-6)
    far = network.add("d", ["a"], [[1e-4, 1 - 1e-4], [1e-9, 1 - 1e-9]])
    far = far.add("e", ["d"], [[0.9, 0.1], [1e-7, 1 - 1e-7]])
    said = far.query("d", given={"e": "true"}, engine=LikelihoodWeighting(4000, random_state=3))
    assert not said.diagnosis.trusted
    assert "states too rare to be drawn may have" in said.diagnosis.sentence


def long_chain(n: int) -> ModelArrays:
    tables = np.random.default_rng(0).dirichlet([2.0, 2.0], size=(n, 2))
    ends = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1)
    return ModelArrays(
        cards=np.full(n, 2),
        scope_starts=np.concatenate([[0], 1 + 2 * np.arange(n)]),
        scopes=np.concatenate([[0], ends.ravel()]),
        table_starts=np.concatenate([[0], 2 + 4 * np.arange(n)]),
        tables=np.concatenate([tables[0, 0], tables[1:].ravel()]),
        heads=np.arange(n),
        order=np.arange(n),
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "engine",
    [
        LoopyPropagation(),
        LoopyPropagation("residual"),
        MeanField(20, starts=1),
        Gibbs(100, 20, random_state=0),
        MetropolisHastings(100, 20, random_state=0),
        LikelihoodWeighting(200, random_state=0),
        RejectionSampling(200, 2000, random_state=0),
        ForwardSampling(200, random_state=0),
    ],
    ids=str,
)
@pytest.mark.parametrize("n", [2000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_thousands_of_nodes(engine: Engine, n: int) -> None:
    model = long_chain(n)
    codes = np.full(n, -1)
    codes[::10] = 0
    for evidence in (Evidence.none(n), Evidence(codes)):
        try:
            found = engine.marginals(model, evidence)
        except InputError:
            # Rows of the network alone do not meet a thousand findings.
            assert isinstance(engine, ForwardSampling | RejectionSampling)
            continue
        assert len(found.tables) == n
        sums = np.array([table.sum() for table in found.tables])
        np.testing.assert_allclose(sums, 1.0, atol=1e-9)
        if isinstance(engine, LoopyPropagation):
            exact = SumProduct().marginals(model, evidence)
            for one, other in zip(found.tables, exact.tables, strict=True):
                np.testing.assert_allclose(one, other, atol=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cancer", "asia", "child", "alarm", "hailfinder", "andes"])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.3])
def test_trusted_chains_are_right_on_published_networks(name: str, share: float) -> None:
    network = network_on_disk(name)
    rng = np.random.default_rng(5)
    row = network.sample(1, random_state=5).to_pylist()[0]
    observed = rng.choice(len(network), int(np.ceil(share * len(network))), replace=False)
    known = {network.names[place]: row[network.names[place]] for place in observed}
    exact = network.marginals(known)
    for seed in range(3):
        try:
            found = network.marginals(known, engine=Gibbs(random_state=seed))
        except MixingError:
            return
        if found.diagnosis.trust is Trust.FAULT_FOUND:
            assert "Not to be trusted" in found.diagnosis.sentence
            continue
        for node in network.names:
            gap = np.abs(found[node].values - exact[node].values)
            assert (gap <= 5 * found[node].errors + 1e-9).all(), node
            assert gap.max() <= 0.05, node


@pytest.mark.parametrize(
    ("engine", "longer"),
    [
        (Gibbs(100, 0), {"sweeps": 10**9}),
        (MetropolisHastings(100, 0), {"sweeps": 10**9}),
        (LikelihoodWeighting(100), {"size": 10**10}),
        (RejectionSampling(100), {"size": 10**9, "max_draws": 10**10}),
    ],
    ids=str,
)
@pytest.mark.usefixtures("without_collector")
def test_long_runs_can_be_stopped(engine: Engine, longer: dict[str, int]) -> None:
    network = sprinkler()
    network.query("rain", given={"wet": "true"}, engine=engine)
    check_stopped(network, replace(engine, **longer), {"wet": "true"})


@pytest.mark.usefixtures("without_collector")
@pytest.mark.parametrize("schedule", ["flooding", "residual"])
def test_messages_that_swing_can_be_stopped(schedule: str) -> None:
    # Three that cannot all differ from each other.
    ring = FactorGraph(
        [Factor([1.0, 3.0], {"x0": (0, 1)})]
        + [
            Factor([[1e-6, 1.0], [1.0, 1e-6]], {f"x{i}": (0, 1), f"x{(i + 1) % 3}": (0, 1)})
            for i in range(3)
        ]
    )
    engine = LoopyPropagation(schedule, max_iter=5)
    assert "did not settle" in ring.query("x1", engine=engine).diagnosis.sentence
    check_stopped(ring, replace(engine, max_iter=10**12), {})


def check_stopped(model, engine: Engine, given: dict[str, str]) -> None:
    """A run of many hours ends soon after Ctrl-C."""
    asked = "rain" if given else "x1"
    timer = threading.Timer(0.2, _thread.interrupt_main)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            model.query(asked, given=given, engine=engine)
    finally:
        timer.cancel()
