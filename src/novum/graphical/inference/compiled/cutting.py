"""States that are impossible, cut out of the tables before a question is planned.

    narrow          states without support in some table go, and their neighbors are looked at again
    cut_layout      the tables at the states that are left

The loops are those of `supports_kernels` and `cuts_kernels`.
"""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from novum.graphical.inference.compiled.prepared import ModelLayout, PreparedModel, prepared
from novum.graphical.models.arrays import Evidence, Floats, ModelArrays, Positions
from novum.numerics.jit import as_argument
from novum.numerics.jit_interpreted import Patience
from novum.numerics.shared_state import cached_property, fork_safe_lock

Marks = NDArray[np.uint8]

# Models of fewer cells, and of fewer tables at each variable, are not worth cutting.
SMALL_CELLS = 4000
FEW_FACTORS = 16
# Where more of all cells than that are possible, tables are not cut before something is known.
MUCH_LEFT = 0.95


class Narrowed(NamedTuple):
    """What is left of a model before anything is known.

    Attributes
    ----------
    states, cards : int64 arrays
        The states that are possible, and how many there are of each variable.
    is_possible : bool
        Factors may contradict each other, so that no states are possible at all.
    """

    states: Positions
    cards: Positions
    is_possible: bool


@dataclass(frozen=True, eq=False)
class Whole:
    """A model before anything is known: where states lie, which are possible, what was asked.

    Attributes
    ----------
    ready : PreparedModel
    is_small : bool
    asked : questions by what is known
    """

    ready: PreparedModel
    is_small: bool
    asked: OrderedDict[Any, Any] = field(default_factory=OrderedDict)
    lock: threading.Lock = field(default_factory=fork_safe_lock)

    @classmethod
    def of(cls, model: ModelArrays) -> Whole:
        ready = prepared(model)
        has_few = ready.outline.most_factors <= FEW_FACTORS
        return cls(ready, len(ready.tables) < SMALL_CELLS and has_few)

    @property
    def has_many_factors(self) -> bool:
        """Whether some variable is in so many tables that what is known should shorten the list."""
        return self.ready.outline.most_factors > FEW_FACTORS

    @cached_property
    def has_zeros(self) -> bool:
        """Whether a cell is exactly zero: without one, no state is ever cut."""
        return bool(self.ready.layout.zeros.any())

    @cached_property
    def ranking(self) -> tuple[Positions, Positions]:
        """Places of tables in the order of their sizes, and the tables in that order."""
        ranked = np.argsort(np.diff(self.ready.layout.table_starts), kind="stable")
        ranks = np.empty_like(ranked)
        ranks[ranked] = np.arange(len(ranked))
        return ranks, ranked

    @cached_property
    def narrowed(self) -> Narrowed:
        """Looked for when it is first needed: small questions do without."""
        states, cards = self.ready.outline.states, self.ready.layout.cards
        if self.is_small or not self.has_zeros:
            return Narrowed(states, cards, True)
        states, cards = states.copy(), cards.copy()
        log = narrow(self, _nothing, states, cards)
        return Narrowed(states, cards, log > -math.inf)

    @cached_property
    def is_worth_cutting(self) -> bool:
        """Whether tables have noticeably fewer cells at what is possible before all evidence."""
        if not self.narrowed.is_possible:
            return True
        scope_starts = self.ready.layout.scope_starts
        sizes = self.narrowed.cards.astype(np.float64)[self.ready.layout.scopes]
        filled = np.flatnonzero(np.diff(scope_starts))
        left = np.multiply.reduceat(sizes, scope_starts[filled]).sum() if len(filled) else 0.0
        return bool(left < MUCH_LEFT * len(self.ready.tables))

    @property
    def may_be_worth_cutting(self) -> bool:
        """The same without looking at tables for it: yes until somebody did."""
        return bool(self.__dict__.get("is_worth_cutting", True))


_nothing = np.empty(0, np.int64)
# Kernels of integers and comparisons, which give the same when Python runs them.
_patience = Patience(seconds=0.5)
_wholes: WeakKeyDictionary[ModelArrays, Whole] = WeakKeyDictionary()


def whole(model: ModelArrays) -> Whole:
    """The model before anything is known, looked at once."""
    found = _wholes.get(model)
    if found is None:
        found = _wholes[model] = Whole.of(model)
    return found


class _Kernels(NamedTuple):
    call_tables: Any
    narrow: Any
    n_fields: int
    cut_tables: Any


@cache
def _kernels() -> _Kernels:
    from novum.graphical.inference.compiled.cuts_kernels import cut_tables
    from novum.graphical.inference.compiled.supports_kernels import N_FIELDS, call_tables, narrow

    return _Kernels(call_tables, narrow, N_FIELDS, cut_tables)


def cut_layout(
    base: Whole, states: Positions, counts: Positions, soft: Marks, weights: Floats
) -> tuple[ModelLayout, Floats, float]:
    """What planning takes of the tables at the states that are left, these, and a logarithm.

    Fills the marks and weights of variables that tables became weights of.
    """
    ready = base.ready
    cards, scope_starts, scopes, strides, table_starts, heads, _, _, zeros = ready.layout
    n, size, n_variables = len(heads), len(scopes), len(cards)
    ends, table_ends = np.empty(n + 1, np.int64), np.empty(n + 1, np.int64)
    own, steps = np.empty(size, np.int64), np.empty(size, np.int64)
    var_starts, near = np.empty(n_variables + 1, np.int64), np.empty(size, np.int64)
    cut_heads, cut_zeros = np.empty(n, np.int64), np.empty(n, np.uint8)
    tables = np.empty(len(ready.tables) + 1)
    room = np.empty(n_variables + len(states), np.int64)
    log = _kernels().cut_tables(
        cards, scope_starts, scopes, strides, table_starts, heads, zeros, ready.tables,
        ready.outline.starts, states, counts, ends, own, steps, table_ends, cut_heads, var_starts,
        near, cut_zeros, soft, tables, weights, room,
    )  # fmt: skip
    left = int(ends[n])
    layout = ModelLayout(
        counts, ends, own[:left], steps[:left], table_ends, cut_heads, var_starts, near[:left],
        cut_zeros,
    )  # fmt: skip
    return layout, tables, log


def deciding(layout: ModelLayout) -> tuple[NDArray[Any], ...]:
    """The arrays of a cut model that all others of the same model follow from."""
    return layout.cards, layout.scope_starts, layout.heads, layout.zeros


def narrow(
    base: Whole,
    known: Positions,
    states: Positions,
    counts: Positions,
    likelihoods: Mapping[int, Floats] = MappingProxyType({}),
) -> float:
    """Cuts impossible states out of the lists; `-inf` where nothing is left, else 0.

    Without any codes all tables are looked at, not only those of what is known.
    """
    ready, kernels = base.ready, _kernels()
    cards, _, _, _, _, heads, var_starts, var_factors, zeros = ready.layout
    causes, queue = np.empty(len(heads), np.int64), np.zeros((2, len(heads) // 64 + 1), np.uint64)
    for variable, likelihood in likelihoods.items():
        start = int(ready.outline.starts[variable])
        kept = states[start : start + int(counts[variable])]
        kept = kept[likelihood[kept] > 0]
        if not len(kept):
            return -math.inf
        if len(kept) < counts[variable]:
            states[start : start + len(kept)] = kept
            counts[variable] = len(kept)
            _patience.run(
                kernels.call_tables,
                variable, cards, heads, var_starts, var_factors, zeros, base.ranking[0], counts,
                causes, queue,
            )  # fmt: skip
    seen, left = np.empty(len(states), np.uint8), np.empty(len(states), np.int64)
    axes = np.empty((len(cards), kernels.n_fields), np.int64)
    some = _patience.run(
        kernels.narrow,
        *ready.layout, *base.ranking, ready.tables, ready.outline.starts, known, states, counts,
        seen, left, causes, queue, axes,
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
