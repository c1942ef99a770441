"""What a network is made of, by names."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import InputError, MemoryLimitError
from novum.graphical import BayesianNetwork
from tests.graphical.textbook_networks import alarm, random_network


def test_a_network_is_a_collection_of_its_names() -> None:
    network = alarm()
    assert list(network) == list(network.names)
    assert sorted(network) == sorted(network.names)
    assert "Alarm" in network
    assert 3 not in network
    assert list(BayesianNetwork()) == []


def test_parents_and_children_are_names() -> None:
    network = alarm()
    assert network.parents("Alarm") == ("Burglary", "Earthquake")
    assert network.children("Alarm") == ("JohnCalls", "MaryCalls")
    assert network.parents("Burglary") == network.children("JohnCalls") == ()
    for ask in (network.parents, network.children, network.part):
        with pytest.raises(InputError, match="did you mean 'Alarm'"):
            ask("Alram")


@given(st.integers(0, 1000), st.data())
def test_a_part_has_the_marginal_distribution(seed: int, data: st.DataObject) -> None:
    network = random_network(seed)
    chosen = data.draw(st.lists(st.sampled_from(network.names), min_size=1, unique=True))
    part = network.part(*chosen)
    ancestors = {*chosen}
    for name in reversed([network.names[place] for place in network.graph.order]):
        if ancestors & {*network.children(name)}:
            ancestors.add(name)
    assert part.names == tuple(name for name in network.names if name in ancestors)
    for name in part:
        np.testing.assert_allclose(part.query(name).values, network.query(name).values, rtol=1e-12)
    assert all(part[name] == network[name] for name in part)
    # It is a whole network: every parent is there.
    assert BayesianNetwork(part.conditionals) == part


def test_a_part_needs_a_node() -> None:
    with pytest.raises(InputError, match="at least one node; its ancestors come with it"):
        alarm().part()


def test_notebooks_show_small_networks_as_pictures_and_others_in_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page = alarm()._repr_html_()
    assert "<svg" in page
    assert "BayesianNetwork of 5 nodes and 4 edges" in page
    assert "%</text>" in page
    ElementTree.fromstring(page)
    large = BayesianNetwork()
    for number in range(41):
        large = large.add(f"<x{number}>", table=[0.5, 0.5])
    for network in (large, BayesianNetwork()):
        assert "<svg" not in network._repr_html_()
        ElementTree.fromstring(network._repr_html_())

    def too_dear(*_: object, **__: object) -> None:
        raise MemoryLimitError("too large")

    monkeypatch.setattr(BayesianNetwork, "marginals", too_dear)
    page = alarm()._repr_html_()
    assert "<svg" in page
    assert "%</text>" not in page
