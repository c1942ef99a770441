"""Labels as positions in a list of levels.

Labels may be numbers, strings or any hashable values; a number equals the number of the same value,
whatever its type. Missing labels (None, NaN, NaT) have a code of their own, as have unknown ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.numerics import Array, Integers

MISSING, UNSEEN = -1, -2


def labels(x: Any) -> Array:
    """Labels as an array that keeps their values: `["a", 1]` does not turn 1 into a string.

    >>> labels(["a", 1]).tolist(), labels([1, 2.5]).dtype.name
    (['a', 1], 'float64')
    """
    if hasattr(x, "dtype") or np.isscalar(x):
        return np.asarray(x)
    values = np.asarray(x, object)
    kinds = {_kind(value) for value in values.ravel()}
    # One kind of plain values makes an ordinary array, which is compared faster.
    return np.asarray(x) if len(kinds) == 1 and "other" not in kinds else values


def checked_levels(levels: Sequence[Any]) -> tuple[Any, ...]:
    """Different, hashable, non-missing levels as plain Python values."""
    if isinstance(levels, str):
        raise InputError(f"Levels are a list of labels, got the single string {levels!r}.")
    values = tuple(value.item() if isinstance(value, np.generic) else value for value in levels)
    seen: set[Any] = set()
    for value in values:
        if is_missing(value):
            raise InputError("A missing value is not a level. Name it, such as 'unknown'.")
        try:
            repeated = value in seen
        except TypeError as error:
            raise InputError(
                f"Levels are hashable values such as strings, got {value!r:.80}."
            ) from error
        if repeated:
            raise InputError(f"Levels must differ; {value!r} is given twice.")
        seen.add(value)
    if not values:
        raise InputError("There are no levels. Give at least one, or some data.")
    return values


def sorted_levels(values: Array) -> tuple[Any, ...]:
    """The different labels of a sample, sorted; as they came if they do not compare."""
    present = [value for value in dict.fromkeys(values.tolist()) if not is_missing(value)]
    if not present:
        raise InputError(
            "Categorical cannot be estimated from no data: there is no label of positive weight."
        )
    try:
        return tuple(sorted(present))
    except TypeError:
        return tuple(present)


def codes_of(x: Any, levels: tuple[Any, ...]) -> Integers:
    """Position of every label among the levels, `MISSING` or `UNSEEN`."""
    values = labels(x)
    if values.dtype.kind in "biuf" and all(_kind(level) == "number" for level in levels):
        return _numeric_codes(values, levels)
    position = {level: k for k, level in enumerate(levels)}
    codes = [
        MISSING if is_missing(value) else position.get(value, UNSEEN)
        for value in values.ravel().tolist()
    ]
    return np.array(codes, np.int64).reshape(values.shape)


def is_missing(value: Any) -> bool:
    """None, NaN or NaT: what is None or does not equal itself."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return bool(isinstance(value, (float, np.floating, np.datetime64)) and value != value)


def _numeric_codes(values: Array, levels: tuple[Any, ...]) -> Integers:
    known = np.asarray(levels)
    order = np.argsort(known, kind="stable")
    ascending = known[order]
    place = np.minimum(np.searchsorted(ascending, values), len(levels) - 1)
    codes = np.where(ascending[place] == values, order[place], UNSEEN)
    return np.where(values != values, MISSING, codes)


def _kind(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "truth"
    if isinstance(value, (int, float, np.integer, np.floating)):
        return "number"
    return "text" if isinstance(value, str) else "other"
