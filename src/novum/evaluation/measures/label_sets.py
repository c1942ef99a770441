"""Measures of sets of labels: each row has any number of them.

With y_il and p_il the truths and the decisions of row i and label l, of n rows and L labels,

    Hamming loss  share of the n L decisions that are wrong
    micro F1      2 sum y p / (sum y + sum p), all labels together
    macro F1      the mean over labels of 2 sum_i y p / (sum_i y + sum_i p), 0 where it is 0/0
    exact match   share of rows whose labels are all right
"""

from __future__ import annotations

from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.core.runtime import RandomSource, seed_sequence, stream
from novum.evaluation.measures.bootstrap import weight_bootstrap
from novum.evaluation.measures.interval import Interval
from novum.evaluation.measures.intervals import effective_size, proportion_interval
from novum.numerics import Floats

LABEL_SET_MEASURES = ("hamming_loss", "f1_micro", "f1_macro", "exact_match")


def label_set_measures(
    true: Any,
    predicted: Any,
    *,
    sample_weight: Any = None,
    level: float = 0.95,
    n_resamples: int = 1000,
    random_state: RandomSource = 0,
) -> dict[str, Interval]:
    """Hamming loss, micro and macro F1 and exact match, each with its interval.

    Parameters
    ----------
    true, predicted : arrays of shape (n_rows, n_labels)
        Zeros and ones.
    sample_weight : array of shape (n_rows,), optional
    level : float
    n_resamples : int
        Of the bootstrap of rows (BCa); exact matches, and what no resample changes, have Wilson's
        interval with the effective number of rows.
    random_state : None, int, Generator, RandomState or SeedSequence

    Examples
    --------
    >>> found = label_set_measures([[1, 0], [1, 1], [0, 1]], [[1, 0], [1, 0], [0, 1]])
    >>> [round(found[name].estimate, 3) for name in ("hamming_loss", "f1_micro", "exact_match")]
    [0.167, 0.857, 0.667]
    """
    y, p = (np.asarray(part, bool) for part in (true, predicted))
    if y.ndim != 2 or y.shape != p.shape or 0 in y.shape:
        raise InputError(
            f"Sets of labels are tables of zeros and ones with rows and labels, got shapes "
            f"{y.shape} and {p.shape}. Give the same rows and labels in both."
        )
    weight = None if sample_weight is None else np.asarray(sample_weight, np.float64)
    wrong, right = (y != p).mean(axis=1), (y == p).all(axis=1).astype(np.float64)
    hits, sizes = (y & p).astype(np.float64), y.astype(np.float64) + p

    def statistic(weights: Floats) -> Floats:
        above, below = 2.0 * weights @ hits, weights @ sizes
        each = np.divide(above, below, out=np.zeros_like(above), where=below > 0)
        total = below.sum(axis=1)
        micro = np.divide(above.sum(axis=1), total, out=np.zeros(len(weights)), where=total > 0)
        rows = weights.sum(axis=1)
        return np.stack(
            [weights @ wrong / rows, micro, each.mean(axis=1), weights @ right / rows], axis=1
        )

    bootstrap = weight_bootstrap(
        statistic,
        len(y),
        sample_weight=weight,
        n_resamples=n_resamples,
        rng=stream(seed_sequence(random_state), "label sets"),
    )
    named = dict(zip(LABEL_SET_MEASURES, bootstrap.intervals(level), strict=True))
    size = effective_size(np.ones(len(y)) if weight is None else weight)
    constant = np.ptp(bootstrap.replicates, axis=0) == 0
    for name, same in zip(LABEL_SET_MEASURES, constant, strict=True):
        # Rows without any difference have no spread to resample.
        if same or name == "exact_match":
            share = min(named[name].estimate, 1.0)
            named[name] = proportion_interval(share * size, size, level)
    return named
