"""Rows of an ordinal regression: sums of parts, whitened coordinates, and passes that agree."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest

from novum.core.errors import InputError, MemoryLimitError
from novum.core.sums import ChunkPasses
from novum.core.tables import Sample, Schema
from novum.linear.ordinal.regression import OrdinalRegression
from novum.linear.ordinal.rows import (
    CoordinatePasses,
    Coordinates,
    MemoryPasses,
    OrdinalRows,
    OrdinalSummary,
    check_width,
    ordinal_rows,
)
from novum.numerics import Array, Floats


def read(X: Any, y: Any, weight: Any = None) -> Sample:
    return OrdinalRegression()._read(X, y, weight, None)


def table(n: int = 50, seed: int = 0) -> tuple[pd.DataFrame, Array, Floats]:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": rng.normal(1e3, 5, n), "b": rng.choice(["x", "y", "z"], n)})
    return frame, rng.integers(0, 3, n), rng.uniform(0.5, 2, n)


def test_coordinates_are_uncorrelated_with_unit_variance() -> None:
    frame, y, weight = table()
    sample = read(frame, y, weight)
    coordinates = Coordinates.of(OrdinalSummary.of(sample), np.arange(3))
    assert coordinates.rank == 3
    rows = list(ordinal_rows(coordinates, sample))
    z, w = np.vstack([r.z for r in rows]), np.concatenate([r.weight for r in rows])
    np.testing.assert_allclose(w @ z / w.sum(), 0, atol=1e-10)
    np.testing.assert_allclose((w[:, np.newaxis] * z).T @ z / w.sum(), np.eye(3), atol=1e-9)
    mean = w @ frame["a"] / w.sum()
    assert coordinates.spread[0] == pytest.approx(np.sqrt(w @ (frame["a"] - mean) ** 2 / w.sum()))
    np.testing.assert_array_equal(np.concatenate([r.codes for r in rows]), y)
    back = coordinates.center + z @ coordinates.loadings.T
    np.testing.assert_allclose(back[:, 0], frame["a"], rtol=1e-12)
    np.testing.assert_allclose(back[:, 1], frame["b"] == "y", atol=1e-9)


def test_scores_are_the_same_in_both_coordinates() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    X = np.column_stack([X, X[:, 0] - X[:, 1], np.ones(30)])
    sample = read(X, np.arange(30) % 3)
    coordinates = Coordinates.of(OrdinalSummary.of(sample), np.arange(3))
    assert coordinates.rank == 3
    assert coordinates.undetermined.tolist() == [0, 1, 3, 4]
    params = rng.normal(size=2 + 3)
    values = coordinates.jacobian() @ params
    coef, thresholds = values[:5], values[5:]
    (rows,) = ordinal_rows(coordinates, sample)
    inner = params[:2] - (rows.z @ params[2:])[:, np.newaxis]
    np.testing.assert_allclose(thresholds - (X @ coef)[:, np.newaxis], inner, atol=1e-12)
    # Of all coefficients with these scores they are the shortest.
    np.testing.assert_allclose(coordinates.null.T @ coef, 0, atol=1e-12)


def test_parts_add_up_by_label() -> None:
    frame, y, weight = table()
    names = np.array(["lo", "me", "up"])[y]
    whole = OrdinalSummary.of(read(frame, names, weight))
    order = np.argsort(names, kind="stable")
    parts = [order[:20], order[20:33], order[33:]]
    first, *others = (OrdinalSummary.of(read(frame.iloc[p], names[p], weight[p])) for p in parts)
    added = first
    for other in others:
        added = added + other
    assert added.labels == whole.labels == ("lo", "me", "up")
    np.testing.assert_allclose(added.weights, whole.weights, rtol=1e-13)
    one, other_ = (Coordinates.of(part, np.array(whole.labels)) for part in (added, whole))
    # The targets are codes within each part, and only columns are asked about.
    np.testing.assert_allclose(
        one.loadings @ one.loadings.T, other_.loadings @ other_.loadings.T, rtol=1e-9, atol=1e-12
    )
    assert added.schema == whole.schema
    assert added.sorted_labels.tolist() == ["lo", "me", "up"]
    other = OrdinalSummary.of(read(frame, y))
    with pytest.raises(InputError, match="Labels of several types"):
        whole + other


def counted(rows: OrdinalRows) -> Floats:
    return np.array([len(rows.codes), rows.weight.sum(), rows.codes.sum(), *rows.z.sum(axis=0)])


def test_passes_over_memory_and_chunks_see_the_same_rows() -> None:
    frame, y, weight = table(5000)
    sample = read(frame, y, weight)
    coordinates = Coordinates.of(OrdinalSummary.of(sample), np.arange(3))
    expected = MemoryPasses(sample, coordinates)(counted)
    parts = np.array_split(np.arange(5000), 4)
    chunks = [(frame.iloc[p], y[p], weight[p]) for p in parts]
    first = ChunkPasses.over(chunks, OrdinalRegression())
    summary = first(OrdinalSummary.of)
    assert summary.columns.isclose(OrdinalSummary.of(sample).columns)
    later = CoordinatePasses(replace(first, schema=summary.schema), coordinates)
    np.testing.assert_allclose(later(counted), expected, rtol=1e-9, atol=1e-7)


def test_a_table_too_large_is_refused_before_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOVUM_MEMORY_LIMIT", "1MB")
    check_width(Schema.of_array(10), 3)
    with pytest.raises(MemoryLimitError, match="second derivatives of 503 coefficients"):
        check_width(Schema.of_array(500), 3)
    rng = np.random.default_rng(0)
    sample = read(rng.normal(size=(60_000, 1)), np.arange(60_000) % 2)
    coordinates = Coordinates(
        np.zeros(1), np.ones((1, 1)), np.empty((1, 0)), np.ones((1, 1)), np.arange(2)
    )
    make = partial(MemoryPasses, sample, coordinates)
    with pytest.raises(MemoryLimitError, match="fit_stream or fit_file"):
        make()
