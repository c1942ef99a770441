"""Findings that arrive and are taken back."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from novum.core.errors import InputError, MemoryLimitError
from novum.graphical import (
    BayesianNetwork,
    Enumeration,
    Factor,
    FactorGraph,
    JunctionTree,
    LikelihoodWeighting,
)
from tests.graphical.textbook_networks import alarm

CALLS = {"JohnCalls": "true", "MaryCalls": "true"}


def test_findings_one_by_one_are_the_same_as_together() -> None:
    network = alarm()
    seen = network.observe({"JohnCalls": "true"}).observe({"MaryCalls": "true"})
    assert seen.given == CALLS
    assert np.array_equal(
        seen.query("Burglary").values, network.query("Burglary", given=CALLS).values
    )
    assert seen.log_evidence == network.log_evidence(CALLS)
    together = network.marginals(CALLS)
    for name, table in seen.posteriors.items():
        assert np.array_equal(table.values, together[name].values)
    assert seen.posteriors is seen.posteriors
    assert seen.most_probable() == network.most_probable(CALLS)
    assert seen.explain("Burglary").posterior == network.explain("Burglary", CALLS).posterior


def test_earlier_values_stay_as_they_are() -> None:
    start = alarm().observe({"JohnCalls": "true"})
    start.observe({"JohnCalls": "false"})
    start.forget("JohnCalls")
    assert start.given == {"JohnCalls": "true"}
    assert start.observe({"JohnCalls": "false"}).given == {"JohnCalls": "false"}


def test_a_state_and_a_likelihood_of_one_node_replace_each_other() -> None:
    weights = {"true": 4.0, "false": 1.0}
    weighed = alarm().observe({"Alarm": "true"}).observe(likelihood={"Alarm": weights})
    assert (weighed.given, weighed.likelihood) == ({}, {"Alarm": weights})
    again = weighed.observe({"Alarm": "false"})
    assert (again.given, again.likelihood) == ({"Alarm": "false"}, {})
    expected = alarm().query("Burglary", likelihood={"Alarm": weights}).values
    assert np.array_equal(weighed.query("Burglary").values, expected)


def test_what_is_forgotten_was_never_there() -> None:
    network = alarm()
    seen = network.observe(CALLS, likelihood={"Alarm": [2.0, 1.0]}, do={"Earthquake": "true"})
    assert seen.forget("MaryCalls").given == {"JohnCalls": "true"}
    bare = seen.forget()
    assert (bare.given, bare.likelihood, bare.do) == ({}, {}, {"Earthquake": "true"})
    expected = network.query("Alarm", do={"Earthquake": "true"}).values
    assert np.array_equal(bare.query("Alarm").values, expected)
    with pytest.raises(InputError, match="no finding of 'JohnCals': did you mean 'JohnCalls'"):
        seen.forget("JohnCals")
    with pytest.raises(InputError, match="no finding of 'Alarm': there is none"):
        bare.forget("Alarm")


def test_surprise_and_conflict_by_hand() -> None:
    network = alarm()
    seen = network.observe(CALLS)
    together = network.probability(CALLS)
    alone = [network.probability({name: state}) for name, state in CALLS.items()]
    assert seen.surprise == pytest.approx(-math.log2(together))
    assert seen.conflict == pytest.approx(math.log2(math.prod(alone) / together))
    # Two calls support each other; a burglary without an alarm does not go together.
    assert seen.conflict < 0
    assert network.observe({"Burglary": "true", "Alarm": "false"}).conflict > 0
    assert (network.observe().surprise, network.observe().conflict) == (0.0, 0.0)


def test_one_of_several_states_is_a_finding_too() -> None:
    network = alarm()
    seen = network.observe({"JohnCalls": ["true", "false"], "MaryCalls": "true"})
    assert seen.conflict == pytest.approx(0.0, abs=1e-12)
    assert seen.surprise == pytest.approx(-math.log2(network.probability({"MaryCalls": "true"})))


def test_conflict_after_an_intervention_is_that_of_the_changed_network() -> None:
    network = alarm()
    done = network.observe(CALLS, do={"Alarm": "true"})
    # The alarm is set, so the calls are independent.
    assert done.conflict == pytest.approx(0.0, abs=1e-12)
    assert done.surprise == pytest.approx(-math.log2(0.9 * 0.7))


def test_impossible_findings_have_infinite_conflict() -> None:
    network = BayesianNetwork().add("a", table=[0.5, 0.5])
    network = network.add("b", parents="a", table=lambda a: a, states=["true", "false"])
    seen = network.observe({"a": "true", "b": "false"})
    assert (seen.surprise, seen.conflict) == (math.inf, math.inf)


def test_undirected_models_are_normalized() -> None:
    alike = Factor([[3.0, 1.0], [1.0, 3.0]], {"a": (0, 1), "b": (0, 1)})
    graph = FactorGraph([alike, Factor([1.0, 2.0], {"a": (0, 1)})])
    seen = graph.observe({"a": 1, "b": 0})
    assert seen.surprise == pytest.approx(-math.log2(2 / 12))
    assert seen.conflict == pytest.approx(math.log2((8 / 12) * (5 / 12) / (2 / 12)))


def test_bad_findings_are_refused_when_they_arrive() -> None:
    with pytest.raises(InputError, match="no node 'Alram': did you mean 'Alarm'"):
        alarm().observe({"Alram": "true"})
    with pytest.raises(InputError, match="given is a mapping from nodes"):
        alarm().observe("Alarm")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="both observed and set by do"):
        alarm().observe({"Alarm": "true"}, do={"Alarm": "true"})


def test_it_keeps_its_engine_and_can_be_copied() -> None:
    engine = LikelihoodWeighting(500, random_state=3)
    seen = alarm().observe(CALLS, engine=engine)
    copied = pickle.loads(pickle.dumps(seen))
    assert np.array_equal(copied.query("Alarm").values, seen.query("Alarm").values)
    assert seen.query("Alarm").diagnosis is not None
    assert seen.posteriors.diagnosis is not None


def same(value: Any) -> Any:
    return value


def pickled(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


@pytest.mark.parametrize("way", [same, pickled, copy.copy, copy.deepcopy])
def test_findings_never_change(way: Callable[[Any], Any]) -> None:
    network = alarm()
    given: dict[str, Any] = {"JohnCalls": "true", "MaryCalls": ["true", "false"]}
    weights = {"true": 4.0, "false": 1.0}
    listed = np.array([1.0, 2.0])
    seen = network.observe(given, likelihood={"Alarm": weights, "Burglary": listed})
    before = seen.query("Earthquake").values
    posterior = seen.posteriors["Earthquake"].values
    # What it was made from is left to its owner.
    given["JohnCalls"] = "false"
    given["MaryCalls"].pop()
    weights["true"], listed[0] = 100.0, 100.0
    seen = way(seen)
    for findings in (seen.given, seen.likelihood, seen.do, seen.likelihood["Alarm"]):
        with pytest.raises(TypeError, match="does not support item assignment"):
            findings["JohnCalls"] = "false"
    assert seen.given == {"JohnCalls": "true", "MaryCalls": ("true", "false")}
    assert seen.likelihood == {"Alarm": {"true": 4.0, "false": 1.0}, "Burglary": (1.0, 2.0)}
    assert np.array_equal(seen.query("Earthquake").values, before)
    assert np.array_equal(seen.posteriors["Earthquake"].values, posterior)
    assert seen.observe({"JohnCalls": "false"}).given["JohnCalls"] == "false"


class Asked(Enumeration):
    """An exact engine that says what it was asked."""

    def __init__(self) -> None:
        super().__init__()
        object.__setattr__(self, "asked", [])

    def log_evidence(self, *arguments: Any) -> float:
        self.asked.append("log_evidence")
        return super().log_evidence(*arguments)

    def marginals(self, *arguments: Any) -> Any:
        self.asked.append("marginals")
        return super().marginals(*arguments)


def test_an_exact_engine_answers_every_question() -> None:
    engine = Asked()
    seen = alarm().observe(CALLS, engine=engine)
    plain = alarm().observe(CALLS)
    assert seen.log_evidence == pytest.approx(plain.log_evidence, rel=1e-12)
    assert seen.conflict == pytest.approx(plain.conflict, rel=1e-11)
    assert engine.asked == ["log_evidence", "marginals", "log_evidence"]
    tight = alarm().observe(CALLS, engine=JunctionTree(memory_limit=1))
    with pytest.raises(MemoryLimitError):
        tight.most_probable(nodes=["Alarm", "Burglary"])
    # What an approximate one cannot know is found exactly.
    loose = alarm().observe(CALLS, engine=LikelihoodWeighting(10, random_state=0))
    assert (loose.log_evidence, loose.conflict) == (plain.log_evidence, plain.conflict)
    assert loose.most_probable() == plain.most_probable()


def test_it_shows_what_is_known() -> None:
    seen = alarm().observe(CALLS, likelihood={"Alarm": [1, 2]}, do={"Burglary": "true"})
    assert repr(seen) == (
        "BayesianNetwork of 5 nodes given JohnCalls = true, MaryCalls = true, "
        "likelihood of Alarm, do Burglary = true"
    )
    assert repr(alarm().observe()) == "BayesianNetwork of 5 nodes given nothing"
