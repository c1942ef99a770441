"""Rows from bounded elimination: stated errors, trust, zeros and undirected models."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from novum.core.errors import InputError
from novum.distributions.joint_table import ImpossibleEvidence
from novum.graphical import (
    BayesianNetwork,
    ImportanceSampling,
    JunctionTree,
    LikelihoodWeighting,
)
from novum.graphical.inference.sampling import NothingAcceptedError
from novum.graphical.models.conditional import NetworkWarning
from novum.graphical.models.questions import evidence_of
from tests.graphical.lattices import potts_grid
from tests.strategies.stated_errors import check_stated_errors, sprinkler


def rare_cause(prior: float) -> BayesianNetwork:
    network = BayesianNetwork().add("fault", table=[prior, 1 - prior])
    for i in range(10):
        network = network.add(f"sign{i}", ["fault"], [[0.3, 0.7], [0.1, 0.9]])
    return network


def rare_causes(prior: float) -> BayesianNetwork:
    network = BayesianNetwork().add("fault", table=[prior, 1 - prior])
    network = network.add("other", table=[prior, 1 - prior])
    table = [[[0.5, 0.5], [0.4, 0.6]], [[0.3, 0.7], [0.1, 0.9]]]
    for i in range(10):
        network = network.add(f"sign{i}", ["fault", "other"], table)
    return network


def far_cause(prior: float) -> BayesianNetwork:
    network = BayesianNetwork().add("fault", table=[prior, 1 - prior])
    above = "fault"
    for i in range(6):
        network = network.add(f"link{i}", [above], [[0.97, 0.03], [0.0005, 0.9995]])
        above = f"link{i}"
    for i in range(10):
        network = network.add(f"sign{i}", [above], [[0.6, 0.4], [0.15, 0.85]])
    return network


@pytest.mark.parametrize("made", [rare_cause, rare_causes, far_cause])
@pytest.mark.parametrize("prior", [1e-3, 1e-5, 1e-7])
def test_causes_too_rare_to_be_drawn(made, prior: float) -> None:
    network = made(prior)
    signs = {f"sign{i}": "true" for i in range(10)}
    exact = network.query("fault", given=signs).values[0]
    for seed in range(5):
        found = network.query("fault", given=signs, engine=ImportanceSampling(random_state=seed))
        assert found.diagnosis.trusted
        assert abs(found.values[0] - exact) < 5 * found.errors[0]
        other = network.query("fault", given=signs, engine=LikelihoodWeighting(random_state=seed))
        assert not other.diagnosis.trusted or abs(other.values[0] - exact) < 5 * other.errors[0]


def random_case(rng: np.random.Generator) -> tuple[BayesianNetwork, dict[str, str]]:
    """A network of sharp or even tables, some with zeros, and much evidence."""
    n, sharpness = int(rng.integers(5, 14)), rng.choice([0.05, 0.2, 1.0])
    cards = rng.integers(2, 4, n)
    network = BayesianNetwork()
    for i in range(n):
        parents = sorted(rng.choice(i, min(i, int(rng.integers(0, 4))), replace=False).tolist())
        table = rng.dirichlet(np.full(cards[i], sharpness), size=[cards[j] for j in parents])
        if rng.random() < 0.3:
            table = np.where(table < 0.02, 0, table)
        table /= table.sum(-1, keepdims=True)
        states = [f"s{k}" for k in range(cards[i])]
        network = network.add(f"v{i}", [f"v{j}" for j in parents], table, states)
    known = {f"v{i}": f"s{rng.integers(cards[i])}" for i in range(n) if rng.random() < 0.45}
    return network, known


@pytest.mark.slow
@pytest.mark.parametrize(
    ("engine", "least_trusted"),
    [
        (LikelihoodWeighting(2000, random_state=1), 0.6),
        (ImportanceSampling(2000, random_state=1), 1.0),
        (ImportanceSampling(2000, max_cells=4, random_state=1), 0.8),
    ],
)
def test_trusted_answers_are_right_in_a_population(engine, least_trusted: float) -> None:
    rng = np.random.default_rng(5)
    trusted, scores = [], []
    for _ in range(150):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NetworkWarning)
            network, known = random_case(rng)
        try:
            exact = network.marginals(known)
            found = network.marginals(known, engine=engine)
        except ImpossibleEvidence:
            continue
        except NothingAcceptedError:
            trusted.append(False)
            continue
        trusted.append(found.diagnosis.trusted)
        for name in network.names:
            if trusted[-1] and name not in known:
                gap = np.abs(found[name].values - exact[name].values)
                scores.append(float(np.max(gap / found[name].errors)))
    assert np.mean(trusted) >= least_trusted
    # Of about a thousand tables none is off by five of its errors.
    assert max(scores) < 5


@pytest.mark.parametrize("max_cells", [2, 2**16])
def test_errors_are_as_stated(max_cells: int) -> None:
    check_stated_errors(
        sprinkler(),
        lambda seed: ImportanceSampling(1000, max_cells, random_state=seed),
        {"wet": "true"},
        ["rain", "cloudy"],
        200,
        {"sprinkler": [0.5, 1.0]},
    )


def test_undirected_models_and_log_evidence() -> None:
    grid = potts_grid(5, 0.5, 2)
    known = evidence_of(grid, {"x3": 1})
    exact = JunctionTree().marginals(grid.arrays, known)
    for cells in (8, 2**12):
        found = ImportanceSampling(max_cells=cells, random_state=0).marginals(grid.arrays, known)
        assert found.diagnosis.trusted
        assert ("were split" in found.diagnosis.sentence) == (cells == 8)
        assert found.log_evidence == pytest.approx(exact.log_evidence, abs=0.1)
        for table, errors, truth in zip(
            found.tables, found.diagnosis.errors, exact.tables, strict=True
        ):
            assert (np.abs(table - truth) <= 5 * errors).all()


def test_weights_that_vary_too_much_are_not_trusted() -> None:
    grid = potts_grid(12, 0.6, 2)
    found = grid.query("x143", engine=ImportanceSampling(500, max_cells=4, random_state=0))
    assert not found.diagnosis.trusted
    assert "Not to be trusted" in found.diagnosis.sentence


def test_impossible_evidence_and_bad_settings() -> None:
    network = BayesianNetwork().add("a", table=[0.5, 0.5]).add("b", ["a"], lambda _: "true")
    with pytest.raises(ImpossibleEvidence):
        network.query("a", given={"b": "false"}, engine=ImportanceSampling())
    with pytest.raises(InputError, match="max_cells"):
        ImportanceSampling(max_cells=0)


def test_the_same_rows_for_the_same_seed() -> None:
    network = sprinkler()
    one, other = (
        network.query("rain", given={"wet": "true"}, engine=ImportanceSampling(random_state=3))
        for _ in range(2)
    )
    assert one.values.tolist() == other.values.tolist()
