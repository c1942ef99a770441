"""What a question depends on: the factors that can change its answer.

Given evidence E, the answer about targets T of a Bayesian network depends only on

    ancestors      of T and E (the tables of all others sum to one: barren nodes), and of these
    connection     on what is joined to T in the graph that is left when observed variables are
                   removed (what is d-separated from T enters as a constant)

For undirected models only the second applies.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from novum.graphical.models.arrays import Evidence, ModelArrays

Mask = NDArray[np.bool_]


def ancestors_of(model: ModelArrays, variables: Iterable[int]) -> Mask:
    """Which variables are among these or their ancestors.

    Examples
    --------
    >>> from novum.graphical.models.bayesian_network import BayesianNetwork
    >>> network = BayesianNetwork().add("a", table=[0.5, 0.5])
    >>> network = network.add("b", parents=["a"], table=[[0.5, 0.5], [0.1, 0.9]])
    >>> ancestors_of(network.arrays, [0]).tolist()
    [True, False]
    """
    found = np.zeros(model.n_variables, np.bool_)
    waiting = list(variables)
    while waiting:
        variable = waiting.pop()
        if not found[variable]:
            found[variable] = True
            waiting.extend(model.scope(variable)[:-1].tolist())
    return found


def needed_factors(model: ModelArrays, evidence: Evidence) -> list[int]:
    """The factors that the probability of the evidence depends on."""
    if not model.is_directed:
        return list(range(model.n_factors))
    known = [*evidence.observed.tolist(), *evidence.likelihoods]
    return np.flatnonzero(ancestors_of(model, known)).tolist()


def relevant_factors(
    model: ModelArrays, evidence: Evidence, targets: Sequence[int]
) -> tuple[list[int], list[int]]:
    """The factors and the likelihoods that the posterior of the targets depends on.

    Returns
    -------
    factors, likelihoods : lists of int
        Factors by number, likelihoods by variable.
    """
    factors = list(range(model.n_factors))
    if model.is_directed:
        known = [*targets, *evidence.observed.tolist(), *evidence.likelihoods]
        factors = np.flatnonzero(ancestors_of(model, known)).tolist()
    return _connected(model, evidence, factors, targets)


def _connected(
    model: ModelArrays, evidence: Evidence, factors: list[int], targets: Sequence[int]
) -> tuple[list[int], list[int]]:
    """Of some factors those joined to a target by unobserved variables."""
    codes = evidence.codes
    free = {f: [v for v in model.scope(f).tolist() if codes[v] < 0] for f in factors}
    of_variable: dict[int, list[int]] = {}
    for factor, scope in free.items():
        for variable in scope:
            of_variable.setdefault(variable, []).append(factor)
    seen_variables: set[int] = set()
    seen_factors: set[int] = set()
    waiting = [target for target in targets if codes[target] < 0]
    while waiting:
        variable = waiting.pop()
        if variable in seen_variables:
            continue
        seen_variables.add(variable)
        for factor in of_variable.get(variable, ()):
            if factor not in seen_factors:
                seen_factors.add(factor)
                waiting.extend(free[factor])
    likelihoods = [variable for variable in evidence.likelihoods if variable in seen_variables]
    return sorted(seen_factors), likelihoods
