"""States that are impossible, cut out of the tables before anything is planned.

    narrow          states without support in some table go, and their neighbors are looked at again
    cut_arguments   the tables at the states that are left

The loops are those of `supports_kernels` and `cuts_kernels`.
"""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from novum.graphical.inference.compiled.prepared import PreparedModel, prepared
from novum.graphical.models.arrays import Evidence, Floats, ModelArrays, Positions
from novum.numerics.jit import as_argument

Marks = NDArray[np.uint8]

# Models of fewer cells, and of fewer tables at each variable, are not worth cutting.
SMALL_CELLS = 4000
FEW_FACTORS = 16


@dataclass(frozen=True, eq=False)
class Whole:
    """A model before anything is known: where states lie, which are possible, what was asked.

    Factors may contradict each other, so that no states are possible at all.
    """

    ready: PreparedModel
    starts: Positions
    states: Positions
    cards: Positions
    every: Positions
    ranks: Positions
    ranked: Positions
    spans: Floats
    is_small: bool
    is_possible: bool
    asked: OrderedDict[Any, Any] = field(default_factory=OrderedDict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def of(cls, model: ModelArrays) -> Whole:
        ready = prepared(model)
        cards = ready.arguments[0]
        starts = np.cumsum(cards) - cards
        every = np.arange(cards.sum()) - np.repeat(starts, cards)
        is_small = len(model.tables) < SMALL_CELLS and model.most_factors <= FEW_FACTORS
        ranked = np.argsort(np.diff(model.table_starts), kind="stable")
        ranks = np.empty_like(ranked)
        ranks[ranked] = np.arange(len(ranked))
        found = cls(
            ready, starts, every.copy(), cards.copy(), every, ranks, ranked, model.spans, is_small,
            True,
        )  # fmt: skip
        if is_small or not model.has_zeros:
            return found
        unknown = np.full(len(cards), -1, np.int64)
        log = narrow(found, unknown, found.states, found.cards, ready.arguments[8][ranked])
        return replace(found, is_possible=log > -math.inf)

    @cached_property
    def has_zeros(self) -> bool:
        """Whether a cell is exactly zero: without one, no state is ever cut."""
        return bool(self.ready.arguments[8].any())

    @cached_property
    def has_many_factors(self) -> bool:
        """Whether some variable is in so many tables that what is known should shorten the list."""
        return bool(np.diff(self.ready.arguments[6]).max(initial=0) > FEW_FACTORS)

    @cached_property
    def is_narrowed(self) -> bool:
        """Whether some state is impossible before anything is known."""
        return not np.array_equal(self.cards, self.ready.arguments[0])


_wholes: WeakKeyDictionary[ModelArrays, Whole] = WeakKeyDictionary()


def whole(model: ModelArrays) -> Whole:
    """The model before anything is known, looked at once."""
    found = _wholes.get(model)
    if found is None:
        found = _wholes[model] = Whole.of(model)
    return found


def cut_arguments(
    base: Whole, states: Positions, counts: Positions, soft: Marks, weights: Floats
) -> tuple[tuple[Any, ...], Floats, float]:
    """What planning takes of the tables at the states that are left, these, and a logarithm.

    Fills the marks and weights of variables that tables became weights of.
    """
    from novum.graphical.inference.compiled.cuts_kernels import cut_tables, factors_of_variables

    cards, scope_starts, scopes, strides, table_starts, heads, _, _, zeros = base.ready.arguments
    n = len(heads)
    ends, cut_scopes = np.empty(n + 1, np.int64), np.empty((2, len(scopes)), np.int64)
    table_ends, cut_heads = np.empty(n + 1, np.int64), np.empty(n, np.int64)
    cut_zeros, tables = np.empty(n, np.uint8), np.empty(len(base.ready.tables) + 1)
    log = cut_tables(
        cards, scope_starts, scopes, strides, table_starts, heads, zeros, base.ready.tables,
        base.starts, states, counts, ends, cut_scopes, table_ends, cut_heads, cut_zeros, soft,
        tables, weights, np.empty(len(cards) + 1, np.int64),
    )  # fmt: skip
    size = int(ends[n])
    var_starts, var_factors = np.empty(len(cards) + 1, np.int64), np.empty(size, np.int64)
    factors_of_variables(ends, cut_scopes, var_starts, var_factors)
    own, steps = (np.ascontiguousarray(row[:size]) for row in cut_scopes)
    arguments = (
        counts, ends, own, steps, table_ends, cut_heads, var_starts, var_factors, cut_zeros
    )  # fmt: skip
    return arguments, tables, log


def narrow(
    base: Whole,
    known: Positions,
    states: Positions,
    counts: Positions,
    waiting: Marks | None = None,
    likelihoods: Mapping[int, Floats] = MappingProxyType({}),
) -> float:
    """Cuts impossible states out of the lists; `-inf` where nothing is left, else 0."""
    from novum.graphical.inference.compiled.supports_kernels import call_tables, narrow, observe

    _, *scopes, _, var_starts, var_factors, zeros = base.ready.arguments
    factors = (var_starts, var_factors, zeros, base.ranks)
    first = 0
    if waiting is None:
        waiting = np.zeros(len(zeros), np.uint8)
        first = observe(known, *factors, base.starts, states, counts, waiting)
    if first < 0:
        return -math.inf
    for variable, likelihood in likelihoods.items():
        start = int(base.starts[variable])
        left = states[start : start + int(counts[variable])]
        left = left[likelihood[left] > 0]
        if not len(left):
            return -math.inf
        if len(left) < counts[variable]:
            states[start : start + len(left)] = left
            counts[variable] = len(left)
            first = call_tables(variable, *factors, waiting, first)
    seen, room = np.empty(len(states), np.uint8), np.empty(2 * len(counts) + 1, np.int64)
    some = narrow(
        *scopes, *factors, base.ranked, base.ready.tables, base.starts, states, counts, seen,
        waiting, room, first,
    )  # fmt: skip
    return 0.0 if some else -math.inf


def weigh(
    evidence: Evidence,
    starts: Positions,
    states: Positions,
    counts: Positions,
    soft: Marks,
    weights: Floats,
) -> float:
    """Likelihoods into the weights of the states that are left; the logarithm of what is taken."""
    from novum.graphical.inference.compiled.cuts_kernels import multiply_weights
    from novum.graphical.inference.compiled.factors_kernels import COUNTS, WEIGHTED

    log = 0.0
    for variable, likelihood in evidence.likelihoods.items():
        start, count = int(starts[variable]), int(counts[variable])
        found = as_argument(likelihood[states[start : start + count]])
        top = float(found.max())
        log += math.log(top)
        if count > 1:
            found = found / top
            is_first = 1 - (int(soft[variable]) & WEIGHTED)
            log += multiply_weights(found, 0, count, weights, start, is_first)
            soft[variable] = WEIGHTED | COUNTS
    return log
