"""Graphs over a tree of boxes: minimum spanning trees and rows within a radius."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from novum.numerics import RadiusGraph, minimum_spanning_tree


def prim(M: Any) -> Any:
    """Sorted lengths of the edges of a minimum spanning tree, by definition."""
    near, outside, lengths = M[0].copy(), np.ones(len(M), bool), []
    outside[0] = False
    while outside.any():
        i = int(np.argmin(np.where(outside, near, np.inf)))
        lengths.append(near[i])
        outside[i] = False
        near = np.minimum(near, M[i])
    return np.sort(lengths)


def connects_all(edges: Any, n: int) -> bool:
    group = np.arange(n)
    for a, b in edges:
        group[group == group[a]] = group[b]
    return len(set(group)) == 1


@pytest.mark.parametrize("power", [1.0, 2.0, 3.0, np.inf])
@pytest.mark.parametrize("n", [2, 40, 700])
def test_spanning_trees_are_shortest(power: float, n: int) -> None:
    X = np.random.default_rng(n).normal(size=(n, 3))
    D = cdist(X, X, "chebyshev") if np.isinf(power) else cdist(X, X, "minkowski", p=power) ** power
    edges, lengths = minimum_spanning_tree(X, power)
    np.testing.assert_allclose(np.sort(lengths), prim(D), rtol=1e-9)
    assert connects_all(edges, n)


@given(st.integers(0, 10_000))
def test_spanning_trees_with_ties_and_least_lengths(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (90, 2)).astype(float)
    least, scale = rng.integers(0, 5, 90).astype(float), 2.0
    D = cdist(X, X) ** 2 / scale
    M = np.maximum(np.maximum(D, least[:, None]), least)
    edges, lengths = minimum_spanning_tree(X, 2.0, least, scale)
    np.testing.assert_allclose(np.sort(lengths), prim(M))
    assert connects_all(edges, 90)


@given(st.integers(0, 10_000), st.sampled_from([1.0, 2.0, 2.5, np.inf]))
def test_rows_within_a_radius(seed: int, power: float) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 2)).round(1)
    weights, chosen = rng.random(200), rng.random(200) < 0.7
    D = (
        cdist(X, X, "chebyshev")
        if np.isinf(power)
        else sum(np.abs(np.subtract.outer(c, c)) ** power for c in X.T)
    )
    graph = RadiusGraph.of(X, power, 0.3)
    near = D <= 0.3
    np.testing.assert_allclose(graph.weights_near(weights), near @ weights, atol=1e-12)
    first = np.arange(200)
    joined = near & np.outer(chosen, chosen)
    for _ in range(200):
        lower = np.where(joined, first, 200).min(axis=1, initial=200)
        new = np.where(chosen, np.minimum(first, lower), first)
        if np.array_equal(new, first):
            break
        first = new
    assert np.array_equal(graph.components(chosen), first)
    values = np.where(chosen, rng.integers(0, 50, 200), -1)
    expected = np.where(near & chosen, values, 99).min(axis=1)
    found = graph.least_near(np.ones(200, bool), values, 99)
    assert np.array_equal(found, expected)
