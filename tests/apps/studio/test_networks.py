"""The room of networks: the answers are the library's, changes are versions, files stay inside."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from novum.apps.studio.networks import examples
from novum.graphical import BayesianNetwork, Dag, trails
from tests.apps.studio.conftest import Served

API = "/api/networks"


def opened(served: Served, name: str = "asia") -> dict[str, Any]:
    found: dict[str, Any] = served.post(f"{API}/open", {"name": name})
    return found


def node(network: dict[str, Any], name: str) -> dict[str, Any]:
    return next(one for one in network["nodes"] if one["name"] == name)


def refused(served: Served, path: str, body: Any) -> str:
    answer = served.ask("POST", f"{API}/{path}", body)
    assert answer.status == 400, answer.text
    return str(answer.json["error"])


def test_probabilities_and_explanations_are_the_librarys(served: Served) -> None:
    network, given = BayesianNetwork.read(examples()["asia"]), {"dysp": "yes", "xray": "no"}
    version = opened(served)["version"]
    found = served.post(f"{API}/posteriors", {"version": version, "given": given})
    for name, table in network.marginals(given).items():
        np.testing.assert_allclose(found["marginals"][name], table.values, atol=1e-8)
    assert found["log_evidence"] == pytest.approx(network.log_evidence(given))
    best = served.post(f"{API}/explanation", {"version": version, "given": given})
    assert best["states"] == dict(network.most_probable(given))


def test_parents_stand_above_children(served: Served) -> None:
    network = opened(served, "alarm")
    for child in network["nodes"]:
        for name in child["parents"]:
            assert node(network, name)["y"] < child["y"]


def test_trails_tell_why(served: Served) -> None:
    version = opened(served)["version"]
    asked = {"version": version, "a": "asia", "b": "smoke"}
    apart = served.post(f"{API}/trails", asked)
    assert apart["separated"]
    assert "nothing at or below either is observed" in apart["trails"][0]["text"]
    joined = served.post(f"{API}/trails", {**asked, "given": {"xray": "yes"}})
    assert not joined["separated"]
    assert joined["trails"][0]["open"]
    assert "xray below either is" in joined["trails"][0]["text"]


def test_blocked_trails_are_those_that_are_not_open() -> None:
    edges = [("a", "b"), ("b", "c"), ("d", "b"), ("d", "c"), ("c", "e")]
    graph = Dag.from_edges(edges)
    for given in ((), ("b",), ("e",), ("b", "d")):
        found = trails(graph, "a", "c", given)
        assert {one.nodes for one in found} == {("a", "b", "c"), ("a", "b", "d", "c")}
        separation = graph.d_separated("a", "c", given)
        is_open = {one.nodes for one in found if not one.blockers}
        assert is_open == {one.nodes for one in separation.trails}


def test_changes_are_versions_and_the_first_one_stays(served: Served) -> None:
    first = opened(served, "earthquake")
    table = [[0.5, 0.5]]
    second = served.post(
        f"{API}/change", {"version": first["version"], "node": "Burglary", "table": table}
    )
    assert node(second, "Burglary")["table"] == table
    again = served.post(f"{API}/show", {"version": first["version"]})
    assert node(again, "Burglary")["table"] == node(first, "Burglary")["table"]
    # A new parent changes no probability until its table is edited.
    third = served.post(
        f"{API}/change",
        {"version": first["version"], "node": "JohnCalls", "parents": ["Alarm", "Burglary"]},
    )
    before, after = (
        served.post(f"{API}/posteriors", {"version": one["version"]})["marginals"]["JohnCalls"]
        for one in (first, third)
    )
    np.testing.assert_allclose(before, after, atol=1e-8)
    fourth = served.post(
        f"{API}/change", {"version": third["version"], "node": "Burglary", "remove": True}
    )
    assert node(fourth, "JohnCalls")["parents"] == ["Alarm"]


def test_a_network_is_drawn_saved_and_opened(served: Served) -> None:
    one = served.post(f"{API}/change", {"node": "Rain", "states": ["yes", "no"]})
    two = served.post(
        f"{API}/change",
        {
            "version": one["version"],
            "node": "Wet <b>",
            "states": ["yes", "no"],
            "parents": ["Rain"],
        },
    )
    wet = {"version": two["version"], "node": "Wet <b>", "table": [[0.9, 0.1], [0.2, 0.8]]}
    three = served.post(f"{API}/change", wet)
    name = served.post(f"{API}/save", {"version": three["version"], "name": "../rain"})["name"]
    assert name == "rain.bif"
    path = served.folder / name
    assert path.stat().st_mode & 0o077 == 0
    assert BayesianNetwork.read(path).query("Wet <b>").values[0] == pytest.approx(0.55)
    assert name in served.get(f"{API}/list")["files"]


def test_a_network_is_learned_from_a_table(served: Served) -> None:
    found = served.post(f"{API}/learn", {"table": "weather_nominal"})
    assert {one["name"] for one in found["nodes"]} >= {"outlook", "windy"}
    assert "14 rows" in found["said"]


def test_what_cannot_be_is_said_in_a_sentence(served: Served) -> None:
    version = opened(served)["version"]
    asked = {"version": version}
    assert "no node 'ghost'" in refused(served, "posteriors", {**asked, "given": {"ghost": "x"}})
    assert "no state 'maybe'" in refused(served, "posteriors", {**asked, "given": {"tub": "maybe"}})
    said = refused(served, "posteriors", {**asked, "given": {"tub": "yes", "either": "no"}})
    assert "probability" in said or "impossible" in said.lower()
    assert "two different nodes" in refused(served, "trails", {**asked, "a": "tub", "b": "tub"})
    assert "observed" in refused(
        served, "trails", {**asked, "a": "tub", "b": "lung", "given": {"tub": "yes"}}
    )
    assert "two different states" in refused(
        served, "change", {**asked, "node": "x", "states": ["one"]}
    )
    assert "cells" in refused(served, "change", {**asked, "node": "tub", "table": [[1.0]]})
    assert "Open its file again" in refused(served, "show", {"version": "0" * 16})
    assert "has no file" in refused(served, "open", {"name": "../../etc/passwd"})
    assert "cycle" in refused(served, "change", {**asked, "node": "asia", "parents": ["dysp"]})


def test_a_file_is_replaced_only_where_that_is_asked_for(served: Served) -> None:
    version = opened(served)["version"]
    (served.folder / "mine.bif").write_text("mine")
    asked = {"version": version, "name": "mine.bif"}
    assert "already" in refused(served, "save", asked)
    assert (served.folder / "mine.bif").read_text() == "mine"
    served.post(f"{API}/save", {**asked, "replace": True})
    assert BayesianNetwork.read(served.folder / "mine.bif").names
    (served.folder / "link.bif").symlink_to(served.folder / "mine.bif")
    assert "link" in refused(served, "save", {**asked, "name": "link.bif", "replace": True})


def test_tables_that_no_page_can_hold_are_refused_before_they_are_made(served: Served) -> None:
    network = served.post(f"{API}/change", {"node": "n0", "states": [f"s{i}" for i in range(50)]})
    for number in range(1, 5):
        network = served.post(
            f"{API}/change",
            {
                "version": network["version"],
                "node": f"n{number}",
                "states": [f"s{i}" for i in range(50 if number < 4 else 2)],
            },
        )
    asked = {"version": network["version"], "node": "n4"}
    assert "cells" in refused(served, "change", {**asked, "parents": ["n0", "n1", "n2", "n3"]})
    assert "twice" in refused(served, "change", {**asked, "parents": ["n0", "n0"]})
    assert "as many cells" in refused(served, "change", {**asked, "table": [[1.0], [0.5, 0.5]]})
