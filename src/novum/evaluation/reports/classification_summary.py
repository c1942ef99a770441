"""Everything a classification report says, as plain data.

Shares of rows (accuracy, precision, recall, error rates of a class) have Wilson's interval with the
effective number of rows; other measures of decisions that of the posterior of their table; those of
probabilities are resampled together, by rows, in one bootstrap: BCa intervals, but for the
calibration error, which is biased upwards. With d the gaps of the bins, by weight, and d* those of
a resample, two calibration errors differ by at most `sum |d* - d|`. Its quantile is the reach, or
that of the gaps of calibrated probabilities if it is larger, since bins of one row have no spread.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from novum.core.decisions import WorkingPoint
from novum.core.runtime import RandomSource, seed_sequence, stream
from novum.evaluation.decisions.risk import blind_risk
from novum.evaluation.measures import probability_scores, rates
from novum.evaluation.measures.bootstrap import weight_bootstrap
from novum.evaluation.measures.confusion import ConfusionMatrix, matrix_of, table_intervals
from novum.evaluation.measures.interval import Interval
from novum.evaluation.measures.intervals import check_level, effective_size, proportion_interval
from novum.evaluation.measures.probability_scores import (
    CalibrationBins,
    CalibrationCurve,
    bins_of,
    calibration_points,
)
from novum.evaluation.measures.reading import LabelPair
from novum.evaluation.measures.separation import rank_scores
from novum.evaluation.reports.predictions import Judged
from novum.numerics import Floats

Intervals = dict[str, Interval]
# Fewer losses than these say little about their mean.
_FEW_LOSSES = 10
# Gaps of the bins of a resample from those of all rows; last among the resampled numbers.
_NOISE = "noise"
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
    root = seed_sequence(random_state)
    values = _of_tables(judged, settings, matrix, point, stream(root, "tables"))
    probability = _of_probabilities(judged, settings, ratios, stream(root, "report"))
    return _assembled(judged, settings, matrix, values, probability)


# --- Measures of decisions ------------------------------------------------------------------------


def _of_tables(
    judged: Judged,
    settings: Settings,
    matrix: ConfusionMatrix,
    point: WorkingPoint | None,
    rng: np.random.Generator,
) -> dict[Any, Interval]:
    """By the posteriors of the confusion matrix and of the table of actions."""
    weight = np.ones(len(judged.pair.true)) if judged.pair.weight is None else judged.pair.weight
    draws = partial(
        table_intervals,
        size=effective_size(weight),
        level=settings.level,
        n_draws=settings.n_resamples,
        rng=rng,
    )
    measures = _count_measures(judged, settings)
    values: dict[Any, Interval] = dict(
        zip(
            measures,
            draws(
                lambda counts: np.stack([of(counts) for of in measures.values()], axis=1),
                matrix.counts,
            ),
            strict=True,
        )
    )
    if point is not None and judged.actions is not None:
        table = np.zeros((len(judged.pair.classes), len(point.action_names)))
        np.add.at(table, (judged.pair.true, judged.actions), weight)
        names = (("costs", "bayes_risk"), ("costs", "normalized_bayes_risk"))
        risks = draws(partial(risks_of_counts, point=point), table)
        values.update(zip(names, risks, strict=True))
    return values


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


# --- Measures of probabilities --------------------------------------------------------------------


def _of_probabilities(
    judged: Judged, settings: Settings, ratios: Floats | None, rng: np.random.Generator
) -> Intervals:
    measures = _weight_measures(judged, settings, ratios)
    if not measures:
        return {}
    bootstrap = weight_bootstrap(
        lambda weights: np.stack([of(weights) for of in measures.values()], axis=1),
        len(judged.pair.true),
        sample_weight=judged.pair.weight,
        n_resamples=settings.n_resamples,
        rng=rng,
    )
    values = dict(zip(measures, bootstrap.intervals(settings.level), strict=True))
    if "cllr" in values:
        # A mean of the means of two classes rests on the rows of the smaller one.
        fewest = min(rank_scores(judged.scored[0]).n_rows)
        place = list(measures).index("cllr")
        alone = replace(bootstrap.part(slice(place, place + 1)), n_rows=fewest)
        values["cllr"] = alone.intervals(settings.level)[0]
    if "calibration_error" in values:
        expected = probability_scores.calibrated_noise(
            _bins(judged, settings), judged.pair.weight, settings.n_resamples, rng
        )
        noise = np.stack([bootstrap.replicates[:, -1], expected])
        reach = float(np.quantile(noise, settings.level, axis=1).max())
        error = values["calibration_error"].estimate
        low, high = max(0.0, error - reach), min(1.0, error + reach)
        values["calibration_error"] = Interval(
            error, low, high, settings.level, "noise of the bins"
        )
    values.pop(_NOISE, None)
    return values


def _weight_measures(
    judged: Judged, settings: Settings, ratios: Floats | None
) -> dict[str, Callable[[Floats], Floats]]:
    measures: dict[str, Callable[[Floats], Floats]] = {}
    table = judged.probabilities
    if table is not None:
        measures["log_loss"] = partial(_weighted_mean, probability_scores.log_losses(table))
        measures["brier_score"] = partial(_weighted_mean, probability_scores.brier_losses(table))
        bins = _bins(judged, settings)
        measures["calibration_error"] = partial(probability_scores.calibration_errors, bins)
        rows = np.ones(len(table.true)) if table.weight is None else table.weight
        noise = partial(probability_scores.calibration_noise, bins, rows)
    if ratios is not None:
        positive = judged.scored[0].positive
        sides = probability_scores.cllr_sides(ratios, positive)
        measures["cllr"] = partial(probability_scores.cllr_of_weights, sides, positive)
    if table is not None:
        measures[_NOISE] = noise
    return measures


def _bins(judged: Judged, settings: Settings) -> CalibrationBins:
    assert judged.probabilities is not None
    column = probability_scores.judged_column(judged.probabilities, judged.positive)
    return bins_of(*column, settings.n_bins)


def _weighted_mean(values: Floats, weights: Floats) -> Floats:
    return weights @ values / weights.sum(axis=1)


# --- Assembly -------------------------------------------------------------------------------------


def _assembled(
    judged: Judged,
    settings: Settings,
    matrix: ConfusionMatrix,
    values: dict[Any, Interval],
    probability: Intervals,
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
        probability,
        {key[1]: value for key, value in values.items() if key[0] == "costs"},
        _calibration(judged, settings),
        len(judged.pair.true),
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
            "The calibration error is biased upwards; its interval holds all that the noise of the "
            "bins allows."
        )
        weight = np.ones(len(table.true)) if table.weight is None else table.weight
        losses = weight * probability_scores.log_losses(table)
        decisive = effective_size(losses) if losses.any() else math.inf
        if decisive < _FEW_LOSSES:
            notes.append(
                f"The log loss rests on about {decisive:.0f} rows: its interval and that of the "
                "Brier score hold less often than they say."
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
# What decisions cost at a working point, as a function of the table `[true, action]`.
#
#     risk = sum over classes of prior * mean over its rows of cost[class, action taken]
#
# Each class is weighted by its prior at the point, not by how often it occurs among the rows.
# Divided by the risk of the best action that looks at nothing it is the normalized risk: 1 is
# useless.


def risks_of_counts(counts: Floats, point: WorkingPoint) -> Floats:
    """Risk and normalized risk of tables of shape (b, K, n_actions), of shape (b, 2).

    Examples
    --------
    >>> point = WorkingPoint.binary(prior=0.5, cost_fn=3, cost_fp=1)
    >>> risks_of_counts(np.array([[[1.0, 1.0], [0.0, 1.0]]]), point).tolist()
    [[0.25, 0.5]]
    """
    met = np.asarray(point.priors) > 0
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = counts[:, met] / counts[:, met].sum(axis=2, keepdims=True)
    risk = np.einsum("k,bka,ka->b", np.asarray(point.priors)[met], shares, point.action_costs[met])
    known, blind = blind_risk(point)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.stack([risk, (risk - known) / (blind - known)], axis=1)
