"""Which models differ, after Friedman's test: Nemenyi for all pairs, Holm against a baseline.

Two mean ranks over N data sets differ by chance with standard error `sqrt(k (k + 1) / (6 N))`.
Nemenyi compares the difference with the range of k normal variables; it is significant from

    CD = q_{alpha, k} / sqrt(2) * sqrt(k (k + 1) / (6 N))

on, the critical difference. Against one baseline there are only k - 1 questions; normal p-values
with Holm's correction then find more.
"""

from __future__ import annotations

import math
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike
from scipy import special, stats

from novum.core.errors import InputError
from novum.evaluation.comparison.pairs.outcome import Floats, checked_options
from novum.evaluation.comparison.ranks.multiplicity import holm_adjusted


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
    found = stats.studentized_range.sf(distances * math.sqrt(2), ranks.size, math.inf)
    found = np.clip(np.asarray(found, float), 0.0, 1.0)
    np.fill_diagonal(found, 1.0)
    return found


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
    found = np.ones(ranks.size)
    found[others] = holm_adjusted(2 * special.ndtr(-distances[others]))
    return found


def _rank_error(n_models: int, n_datasets: int) -> float:
    k, n = _count(n_models, "n_models"), _count(n_datasets, "n_datasets")
    return math.sqrt(k * (k + 1) / (6 * n))


def _count(value: int, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 2:
        raise InputError(f"{name} is a whole number of at least 2, got {value!r}.")
    return int(value)


def _ranks(mean_ranks: ArrayLike) -> Floats:
    found = np.asarray(mean_ranks, float)
    if found.ndim != 1 or found.size < 2 or not np.all((found >= 1) & (found <= found.size)):
        raise InputError(
            "Mean ranks are one number from 1 to the number of models for each of at least 2 "
            f"models, got {np.array2string(found, threshold=8)}."
        )
    return found
