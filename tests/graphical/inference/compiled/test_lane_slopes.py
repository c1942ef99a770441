"""Derivatives of one operation in lanes against sums of products, written out by NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from novum.graphical.inference.compiled.lanes_kernels import (
    lane_bars,
    lane_expansion_slope,
    lane_product_slope,
)
from novum.graphical.inference.compiled.layout import (
    IS_EXPANSION,
    OP_FIELDS,
    OP_LANES,
    REPEATS,
    ROWS,
    RUN,
    SOURCE,
    TARGET,
)

WIDTH = 8
ROWS_OF_TABLE, CELLS = 4, 12
# Where the item begins, and where its bars do.
BASE, BAR = 1, 2


def operation(is_expansion: bool, in_lanes: bool, repeats: int, run: int) -> np.ndarray:
    """A table of rows whose first cell is the second of a buffer, multiplied into the one after."""
    code = np.zeros(OP_FIELDS, np.int64)
    size = ROWS_OF_TABLE if is_expansion else ROWS_OF_TABLE * run
    code[[ROWS, REPEATS, RUN, SOURCE, TARGET]] = ROWS_OF_TABLE, repeats, run, 1, 1 + size
    code[[IS_EXPANSION, OP_LANES]] = is_expansion, in_lanes
    return code


@pytest.mark.parametrize("is_expansion", [True, False])
@pytest.mark.parametrize("in_lanes", [True, False])
@pytest.mark.parametrize("run", [1, 2, 5])
@pytest.mark.parametrize("shared", [False, True])
def test_derivatives_of_one_operation(
    is_expansion: bool, in_lanes: bool, run: int, shared: bool
) -> None:
    rng = np.random.default_rng(run)
    repeats = 3 if is_expansion else 1
    code = operation(is_expansion, in_lanes, repeats, run)
    source, target = int(code[SOURCE]), int(code[TARGET])
    n_cells = ROWS_OF_TABLE * repeats * run
    # All cells of a row of the table share one slope, as in the last operation of a clique.
    each = repeats * run if shared else 1
    block, slope = rng.random((2, target + n_cells, WIDTH))
    maps = rng.integers(0, CELLS - run, ROWS_OF_TABLE * repeats).astype(np.int32)
    values, tables = rng.random((CELLS + 1, WIDTH)), rng.random(CELLS + 1)
    item = values if in_lanes else np.repeat(tables[:, np.newaxis], WIDTH, axis=1)
    bars = rng.random((CELLS + 2, WIDTH))

    cells = np.arange(n_cells)
    offsets = maps[cells // run] + cells % run
    before = source + (cells // (repeats * run) if is_expansion else cells)
    slopes = slope[target + cells // each]
    wanted_bars, wanted_slope = bars.copy(), np.zeros_like(slope)
    np.add.at(wanted_bars, BAR + offsets, slopes * block[before])
    np.add.at(wanted_slope, before, slopes * item[BASE + offsets])

    width, at = np.uint64(WIDTH), 0
    found_bars, found_slope = bars.ravel().copy(), slope.ravel().copy()
    lane_bars(width, code, at, BAR, each, maps, found_bars, block.ravel(), found_slope)
    np.testing.assert_allclose(found_bars.reshape(bars.shape), wanted_bars, rtol=1e-14)
    derive = lane_expansion_slope if is_expansion else lane_product_slope
    derive(width, code, at, BASE, each, maps, tables, values.ravel(), found_slope)
    found = found_slope.reshape(slope.shape)
    np.testing.assert_allclose(found[source:target], wanted_slope[source:target], rtol=1e-14)
    untouched = np.r_[0:source, target : len(slope)]
    np.testing.assert_array_equal(found[untouched], slope[untouched])
