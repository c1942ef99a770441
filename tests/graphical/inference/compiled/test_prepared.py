"""Models as kernels take them: which programs are kept with them."""

from __future__ import annotations

import gc
import weakref
from collections import OrderedDict
from dataclasses import replace
from typing import Any

import pytest

from novum.graphical.inference.compiled import prepared
from novum.graphical.inference.compiled.layout import CONNECTED, EVERYTHING, JOINT, MARGINALS
from novum.graphical.inference.compiled.planning import program_of
from novum.graphical.models.arrays import Evidence
from tests.strategies.networks import random_network


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
