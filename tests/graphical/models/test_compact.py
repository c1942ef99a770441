"""Noisy or and deterministic nodes against their definitions."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import InputError
from novum.distributions.joint_table_states import StateAxis
from novum.graphical.models.bayesian_network import BayesianNetwork
from novum.graphical.models.compact import Deterministic, NoisyOr, noisy_or

shares = st.floats(0, 1)


@given(st.lists(shares, min_size=1, max_size=5), shares)
def test_a_noisy_or_is_a_product_over_active_parents(strengths: list[float], leak: float) -> None:
    parents = [StateAxis(f"p{i}", ("false", "true")) for i in range(len(strengths))]
    made = NoisyOr(StateAxis("x", ("yes", "no")), parents, strengths, leak)
    for codes in itertools.product((0, 1), repeat=len(strengths)):
        silent = 1 - leak
        for code, strength in zip(codes, strengths, strict=True):
            silent *= 1 - strength if code == 1 else 1
        np.testing.assert_allclose(made.table[codes], [1 - silent, silent], atol=1e-15)


@pytest.mark.parametrize("n", [2, 4, 5, 9])
def test_a_chain_of_hidden_nodes_means_the_same(n: int) -> None:
    rng = np.random.default_rng(n)
    strengths = rng.random(n)
    network, plain = BayesianNetwork(), BayesianNetwork()
    names = [f"p{i}" for i in range(n)]
    for name in names:
        share = rng.random()
        network = network.add(name, table=[share, 1 - share])
        plain = plain.add(name, table=[share, 1 - share])
    network = network.add("x", names, noisy_or(strengths, leak=0.1))
    plain = plain.add("x", names, network["x"].table)
    assert network.arrays.n_hidden == (n - 1 if n > 4 else 0)
    known = {"x": "true", "p0": "false"}
    for name in names[1:]:
        np.testing.assert_allclose(
            network.query(name, given=known).values, plain.query(name, given=known).values
        )
    assert network.log_evidence(known) == pytest.approx(plain.log_evidence(known), abs=1e-13)
    assert list(network.marginals(known)) == [*names, "x"]


def test_many_parents_stay_small() -> None:
    network = BayesianNetwork()
    names = [f"p{i}" for i in range(200)]
    for name in names:
        network = network.add(name, table=[0.01, 0.99])
    network = network.add("x", names, noisy_or([0.5] * 200, leak=0.001))
    assert network.arrays.tables.size < 3000
    found = network.query("x").values[0]
    assert found == pytest.approx(1 - 0.999 * (1 - 0.005) ** 200, rel=1e-12)
    assert network.n_parameters == 200 + 201


def test_active_states_are_found_or_asked_for() -> None:
    level = StateAxis("level", ("low", "middle", "high"))
    x = StateAxis("x", (0, 1))
    with pytest.raises(InputError, match=r"inactive=\{'level'"):
        NoisyOr(x, [level], [0.5])
    made = NoisyOr(x, [level], [0.5], inactive={"level": "low"})
    assert made.table[:, 1].tolist() == [0.0, 0.5, 0.5]
    turned = NoisyOr(x, [level], [0.5], inactive={"level": "low"}, active={"x": 0})
    assert turned.table[:, 0].tolist() == [0.0, 0.5, 0.5]


@pytest.mark.parametrize(
    ("strengths", "message"),
    [([0.5], "2 parents and 1 strengths"), ([0.5, 1.5], "between 0 and 1")],
)
def test_wrong_strengths(strengths: list[float], message: str) -> None:
    network = BayesianNetwork().add("a", table=[0.5, 0.5]).add("b", table=[0.5, 0.5])
    with pytest.raises(InputError, match=message):
        network.add("x", ["a", "b"], noisy_or(strengths))
    with pytest.raises(InputError, match="strengths for 'a', 'c'"):
        network.add("x", ["a", "b"], noisy_or({"a": 0.5, "c": 0.5}))


def test_functions_become_tables_of_one_and_zero() -> None:
    a, b = StateAxis("a", (0, 1, 2)), StateAxis("b", (0, 1))
    total = Deterministic(StateAxis("total", (0, 1, 2, 3)), (a, b), lambda a, b: a + b)
    for i, j in itertools.product(range(3), range(2)):
        assert total.table[i, j].tolist() == [float(k == i + j) for k in range(4)]
    assert total.n_parameters == 0
    with pytest.raises(InputError, match="gives 3 for a = 2, b = 1"):
        Deterministic(StateAxis("total", (0, 1, 2)), (a, b), lambda a, b: a + b)
    listed = Deterministic(StateAxis("same", (0, 1)), (b,), [1, 0])
    assert listed.table.tolist() == [[0.0, 1.0], [1.0, 0.0]]
    with pytest.raises(InputError, match="have shape"):
        Deterministic(StateAxis("same", (0, 1)), (b,), [1, 0, 1])


def test_pickles_hold_nothing_that_is_computed() -> None:
    parents = [StateAxis(f"p{i}", ("false", "true")) for i in range(16)]
    made = NoisyOr(StateAxis("x", ("yes", "no")), parents, [0.5] * 16)
    assert made.table.size == 2**17
    data = pickle.dumps(made)
    assert len(data) < 10_000
    assert pickle.loads(data) == made
    same = Deterministic(StateAxis("same", (0, 1)), (StateAxis("b", (0, 1)),), [1, 0])
    again = pickle.loads(pickle.dumps(same))
    assert again == same
    assert not again.codes.flags.writeable


def test_functions_from_the_numbers_of_states() -> None:
    axis, parent = StateAxis("f", ("u", "v")), StateAxis("p", (0, 1, 2))
    made = Deterministic.from_codes(axis, (parent,), [1, 0, 1])
    assert made == Deterministic(axis, (parent,), ["v", "u", "v"])
    assert made.values == ["v", "u", "v"]
    constant = Deterministic.from_codes(axis, (), 1)
    assert constant.values == "v"
    for codes, words in (
        ([0, 1, 2], "number its 2 states from 0"),
        ([0, -1, 1], "number its 2 states from 0"),
        ([0.0, 1.0, 1.0], "whole numbers"),
        ([0, 1], "have shape"),
    ):
        with pytest.raises(InputError, match=words):
            Deterministic.from_codes(axis, (parent,), codes)
