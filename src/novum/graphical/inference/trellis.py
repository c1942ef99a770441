"""Trellis: a chain of variables seen column by column, with forward, backward and best messages.

    forward    a_t(x) proportional to P(x_t, what is known up to t)
    backward   b_t(x) proportional to P(what is known after t | x_t)
    posterior  proportional to a_t(x) b_t(x)
    Viterbi    d_t(x) = max over paths to x at t of their probability; the best path backwards

A hidden Markov model is such a network: its observed variables turn into factors of the hidden
ones. All columns are logarithms less their largest, so that a chain of any length and states far
below the best keep their digits.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from novum.core.errors import InputError
from novum.core.tables import Level
from novum.core.text import label_text
from novum.distributions import shown
from novum.graphical.inference.flat_factors import FlatFactors, flat_factors, outwards
from novum.graphical.inference.protocol import impossible
from novum.graphical.models.questions import Likelihoods, NamedModel, States, evidence_of
from novum.graphical.structure.dag import CyclicGraphError
from novum.numerics import Floats


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
        outwards(left)
    except CyclicGraphError as error:
        raise error.named(network.names) from None
    weights, steps = _logs_along(left, chain)
    forward, log = _forward(weights, steps, np.logaddexp)
    scores, log_best = _forward(weights, steps, np.maximum)
    backward = _backward(weights, steps)
    path = [int(scores[-1].argmax())]
    for score, step in zip(reversed(scores[:-1]), reversed(steps), strict=True):
        path.append(int((score + step[:, path[-1]]).argmax()))
    axes = [network.variables[int(left.variables[v])] for v in chain]
    return Trellis(
        names=tuple(names[v] for v in chain),
        states=tuple(axis.states for axis in axes),
        forward=tuple(map(_shares, forward)),
        backward=tuple(map(_shares, backward)),
        posteriors=tuple(_shares(a + b) for a, b in zip(forward, backward, strict=True)),
        scores=tuple(scores),
        path=tuple(axis.states[code] for axis, code in zip(axes, reversed(path), strict=True)),
        log_evidence=left.log_constant + log,
        log_probability=left.log_constant + log_best,
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


def _logs_along(left: FlatFactors, chain: Sequence[int]) -> tuple[list[Floats], list[Floats]]:
    """Logarithms of the factors of each variable alone, and of those that join it to the next.

    A chain has no others: a factor of three variables would join each to two.
    """
    column = {variable: t for t, variable in enumerate(chain)}
    weights = [np.zeros(int(left.cards[v])) for v in chain]
    steps = [np.zeros((len(a), len(b))) for a, b in itertools.pairwise(weights)]
    with np.errstate(divide="ignore"):
        for factor in range(left.n_factors):
            logs = np.log(left.table(factor))
            columns = [column[variable] for variable in left.scope(factor).tolist()]
            if len(columns) == 1:
                weights[columns[0]] += logs
            else:
                steps[min(columns)] += logs if columns[0] < columns[1] else logs.T
    return weights, steps


def _forward(
    weights: Sequence[Floats], steps: Sequence[Floats], over: np.ufunc
) -> tuple[list[Floats], float]:
    """Logarithms of all that reaches each variable but from its successor; of the whole sum.

    With `np.maximum` in place of `np.logaddexp` of the best path to each state.
    """
    columns: list[Floats] = []
    log = 0.0
    for t, weight in enumerate(weights):
        before = over.reduce(columns[-1][:, None] + steps[t - 1], axis=0) if t else 0.0
        logs = weight + before
        top = float(logs.max())
        if top == -math.inf:
            raise impossible()
        columns.append(logs - top)
        log += top
    return columns, log + float(over.reduce(columns[-1]))


def _backward(weights: Sequence[Floats], steps: Sequence[Floats]) -> list[Floats]:
    """Logarithms of what reaches each variable from its successor."""
    columns = [np.zeros(len(weights[-1]))]
    for step, weight in zip(reversed(steps), reversed(weights[1:]), strict=True):
        logs = np.logaddexp.reduce(step + (weight + columns[-1]), axis=1)
        columns.append(logs - logs.max())
    return columns[::-1]


def _shares(logs: Floats) -> Floats:
    """Numbers that sum to one, from their logarithms up to a constant."""
    numbers = np.exp(logs - logs.max())
    return np.asarray(numbers / numbers.sum())
