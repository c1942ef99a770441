"""Junction tree inference: the exact engine that questions use unless they name another.

Textbook-size models are answered in NumPy (`plain_junction`), all others by compiled programs
(`compiled`). Which way is taken depends on the size of the model alone, so that the same question
has the same bits whatever is compiled or kept from before.

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

from novum.graphical.inference.compiled.layout import (
    ANCESTORS,
    CONNECTED,
    EVERYTHING,
    JOINT,
    MARGINALS,
    MAXIMUM,
)
from novum.graphical.inference.compiled.planning import Program, prepared, program_of
from novum.graphical.inference.compiled.runs import (
    collected,
    distributed,
    maximized,
    root_table,
)
from novum.graphical.inference.plain_junction import PlainJunctionTree, impossible, with_observed
from novum.graphical.inference.protocol import Beliefs, ExactEngine
from novum.graphical.models.arrays import Evidence, Floats, ModelArrays, Positions
from novum.numerics.jit import as_argument

# Models of up to so many variables and cells are answered in NumPy.
PLAIN_VARIABLES = 7
PLAIN_CELLS = 1000
# Beyond so many the bit sets of an elimination order no longer fit.
MOST_VARIABLES = 30_000
# Probabilities of observed neighbors whose product stays far above the smallest float.
MOST_OBSERVED = 16
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
        For tables and messages; by default what `novum.core.memory` allows.

    Notes
    -----
    Evidence is cut out of the tables before anything is multiplied; messages that are known to be
    all ones are not computed; each is scaled by its largest entry, so nothing underflows.

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
        if is_plain(model) or has_hub(model, evidence):
            return self._plain.marginals(model, evidence, variables)
        if variables is None:
            return self._all(model, evidence)
        return Beliefs(self._some(model, evidence, variables))

    def joint(self, model: ModelArrays, evidence: Evidence, variables: Sequence[int]) -> Beliefs:
        if is_plain(model) or has_hub(model, evidence):
            return self._plain.joint(model, evidence, variables)
        free = [variable for variable in variables if evidence.codes[variable] < 0]
        if not free:
            self._refuse_impossible(model, evidence)
            return Beliefs((with_observed(model, evidence, variables, free, np.array(1.0)),))
        table = self._joint_table(model, evidence, free)
        return Beliefs((with_observed(model, evidence, variables, free, table),))

    def log_evidence(self, model: ModelArrays, evidence: Evidence) -> float:
        if is_plain(model) or has_hub(model, evidence):
            return self._plain.log_evidence(model, evidence)
        program = program_of(model, evidence, (), ANCESTORS, JOINT, self.memory_limit)
        log = collected(prepared(model), program, _codes(evidence), evidence).log
        # An underflow looks like a zero; the plain engine can tell them apart.
        return log if log > -math.inf else self._plain.log_evidence(model, evidence)

    def most_probable(self, model: ModelArrays, evidence: Evidence) -> tuple[Positions, float]:
        """The most probable states of all variables, and the logarithm of their probability."""
        if is_plain(model) or has_hub(model, evidence):
            from novum.graphical.inference.explanation import most_probable_codes

            everything = range(model.n_variables)
            return most_probable_codes(model, evidence, everything, engine=self._plain)[0]
        program = program_of(model, evidence, (), EVERYTHING, MAXIMUM, self.memory_limit)
        codes, log = maximized(prepared(model), program, _codes(evidence), evidence)
        if log == -math.inf:
            raise impossible()
        return codes, log

    # Ways

    @property
    def _plain(self) -> PlainJunctionTree:
        return PlainJunctionTree(self.memory_limit)

    def _all(self, model: ModelArrays, evidence: Evidence) -> Beliefs:
        program = program_of(model, evidence, (), EVERYTHING, MARGINALS, self.memory_limit)
        shown = range(model.n_variables - model.n_hidden)
        if program.cells > LARGE_TREE and _is_unconditional(model, evidence):
            singles = self._ancestral(model, evidence, shown, WHOLE_TREE * program.cells)
            if singles is not None:
                return Beliefs(singles, 0.0)
        run = collected(prepared(model), program, _codes(evidence), evidence)
        if run.log == -math.inf:
            raise impossible()
        answers = distributed(run, int(model.cards[program.variables].sum()))
        return Beliefs(_tables(model, evidence, program, answers, shown), run.log)

    def _some(
        self, model: ModelArrays, evidence: Evidence, variables: Sequence[int]
    ) -> tuple[Floats, ...]:
        free = [variable for variable in variables if evidence.codes[variable] < 0]
        if len(free) < 2:
            return tuple(self.joint(model, evidence, [v]).tables[0] for v in variables)
        program = program_of(model, evidence, free, CONNECTED, MARGINALS, self.memory_limit)
        run = collected(prepared(model), program, _codes(evidence), evidence)
        if run.log == -math.inf:
            raise impossible()
        if program.has_cut_off:
            self._refuse_impossible(model, evidence)
        answers = distributed(run, int(model.cards[program.variables].sum()))
        return _tables(model, evidence, program, answers, variables)

    def _joint_table(self, model: ModelArrays, evidence: Evidence, free: Sequence[int]) -> Floats:
        program = program_of(model, evidence, free, CONNECTED, JOINT, self.memory_limit)
        run = collected(prepared(model), program, _codes(evidence), evidence)
        if run.log == -math.inf:
            raise impossible()
        if program.has_cut_off:
            self._refuse_impossible(model, evidence)
        table = root_table(run)
        return (table / table.sum()).reshape([int(model.cards[v]) for v in free])

    def _refuse_impossible(self, model: ModelArrays, evidence: Evidence) -> None:
        if self.log_evidence(model, evidence) == -math.inf:
            raise impossible()

    def _ancestral(
        self, model: ModelArrays, evidence: Evidence, variables: Sequence[int], most: float
    ) -> tuple[Floats, ...] | None:
        """Each posterior from the variable's ancestors; None where that costs more than `most`."""
        n = len(variables)
        spent = 0.0
        # Spread over the model, so that the first ones speak for all.
        stride = next(k for k in range(max(1, int(0.618 * n)), n + 1) if math.gcd(k, n) == 1)
        for step in range(n):
            variable = variables[step * stride % n]
            program = program_of(model, evidence, [variable], CONNECTED, JOINT, self.memory_limit)
            spent += program.cells + PLAN_CELLS + VARIABLE_CELLS * len(program.variables)
            if spent > most or (step + 1 >= SAMPLED and spent / (step + 1) * n > most):
                return None
        return tuple(self._joint_table(model, evidence, [v]) for v in variables)


def is_plain(model: ModelArrays) -> bool:
    """Whether a model is of textbook size (or beyond what bit sets can hold)."""
    if model.n_variables > MOST_VARIABLES:
        return True
    return model.n_variables <= PLAIN_VARIABLES and len(model.tables) <= PLAIN_CELLS


def has_hub(model: ModelArrays, evidence: Evidence) -> bool:
    """Whether some variable has so many observed neighbors that their product could underflow.

    The compiled programs scale messages, not the products inside one clique; the plain engine
    scales both.
    """
    if model.most_factors <= MOST_OBSERVED:
        return False
    sizes = np.diff(model.scope_starts)
    observed = evidence.codes >= 0
    touched = np.logical_or.reduceat(observed[model.scopes], model.scope_starts[:-1][sizes > 0])
    counted = np.repeat(touched, sizes[sizes > 0])
    found = np.bincount(model.scopes[counted], minlength=model.n_variables)
    return bool(found[~observed].max(initial=0) > MOST_OBSERVED)


def _is_unconditional(model: ModelArrays, evidence: Evidence) -> bool:
    return model.is_directed and not evidence.likelihoods and not (evidence.codes >= 0).any()


def _codes(evidence: Evidence) -> Positions:
    return as_argument(evidence.codes, np.int64)


def _tables(
    model: ModelArrays,
    evidence: Evidence,
    program: Program,
    answers: Floats,
    asked: Sequence[int],
) -> tuple[Floats, ...]:
    """The answers of the asked variables; observed ones have a 1 at their state."""
    cards = model.cards.tolist()
    starts = {}
    at = 0
    for variable in program.variables.tolist():
        starts[variable] = at
        at += cards[variable]
    found = []
    for variable in asked:
        if variable in starts:
            table = answers[starts[variable] : starts[variable] + cards[variable]]
        else:
            table = np.zeros(cards[variable])
            table[evidence.codes[variable]] = 1.0
        found.append(table)
    return tuple(found)
