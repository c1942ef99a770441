"""Tables over numbered variables, as the plain engines multiply and sum them.

A potential is (scope, table): variables in the order of the table's axes. If all scopes follow
one common order of variables, a table is brought into a larger scope by inserting axes of length
one, which copies nothing, and NumPy's broadcasting does the rest.

A product of very many tables can leave the range of floating-point numbers, as at a class with
thousands of observed features. Its logarithms are then added instead.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from novum.graphical.models.arrays import Evidence, ModelArrays
from novum.numerics import Floats, Integers, Mask

Scope = tuple[int, ...]
Potential = tuple[Scope, Floats]

# Beyond these a product may have lost cells that matter, to zero or to infinity.
_SMALL, _LARGE = 1e-150, 1e150
# Powers of two that a product may be away from 1: well within the range of floats.
MOST_POWERS = 900.0


def known_potentials(
    model: ModelArrays, evidence: Evidence, factors: Iterable[int] | None = None
) -> list[Potential]:
    """The factors of a model at what is known: observed variables are gone from the scopes.

    Parameters
    ----------
    model : ModelArrays
    evidence : Evidence
    factors : those to take, optional
        All by default. Likelihoods of variables are added as factors of their own.
    """
    codes = evidence.codes
    numbers = range(model.n_factors) if factors is None else factors
    potentials = []
    for factor in numbers:
        scope = model.scope(factor).tolist()
        table = model.table(factor)
        if any(codes[variable] >= 0 for variable in scope):
            at = tuple(slice(None) if codes[v] < 0 else int(codes[v]) for v in scope)
            table = table[at]
            scope = [variable for variable in scope if codes[variable] < 0]
        potentials.append((tuple(scope), table))
    potentials += [((variable,), weights) for variable, weights in evidence.likelihoods.items()]
    return potentials


def in_order(potential: Potential, rank: Callable[[int], int]) -> Potential:
    """The same table with its axes in the common order."""
    scope, table = potential
    ranks = [rank(variable) for variable in scope]
    if all(a < b for a, b in itertools.pairwise(ranks)):
        return potential
    axes = sorted(range(len(scope)), key=ranks.__getitem__)
    return tuple(scope[axis] for axis in axes), np.ascontiguousarray(table.transpose(axes))


def spread(table: Floats, scope: Scope, wide: Scope) -> Floats:
    """A table shaped to broadcast over a wider scope in the same order; a view."""
    inside = set(scope)
    sizes = iter(table.shape)
    return table.reshape([next(sizes) if variable in inside else 1 for variable in wide])


def product(potentials: Sequence[Potential], wide: Scope, shape: Sequence[int]) -> Floats:
    """The product over a scope that contains all others, in the same order; a new array."""
    table = np.ones(shape)
    for scope, factor in potentials:
        table *= spread(factor, scope, wide)
    return table


def scaled_product(
    potentials: Sequence[Potential], wide: Scope, shape: Sequence[int]
) -> tuple[Floats, float]:
    """The product up to a factor, and the logarithm of that; nothing underflows or overflows.

    Examples
    --------
    >>> table, log = scaled_product([((0,), np.array([1e-200, 1e-200]))] * 3, (0,), [2])
    >>> table.tolist(), round(log / np.log(10))
    ([1.0, 1.0], -600)
    """
    with np.errstate(over="ignore", invalid="ignore"):
        table = product(potentials, wide, shape)
        top = table.max(initial=0.0)
    if _SMALL < top < _LARGE:
        return table, 0.0
    return from_logs(log_product(potentials, wide, shape))


def log_product(potentials: Sequence[Potential], wide: Scope, shape: Sequence[int]) -> Floats:
    """Logarithms of the product; a new array."""
    logs = np.zeros(shape)
    with np.errstate(divide="ignore"):
        for scope, factor in potentials:
            logs += spread(np.log(factor), scope, wide)
    return logs


def from_logs(logs: Floats) -> tuple[Floats, float]:
    """The table of these logarithms over its largest entry, and the logarithm of that."""
    top = float(logs.max(initial=-np.inf))
    if top == -np.inf:
        return np.zeros_like(logs), -np.inf
    return np.exp(logs - top), top


def scaled(table: Floats) -> tuple[Floats, float]:
    """The table over its largest entry, and the logarithm of that; a zero table stays as it is."""
    top = float(table.max(initial=0.0))
    if top == 0.0:
        return table, -np.inf
    return table / top, float(np.log(top))


def stays_in_range(model: ModelArrays, evidence: Evidence) -> bool:
    """Whether no product of tables and likelihoods can leave the range of floats.

    Messages are sums of such products, each table once; nothing is lost in them either.
    """
    span = model.span
    for weights in evidence.likelihoods.values():
        span += float(np.abs(np.log2(weights[weights > 0])).max(initial=0.0))
    return span < MOST_POWERS


def shape_of(scope: Iterable[int], cards: Integers) -> list[int]:
    """Numbers of states of the variables of a scope."""
    return [int(cards[variable]) for variable in scope]


# --- Relevance ------------------------------------------------------------------------------------
# What a question depends on: the factors that can change its answer.
#
# Given evidence E, the answer about targets T of a Bayesian network depends only on
#
#     ancestors      of T and E (the tables of all others sum to one: barren nodes), and of these
#     connection     on what is joined to T in the graph that is left when observed variables are
#                    removed (what is d-separated from T enters as a constant)
#
# For undirected models only the second applies.


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
    is_ancestor = np.zeros(model.n_variables, np.bool_)
    waiting = list(variables)
    while waiting:
        variable = waiting.pop()
        if not is_ancestor[variable]:
            is_ancestor[variable] = True
            waiting.extend(model.scope(variable)[:-1].tolist())
    return is_ancestor


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
