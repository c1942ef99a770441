"""Runs: weights are scaled, impossible evidence stops, and answers are not shared between runs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from novum.graphical.inference.compiled import runs
from novum.graphical.inference.compiled.layout import (
    CONNECTED,
    EVERYTHING,
    JOINT,
    MARGINALS,
    MAXIMUM,
    PRICE_BYTES,
)
from novum.graphical.inference.compiled.questions import question_of
from novum.graphical.inference.compiled.runs import joint_table, log_sum, maximized, posteriors
from novum.graphical.models.arrays import Evidence, ModelArrays
from novum.graphical.models.bayesian_network import BayesianNetwork
from tests.graphical.lattices import ising_grid, potts_grid
from tests.graphical.networks_on_disk import network_on_disk

NETWORK = (
    BayesianNetwork()
    .add("rain", table=[0.2, 0.8])
    .add("wet", parents=["rain"], table=[[0.9, 0.1], [0.1, 0.9]])
)
MODEL = NETWORK.arrays
MODELS = {
    "grid": ising_grid(8, 0.3).arrays,
    "grid of four states": potts_grid(5, 0.3, 4).arrays,
    "alarm": network_on_disk("alarm").arrays,
    "insurance": network_on_disk("insurance").arrays,
}


def test_weights_of_any_scale_give_the_same_posterior() -> None:
    tables = []
    for scale in (1.0, 1e-200, 1e200):
        question = question_of(MODEL, Evidence(np.full(2, -1), {1: scale * np.array([3.0, 1.0])}))
        program = question.program([0], CONNECTED, JOINT)
        # 0.2 (0.9 * 3 + 0.1) + 0.8 (0.1 * 3 + 0.9) = 1.52
        table, log = joint_table(question, program, 2)
        total = log + math.log(table.sum())
        assert total == pytest.approx(math.log(1.52) + math.log(scale), rel=1e-12)
        tables.append(table / table.sum())
    for table in tables:
        np.testing.assert_allclose(table, [0.56 / 1.52, 0.96 / 1.52], rtol=1e-12)


def test_weights_of_zero_are_impossible() -> None:
    question = question_of(MODEL, Evidence(np.full(2, -1), {1: np.zeros(2)}))
    program = question.program((), EVERYTHING, MARGINALS)
    assert log_sum(question, program) == -math.inf


def test_answers_are_not_touched_by_later_runs() -> None:
    question = question_of(MODEL, Evidence(np.array([-1, 0])))
    program = question.program((), EVERYTHING, MARGINALS)
    first, _ = posteriors(question, program)
    table, _ = joint_table(question, question.program([0], CONNECTED, JOINT), 2)
    kept = table.copy()
    other = question_of(MODEL, Evidence(np.array([-1, 1])))
    posteriors(other, program)
    np.testing.assert_allclose(first, [0.18 / 0.26, 0.08 / 0.26, 1.0, 0.0], rtol=1e-12)
    np.testing.assert_array_equal(table, kept)


def test_slices_and_one_call_give_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    question = question_of(MODEL, Evidence(np.array([-1, 0])))
    program = question.program((), EVERYTHING, MARGINALS)
    whole, log = posteriors(question, program)
    monkeypatch.setattr(runs, "SLICE", 1)
    sliced, same = posteriors(question, program)
    np.testing.assert_array_equal(whole, sliced)
    assert log == same


def test_room_grows_and_large_arrays_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    room = runs.Room()
    assert len(room.floats("a", 10)) >= 10
    assert room.floats("a", 5) is room.floats("a", 9)
    assert len(room.floats("a", 1000)) >= 1000
    monkeypatch.setattr(runs, "MOST_KEPT", 8)
    assert room.floats("b", 8) is not room.floats("b", 8)
    assert room.integers("c", 8) is not room.integers("c", 8)
    assert room.integers("d", 7) is room.integers("d", 7)


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize("purpose", [MARGINALS, MAXIMUM, JOINT])
def test_a_run_takes_no_more_than_its_price(
    monkeypatch: pytest.MonkeyPatch, model: ModelArrays, purpose: int
) -> None:
    room = runs.Room()
    monkeypatch.setattr(runs, "_room", room)
    question = question_of(model, Evidence.none(model.n_variables))
    program = question.program((), EVERYTHING, purpose)
    {MARGINALS: posteriors, MAXIMUM: maximized, JOINT: log_sum}[purpose](question, program)
    taken = sum(array.nbytes for array in room.kept.values())
    price = float(program.prices[PRICE_BYTES])
    # The room that is left for the next run is a sixteenth.
    assert taken < 1.1 * price
    # Blocks are priced as if every product in them were as large as the last.
    assert price < 3 * taken
    if purpose == MARGINALS:
        assert question.prices[PRICE_BYTES] == price
