"""Orders of elimination: in which order variables are summed out, and what that costs.

Eliminating a variable joins all its neighbors in one table. The tables of an order are its
cliques; the largest decides the memory, their sum the time, and finding the best order is
NP-hard. Greedy orders pick the next variable by

    fill     pairs of neighbors that are not yet joined (ties: by weight)
    weight   cells of the table that elimination makes (ties: by fill)

and ties beyond that by a random draw or by the lowest number. No rule wins everywhere, so several
orders are tried and the one with the fewest cells is taken.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

Rule = Literal["fill", "weight"]
# Tables beyond this are never made; their exact size does not matter.
_TOO_MANY = 2**200


@dataclass(frozen=True)
class Order:
    """An order of elimination and the cliques it makes.

    Attributes
    ----------
    variables : tuple of int
        First eliminated first.
    cliques : tuple of frozensets
        For each step the variable with the neighbors it has at that moment.
    largest, cells : float
        Cells of the largest clique, and of all cliques that are not part of another.
    width : int
        Variables of the largest clique, less one.
    """

    variables: tuple[int, ...]
    cliques: tuple[frozenset[int], ...]
    largest: float
    cells: float
    width: int


def interaction_graph(scopes: Iterable[Sequence[int]], n: int) -> list[set[int]]:
    """Neighbors of each variable: those that share a factor with it.

    Examples
    --------
    >>> interaction_graph([(0, 1), (1, 2)], 3)
    [{1}, {0, 2}, {1}]
    """
    near: list[set[int]] = [set() for _ in range(n)]
    for scope in scopes:
        for variable in scope:
            near[variable].update(scope)
    for variable, found in enumerate(near):
        found.discard(variable)
    return near


def greedy_order(
    near: Sequence[set[int]],
    cards: Sequence[int],
    variables: Sequence[int],
    rule: Rule = "fill",
    last: Iterable[int] = (),
    rng: np.random.Generator | None = None,
) -> Order:
    """The order that picks the cheapest next variable.

    Parameters
    ----------
    near : neighbors of each variable
    cards : number of states of each variable
    variables : those to eliminate
    rule : {"fill", "weight"}
    last : variables that come after all others
    rng : generator, optional
        Breaks ties at random.

    Examples
    --------
    >>> greedy_order([{1}, {0, 2}, {1}], [2, 2, 2], range(3)).variables
    (0, 1, 2)
    """
    state = _Elimination(near, cards)
    late = set(last)
    ties = np.zeros(len(variables)) if rng is None else rng.random(len(variables))
    draws = dict(zip(variables, ties.tolist(), strict=True))

    def price(variable: int) -> tuple[bool, float, float, float, int]:
        # Rounded: sums that are equal up to their order are ties.
        fill, weight = state.fill[variable], round(state.weight[variable], 9)
        pair = (fill, weight) if rule == "fill" else (weight, fill)
        return (variable in late, *pair, draws[variable], variable)

    waiting = {variable: price(variable) for variable in variables}
    heap = list(waiting.values())
    heapq.heapify(heap)
    order, cliques = [], []
    while waiting:
        item = heapq.heappop(heap)
        variable = item[-1]
        # An entry is stale once its price changed; the newer one is in the heap too.
        if waiting.get(variable) != item:
            continue
        del waiting[variable]
        order.append(variable)
        cliques.append(frozenset((variable, *state.left[variable])))
        for touched in state.eliminate(variable):
            if touched in waiting:
                entry = price(touched)
                if entry != waiting[touched]:
                    waiting[touched] = entry
                    heapq.heappush(heap, entry)
    return _priced(order, cliques, cards)


def best_order(
    near: Sequence[set[int]],
    cards: Sequence[int],
    variables: Sequence[int],
    last: Iterable[int] = (),
    restarts: int = 0,
) -> Order:
    """The cheapest of several greedy orders: by fill, by weight, and with ties broken at random.

    Parameters
    ----------
    restarts : int
        Further tries by each rule; the same ones every time.
    """
    rng = np.random.default_rng(0)
    tries: list[tuple[Rule, np.random.Generator | None]] = [("fill", None), ("weight", None)]
    for _ in range(restarts):
        tries += [("fill", rng), ("weight", rng)]
    orders = [greedy_order(near, cards, variables, rule, last, source) for rule, source in tries]
    return min(orders, key=lambda order: order.cells)


class _Elimination:
    """A graph under elimination, with the price of every variable kept up to date.

    Attributes
    ----------
    left : list of sets
        Neighbors that are not eliminated.
    fill : dict from variable to int
        Pairs of its neighbors that are not joined.
    weight : dict from variable to float
        Logarithm of the cells of the table that its elimination makes.
    """

    def __init__(self, near: Sequence[set[int]], cards: Sequence[int]) -> None:
        self.left = [set(found) for found in near]
        self.logs = np.log(np.asarray(cards, float)).tolist()
        self.fill = {variable: self._open_pairs(variable) for variable in range(len(near))}
        self.weight = {
            variable: self.logs[variable] + sum(self.logs[other] for other in self.left[variable])
            for variable in range(len(near))
        }

    def _open_pairs(self, variable: int) -> int:
        found = self.left[variable]
        n = len(found)
        # Counted from the smaller side: a hub of many leaves has no joined pairs to look for.
        joined = sum(
            sum(third in found for third in self.left[other])
            if len(self.left[other]) < n
            else len(found & self.left[other])
            for other in found
        )
        return (n * (n - 1) - joined) // 2

    def eliminate(self, variable: int) -> set[int]:
        """Joins the neighbors of a variable and takes it away; those whose price changed."""
        left, fill = self.left, self.fill
        found = left[variable]
        touched = set(found)
        if fill[variable]:
            for one in found:
                for other in found - left[one]:
                    # Each pair is met once: after the first time it is joined.
                    if other != one:
                        touched |= self._join(one, other)
        for other in found:
            # The neighbors are all joined now; the pairs lost are those with someone else.
            fill[other] -= len(left[other]) - len(found)
            self.weight[other] -= self.logs[variable]
            left[other].discard(variable)
        left[variable] = set()
        return touched

    def _join(self, one: int, other: int) -> set[int]:
        """A new edge; the variables next to both its ends, which have one open pair less."""
        left, fill = self.left, self.fill
        common = left[one] & left[other]
        for third in common:
            fill[third] -= 1
        fill[one] += len(left[one]) - len(common)
        fill[other] += len(left[other]) - len(common)
        self.weight[one] += self.logs[other]
        self.weight[other] += self.logs[one]
        left[one].add(other)
        left[other].add(one)
        return common


def _priced(order: list[int], cliques: list[frozenset[int]], cards: Sequence[int]) -> Order:
    place = {variable: i for i, variable in enumerate(order)}
    inside = _inside_another(order, cliques, place)
    sizes = [_cells(clique, cards) for clique in cliques]
    return Order(
        tuple(order),
        tuple(cliques),
        largest=max(sizes, default=1.0),
        cells=sum(size for size, part in zip(sizes, inside, strict=True) if not part),
        width=max((len(clique) for clique in cliques), default=1) - 1,
    )


def _inside_another(
    order: list[int], cliques: list[frozenset[int]], place: dict[int, int]
) -> list[bool]:
    """Whether a step's clique is part of one that was made before it."""
    inside = [False] * len(order)
    for i, clique in enumerate(cliques):
        rest = clique - {order[i]}
        parent = min((place[variable] for variable in rest if variable in place), default=None)
        if parent is not None and len(cliques[parent]) == len(rest):
            inside[parent] = True
    return inside


def _cells(clique: frozenset[int], cards: Sequence[int]) -> float:
    return float(min(math.prod(int(cards[variable]) for variable in clique), _TOO_MANY))
