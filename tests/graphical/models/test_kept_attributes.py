"""Copies hold nothing that is computed."""

from __future__ import annotations

import pickle

from novum.graphical import Tabular
from novum.graphical.models.conditional import kept_attributes
from tests.graphical.textbook_networks import alarm


def test_networks_and_tables_leave_what_is_computed_behind() -> None:
    network = alarm()
    before = len(pickle.dumps(network))
    network.marginals({"JohnCalls": "true"})
    assert "arrays" in network.__dict__
    assert set(kept_attributes(network)) == {"conditionals"}
    assert len(pickle.dumps(network)) == before
    table = network["Alarm"]
    assert isinstance(table, Tabular)
    assert set(kept_attributes(table)) == {"variable", "parents", "cells"}
