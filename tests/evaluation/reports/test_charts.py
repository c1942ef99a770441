"""Charts of judged predictions: drawn from the numbers, on a figure of one's own too."""

import numpy as np
from matplotlib.figure import Figure

from novum.display import Bars, Cloud, Line, Rule, Words
from novum.evaluation.measures.confusion import confusion_matrix
from novum.evaluation.measures.curves import curves
from novum.evaluation.reports.charts import (
    Series,
    confusion_chart,
    det_chart,
    deviates,
    observed_chart,
    quantiles_chart,
    roc_chart,
)
from novum.evaluation.reports.classification import ClassificationReport
from novum.evaluation.reports.regression import RegressionReport
from novum.evaluation.reports.residuals import autocorrelations


def _report() -> RegressionReport:
    rng = np.random.default_rng(0)
    p = rng.normal(size=50)
    return RegressionReport(p + rng.normal(size=50), p, n_resamples=10)


def test_counts_are_written_into_the_matrix() -> None:
    counts = confusion_matrix(["a", "b", "b"], ["a", "b", "a"]).counts
    chart = confusion_chart(counts, ["a", "b"])
    assert [mark.text for mark in chart.marks if isinstance(mark, Words)] == ["1", "0", "1", "1"]
    right, wrong = (mark for mark in chart.marks if isinstance(mark, Bars))
    # Half of class b is right, half is taken for a.
    np.testing.assert_allclose(np.asarray(right.opacity) ** 2, [0.25, 0.125])
    np.testing.assert_allclose(np.asarray(wrong.opacity) ** 2, [0.125])
    ax = chart.plot(Figure().subplots())
    assert [text.get_text() for text in ax.texts] == ["1", "0", "1", "1"]
    assert [text.get_text() for text in ax.get_xticklabels()] == ["a", "b"]


def test_curves_are_drawn_with_bands() -> None:
    y = np.arange(40) % 2
    found = curves(y, y + np.random.default_rng(0).normal(size=40), n_resamples=20)
    band = (found.roc.band.x, found.roc.band.low, found.roc.band.high)
    rates = (found.roc.false_positive_rate, found.roc.true_positive_rate)
    ax = roc_chart([Series(*rates, "yes", band)]).plot(Figure().subplots())
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), found.roc.false_positive_rate)
    assert len(ax.collections) == 1
    many = roc_chart([Series(*rates, str(k), band) for k in range(5)])
    assert all(isinstance(mark, Line) for mark in many.marks)


def test_normal_scores_have_a_straight_line_of_errors_and_rates_of_zero_stay_finite() -> None:
    misses = np.array([0.0, 0.1, 0.5, 1.0])
    line = det_chart([Series(misses[::-1], misses)]).marks[0]
    assert np.isfinite([line.x, line.y]).all()
    np.testing.assert_allclose(deviates(np.array([0.5])), 0.0)


def test_the_best_threshold_is_marked() -> None:
    report = ClassificationReport([0, 1, 1], scores=[1.0, 2.0, 3.0], n_resamples=5)
    (rule,) = (mark for mark in report.charts()[-1].marks if isinstance(mark, Rule))
    assert rule.x == report.threshold_curve.best_threshold == 1.5  # type: ignore[union-attr]


def test_a_figure_may_be_given() -> None:
    figure = Figure()
    report = ClassificationReport([0, 1], [0, 1], n_resamples=5)
    assert report.plot(figure) is figure


def test_four_pictures_show_numbers_and_names() -> None:
    report = _report()
    figure = report.plot()
    titles = [ax.get_title() for ax in figure.axes]
    assert titles[0] == f"R2 {report['r2']!r}"
    assert titles[1] == f"RMSE {report['rmse']!r}"
    assert all(ax.get_xlabel() and ax.get_ylabel() for ax in figure.axes)


def test_quantiles_are_the_sorted_residuals_and_the_line_goes_through_the_quartiles() -> None:
    report = _report()
    (cloud,) = (mark for mark in report.charts()[2].marks if isinstance(mark, Cloud))
    np.testing.assert_allclose(cloud.y, np.sort(report.residuals))
    x = np.linspace(-2, 2, 101)
    law = quantiles_chart([Series(x, 3 + 2 * x)]).marks[0]
    np.testing.assert_allclose(law.y, 3 + 2 * np.asarray(law.x))


def test_predictions_apart_from_observations_have_no_line_of_equality() -> None:
    apart, near = (observed_chart([Series([0, 1], y)]) for y in ([100, 101], [0, 1]))
    assert not any(isinstance(mark, Line) for mark in apart.marks)
    assert any(isinstance(mark, Line) for mark in near.marks)


def test_lags_are_bars() -> None:
    (bars,) = (mark for mark in _report().charts()[3].marks if isinstance(mark, Bars))
    np.testing.assert_allclose(bars.top, autocorrelations(_report().residuals, 20))
