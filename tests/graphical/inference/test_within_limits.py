"""Exact within limits, approximate beyond them, and said."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from novum.core.errors import InputError, MemoryLimitError
from novum.graphical import (
    BayesianNetwork,
    Factor,
    FactorGraph,
    JunctionTree,
    LikelihoodWeighting,
    LoopyPropagation,
    VariableElimination,
    WithinLimits,
)
from tests.graphical.textbook_networks import alarm, grid

SIDE = 12
TIGHT = "100kB"


def test_within_the_limits_the_answer_is_that_of_the_junction_tree() -> None:
    network = alarm()
    given = {"JohnCalls": "true"}
    found = network.marginals(given, engine=WithinLimits())
    assert found.diagnosis is None
    for name, table in network.marginals(given).items():
        assert np.array_equal(found[name].values, table.values)
    assert network.query("Burglary", "Alarm", engine=WithinLimits()).diagnosis is None


def test_beyond_the_memory_another_engine_answers_and_says_why() -> None:
    network = grid(SIDE)
    corner = f"x{SIDE - 1}_{SIDE - 1}"
    with pytest.raises(MemoryLimitError, match="WithinLimits"):
        network.query(corner, engine=JunctionTree(TIGHT))
    engine = WithinLimits(LikelihoodWeighting(20_000, random_state=0), memory_limit=TIGHT)
    exact = network.query(corner, given={"x0_0": "a"}).values
    for found in (
        network.query(corner, given={"x0_0": "a"}, engine=engine),
        network.marginals({"x0_0": "a"}, engine=engine)[corner],
    ):
        assert found.diagnosis is not None
        assert found.errors is not None
        said = found.diagnosis.sentence
        assert said.startswith("Exact inference with cliques of up to")
        assert "more than the limit of 100.0 kB" in said
        assert "Likelihood weighting: 20000 weighted rows" in said
        assert "Observe more" not in said
        assert np.abs(found.values - exact).max() < 5 * found.errors.max()


def test_a_question_that_needs_little_of_a_large_network_stays_exact() -> None:
    network = grid(SIDE)
    engine = WithinLimits(memory_limit=TIGHT)
    assert network.query("x1_1", engine=engine).diagnosis is None
    assert network.marginals(engine=engine).diagnosis is not None


def test_beyond_the_time_another_engine_answers_and_says_why() -> None:
    network = grid(SIDE)
    engine = WithinLimits(LoopyPropagation(), time_limit=1e-5)
    found = network.marginals(engine=engine)
    assert found.diagnosis is not None
    assert "more than the limit of 0.01 ms. Loopy" in found.diagnosis.sentence
    assert found.diagnosis.method == "loopy propagation"
    assert network.marginals(engine=WithinLimits(time_limit=60)).diagnosis is None
    asked = network.query("x0_0", "x3_3", given={"x0_1": "a"}, engine=engine)
    assert asked.diagnosis is not None


def test_undirected_models_are_sampled() -> None:
    names = [f"x{i}" for i in range(10)]
    factors = [
        Factor([[2.0, 1.0], [1.0, 2.0]], {a: (0, 1), b: (0, 1)})
        for a, b in itertools.combinations(names, 2)
    ]
    graph = FactorGraph([*factors, Factor([1.0, 3.0], {"x0": (0, 1)})])
    found = graph.query("x5", engine=WithinLimits(memory_limit=100))
    assert found.diagnosis is not None
    assert found.diagnosis.trusted
    assert np.abs(found.values - graph.query("x5").values).max() < 5 * found.errors.max()
    assert "Exact inference with cliques" in found.diagnosis.sentence


def test_another_exact_engine_leaves_the_answer_exact() -> None:
    engine = WithinLimits(VariableElimination(), time_limit=1e-9)
    assert grid(SIDE).query("x2_2", engine=engine).diagnosis is None


def test_bad_settings_are_refused() -> None:
    with pytest.raises(InputError, match="otherwise is an engine such as"):
        WithinLimits("gibbs")  # type: ignore[arg-type]
    for limit in (0, -1.0, "1s"):
        with pytest.raises(InputError, match="positive number of seconds"):
            WithinLimits(time_limit=limit)  # type: ignore[arg-type]


def test_a_rare_cause_of_much_evidence_is_found_or_doubted() -> None:
    # Never drawn from its prior of 1e-5, it has a third of the posterior.
    network = BayesianNetwork().add("fault", table=[1e-5, 1 - 1e-5])
    for i in range(10):
        network = network.add(f"sign{i}", ["fault"], [[0.3, 0.7], [0.1, 0.9]])
    signs = {f"sign{i}": "true" for i in range(10)}
    exact = network.query("fault", given=signs).values[0]
    for seed in range(10):
        weighted = LikelihoodWeighting(random_state=seed)
        assert not network.query("fault", given=signs, engine=weighted).diagnosis.trusted
    found = network.query("fault", given=signs, engine=WithinLimits(time_limit=1e-9))
    assert found.diagnosis.trusted
    assert found.diagnosis.method == "importance sampling"
    assert abs(found.values[0] - exact) < 5 * found.errors[0]
