"""From names and states to arrays: what matches, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from novum.core.errors import InputError
from novum.distributions.joint_table_states import StateAxis
from novum.graphical import BayesianNetwork, Factor, FactorGraph
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
        with pytest.raises(InputError, match="Node 'x' has no state"):
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
