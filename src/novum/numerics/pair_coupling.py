"""From binary answers to probabilities of many classes: pairs coupled, votes counted.

Given r_ij, the probability of class i if only i and j are possible, the coupled probabilities are
(Wu, Lin and Weng 2004, second approach)

    min over p of  sum_{i<j} (r_ji p_i - r_ij p_j)^2 = p' Q p,    sum p = 1,  p >= 0
    Q_ii = sum_{s != i} r_si^2,   Q_ij = -r_ji r_ij.

The signs of p need no care: the minimizer on the plane sum p = 1 is unique and not negative, so it
solves one linear system, Q p = b 1 with b = p' Q p. That system is regular for all r from 0 to 1,
both included: a null vector of Q has entries of one sign, so it never lies in the plane's
directions. The fixed point

    p_t = (sum_{j != t} r_jt r_tj p_j + b) / Q_tt,

which subtracts nothing, then gives small probabilities their relative accuracy.

Throughout, pair number k is `(i, j)` with i < j in lexicographic order, and values of a pair speak
for its *second* class, as margins of binary classifiers speak for their positive one.

Coupling by likelihood (Hastie and Tibshirani 1998) gives the probabilities p whose pairs
mu_ij = p_i / (p_i + p_j) come nearest to the given r_ij in Kullback-Leibler divergence, each pair
with its weight n_ij (of the rows it was learned from):

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

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from novum.numerics.logspace import log_normalize
from novum.numerics.types import Floats, Mask, Positions

# Cells of the (rows, K, K) tables that are held at a time; blocks depend on K only, so bits do too.
_BLOCK_CELLS = 2**20
_SWEEPS = 2
# Sizes below this are not scaled by: their ratios would leave the range of floats.
_LEAST = 1e-150
# Sums of margins must stay finite, and beyond this size the transformed sum is 1/3 anyway.
_LARGEST_MARGIN = 1e100


@dataclass(frozen=True, eq=False)
class Coupling:
    """Coupled probabilities, and what proves that they are optimal.

    Attributes
    ----------
    probabilities : array of shape (n, K)
        Rows sum to one.
    objective : array of shape (n,)
        The minimized function at the probabilities; zero where the pairs are consistent.
    residual : array of shape (n,)
        Largest violation of the optimality conditions.
    gap : array of shape (n,), or None
        Proved bound of `objective` minus its minimum, where there is one.
    """

    probabilities: Floats
    objective: Floats
    residual: Floats
    gap: Floats | None


# --- Pairs ----------------------------------------------------------------------------------------


@lru_cache(maxsize=4)
def pair_indices(n_classes: int) -> tuple[Positions, Positions]:
    """First and second class of every pair, in the order all functions here use; read-only.

    Examples
    --------
    >>> [k.tolist() for k in pair_indices(3)]
    [[0, 0, 1], [1, 2, 2]]
    """
    pairs = np.triu_indices(n_classes, 1)
    for classes in pairs:
        classes.flags.writeable = False
    return pairs


def n_classes_of(n_pairs: int) -> int:
    """The number of classes that have this many pairs.

    Examples
    --------
    >>> n_classes_of(6)
    4
    """
    n_classes = (1 + math.isqrt(1 + 8 * n_pairs)) // 2
    if n_pairs < 1 or n_classes * (n_classes - 1) // 2 != n_pairs:
        raise ValueError(
            f"{n_pairs} pairs do not come from a whole number of classes; K classes have "
            "K (K - 1) / 2 pairs: 1, 3, 6, 10, ..."
        )
    return n_classes


def pair_tables(pairs: Floats, first: Floats) -> Floats:
    """`r[:, i, j]`, the probability of i against j, of shape (n, K, K) with a zero diagonal."""
    n_classes = n_classes_of(pairs.shape[1])
    i, j = pair_indices(n_classes)
    tables = np.zeros((len(pairs), n_classes, n_classes))
    tables[:, i, j] = first
    tables[:, j, i] = pairs
    return tables


def checked_pairs(pairs: ArrayLike, first: ArrayLike | None) -> tuple[Floats, Floats]:
    """Probabilities of second and first classes that are none below 0 and sum to one."""
    second = _probabilities(pairs, "pairs")
    if first is None:
        return second, 1.0 - second
    other = _probabilities(first, "first")
    if other.shape != second.shape:
        raise ValueError(f"pairs has shape {second.shape}, but first has {other.shape}.")
    total = second + other
    wrong = np.argwhere(np.abs(total - 1) > 1e-6)
    if wrong.size:
        row, k = wrong[0]
        raise ValueError(
            f"The two probabilities of a pair sum to one, but those of pair {k} in row {row} sum "
            f"to {total[row, k]}."
        )
    return second / total, other / total


def _probabilities(values: ArrayLike, name: str) -> Floats:
    table = np.asarray(values, float)
    if table.ndim != 2:
        raise ValueError(
            f"{name} has a row for each case and a column for each pair of classes, got an array "
            f"of shape {table.shape}."
        )
    wrong = np.argwhere(~((table >= 0) & (table <= 1)))
    if wrong.size:
        row, k = wrong[0]
        raise ValueError(
            f"{name} holds probabilities from 0 to 1, but has {table[row, k]} in row {row} for "
            f"pair {k}."
        )
    return table


# --- Least squares --------------------------------------------------------------------------------


def couple_least_squares(pairs: ArrayLike, first: ArrayLike | None = None) -> Coupling:
    """Probabilities of K classes from those of their pairs, by the second approach of Wu et al.

    Minimizes `sum_{i<j} (r_ji p_i - r_ij p_j)^2` over probabilities p, exactly.

    Parameters
    ----------
    pairs : array of shape (n, K (K - 1) / 2)
        Probability of the second class of every pair, if only the two are possible.
    first : array of the same shape, optional
        Probability of the first class; one minus `pairs` by default. Give it where it is known to
        more digits than that.

    Returns
    -------
    Coupling
        `residual` is `max_t |(Q p)_t - p' Q p|` and `gap` bounds the distance to the minimum by
        the linear function that touches the objective at p.

    Notes
    -----
    Costs `O(n K^3)`. Of two classes the pair itself is returned. Consistent pairs,
    `r_ij = p_i / (p_i + p_j)`, give p back. Probabilities of 0 and 1 need no care.

    References
    ----------
    Wu, Lin and Weng, Probability estimates for multi-class classification by pairwise coupling,
    Journal of Machine Learning Research 5, 2004: equations 13 to 21 and algorithm 2.

    Examples
    --------
    >>> p = np.array([0.5, 0.3, 0.2])
    >>> i, j = pair_indices(3)
    >>> couple_least_squares([p[j] / (p[i] + p[j])]).probabilities.round(12).tolist()
    [[0.5, 0.3, 0.2]]
    """
    return in_blocks(_least_squares, *checked_pairs(pairs, first))


def in_blocks(solve: Callable[[Floats], Coupling], second: Floats, first: Floats) -> Coupling:
    """`solve` on the tables of all rows, a block of rows at a time."""
    width = n_classes_of(second.shape[1])
    parts = [solve(pair_tables(second[b], first[b])) for b in _blocks(len(second), width)]
    gaps = [part.gap for part in parts if part.gap is not None]
    return Coupling(
        np.concatenate([part.probabilities for part in parts]),
        np.concatenate([part.objective for part in parts]),
        np.concatenate([part.residual for part in parts]),
        np.concatenate(gaps) if gaps else None,
    )


def _blocks(n_rows: int, width: int) -> Iterator[slice]:
    size = max(1, _BLOCK_CELLS // (width + 1) ** 2)
    # No rows at all are one empty block, so that the result has its shape.
    return (slice(start, start + size) for start in range(0, max(n_rows, 1), size))


def _least_squares(r: Floats) -> Coupling:
    # product[t, j] = r_jt r_tj, the part of the fixed point that flows from j to t.
    product = r * r.transpose(0, 2, 1)
    diagonal = np.einsum("nst,nst->nt", r, r)
    if r.shape[1] == 2:
        p = r.sum(axis=2)
    else:
        p = _polished(r, product, diagonal, _stationary(product, diagonal))
    objective = _misfit(r, p)
    gradient = diagonal * p - np.einsum("ntj,nj->nt", product, p)
    residual = np.abs(gradient - objective[:, np.newaxis]).max(axis=1)
    gap = np.maximum(2 * (objective - gradient.min(axis=1)), 0.0)
    return Coupling(p, objective, residual, gap)


def _stationary(product: Floats, diagonal: Floats) -> Floats:
    """Solution of `Q p = b 1, 1' p = 1`, its rounding below zero cut off."""
    n, width = diagonal.shape
    system = np.ones((n, width + 1, width + 1))
    system[:, :width, :width] = -product
    system[:, np.arange(width), np.arange(width)] = diagonal
    system[:, width, width] = 0.0
    right = np.zeros((n, width + 1, 1))
    right[:, width] = 1.0
    p = np.maximum(np.linalg.solve(system, right)[:, :width, 0], 0.0)
    return np.asarray(p / p.sum(axis=1, keepdims=True))


def _polished(r: Floats, product: Floats, diagonal: Floats, p: Floats) -> Floats:
    """The same solution with relative accuracy in its small entries.

    The largest is known to all its digits already, and the others follow from it: a sweep of the
    fixed point finds their sizes, and by these the rest of the system is scaled and solved again.
    """
    p, top, rows = p.copy(), p.argmax(axis=1), np.arange(len(p))
    # Only a class that surely wins has a zero here, and then it is the largest.
    divisor = np.where(diagonal > 0, diagonal, 1.0)
    misfit = _misfit(r, p)
    for _ in range(_SWEEPS):
        for t in range(p.shape[1]):
            flow = np.einsum("nj,nj->n", product[:, t], p) + misfit
            p[:, t] = np.where(top == t, p[:, t], flow / divisor[:, t])
    size = np.where(p > _LEAST, p, 1.0)
    size[rows, top] = 1.0
    inflow = (product[rows, :, top] * p[rows, top, np.newaxis] + misfit[:, np.newaxis]) / divisor
    inflow[rows, top] = 0.0
    system = np.eye(p.shape[1]) - product / divisor[:, :, np.newaxis] * (
        size[:, np.newaxis, :] / size[:, :, np.newaxis]
    )
    system[rows, top] = system[rows, :, top] = 0.0
    system[rows, top, top] = 1.0
    solved = np.linalg.solve(system, (inflow / size)[:, :, np.newaxis])[:, :, 0]
    p = np.maximum(solved * size, 0.0)
    p[rows, top] = np.maximum(1.0 - p.sum(axis=1), 0.0)
    return p


def _misfit(r: Floats, p: Floats) -> Floats:
    """`p' Q p` as the sum of squares it is."""
    i, j = pair_indices(r.shape[1])
    squares = (r[:, j, i] * p[:, i] - r[:, i, j] * p[:, j]) ** 2
    return np.asarray(squares.sum(axis=1))


# --- One against the rest -------------------------------------------------------------------------


def normalize_one_vs_rest(log_probabilities: ArrayLike) -> Floats:
    """Probabilities of K classes from those of each class against the rest: `p_k / sum p`.

    Parameters
    ----------
    log_probabilities : array of shape (n, K)
        Logarithms, so that a row whose probabilities are all too small for a float still has its
        order. Where all are `-inf`, nothing is known and every class gets `1 / K`.

    Examples
    --------
    >>> normalize_one_vs_rest(np.log([[0.6, 0.3, 0.3]])).round(12).tolist()
    [[0.5, 0.25, 0.25]]
    """
    shares, total = log_normalize(log_probabilities, axis=1)
    return np.where(np.isneginf(total)[:, np.newaxis], 1.0 / shares.shape[1], np.exp(shares))


# --- Votes ----------------------------------------------------------------------------------------


def vote_scores(margins: ArrayLike) -> Floats:
    """Votes of all pairs for each class, with margins that break ties.

    Pair (i, j) votes for j if its margin is above zero, else for i. The score of a class is its
    number of votes plus `s / (3 (|s| + 1))`, where s is the sum of the margins for it: a number
    between -1/3 and 1/3, which never outweighs a vote. Classes that still agree are for the caller
    to order; the first (of lowest code) is the convention of `argmax`.

    Parameters
    ----------
    margins : array of shape (n, K (K - 1) / 2)
        Positive where the second class of the pair is preferred. Infinite ones count as 1e100.

    Returns
    -------
    array of shape (n, K)

    Examples
    --------
    A cycle of three votes, decided by the margins:

    >>> vote_scores([[-2.0, 1.0, -1.0]]).round(3).tolist()
    [[1.167, 0.833, 1.0]]
    """
    margins = np.minimum(np.maximum(margins, -_LARGEST_MARGIN), _LARGEST_MARGIN)
    pairs = np.array([margins, np.where(margins > 0, 1.0, -1.0)])
    n_classes = n_classes_of(pairs.shape[2])
    totals = np.zeros((2, len(margins), n_classes))
    start = 0
    for i in range(n_classes - 1):
        # The pairs of class i with all later ones stand next to each other.
        part = pairs[:, :, start : start + n_classes - 1 - i]
        totals[:, :, i] -= part.sum(axis=2)
        totals[:, :, i + 1 :] += part
        start += part.shape[2]
    sums, lead = totals
    # Pairs won less pairs lost, of all there are.
    return (lead + (n_classes - 1)) / 2 + sums / (3 * (np.abs(sums) + 1))


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
    divergences = np.where(n > 0, n * np.where(n > 0, terms, 0.0), 0.0).sum(axis=(1, 2))
    return np.asarray(np.maximum(divergences, 0.0))


def _top_group(r: Floats) -> Mask:
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
