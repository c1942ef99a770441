"""A network's conditional distributions as flat arrays.

A noisy or of many parents becomes a chain of small tables over auxiliary variables h_1, h_2, ...:

    h_1 = leak or (x_1 with s_1),   h_k = h_{k-1} or (x_k with s_k),   the variable itself = h_m

so that its size grows with the number of parents and not with two to its power. Auxiliary
variables stand behind the others in the arrays (`ModelArrays.n_hidden`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Self

import numpy as np

from novum.graphical.models.arrays import Floats, ModelArrays, Positions, read_only
from novum.graphical.models.compact import NoisyOr
from novum.graphical.models.conditional import Conditional, Tabular
from novum.numerics.shared_state import cached_property

# Above this number of parents a chain has fewer cells than the table in every case.
CHAIN_ABOVE = 4


class NetworkArrays(ModelArrays):
    """The arrays of a network, whose order is found when it is first asked for."""

    @classmethod
    def of(
        cls, cards: list[int], scopes: list[int], ends: list[int], tables: list[Floats], shown: int
    ) -> Self:
        """From the factors of variables 0, 1, ..., each with its end in `scopes`."""
        n, size = len(cards), len(scopes)
        sizes = accumulate([table.size for table in tables])
        # One conversion from Python's integers is cheaper than four.
        integers = np.array([*cards, *scopes, 0, *ends, 0, *sizes], np.int64)
        cells = np.concatenate([table.ravel() for table in tables]) if tables else np.empty(0)
        made = object.__new__(cls)
        made.__dict__.update(
            cards=integers[:n],
            scopes=integers[n : n + size],
            scope_starts=integers[n + size : -n - 1],
            table_starts=integers[-n - 1 :],
            # A view, so that kernels find the array that they take.
            tables=read_only(cells[:]),
            heads=np.arange(n, dtype=np.int64),
            n_hidden=n - shown,
            is_directed=True,
        )
        return made

    @cached_property
    def order(self) -> Positions:
        scopes, starts = self.scopes.tolist(), self.scope_starts.tolist()
        parents = [scopes[starts[v] : starts[v + 1] - 1] for v in range(self.n_variables)]
        return np.array(_topological(parents), np.int64)


def arrays_of(conditionals: Sequence[Conditional], places: Mapping[str, int]) -> ModelArrays:
    """The model of conditional distributions, one for each variable in the order of `places`.

    Parameters
    ----------
    conditionals : sequence of Conditional
    places : mapping from names to positions in `conditionals`
    """
    # A copy, since views of mappings answer slowly.
    numbers = dict(places)
    cards = [len(item.variable.states) for item in conditionals]
    scopes: list[int] = []
    ends: list[int] = []
    tables: list[Floats] = []
    hidden = _Hidden(len(cards))
    for place, item in enumerate(conditionals):
        # Tables, which most are, are told by their exact type, without asking the abstract class.
        if type(item) is Tabular:
            for parent in item.parents:
                scopes.append(numbers[parent.name])
            tables.append(item.cells)
        else:
            parents = [numbers[parent.name] for parent in item.parents]
            if isinstance(item, NoisyOr) and len(parents) > CHAIN_ABOVE:
                parents, table = hidden.chain(parents, item)
            else:
                table = item.table
            scopes += parents
            tables.append(table)
        scopes.append(place)
        ends.append(len(scopes))
    for scope in hidden.scopes:
        scopes += scope
        ends.append(len(scopes))
    cards += [2] * len(hidden.scopes)
    return NetworkArrays.of(cards, scopes, ends, tables + hidden.tables, len(conditionals))


class _Hidden:
    """The factors of auxiliary variables, which stand behind `n_shown` others."""

    def __init__(self, n_shown: int) -> None:
        self.n_shown = n_shown
        self.scopes: list[list[int]] = []
        self.tables: list[Floats] = []

    def chain(self, parents: list[int], item: NoisyOr) -> tuple[list[int], Floats]:
        """Adds a chain but for its last table, which is the variable's own: its parents and cells.

        Auxiliary variables have their active state at 1.
        """
        before: list[int] = []
        for step, parent in enumerate(parents[:-1]):
            hidden = self.n_shown + len(self.scopes)
            self.tables.append(_link(_silent(item, step), 1))
            self.scopes.append([*before, parent, hidden])
            before = [hidden]
        last = _link(_silent(item, len(parents) - 1), item.active_state)
        return [*before, parents[-1]], last


def _link(silent: Floats, active: int) -> Floats:
    table = np.empty((*silent.shape, 2))
    table[..., active], table[..., 1 - active] = 1.0 - silent, silent
    return table


def _silent(item: NoisyOr, step: int) -> Floats:
    """The probability of still being inactive after one more parent."""
    factors = np.full(len(item.parents[step].states), 1.0 - item.strengths[step])
    factors[item.inactive_states[step]] = 1.0
    if step == 0:
        return (1.0 - item.leak) * factors
    # Once active, always active.
    return np.stack([factors, np.zeros_like(factors)])


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
