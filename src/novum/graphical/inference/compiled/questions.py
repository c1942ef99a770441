"""Questions as programs take them: the model that is left of what is known.

States that the evidence makes impossible are cut out of the tables before anything is planned
(`supports_kernels`, `cuts_kernels`): variables with one state left are known, tables of one
variable are weights of it, and tables that are all ones are gone. Small models stay as they are.
"""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from types import MappingProxyType
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from novum.graphical.inference.compiled.planning import (
    BLOCK,
    PreparedModel,
    Program,
    Request,
    kept_program,
    prepared,
    prices_of,
)
from novum.graphical.models.arrays import Evidence, Floats, ModelArrays, Positions
from novum.numerics.jit import as_argument

Marks = NDArray[np.uint8]

# Models of fewer cells, and of fewer tables at each variable, are not worth cutting.
SMALL_CELLS = 4000
FEW_FACTORS = 16
# Questions kept for each model: several things are asked about the same evidence.
MOST_QUESTIONS = 4
MOST_SMALL = 64


@dataclass(frozen=True, eq=False)
class Question:
    """What is known, in the numbers of a model with fewer states.

    Attributes
    ----------
    ready : PreparedModel
        The tables that are left.
    home : PreparedModel
        The model that keeps the programs.
    spans : float64 array
        Of each table how many powers of two its positive cells are away from 1.
    known : int64 array
        States of known variables in `ready`, else -1.
    soft : uint8 array
        Which variables have weights.
    starts, cards : int64 arrays
        Of each variable its first place in `weights` and `states`, and how many states are left.
    states : int64 array
        The states that are left, by their numbers in the model.
    weights : float64 array
        Of the states that are left.
    log : float
        Logarithm of what became numbers; `-inf` where the evidence is impossible, NaN where
        products could leave the range of floating-point numbers.
    key : what tells programs of this question from others
    is_unconditional : bool
        Whether nothing is known of a directed model.
    notes : dict
        What was found out about the evidence.
    """

    ready: PreparedModel
    home: PreparedModel
    spans: Floats
    known: Positions
    soft: Marks
    starts: Positions
    cards: Positions
    states: Positions
    weights: Floats
    log: float
    key: Any
    is_unconditional: bool
    notes: dict[str, float] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Number of states of all variables, possible or not."""
        return len(self.states)

    def states_of(self, variable: int) -> Positions:
        """The states that a variable may have, by their numbers in the model."""
        start, known = self.starts[variable], self.known[variable]
        if known >= 0:
            return self.states[start + known : start + known + 1]
        return self.states[start : start + self.cards[variable]]

    @property
    def prices(self) -> Floats:
        """What the posteriors of all variables will cost."""
        return prices_of(self.ready, self.known, self.soft)

    def program(
        self,
        asked: Sequence[int],
        extent: int,
        purpose: int,
        limit: int | str | None = None,
        block: int = BLOCK,
    ) -> Program:
        """The program of a question about these variables: one that is kept, or a new one."""
        targets = np.array(asked, np.int64)
        request = Request(self.known, self.soft, targets, extent, purpose, block)
        return kept_program(self.home, self.ready, request, self.key, limit)


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
    asked: OrderedDict[Any, Question] = field(default_factory=OrderedDict)
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
        log = _narrow(found, unknown, found.states, found.cards, ready.arguments[8][ranked])
        return replace(found, is_possible=log > -math.inf)


_wholes: WeakKeyDictionary[ModelArrays, Whole] = WeakKeyDictionary()


def whole(model: ModelArrays) -> Whole:
    """The model before anything is known, looked at once."""
    found = _wholes.get(model)
    if found is None:
        found = _wholes[model] = Whole.of(model)
    return found


def forget_questions(model: ModelArrays) -> None:
    """Drops the questions and programs kept for a model, as after a long time without use."""
    base = whole(model)
    with base.lock:
        base.asked.clear()
    base.ready.forget()


def question_of(model: ModelArrays, evidence: Evidence) -> Question:
    """What is known as programs take it."""
    base = _wholes.get(model) or whole(model)
    known = as_argument(evidence.codes, np.int64)
    key: Any = known.tobytes()
    if evidence.likelihoods:
        key = (key, *((v, w.tobytes()) for v, w in evidence.likelihoods.items()))
    found = base.asked.get(key)
    if found is None:
        make = _as_it_is if base.is_small else _cut
        # What is kept must not change with the array of whoever asked.
        found = make(base, known.copy(), evidence)
        with base.lock:
            base.asked[key] = found
            while len(base.asked) > (MOST_SMALL if base.is_small else MOST_QUESTIONS):
                base.asked.popitem(last=False)
    return found


def _as_it_is(base: Whole, known: Positions, evidence: Evidence) -> Question:
    ready, cards = base.ready, base.ready.arguments[0]
    soft = np.zeros(len(cards), np.uint8)
    weights = np.empty(len(base.every) if evidence.likelihoods else 0)
    for variable, likelihood in evidence.likelihoods.items():
        soft[variable] = 1
        start = base.starts[variable]
        weights[start : start + len(likelihood)] = likelihood
    key = ((known >= 0).tobytes(), soft.tobytes())
    return Question(
        ready, ready, base.spans, known, soft, base.starts, cards, base.every, weights, 0.0, key,
        _is_unconditional(ready, known, evidence),
    )  # fmt: skip


def _cut(base: Whole, known: Positions, evidence: Evidence) -> Question:
    ready = base.ready
    states, counts = base.states.copy(), base.cards.copy()
    soft, weights = np.zeros(len(counts), np.uint8), np.empty(len(states))
    arguments, tables = ready.arguments, ready.tables
    log = -math.inf
    if base.is_possible:
        log = _narrow(base, known, states, counts, likelihoods=evidence.likelihoods)
    if log > -math.inf:
        arguments, tables, log = _cut_arguments(base, states, counts, soft, weights)
    if log > -math.inf and evidence.likelihoods:
        log += _weigh(evidence, base.starts, states, counts, soft, weights)
    return Question(
        PreparedModel(arguments, tables, ready.directed), ready, base.spans,
        np.where(counts == 1, 0, -1), soft, base.starts, counts, states, weights, log,
        _digest((*arguments, soft)),
        _is_unconditional(ready, known, evidence),
    )  # fmt: skip


def _digest(arrays: Sequence[NDArray[Any]]) -> bytes:
    """Stands for what a program is planned from, which would take more memory than the program."""
    found = blake2b(digest_size=20)
    for array in arrays:
        found.update(array.data)
    return found.digest()


def _cut_arguments(
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


def _is_unconditional(ready: PreparedModel, known: Positions, evidence: Evidence) -> bool:
    return bool(ready.directed) and not evidence.likelihoods and not (known >= 0).any()


def _narrow(
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


def _weigh(
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
