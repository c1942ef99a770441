"""Trellis: a chain of variables seen column by column, with forward, backward and best messages.

    forward    a_t(x) proportional to P(x_t, what is known up to t)
    backward   b_t(x) proportional to P(what is known after t | x_t)
    posterior  proportional to a_t(x) b_t(x)
    Viterbi    d_t(x) = max over paths to x at t of their probability; the best path backwards

A hidden Markov model is such a network: its observed variables turn into factors of the hidden
ones. The messages are those of `SumProduct` on the tree, read along the chain: forward is all that
reaches a variable but from its successor.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from novum.core.errors import InputError
from novum.core.schema import Level
from novum.core.text import label_text
from novum.distributions.joint_table_states import shown
from novum.graphical.inference.flat_factors import FlatFactors, flat_factors
from novum.graphical.inference.plain_junction import impossible
from novum.graphical.inference.trees import TreeMessages
from novum.graphical.models.arrays import Floats
from novum.graphical.models.questions import Likelihoods, NamedModel, States, evidence_of
from novum.graphical.structure.dag import CyclicGraphError


@dataclass(frozen=True, eq=False, repr=False)
class Trellis:
    """Columns of a chain, each with the messages of its states.

    Attributes
    ----------
    names : tuple of str
        Unobserved variables along the chain.
    states : tuple of tuples
        Their states.
    forward, backward, posteriors : tuples of arrays
        Each array sums to one.
    scores : tuple of arrays
        Logarithm of the probability of the best path that ends in each state, over the largest.
    path : tuple of states
        The most probable states together (Viterbi 1967).
    log_evidence, log_probability : float
        Of what is known, and of that together with the path.

    Examples
    --------
    >>> from novum.graphical.models.bayesian_network import BayesianNetwork
    >>> network = BayesianNetwork().add("rain0", table=[0.5, 0.5])
    >>> for day in (1, 2):
    ...     network = network.add(f"rain{day}", [f"rain{day - 1}"], [[0.7, 0.3], [0.3, 0.7]])
    ...     network = network.add(f"umbrella{day}", [f"rain{day}"], [[0.9, 0.1], [0.2, 0.8]])
    >>> seen = trellis(network, {"umbrella1": "true", "umbrella2": "true"})
    >>> seen.names, seen.path
    (('rain0', 'rain1', 'rain2'), ('true', 'true', 'true'))
    >>> [round(float(column[0]), 3) for column in seen.forward]
    [0.5, 0.818, 0.883]
    """

    names: tuple[str, ...]
    states: tuple[tuple[Level, ...], ...]
    forward: tuple[Floats, ...]
    backward: tuple[Floats, ...]
    posteriors: tuple[Floats, ...]
    scores: tuple[Floats, ...]
    path: tuple[Level, ...]
    log_evidence: float
    log_probability: float

    def __repr__(self) -> str:
        lines = ["variable  state  forward  backward  posterior  best path"]
        for t, name in enumerate(self.names):
            for k, state in enumerate(self.states[t]):
                mark = "*" if state == self.path[t] else ""
                lines.append(
                    f"{shown(name):8}  {shown(state):5}  {self.forward[t][k]:7.4f}  "
                    f"{self.backward[t][k]:8.4f}  {self.posteriors[t][k]:9.4f}  {mark}".rstrip()
                )
        return "\n".join(lines)


def trellis(
    network: NamedModel, given: States | None = None, likelihood: Likelihoods | None = None
) -> Trellis:
    """The trellis of a network whose unobserved variables form a chain.

    Parameters
    ----------
    network : BayesianNetwork or FactorGraph
    given, likelihood : what is known, optional

    Raises
    ------
    InputError
        Where the unobserved variables branch, form a cycle, or fall into several parts.
    """
    evidence = evidence_of(network, given, likelihood)
    left = flat_factors(network.arrays, evidence)
    names = [_name(network, int(variable)) for variable in left.variables]
    chain = _along(left, names)
    try:
        sums, best = TreeMessages(left, np.add), TreeMessages(left, np.maximum)
    except CyclicGraphError as error:
        raise error.named(network.names) from None
    log = sums.collect()
    if log == -math.inf:
        raise impossible()
    log_best = best.collect()
    sums.distribute()
    best.distribute()
    found = best.best_states()
    axes = [network.variables[int(left.variables[v])] for v in chain]
    return Trellis(
        names=tuple(names[v] for v in chain),
        states=tuple(axis.states for axis in axes),
        forward=tuple(_shares(logs) for logs in _one_way(sums, chain)),
        backward=tuple(_shares(logs) for logs in _other_way(sums, chain)),
        posteriors=tuple(sums.posterior(v) for v in chain),
        scores=tuple(_one_way(best, chain)),
        path=tuple(axis.states[found[v]] for axis, v in zip(axes, chain, strict=True)),
        log_evidence=log,
        log_probability=log_best,
    )


def _name(network: NamedModel, variable: int) -> str:
    # Auxiliary variables have no name of their own.
    return network.names[variable] if variable < len(network.names) else f"hidden {variable}"


def _neighbors(left: FlatFactors) -> list[set[int]]:
    near: list[set[int]] = [set() for _ in range(left.n_variables)]
    for factor in range(left.n_factors):
        scope = left.scope(factor).tolist()
        for variable in scope:
            near[variable].update(other for other in scope if other != variable)
    return near


def _along(left: FlatFactors, names: Sequence[str]) -> list[int]:
    """The variables in the order of the chain, the earlier of its two ends first."""
    near = _neighbors(left)
    if not near:
        raise InputError("Every variable is observed: there is no chain left to look at.")
    crossing = next((v for v, others in enumerate(near) if len(others) > 2), None)
    if crossing is not None:
        raise InputError(
            f"Node {label_text(names[crossing])} has {len(near[crossing])} unobserved neighbors, "
            "so the unobserved variables form no chain. Observe others, or use network.marginals."
        )
    ends = [v for v, others in enumerate(near) if len(others) < 2]
    if not ends:
        raise InputError("The unobserved variables form a cycle and no chain. Observe one of them.")
    chain = [ends[0]]
    while following := near[chain[-1]] - set(chain[-2:]):
        chain.append(following.pop())
    if len(chain) < len(near):
        apart = next(v for v in range(len(near)) if v not in set(chain))
        raise InputError(
            f"Nodes {label_text(names[chain[0]])} and {label_text(names[apart])} lie in parts that "
            "are not connected: there are several chains. Observe all of the others."
        )
    return chain


def _joints(run: TreeMessages, chain: Sequence[int]) -> list[list[int]]:
    """For each variable the edges to factors that also hold its successor."""
    left = run.left
    after = dict(itertools.pairwise(chain))
    starts, edges = left.variable_edges
    found = []
    for v in chain:
        own = edges[starts[v] : starts[v + 1]].tolist()
        following = after.get(v)
        found.append([e for e in own if following in left.scope(int(left.factor_of_edge[e]))])
    return found


def _shares(logs: Floats) -> Floats:
    """Numbers that sum to one, from their logarithms up to a constant."""
    found = np.exp(logs)
    return np.asarray(found / found.sum())


def _one_way(run: TreeMessages, chain: Sequence[int]) -> list[Floats]:
    """Logarithms of all that reaches each variable but from its successor."""
    starts, edges = run.left.variable_edges
    ahead = _joints(run, chain)
    return [
        run.logs_at(v, [e for e in edges[starts[v] : starts[v + 1]].tolist() if e not in later])
        for v, later in zip(chain, ahead, strict=True)
    ]


def _other_way(run: TreeMessages, chain: Sequence[int]) -> list[Floats]:
    """Logarithms of what reaches each variable from its successor."""
    ahead = _joints(run, chain)
    return [run.logs_at(v, later) for v, later in zip(chain, ahead, strict=True)]
