"""Concentration: the definition, known dimensions, kinds and missing cells, refusals."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from novum.core.errors import InputError
from novum.evaluation.selection.concentration import distance_concentration
from tests.evaluation.selection import definitions
from tests.evaluation.selection.selection_tables import mixed_frame

rng = np.random.default_rng(0)


def test_contrast_is_the_definition() -> None:
    X = rng.normal(size=(40, 5)) * [1, 10, 0.1, 3, 1]
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    found = distance_concentration(X)
    assert found.relative_contrast == pytest.approx(definitions.relative_contrast(scaled), rel=1e-9)
    distances = [np.linalg.norm(scaled[i] - scaled[j]) for i in range(40) for j in range(i)]
    assert found.relative_spread == pytest.approx(np.std(distances) / np.mean(distances), rel=1e-9)


def test_distances_concentrate_with_the_number_of_columns() -> None:
    contrasts = [
        distance_concentration(rng.normal(size=(300, d))).relative_contrast
        for d in (2, 8, 32, 128, 512)
    ]
    assert contrasts == sorted(contrasts, reverse=True)
    assert "tell rows apart" in distance_concentration(rng.normal(size=(200, 2))).verdict
    assert "begin" in distance_concentration(rng.normal(size=(200, 12))).verdict
    assert distance_concentration(rng.normal(size=(200, 300))).concentrated


def test_what_counts_is_the_dimension_that_rows_fill() -> None:
    plane = rng.uniform(size=(600, 2)) @ rng.normal(size=(2, 200))
    found = distance_concentration(plane)
    assert not found.concentrated
    # The estimate of a square is a little below 2, because rows at its border lack neighbors.
    assert found.intrinsic_dimension == pytest.approx(2, abs=0.3)
    line = np.outer(rng.uniform(size=300), np.ones(50))
    assert distance_concentration(line).intrinsic_dimension == pytest.approx(1, abs=0.2)


def test_categories_and_missing_cells() -> None:
    frame, _ = mixed_frame()
    found = distance_concentration(frame)
    assert found.n_columns == 4
    assert np.isfinite(found.relative_contrast)
    same = distance_concentration(pd.DataFrame({"a": ["x", "y", "z"], "b": ["x", "y", "z"]}))
    # All pairs differ in both columns: every distance is sqrt(2).
    assert same.relative_contrast == 0
    holes = np.array([[0.0, 1.0], [1.0, np.nan], [3.0, 2.0], [2.0, 5.0]])
    assert np.isfinite(distance_concentration(holes).relative_spread)


def test_duplicates_are_counted_and_rows_are_drawn() -> None:
    X = np.repeat(rng.normal(size=(30, 2)), 2, axis=0)
    found = distance_concentration(X)
    assert found.n_duplicates == 60
    assert np.isfinite(found.relative_contrast)
    large = distance_concentration(rng.normal(size=(500, 3)), max_rows=100)
    assert (large.n_rows, large.n_rows_in) == (100, 500)
    assert "100 rows drawn from 500" in repr(large)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.ones((5, 2)), "All rows are equal"),
        (np.array([[1.0], [2.0]]), "Distances of 2 rows"),
        (np.array([[1.0, np.nan], [np.nan, 2.0], [1.0, 3.0]]), "Rows 0 and 1 have no column"),
    ],
)
def test_refusals(X: np.ndarray, message: str) -> None:
    with pytest.raises(InputError, match=message):
        distance_concentration(X)
