"""Random Bayesian networks with evidence, as Hypothesis draws them."""

from __future__ import annotations

import warnings

import numpy as np
from hypothesis import strategies as st

from novum.graphical.models.bayesian_network import BayesianNetwork
from novum.graphical.models.conditional import NetworkWarning


def random_network(
    seed: int,
    most: int = 7,
    edges: float = 0.4,
    zeros: float = 0.3,
    largest: int = 3,
) -> BayesianNetwork:
    """A network of up to `most` nodes with 1 to `largest` states; some tables hold zeros.

    Names are v0, v1, ...; states s0, s1, ...
    """
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, most + 1))
    cards = rng.integers(1, largest + 1, n)
    network = BayesianNetwork()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NetworkWarning)
        for i in range(n):
            parents = [j for j in range(i) if rng.random() < edges]
            table = rng.random([*cards[parents], cards[i]]) + 0.01
            if rng.random() < zeros:
                table *= rng.random(table.shape) < 0.7
                table[..., 0] += 1e-3
            table /= table.sum(-1, keepdims=True)
            states = [f"s{k}" for k in range(cards[i])]
            network = network.add(f"v{i}", [f"v{j}" for j in parents], table, states)
    return network


def random_evidence(network: BayesianNetwork, seed: int, part: float = 0.3) -> dict[str, str]:
    """States of some nodes, possible or not."""
    rng = np.random.default_rng(seed)
    return {
        axis.name: str(axis.states[rng.integers(len(axis.states))])
        for axis in network.variables
        if rng.random() < part
    }


def random_likelihood(
    network: BayesianNetwork, seed: int, given: dict[str, str], part: float = 0.2
) -> dict[str, np.ndarray]:
    """Weights of the states of some nodes that are not observed."""
    rng = np.random.default_rng(seed)
    return {
        axis.name: rng.random(len(axis.states)) + 0.01
        for axis in network.variables
        if rng.random() < part and axis.name not in given
    }


seeds = st.integers(0, 2**31 - 1)
