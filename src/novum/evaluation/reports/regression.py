"""A report on predicted numbers: errors with intervals, diagnostics of residuals, picture.

RMSE, MAE, R2 and the explained variance are resampled together by rows (BCa intervals); Pearson's
correlation has Fisher's z, Spearman's too, with Bonett and Wright's variance, and the mean residual
Student's t.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.core.runtime import RandomSource, seed_sequence, stream
from novum.core.tables import Frame
from novum.display import Chart, Summary, Table
from novum.evaluation.measures.bootstrap import weight_bootstrap
from novum.evaluation.measures.interval import Interval
from novum.evaluation.measures.intervals import (
    check_level,
    correlation_interval,
    effective_size,
    mean_interval,
)
from novum.evaluation.measures.numbers import weighted_correlation, weighted_ranks
from novum.evaluation.measures.reading import NumberPair, read_number_pair
from novum.evaluation.reports.pages import frame_of_rows, save_page
from novum.evaluation.reports.residuals import Diagnosis, diagnose
from novum.numerics import Floats, unit_scale

# Fewer squares than these say little about their mean.
_FEW_SQUARES = 10
_RESAMPLED = ("rmse", "mae", "r2", "explained_variance")


@dataclass(frozen=True)
class LargeResidual:
    """A row that was predicted badly."""

    row: int
    true: float
    predicted: float
    residual: float
    standardized: float


class RegressionReport:
    """What predicted numbers are worth.

    Parameters
    ----------
    y : array of n numbers
    predictions : array of n numbers
    sample_weight : array of shape (n,), optional
        How much a row counts. Rows are the sampling units of the intervals.
    level : float
        Confidence of all intervals.
    n_resamples : int
        Of the bootstrap.
    n_largest : int
        Rows with the largest residuals to list.
    random_state : None, int, Generator, RandomState or SeedSequence

    Attributes
    ----------
    overall : dict of Interval
        `rmse`, `mae`, `r2`, `explained_variance`, `pearson`, `spearman` and `bias`, the mean of
        y minus prediction.
    diagnostics : tuple of Diagnosis
        Bias, slope, heteroscedasticity, normality, autocorrelation in the order of the rows.
    largest : tuple of LargeResidual
    residuals : array of shape (n,)
        `y - predictions`.
    notes : tuple of str

    Examples
    --------
    >>> report = RegressionReport([1, 2, 3, 4, 5], [1.1, 1.9, 3.2, 3.8, 5.1])
    >>> round(report["rmse"].estimate, 4), round(report["r2"].estimate, 4)
    (0.1483, 0.989)
    >>> report.largest[0].row
    2
    """

    def __init__(
        self,
        y: Any,
        predictions: Any,
        *,
        sample_weight: Any = None,
        level: float = 0.95,
        n_resamples: int = 1000,
        n_largest: int = 5,
        random_state: RandomSource = 0,
    ) -> None:
        check_level(level)
        pair = _one_target(y, predictions, sample_weight)
        true, predicted = pair.true[:, 0], pair.predicted[:, 0]
        weight = np.ones(true.size) if pair.weight is None else pair.weight
        self.level = level
        self.n_rows = true.size
        self.predictions = predicted
        self.residuals = true - predicted
        rng = stream(seed_sequence(random_state), "regression report")
        self.overall = _measures(true, predicted, weight, level, n_resamples, rng)
        counted = weight > 0
        self.diagnostics: tuple[Diagnosis, ...] = diagnose(true[counted], predicted[counted])
        self.largest = _largest(true, predicted, weight, n_largest)
        self.notes = _notes(true[counted], predicted[counted], pair)

    # Looking up

    def __getitem__(self, name: str) -> Interval:
        """A number by name, such as `report["rmse"]`."""
        if name not in self.overall:
            raise InputError(f"The report has no {name!r}; it has {', '.join(self.overall)}.")
        return self.overall[name]

    def rows(self) -> Iterator[tuple[str, str, Interval]]:
        """All numbers as (group, measure, interval)."""
        for name, value in self.overall.items():
            yield "all", name, value

    def to_frame(self, frame: Frame = "arrow") -> Any:
        """All numbers as a table with columns group, measure, estimate, low, high, level, method.

        Parameters
        ----------
        frame : "arrow", "pandas" or "polars"
        """
        return frame_of_rows(self.rows(), frame)

    def to_dict(self) -> dict[str, Any]:
        """All numbers as nested dicts of plain values, ready for JSON but for NaN."""
        return {
            "n_rows": self.n_rows,
            "overall": {name: asdict(value) for name, value in self.overall.items()},
            "diagnostics": [asdict(check) for check in self.diagnostics],
            "largest": [asdict(row) for row in self.largest],
            "notes": list(self.notes),
        }

    # Showing

    def __repr__(self) -> str:
        return self._page.as_text()

    __str__ = __repr__

    def _repr_html_(self) -> str:
        return self._page.as_html()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the report and its picture as one HTML page that loads nothing from elsewhere."""
        save_page(path, self._page, self.charts())

    def plot(self, figure: Any = None) -> Any:
        """Predictions, residuals, their law and their order, as a matplotlib figure."""
        from novum.evaluation.reports.charts import draw

        return draw(self.charts(), figure)

    def charts(self) -> list[Chart]:
        """The pictures of `plot` as data, with `as_svg()` and `plot(ax)` each."""
        from novum.evaluation.reports.charts import regression_charts

        return regression_charts(self)

    @property
    def _page(self) -> Summary:
        lead = f"Brackets are {100 * self.level:g} % confidence intervals."
        title = f"Prediction of numbers, {self.n_rows} rows"
        return Summary(title, lead, self._tables(), self.notes)

    def _tables(self) -> list[Table]:
        numbers = tuple(
            (name.replace("_", " "), repr(value), value.method)
            for name, value in self.overall.items()
        )
        checks = tuple(
            (
                check.name,
                f"{check.p_value:.3g}",
                check.verdict(self.level),
                check.test,
                check.detail,
            )
            for check in self.diagnostics
        )
        rows = tuple(
            (
                str(row.row),
                f"{row.true:.6g}",
                f"{row.predicted:.6g}",
                f"{row.residual:.4g}",
                f"{row.standardized:.2f}",
            )
            for row in self.largest
        )
        head = ("row", "true", "predicted", "residual", "in standard deviations")
        return [
            Table.of_numbers("All rows", ("measure", "estimate", "interval by"), numbers),
            Table.of_numbers("Residuals", ("check", "p value", "found", "test", "detail"), checks),
            Table.of_numbers("Largest residuals", head, rows),
        ]


# --- Parts of the above ---------------------------------------------------------------------------


def _one_target(y: Any, predictions: Any, sample_weight: Any) -> NumberPair:
    pair = read_number_pair(y, predictions, sample_weight)
    if pair.true.shape[1] != 1:
        raise InputError(
            f"A report is about one target, y has {pair.true.shape[1]}. Make one for each column."
        )
    n_rows = len(pair.true) if pair.weight is None else int((pair.weight > 0).sum())
    if n_rows < 2:
        raise InputError(f"A report needs at least two rows, got {n_rows}. Judge more rows.")
    return pair


def _measures(
    true: Floats,
    predicted: Floats,
    weight: Floats,
    level: float,
    n_resamples: int,
    rng: np.random.Generator,
) -> dict[str, Interval]:
    bootstrap = weight_bootstrap(
        lambda weights: _errors(true, predicted, weights),
        true.size,
        sample_weight=weight,
        n_resamples=n_resamples,
        rng=rng,
    )
    values = dict(zip(_RESAMPLED, bootstrap.intervals(level), strict=True))
    size = effective_size(weight)
    values["pearson"] = correlation_interval(
        weighted_correlation(true, predicted, weight), size, level
    )
    ranks = weighted_ranks(true, weight), weighted_ranks(predicted, weight)
    rank_correlation = weighted_correlation(*ranks, weight)
    # Bonett & Wright (2000): ranks scatter more than normal values.
    shrunk = 3 + (size - 3) / (1 + rank_correlation**2 / 2) if size > 3 else size
    spearman = correlation_interval(rank_correlation, shrunk, level)
    method = spearman.method.replace("Fisher z", "Fisher z, Bonett-Wright")
    values["spearman"] = replace(spearman, method=method)
    values["bias"] = mean_interval(true - predicted, level, sample_weight=weight)
    return values


def _errors(true: Floats, predicted: Floats, weights: Floats) -> Floats:
    """RMSE, MAE, R2 and explained variance for row weights of shape (b, n)."""
    total = weights.sum(axis=1)
    around = true - true.mean()
    # In units of the largest, so that squares neither overflow nor vanish.
    unit = float(max(np.abs(true - predicted).max(), np.abs(around).max())) or 1.0
    residuals, around = (true - predicted) / unit, around / unit
    squares = weights @ residuals**2 / total
    mean = weights @ residuals / total
    # Around a value near the mean, so that the difference of squares keeps its digits.
    spread = weights @ around**2 / total - (weights @ around / total) ** 2
    # Resamples of a constant column leave rounding, which is no variance.
    spread = np.where(spread > 1e-14 * float(np.max(around**2, initial=0.0)), spread, np.nan)
    return np.stack(
        [
            unit * np.sqrt(squares),
            unit * (weights @ np.abs(residuals)) / total,
            1 - squares / spread,
            1 - np.maximum(squares - mean**2, 0) / spread,
        ],
        axis=1,
    )


def _largest(
    true: Floats, predicted: Floats, weight: Floats, n_largest: int
) -> tuple[LargeResidual, ...]:
    residuals = np.where(weight > 0, true - predicted, 0.0)
    unit = float(unit_scale(np.abs(residuals).max()))
    spread = float((unit * residuals[weight > 0]).std()) / unit
    order = np.argsort(-np.abs(residuals), kind="stable")[: max(0, n_largest)]
    return tuple(
        LargeResidual(
            int(row),
            float(true[row]),
            float(predicted[row]),
            float(residuals[row]),
            float(residuals[row]) / spread if spread > 0 else 0.0,
        )
        for row in order
    )


def _notes(true: Floats, predicted: Floats, pair: NumberPair) -> tuple[str, ...]:
    notes = []
    if np.ptp(true) == 0:
        notes.append("y is constant: R2 and correlations are undefined.")
    elif np.ptp(pair.predicted) == 0:
        notes.append("The predictions are constant: correlations are undefined.")
    largest = float(np.abs(true - predicted).max())
    # How many rows the mean square rests on; normal errors of 30 rows make ten.
    decisive = effective_size(((true - predicted) / largest) ** 2) if largest > 0 else math.inf
    if decisive < _FEW_SQUARES:
        notes.append(
            f"The squared errors rest on about {decisive:.0f} rows: the intervals of RMSE, R2, "
            "explained variance and Pearson's correlation hold less often than they say."
        )
    if pair.weight is not None:
        notes.append("Diagnostics of residuals count each row of positive weight once.")
    return tuple(notes)
