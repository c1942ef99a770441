"""Pairwise coupling by likelihood (Hastie and Tibshirani 1998).

The probabilities p whose pairs mu_ij = p_i / (p_i + p_j) come nearest to the given r_ij in
Kullback-Leibler divergence, each pair with its weight n_ij (of the rows it was learned from):

    min over p of  sum_{i<j} n_ij (r_ij log(r_ij / mu_ij) + r_ji log(r_ji / mu_ji))

In theta = log p this is convex, with gradient g_i = sum_j n_ij (mu_ij - r_ij) and as Hessian the
Laplacian of a graph with weights n_ij mu_ij mu_ji. Newton steps of length log(1 + D) / D, where D
is the range of the direction, never fail on such functions (they are quasi-self-concordant), and
elimination on a Laplacian needs no subtraction, so that it is exact in every entry.

A class that surely loses (r = 0) sends theta to minus infinity. The classes fall into groups that
beat each other with some probability; of any two groups one surely wins, so there is one on top,
and the limit of p is the solution within it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from novum.numerics.coupling import (
    Coupling,
    Floats,
    checked_pairs,
    in_blocks,
    n_classes_of,
    pair_indices,
)

# A probability this small cannot be told from 0: its complement rounds to one.
_ZERO = 2.0**-53
_TOLERANCE = 1e-14
_MAX_STEPS = 200


def couple_likelihood(
    pairs: ArrayLike, weight: ArrayLike | None = None, first: ArrayLike | None = None
) -> Coupling:
    """Probabilities of K classes from those of their pairs, by least divergence.

    Parameters
    ----------
    pairs : array of shape (n, K (K - 1) / 2)
        Probability of the second class of every pair, if only the two are possible.
    weight : array of shape (K (K - 1) / 2,), optional
        How much each pair counts, usually the number of rows it was learned from; all positive.
    first : array like `pairs`, optional
        Probability of the first class; one minus `pairs` by default.

    Returns
    -------
    Coupling
        `objective` is the divergence at p over the pairs of the classes with p > 0, with weights
        that sum to one; `residual` is the largest entry of its gradient in log p. There is no
        `gap`.

    Notes
    -----
    Costs `O(n K^3)` for each of about ten steps. A row's result does not depend on other rows.
    Probabilities below 2^-53 count as zero.

    References
    ----------
    Hastie and Tibshirani, Classification by pairwise coupling, Annals of Statistics 26, 1998,
    section 2.

    Examples
    --------
    >>> p = np.array([0.5, 0.3, 0.2])
    >>> i, j = pair_indices(3)
    >>> couple_likelihood([p[j] / (p[i] + p[j])]).probabilities.round(12).tolist()
    [[0.5, 0.3, 0.2]]
    """
    second, other = checked_pairs(pairs, first)
    n_pairs = second.shape[1]
    counts = np.ones(n_pairs) if weight is None else np.asarray(weight, float)
    if counts.shape != (n_pairs,) or not (np.isfinite(counts) & (counts > 0)).all():
        raise ValueError(
            f"weight is one positive number for each of the {n_pairs} pairs, got {weight!r}."
        )
    table = _symmetric(counts / counts.sum())
    return in_blocks(lambda r: _likeliest(r, table), second, other)


def _likeliest(r: Floats, weight: Floats) -> Coupling:
    r = np.where(r <= _ZERO, 0.0, r)
    inside = _top_group(r)
    # Pairs that reach out of the top group have their limit already and pull at nothing.
    n = weight * (inside[:, :, np.newaxis] & inside[:, np.newaxis, :])
    theta = np.zeros(inside.shape)
    for _ in range(_MAX_STEPS):
        gradient = _gradient(n, r, theta)
        open_rows = np.flatnonzero(np.abs(gradient).max(axis=1) > _TOLERANCE)
        if open_rows.size == 0:
            break
        theta[open_rows] += _damped_step(n[open_rows], theta[open_rows], gradient[open_rows])
    p = np.where(
        inside, np.exp(theta - np.where(inside, theta, -np.inf).max(1, keepdims=True)), 0.0
    )
    residual = np.abs(_gradient(n, r, theta)).max(axis=1)
    objective = _divergence(n, r, theta)
    return Coupling(p / p.sum(axis=1, keepdims=True), objective, residual, None)


def _damped_step(n: Floats, theta: Floats, gradient: Floats) -> Floats:
    """The Newton direction, cut to the length that surely descends."""
    mu = _pairs_of(theta)
    step = _laplacian_solution(n * mu * mu.transpose(0, 2, 1), -gradient)
    reach = np.ptp(step, axis=1, keepdims=True)
    positive = np.where(reach > 0, reach, 1.0)
    return np.asarray(step * np.where(reach > 0, np.log1p(reach) / positive, 1.0))


def _pairs_of(theta: Floats) -> Floats:
    """`mu[:, i, j] = p_i / (p_i + p_j)` at p = exp(theta)."""
    return np.asarray(special.expit(theta[:, :, np.newaxis] - theta[:, np.newaxis, :]))


def _gradient(n: Floats, r: Floats, theta: Floats) -> Floats:
    return np.asarray(np.einsum("nij,nij->ni", n, _pairs_of(theta) - r))


def _divergence(n: Floats, r: Floats, theta: Floats) -> Floats:
    """Sum over ordered pairs of `n_ij r_ij log(r_ij / mu_ij)`; zero log zero is zero."""
    terms = special.rel_entr(r, _pairs_of(theta))
    found = np.where(n > 0, n * np.where(n > 0, terms, 0.0), 0.0).sum(axis=(1, 2))
    return np.asarray(np.maximum(found, 0.0))


def _top_group(r: Floats) -> NDArray[np.bool_]:
    """Classes that beat every other one, directly or through others, of shape (n, K)."""
    n_classes = r.shape[1]
    reach = ((r > 0) | np.eye(n_classes, dtype=bool)).astype(float)
    for _ in range(max(1, (n_classes - 1).bit_length())):
        reach = np.minimum(reach @ reach, 1.0)
    return np.asarray(reach.all(axis=2))


def _laplacian_solution(weights: Floats, right: Floats) -> Floats:
    """x with `sum_j w_ij (x_i - x_j) = right_i`, for right sides that sum to zero in every group.

    Vertices are eliminated one by one; what is left is a Laplacian again, with weights
    `w_ij + w_ik w_kj / sum_j w_kj`, in which nothing is subtracted.
    """
    w, b = weights.copy(), right.copy()
    n_classes = b.shape[1]
    pivots = np.ones((n_classes, len(b)))
    for k in range(n_classes - 1):
        rest = slice(k + 1, n_classes)
        total = w[:, k, rest].sum(axis=1)
        # The last vertex of a group has no neighbor left: it is held at zero.
        pivots[k] = np.where(total > 0, total, np.inf)
        share = w[:, k, rest] / pivots[k][:, np.newaxis]
        w[:, rest, rest] += w[:, rest, k, np.newaxis] * share[:, np.newaxis, :]
        b[:, rest] += share * b[:, k, np.newaxis]
    x = np.zeros_like(b)
    for k in range(n_classes - 2, -1, -1):
        rest = slice(k + 1, n_classes)
        x[:, k] = (b[:, k] + np.einsum("nj,nj->n", w[:, k, rest], x[:, rest])) / pivots[k]
    return x


def _symmetric(weight: Floats) -> Floats:
    n_classes = n_classes_of(len(weight))
    i, j = pair_indices(n_classes)
    table = np.zeros((n_classes, n_classes))
    table[i, j] = table[j, i] = weight
    return table
