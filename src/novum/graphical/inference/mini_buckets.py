"""Rows drawn from bounded elimination: all of a model, or as much of it as tables can hold.

Eliminating a variable multiplies the functions that contain it (its *bucket*) and sums it out.
Where the product would be too large, the bucket is split into R parts, each summed on its own
(Dechter and Rish 2003; with powers Liu and Ihler 2011):

    message_r = (sum over v of  part_r^R)^(1/R)          sum of a product <= product of the messages

by Hölder's inequality. So the product U of what is left at the end is at least P(e). Backwards,
each variable is drawn given those eliminated after it, from the product of its bucket:

    q(v | later) = product of part_r / message_r / G(later),     G = the sum of that over v  <=  1
    P(x, e) / q(x) = U * product over the split buckets of G                                 <=  U

Where nothing is split, rows come from the posterior itself. Where something is, they are weighed by
the product of their G. These weights have a *known bound*, 1: what was never drawn can weigh no
more than what its probability under q allows, which no weighing of draws from the tables can say.

Before a bucket is split, its parts are made to agree about v (their marginals of v are set to the
geometric mean of all), which leaves the product as it is and lowers the bound.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from novum.graphical.inference.flat_factors import FlatFactors, starts_of
from novum.graphical.inference.protocol import impossible
from novum.numerics import Floats, Integers

# Cells of all tables together; beyond them smaller tables are tried.
MOST_IN_ALL = 2**23
# Parts of fewer cells say nothing.
LEAST_CELLS = 4


@dataclass(frozen=True, eq=False)
class Part:
    """What a part of a bucket says about its variable.

    Attributes
    ----------
    context : int64 array
        The part's other variables.
    strides : int64 array
        How far their states move in the rows.
    rows : float64 array (n_contexts, n_states)
        Logarithms of part / message. Where a bucket has one part only, cumulative probabilities.
    """

    context: Integers
    strides: Integers
    rows: Floats

    def at(self, codes: np.ndarray) -> Integers:
        """The row of each column of codes."""
        places = np.zeros(codes.shape[1], np.int64)
        for variable, stride in zip(self.context, self.strides, strict=True):
            places += stride * codes[variable]
        return places


@dataclass(frozen=True, eq=False)
class MiniBuckets:
    """The tables that rows are drawn from.

    Attributes
    ----------
    left : FlatFactors
    order : tuple of int
        Variables as they are drawn.
    parts : tuple of tuples of Part
        Of the bucket of each of them.
    log_bound : float
        Logarithm of U, at least that of the sum over all states.
    """

    left: FlatFactors
    order: tuple[int, ...]
    parts: tuple[tuple[Part, ...], ...]
    log_bound: float

    @property
    def n_split(self) -> int:
        """Variables whose bucket was split."""
        return sum(len(parts) > 1 for parts in self.parts)

    def draw(self, rng: np.random.Generator, size: int) -> tuple[np.ndarray, Floats]:
        """Codes of shape (n_variables, size), and the logarithms of the weights, at most 0.

        A row that has run into zeros has weight 0.
        """
        codes = np.zeros((self.left.n_variables, size), np.int32)
        logs = np.zeros(size)
        for variable, parts in zip(self.order, self.parts, strict=True):
            if len(parts) == 1:
                if self.left.cards[variable] > 1:
                    ends = parts[0].rows[parts[0].at(codes), :-1]
                    codes[variable] = (rng.random((size, 1)) >= ends).sum(axis=1)
                continue
            total = np.zeros((size, int(self.left.cards[variable])))
            for part in parts:
                total += part.rows[part.at(codes)]
            sums = _log_sum(total, axis=1)
            logs += sums
            total -= np.where(sums > -math.inf, sums, 0.0)[:, np.newaxis]
            ends = _ends(np.exp(total))[:, :-1]
            codes[variable] = (rng.random((size, 1)) >= ends).sum(axis=1)
        return codes, np.minimum(logs, 0.0)

    def split_arrays(self) -> tuple[Any, ...]:
        """Of the buckets that were split, as `chain_runs_kernels.proposal_weight` reads them."""
        split = [(v, parts) for v, parts in zip(self.order, self.parts, strict=True) if parts[1:]]
        parts = [part for _, own in split for part in own]
        cards = [part.rows.shape[1] for part in parts]
        strides = [part.strides * card for part, card in zip(parts, cards, strict=True)]
        return (
            np.array([self.left.cards[variable] for variable, _ in split], np.int64),
            starts_of([len(own) for _, own in split]),
            starts_of([len(part.context) for part in parts]),
            np.concatenate([np.empty(0, np.int64), *(part.context for part in parts)]),
            np.concatenate([np.empty(0, np.int64), *strides]),
            np.concatenate([np.empty(0), *(part.rows.ravel() for part in parts)]),
            starts_of([part.rows.size for part in parts]),
        )


def mini_buckets(left: FlatFactors, most_cells: int) -> MiniBuckets:
    """Eliminates all variables, with tables of about `most_cells` at most.

    Tables of the model that are larger stay as they are.

    Raises
    ------
    ImpossibleEvidence
        Where the bound is 0.

    Examples
    --------
    >>> from novum.graphical.models.bayesian_network import BayesianNetwork
    >>> from novum.graphical.models.questions import evidence_of
    >>> network = BayesianNetwork().add("rain", table=[0.2, 0.8])
    >>> network = network.add("wet", parents=["rain"], table=[[0.9, 0.1], [0.1, 0.9]])
    >>> left_over = network.arrays, evidence_of(network, {"wet": "true"})
    >>> from novum.graphical.inference.flat_factors import flat_factors
    >>> found = mini_buckets(flat_factors(*left_over), 100)
    >>> round(math.exp(found.log_bound), 6), found.n_split
    (0.26, 0)
    """
    most = float(most_cells)
    steps = _planned(left, most)
    while most > LEAST_CELLS and sum(cells for _, _, cells in steps) > MOST_IN_ALL:
        most /= 4
        steps = _planned(left, most)
    with np.errstate(divide="ignore"):
        logs = np.log(left.tables)
    tables = []
    for factor in range(left.n_factors):
        cells = logs[left.table_starts[factor] : left.table_starts[factor + 1]]
        scope = left.scope(factor).tolist()
        tables.append((scope, cells.reshape(left.cards[scope])))
    log_bound = left.log_constant
    parts: list[tuple[Part, ...]] = []
    for variable, groups, _ in steps:
        products = [_product(left, [tables[f] for f in group], variable) for group in groups]
        buckets = _summed(products)
        parts.append(
            tuple(_part(left, scope, rows, len(buckets) == 1) for scope, rows, _ in buckets)
        )
        for scope, _, message in buckets:
            top = float(message.max())
            if top == -math.inf:
                raise impossible()
            log_bound += top
            if len(scope) > 1:
                tables.append((scope[:-1], message - top))
    order = tuple(variable for variable, _, _ in reversed(steps))
    return MiniBuckets(left, order, tuple(reversed(parts)), log_bound)


# --- Order ----------------------------------------------------------------------------------------

# A variable, its functions by number in groups, and cells of all groups.
Step = tuple[int, list[list[int]], float]


def _planned(left: FlatFactors, most: float) -> list[Step]:
    """Which variable is eliminated next, and how its bucket is split; by sizes alone.

    The next one is that with the smallest bucket. Messages are numbered after the factors, as they
    come; those of no variable have none.
    """
    log_cards = np.log(left.cards).tolist()
    log_most = math.log(most) + 1e-9
    scopes = [set(left.scope(factor).tolist()) for factor in range(left.n_factors)]
    of_variable: list[set[int]] = [set() for _ in range(left.n_variables)]
    for factor, scope in enumerate(scopes):
        for variable in scope:
            of_variable[variable].add(factor)

    def size(variables: set[int]) -> float:
        return math.fsum(log_cards[variable] for variable in variables)

    def bucket(variable: int) -> float:
        return size(set().union({variable}, *(scopes[f] for f in of_variable[variable])))

    heap = [(bucket(variable), variable) for variable in range(left.n_variables)]
    heapq.heapify(heap)
    steps: list[Step] = []
    while heap:
        _, variable = heapq.heappop(heap)
        # Sizes have changed since they were written down: look again before it is taken.
        now = bucket(variable)
        if heap and now > heap[0][0] + 1e-12:
            heapq.heappush(heap, (now, variable))
            continue
        groups: list[tuple[set[int], list[int]]] = []
        for factor in sorted(of_variable[variable], key=lambda f: (-size(scopes[f]), f)):
            for union, members in groups:
                if size(union | scopes[factor]) <= max(log_most, size(union)):
                    union |= scopes[factor]
                    members.append(factor)
                    break
            else:
                groups.append((set(scopes[factor]), [factor]))
        groups = groups or [({variable}, [])]
        cells = sum(math.exp(min(size(union), 700.0)) for union, _ in groups)
        steps.append((variable, [sorted(members) for _, members in groups], cells))
        for factor in of_variable[variable]:
            for other in scopes[factor]:
                if other != variable:
                    of_variable[other].discard(factor)
        for union, _ in groups:
            rest = union - {variable}
            if rest:
                for other in rest:
                    of_variable[other].add(len(scopes))
                scopes.append(rest)
    return steps


# --- Tables ---------------------------------------------------------------------------------------


def _product(
    left: FlatFactors, functions: Sequence[tuple[list[int], Floats]], variable: int
) -> tuple[list[int], Floats]:
    """The product of some functions, as logarithms; its last axis is the variable's."""
    others = sorted({v for scope, _ in functions for v in scope} - {variable})
    scope = [*others, variable]
    place = {v: axis for axis, v in enumerate(scope)}
    total = np.zeros(left.cards[scope])
    for own, table in functions:
        axes = [place[v] for v in own]
        shape = [1] * len(scope)
        for axis in axes:
            shape[axis] = total.shape[axis]
        total += table.transpose(np.argsort(axes)).reshape(shape)
    return scope, total


def _summed(products: Sequence[tuple[list[int], Floats]]) -> list[tuple[list[int], Floats, Floats]]:
    """For each part its scope, the logarithm of part / message, and that of its message."""
    n_parts = len(products)
    tables = [n_parts * table for _, table in products]
    if n_parts > 1:
        spreads = [_log_sum(table.reshape(-1, table.shape[-1]), axis=0) for table in tables]
        mean = sum(spreads) / n_parts
        for table, spread in zip(tables, spreads, strict=True):
            # What one part excludes, all of them do.
            table += np.where(spread > -math.inf, mean - np.maximum(spread, -1e300), -math.inf)
    sums = []
    for (scope, _), table in zip(products, tables, strict=True):
        message = _log_sum(table, axis=-1)
        rows = np.where(
            message[..., np.newaxis] > -math.inf,
            (table - np.maximum(message, -1e300)[..., np.newaxis]) / n_parts,
            -math.inf,
        )
        sums.append((scope, rows, message / n_parts))
    return sums


def _part(left: FlatFactors, scope: list[int], rows: Floats, is_whole: bool) -> Part:
    n_states = rows.shape[-1]
    flat = rows.reshape(-1, n_states)
    if is_whole:
        flat = _ends(np.exp(flat))
    cards = left.cards[scope[:-1]].tolist()
    strides = [math.prod(cards[axis + 1 :]) for axis in range(len(cards))]
    context = np.array(scope[:-1], np.int64)
    return Part(context, np.array(strides, np.int64), np.ascontiguousarray(flat))


def _ends(chances: Floats) -> Floats:
    """Cumulative probabilities, past every draw from the last possible state on."""
    ends = np.cumsum(chances, axis=1)
    is_possible = chances > 0
    n_from_here = np.cumsum(is_possible[:, ::-1], axis=1)[:, ::-1]
    ends[n_from_here == is_possible] = 2.0
    return ends


def _log_sum(logs: Floats, axis: int) -> Floats:
    top = logs.max(axis=axis, keepdims=True)
    safe = np.where(top > -math.inf, top, 0.0)
    with np.errstate(divide="ignore"):
        sums: Floats = np.log(np.exp(logs - safe).sum(axis=axis)) + safe.squeeze(axis)
    return sums
