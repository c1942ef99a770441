"""Noisy-or families from a table, by their own likelihood.

    P(x inactive | active parents A) = exp(-(t_0 + sum over i in A of t_i)),    t >= 0

with t_i = -log(1 - strength_i) and t_0 that of the leak. With n_0 and n_1 rows of a set A in which
the node is inactive and active, and h = t_0 + sum t_i, the log-likelihood

    sum over A of  -n_0 h + n_1 log(1 - exp(-h))

is concave in t, so that the maximum is found by Newton steps over t >= 0, and a dual point proves
it: any c >= 0 with X'c <= X'n_0 gives the bound sum of c log(c / (n_1 + c)) + n_1 log(n_1 / (n_1 +
c)). A parent that never left the node inactive has strength 1, and its rows say no more.

Where cells are missing the counts are expected under the network (`expectation`), and each round of
EM solves this problem for them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import xlogy

from novum.core.errors import InputError
from novum.core.learners import Certificate, Stopwatch, Verdict
from novum.core.tables import Level
from novum.core.text import label_text
from novum.distributions import StateAxis
from novum.graphical.learning.coded_table import CodedTable
from novum.graphical.learning.scores import graph_and_rows
from novum.graphical.models.bayesian_network import BayesianNetwork
from novum.graphical.models.compact import NoisyOr
from novum.graphical.structure.dag import Dag
from novum.numerics import Floats, Mask

MOST_STEPS = 500


@dataclass(frozen=True, eq=False)
class FittedNoisyOr:
    """A noisy or with the largest likelihood, and the proof.

    Attributes
    ----------
    conditional : NoisyOr
    log_likelihood : float
        Of the node given its parents; with missing cells, of all known cells of the network.
    certificate : Certificate
        `gap` is how far the log-likelihood can be from its maximum; with missing cells that of EM.
    """

    conditional: NoisyOr
    log_likelihood: float
    certificate: Certificate = field(repr=False)


def fit_noisy_or(
    dag: Dag | BayesianNetwork,
    table: Any,
    name: str,
    prior: Any = None,
    *,
    active: Mapping[str, Level] | None = None,
    inactive: Mapping[str, Level] | None = None,
    sample_weight: Any = None,
) -> FittedNoisyOr:
    """Strengths and leak of one node by maximum likelihood.

    Parameters
    ----------
    dag : Dag or BayesianNetwork
        Of a network the states count, and where the node is a noisy or, which of them are active; a
        parent that is never active in the table keeps its strength.
    table : data frame, mapping of columns or array
        Where a cell of the node or of its parents is missing, all columns of the graph take part:
        EM fits the whole network, and what is missing is expected given the rest of its row.
    name : str
    prior : TablePrior, optional
        Adds its pseudo-counts of the node's table as rows.
    active, inactive : mappings from names to states, optional
        Which state is active where that does not follow from the names, as in `NoisyOr`.
    sample_weight : array of shape (n_rows,), optional

    Examples
    --------
    >>> rows = {"cold": [0, 0, 1, 1, 1, 1, 0, 0], "fever": [0, 0, 1, 1, 1, 0, 0, 1]}
    >>> graph = Dag.from_edges([("cold", "fever")])
    >>> fitted = fit_noisy_or(graph, rows, "fever")
    >>> round(fitted.conditional.leak, 4), round(fitted.conditional.strengths[0], 4)
    (0.25, 0.6667)
    >>> fitted.certificate.verdict.value
    'proved'
    """
    graph, coded = graph_and_rows(dag, table, sample_weight)
    place = graph.place(name)
    given = dag[name] if isinstance(dag, BayesianNetwork) and name in dag else None
    if not isinstance(given, NoisyOr) or active or inactive:
        axes = tuple(coded.variables[p] for p in graph.parents[place])
        given = blank_noisy_or(coded.variables[place], axes, active, inactive)
    members = [place, *graph.parents[place]]
    if (coded.codes[members] >= 0).all():
        return noisy_or_of(graph, coded, place, given, prior)
    from novum.graphical.learning.expectation import fit_tables_expectation

    others = dag.conditionals if isinstance(dag, BayesianNetwork) else ()
    noisy = {i: node for i, node in enumerate(others) if isinstance(node, NoisyOr)}
    fitted = fit_tables_expectation(graph, coded, prior, noisy={**noisy, place: given})
    return FittedNoisyOr(fitted.network[name], fitted.log_likelihood, fitted.certificate)


def blank_noisy_or(
    axis: StateAxis,
    axes: tuple[StateAxis, ...],
    active: Mapping[str, Level] | None = None,
    inactive: Mapping[str, Level] | None = None,
) -> NoisyOr:
    """A noisy or whose active states are said, or follow from their names."""
    said = {**(active or {}), **(inactive or {})}
    for own in (axis, *axes):
        if len(own.states) == 1 and (own is axis or own.name not in said):
            name, state = label_text(own.name), label_text(own.states[0])
            raise InputError(
                f"{name} is {state} in every row of the table, so that nothing can be said of "
                + (
                    "what sets it off. Give rows in which it is not, or a network that has both "
                    "states."
                    if own is axis
                    else f"what it sets off beside the leak. Leave the edge from {name} out, or "
                    "give a network that has both states."
                )
            )
    return NoisyOr(axis, axes, [0.5] * len(axes), active=active, inactive=inactive)


def noisy_or_of(graph: Dag, coded: CodedTable, place: int, given: Any, prior: Any) -> FittedNoisyOr:
    """The same of a node by number, of a table whose columns are the nodes; no cell is missing."""
    clock = Stopwatch()
    parents = graph.parents[place]
    axis, axes = coded.variables[place], tuple(coded.variables[p] for p in parents)
    start = given if isinstance(given, NoisyOr) else blank_noisy_or(axis, axes)
    active = coded.codes[list(parents)] != np.array(start.inactive_states, np.int32)[:, None]
    fires = coded.codes[place] == start.active_state
    weights = np.ones(coded.n_rows) if coded.weights is None else coded.weights
    sets, inverse = np.unique(active.T, axis=0, return_inverse=True)
    inverse = inverse.ravel()
    sides = [np.bincount(inverse, weights * (fires == on), len(sets)) for on in (False, True)]
    counts = np.stack(sides).astype(np.float64)
    if prior is not None:
        sets, counts = _with_prior(start, sets, counts, prior)
    solution = _largest_likelihood(sets, counts)
    conditional, unseen = _conditional(start, sets, counts, solution)
    gap = max(solution.bound - solution.value, 0.0)
    scale = max(abs(solution.value), 1.0)
    certificate = Certificate(
        objective="log-likelihood of a noisy or, maximized",
        verdict=Verdict.PROVED if gap <= 1e-8 * scale else Verdict.STOPPED_EARLY,
        value=solution.value,
        gap=gap,
        iterations=solution.steps,
        details={"never_active": unseen},
        seconds=clock.seconds,
    )
    return FittedNoisyOr(conditional, solution.value, certificate)


def noisy_or_of_counts(start: NoisyOr, cells: Floats) -> NoisyOr:
    """The noisy or of largest likelihood for counts of its table, those of a prior among them."""
    cells = cells.reshape(-1, 2)
    seen = np.flatnonzero(cells.sum(axis=1) > 0)
    if not seen.size:
        return start
    cases = np.stack(np.unravel_index(seen, start.shape[:-1] or (1,)), axis=1)
    active = cases[:, : len(start.parents)] != np.array(start.inactive_states, int)
    sets, inverse = np.unique(active, axis=0, return_inverse=True)
    counts = np.stack(
        [
            np.bincount(inverse.ravel(), cells[seen, state], len(sets))
            for state in (1 - start.active_state, start.active_state)
        ]
    )
    return _conditional(start, sets, counts, _largest_likelihood(sets, counts))[0]


def _conditional(
    start: NoisyOr, sets: Mask, counts: Floats, solution: _Solution
) -> tuple[NoisyOr, tuple[str, ...]]:
    """The solution as a noisy or, and the parents that are never active, which keep theirs."""
    strengths = -np.expm1(-solution.strengths)
    unseen = ~(sets & (counts.sum(axis=0) > 0)[:, None]).any(axis=0)
    strengths[1:][unseen] = np.array(start.strengths)[unseen]
    node = NoisyOr(
        start.variable,
        start.parents,
        strengths[1:].tolist(),
        float(strengths[0]),
        start.active,
        start.inactive,
    )
    return node, tuple(a.name for a, no in zip(start.parents, unseen, strict=True) if no)


def _with_prior(start: NoisyOr, sets: Mask, counts: Floats, prior: Any) -> tuple[Mask, Floats]:
    """Rows of the table and those that the prior adds for every set of active parents."""
    from novum.graphical.learning.parameters import pseudo_counts
    from novum.graphical.models.conditional import check_node_cells

    check_node_cells(
        start.variable, start.parents, "A noisy or of so many parents is fitted without a prior."
    )
    added = pseudo_counts(prior, [start.shape], [start.name]).reshape(-1, start.shape[-1])
    cases = np.stack(np.unravel_index(np.arange(len(added)), start.shape[:-1] or (1,)), axis=1)
    more = cases[:, : len(start.parents)] != np.array(start.inactive_states, int)
    both = np.concatenate([sets, more])
    sides = [added[:, 1 - start.active_state], added[:, start.active_state]]
    return both, np.concatenate([counts, np.stack(sides)], axis=1)


# --- The maximum ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Solution:
    strengths: Floats
    value: float
    bound: float
    steps: int


def _largest_likelihood(sets: Mask, counts: Floats) -> _Solution:
    """The best t of (leak, parents), with the log-likelihood and a bound for it."""
    design = np.column_stack([np.ones(len(sets)), sets]).astype(np.float64)
    kept = counts.sum(axis=0) > 0
    theta = np.zeros(design.shape[1])
    # Who never left the node inactive is certain, and explains its rows.
    while True:
        silent, active = design[kept].T @ counts[0, kept], design[kept].sum(axis=0)
        certain = np.flatnonzero((silent == 0) & (active > 0))
        if not certain.size:
            break
        theta[certain[0]] = math.inf
        kept &= design[:, certain[0]] == 0
    X, silent_rows, active_rows = design[kept], counts[0, kept], counts[1, kept]
    free = X.sum(axis=0) > 0
    X = X[:, free]
    if not X.size:
        return _Solution(theta, 0.0, 0.0, 0)
    t, steps = np.full(X.shape[1], 0.1), 0
    value = _log_likelihood(X @ t, silent_rows, active_rows)
    while steps < MOST_STEPS:
        steps += 1
        # Sets in which the node was never active have no odds to weigh, even where h is 0.
        odds = np.zeros(len(X))
        np.divide(1.0, np.expm1(X @ t), out=odds, where=active_rows > 0)
        gradient = X.T @ (active_rows * odds - silent_rows)
        curvature = X.T @ ((active_rows * odds * (1.0 + odds))[:, None] * X)
        moving = (t > 0) | (gradient > 0)
        step = np.zeros(len(t))
        inner = curvature[np.ix_(moving, moving)]
        ridge = 1e-12 * float(np.trace(inner) + np.abs(gradient).max(initial=0.0)) + 1e-300
        step[moving] = np.linalg.solve(inner + ridge * np.eye(len(inner)), gradient[moving])
        share = 1.0
        while share > 1e-14:
            trial = np.maximum(t + share * step, 0.0)
            reached = _log_likelihood(X @ trial, silent_rows, active_rows)
            if reached >= value + 1e-4 * float(gradient @ (trial - t)) and reached > value:
                break
            share /= 2
        else:
            break
        gained, t, value = reached - value, trial, reached
        if gained <= 1e-15 * max(abs(value), 1.0):
            break
    theta[free] = np.where(np.isinf(theta[free]), theta[free], t)
    return _Solution(theta, value, _dual_bound(X, t, silent_rows, active_rows), steps)


def _log_likelihood(h: Floats, silent: Floats, active: Floats) -> float:
    return float(np.sum(xlogy(active, -np.expm1(-h)) - silent * h))


def _dual_bound(X: Floats, t: Floats, silent: Floats, active: Floats) -> float:
    """A log-likelihood that no t exceeds."""
    c = np.zeros(len(X))
    np.divide(active, np.expm1(X @ t), out=c, where=active > 0)
    most, now = X.T @ silent, X.T @ c
    over = now > most
    if over.any():
        c = c * float((most[over] / now[over]).min())
    total = active + c
    return float(np.sum(xlogy(c, c) + xlogy(active, active) - xlogy(total, total)))
