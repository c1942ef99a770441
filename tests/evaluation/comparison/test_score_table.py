"""The score table: names, shapes and numbers are checked by name."""

from __future__ import annotations

import numpy as np
import pytest

from novum.evaluation.comparison.score_table import checked_names, table_of_scores


def test_scores_of_other_places() -> None:
    scores = {
        "iris": {"a": [0.9, 0.8], "b": [0.7, 0.6]},
        "wine": {"b": [0.5, 0.4], "a": [0.1, 0.2]},
    }
    table = table_of_scores(scores, "accuracy", 1.0)
    assert table.models == ("a", "b")
    # Models are matched by name, not by place.
    np.testing.assert_allclose(table.means("accuracy"), [[0.85, 0.65], [0.15, 0.45]])
    assert table.datasets["iris"].plan.n_folds == 2


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ({}, "at least 1 data set, got none"),
        ({"d": {"a": [0.1, 0.2]}}, "at least 2 models, got only 'a'"),
        (
            {"d": {"a": [1, 2], "b": [1, 2]}, "e": {"a": [1, 2], "c": [1, 2]}},
            "Compared with 'd', data set 'e' lacks 'b' and has besides 'c'",
        ),
        ({"d": {"a": [1, 2, 3], "b": [1, 2]}}, "unequal numbers of scores: a 3, b 2"),
        ({"d": {"a": [1], "b": [2]}}, "has 1 scores.*at least 2 folds"),
        ({"d": {"a": [1, 2], "b": [1, np.nan]}}, "first is nan of model 'b' in fold 1"),
    ],
)
def test_bad_scores_are_named(scores: dict[str, dict[str, list[float]]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        table_of_scores(scores, "accuracy", 0.5)


def test_uneven_repeats_are_named() -> None:
    with pytest.raises(ValueError, match="are not 2 repeats"):
        table_of_scores({"d": {"a": [1, 2, 3], "b": [1, 2, 3]}}, "accuracy", 0.5, n_repeats=2)


def test_duplicate_names_are_named_without_control_characters() -> None:
    with pytest.raises(ValueError, match="used more than once") as caught:
        checked_names(["x\x1b", "x\x1b", "y"], "model", 2)
    assert "\x1b" not in str(caught.value)
