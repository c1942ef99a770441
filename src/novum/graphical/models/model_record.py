"""A network or factor graph as a handful of flat arrays, which is how model files hold it.

    variables                  names and states
    scopes                     the variables of each table, by number; in a network the node last
    cells                      of all tables one after the other, each in C order of its scope
    compact                    noisy-or and deterministic nodes of a network, as they are

A model of ten thousand nodes is four arrays and not ten thousand. What a record says is believed
only after the checks of a model that is built by hand: it may come from a stranger's file.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from novum.core.errors import InputError
from novum.core.text import label_text
from novum.distributions import StateAxis, check_cells
from novum.graphical.factor import Factor
from novum.graphical.models.conditional import Conditional, Tabular
from novum.numerics import Floats, Integers

if TYPE_CHECKING:
    from novum.graphical.models.bayesian_network import BayesianNetwork
    from novum.graphical.models.factor_graph import FactorGraph


@dataclass(frozen=True, eq=False)
class ModelRecord:
    """The parts of a model.

    Attributes
    ----------
    variables : tuple of StateAxis
    scope_starts, scopes : int64 arrays
        Table f is over `scopes[scope_starts[f]:scope_starts[f + 1]]`.
    cells : float64 array
        Compact nodes have none.
    compact : tuple of Conditional
        Nodes that are no tables.
    n_hidden : int
        So many variables at the end are auxiliary.
    """

    variables: tuple[StateAxis, ...]
    scope_starts: Integers
    scopes: Integers
    cells: Floats
    compact: tuple[Conditional, ...] = ()
    n_hidden: int = 0

    def __post_init__(self) -> None:
        _check_types(self.variables, StateAxis, "variables")
        _check_types(self.compact, Conditional, "compact nodes")
        for name, kind in (("scope_starts", "i"), ("scopes", "i"), ("cells", "f")):
            array = getattr(self, name)
            if not (isinstance(array, np.ndarray) and array.ndim == 1 and array.dtype.kind == kind):
                raise InputError(f"The {name} of a model's record are no array of numbers.")
        if type(self.n_hidden) is not int or not 0 <= self.n_hidden <= len(self.variables):
            raise InputError("A model's record hides more variables than it has.")
        starts, scopes = self.scope_starts, self.scopes
        if len(starts) == 0 or starts[0] != 0 or starts[-1] != len(scopes):
            raise InputError("The scopes of a model's record do not fill their array.")
        if (np.diff(starts) < 0).any():
            raise InputError("The scopes of a model's record end before they begin.")
        if len(scopes) and not (scopes.min() >= 0 and scopes.max() < len(self.variables)):
            raise InputError("The scopes of a model's record have variables that are not there.")

    def scope(self, table: int) -> tuple[StateAxis, ...]:
        """The variables of a table."""
        numbers = self.scopes[self.scope_starts[table] : self.scope_starts[table + 1]].tolist()
        return tuple(self.variables[number] for number in numbers)

    def tables(self, skipped: frozenset[int] = frozenset()) -> Iterator[tuple[int, Floats]]:
        """Number and cells of each table but some; all cells must be used."""
        start = 0
        for table in range(len(self.scope_starts) - 1):
            if table in skipped:
                continue
            shape = [len(axis.states) for axis in self.scope(table)]
            check_cells(shape)
            end = start + math.prod(shape)
            if end > len(self.cells):
                break
            yield table, self.cells[start:end].reshape(shape)
            start = end
        else:
            if start == len(self.cells):
                return
        raise InputError(f"The record's {len(self.cells)} cells are not those of its tables.")


def record_of_network(network: BayesianNetwork) -> ModelRecord:
    """The record of a network."""
    items, places = network.conditionals, network.places
    scopes = [[*(places[p.name] for p in item.parents), place] for place, item in enumerate(items)]
    tables = [item.table for item in items if isinstance(item, Tabular)]
    compact = tuple(item for item in items if not isinstance(item, Tabular))
    return _record(network.variables, scopes, tables, compact)


def network_conditionals(record: ModelRecord) -> list[Conditional]:
    """The distributions that a network's record holds, each checked as one given by hand."""
    _check_record(record)
    places = {axis.name: place for place, axis in enumerate(record.variables)}
    if len(record.scope_starts) - 1 != len(record.variables) or len(places) < len(record.variables):
        raise InputError("A network's record has one table for each variable of its own name.")
    made: dict[int, Conditional] = {}
    for item in record.compact:
        place = places.get(item.name, -1)
        if place in made or record.scope(place) != (*item.parents, item.variable):
            raise InputError(f"The compact node {label_text(item.name)} has another scope.")
        made[place] = item
    for place, cells in record.tables(frozenset(made)):
        *parents, own = record.scope(place) or (None,)
        if own is not record.variables[place]:
            raise InputError(f"Table {place} of the record belongs to another variable.")
        made[place] = Tabular(own, tuple(parents), cells)
    return [made[place] for place in range(len(record.variables))]


def record_of_graph(graph: FactorGraph) -> ModelRecord:
    """The record of a factor graph."""
    variables = (*graph.variables, *graph.auxiliary)
    places = {axis.name: place for place, axis in enumerate(variables)}
    scopes = [[places[name] for name in factor.names] for factor in graph.factors]
    tables = [factor.values for factor in graph.factors]
    return replace(_record(variables, scopes, tables, ()), n_hidden=len(graph.auxiliary))


def graph_factors(record: ModelRecord) -> list[Factor]:
    """The factors that a graph's record holds, each checked as one given by hand."""
    _check_record(record)
    return [Factor(cells, record.scope(table)) for table, cells in record.tables()]


def _record(
    variables: tuple[StateAxis, ...],
    scopes: Sequence[Sequence[int]],
    tables: Sequence[Floats],
    compact: tuple[Conditional, ...],
) -> ModelRecord:
    starts = list(itertools.accumulate(map(len, scopes), initial=0))
    return ModelRecord(
        variables=variables,
        scope_starts=np.array(starts, np.int64),
        scopes=np.array([variable for scope in scopes for variable in scope], np.int64),
        cells=np.concatenate([np.empty(0), *(table.ravel() for table in tables)]),
        compact=compact,
    )


def _check_types(given: object, kind: type, what: str) -> None:
    if not isinstance(given, tuple) or not all(isinstance(item, kind) for item in given):
        raise InputError(f"The {what} of a model's record are no tuple of {kind.__name__}.")


def _check_record(given: object) -> None:
    if not isinstance(given, ModelRecord):
        raise InputError("A model is made from its record.")
