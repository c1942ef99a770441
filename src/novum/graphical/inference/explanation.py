"""Most probable configurations: of all variables, of some, and the k best.

    best      max over x of  product of factors        max-product, then back-tracking
    MAP       max over some, sum over the others       sums first, maxima last
    k best    the best of what is left after each answer (Lawler 1972): all configurations but
              those found so far are split by where they first differ from the last answer, and the
              best of each part is the best under a few states that are prescribed or forbidden

Logarithms of scales are kept, so products do not underflow.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novum.core.errors import InputError
from novum.distributions.joint_table import ImpossibleEvidence
from novum.graphical.inference.plain_junction import check_order, impossible, order_for
from novum.graphical.inference.potentials import (
    Floats,
    Potential,
    in_order,
    known_potentials,
    scaled,
    scaled_product,
    shape_of,
)
from novum.graphical.inference.protocol import ExactEngine
from novum.graphical.inference.relevance import ancestors_of
from novum.graphical.models.arrays import Evidence, ModelArrays
from novum.graphical.structure.triangulation import Order, greedy_order, interaction_graph

Codes = NDArray[np.int64]
Answer = tuple[Codes, float]


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
    shown = list(range(model.n_variables - model.n_hidden))
    chosen = shown if asked is None else list(asked)
    everything = model.n_hidden == 0 and sorted(chosen) == shown
    solver = _compiled(model) if engine is None else engine
    solve = _all_best if everything else _some_best(chosen)
    if everything and hasattr(solver, "most_probable"):
        solve = _best_by(solver)
    found = _k_best(model, evidence, chosen, solve, k)
    if not found:
        raise impossible()
    return [(codes[chosen], log) for codes, log in found]


def _compiled(model: ModelArrays) -> ExactEngine | None:
    from novum.graphical.inference.junction import JunctionTree, is_plain

    return None if is_plain(model) else JunctionTree()


# --- One best -------------------------------------------------------------------------------------


def _all_best(model: ModelArrays, evidence: Evidence) -> Answer | None:
    """The most probable configuration, or None where the evidence is impossible."""
    potentials = known_potentials(model, evidence)
    order = order_for(potentials, model.cards, ())
    return _maximized(model, evidence, potentials, order, frozenset())


def _best_by(engine: Any) -> Any:
    """Maximization by an engine's own way."""

    def solve(model: ModelArrays, evidence: Evidence) -> Answer | None:
        try:
            codes, log = engine.most_probable(model, evidence)
        except ImpossibleEvidence:
            return None
        return codes, log

    return solve


def _some_best(chosen: Sequence[int]) -> Any:
    """Maximization over some variables with the others summed out before."""

    def solve(model: ModelArrays, evidence: Evidence) -> Answer | None:
        factors = list(range(model.n_factors))
        if model.is_directed:
            known = [*chosen, *evidence.observed.tolist(), *evidence.likelihoods]
            factors = np.flatnonzero(ancestors_of(model, known)).tolist()
        potentials = known_potentials(model, evidence, factors)
        kept = {variable for variable in chosen if evidence.codes[variable] < 0}
        order = _sums_first(potentials, model, kept)
        summed = frozenset(order.variables) - kept
        return _maximized(model, evidence, potentials, order, summed)

    return solve


def _sums_first(potentials: Sequence[Potential], model: ModelArrays, kept: set[int]) -> Order:
    scopes = [scope for scope, _ in potentials]
    variables = sorted({variable for scope in scopes for variable in scope} | kept)
    near = interaction_graph(scopes, model.n_variables)
    sizes = model.cards.tolist()
    orders = [greedy_order(near, sizes, variables, rule, kept) for rule in ("fill", "weight")]
    return min(orders, key=lambda order: order.cells)


def _maximized(
    model: ModelArrays,
    evidence: Evidence,
    potentials: list[Potential],
    order: Order,
    summed: frozenset[int],
) -> Answer | None:
    """Eliminates by sums and maxima in order, then reads the maximizing states backwards."""
    check_order(order, None)
    rank = {variable: -place for place, variable in enumerate(order.variables)}
    held: dict[int, list[Potential]] = {variable: [] for variable in order.variables}
    log = _placed(potentials, rank, held)
    choices: list[tuple[int, tuple[int, ...], NDArray[Any]]] = []
    for variable in order.variables:
        scope = tuple(sorted({v for s, _ in held[variable] for v in s} | {variable}, key=rank.get))  # type: ignore[arg-type]
        table, scale = scaled_product(held.pop(variable), scope, shape_of(scope, model.cards))
        # The variable goes first of its scope, so it has the last axis.
        if variable in summed:
            message = table.sum(axis=-1)
        else:
            choices.append((variable, scope[:-1], table.argmax(axis=-1)))
            message = table.max(axis=-1)
        log += scale + _placed([(scope[:-1], message)], rank, held)
    if log == -math.inf:
        return None
    codes = np.where(evidence.codes >= 0, evidence.codes, 0)
    for variable, rest, best in reversed(choices):
        codes[variable] = best[tuple(codes[other] for other in rest)]
    return codes, log


def _placed(
    potentials: Sequence[Potential], rank: dict[int, int], held: dict[int, list[Potential]]
) -> float:
    """Gives each potential to the first of its variables; numbers add to the logarithm."""
    log = 0.0
    for potential in potentials:
        scope, table = in_order(potential, rank.__getitem__)
        table, part = scaled(table)
        log += part
        if scope:
            held[scope[-1]].append((scope, table))
    return log


# --- The k best -----------------------------------------------------------------------------------


def _k_best(
    model: ModelArrays, evidence: Evidence, chosen: Sequence[int], solve: Any, k: int
) -> list[Answer]:
    free = [variable for variable in chosen if evidence.codes[variable] < 0]
    best = solve(model, evidence)
    if best is None:
        return []
    # An entry: how good, a running number that decides ties, its answer, and its part: the states
    # prescribed for the first `depth` free variables and the weights that forbid states.
    heap: list[tuple[float, int, Codes, int, Evidence]] = [(-best[1], 0, best[0], 0, evidence)]
    found: list[Answer] = []
    number = 0
    while heap and len(found) < k:
        cost, _, codes, depth, part = heapq.heappop(heap)
        found.append((codes, -cost))
        if len(found) == k:
            break
        fixed = part.codes.copy()
        for place in range(depth, len(free)):
            variable = free[place]
            # States forbidden in this part stand at its own depth; deeper ones are all allowed.
            weights = part.likelihoods if place == depth else evidence.likelihoods
            inside = _without(model, variable, int(codes[variable]), weights)
            smaller = Evidence(fixed.copy(), inside)
            answer = solve(model, smaller) if inside[variable].any() else None
            if answer is not None:
                number += 1
                heapq.heappush(heap, (-answer[1], number, answer[0], place, smaller))
            fixed[variable] = codes[variable]
    return found


def _without(
    model: ModelArrays, variable: int, state: int, weights: Mapping[int, Floats]
) -> dict[int, Floats]:
    """Weights that also forbid one state of a variable."""
    before = weights.get(variable)
    allowed = np.ones(int(model.cards[variable])) if before is None else np.array(before)
    allowed[state] = 0.0
    return {**weights, variable: allowed}
