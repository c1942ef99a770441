"""Loads: tables with their axes in another order, and at what is observed."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given

from novum.graphical.inference.compiled.layout import EVERYTHING, JOINT, N_VALUES
from novum.graphical.inference.compiled.loads_kernels import copy_cells, load_values
from novum.graphical.inference.compiled.planning import program_of
from novum.graphical.inference.compiled.prepared import prepared
from novum.graphical.models.arrays import Evidence
from tests.strategies.networks import random_network, seeds


def test_copies_in_another_order() -> None:
    table = np.arange(24.0).reshape(2, 3, 4)
    axes = (2, 0, 1)
    code = np.array([4, 2, 3, 1, 12, 4])
    out = np.zeros(26)
    copy_cells(table.ravel(), 0, code, 0, 3, out, 1, np.empty(3, np.int64))
    np.testing.assert_array_equal(out[1:25].reshape(4, 2, 3), table.transpose(axes))
    assert out[0] == out[25] == 0.0


@given(seeds)
def test_complete_evidence_is_a_product_of_cells(seed: int) -> None:
    model = random_network(seed).arrays
    rng = np.random.default_rng(seed)
    codes = (rng.random(model.n_variables) * model.cards).astype(np.int64)
    program = program_of(model, Evidence(codes), (), EVERYTHING, JOINT)
    assert program.code[N_VALUES] == 0
    nothing = np.empty(0)
    log = load_values(
        program.code, prepared(model).tables, nothing, nothing, codes, nothing, nothing,
        np.empty(1, np.int64),
    )  # fmt: skip
    cells = [model.table(f)[tuple(codes[model.scope(f)])] for f in range(model.n_factors)]
    wanted = sum(math.log(c) if c > 0 else -math.inf for c in cells)
    assert log == pytest.approx(wanted, abs=1e-12)
