"""Records as JSON and back.

The types of the fields are the format: a dataclass is an object, a tuple a list, and what is read
is checked against them field by field, so a file that was edited or cut is refused with the place;
only a field that has a default may be absent.
Numbers are written with all their digits; NaN and infinities have no place in a record.
"""

from __future__ import annotations

import dataclasses
import json
import math
import types
import typing
from pathlib import Path
from typing import Any, TypeVar

from novum.core.errors import FileFormatError
from novum.core.files import replacing
from novum.core.json_text import parsed_json

T = TypeVar("T")
FORMAT = 1


def to_json(record: Any) -> str:
    """A record as text; the same record gives the same text.

    Examples
    --------
    >>> from novum.apps.job.record_model import Estimate
    >>> print(to_json(Estimate(0.5, None, 1.0)))
    {
     "format": 1,
     "record": {
      "value": 0.5,
      "low": null,
      "high": 1.0
     }
    }
    """
    content = {"format": FORMAT, "record": _plain(record, "record")}
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)


def from_json(text: str, kind: type[T]) -> T:
    """The record that `to_json` wrote.

    Examples
    --------
    >>> from novum.apps.job.record_model import Estimate
    >>> from_json(to_json(Estimate(0.5, None, 1.0)), Estimate)
    Estimate(value=0.5, low=None, high=1.0)
    """
    try:
        content = parsed_json(text)
    except ValueError as error:
        raise FileFormatError(f"The record is not JSON: {error}.") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise FileFormatError(
            f"The record has no format {FORMAT}; it was written by another version, or is no run."
        )
    record: T = _typed(content.get("record"), kind, "record")
    return record


def write_record(record: Any, path: Path) -> None:
    """Writes a record so that the file is complete or not there."""
    with replacing(path) as file:
        # A path that is not UTF-8 holds lone surrogates, which JSON writes as escapes.
        file.write(to_json(record).encode(errors="backslashreplace"))


def read_record(path: Path, kind: type[T]) -> T:
    """Reads a record from a file."""
    try:
        return from_json(path.read_text(encoding="utf-8"), kind)
    except UnicodeDecodeError:
        raise FileFormatError(f"{path} is not UTF-8 text, so it is no record of a run.") from None
    except FileFormatError as error:
        error.add_note(f"This happened in {path}.")
        raise


# --- Writing --------------------------------------------------------------------------------------


def _plain(value: Any, place: str) -> Any:
    if dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value)]
        return {name: _plain(getattr(value, name), f"{place}.{name}") for name in names}
    if isinstance(value, dict):
        return {str(key): _plain(part, f"{place}.{key}") for key, part in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(part, f"{place}[{i}]") for i, part in enumerate(value)]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{place} is {value}; a number that does not exist is None in a record.")
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f"{place} is a {type(value).__name__}, which a record cannot hold.")


# --- Reading --------------------------------------------------------------------------------------


def _typed(value: Any, kind: Any, place: str) -> Any:
    """`value` as the type of its field says, checked on the way."""
    if kind is Any:
        return value
    origin = typing.get_origin(kind)
    if origin in (typing.Union, types.UnionType):
        return _one_of(value, typing.get_args(kind), place)
    if origin is typing.Literal:
        return _checked(value in typing.get_args(kind), value, kind, place)
    if origin is tuple:
        return _tuple(value, typing.get_args(kind), place)
    if origin is dict:
        _checked(isinstance(value, dict), value, kind, place)
        part = typing.get_args(kind)[1]
        return {key: _typed(value[key], part, f"{place}.{key}") for key in value}
    if dataclasses.is_dataclass(kind):
        return _object(value, kind, place)
    if kind is float:
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return float(_checked(number, value, kind, place))
    return _checked(type(value) is kind, value, kind, place)


def _one_of(value: Any, kinds: tuple[Any, ...], place: str) -> Any:
    if value is None and type(None) in kinds:
        return None
    (kind,) = (one for one in kinds if one is not type(None))
    return _typed(value, kind, place)


def _tuple(value: Any, kinds: tuple[Any, ...], place: str) -> Any:
    _checked(isinstance(value, list), value, tuple, place)
    if len(kinds) == 2 and kinds[1] is Ellipsis:
        return tuple(_typed(part, kinds[0], f"{place}[{i}]") for i, part in enumerate(value))
    _checked(len(value) == len(kinds), value, tuple, place)
    pairs = enumerate(zip(value, kinds, strict=True))
    return tuple(_typed(part, kind, f"{place}[{i}]") for i, (part, kind) in pairs)


def _object(value: Any, kind: Any, place: str) -> Any:
    _checked(isinstance(value, dict), value, kind, place)
    hints = typing.get_type_hints(kind)
    # An earlier version has not written the fields that came later; those have a default.
    later = {f.name for f in dataclasses.fields(kind) if f.default is not dataclasses.MISSING}
    odd = sorted((set(value) ^ {f.name for f in dataclasses.fields(kind)}) - (later - set(value)))
    if odd:
        raise FileFormatError(f"{place} does not have the fields of a run: {', '.join(odd)}.")
    return kind(**{name: _typed(value[name], hints[name], f"{place}.{name}") for name in value})


def _checked(fits: bool, value: Any, kind: Any, place: str) -> Any:
    if not fits:
        expected = getattr(kind, "__name__", str(kind))
        raise FileFormatError(f"{place} is {str(value)[:40]!r}, but a run has {expected} there.")
    return value
