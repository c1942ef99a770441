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
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from novum.numerics import cached_property

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
    for variable, neighbors in enumerate(near):
        neighbors.discard(variable)
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
        self.left = [set(neighbors) for neighbors in near]
        self.logs = np.log(np.asarray(cards, float)).tolist()
        self.fill = {variable: self._open_pairs(variable) for variable in range(len(near))}
        self.weight = {
            variable: self.logs[variable] + sum(self.logs[other] for other in self.left[variable])
            for variable in range(len(near))
        }

    def _open_pairs(self, variable: int) -> int:
        neighbors = self.left[variable]
        n = len(neighbors)
        # Counted from the smaller side: a hub of many leaves has no joined pairs to look for.
        joined = sum(
            sum(third in neighbors for third in self.left[other])
            if len(self.left[other]) < n
            else len(neighbors & self.left[other])
            for other in neighbors
        )
        return (n * (n - 1) - joined) // 2

    def eliminate(self, variable: int) -> set[int]:
        """Joins the neighbors of a variable and takes it away; those whose price changed."""
        left, fill = self.left, self.fill
        neighbors = left[variable]
        touched = set(neighbors)
        if fill[variable]:
            for one in neighbors:
                for other in neighbors - left[one]:
                    # Each pair is met once: after the first time it is joined.
                    if other != one:
                        touched |= self._join(one, other)
        for other in neighbors:
            # The neighbors are all joined now; the pairs lost are those with someone else.
            fill[other] -= len(left[other]) - len(neighbors)
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


# --- Junction tree --------------------------------------------------------------------------------
# Junction tree: the cliques of an order, joined so that each variable's cliques hang together.
#
# Each step of an elimination makes a clique C = {v} and its neighbors. Its message goes to the step
# that eliminates the first of these neighbors. A step whose clique is nothing but such a message is
# merged with the step that sends it, which leaves the maximal cliques:
#
#     clique = separator (shared with the parent) + residual (eliminated here)
#
# Every variable is in the residual of exactly one clique, and each factor belongs to the clique
# that eliminates the first of its variables.


@dataclass(frozen=True)
class CliqueTree:
    """Cliques from the leaves to the roots, one root for each connected part.

    Attributes
    ----------
    separators, residuals : tuples of tuples of int
        Of each clique, variables by their rank: those that are eliminated last come first, so
        that separator followed by residual is the order of a clique's axes.
    parents : tuple of int
        The clique that gets the message, after this one in the list; -1 for a root.
    rank : mapping from variable to position among all axes
    """

    separators: tuple[tuple[int, ...], ...]
    residuals: tuple[tuple[int, ...], ...]
    parents: tuple[int, ...]
    rank: dict[int, int]

    @cached_property
    def scopes(self) -> list[tuple[int, ...]]:
        """The variables of each clique, in the order of its axes."""
        return [s + r for s, r in zip(self.separators, self.residuals, strict=True)]

    def home(self, scope: Iterable[int]) -> int:
        """The clique that a factor belongs to."""
        return self.homes[max(scope, key=self.rank.__getitem__)]

    @cached_property
    def homes(self) -> dict[int, int]:
        """The clique that eliminates each variable."""
        return {v: c for c, residual in enumerate(self.residuals) for v in residual}


def clique_tree(order: Order, last: Collection[int] = ()) -> CliqueTree:
    """The tree of maximal cliques of an order.

    Parameters
    ----------
    order : Order
    last : variables, optional
        Joined to each other and eliminated last: they stay together as the residual of one root.

    Examples
    --------
    >>> from novum.graphical.structure.triangulation import greedy_order
    >>> tree = clique_tree(greedy_order([{1}, {0, 2}, {1}], [2, 2, 2], range(3)))
    >>> tree.scopes, tree.parents
    ([(1, 0), (2, 1)], (1, -1))
    """
    n = len(order.variables)
    place = {variable: i for i, variable in enumerate(order.variables)}
    rank = {variable: n - 1 - i for i, variable in enumerate(order.variables)}
    # Steps that were merged point to the step they went into.
    into = list(range(n))
    residuals = [[variable] for variable in order.variables]
    targets = [-1] * n
    for i, clique in enumerate(order.cliques):
        rest = clique - {order.variables[i]}
        targets[i] = min((place[v] for v in rest if v in place), default=-1)
    first_late = n - len(last)
    for i in range(n):
        _merge_upward(i, first_late if i < first_late else n, into, residuals, targets, order)
    return _collected(into, residuals, targets, order, rank)


def _merge_upward(
    i: int, end: int, into: list[int], residuals: list[list[int]], targets: list[int], order: Order
) -> None:
    """Takes in the steps above, before `end`, whose clique is but this one's separator."""
    if into[i] != i:
        return
    separator = len(order.cliques[i]) - 1
    while True:
        above = targets[i]
        if not 0 <= above < end or into[above] != above or len(order.cliques[above]) != separator:
            return
        into[above] = i
        residuals[i] += residuals[above]
        targets[i] = targets[above]
        separator -= 1


def _collected(
    into: list[int],
    residuals: list[list[int]],
    targets: list[int],
    order: Order,
    rank: dict[int, int],
) -> CliqueTree:
    """Merged steps as cliques, children before parents."""
    n = len(into)

    def final(step: int) -> int:
        while into[step] != step:
            step = into[step]
        return step

    # A merged clique stands where its last variable is eliminated: all its children come before.
    kept = sorted(
        (i for i in range(n) if into[i] == i),
        key=lambda i: min(rank[variable] for variable in residuals[i]),
        reverse=True,
    )
    number = {step: place for place, step in enumerate(kept)}
    separators, inner, parents = [], [], []
    for step in kept:
        residual = set(residuals[step])
        clique = order.cliques[step]
        separators.append(tuple(sorted(clique - residual, key=rank.__getitem__)))
        inner.append(tuple(sorted(residual, key=rank.__getitem__)))
        above = targets[step]
        parents.append(-1 if above < 0 else number[final(above)])
    return CliqueTree(tuple(separators), tuple(inner), tuple(parents), rank)
