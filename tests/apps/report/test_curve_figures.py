"""Figures of curves: closed cases in words, what is drawn, what is left out."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from novum.apps.job.record_model import Curve
from novum.apps.report.curve_figures import (
    area_below,
    bayes_error_figure,
    calibration_figure,
    confusion_figure,
    det_figure,
    further_words,
    hardest,
    is_drawable,
    learning_figure,
    marks_in_words,
    observed_figure,
    other_figure,
    points,
    precision_recall_figure,
    residuals_figure,
    roc_figure,
    threshold_figure,
)
from tests.apps.report.drawn import alt, strokes, words
from tests.apps.report.sample_parts import (
    classification_curves,
    cost_curves,
    curve,
    residual_curves,
)

# --- Curves ---------------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.floats(), st.floats()), max_size=60), st.integers(2, 20))
def test_points_are_finite_few_and_keep_the_ends(
    pairs: list[tuple[float, float]], most: int
) -> None:
    x, y = zip(*pairs, strict=True) if pairs else ((), ())
    found = points(Curve(x, y, (), ()), most)
    finite = [pair for pair in pairs if np.isfinite(pair).all()]
    assert len(found.x) == min(len(finite), most)
    assert set(zip(found.x, found.y, strict=True)) <= set(finite)
    if len(finite) > 1:
        assert (found.x[0], found.y[0]) == finite[0]
        assert (found.x[-1], found.y[-1]) == finite[-1]


def test_band_needs_both_limits_everywhere() -> None:
    x = (0.0, 1.0, 2.0)
    assert points(Curve(x, x, x, x), 9).low.tolist() == list(x)
    assert points(Curve(x, x, x, ()), 9).low.size == 0
    assert points(Curve(x, x, (None,) * 3, (None,) * 3), 9).low.size == 0  # type: ignore[arg-type]


def test_hardest_are_those_of_least_area_in_their_order() -> None:
    curves = [Curve((0.0, 1.0), (h, h), (), (), (), str(h)) for h in (0.9, 0.1, 0.8, 0.3, 0.2, 0.7)]
    found = hardest(curves, lambda x, y: -area_below(x, y))
    assert [curve.label for curve in found] == ["0.1", "0.8", "0.3", "0.2", "0.7"]
    assert further_words(found, curves) == " Of 6 classes the 5 hardest are drawn."
    assert further_words(curves, curves) == ""


def test_area_does_not_depend_on_the_way_the_curve_runs() -> None:
    x = np.array([0.0, 0.5, 1.0])
    assert area_below(x, x) == area_below(x[::-1], x[::-1]) == 0.5


def test_words_for_those_who_cannot_see() -> None:
    x = (0.0, 1.0)
    assert marks_in_words([Curve(x, x, (), (), ((0.25, 0.5, "here"),))]) == "here at 0.25, 0.5."
    banded, bare = [Curve(x, x, x, x)], [Curve(x, x, (), ())]
    assert further_words(banded, banded).startswith(" The band")
    assert further_words(bare, bare) == further_words(banded * 3, banded * 3) == ""


def test_one_point_or_none_is_not_drawn() -> None:
    assert not is_drawable([])
    assert not is_drawable([Curve((1.0,), (1.0,), (), ())])
    assert not is_drawable([Curve((1.0, 2.0), (float("nan"), 1.0), (), ())])
    assert is_drawable([Curve((), (), (), ()), Curve((1.0, 2.0), (1.0, 1.0), (), ())])


# --- Roc ------------------------------------------------------------------------------------------


def test_area_of_a_triangle_is_said() -> None:
    figure = roc_figure([Curve((0.0, 0.2, 1.0), (0.0, 0.8, 1.0), (), ())], 100)
    # Two triangles and a trapezoid: 0.08 + 0.72.
    assert "first curve 0.8." in alt(figure)


def test_mark_is_drawn_and_said() -> None:
    figure = roc_figure(classification_curves()["roc"], 100)
    assert "working point" in words(figure)
    assert "working point at 0.12" in alt(figure)
    assert "The band" in figure.caption


@pytest.mark.parametrize("n_classes", [3, 26])
def test_many_classes_are_counted(n_classes: int) -> None:
    labels = tuple(f"class {k}" for k in range(n_classes))
    figure = roc_figure(classification_curves(labels)["roc"], 100)
    drawn = [text for text in words(figure) if text.startswith("class ")]
    assert drawn == list(labels[-5:])
    assert ("the 5 hardest are drawn" in figure.caption) == (n_classes > 5)


# --- Precision recall -----------------------------------------------------------------------------


def test_area_of_a_rectangle_is_said() -> None:
    figure = precision_recall_figure([Curve((0.0, 1.0), (0.75, 0.75), (), ())], 100)
    assert "first curve 0.75." in alt(figure)
    assert {"precision", "recall"} <= set(words(figure))


def test_several_classes_have_a_legend() -> None:
    curves = [Curve((0.0, 1.0), (1.0, y), (), (), (), f"${y}$") for y in (0.5, 0.6)]
    assert {"$0.5$", "$0.6$"} <= set(words(precision_recall_figure(curves, 100)))


# --- Det ------------------------------------------------------------------------------------------


def line(markup: str) -> np.ndarray:
    """Points of the only curve in the first color."""
    path = re.search(r'<path d="([^"]+)"[^>]*class="stroke-series-1"', markup)
    assert path is not None
    return np.array([float(v) for v in re.findall(r"-?[\d.]+", path[1])]).reshape(-1, 2)


def test_normal_scores_give_a_straight_line() -> None:
    false_alarms = special.ndtr(np.linspace(-2.5, 1.0, 30))
    misses = special.ndtr(-1.5 - special.ndtri(false_alarms))
    places = line(str(det_figure([curve(false_alarms, misses)], 100).drawing))
    bend = np.polynomial.Polynomial.fit(places[:, 0], places[:, 1], 1)
    # Coordinates are rounded to a hundredth of a point.
    np.testing.assert_allclose(bend(places[:, 0]), places[:, 1], atol=0.02)


def test_perfect_scores_are_drawn_at_the_edge() -> None:
    figure = det_figure([curve([0.0, 0.0, 1.0], [1.0, 0.0, 0.0])], 100)
    assert np.isfinite(line(str(figure.drawing))).all()
    assert {"0.1 %", "50 %", "miss rate"} <= set(words(figure))


# --- Calibration ----------------------------------------------------------------------------------


BINS = Curve((0.1, 0.5, 0.9), (0.1, 0.7, 0.85), (0.0, 0.6, 0.8), (0.2, 0.8, 0.9))


def test_largest_distance_is_said() -> None:
    assert "diagonal is 0.2." in alt(calibration_figure([BINS], 100))


def test_intervals_are_drawn_for_one_curve_only() -> None:
    alone = strokes(calibration_figure([BINS], 100), "series-1")
    bare = strokes(calibration_figure([Curve(BINS.x, BINS.y, (), ())], 100), "series-1")
    both = calibration_figure([BINS, Curve(BINS.x, BINS.x, BINS.low, BINS.high, (), "b")], 100)
    # Three vertical lines, drawn as one collection or as three paths.
    assert alone > bare
    assert strokes(both, "series-1") <= bare + 2
    assert "b" in words(both)


# --- Threshold ------------------------------------------------------------------------------------


def test_least_cost_is_said() -> None:
    figure = threshold_figure([Curve((0.1, 0.4, 0.9), (3.0, 1.5, 2.0), (), ())], 100)
    assert "least of the first curve is 1.5 at 0.4" in alt(figure)


def test_chosen_threshold_is_drawn_and_said() -> None:
    figure = threshold_figure(cost_curves()["threshold"], 100)
    assert "chosen: 0.35" in words(figure)
    assert "chosen: 0.35 at 0.35" in alt(figure)


def test_constant_cost_has_room() -> None:
    assert threshold_figure([Curve((0.0, 1.0), (0.0, 0.0), (), ())], 100).drawing


# --- Bayes error ----------------------------------------------------------------------------------


def test_curves_and_working_point_are_named() -> None:
    figure = bayes_error_figure(cost_curves()["bayes_error"], 100)
    assert {"actual", "minimum", "this run"} <= set(words(figure))
    assert "this run at −1.1, 0.69" in alt(figure)


def test_cost_far_from_calibration_does_not_flatten_the_rest() -> None:
    figure = bayes_error_figure([Curve((-4.0, 4.0), (0.5, 900.0), (), (), (), "actual")], 100)
    ticks = [text for text in words(figure) if text[0].isdigit()]
    assert max(float(text) for text in ticks) <= 4.0


# --- Confusion ------------------------------------------------------------------------------------


def test_small_matrix_shows_its_numbers() -> None:
    figure = confusion_figure([[5, 1], [2, 1234]], ["no", "yes"], ["no", "yes"])
    assert {"5", "1", "2", "1,234", "no", "yes"} <= set(words(figure))
    assert "1,239 of 1,242 are right" in alt(figure)


def test_right_and_wrong_have_different_colors() -> None:
    right = confusion_figure([[5, 0], [0, 3]], ["a", "b"], ["a", "b"])
    assert strokes(right, "series-1") == 2
    assert strokes(right, "series-2") == 0
    wrong = confusion_figure([[5, 1], [0, 3]], ["a", "b"], ["a", "b"])
    assert strokes(wrong, "series-2") == 1


def test_large_matrix_has_shades_only_and_empty_classes_are_no_division_by_zero() -> None:
    counts = np.diag(np.arange(26.0))
    names = [chr(65 + k) for k in range(26)]
    figure = confusion_figure(counts.tolist(), names, names)
    assert set(words(figure)) == {*names, "decided", "true"}
    assert strokes(figure, "series-1") == 25


def test_actions_may_differ_from_classes() -> None:
    figure = confusion_figure([[5, 1, 0], [2, 1, 4]], ["no", "yes"], ["accept", "reject", "ask"])
    assert "right" not in alt(figure)
    assert {"accept", "reject", "ask"} <= set(words(figure))


# --- Observed -------------------------------------------------------------------------------------


def test_every_row_is_a_dot() -> None:
    figure = observed_figure(residual_curves(50)["predicted"], 800)
    assert str(figure.drawing).count("<circle") >= 50
    assert "rows are drawn" not in figure.caption
    assert {"predicted", "observed"} <= set(words(figure))


def test_dots_beyond_the_limit_are_counted() -> None:
    figure = observed_figure(residual_curves(500)["predicted"], 100)
    assert "100 of 500 rows are drawn" in figure.caption


def test_predictions_apart_from_observations_have_no_line_of_equality() -> None:
    figure = observed_figure([curve([0, 1], [100, 101])], 10)
    assert "stroke-dasharray" not in str(figure.drawing)


# --- Residuals ------------------------------------------------------------------------------------


def test_middle_half_is_said() -> None:
    figure = residuals_figure([curve([1, 2, 3, 4, 5], [-2, -1, 0, 1, 2])], 100)
    assert "between −1 and 1" in alt(figure)


def test_trend_is_a_line_with_a_name() -> None:
    figure = residuals_figure(residual_curves(50)["residuals"], 100)
    assert "running median" in words(figure)
    assert strokes(figure, "series-2") > 0


# --- Learning -------------------------------------------------------------------------------------


def test_ends_are_said() -> None:
    curve = Curve((10.0, 100.0), (0.5, 0.75), (0.4, 0.7), (0.6, 0.8), ((50.0, 0.6, "half"),))
    figure = learning_figure(curve, "log_loss", 100)
    assert alt(figure) == "The log loss goes from 0.5 with 10 rows to 0.75 with 100."
    assert {"training rows", "log loss", "half"} <= set(words(figure))


def test_flat_curve_without_band_is_drawn() -> None:
    assert learning_figure(Curve((1.0, 2.0), (1.0, 1.0), (), ()), "accuracy", 10).drawing


# --- Other ----------------------------------------------------------------------------------------


def test_name_and_number_of_curves_are_said() -> None:
    figure = other_figure("lift_curve", [curve([0, 1], [k, k]) for k in range(8)], 10, 0)
    assert figure.title == "lift curve"
    assert figure.caption == "The first 6 of 8 curves."
    assert alt(figure).startswith("Curve of lift curve.")
