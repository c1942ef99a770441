"""Gibbs sampling: stated errors, blocks where single updates fail, honest verdicts."""

from __future__ import annotations

import math

import numpy as np
import pytest

from novum.distributions.joint_table import ImpossibleEvidence
from novum.graphical.factor import Factor
from novum.graphical.inference.chain_layout import ChainLayout
from novum.graphical.inference.gibbs import Gibbs, MetropolisHastings
from novum.graphical.inference.protocol import Trust
from novum.graphical.models.bayesian_network import BayesianNetwork
from novum.graphical.models.factor_graph import FactorGraph
from tests.graphical.lattices import ising_grid
from tests.strategies.networks import random_evidence, random_likelihood, random_network
from tests.strategies.stated_errors import check_stated_errors, sprinkler


def chain(n: int, strength: float) -> BayesianNetwork:
    network = BayesianNetwork().add("v0", table=[0.3, 0.7])
    for i in range(1, n):
        low = 1 - strength
        network = network.add(f"v{i}", [f"v{i - 1}"], [[strength, low], [low, strength]])
    return network


@pytest.mark.parametrize("asked", [("rain",), ("rain", "sprinkler")], ids=["one", "joint"])
def test_errors_are_as_stated(asked: tuple[str, ...]) -> None:
    def engine(seed: int) -> Gibbs:
        return Gibbs(600, 100, chains=4, random_state=seed)

    check_stated_errors(sprinkler(), engine, {"wet": "true"}, asked, n_runs=150)


def test_thinned_chains_state_their_errors() -> None:
    def engine(seed: int) -> Gibbs:
        return Gibbs(1600, 100, thin=3, chains=3, block_cells=1, random_state=seed)

    check_stated_errors(sprinkler(), engine, {"wet": "false"}, ("cloudy",), n_runs=150)


@pytest.mark.parametrize("seed", range(12))
def test_trusted_answers_are_right(seed: int) -> None:
    network = random_network(seed, most=6, zeros=0.4)
    known = random_evidence(network, seed)
    weights = random_likelihood(network, seed, known)
    engine = Gibbs(3000, 500, random_state=seed)
    try:
        exact = network.marginals(known, weights)
    except ImpossibleEvidence:
        with pytest.raises(ImpossibleEvidence):
            network.marginals(known, weights, engine=engine)
        return
    found = network.marginals(known, weights, engine=engine)
    for name in network.names:
        gap = np.abs(found[name].values - exact[name].values)
        assert not found.diagnosis.trusted or (gap <= 6 * found[name].errors + 1e-9).all(), name
        assert found[name].values.sum() == pytest.approx(1.0)


def test_near_deterministic_chain_without_blocks_is_not_trusted() -> None:
    engine = Gibbs(1000, 200, chains=4, block_cells=1, random_state=0)
    found = chain(12, 0.9999).query("v11", engine=engine)
    assert not found.diagnosis.trusted
    assert "Not to be trusted" in found.diagnosis.sentence
    assert "JunctionTree" in found.diagnosis.sentence


def test_blocks_make_the_same_chain_mix() -> None:
    network = chain(5, 0.9999)
    found = network.query("v4", engine=Gibbs(2000, 500, block_cells=32, random_state=0))
    assert found.diagnosis.trusted
    np.testing.assert_allclose(found.values, network.query("v4").values, atol=1e-9)


def test_zeros_that_split_the_states_are_updated_together() -> None:
    # Two coins that always agree: single updates never move.
    network = BayesianNetwork().add("a", table=[0.3, 0.7])
    network = network.add("b", ["a"], lambda a: a, states=["true", "false"])
    network = network.add("c", ["b"], [[0.6, 0.4], [0.5, 0.5]])
    found = network.marginals(engine=Gibbs(random_state=0))
    assert found.diagnosis.trusted
    gap = np.abs(found["a"].values - [0.3, 0.7])
    assert (gap <= 5 * found["a"].errors).all()


def test_a_parity_that_ties_all_variables() -> None:
    network = BayesianNetwork()
    for i in range(16):
        network = network.add(f"v{i}", table=[0.5, 0.5])
    parity = lambda *bits: "even" if sum(b == "true" for b in bits) % 2 == 0 else "odd"  # noqa: E731
    network = network.add("sum", [f"v{i}" for i in range(16)], parity, states=["even", "odd"])
    found = network.query("v0", given={"sum": "even"}, engine=Gibbs(random_state=0))
    assert found.diagnosis.trusted
    assert abs(found.values[0] - 0.5) < 5 * found.errors[0]


def test_one_chain_is_not_enough() -> None:
    found = sprinkler().query("rain", engine=Gibbs(chains=1, random_state=0))
    assert not found.diagnosis.trusted
    assert "one chain cannot show" in found.diagnosis.sentence


def test_many_children_do_not_underflow() -> None:
    network = BayesianNetwork().add("a", table=[0.5, 0.5])
    for i in range(200):
        network = network.add(f"b{i}", ["a"], [[0.01, 0.99], [0.0101, 0.9899]])
    known = {f"b{i}": "true" for i in range(199)}
    found = network.query("a", given=known, engine=Gibbs(2000, 100, random_state=0))
    odds = (0.01 / 0.0101) ** 199
    np.testing.assert_allclose(found.values[0], odds / (1 + odds), atol=1e-9)


def test_undirected_models() -> None:
    pairs = [(i, j) for i in range(4) for j in range(i)]
    graph = FactorGraph(
        [Factor([[2.0, 1.0], [1.0, 3.0]], {f"x{i}": (0, 1), f"x{j}": (0, 1)}) for i, j in pairs]
    )
    found = graph.marginals({"x0": 1}, engine=Gibbs(4000, 500, random_state=3))
    exact = graph.marginals({"x0": 1})
    for name in graph.names:
        assert (np.abs(found[name].values - exact[name].values) <= 5 * found[name].errors).all()


@pytest.fixture
def without_jumps(monkeypatch: pytest.MonkeyPatch) -> None:
    """What chains show by themselves, as where all jumps fail."""
    monkeypatch.setattr(ChainLayout, "can_jump", property(lambda _: False))


@pytest.mark.parametrize("strength", [-1.2, 0.7, 1.2])
def test_jumps_lead_from_side_to_side(strength: float) -> None:
    graph = ising_grid(6, strength)
    exact = graph.query("x35").values
    for seed in range(4):
        found = graph.query("x35", engine=Gibbs(random_state=seed))
        assert found.diagnosis.trusted
        assert (np.abs(found.values - exact) <= 5 * found.errors).all()


@pytest.mark.usefixtures("without_jumps")
@pytest.mark.parametrize("strength", [-1.2, 0.7, 1.2])
def test_links_that_add_up_are_not_trusted(strength: float) -> None:
    # No table is extreme, but four of them hold each variable in place, and its neighbors too.
    graph = ising_grid(6, strength)
    for seed in range(8):
        found = graph.query("x35", engine=Gibbs(random_state=seed))
        assert not found.diagnosis.trusted
        assert "that began far apart" in found.diagnosis.sentence or (
            "a maximum elsewhere should have a probability of about 0.4" in found.diagnosis.sentence
        )


@pytest.mark.usefixtures("without_jumps")
def test_chains_that_met_by_chance_are_not_trusted() -> None:
    # With some seeds all chains of the grid end on one side, and R-hat finds nothing.
    graph = ising_grid(6, 0.7)
    said = [graph.query("x35", engine=Gibbs(random_state=seed)).diagnosis for seed in range(60)]
    assert not any(one.trusted for one in said)
    assert any(one.r_hat < 1.05 and "a maximum elsewhere" in one.sentence for one in said)


@pytest.mark.usefixtures("without_jumps")
@pytest.mark.parametrize(("strength", "trust"), [(0.2, Trust.PROVED), (0.35, Trust.NO_FAULT_FOUND)])
def test_grids_that_mix_are_right_and_proved_below_dobrushins_sum(strength, trust) -> None:
    # Links of four neighbors add up to 4 tanh(strength).
    graph = ising_grid(6, strength)
    exact = graph.marginals()
    for seed in range(5):
        found = graph.marginals(engine=Gibbs(random_state=seed))
        assert found.diagnosis.trust is trust
        assert str(trust) in found.diagnosis.sentence.lower()
        for name in graph.names:
            gap = np.abs(found[name].values - exact[name].values)
            assert (gap <= 5 * found[name].errors).all(), name


def parities(n_bits: int, n_readings: int, ratio: float) -> tuple[FactorGraph, np.ndarray]:
    """Readings of the parity of five bits each, all as one state of the bits has them."""
    rng = np.random.default_rng(11)
    truth = rng.integers(0, 2, n_bits)
    even = np.indices((2, 2, 2, 2, 2)).sum(axis=0) % 2 == 0
    factors = []
    for _ in range(n_readings):
        chosen = np.sort(rng.choice(n_bits, 5, replace=False))
        agrees = even == (truth[chosen].sum() % 2 == 0)
        bits = {f"x{i}": (0, 1) for i in chosen.tolist()}
        factors.append(Factor(np.where(agrees, ratio, 1.0), bits))
    return FactorGraph(factors), truth


@pytest.mark.parametrize("engine", [Gibbs, MetropolisHastings])
def test_a_state_that_nothing_leads_to_is_not_called_faultless(engine) -> None:
    # Its weight is 1.6^250 = e^117.5, and that of all others together about 2^50 1.3^250 = e^100.
    graph, truth = parities(50, 250, 1.6)
    for seed in range(2):
        found = graph.query("x0", engine=engine(2000, 500, random_state=seed))
        assert found.values[truth[0]] < 0.9
        assert found.diagnosis.trust is Trust.FAULT_FOUND
        assert "can hide a state that nothing leads to" in found.diagnosis.sentence


@pytest.mark.usefixtures("without_jumps")
def test_weak_links_of_many_variables_are_proved() -> None:
    graph, _ = parities(30, 30, 1.02)
    found = graph.query("x0", engine=Gibbs(random_state=0))
    assert found.diagnosis.trust is Trust.PROVED
    assert (np.abs(found.values - 0.5) <= 5 * found.errors).all()


@pytest.mark.usefixtures("without_jumps")
def test_a_sum_just_below_one_proves_nothing() -> None:
    # What a sweep keeps of where it began is lost only after more sweeps than there are.
    graph = ising_grid(6, math.atanh(0.249))
    assert graph.query("x0", engine=Gibbs(random_state=0)).diagnosis.trust is Trust.NO_FAULT_FOUND


@pytest.mark.usefixtures("without_jumps")
def test_variables_that_are_not_asked_for_must_agree_too() -> None:
    # What is asked hardly depends on a grid that does not mix.
    grid = ising_grid(5, 1.0)
    loose = Factor([[1.01, 1.0], [1.0, 1.01]], {"x0": (0, 1), "y": (0, 1)})
    found = FactorGraph([*grid.factors, loose]).query("y", engine=Gibbs(random_state=0))
    assert not found.diagnosis.trusted
    assert found.diagnosis.r_hat > 1.05


def test_same_seed_same_bits() -> None:
    network = sprinkler()
    first = network.marginals(engine=Gibbs(500, 50, random_state=4))
    again = network.marginals(engine=Gibbs(500, 50, random_state=4))
    other = network.marginals(engine=Gibbs(500, 50, random_state=5))
    values = [np.concatenate([m[n].values for n in network.names]) for m in (first, again, other)]
    np.testing.assert_array_equal(values[0], values[1])
    assert (values[0] != values[2]).any()


def test_everything_observed_and_single_states() -> None:
    network = sprinkler()
    known = dict.fromkeys(network.names, "true")
    found = network.marginals(known, engine=Gibbs(100, 10, random_state=0))
    assert all(found[name].values.tolist() == [1.0, 0.0] for name in network.names)
    assert network.query("rain", "wet", given=known, engine=Gibbs(100, 10)).values[0, 0] == 1
    alone = BayesianNetwork().add("only", table=[1.0], states=["x"])
    assert alone.query("only", engine=Gibbs(100, 10, random_state=0)).values.tolist() == [1.0]
