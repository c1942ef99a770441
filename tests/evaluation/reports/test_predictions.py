"""Reading what a classifier gave: told apart by values, labels derived from scores."""

from typing import Any

import numpy as np
import pytest

from novum.core.decisions import WorkingPoint
from novum.evaluation.reports.predictions import Given, read_given, sort_out


@pytest.mark.parametrize(
    ("y", "given", "classes", "kind"),
    [
        (["a", "b"], ["b", "b"], None, "predictions"),
        ([0, 1], [1, 1], None, "predictions"),
        ([0, 1], [0.0, 1.0], None, "predictions"),
        ([0, 1], [True, False], None, "predictions"),
        ([0, 1], [0.0, 0.5], None, "probabilities"),
        ([0, 1], [-0.5, 0.5], None, "scores"),
        ([0, 1], [0.2, np.nan], None, "scores"),
        ([0, 1], [[0.2, 0.8], [0.5, 0.5]], None, "probabilities"),
        ([0, 1], [[0.2, 0.9], [0.5, 0.5]], None, "scores"),
        ([0, 2], [1, 1], [0, 1, 2], "predictions"),
        (["a", "b"], [0.2, 0.4], None, "probabilities"),
    ],
)
def test_forms_are_told_by_their_values(y: Any, given: Any, classes: Any, kind: Any) -> None:
    assert sort_out(y, np.array(given), classes) == kind


def test_labels_follow_from_scores_above_the_threshold() -> None:
    scores = [-1.0, 0.0, 0.5, 3.0]
    plain = read_given(Given([0, 0, 1, 1], scores=scores))
    assert plain.pair.predicted.tolist() == [0, 0, 1, 1]
    point = WorkingPoint.binary(prior=0.1, cost_fn=1, cost_fp=1)
    strict = read_given(Given([0, 0, 1, 1], scores=scores, point=point))
    assert strict.pair.predicted.tolist() == [0, 0, 0, 1]
    assert strict.threshold == point.threshold
    assert strict.actions.tolist() == [0, 0, 0, 1]


def test_the_points_last_class_is_positive_whatever_the_order() -> None:
    point = WorkingPoint.binary(prior=0.5, cost_fn=1, cost_fp=1, classes=("well", "ill"))
    found = read_given(Given(["ill", "well"], scores=[2.0, -2.0], point=point))
    assert found.positive == "ill"
    assert found.pair.classes == ("ill", "well")
    assert found.pair.predicted.tolist() == [0, 1]


def test_probabilities_at_a_point_give_the_cheapest_class_and_action() -> None:
    point = WorkingPoint([0, 1], [0.5, 0.5], [[0, 1], [9, 0]], reject_cost=0.4)
    found = read_given(Given([0, 1, 1], probabilities=[0.05, 0.3, 0.99], point=point))
    assert found.pair.predicted.tolist() == [0, 1, 1]
    assert found.actions.tolist() == [2, 2, 1]


def test_a_class_of_the_point_without_rows_is_a_class() -> None:
    found = read_given(Given([0, 1], [0, 1], point=WorkingPoint.uniform([0, 1, 2])))
    assert found.pair.classes == (0, 1, 2)
