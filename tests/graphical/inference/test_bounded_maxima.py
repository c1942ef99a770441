"""Most probable configurations with noisy-or nodes, against those of the same tables in full."""

from __future__ import annotations

import itertools
import math
import warnings

import numpy as np
import pytest
from hypothesis import given

from novum.core.errors import InputError
from novum.distributions.joint_table import ImpossibleEvidence
from novum.graphical.inference import explanation as module
from novum.graphical.inference.explanation import bounded_maxima
from novum.graphical.models.arrays import Evidence
from novum.graphical.models.bayesian_network import BayesianNetwork
from novum.graphical.models.compact import noisy_or
from novum.graphical.models.conditional import NetworkWarning
from tests.strategies.networks import seeds


def pair(seed: int, n: int = 6) -> tuple[BayesianNetwork, BayesianNetwork]:
    """Two noisy ors over common parents that depend on each other, and the same in full."""
    rng = np.random.default_rng(seed)
    names = [f"p{i}" for i in range(n)]
    network = BayesianNetwork()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NetworkWarning)
        for i, name in enumerate(names):
            own = names[i - 1 : i] if rng.random() < 0.5 else []
            table = rng.dirichlet(np.ones(2), [2] * len(own) or None)
            network = network.add(name, own, table)
        for child in ("x", "y"):
            strengths = np.where(rng.random(n) < 0.1, 1.0, rng.random(n))
            leak = 0.0 if rng.random() < 0.5 else rng.random() / 10
            network = network.add(child, names, noisy_or(strengths, leak))
        full = network
        for child in ("x", "y"):
            full = full.replace(child, network[child].table)
    return network, full


@given(seeds)
def test_bounds_find_what_tables_find(seed: int) -> None:
    network, full = pair(seed)
    rng = np.random.default_rng(seed + 1)
    states = {
        name: ("true", "false")[rng.integers(2)] for name in network.names if rng.random() < 0.3
    }
    evidence = Evidence.none(network.arrays.n_variables)
    for name, state in states.items():
        evidence.codes[network.places[name]] = ("true", "false").index(state)
    k = int(rng.integers(1, 5))
    found = bounded_maxima(network.arrays, evidence, k)
    try:
        wanted = full.most_probable(states, k=k)
    except ImpossibleEvidence:
        assert found == []
        return
    wanted = [wanted] if k == 1 else wanted
    logs = [log for _, log in found]
    np.testing.assert_allclose(logs, [one.log_probability for one in wanted], atol=1e-11)
    assert len({codes.tobytes() for codes, _ in found}) == len(found)
    for codes, log in found:
        named = {n: ("true", "false")[c] for n, c in zip(network.names, codes, strict=True)}
        assert full.log_evidence(named) == pytest.approx(log, abs=1e-11)
        assert states.items() <= named.items()


@pytest.mark.parametrize("leak", [0.0, 0.01])
def test_sixty_parents(leak: float) -> None:
    rng = np.random.default_rng(4)
    names = [f"p{i}" for i in range(60)]
    shares, strengths = rng.uniform(0.001, 0.3, 60), rng.random(60)
    network = BayesianNetwork()
    for name, share in zip(names, shares, strict=True):
        network = network.add(name, table=[share, 1 - share])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NetworkWarning)
        network = network.add("x", names, noisy_or(strengths, leak))
    best = network.most_probable({"x": "true"}, k=3)
    # With rare causes at most two are active in the three best; all those by definition.
    silence = float(np.log1p(-shares).sum())
    odds = np.log(shares / (1 - shares))
    every = [(math.log(leak) if leak else -math.inf, ())]
    for size in (1, 2):
        for some in itertools.combinations(range(60), size):
            share = (1 - leak) * np.prod(1 - strengths[[*some]])
            every.append((float(odds[[*some]].sum()) + math.log(1 - share), some))
    every.sort(reverse=True)
    for one, (log, some) in zip(best, every[:3], strict=True):
        assert [name for name in names if one[name] == "true"] == [f"p{i}" for i in some]
        assert one.log_probability == pytest.approx(silence + log, abs=1e-11)


def test_likelihoods_count() -> None:
    network, full = pair(7)
    weights = {0: np.array([0.01, 5.0]), network.places["x"]: np.array([3.0, 0.5])}
    evidence = Evidence(np.full(network.arrays.n_variables, -1), weights)
    from novum.graphical.inference.explanation import most_probable_codes

    plain = Evidence(np.full(len(full), -1), weights)
    (codes, log), (wanted, log_wanted) = (
        bounded_maxima(network.arrays, evidence, 1)[0],
        most_probable_codes(full.arrays, plain)[0],
    )
    assert codes.tolist() == wanted.tolist()
    assert log == pytest.approx(log_wanted, abs=1e-12)


def test_what_is_not_proved_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_CANDIDATES", 3)
    names = [f"p{i}" for i in range(30)]
    network = BayesianNetwork()
    for name in names:
        network = network.add(name, table=[0.4, 0.6])
    network = network.add("x", names, noisy_or([0.3] * 30, leak=0.01))
    with pytest.raises(InputError, match=r"not proved with 3 candidates: the noisy or of 30 par"):
        network.most_probable({"x": "true"})
    # Inactive, every parent counts by itself, and the bound is what it bounds.
    best = network.most_probable({"x": "false"})
    assert set(best.values()) == {"false"}
