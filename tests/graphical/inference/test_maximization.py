"""The k best configurations against the sorted list of all."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given

from novum.core.errors import MemoryLimitError
from novum.graphical.inference.maximization import choices, order_of_maxima
from novum.graphical.inference.plain_junction import PlainJunctionTree
from novum.graphical.models.bayesian_network import BayesianNetwork
from tests.strategies.networks import random_network, seeds


@given(seeds)
def test_all_products_of_random_tables_come_in_order(seed: int) -> None:
    rng = np.random.default_rng(seed)
    cards = rng.integers(1, 4, 5)
    scopes = [tuple(rng.permutation(5)[: rng.integers(0, 4)].tolist()) for _ in range(5)]
    tables = [rng.random([cards[v] for v in scope]) for scope in scopes]
    tables = [table * (rng.random(table.shape) < 0.8) for table in tables]
    potentials = list(zip(scopes, tables, strict=True))
    every = {}
    for codes in itertools.product(*(range(card) for card in cards)):
        value = math.prod(float(t[tuple(codes[v] for v in s)]) for s, t in potentials)
        if value > 0:
            every[codes] = math.log(value)
    order = order_of_maxima(potentials, cards, range(5))
    found = choices(potentials, order, cards, most=1000)
    answers = list(found.answers(np.zeros(5, np.int64), 1000))
    assert {tuple(codes.tolist()) for codes, _ in answers} == set(every)
    assert len(answers) == len(every)
    np.testing.assert_allclose(
        [log for _, log in answers], sorted(every.values(), reverse=True), atol=1e-12
    )
    for codes, log in answers:
        assert log == pytest.approx(every[tuple(codes.tolist())], abs=1e-12)
    few = list(found.answers(np.zeros(5, np.int64), 3))
    assert [codes.tolist() for codes, _ in few] == [codes.tolist() for codes, _ in answers[:3]]


@given(seeds)
def test_the_k_best_of_some_variables_are_the_best_sums(seed: int) -> None:
    network = random_network(seed, most=5)
    rng = np.random.default_rng(seed)
    asked = [network.names[i] for i in rng.permutation(len(network))[:2]]
    table = network.query(*asked).values
    best = network.most_probable(nodes=asked, k=50)
    wanted = np.sort(table[table > 0].ravel())[::-1]
    np.testing.assert_allclose([one.probability for one in best], wanted, rtol=1e-11)


def chain(n: int) -> BayesianNetwork:
    nodes = {"x0": {"table": [0.9, 0.1]}}
    for i in range(1, n):
        row = {"parents": [f"x{i - 1}"], "table": [[0.99, 0.01], [0.02, 0.98]]}
        nodes[f"x{i}"] = row  # type: ignore[assignment]
    return BayesianNetwork.from_dict(nodes)


@pytest.mark.slow
def test_the_best_of_ten_thousand_nodes() -> None:
    n = 10_000
    found = chain(n).most_probable(k=5)
    stay = math.log(0.9) + (n - 1) * math.log(0.99)
    assert found[0].log_probability == pytest.approx(stay, rel=1e-13)
    # Next: false at the end only, which leaves one step later than false at the last two.
    step = math.log(0.01 / 0.99)
    again = math.log(0.98 / 0.99)
    for number, one in enumerate(found[1:], 1):
        assert [name for name in one if one[name] == "false"] == [
            f"x{i}" for i in range(n - number, n)
        ]
        assert one.log_probability - stay == pytest.approx(step + (number - 1) * again, abs=1e-9)


def test_what_is_unlikely_beyond_floats_is_still_the_second_best() -> None:
    # A class with thousands of observed children: the other class is e**-2197 as likely.
    nodes = {"c": {"table": [0.5, 0.5]}}
    for i in range(1000):
        nodes[f"x{i}"] = {"parents": ["c"], "table": [[0.9, 0.1], [0.1, 0.9]]}  # type: ignore[assignment]
    network = BayesianNetwork.from_dict(nodes)
    first, second = network.most_probable({f"x{i}": "true" for i in range(1000)}, k=3)
    assert (first["c"], second["c"]) == ("true", "false")
    assert first.log_probability - second.log_probability == pytest.approx(1000 * math.log(9))


def test_tables_beyond_the_memory_are_refused_before_they_are_made() -> None:
    network = chain(30)
    engine = PlainJunctionTree(memory_limit=400)
    with pytest.raises(MemoryLimitError, match="the 3 best configurations from tables"):
        network.most_probable(k=3, engine=engine)
