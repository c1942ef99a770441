"""Measures of clusterings with intervals: agreement with known groups, and separation of groups.

Rows are the sampling units: an interval says how an index would vary over other rows of the same
kind, with the groups as they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from novum.clustering import (
    INDICES,
    calinski_harabasz_score,
    contingency,
    davies_bouldin_score,
    silhouette_samples,
)
from novum.core.runtime import RandomSource, seed_sequence, stream
from novum.evaluation.measures.bootstrap import weight_bootstrap
from novum.evaluation.measures.interval import Interval
from novum.evaluation.measures.intervals import bootstrap_interval, mean_interval
from novum.numerics import Floats


def agreement_measures(
    true: Any,
    predicted: Any,
    *,
    level: float = 0.95,
    n_resamples: int = 500,
    random_state: RandomSource = 0,
) -> dict[str, Interval]:
    """How far clusters agree with known groups, each index with its interval.

    Parameters
    ----------
    true, predicted : arrays of shape (n_rows,)
        Labels of any kind; their names do not matter.
    level : float
    n_resamples : int
        Of the bootstrap of rows.
    random_state : None, int, Generator, RandomState or SeedSequence

    Returns
    -------
    dict from `rand`, `adjusted_rand`, `adjusted_mutual_information`, `v_measure`, `homogeneity`, \
`completeness`, `purity`, `jaccard` and `fowlkes_mallows` to Interval

    Examples
    --------
    >>> found = agreement_measures([0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1], n_resamples=50)
    >>> round(found["purity"].estimate, 3), round(found["adjusted_rand"].estimate, 3)
    (0.833, 0.324)
    """
    table, cells = contingency(true, predicted)
    in_cell = np.zeros((len(cells), table.size))
    in_cell[np.arange(len(cells)), cells] = 1.0

    def statistic(weights: Floats) -> Floats:
        tables = (weights @ in_cell).reshape(-1, *table.shape)
        return np.stack([index(tables) for index in INDICES.values()], axis=1)

    bootstrap = weight_bootstrap(
        statistic,
        len(cells),
        n_resamples=n_resamples,
        rng=stream(seed_sequence(random_state), "groups"),
        jackknife=False,
    )
    # Resampled rows repeat, which brings groupings nearer: the basic interval takes that back.
    intervals = bootstrap.intervals(level, method="basic")
    return dict(zip(INDICES, map(_within_one, intervals), strict=True))


def _within_one(interval: Interval) -> Interval:
    low, high = (min(limit, 1.0) for limit in interval)
    return Interval(interval.estimate, low, high, interval.level, interval.method)


def separation_measures(
    X: Any,
    labels: Any,
    *,
    metric: Any = "euclidean",
    level: float = 0.95,
    n_resamples: int = 200,
    random_state: RandomSource = 0,
) -> dict[str, Interval]:
    """How clearly groups are apart: silhouette, Calinski-Harabasz, Davies-Bouldin, with intervals.

    Parameters
    ----------
    X : table of numbers without missing cells; other tables have a silhouette only
    labels : array of shape (n_rows,)
    metric : str or Distance
        Of the silhouette.
    level, n_resamples, random_state
        As for `agreement_measures`; the silhouette is a mean over rows with Student's interval.

    Examples
    --------
    >>> X, labels = [[0.0], [1.0], [2.0], [9.0], [10.0], [11.0]], [0, 0, 0, 1, 1, 1]
    >>> found = separation_measures(X, labels, n_resamples=50)
    >>> round(found["silhouette"].estimate, 2), found["calinski_harabasz"].estimate
    (0.85, 121.5)
    """
    samples = silhouette_samples(X, labels, metric=metric)
    measures = {"silhouette": mean_interval(samples, level)}
    try:
        rows = np.asarray(X, np.float64)
    except (TypeError, ValueError):
        return measures
    if metric == "precomputed" or np.isnan(rows).any():
        return measures
    groups = np.asarray(labels)
    for name, index in (
        ("calinski_harabasz", calinski_harabasz_score),
        ("davies_bouldin", davies_bouldin_score),
    ):
        # Within groups, so that none of them is lost.
        measures[name] = bootstrap_interval(
            index,
            [rows, groups],
            level=level,
            n_resamples=n_resamples,
            random_state=random_state,
            strata=groups,
            method="percentile",
        )
    return measures
