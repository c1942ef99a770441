"""Cutting: the tables that are left have the products of all tables, and nothing else is left."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from novum.graphical.inference.compiled import questions
from novum.graphical.inference.compiled.prepared import ModelLayout
from novum.graphical.inference.compiled.questions import (
    Whole,
    cut_layout,
    deciding,
    narrow,
    weigh,
    whole,
)
from novum.graphical.models.arrays import NO_HEAD, Evidence, ModelArrays
from novum.graphical.models.questions import evidence_of
from novum.numerics import Floats, Integers, Patience, jit_interpreted
from tests.strategies.networks import random_evidence, random_likelihood, random_network, seeds

quick = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def every_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """No model is too small to be cut."""
    monkeypatch.setattr(questions, "SMALL_CELLS", 0)


def undirected(model: ModelArrays) -> ModelArrays:
    """The same factors, belonging to nobody."""
    return replace(model, heads=np.full(model.n_factors, NO_HEAD))


def asked(seed: int) -> tuple[ModelArrays, Evidence]:
    """A random model with evidence, directed or not."""
    network = random_network(seed, zeros=0.6)
    known = random_evidence(network, seed)
    weights = random_likelihood(network, seed, known)
    for found in weights.values():
        # Some states are excluded by what is known of them.
        found[np.random.default_rng(seed).random(len(found)) < 0.3] = 0.0
    weights = {name: found for name, found in weights.items() if found.any()}
    model = network.arrays
    return undirected(model) if seed % 2 else model, evidence_of(network, known, weights)


def states_left(model: ModelArrays, evidence: Evidence) -> list[set[int]] | None:
    """By definition: states without a positive cell in some table go, until all have one."""
    left = [set(range(card)) for card in model.cards.tolist()]
    for variable in evidence.observed.tolist():
        left[variable] = {int(evidence.codes[variable])}
    for variable, weights in evidence.likelihoods.items():
        left[variable] &= set(np.flatnonzero(weights > 0).tolist())
    while all(left):
        before = [set(states) for states in left]
        for factor in range(model.n_factors):
            scope = model.scope(factor).tolist()
            cells = np.argwhere(model.table(factor) > 0).tolist()
            cells = [c for c in cells if all(s in left[v] for v, s in zip(scope, c, strict=True))]
            for axis, variable in enumerate(scope):
                left[variable] &= {cell[axis] for cell in cells}
        if left == before:
            return left
    return None


def narrowed(base: Whole, evidence: Evidence) -> tuple[float, Integers, Integers]:
    states, counts = base.narrowed.states.copy(), base.narrowed.cards.copy()
    if not base.narrowed.is_possible:
        return -math.inf, states, counts
    log = narrow(base, evidence.codes, states, counts, evidence.likelihoods)
    return log, states, counts


@pytest.mark.usefixtures("every_model")
@given(seeds)
@quick
def test_the_states_left_are_those_with_support(seed: int) -> None:
    model, evidence = asked(seed)
    base = whole(model)
    log, states, counts = narrowed(base, evidence)
    expected = states_left(model, evidence)
    assert (log == -math.inf) == (expected is None)
    if expected is not None:
        for variable, start in enumerate(base.ready.outline.starts.tolist()):
            found = states[start : start + counts[variable]].tolist()
            assert found == sorted(expected[variable])


@pytest.mark.usefixtures("every_model")
@given(seeds)
@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_python_narrows_as_machine_code_does(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    model, evidence = asked(seed)
    compiled = narrowed(whole(model), evidence)
    patience = Patience(math.inf)
    with monkeypatch.context() as patched:
        patched.setattr(jit_interpreted, "is_at_hand", lambda _: False)
        patched.setattr(questions, "_patience", patience)
        by_python = narrowed(whole(replace(model)), evidence)
    assert patience.spent > 0
    assert by_python[0] == compiled[0]
    if compiled[0] > -math.inf:
        for one, other in zip(by_python[1:], compiled[1:], strict=True):
            assert one.tobytes() == other.tobytes()


def configurations(counts: Integers) -> Iterator[tuple[int, ...]]:
    yield from np.ndindex(*counts.tolist())


def product(
    layout: ModelLayout, tables: Floats, weights: Floats, base: Whole, soft: Any, places: Any
) -> float:
    """The cut tables and weights at places of the lists of states."""
    _, ends, scopes, steps, starts = layout[:5]
    cells = np.concatenate([base.ready.tables, tables])
    found = 1.0
    for factor in range(len(ends) - 1):
        inside = slice(ends[factor], ends[factor + 1])
        found *= cells[starts[factor] + np.dot(steps[inside], np.array(places)[scopes[inside]])]
    for variable in np.flatnonzero(soft & 1):
        found *= weights[base.ready.outline.starts[variable] + places[variable]]
    return float(found)


@pytest.mark.usefixtures("every_model")
@given(seeds)
@quick
def test_the_cut_model_has_the_products_of_the_model(seed: int) -> None:
    model, evidence = asked(seed)
    base = whole(model)
    log, states, counts = narrowed(base, evidence)
    if log == -math.inf or counts.prod() > 500:
        return
    soft, weights = np.zeros(len(counts), np.uint8), np.empty(len(states))
    layout, tables, log = cut_layout(base, states, counts, soft, weights)
    log += weigh(evidence, base.ready.outline.starts, states, counts, soft, weights)
    for places in configurations(counts):
        own = [
            int(states[start + place])
            for start, place in zip(base.ready.outline.starts, places, strict=True)
        ]
        expected = 1.0
        for factor in range(model.n_factors):
            expected *= model.table(factor)[tuple(own[v] for v in model.scope(factor))]
        for variable, likelihood in evidence.likelihoods.items():
            expected *= likelihood[own[variable]]
        found = math.exp(log) * product(layout, tables, weights, base, soft, places)
        # Products of a few dozen numbers, and one exponential.
        assert found == pytest.approx(expected, rel=1e-12, abs=0)


@pytest.mark.usefixtures("every_model")
@given(seeds)
@quick
def test_what_is_said_of_cut_tables_is_true(seed: int) -> None:
    model, evidence = asked(seed)
    base = whole(model)
    log, states, counts = narrowed(base, evidence)
    if log == -math.inf:
        return
    soft, weights = np.zeros(len(counts), np.uint8), np.empty(len(states))
    layout, tables, _ = cut_layout(base, states, counts, soft, weights)
    _, ends, scopes, steps, starts, heads, var_starts, near, zeros = layout
    cells = np.concatenate([base.ready.tables, tables])
    inside: list[list[int]] = [[] for _ in counts]
    for factor in range(model.n_factors):
        scope = scopes[ends[factor] : ends[factor + 1]]
        assert (counts[scope] > 1).all()
        for variable in scope:
            inside[variable].append(factor)
        if not len(scope):
            continue
        table = np.lib.stride_tricks.as_strided(
            cells[starts[factor] :], counts[scope], 8 * steps[ends[factor] : ends[factor + 1]]
        )
        assert zeros[factor] == (table == 0).any()
        # The table of a variable that is known stays with it, whatever it sums to.
        if heads[factor] >= 0 and counts[heads[factor]] > 1:
            assert heads[factor] == scope[-1]
            assert table.sum(-1) == pytest.approx(1.0, abs=1e-12)
    for variable, factors in enumerate(inside):
        assert near[var_starts[variable] : var_starts[variable + 1]].tolist() == factors


@pytest.mark.usefixtures("every_model")
@given(seeds)
@settings(max_examples=20, deadline=None)
def test_cut_models_that_agree_in_what_decides_agree_in_all(seed: int) -> None:
    network = random_network(seed, zeros=0.6)
    base = whole(undirected(network.arrays) if seed % 2 else network.arrays)
    found: dict[tuple[bytes, ...], list[bytes]] = {}
    for other in range(40):
        evidence = evidence_of(network, random_evidence(network, other, 0.2))
        log, states, counts = narrowed(base, evidence)
        if log == -math.inf:
            continue
        soft, weights = np.zeros(len(counts), np.uint8), np.empty(len(states))
        layout, _, _ = cut_layout(base, states, counts, soft, weights)
        key = tuple(array.tobytes() for array in deciding(layout))
        rest = [array.tobytes() for array in layout]
        assert found.setdefault(key, rest) == rest


def test_small_models_stay_as_they_are() -> None:
    model = random_network(4, zeros=1.0).arrays
    base = whole(model)
    assert base.is_small
    assert base.narrowed.is_possible
    assert base.narrowed.states is base.ready.outline.states
    assert np.array_equal(base.narrowed.cards, model.cards)
    assert whole(model) is base


@pytest.mark.usefixtures("every_model")
def test_models_without_zeros_are_not_narrowed() -> None:
    base = whole(random_network(11, zeros=0.0).arrays)
    assert not base.is_small
    assert not base.has_zeros
    assert not base.is_worth_cutting


@pytest.mark.usefixtures("every_model")
def test_tables_that_contradict_each_other_leave_nothing() -> None:
    model = ModelArrays(
        np.array([2]), np.array([0, 1, 2]), np.array([0, 0]), np.array([0, 2, 4]),
        np.array([1.0, 0.0, 0.0, 1.0]), np.full(2, NO_HEAD), np.array([0]),
    )  # fmt: skip
    assert not whole(model).narrowed.is_possible


@pytest.mark.usefixtures("every_model")
def test_observed_states_that_contradict_each_other_are_found_in_one_cell() -> None:
    table = np.array([0.5, 0.5, 1.0, 0.0, 0.0, 1.0])
    model = ModelArrays(
        np.array([2, 2]), np.array([0, 1, 3]), np.array([0, 0, 1]), np.array([0, 2, 6]), table,
        np.arange(2), np.arange(2),
    )  # fmt: skip
    base = whole(model)
    assert narrowed(base, Evidence(np.array([0, 1])))[0] == -math.inf
    log, states, counts = narrowed(base, Evidence(np.array([0, 0])))
    assert (log, counts.tolist(), states[[0, 2]].tolist()) == (0.0, [1, 1], [0, 0])
    # One follows from the other, whichever is known.
    for codes in ([1, -1], [-1, 1]):
        log, states, counts = narrowed(base, Evidence(np.array(codes)))
        assert (log, counts.tolist(), states[[0, 2]].tolist()) == (0.0, [1, 1], [1, 1])
