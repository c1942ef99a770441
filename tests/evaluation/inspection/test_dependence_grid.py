"""Grids: percentiles, values of columns, levels by rows that have them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats.mstats import mquantiles

from novum.core.errors import InputError
from novum.evaluation.inspection.dependence_grid import FromRow, grid_axes

X = pd.DataFrame(
    {
        "x": np.linspace(0, 10, 50),
        "few": np.arange(50) % 3 * 1.0,
        "level": pd.Categorical(["b", "a", None, "a", "b"] * 10, ["c", "b", "a"], ordered=True),
    }
)


def test_numeric_axes() -> None:
    wide, few = grid_axes(X, ["x", "few"], percentiles=(0.1, 0.9), grid_resolution=5)
    low, high = mquantiles(X["x"], prob=[0.1, 0.9])
    np.testing.assert_allclose(wide.values, np.linspace(low, high, 5))
    assert few.values.tolist() == [0, 1, 2]
    assert not wide.nominal


def test_levels_come_in_order_from_rows_that_have_them() -> None:
    (axis,) = grid_axes(X, "level")
    # The declared order, without the level that no row has.
    assert axis.values.tolist() == ["b", "a"]
    assert [f.row for f in axis.fillings if isinstance(f, FromRow)] == [0, 1]
    assert axis.n_missing == 10
    (some,) = grid_axes(X, "level", custom_values={"level": ["a"]})
    assert some.values.tolist() == ["a"]


def test_odd_values() -> None:
    with pytest.raises(InputError, match="finite numbers"):
        grid_axes(X, "x", custom_values={"x": [np.inf]})
    with pytest.raises(InputError, match="'c' for column 'level', which no row has"):
        grid_axes(X, "level", custom_values={"level": ["c"]})
