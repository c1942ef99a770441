"""Every way of searching finds the rows that the definition finds, bit for bit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from novum.distances import (
    Chebyshev,
    Cosine,
    Euclidean,
    Gower,
    Mahalanobis,
    Manhattan,
    Minkowski,
    Overlap,
)
from novum.neighbors import NearestNeighbors
from novum.neighbors.index import RowIndex, way_for
from tests.oracles import distance_definitions as defined

METRICS = [Euclidean(), Manhattan(), Chebyshev(), Minkowski(3.0), Cosine(), Mahalanobis()]


def table(seed: int, n: int, p: int, grid: bool) -> Any:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + 0.1
    # On a grid there are many ties, and rows that are equal.
    return np.round(3 * X) + 0.5 if grid else X


@given(
    st.integers(0, 10_000),
    st.sampled_from([2, 7, 64, 65, 130, 300]),
    st.integers(1, 5),
    st.booleans(),
    st.sampled_from(METRICS),
)
def test_all_ways_agree_bit_by_bit(seed: int, n: int, p: int, grid: bool, metric: Any) -> None:
    X, Z = table(seed, n, p, grid), table(seed + 1, 20, p, grid)
    if isinstance(metric, Mahalanobis):
        metric = Mahalanobis(np.eye(p) + 0.5)
    rows = metric.prepare(X)
    asked = metric.prepare(Z, rows)
    k = min(n, 6)
    powers, places = defined.nearest(asked.cross_powers(rows), k)
    for way in ("kd_tree", "brute", "screened"):
        if way == "screened" and rows.terms.power != 2.0:
            continue
        distances, found = RowIndex(rows, way).nearest(asked, k)  # type: ignore[arg-type]
        assert np.array_equal(found, places), way
        assert np.array_equal(distances, rows.finish(powers)), way
    if n > 1:
        powers, places = defined.nearest(rows.cross_powers(rows), min(k, n - 1), own=True)
        for way in ("kd_tree", "brute"):
            index = RowIndex(rows, way)  # type: ignore[arg-type]
            distances, found = index.nearest(rows, min(k, n - 1), np.arange(n))
            assert np.array_equal(found, places), way
    D = asked.cross(rows)
    radius = float(np.quantile(D, 0.1))
    for way in ("kd_tree", "brute"):
        lengths, near = RowIndex(rows, way).within(asked, radius)  # type: ignore[arg-type]
        for line, apart, places in zip(D, lengths, near, strict=True):
            assert np.array_equal(places, np.flatnonzero(line <= radius)), way
            assert np.array_equal(apart, line[places]), way


def test_mixed_rows_with_missing_cells_are_found_by_brute_force() -> None:
    rng = np.random.default_rng(3)
    rows = [
        [float(a), b] for a, b in zip(rng.normal(size=60), rng.choice(list("ab"), 60), strict=True)
    ]
    rows[4][0] = None  # type: ignore[call-overload]
    rows[7][1] = None  # type: ignore[call-overload]
    model = NearestNeighbors(n_neighbors=5).fit(rows)
    assert model.certificate_.details["search"] == "brute"
    expected = defined.nearest(Gower().pairwise(rows), 5, own=True)
    distances, places = model.kneighbors()
    assert np.array_equal(places, expected[1])
    assert np.array_equal(distances, expected[0])
    overlap = NearestNeighbors(n_neighbors=2, metric=Overlap(missing="partial")).fit(rows)
    assert np.array_equal(
        overlap.kneighbors(return_distance=False),
        defined.nearest(Overlap(missing="partial").pairwise(rows), 2, own=True)[1],
    )


def test_the_choice_of_the_way_and_what_may_override_it() -> None:
    few, many = np.random.default_rng(0).normal(size=(2, 1500, 20))
    few = few[:, :3]
    assert way_for(Euclidean().prepare(few), "auto") == "kd_tree"
    assert way_for(Euclidean().prepare(many), "auto") == "by trial"
    wide = np.tile(many, (1, 4))
    assert way_for(Euclidean().prepare(wide), "auto") == "screened"
    assert way_for(Manhattan().prepare(wide), "auto") == "brute"
    assert way_for(Manhattan().prepare(many), "ball_tree") == "kd_tree"
    assert way_for(Euclidean().prepare(few), "brute") == "brute"
    few[3, 1] = math.nan
    assert way_for(Euclidean().prepare(few), "kd_tree") == "brute"
