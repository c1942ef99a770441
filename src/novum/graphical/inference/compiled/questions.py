"""Questions as programs take them: the model that is left of what is known.

States that the evidence makes impossible are cut out of the tables before anything is planned
(`supports_kernels`, `cuts_kernels`): variables with one state left are known, tables of one
variable are weights of it, and tables that are all ones are gone. Small models stay as they are,
and so do others where little would be gained (`Whole.is_worth_cutting`) or a question is small.
"""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import blake2b
from types import MappingProxyType
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from novum.graphical.inference.compiled.planning import (
    BLOCK,
    NO_CELLS,
    Request,
    kept_program,
    prices_of,
)
from novum.graphical.inference.compiled.prepared import (
    ModelLayout,
    PreparedModel,
    Program,
    prepared,
)
from novum.graphical.models.arrays import Evidence, ModelArrays
from novum.numerics import (
    Array,
    Bytes,
    Floats,
    Integers,
    Patience,
    as_argument,
    cached_property,
    fork_safe_lock,
)

# Questions kept for each model: several things are asked about the same evidence.
MOST_QUESTIONS = 4
MOST_SMALL = 64


class Question(NamedTuple):
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
    is_blank : bool
        Whether nothing is known.
    is_cuttable : bool
        Whether the tables are those of the model though fewer might do.
    notes : dict
        What was found out about the evidence.
    """

    ready: PreparedModel
    home: PreparedModel
    spans: Floats
    known: Integers
    soft: Bytes
    starts: Integers
    cards: Integers
    states: Integers
    weights: Floats
    log: float
    key: Any
    is_blank: bool
    is_cuttable: bool
    notes: dict[str, float]

    @property
    def is_unconditional(self) -> bool:
        """Whether nothing is known of a directed model."""
        return self.is_blank and bool(self.home.directed)

    @property
    def size(self) -> int:
        """Number of states of all variables, possible or not."""
        return len(self.states)

    def states_of(self, variable: int) -> Integers:
        """The states that a variable may have, by their numbers in the model."""
        start, known = self.starts[variable], self.known[variable]
        if known >= 0:
            return self.states[start + known : start + known + 1]
        return self.states[start : start + self.cards[variable]]

    def ancestors_of(self, variable: int) -> set[int]:
        """A variable of a directed model and all above it that are not known."""
        scope_starts, scopes = self.ready.layout.scope_starts, self.ready.layout.scopes
        ancestors, waiting = set(), [variable]
        while waiting:
            one = waiting.pop()
            if one not in ancestors:
                ancestors.add(one)
                waiting.extend(scopes[scope_starts[one] : scope_starts[one + 1]].tolist())
        return {one for one in ancestors if self.known[one] < 0}

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


def forget_questions(model: ModelArrays) -> None:
    """Drops the questions and programs kept for a model, as after a long time without use."""
    base = whole(model)
    with base.lock:
        base.asked.clear()
    base.ready.forget()


def question_of(model: ModelArrays, evidence: Evidence) -> Question:
    """What is known as programs take it."""
    base = whole(model)
    known = as_argument(evidence.codes, np.int64)
    key: Any = known.tobytes()
    if evidence.likelihoods:
        key = (key, *((v, w.tobytes()) for v, w in evidence.likelihoods.items()))
    question = base.asked.get(key)
    if question is None:
        # What is kept must not change with the array of whoever asked.
        known = known.copy()
        question = _as_it_is(base, known, evidence)
        if question.is_cuttable and (not question.is_blank or base.is_worth_cutting):
            question = _cut(base, known, evidence)
        with base.lock:
            base.asked[key] = question
            while len(base.asked) > (MOST_SMALL if base.is_small else MOST_QUESTIONS):
                base.asked.popitem(last=False)
    return question


def uncut_question(model: ModelArrays, evidence: Evidence) -> Question:
    """What is known, of the model as it is; for one use, as it is not kept."""
    return _as_it_is(whole(model), as_argument(evidence.codes, np.int64), evidence)


def _as_it_is(base: Whole, known: Integers, evidence: Evidence) -> Question:
    ready, likelihoods = base.ready, evidence.likelihoods
    spans, starts, states, _ = ready.outline
    soft, weights, marks = np.zeros(len(known), np.uint8), NO_CELLS, b""
    if likelihoods:
        weights = np.empty(len(ready.outline.states))
        for variable, likelihood in likelihoods.items():
            soft[variable] = 1
            start = starts[variable]
            weights[start : start + len(likelihood)] = likelihood
        marks = soft.tobytes()
    observed = (known >= 0).tobytes()
    is_blank = not likelihoods and b"\1" not in observed
    return Question(
        ready, ready, spans, known, soft, starts, ready.layout.cards, states, weights, 0.0,
        (observed, marks), is_blank, _is_cuttable(base, evidence, is_blank), {},
    )  # fmt: skip


def _cut(base: Whole, known: Integers, evidence: Evidence) -> Question:
    ready, narrowed = base.ready, base.narrowed
    spans, starts, _, _ = ready.outline
    states, counts = narrowed.states.copy(), narrowed.cards.copy()
    soft, weights = np.zeros(len(counts), np.uint8), np.empty(len(states))
    layout, tables = ready.layout, ready.tables
    log = -math.inf
    if narrowed.is_possible:
        log = narrow(base, known, states, counts, likelihoods=evidence.likelihoods)
    if log > -math.inf:
        layout, tables, log = cut_layout(base, states, counts, soft, weights)
    if log > -math.inf and evidence.likelihoods:
        log += weigh(evidence, starts, states, counts, soft, weights)
    return Question(
        PreparedModel(layout, tables, ready.directed), ready, spans,
        (counts == 1) - 1, soft, starts, counts, states, weights, log,
        _digest((*deciding(layout), soft)),
        not evidence.likelihoods and not (known >= 0).any(), False, {},
    )  # fmt: skip


def _digest(arrays: Sequence[Array]) -> bytes:
    """Stands for what a program is planned from, which would take more memory than the program."""
    digest = blake2b(digest_size=20)
    for array in arrays:
        digest.update(array.data)
    return digest.digest()


def _is_cuttable(base: Whole, evidence: Evidence, is_blank: bool) -> bool:
    """Whether fewer tables or states might do; never in small models."""
    if base.is_small:
        return False
    if is_blank:
        return base.has_zeros and base.may_be_worth_cutting
    return base.has_zeros or base.has_many_factors or bool(evidence.likelihoods)


# --- Impossible states ----------------------------------------------------------------------------
# States that are impossible, cut out of the tables before a question is planned.
#
#     narrow       states without support in some table go, and their neighbors are looked at again
#     cut_layout   the tables at the states that are left
#
# The loops are those of `supports_kernels` and `cuts_kernels`.


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

    states: Integers
    cards: Integers
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
    def ranking(self) -> tuple[Integers, Integers]:
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
    base = _wholes.get(model)
    if base is None:
        base = _wholes[model] = Whole.of(model)
    return base


class _Kernels(NamedTuple):
    narrow: Any
    n_fields: int
    cut_tables: Any


@cache
def _kernels() -> _Kernels:
    from novum.graphical.inference.compiled.cuts_kernels import cut_tables
    from novum.graphical.inference.compiled.supports_kernels import N_FIELDS, narrow

    return _Kernels(narrow, N_FIELDS, cut_tables)


def cut_layout(
    base: Whole, states: Integers, counts: Integers, soft: Bytes, weights: Floats
) -> tuple[ModelLayout, Floats, float]:
    """What planning takes of the tables at the states that are left, these, and a logarithm.

    Fills the marks and weights of variables that tables became weights of.
    """
    ready = base.ready
    n, size, n_variables = len(ready.layout.heads), len(ready.layout.scopes), len(counts)
    tables = np.empty(len(ready.tables) + 1)
    room = np.empty(n_variables + len(states), np.int64)
    left = ModelLayout(
        counts, np.empty(n + 1, np.int64), np.empty(size, np.int64), np.empty(size, np.int64),
        np.empty(n + 1, np.int64), np.empty(n, np.int64), np.empty(n_variables + 1, np.int64),
        np.empty(size, np.int64), np.empty(n, np.uint8),
    )  # fmt: skip
    log = _kernels().cut_tables(
        tuple(ready.layout), ready.tables, ready.outline.starts, states, tuple(left), soft,
        tables, weights, room,
    )  # fmt: skip
    end = int(left.scope_starts[n])
    layout = left._replace(
        scopes=left.scopes[:end], strides=left.strides[:end], var_factors=left.var_factors[:end]
    )
    return layout, tables, log


def deciding(layout: ModelLayout) -> tuple[Array, ...]:
    """The arrays of a cut model that all others of the same model follow from."""
    return layout.cards, layout.scope_starts, layout.heads, layout.zeros


def narrow(
    base: Whole,
    known: Integers,
    states: Integers,
    counts: Integers,
    likelihoods: Mapping[int, Floats] = MappingProxyType({}),
) -> float:
    """Cuts impossible states out of the lists; `-inf` where nothing is left, else 0.

    Without any codes all tables are looked at, not only those of what is known.
    """
    ready, kernels = base.ready, _kernels()
    n, lost = len(ready.layout.heads), []
    for variable, likelihood in likelihoods.items():
        start = int(ready.outline.starts[variable])
        kept = states[start : start + int(counts[variable])]
        kept = kept[likelihood[kept] > 0]
        if not len(kept):
            return -math.inf
        if len(kept) < counts[variable]:
            states[start : start + len(kept)] = kept
            counts[variable] = len(kept)
            lost.append(variable)
    axes = np.empty((len(counts), kernels.n_fields), np.int64)
    room = np.empty(len(states), np.uint8), np.empty(len(states), np.int64), axes
    waiting = np.empty(n, np.int64), np.zeros((2, n // 64 + 1), np.uint64)
    some = _patience.run(
        kernels.narrow, tuple(ready.layout), base.ranking, ready.tables, ready.outline.starts,
        known, np.array(lost, np.int64), states, counts, waiting, room,
    )  # fmt: skip
    return 0.0 if some else -math.inf


def weigh(
    evidence: Evidence,
    starts: Integers,
    states: Integers,
    counts: Integers,
    soft: Bytes,
    weights: Floats,
) -> float:
    """Likelihoods into the weights of the states that are left; the logarithm of what is taken."""
    from novum.graphical.inference.compiled.cuts_kernels import multiply_weights
    from novum.graphical.inference.compiled.factors_kernels import COUNTS, WEIGHTED

    log = 0.0
    for variable, likelihood in evidence.likelihoods.items():
        start, count = int(starts[variable]), int(counts[variable])
        factors = as_argument(likelihood[states[start : start + count]])
        top = float(factors.max())
        log += math.log(top)
        if count > 1:
            factors = factors / top
            is_first = 1 - (int(soft[variable]) & WEIGHTED)
            log += multiply_weights(factors, 0, count, weights, start, is_first)
            soft[variable] = WEIGHTED | COUNTS
    return log
