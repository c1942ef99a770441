"""The picture as an XML reader and a person see it."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest

from novum.core.errors import InputError
from novum.distributions.joint_table import ImpossibleEvidence
from novum.distributions.joint_table_states import StateAxis
from novum.graphical.drawing.drawing import draw
from novum.graphical.models.bayesian_network import BayesianNetwork
from novum.graphical.models.conditional import Tabular

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "</svg><script>alert(1)</script>\"'&<img src=x onerror=y>\x1b[2J"


def alarm() -> BayesianNetwork:
    return (
        BayesianNetwork()
        .add("Burglary", table=[0.001, 0.999])
        .add("Earthquake", table=[0.002, 0.998])
        .add(
            "Alarm",
            ["Burglary", "Earthquake"],
            [[[0.95, 0.05], [0.94, 0.06]], [[0.29, 0.71], [0.001, 0.999]]],
        )
        .add("JohnCalls", ["Alarm"], [[0.9, 0.1], [0.05, 0.95]])
        .add("MaryCalls", ["Alarm"], [[0.7, 0.3], [0.01, 0.99]])
    )


def texts(picture: str) -> list[str]:
    return [node.text or "" for node in ElementTree.fromstring(picture).iter(f"{SVG}text")]


def test_posteriors_of_the_textbook_stand_in_the_boxes() -> None:
    found = texts(draw(alarm(), {"JohnCalls": "true", "MaryCalls": "true"}))
    at = found.index("Burglary")
    assert found[at : at + 5] == ["Burglary", "true", "28.4 %", "false", "71.6 %"]
    assert found[found.index("JohnCalls") + 2] == "100 %"


def test_bars_are_as_long_as_the_probabilities() -> None:
    network = alarm()
    root = ElementTree.fromstring(draw(network))
    bars = [float(r.get("width", 0)) for r in root.iter(f"{SVG}rect") if r.get("fill") == "#0072b2"]
    shares = np.concatenate([table.values for table in network.marginals().values()])
    np.testing.assert_allclose(bars, 64 * shares, atol=0.005)


def test_observed_nodes_have_another_frame() -> None:
    root = ElementTree.fromstring(draw(alarm(), {"Alarm": "false"}))
    frames = [rect for rect in root.iter(f"{SVG}rect") if rect.get("rx")]
    assert [rect.get("stroke") for rect in frames].count("#e69f00") == 1
    assert [rect.get("stroke-width") for rect in frames].count("2.5") == 1


def test_the_same_network_gives_the_same_text() -> None:
    assert draw(alarm()) == draw(alarm())


def test_an_arrow_for_every_edge_and_nothing_outside_the_sheet() -> None:
    root = ElementTree.fromstring(draw(alarm()))
    assert len(list(root.iter(f"{SVG}path"))) == 2 * 4
    width, height = float(root.get("width", 0)), float(root.get("height", 0))
    for rect in root.iter(f"{SVG}rect"):
        x, y, w, h = (float(rect.get(key, 0)) for key in ("x", "y", "width", "height"))
        assert x >= 0
        assert y >= 0
        assert x + w <= width
        assert y + h <= height


def test_hostile_names_stay_text() -> None:
    network = BayesianNetwork().add(HOSTILE, table=[0.5, 0.5], states=[HOSTILE, "\0"])
    for picture in (draw(network), draw(network, {HOSTILE: "\0"}, max_bars=0)):
        tags = {node.tag for node in ElementTree.fromstring(picture).iter()}
        assert tags <= {SVG + tag for tag in ("svg", "title", "g", "rect", "text", "path")}
        assert not re.search(r"href|style=|url\(|<script|\x1b|\0", picture)


def test_large_networks_are_drawn_with_names_only_and_say_so() -> None:
    network = BayesianNetwork().add("x0", table=[0.5, 0.5])
    for v in range(1, 1000):
        network = network.add(f"x{v}", [f"x{(v - 1) // 2}"], [[0.9, 0.1], [0.1, 0.9]])
    picture = draw(network, {"x7": "true"})
    found = texts(picture)
    assert len(found) == 1001
    assert found[found.index("x7") + 1] == "= true"
    assert "too many nodes for bars" in picture


def test_a_single_node_with_a_single_state() -> None:
    assert texts(draw(BayesianNetwork().add("a", table=[1.0], states=["x"]))) == [
        "a",
        "x",
        "100 %",
    ]


def test_it_saves_itself(tmp_path: Path) -> None:
    picture = draw(alarm())
    picture.save(tmp_path / "alarm.svg")
    assert (tmp_path / "alarm.svg").read_text() == picture


def test_wrong_input_is_refused() -> None:
    with pytest.raises(InputError, match="no nodes to draw"):
        draw(BayesianNetwork())
    with pytest.raises(InputError, match="did you mean 'Alarm'"):
        draw(alarm(), {"Alram": "true"})
    with pytest.raises(InputError, match="no state 'yes'"):
        draw(alarm(), {"Alarm": "yes"})
    with pytest.raises(InputError, match="max_states is at least 2, got 1"):
        draw(alarm(), max_states=1)
    certain = BayesianNetwork().add("a", table=[1 - 1e-9, 1e-9]).do({"a": "true"})
    with pytest.raises(ImpossibleEvidence):
        draw(certain, {"a": "false"})
    with pytest.raises(InputError, match="at least one node to draw"):
        draw(alarm(), nodes=[])
    with pytest.raises(InputError, match="nodes are names of nodes, got 3"):
        draw(alarm(), nodes=3)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="did you mean 'Alarm'"):
        draw(alarm(), nodes=["Alram"])


def test_some_nodes_are_drawn_with_the_edges_between_them() -> None:
    network = alarm()
    known = {"JohnCalls": "true"}
    picture = draw(network, known, nodes=["Alarm", "Burglary"])
    found = texts(picture)
    assert [name for name in network.names if name in found] == ["Burglary", "Alarm"]
    root = ElementTree.fromstring(picture)
    assert len(list(root.iter(f"{SVG}path"))) == 2
    assert "2 of the 5 nodes of a Bayesian network, with 1 edges" in picture
    assert "observed" not in picture
    share = network.query("Burglary", given=known).values[0]
    assert f"{100 * share:.1f} %" in found
    assert texts(draw(network, nodes="Alarm"))[0] == "Alarm"


def test_what_is_too_large_to_draw_can_be_drawn_in_part() -> None:
    network = BayesianNetwork(
        Tabular(StateAxis(f"x{place}", ("a", "b")), (), [0.5, 0.5]) for place in range(5001)
    )
    with pytest.raises(InputError, match=r"5000 is the limit. Draw some of them: nodes=\[...\]"):
        draw(network)
    assert texts(draw(network, nodes=["x7", "x9"]))[::5] == ["x7", "x9"]


def test_several_observed_states_are_marked() -> None:
    network = BayesianNetwork().add("s", table=[0.2, 0.3, 0.5], states=["low", "mid", "high"])
    root = ElementTree.fromstring(draw(network, {"s": ["low", "mid"]}))
    bold = [node.text for node in root.iter(f"{SVG}text") if node.get("font-weight") == "bold"]
    assert bold == ["s", "low", "40.0 %", "mid", "60.0 %"]
    assert "observed: low or mid" in draw(network, {"s": ["low", "mid"]})
    assert "= low or mid" in texts(draw(network, {"s": {"mid", "low"}}, max_bars=0))
