"""Factors of a question: free variables, source strides, and what is observed."""

from __future__ import annotations

import numpy as np

from novum.graphical.inference.compiled.factors_kernels import (
    ONES,
    SOFT,
    list_items,
    number_free,
    observed_scopes,
)

# Factor 0 over variables (0, 1), factor 1 over (1, 2); variable 3 is in none.
STARTS, SCOPES = np.array([0, 2, 4]), np.array([0, 1, 1, 2])
STRIDES = np.array([3, 1, 2, 1])


def test_observed_variables_leave_the_scopes() -> None:
    known = np.array([-1, 2, -1, -1])
    local, numbered = np.empty(4, np.int64), np.empty(4, np.int64)
    n = number_free(known, np.ones(4, np.uint8), local, numbered)
    assert (n, local.tolist(), numbered[:3].tolist()) == (3, [0, -1, 1, 2], [0, 2, 3])
    starts, pairs = np.empty(3, np.int64), np.empty(8, np.int64)
    count = observed_scopes(STARTS, SCOPES, STRIDES, known, np.ones(2, np.uint8), starts, pairs)
    assert count == 2
    assert pairs[:4].tolist() == [1, 1, 1, 2]


def test_items_are_factors_then_weights_then_ones() -> None:
    local = np.array([0, -1, 1, 2])
    soft = np.array([0, 0, 1, 0], np.uint8)
    room = [np.empty(8, np.int64) for _ in range(6)]
    n = list_items(
        STARTS, SCOPES, STRIDES, np.array([1, 2]), np.ones(2, np.uint8), local,
        np.array([0, 2, 3]), soft, *room,
    )  # fmt: skip
    starts, axes, strides, sources, heads, uses = room
    assert n == 4
    assert starts[:5].tolist() == [0, 1, 2, 3, 4]
    assert axes[:4].tolist() == [0, 1, 1, 2]
    assert strides[:2].tolist() == [3, 1]
    assert sources[:4].tolist() == [0, 1, SOFT - 2, ONES]
    assert heads[:4].tolist() == [-1, 1, -1, -1]
    assert uses[:3].tolist() == [1, 2, 1]
