"""Traces: trees grown by the definitions take the best candidate at every node."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import InputError
from novum.trees.general.gain_ratio import GainRatio
from novum.trees.reading.trace import trace
from tests.trees.definitions import TrainingTable
from tests.trees.definitions_growth import GrowthRules, grow
from tests.trees.reading.reading_trees import (
    NODE_SCHEMA,
    WEATHER_ROWS,
    NodeSample,
    node_rows,
    number_tree,
    weather_tree,
)

CELLS, PLAY = WEATHER_ROWS[:, :4], WEATHER_ROWS[:, 4]


@given(node_rows(), st.sampled_from(["gini", "entropy"]), st.sampled_from(["subset", "multiway"]))
def test_a_tree_by_the_definitions_takes_the_best_everywhere(
    node: NodeSample, criterion: str, nominal: str
) -> None:
    """With weights and fractions of rows."""
    cells, targets, weight = node
    table = TrainingTable(NODE_SCHEMA, cells, targets, weight, (np.arange(3),))
    tree = grow(table, GrowthRules(criterion=criterion, nominal=nominal, min_samples_leaf=1.0))
    how = {"criterion": criterion, "nominal": nominal}
    for told in trace(tree, cells, targets, weight, min_samples_leaf=1.0, **how):
        assert told.taken is not None
        assert told.candidates.weight == pytest.approx(tree.weight[told.node], rel=1e-9)
        assert told.candidates.impurity == pytest.approx(tree.impurity[told.node], abs=1e-9)
        best = told.candidates[0].gain
        assert told.taken.gain == pytest.approx(best, abs=1e-9)
        gain = tree.gain[told.node] / tree.weight[told.node]
        assert told.taken.gain == pytest.approx(gain, abs=1e-9)


def test_the_weather_is_grown_by_gain_ratio() -> None:
    told = trace(
        weather_tree(), CELLS, PLAY, criterion=GainRatio(), nominal="multiway", min_samples_leaf=2
    )
    assert [(node.node, node.rank, node.depth) for node in told] == [
        (0, 0, 0),
        (2, 0, 1),
        (3, 0, 1),
    ]
    assert str(told[2]).splitlines()[0] == (
        "node 3: outlook = sunny, splits by humidity <= 77.5, the best of 5"
    )


def test_a_split_that_was_not_the_best_says_its_place() -> None:
    told = trace(weather_tree(), CELLS, PLAY, criterion="gini", nominal="multiway", limit=1)
    assert [len(node.candidates) for node in told] == [1, 1, 1]
    assert told[0].rank is not None
    wrong = trace(weather_tree(), CELLS, 1 - PLAY % 2, criterion="gini", nominal="subset")
    assert wrong[0].taken is None
    assert "its split is not among these" in str(wrong)


def test_leaves_and_depth() -> None:
    everything = trace(weather_tree(), CELLS, PLAY, leaves=True)
    assert len(everything) == 8
    assert "node 1: outlook = overcast, a leaf" in str(everything)
    assert [node.node for node in trace(weather_tree(), CELLS, PLAY, max_depth=0)] == [0]


def test_numbers_are_traced_by_squared_error() -> None:
    cells = np.array([[4.0, 1, 0], [6.0, 1, 0], [6.0, 3, 0]])
    targets = np.array([[1.5, 10.0], [2.5, 20.0], [4.0, 0.0]])
    told = trace(number_tree(), cells, targets, target=1)
    assert [node.taken.words for node in told if node.taken] == [
        "sepal length <= 5",
        "petal width <= 2",
    ]
    assert told[1].taken is not None
    assert told[1].taken.branch_values == ((20.0,), (0.0,))


def test_html_is_escaped_text() -> None:
    page = trace(weather_tree(), CELLS, PLAY)._repr_html_()
    assert page.startswith("<pre>node 0")
    assert "humidity &lt;= 77.5" in page


def test_cells_of_another_width_are_refused() -> None:
    with pytest.raises(InputError, match=r"knows 4 columns, the cells have shape \(14, 2\)"):
        trace(weather_tree(), CELLS[:, :2], PLAY)
