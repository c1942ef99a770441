"""Blocks cover the rows once; bad rows and weights are named."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.numerics import blocks_of_rows, check_underflow, checked_weights, unusable_cell
from novum.numerics.weighted_rows import BLOCK_CELLS, checked_rows


@given(st.integers(0, 300_000), st.integers(0, 5000))
def test_blocks_cover_every_row_once_and_stay_small(n: int, d: int) -> None:
    blocks = list(blocks_of_rows(n, d))
    assert [row for bounds in blocks for row in bounds][1:-1:2] == [a for a, _ in blocks[1:]]
    assert sum(stop - start for start, stop in blocks) == n
    assert all((stop - start) * d <= max(BLOCK_CELLS, 64 * d) for start, stop in blocks)


def test_rows_of_weight_zero_are_absent() -> None:
    rows, weights = checked_rows([[1.0], [np.nan], [3.0]], [1.0, 0.0, 2.0])
    assert rows.tolist() == [[1.0], [3.0]]
    assert weights is not None
    assert weights.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1.0, -2.0, 0.0], r"1 of 3 are not, the first is -2\.0 at row 1"),
        ([1.0, np.nan, np.inf], "2 of 3 are not, the first is nan at row 1"),
        ([1.0], r"expected shape \(3,\), got \(1,\)"),
        ([[1.0], [1.0], [1.0]], r"got \(3, 1\)"),
    ],
)
def test_bad_weights_are_named(weight: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        checked_weights(weight, 3)


def test_a_vector_is_not_a_table() -> None:
    with pytest.raises(ValueError, match=r"reshape\(-1, 1\)"):
        checked_rows([1.0, 2.0], None)


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        (np.nan, r"1 are missing \(NaN\), the first at row 1, column 1"),
        (-np.inf, "1 are infinite, the first at row 1, column 1"),
        (1e200, r"column 1 overflow: it has values as large as 1e\+200\. .*2\*\*664"),
    ],
)
def test_the_unusable_cell_is_found(cell: float, message: str) -> None:
    assert re.search(message, str(unusable_cell(np.array([[1.0, 2.0], [3.0, cell]]), "x")))


def test_underflow_is_refused_unless_the_column_is_constant_or_empty() -> None:
    check_underflow(np.zeros(2), np.array([[1e-200, np.nan], [1e-200, np.nan]]))
    with pytest.raises(ValueError, match=r"column 0 underflow: it spreads over 1e-200"):
        check_underflow(np.zeros(1), np.array([[1e-200], [2e-200]]))
