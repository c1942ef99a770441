"""Networks with states and numbers against enumeration of every discrete configuration."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad

from novum.core.errors import InputError, MemoryLimitError
from novum.core.files import load, save
from novum.distributions import ImpossibleEvidence, StateAxis
from novum.graphical import (
    ConditionalGaussianNetwork,
    Dag,
    LinearGaussian,
    LinearGaussianNetwork,
    MixtureOfNormals,
    Tabular,
)
from novum.graphical.models import gaussian_parts
from tests.oracles.gaussian_network_definitions import log_density, moments_given


def random_network(seed: int, n_discrete: int = 3, n_numeric: int = 4):
    """A graph with edges of all three kinds."""
    rng = np.random.default_rng(seed)
    d = n_discrete + n_numeric
    names = tuple(f"d{i}" for i in range(n_discrete)) + tuple(f"x{i}" for i in range(n_numeric))
    axes = [StateAxis(names[i], tuple("abc"[: rng.integers(2, 4)])) for i in range(n_discrete)]
    parents, nodes = [], []
    for i in range(d):
        above = [p for p in range(i) if rng.random() < 0.45 and (i >= n_discrete or p < n_discrete)]
        parents.append(tuple(above))
        switches = tuple(axes[p] for p in above if p < n_discrete)
        shape = tuple(len(a.states) for a in switches)
        if i < n_discrete:
            cells = rng.dirichlet(np.ones(len(axes[i].states)), shape)
            nodes.append(Tabular(axes[i], switches, cells))
            continue
        z = sum(p >= n_discrete for p in above)
        nodes.append(
            LinearGaussian(
                rng.normal(size=shape) if shape else 0.3,
                rng.normal(size=(*shape, z)),
                rng.uniform(0.3, 2.0, shape) if shape else 0.7,
            )
        )
    return ConditionalGaussianNetwork(Dag(names, tuple(parents)), tuple(nodes))


def some_given(network, seed: int) -> dict:
    rng = np.random.default_rng(seed)
    row = {name: cells[0] for name, cells in network.sample(1, seed).items()}
    return {n: v if isinstance(v, str) else float(v) for n, v in row.items() if rng.random() < 0.45}


@pytest.mark.parametrize("seed", range(12))
def test_answers_equal_enumeration(seed: int) -> None:
    network = random_network(seed)
    for case in range(3):
        given = some_given(network, case)
        assert network.log_evidence(given) == pytest.approx(log_density(network, given), rel=1e-9)
        laws = network.marginals(given)
        assert set(laws) == {*network.names} - {*given}
        for name, law in laws.items():
            if name.startswith("d"):
                expected = moments_given(network, name, given)
                np.testing.assert_allclose(law.probabilities, expected, atol=1e-10)
            else:
                expected = moments_given(network, name, given)
                assert (law.mean, law.variance) == pytest.approx(expected, rel=1e-8)


def spread_out(network: ConditionalGaussianNetwork, seed: int) -> ConditionalGaussianNetwork:
    """The same graph with laws of very different spreads, far apart."""
    rng = np.random.default_rng(seed)
    nodes = [
        node
        if isinstance(node, Tabular)
        else LinearGaussian(
            100 * rng.normal(size=np.shape(node.intercept)),
            node.coefficients,
            10.0 ** rng.uniform(-2, 4, np.shape(node.variance)),
        )
        for node in network.nodes
    ]
    return ConditionalGaussianNetwork(network.graph, tuple(nodes))


@pytest.mark.parametrize("seed", range(12))
def test_densities_may_be_as_far_apart_as_they_like(seed: int) -> None:
    network = spread_out(random_network(seed), seed)
    other = spread_out(random_network(seed), seed + 100)
    for case in range(3):
        # Drawn from other laws: what is given is far from the nearest case, or rules it out.
        given = some_given(other, case)
        log = log_density(network, given)
        assert network.log_evidence(given) == pytest.approx(log, rel=1e-9)
        for name in (n for n in network.names if n.startswith("d") and n not in given):
            expected = moments_given(network, name, given)
            np.testing.assert_allclose(
                network.query(name, given).probabilities, expected, atol=1e-7
            )


def test_states_that_cannot_be_are_named_without_the_numbers() -> None:
    kind = StateAxis("kind", ("cat", "dog"))
    voice = Tabular(StateAxis("voice", ("meow", "bark")), (kind,), [[1.0, 0.0], [0.0, 1.0]])
    coat = Tabular(StateAxis("coat", ("long", "short")), (kind,), [[0.6, 0.4], [0.3, 0.7]])
    network = ConditionalGaussianNetwork(
        Dag.from_edges([("kind", "voice"), ("kind", "coat"), ("kind", "weight")]),
        (
            Tabular(kind, (), [0.5, 0.5]),
            voice,
            coat,
            LinearGaussian([4.0, 30.0], np.zeros((2, 0)), [0.01, 0.01]),
        ),
    )
    # The weight is that of a dog, and still only cats meow.
    law = network.query("coat", {"voice": "meow", "weight": 29.0})
    assert law.probabilities.tolist() == pytest.approx([0.6, 0.4])
    for weighed in ({}, {"weight": 17.0}, {"weight": 29.0}):
        impossible = {"kind": "cat", "voice": "bark", **weighed}
        assert network.log_evidence(impossible) == -math.inf
        with pytest.raises(ImpossibleEvidence, match="0: 'kind' = 'cat', 'voice' = 'bark' cannot"):
            network.query("coat", impossible)
    with pytest.raises(InputError, match="What is given of 'weight' is too far"):
        network.query("coat", {"weight": 1e200})
    assert network.log_density({"weight": 1e200}) == -math.inf


@pytest.mark.parametrize("seed", [1, 4])
@pytest.mark.parametrize("most", [4096, 1])
def test_rows_with_missing_cells_are_summed_over(
    seed: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("novum.graphical.models.gaussian_evidence.MOST_TOGETHER", most)
    network = random_network(seed)
    rng = np.random.default_rng(seed)
    rows = network.sample(25, seed)
    table, wanted = {}, []
    for name, cells in rows.items():
        gone = rng.random(25) < 0.4
        table[name] = [
            None if g else (c if isinstance(c, str) else float(c))
            for g, c in zip(gone, cells.tolist(), strict=True)
        ]
    for row in range(25):
        given = {name: cells[row] for name, cells in table.items() if cells[row] is not None}
        wanted.append(log_density(network, given) if given else 0.0)
    np.testing.assert_allclose(network.log_density(table), wanted, rtol=1e-9, atol=1e-12)


def test_a_density_of_one_number_integrates_to_the_chance_of_the_states() -> None:
    network = random_network(3)
    states = {n: str(v[0]) for n, v in network.sample(1, 0).items() if n.startswith("d")}
    area, _ = quad(lambda x: math.exp(network.log_density({**states, "x3": x})), -40, 40, limit=200)
    assert area == pytest.approx(math.exp(network.log_evidence(states)), rel=1e-6)


def test_draws_have_the_moments() -> None:
    network = random_network(7)
    rows = network.sample(40_000, random_state=1)
    for name, law in network.marginals().items():
        cells = rows[name]
        if name.startswith("d"):
            shares = [(cells == s).mean() for s in law.states[0]]
            np.testing.assert_allclose(shares, law.probabilities, atol=0.015)
        else:
            spread = math.sqrt(law.variance)
            assert cells.mean() == pytest.approx(law.mean, abs=5 * spread / 200)
            assert cells.std() == pytest.approx(spread, rel=0.05)


def test_known_numbers_cut_a_long_chain_into_cheap_parts() -> None:
    # 40 switches of one chain of numbers: their states together are beyond counting.
    n = 40
    names = [f"s{i}" for i in range(n)] + [f"x{i}" for i in range(n)]
    edges = [(f"s{i}", f"x{i}") for i in range(n)] + [(f"x{i}", f"x{i + 1}") for i in range(n - 1)]
    graph = Dag.from_edges(edges, names)
    nodes = [Tabular(StateAxis(f"s{i}", (0, 1)), (), [0.5, 0.5]) for i in range(n)]
    slopes = [np.zeros((2, 0))] + [np.full((2, 1), 0.5)] * (n - 1)
    nodes += [LinearGaussian([0.0, 2.0], s, [1.0, 1.0]) for s in slopes]
    network = ConditionalGaussianNetwork(graph, tuple(nodes))
    with pytest.raises(MemoryLimitError, match=r"mixture over the .* states of .* Say the state"):
        network.query("x39", {"x0": 1.0})
    given = {f"x{i}": 1.0 for i in range(n)}
    # Every number is known: each switch has a likelihood of its own.
    share = network.query("s5", given).probabilities
    odds = math.exp(-0.5 * (0.5**2 - 1.5**2))
    assert share[0] == pytest.approx(odds / (1 + odds))
    assert network.query("x1", {"x0": 1.0, "x2": 2.0}).variance > 0


def test_setting_is_not_seeing_and_files_hold_everything(tmp_path: Path) -> None:
    network = random_network(2)
    path = tmp_path / "mixed.novum"
    save(network, path)
    assert load(path) == network
    changed = network.do({"d0": "a", "x1": 3.0})
    assert changed.query("x1").mean == pytest.approx(3.0)
    assert changed.query("d0").probabilities[0] == 1.0
    parents = [network.names[p] for p in network.graph.parents[network.graph.places["x1"]]]
    for name in parents:
        if name.startswith("x"):
            assert changed.query(name).mean == pytest.approx(
                network.do({"d0": "a"}).query(name).mean
            )
    text = network.to_text()
    assert text.count("\n") == sum(
        math.prod(network.card(p) for p in network.discrete_parents[i]) for i in range(7)
    )
    picture = network.draw({"x0": 1.0})
    assert "= 1" in picture
    assert "±" in picture
    assert network._repr_html_().startswith("<svg")


def test_a_mixture_is_a_law() -> None:
    law = MixtureOfNormals([0.3, 0.7], [-1.0, 2.0], [0.5, 4.0])
    assert quad(law.density, -30, 30, limit=200)[0] == pytest.approx(1.0)
    assert quad(lambda x: x * law.density(x), -40, 40, limit=200)[0] == pytest.approx(law.mean)
    levels = np.array([0.001, 0.3, 0.5, 0.99])
    np.testing.assert_allclose(law.cdf(law.quantile(levels)), levels, rtol=1e-12)
    assert law.quantile([0.0, 1.0]).tolist() == [-math.inf, math.inf]
    assert law.sample(20_000, 0).mean() == pytest.approx(law.mean, abs=0.1)
    with pytest.raises(InputError, match="sum to one"):
        MixtureOfNormals([0.3, 0.3], [0.0, 1.0], [1.0, 1.0])


KIND = StateAxis("kind", ("a", "b"))
GRAPH = Dag.from_edges([("kind", "size")])


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: ConditionalGaussianNetwork(
                Dag.from_edges([("size", "kind")]),
                (LinearGaussian(0.0, (), 1.0), Tabular(KIND, (), [0.5, 0.5])),
            ),
            "discrete node 'kind' has the numeric parent 'size'",
        ),
        (
            lambda: ConditionalGaussianNetwork(
                GRAPH, (Tabular(KIND, (), [0.5, 0.5]), LinearGaussian(0.0, (), 1.0))
            ),
            "one axis for each discrete parent",
        ),
        (
            lambda: ConditionalGaussianNetwork(
                GRAPH,
                (
                    Tabular(StateAxis("type", ("a", "b")), (), [0.5, 0.5]),
                    LinearGaussian([0.0, 1.0], np.zeros((2, 0)), [1.0, 1.0]),
                ),
            ),
            "stands at the node 'kind'",
        ),
        (
            lambda: LinearGaussianNetwork(Dag(("kind",), ((),)), (Tabular(KIND, (), [0.5, 0.5]),)),
            "numbers only",
        ),
        (lambda: random_network(0).query("x0", {"d0": "z"}), "no state"),
        (lambda: random_network(0).log_density({"x0": ["high"]}), "'x0' holds .* numbers"),
        (lambda: random_network(0).log_density({"x0": [np.inf]}), "infinite in row 0"),
        (lambda: random_network(0).query("x0", {"x0": 1.0}), "given already"),
    ],
)
def test_bad_input_is_one_sentence(call: object, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        call()  # type: ignore[operator]


def test_parts_hold_what_hangs_together() -> None:
    network = random_network(5)
    known = {3, 5}
    needed = gaussian_parts.needed_numbers(network, {3, 4, 5, 6})
    parts = gaussian_parts.parts_of(network, needed, known)
    nodes = sorted(itertools.chain.from_iterable(part.nodes for part in parts))
    assert nodes == sorted(needed)
