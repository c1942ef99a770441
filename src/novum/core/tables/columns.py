"""One column of a table: from any container to numbers or to codes of levels.

All frames and lists meet in Arrow: a column becomes an Arrow array, its type decides its kind,
`dictionary_encode` finds its levels. Missing cells (NaN, None, NA, NaT) are nulls there. Only the
few distinct values, and cells of Python objects, are ever handled one by one in Python.

| Arrow type | kind under `categorical_features="auto"` |
|---|---|
| integers, floats, decimals, nothing but missing | numeric |
| booleans, text, unordered dictionaries | nominal |
| ordered dictionaries (ordered categoricals, Enums) | ordinal, in their declared order |
| dates, times, durations | refused, with what to derive |

A level that is a whole number is an `int`, whether its container held it as 1, 1.0 or Decimal(1).
"""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from numbers import Real
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from novum.core.errors import InputError, SchemaError
from novum.core.tables.missing import is_missing
from novum.core.tables.schema import MISSING, UNSEEN, Column, Kind, Level, level_key
from novum.numerics import Array, Codes, Floats

_REFUSALS = (
    pa.ArrowInvalid,
    pa.ArrowTypeError,
    pa.ArrowNotImplementedError,
    TypeError,
    OverflowError,
)
# Beyond this a float no longer tells neighboring whole numbers apart.
_LARGEST_WHOLE = 2.0**53


# --- To Arrow -------------------------------------------------------------------------------------


def frame_column(frame: Any, position: int) -> Any:
    """A column of a narwhals frame, in a form that `arrow_column` takes."""
    series = frame[:, position]
    native = series.to_native()
    if _is_pandas(native):
        return _pandas_column(native)
    if isinstance(series.dtype, nw.Enum):
        levels = pa.array(list(series.dtype.categories), pa.string())
        text = one_array(series.cast(nw.String).to_arrow()).cast(pa.string())
        codes = pc.index_in(text, value_set=levels, skip_nulls=True)
        return pa.DictionaryArray.from_arrays(codes, levels, ordered=True)
    if series.dtype == nw.Object:
        return _objects(series.to_list())
    if series.dtype in (nw.Int128, nw.UInt128):
        return _objects(series.to_list())
    return series.to_arrow()


def arrow_column(values: Any, name: str) -> pa.Array:
    """The values of one column as one Arrow array, missing cells as nulls."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "UST":
        values = _objects(values.tolist())
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        array = values
    else:
        array = _array_of_cells(values, name)
    array = _one_order(array, name)
    if pa.types.is_run_end_encoded(array.type):
        array = pc.run_end_decode(array)
    return _null_to_nan(array)


def _is_pandas(series: object) -> bool:
    return type(series).__module__.split(".")[0] == "pandas"


def _pandas_column(series: Any) -> Any:
    kind = type(series.dtype).__name__
    if kind == "SparseDtype":
        return series.sparse.to_dense()
    if kind != "CategoricalDtype":
        return series
    levels = arrow_column(series.cat.categories.to_series(), str(series.name))
    codes = pa.array(series.cat.codes.to_numpy(), mask=series.cat.codes.to_numpy() < 0)
    return pa.DictionaryArray.from_arrays(codes, levels, ordered=bool(series.cat.ordered))


def _array_of_cells(values: Any, name: str) -> Any:
    """Cells of a NumPy array or of a pandas column; objects only where all are of one type."""
    objects = str(getattr(values, "dtype", "")) == "object"
    try:
        array = pa.array(values, from_pandas=True)
    except _REFUSALS:
        return _array_of_objects(values, name)
    # Arrow takes True for 1.0 among floats.
    if objects and _is_number(array.type) and any(isinstance(v, (bool, np.bool_)) for v in values):
        raise _mixed(values, name)
    return array


def _array_of_objects(values: Any, name: str) -> pa.Array:
    """What Arrow does not take at once: rare kinds of missing, numbers of several types."""
    cells = [None if is_missing(value) else value for value in values]
    try:
        if all(cell is None or _is_real(cell) for cell in cells):
            return pa.array([None if cell is None else as_float(cell) for cell in cells])
        return pa.array(cells, from_pandas=True)
    except _REFUSALS as error:
        raise _mixed(values, name) from error


def _is_real(cell: object) -> bool:
    number = isinstance(cell, (Real, Decimal))
    return number and not isinstance(cell, (bool, np.bool_, np.timedelta64))


def as_float(cell: Any) -> float:
    """The number as a float; infinite where it is too large for one."""
    try:
        return float(cell)
    except OverflowError:
        return math.inf if cell > 0 else -math.inf


def _objects(cells: list[Any]) -> Array:
    column = np.empty(len(cells), object)
    column[:] = cells
    return column


def one_array(array: Any) -> pa.Array:
    """One array of all chunks; no chunk at all makes an empty one."""
    if not isinstance(array, pa.ChunkedArray):
        return array
    joined = array.combine_chunks()
    return pa.array([], array.type) if isinstance(joined, pa.ChunkedArray) else joined


def _one_order(array: Any, name: str) -> pa.Array:
    """As `one_array`; chunks of other orders must make one, where Arrow appends levels."""
    ordered = pa.types.is_dictionary(array.type) and array.type.ordered
    if not (ordered and isinstance(array, pa.ChunkedArray) and array.num_chunks > 1):
        return one_array(array)
    column = Column(name, Kind.ORDINAL)
    for chunk in array.chunks:
        declared = tuple(level for level in chunk.dictionary.to_pylist() if level is not None)
        column = column.unite(Column(name, Kind.ORDINAL, declared))
    levels = pa.array(column.levels, array.type.value_type)
    cells = one_array(array.cast(array.type.value_type))
    codes = pc.index_in(cells, value_set=levels, skip_nulls=True)
    return pa.DictionaryArray.from_arrays(codes, levels, ordered=True)


def _null_to_nan(array: pa.Array) -> pa.Array:
    """NaN and null mean the same here; floats keep NaN, which is their way to be missing."""
    if pa.types.is_floating(array.type) and array.null_count:
        return pc.fill_null(array, float("nan"))
    return array


# --- Kinds ----------------------------------------------------------------------------------------


def kind_of(array: pa.Array, name: str) -> Kind:
    """The kind that the type of a column stands for."""
    kind = array.type
    refuse_strange(array, name)
    if pa.types.is_dictionary(kind):
        return Kind.ORDINAL if kind.ordered else Kind.NOMINAL
    return Kind.NUMERIC if _is_number(kind) or pa.types.is_null(kind) else Kind.NOMINAL


def refuse_strange(array: pa.Array, name: str) -> None:
    """Refuses dates, and types that are neither numbers nor categories."""
    kind = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
    is_period = isinstance(kind, pa.BaseExtensionType) and kind.extension_name == "pandas.period"
    if pa.types.is_temporal(kind) or is_period:
        raise InputError(
            f"Column {name!r} holds dates or times ({kind}{_sample(array)}), which have no one "
            "meaning as a feature. Derive numbers or categories from it first: an elapsed time, "
            "the month, the day of the week."
        )
    known = _is_number(kind) or _is_text(kind) or pa.types.is_boolean(kind)
    if not (known or pa.types.is_null(kind)):
        raise InputError(
            f"Column {name!r} has type {kind}{_sample(array)}, which is neither numbers nor "
            "categories. Turn it into numbers or text (decode bytes), or drop it."
        )


def is_ordered(array: pa.Array) -> bool:
    """Whether the container declares an order of the levels."""
    return is_declared(array) and bool(array.type.ordered)


def is_declared(array: pa.Array) -> bool:
    """Whether the container declares the levels, also those that do not occur."""
    return bool(pa.types.is_dictionary(array.type))


def _sample(array: pa.Array) -> str:
    position = _first_valid(array)
    if position is None:
        return ""
    return f", {_short(array[position].as_py())} at row {position}"


def _first_valid(array: pa.Array) -> int | None:
    return next((i for i, value in enumerate(array) if value.is_valid), None)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


# --- Numbers and codes ----------------------------------------------------------------------------


def levels_of(array: pa.Array, name: str) -> tuple[Level, ...]:
    """The levels of a categorical column: declared ones where declared, else those that occur."""
    levels = [level for level in _distinct(array, name)[0] if not _is_missing(level)]
    # A dictionary without order may list a level twice; the order of a declared one must be clear.
    return tuple(levels) if is_ordered(array) else _once(levels)


def codes_of(array: pa.Array, column: Column) -> Codes:
    """Integer codes of a categorical column; reserved codes for missing and for unseen levels."""
    levels, indices = _distinct(array, column.name)
    table = np.array([_code(level, column) for level in levels] + [MISSING], np.int32)
    filled = pc.fill_null(indices.cast(pa.int64()), len(levels))
    return table[filled.to_numpy(zero_copy_only=False)]


def numbers_of(array: pa.Array, name: str) -> Floats:
    """A numeric column as float64, missing cells as NaN."""
    kind = array.type
    if pa.types.is_null(kind):
        return np.full(len(array), np.nan)
    if pa.types.is_dictionary(kind):
        return numbers_of(array.dictionary_decode(), name)
    if not (_is_number(kind) or pa.types.is_boolean(kind)):
        refuse_strange(array, name)
        raise SchemaError(
            f"Column {name!r} is numeric, but holds {kind} here{_sample(array)}. Convert it to "
            "numbers, or name it in `categorical_features` if the learner has that parameter."
        )
    if array.null_count == 0 and pa.types.is_floating(kind) and kind.bit_width == 64:
        return array.to_numpy()
    return array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)


def _distinct(array: pa.Array, name: str) -> tuple[list[Any], pa.Array]:
    """The different values as plain levels, and for every row which of them it has."""
    refuse_strange(array, name)
    encoded = array if is_declared(array) else pc.dictionary_encode(array)
    values = encoded.dictionary.to_pylist()
    for code, value in enumerate(values):
        if isinstance(value, float) and math.isinf(value):
            row = pc.index(encoded.indices, pa.scalar(code, encoded.indices.type)).as_py()
            raise InputError(
                f"Input X contains infinity: categorical column {name!r} has {value} at row {row}. "
                "Mark such cells missing, or give them a level of their own."
            )
    return _told_apart(values, name), encoded.indices


def _told_apart(values: list[Any], name: str) -> list[Any]:
    """Plain levels; refuses decimals that no float tells apart."""
    levels = [_plain(value) for value in values]
    decimals = {value for value in values if isinstance(value, Decimal)}
    if len({_plain(value) for value in decimals}) < len(decimals):
        raise InputError(
            f"Column {name!r} has decimals that differ only beyond 16 digits, so they cannot be "
            "told apart as levels. Convert the column to text."
        )
    return levels


def _plain(level: Any) -> Any:
    """A level in the one form it has in all containers; -0.0 is 0."""
    if isinstance(level, Decimal):
        level = float(level)
    if isinstance(level, float) and level.is_integer() and abs(level) < _LARGEST_WHOLE:
        return int(level)
    return level


def _code(level: Any, column: Column) -> int:
    return MISSING if _is_missing(level) else column.positions.get(level_key(level), UNSEEN)


def _once(levels: list[Any]) -> tuple[Level, ...]:
    return tuple({level_key(level): level for level in levels}.values())


# --- Types and values -----------------------------------------------------------------------------


def _is_number(kind: pa.DataType) -> bool:
    return pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)


def _is_text(kind: pa.DataType) -> bool:
    return (
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def _is_missing(level: object) -> bool:
    return level is None or (isinstance(level, float) and level != level)


def _mixed(values: Any, name: str) -> InputError:
    """Says which two types a column mixes and where they first stand."""
    first: dict[str, tuple[int, object]] = {}
    for row, value in enumerate(values):
        if not is_missing(value):
            first.setdefault(_type_name(value), (row, value))
        if len(first) == 2:
            (kind_a, (row_a, a)), (kind_b, (row_b, b)) = first.items()
            return InputError(
                f"Column {name!r} mixes {kind_a} ({_short(a)} at row {row_a}) and {kind_b} "
                f"({_short(b)} at row {row_b}). Convert it to one type: `astype(str)` makes it a "
                "category."
            )
    kind, (row, value) = next(iter(first.items()), ("object", (0, None)))
    return InputError(
        f"Column {name!r} holds values of type {kind} ({_short(value)} at row {row}), which are "
        "neither numbers nor categories. Turn them into numbers or text."
    )


def _type_name(value: object) -> str:
    """Numbers of all widths count as one type, and so do all strings."""
    if isinstance(value, str):
        return "str"
    if isinstance(value, (bool, np.bool_)):
        return "bool"
    if isinstance(value, (datetime.date, datetime.time, np.datetime64)):
        return "date"
    return "number" if _is_real(value) else type(value).__name__
