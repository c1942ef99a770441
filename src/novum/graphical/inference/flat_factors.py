"""The factors that are left when observed variables are gone, in flat arrays for kernels.

    product over f of table_f(x)  at what is known  =  exp(log_constant) * product of what is left

Variables are numbered anew, 0, 1, ... in the order of the model; `variables` gives their old
numbers. An *edge* joins a factor to one variable of its scope: edges lie factor by factor in the
order of the axes, and `variable_edges` lists them variable by variable.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from novum.graphical.inference.potentials import relevant_factors
from novum.graphical.inference.protocol import impossible
from novum.graphical.models.arrays import Evidence, ModelArrays
from novum.graphical.structure.dag import CyclicGraphError
from novum.numerics import Floats, Integers, as_argument, cached_property

# The edge of a root, which hangs on nothing.
NO_EDGE = -1


@dataclass(frozen=True, eq=False)
class FlatFactors:
    """Factors over unobserved variables.

    Attributes
    ----------
    variables : int64 array
        Numbers in the model, ascending.
    cards : int64 array
    scope_starts, scopes, strides : int64 arrays
        Edges of factor f are `scope_starts[f]` up to `scope_starts[f + 1]`; `scopes` has the
        variable of each (by new number) and `strides` how far apart its states are in the table.
    table_starts, tables : int64 array, float64 array
        Scaled so that the largest cell of each table is 1.
    log_constant : float
        Logarithm of what was divided out, and of factors without variables.
    sources : int64 array
        The number of each factor in the model, -1 for a likelihood.
    """

    variables: Integers
    cards: Integers
    scope_starts: Integers
    scopes: Integers
    strides: Integers
    table_starts: Integers
    tables: Floats
    log_constant: float
    sources: Integers

    @property
    def n_variables(self) -> int:
        return len(self.cards)

    @property
    def n_factors(self) -> int:
        return len(self.scope_starts) - 1

    @property
    def n_edges(self) -> int:
        return len(self.scopes)

    def scope(self, factor: int) -> Integers:
        return self.scopes[self.scope_starts[factor] : self.scope_starts[factor + 1]]

    def table(self, factor: int) -> Floats:
        cells = self.tables[self.table_starts[factor] : self.table_starts[factor + 1]]
        return cells.reshape(self.cards[self.scope(factor)])

    @cached_property
    def factor_of_edge(self) -> Integers:
        return np.repeat(np.arange(self.n_factors), np.diff(self.scope_starts))

    @cached_property
    def variable_edges(self) -> tuple[Integers, Integers]:
        """Starts for each variable, and its edges."""
        edges = np.argsort(self.scopes, kind="stable").astype(np.int64)
        counts = np.bincount(self.scopes, minlength=self.n_variables)
        return starts_of(counts), edges

    @cached_property
    def cell_starts(self) -> Integers:
        """Where the states of each variable begin when all are laid out one after the other."""
        return starts_of(self.cards)


def starts_of(sizes: Sequence[int] | NDArray[np.integer]) -> Integers:
    """Where parts of these sizes begin, and the end of the last."""
    starts = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=starts[1:])
    return starts


def flat_factors(
    model: ModelArrays, evidence: Evidence, targets: Sequence[int] | None = None
) -> FlatFactors:
    """What is left of a model; with `targets` only of the part that decides about them.

    Raises
    ------
    ImpossibleEvidence
        Where a factor without unobserved variables, or all of a table, is zero.

    Examples
    --------
    >>> from novum.graphical.models.bayesian_network import BayesianNetwork
    >>> from novum.graphical.models.questions import evidence_of
    >>> network = BayesianNetwork().add("rain", table=[0.2, 0.8])
    >>> network = network.add("wet", parents=["rain"], table=[[0.9, 0.1], [0.1, 0.9]])
    >>> left = flat_factors(network.arrays, evidence_of(network, {"wet": "true"}))
    >>> left.scopes.tolist(), (left.tables * np.exp(left.log_constant / 2)).round(3).tolist()
    ([0, 0], [0.212, 0.849, 0.849, 0.094])
    """
    if targets is None:
        weighted = list(evidence.likelihoods)
        free = np.flatnonzero(evidence.codes < 0)
        return _flattened(model, evidence, np.arange(model.n_factors), weighted, free)
    asked = [variable for variable in targets if evidence.codes[variable] < 0]
    factors, weighted = relevant_factors(model, evidence, asked)
    free = _free_in(model, evidence, factors, [*asked, *weighted])
    return _flattened(model, evidence, factors, weighted, free)


def flat_factors_of(
    model: ModelArrays, evidence: Evidence, factors: Sequence[int] | Integers
) -> FlatFactors:
    """What is left of some factors, and of all likelihoods; variables in none are left out."""
    weighted = list(evidence.likelihoods)
    free = _free_in(model, evidence, factors, weighted)
    return _flattened(model, evidence, factors, weighted, free)


def _free_in(
    model: ModelArrays, evidence: Evidence, factors: Sequence[int] | Integers, more: Sequence[int]
) -> Integers:
    """The unobserved variables of some factors, and more of them, ascending."""
    inside = np.zeros(model.n_variables, np.bool_)
    for factor in factors:
        inside[model.scope(factor)] = True
    inside[list(more)] = True
    return np.flatnonzero(inside & (evidence.codes < 0))


def _flattened(
    model: ModelArrays,
    evidence: Evidence,
    factors: Sequence[int] | Integers,
    weighted: Sequence[int],
    free: Integers,
) -> FlatFactors:
    from novum.graphical.inference.flat_factors_kernels import slice_tables

    new_numbers = np.full(model.n_variables, -1, np.int64)
    new_numbers[free] = np.arange(len(free))
    widest = int(np.max(np.diff(model.scope_starts), initial=1))
    scope_starts, table_starts = np.zeros((2, len(factors) + 1), np.int64)
    scopes, strides = np.empty((2, len(model.scopes)), np.int64)
    sources = np.empty(len(factors), np.int64)
    tables, counts = np.empty(len(model.tables)), np.zeros(3, np.int64)
    given = model.cards, model.scope_starts, model.scopes, model.table_starts
    kept = scope_starts, scopes, strides, table_starts, tables, sources
    log = slice_tables(
        (*given, as_argument(model.tables)), evidence.codes, np.asarray(factors, np.int64),
        new_numbers, np.empty((3, widest), np.int64), kept, counts,
    )  # fmt: skip
    if log == -math.inf:
        raise impossible()
    n_factors, n_edges, n_cells = counts.tolist()
    left = FlatFactors(
        variables=free.astype(np.int64, copy=False),
        cards=model.cards[free],
        scope_starts=scope_starts[: n_factors + 1],
        scopes=scopes[:n_edges],
        strides=strides[:n_edges],
        table_starts=table_starts[: n_factors + 1],
        tables=tables[:n_cells],
        log_constant=float(log),
        sources=sources[:n_factors],
    )
    return _with_likelihoods(left, evidence, weighted, new_numbers) if weighted else left


def _with_likelihoods(
    left: FlatFactors, evidence: Evidence, weighted: Sequence[int], new_numbers: Integers
) -> FlatFactors:
    """Likelihoods as further factors of one variable each."""
    weights = [np.asarray(evidence.likelihoods[variable], np.float64) for variable in weighted]
    tops = [float(values.max()) for values in weights]
    soft = new_numbers[list(weighted)]
    scaled = [values / top for values, top in zip(weights, tops, strict=True)]
    ends = np.cumsum([len(values) for values in weights])
    return replace(
        left,
        scope_starts=np.append(left.scope_starts, left.n_edges + 1 + np.arange(len(soft))),
        scopes=np.append(left.scopes, soft),
        strides=np.append(left.strides, np.ones(len(soft), np.int64)),
        table_starts=np.append(left.table_starts, len(left.tables) + ends),
        tables=np.concatenate([left.tables, *scaled]),
        log_constant=left.log_constant + sum(map(math.log, tops)),
        sources=np.append(left.sources, np.full(len(soft), -1)),
    )


# --- Trees of factors ---------------------------------------------------------------------------


def outwards(left: FlatFactors) -> list[tuple[bool, int, int]]:
    """All nodes, each after the one it hangs on; a cycle is an error."""
    starts, of_variable = left.variable_edges
    factor_of = left.factor_of_edge
    seen_variables: dict[int, int] = {}
    parent_of_factor: dict[int, int] = {}
    order: list[tuple[bool, int, int]] = []
    for root in range(left.n_variables):
        if root in seen_variables:
            continue
        seen_variables[root] = NO_EDGE
        waiting = [(False, root, NO_EDGE)]
        for node in waiting:
            order.append(node)
            is_factor, number, edge = node
            if is_factor:
                for other in range(left.scope_starts[number], left.scope_starts[number + 1]):
                    variable = int(left.scopes[other])
                    if other == edge:
                        continue
                    if variable in seen_variables:
                        raise _cycle(left, number, variable, seen_variables, parent_of_factor)
                    seen_variables[variable] = other
                    waiting.append((False, variable, other))
            else:
                for other in of_variable[starts[number] : starts[number + 1]].tolist():
                    factor = int(factor_of[other])
                    if other == edge:
                        continue
                    if factor in parent_of_factor:
                        raise _cycle(left, factor, number, seen_variables, parent_of_factor)
                    parent_of_factor[factor] = other
                    waiting.append((True, factor, other))
    return order


def _cycle(
    left: FlatFactors,
    factor: int,
    variable: int,
    edge_of_variable: dict[int, int],
    parent_of_factor: dict[int, int],
) -> CyclicGraphError:
    """The cycle that a factor and a variable reached twice close."""

    def to_root(start: int) -> list[int]:
        path = [start]
        while (edge := edge_of_variable[path[-1]]) != NO_EDGE:
            path.append(int(left.scopes[parent_of_factor[int(left.factor_of_edge[edge])]]))
        return path

    first = to_root(int(left.scopes[parent_of_factor[factor]]))
    second = to_root(variable)
    while len(first) > 1 and len(second) > 1 and first[-2] == second[-2]:
        first.pop()
        second.pop()
    around = left.variables[[*first, *reversed(second[:-1])]].tolist()
    return CyclicGraphError(around, directed=False)
