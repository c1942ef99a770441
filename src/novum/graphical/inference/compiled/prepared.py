"""Models as kernels take them, each with the programs that are kept for it.

A model that is no longer used takes its programs with it.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from novum.graphical.inference.compiled.layout import (
    LOCAL_AT,
    N_LOCAL,
    PRICE_CELLS,
    PRICE_CUT_OFF,
)
from novum.graphical.models.arrays import Floats, ModelArrays, Positions
from novum.numerics.jit import as_argument

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


def prepared(model: ModelArrays) -> PreparedModel:
    """The model as kernels take it, made once."""
    found = _prepared.get(model)
    if found is None:
        found = _prepared[model] = PreparedModel.of(model)
    return found
