"""The picture of a regression report: predictions, residuals, their law and their order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from novum.evaluation.reports.classification_plots import new_figure
from novum.evaluation.reports.residuals import autocorrelations

if TYPE_CHECKING:
    from novum.evaluation.reports.regression import RegressionReport

_MOST_LAGS = 20


def draw_regression(report: RegressionReport, figure: Any = None) -> Any:
    """Four pictures on one figure.

    Examples
    --------
    >>> from novum.evaluation.reports.regression import RegressionReport
    >>> figure = draw_regression(RegressionReport([1, 2, 3, 5], [1, 2, 4, 4.5]))
    >>> len(figure.axes)
    4
    """
    figure = new_figure(figure, (9.2, 8.0))
    panels = (draw_predictions, draw_residuals, draw_quantiles, draw_order)
    for place, panel in enumerate(panels):
        panel(figure.add_subplot(2, 2, place + 1), report)
    return figure


def draw_predictions(ax: Any, report: RegressionReport) -> None:
    """True against predicted numbers, and the line of perfect ones."""
    true = report.predictions + report.residuals
    ax.scatter(report.predictions, true, s=10, alpha=0.6)
    ends = [min(true.min(), report.predictions.min()), max(true.max(), report.predictions.max())]
    ax.plot(ends, ends, color="0.6", lw=0.8, ls="--")
    ax.set(title=f"R2 {report['r2']!r}", xlabel="predicted", ylabel="true")


def draw_residuals(ax: Any, report: RegressionReport) -> None:
    """Residuals against predictions: a cone is heteroscedasticity, a bend a missing term."""
    ax.scatter(report.predictions, report.residuals, s=10, alpha=0.6)
    ax.axhline(0, color="0.6", lw=0.8, ls="--")
    ax.set(title=f"RMSE {report['rmse']!r}", xlabel="predicted", ylabel="true - predicted")


def draw_quantiles(ax: Any, report: RegressionReport) -> None:
    """Residuals against the quantiles of a normal law: a line if they are normal."""
    ranked = np.sort(report.residuals)
    expected = special.ndtri((np.arange(ranked.size) + 0.5) / ranked.size)
    ax.scatter(expected, ranked, s=10, alpha=0.6)
    ax.plot(expected, ranked.mean() + ranked.std() * expected, color="0.6", lw=0.8, ls="--")
    ax.set(title="Normal quantiles", xlabel="normal deviate", ylabel="true - predicted")


def draw_order(ax: Any, report: RegressionReport) -> None:
    """Correlation of residuals with those some rows before."""
    lags = min(_MOST_LAGS, report.n_rows - 1)
    if np.ptp(report.residuals) > 0:
        ax.bar(np.arange(1, lags + 1), autocorrelations(report.residuals, lags), width=0.4)
    reach = special.ndtri((1 + report.level) / 2) / np.sqrt(report.n_rows)
    ax.axhspan(-reach, reach, color="0.85", zorder=0)
    ax.axhline(0, color="0.6", lw=0.8)
    ax.set(title="Autocorrelation by order of rows", xlabel="lag", ylabel="correlation")
