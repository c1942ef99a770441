"""Models as kernels take them: how they lie in memory, and which programs are kept with them."""

from __future__ import annotations

import gc
import math
import weakref
from collections import OrderedDict
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from novum.graphical.inference.compiled import prepared
from novum.graphical.inference.compiled.cuts_kernels import factors_of_variables
from novum.graphical.inference.compiled.layout import CONNECTED, EVERYTHING, JOINT, MARGINALS
from novum.graphical.inference.compiled.planning import program_of
from novum.graphical.models.arrays import Evidence, ModelArrays
from novum.graphical.models.bayesian_network import BayesianNetwork
from novum.numerics import Patience, jit_interpreted
from tests.strategies.networks import random_network, seeds


@given(seeds)
@settings(max_examples=30, deadline=None)
def test_models_are_laid_out_as_they_are(seed: int) -> None:
    model = random_network(seed, zeros=0.5).arrays
    ready = prepared.PreparedModel.of(model)
    cards, scope_starts, scopes, strides, table_starts, heads, var_starts, factors, zeros = (
        ready.layout
    )
    assert np.array_equal(cards, model.cards)
    assert np.array_equal(heads, model.heads)
    for factor in range(model.n_factors):
        table = model.table(factor)
        place = slice(scope_starts[factor], scope_starts[factor + 1])
        assert scopes[place].tolist() == model.scope(factor).tolist()
        # NumPy gives axes of one state any stride: they are never moved along.
        moved = np.array(table.shape) > 1
        assert np.array_equal(strides[place][moved], np.array(table.strides)[moved] // 8)
        cells = ready.tables[table_starts[factor] : table_starts[factor + 1]]
        assert np.array_equal(cells, table.ravel())
        assert zeros[factor] == (table == 0).any()
        away = np.abs(np.log2(table[table > 0])).max()
        assert ready.outline.spans[factor] == away
    for variable in range(model.n_variables):
        inside = [f for f in range(model.n_factors) if variable in model.scope(f)]
        assert factors[var_starts[variable] : var_starts[variable + 1]].tolist() == inside
        start = ready.outline.starts[variable]
        states = ready.outline.states[start : start + cards[variable]]
        assert states.tolist() == list(range(cards[variable]))
    assert len(ready.outline.states) == cards.sum()
    assert ready.outline.most_factors == np.bincount(scopes, minlength=1).max()


@given(seeds)
@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_python_lays_out_the_same_bits(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    model = random_network(seed, zeros=0.5).arrays
    monkeypatch.setattr(jit_interpreted, "is_at_hand", lambda _: False)
    monkeypatch.setattr(prepared, "_patience", patience := Patience(math.inf))
    by_python = prepared.PreparedModel.of(model)
    assert patience.spent > 0
    monkeypatch.setattr(prepared, "_patience", Patience(0.0))
    compiled = prepared.PreparedModel.of(model)
    assert by_python.outline.most_factors == compiled.outline.most_factors
    for one, other in zip(
        (*by_python.layout, *by_python.outline[:3]),
        (*compiled.layout, *compiled.outline[:3]),
        strict=True,
    ):
        assert one.dtype == other.dtype
        assert one.tobytes() == other.tobytes()


def test_spans_count_from_one() -> None:
    # Positive cells 1/8 and 4, with a zero; 1/4 alone; 16 and 32; nothing but zeros.
    tables = np.array([0.125, -0.0, 4.0, 0.25, 16.0, 32.0, 0.0, 0.0])
    scopes, starts = np.array([0, 1, 1]), np.array([0, 1, 1, 2, 3])
    model = ModelArrays(
        np.array([3, 2]), starts, scopes, np.array([0, 3, 4, 6, 8]), tables, np.full(4, -1),
        np.arange(2),
    )  # fmt: skip
    ready = prepared.prepared(model)
    assert ready.outline.spans.tolist() == model.spans.tolist() == [3.0, 2.0, 5.0, 0.0]
    assert ready.layout.zeros.tolist() == model.zeros.tolist() == [1, 0, 0, 1]
    assert not ready.directed


def test_tables_of_each_variable() -> None:
    # Tables {0, 2}, {}, {2}, {0, 1}.
    scopes = np.array([0, 2, 2, 0, 1])
    starts, factors = np.empty(4, np.int64), np.empty(5, np.int64)
    factors_of_variables(np.array([0, 2, 2, 3, 5]), scopes, starts, factors)
    assert starts.tolist() == [0, 2, 3, 5]
    assert factors.tolist() == [0, 3, 3, 0, 2]


def test_an_empty_model_is_laid_out() -> None:
    ready = prepared.PreparedModel.of(BayesianNetwork().arrays)
    assert [len(array) for array in ready.layout] == [0, 1, 0, 0, 1, 0, 1, 0, 0]
    assert [len(array) for array in ready.outline[:3]] == [0, 0, 0]


def test_kernels_take_the_cells_of_the_model_without_a_copy() -> None:
    model = random_network(5).arrays
    backwards = np.arange(len(model.tables), dtype=np.float64)[::-1]
    owned = np.array(model.tables)
    part = np.zeros(len(owned) + 1)[1:]
    for tables in (model.tables, owned, part, owned[:], backwards):
        tables.flags.writeable = False
        found = prepared.PreparedModel.of(replace(model, tables=tables)).tables
        assert found.flags.writeable
        assert found.flags.c_contiguous
        assert np.array_equal(found, tables)
        assert np.shares_memory(found, tables) == tables.flags.c_contiguous


def test_programs_go_with_their_model() -> None:
    model = random_network(2).arrays
    program_of(model, Evidence.none(model.n_variables), (), EVERYTHING, MARGINALS)
    gone = weakref.ref(prepared.prepared(model))
    del model
    gc.collect()
    assert gone() is None


def test_the_oldest_programs_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepared, "MOST_PROGRAMS", 2)
    model = random_network(9, most=7).arrays
    nothing = Evidence.none(model.n_variables)
    for purpose in (MARGINALS, JOINT):
        program_of(model, nothing, (), EVERYTHING, purpose)
    program_of(model, nothing, [0], CONNECTED, JOINT)
    ready = prepared.prepared(model)
    assert len(ready.programs) == 2
    assert ready.integers[0] == sum(len(p.code) + len(p.maps) for p in ready.programs.values())


def test_programs_in_use_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepared, "MOST_PROGRAMS", 2)
    model = random_network(9, most=7).arrays
    nothing = Evidence.none(model.n_variables)
    first = program_of(model, nothing, (), EVERYTHING, MARGINALS)
    other = program_of(model, nothing, (), EVERYTHING, JOINT)
    assert program_of(model, nothing, (), EVERYTHING, MARGINALS) is first
    program_of(model, nothing, [0], CONNECTED, JOINT)
    kept = list(prepared.prepared(model).programs.values())
    assert kept[0] is first
    assert other not in kept


def test_a_program_that_another_thread_drops_is_still_found() -> None:
    class Dropping(OrderedDict[Any, prepared.Program]):
        def get(self, key: Any, default: Any = None) -> Any:
            return self.pop(key, default)

    model = random_network(3).arrays
    program = program_of(model, Evidence.none(model.n_variables), (), EVERYTHING, JOINT)
    ready = replace(prepared.prepared(model), programs=Dropping(key=program))
    assert ready.kept("key") is program
    assert ready.kept("key") is None


def test_a_program_planned_twice_counts_once() -> None:
    model = random_network(3).arrays
    nothing = Evidence.none(model.n_variables)
    first = program_of(model, nothing, (), EVERYTHING, MARGINALS)
    ready = prepared.prepared(model)
    ready.keep(next(iter(ready.programs)), prepared.Program(first.code, first.maps, first.prices))
    assert ready.integers[0] == len(first.code) + len(first.maps)
    assert program_of(model, nothing, (), EVERYTHING, MARGINALS) is first
    ready.forget()
    assert (len(ready.programs), ready.integers[0]) == (0, 0)
