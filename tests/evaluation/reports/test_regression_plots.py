"""Pictures of a regression report: drawn from its residuals."""

import numpy as np
from matplotlib.figure import Figure

from novum.evaluation.reports.regression import RegressionReport
from novum.evaluation.reports.regression_plots import draw_order, draw_quantiles, draw_regression
from novum.evaluation.reports.residuals import autocorrelations


def _report() -> RegressionReport:
    rng = np.random.default_rng(0)
    p = rng.normal(size=50)
    return RegressionReport(p + rng.normal(size=50), p, n_resamples=10)


def test_four_pictures_show_numbers_and_names() -> None:
    report = _report()
    figure = draw_regression(report)
    titles = [ax.get_title() for ax in figure.axes]
    assert titles[0] == f"R2 {report['r2']!r}"
    assert titles[1] == f"RMSE {report['rmse']!r}"
    assert all(ax.get_xlabel() and ax.get_ylabel() for ax in figure.axes)


def test_quantiles_are_the_sorted_residuals() -> None:
    report, ax = _report(), Figure().subplots()
    draw_quantiles(ax, report)
    np.testing.assert_allclose(ax.collections[0].get_offsets()[:, 1], np.sort(report.residuals))


def test_lags_are_bars() -> None:
    ax = Figure().subplots()
    draw_order(ax, _report())
    bars = [patch.get_height() for patch in ax.containers[0]]
    np.testing.assert_allclose(bars, autocorrelations(_report().residuals, 20))
