"""Open-set measures: brute force over thresholds, scikit-learn's area, bad input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from novum.core.errors import InputError
from novum.evaluation.open_set.measures import (
    known_unknown_auroc,
    normalized_accuracy,
    open_set_curve,
)

cases = st.lists(
    st.tuples(st.sampled_from("abxy"), st.sampled_from("ab"), st.integers(0, 6)), max_size=25
).map(lambda more: [("a", "a", 3), ("x", "b", 2), *more])


@given(cases)
def test_curve_is_the_definition_at_every_threshold(rows: list[tuple[str, str, int]]) -> None:
    y, said, scores = (list(column) for column in zip(*rows, strict=True))
    curve = open_set_curve(y, said, scores, known_classes="ab")
    known = [label in "ab" for label in y]
    for t, correct, accepted in zip(
        curve.thresholds, curve.correct_rate, curve.false_acceptance_rate, strict=True
    ):
        hits = sum(
            s >= t and k and a == b for s, k, a, b in zip(scores, known, y, said, strict=True)
        )
        false = sum(s >= t and not k for s, k in zip(scores, known, strict=True))
        assert correct == pytest.approx(hits / sum(known))
        assert accepted == pytest.approx(false / (len(y) - sum(known)))
    assert 0 <= curve.area <= curve.correct_rate[-1]


@given(cases)
def test_area_of_known_against_unknown_is_scikit_learns(rows: list[tuple[str, str, int]]) -> None:
    y, _, scores = (list(column) for column in zip(*rows, strict=True))
    known = np.array([label in "ab" for label in y])
    assert known_unknown_auroc(y, scores, known_classes="ab") == pytest.approx(
        roc_auc_score(known, scores)
    )
    # With a perfect classifier the two areas are one.
    perfect = open_set_curve(y, y, scores, known_classes="ab")
    assert perfect.area == pytest.approx(roc_auc_score(known, scores))


@given(cases)
def test_monotone_maps_of_the_scores_change_nothing(rows: list[tuple[str, str, int]]) -> None:
    y, said, scores = (list(column) for column in zip(*rows, strict=True))
    moved = np.exp(np.array(scores) / 3) - 5
    one = open_set_curve(y, said, scores, known_classes="ab")
    two = open_set_curve(y, said, moved, known_classes="ab")
    assert one.area == two.area


def test_normalized_accuracy_by_hand() -> None:
    y, said = ["a", "a", "b", "b", "x", "y"], ["a", "?", "b", "a", "?", "b"]
    assert normalized_accuracy(y, said, known_classes="ab") == 0.5
    assert normalized_accuracy(y, said, known_classes="ab", known_share=1) == 0.5
    assert normalized_accuracy([0, 0, 7], [0, 0, 0], known_classes=[0], known_share=0.8) == 0.8


def test_rate_at_a_limit_and_picture() -> None:
    curve = open_set_curve(list("aaxx"), ["a"] * 4, [4, 2, 3, 1], known_classes="a")
    assert curve.correct_rate_at(0.0) == 0.5
    assert curve.correct_rate_at(0.5) == 1.0
    axes = curve.plot(label="rule")
    np.testing.assert_allclose(axes.lines[0].get_ydata(), curve.correct_rate)
    import matplotlib.pyplot as plt

    plt.close(axes.figure)


def test_bad_input_is_named() -> None:
    with pytest.raises(InputError, match="No case is of an unknown class"):
        known_unknown_auroc(["a", "b"], [1, 2], known_classes="ab")
    with pytest.raises(InputError, match="No case is of a known class"):
        normalized_accuracy(["x"], ["a"], known_classes="ab")
    with pytest.raises(InputError, match="score of row 1 is NaN"):
        known_unknown_auroc(["a", "x"], [1, np.nan], known_classes="ab")
    with pytest.raises(InputError, match="2 labels and 1 predictions"):
        open_set_curve(["a", "x"], ["a"], [1, 2], known_classes="ab")
    with pytest.raises(InputError, match="known_share"):
        normalized_accuracy(["a", "x"], ["a", "x"], known_classes="ab", known_share=2)


def test_scores_that_differ_by_rounding_are_accepted_together() -> None:
    scores = [0.3, 0.1 + 0.2, 0.8]
    curve = open_set_curve(list("axa"), ["a"] * 3, scores, known_classes="a")
    assert curve.thresholds.tolist() == [np.inf, 0.8, 0.3]
    assert known_unknown_auroc(list("axa"), scores, known_classes="a") == 0.75


def test_limits_of_false_acceptance_are_met_but_for_rounding() -> None:
    y = ["a"] + ["x"] * 10
    curve = open_set_curve(y, ["a"] * 11, [9.5, *range(10, 0, -1)], known_classes="a")
    # One of ten unknown cases is accepted with the known one, and 1 - 0.9 is below 0.1.
    assert curve.correct_rate_at(1 - 0.9) == 1.0


@given(st.integers(2, 60), st.integers(2, 60), st.randoms(use_true_random=False))
def test_the_area_never_exceeds_the_accuracy(n_known: int, n_unknown: int, random: Any) -> None:
    """All known cases first: the area is the accuracy itself, and no ulp more."""
    y = ["a"] * n_known + ["x"] * n_unknown
    said = [random.choice("ab") for _ in y]
    curve = open_set_curve(y, said, range(len(y), 0, -1), known_classes="ab")
    assert curve.area <= curve.correct_rate[-1]
    assert curve.area == pytest.approx(curve.correct_rate[-1], rel=1e-14)
