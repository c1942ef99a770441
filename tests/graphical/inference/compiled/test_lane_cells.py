"""Cells in all lanes against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from novum.graphical.inference.compiled.lanes_kernels import add_cells, set_cells


@pytest.mark.parametrize("in_lanes", [True, False])
def test_products_with_a_cell(in_lanes: bool) -> None:
    rng, width = np.random.default_rng(0), np.uint64(8)
    left, tables, values, out = rng.random(40), rng.random(5), rng.random(40), rng.random(40)
    cell, to, source = np.uint64(3), np.uint64(16), np.uint64(8)
    product = left[8:16] * (values[24:32] if in_lanes else tables[3])
    expected = out.copy()
    expected[16:24] += product
    add_cells(width, out, to, left, source, tables, values, cell, in_lanes)
    np.testing.assert_array_equal(out, expected)
    expected[16:24] = product
    set_cells(width, out, to, left, source, tables, values, cell, in_lanes)
    np.testing.assert_array_equal(out, expected)
