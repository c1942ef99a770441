"""Questions as programs take them: the model that is left of what is known.

States that the evidence makes impossible are cut out of the tables before anything is planned
(`supports_kernels`, `cuts_kernels`): variables with one state left are known, tables of one
variable are weights of it, and tables that are all ones are gone. Small models stay as they are,
and so do others where little would be gained (`Whole.is_worth_cutting`) or a question is small.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novum.graphical.inference.compiled.cutting import (
    Marks,
    Whole,
    cut_layout,
    deciding,
    narrow,
    weigh,
    whole,
)
from novum.graphical.inference.compiled.planning import (
    BLOCK,
    NO_CELLS,
    Request,
    kept_program,
    prices_of,
)
from novum.graphical.inference.compiled.prepared import PreparedModel, Program
from novum.graphical.models.arrays import Evidence, Floats, ModelArrays, Positions
from novum.numerics.jit import as_argument

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
    known: Positions
    soft: Marks
    starts: Positions
    cards: Positions
    states: Positions
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

    def states_of(self, variable: int) -> Positions:
        """The states that a variable may have, by their numbers in the model."""
        start, known = self.starts[variable], self.known[variable]
        if known >= 0:
            return self.states[start + known : start + known + 1]
        return self.states[start : start + self.cards[variable]]

    def ancestors_of(self, variable: int) -> set[int]:
        """A variable of a directed model and all above it that are not known."""
        scope_starts, scopes = self.ready.layout.scope_starts, self.ready.layout.scopes
        found, waiting = set(), [variable]
        while waiting:
            one = waiting.pop()
            if one not in found:
                found.add(one)
                waiting.extend(scopes[scope_starts[one] : scope_starts[one + 1]].tolist())
        return {one for one in found if self.known[one] < 0}

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
    found = base.asked.get(key)
    if found is None:
        # What is kept must not change with the array of whoever asked.
        known = known.copy()
        found = _as_it_is(base, known, evidence)
        if found.is_cuttable and (not found.is_blank or base.is_worth_cutting):
            found = _cut(base, known, evidence)
        with base.lock:
            base.asked[key] = found
            while len(base.asked) > (MOST_SMALL if base.is_small else MOST_QUESTIONS):
                base.asked.popitem(last=False)
    return found


def uncut_question(model: ModelArrays, evidence: Evidence) -> Question:
    """What is known, of the model as it is; for one use, as it is not kept."""
    return _as_it_is(whole(model), as_argument(evidence.codes, np.int64), evidence)


def _as_it_is(base: Whole, known: Positions, evidence: Evidence) -> Question:
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


def _cut(base: Whole, known: Positions, evidence: Evidence) -> Question:
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


def _digest(arrays: Sequence[NDArray[Any]]) -> bytes:
    """Stands for what a program is planned from, which would take more memory than the program."""
    found = blake2b(digest_size=20)
    for array in arrays:
        found.update(array.data)
    return found.digest()


def _is_cuttable(base: Whole, evidence: Evidence, is_blank: bool) -> bool:
    """Whether fewer tables or states might do; never in small models."""
    if base.is_small:
        return False
    if is_blank:
        return base.has_zeros and base.may_be_worth_cutting
    return base.has_zeros or base.has_many_factors or bool(evidence.likelihoods)
