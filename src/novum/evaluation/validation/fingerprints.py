"""Fingerprints: a digest of data, learners and scorers, equal in every process for equal values.

    fingerprint(a, b, ...) = SHA-256 over a canonical spelling of the values

Containers are spelled by their kind, length and parts; arrays by type, shape and bytes; frames
column by column; estimators by class, parameters and the version of their package; functions by
name and code. What none of this covers is spelled by its pickle, and what cannot be pickled is
refused: a journal must never take one experiment for another.
"""

from __future__ import annotations

import hashlib
import pickle
import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import partial
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
from scipy import sparse
from sklearn.base import BaseEstimator

from novum.core.errors import InputError
from novum.core.learners import Learner
from novum.core.text import printable


def fingerprint(*values: Any) -> str:
    """A digest of the values, 64 hexadecimal digits.

    Examples
    --------
    >>> fingerprint([1, 2.5], "a") == fingerprint([1, 2.5], "a") != fingerprint([1, 2.5], "b")
    True
    """
    digest = hashlib.sha256()
    for value in values:
        _spell(value, digest, ())
    return digest.hexdigest()


def _spell(value: Any, digest: Any, above: tuple[int, ...]) -> None:
    """Adds the spelling of a value to a digest; `above` are the containers it lies in."""
    if id(value) in above:
        raise InputError("A value that contains itself has no fingerprint.")
    inside = (*above, id(value))
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes, np.generic)):
        _text(digest, f"{type(value).__name__}:{_scalar(value)}")
    elif isinstance(value, np.ndarray):
        _array(value, digest, inside)
    elif sparse.issparse(value):
        _sparse(value, digest, inside)
    elif _is_table(value):
        _table(value, digest, inside)
    elif isinstance(value, (list, tuple, range)):
        _text(digest, f"{type(value).__name__}[{len(value)}]")
        for item in value:
            _spell(item, digest, inside)
    elif isinstance(value, Mapping):
        _text(digest, f"mapping[{len(value)}]")
        for item in value.items():
            _spell(item, digest, inside)
    elif isinstance(value, (set, frozenset)):
        _spell(sorted(fingerprint(item) for item in value), digest, inside)
    else:
        _object(value, digest, inside)


def _text(digest: Any, text: str) -> None:
    content = text.encode("utf-8", "surrogatepass")
    # The length first, so that no two sequences of texts spell the same.
    digest.update(f"{len(content)}:".encode())
    digest.update(content)


def _scalar(value: Any) -> str:
    if isinstance(value, np.generic):
        return f"{value.dtype.str}:{value.tobytes().hex()}" if value.dtype.kind != "O" else ""
    return repr(value)


# --- Tables ---------------------------------------------------------------------------------------


def _array(array: np.ndarray, digest: Any, inside: tuple[int, ...]) -> None:
    _text(digest, f"array {array.dtype.str} {array.shape}")
    if isinstance(array, np.ma.MaskedArray):
        _array(np.ma.getmaskarray(array), digest, inside)
        array = np.asarray(array.filled())
    if array.dtype.hasobject:
        for cell in array.ravel().tolist():
            _spell(cell, digest, inside)
    else:
        digest.update(np.ascontiguousarray(array).data.cast("B") if array.size else b"")


def _sparse(matrix: Any, digest: Any, inside: tuple[int, ...]) -> None:
    rows = matrix.tocsr().copy()
    rows.sum_duplicates()
    _text(digest, f"sparse {rows.shape}")
    for part in (rows.data, rows.indices.astype(np.int64), rows.indptr.astype(np.int64)):
        _array(part, digest, inside)


def _is_table(value: Any) -> bool:
    known = nw.dependencies.is_into_dataframe(value) or nw.dependencies.is_into_series(value)
    return bool(known) or isinstance(value, (pa.RecordBatch, pa.Array, pa.ChunkedArray))


def _table(value: Any, digest: Any, inside: tuple[int, ...]) -> None:
    if isinstance(value, pa.RecordBatch):
        value = pa.Table.from_batches([value])
    if isinstance(value, (pa.Array, pa.ChunkedArray)):
        value = pa.table({"values": value})
    frame = nw.from_native(value, allow_series=True, eager_only=True)
    columns = [frame] if isinstance(frame, nw.Series) else list(frame.iter_columns())
    _text(digest, f"table {len(frame)} x {len(columns)}")
    for column in columns:
        _text(digest, f"{column.name!r} {column.dtype!r}")
        if column.dtype.is_numeric() and not column.is_null().any():
            _array(column.to_numpy(), digest, inside)
        else:
            for cell in column.to_list():
                _text(digest, f"{type(cell).__name__}:{cell!r}")


# --- Objects --------------------------------------------------------------------------------------


def _object(value: Any, digest: Any, inside: tuple[int, ...]) -> None:
    if isinstance(value, type):
        _text(digest, f"class {_name(value)} {_version(value)}")
    elif isinstance(value, Enum):
        _text(digest, f"{_name(type(value))}.{value.name}")
    elif isinstance(value, partial):
        _spell(("partial", value.func, value.args, value.keywords), digest, inside)
    elif isinstance(value, MethodType):
        _spell(("method", value.__func__.__qualname__, value.__self__), digest, inside)
    elif isinstance(value, FunctionType):
        _function(value, digest, inside)
    elif isinstance(value, (BuiltinFunctionType, np.ufunc)):
        _text(digest, f"function {getattr(value, '__module__', '')}.{value.__name__}")
    elif _is_estimator(value):
        _text(digest, f"{_name(type(value))} {_version(type(value))}")
        parameters = value.get_params(deep=False)
        _spell({name: parameters[name] for name in sorted(parameters)}, digest, inside)
    elif is_dataclass(value):
        _text(digest, f"{_name(type(value))} {_version(type(value))}")
        _spell([getattr(value, field.name) for field in fields(value)], digest, inside)
    else:
        _pickled(value, digest)


def _is_estimator(value: Any) -> bool:
    # One with its own way of cloning, such as a frozen model, is more than its parameters.
    cloned = getattr(type(value), "__sklearn_clone__", BaseEstimator.__sklearn_clone__)
    usual = (BaseEstimator.__sklearn_clone__, Learner.__sklearn_clone__)
    return hasattr(value, "get_params") and cloned in usual


def _function(value: FunctionType, digest: Any, inside: tuple[int, ...]) -> None:
    _text(digest, f"function {value.__module__}.{value.__qualname__} {_version(value)}")
    _code(value.__code__, digest, inside)
    closed = [cell.cell_contents for cell in value.__closure__ or ()]
    _spell((value.__defaults__, value.__kwdefaults__, closed), digest, inside)


def _code(code: CodeType, digest: Any, inside: tuple[int, ...]) -> None:
    digest.update(code.co_code)
    _spell(code.co_names, digest, inside)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            _code(constant, digest, inside)
        else:
            _spell(constant, digest, inside)


def _pickled(value: Any, digest: Any) -> None:
    _text(digest, f"{_name(type(value))} {_version(type(value))}")
    try:
        digest.update(pickle.dumps(value, protocol=4))
    except Exception as error:
        raise InputError(
            f"{printable(repr(value), 80)} of type {_name(type(value))} has no fingerprint, so a "
            "journal could not tell it from others. Use parameters that can be pickled, or run "
            "without a journal."
        ) from error


def _name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _version(value: Any) -> str:
    """The version of the package that a class or function comes from."""
    package = sys.modules.get((getattr(value, "__module__", None) or "").partition(".")[0])
    return str(getattr(package, "__version__", ""))
