"""Explanations: exact words, the tree's own prediction, and cells beside their thresholds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import InputError
from novum.core.tables import Column, Kind, Schema
from novum.trees.reading.explanation import explain
from novum.trees.tree import Tree
from tests.trees.reading.reading_trees import (
    GRID,
    among,
    answer_of,
    below,
    build,
    iris_tree,
    leaf,
    number_tree,
    random_trees,
    weather_tree,
)

cells = st.tuples(*(st.sampled_from([*values, math.nan]) for values in GRID))


@given(random_trees(), cells)
def test_the_prediction_is_the_trees_and_shares_add_to_one(
    tree: Tree, row: tuple[float, ...]
) -> None:
    told = explain(tree, row)
    expected = answer_of(tree, np.array(row))
    np.testing.assert_allclose(told.answer, expected, rtol=1e-12, atol=1e-15)
    assert tree.classes is not None
    code = tree.classes[0].tolist().index(told.prediction)
    assert expected[code] >= expected.max() - 1e-12
    assert sum(share for _, share in told.leaves) == pytest.approx(1.0, rel=1e-12)
    assert len(str(told).splitlines()) == len(told.rows()) + 2


@given(random_trees(), cells)
def test_every_step_goes_on_from_the_one_before(tree: Tree, row: tuple[float, ...]) -> None:
    told = explain(tree, row)
    for step in told.steps:
        assert sum(share for _, share in step.answers) == pytest.approx(1.0, rel=1e-12)
        np.testing.assert_allclose([step.before.sum(), step.after.sum()], 1.0, rtol=1e-12)


def test_a_day_in_words() -> None:
    assert str(explain(weather_tree(), [2, 70, 90, 0])).splitlines() == [
        "prediction: no (share 1)",
        "  all rows                   yes 0.643, no 0.357",
        "  outlook is sunny           no 0.6, yes 0.4",
        "  humidity is 90, so > 77.5  no 1",
        "With humidity <= 77.5 it would be yes.",
    ]


def test_a_missing_cell_is_told_with_its_shares() -> None:
    told = explain(weather_tree(), [1, 70, 90, math.nan])
    assert (
        told.steps[1].text == "windy is missing, so every branch: = False with 0.6, = True with 0.4"
    )
    assert told.rows()[-1] == ("2 leaves, by the row's share in each", "yes 0.6, no 0.4")
    assert told.leaves == ((4, 0.6), (5, 0.4))
    deeper = explain(weather_tree(), [math.nan, 70, 90, 0])
    assert "(0.357 of the row) windy is False" in str(deeper)


def test_a_level_never_met_is_told() -> None:
    told = explain(weather_tree(), [-2, 70, 90, 0])
    assert told.steps[0].text.startswith("outlook is an unseen level, so every branch: = overcast")


def test_a_missing_cell_with_a_branch_of_its_own() -> None:
    told = explain(iris_tree(), [5.0, math.nan, 0.0])
    assert told.steps[1].text == "petal width is missing and goes with > 1.75"


def test_a_cell_next_to_its_threshold_is_written_on_its_side() -> None:
    above = math.nextafter(1.75, 2.0)
    told = explain(iris_tree(), [5.0, above, 0.0])
    assert told.steps[1].text == "petal width is 1.7500000000000002, so > 1.75"
    assert told.steps[0].text == "petal width is 1.75, so > 0.8"


def test_numbers_in_words() -> None:
    assert str(explain(number_tree(), [5.5, 1.2, 0])).splitlines() == [
        "prediction: 2.5",
        "  all rows                     2.66667",
        "  sepal length is 5.5, so > 5  3.25",
        "  petal width is 1.2, so <= 2  2.5",
        "With petal width > 2 it would be 4.",
    ]
    assert explain(number_tree(), [5.5, 1.2, 0], target=1).prediction == 20.0


def test_nothing_to_change() -> None:
    tree = build(Schema.of_array(1), [["a", "b"]], below(0, 1.0, leaf(2, 1), leaf(3, 1)))
    told = explain(tree, [0.5])
    assert told.changes == ()
    assert told.counterfactual == "No change of a single cell on the way changes the prediction."


def test_html_is_escaped() -> None:
    schema = Schema((Column("<b>", Kind.NOMINAL, ("<i>", "x")),))
    tree = build(schema, [["<u>", "b"]], among(0, [0, 1], leaf(1, 0), leaf(0, 1)))
    page = explain(tree, [0.0])._repr_html_()
    assert not any(tag in page for tag in ("<b>", "<i>", "<u>"))
    assert "&lt;b&gt; is &lt;i&gt;" in page


def test_a_table_is_refused() -> None:
    with pytest.raises(InputError, match=r"One row of 4 cells .* shape \(2, 4\)"):
        explain(weather_tree(), np.zeros((2, 4)))
