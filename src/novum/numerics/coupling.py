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
`novum.numerics.coupling_likelihood` has the coupling of Hastie and Tibshirani.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novum.numerics.logspace import log_normalize

Floats = NDArray[np.float64]
Positions = NDArray[np.intp]

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


def pair_indices(n_classes: int) -> tuple[Positions, Positions]:
    """First and second class of every pair, in the order all functions here use.

    Examples
    --------
    >>> [k.tolist() for k in pair_indices(3)]
    [[0, 0, 1], [1, 2, 2]]
    """
    return np.triu_indices(n_classes, 1)


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
    found = np.linalg.solve(system, (inflow / size)[:, :, np.newaxis])[:, :, 0]
    p = np.maximum(found * size, 0.0)
    p[rows, top] = np.maximum(1.0 - p.sum(axis=1), 0.0)
    return p


def _misfit(r: Floats, p: Floats) -> Floats:
    """`p' Q p` as the sum of squares it is."""
    i, j = pair_indices(r.shape[1])
    found = (r[:, j, i] * p[:, i] - r[:, i, j] * p[:, j]) ** 2
    return np.asarray(found.sum(axis=1))


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
    table = np.clip(np.asarray(margins, float), -_LARGEST_MARGIN, _LARGEST_MARGIN)
    n_classes = n_classes_of(table.shape[1])
    votes, sums = np.zeros((2, len(table), n_classes))
    start = 0
    for i in range(n_classes - 1):
        # The pairs of class i with all later ones stand next to each other.
        part = table[:, start : start + n_classes - 1 - i]
        wins = part > 0
        sums[:, i] -= part.sum(axis=1)
        sums[:, i + 1 :] += part
        votes[:, i] += part.shape[1] - wins.sum(axis=1)
        votes[:, i + 1 :] += wins
        start += part.shape[1]
    return votes + sums / (3 * (np.abs(sums) + 1))
