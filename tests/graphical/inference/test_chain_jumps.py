"""Jumps: they keep the posterior, and reach what single updates do not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from novum.graphical.factor import Factor
from novum.graphical.inference.blocks import blocks_of, determined
from novum.graphical.inference.chain_layout import ChainLayout, chain_layout
from novum.graphical.inference.chain_runs_kernels import jump
from novum.graphical.inference.gibbs import Gibbs, MetropolisHastings
from novum.graphical.inference.mini_buckets import mini_buckets
from novum.graphical.models.bayesian_network import BayesianNetwork
from novum.graphical.models.factor_graph import FactorGraph
from novum.graphical.models.questions import evidence_of
from tests.graphical.lattices import potts_grid
from tests.strategies.stated_errors import sprinkler

STIFF = [[0.9999, 0.0001], [0.0001, 0.9999]]


def stiff_network(n: int = 10) -> BayesianNetwork:
    network = BayesianNetwork().add("x0", table=[0.3, 0.7])
    for i in range(1, n):
        network = network.add(f"x{i}", [f"x{i - 1}"], STIFF)
    return network


def test_jumps_alone_have_the_posterior_as_their_limit() -> None:
    network = sprinkler()
    known = evidence_of(network, {"wet": "true"}, {"cloudy": [0.2, 0.9]})
    left, _ = determined(network.arrays, known)
    blocks = blocks_of(left, 1)
    # Tables of two cells: most buckets are split.
    buckets = mini_buckets(left, 2)
    assert buckets.n_split > 0
    split = buckets.split_arrays()
    layout = chain_layout(blocks, int(np.diff(split[1]).max()))
    cells = layout.working[0]
    counts, accepted, n = np.zeros(2), 0, 20_000
    rng = np.random.default_rng(5)
    drawn, logs = buckets.draw(rng, n)
    for row, log, u in zip(np.ascontiguousarray(drawn.T), logs, rng.random(n), strict=True):
        accepted += jump(layout.model, layout.states, layout.jumping, split, row, log, u, cells)
        counts[cells[0]] += 1
    exact = network.query("cloudy", given={"wet": "true"}, likelihood={"cloudy": [0.2, 0.9]})
    # At least half of the jumps are accepted, so ten rows hold more than one independent one.
    assert accepted > n / 2
    error = np.sqrt(exact.values[0] * exact.values[1] / (n / 10))
    assert abs(counts[0] / n - exact.values[0]) < stats.norm.isf(5e-7) * error


@pytest.mark.parametrize("engine", [Gibbs, MetropolisHastings])
def test_a_stiff_network_is_right_without_blocks(engine) -> None:
    network = stiff_network()
    found = network.marginals(engine=engine(8000, 500, block_cells=1, random_state=1))
    assert found.diagnosis.trusted
    exact = network.marginals()
    for name in network.names:
        gap = np.abs(found[name].values - exact[name].values)
        assert (gap <= 5 * found[name].errors).all(), name


def test_the_same_model_without_directions(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = [Factor(STIFF, {f"x{i}": (0, 1), f"x{i + 1}": (0, 1)}) for i in range(9)]
    graph = FactorGraph([Factor([0.3, 0.7], {"x0": (0, 1)}), *pairs])
    found = graph.query("x9", engine=Gibbs(block_cells=1, random_state=0))
    assert found.diagnosis.trusted
    assert (np.abs(found.values - graph.query("x9").values) <= 5 * found.errors).all()
    monkeypatch.setattr(ChainLayout, "can_jump", property(lambda _: False))
    found = graph.query("x9", engine=Gibbs(block_cells=1, random_state=0))
    assert not found.diagnosis.trusted
    assert "can keep all chains away from the same states" in found.diagnosis.sentence
    assert "0 jumps to states drawn anew are certain" in found.diagnosis.sentence


def test_evidence_that_no_prior_draw_meets() -> None:
    network = stiff_network(8)
    for i in range(8):
        network = network.add(f"y{i}", [f"x{i}"], [[1e-4, 1 - 1e-4], [2e-4, 1 - 2e-4]])
        network = network.add(f"z{i}", [f"y{i}"], [[0.99, 0.01], [1e-5, 1 - 1e-5]])
    known = {f"z{i}": "true" for i in range(8)}
    found = network.query("x0", given=known, engine=Gibbs(block_cells=1, random_state=0))
    assert found.diagnosis.trusted
    exact = network.query("x0", given=known).values
    assert (np.abs(found.values - exact) <= 5 * found.errors).all()


def test_no_error_is_stated_below_what_jumps_can_show() -> None:
    engine = Gibbs(2000, 500, chains=4, block_cells=1, random_state=0)
    found = stiff_network().query("x9", engine=engine)
    # All of the jumps are accepted without evidence: one sweep in eight begins with one.
    assert (found.errors >= np.sqrt(2) / 752).all()


def test_a_rare_side_of_moderate_links_lies_within_the_errors() -> None:
    # No table is extreme, but the side that a weak field makes rare is met by jumps alone.
    field = [Factor([1.0, np.exp(0.15)], {f"x{i}": (0, 1)}) for i in range(25)]
    graph = FactorGraph([*potts_grid(5, 0.9, 2).factors, *field])
    exact = graph.query("x12").values
    assert 0.001 < exact[0] < 0.02
    for seed in range(8):
        found = graph.query("x12", engine=Gibbs(1000, 200, block_cells=1, random_state=seed))
        assert (np.abs(found.values - exact) <= 4 * found.errors).all()
        # All jumps are accepted, 100 of each chain.
        assert (found.errors >= np.sqrt(2) / 400).all()


def two_modes(prior: float) -> tuple[BayesianNetwork, dict[str, str]]:
    """Copies that follow a root, none of its links strong, each with a sign of the rare state."""
    network = BayesianNetwork().add("root", table=[prior, 1 - prior])
    for i in range(12):
        network = network.add(f"copy{i}", ["root"], [[0.94, 0.06], [0.06, 0.94]])
        network = network.add(f"sign{i}", [f"copy{i}"], [[0.6, 0.4], [0.2, 0.8]])
    return network, {f"sign{i}": "true" for i in range(12)}


@pytest.mark.parametrize("engine", [Gibbs, MetropolisHastings])
@pytest.mark.parametrize("prior", [1e-3, 1e-4, 1e-5])
def test_a_mode_that_is_never_drawn_from_its_prior(engine, prior: float) -> None:
    network, signs = two_modes(prior)
    exact = network.query("root", given=signs).values[0]
    for seed in range(4):
        found = network.query("root", given=signs, engine=engine(block_cells=1, random_state=seed))
        assert found.diagnosis.trusted
        assert abs(found.values[0] - exact) < 5 * found.errors[0]


def test_jumps_whose_weights_vary_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("novum.graphical.inference.chain_runs.PROPOSAL_CELLS", 4)
    grid = potts_grid(12, 0.6, 2)
    found = grid.query("x143", engine=Gibbs(block_cells=1, random_state=0))
    exact = grid.query("x143").values
    gap = np.abs(found.values - exact).max()
    assert not found.diagnosis.trusted or gap < 5 * found.errors.max()


@pytest.mark.parametrize("engine", [Gibbs, MetropolisHastings])
def test_zeros_that_tie_many_variables_together(engine) -> None:
    # Parities of neighbors, all observed: no update of one variable keeps to them.
    network = BayesianNetwork()
    rng = np.random.default_rng(0)
    for i in range(30):
        share = float(rng.uniform(0.2, 0.8))
        network = network.add(f"v{i}", table=[share, 1 - share])
    # More than a block may hold: 2^16 of them are possible.
    for i in range(0, 27, 2):
        four = [f"v{j}" for j in range(i, i + 4)]
        network = network.add(
            f"sum{i}",
            four,
            lambda *bits: "even" if bits.count("true") % 2 == 0 else "odd",
            states=["even", "odd"],
        )
    given = {f"sum{i}": "even" for i in range(0, 27, 2)}
    exact = network.marginals(given)
    found = network.marginals(given, engine=engine(random_state=0))
    assert found.diagnosis.trusted
    for name in network.names:
        gap = np.abs(found[name].values - exact[name].values)
        assert (gap <= 5 * found[name].errors).all(), name
