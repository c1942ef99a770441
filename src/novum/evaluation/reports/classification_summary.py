"""Everything a classification report says, as plain data.

Shares of rows (accuracy, precision, recall, error rates of a class) have Wilson's interval with the
effective number of rows; all other measures are resampled together, by rows, in one bootstrap: BCa
intervals, but for the calibration error, whose upward bias the basic bootstrap takes off.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from novum.core.decisions import WorkingPoint
from novum.core.runtime import RandomSource, seed_sequence, stream
from novum.evaluation.decisions.risk import blind_risk
from novum.evaluation.measures import probability_scores, rates
from novum.evaluation.measures.bootstrap import weight_bootstrap
from novum.evaluation.measures.confusion import ConfusionMatrix, matrix_of, resampled_counts_of
from novum.evaluation.measures.interval import Interval
from novum.evaluation.measures.intervals import check_level, proportion_interval
from novum.evaluation.measures.probability_scores import (
    CalibrationCurve,
    bins_of,
    calibration_points,
)
from novum.evaluation.measures.reading import LabelPair
from novum.evaluation.reports.predictions import Judged
from novum.numerics import Floats, Integers

Intervals = dict[str, Interval]
AVERAGES = ("micro", "macro", "weighted")
# Shares of rows of a class: the denominators are numbers of rows.
SHARES = (
    "precision",
    "recall",
    "specificity",
    "negative_predictive_value",
    "false_positive_rate",
    "false_negative_rate",
)


@dataclass(frozen=True)
class Settings:
    """How a report is computed."""

    level: float = 0.95
    n_resamples: int = 1000
    beta: float = 1.0
    n_bins: int = 10
    priors: tuple[float, ...] | None = None
    ordered: bool = False

    def __post_init__(self) -> None:
        check_level(self.level)


@dataclass(frozen=True, eq=False)
class ClassificationSummary:
    """Numbers with their intervals.

    Parameters
    ----------
    confusion : ConfusionMatrix
    overall : dict
        Measures of the whole: accuracy, balanced and rebalanced accuracy, Matthews, kappa.
    per_class : dict of dicts
        From classes to measures of the class against the rest.
    averages : dict of dicts
        From "micro", "macro" and "weighted" to averages of those measures.
    probability : dict
        Log loss, Brier score, calibration error, Cllr; empty without probabilities or ratios.
    costs : dict
        Bayes risk at the working point; empty without one.
    calibration : CalibrationCurve or None
    n_rows : int
    notes : tuple of str
    """

    confusion: ConfusionMatrix
    overall: Intervals
    per_class: dict[Any, Intervals]
    averages: dict[str, Intervals]
    probability: Intervals
    costs: Intervals
    calibration: CalibrationCurve | None
    n_rows: int
    notes: tuple[str, ...]


def summarize(
    judged: Judged,
    settings: Settings,
    point: WorkingPoint | None,
    ratios: Floats | None,
    random_state: RandomSource,
) -> ClassificationSummary:
    """All numbers of a classification report but the curves.

    Parameters
    ----------
    judged : Judged
    settings : Settings
    point : WorkingPoint or None
        In the order of the classes.
    ratios : array of shape (n,) or None
        Log-likelihood ratios of the positive class, for Cllr.
    random_state : None, int, Generator, RandomState or SeedSequence
    """
    pair = judged.pair
    matrix = matrix_of(pair)
    parts = _Parts(judged, settings, point, ratios)
    bootstrap = weight_bootstrap(
        parts.statistic,
        len(pair.true),
        sample_weight=pair.weight,
        n_resamples=settings.n_resamples,
        rng=stream(seed_sequence(random_state), "report"),
    )
    values = dict(zip(parts.names, bootstrap.intervals(settings.level), strict=True))
    if ("probability", "calibration_error") in values:
        values["probability", "calibration_error"] = _debiased(parts, bootstrap, settings.level)
    return _assembled(judged, settings, matrix, values, parts)


# --- The resampled statistics ---------------------------------------------------------------------


class _Parts:
    """Names of all resampled numbers, and the function of row weights that gives them."""

    def __init__(
        self,
        judged: Judged,
        settings: Settings,
        point: WorkingPoint | None,
        ratios: Floats | None,
    ) -> None:
        self.pair = judged.pair
        self._counts = resampled_counts_of(judged.pair)
        self._of_counts = _count_measures(judged, settings)
        self._of_weights = _weight_measures(judged, settings, ratios)
        self._costs: DecisionCosts | None = None
        if point is not None and judged.actions is not None:
            self._costs = costs_of_actions(judged.pair.true, judged.actions, point)
        costs = () if self._costs is None else self._costs.names
        self.names = [
            *self._of_counts,
            *(("probability", name) for name in self._of_weights),
            *(("costs", name) for name in costs),
        ]

    def statistic(self, weights: Floats) -> Floats:
        counts = self._counts(weights)
        columns = [of_counts(counts) for of_counts in self._of_counts.values()]
        columns.extend(of_weights(weights) for of_weights in self._of_weights.values())
        if self._costs is not None:
            columns.extend(self._costs.of_weights(weights))
        return np.stack(columns, axis=1)


def _count_measures(
    judged: Judged, settings: Settings
) -> dict[tuple[Any, ...], Callable[[Floats], Floats]]:
    measures: dict[tuple[Any, ...], Callable[[Floats], Floats]] = {
        ("overall", "balanced_accuracy"): rates.balanced_accuracy,
        ("overall", "matthews"): rates.matthews,
        ("overall", "kappa"): rates.kappa,
    }
    if settings.ordered:
        measures["overall", "mean_level_error"] = rates.mean_level_error
        measures["overall", "quadratic_kappa"] = rates.quadratic_kappa
    if settings.priors is not None:
        measures["overall", "rebalanced_accuracy"] = partial(
            rates.rebalanced_accuracy, priors=settings.priors
        )
    f_name = f_score_name(settings.beta)
    for place, label in enumerate(judged.pair.classes):
        measures["class", label, f_name] = partial(
            rates.averaged_rate, rate="f_beta", positive=place, beta=settings.beta
        )
    for average in AVERAGES:
        for rate in ("precision", "recall", "f_beta", "false_positive_rate", "false_negative_rate"):
            name = f_name if rate == "f_beta" else rate
            measures["average", average, name] = partial(
                rates.averaged_rate,
                rate=rate,
                average=average,  # type: ignore[arg-type]
                beta=settings.beta,
            )
    return measures


def _weight_measures(
    judged: Judged, settings: Settings, ratios: Floats | None
) -> dict[str, Callable[[Floats], Floats]]:
    measures: dict[str, Callable[[Floats], Floats]] = {}
    table = judged.probabilities
    if table is not None:
        measures["log_loss"] = partial(_weighted_mean, probability_scores.log_losses(table))
        measures["brier_score"] = partial(_weighted_mean, probability_scores.brier_losses(table))
        column = probability_scores.judged_column(table, judged.positive)
        bins = bins_of(*column, settings.n_bins)
        measures["calibration_error"] = partial(probability_scores.calibration_errors, bins)
    if ratios is not None:
        positive = judged.scored[0].positive
        sides = probability_scores.cllr_sides(ratios, positive)
        measures["cllr"] = partial(probability_scores.cllr_of_weights, sides, positive)
    return measures


def _weighted_mean(values: Floats, weights: Floats) -> Floats:
    return weights @ values / weights.sum(axis=1)


def _debiased(parts: _Parts, bootstrap: Any, level: float) -> Interval:
    place = parts.names.index(("probability", "calibration_error"))
    basic = bootstrap.part(slice(place, place + 1)).intervals(level, "basic")[0]
    low, high = np.clip([*basic], 0.0, 1.0).tolist()
    return Interval(basic.estimate, low, high, level, basic.method)


# --- Assembly -------------------------------------------------------------------------------------


def _assembled(
    judged: Judged,
    settings: Settings,
    matrix: ConfusionMatrix,
    values: dict[Any, Interval],
    parts: _Parts,
) -> ClassificationSummary:
    overall = {"accuracy": _accuracy(judged.pair, matrix, settings.level)}
    overall.update({key[1]: value for key, value in values.items() if key[0] == "overall"})
    shares = _class_shares(judged.pair, matrix, settings.level)
    per_class = {label: dict(shares[label]) for label in matrix.classes}
    for key, value in values.items():
        if key[0] == "class":
            per_class[key[1]][key[2]] = value
    averages = {
        average: {k[2]: v for k, v in values.items() if k[:2] == ("average", average)}
        for average in AVERAGES
    }
    return ClassificationSummary(
        matrix,
        overall,
        per_class,
        averages,
        {key[1]: value for key, value in values.items() if key[0] == "probability"},
        {key[1]: value for key, value in values.items() if key[0] == "costs"},
        _calibration(judged, settings),
        len(parts.pair.true),
        _notes(judged, matrix),
    )


def f_score_name(beta: float) -> str:
    """`f1`, `f2`, `f0.5`, ..."""
    return f"f{beta:g}"


def _squares(pair: LabelPair) -> Floats:
    weight = np.ones(len(pair.true)) if pair.weight is None else pair.weight
    return matrix_of(LabelPair(pair.classes, pair.true, pair.predicted, weight**2)).counts


def _share_interval(above: float, below: float, squares: float, level: float) -> Interval:
    """Wilson's interval of a share of weights, with the effective number of rows."""
    if below <= 0 or squares <= 0:
        return Interval(math.nan, math.nan, math.nan, level, "Wilson: no rows")
    size = below**2 / squares
    share = min(1.0, max(0.0, above / below))
    return proportion_interval(share * size, size, level)


def _accuracy(pair: LabelPair, matrix: ConfusionMatrix, level: float) -> Interval:
    hits = float(np.trace(matrix.counts))
    return _share_interval(hits, matrix.total, float(_squares(pair).sum()), level)


def _class_shares(pair: LabelPair, matrix: ConfusionMatrix, level: float) -> dict[Any, Intervals]:
    squares = _squares(pair)
    fractions = {rate: rates.rate_fraction(matrix.counts, rate) for rate in SHARES}
    sizes = {rate: rates.rate_fraction(squares, rate)[1] for rate in SHARES}
    return {
        label: {
            rate: _share_interval(
                float(fractions[rate][0][place]),
                float(fractions[rate][1][place]),
                float(sizes[rate][place]),
                level,
            )
            for rate in SHARES
        }
        for place, label in enumerate(matrix.classes)
    }


def _calibration(judged: Judged, settings: Settings) -> CalibrationCurve | None:
    table = judged.probabilities
    if table is None:
        return None
    bins = bins_of(
        *probability_scores.judged_column(table, judged.positive), settings.n_bins, "quantile"
    )
    return calibration_points(bins, table.weight, settings.level)


def _notes(judged: Judged, matrix: ConfusionMatrix) -> tuple[str, ...]:
    """What the reader must know to read the numbers right."""
    notes = []
    if np.trace(matrix.counts) == matrix.total:
        notes.append(
            "No row is predicted wrong, so resampling shows no spread: read the intervals of "
            "Wilson, not those of the bootstrap."
        )
    for label, support, predicted in zip(
        matrix.classes, matrix.support, matrix.predicted, strict=True
    ):
        if support == 0:
            notes.append(f"Class {label!r} has no rows: its recall is unknown.")
        if predicted == 0 and support > 0:
            notes.append(
                f"Class {label!r} is never predicted: its precision is 0/0, shown as nan and "
                "counted as 0 in averages."
            )
    if judged.probabilities is not None:
        table = judged.probabilities
        notes.append(
            "The calibration error is biased upwards, its interval is not and may lie below it."
        )
        impossible = int((table.table[np.arange(len(table.true)), table.true] <= 0).sum())
        if impossible:
            notes.append(
                f"{impossible} rows are of a class that got probability 0: their log loss is "
                "infinite and is cut at 36.04 each."
            )
    for one in judged.scored[:1]:
        distinct = np.unique(one.values).size
        if distinct == 1:
            notes.append("All scores are equal: the curves say nothing.")
    return tuple(notes)


# --- Costs of decisions ---------------------------------------------------------------------------
# What decisions cost at a working point, as a function of row weights.
#
#     risk = sum over classes of prior * mean over its rows of cost[class, action taken]
#
# Each class is weighted by its prior at the point, not by how often it occurs among the rows.
# Divided by the risk of the best action that looks at nothing it is the normalized risk: 1 is
# useless.


@dataclass(frozen=True, eq=False)
class DecisionCosts:
    """Costs of actions taken.

    Parameters
    ----------
    true : array of shape (n,)
        Class of each row.
    cost : array of shape (n,)
        Cost of the action taken for the row.
    point : WorkingPoint
    """

    true: Integers
    cost: Floats
    point: WorkingPoint

    @property
    def names(self) -> tuple[str, ...]:
        """The numbers that `of_weights` gives."""
        return ("bayes_risk", "normalized_bayes_risk")

    def of_weights(self, weights: Floats) -> list[Floats]:
        """Risk and normalized risk for row weights of shape (b, n)."""
        risk = np.zeros(len(weights))
        for place, prior in enumerate(self.point.priors):
            chosen = self.true == place
            if prior == 0:
                continue
            part = weights[:, chosen]
            with np.errstate(invalid="ignore", divide="ignore"):
                risk += prior * (part @ self.cost[chosen]) / part.sum(axis=1)
        known, blind = blind_risk(self.point)
        with np.errstate(invalid="ignore", divide="ignore"):
            return [risk, (risk - known) / (blind - known)]


def costs_of_actions(true: Integers, actions: Integers, point: WorkingPoint) -> DecisionCosts:
    """Costs of the actions taken for rows of those classes.

    Examples
    --------
    >>> point = WorkingPoint.binary(prior=0.5, cost_fn=3, cost_fp=1)
    >>> costs = costs_of_actions(np.array([0, 0, 1]), np.array([0, 1, 1]), point)
    >>> [float(value[0]) for value in costs.of_weights(np.ones((1, 3)))]
    [0.25, 0.5]
    """
    return DecisionCosts(true, point.action_costs[true, actions], point)
