"""Models as kernels take them, each with the programs that are kept for it.

A model that is no longer used takes its programs with it.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from novum.graphical.inference.compiled.layout import (
    LOCAL_AT,
    N_LOCAL,
    PRICE_BYTES,
    PRICE_CELLS,
    PRICE_CUT_OFF,
)
from novum.graphical.models.arrays import ModelArrays, spans_of
from novum.numerics import (
    Array,
    Bytes,
    Codes,
    Floats,
    Integers,
    Patience,
    as_argument,
    cached_property,
    fork_safe_lock,
)

# Programs kept for each model, and integers in all of them together.
MOST_PROGRAMS = 4096
MOST_INTEGERS = 2**22


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

    code: Integers
    maps: Codes
    prices: Floats

    @cached_property
    def variables(self) -> Integers:
        """The variables of the model that take part, in the order of the answers."""
        start = int(self.code[LOCAL_AT])
        return self.code[start : start + int(self.code[N_LOCAL])]

    @property
    def cells(self) -> float:
        return float(self.prices[PRICE_CELLS])

    @property
    def bytes(self) -> float:
        """What a run takes at most."""
        return float(self.prices[PRICE_BYTES])

    @property
    def has_cut_off(self) -> bool:
        """Whether something was left out that might contradict the evidence."""
        return bool(self.prices[PRICE_CUT_OFF] > 0)


_patience = Patience(seconds=0.1)


class Outline(NamedTuple):
    """What is known of a model before any evidence.

    Attributes
    ----------
    spans : float64 array
        Of each table how many powers of two its positive cells are away from 1, at most.
    starts : int64 array
        Of each variable its first place in `states`.
    states : int64 array
        All states of all variables.
    most_factors : int
        How many tables the variable in most of them is part of.
    """

    spans: Floats
    starts: Integers
    states: Integers
    most_factors: int


NO_OUTLINE = Outline(np.empty(0), np.empty(0, np.int64), np.empty(0, np.int64), 0)


class ModelLayout(NamedTuple):
    """The integers of a model in the order in which kernels take them.

    Attributes
    ----------
    cards : numbers of states
    scope_starts, scopes, strides : of each table its variables, and their strides
    table_starts : where tables begin
    heads : variables whose conditional tables they are, or -1
    var_starts, var_factors : of each variable its tables
    zeros : which tables have zeros
    """

    cards: Integers
    scope_starts: Integers
    scopes: Integers
    strides: Integers
    table_starts: Integers
    heads: Integers
    var_starts: Integers
    var_factors: Integers
    zeros: Bytes


@dataclass(frozen=True, eq=False)
class PreparedModel:
    """The arrays of a model as kernels take them, and its programs.

    Attributes
    ----------
    layout : ModelLayout
    tables : float64 array
    directed : int
    outline : Outline
        Empty for what evidence has left of a model.
    """

    layout: ModelLayout
    tables: Floats
    directed: int
    outline: Outline = NO_OUTLINE
    programs: OrderedDict[Any, Program] = field(default_factory=OrderedDict)
    integers: list[int] = field(default_factory=lambda: [0])
    lock: threading.Lock = field(default_factory=fork_safe_lock)

    @classmethod
    def of(cls, model: ModelArrays) -> PreparedModel:
        """Strides of all scopes, factors of each variable, zeros, spans, and places of states."""
        given = (model.cards, model.scope_starts, model.scopes, model.table_starts)
        cards, scope_starts, scopes, table_starts = (as_argument(a, np.int64) for a in given)
        n, size = len(cards), len(scopes)
        strides, var_factors = np.empty(size, np.int64), np.empty(size, np.int64)
        var_starts, starts = np.empty(n + 1, np.int64), np.empty(n, np.int64)
        states = np.empty(np.add.reduce(cards), np.int64)
        tables = _writable(model.tables)
        spans, zeros, most_factors = _laid_out(
            model, cards, scope_starts, scopes, table_starts, tables, strides, var_starts,
            var_factors, starts, states,
        )  # fmt: skip
        layout = ModelLayout(
            cards, scope_starts, scopes, strides, table_starts, as_argument(model.heads, np.int64),
            var_starts, var_factors, zeros,
        )  # fmt: skip
        outline = Outline(spans, starts, states, most_factors)
        return cls(layout, tables, int(model.is_directed), outline)

    @cached_property
    def logs(self) -> Floats:
        """Logarithms of the numbers of states.

        Taken here, so that all ways to run the planner compare the same numbers.
        """
        return np.log2(self.layout.cards.astype(np.float64))

    def kept(self, key: Any) -> Program | None:
        """The program kept under a key, which is now the one used last."""
        program = self.programs.get(key)
        if program is not None:
            try:
                self.programs.move_to_end(key)
            except KeyError:
                # Another thread has made room meanwhile; the program is as good as before.
                return program
        return program

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


def _writable(tables: Floats) -> Floats:
    """The same cells in the array that kernels take, which they never write into.

    Where they are a view of the whole of a writable array, it is that one.
    """
    owner = tables.base
    if (
        isinstance(owner, np.ndarray)
        and owner.flags.writeable
        and (owner.shape, owner.dtype) == (tables.shape, tables.dtype)
        and owner.flags.c_contiguous
        and tables.flags.c_contiguous
    ):
        return owner
    return as_argument(tables)


def _laid_out(model: ModelArrays, *arrays: Array) -> tuple[Floats, Bytes, int]:
    """Fills the arrays of `lay_out`; spans, which tables have zeros, most tables of a variable."""
    from novum.graphical.inference.compiled.cuts_kernels import lay_out

    n = model.n_factors
    if _patience.is_left_for(lay_out):
        # Cells are looked at by NumPy then.
        most = _patience.interpret(lay_out, *arrays, np.empty((2, 0)), np.empty(0, np.uint8))
        return model.spans, model.zeros, int(most)
    bounds, zeros = np.empty((2, n)), np.empty(n, np.uint8)
    most = lay_out(*arrays, bounds, zeros)
    return spans_of(bounds), zeros, most


_prepared: WeakKeyDictionary[ModelArrays, PreparedModel] = WeakKeyDictionary()


def prepared(model: ModelArrays) -> PreparedModel:
    """The model as kernels take it, made once."""
    ready = _prepared.get(model)
    if ready is None:
        ready = _prepared[model] = PreparedModel.of(model)
    return ready
