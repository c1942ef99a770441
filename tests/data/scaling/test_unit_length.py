"""CenterThenUnitLength: the definition, cosines, missing cells, extreme sizes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from sklearn.preprocessing import Normalizer

from novum.data.scaling import CenterThenUnitLength
from novum.data.scaling.unit_length import unit_rows
from novum.numerics import Floats
from tests.data.scaling.tables import mixed_frame, normal_table, small_tables


@given(small_tables(missing=False, columns=3))
def test_rows_have_length_one_or_are_the_mean(X: Floats) -> None:
    found = CenterThenUnitLength().fit_transform(X)
    centered = X - X.mean(axis=0)
    for row, original in zip(found, centered, strict=True):
        length = np.linalg.norm(original)
        if length > 1e-12:
            assert np.linalg.norm(row) == pytest.approx(1.0, rel=1e-14)
            np.testing.assert_allclose(row, original / length, atol=1e-12)


def test_another_implementation_agrees() -> None:
    X, _ = normal_table()
    expected = Normalizer().fit_transform(X - X.mean(axis=0))
    found = CenterThenUnitLength().fit_transform(X)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)
    cosines = found @ found.T
    assert cosines.max() <= 1 + 1e-12


def test_known_cells_have_their_share_of_the_length() -> None:
    found = unit_rows(np.array([[3.0, np.nan, 4.0, np.nan], [np.nan] * 4, [1.0, 1.0, 1.0, 1.0]]))
    known = found[0, [0, 2]]
    np.testing.assert_allclose(known, np.array([0.6, 0.8]) * np.sqrt(2 / 4), rtol=1e-15)
    assert np.isnan(found[1]).all()
    np.testing.assert_allclose(found[2], 0.5)


def test_the_expected_square_of_a_cell_does_not_depend_on_what_is_missing() -> None:
    """With cells erased at random, squares of known cells are on average those of full rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 8))
    holes = X.copy()
    holes[rng.random(X.shape) < 0.5] = np.nan
    squares = np.nanmean(unit_rows(holes) ** 2)
    # Each of 8 cells has an expected share of 1/8; a standard error is about 4e-4.
    assert abs(squares - 1 / 8) < 2e-3


@pytest.mark.parametrize("size", [1e-300, 1e300])
def test_extreme_rows_neither_overflow_nor_vanish(size: float) -> None:
    found = unit_rows(np.array([[3.0, -4.0]]) * size)
    np.testing.assert_allclose(found, [[0.6, -0.8]], rtol=1e-12)


def test_length_is_lost_for_good_and_other_columns_take_no_part() -> None:
    model = CenterThenUnitLength().fit(mixed_frame())
    assert not hasattr(model, "inverse_transform")
    found = model.transform(mixed_frame())
    lengths = np.linalg.norm(found[["width", "height"]].to_numpy(float), axis=1)
    np.testing.assert_allclose(lengths, 1.0)


@pytest.mark.parametrize("offset", [0.0, 1e3])
def test_a_row_at_the_mean_is_zero_though_the_mean_is_rounded(offset: float) -> None:
    for seed in range(20):
        X = np.random.default_rng(seed).normal(size=(40, 3)) + offset
        model = CenterThenUnitLength().fit(np.vstack([X, X.mean(axis=0)]))
        assert model.transform(X.mean(axis=0)[np.newaxis]).tolist() == [[0.0, 0.0, 0.0]]
        np.testing.assert_allclose(np.linalg.norm(model.transform(X), axis=1), 1.0)
