"""Programs: which are kept, what they leave out, and their prices."""

from __future__ import annotations

import os
import signal
import threading
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from novum.graphical.inference.compiled import planning
from novum.graphical.inference.compiled.layout import (
    CONNECTED,
    EVERYTHING,
    JOINT,
    MARGINALS,
    MAXIMUM,
    PRICE_CELLS,
    PRICE_LARGEST,
)
from novum.graphical.inference.compiled.planning_kernels import plan_question
from novum.graphical.inference.compiled.prepared import prepared
from novum.graphical.inference.compiled.questions import question_of
from novum.graphical.inference.potentials import relevant_factors
from novum.graphical.models.arrays import Evidence, ModelArrays
from novum.graphical.models.questions import evidence_of
from novum.numerics import Patience, jit_interpreted
from novum.numerics.jit_interpreted import interpreted
from tests.graphical.networks_on_disk import network_on_disk
from tests.strategies.networks import random_evidence, random_network, seeds


def model_of(seed: int) -> ModelArrays:
    return random_network(seed).arrays


def test_new_states_of_the_same_variables_share_a_program() -> None:
    model = random_network(4, most=7, largest=3).arrays
    codes = np.full(model.n_variables, -1)
    codes[0] = 0
    first = planning.program_of(model, Evidence(codes), (), EVERYTHING, MARGINALS)
    other = codes.copy()
    other[0] = model.cards[0] - 1
    assert planning.program_of(model, Evidence(other), (), EVERYTHING, MARGINALS) is first
    assert planning.program_of(model, Evidence.none(len(codes)), (), EVERYTHING, MARGINALS) is not (
        first
    )


@given(seeds)
def test_a_program_keeps_what_is_relevant(seed: int) -> None:
    network = random_network(seed)
    model = network.arrays
    evidence = evidence_of(network, random_evidence(network, seed))
    target = seed % model.n_variables
    if evidence.codes[target] >= 0:
        return
    factors, _ = relevant_factors(model, evidence, [target])
    wanted = {int(v) for f in factors for v in model.scope(f) if evidence.codes[v] < 0}
    program = planning.program_of(model, evidence, [target], CONNECTED, JOINT)
    assert set(program.variables.tolist()) == wanted | {target}


def test_prices_of_a_chain() -> None:
    # Three variables of 2, 3 and 4 states in a row: cliques of 6 and 12 cells.
    network = random_network(0, most=1)
    network = type(network)().add("a", table=[0.5, 0.5])
    network = network.add("b", ["a"], np.full((2, 3), 1 / 3), ["x", "y", "z"])
    network = network.add("c", ["b"], np.full((3, 4), 0.25), ["p", "q", "r", "s"])
    prices = question_of(network.arrays, Evidence.none(3)).prices
    assert prices[PRICE_CELLS] == pytest.approx(18)
    assert prices[PRICE_LARGEST] == pytest.approx(12)


# --- Two ways to run the planner ------------------------------------------------------------------


def plans(model: ModelArrays, *request: Any) -> list[tuple[bytes, ...]]:
    """The bytes of all that the planner gives, compiled and interpreted."""
    ready = prepared(model)
    empty, floats, maps = planning.NOTHING, planning.NO_CELLS, planning.NO_MAPS
    arguments = (
        *(tuple(ready.layout), ready.logs, 1, request, (np.inf, np.inf, planning.PLAN_ONLY)),
        *((empty, floats, floats, floats), (empty, maps)),
    )
    return [
        tuple(array.tobytes() for array in plan(*arguments)[:3])
        for plan in (plan_question, interpreted(plan_question))
    ]


@given(seeds, st.sampled_from([(EVERYTHING, MARGINALS), (CONNECTED, JOINT), (EVERYTHING, MAXIMUM)]))
def test_the_planner_gives_the_same_bits_compiled_or_not(seed: int, kind: tuple[int, int]) -> None:
    network = random_network(seed, most=12, largest=4)
    codes = evidence_of(network, random_evidence(network, seed)).codes
    soft = (np.random.default_rng(seed).random(len(codes)) < 0.2).astype(np.uint8)
    asked = np.flatnonzero(codes < 0)[:1] if kind[0] == CONNECTED else np.empty(0, np.int64)
    compiled, plain = plans(network.arrays, codes, soft, asked, *kind, 16)
    assert compiled == plain


@pytest.mark.parametrize("block", [1, 2])
@given(seeds)
@settings(max_examples=30, deadline=None)
def test_a_variable_may_have_more_states_than_a_block_has_cells(block: int, seed: int) -> None:
    # Python finds what is written beyond the end of an array.
    network = random_network(seed, most=6, largest=5)
    nothing = np.full(len(network), -1)
    for asked, kind in (([0], (CONNECTED, JOINT)), ([], (EVERYTHING, MARGINALS))):
        targets, soft = np.array(asked, np.int64), np.zeros(len(network), np.uint8)
        compiled, plain = plans(network.arrays, nothing, soft, targets, *kind, block)
        assert compiled == plain


@pytest.mark.parametrize("name", ["alarm", "insurance"])
def test_the_planner_gives_the_same_bits_on_known_networks(name: str) -> None:
    # Numbers of states differ and orders are tried by several rules.
    model = network_on_disk(name).arrays
    soft, nothing = np.zeros(model.n_variables, np.uint8), np.empty(0, np.int64)
    codes = np.full(model.n_variables, -1)
    codes[::9] = 0
    compiled, plain = plans(model, codes, soft, nothing, EVERYTHING, MARGINALS, 2048)
    assert compiled == plain


def test_python_plans_small_questions_for_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []
    model = model_of(5)
    question = question_of(model, Evidence.none(model.n_variables))
    monkeypatch.setattr(jit_interpreted, "is_at_hand", lambda _: False)
    monkeypatch.setattr(jit_interpreted, "interpreted", lambda plan: asked.append("Python") or plan)
    monkeypatch.setattr(planning, "_patience", patience := Patience(np.inf))
    question.prices  # noqa: B018
    assert asked == ["Python"]
    assert patience.spent > 0
    monkeypatch.setattr(planning, "_patience", Patience(0.0))
    question.prices  # noqa: B018
    assert asked == ["Python"]
    monkeypatch.setattr(planning, "_patience", patience)
    monkeypatch.setattr(planning, "MOST_INTERPRETED", 0)
    question.prices  # noqa: B018
    assert asked == ["Python"]


@pytest.mark.usefixtures("without_collector")
def test_the_orders_of_large_models_do_not_hold_up_ctrl_c() -> None:
    known = np.full(planning.MOST_UNWATCHED + 1, -1)
    released = threading.Event()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT))
    began = time.monotonic()
    try:
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            planning.call_planner(released.wait, known, 30.0)
        assert time.monotonic() - began < 10.0
    finally:
        signal.signal(signal.SIGINT, before)
        released.set()
    assert planning.call_planner(lambda *a: a, known, 1, 2) == (1, 2)

    def fail() -> None:
        raise ValueError("in the other thread")

    with pytest.raises(ValueError, match="in the other thread"):
        planning.call_planner(fail, known)
