"""Batches of evidence rows against one question at a time, in lanes and by programs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from novum.graphical import BayesianNetwork, Factor, FactorGraph
from novum.graphical.inference import batches, junction
from novum.graphical.inference.batches import (
    batch_log_evidence,
    batch_marginals,
    lane_marginals,
    lane_program,
)
from novum.graphical.inference.enumeration import Enumeration
from novum.graphical.inference.plain_junction import PlainJunctionTree
from novum.graphical.models.arrays import Evidence, ModelArrays
from tests.strategies.networks import random_network, seeds

quick = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def random_rows(model: ModelArrays, n: int, seed: int, part: float = 0.3) -> np.ndarray:
    """Rows in which some states are known, possible or not."""
    rng = np.random.default_rng(seed)
    codes = (rng.random((n, model.n_variables)) * model.cards).astype(np.int64)
    return np.where(rng.random(codes.shape) < part, codes, -1)


def one_by_one(model: ModelArrays, rows: np.ndarray) -> tuple[list[np.ndarray], np.ndarray]:
    """The same by enumeration, row after row; NaN for impossible rows."""
    engine = Enumeration()
    logs = np.array([engine.log_evidence(model, Evidence(row)) for row in rows])
    tables = [np.full((len(rows), card), np.nan) for card in model.cards]
    for place, row in enumerate(rows):
        if logs[place] > -math.inf:
            found = engine.marginals(model, Evidence(row)).tables
            for out, table in zip(tables, found, strict=True):
                out[place] = table
    return tables, logs


@pytest.mark.parametrize("cell", [0.0, 1e9], ids=["lanes", "programs"])
@given(seeds)
@quick
def test_equals_one_question_at_a_time(
    cell: float, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(junction, "PLAIN_VARIABLES", 0)
    # The price of a cell in lanes decides which way is taken.
    monkeypatch.setattr(batches, "CELL", cell)
    model = random_network(seed).arrays
    # More than one set of lanes, and rows that occur twice.
    rows = random_rows(model, 40, seed)
    rows = np.concatenate([rows, rows[:5]])
    tables, logs = one_by_one(model, rows)
    everything = list(range(model.n_variables))
    for found, wanted in zip(batch_marginals(model, rows, everything), tables, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(batch_log_evidence(model, rows), logs, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("cell", [0.0, 1e9], ids=["lanes", "programs"])
@given(seeds)
@quick
def test_one_unobserved_target(cell: float, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    monkeypatch.setattr(junction, "PLAIN_VARIABLES", 0)
    monkeypatch.setattr(batches, "CELL", cell)
    model = random_network(seed).arrays
    target = seed % model.n_variables
    rows = random_rows(model, 35, seed)
    rows[:, target] = -1
    tables, _ = one_by_one(model, rows)
    found = batch_marginals(model, rows, [target])[0]
    np.testing.assert_allclose(found, tables[target], rtol=1e-11, atol=1e-12)


@given(seeds)
@quick
def test_the_only_unknown_variable_is_a_product_of_cells(seed: int) -> None:
    model = random_network(seed, zeros=0.0).arrays
    target = seed % model.n_variables
    rows = random_rows(model, 30, seed, part=1.0)
    rows[::2, target] = -1
    # Others are unknown, too.
    rows[::5, :2] = -1
    wanted = one_by_one(model, rows)[0][target]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batches, "_summed_over", None)
        singles = rows[2::10]
        found = batch_marginals(model, singles, [target])[0]
        np.testing.assert_allclose(found, wanted[2::10], rtol=1e-13)
    found = batch_marginals(model, rows, [target])[0]
    np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-12)


def test_textbook_models_and_given_engines_are_asked_row_by_row() -> None:
    model = random_network(5).arrays
    rows = random_rows(model, 6, 1, part=0.2)
    tables, logs = one_by_one(model, rows)
    for engine in (None, PlainJunctionTree()):
        found = batch_marginals(model, rows, [0], engine)[0]
        np.testing.assert_allclose(found, tables[0], rtol=1e-11, atol=1e-12)
        np.testing.assert_allclose(batch_log_evidence(model, rows, engine), logs, atol=1e-12)


def test_rows_of_many_blocks_have_their_own_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "BLOCK_ROWS", 4)
    monkeypatch.setattr(junction, "PLAIN_VARIABLES", 0)
    monkeypatch.setattr(batches, "CELL", 1e9)
    model = random_network(7, zeros=1.0).arrays
    rows = random_rows(model, 30, 2, part=0.5)
    tables, logs = one_by_one(model, rows)
    assert 0 < np.isneginf(logs).sum() < len(rows)
    everything = list(range(model.n_variables))
    for found, wanted in zip(batch_marginals(model, rows, everything), tables, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-12)
    some = everything[::-1][:2]
    for variable, found in zip(some, batch_marginals(model, rows, some), strict=True):
        np.testing.assert_allclose(found, tables[variable], rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("largest", [100, 127, 128, 255, 40_000])
def test_equal_rows_are_found_whatever_their_states(largest: int) -> None:
    rng = np.random.default_rng(largest)
    rows = rng.integers(-1, 1, (50, 6)) * (rng.random((50, 6)) < 0.5)
    rows[3, 2] = largest
    rows[9] = rows[20] = rows[3]
    # In one byte, 255 would be unknown as well.
    rows[20, 2] = -1
    distinct, inverse = batches._different(rows)
    assert inverse is not None
    np.testing.assert_array_equal(distinct[inverse], rows)
    assert len(distinct) == len(np.unique(rows, axis=0))
    same, none = batches._different(distinct)
    assert none is None
    assert same is distinct


def test_rows_beyond_floats_are_summed_in_logarithms() -> None:
    n, rare = 60, 1e-30
    scopes = [[0], *([0, child] for child in range(1, n))]
    child = np.array([rare, 1 - rare, 0.5, 0.5])
    model = ModelArrays(
        np.full(n, 2),
        np.cumsum([0, *map(len, scopes)]),
        np.concatenate(scopes),
        np.cumsum([0, 2, *[4] * (n - 1)]),
        np.r_[0.5, 0.5, np.tile(child, n - 1)],
        np.arange(n),
        np.arange(n),
    )
    rows = np.full((3, n), -1)
    rows[0, 1:] = 0
    rows[1, 1:3] = 0
    everything = list(range(n))
    program = lane_program(model, rows, everything)
    assert program is not None
    assert lane_marginals(model, program, rows, everything)[1].all()
    odds = np.array([(n - 1) * math.log(rare / 0.5), 2 * math.log(rare / 0.5), 0.0])
    found = batch_marginals(model, rows, everything)
    np.testing.assert_allclose(found[0][:, 0], np.exp(odds) / (1 + np.exp(odds)), rtol=1e-10)
    np.testing.assert_allclose(found[5][:, 0], [1.0, 0.5, (rare + 0.5) / 2], rtol=1e-12)


@pytest.mark.parametrize("chances", [(1e-240, 1e-90), (1e-90, 1e-240), (1e-230, 1e-99, 1e-230)])
def test_scales_of_many_messages_do_not_underflow(chances: tuple[float, ...]) -> None:
    network = BayesianNetwork()
    for i in range(10):
        q = chances[i] if i < len(chances) else 0.9
        network = network.add(f"x{i}", table=[0.5, 0.5])
        network = network.add(f"y{i}", [f"x{i}"], [[q, 1 - q], [q / 2, 1 - q / 2]])
    known = {f"y{i}": "true" for i in range(len(chances))}
    rows = [known, {"y0": "true"}, {**known, "y7": "true"}]
    logs = network.log_probabilities(rows)
    expected = sum(math.log(0.75 * q) for q in chances)
    assert logs[0] == pytest.approx(expected, rel=1e-12)
    assert logs[2] == pytest.approx(expected + math.log(0.75 * 0.9), rel=1e-12)
    found = network.posteriors(rows)
    np.testing.assert_allclose(found["x1"][0], [2 / 3, 1 / 3], rtol=1e-12)


def test_scales_of_many_messages_do_not_overflow() -> None:
    cells = np.array([[2.0, 1.0], [1.0, 3.0]])
    factors = [Factor(cells * 1e5, {f"v{i}": (0, 1), f"v{i + 1}": (0, 1)}) for i in range(299)]
    graph = FactorGraph(factors)
    rows: list[dict[str, int]] = [{"v100": 1}, {"v0": 0}]
    singles = [graph.log_evidence(row) - graph.log_evidence() for row in rows]
    np.testing.assert_allclose(graph.log_probabilities(rows), singles, rtol=0, atol=1e-8)


def test_complete_rows_are_products_of_cells() -> None:
    model = random_network(11).arrays
    rng = np.random.default_rng(0)
    rows = (rng.random((20, model.n_variables)) * model.cards).astype(np.int64)
    with np.errstate(divide="ignore"):
        wanted = [
            sum(np.log(model.table(f)[tuple(row[model.scope(f)])]) for f in range(model.n_factors))
            for row in rows
        ]
    np.testing.assert_allclose(batch_log_evidence(model, rows), wanted, rtol=1e-12)


def test_no_rows_and_no_variables() -> None:
    model = random_network(3).arrays
    empty = np.empty((0, model.n_variables), np.int64)
    assert batch_marginals(model, empty, [0])[0].shape == (0, model.cards[0])
    assert batch_log_evidence(model, empty).shape == (0,)
    assert batch_marginals(model, np.full((3, model.n_variables), -1), []) == []
