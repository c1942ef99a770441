"""Maximization with back-tracking: the best configuration, then the second, the third and so on.

    eliminating v    table_v(rest, v) = sum of all logarithms that hold v
                     message(rest)    = max over v of table_v(rest, v)
    backwards        v = argmax of table_v at the states of the rest, which are decided before it

Once the states of the rest are decided, taking state s of v in place of the best one loses exactly
table_v(rest, best) - table_v(rest, s), because all that follows is at its best. So the tables of
one run hold the k best configurations: those that agree with an answer up to some variable and
differ there fall into one part for each state (Lawler 1972), and the best of a part is read off
without another run.

Logarithms are added, so that no product underflows, and a state that is less likely by thousands
of powers of ten is still found. Variables that are summed over go first, as products.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from novum.core.runtime import check_memory
from novum.graphical.inference.plain_junction import LARGE_CELLS, RESTARTS, check_order
from novum.graphical.inference.potentials import (
    Potential,
    in_order,
    scaled,
    scaled_product,
    shape_of,
    spread,
)
from novum.graphical.structure.triangulation import Order, best_order, interaction_graph
from novum.numerics import Floats, Integers, Positions

Answer = tuple[Integers, float]
# The variables a choice depends on, each with the step between its states in the rows.
Rest = list[tuple[int, int]]


@dataclass(frozen=True, eq=False)
class Choices:
    """What back-tracking reads: the maximized variables, the last eliminated first.

    Attributes
    ----------
    log_best : float
        Logarithm of the largest product; `-inf` where all are zero.
    variables : list of int
    rests : list of Rest
        Variables decided before, by which each one's row is found.
    best : list of int arrays, one entry for each row
    tables : list of arrays (rows, states)
        Logarithms; empty where only the best is wanted.
    """

    log_best: float
    variables: list[int]
    rests: list[Rest]
    best: list[Positions]
    tables: list[Floats]

    def answers(self, start: Integers, most: int) -> Iterator[Answer]:
        """Up to `most` configurations that are possible with their logarithms, best first.

        Parameters
        ----------
        start : int array of shape (n_variables,)
            The states of variables that are not maximized.
        most : int
        """
        if self.log_best == -math.inf:
            return
        codes, rows = start.tolist(), [0] * len(self.variables)
        log, place = self.log_best, -1
        self._follow(codes, rows, 0)
        heap: list[tuple[float, int, int, list[int], list[int], _Parts]] = []
        for number in range(most):
            yield np.array(codes, np.int64), log
            if number == most - 1:
                return
            parts = self._parts(rows, codes, log, place + 1, most - number - 1)
            _push(heap, number, 0, codes, rows, parts)
            if not heap:
                return
            _, of, rank, codes, rows, parts = heapq.heappop(heap)
            _push(heap, of, rank + 1, codes, rows, parts)
            log, place = float(parts.logs[rank]), int(parts.places[rank])
            codes, rows = [*codes], [*rows]
            codes[self.variables[place]] = int(parts.states[rank])
            self._follow(codes, rows, place + 1)

    def _follow(self, codes: list[int], rows: list[int], first: int) -> None:
        """The best states from some place on, given those before it."""
        for place in range(first, len(self.variables)):
            row = 0
            for variable, stride in self.rests[place]:
                row += codes[variable] * stride
            rows[place] = row
            codes[self.variables[place]] = int(self.best[place][row])

    def _parts(
        self, rows: list[int], codes: list[int], log: float, first: int, most: int
    ) -> _Parts:
        """The best of those that agree with an answer before each place and differ there."""
        places = range(first, len(self.variables))
        if not places:
            return _Parts(np.empty(0), np.empty(0, np.int64), np.empty(0, np.int64))
        logs = [self.tables[place][rows[place]] for place in places]
        sizes = np.array([len(row) for row in logs])
        starts = np.cumsum(sizes) - sizes
        taken = starts + np.array([codes[self.variables[place]] for place in places])
        flat = np.concatenate(logs)
        # What the answer has is no other state, and what is impossible no answer.
        losses = np.repeat(flat[taken], sizes) - flat
        losses[taken] = np.inf
        order = np.argsort(losses, kind="stable")[:most]
        order = order[np.isfinite(losses[order])]
        differing = np.searchsorted(starts, order, side="right") - 1
        return _Parts(log - losses[order], first + differing, order - starts[differing])


@dataclass(frozen=True, eq=False)
class _Parts:
    """Where the best of each part leaves an answer, best first.

    Attributes
    ----------
    logs : array
        Logarithms of the best of each.
    places, states : int arrays
        The first variable that differs, by its place in the order of back-tracking, and how.
    """

    logs: Floats
    places: Integers
    states: Integers


def _push(
    heap: list[tuple[float, int, int, list[int], list[int], _Parts]],
    number: int,
    rank: int,
    codes: list[int],
    rows: list[int],
    parts: _Parts,
) -> None:
    """Adds the next part of an answer; only one of each waits."""
    if rank < len(parts.logs):
        heapq.heappush(heap, (-float(parts.logs[rank]), number, rank, codes, rows, parts))


def order_of_maxima(
    potentials: Sequence[Potential], cards: Integers, kept: Collection[int]
) -> Order:
    """A good order of elimination in which those that are maximized, `kept`, come last."""
    scopes = [scope for scope, _ in potentials]
    variables = sorted({variable for scope in scopes for variable in scope}.union(kept))
    near = interaction_graph(scopes, len(cards))
    order = best_order(near, cards.tolist(), variables, kept)
    if order.cells > LARGE_CELLS:
        order = best_order(near, cards.tolist(), variables, kept, RESTARTS)
    return order


def choices(
    potentials: Sequence[Potential],
    order: Order,
    cards: Integers,
    summed: frozenset[int] = frozenset(),
    most: int = 1,
    memory_limit: int | str | None = None,
) -> Choices:
    """Eliminates by sums and maxima.

    Parameters
    ----------
    potentials : sequence of (scope, table)
    order : Order
        Variables that are summed over come first.
    cards : int array
    summed : variables
    most : int
        How many answers will be read.
    memory_limit : int, str or None
    """
    _check_memory(order, most, memory_limit)
    rank = {variable: -place for place, variable in enumerate(order.variables)}
    held: dict[int, list[Potential]] = {variable: [] for variable in order.variables}
    # Added at the end without rounding in between: a long chain has very many.
    scales: list[float] = []
    _place(potentials, rank, held, summed, scales)
    variables, rests, best, tables = [], [], [], []
    for variable in order.variables:
        inside = {other for scope, _ in held[variable] for other in scope}
        scope = tuple(sorted(inside | {variable}, key=rank.__getitem__))
        shape = shape_of(scope, cards)
        # The variable goes first of its scope, so it has the last axis.
        if variable in summed:
            table, scale = scaled_product(held.pop(variable), scope, shape)
            scales.append(scale)
            _place([(scope[:-1], table.sum(axis=-1))], rank, held, summed, scales)
            continue
        table = np.zeros(shape)
        for part, logs in held.pop(variable):
            table += spread(logs, part, scope)
        _keep(scope[:-1], table.max(axis=-1), held, scales)
        variables.append(variable)
        rests.append(_rest(scope, shape))
        best.append(table.argmax(axis=-1).ravel())
        tables += [table.reshape(-1, shape[-1])] if most > 1 else []
    log = -math.inf if -math.inf in scales else math.fsum(scales)
    return Choices(log, variables[::-1], rests[::-1], best[::-1], tables[::-1])


def _check_memory(order: Order, most: int, limit: int | str | None) -> None:
    check_order(order, limit)
    if most > 1:
        check_memory(
            int(min(order.cells, 1e18)) * 8,
            f"Reading the {most} best configurations from tables of {order.cells:.3g} cells",
            "Ask for the best one only, or observe more variables",
            limit,
        )


def _rest(scope: Sequence[int], shape: Sequence[int]) -> Rest:
    strides = np.cumprod([1, *shape[-2:0:-1]])[::-1].tolist() if len(shape) > 1 else []
    return list(zip(scope[:-1], strides, strict=True))


def _place(
    potentials: Sequence[Potential],
    rank: dict[int, int],
    held: dict[int, list[Potential]],
    summed: frozenset[int],
    scales: list[float],
) -> None:
    """Gives each table to the first of its variables, as logarithms unless that is summed over."""
    for potential in potentials:
        scope, table = in_order(potential, rank.__getitem__)
        if not scope or scope[-1] not in summed:
            with np.errstate(divide="ignore"):
                _keep(scope, np.log(table), held, scales)
            continue
        table, scale = scaled(table)
        scales.append(scale)
        held[scope[-1]].append((scope, table))


def _keep(
    scope: tuple[int, ...], logs: Floats, held: dict[int, list[Potential]], scales: list[float]
) -> None:
    """Gives logarithms, less their largest, to the first of their variables."""
    top = float(logs.max())
    scales.append(top)
    if scope:
        held[scope[-1]].append((scope, logs - top if top > -math.inf else logs))
