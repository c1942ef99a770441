"""Friedman's test: do k models rank differently over N data sets?

The best model of a data set has rank 1, ties share the mean of their ranks. With mean ranks R_j

    chi2 = N (k - 1) (N sum_j R_j^2 - C) / (A - C),      C = N k (k + 1)^2 / 4
    F = (N - 1) chi2 / (N (k - 1) - chi2),               k - 1 and (k - 1)(N - 1) df

where A is the sum of all squared ranks, which corrects for ties. chi2 is too cautious for the
numbers of data sets that people have; the F of Iman and Davenport (1980) is what decides here.

Folds of one table are no data sets: their ranks are dependent and this test does not hold for them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike
from scipy import special, stats

from novum.core.errors import InputError
from novum.evaluation.comparison.pairs.outcome import CriticalRegion, Outcome, checked_options
from novum.evaluation.comparison.ranks.multiplicity import holm_adjusted
from novum.numerics import Floats, merge_rounding


@dataclass(frozen=True, repr=False)
class Friedman(Outcome):
    """Result of Friedman's test; `statistic` and `p_value` are those of the F form.

    Attributes
    ----------
    mean_ranks : tuple of float
        One for each model; 1 is best.
    chi2, chi2_p_value : float
        Friedman's own form.
    n_datasets : int
    """

    mean_ranks: tuple[float, ...] = ()
    chi2: float = 0.0
    chi2_p_value: float = 1.0
    n_datasets: int = 0


def friedman_test(scores: ArrayLike, *, level: float = 0.95) -> Friedman:
    """Whether some of several models score higher than others over data sets.

    Parameters
    ----------
    scores : array-like of shape (n_datasets, n_models)
        One score for each model on each data set; greater is better.
    level : float
        The test has size `1 - level`.

    Returns
    -------
    Friedman

    Notes
    -----
    When all data sets rank the models alike, F is infinite; the p-value is then the probability of
    that agreement by chance, `(k!)^(1 - N)`.

    References
    ----------
    Friedman (1937); Iman and Davenport (1980); Demsar (2006), JMLR 7.

    Examples
    --------
    >>> found = friedman_test([[0.9, 0.8, 0.7], [0.8, 0.7, 0.7], [0.9, 0.6, 0.8], [0.7, 0.6, 0.5]])
    >>> found.mean_ranks
    (1.0, 2.375, 2.625)
    >>> round(found.chi2, 4), round(found.p_value, 4)
    (6.5333, 0.0062)
    """
    checked_options("two-sided", level)
    ranks = score_ranks(scores)
    n, k = ranks.shape
    degrees = float(k - 1), float((k - 1) * (n - 1))
    chi2 = _chi2(ranks)
    statistic, p_value, note = _iman_davenport(chi2, n, k)
    return Friedman(
        "Friedman test (Iman-Davenport F)",
        statistic,
        p_value,
        CriticalRegion(-math.inf, float(special.fdtri(*degrees, level))),
        "two-sided",
        level,
        degrees,
        note=note,
        mean_ranks=tuple(ranks.mean(axis=0).tolist()),
        chi2=chi2,
        chi2_p_value=float(special.chdtrc(k - 1, chi2)),
        n_datasets=n,
    )


def score_ranks(scores: ArrayLike) -> Floats:
    """Ranks of the models on each data set, 1 for the highest score; ties share the mean rank.

    Examples
    --------
    >>> score_ranks([[0.9, 0.7, 0.9], [0.1, 0.2, 0.3]]).tolist()
    [[1.5, 3.0, 1.5], [3.0, 2.0, 1.0]]
    """
    table = np.asarray(scores, float)
    if table.ndim != 2 or table.shape[0] < 2 or table.shape[1] < 2:
        raise InputError(
            "Ranks over data sets need a table with a row for each of at least 2 data sets and a "
            f"column for each of at least 2 models, got shape {table.shape}."
        )
    bad = np.argwhere(~np.isfinite(table))
    if bad.size:
        row, column = bad[0]
        raise InputError(
            f"Scores must be finite to be ranked, but {len(bad)} are not: the first is "
            f"{table[row, column]:g} of model {column} on data set {row}."
        )
    # Means of the same numbers can differ in their last digits.
    return np.array([stats.rankdata(-merge_rounding(row)) for row in table])


def _chi2(ranks: Floats) -> float:
    n, k = ranks.shape
    base = n * k * (k + 1) ** 2 / 4
    squares = float(np.sum(ranks**2)) - base
    # Squared ranks are quarters of whole numbers: all tied gives exactly zero.
    if squares == 0.0:
        return 0.0
    between = float(np.sum(ranks.sum(axis=0) ** 2)) / n - base
    return n * (k - 1) * between / squares


def _iman_davenport(chi2: float, n: int, k: int) -> tuple[float, float, str]:
    """F, its p-value and what is to be said about it."""
    rest = n * (k - 1) - chi2
    if chi2 == 0.0:
        return 0.0, 1.0, ""
    if rest <= 1e-9 * n * (k - 1):
        p_value = math.exp((1 - n) * math.lgamma(k + 1))
        return math.inf, p_value, "all data sets rank the models alike; p is the chance of that"
    statistic = (n - 1) * chi2 / rest
    return statistic, float(special.fdtrc(k - 1, (k - 1) * (n - 1), statistic)), ""


# --- Which models differ --------------------------------------------------------------------------
# Which models differ, after Friedman's test: Nemenyi for all pairs, Holm against a baseline.
#
# Two mean ranks over N data sets differ by chance with standard error `sqrt(k (k + 1) / (6 N))`.
# Nemenyi compares the difference with the range of k normal variables; it is significant from
#
#     CD = q_{alpha, k} / sqrt(2) * sqrt(k (k + 1) / (6 N))
#
# on, the critical difference. Against one baseline there are only k - 1 questions; normal p-values
# with Holm's correction then find more.


def critical_difference(n_models: int, n_datasets: int, *, level: float = 0.95) -> float:
    """How far two mean ranks must be apart to differ by Nemenyi's test.

    Parameters
    ----------
    n_models, n_datasets : int
        At least 2 each.
    level : float

    References
    ----------
    Nemenyi (1963); Demsar (2006), JMLR 7, table 5.

    Examples
    --------
    >>> round(critical_difference(5, 10), 3)
    1.929
    """
    checked_options("two-sided", level)
    quantile = float(stats.studentized_range.ppf(level, _count(n_models, "n_models"), math.inf))
    return quantile / math.sqrt(2) * _rank_error(n_models, n_datasets)


def nemenyi_p_values(mean_ranks: ArrayLike, n_datasets: int) -> Floats:
    """Nemenyi's p-values of all pairs of models.

    Parameters
    ----------
    mean_ranks : array-like of shape (n_models,)
    n_datasets : int

    Returns
    -------
    array of shape (n_models, n_models)
        Symmetric, with ones on the diagonal.

    Examples
    --------
    >>> nemenyi_p_values([1.0, 2.0, 3.0], 10).round(4).tolist()
    [[1.0, 0.0653, 0.0], [0.0653, 1.0, 0.0653], [0.0, 0.0653, 1.0]]
    """
    ranks = _ranks(mean_ranks)
    distances = np.abs(ranks[:, np.newaxis] - ranks) / _rank_error(ranks.size, n_datasets)
    p_values = stats.studentized_range.sf(distances * math.sqrt(2), ranks.size, math.inf)
    p_values = np.clip(np.asarray(p_values, float), 0.0, 1.0)
    np.fill_diagonal(p_values, 1.0)
    return p_values


def baseline_p_values(mean_ranks: ArrayLike, n_datasets: int, baseline: int) -> Floats:
    """p-values of all models against one, corrected by Holm.

    Parameters
    ----------
    mean_ranks : array-like of shape (n_models,)
    n_datasets : int
    baseline : int
        Position of the model that the others are compared with.

    Returns
    -------
    array of shape (n_models,)
        One at the baseline itself.

    Examples
    --------
    >>> baseline_p_values([1.0, 2.0, 3.0], 10, baseline=0).round(4).tolist()
    [1.0, 0.0253, 0.0]
    """
    ranks = _ranks(mean_ranks)
    if not 0 <= baseline < ranks.size:
        raise InputError(f"baseline is a position from 0 to {ranks.size - 1}, got {baseline!r}.")
    distances = np.abs(ranks - ranks[baseline]) / _rank_error(ranks.size, n_datasets)
    others = np.arange(ranks.size) != baseline
    p_values = np.ones(ranks.size)
    p_values[others] = holm_adjusted(2 * special.ndtr(-distances[others]))
    return p_values


def _rank_error(n_models: int, n_datasets: int) -> float:
    k, n = _count(n_models, "n_models"), _count(n_datasets, "n_datasets")
    return math.sqrt(k * (k + 1) / (6 * n))


def _count(value: int, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 2:
        raise InputError(f"{name} is a whole number of at least 2, got {value!r}.")
    return int(value)


def _ranks(mean_ranks: ArrayLike) -> Floats:
    ranks = np.asarray(mean_ranks, float)
    if ranks.ndim != 1 or ranks.size < 2 or not np.all((ranks >= 1) & (ranks <= ranks.size)):
        raise InputError(
            "Mean ranks are one number from 1 to the number of models for each of at least 2 "
            f"models, got {np.array2string(ranks, threshold=8)}."
        )
    return ranks
