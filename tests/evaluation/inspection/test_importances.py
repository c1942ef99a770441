"""Importances as a value: means, order and text."""

from __future__ import annotations

import numpy as np

from novum.evaluation.inspection.permutation import PermutationImportance
from novum.evaluation.measures.interval import Interval

FOUND = PermutationImportance(
    ("a\x1b[2J", "b"),
    np.array([[0.1, 0.3], [0.5, 0.7]]),
    (Interval(0.2, 0.1, 0.3), Interval(0.6, 0.5, 0.7)),
    0.9,
    "accuracy",
    "this model, rows like these",
)


def test_summaries() -> None:
    np.testing.assert_allclose(FOUND.importances_mean, [0.2, 0.6])
    np.testing.assert_allclose(FOUND.importances_std, [0.1, 0.1])
    assert FOUND.ranking() == ["b", "a\x1b[2J"]
    assert len(FOUND) == 3


def test_text_is_safe_and_sorted() -> None:
    lines = repr(FOUND).splitlines()
    assert lines[1].startswith("b")
    assert "\x1b" not in repr(FOUND)
    assert "accuracy 0.9 with all columns" in lines[-1]
