"""Measures of rankings: discounted gain of the order, and pairs in the wrong order.

Rows have relevances (the larger, the earlier they belong) and scores that order them, within
queries if `groups` says which row belongs to which.

    DCG = sum over ranks r of gain(relevance at r) / log2(r + 1),      NDCG = DCG / best DCG
    pair error = share of pairs of different relevance whose scores are the wrong way round

Equal scores: the DCG is averaged over all orders of the tied rows (McSherry & Najork 2008), a tied
pair is half an error. Pairs are counted in O(n log^2 n) by splitting the ranks bit by bit: a pair
is decided by the first bit in which its two ranks differ.

References: Järvelin & Kekäläinen (2002); McSherry & Najork (2008).
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from novum.core.errors import InputError
from novum.core.tables import checked_weight, plain_target
from novum.evaluation.measures.reading import read_score_array
from novum.numerics import Array, Floats, Integers


def ndcg(
    y: Any,
    scores: Any,
    *,
    groups: Any = None,
    k: int | None = None,
    gain: Literal["linear", "exponential"] = "linear",
    sample_weight: Any = None,
) -> float:
    """Normalized discounted cumulative gain, averaged over the queries.

    Parameters
    ----------
    y : array of shape (n,)
        Relevances of at least 0. A table of shape (n_queries, n_items) has a query in each row.
    scores : array like y
    groups : array of shape (n,), optional
        The query of each row. Default: all rows are one ranking.
    k : int, optional
        Only the first k ranks count.
    gain : "linear" or "exponential"
        The relevance itself, or `2^relevance - 1`.
    sample_weight : array of shape (n,), optional
        Of queries: rows of one query have one weight.

    Notes
    -----
    A query without a relevant row has no best order; its value is 0, as in scikit-learn.

    Examples
    --------
    >>> round(ndcg([3, 2, 0, 1], [0.9, 0.8, 0.7, 0.1]), 4)
    0.9854
    """
    relevance, values, codes, weights = _read(y, scores, groups, sample_weight, np.ndim(y))
    if (relevance < 0).any():
        row = int(np.flatnonzero(relevance < 0)[0])
        raise InputError(
            f"A relevance is at least 0; row {row} has {relevance[row]:.6g}. Shift them, or use "
            "the pair error, for which only their order counts."
        )
    if k is not None and k < 1:
        raise InputError(f"k is a number of ranks of at least 1, got {k!r}.")
    if gain not in ("linear", "exponential"):
        raise InputError(f"gain is 'linear' or 'exponential', got {gain!r}.")
    gains = relevance if gain == "linear" else np.exp2(relevance) - 1
    best = _gains_of_queries(gains, gains, codes, k)
    reached = _gains_of_queries(gains, values, codes, k)
    ratios = np.divide(reached, best, out=np.zeros_like(best), where=best > 0)
    # The two sums of a perfect order are made in another order and differ by rounding.
    shares = np.minimum(ratios, 1.0)
    return float(np.average(shares, weights=_query_weights(weights, codes)))


def pair_error(y: Any, scores: Any, *, groups: Any = None, sample_weight: Any = None) -> float:
    """Share of pairs that the scores put in the wrong order.

    Parameters
    ----------
    y : array of shape (n,)
        Relevances, or any numbers: only their order counts.
    scores : array of shape (n,)
    groups : array of shape (n,), optional
        Only pairs of rows of one query are compared.
    sample_weight : array of shape (n,), optional
        A pair weighs the product of its rows' weights.

    Notes
    -----
    With relevances 0 and 1 this is one minus the area under the ROC curve.

    Examples
    --------
    >>> pair_error([1, 2, 3], [0.1, 0.5, 0.4])
    0.3333333333333333
    """
    relevance, values, codes, weights = _read(y, scores, groups, sample_weight, np.ndim(y))
    weight = np.ones(len(values)) if weights is None else weights
    wrong, tied, comparable = pair_counts(relevance, values, codes, weight)
    if comparable <= 0:
        raise InputError(
            "No two rows of a query differ in y, so there is no pair to put in order. Judge rows "
            "of different relevance."
        )
    return float((wrong + tied / 2) / comparable)


def pair_counts(
    relevance: Floats, scores: Floats, groups: Integers, weight: Floats
) -> tuple[float, float, float]:
    """Weights of wrongly ordered, of tied, and of all pairs of different relevance.

    Examples
    --------
    >>> import numpy as np
    >>> one = np.zeros(3, int)
    >>> pair_counts(np.array([1.0, 2.0, 3.0]), np.array([1.0, 1.0, 0.0]), one, np.ones(3))
    (2.0, 1.0, 3.0)
    """
    level = _dense(relevance)
    rank = _dense(scores)
    order = np.lexsort((-level, groups))
    level, rank, groups, weight = level[order], rank[order], groups[order], weight[order]
    # Rows stand in falling relevance: a pair is wrong when the later one scores higher. Pairs of
    # equal relevance are counted by the same order and taken off.
    inside = _joined(groups, level)
    wrong = _rising_pairs(groups, rank, weight) - _rising_pairs(inside, rank, weight)
    comparable = _pairs(groups, weight) - _pairs(inside, weight)
    tied = _pairs(_joined(groups, rank), weight) - _pairs(_joined(inside, rank), weight)
    return max(wrong, 0.0), max(tied, 0.0), comparable


# --- Counting pairs -------------------------------------------------------------------------------


def _rising_pairs(blocks: Integers, rank: Integers, weight: Floats) -> float:
    """Weight of pairs within a block whose later row has the higher rank."""
    total = 0.0
    for bit in range(int(rank.max(initial=0)).bit_length()):
        # Two ranks are first told apart at this bit when all higher bits agree.
        alike = _joined(blocks, rank >> (bit + 1))
        order = np.argsort(alike, kind="stable")
        high = ((rank >> bit) & 1)[order] == 1
        w, block = weight[order], alike[order]
        low_before = np.cumsum(np.where(high, 0.0, w))
        first = np.searchsorted(block, block, side="left")
        start = np.where(first > 0, low_before[first - 1], 0.0)
        total += float(np.sum(w * high * (low_before - start)))
    return total


def _pairs(blocks: Integers, weight: Floats) -> float:
    """Weight of all pairs within blocks."""
    _, codes = np.unique(blocks, return_inverse=True)
    total = np.bincount(codes, weight)
    return float((total @ total - weight @ weight) / 2)


def _dense(values: Array) -> Integers:
    return np.unique(values, return_inverse=True)[1].astype(np.int64)


def _joined(first: Integers, second: Integers) -> Integers:
    """One code for each pair of codes, in their order."""
    return _dense(first * (int(second.max(initial=0)) + 1) + second)


# --- Discounted gain ------------------------------------------------------------------------------


def _gains_of_queries(gains: Floats, scores: Floats, codes: Integers, k: int | None) -> Floats:
    """DCG of each query, tied rows sharing the mean of their discounts."""
    order = np.lexsort((-scores, codes))
    query = codes[order]
    rank = np.arange(query.size) - np.searchsorted(query, query, side="left")
    discount = 1 / np.log2(rank + 2)
    if k is not None:
        discount = np.where(rank < k, discount, 0.0)
    falling = scores[order]
    fresh = np.r_[True, (query[1:] != query[:-1]) | (falling[1:] != falling[:-1])]
    block = np.cumsum(fresh) - 1
    shared = np.bincount(block, discount) / np.bincount(block)
    return np.asarray(np.bincount(query, gains[order] * shared[block]), float)


def _query_weights(weights: Floats | None, codes: Integers) -> Floats | None:
    if weights is None:
        return None
    first = np.unique(codes, return_index=True)[1]
    of_query = weights[first]
    uneven = np.flatnonzero(weights != of_query[codes])
    if uneven.size:
        raise InputError(
            f"Rows of one query have different weights, the first at row {uneven[0]}. A ranking is "
            "judged as a whole: give all its rows one weight."
        )
    return of_query


def _read(
    y: Any, scores: Any, groups: Any, sample_weight: Any, dimensions: int
) -> tuple[Floats, Floats, Integers, Floats | None]:
    """Relevances, scores and queries of rows; a table of queries is unrolled."""
    if dimensions == 2:
        return _unrolled(y, scores, groups, sample_weight)
    n_rows = len(plain_target(y))
    relevance = read_score_array(y, n_rows, "y")
    values = read_score_array(scores, n_rows)
    if relevance.ndim != 1 or values.ndim != 1 or n_rows == 0:
        raise InputError(
            f"A ranking needs one relevance and one score for each row, got y of shape "
            f"{relevance.shape} and scores of shape {values.shape}."
        )
    if groups is None:
        codes = np.zeros(n_rows, np.int64)
    else:
        queries = plain_target(groups)
        if queries.shape != (n_rows,):
            raise InputError(
                f"groups has shape {queries.shape}, but y has {n_rows} rows. Name one query for "
                "each row."
            )
        codes = np.unique(queries, return_inverse=True)[1].astype(np.int64)
    return relevance, values, codes, checked_weight(sample_weight, n_rows)


def _unrolled(
    y: Any, scores: Any, groups: Any, sample_weight: Any
) -> tuple[Floats, Floats, Integers, Floats | None]:
    n_queries = len(y)
    relevance = np.asarray(plain_target(y), float)
    values = np.asarray(plain_target(scores), float)
    if relevance.shape != values.shape or groups is not None:
        raise InputError(
            f"y of shape {relevance.shape} holds a query in each row; pass scores of the same "
            f"shape (got {values.shape}) and no groups."
        )
    read_score_array(relevance, n_queries, "y")
    read_score_array(values, n_queries)
    weights = checked_weight(sample_weight, n_queries)
    codes = np.repeat(np.arange(n_queries), relevance.shape[1])
    spread = None if weights is None else np.repeat(weights, relevance.shape[1])
    return relevance.ravel(), values.ravel(), codes, spread
