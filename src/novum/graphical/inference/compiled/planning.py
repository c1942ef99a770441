"""Programs of questions, and which of them are kept.

A program depends on the model, on which variables are observed or weighted and on what is asked,
not on the observed states: it is kept with the model for the next question that knows the same
variables. A model that is no longer used takes its programs with it.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from novum.core.memory import is_stated, memory_limit
from novum.graphical.inference.compiled.layout import (
    EVERYTHING,
    LOCAL_AT,
    MARGINALS,
    N_LOCAL,
    PRICE_BYTES,
    PRICE_CELLS,
    PRICE_CUT_OFF,
    PRICE_LARGEST,
    PRICE_WIDTH,
)
from novum.graphical.inference.limits import check_price
from novum.graphical.models.arrays import Evidence, Floats, ModelArrays, Positions
from novum.numerics.jit import as_argument
from novum.numerics.jit_interpreted import interpreted, is_at_hand

# Cells of a block: the tables of all its operations stay in the nearest cache.
BLOCK = 2048
# Programs kept for each model, and integers in all of them together.
MOST_PROGRAMS = 4096
MOST_INTEGERS = 2**22
# Below this no memory is worth asking the system about.
UNCHECKED_BYTES = 5e7
# While the planner is not compiled, questions of up to so many unobserved variables are planned by
# Python, until that has taken so many seconds in this process.
MOST_INTERPRETED = 400
INTERPRETED_SECONDS = 2.0


@dataclass(frozen=True, eq=False)
class Program:
    """A question as loops.

    Attributes
    ----------
    code : int64 array
        See `layout`.
    maps : int32 array
    prices : float64 array
    """

    code: Positions
    maps: NDArray[np.int32]
    prices: Floats

    @cached_property
    def variables(self) -> Positions:
        """The variables of the model that take part, in the order of the answers."""
        start = int(self.code[LOCAL_AT])
        return self.code[start : start + int(self.code[N_LOCAL])]

    @property
    def cells(self) -> float:
        return float(self.prices[PRICE_CELLS])

    @property
    def has_cut_off(self) -> bool:
        """Whether something was left out that might contradict the evidence."""
        return bool(self.prices[PRICE_CUT_OFF] > 0)


class Request(NamedTuple):
    """What is known of the variables of a model, and what is asked.

    Attributes
    ----------
    known : int64 array
        States of known variables, else -1.
    soft : uint8 array
        Which variables have weights.
    targets : int64 array
        The variables that are asked.
    extent, purpose : int
        Constants of `layout`.
    block : int
        Cells of a block.
    """

    known: Positions
    soft: NDArray[np.uint8]
    targets: Positions
    extent: int
    purpose: int
    block: int


@dataclass(frozen=True, eq=False)
class PreparedModel:
    """The arrays of a model as kernels take them, and its programs."""

    arguments: tuple[Any, ...]
    tables: Floats
    directed: int
    programs: OrderedDict[Any, Program] = field(default_factory=OrderedDict)
    integers: list[int] = field(default_factory=lambda: [0])
    lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def of(cls, model: ModelArrays) -> PreparedModel:
        """Strides of all scopes, factors of each variable, and which tables have zeros."""
        cards, starts, scopes = model.cards, model.scope_starts, model.scopes
        strides = np.ones(len(scopes), np.int64)
        zeros = np.zeros(model.n_factors, np.uint8)
        of_factor = np.repeat(np.arange(model.n_factors), np.diff(starts))
        # Strides from the last axis of each scope to the first.
        for place in range(len(scopes) - 2, -1, -1):
            if of_factor[place] == of_factor[place + 1]:
                strides[place] = strides[place + 1] * cards[scopes[place + 1]]
        table_of = np.repeat(np.arange(model.n_factors), np.diff(model.table_starts))
        zeros[table_of[model.tables == 0]] = 1
        order = np.argsort(scopes, kind="stable")
        counts = np.bincount(scopes, minlength=model.n_variables)
        var_starts = np.concatenate([[0], np.cumsum(counts)])
        integers = [
            cards, starts, scopes, strides, model.table_starts, model.heads, var_starts,
            of_factor[order],
        ]  # fmt: skip
        arguments = (*(as_argument(a, np.int64) for a in integers), zeros)
        return cls(arguments, as_argument(model.tables), int(model.is_directed))

    @cached_property
    def logs(self) -> Floats:
        """Logarithms of the numbers of states.

        Taken here, so that all ways to run the planner compare the same numbers.
        """
        return np.log2(self.arguments[0].astype(np.float64))

    def kept(self, key: Any) -> Program | None:
        """The program kept under a key, which is now the one used last."""
        found = self.programs.get(key)
        if found is not None:
            try:
                self.programs.move_to_end(key)
            except KeyError:
                # Another thread has made room meanwhile; the program is as good as before.
                return found
        return found

    def keep(self, key: Any, program: Program) -> None:
        """Keeps a program; the ones not used for longest make room."""
        with self.lock:
            if key in self.programs:
                # Another thread has planned the same meanwhile.
                return
            self.programs[key] = program
            self.integers[0] += len(program.code) + len(program.maps)
            while len(self.programs) > 1 and (
                len(self.programs) > MOST_PROGRAMS or self.integers[0] > MOST_INTEGERS
            ):
                _, old = self.programs.popitem(last=False)
                self.integers[0] -= len(old.code) + len(old.maps)

    def forget(self) -> None:
        """Drops all programs."""
        with self.lock:
            self.programs.clear()
            self.integers[0] = 0


_prepared: WeakKeyDictionary[ModelArrays, PreparedModel] = WeakKeyDictionary()
_nothing = np.empty(0, np.int64)


def prepared(model: ModelArrays) -> PreparedModel:
    """The model as kernels take it, made once."""
    found = _prepared.get(model)
    if found is None:
        found = _prepared[model] = PreparedModel.of(model)
    return found


def program_of(
    model: ModelArrays,
    evidence: Evidence,
    asked: Sequence[int],
    extent: int,
    purpose: int,
    limit: int | str | None = None,
    soft: NDArray[np.uint8] | None = None,
    block: int = BLOCK,
) -> Program:
    """The program of a question: one that is kept, or a new one.

    Parameters
    ----------
    model : ModelArrays
    evidence : Evidence
    asked : variables that are not observed
    extent, purpose : int
        Constants of `layout`.
    limit : memory limit
    soft : uint8 array, optional
        Which variables are weighted, where that is not said by the evidence.
    block : int
        Cells of a block.
    """
    ready = prepared(model)
    if soft is None:
        soft = np.zeros(model.n_variables, np.uint8)
        for variable in evidence.likelihoods:
            soft[variable] = 1
    targets = np.array(asked, np.int64) if len(asked) else _nothing
    known = as_argument(evidence.codes, np.int64)
    request = Request(known, soft, targets, extent, purpose, block)
    return kept_program(ready, ready, request, ((known >= 0).tobytes(), soft.tobytes()), limit)


def kept_program(
    home: PreparedModel,
    ready: PreparedModel,
    request: Request,
    own: Any,
    limit: int | str | None,
) -> Program:
    """The program that `home` keeps, or a new one for the tables of `ready`.

    `own` tells these tables, and what is known and weighted, from others.
    """
    key = (request.extent, request.purpose, request.block, request.targets.tobytes(), own)
    found = home.kept(key)
    if found is None:
        found = _planned(ready, request, limit)
        home.keep(key, found)
    elif is_stated(limit):
        # It may be kept from a question with another limit.
        refuse_beyond(found.prices, limit)
    return found


def _planned(ready: PreparedModel, request: Request, limit: int | str | None) -> Program:
    def attempt(most: float) -> Program:
        return Program(*_plan(ready, request, most))

    stated = float(memory_limit(limit)) if is_stated(limit) else UNCHECKED_BYTES
    found = attempt(stated)
    if len(found.code):
        return found
    refuse_beyond(found.prices, limit)
    return attempt(float("inf"))


def _plan(ready: PreparedModel, request: Request, most: float) -> tuple[Any, ...]:
    """The planner: compiled, or run by Python while compiling it would take longer than it saves.

    Both give the same integers, and no program for more than `most` bytes.
    """
    from novum.graphical.inference.compiled.planning_kernels import plan_question

    known, soft, targets, extent, purpose, block = request
    arguments = (
        *ready.arguments, ready.logs, known, soft, targets, extent, purpose, ready.directed, block,
        most,
    )  # fmt: skip
    found: tuple[Any, ...]
    if is_at_hand(plan_question) or _interpreting.seconds > INTERPRETED_SECONDS or _is_large(known):
        found = plan_question(*arguments)
        return found
    start = time.perf_counter()
    found = interpreted(plan_question)(*arguments)
    _interpreting.seconds += time.perf_counter() - start
    return found


def _is_large(known: Positions) -> bool:
    return int(np.count_nonzero(known < 0)) > MOST_INTERPRETED


@dataclass
class _Interpreting:
    """Seconds that plans have taken in Python, in all threads together."""

    seconds: float = 0.0


_interpreting = _Interpreting()


def prices_of(ready: PreparedModel, known: Positions, soft: NDArray[np.uint8]) -> Floats:
    """What all posteriors will cost: the prices of `layout`, without a program."""
    # No program fits into fewer than no bytes, so that only its price is found.
    request = Request(known, soft, _nothing, EVERYTHING, MARGINALS, BLOCK)
    _, _, prices = _plan(ready, request, -1.0)
    found: Floats = prices
    return found


def refuse_beyond(prices: Floats, limit: int | str | None) -> None:
    """Refuses a plan whose messages do not fit the memory, before anything is computed."""
    width, largest = int(prices[PRICE_WIDTH]), float(prices[PRICE_LARGEST])
    check_price(width, largest, float(prices[PRICE_BYTES]), limit)
