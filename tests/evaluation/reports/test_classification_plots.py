"""Pictures of a classification report: drawn from the numbers, on a figure of one's own too."""

import numpy as np
from matplotlib.figure import Figure

from novum.evaluation.measures.confusion import confusion_matrix
from novum.evaluation.measures.curves import curves
from novum.evaluation.measures.thresholds import threshold_curve
from novum.evaluation.reports.classification import ClassificationReport
from novum.evaluation.reports.classification_plots import (
    draw_confusion,
    draw_det,
    draw_roc,
    draw_threshold,
    literal,
)


def test_counts_are_written_into_the_matrix() -> None:
    ax = Figure().subplots()
    draw_confusion(ax, confusion_matrix(["a", "b", "b"], ["a", "b", "a"]))
    assert [text.get_text() for text in ax.texts] == ["1", "0", "1", "1"]
    assert [text.get_text() for text in ax.get_xticklabels()] == ["a", "b"]


def test_curves_are_drawn_with_bands() -> None:
    y = np.arange(40) % 2
    found = curves(y, y + np.random.default_rng(0).normal(size=40), n_resamples=20)
    ax = Figure().subplots()
    draw_roc(ax, {"yes": found})
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), found.roc.false_positive_rate)
    assert len(ax.collections) == 1
    det = Figure().subplots()
    draw_det(det, {"yes": found})
    assert np.isfinite(det.lines[0].get_xydata()).all()


def test_the_best_threshold_is_marked() -> None:
    curve = threshold_curve("f1", [0, 1, 1], [1.0, 2.0, 3.0], n_resamples=0)
    ax = Figure().subplots()
    draw_threshold(ax, curve)
    assert ax.lines[1].get_xdata()[0] == curve.best_threshold == 1.5


def test_a_figure_may_be_given() -> None:
    figure = Figure()
    report = ClassificationReport([0, 1], [0, 1], n_resamples=5)
    assert report.plot(figure) is figure


def test_labels_are_no_formulas() -> None:
    assert literal("$x^2$") == r"\$x^2\$"
