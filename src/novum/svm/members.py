"""Many classes by hyperplanes between two: every pair of classes, or each class against the rest.

    pairs    K (K - 1) / 2 machines; machine (i, j) is positive for j, fitted to rows of both
    rest     K machines; machine k is positive for k, fitted to all rows

A row takes part in K - 1 pairs only. What the machines know of the objects (coefficients, slacks)
is therefore kept as a matrix with K - 1 rows, LIBSVM's layout: an object of class i has its value
in the machine with class j in row j - 1 where j > i, and in row j where j < i. Support objects are
sorted by class, so that new objects need one matrix product for each class.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from novum.numerics import Array, Floats, Integers, Positions, pair_indices


class Member(NamedTuple):
    """One binary machine: its objects, their sides, and the classes it tells apart.

    `negative` is -1 where the positive class stands against all others.
    """

    rows: Positions
    sign: Floats
    negative: int
    positive: int


def members_of(codes: Integers, n_classes: int, multiclass: str) -> list[Member]:
    """The machines that K classes need.

    Parameters
    ----------
    codes : int array of shape (m,)
        The class of every object.
    n_classes : int
        At least two, each with an object.
    multiclass : {"pairs", "rest"}
        Of two classes either gives the one machine that is positive for the second.

    Examples
    --------
    >>> [(m.negative, m.positive, m.rows.tolist()) for m in members_of(np.array([0, 1, 2]), 3,
    ...                                                               "pairs")]
    [(0, 1, [0, 1]), (0, 2, [0, 2]), (1, 2, [1, 2])]
    """
    if n_classes == 2:
        return [_member(codes, np.arange(len(codes)), 0, 1)]
    if multiclass == "rest":
        everything = np.arange(len(codes))
        return [_member(codes, everything, -1, k) for k in range(n_classes)]
    is_in = [codes == k for k in range(n_classes)]
    return [
        _member(codes, (is_in[i] | is_in[j]).nonzero()[0], i, j)
        for i, j in combinations(range(n_classes), 2)
    ]


def _member(codes: Integers, rows: Positions, negative: int, positive: int) -> Member:
    return Member(rows, np.where(codes[rows] == positive, 1.0, -1.0), negative, positive)


def in_layout(members: Sequence[Member], values: Sequence[Array], m: int, n_classes: int) -> Array:
    """What each machine says of its objects, as a matrix of shape (K - 1, m) or (n_members, m).

    Examples
    --------
    >>> members = members_of(np.array([0, 1, 2]), 3, "pairs")
    >>> in_layout(members, [np.array([1, 2]), np.array([3, 4]), np.array([5, 6])], 3, 3).tolist()
    [[1, 2, 4], [3, 5, 6]]
    """
    paired = n_classes > 2 and members[0].negative >= 0
    table = np.zeros((n_classes - 1 if paired else len(members), m), values[0].dtype)
    for number, (member, of_rows) in enumerate(zip(members, values, strict=True)):
        row: Any = number
        if paired:
            row = np.where(member.sign > 0, member.negative, member.positive - 1)
        table[row, member.rows] = of_rows
    return table


def pair_values(sums: Floats) -> Floats:
    """The machines of all pairs, of shape (n, n_pairs), from sums over the objects of each class.

    Parameters
    ----------
    sums : array of shape (n, K, K - 1)
        `sums[:, c]` is the product with the layout's columns of class c.

    Examples
    --------
    >>> pair_values(np.arange(6.0).reshape(1, 3, 2)).tolist()
    [[2.0, 5.0, 8.0]]
    """
    i, j = pair_indices(sums.shape[1])
    return np.asarray(sums[:, i, j - 1] + sums[:, j, i])
