"""Most probable configurations: of all variables, of some, and the k best.

    best      max over x of  product of factors        max-product, then back-tracking
    MAP       max over some, sum over the others       sums first, maxima last
    k best    read from the tables of one such run (`novum.graphical.inference.maximization`)

Auxiliary variables of noisy-or nodes are summed over. Where their sums make tables too large, the
noisy or is bounded instead (`novum.graphical.inference.bounded_maxima`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from novum.core.errors import InputError, MemoryLimitError
from novum.core.memory import check_memory
from novum.core.text import label_text
from novum.graphical.inference.bounded_maxima import bounded_maxima, hidden_sums_are_large
from novum.graphical.inference.limits import check_seconds
from novum.graphical.inference.maximization import Answer, choices, order_of_maxima
from novum.graphical.inference.plain_junction import impossible
from novum.graphical.inference.potentials import known_potentials
from novum.graphical.inference.protocol import Engine, ExactEngine
from novum.graphical.inference.relevance import ancestors_of
from novum.graphical.models.arrays import Evidence, ModelArrays

# Of each state of a configuration, with all that is kept to find the next; on a reference machine.
BYTES_PER_STATE = 50
SECONDS_PER_STATE = 2e-6


def most_probable_codes(
    model: ModelArrays,
    evidence: Evidence,
    asked: Sequence[int] | None = None,
    k: int = 1,
    engine: ExactEngine | None = None,
) -> list[Answer]:
    """The k most probable configurations with their log-probabilities, best first.

    Parameters
    ----------
    model : ModelArrays
    evidence : Evidence
    asked : variables, optional
        All that are not hidden by default; of fewer, the others are summed over.
    k : int
    engine : ExactEngine, optional
        One with its own `most_probable`, such as `JunctionTree`, which is the default for all but
        textbook-size models; used for configurations of all variables.

    Returns
    -------
    list of (codes, log_probability)
        Codes of the asked variables in their order. Fewer than k where there are no more that
        are possible.
    """
    if k < 1 or int(k) != k:
        raise InputError(f"k is the number of configurations wanted, at least 1; got {k!r}.")
    _check_exact(engine)
    shown = range(model.n_variables - model.n_hidden)
    chosen = list(shown if asked is None else asked)
    everything = len(chosen) == len(shown)
    _check_number(model, evidence, chosen, k)
    solver: Any = _compiled(model) if engine is None else engine
    limit = getattr(solver, "memory_limit", None)
    try:
        if everything and k == 1 and model.n_hidden == 0 and hasattr(solver, "most_probable"):
            found = [solver.most_probable(model, evidence)]
        elif everything and model.n_hidden > 0 and hidden_sums_are_large(model, evidence):
            found = bounded_maxima(model, evidence, k, limit)
        else:
            found = _best(model, evidence, chosen, k, limit)
    except MemoryLimitError as error:
        raise _no_way_around(error) from None
    if not found:
        raise impossible()
    return [(codes[chosen], log) for codes, log in found]


def _check_number(model: ModelArrays, evidence: Evidence, chosen: Sequence[int], k: int) -> None:
    """Refuses so many configurations that they do not fit the memory, or take days."""
    free = [variable for variable in chosen if evidence.codes[variable] < 0]
    wanted = min(int(k), math.prod(int(model.cards[variable]) for variable in free))
    what = f"A list of the {wanted:,} most probable configurations of {len(chosen)} nodes"
    states = wanted * (len(chosen) + 1)
    check_memory(BYTES_PER_STATE * states, what, "Ask for fewer: k=...")
    check_seconds(SECONDS_PER_STATE * states, what, "Ask for fewer: k=...")


def _check_exact(engine: Any) -> None:
    if engine is not None and not isinstance(engine, ExactEngine):
        name = type(engine).__name__ if isinstance(engine, Engine) else label_text(engine)
        raise InputError(
            f"Most probable configurations are found exactly or not at all, and {name} is no exact "
            "engine. Leave engine out, or use JunctionTree(memory_limit=...)."
        )


def _no_way_around(error: MemoryLimitError) -> MemoryLimitError:
    """The same without the advice to take an approximation: here there is none."""
    what, found, _ = str(error).partition("Observe more variables")
    return MemoryLimitError(f"{what}{found}." if found else what)


def _compiled(model: ModelArrays) -> ExactEngine | None:
    from novum.graphical.inference.junction import JunctionTree, is_plain

    return None if is_plain(model) else JunctionTree()


def _best(
    model: ModelArrays,
    evidence: Evidence,
    chosen: Sequence[int],
    k: int,
    memory_limit: int | str | None,
) -> list[Answer]:
    """Maximization over some variables, the others summed out before."""
    kept = {variable for variable in chosen if evidence.codes[variable] < 0}
    factors = None
    if model.is_directed and len(chosen) < model.n_variables:
        known = [*chosen, *evidence.observed.tolist(), *evidence.likelihoods]
        factors = np.flatnonzero(ancestors_of(model, known)).tolist()
    potentials = known_potentials(model, evidence, factors)
    order = order_of_maxima(potentials, model.cards, kept)
    summed = frozenset(order.variables) - kept
    found = choices(potentials, order, model.cards, summed, k, memory_limit)
    start = np.where(evidence.codes >= 0, evidence.codes, 0)
    return list(found.answers(start, k))
