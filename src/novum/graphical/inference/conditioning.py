"""Joint tables from an engine that knows single posteriors only.

    P(a, b, c | e) = P(a | e) P(b | a, e) P(c | a, b, e)

One run of the engine for every joint state of all variables but the last.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from novum.core.errors import InputError
from novum.distributions.joint_table_states import check_cells
from novum.graphical.inference.plain_junction import with_observed
from novum.graphical.inference.protocol import Beliefs, Diagnosis, Engine
from novum.graphical.models.arrays import Evidence, Floats, ModelArrays

MOST_RUNS = 4096


def joint_by_conditioning(
    engine: Engine, model: ModelArrays, evidence: Evidence, variables: Sequence[int]
) -> Beliefs:
    """The joint posterior of some variables, by observing one after the other."""
    shape = [int(model.cards[variable]) for variable in variables]
    check_cells(shape)
    free = [variable for variable in variables if evidence.codes[variable] < 0]
    runs = math.prod(int(model.cards[variable]) for variable in free[:-1])
    if runs > MOST_RUNS:
        raise InputError(
            f"A joint table over {len(free)} variables takes {runs} runs of "
            f"{type(engine).__name__}, one for each state of all but the last. Ask for fewer "
            "variables at once, or use JunctionTree()."
        )
    said: list[Diagnosis] = []
    if not free:
        # Whether the evidence is possible is still found out.
        said += _diagnosed(engine.marginals(model, evidence, variables[:1]))
        table = np.ones(())
    else:
        table = _table(engine, model, evidence, free, said)
    whole = with_observed(model, evidence, variables, free, table)
    return Beliefs((whole,), None, _joined(said))


def _table(
    engine: Engine,
    model: ModelArrays,
    evidence: Evidence,
    free: Sequence[int],
    said: list[Diagnosis],
) -> Floats:
    first, rest = free[0], free[1:]
    found = engine.marginals(model, evidence, [first])
    said += _diagnosed(found)
    chances = found.tables[0]
    if not rest:
        return chances
    table = np.zeros([int(model.cards[variable]) for variable in free])
    weights = {v: values for v, values in evidence.likelihoods.items() if v != first}
    for state in np.flatnonzero(chances > 0):
        codes = evidence.codes.copy()
        codes[first] = state
        table[state] = chances[state] * _table(engine, model, Evidence(codes, weights), rest, said)
    return table


def _diagnosed(found: Beliefs) -> list[Diagnosis]:
    return [] if found.diagnosis is None else [found.diagnosis]


def _joined(said: Sequence[Diagnosis]) -> Diagnosis | None:
    """The first that is not trusted, or the last, with all iterations."""
    if not said:
        return None
    chosen = next((one for one in said if not one.trusted), said[-1])
    return replace(chosen, iterations=sum(one.iterations for one in said), bound=None)
