"""MinMaxScaler: another implementation, the definition over groups, ranges and ends."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from sklearn.preprocessing import MinMaxScaler as OtherScaler

from novum.core.errors import InputError
from novum.data.scaling import MinMaxScaler
from novum.numerics import Floats
from tests.data.scaling.tables import normal_table, small_tables


@pytest.mark.parametrize("clip", [True, False])
def test_another_implementation_agrees(clip: bool) -> None:
    X, _ = normal_table()
    X[::7, 1] = np.nan
    X[:, 2] = 4.0
    ours = MinMaxScaler((-2, 5), clip=clip).fit(X)
    theirs = OtherScaler((-2, 5), clip=clip).fit(X)
    new = np.vstack([X, 3 * X])
    np.testing.assert_allclose(ours.transform(new), theirs.transform(new), rtol=1e-12, atol=1e-12)
    for name in ("data_min_", "data_max_", "data_range_", "scale_", "min_", "n_samples_seen_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-12)


@given(small_tables(columns=3))
def test_a_group_shares_one_range(X: Floats) -> None:
    """The notes' formula with the minimum and maximum over all columns of the group."""
    model = MinMaxScaler(groups=[[0, 1]]).fit(X)
    cells = X[:, :2][~np.isnan(X[:, :2])]
    if cells.size == 0:
        assert np.isnan(model.data_min_[:2]).all()
        return
    low, high = cells.min(), cells.max()
    expected = (X[:, :2] - low) / ((high - low) or 1.0)
    np.testing.assert_allclose(model.transform(X)[:, :2], expected, atol=1e-14)
    alone = MinMaxScaler().fit(X[:, [2]]).transform(X[:, [2]])
    np.testing.assert_array_equal(model.transform(X)[:, [2]], alone)


def test_pixels_keep_their_relations() -> None:
    images = np.random.default_rng(0).integers(0, 256, (20, 4)).astype(float)
    images[:, 0] = 10.0
    together = MinMaxScaler(groups="all").fit_transform(images)
    np.testing.assert_allclose(np.corrcoef(together.ravel(), images.ravel())[0, 1], 1.0)
    assert together.min() == 0.0
    assert together.max() == pytest.approx(1.0, rel=1e-15)


def test_an_offset_costs_nothing() -> None:
    X = np.array([[1e8], [1e8 + 0.25], [1e8 + 1]])
    assert MinMaxScaler().fit_transform(X).ravel().tolist() == [0.0, 0.25, 1.0]


def test_infinite_ends_and_ranges_are_refused() -> None:
    with pytest.raises(InputError, match="range of column 'x0' is larger than any number"):
        MinMaxScaler().fit([[1.7e308], [-1.7e308]])
    for bad in ((1, 1), (2, 1), (0, np.inf)):
        with pytest.raises(InputError, match="Minimum of desired feature range"):
            MinMaxScaler(bad).fit([[1.0]])
    pairs: list[Any] = [(0, 1, 2), ("a", "b"), (0,)]
    for pair in pairs:
        with pytest.raises(InputError, match="is a pair of numbers"):
            MinMaxScaler(pair).fit([[1.0]])


def test_an_end_that_left_is_replaced_by_the_next() -> None:
    X = np.array([[5.0], [1.0], [9.0], [1.0]])
    model = MinMaxScaler().fit(X)
    assert model.forget([[9.0]]).data_max_.tolist() == [5.0]
    assert model.forget([[1.0]]).data_min_.tolist() == [1.0]
    assert model.forget([[1.0]]).data_min_.tolist() == [5.0]


@pytest.mark.parametrize("size", [1e-310, 5e-324])
def test_a_range_whose_inverse_is_no_number_is_refused(size: float) -> None:
    X = np.array([[0.0, 1.0], [1.0, 2.0], [2.0, 5.0]]) * [size, 1.0]
    with pytest.raises(InputError, match=r"column 'x0' is larger.*Multiply the column"):
        MinMaxScaler().fit(X)
