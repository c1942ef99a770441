"""Junction tree: the cliques of an order, joined so that each variable's cliques hang together.

Each step of an elimination makes a clique C = {v} and its neighbors. Its message goes to the step
that eliminates the first of these neighbors. A step whose clique is nothing but such a message is
merged with the step that sends it, which leaves the maximal cliques:

    clique = separator (shared with the parent) + residual (eliminated here)

Every variable is in the residual of exactly one clique, and each factor belongs to the clique
that eliminates the first of its variables.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from novum.graphical.structure.triangulation import Order
from novum.numerics.shared_state import cached_property


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
    i: int,
    end: int,
    into: list[int],
    residuals: list[list[int]],
    targets: list[int],
    order: Order,
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
