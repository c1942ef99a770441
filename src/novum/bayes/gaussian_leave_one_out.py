"""Predicting every row by the model of the others, without refitting.

Taking row x of weight w out of its class turns mean m and scatter S of weight W into

    m' = m - w (x - m) / (W - w),      S' = S - c u u',   u = x - m,   c = w W / (W - w),

and with `q = u' S^-1 u` the Sherman-Morrison formula gives all that a normal law needs,

    |S'| = |S| (1 - c q),    u' S'^-1 u = q / (1 - c q),    x - m' = (W / (W - w)) u.

A covariance that classes share changes for all of them: for `u_j = x - m_j` and `q_j = u_j' S^-1 u`

    u_j' S'^-1 u_j = u_j' S^-1 u_j + c q_j^2 / (1 - c q).

`1 - c q` is what is left of the class in the direction of the row. It is returned with the
predictions; where it is small, or where the estimate would touch its floor, the row must be
refitted. Laws without such a formula are estimated anew from the sums without the row.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from novum.bayes.gaussian_covariance import GaussianEstimate
from novum.bayes.gaussian_statistics import GaussianStatistics
from novum.core.tables import Sample
from novum.distributions import normals_without, whitener
from novum.numerics import Array, Floats, Integers

_LOG_2PI = float(np.log(2 * np.pi))


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Log densities (n, K) of each row under the models without it, and what is left (n,)."""

    log_density: Floats
    remainder: Floats


def leave_one_out(
    sample: Sample,
    codes: Integers,
    statistics: GaussianStatistics,
    estimate: GaussianEstimate,
    log_density: Floats,
    floor: float,
) -> LeftOut:
    """Log densities of every row under the normal laws of the other rows.

    Parameters
    ----------
    sample : Sample
        Complete rows; weights may be zero.
    codes : array (n,)
        Class of each row among those of the statistics.
    statistics, estimate : of all rows
    log_density : array (n, K)
        Under the model of all rows.
    floor : float
    """
    weight = np.ones(sample.n_rows) if sample.weight is None else sample.weight
    formula = {"full": _full, "tied": _tied, "diagonal": _columns, "spherical": _spherical}
    with np.errstate(divide="ignore", invalid="ignore"):
        out, left = formula[estimate.structure](
            sample.numeric, codes, weight, statistics, log_density
        )
    own = statistics.weight[codes]
    # Without its last row a class is gone, and with it a column of the answer.
    left = np.where(weight >= own, 0.0, left)
    # Where the estimate could touch its floor it is not the formula's.
    near = left * estimate.smallest[codes] < 4 * max(floor, 1e-14)
    left = np.where(near | (estimate.raised.max() > 0), 0.0, left)
    left[weight == 0] = 1.0
    unchanged = (weight == 0)[:, None]
    return LeftOut(np.where(unchanged, log_density, out), np.nan_to_num(left, nan=0.0))


def _full(
    X: Floats,
    codes: Integers,
    weight: Floats,
    statistics: GaussianStatistics,
    log_density: Floats,
) -> tuple[Floats, Floats]:
    out, left = log_density.copy(), np.zeros(len(X))
    d = X.shape[1]
    for k, part in enumerate(statistics.moments):
        rows = np.flatnonzero(codes == k)
        if not rows.size or part.weight <= d:
            continue
        try:
            A, log_det = whitener(part.scatter)
        except np.linalg.LinAlgError:
            continue
        z = (X[rows] - part.mean) @ A
        q = np.einsum("ij,ij->i", z, z)
        w, W = weight[rows], part.weight
        rest = W - w
        share = 1 - w * W / rest * q
        square = rest * (W / rest) ** 2 * q / share
        out[rows, k] = -0.5 * (d * _LOG_2PI + log_det + np.log(share) - d * np.log(rest) + square)
        left[rows] = share
    return out, left


def _tied(
    X: Floats,
    codes: Integers,
    weight: Floats,
    statistics: GaussianStatistics,
    log_density: Floats,
) -> tuple[Floats, Floats]:
    d, total = X.shape[1], float(statistics.weight.sum())
    try:
        A, log_det = whitener(statistics.scatters.sum(axis=0))
    except np.linalg.LinAlgError:
        return log_density.copy(), np.zeros(len(X))
    center = statistics.means.mean(axis=0)
    z, places = (X - center) @ A, (statistics.means - center) @ A
    own = z - places[codes]
    q = np.einsum("ij,ij->i", own, own)
    W = statistics.weight[codes]
    c = weight * W / (W - weight)
    share = 1 - c * q
    out = np.empty_like(log_density)
    for j in range(len(places)):
        mine = codes == j
        away = np.where(mine[:, None], own * (W / (W - weight))[:, None], z - places[j])
        cross = np.einsum("ij,ij->i", away, own)
        square = np.einsum("ij,ij->i", away, away) + c * cross**2 / share
        out[:, j] = square
    rest = total - weight
    constant = d * _LOG_2PI + log_det + np.log(share) - d * np.log(rest)
    return -0.5 * (constant[:, None] + rest[:, None] * out), share


def _columns(
    X: Floats,
    codes: Integers,
    weight: Floats,
    statistics: GaussianStatistics,
    log_density: Floats,
) -> tuple[Floats, Floats]:
    sums = (np.asarray(statistics.cell_weights), statistics.means, statistics.scatters)
    left = normals_without(X, codes, weight, *sums)
    out = log_density.copy()
    out[np.arange(len(X)), codes] = left.log_density.sum(axis=1)
    return out, left.scatter.min(axis=1)


def _spherical(
    X: Floats,
    codes: Integers,
    weight: Floats,
    statistics: GaussianStatistics,
    log_density: Floats,
) -> tuple[Floats, Floats]:
    W, d = statistics.weight[codes], X.shape[1]
    rest, total = W - weight, statistics.scatters[codes].sum(axis=1)
    square = ((X - statistics.means[codes]) ** 2).sum(axis=1)
    share = 1 - weight * W / rest * square / total
    variance = total * share / (rest * d)
    quadratic = square * (W / rest) ** 2 / variance
    out = log_density.copy()
    out[np.arange(len(X)), codes] = -0.5 * (d * (np.log(variance) + _LOG_2PI) + quadratic)
    return out, share


# --- Without a formula ----------------------------------------------------------------------------


def refitted_without(
    model: Any, sample: Sample, statistics: GaussianStatistics
) -> tuple[Array, Floats]:
    """Label of each row by a model estimated from the sums without it, and what is left.

    Nothing is left of a class without its last row; such rows are for the caller to refit. `model`
    is a fresh estimator, which this uses up.
    """
    assert sample.classes is not None
    weight = np.ones(sample.n_rows) if sample.weight is None else sample.weight
    labels = sample.classes[sample.target]
    own = statistics.weight[np.searchsorted(statistics.classes, labels)]
    left = np.where(weight >= own * (1 - 1e-12), 0.0, 1.0)
    with warnings.catch_warnings():
        # What is odd about these classes was said when all rows were fitted.
        warnings.simplefilter("ignore")
        for i in np.flatnonzero(left):
            row = sample.rows(np.array([i]))
            rest = statistics
            if weight[i] > 0:
                rest = statistics - GaussianStatistics.of(row, statistics.by_column)
            model._estimate(rest)
            labels[i] = model.classes_[model._best(row.numeric)[0]]
    return labels, left
