"""How far two groupings of the same rows agree: indices of their table of counts.

With n_ij rows in group i of one and j of the other, sums a_i and b_j, and n rows,

    pairs that are together in both  S = sum n_ij (n_ij - 1) / 2,  in one  A,  in the other  B
    Rand       (S + pairs that are apart in both) / all pairs
    adjusted   (S - A B / all) / ((A + B) / 2 - A B / all)         0 by chance, 1 if equal
    Jaccard    S / (A + B - S)
    V          harmonic mean of homogeneity 1 - H(a | b) / H(a) and completeness 1 - H(b | a) / H(b)
    AMI        (I - E I) / ((H(a) + H(b)) / 2 - E I)               0 by chance, 1 if equal
    purity     sum_j max_i n_ij / n

All indices are computed from tables, of counts or of weights, and from stacks of tables at once.

References
----------
Hubert and Arabie, Comparing partitions, 1985. Vinh, Epps and Bailey, Information theoretic measures
for clusterings comparison, JMLR 11, 2010. Rosenberg and Hirschberg, V-measure, 2007.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
from scipy.special import gammaln
from sklearn import metrics

from novum.core.errors import InputError
from novum.core.tables import missing_mask, plain_target
from novum.numerics import Floats, Integers


def contingency(first: Any, second: Any) -> tuple[Floats, Integers]:
    """The table of counts of two groupings, and the cell of every row.

    Examples
    --------
    >>> contingency(["a", "a", "b"], [1, 2, 2])[0]
    array([[1., 1.],
           [0., 1.]])
    """
    a, b = plain_target(first), plain_target(second)
    if a.ndim != 1 or a.shape != b.shape or len(a) == 0:
        raise InputError(
            f"Two groupings have a label for each of the same rows, got shapes {a.shape} and "
            f"{b.shape}."
        )
    refuse_missing_labels(a)
    refuse_missing_labels(b)
    names_a, i = np.unique(a, return_inverse=True)
    names_b, j = np.unique(b, return_inverse=True)
    shape = len(names_a), len(names_b)
    cells = np.asarray(i * shape[1] + j, np.int64)
    return np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape).astype(float), cells


def refuse_missing_labels(labels: Any) -> None:
    """Says which row has no label."""
    is_number = labels.dtype.kind == "f"
    known = np.isfinite(labels) if is_number else ~missing_mask(labels)
    if not np.all(known):
        raise InputError(
            f"Row {int(np.argmin(known))} has no label: it contains NaN, infinity or None. Leave "
            "such rows out, or give them a label of their own."
        )


def _pairs(counts: Floats, axis: Any) -> Floats:
    return np.asarray((counts * (counts - 1.0) / 2.0).sum(axis=axis))


def _pair_sums(tables: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    both = _pairs(tables, (-2, -1))
    one, other = _pairs(tables.sum(axis=-1), -1), _pairs(tables.sum(axis=-2), -1)
    total = tables.sum(axis=(-2, -1))
    return both, one, other, total * (total - 1.0) / 2.0


def _ratio(above: Floats, below: Floats, otherwise: float) -> Floats:
    """A quotient; where it is 0 / 0, as of groupings without any choice, what is said."""
    fine = below != 0
    return np.where(fine, above / np.where(fine, below, 1.0), otherwise)


def rand_of(tables: Floats) -> Floats:
    """The Rand index of tables (..., k, l)."""
    both, one, other, total = _pair_sums(tables)
    return _ratio(total + 2.0 * both - one - other, total, 1.0)


def adjusted_rand_of(tables: Floats) -> Floats:
    """The adjusted Rand index of tables (..., k, l)."""
    both, one, other, total = _pair_sums(tables)
    chance = one * _ratio(other, total, 0.0)
    return _ratio(both - chance, (one + other) / 2.0 - chance, 1.0)


def jaccard_of(tables: Floats) -> Floats:
    """The Jaccard index of pairs, of tables (..., k, l)."""
    both, one, other, _ = _pair_sums(tables)
    return _ratio(both, one + other - both, 1.0)


def fowlkes_mallows_of(tables: Floats) -> Floats:
    """The geometric mean of both shares of pairs, of tables (..., k, l)."""
    both, one, other, _ = _pair_sums(tables)
    return _ratio(both, np.sqrt(one * other), 0.0)


def purity_of(tables: Floats) -> Floats:
    """The share of rows in the largest first group of their second group."""
    return _ratio(tables.max(axis=-2).sum(axis=-1), tables.sum(axis=(-2, -1)), 1.0)


def _entropy(shares: Floats, axis: Any) -> Floats:
    logs = np.log(np.where(shares > 0, shares, 1.0))
    return np.asarray(-(shares * logs).sum(axis=axis))


def _entropies(tables: Floats) -> tuple[Floats, Floats, Floats]:
    shares = tables / tables.sum(axis=(-2, -1), keepdims=True)
    one, other = _entropy(shares.sum(axis=-1), -1), _entropy(shares.sum(axis=-2), -1)
    information = one + other - _entropy(shares, (-2, -1))
    return np.maximum(information, 0.0), one, other


def homogeneity_of(tables: Floats) -> Floats:
    """How far second groups hold one first group only."""
    information, one, _ = _entropies(tables)
    return _ratio(information, one, 1.0)


def completeness_of(tables: Floats) -> Floats:
    """How far first groups are in one second group only."""
    information, _, other = _entropies(tables)
    return _ratio(information, other, 1.0)


def v_measure_of(tables: Floats) -> Floats:
    """The harmonic mean of homogeneity and completeness."""
    h, c = homogeneity_of(tables), completeness_of(tables)
    return _ratio(2.0 * h * c, h + c, 0.0)


def adjusted_information_of(tables: Floats) -> Floats:
    """Adjusted mutual information, of tables (..., k, l) of whole counts."""
    stack = tables.reshape(-1, *tables.shape[-2:])
    information, one, other = _entropies(stack)
    values = np.empty(len(stack))
    factorials = gammaln(np.arange(float(stack.sum(axis=(1, 2)).max()) + 1.5) + 1.0)
    for t, table in enumerate(stack):
        a, b = table.sum(axis=1), table.sum(axis=0)
        if ((table > 0).sum(axis=0) <= 1).all() and ((table > 0).sum(axis=1) <= 1).all():
            # The same groups, where room may be 0 too.
            values[t] = 1.0
            continue
        chance = expected_information(a, b, factorials)
        room = (one[t] + other[t]) / 2.0 - chance
        # Of rounding alone, and without a zero to divide by, as scikit-learn has it.
        room = min(room, -np.finfo(float).eps) if room < 0 else max(room, np.finfo(float).eps)
        values[t] = (information[t] - chance) / room
    return values.reshape(tables.shape[:-2])


def expected_information(a: Floats, b: Floats, factorials: Floats | None = None) -> float:
    """Mutual information, on average over all groupings with these group sizes.

    Parameters
    ----------
    a, b : arrays of whole numbers
        Sizes of the groups.
    factorials : array, optional
        Logarithms of the factorials of 0, 1, 2, ..., up to the number of rows.

    Examples
    --------
    >>> round(expected_information(np.array([2.0, 2.0]), np.array([2.0, 2.0])), 4)
    0.231
    """
    rows, others = (np.rint(sizes[sizes > 0]).astype(np.int64).tolist() for sizes in (a, b))
    n = sum(rows)
    f = gammaln(np.arange(n + 1) + 1.0) if factorials is None else factorials
    total = 0.0
    for i in rows:
        for j in others:
            m = np.arange(max(1, i + j - n), min(i, j) + 1)
            chances = np.exp(
                (f[i] + f[j] + f[n - i] + f[n - j] - f[n])
                - (f[m] + f[i - m] + f[j - m] + f[n - i - j + m])
            )
            total += float((m / n * np.log(n * m / (i * j)) * chances).sum())
    return total


# Index of tables by the name of the field.
INDICES: dict[str, Callable[[Floats], Floats]] = {
    "rand": rand_of,
    "adjusted_rand": adjusted_rand_of,
    "adjusted_mutual_information": adjusted_information_of,
    "v_measure": v_measure_of,
    "homogeneity": homogeneity_of,
    "completeness": completeness_of,
    "purity": purity_of,
    "jaccard": jaccard_of,
    "fowlkes_mallows": fowlkes_mallows_of,
}


def purity_score(labels_true: Any, labels_pred: Any) -> float:
    """The share of rows that are of the most frequent true group of their cluster.

    Examples
    --------
    >>> purity_score([0, 0, 1, 1], [0, 0, 0, 1])
    0.75
    """
    return float(purity_of(contingency(labels_true, labels_pred)[0]))


def pair_jaccard_score(labels_true: Any, labels_pred: Any) -> float:
    """Of the pairs that are together in either grouping, the share that is in both.

    Examples
    --------
    >>> pair_jaccard_score([0, 0, 1, 1], [0, 0, 1, 2])
    0.5
    """
    return float(jaccard_of(contingency(labels_true, labels_pred)[0]))


# --- scikit-learn's -------------------------------------------------------------------------------


def _of_labels(index: Callable[..., float]) -> Callable[..., float]:
    """An index of scikit-learn that refuses missing labels in a sentence."""

    # Not its module: a scorer is pickled by where it is found.
    @wraps(index, assigned=("__name__", "__qualname__"))
    def of_labels(labels_true: Any, labels_pred: Any, **options: Any) -> float:
        refuse_missing_labels(plain_target(labels_true))
        refuse_missing_labels(plain_target(labels_pred))
        return index(labels_true, labels_pred, **options)

    title = (index.__doc__ or "").strip().partition("\n")[0]
    of_labels.__doc__ = f"{title}\n\nAs `sklearn.metrics.{index.__name__}`."
    return of_labels


adjusted_mutual_info_score = _of_labels(metrics.adjusted_mutual_info_score)
adjusted_rand_score = _of_labels(metrics.adjusted_rand_score)
fowlkes_mallows_score = _of_labels(metrics.fowlkes_mallows_score)
rand_score = _of_labels(metrics.rand_score)
v_measure_score = _of_labels(metrics.v_measure_score)
