"""Junction tree inference: the exact engine that questions use unless they name another.

Textbook-size models are answered in NumPy (`plain_junction`), all others by compiled programs
(`compiled`). Which way is taken depends on the size of the model and of the question, so that the
same question has the same bits whatever is compiled or kept from before.

    all posteriors     collect to the roots, distribute back          one program
                       or, without evidence, one small program for each variable: its posterior
                       depends on its ancestors only, and these may be few
    some               what they depend on, else the same
    one, or a joint    collect to the clique that has them
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from novum.core.errors import MemoryLimitError
from novum.graphical.inference.compiled.layout import (
    ANCESTORS,
    CONNECTED,
    EVERYTHING,
    JOINT,
    MARGINALS,
    MAXIMUM,
)
from novum.graphical.inference.compiled.prepared import Program
from novum.graphical.inference.compiled.questions import Question, question_of, uncut_question
from novum.graphical.inference.compiled.runs import (
    joint_table,
    log_sum,
    maximized,
    posteriors,
    small_joint,
)
from novum.graphical.inference.plain_junction import LogJunctionTree, PlainJunctionTree, impossible
from novum.graphical.inference.protocol import Beliefs, ExactEngine
from novum.graphical.models.arrays import Evidence, ModelArrays, read_only
from novum.numerics import Floats, Integers

# Models of up to so many variables and cells are answered in NumPy.
PLAIN_VARIABLES = 7
PLAIN_CELLS = 1000
# Beyond so many the bit sets of an elimination order no longer fit.
MOST_VARIABLES = 30_000
# Trees of fewer cells are cheaper than the plans of many small ones.
LARGE_TREE = 2e5
# Prices in cells of a collecting run: a plan, each variable of it, a cell of a whole tree.
PLAN_CELLS = 1.5e4
VARIABLE_CELLS = 1e3
WHOLE_TREE = 4.0
# So many variables are priced before the rest is taken to cost the same.
SAMPLED = 3


@dataclass(frozen=True)
class JunctionTree(ExactEngine):
    """Exact posteriors by messages in a tree of cliques.

    Parameters
    ----------
    memory_limit : int, str or None
        For tables and messages; by default what `novum.core.runtime.memory` allows.

    Notes
    -----
    Evidence is cut out of the tables before anything is multiplied; messages that are known to be
    all ones are not computed; each is scaled by its largest entry. Where the products inside a
    clique might leave the range of floating-point numbers, as with thousands of findings about one
    variable, the question is answered in logarithms (`LogJunctionTree`) instead.

    Examples
    --------
    >>> from novum.graphical.models.bayesian_network import BayesianNetwork
    >>> network = BayesianNetwork().add("rain", table=[0.2, 0.8])
    >>> network = network.add("wet", parents=["rain"], table=[[0.9, 0.1], [0.1, 0.9]])
    >>> network.query("rain", given={"wet": "true"}, engine=JunctionTree())
    rain   probability
    true      0.692308
    false     0.307692
    """

    memory_limit: int | str | None = None

    def marginals(
        self, model: ModelArrays, evidence: Evidence, variables: Sequence[int] | None = None
    ) -> Beliefs:
        if is_plain(model):
            return self._plain.marginals(model, evidence, variables)
        try:
            question = _possible(model, evidence)
            if variables is None:
                return self._all(model, question)
            return Beliefs(self._some(model, question, variables))
        except _BeyondFloatsError:
            return self._careful.marginals(model, evidence, variables)

    def joint(self, model: ModelArrays, evidence: Evidence, variables: Sequence[int]) -> Beliefs:
        if is_plain(model):
            return self._plain.joint(model, evidence, variables)
        try:
            table = self._small(model, evidence, variables)
            if table is None:
                table = self._joint(model, _possible(model, evidence), list(variables))
            return Beliefs((table,))
        except _BeyondFloatsError:
            return self._careful.joint(model, evidence, variables)

    def families(self, model: ModelArrays, evidence: Evidence) -> Beliefs:
        # In NumPy: programs keep no tables of cliques, which these are read from.
        return self._plain.families(model, evidence)

    def log_evidence(self, model: ModelArrays, evidence: Evidence) -> float:
        if is_plain(model):
            return self._plain.log_evidence(model, evidence)
        try:
            return self._log(question_of(model, evidence))
        except _BeyondFloatsError:
            return self._careful.log_evidence(model, evidence)

    def most_probable(self, model: ModelArrays, evidence: Evidence) -> tuple[Integers, float]:
        """The most probable states of all variables, and the logarithm of their probability."""
        if not is_plain(model):
            question = question_of(model, evidence)
            codes, log = question.known, question.log
            if log > -math.inf:
                program = question.program((), EVERYTHING, MAXIMUM, self.memory_limit)
                codes, log = maximized(question, program)
            if log == -math.inf:
                raise impossible()
            if not math.isnan(log):
                return codes, log
        from novum.graphical.inference.explanation import most_probable_codes

        everything = range(model.n_variables)
        return most_probable_codes(model, evidence, everything, engine=self._plain)[0]

    # Ways

    @property
    def _plain(self) -> PlainJunctionTree:
        return PlainJunctionTree(self.memory_limit)

    @property
    def _careful(self) -> LogJunctionTree:
        return LogJunctionTree(self.memory_limit)

    def _all(self, model: ModelArrays, question: Question) -> Beliefs:
        shown = range(model.n_variables - model.n_hidden)
        try:
            program = question.program((), EVERYTHING, MARGINALS, self.memory_limit)
        except MemoryLimitError:
            if not question.is_unconditional:
                raise
            singles = self._ancestral(model, question, shown, math.inf)
            return Beliefs(singles or (), 0.0)
        if program.cells > LARGE_TREE and question.is_unconditional:
            singles = self._ancestral(model, question, shown, WHOLE_TREE * program.cells)
            if singles is not None:
                return Beliefs(singles, 0.0)
        tables, log = posteriors(question, program)
        return Beliefs(_parts(model, tables, question, shown), question.log + _checked(log))

    def _some(
        self, model: ModelArrays, question: Question, variables: Sequence[int]
    ) -> tuple[Floats, ...]:
        free = [variable for variable in variables if question.known[variable] < 0]
        if len(free) < 2:
            return tuple(self._joint(model, question, [variable]) for variable in variables)
        program = question.program(free, CONNECTED, MARGINALS, self.memory_limit)
        tables, log = posteriors(question, program)
        _checked(log)
        if program.has_cut_off:
            self._refuse_impossible(question)
        return _parts(model, tables, question, variables)

    def _small(
        self, model: ModelArrays, evidence: Evidence, variables: Sequence[int]
    ) -> Floats | None:
        """The joint table of a small question about variables that are not known, else None."""
        for variable in variables:
            if evidence.codes[variable] >= 0:
                return None
        answer = small_joint(uncut_question(model, evidence), variables, self.memory_limit)
        if answer is None:
            return None
        _checked(answer.log)
        if answer.has_cut_off:
            self._refuse_impossible(_possible(model, evidence))
        table = read_only(answer.table)
        if len(variables) == 1:
            return table
        return table.reshape([int(model.cards[variable]) for variable in variables])

    def _joint(self, model: ModelArrays, question: Question, variables: Sequence[int]) -> Floats:
        """The joint table: zero at states that are not left."""
        free = [variable for variable in variables if question.known[variable] < 0]
        shape = [int(model.cards[variable]) for variable in variables]
        if not free:
            self._refuse_impossible(question)
            table = np.ones(1)
        else:
            table = self._free_table(question, free)
            if len(table) == math.prod(shape):
                return table.reshape(shape)
        states = [question.states_of(variable) for variable in variables]
        whole = np.zeros(shape)
        whole[np.ix_(*states)] = table.reshape([len(left) for left in states])
        return whole

    def _free_table(self, question: Question, free: Sequence[int]) -> Floats:
        """Of variables that are not known, at the states that are left."""
        program = question.program(free, CONNECTED, JOINT, self.memory_limit)
        size = math.prod(int(question.cards[variable]) for variable in free)
        table, log = joint_table(question, program, size)
        _checked(log)
        if program.has_cut_off:
            self._refuse_impossible(question)
        return table / np.add.reduce(table)

    def _log(self, question: Question) -> float:
        """The logarithm of the sum over all states; `-inf` for none."""
        if math.isnan(question.log):
            raise _BeyondFloatsError
        if question.log == -math.inf:
            return -math.inf
        if "log" not in question.notes:
            program = question.program((), ANCESTORS, JOINT, self.memory_limit)
            question.notes["log"] = question.log + log_sum(question, program)
        log = question.notes["log"]
        if math.isnan(log):
            raise _BeyondFloatsError
        return log

    def _refuse_impossible(self, question: Question) -> None:
        if self._log(question) == -math.inf:
            raise impossible()

    def _ancestral(
        self, model: ModelArrays, question: Question, variables: Sequence[int], most: float
    ) -> tuple[Floats, ...] | None:
        """Each posterior from the variable's ancestors; None where that costs more than `most`."""
        if ancestral_programs(question, variables, most, self.memory_limit) is None:
            return None
        return tuple(self._joint(model, question, [variable]) for variable in variables)


class _BeyondFloatsError(Exception):
    """Products inside a clique might leave the range of floating-point numbers."""


def ancestral_programs(
    question: Question, variables: Sequence[int], most: float, limit: int | str | None
) -> list[Program] | None:
    """A program for each variable and its ancestors; None where they cost more than `most`."""
    n = len(variables)
    # Spread over the model, so that the first ones speak for all.
    stride = next(k for k in range(max(1, int(0.618 * n)), n + 1) if math.gcd(k, n) == 1)
    spread = [variables[step * stride % n] for step in range(n)]
    spread = [variable for variable in spread if question.known[variable] < 0]
    first = spread[:SAMPLED]
    least = sum(PLAN_CELLS + VARIABLE_CELLS * len(question.ancestors_of(v)) for v in first)
    if least / max(1, len(first)) * len(spread) > most:
        return None
    spent, programs = 0.0, []
    for step, variable in enumerate(spread, 1):
        program = question.program([variable], CONNECTED, JOINT, limit)
        programs.append(program)
        spent += program.cells + PLAN_CELLS + VARIABLE_CELLS * len(program.variables)
        if spent > most or (step >= SAMPLED and spent / step * len(spread) > most):
            return None
    return programs


def is_plain(model: ModelArrays) -> bool:
    """Whether a model is of textbook size (or beyond what bit sets can hold)."""
    if model.n_variables > MOST_VARIABLES:
        return True
    return model.n_variables <= PLAIN_VARIABLES and len(model.tables) <= PLAIN_CELLS


def _possible(model: ModelArrays, evidence: Evidence) -> Question:
    """What is known, unless it contradicts itself at once."""
    question = question_of(model, evidence)
    _checked(question.log)
    return question


def _checked(log: float) -> float:
    """A logarithm that is one."""
    if math.isnan(log):
        raise _BeyondFloatsError
    if log == -math.inf:
        raise impossible()
    return log


def _parts(
    model: ModelArrays, tables: Floats, question: Question, asked: Sequence[int]
) -> tuple[Floats, ...]:
    """The tables of the asked variables, which lie one after the other, as views."""
    read_only(tables)
    starts, cards = question.starts.tolist(), model.cards.tolist()
    return tuple([tables[starts[v] : starts[v] + cards[v]] for v in asked])
