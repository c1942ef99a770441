"""Networks as arrays: orders, and noisy ors as chains of auxiliary variables."""

from __future__ import annotations

import itertools
import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from novum.distributions.joint_table_states import StateAxis
from novum.graphical import BayesianNetwork, FactorGraph, NoisyOr, Tabular, noisy_or
from novum.graphical.models.arrays import NO_HEAD
from novum.graphical.models.network_structure import CHAIN_ABOVE, arrays_of
from tests.graphical.textbook_networks import random_network


@given(st.integers(0, 10_000))
def test_parents_come_before_children_in_the_order(seed: int) -> None:
    network = random_network(seed, 8)
    shuffled = BayesianNetwork(np.random.default_rng(seed).permutation(network.conditionals))
    model = shuffled.arrays
    place = {int(v): i for i, v in enumerate(model.order)}
    assert sorted(place) == list(range(8))
    for v in range(8):
        assert all(place[int(p)] < place[v] for p in model.scope(v)[:-1])


def test_changed_arrays_keep_their_order_and_forget_what_follows_from_the_rest() -> None:
    model = random_network(3).arrays
    assert model.is_directed
    changed = replace(model, heads=np.full(model.n_factors, NO_HEAD))
    assert not changed.is_directed
    assert np.array_equal(changed.order, model.order)
    copied = pickle.loads(pickle.dumps(random_network(3).arrays))
    assert copied.is_directed
    assert np.array_equal(copied.order, model.order)
    assert np.array_equal(copied.tables, model.tables)


def test_functions_of_parents_become_tables() -> None:
    network = BayesianNetwork().add("a", table=[0.3, 0.7]).add("b", table=[0.6, 0.4])
    network = network.add("b or a", parents=["b", "a"], table=max)
    model = network.arrays
    assert model.scope(2).tolist() == [1, 0, 2]
    assert np.array_equal(model.table(2), network["b or a"].table)
    assert model.table_starts.tolist() == [0, 2, 4, 12]


def noisy_network(n: int, seed: int, first: str = "true") -> BayesianNetwork:
    rng = np.random.default_rng(seed)
    network = BayesianNetwork()
    names = [f"p{i}" for i in range(n)]
    for name in names:
        probability = float(rng.uniform(0.1, 0.9))
        network = network.add(name, table=[probability, 1 - probability])
    states = ["true", "false"] if first == "true" else ["false", "true"]
    strengths = rng.uniform(0.0, 1.0, n).tolist()
    return network.add("y", parents=names, table=noisy_or(strengths, leak=0.05), states=states)


@settings(deadline=None, max_examples=20)
@given(st.integers(CHAIN_ABOVE + 1, CHAIN_ABOVE + 4), st.integers(0, 99), st.sampled_from("tf"))
def test_a_chain_means_what_the_table_means(n: int, seed: int, first: str) -> None:
    network = noisy_network(n, seed, "true" if first == "t" else "false")
    item = network["y"]
    plain = BayesianNetwork(
        [*network.conditionals[:-1], Tabular(item.variable, item.parents, item.table)]
    )
    assert network.arrays.n_hidden == n - 1
    assert plain.arrays.n_hidden == 0
    for given_states in ({"y": "true"}, {"y": "false", "p0": "true"}, {}):
        chain = network.marginals(given_states)
        table = plain.marginals(given_states)
        assert list(chain) == list(network.names)
        for name in network.names:
            # Sums of a few dozen products: some units of rounding.
            assert np.allclose(chain[name].values, table[name].values, rtol=1e-12, atol=1e-14)
        assert network.log_evidence(given_states) == pytest.approx(
            plain.log_evidence(given_states), rel=1e-12
        )


def test_few_parents_stay_a_table_and_forty_are_no_burden() -> None:
    assert noisy_network(CHAIN_ABOVE, 0).arrays.n_hidden == 0
    names = [f"p{i}" for i in range(40)]
    network = BayesianNetwork()
    for name in names:
        network = network.add(name, table=[0.1, 0.9])
    network = network.add("y", parents=names, table=noisy_or([0.3] * 40, leak=0.01))
    # Closed form: each parent leaves the node inactive with probability 1 - 0.1 * 0.3.
    silent = 0.99 * (1 - 0.1 * 0.3) ** 40
    assert network.query("y").values[0] == pytest.approx(1 - silent, rel=1e-12)
    # By Bayes: the parent is active, and it or another one acts.
    active = 0.1 * (1 - 0.99 * 0.7 * (1 - 0.03) ** 39)
    found = network.query("p0", given={"y": "true"}).values[0]
    assert found == pytest.approx(active / (1 - silent), rel=1e-12)
    rows = [{**dict.fromkeys(names, "false"), "y": "false"}]
    wanted = 40 * np.log(0.9) + np.log(0.99)
    assert network.log_probabilities(rows)[0] == pytest.approx(wanted, rel=1e-12)
    assert network.query("p0", do={"y": "true"}).values[0] == pytest.approx(0.1, rel=1e-12)


def test_parents_with_more_than_two_states() -> None:
    levels = StateAxis("level", ("none", "some", "much"))
    parents = [levels, *(StateAxis(f"q{i}", ("yes", "no")) for i in range(5))]
    child = StateAxis("y", ("no", "yes"))
    item = NoisyOr(child, parents, [0.5, *[0.2] * 5], inactive={"level": "none"})
    roots = [Tabular(axis, (), np.full(len(axis.states), 1 / len(axis.states))) for axis in parents]
    model = arrays_of([*roots, item], {axis.name: i for i, axis in enumerate([*parents, child])})
    # The chain multiplied out by hand is the table.
    shown = [3, *[2] * 5]
    for states in itertools.product(*(range(size) for size in shown)):
        silent = np.array([1.0])
        for step in range(6):
            factor = model.heads[6] if step == 5 else 7 + step
            table = model.table(int(factor))
            at = states[step]
            if step == 0:
                inactive = table[at, 0]
            else:
                inactive = silent * table[0, at, 0]
            silent = inactive
        expected = item.table[(*states, 0)]
        assert np.allclose(silent, expected, rtol=1e-14)


@pytest.mark.parametrize("make", [lambda n: n, FactorGraph.of])
def test_tables_that_engines_share_cannot_be_written_to(make: Any) -> None:
    model = make(random_network(5)).arrays
    for array in (model.tables, model.table(0)):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0.5
