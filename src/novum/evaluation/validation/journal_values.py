"""Records as JSON without loss: arrays, tuples and numbers that are not finite.

JSON has no such values; each becomes an object with one reserved key. Finite numbers are written
with all their digits by `json` itself. Arrays of numbers and of text are stored as their bytes,
arrays of objects cell by cell.
"""

from __future__ import annotations

import base64
import math
from numbers import Integral, Real
from typing import Any

import numpy as np

from novum.core.errors import FileFormatError, InputError

ARRAY, CELLS, NUMBER, TUPLE = "__array__", "__cells__", "__number__", "__tuple__"
_RESERVED = {ARRAY, CELLS, NUMBER, TUPLE}
_KINDS = "biufcUSmM"


def encoded(value: Any) -> Any:
    """A value as JSON holds it.

    Examples
    --------
    >>> encoded({"scores": (0.5, float("inf"))})
    {'scores': {'__tuple__': [0.5, {'__number__': 'inf'}]}}
    """
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        number = float(value)
        return number if math.isfinite(number) else {NUMBER: repr(number)}
    if isinstance(value, np.ndarray):
        return _encoded_array(value)
    if isinstance(value, tuple):
        return {TUPLE: [encoded(item) for item in value]}
    if isinstance(value, list):
        return [encoded(item) for item in value]
    if isinstance(value, dict):
        if not all(isinstance(key, str) and key not in _RESERVED for key in value):
            raise InputError(f"A record of a journal has text as keys, got {list(value)!r}.")
        return {key: encoded(item) for key, item in value.items()}
    raise InputError(
        f"A journal stores numbers, text, arrays and lists or mappings of them, not "
        f"{type(value).__name__}. Convert the value first."
    )


def decoded(value: Any) -> Any:
    """The value that `encoded` was given.

    Examples
    --------
    >>> decoded(encoded(np.array([0.1, np.nan])))
    array([0.1, nan])
    """
    if isinstance(value, list):
        return [decoded(item) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) != 1 or not _RESERVED.intersection(value):
        return {key: decoded(item) for key, item in value.items()}
    ((kind, content),) = value.items()
    if kind == NUMBER:
        return float(content)
    if kind == TUPLE:
        return tuple(decoded(item) for item in content)
    return _decoded_array(kind, content)


def _encoded_array(array: np.ndarray) -> dict[str, Any]:
    if array.dtype.kind in _KINDS:
        content = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
        return {ARRAY: [array.dtype.str, list(array.shape), content]}
    if array.dtype.kind != "O":
        raise InputError(f"A journal cannot store arrays of type {array.dtype}.")
    return {CELLS: [list(array.shape), [encoded(cell) for cell in array.ravel().tolist()]]}


def _decoded_array(kind: str, content: Any) -> np.ndarray:
    try:
        if kind == CELLS:
            shape, cells = content
            array = np.empty(len(cells), object)
            array[:] = [decoded(cell) for cell in cells]
            return array.reshape(shape)
        name, shape, text = content
        dtype = np.dtype(name)
        if dtype.kind not in _KINDS:
            raise ValueError(f"type {name}")
        return np.frombuffer(base64.b64decode(text, validate=True), dtype).reshape(shape).copy()
    except (TypeError, ValueError) as error:
        raise FileFormatError(f"An array of the journal cannot be read ({error}).") from error
