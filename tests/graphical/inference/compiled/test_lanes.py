"""Lanes: each row has the answer it has alone, wherever it stands and whoever stands beside it."""

from __future__ import annotations

import numpy as np
import pytest

from novum.graphical.inference.compiled import lanes
from novum.graphical.inference.compiled.lanes import lane_logs, lane_marginals, lane_program
from novum.graphical.inference.plain_junction import PlainJunctionTree
from novum.graphical.models.arrays import Evidence, ModelArrays
from tests.strategies.networks import random_network

MODEL = random_network(12, most=7, zeros=0.0).arrays
EVERYTHING = list(range(MODEL.n_variables))


def rows(n: int) -> np.ndarray:
    rng = np.random.default_rng(n)
    codes = (rng.random((n, MODEL.n_variables)) * MODEL.cards).astype(np.int64)
    return np.where(rng.random(codes.shape) < 0.4, codes, -1)


@pytest.mark.parametrize("n", [1, 31, 32, 33, 70])
def test_rows_do_not_depend_on_their_neighbors(n: int) -> None:
    cases = rows(n)
    program = lane_program(MODEL, cases, EVERYTHING)
    assert program is not None
    whole, left = lane_marginals(MODEL, program, cases, EVERYTHING)
    last, _ = lane_marginals(MODEL, program, cases[-1:], EVERYTHING)
    assert not left.any()
    for table, alone in zip(whole, last, strict=True):
        np.testing.assert_array_equal(table[-1], alone[0])
    wanted = PlainJunctionTree().marginals(MODEL, Evidence(cases[-1])).tables
    for table, alone in zip(wanted, last, strict=True):
        np.testing.assert_allclose(alone[0], table, rtol=1e-11, atol=1e-13)


def test_logarithms_of_rows() -> None:
    cases = rows(40)
    program = lane_program(MODEL, cases, (), log_only=True)
    assert program is not None
    wanted = [PlainJunctionTree().log_evidence(MODEL, Evidence(row)) for row in cases]
    np.testing.assert_allclose(lane_logs(MODEL, program, cases), wanted, atol=1e-12)


def test_large_cliques_are_left_to_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes, "CELL", 1e9)
    assert lane_program(MODEL, rows(3), EVERYTHING) is None


@pytest.mark.parametrize("constant", [5.0, 1e-300, 0.0])
def test_factors_without_variables_count_in_every_row(constant: float) -> None:
    # A chain of two states each, and a number.
    n = 13
    scopes = [[], *([i, i + 1] for i in range(n - 1))]
    model = ModelArrays(
        np.full(n, 2),
        np.cumsum([0, *map(len, scopes)]),
        np.concatenate(scopes).astype(np.int64),
        np.r_[0, 1 + 4 * np.arange(n)],
        np.r_[constant, np.tile([0.9, 0.1, 0.4, 0.6], n - 1)],
        np.full(n, -1),
        np.arange(n),
    )
    cases = np.full((40, n), -1)
    cases[:, ::3] = np.random.default_rng(0).integers(0, 2, cases[:, ::3].shape)
    program = lane_program(model, cases, (), log_only=True)
    assert program is not None
    wanted = [PlainJunctionTree().log_evidence(model, Evidence(row)) for row in cases]
    np.testing.assert_allclose(lane_logs(model, program, cases), wanted, rtol=1e-13)
    everything = list(range(n))
    program = lane_program(model, cases, everything)
    assert program is not None
    tables, left = lane_marginals(model, program, cases, everything)
    assert not left.any()
    assert all(np.isnan(table).all() == (constant == 0.0) for table in tables)
