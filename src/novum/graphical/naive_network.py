"""The network of a class and of columns that depend on nothing else, estimated from a table.

    P(class = k)            = (N_k + 1) / (N + K)
    P(column = l | class k) = (N_kl + 1) / (N_k. + L)          Laplace's rule of succession

`N_kl` is the weight of rows of class k with level l; a missing cell counts nowhere in its column's
table, and the row still counts in all others. Numbers become intervals first: a column of few
different numbers has each as a state, one of many is cut at the quantiles of its present cells.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from novum.core.errors import ModelFileError
from novum.core.tables import Kind, Level, Sample, Schema
from novum.distributions import StateAxis
from novum.graphical.models.arrays import UNKNOWN
from novum.graphical.models.bayesian_network import BayesianNetwork
from novum.graphical.models.conditional import Tabular
from novum.numerics import Array, Floats, Integers

# Columns of up to so many different numbers have each as a state; others are cut into fewer
# intervals, so that every one keeps a fair share of the rows.
MOST_NUMBERS = 12
INTERVALS = 6


@dataclass(frozen=True, eq=False)
class ColumnStates:
    """How the cells of one column become states.

    Attributes
    ----------
    axis : StateAxis
    cuts : array of increasing numbers, or None
        Interval i holds the numbers above `cuts[i - 1]` and up to `cuts[i]`; None where the cells
        are codes of levels already.
    """

    axis: StateAxis
    cuts: Floats | None = None

    def codes(self, cells: Array) -> Integers:
        """The state of each cell, `UNKNOWN` where it is missing or a level that is no state."""
        if self.cuts is None:
            known = (cells >= 0) & (cells < len(self.axis.states))
            return np.where(known, cells, UNKNOWN).astype(np.int64)
        codes = np.searchsorted(self.cuts, cells, side="left").astype(np.int64)
        codes[np.isnan(cells)] = UNKNOWN
        return codes


def column_states(sample: Sample) -> tuple[ColumnStates | None, ...]:
    """The states of every column of a sample; None of a column without any present cell."""
    return tuple(
        _of_numbers(name, cells, sample.weights) if kind is None else _of_levels(name, kind, cells)
        for name, kind, cells in _columns(sample)
    )


def state_codes(states: tuple[ColumnStates | None, ...], sample: Sample) -> Integers:
    """The states of all cells, of shape (n_rows, n_columns that have states)."""
    cells = [cells for _, _, cells in _columns(sample)]
    columns = [
        item.codes(part) for item, part in zip(states, cells, strict=True) if item is not None
    ]
    return np.column_stack(columns) if columns else np.empty((sample.n_rows, 0), np.int64)


def states_of_columns(table: Any, schema: Schema) -> tuple[ColumnStates | None, ...]:
    """How the cells of each column became the states of a table (`CodedTable`) without numbers."""
    made = {
        axis.name: ColumnStates(axis) if item is None else item
        for axis, item in itertools.zip_longest(table.variables, table.intervals)
    }
    return tuple(made.get(name) for name in schema.names)


def check_column_states(states: object, schema: Schema) -> None:
    """Refuses states of a loaded model that are not those of its columns."""
    columns = schema.columns
    if not isinstance(states, tuple) or len(states) != len(columns):
        raise ModelFileError("The model's columns have not one set of states each.")
    for item, column in zip(states, columns, strict=True):
        if item is None:
            continue
        if not isinstance(item, ColumnStates) or item.axis.name != column.name:
            raise ModelFileError(f"The states of column {column.name!r} belong to another one.")
        if (item.cuts is not None) != (column.kind is Kind.NUMERIC):
            raise ModelFileError(f"The states of column {column.name!r} are of another kind.")
        if item.cuts is not None and not _are_cuts(item.cuts, len(item.axis.states)):
            raise ModelFileError(f"The cuts of column {column.name!r} make other intervals.")


def _are_cuts(cuts: object, n_intervals: int) -> bool:
    return (
        isinstance(cuts, np.ndarray)
        and cuts.dtype.kind == "f"
        and cuts.shape == (n_intervals - 1,)
        # A NaN fails the comparison too.
        and bool((np.diff(cuts) > 0).all())
        and not np.isnan(cuts).any()
    )


def naive_network(
    target: StateAxis,
    axes: tuple[StateAxis, ...],
    classes: Integers,
    codes: Integers,
    weights: Floats,
) -> BayesianNetwork:
    """The network with `target` as the only parent of every other variable.

    Parameters
    ----------
    target, axes : variables
    classes : int array of shape (n_rows,)
    codes : int array of shape (n_rows, n_variables), `UNKNOWN` where missing
    weights : array of shape (n_rows,)

    Examples
    --------
    >>> kind, wings = StateAxis("kind", ("bat", "cat")), StateAxis("wings", ("no", "yes"))
    >>> codes = np.array([[1], [1], [0], [UNKNOWN]])
    >>> network = naive_network(kind, (wings,), np.array([0, 0, 1, 1]), codes, np.ones(4))
    >>> network["wings"].table.round(3).tolist()
    [[0.25, 0.75], [0.667, 0.333]]
    """
    n_classes = len(target.states)
    totals = np.bincount(classes, weights, n_classes) + 1.0
    made = [Tabular(target, (), totals / totals.sum())]
    for place, axis in enumerate(axes):
        size = len(axis.states)
        known = codes[:, place] != UNKNOWN
        cells = classes[known] * size + codes[known, place]
        counts = np.bincount(cells, weights[known], n_classes * size).reshape(n_classes, size) + 1.0
        made.append(Tabular(axis, (target,), counts / counts.sum(axis=1, keepdims=True)))
    return BayesianNetwork(made)


# --- Columns --------------------------------------------------------------------------------------


def _columns(sample: Sample) -> list[tuple[str, Any, Array]]:
    """Name, column unless it is numeric, and cells: numbers or codes of levels."""
    numbers = iter(range(sample.numeric.shape[1]))
    levels = iter(range(sample.codes.shape[1]))
    return [
        (column.name, None, sample.numeric[:, next(numbers)])
        if column.kind is Kind.NUMERIC
        else (column.name, column, sample.codes[:, next(levels)])
        for column in sample.schema.columns
    ]


def _of_levels(name: str, column: Any, cells: Array) -> ColumnStates | None:
    del cells
    if not column.levels:
        return None
    return ColumnStates(StateAxis(name, column.levels, column.kind is Kind.ORDINAL))


def _of_numbers(name: str, cells: Floats, weights: Floats) -> ColumnStates | None:
    known = ~np.isnan(cells)
    if not known.any():
        return None
    values, inverse = np.unique(cells[known], return_inverse=True)
    totals = np.bincount(inverse.ravel(), weights[known]).astype(np.float64)
    return intervals_after(name, values, frequent_ends(totals, INTERVALS))


def frequent_ends(weights: Floats, n_intervals: int, most_numbers: int = MOST_NUMBERS) -> Integers:
    """Where intervals of about equal weight end, of sorted different numbers with these weights.

    Up to `most_numbers` numbers are an interval each. The last interval has no end.
    """
    chosen = np.arange(len(weights) - 1)
    if len(weights) <= most_numbers:
        return chosen
    shares = np.cumsum(weights)
    wanted = np.arange(1, n_intervals) / n_intervals * shares[-1]
    # Up to rounding of sums: weights of 2 and rows that occur twice cut alike.
    chosen = np.unique(np.searchsorted(shares, wanted * (1 - 1e-12)))
    # Where nearly all rows have the largest number, that is cut off from the others.
    return np.unique(np.minimum(chosen, len(weights) - 2))


def intervals_after(name: str, values: Floats, ends: Integers) -> ColumnStates:
    """Intervals of sorted different numbers, each ending at one of them.

    A cut has as few digits as tell both sides apart, so that a state's name says exactly what
    belongs to it.
    """
    pairs = zip(values[ends].tolist(), values[ends + 1].tolist(), strict=True)
    cuts = np.array([_shortest_between(low, high) for low, high in pairs], np.float64)
    return ColumnStates(StateAxis(name, _interval_names(values, cuts), ordered=True), cuts)


def _shortest_between(low: float, high: float) -> float:
    """A number at least `low` and below `high`, near the middle and with few digits."""
    middle = low / 2 + high / 2
    for digits in range(3, 17):
        rounded = float(f"{middle:.{digits}g}")
        if low <= rounded < high:
            return rounded
    return middle if low <= middle < high else low


def _interval_names(values: Floats, cuts: Floats) -> tuple[Level, ...]:
    if len(cuts) == len(values) - 1 and len(values) <= MOST_NUMBERS:
        return tuple(values.tolist())
    if not len(cuts):
        return ("all numbers",)
    ends = [_written(cut) for cut in cuts.tolist()]
    inner = [f"{a} to {b}" for a, b in itertools.pairwise(ends)]
    return (f"up to {ends[0]}", *inner, f"above {ends[-1]}")


def _written(number: float) -> str:
    """The shortest way to write a number exactly."""
    text = f"{number:.6g}"
    return text if float(text) == number else repr(number)


def class_name_in(schema: Schema, target: str | None) -> str:
    """The name of the class among the columns."""
    name = target or "class"
    while name in schema.names:
        name += "_"
    return name
