"""A table as numbers of states: what all learning of networks reads.

Columns are variables, levels are states, a missing cell is `UNKNOWN`. Columns of numbers become
intervals first (`novum.graphical.naive_network`): a column of few different numbers has each as a
state, one of many is cut at quantiles. The states of a container that declares them (categoricals)
all count, whether a row has them or not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.core.learners import Learner
from novum.core.tables import (
    Kind,
    Sample,
    Schema,
    check_sample,
    checked_weight,
    is_frame,
    level_key,
)
from novum.core.text import label_text, listed, meant
from novum.distributions import StateAxis, named_columns
from novum.graphical.models.arrays import UNKNOWN
from novum.graphical.models.bayesian_network import BayesianNetwork
from novum.graphical.models.conditional import Tabular
from novum.graphical.models.row_codes import number_cells, read_rows, state_cells
from novum.graphical.naive_network import ColumnStates, column_states, state_codes
from novum.numerics import Codes, Floats, cached_property

# The state of a variable whose cells are numbers as they are.
NUMBER = "any number"


class _TableReader(Learner):
    """Reads tables as every learner does; its name is in messages about them."""

    categorical_features = "auto"


@dataclass(frozen=True, eq=False)
class CodedTable:
    """Rows of discrete variables.

    Attributes
    ----------
    variables : tuple of StateAxis
    codes : int32 array of shape (n_variables, n_rows)
        Numbers of states, `UNKNOWN` (-1) where a cell is missing. Columns lie in one piece.
    weights : array of shape (n_rows,), or None when every row counts once
    intervals : tuple of ColumnStates or None, one for each variable
        How numbers became states; None of columns that had states.
    numbers : tuple of arrays of shape (n_rows,) or None, one for each variable
        Columns of numbers that are kept as they are, NaN where missing; their variable has the one
        state `NUMBER`. Empty where every column has states.
    """

    variables: tuple[StateAxis, ...]
    codes: Codes
    weights: Floats | None = None
    intervals: tuple[ColumnStates | None, ...] = ()
    numbers: tuple[Floats | None, ...] = ()

    @property
    def n_rows(self) -> int:
        return int(self.codes.shape[1])

    @property
    def n_variables(self) -> int:
        return len(self.variables)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(axis.name for axis in self.variables)

    @cached_property
    def cards(self) -> Any:
        """Number of states of each variable, int64 of shape (n_variables,)."""
        return np.array([len(axis.states) for axis in self.variables], np.int64)

    @cached_property
    def total(self) -> float:
        """Sum of the weights."""
        return float(self.n_rows if self.weights is None else self.weights.sum())

    @cached_property
    def has_missing(self) -> bool:
        return bool((self.codes < 0).any())

    @cached_property
    def is_numeric(self) -> tuple[bool, ...]:
        """Whether a variable is a column of numbers as they are."""
        return tuple(is_number(axis) for axis in self.variables)

    def select(self, names: Sequence[str]) -> CodedTable:
        """The table of some variables, in the order named."""
        places = {name: place for place, name in enumerate(self.names)}
        chosen = []
        for name in names:
            if name not in places:
                raise InputError(
                    f"The table has no column {label_text(name)}: {meant(name, self.names)}"
                )
            chosen.append(places[name])
        return CodedTable(
            tuple(self.variables[place] for place in chosen),
            np.ascontiguousarray(self.codes[chosen]),
            self.weights,
            tuple(self.intervals[place] for place in chosen) if self.intervals else (),
            tuple(self.numbers[place] for place in chosen) if self.numbers else (),
        )

    def distinct(self) -> CodedTable:
        """Each different row once, with the weight of all that are equal to it.

        They are sorted, so that nothing depends on the order of the rows.
        """
        if not self.n_rows:
            return self
        rows = np.ascontiguousarray(self.codes.T)
        strings = rows.view((np.void, rows.itemsize * rows.shape[1])).ravel()
        _, first, inverse = np.unique(strings, return_index=True, return_inverse=True)
        weights = np.bincount(inverse.ravel(), self.weights, len(first)).astype(np.float64)
        codes = np.ascontiguousarray(self.codes[:, first])
        return CodedTable(self.variables, codes, weights, self.intervals)


def number_axis(name: str) -> StateAxis:
    """The variable of a column of numbers that are kept as they are."""
    return StateAxis(name, (NUMBER,))


def is_number(axis: StateAxis) -> bool:
    return axis.states == (NUMBER,)


def read_numbers(
    table: Any, variables: Sequence[StateAxis] | None = None, sample_weight: Any = None
) -> CodedTable:
    """A table whose columns of numbers stay numbers; other columns are read as by `read_table`.

    Parameters
    ----------
    variables : sequence of StateAxis, optional
        Reads these columns only, by these states; of numbers by `number_axis(name)`.

    Examples
    --------
    >>> table = read_numbers({"kind": ["a", "b", "a"], "size": [1.5, 2.5, 4.0]})
    >>> table.is_numeric, table.numbers[1].tolist()
    ((False, True), [1.5, 2.5, 4.0])
    """
    if isinstance(table, CodedTable):
        if sample_weight is not None:
            raise InputError("A CodedTable has its weights already. Leave out sample_weight.")
        return table if variables is None else table.select([axis.name for axis in variables])
    if isinstance(table, Mapping):
        table = _frame_of_columns(table)
    if variables is not None:
        return _read_both(table, tuple(variables), sample_weight)
    sample = check_sample(
        _TableReader(), table, None, sample_weight, target="none", allow_missing=True
    )
    if not sample.n_rows:
        raise InputError("The table has no rows of positive weight. Give at least one.")
    coded = coded_sample(sample)
    for axis, codes in zip(coded.variables, coded.codes, strict=True):
        if not (codes >= 0).any():
            raise InputError(
                f"Nothing is known of {label_text(axis.name)}: every cell is missing. Leave the "
                "column out."
            )
    return coded


def coded_sample(sample: Sample) -> CodedTable:
    """A checked sample with its numbers as they are; a column without levels has one state, ""."""
    axes: list[StateAxis] = []
    codes: list[Any] = []
    numbers: list[Floats | None] = []
    numeric, levels = iter(np.asarray(sample.numeric).T), iter(np.asarray(sample.codes).T)
    for column in sample.schema.columns:
        if column.kind is Kind.NUMERIC:
            cells = np.ascontiguousarray(next(numeric), np.float64)
            axes.append(number_axis(column.name))
            codes.append(np.where(np.isnan(cells), UNKNOWN, 0))
            numbers.append(cells)
        else:
            states = next(levels)
            axes.append(StateAxis(column.name, column.levels or ("",), column.kind is Kind.ORDINAL))
            codes.append(np.where(states >= 0, states, UNKNOWN))
            numbers.append(None)
    coded = np.ascontiguousarray(np.stack(codes), np.int32)
    kept = tuple(numbers) if any(x is not None for x in numbers) else ()
    return CodedTable(tuple(axes), coded, sample.weight, (), kept)


def known_columns(table: CodedTable, schema: Schema) -> CodedTable:
    """The columns of a coded sample that have any number, or any level that is declared."""
    return table.select(
        [
            column.name
            for column, codes in zip(schema.columns, table.codes, strict=True)
            if ((codes >= 0).any() if column.kind is Kind.NUMERIC else column.levels)
        ]
    )


def _read_both(table: Any, axes: tuple[StateAxis, ...], sample_weight: Any) -> CodedTable:
    columns = named_columns(table, what="A table is read")
    absent = [axis.name for axis in axes if axis.name not in columns]
    if absent:
        raise InputError(
            f"The table has no column for {listed(absent)}: {meant(absent[0], list(columns))}"
        )
    numbers = [number_cells(a.name, columns[a.name]) if is_number(a) else None for a in axes]
    codes = [
        state_cells(axis, columns[axis.name]) if x is None else np.where(np.isnan(x), UNKNOWN, 0)
        for axis, x in zip(axes, numbers, strict=True)
    ]
    weights = checked_weight(sample_weight, len(codes[0]))
    kept = np.ones(len(codes[0]), bool) if weights is None else weights > 0
    return CodedTable(
        axes,
        np.ascontiguousarray(np.stack(codes)[:, kept], np.int32),
        None if weights is None else weights[kept],
        (),
        tuple(None if x is None else x[kept] for x in numbers)
        if any(x is not None for x in numbers)
        else (),
    )


def read_table(
    table: Any,
    variables: Sequence[StateAxis] | None = None,
    sample_weight: Any = None,
    numbers: Any = None,
) -> CodedTable:
    """A table of a user as codes.

    Parameters
    ----------
    table : data frame, mapping of columns, array of shape (n_rows, n_columns), or CodedTable
    variables : sequence of StateAxis, optional
        Reads these columns by these states; a cell that is none of them is an error. By default
        columns and states are those of the table.
    sample_weight : array of shape (n_rows,), optional
        How often each row counts; at least 0.
    numbers : "normal" or a way to cut them, optional
        How columns of numbers are read, as in `learn_structure`; also those that a `CodedTable`
        has as they are.

    Examples
    --------
    >>> coded = read_table({"rain": ["no", "yes", None], "mm": [0, 3, 0]})
    >>> coded.names, coded.codes.tolist()
    (('rain', 'mm'), [[0, 1, -1], [0, 1, 0]])
    """
    if isinstance(table, CodedTable):
        if sample_weight is not None:
            raise InputError("A CodedTable has its weights already. Leave out sample_weight.")
        if variables is not None or numbers is None or not table.numbers:
            return table if variables is None else _recoded(table, variables)
    if numbers is not None and variables is None:
        if isinstance(numbers, str) and numbers == "normal":
            return read_numbers(table, None, sample_weight)
        from novum.graphical.learning.discretization import check_discretization

        return check_discretization(numbers).cut(read_numbers(table, None, sample_weight))
    if isinstance(table, Mapping):
        table = _frame_of_columns(table)
    if variables is not None:
        return _read_by_states(table, variables, sample_weight)
    sample = check_sample(
        _TableReader(), table, None, sample_weight, target="none", allow_missing=True
    )
    if not sample.n_rows:
        raise InputError("The table has no rows of positive weight. Give at least one.")
    states = column_states(sample)
    empty = [c.name for c, s in zip(sample.schema.columns, states, strict=True) if s is None]
    if empty:
        raise InputError(
            f"Nothing is known of {listed(empty)}: every cell is missing. Leave such columns out, "
            "or name them as hidden variables with their states (fit_expectation)."
        )
    kept = tuple(item for item in states if item is not None)
    codes = np.ascontiguousarray(state_codes(states, sample).T.astype(np.int32))
    intervals = tuple(item if item.cuts is not None else None for item in kept)
    return CodedTable(tuple(item.axis for item in kept), codes, sample.weight, intervals)


def _frame_of_columns(columns: Mapping[Any, Any]) -> Any:
    import pyarrow as pa

    from novum.core.tables import arrow_column

    arrays = {str(name): arrow_column(cells, str(name)) for name, cells in columns.items()}
    lengths = {name: len(cells) for name, cells in arrays.items()}
    if len(set(lengths.values())) > 1:
        name = min(lengths, key=lambda key: lengths[key])
        raise InputError(
            f"Column {label_text(name)} has {lengths[name]} rows and others have "
            f"{max(lengths.values())}. Give all columns one cell for each row."
        )
    return pa.table(arrays)


def _read_by_states(table: Any, variables: Sequence[StateAxis], sample_weight: Any) -> CodedTable:
    axes = tuple(variables)
    if not is_frame(table):
        cells = np.asarray(table, dtype=object)
        if cells.ndim != 2 or cells.shape[1] != len(axes):
            raise InputError(
                f"An array has a column for each of the {len(axes)} variables "
                f"({listed([axis.name for axis in axes])}), got shape {cells.shape}. Give a frame "
                "with named columns instead."
            )
        table = _frame_of_columns({a.name: cells[:, i] for i, a in enumerate(axes)})
    names = [str(name) for name in getattr(table, "column_names", table.columns)]
    absent = [axis.name for axis in axes if axis.name not in names]
    if absent:
        raise InputError(
            f"The table has no column for {listed(absent)}: {meant(absent[0], names)} A variable "
            "that is never seen is named as hidden, with its states (fit_expectation)."
        )
    codes = _categorical_codes(table, axes)
    if codes is None:
        blank = BayesianNetwork(
            Tabular.trusted(a, (), np.full(len(a.states), 1 / len(a.states))) for a in axes
        )
        codes = np.ascontiguousarray(read_rows(blank, table).T.astype(np.int32))
    weights = checked_weight(sample_weight, codes.shape[1])
    if weights is not None and (weights == 0).any():
        codes = np.ascontiguousarray(codes[:, weights > 0])
        weights = weights[weights > 0]
    return CodedTable(axes, codes, weights)


def _categorical_codes(table: Any, axes: Sequence[StateAxis]) -> Codes | None:
    """Codes of a pandas frame whose categories are the states as they are; None of others."""
    if not (axes and hasattr(table, "dtypes") and hasattr(table, "iloc")):
        return None
    out = np.empty((len(axes), len(table)), np.int32)
    for place, axis in enumerate(axes):
        # The array itself: a Series of its codes, and of its categories, costs more than counting.
        column = getattr(table[axis.name], "array", None)
        categories = getattr(getattr(column, "dtype", None), "categories", None)
        if column is None or categories is None:
            return None
        if [*map(level_key, categories.to_numpy(object).tolist())] != [*axis.positions]:
            return None
        out[place] = column.codes
    return out


def _recoded(table: CodedTable, variables: Sequence[StateAxis]) -> CodedTable:
    """The same rows by other lists of states."""
    chosen = table.select([axis.name for axis in variables])
    codes = chosen.codes.copy()
    for place, (old, new) in enumerate(zip(chosen.variables, variables, strict=True)):
        if old.states != new.states:
            numbers = np.array([*(new.position(state) for state in old.states), UNKNOWN], np.int32)
            codes[place] = numbers[codes[place]]
    return CodedTable(tuple(variables), codes, chosen.weights, chosen.intervals)
