"""A model as flat arrays: what every engine computes with.

    P(x) = 1/Z * product over factors f of  table_f(x_scope(f))

A Bayesian network has one factor for each variable, its conditional table, with axes (parents in
their order, the variable itself last) and Z = 1; factor i belongs to variable i. Undirected
models have factors that belong to no variable.

Names and states are left behind: variables and states are numbered from 0 in the order of the
model. Tables lie one after the other in a single buffer, each in C order of its scope, so that
compiled code sees a handful of arrays whatever the size of the model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from novum.numerics import Bytes, Floats, Integers, cached_property

NO_HEAD = -1
UNKNOWN = -1


def read_only(array: Floats) -> Floats:
    """The same array, which can no longer be written to: models never change."""
    array.flags.writeable = False
    return array


def spans_of(bounds: Floats) -> Floats:
    """How many powers of two positive numbers between two rows of bounds are away from 1.

    Logarithms are always taken here, so that their bits do not depend on what is compiled.
    """
    away = np.abs(np.log2(bounds))
    return np.maximum(away[0], away[1])


@dataclass(frozen=True, eq=False)
class ModelArrays:
    """Factors of a model in flat arrays.

    Attributes
    ----------
    cards : int64 array of shape (n_variables,)
        Number of states of each variable.
    scope_starts, scopes : int64 arrays
        Variables of factor f in the order of its axes: `scopes[scope_starts[f]:scope_starts[f+1]]`.
    table_starts, tables : int64 array, float64 array
        Its cells: `tables[table_starts[f]:table_starts[f+1]]`.
    heads : int64 array of shape (n_factors,)
        The variable whose conditional table the factor is (its last axis), or `NO_HEAD`.
    order : int64 array of shape (n_variables,)
        All variables, parents before children; any order for undirected models.
    n_hidden : int
        That many variables at the end are auxiliary (they make compact tables small) and are
        never shown.
    """

    cards: Integers
    scope_starts: Integers
    scopes: Integers
    table_starts: Integers
    tables: Floats
    heads: Integers
    order: Integers
    n_hidden: int = 0

    @property
    def n_variables(self) -> int:
        return len(self.cards)

    @property
    def n_factors(self) -> int:
        return len(self.heads)

    @cached_property
    def is_directed(self) -> bool:
        """Whether every variable has its conditional table, so that the product sums to one."""
        return self.n_factors == self.n_variables and np.array_equal(
            self.heads, np.arange(self.n_variables)
        )

    @cached_property
    def zeros(self) -> Bytes:
        """Which tables have a cell that is exactly zero."""
        cells = np.append(self.tables, 1.0)
        least: Floats = np.minimum.reduceat(cells, self.table_starts[:-1])
        return (least == 0).view(np.uint8)

    @cached_property
    def spans(self) -> Floats:
        """Of each table how many powers of two its positive cells are away from 1, at most."""
        starts, positive = self.table_starts[:-1], np.append(self.tables, 1.0)
        positive[positive == 0] = 1.0
        return spans_of(
            np.stack([np.minimum.reduceat(positive, starts), np.maximum.reduceat(positive, starts)])
        )

    @cached_property
    def span(self) -> float:
        """How many powers of two a sum of products of tables, each once, may be away from 1."""
        return float(self.spans.sum() + np.log2(self.cards).sum())

    @cached_property
    def has_zeros(self) -> bool:
        """Whether a cell is exactly zero; without one, no evidence is impossible."""
        return bool((self.tables == 0).any())

    def scope(self, factor: int) -> Integers:
        """The variables of a factor, in the order of its axes."""
        return self.scopes[self.scope_starts[factor] : self.scope_starts[factor + 1]]

    def table(self, factor: int) -> Floats:
        """The cells of a factor, shaped by its scope; a view."""
        cells = self.tables[self.table_starts[factor] : self.table_starts[factor + 1]]
        return cells.reshape(self.cards[self.scope(factor)])


@dataclass(frozen=True, eq=False)
class Evidence:
    """What is known of some variables.

    Attributes
    ----------
    codes : int64 array of shape (n_variables,)
        The state of each variable, or `UNKNOWN`.
    likelihoods : mapping from variable to float array of its number of states
        Soft evidence: how likely the observation is in each state, up to a factor.
    """

    codes: Integers
    likelihoods: Mapping[int, Floats] = field(default_factory=dict)

    @classmethod
    def none(cls, n_variables: int) -> Evidence:
        """Nothing is known."""
        return cls(np.full(n_variables, UNKNOWN, np.int64))

    @property
    def observed(self) -> Integers:
        """The variables whose state is known."""
        return np.flatnonzero(self.codes >= 0)
