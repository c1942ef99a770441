"""A network's conditional distributions as flat arrays.

A noisy or of many parents becomes a chain of small tables over auxiliary variables h_1, h_2, ...:

    h_1 = leak or (x_1 with s_1),   h_k = h_{k-1} or (x_k with s_k),   the variable itself = h_m

so that its size grows with the number of parents and not with two to its power. Auxiliary
variables stand behind the others in the arrays (`ModelArrays.n_hidden`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from novum.graphical.models.arrays import Floats, ModelArrays, Positions, read_only
from novum.graphical.models.compact import NoisyOr
from novum.graphical.models.conditional import Conditional

# Above this number of parents a chain has fewer cells than the table in every case.
CHAIN_ABOVE = 4


def arrays_of(conditionals: Sequence[Conditional], places: Mapping[str, int]) -> ModelArrays:
    """The model of conditional distributions, one for each variable in the order of `places`.

    Parameters
    ----------
    conditionals : sequence of Conditional
    places : mapping from names to positions in `conditionals`
    """
    parts = _Parts([len(item.variable.states) for item in conditionals])
    for place, item in enumerate(conditionals):
        parents = [places[parent.name] for parent in item.parents]
        if isinstance(item, NoisyOr) and len(parents) > CHAIN_ABOVE:
            parts.add_chain(place, parents, item)
        else:
            parts.set(place, [*parents, place], item.table)
    return parts.joined()


class _Parts:
    """Factors under construction, by the variable they belong to."""

    def __init__(self, cards: list[int]) -> None:
        self.n_shown = len(cards)
        self.cards = cards
        self.scopes: dict[int, list[int]] = {}
        self.tables: dict[int, Floats] = {}

    def set(self, variable: int, scope: list[int], table: Floats) -> None:
        self.scopes[variable] = scope
        self.tables[variable] = table

    def add_chain(self, place: int, parents: list[int], item: NoisyOr) -> None:
        previous: int | None = None
        for step, parent in enumerate(parents):
            last = step == len(parents) - 1
            variable = place if last else self._hidden()
            # Auxiliary variables have their active state at 1.
            active = item.active_state if last else 1
            silent = _silent(item, step, first=previous is None)
            table = np.empty((*silent.shape, 2))
            table[..., active], table[..., 1 - active] = 1.0 - silent, silent
            before = [] if previous is None else [previous]
            self.set(variable, [*before, parent, variable], table)
            previous = variable

    def _hidden(self) -> int:
        self.cards.append(2)
        return len(self.cards) - 1

    def joined(self) -> ModelArrays:
        n = len(self.cards)
        scopes = [self.scopes[v] for v in range(n)]
        tables = [self.tables[v].ravel() for v in range(n)]
        return ModelArrays(
            cards=np.array(self.cards, np.int64),
            scope_starts=_starts([len(scope) for scope in scopes]),
            scopes=np.array([v for scope in scopes for v in scope], np.int64),
            table_starts=_starts([len(table) for table in tables]),
            tables=read_only(np.concatenate(tables) if tables else np.empty(0)),
            heads=np.arange(n, dtype=np.int64),
            order=np.array(_topological([scope[:-1] for scope in scopes]), np.int64),
            n_hidden=n - self.n_shown,
        )


def _silent(item: NoisyOr, step: int, first: bool) -> Floats:
    """The probability of still being inactive after one more parent."""
    factors = np.full(len(item.parents[step].states), 1.0 - item.strengths[step])
    factors[item.inactive_states[step]] = 1.0
    if first:
        return (1.0 - item.leak) * factors
    # Once active, always active.
    return np.stack([factors, np.zeros_like(factors)])


def _starts(sizes: list[int]) -> Positions:
    starts = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=starts[1:])
    return starts


def _topological(parents: Sequence[Sequence[int]]) -> list[int]:
    """Parents before children; among those that are ready the lowest number first come."""
    children: list[list[int]] = [[] for _ in parents]
    waiting = [len(found) for found in parents]
    for variable, found in enumerate(parents):
        for parent in found:
            children[parent].append(variable)
    order = [variable for variable, count in enumerate(waiting) if count == 0]
    for variable in order:
        for child in children[variable]:
            waiting[child] -= 1
            if waiting[child] == 0:
                order.append(child)
    return order
