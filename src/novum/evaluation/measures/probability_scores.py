"""Measures of probabilities: log loss, Brier score, Cllr and the calibration error.

    log loss     mean of -log p(true class), with p held off 0 by the rounding of float64
    Brier score  mean of sum_c (p_c - [c is true])^2, halved for two classes
    Cllr         (mean over positives of log2(1 + e^-s) + mean over negatives of log2(1 + e^s)) / 2
                 of log-likelihood ratios s: 0 is perfect, 1 is knowing nothing, whatever the priors
    calibration error   sum over bins of share * |observed frequency - mean probability|

Log loss, Brier score and Cllr are proper: no other probabilities than the true ones do better on
average. The calibration error is not, and it is biased upwards: even a perfect model has some,
because frequencies in bins scatter.

References: Brier (1950); Brümmer & du Preez (2006); Naeini, Cooper & Hauskrecht (2015).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import sparse

from novum.core.errors import InputError
from novum.evaluation.measures.interval import Interval
from novum.evaluation.measures.intervals import proportion_interval
from novum.evaluation.measures.reading import ClassTable, read_probabilities, read_scored
from novum.numerics import Floats, Integers, Mask


def log_loss(
    y: Any,
    probabilities: Any,
    *,
    classes: Sequence[Any] | None = None,
    positive: Any = None,
    sample_weight: Any = None,
) -> float:
    """Mean of `-log p(true class)`, in nats.

    Parameters
    ----------
    y : array of n labels
    probabilities : array of shape (n, K), or (n,) for the positive of two classes
    classes : sequence of K labels, optional
        In the order of the columns. Default: those of y, sorted.
    positive : label, optional
        The class that a single column belongs to. Default: the last.
    sample_weight : array of shape (n,), optional

    Examples
    --------
    >>> round(log_loss(["no", "yes"], [0.2, 0.8]), 4)
    0.2231
    """
    table = read_probabilities(y, probabilities, classes, sample_weight, positive)
    return float(np.average(log_losses(table), weights=table.weight))


def brier_score(
    y: Any,
    probabilities: Any,
    *,
    classes: Sequence[Any] | None = None,
    positive: Any = None,
    sample_weight: Any = None,
    scale_by_half: bool | Literal["auto"] = "auto",
) -> float:
    """Mean squared distance of the probabilities from the truth.

    Parameters as for `log_loss`; `scale_by_half` halves it, by default for two classes only.

    Examples
    --------
    >>> round(brier_score(["no", "yes"], [0.2, 0.8]), 4)
    0.04
    """
    table = read_probabilities(y, probabilities, classes, sample_weight, positive)
    losses = brier_losses(table, scale_by_half)
    return float(np.average(losses, weights=table.weight))


def cllr(
    y: Any,
    scores: Any,
    *,
    classes: Sequence[Any] | None = None,
    positive: Any = None,
    sample_weight: Any = None,
) -> float:
    """Cost of log-likelihood ratios, averaged over all working points, in bits.

    Examples
    --------
    >>> cllr([0, 1], [0.0, 0.0])
    1.0
    >>> cllr([0, 1], [-40.0, 40.0]) < 1e-15
    True
    """
    rows = read_scored(y, scores, classes, positive, sample_weight)
    weight = np.ones(len(rows.values)) if rows.weight is None else rows.weight
    sides = cllr_sides(rows.values, rows.positive)
    return float(cllr_of_weights(sides, rows.positive, weight[None])[0])


def calibration_error(
    y: Any,
    probabilities: Any,
    *,
    classes: Sequence[Any] | None = None,
    positive: Any = None,
    sample_weight: Any = None,
    n_bins: int = 10,
    strategy: Literal["uniform", "quantile"] = "uniform",
) -> float:
    """Expected calibration error: how far frequencies are from probabilities, bin by bin.

    Of two classes the probability of the positive one is judged, of more that of the predicted
    class.

    Parameters
    ----------
    y, probabilities, classes, positive, sample_weight
        As for `log_loss`.
    n_bins : int
    strategy : "uniform" or "quantile"
        Bins of equal width, or of equal numbers of rows.

    Examples
    --------
    >>> round(calibration_error([0, 1, 1, 1], [0.7, 0.7, 0.7, 0.7]), 4)
    0.05
    """
    table = read_probabilities(y, probabilities, classes, sample_weight, positive)
    weight = np.ones(len(table.true)) if table.weight is None else table.weight
    bins = bins_of(*judged_column(table, positive), n_bins, strategy)
    return float(calibration_errors(bins, weight[None])[0])


# --- Of rows and weights, for resampling ----------------------------------------------------------


def log_losses(table: ClassTable) -> Floats:
    """`-log p(true class)` of each row."""
    chosen = table.table[np.arange(len(table.true)), table.true]
    return -np.log(np.clip(chosen, np.finfo(float).eps, None))


def brier_losses(table: ClassTable, scale_by_half: bool | Literal["auto"] = "auto") -> Floats:
    """Squared distance from the truth of each row."""
    if scale_by_half not in (True, False, "auto"):
        raise InputError(f"scale_by_half is True, False or 'auto', got {scale_by_half!r}.")
    truth = np.zeros(table.table.shape)
    truth[np.arange(len(table.true)), table.true] = 1.0
    losses = ((table.table - truth) ** 2).sum(axis=1)
    halved = len(table.classes) <= 2 if scale_by_half == "auto" else scale_by_half
    return losses / 2 if halved else losses


def cllr_sides(ratios: Floats, positive: Mask) -> Floats:
    """`log2(1 + e^-s)` of positives and `log2(1 + e^s)` of negatives."""
    return np.logaddexp(0.0, np.where(positive, -ratios, ratios)) / math.log(2)


def cllr_of_weights(sides: Floats, positive: Mask, weights: Floats) -> Floats:
    """Cllr for row weights of shape (b, n)."""
    halves = []
    for chosen in (positive, ~positive):
        part = weights[:, chosen]
        with np.errstate(invalid="ignore", divide="ignore"):
            halves.append(part @ sides[chosen] / part.sum(axis=1))
    return (halves[0] + halves[1]) / 2


def judged_column(table: ClassTable, positive: Any = None) -> tuple[Floats, Mask]:
    """The probability whose calibration is judged, and whether what it promised happened."""
    if len(table.classes) == 2:
        place = 1 if positive is None else table.classes.index(positive)
        return table.table[:, place], table.true == place
    best = table.table.argmax(axis=1)
    return table.table[np.arange(best.size), best], table.true == best


def calibration_errors(bins: CalibrationBins, weights: Floats) -> Floats:
    """Calibration error for row weights of shape (b, n)."""
    return np.abs(bins.gaps(weights)).sum(axis=1) / weights.sum(axis=1)


def calibration_noise(bins: CalibrationBins, rows: Floats, weights: Floats) -> Floats:
    """Distances of the gaps of the bins at row weights (b, n) from those at `rows`, shape (b,)."""
    whole = bins.gaps(rows[None]) / rows.sum()
    gaps = bins.gaps(weights) / weights.sum(axis=1, keepdims=True)
    return np.abs(gaps - whole).sum(axis=1)


def calibrated_noise(
    bins: CalibrationBins, weight: Floats | None, n_draws: int, rng: np.random.Generator
) -> Floats:
    """Calibration errors, of shape (n_draws,), where the probabilities are true: normal gaps."""
    rows = np.ones(bins.place.size) if weight is None else weight
    variance = rows**2 * bins.probability * (1 - bins.probability)
    spread = np.sqrt(np.bincount(bins.place, variance, bins.edges.size - 1)) / rows.sum()
    return np.abs(rng.normal(size=(n_draws, spread.size)) * spread).sum(axis=1)


# --- Calibration curves ---------------------------------------------------------------------------
# Calibration curve: observed frequencies against mean probabilities, in bins.
#
# A model is calibrated when of all rows that got probability p a share p is positive. Rows are put
# into bins of equal width or of equal number; the curve has a point for each bin that has rows.


@dataclass(frozen=True, eq=False)
class CalibrationBins:
    """Probabilities put into bins.

    Parameters
    ----------
    edges : array of shape (n_bins + 1,)
    place : array of shape (n,)
        The bin of each row.
    probability : array of shape (n,)
    happened : array of shape (n,), bool
    """

    edges: Floats
    place: Integers
    probability: Floats
    happened: Mask

    def gaps(self, weights: Floats) -> Floats:
        """Weight of events minus expected weight in each bin, of shape (b, n_bins)."""
        n_rows, n_bins = self.place.size, self.edges.size - 1
        misses = self.happened - self.probability
        spread = sparse.csr_array((misses, (self.place, np.arange(n_rows))), shape=(n_bins, n_rows))
        return np.asarray(spread @ weights.T).T


@dataclass(frozen=True, eq=False)
class CalibrationCurve:
    """Points of a calibration curve, one for each bin that has rows.

    Parameters
    ----------
    probability : array of shape (m,)
        Mean probability in the bin.
    frequency : array of shape (m,)
        Share of rows for which the event happened.
    weight : array of shape (m,)
    intervals : tuple of m Interval
        Wilson's, of the frequencies.
    """

    probability: Floats
    frequency: Floats
    weight: Floats
    intervals: tuple[Interval, ...]


def bins_of(
    probability: Floats,
    happened: Mask,
    n_bins: int = 10,
    strategy: Literal["uniform", "quantile"] = "uniform",
) -> CalibrationBins:
    """Put probabilities into bins, each open below and closed above but for the first.

    Examples
    --------
    >>> import numpy as np
    >>> bins_of(np.array([0.0, 0.2, 0.5, 1.0]), np.array([False, False, True, True]), 5).place
    array([0, 0, 2, 4])
    """
    if not (isinstance(n_bins, int | np.integer) and n_bins >= 1):
        raise InputError(f"n_bins is a number of bins of at least 1, got {n_bins!r}.")
    if strategy == "uniform":
        edges = np.linspace(0.0, 1.0, n_bins + 1)
    elif strategy == "quantile":
        edges = np.unique(np.quantile(probability, np.linspace(0, 1, n_bins + 1)))
        edges = np.array([0.0, 1.0]) if edges.size < 2 else edges
    else:
        raise InputError(f"strategy is 'uniform' or 'quantile', got {strategy!r}.")
    place = np.searchsorted(edges[1:-1], probability, side="left").astype(np.int64)
    return CalibrationBins(edges, place, probability, happened)


def calibration_points(
    bins: CalibrationBins, weight: Floats | None = None, level: float = 0.95
) -> CalibrationCurve:
    """The calibration curve of binned probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> bins = bins_of(np.array([0.1, 0.1, 0.9]), np.array([False, True, True]), 2)
    >>> calibration_points(bins).frequency.tolist()
    [0.5, 1.0]
    """
    weights = np.ones(bins.place.size) if weight is None else weight
    n_bins = bins.edges.size - 1
    total: Floats = np.asarray(np.bincount(bins.place, weights, n_bins), float)
    squares = np.bincount(bins.place, weights**2, n_bins)
    met = total > 0
    expected = np.bincount(bins.place, weights * bins.probability, n_bins)[met] / total[met]
    events = np.bincount(bins.place, weights * bins.happened, n_bins)[met] / total[met]
    sizes = total[met] ** 2 / squares[met]
    # Shares of float weights can exceed 1 by rounding.
    shares = np.clip(events, 0, 1)
    limits = tuple(
        proportion_interval(share * size, size, level)
        for share, size in zip(shares.tolist(), sizes.tolist(), strict=True)
    )
    return CalibrationCurve(expected, shares, total[met], limits)
