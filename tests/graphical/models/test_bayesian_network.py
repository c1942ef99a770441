"""Networks: textbook numbers, edits, copies and questions of size."""

from __future__ import annotations

import copy
import json
import math
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import InputError
from novum.distributions.joint_table_states import StateAxis
from novum.graphical import BayesianNetwork, CyclicGraphError, Tabular, noisy_or
from tests.graphical.textbook_networks import (
    alarm,
    brute_posterior,
    cavity,
    joint_of,
    random_network,
    sprinkler,
)

HALF = [0.5, 0.5]


# --- Textbook numbers -----------------------------------------------------------------------------


def test_burglary_and_alarm() -> None:
    network = alarm()
    both = {"JohnCalls": "true", "MaryCalls": "true"}
    # Russell and Norvig: <0.284, 0.716>; here all digits, as exact fractions give them.
    posterior = network.query("Burglary", given=both).values
    assert posterior[0] == pytest.approx(0.2841718353643929, rel=1e-12)
    # The joint probability of figure 14.2: 0.9 * 0.7 * 0.001 * 0.999 * 0.998.
    row = {**both, "Alarm": "true", "Burglary": "false", "Earthquake": "false"}
    assert network.probability(row) == pytest.approx(0.000628111, rel=1e-6)
    assert network.probability({"Alarm": "true"}) == pytest.approx(0.002516442, rel=1e-9)
    assert network.probability({"JohnCalls": "true"}) == pytest.approx(0.0521389757, rel=1e-9)
    assert (network.n_parameters, network.n_joint_parameters) == (10, 31)


def test_explaining_away() -> None:
    network = alarm()
    given_alarm = network.query("Burglary", given={"Alarm": "true"}).values[0]
    both = network.query("Burglary", given={"Alarm": "true", "Earthquake": "true"}).values[0]
    assert given_alarm == pytest.approx(0.373551, rel=1e-5)
    assert both == pytest.approx(0.00095 / (0.00095 + 0.999 * 0.29), rel=1e-12)


def test_cavity_and_toothache() -> None:
    network = cavity()
    # The joint table of Russell and Norvig, figure 13.3.
    assert network.probability({"toothache": "true"}) == pytest.approx(0.2, rel=1e-12)
    assert network.query("cavity", given={"toothache": "true"}).values[0] == pytest.approx(0.6)
    cell = {"cavity": "true", "toothache": "true", "catch": "true"}
    assert network.probability(cell) == pytest.approx(0.108, rel=1e-12)
    both = network.query("cavity", given={"toothache": "true", "catch": "true"}).values[0]
    assert both == pytest.approx(0.108 / (0.108 + 0.016), rel=1e-12)


@pytest.mark.filterwarnings("ignore::novum.graphical.NetworkWarning")
def test_sprinkler() -> None:
    network = sprinkler()
    assert network.probability({"wet": "true"}) == pytest.approx(0.6471, rel=1e-12)
    # Murphy: 0.4298 and 0.7079; seeing rain explains the sprinkler away, to 0.1945.
    found = network.query("sprinkler", given={"wet": "true"}).values[0]
    assert found == pytest.approx(0.2781 / 0.6471, rel=1e-12)
    rain = network.query("rain", given={"wet": "true"}).values[0]
    assert rain == pytest.approx(0.4581 / 0.6471, rel=1e-12)
    less = network.query("sprinkler", given={"wet": "true", "rain": "true"}).values[0]
    assert less == pytest.approx(0.1945, abs=5e-5)
    # Switching it on says nothing about the clouds; seeing it on does.
    assert network.query("cloudy", do={"sprinkler": "true"}).values[0] == pytest.approx(0.5)
    seen = network.query("cloudy", given={"sprinkler": "true"}).values[0]
    assert seen == pytest.approx(0.05 / 0.3, rel=1e-12)


@given(st.integers(0, 2000), st.booleans())
def test_random_networks_agree_with_the_definition(seed: int, zeros: bool) -> None:
    network = random_network(seed, 5, zeros)
    rng = np.random.default_rng(seed)
    joint = joint_of(network)
    assert sum(joint.values()) == pytest.approx(1.0, rel=1e-12)
    states = max(joint, key=lambda key: (joint[key] * rng.random(), key))
    row = dict(zip(network.names, states, strict=True))
    known = {name: row[name] for name in network.names if rng.random() < 0.4}
    node = network.names[int(rng.integers(5))]
    wanted, total = brute_posterior(network, node, known)
    assert np.allclose(network.query(node, given=known).values, wanted, rtol=1e-11, atol=1e-14)
    assert network.log_evidence(known) == pytest.approx(math.log(total), rel=1e-10, abs=1e-12)
    assert network.probability(row) == pytest.approx(joint[states], rel=1e-11)
    best = network.most_probable(known)
    assert all(best[name] == state for name, state in known.items())
    fits = [
        p
        for s, p in joint.items()
        if all(dict(zip(network.names, s, strict=False))[n] == v for n, v in known.items())
    ]
    assert best.probability == pytest.approx(max(fits), rel=1e-11)


# --- Edits ----------------------------------------------------------------------------------------


def test_edits_give_other_networks() -> None:
    network = alarm()
    changed = network.replace("Burglary", table=[0.5, 0.5])
    assert network["Burglary"].table.tolist() == [0.001, 0.999]
    assert changed["Burglary"].table.tolist() == HALF
    renamed = network.rename({"Alarm": "Siren", "Burglary": "Alarm"})
    assert renamed.edges[0] == ("Alarm", "Siren")
    assert renamed.query("Alarm").values.tolist() == network.query("Burglary").values.tolist()
    smaller = network.remove("JohnCalls", "MaryCalls")
    assert smaller.names == ("Burglary", "Earthquake", "Alarm")
    free = network.replace("Alarm", table=[0.1, 0.9], parents=())
    assert free["Alarm"].parents == ()
    done = network.do({"Alarm": True})
    assert done.query("JohnCalls").values[0] == pytest.approx(0.9)
    assert done.query("Burglary").values[0] == pytest.approx(0.001)
    assert (len(network), "Alarm" in network, "Alarn" in network, 3 in network) == (
        5,
        True,
        False,
        False,
    )


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda n: n.remove("Alarm"), "has the child 'JohnCalls'"),
        (lambda n: n.remove("Alarn"), "did you mean 'Alarm'"),
        (lambda n: n.rename({"Alarm": "Burglary"}), "two nodes 'Burglary'"),
        (lambda n: n.rename({"Alarm": ""}), "text and not empty"),
        (lambda n: n.rename({"Alarm": 3}), "text and not empty"),
        (lambda n: n.rename("Alarm"), "names is a mapping"),
        (lambda n: n.do({"Alarm": "ture"}), "'Alarm' has no state 'ture': did you mean 'true'"),
        (lambda n: n.do(["Alarm"]), "states is a mapping"),
        (lambda n: n.replace("Burglary", [HALF] * 2, ["Alarm"]), "'Burglary' -> 'Alarm' -> 'Burg"),
        (lambda n: n["Alarn"], "did you mean 'Alarm'"),
    ],
)
def test_wrong_edits_are_refused_in_words(edit: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        edit(alarm())  # type: ignore[operator]


# --- Values ---------------------------------------------------------------------------------------


def test_a_network_is_a_value() -> None:
    network = alarm()
    marginals = network.marginals()
    assert marginals
    with pytest.raises(AttributeError, match="never changes, so conditionals cannot be set"):
        network.conditionals = ()  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        network["Alarm"].table[0, 0, 0] = 0.5
    for again in (pickle.loads(pickle.dumps(network)), copy.deepcopy(network), copy.copy(network)):
        assert again == network
        assert hash(again) == hash(network)
        assert again.query("Alarm").values.tolist() == network.query("Alarm").values.tolist()
    # What is computed is not stored.
    assert len(pickle.dumps(network)) == len(pickle.dumps(alarm()))
    assert network != network.replace("Burglary", table=[0.002, 0.998])
    assert network != 3
    assert BayesianNetwork.from_dict(network.to_dict()) == network


def test_dicts_keep_declared_orders_and_noisy_ors_equal_themselves() -> None:
    network = BayesianNetwork().add("size", table=HALF, states=["small", "large"], ordered=True)
    again = BayesianNetwork.from_dict(network.to_dict())
    assert again == network
    assert again.variables[0].ordered
    noisy = BayesianNetwork().add("a", table=HALF).add("y", parents="a", table=noisy_or([0.5], 0.1))
    same = BayesianNetwork().add("a", table=HALF).add("y", parents="a", table=noisy_or([0.5], 0.1))
    assert noisy == same
    assert noisy != same.replace("y", table=noisy_or([0.6], 0.1))


def test_networks_without_nodes_edges_or_choices() -> None:
    empty = BayesianNetwork()
    assert (len(empty), empty.n_joint_parameters, empty.log_evidence()) == (0, 0, 0.0)
    assert dict(empty.marginals()) == {}
    assert repr(empty).startswith("BayesianNetwork of 0 nodes")
    one = BayesianNetwork().add("only", table=[1.0], states=["it"]).add("alone", table=[0.3, 0.7])
    assert one.n_parameters == 1
    assert one.query("only").values.tolist() == [1.0]
    assert one.query("only", "alone").values.tolist() == [[0.3, 0.7]]
    assert one.most_probable() == {"only": "it", "alone": "false"}


# --- Size -----------------------------------------------------------------------------------------


def long_chain(n: int) -> BayesianNetwork:
    axes = [StateAxis(f"v{i}", ("a", "b")) for i in range(n)]
    table = [[0.9, 0.1], [0.2, 0.8]]
    return BayesianNetwork(
        [
            Tabular(axes[0], (), HALF),
            *(Tabular(axes[i], (axes[i - 1],), table) for i in range(1, n)),
        ]
    )


@pytest.mark.slow
def test_a_chain_of_ten_thousand_nodes() -> None:
    n = 10_000
    network = long_chain(n)
    stationary = np.array([2 / 3, 1 / 3])
    marginals = network.marginals()
    assert np.allclose(marginals[f"v{n - 1}"].values, stationary, rtol=1e-12)
    # P(v1 = a) by hand.
    assert marginals["v1"].values[0] == pytest.approx(0.55, rel=1e-12)
    best = network.most_probable({"v0": "b"})
    # Staying in b costs 0.8 at each step; leaving for a at once costs 0.2 and then 0.9 a step.
    wanted = math.log(0.5) + math.log(0.2) + (n - 2) * math.log(0.9)
    assert best.log_probability == pytest.approx(wanted, rel=1e-12)
    assert (best["v0"], best["v1"], best[f"v{n - 1}"]) == ("b", "a", "a")
    given = {f"v{i}": "a" if i % 2 else "b" for i in range(n)}
    wanted = math.log(0.5) + (n // 2) * math.log(0.2) + (n // 2 - 1) * math.log(0.1)
    assert network.log_evidence(given) == pytest.approx(wanted, rel=1e-12)
    assert pickle.loads(pickle.dumps(network)) == network
    assert "10000 nodes" in repr(network)


def test_compact_nodes_stay_compact_in_dicts() -> None:
    network = BayesianNetwork()
    names = [f"p{i}" for i in range(40)]
    for name in names:
        network = network.add(name, table=[0.1, 0.9])
    network = network.add("x", names, noisy_or([0.1] * 40, leak=0.2))
    network = network.add("same", "x", lambda x: x, states=["true", "false"])
    again = BayesianNetwork.from_dict(json.loads(json.dumps(network.to_dict())))
    assert again == network


def test_a_cycle_in_a_file_is_shown_with_the_file(tmp_path: Path) -> None:
    (tmp_path / "x.network").write_text("a | b\n t: t 1\nb | a\n t: t 1\n")
    with pytest.raises(CyclicGraphError, match=r"^x.network: The edges form a cycle: '[ab]' -> '"):
        BayesianNetwork.read(tmp_path / "x.network")
