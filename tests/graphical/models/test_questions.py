"""From names and states to arrays: what matches, and what is refused."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from novum.core.errors import InputError
from novum.distributions.joint_table import ImpossibleEvidence
from novum.distributions.joint_table_states import StateAxis
from novum.graphical import BayesianNetwork, Factor, FactorGraph, PlainJunctionTree
from novum.graphical.models import questions
from novum.graphical.models.questions import (
    evidence_of,
    intervened,
    place_of,
    state_like,
    state_of,
)
from tests.graphical.textbook_networks import alarm, sprinkler


@pytest.mark.parametrize(
    ("states", "state", "place"),
    [
        (("true", "false"), "true", 0),
        (("true", "false"), True, 0),
        (("True", "False"), np.bool_(False), 1),
        ((True, False), "true", 0),
        ((True, False), "False", 1),
        ((0, 1), "1", 1),
        ((0.0, 1.5), "1.5", 1),
        (("0", "1"), 1, 1),
        (("0", "1"), 1.0, 1),
        (("0", "1"), np.int64(0), 0),
        ((True, 1, "1"), 1, 1),
        ((True, 1, "1"), "1", 2),
        ((True, 1, "1"), True, 0),
        # Not alike: text differs by case, True is no number, two candidates.
        (("true", "false"), "TRUE", None),
        ((0, 1), True, None),
        ((1, True), "yes", None),
        (("1.0", "1"), 1.0, None),
        (("a", "b"), None, None),
        (("a", "b"), float("nan"), None),
        (("a", "b"), ["a"], None),
        (("a", "b"), b"a", None),
    ],
)
def test_which_state_is_meant(states: tuple[Any, ...], state: Any, place: int | None) -> None:
    axis = StateAxis("x", states)
    assert state_like(axis, state) == place
    if place is None:
        with pytest.raises(InputError, match=r"Node 'x' (has no|takes one) state"):
            state_of(axis, state)
    else:
        assert state_of(axis, state) == place


def test_unknown_names_suggest_the_nearest() -> None:
    network = alarm()
    assert place_of(network, "Alarm") == 2
    with pytest.raises(InputError, match="no node 'alram': did you mean 'Alarm'"):
        place_of(network, "alram")
    with pytest.raises(InputError, match="no node 2: there are 'Burglary'"):
        place_of(network, 2)
    with pytest.raises(InputError, match="there is none"):
        place_of(BayesianNetwork(), "a")


def test_evidence_by_numbers() -> None:
    known = evidence_of(alarm(), {"Alarm": "false"}, {"JohnCalls": {"false": 3, "true": 1}})
    assert known.codes.tolist() == [-1, -1, 1, -1, -1]
    assert known.likelihoods[3].tolist() == [1.0, 3.0]
    weights = np.array([1.0, 2.0])
    kept = evidence_of(alarm(), None, {"Alarm": weights})
    weights[0] = 9.0
    assert kept.likelihoods[2].tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("given", "likelihood", "message"),
    [
        (["Alarm"], None, "given is a mapping from nodes"),
        ("Alarm", None, "given is a mapping from nodes"),
        (None, [1], "likelihood is a mapping from nodes"),
        ({"Alarm": "true"}, {"Alarm": [1, 2]}, "both a state in given and a likelihood"),
        (None, {"Alarm": [1, 2, 3]}, r"shape \(3,\); it needs 2"),
        (None, {"Alarm": 3}, r"shape \(\)"),
        (None, {"Alarm": "ab"}, "must be numbers"),
        (None, {"Alarm": {"true": "x", "false": 1}}, "must be numbers"),
        (None, {"Alarm": {"true": 1}}, "names 1 of 2 states"),
        (None, {"Alarm": {"true": 1, True: 2}}, "names 1 of 2 states"),
        (None, {"Alarm": {"true": 1, "no": 2}}, "no state 'no'"),
        (None, {"Alarm": [0, 0]}, "not all 0"),
        (None, {"Alarm": [-1, 1]}, "at least 0"),
        (None, {"Alarm": [np.nan, 1]}, "must be finite"),
        (None, {"Alarn": [1, 1]}, "did you mean 'Alarm'"),
    ],
)
def test_wrong_evidence_is_refused_in_words(given: Any, likelihood: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        evidence_of(alarm(), given, likelihood)


@pytest.mark.filterwarnings("ignore::novum.graphical.NetworkWarning")
def test_an_intervention_cuts_the_parents_off() -> None:
    network = sprinkler()
    model, known = intervened(network, evidence_of(network, {"wet": "true"}), {"rain": "true"})
    assert model.scope(2).tolist() == [2]
    assert model.table(2).tolist() == [1.0, 0.0]
    assert model.scope(3).tolist() == network.arrays.scope(3).tolist()
    assert known.codes.tolist() == [-1, -1, 0, 0]
    # The same as a network whose node lost its parents.
    for node in network.names:
        wanted = network.do({"rain": "true"}).query(node, given={"wet": "true"}).values
        found = network.query(node, given={"wet": "true"}, do={"rain": "true"}).values
        assert np.allclose(found, wanted, rtol=1e-13)


def test_interventions_of_many_threads_do_not_disturb_each_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(questions, "_CUTS_KEPT", 2)
    network = BayesianNetwork()
    for at in range(12):
        network = network.add(f"x{at}", table=[0.3, 0.7])
    known = evidence_of(network, None)

    def cut(number: int) -> bool:
        place, state = number % 12, number // 12 % 2
        model, _ = intervened(network, known, {f"x{place}": ("true", "false")[state]})
        return bool(model.table(place)[state] == 1.0)

    earlier = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            assert all(pool.map(cut, range(4000)))
    finally:
        sys.setswitchinterval(earlier)


def test_the_same_intervention_is_the_same_model() -> None:
    network = alarm()
    known = evidence_of(network, None)
    models = [intervened(network, known, {"Alarm": "true"})[0] for _ in range(2)]
    assert models[0] is models[1]


def test_wrong_interventions_are_refused_in_words() -> None:
    network = alarm()
    known = evidence_of(network, {"Alarm": "true"})
    with pytest.raises(InputError, match="both observed and set by do"):
        intervened(network, known, {"Alarm": "true"})
    with pytest.raises(InputError, match="do is a mapping"):
        intervened(network, known, ["Burglary"])  # type: ignore[arg-type]
    graph = FactorGraph([Factor([1.0, 2.0], {"a": (0, 1)})])
    with pytest.raises(InputError, match="an undirected model has none"):
        graph.query("a", do={"a": 0})


# --- Several states of one node -------------------------------------------------------------------


def weather() -> BayesianNetwork:
    return (
        BayesianNetwork()
        .add("sky", table=[0.2, 0.3, 0.5], states=["clear", "grey", "black"])
        .add("rain", ["sky"], [[0.1, 0.9], [0.3, 0.7], [0.8, 0.2]])
        .add("wet", ["rain"], [[0.9, 0.1], [0.2, 0.8]])
    )


@pytest.mark.parametrize("several", [["grey", "black"], ("black", "grey"), {"grey", "black"}])
def test_one_of_several_states_is_a_likelihood_of_zeros_and_ones(several: Any) -> None:
    network = weather()
    known = {"sky": several, "wet": "true"}
    weighed = {"given": {"wet": "true"}, "likelihood": {"sky": [0, 1, 1]}}
    for ask in (
        lambda **a: network.query("rain", **a).values,
        lambda **a: network.query("sky", **a).values,
        lambda **a: network.marginals(**a)["rain"].values,
        lambda **a: network.log_evidence(**a),
        lambda **a: network.most_probable(**a).log_probability,
        lambda **a: network.query("rain", **a, engine=PlainJunctionTree()).values,
        lambda **a: network.observe(**a).query("rain").values,
    ):
        np.testing.assert_array_equal(ask(given=known), ask(**weighed))
    # By definition: the sum over the states, each known.
    both = sum(network.probability({"sky": s, "wet": "true"}) for s in ("grey", "black"))
    assert network.probability(known) == pytest.approx(both, rel=1e-12)
    assert network.forecast(known).width >= 0
    assert network.most_probable(known)["sky"] == "black"


def test_one_state_in_a_list_is_that_state() -> None:
    network = weather()
    one = evidence_of(network, {"sky": ["grey"]})
    assert one.codes.tolist() == [1, -1, -1]
    assert not one.likelihoods
    everything = network.query("rain", given={"sky": ["clear", "grey", "black"]})
    np.testing.assert_allclose(everything.values, network.query("rain").values, rtol=1e-12)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda n: n.query("rain", given={"sky": []}), "No state is given for 'sky'"),
        (lambda n: n.query("rain", given={"sky": ["grey", "grey"]}), "'grey' of 'sky' is given tw"),
        (lambda n: n.query("rain", given={"sky": ["grey", "gray"]}), "no state 'gray': did you me"),
        (lambda n: n.query("rain", given={"sky": [["grey"], "black"]}), "takes one state here"),
        (lambda n: n.query("rain", do={"sky": ["grey", "black"]}), "'sky' takes one state here"),
        (lambda n: n.do({"sky": ("grey", "black")}), "'sky' takes one state here"),
        (lambda n: n.explain("rain", {"sky": ["grey", "black"]}), "'sky' takes one state here"),
        (
            lambda n: n.query("rain", given={"sky": ["grey"]}, likelihood={"sky": [1, 1, 1]}),
            "both a state in given and a likelihood",
        ),
        (
            lambda n: n.query("rain", given={"sky": ["grey", "black"]}, do={"sky": "grey"}),
            "both observed and set by do",
        ),
    ],
)
def test_wrong_groups_of_states(ask: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        ask(weather())


def test_impossible_groups_of_states_are_named() -> None:
    network = weather().add("copy", ["sky"], lambda sky: sky, ["clear", "grey", "black"])
    with pytest.raises(ImpossibleEvidence, match="'copy' = 'clear' or 'grey'"):
        network.query("rain", given={"sky": "black", "copy": ["grey", "clear"]})
