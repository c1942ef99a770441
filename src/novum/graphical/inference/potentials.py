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
from numpy.typing import NDArray

from novum.graphical.models.arrays import Evidence, ModelArrays, Positions

Floats = NDArray[np.float64]
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
    chosen = range(model.n_factors) if factors is None else factors
    found = []
    for factor in chosen:
        scope = model.scope(factor).tolist()
        table = model.table(factor)
        if any(codes[variable] >= 0 for variable in scope):
            at = tuple(slice(None) if codes[v] < 0 else int(codes[v]) for v in scope)
            table = table[at]
            scope = [variable for variable in scope if codes[variable] < 0]
        found.append((tuple(scope), table))
    found += [((variable,), weights) for variable, weights in evidence.likelihoods.items()]
    return found


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


def shape_of(scope: Iterable[int], cards: Positions) -> list[int]:
    """Numbers of states of the variables of a scope."""
    return [int(cards[variable]) for variable in scope]
