"""Networks of textbooks, and random ones, that several tests ask."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from novum.distributions.joint_table_states import StateAxis
from novum.graphical import BayesianNetwork, Tabular

ALARM_TEXT = """
Burglary: true 0.001, false 0.999
Earthquake: true 0.002, false 0.998
Alarm | Burglary, Earthquake
    true, true:   true 0.95, false 0.05
    true, false:  true 0.94, false 0.06
    false, true:  true 0.29, false 0.71
    false, false: true 0.001, false 0.999
JohnCalls | Alarm
    true: true 0.9, false 0.1
    false: true 0.05, false 0.95
MaryCalls | Alarm
    true: true 0.7, false 0.3
    false: true 0.01, false 0.99
"""


def alarm() -> BayesianNetwork:
    """Burglary and alarm (Russell and Norvig, figure 14.2)."""
    return BayesianNetwork.from_text(ALARM_TEXT)


def sprinkler() -> BayesianNetwork:
    """Cloudy, sprinkler, rain, wet grass (Murphy 1998)."""
    return (
        BayesianNetwork()
        .add("cloudy", table=[0.5, 0.5])
        .add("sprinkler", parents=["cloudy"], table=[[0.1, 0.9], [0.5, 0.5]])
        .add("rain", parents=["cloudy"], table=[[0.8, 0.2], [0.2, 0.8]])
        .add(
            "wet",
            parents=["sprinkler", "rain"],
            table=[[[0.99, 0.01], [0.9, 0.1]], [[0.9, 0.1], [0.0, 1.0]]],
        )
    )


def cavity() -> BayesianNetwork:
    """Cavity with two symptoms (Russell and Norvig, section 13.3)."""
    return (
        BayesianNetwork()
        .add("cavity", table=[0.2, 0.8])
        .add("toothache", parents=["cavity"], table=[[0.6, 0.4], [0.1, 0.9]])
        .add("catch", parents=["cavity"], table=[[0.9, 0.1], [0.2, 0.8]])
    )


def random_network(seed: int, n: int = 6, zeros: bool = False) -> BayesianNetwork:
    """A random graph of variables with one to three states."""
    rng = np.random.default_rng(seed)
    nodes: dict[str, dict[str, Any]] = {}
    for i in range(n):
        parents = [f"v{j}" for j in range(i) if rng.random() < 0.4][:3]
        size = int(rng.integers(1, 4))
        shape = [len(nodes[p]["states"]) for p in parents]
        table = rng.dirichlet(np.ones(size), shape) if shape else rng.dirichlet(np.ones(size))
        if zeros and size > 1:
            table = np.where(table < 0.3, 0.0, table)
            table /= table.sum(axis=-1, keepdims=True)
        nodes[f"v{i}"] = {
            "states": [f"s{k}" for k in range(size)],
            "parents": parents,
            "table": table,
        }
    axes = {name: StateAxis(name, tuple(node["states"])) for name, node in nodes.items()}
    return BayesianNetwork(
        Tabular(axes[name], tuple(axes[p] for p in node["parents"]), node["table"])
        for name, node in nodes.items()
    )


def grid(side: int) -> BayesianNetwork:
    """A square of variables, each depending on its upper and left neighbors."""
    rng = np.random.default_rng(0)
    nodes = {}
    for i, j in itertools.product(range(side), repeat=2):
        parents = [f"x{a}_{b}" for a, b in ((i - 1, j), (i, j - 1)) if min(a, b) >= 0]
        first = rng.uniform(0.2, 0.8, (2,) * len(parents))
        table = np.stack([first, 1 - first], axis=-1)
        nodes[f"x{i}_{j}"] = {"states": ["a", "b"], "parents": parents, "table": table}
    return BayesianNetwork.from_dict(nodes)


def joint_of(network: BayesianNetwork) -> dict[tuple[Any, ...], float]:
    """Every configuration with its probability, by the definition: a product of table cells."""
    spaces = [axis.states for axis in network.variables]
    found = {}
    for states in itertools.product(*spaces):
        row = dict(zip(network.names, states, strict=True))
        found[states] = math.prod(
            float(
                item.table[
                    tuple(axis.position(row[axis.name]) for axis in (*item.parents, item.variable))
                ]
            )
            for item in network.conditionals
        )
    return found


def brute_posterior(
    network: BayesianNetwork,
    node: str,
    given: dict[str, Any],
    weights: dict[str, Any] | None = None,
) -> tuple[list[float], float]:
    """Posterior of a node and the probability of the evidence, by summing the joint."""
    axis = network[node].variable
    totals = [0.0] * len(axis.states)
    for states, probability in joint_of(network).items():
        row = dict(zip(network.names, states, strict=True))
        if any(row[name] != state for name, state in given.items()):
            continue
        for name, values in (weights or {}).items():
            probability *= values[network[name].variable.position(row[name])]
        totals[axis.position(row[node])] += probability
    total = sum(totals)
    return [part / total if total else math.nan for part in totals], total
