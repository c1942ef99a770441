"""Potentials: axes in a common order, products, and products beyond floating-point numbers."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.graphical import Evidence
from novum.graphical.inference.potentials import (
    from_logs,
    in_order,
    known_potentials,
    log_product,
    product,
    scaled,
    scaled_product,
    shape_of,
    spread,
)
from tests.graphical.textbook_networks import alarm

CARDS = np.array([2, 3, 1, 2])


def potentials(seed: int) -> list[tuple[tuple[int, ...], np.ndarray]]:
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(4):
        scope = tuple(rng.permutation(4)[: rng.integers(0, 4)].tolist())
        found.append((scope, rng.random([CARDS[v] for v in scope])))
    return found


@given(st.integers(0, 2000))
def test_products_by_definition(seed: int) -> None:
    parts = potentials(seed)
    wide, shape = (0, 1, 2, 3), shape_of(range(4), CARDS)
    ordered = [in_order(part, lambda v: v) for part in parts]
    table = product(ordered, wide, shape)
    for states in itertools.product(*map(range, shape)):
        wanted = math.prod(float(t[tuple(states[v] for v in s)]) for s, t in parts)
        assert table[states] == pytest.approx(wanted, rel=1e-14)
    same, log = scaled_product(ordered, wide, shape)
    assert (log, same.tolist()) == (0.0, table.tolist())
    by_logs, scale = from_logs(log_product(ordered, wide, shape))
    assert np.allclose(by_logs * math.exp(scale), table, rtol=1e-13)


def test_known_states_leave_the_scopes() -> None:
    network = alarm()
    known = Evidence(np.array([-1, 0, -1, 1, -1]), {2: np.array([1.0, 3.0])})
    found = known_potentials(network.arrays, known)
    assert [scope for scope, _ in found] == [(0,), (), (0, 2), (2,), (2, 4), (2,)]
    assert found[2][1].tolist() == network["Alarm"].table[:, 0].tolist()
    assert float(found[1][1]) == 0.002
    assert found[5][1].tolist() == [1.0, 3.0]
    assert len(known_potentials(network.arrays, known, [3])) == 2


def test_spread_copies_nothing() -> None:
    table = np.arange(6.0).reshape(2, 3)
    wide = spread(table, (0, 2), (0, 1, 2))
    assert wide.shape == (2, 1, 3)
    assert np.shares_memory(wide, table)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_products_beyond_floating_point_numbers(scale: float) -> None:
    parts = [((0,), np.array([scale, 3 * scale]))] * 10
    table, log = scaled_product(parts, (0,), [2])
    assert table[1] == 1.0
    assert table[0] == pytest.approx(3.0**-10, rel=1e-11)
    assert log == pytest.approx(10 * math.log(3 * scale), rel=1e-13)
    # Cells that cross: each is tiny at first, and only their product can be compared.
    tiny = [((0,), np.array([1e-300, 1.0])), ((0,), np.array([1e-300, 1e-320]))]
    crossed = [*tiny, ((0,), np.array([1.0, 1e-300]))]
    table, _ = scaled_product(crossed, (0,), [2])
    assert table[0] == 1.0
    assert table[1] == pytest.approx(1e-20, rel=1e-2)


def test_zero_tables_stay_zero() -> None:
    table, log = scaled_product([((0,), np.zeros(2))], (0,), [2])
    assert (table.tolist(), log) == ([0.0, 0.0], -math.inf)
    assert scaled(np.zeros(2))[1] == -math.inf
    half, log = scaled(np.array([1.0, 4.0]))
    assert (half.tolist(), log) == ([0.25, 1.0], math.log(4.0))
