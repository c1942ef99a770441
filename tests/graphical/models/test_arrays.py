"""The flat arrays of models and evidence."""

from __future__ import annotations

import numpy as np

from novum.graphical import BayesianNetwork, Evidence, Factor, FactorGraph
from tests.graphical.textbook_networks import alarm


def test_scopes_and_tables_are_those_of_the_network() -> None:
    network = alarm()
    model = network.arrays
    assert (model.n_variables, model.n_factors, model.n_hidden) == (5, 5, 0)
    assert model.is_directed
    for place, item in enumerate(network.conditionals):
        names = [network.names[v] for v in model.scope(place)]
        assert names == [*(p.name for p in item.parents), item.name]
        assert np.array_equal(model.table(place), item.table)
    assert not model.has_zeros
    assert not model.zeros.any()
    assert network.do({"Alarm": "true"}).arrays.has_zeros


def test_undirected_models_have_no_heads() -> None:
    graph = FactorGraph([Factor([1.0, 0.0], {"a": (0, 1)})])
    assert not graph.arrays.is_directed
    assert graph.arrays.has_zeros
    assert graph.arrays.zeros.tolist() == [1]
    assert graph.arrays.spans.tolist() == [0.0]
    # As many factors as variables is not enough: they must be conditional tables.
    assert graph.arrays.heads.tolist() == [-1]


def test_spans_are_powers_of_two() -> None:
    values = [[0.0, 0.25], [8.0, 1.0]]
    graph = FactorGraph([Factor(values, {"a": (0, 1), "b": (0, 1)}), Factor([4, 2], {"b": (0, 1)})])
    model = graph.arrays
    assert model.spans.tolist() == [3.0, 2.0]
    # Two states each.
    assert model.span == 5.0 + 2.0
    assert model.zeros.tolist() == [1, 0]


def test_an_empty_model_and_no_evidence() -> None:
    model = BayesianNetwork().arrays
    assert (model.n_variables, model.n_factors) == (0, 0)
    assert model.is_directed
    assert (model.order.tolist(), model.spans.tolist(), model.zeros.tolist()) == ([], [], [])
    none = Evidence.none(3)
    assert none.observed.tolist() == []
    assert Evidence(np.array([-1, 2, 0])).observed.tolist() == [1, 2]
