"""Variable elimination: what it leaves out, and products that would underflow."""

from __future__ import annotations

import numpy as np
import pytest

from novum.core.errors import MemoryLimitError
from novum.graphical.inference.plain_junction import VariableElimination
from novum.graphical.models.bayesian_network import BayesianNetwork

ENGINE = VariableElimination()


def hidden_markov(length: int) -> BayesianNetwork:
    network = BayesianNetwork().add("x0", table=[0.5, 0.5])
    for i in range(length):
        if i:
            network = network.add(f"x{i}", [f"x{i - 1}"], [[0.7, 0.3], [0.3, 0.7]])
        network = network.add(f"y{i}", [f"x{i}"], [[0.9, 0.1], [0.2, 0.8]])
    return network


def test_filtering_in_the_umbrella_world() -> None:
    # Russell and Norvig, section 14.2: rain after one and after two umbrellas.
    network = hidden_markov(3)
    one = network.query("x1", given={"y1": "true"}, engine=ENGINE)
    two = network.query("x2", given={"y1": "true", "y2": "true"}, engine=ENGINE)
    smoothed = network.query("x1", given={"y1": "true", "y2": "true"}, engine=ENGINE)
    assert round(one.probability({"x1": "true"}), 3) == 0.818
    assert round(two.probability({"x2": "true"}), 3) == 0.883
    assert round(smoothed.probability({"x1": "true"}), 3) == 0.883


def test_long_evidence_does_not_underflow() -> None:
    network = hidden_markov(600)
    known = {f"y{i}": "true" if i % 3 else "false" for i in range(600)}
    assert network.log_evidence(known, engine=ENGINE) == pytest.approx(
        network.log_evidence(known), rel=1e-12
    )
    assert network.log_evidence(known) < -300


def test_unrelated_parts_cost_nothing() -> None:
    # A part of the network that no engine could multiply out is d-separated from the question.
    network = BayesianNetwork().add("asked", table=[0.25, 0.75])
    names = [f"v{i}" for i in range(30)]
    for name in names:
        network = network.add(name, table=[0.5, 0.5])
    network = network.add("other", names[:12], np.full([2] * 13, 0.5))
    found = network.query("asked", given={"other": "true"}, engine=VariableElimination("100kB"))
    assert found.values.tolist() == [0.25, 0.75]


def test_what_does_not_fit_is_refused_with_its_size() -> None:
    network = BayesianNetwork()
    names = [f"v{i}" for i in range(16)]
    for name in names:
        network = network.add(name, table=[0.5, 0.5])
    network = network.add("sum", names, np.full([2] * 17, 0.5))
    with pytest.raises(MemoryLimitError, match="cells"):
        network.query("v0", given={"sum": "true"}, engine=VariableElimination("100kB"))
