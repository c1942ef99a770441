"""Lanes: each row has the answer it has alone, wherever it stands and whoever stands beside it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from novum.graphical.inference import batches
from novum.graphical.inference.batches import (
    lane_logs,
    lane_marginals,
    lane_program,
    n_lanes,
)
from novum.graphical.inference.enumeration import Enumeration
from novum.graphical.inference.plain_junction import PlainJunctionTree
from novum.graphical.models.arrays import NO_HEAD, Evidence, ModelArrays
from tests.strategies.networks import random_network, seeds

MODEL = random_network(12, most=7, zeros=0.0).arrays
EVERYTHING = list(range(MODEL.n_variables))


def rows(n: int) -> np.ndarray:
    rng = np.random.default_rng(n)
    codes = (rng.random((n, MODEL.n_variables)) * MODEL.cards).astype(np.int64)
    return np.where(rng.random(codes.shape) < 0.4, codes, -1)


@pytest.mark.parametrize("n", [1, 8, 63, 64, 65, 140])
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


@pytest.mark.parametrize(("most", "wanted"), [(8, 8), (24, 24), (10**6, 72)])
def test_bits_do_not_depend_on_the_number_of_lanes(
    most: int, wanted: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = rows(70)
    program = lane_program(MODEL, cases, EVERYTHING)
    assert program is not None
    full, _ = lane_marginals(MODEL, program, cases, EVERYTHING)
    logs = lane_logs(MODEL, program, cases)
    monkeypatch.setattr(batches, "LANES", most)
    assert n_lanes(program, len(cases)) == wanted
    fewer, _ = lane_marginals(MODEL, program, cases, EVERYTHING)
    for one, other in zip(full, fewer, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(lane_logs(MODEL, program, cases), logs)


def test_there_are_no_more_lanes_than_rows_or_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    program = lane_program(MODEL, rows(3), EVERYTHING)
    assert program is not None
    assert [n_lanes(program, n) for n in (1, 8, 9, 57, 64, 1000)] == [8, 8, 16, 64, 64, 64]
    monkeypatch.setattr(batches, "MOST_NUMBERS", 1)
    assert n_lanes(program, 1000) == 8


@pytest.mark.parametrize("cells", [1, 2, 6])
@given(seeds)
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_cliques_in_many_blocks(cells: int, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    # Blocks of few cells leave most axes to the outer loops.
    monkeypatch.setattr(batches, "LANE_BLOCK", cells)
    monkeypatch.setattr(batches, "CELL", 0.0)
    model = random_network(seed, largest=4).arrays
    rng = np.random.default_rng(seed)
    codes = (rng.random((10, model.n_variables)) * model.cards).astype(np.int64)
    cases = np.where(rng.random(codes.shape) < 0.3, codes, -1)
    everything = list(range(model.n_variables))
    program = lane_program(model, cases, everything)
    assert program is not None
    tables, left = lane_marginals(model, program, cases, everything)
    assert not left.any()
    engine = Enumeration()
    for place, row in enumerate(cases):
        if engine.log_evidence(model, Evidence(row)) > -math.inf:
            wanted = engine.marginals(model, Evidence(row)).tables
            for table, alone in zip(tables, wanted, strict=True):
                np.testing.assert_allclose(table[place], alone, rtol=1e-11, atol=1e-13)
        else:
            assert all(np.isnan(table[place]).all() for table in tables)


@pytest.mark.parametrize("shapes", [
    [(0, 1, 2), (0, 1, 2)],
    [(0, 2), (1, 2)],
    [(0, 1, 2), (2,), (1, 2)],
    [(0,), (0, 1, 2), (1, 2), (2,)],
    [(0, 1), (0, 2), (1, 2), (0, 1, 2)],
])  # fmt: skip
def test_cliques_of_several_tables(shapes: list[tuple[int, ...]]) -> None:
    cards = np.array([3, 4, 5])
    rng = np.random.default_rng(len(shapes))
    tables = [rng.random(np.prod(cards[list(shape)])) for shape in shapes]
    model = ModelArrays(
        cards,
        np.cumsum([0, *map(len, shapes)]),
        np.concatenate([np.array(shape) for shape in shapes]),
        np.cumsum([0, *map(len, tables)]),
        np.concatenate(tables),
        np.full(len(shapes), NO_HEAD),
        np.arange(3),
    )
    cases = np.array([[-1, -1, -1], [2, -1, -1], [-1, 1, 4], [-1, -1, 0]])
    program = lane_program(model, cases, [0, 1, 2])
    assert program is not None
    found, _ = lane_marginals(model, program, cases, [0, 1, 2])
    for place, row in enumerate(cases):
        wanted = Enumeration().marginals(model, Evidence(row)).tables
        for table, alone in zip(found, wanted, strict=True):
            np.testing.assert_allclose(table[place], alone, rtol=1e-12)


def test_answers_are_whole_tables_of_the_variables_asked() -> None:
    cases = rows(20)
    program = lane_program(MODEL, cases, EVERYTHING)
    assert program is not None
    full, _ = lane_marginals(MODEL, program, cases, EVERYTHING)
    asked = EVERYTHING[::-2]
    some, _ = lane_marginals(MODEL, program, cases, asked)
    for variable, table in zip(asked, some, strict=True):
        assert table.flags.c_contiguous
        np.testing.assert_array_equal(table, full[variable])


def test_large_cliques_are_left_to_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "CELL", 1e9)
    assert lane_program(MODEL, rows(3), EVERYTHING) is None


def test_few_rows_may_be_cheaper_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    # A row alone pays for all lanes that it leaves empty.
    program = lane_program(MODEL, rows(64), EVERYTHING)
    assert program is not None
    each = batches.PLAN + batches.VARIABLE * MODEL.n_variables
    monkeypatch.setattr(batches, "CELL", each / (2.0 * program.cells))
    assert lane_program(MODEL, rows(64), EVERYTHING) is program
    assert lane_program(MODEL, rows(1), EVERYTHING) is None


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
