"""Grids of values at which the dependence of a model on columns is looked at.

A numeric column is cut from its lower to its upper percentile into equal steps, or takes all its
values if they are fewer; a nominal or ordinal one takes all its levels. Missing cells give no value
and are counted. Each value knows how a column is filled with it: numbers as they are, levels by
the cell of a row that has them, so that they keep their type in any container.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.core.tables import (
    Column,
    Kind,
    arrow_of,
    codes_of,
    column_names,
    column_places,
    kind_of,
    level_key,
    levels_of,
    numbers_of,
)
from novum.numerics import Array, Floats


@dataclass(frozen=True)
class FromRow:
    """The cell of a row, as the value that a whole column takes."""

    row: int


@dataclass(frozen=True, eq=False)
class GridAxis:
    """The values of one column.

    Attributes
    ----------
    place : int
        Position of the column.
    name : str
    values : array of shape (n_values,)
        Numbers, or levels as objects.
    fillings : tuple of length n_values
        Numbers, or for levels the row whose cell has it: what fills the column.
    nominal : bool
    n_missing : int
        Rows in which the column is missing.
    """

    place: int
    name: str
    values: Array
    fillings: tuple[Any, ...]
    nominal: bool
    n_missing: int


def grid_axes(
    X: Any,
    features: Any,
    *,
    categorical_features: Any = None,
    percentiles: tuple[float, float] = (0.05, 0.95),
    grid_resolution: int = 100,
    custom_values: Mapping[Any, Any] | None = None,
) -> list[GridAxis]:
    """The axes of a grid over one or two columns.

    Parameters
    ----------
    X : table
    features : name, position, or a list of one or two
    categorical_features : mask, names or positions, optional
        Columns of numbers whose values are taken one by one; text and categories always are.
    percentiles : pair of float
    grid_resolution : int
        Largest number of values of a numeric column.
    custom_values : mapping of columns to lists of values, optional
    """
    _check_range(percentiles, grid_resolution)
    names = column_names(X)
    wanted = [features] if isinstance(features, (str, int, np.integer)) else list(features)
    places = column_places(wanted, names, "features")
    if not 1 <= len(places) <= 2 or len(set(places)) < len(places):
        raise InputError(f"features are one column or two different ones, got {features!r}.")
    marked = _marked(categorical_features, names)
    custom = {
        column_places([key], names, "custom_values")[0]: values
        for key, values in (custom_values or {}).items()
    }
    limits = (percentiles, grid_resolution)
    return [
        _axis(X, place, names[place], place in marked, *limits, custom.get(place))
        for place in places
    ]


def _axis(
    X: Any,
    place: int,
    name: str,
    marked: bool,
    percentiles: tuple[float, float],
    resolution: int,
    custom: Any,
) -> GridAxis:
    array = arrow_of(X, place)
    kind = kind_of(array, name)
    if kind is not Kind.NUMERIC:
        return _level_axis(array, Column(name, kind, levels_of(array, name)), place, custom)
    numbers = numbers_of(array, name)
    known = numbers[~np.isnan(numbers)]
    missing = int(numbers.size - known.size)
    if custom is not None:
        values = _custom_numbers(custom, name)
    elif known.size == 0:
        raise InputError(
            f"Column {name!r} is missing in all rows, so it has no grid. Leave it out."
        )
    else:
        values = np.unique(known)
        if not marked and values.size >= resolution:
            values = _steps(known, percentiles, resolution, name)
    return GridAxis(place, name, values, tuple(values.tolist()), marked, missing)


def _level_axis(array: Any, column: Column, place: int, custom: Any) -> GridAxis:
    codes = codes_of(array, column)
    met = {int(code): int(row) for row, code in reversed(list(enumerate(codes))) if code >= 0}
    if not met:
        raise InputError(f"Column {column.name!r} is missing in all rows, so it has no grid.")
    chosen = sorted(met)
    if custom is not None:
        chosen = [column.positions.get(level_key(level), -1) for level in custom]
        unknown = [level for level, code in zip(custom, chosen, strict=True) if code not in met]
        if unknown:
            shown = ", ".join(repr(column.levels[code]) for code in sorted(met)[:10])
            raise InputError(
                f"custom_values has {unknown[0]!r} for column {column.name!r}, which no row has. "
                f"Its levels are {shown}."
            )
    values = np.empty(len(chosen), object)
    values[:] = [column.levels[code] for code in chosen]
    fillings = tuple(FromRow(met[code]) for code in chosen)
    return GridAxis(place, column.name, values, fillings, True, int((codes < 0).sum()))


def _steps(known: Floats, percentiles: tuple[float, float], resolution: int, name: str) -> Floats:
    from scipy.stats.mstats import mquantiles

    low, high = np.asarray(mquantiles(known, prob=percentiles), np.float64)
    if not high > low:
        raise InputError(
            f"The percentiles {percentiles[0]:g} and {percentiles[1]:g} of column {name!r} are "
            f"both {low:g}: they are too close to each other to build the grid. Choose percentiles "
            "that are further apart."
        )
    return np.linspace(low, high, resolution)


def _custom_numbers(custom: Any, name: str) -> Floats:
    try:
        values = np.asarray(custom, np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"custom_values of numeric column {name!r} are numbers.") from error
    if values.ndim != 1 or values.size == 0 or not np.isfinite(values).all():
        raise InputError(f"custom_values of column {name!r} are a list of finite numbers.")
    return values


def _marked(categorical: Any, names: Sequence[str]) -> set[int]:
    if categorical is None:
        return set()
    wanted = list(categorical)
    if wanted and all(isinstance(item, (bool, np.bool_)) for item in wanted):
        if len(wanted) != len(names):
            raise InputError(
                f"The mask in categorical_features has {len(wanted)} entries for {len(names)} "
                "columns. Give one entry for each column."
            )
        return {j for j, item in enumerate(wanted) if item}
    return set(column_places(wanted, names, "categorical_features"))


def _check_range(percentiles: Any, resolution: Any) -> None:
    try:
        low, high = percentiles
        fine = 0 <= low < high <= 1
    except (TypeError, ValueError):
        fine = False
    if not fine:
        raise InputError(f"percentiles are two shares, 0 <= low < high <= 1, got {percentiles!r}.")
    if not isinstance(resolution, (int, np.integer)) or resolution < 2:
        raise InputError(f"grid_resolution is a number of at least 2, got {resolution!r}.")
